/* listing_ahead.c - folders listed by threads, ahead of the walk.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/listing_ahead.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"

#define MAX_THREADS 16u
#define PER_THREAD  4u /* folders listed and not yet popped */
#define TICK_NS     (50 * WR_NS_PER_MS)

enum ahead_state { WAITING, LISTING, LISTED };

struct item {
    char *path; /* owned */
    enum ahead_state state;
    struct wr_folder *folder; /* owned; NULL: not LISTED, or memory is short */
};

/* The stack may move while an item is being listed: what is listed is found
 * again by its place. The walk never pops an item that is LISTING. */
struct wr_ahead {
    struct wr_ahead_config cfg;
    pthread_t threads[MAX_THREADS];
    unsigned thread_count;
    atomic_bool stop;

    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t work;  /* something may be WAITING, or stop */
    pthread_cond_t done;  /* something became LISTED */
    struct item *items;   /* owned: the stack */
    size_t count, cap;
    unsigned held; /* items that are LISTING or LISTED */
};

unsigned wr_ahead_threads(const struct wr_store *store)
{
    unsigned cores = wr_cpu_count();

    /* Wrapped stores count and delay what is asked of them, in its order. */
    if (store->ops != &wr_storage_file)
        return 0;
    /* Folders that are not in memory are waited for: more than cores help. */
    return WR_MIN(WR_MAX(cores, 4u), MAX_THREADS);
}

void wr_folder_free(struct wr_folder *f)
{
    if (!f)
        return;
    wr_listing_done(&f->listing);
    free(f);
}

static struct wr_folder *list_folder(struct wr_store *st, const char *path,
                                     const struct wr_listing_filter *filter)
{
    struct wr_folder *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->stat_r = st->ops->stat(st, path, &f->stat, &f->err);
    if (f->stat_r == 0)
        f->list_r = wr_listing_read(&f->listing, st, path, filter, &f->stop,
                                    &f->err);
    return f;
}

static int thread_tick(void *arg)
{
    struct wr_ahead *a = arg;

    return atomic_load(&a->stop) ? WEIR_ECANCELED : 0;
}

/* The item that the walk needs next and nobody lists yet; SIZE_MAX: none, or
 * enough are held. Called with the lock held. */
static size_t next_item(const struct wr_ahead *a)
{
    if (a->held >= a->thread_count * PER_THREAD)
        return SIZE_MAX;
    for (size_t k = a->count; k-- > 0;)
        if (a->items[k].state == WAITING)
            return k;
    return SIZE_MAX;
}

static void *run(void *arg)
{
    struct wr_ahead *a = arg;
    const struct wr_listing_filter filter = {.wanted = a->cfg.wanted,
                                             .ignored = a->cfg.ignored,
                                             .tick = thread_tick,
                                             .arg = a};

    pthread_mutex_lock(&a->lock);
    while (!atomic_load(&a->stop)) {
        size_t k = next_item(a);
        struct wr_folder *f;
        const char *path;

        if (k == SIZE_MAX) {
            pthread_cond_wait(&a->work, &a->lock);
            continue;
        }
        a->items[k].state = LISTING;
        a->held++;
        path = a->items[k].path;
        pthread_mutex_unlock(&a->lock);
        f = list_folder(a->cfg.store, path, &filter);
        pthread_mutex_lock(&a->lock);
        a->items[k].folder = f;
        a->items[k].state = LISTED;
        pthread_cond_signal(&a->done);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

struct wr_ahead *wr_ahead_new(const struct wr_ahead_config *cfg)
{
    struct wr_ahead *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->cfg = *cfg;
    a->cfg.threads = WR_MIN(cfg->threads, MAX_THREADS);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->work, NULL);
    pthread_cond_init(&a->done, NULL);
    return a;
}

bool wr_ahead_push(struct wr_ahead *a, const char *path)
{
    char *copy = strdup(path);
    bool ok;

    pthread_mutex_lock(&a->lock);
    ok = copy && wr_grow(&a->items, &a->cap, a->count + 1, sizeof(*a->items));
    if (ok)
        a->items[a->count++] = (struct item){.path = copy};
    pthread_mutex_unlock(&a->lock);
    if (!ok)
        free(copy);
    return ok;
}

/* Threads are worth it from the second folder on. One that cannot be started
 * is one less. */
static void start_threads(struct wr_ahead *a)
{
    unsigned started = 0;

    while (started < a->cfg.threads &&
           wr_thread_start(&a->threads[started], "weir-list", run, a, NULL) ==
               0)
        started++;
    a->cfg.threads = 0;
    pthread_mutex_lock(&a->lock);
    a->thread_count = started;
    pthread_mutex_unlock(&a->lock);
}

void wr_ahead_go(struct wr_ahead *a)
{
    if (a->cfg.threads && a->count > 1)
        start_threads(a);
    pthread_cond_broadcast(&a->work);
}

/* Waits until the top of the stack is LISTED; false: the tick ended it. Called
 * with the lock held. */
static bool wait_listed(struct wr_ahead *a)
{
    while (a->items[a->count - 1].state == LISTING) {
        uint64_t until = wr_clock_ns() + TICK_NS;
        int r = 0;

        if (!wr_cond_wait_until(&a->done, &a->lock, until) && a->cfg.tick) {
            pthread_mutex_unlock(&a->lock);
            r = a->cfg.tick(a->cfg.arg);
            pthread_mutex_lock(&a->lock);
        }
        if (r != 0)
            return false;
    }
    return true;
}

struct wr_folder *wr_ahead_pop(struct wr_ahead *a)
{
    const struct wr_listing_filter filter = {.wanted = a->cfg.wanted,
                                             .ignored = a->cfg.ignored,
                                             .tick = a->cfg.tick,
                                             .arg = a->cfg.arg};
    struct wr_folder *f = NULL;
    struct item top;

    pthread_mutex_lock(&a->lock);
    if (!wait_listed(a)) { /* the item stays: its thread comes back to it */
        pthread_mutex_unlock(&a->lock);
        return NULL;
    }
    top = a->items[--a->count];
    if (top.state == LISTED) {
        a->held--;
        f = top.folder;
        pthread_cond_signal(&a->work);
    }
    pthread_mutex_unlock(&a->lock);
    if (top.state == WAITING)
        f = list_folder(a->cfg.store, top.path, &filter);
    free(top.path);
    return f;
}

void wr_ahead_free(struct wr_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    atomic_store(&a->stop, true);
    pthread_cond_broadcast(&a->work);
    pthread_mutex_unlock(&a->lock);
    for (unsigned k = 0; k < a->thread_count; k++)
        pthread_join(a->threads[k], NULL);
    for (size_t k = 0; k < a->count; k++) {
        wr_folder_free(a->items[k].folder);
        free(a->items[k].path);
    }
    free(a->items);
    pthread_cond_destroy(&a->done);
    pthread_cond_destroy(&a->work);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
