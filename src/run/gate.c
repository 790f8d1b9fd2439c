/* gate.c - all accelerators reach the end of a step together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/gate.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

struct wr_gate {
    unsigned members;
    wr_gate_ranks *ranks;
    void *arg;                 /* borrowed */
    atomic_uint phase;         /* counts openings; threads sleep on it */
    atomic_uint arrived;       /* threads of this phase */
    atomic_uint_fast64_t most; /* their largest value */
    uint64_t result; /* of the last opening: stays until all have come again */
    atomic_bool failed;
    pthread_mutex_t lock; /* guards `why` */
    weir_err why;
};

int wr_gate_new(struct wr_gate **ret, unsigned members, wr_gate_ranks *ranks,
                void *arg, weir_err *err)
{
    struct wr_gate *g = calloc(1, sizeof(*g));

    if (!g)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    g->members = members;
    g->ranks = ranks;
    g->arg = arg;
    pthread_mutex_init(&g->lock, NULL);
    *ret = g;
    return 0;
}

void wr_gate_free(struct wr_gate *g)
{
    if (!g)
        return;
    pthread_mutex_destroy(&g->lock);
    free(g);
}

static void wake_all(struct wr_gate *g)
{
    syscall(SYS_futex, &g->phase, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void wr_gate_fail(struct wr_gate *g, const weir_err *why)
{
    pthread_mutex_lock(&g->lock);
    if (!g->failed)
        g->why = *why;
    g->failed = true;
    pthread_mutex_unlock(&g->lock);
    atomic_fetch_add(&g->phase, 1);
    wake_all(g);
}

int wr_gate_failed(struct wr_gate *g, weir_err *err)
{
    int r;

    if (!g->failed)
        return 0;
    pthread_mutex_lock(&g->lock);
    r = wr_fail_as(err, g->why.code, &g->why);
    pthread_mutex_unlock(&g->lock);
    return r;
}

/* The last one: nobody else touches the gate until the phase has changed. */
static int open_gate(struct wr_gate *g, uint64_t *ret, weir_err *err)
{
    uint64_t most = atomic_load(&g->most);
    weir_err why;

    if (g->ranks && g->ranks(g->arg, most, &most, &why) < 0) {
        wr_gate_fail(g, &why);
        return wr_gate_failed(g, err);
    }
    g->result = *ret = most;
    atomic_store(&g->most, 0);
    atomic_store(&g->arrived, 0);
    atomic_fetch_add(&g->phase, 1);
    if (g->members > 1)
        wake_all(g);
    return 0;
}

static void raise_most(struct wr_gate *g, uint64_t value)
{
    uint_fast64_t seen = atomic_load(&g->most);

    while (seen < value &&
           !atomic_compare_exchange_weak(&g->most, &seen, value))
        ;
}

int wr_gate_max(struct wr_gate *g, uint64_t value, uint64_t *ret, weir_err *err)
{
    unsigned phase = atomic_load(&g->phase);
    int r = wr_gate_failed(g, err);

    if (r < 0)
        return r;
    raise_most(g, value);
    if (atomic_fetch_add(&g->arrived, 1) + 1 == g->members)
        return open_gate(g, ret, err);
    while (atomic_load(&g->phase) == phase)
        syscall(SYS_futex, &g->phase, FUTEX_WAIT_PRIVATE, phase, NULL, NULL, 0);
    r = wr_gate_failed(g, err);
    if (r == 0)
        *ret = g->result;
    return r;
}
