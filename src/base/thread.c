/* thread.c - named threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"

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

int wr_thread_start(pthread_t *ret, const char *name, void *(*run)(void *),
                    void *arg, weir_err *err)
{
    char shown[16];
    sigset_t all, old;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    e = pthread_create(ret, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (e)
        return fail_start(e, name, err);
    snprintf(shown, sizeof(shown), "%s", name);
    pthread_setname_np(*ret, shown);
    return 0;
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
