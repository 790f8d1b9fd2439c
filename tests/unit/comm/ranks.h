/* ranks.h - a test whose ranks are processes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_COMM_RANKS_H
#define TEST_COMM_RANKS_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_RANKS 16

/* In a rank: what does not hold ends it. */
#define CHECK(x)                                                               \
    do {                                                                       \
        if (!(x)) {                                                            \
            fprintf(stderr, "%s:%d: rank process: %s\n", __FILE__, __LINE__,   \
                    #x);                                                       \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

#define CHECK_TEXT(text, part)                                                 \
    do {                                                                       \
        if (!strstr(text, part)) {                                             \
            fprintf(stderr, "%s:%d: '%s' is not in '%s'\n", __FILE__,          \
                    __LINE__, part, text);                                     \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

typedef void (*rank_fn)(uint32_t rank, void *arg);

static inline void die_now(void)
{
    kill(getpid(), SIGKILL);
}

/* Runs fn in `count` processes. Returns how many failed; those that were killed
 * are none of them. `theirs`: closed here when all have it, -1 for none: the
 * other end of such a pipe tells that a process is dead. */
static inline int run_ranks_with(uint32_t count, rank_fn fn, void *arg,
                                 int theirs)
{
    pid_t pids[MAX_RANKS];
    int failed = 0;

    fflush(NULL);
    for (uint32_t k = 0; k < count; k++) {
        pids[k] = fork();
        if (pids[k] < 0)
            abort();
        if (pids[k] == 0) {
            fn(k, arg);
            exit(0); /* not _exit: leaks are looked for */
        }
    }
    if (theirs >= 0)
        close(theirs);
    for (uint32_t k = 0; k < count; k++) {
        int status;

        if (waitpid(pids[k], &status, 0) != pids[k])
            abort();
        if (WIFSIGNALED(status) &&
            (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGALRM))
            continue;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            fprintf(stderr, "rank process %u: status 0x%x\n", k, status);
            failed++;
        }
    }
    return failed;
}

static inline int run_ranks(uint32_t count, rank_fn fn, void *arg)
{
    return run_ranks_with(count, fn, arg, -1);
}

#endif
