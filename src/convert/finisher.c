/* finisher.c - a thread that syncs finished shards and names them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/finisher.h"

#include "base/clock.h"
#include "base/thread.h"
#include "convert/shardfile.h"

#define POLL_NS (100 * WR_NS_PER_MS) /* between two looks at the user's wish */

/* With the lock held. */
static struct wr_convert_shard *take(struct wr_finisher *f)
{
    struct wr_convert_shard *s = f->first;

    if (s)
        f->first = s->next;
    if (!f->first)
        f->last = &f->first;
    return s;
}

static void *finish_all(void *arg)
{
    struct wr_finisher *f = arg;
    struct wr_convert_shard *s;
    weir_err err;
    int r;

    pthread_mutex_lock(&f->lock);
    while (!f->stop) {
        s = f->failed.code ? NULL : take(f);
        if (!s) {
            pthread_cond_wait(&f->moved, &f->lock);
            continue;
        }
        pthread_mutex_unlock(&f->lock);
        r = f->plan->kind->finish(f->plan, f->stage, s, &err);
        wr_shardfile_free(f->plan, s);
        pthread_mutex_lock(&f->lock);
        f->waiting--;
        if (r < 0)
            f->failed = err;
        pthread_cond_broadcast(&f->moved);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

int wr_finisher_start(struct wr_finisher *f, const struct wr_convert_plan *plan,
                      struct wr_stage *st, weir_err *err)
{
    int r;

    *f = (struct wr_finisher){.plan = plan, .stage = st};
    f->last = &f->first;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->moved, NULL);
    r = wr_thread_start(&f->thread, "weir-finish", finish_all, f, err);
    if (r < 0) {
        pthread_cond_destroy(&f->moved);
        pthread_mutex_destroy(&f->lock);
    }
    return r;
}

void wr_finisher_give(struct wr_finisher *f, struct wr_convert_shard *s)
{
    pthread_mutex_lock(&f->lock);
    s->next = NULL;
    *f->last = s;
    f->last = &s->next;
    f->waiting++;
    pthread_cond_broadcast(&f->moved);
    pthread_mutex_unlock(&f->lock);
}

int wr_finisher_wait(struct wr_finisher *f, unsigned most, weir_err *err)
{
    int r;

    pthread_mutex_lock(&f->lock);
    if (f->waiting > most && !f->failed.code)
        wr_cond_wait_until(&f->moved, &f->lock, wr_clock_ns() + POLL_NS);
    r = f->failed.code ? f->failed.code : f->waiting <= most;
    if (r < 0 && err)
        *err = f->failed;
    pthread_mutex_unlock(&f->lock);
    return r;
}

void wr_finisher_stop(struct wr_finisher *f)
{
    struct wr_convert_shard *s;

    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_broadcast(&f->moved);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    while ((s = take(f)))
        wr_shardfile_free(f->plan, s);
    pthread_cond_destroy(&f->moved);
    pthread_mutex_destroy(&f->lock);
}
