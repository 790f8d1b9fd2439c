/* pool.h - threads that share the parts of one task, and wait for each other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A task is `count` parts, each run once, by whichever thread is free. A part
 * must not depend on which thread runs it, nor on the others: then results are
 * the same for any number of threads. Threads that have nothing to do sleep;
 * they never spin, because a pipeline may need the cores. */
#ifndef WR_BASE_POOL_H
#define WR_BASE_POOL_H

#include <stddef.h>

#include "weir/error.h"

struct wr_pool;

/* `thread` (0 to threads - 1) is for scratch memory alone. */
typedef void wr_pool_fn(void *arg, size_t part, unsigned thread);

/* A pool of `threads` (at least 1), the caller included, so that one thread
 * starts nothing. The others are named `name`-1, `name`-2 ... */
int wr_pool_new(struct wr_pool **ret, unsigned threads, const char *name,
                weir_err *err);
void wr_pool_free(struct wr_pool *pool);

unsigned wr_pool_threads(const struct wr_pool *pool);

/* Runs fn(arg, 0 .. count - 1) and returns when all have ended. One task at a
 * time: only the thread that made the pool calls this. */
void wr_pool_run(struct wr_pool *pool, size_t count, wr_pool_fn *fn, void *arg);

#endif
