/* copiers.h - threads that do one thing together, again and again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_SAFETENSORS_COPIERS_H
#define WR_SAFETENSORS_COPIERS_H

#include <stdbool.h>
#include <stddef.h>

#include "weir/error.h"

struct wr_copiers;

/* `threads`: the caller's is one of them; 0: one per core. */
int wr_copiers_new(unsigned threads, struct wr_copiers **ret, weir_err *err);
void wr_copiers_free(struct wr_copiers *c); /* takes NULL */

/* Calls fn(arg) in all threads, the caller's included, and returns when all
 * have come back. `spare`: in one less, if there are two or more. One caller at
 * a time. */
void wr_copiers_run(struct wr_copiers *c, bool spare, void (*fn)(void *arg),
                    void *arg);

/* Copies past the caches, for what is not read again soon: `to` is not fetched
 * before it is overwritten. */
void wr_copy_past(void *to, const void *from, size_t len);

#endif
