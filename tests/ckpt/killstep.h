/* killstep.h - runs a function in a process and kills or stops it at a call.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CKPT_KILLSTEP_H
#define CKPT_KILLSTEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KILLSTEP_THREADS 64 /* of a process, at most */

enum killstep_end {
    KILLSTEP_KILLED,
    KILLSTEP_ENDED,   /* by itself, with 0, before that call */
    KILLSTEP_FAILED,  /* by itself, not well */
    KILLSTEP_CANNOT,  /* processes cannot be traced here */
    KILLSTEP_STOPPED, /* all threads are, until it is resumed */
    KILLSTEP_HANGS,   /* was killed when its time was over */
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
 * 0: never killed. The caller must have no threads but those that a
 * sanitizer starts in each process. */
enum killstep_end killstep(int (*work)(void *arg), void *arg, uint64_t at,
                           struct killstep_seen *ret);

/* A process that may be stopped and continue. */
struct killstep {
    pid_t child;         /* and its process group */
    int64_t deadline_ns; /* of the monotonic clock; 0: none */
    uint64_t at;         /* the call to be halted before; 0: none */
    bool stops;          /* there; else it is killed */
    struct killstep_seen seen;
    size_t count; /* of the threads that are stopped */
    struct {
        pid_t tid;
        int sig; /* to be delivered */
    } stopped[KILLSTEP_THREADS];
};

/* Like killstep, but all threads stop before the `at`-th call, and whatever the
 * process holds it keeps holding. The caller may start other children then.
 * `seconds`: how long the process may take from here on, 0: without limit; the
 * caller has an interval timer that interrupts its system calls. */
enum killstep_end killstep_stop(struct killstep *k, int (*work)(void *arg),
                                void *arg, uint64_t at, unsigned seconds);

/* After KILLSTEP_STOPPED: the process continues, to its end (more = 0) or until
 * it is killed before its `more`-th further call. */
enum killstep_end killstep_resume(struct killstep *k, uint64_t more,
                                  unsigned seconds);

/* Kills the process and waits until it is gone; fine after any end. */
void killstep_end(struct killstep *k);

/* For `work`: from here on calls count, of all threads that there are and that
 * begin later. Returns false when it cannot. */
bool killstep_go(void);

#endif
