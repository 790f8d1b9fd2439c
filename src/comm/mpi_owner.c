/* mpi_owner.c - the one thread of the process that calls MPI.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/mpi_owner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"

#define LOOK_NS  (100 * WR_NS_PER_MS)
#define GRACE_NS WR_NS_PER_SEC /* for a call to notice that it was given up */
#define FOREVER  UINT64_C(1000000000) /* ms */

enum mpi_turn {
    MPI_IDLE,
    MPI_GIVEN, /* `call` is to be run, or runs */
    MPI_DONE,
};

/* The lock guards all fields but the contents of `args` while a call runs. */
static struct mpi_owner {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct wr_mpi_module *module; /* NULL: not started */
    pid_t pid;                          /* a child of fork() has no thread */
    enum mpi_turn turn;
    bool taken; /* by a caller of wr_mpi_run */
    bool bad;   /* not to be used any more */
    uint64_t timeout_ms;
    wr_mpi_call call;
    struct wr_mpi_args args, started;
    int result;
    weir_err why;
} owner = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER};

static void *own(void *arg)
{
    struct mpi_owner *o = arg;

    pthread_mutex_lock(&o->lock);
    for (;;) {
        while (o->turn != MPI_GIVEN)
            pthread_cond_wait(&o->changed, &o->lock);
        pthread_mutex_unlock(&o->lock);
        o->result = o->call(&o->args, &o->why);
        pthread_mutex_lock(&o->lock);
        o->turn = MPI_DONE;
        pthread_cond_broadcast(&o->changed);
    }
    return NULL;
}

/* --- one call, with the lock held --- */

static void let_wait(struct mpi_owner *o, uint64_t until)
{
    while (o->turn == MPI_GIVEN &&
           wr_cond_wait_until(&o->changed, &o->lock, until))
        ;
}

/* Waits in steps of LOOK_NS. 0: it has ended; else why to end the wait. */
static int watch(struct mpi_owner *o, const struct wr_mpi_patience *p,
                 uint64_t deadline, weir_err *err)
{
    int r = 0;

    while (o->turn == MPI_GIVEN && r == 0) {
        let_wait(o, wr_clock_ns() + LOOK_NS);
        if (o->turn != MPI_GIVEN)
            break;
        if (p->look) {
            pthread_mutex_unlock(&o->lock);
            r = p->look(p->arg, err);
            pthread_mutex_lock(&o->lock);
        }
        if (r == 0 && wr_clock_ns() > deadline)
            r = wr_fail(err, WEIR_ETIMEDOUT,
                        "MPI: the other ranks did not come within %llu ms",
                        (unsigned long long)p->timeout_ms);
    }
    return r;
}

static int run_locked(struct mpi_owner *o, wr_mpi_call call,
                      const struct wr_mpi_patience *p, weir_err *err)
{
    uint64_t ns = WR_MIN(p->timeout_ms, FOREVER) * WR_NS_PER_MS;
    uint64_t deadline = wr_clock_ns() + ns;
    weir_err e;
    int r;

    o->args.deadline_ns = deadline;
    atomic_store(&o->args.cancel, false);
    o->call = call;
    o->turn = MPI_GIVEN;
    pthread_cond_broadcast(&o->changed);
    r = watch(o, p, deadline + GRACE_NS, &e);
    if (r < 0) {
        atomic_store(&o->args.cancel, true);
        let_wait(o, wr_clock_ns() + GRACE_NS);
        o->bad = true;
        return wr_fail_as(err, r, &e);
    }
    o->turn = MPI_IDLE;
    if (o->result < 0) {
        o->bad = !o->args.harmless;
        wr_fail_as(err, o->result, &o->why);
        return o->bad ? o->result : 1;
    }
    return 0;
}

/* --- the end --- */

/* Others see an exit without this as the death of the rank, which it is after a
 * failure. */
static void finish(int status, void *arg)
{
    struct mpi_owner *o = arg;
    struct wr_mpi_patience p = {.timeout_ms = o->timeout_ms};

    if (status != 0 || getpid() != o->pid)
        return;
    pthread_mutex_lock(&o->lock);
    if (o->module && !o->bad && !o->taken && o->started.ours)
        (void)run_locked(o, o->module->finish, &p, NULL);
    o->bad = true;
    pthread_mutex_unlock(&o->lock);
}

/* --- the beginning --- */

static int start_locked(struct mpi_owner *o, const struct wr_mpi_module *m,
                        uint64_t timeout_ms, weir_err *err)
{
    struct wr_mpi_patience p = {.timeout_ms = timeout_ms};
    pthread_t thread;
    int r = wr_thread_start(&thread, "weir-mpi", own, o, err);

    if (r < 0)
        return r;
    pthread_detach(thread);
    o->module = m;
    o->pid = getpid();
    memset(&o->args, 0, sizeof(o->args));
    r = run_locked(o, m->start, &p, err);
    if (r < 0)
        return r;
    o->started = o->args;
    if (on_exit(finish, o) != 0) {
        o->bad = true;
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    return 0;
}

static int check_owner(const struct mpi_owner *o, const struct wr_mpi_module *m,
                       weir_err *err)
{
    if (o->bad)
        return wr_fail(err, WEIR_ESTATE,
                       "MPI failed before and cannot be used again by this "
                       "process");
    if (m && o->module != m)
        return wr_fail(err, WEIR_EINVAL, "this process uses %s already",
                       o->module->name);
    if (o->pid != getpid())
        return wr_fail(err, WEIR_ESTATE,
                       "a child of fork() cannot use the MPI of its parent");
    return 0;
}

int wr_mpi_start(const struct wr_mpi_module *m, uint64_t timeout_ms,
                 struct wr_mpi_args *ret, weir_err *err)
{
    struct mpi_owner *o = &owner;
    int r;

    pthread_mutex_lock(&o->lock);
    o->timeout_ms = WR_MAX(o->timeout_ms, timeout_ms);
    r = o->module ? check_owner(o, m, err)
                  : start_locked(o, m, timeout_ms, err);
    if (r == 0)
        *ret = o->started;
    pthread_mutex_unlock(&o->lock);
    return r;
}

int wr_mpi_run(wr_mpi_call call, const struct wr_mpi_args *args,
               const struct wr_mpi_patience *patience, weir_err *err)
{
    struct mpi_owner *o = &owner;
    int r;

    pthread_mutex_lock(&o->lock);
    while (o->taken)
        pthread_cond_wait(&o->changed, &o->lock);
    o->taken = true;
    r = check_owner(o, NULL, err);
    if (r == 0) {
        o->args = *args;
        o->args.state = o->started.state;
        r = run_locked(o, call, patience, err);
    }
    o->taken = false;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    return r;
}
