/* thread.c - named threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

#define LEAN_STACK ((size_t)256 << 10)

/* EAGAIN means a lack here: of memory for the stack, or of threads. */
static int fail_start(int e, const char *name, weir_err *err)
{
    if (e != EAGAIN)
        return wr_fail_errno(err, e, "cannot start thread '%s'", name);
    return wr_fail(err, WEIR_ENOMEM,
                   "cannot start thread '%s': no memory for its stack, or too "
                   "many threads (ulimit -u)",
                   name);
}

static int start(pthread_t *ret, const char *name, void *(*run)(void *),
                 void *arg, const pthread_attr_t *attr)
{
    char shown[16];
    sigset_t all, old;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    e = pthread_create(ret, attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (e)
        return e;
    snprintf(shown, sizeof(shown), "%s", name);
    pthread_setname_np(*ret, shown);
    return 0;
}

int wr_thread_start(pthread_t *ret, const char *name, void *(*run)(void *),
                    void *arg, weir_err *err)
{
    int e = start(ret, name, run, arg, /* attr= */ NULL);

    return e ? fail_start(e, name, err) : 0;
}

int wr_thread_start_lean(pthread_t *ret, const char *name, void *(*run)(void *),
                         void *arg, weir_err *err)
{
    pthread_attr_t attr;
    int e;

    pthread_attr_init(&attr);
    /* Refused where the program's thread-local data alone is larger. */
    pthread_attr_setstacksize(&attr, LEAN_STACK);
    e = start(ret, name, run, arg, &attr);
    if (e == EINVAL)
        e = start(ret, name, run, arg, /* attr= */ NULL);
    pthread_attr_destroy(&attr);
    return e ? fail_start(e, name, err) : 0;
}

bool wr_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
                        uint64_t until_ns)
{
    const struct timespec until = {
        .tv_sec = (time_t)(until_ns / WR_NS_PER_SEC),
        .tv_nsec = (long)(until_ns % WR_NS_PER_SEC),
    };

    if (until_ns == UINT64_MAX)
        return pthread_cond_wait(cond, lock) == 0;
    return pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &until) == 0;
}

unsigned wr_cpu_count(void)
{
    cpu_set_t set;
    long online;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    online = sysconf(_SC_NPROCESSORS_ONLN); /* more than the set can hold */
    return online > 0 ? (unsigned)online : 1;
}
