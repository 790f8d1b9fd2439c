/* shares.c - what a process has once, whoever uses it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/shares.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/descriptors.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"

/* --- things that are there once in a process, by name --- */

struct wr_common {
    const struct wr_common_kind *kind; /* borrowed */
    void *thing;                       /* owned */
    unsigned users;
    struct wr_common *next;
    char name[];
};

static struct wr_common *
find(struct wr_common *c, const struct wr_common_kind *kind, const char *name)
{
    while (c && (c->kind != kind || strcmp(c->name, name)))
        c = c->next;
    return c;
}

static int add(const struct wr_common_kind *kind, const char *name,
               const void *arg, struct wr_common **ret, weir_err *err)
{
    size_t len = strlen(name) + 1;
    struct wr_common *c = calloc(1, sizeof(*c) + len);
    int r;

    if (!c)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    c->kind = kind;
    memcpy(c->name, name, len);
    r = kind->make(arg, &c->thing, err);
    if (r < 0) {
        free(c);
        return r;
    }
    c->next = wr_shares_get()->things.first;
    wr_shares_get()->things.first = c;
    *ret = c;
    return 0;
}

int wr_common_ref(const struct wr_common_kind *kind, const char *name,
                  const void *arg, void **ret, weir_err *err)
{
    struct wr_shares *s = wr_shares_get();
    struct wr_common *c;
    int r = 0;

    pthread_mutex_lock(&s->things.lock);
    c = find(s->things.first, kind, name);
    if (!c)
        r = add(kind, name, arg, &c, err);
    if (r == 0) {
        c->users++;
        *ret = c->thing;
    }
    pthread_mutex_unlock(&s->things.lock);
    return r;
}

void wr_common_unref(void *thing)
{
    struct wr_shares *s = wr_shares_get();
    struct wr_common **at = &s->things.first, *c;

    if (!thing)
        return;
    pthread_mutex_lock(&s->things.lock);
    while (*at && (*at)->thing != thing)
        at = &(*at)->next;
    c = *at;
    assert(c);
    if (--c->users == 0) {
        *at = c->next;
        c->kind->free(c->thing);
        free(c);
    }
    pthread_mutex_unlock(&s->things.lock);
}

/* --- accounts --- */

static struct wr_shares process = {
    .looked_up = PTHREAD_ONCE_INIT,
    .files = {.lock = PTHREAD_MUTEX_INITIALIZER,
              .turn = PTHREAD_COND_INITIALIZER,
              .back = PTHREAD_COND_INITIALIZER},
    .things = {.lock = PTHREAD_MUTEX_INITIALIZER},
};

struct wr_shares *wr_shares_get(void)
{
    return &process;
}

/* Raises *a to `value`; it never falls. */
static void raise_to(atomic_uint_fast64_t *a, uint64_t value)
{
    uint_fast64_t now = atomic_load(a);

    while (now < value && !atomic_compare_exchange_weak(a, &now, value))
        ;
}

/* The limits are files of the kernel: they are read once. */
static void find_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page
                                         : (uint64_t)4 << 30;
    struct wr_cgroup group = {0};

    wr_cgroup_limits("", &group);
    if (group.memory_bytes)
        all = WR_MIN(all, group.memory_bytes);
    raise_to(&process.accounts[WR_SHARE_MEMORY].raised, all / 4);
}

uint64_t wr_share_all(enum wr_share kind)
{
    uint64_t usual = 0;

    if (kind == WR_SHARE_MEMORY)
        pthread_once(&process.looked_up, find_memory);
    else if (kind == WR_SHARE_FILES)
        usual = wr_fd_share(); /* the limit may change */
    else
        usual = 2 * (uint64_t)wr_cpu_count();
    return WR_MAX(usual, (uint64_t)atomic_load(&process.accounts[kind].raised));
}

uint64_t wr_share_left(enum wr_share kind)
{
    uint64_t all = wr_share_all(kind);
    uint64_t taken = atomic_load(&process.accounts[kind].taken);

    return all - WR_MIN(all, taken);
}

void wr_share_raise(enum wr_share kind, uint64_t all)
{
    raise_to(&process.accounts[kind].raised, all);
}

uint64_t wr_share_take_some(enum wr_share kind, uint64_t want, uint64_t least)
{
    struct wr_account *a = &process.accounts[kind];
    uint64_t all = wr_share_all(kind), n;
    uint_fast64_t taken = atomic_load(&a->taken);

    do
        n = WR_MAX(WR_MIN(want, all - WR_MIN(all, taken)), least);
    while (!atomic_compare_exchange_weak(&a->taken, &taken, taken + n));
    raise_to(&a->most, taken + n);
    return n;
}

void wr_share_refuse(enum wr_share kind)
{
    atomic_fetch_add(&process.accounts[kind].refusals, 1);
}

bool wr_share_take(enum wr_share kind, uint64_t n)
{
    struct wr_account *a = &process.accounts[kind];
    uint64_t all = wr_share_all(kind);
    uint_fast64_t taken = atomic_load(&a->taken);

    do
        if (taken > all || n > all - taken) {
            wr_share_refuse(kind);
            return false;
        }
    while (!atomic_compare_exchange_weak(&a->taken, &taken, taken + n));
    raise_to(&a->most, taken + n);
    return true;
}

void wr_share_take_anyway(enum wr_share kind, uint64_t n)
{
    wr_share_take_some(kind, n, n);
}

void wr_share_give(enum wr_share kind, uint64_t n)
{
    atomic_fetch_sub(&process.accounts[kind].taken, n);
}

uint64_t wr_share_refusals(enum wr_share kind)
{
    return atomic_load(&process.accounts[kind].refusals);
}
