/* thread.h - named threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_THREAD_H
#define WR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "weir/error.h"

/* Starts `run(arg)` in a thread named `name` (15 characters shown), with all
 * signals blocked: those belong to the program. Join with pthread_join. */
int wr_thread_start(pthread_t *ret, const char *name, void *(*run)(void *),
                    void *arg, weir_err *err);

/* The same for one of many that do little but wait for the kernel: with a
 * stack of 256 KiB instead of the usual 8 MiB, for where address space is
 * limited. */
int wr_thread_start_lean(pthread_t *ret, const char *name, void *(*run)(void *),
                         void *arg, weir_err *err);

/* Waits for `cond` with `lock` held, at most until wr_clock_ns() is `until_ns`
 * (UINT64_MAX: for ever). False: the time is over. */
bool wr_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
                        uint64_t until_ns);

/* Cores this process may run on (its affinity mask), at least 1. */
unsigned wr_cpu_count(void);

#endif
