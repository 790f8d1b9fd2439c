/* drain.c - the thread that drains, and draining by call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/drain.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "base/thread.h"
#include "checkpoint/patient.h"
#include "checkpoint/saver.h"

#define NICER          10 /* than the trainer: training goes first */
#define PAUSE_FIRST_NS WR_NS_PER_SEC
#define PAUSE_LAST_NS  (60 * WR_NS_PER_SEC)
#define PROGRESS_NS    (200 * WR_NS_PER_MS)

/* --- the thread --- */

/* With the lock held: waits for work; false: to stop. */
static bool wait_for_work(struct wr_drainer *d, uint64_t retry_ns)
{
    for (;;) {
        if (d->stop)
            return false;
        if (d->pauses == 0 &&
            (d->woken || (retry_ns && wr_clock_ns() >= retry_ns)))
            return true;
        wr_cond_wait_until(&d->changed, &d->lock,
                           d->pauses || !retry_ns ? UINT64_MAX : retry_ns);
    }
}

static void run(void *arg)
{
    struct wr_drainer *d = arg;
    uint64_t pause_ns = 0, retry_ns = 0;
    id_t self = (id_t)gettid();

    wr_patient_enter(d->c->far->store);
    setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + NICER);
    pthread_mutex_lock(&d->lock);
    while (!d->over && wait_for_work(d, retry_ns)) {
        weir_err e = {0};
        int r;

        d->woken = false;
        d->busy = true;
        d->seen_ns = wr_clock_ns();
        pthread_mutex_unlock(&d->lock);
        r = wr_drain_pass(d, &e);
        pthread_mutex_lock(&d->lock);
        d->over = r == WEIR_EFENCED;
        d->busy = false;
        d->result = e;
        pthread_cond_broadcast(&d->changed);
        pause_ns = r == 0 || r == WEIR_ECANCELED ? 0
                   : pause_ns == 0               ? PAUSE_FIRST_NS
                                   : WR_MIN(2 * pause_ns, PAUSE_LAST_NS);
        retry_ns = pause_ns ? wr_clock_ns() + pause_ns : 0;
    }
    pthread_mutex_unlock(&d->lock);
    wr_patient_leave(d->c->far->store);
}

static void drainer_done(struct wr_drainer *d)
{
    wr_strand_done(&d->strand);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d->jobs);
    free(d->settled);
    free(d->waiting);
    free(d);
}

static void release(void *arg)
{
    struct wr_drainer *d = arg;
    weir_ckpt *c = d->c;

    drainer_done(d);
    wr_ckpt_unref(c);
}

bool wr_drainer_put(struct wr_drainer *d, uint64_t step, uint64_t bytes,
                    bool unseen)
{
    if (!wr_grow(&d->waiting, &d->waiting_cap, d->waiting_count + 1,
                 sizeof(*d->waiting)))
        return false;
    d->waiting[d->waiting_count++] = (struct wr_drain_wait){step, bytes,
                                                            unseen};
    return true;
}

/* Short of memory it is looked at once more. */
void wr_drainer_settle(struct wr_drainer *d, uint64_t step)
{
    size_t at = d->settled_count;

    if (!wr_tier_is_writer(d->c->near) ||
        !wr_grow(&d->settled, &d->settled_cap, at + 1, sizeof(*d->settled)))
        return;
    for (; at > 0 && d->settled[at - 1] > step; at--)
        d->settled[at] = d->settled[at - 1];
    d->settled[at] = step;
    d->settled_count++;
}

void wr_drainer_keep_settled(struct wr_drainer *d, const uint64_t *steps,
                             size_t count)
{
    size_t kept = 0, at = 0;

    for (size_t i = 0; i < d->settled_count && !d->anew; i++) {
        uint64_t step = d->settled[i];
        bool waits = false;

        while (at < count && steps[at] < step)
            at++;
        for (size_t k = 0; k < d->waiting_count && !waits; k++)
            waits = d->waiting[k].step == step;
        if (at < count && steps[at] == step && !waits)
            d->settled[kept++] = step;
    }
    d->settled_count = kept;
    d->anew = false;
}

