/* killstep.h - runs a function in a process and kills it at a system call.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CKPT_KILLSTEP_H
#define CKPT_KILLSTEP_H

#include <stdbool.h>
#include <stdint.h>

enum killstep_end {
    KILLSTEP_KILLED,
    KILLSTEP_ENDED,  /* by itself, with 0, before that call */
    KILLSTEP_FAILED, /* by itself, not well */
    KILLSTEP_CANNOT, /* processes cannot be traced here */
};

struct killstep_seen {
    uint64_t calls; /* counted */
    int status;     /* waitpid's; of a child that ended by itself */
};

/* Runs `work` (its exit code) in a child process and kills it with SIGKILL before its
 * `at`-th system call (1: the first) behind killstep_go, of whatever name and in
 * whatever thread, is carried out. What is between a call's work and its return
 * needs no stop of its own: up to the next call of the thread nothing changes
 * that others can see, so it is the same as before the next call of any thread.
 * 0: never killed. The caller must have no other children and no threads, but
 * those that a sanitizer starts in each process. */
enum killstep_end killstep(int (*work)(void *arg), void *arg, uint64_t at,
                           struct killstep_seen *ret);

/* For `work`: from here on calls count, of all threads that there are and that
 * begin later. Returns false when it cannot. */
bool killstep_go(void);

#endif
