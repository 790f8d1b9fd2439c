/* pool.c - threads that share the parts of one task, and wait for each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/thread.h"

struct pool_worker {
    struct wr_pool *pool; /* borrowed */
    pthread_t thread;
    unsigned number; /* from 1: the caller is 0 */
};

struct wr_pool {
    pthread_mutex_t lock; /* guards all but `next` */
    pthread_cond_t begun, ended;
    uint64_t task;  /* number of the task that runs or ran last */
    unsigned busy;  /* workers that have not ended it */
    bool is_closed; /* workers leave */
    wr_pool_fn *fn;
    void *arg;
    size_t count;
    atomic_size_t next; /* part nobody has taken */
    unsigned started;
    struct pool_worker *workers; /* owned, `started` of them run */
};

/* Parts are taken one by one, so that a slow thread takes fewer. */
static void run_parts(struct wr_pool *p, unsigned thread)
{
    size_t part;

    while ((part = atomic_fetch_add(&p->next, 1)) < p->count)
        p->fn(p->arg, part, thread);
}

static void *worker_run(void *arg)
{
    struct pool_worker *w = arg;
    struct wr_pool *p = w->pool;
    uint64_t seen = 0;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->task == seen && !p->is_closed)
            pthread_cond_wait(&p->begun, &p->lock);
        if (p->is_closed)
            break;
        seen = p->task;
        pthread_mutex_unlock(&p->lock);
        run_parts(p, w->number);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0)
            pthread_cond_signal(&p->ended);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int start_workers(struct wr_pool *p, unsigned count, const char *name,
                         weir_err *err)
{
    for (unsigned i = 0; i < count; i++) {
        struct pool_worker *w = &p->workers[i];
        char shown[32];
        int r;

        w->pool = p;
        w->number = i + 1;
        snprintf(shown, sizeof(shown), "%s-%u", name, i + 1);
        r = wr_thread_start(&w->thread, shown, worker_run, w, err);
        if (r < 0)
            return r;
        p->started++;
    }
    return 0;
}

int wr_pool_new(struct wr_pool **ret, unsigned threads, const char *name,
                weir_err *err)
{
    unsigned others = threads > 1 ? threads - 1 : 0;
    struct wr_pool *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->begun, NULL);
    pthread_cond_init(&p->ended, NULL);
    p->workers = calloc(others ? others : 1, sizeof(*p->workers));
    r = p->workers ? start_workers(p, others, name, err)
                   : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r < 0) {
        wr_pool_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

void wr_pool_free(struct wr_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->is_closed = true;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->ended);
    pthread_cond_destroy(&pool->begun);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

unsigned wr_pool_threads(const struct wr_pool *pool)
{
    return pool->started + 1;
}

/* Every worker takes note of every task, even if no part is left for it: so
 * nobody can still look at this task when the next one is set up. */
void wr_pool_run(struct wr_pool *pool, size_t count, wr_pool_fn *fn, void *arg)
{
    pthread_mutex_lock(&pool->lock);
    pool->fn = fn;
    pool->arg = arg;
    pool->count = count;
    atomic_store(&pool->next, 0);
    pool->busy = pool->started;
    pool->task++;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);
    run_parts(pool, 0);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy)
        pthread_cond_wait(&pool->ended, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