bool wr_drainer_is_settled(const struct wr_drainer *d, uint64_t step)
{
    size_t at = wr_count_below(d->settled, sizeof(*d->settled),
                               d->settled_count, 0, step);

    return at < d->settled_count && d->settled[at] == step;
}

/* What earlier runs left counts from the first save on. */
static int count_behind(struct wr_drainer *d, weir_err *err)
{
    uint64_t *steps;
    size_t count;
    int r = wr_tier_steps(d->c->near, &steps, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count && r == 0; i++) {
        struct wr_copy copy = {0};
        bool read = wr_step_look(d->c->near, steps[i], &copy, NULL) == 0;

        /* When in doubt it waits. */
        if (read ? copy.is <= WEIR_COPY_DAMAGED ||
                       !wr_ckpt_is_missing(d->c, &copy, steps[i])
                 : wr_tier_has(d->c->far, steps[i]))
            continue;
        if (!wr_drainer_put(d, steps[i], copy.gist.bytes, /* unseen= */ false))
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    free(steps);
    return r;
}

int wr_drainer_start(weir_ckpt *c, bool thread, weir_err *err)
{
    struct wr_drainer *d = calloc(1, sizeof(*d));
    int r;

    if (!d)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    d->c = c;
    d->threaded = thread;
    d->woken = true;
    d->at = WR_STEP_NONE;
    r = count_behind(d, err);
    if (r == 0 && thread)
        r = wr_strand_start(&d->strand, "weir-drain", run, release, d, err);
    if (r < 0)
        drainer_done(d);
    else
        c->drainer = d;
    return r;
}

bool wr_drainer_halt(struct wr_drainer *d, uint64_t deadline_ns)
{
    return !d || wr_strand_halt(&d->strand, &d->lock, &d->changed, &d->stop,
                                deadline_ns);
}

void wr_drainer_free(struct wr_drainer *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->left = true;
    pthread_mutex_unlock(&d->lock);
    wr_ckpt_ref(d->c); /* first: it may end at once */
    if (!wr_strand_leave(&d->strand))
        release(d);
}

void wr_drainer_wake(struct wr_drainer *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->woken = d->anew = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

void wr_drainer_add(struct wr_drainer *d, uint64_t step, uint64_t bytes)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    /* When memory is short it counts from the next look on. */
    d->anew |= !wr_drainer_put(d, step, bytes, /* unseen= */ true);
    d->woken = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

struct wr_backlog wr_drainer_backlog(struct wr_drainer *d)
{
    struct wr_backlog b = {0};

    pthread_mutex_lock(&d->lock);
    b.steps = d->waiting_count;
    for (size_t i = 0; i < d->waiting_count; i++)
        b.bytes += d->waiting[i].bytes;
    pthread_mutex_unlock(&d->lock);
    return b;
}

bool wr_drainer_oldest(struct wr_drainer *d, uint64_t from, uint64_t *ret)
{
    bool found = false;

    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->waiting_count; i++) {
        uint64_t step = d->waiting[i].step;

        if (step < from || step == d->at || (found && step > *ret))
            continue;
        *ret = step;
        found = true;
    }
    pthread_mutex_unlock(&d->lock);
    return found;
}

void wr_drainer_drop(struct wr_drainer *d, uint64_t step)
{
    size_t kept = 0;

    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->waiting_count; i++)
        if (d->waiting[i].step != step)
            d->waiting[kept++] = d->waiting[i];
    d->waiting_count = kept;
    pthread_mutex_unlock(&d->lock);
}

int wr_drainer_fails(struct wr_drainer *d, weir_err *err)
{
    int r;

    pthread_mutex_lock(&d->lock);
    r = d->result.code == WEIR_ECANCELED ? 0 : d->result.code;
    wr_fail_as(err, r, &d->result);
    pthread_mutex_unlock(&d->lock);
    return r;
}

uint64_t wr_drainer_silent_ns(struct wr_drainer *d)
{
    uint64_t now_ns = wr_clock_ns(), work = d->c->far->calls, silent_ns;

    pthread_mutex_lock(&d->lock);
    work += d->bytes_done;
    if (!d->busy || work != d->seen_work)
        d->seen_ns = now_ns;
    d->seen_work = work;
    silent_ns = now_ns > d->seen_ns ? now_ns - d->seen_ns : 0;
    pthread_mutex_unlock(&d->lock);
    return silent_ns;
}

