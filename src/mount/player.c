/* player.c - threads that send things when they are due.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/player.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"

#define THREADS_MAX 8

struct wr_player {
    pthread_mutex_t lock; /* guards all below but send and arg */
    pthread_cond_t early; /* the watcher: something earlier has come */
    pthread_cond_t work;  /* the others: become the watcher, or end */
    struct wr_due_heap heap;
    bool watched;           /* a thread sleeps until `watched_until` */
    uint64_t watched_until; /* WR_DUE_NEVER without a watcher */
    unsigned idle;          /* threads that wait for `work` */
    bool stopping;
    wr_player_fn send;
    void *arg; /* borrowed */
    pthread_t threads[THREADS_MAX];
    unsigned count;
};

/* Sleeps until the earliest is due, or something earlier comes. */
static void watch(struct wr_player *p, uint64_t until_ns)
{
    p->watched = true;
    p->watched_until = until_ns;
    wr_cond_wait_until(&p->early, &p->lock, until_ns);
    p->watched = false;
    p->watched_until = WR_DUE_NEVER;
}

/* A device does not wait for a core: neither does who plays it, if permitted.
 * It only sends what is due, which programs have asked for. */
static void be_punctual(void)
{
    const struct sched_param first = {.sched_priority = 1};

    prctl(PR_SET_TIMERSLACK, 1UL); /* the default adds 50 us to each sleep */
    pthread_setschedparam(pthread_self(), SCHED_RR, &first);
}

static void *play(void *arg)
{
    struct wr_player *p = arg;

    be_punctual();
    pthread_mutex_lock(&p->lock);
    for (;;) {
        uint64_t now = p->stopping ? WR_DUE_NEVER : wr_clock_ns();
        struct wr_play *item = (struct wr_play *)wr_due_pop(&p->heap, now);

        if (item) {
            if (item->heavy && !p->watched && p->idle && p->heap.count)
                pthread_cond_signal(&p->work);
            pthread_mutex_unlock(&p->lock);
            p->send(p->arg, item);
            pthread_mutex_lock(&p->lock);
        } else if (p->stopping) {
            break;
        } else if (p->heap.count == 0 || p->watched) {
            p->idle++;
            pthread_cond_wait(&p->work, &p->lock);
            p->idle--;
        } else {
            watch(p, wr_due_next(&p->heap));
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void wr_player_add(struct wr_player *p, struct wr_play *item)
{
    pthread_cond_t *wake = NULL;
    uint64_t at_ns = item->due.at_ns; /* it may be gone after the unlock */
    bool ok;

    pthread_mutex_lock(&p->lock);
    ok = wr_due_push(&p->heap, &item->due);
    if (ok && p->watched && at_ns < p->watched_until)
        wake = &p->early;
    else if (ok && !p->watched && p->idle)
        wake = &p->work;
    pthread_mutex_unlock(&p->lock);
    if (wake)
        pthread_cond_signal(wake);
    if (!ok)
        p->send(p->arg, item);
}

bool wr_player_is_busy(struct wr_player *p)
{
    bool busy;

    pthread_mutex_lock(&p->lock);
    busy = p->heap.count > 0;
    pthread_mutex_unlock(&p->lock);
    return busy;
}

static void init_locks(struct wr_player *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->early, NULL);
    pthread_cond_init(&p->work, NULL);
}

int wr_player_start(struct wr_player **ret, unsigned threads, wr_player_fn send,
                    void *arg, weir_err *err)
{
    struct wr_player *p = calloc(1, sizeof(*p));

    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    init_locks(p);
    p->send = send;
    p->arg = arg;
    p->watched_until = WR_DUE_NEVER;
    for (; p->count < threads && p->count < THREADS_MAX; p->count++) {
        int r = wr_thread_start(&p->threads[p->count], "weir-due", play, p,
                                err);

        if (r < 0) {
            wr_player_stop(p);
            return r;
        }
    }
    *ret = p;
    return 0;
}

void wr_player_stop(struct wr_player *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->early);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->count; i++)
        pthread_join(p->threads[i], NULL);
    wr_due_done(&p->heap);
    pthread_cond_destroy(&p->early);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
