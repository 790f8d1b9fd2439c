/* crew.c - threads that take numbered pieces of work until there are none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/crew.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"

#define POLL_NS (50 * WR_NS_PER_MS)

struct crew_state {
    struct wr_crew *c;     /* borrowed */
    _Atomic unsigned next; /* number of the next thread */
    /* Guards what follows; taken alone. */
    pthread_mutex_t lock;
    pthread_cond_t ended; /* a thread has ended */
    unsigned running;
    int failed; /* the first failure, and its message */
    weir_err why;
};

static void *crew_main(void *arg)
{
    struct crew_state *s = arg;
    weir_err err;
    int r = s->c->work(s->c->arg, s->next++, &err);

    pthread_mutex_lock(&s->lock);
    if (r < 0 && !s->failed) {
        s->failed = r;
        s->why = err;
    }
    if (r < 0)
        s->c->stop = true;
    s->running--;
    pthread_cond_signal(&s->ended);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Reports until all threads have ended. */
static void watch(struct crew_state *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->running) {
        wr_cond_wait_until(&s->ended, &s->lock, wr_clock_ns() + POLL_NS);
        if (!s->c->watch || s->c->stop)
            continue;
        pthread_mutex_unlock(&s->lock);
        if (s->c->watch(s->c->arg))
            s->c->stop = true;
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

int wr_crew_run(struct wr_crew *c, weir_err *err)
{
    struct crew_state s = {.c = c, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[WR_CREW_MAX];
    unsigned started = 0;
    int r = 0;

    pthread_cond_init(&s.ended, NULL);
    for (; r == 0 && started < c->threads; started += r == 0) {
        pthread_mutex_lock(&s.lock);
        s.running++;
        pthread_mutex_unlock(&s.lock);
        r = wr_thread_start(&threads[started], c->name, crew_main, &s, err);
    }
    if (r < 0) {
        c->stop = true;
        pthread_mutex_lock(&s.lock);
        s.running--;
        pthread_mutex_unlock(&s.lock);
    }
    watch(&s);
    for (unsigned k = 0; k < started; k++)
        pthread_join(threads[k], NULL);
    if (r == 0)
        r = wr_fail_as(err, s.failed, &s.why);
    if (r == 0 && c->stop)
        r = wr_fail(err, WEIR_ECANCELED, "canceled");
    pthread_cond_destroy(&s.ended);
    pthread_mutex_destroy(&s.lock);
    return r;
}