bool wr_drainer_works(struct wr_drainer *d)
{
    bool works;

    pthread_mutex_lock(&d->lock);
    works = !d->over && (d->busy || d->woken);
    pthread_mutex_unlock(&d->lock);
    return works;
}

int wr_drainer_pause(struct wr_drainer *d, weir_err *err)
{
    int r = 0;

    if (!d)
        return 0;
    pthread_mutex_lock(&d->lock);
    d->pauses++;
    while (d->busy && r == 0) {
        wr_cond_wait_until(&d->changed, &d->lock, wr_clock_ns() + PROGRESS_NS);
        pthread_mutex_unlock(&d->lock);
        r = wr_ckpt_check_answers(d->c, err);
        pthread_mutex_lock(&d->lock);
    }
    d->pauses -= r < 0;
    pthread_mutex_unlock(&d->lock);
    return r;
}

void wr_drainer_resume(struct wr_drainer *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->pauses--;
    d->woken = d->anew = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

int wr_drainer_failed(struct wr_drainer *d, uint64_t step, uint64_t *seen,
                      uint64_t *ret_number, weir_err *err)
{
    const struct wr_log *log = &d->c->log;
    const struct wr_log_entry *e;
    bool over;

    pthread_mutex_lock(&d->lock);
    over = d->over;
    pthread_mutex_unlock(&d->lock);
    e = over ? wr_log_attempt(log, WEIR_LATEST, 0)
             : wr_log_attempt(log, step, *seen); /* none is above UINT64_MAX */
    *seen = log->last;
    if (!e)
        return 0;
    *ret_number = e->number;
    return wr_fail_as(err, e->err.code, &e->err);
}

int wr_drainer_gave_up(struct wr_drainer *d, uint64_t step, weir_err *err)
{
    const struct wr_log_entry *e;
    int r;

    pthread_mutex_lock(&d->c->lock);
    e = wr_log_given_up(&d->c->log, step, /* id= */ NULL);
    r = e ? wr_fail_as(err, e->err.code, &e->err) : 0;
    pthread_mutex_unlock(&d->c->lock);
    return r;
}

/* --- the call --- */

/* Waits until the thread has looked at what is there now and worked it off. */
static int wait_for_thread(struct wr_drainer *d, weir_err *err)
{
    const weir_ckpt_config *cfg = &d->c->cfg;
    uint64_t done, total;
    int r = 0;

    pthread_mutex_lock(&d->lock);
    d->woken = d->anew = true;
    pthread_cond_broadcast(&d->changed);
    while (r == 0 && !d->over && (d->busy || d->woken)) {
        wr_cond_wait_until(&d->changed, &d->lock, wr_clock_ns() + PROGRESS_NS);
        done = d->bytes_done;
        total = WR_MAX(d->bytes_total, done);
        pthread_mutex_unlock(&d->lock);
        if (cfg->progress && cfg->progress(cfg->progress_arg, done, total))
            r = wr_fail(err, WEIR_ECANCELED, "canceled");
        if (r == 0)
            r = wr_ckpt_check_answers(d->c, err);
        pthread_mutex_lock(&d->lock);
    }
    if (r == 0)
        r = wr_fail_as(err, d->result.code, &d->result);
    pthread_mutex_unlock(&d->lock);
    return r;
}

int weir_ckpt_drain(weir_ckpt *c, weir_err *err)
{
    weir_err why;
    int r = wr_ckpt_begin(c, err);

    if (r == 0)
        r = wr_ckpt_fenced(c, err);
    if (r == 0)
        r = wr_ckpt_take_trouble(c, NULL, err);
    if (r < 0 || !c->far)
        return r;
    if (!c->drainer)
        return wr_fail(err, WEIR_ESTATE,
                       "draining needs a store that was opened to drain it");
    if (!c->drainer->threaded)
        return wr_ckpt_end(c, wr_drain_pass(c->drainer, err), err);
    r = wait_for_thread(c->drainer, err);
    /* The same error, told to the next call, is delivered by this one. */
    if (wr_ckpt_take_trouble(c, NULL, &why) < 0 && r == 0)
        r = wr_fail_as(err, why.code, &why);
    return r;
}
