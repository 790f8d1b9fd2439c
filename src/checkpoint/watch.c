/* watch.c - questions to the slow tier that nobody waits for in vain.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/watch.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "checkpoint/patient.h"
#include "checkpoint/strand.h"

#define WHAT_MAX 128
#define KEPT_NS  WR_NS_PER_SEC /* an answer that nobody waited for */

struct wr_watch {
    weir_ckpt *c;            /* borrowed; a reference when it is left behind */
    struct wr_strand strand; /* started with the first question, with the lock
                                held */

    pthread_mutex_t lock; /* guards what is below; a leaf lock */
    pthread_cond_t changed;
    bool stop;
    enum { IDLE, ASKED, LOOKING, ANSWERED } state;
    bool waited; /* someone waits for the answer */
    wr_watch_fn look;
    size_t size;
    _Alignas(max_align_t) uint8_t question[WHAT_MAX], answer[WHAT_MAX];
    uint64_t when_ns; /* of asking, then of answering */
    int result;
    weir_err err;
};

int wr_watch_new(weir_ckpt *c, struct wr_watch **ret, weir_err *err)
{
    struct wr_watch *w = calloc(1, sizeof(*w));

    if (!w)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->c = c;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    *ret = w;
    return 0;
}

static void watch_done(struct wr_watch *w)
{
    wr_strand_done(&w->strand);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void release(void *arg)
{
    struct wr_watch *w = arg;
    weir_ckpt *c = w->c;

    watch_done(w);
    wr_ckpt_unref(c);
}

bool wr_watch_halt(struct wr_watch *w, uint64_t deadline_ns)
{
    return !w || wr_strand_halt(&w->strand, &w->lock, &w->changed, &w->stop,
                                deadline_ns);
}

void wr_watch_free(struct wr_watch *w)
{
    if (!w)
        return;
    wr_ckpt_ref(w->c); /* first: it may end at once */
    if (!wr_strand_leave(&w->strand))
        release(w);
}

/* --- the thread --- */

static void run(void *arg)
{
    struct wr_watch *w = arg;
    struct wr_tier *far = w->c->far;

    wr_patient_enter(far ? far->store : NULL);
    pthread_mutex_lock(&w->lock);
    for (;;) {
        weir_err e = {0};
        int r;

        while (!w->stop && w->state != ASKED)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->stop)
            break;
        w->state = LOOKING;
        memcpy(w->answer, w->question, w->size);
        pthread_mutex_unlock(&w->lock);
        /* The question stays as it is: only this thread touches `answer`. */
        r = w->look(w->c, w->answer, &e);
        pthread_mutex_lock(&w->lock);
        w->state = ANSWERED;
        w->result = r;
        w->err = e;
        w->when_ns = wr_clock_ns();
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    wr_patient_leave(far ? far->store : NULL);
}

/* --- asking --- */

static int no_answer(const weir_ckpt *c, weir_err *err)
{
    return wr_fail(err, WEIR_ETIMEDOUT,
                   "'%s': the slow tier does not answer (is the storage "
                   "there?)",
                   c->far->shown);
}

/* With the lock held: the last question was the same one, nobody waits for it,
 * and its answer is still to come or quite new. */
static bool is_asked(const struct wr_watch *w, wr_watch_fn look,
                     const void *what, size_t size)
{
    if (w->state == IDLE || w->waited || w->look != look || w->size != size ||
        memcmp(w->question, what, size) != 0)
        return false;
    return w->state != ANSWERED || wr_clock_ns() - w->when_ns <= KEPT_NS;
}

/* With the lock held: the thread takes the next question. */
static bool is_free(const struct wr_watch *w)
{
    return !w->waited && (w->state == IDLE || w->state == ANSWERED);
}

/* With the lock held: puts the question, or finds it there. 1: not by then. */
static int put(struct wr_watch *w, wr_watch_fn look, const void *what,
               size_t size, uint64_t until_ns, weir_err *err)
{
    int r = 0;

    while (!is_asked(w, look, what, size) && !is_free(w))
        if (!wr_cond_wait_until(&w->changed, &w->lock, until_ns))
            return 1;
    if (is_asked(w, look, what, size))
        return 0;
    if (!w->strand.started)
        r = wr_strand_start(&w->strand, "weir-watch", run, release, w, err);
    if (r < 0)
        return r;
    w->look = look;
    w->size = size;
    memcpy(w->question, what, size);
    w->state = ASKED;
    w->when_ns = wr_clock_ns();
    pthread_cond_broadcast(&w->changed);
    return 0;
}

/* With the lock held: the answer to what was put. 1: not by then. */
static int take(struct wr_watch *w, void *what, uint64_t until_ns,
                weir_err *err)
{
    int r = 1;

    w->waited = true;
    while (w->state != ANSWERED &&
           wr_cond_wait_until(&w->changed, &w->lock, until_ns))
        ;
    w->waited = false;
    if (w->state == ANSWERED) {
        w->state = IDLE;
        memcpy(what, w->answer, w->size);
        r = wr_fail_as(err, w->result, &w->err);
    }
    pthread_cond_broadcast(&w->changed); /* for who asks next */
    return r;
}

int wr_watch_ask(weir_ckpt *c, wr_watch_fn look, void *what, size_t size,
                 uint64_t patience_ns, weir_err *err)
{
    struct wr_watch *w = c->watch;
    uint64_t until_ns = UINT64_MAX;
    bool hangs;
    int r;

    assert(size <= WHAT_MAX);
    if (!w)
        return look(c, what, err);
    if (patience_ns < UINT64_MAX / 2)
        until_ns = wr_clock_ns() + patience_ns;
    pthread_mutex_lock(&w->lock);
    hangs = w->state == LOOKING && !w->waited &&
            wr_clock_ns() - w->when_ns > WR_WATCH_BRIEFLY;
    if (hangs && patience_ns <= WR_WATCH_BRIEFLY)
        until_ns = 0;
    r = put(w, look, what, size, until_ns, err);
    if (r == 0)
        r = take(w, what, until_ns, err);
    pthread_mutex_unlock(&w->lock);
    return r == 1 ? no_answer(c, err) : r;
}

uint64_t wr_watch_silent_ns(struct wr_watch *w)
{
    uint64_t now_ns = wr_clock_ns(), silent_ns = 0;

    if (!w)
        return 0;
    pthread_mutex_lock(&w->lock);
    if ((w->state == ASKED || w->state == LOOKING) && now_ns > w->when_ns)
        silent_ns = now_ns - w->when_ns;
    pthread_mutex_unlock(&w->lock);
    return silent_ns;
}
