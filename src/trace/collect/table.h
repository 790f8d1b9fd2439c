/* table.h - pointers by number: processes, threads, requests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_TABLE_H
#define WR_TRACE_COLLECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed at first. The elements are the caller's. */
struct wr_table {
    uint64_t *keys; /* owned */
    void **values;  /* owned; NULL: a free place */
    size_t places, count;
};

void *wr_table_at(const struct wr_table *t, uint64_t key); /* NULL: none */
/* In place of what was there; false: no memory. */
bool wr_table_put(struct wr_table *t, uint64_t key, void *value);
void *wr_table_remove(struct wr_table *t, uint64_t key); /* what was there */
void wr_table_done(struct wr_table *t);

#endif
