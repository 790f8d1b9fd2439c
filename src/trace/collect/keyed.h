/* keyed.h - pointers by number: processes, threads, requests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_KEYED_H
#define WR_TRACE_COLLECT_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed at first. The elements are the caller's. */
struct wr_keyed {
    uint64_t *keys; /* owned */
    void **values;  /* owned; NULL: a free place */
    size_t places, count;
};

void *wr_keyed_at(const struct wr_keyed *t, uint64_t key); /* NULL: none */
/* In place of what was there; false: no memory. */
bool wr_keyed_put(struct wr_keyed *t, uint64_t key, void *value);
void *wr_keyed_remove(struct wr_keyed *t, uint64_t key); /* what was there */
void wr_keyed_done(struct wr_keyed *t);

#endif
