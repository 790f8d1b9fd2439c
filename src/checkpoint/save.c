/* save.c - weir_ckpt_save: takes a snapshot and hands it to the writer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/saver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/sized.h"
#include "checkpoint/lineage.h"
#include "checkpoint/watch.h"
#include "safetensors/head.h"

#define SLICE_MAX_MS UINT64_C(60000) /* a timeout may be for ever */
/* Twice as many digits, and a head's worth of checksums, fit into one part
 * (WR_COMM_MAX). */
#define PIPELINE_MAX ((size_t)64 << 20)

/* --- what may be saved --- */

static int check_state(const weir_ckpt *c, const weir_ckpt_state *st,
                       enum weir_level level, weir_err *err)
{
    if (st->step >= WEIR_STEP_MAX)
        return wr_fail(err, WEIR_EINVAL, "step: %" PRIu64 " is too high",
                       st->step);
    if (level < WEIR_LEVEL_SNAPSHOT || level > WEIR_LEVEL_VERIFIED)
        return wr_fail(err, WEIR_EINVAL, "level: there is no level %d",
                       (int)level);
    if ((st->count && !st->tensors) || (st->metadata_count && !st->metadata) ||
        (st->pipeline_len && !st->pipeline))
        return wr_fail(err, WEIR_EINVAL,
                       "step %" PRIu64 ": a count without an array", st->step);
    if (st->pipeline_len > PIPELINE_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "pipeline: %zu bytes, at most %zu are saved",
                       st->pipeline_len, PIPELINE_MAX);
    if (level == WEIR_LEVEL_VERIFIED && !c->cfg.verify &&
        (!c->far || c->cfg.drain))
        return wr_fail(err, WEIR_EINVAL,
                       "level: nothing is verified without 'verify'");
    return 0;
}

static int check_memory(const weir_ckpt_state *st, weir_err *err)
{
    for (size_t i = 0; i < st->count; i++) {
        const weir_tensor *t = &st->tensors[i];
        uint64_t bytes;
        int r = t->data ? 0 : wr_tensor_bytes(t, &bytes, err);

        if (r < 0)
            return r;
        if (!t->data && bytes > 0)
            return wr_fail(err, WEIR_EINVAL, "'%s': no memory to save from",
                           t->name ? wr_show(t->name).text : "");
    }
    return 0;
}

/* A snapshot that waits is not given up for one that cannot be taken. */
static int check_tensors(const weir_ckpt_state *st, weir_err *err)
{
    struct wr_st_head head;
    int r = wr_st_plan(st->tensors, st->count, st->metadata, st->metadata_count,
                       &head, err);

    if (r == 0)
        wr_st_done(&head);
    return r;
}

static int retire_damaged(weir_ckpt *c, struct wr_tier *t, uint64_t step,
                          weir_err *err)
{
    int r = wr_tier_retire(t, step, err);

    wr_stock_touch(c, step);
    return r;
}

/* The step must not be on the tier. *ret: it is, and is damaged. */
static int look_for(struct wr_tier *t, uint64_t step, bool *ret, weir_err *err)
{
    struct wr_copy copy;
    int r = wr_step_look(t, step, &copy, err);

    *ret = r == 0 && copy.is == WEIR_COPY_DAMAGED;
    if (r < 0 || copy.is <= WEIR_COPY_DAMAGED)
        return r;
    return wr_fail(err, WEIR_EEXIST, "'%s': step %" PRIu64 " is there",
                   t->shown, step);
}

/* Whether a copy on the far tier is of a branch that a run has left: steps below
 * its number were saved later, mostly the one right below. It does not stop who
 * comes by again; the drain replaces it. */
static bool is_left(weir_ckpt *c, uint64_t step)
{
    struct wr_copy old, below;
    uint64_t *steps;
    size_t count;
    bool left = false;

    if (wr_step_look(c->far, step, &old, NULL) < 0 ||
        wr_tier_steps(c->far, &steps, &count, NULL) < 0)
        return false;
    for (size_t i = count; i-- > 0 && !left;)
        left = steps[i] < step &&
               wr_step_glance(c->far, steps[i], &below, NULL) == 0 &&
               below.is >= WEIR_COPY_COMPLETE &&
               wr_copy_compare(&below, &old) > 0;
    free(steps);
    return left;
}

/* A step, and whether it is to be taken away. */
struct clearing {
    uint64_t step, takes;
};

/* A damaged one gives way, when the tier is ours. A wr_watch_fn. */
static int clear_far(weir_ckpt *c, void *what, weir_err *err)
{
    const struct clearing *k = what;
    bool damaged;
    int r = look_for(c->far, k->step, &damaged, err);

    if (r == WEIR_EEXIST && is_left(c, k->step))
        return 0;
    return r == 0 && damaged && k->takes && c->far->epoch
               ? retire_damaged(c, c->far, k->step, err)
               : r;
}

/* An error of the far tier while the near one works ends no save: nothing is
 * known of the far one then, and that is told, once. Whoever took the store does
 * end it. */
static int go_on_unasked(struct wr_saver *s, int r, const weir_err *why,
                         weir_err *err)
{
    if (r == WEIR_EFENCED || r == WEIR_EEXIST)
        return wr_fail_as(err, r, why);
    if (r == 0 || r == s->unasked_told ||
        wr_ckpt_trouble(s->c, WR_LOG_NOTE, WR_STEP_NONE, why,
                        /* tell= */ true))
        s->unasked_told = r;
    s->unasked = r;
    return 0;
}

/* A tier that has been silent for a while is not waited for by every save. */
static int ask_clear(struct wr_saver *s, struct clearing *k, weir_err *err)
{
    weir_ckpt *c = s->c;
    bool hangs = wr_watch_silent_ns(c->watch) > WR_WATCH_BRIEFLY;
    weir_err why = {0};
    int r;

    if (!c->far)
        return 0;
    r = wr_watch_ask(c, clear_far, k, sizeof(*k),
                     hangs ? WR_WATCH_BRIEFLY : wr_ckpt_drain_timeout_ns(c),
                     &why);
    return go_on_unasked(s, r, &why, err);
}

/* Rank 0: the step must not be there. A damaged one gives way, after both tiers
 * were looked at. */
static int clear_step(struct wr_saver *s, uint64_t step, weir_err *err)
{
    weir_ckpt *c = s->c;
    struct clearing k = {.step = step};
    bool damaged;
    int r = 0;

    if (!s->top.any || step > s->top.step)
        return 0;
    for (unsigned i = 0; i < s->count && r == 0; i++) {
        struct wr_job *j = &s->jobs[i];

        pthread_mutex_lock(&c->lock);
        if (j->state >= WR_JOB_QUEUED && j->step == step)
            r = wr_fail(err, WEIR_EEXIST, "step %" PRIu64 " is being saved",
                        step);
        pthread_mutex_unlock(&c->lock);
    }
    if (r == 0)
        r = look_for(c->near, step, &damaged, err);
    if (r == 0)
        r = ask_clear(s, &k, err);
    if (r == 0 && damaged && c->near->epoch)
        r = retire_damaged(c, c->near, step, err);
    k.takes = 1;
    if (r == 0 && s->unasked == 0)
        r = ask_clear(s, &k, err);
    return r;
}

/* What rank 0 begins a save with: ranks must mean the same step. */
struct call {
    uint64_t step, level;
};

static int begin_call(weir_ckpt *c, const weir_ckpt_state *st,
                      enum weir_level level, weir_err *err)
{
    struct call first = {.step = st->step, .level = level};
    char *bytes;
    size_t len;
    int r;

    if (c->cfg.world == 1)
        return 0;
    r = wr_comm_broadcast(c->comm, &first, sizeof(first), &bytes, &len, err);
    if (r < 0)
        return r;
    memset(&first, 0, sizeof(first));
    memcpy(&first, bytes, WR_MIN(len, sizeof(first)));
    free(bytes);
    if (first.step != st->step || first.level != level)
        return wr_fail(err, WEIR_EINVAL,
                       "step %" PRIu64 " (level %d), but rank 0 saves %" PRIu64
                       " (level %d)",
                       st->step, (int)level, first.step, (int)first.level);
    return 0;
}

/* What one rank knows all get to know: a store that was taken from rank 0 is
 * nobody's to save to. */
static int may_save(weir_ckpt *c, const weir_ckpt_state *st,
                    enum weir_level level, weir_err *err)
{
    weir_err mine = {0};
    int r = begin_call(c, st, level, &mine);

    if (r == 0)
        r = wr_ckpt_fenced(c, &mine);
    if (r == 0)
        r = check_state(c, st, level, &mine);
    if (r == 0)
        r = check_memory(st, &mine);
    if (r == 0 && c->cfg.behind == WEIR_BEHIND_LATEST)
        r = check_tensors(st, &mine);
    if (r == 0 && c->cfg.rank == 0)
        r = clear_step(c->saver, st->step, &mine);
    if (c->cfg.rank == 0) /* what is there may be of who took over */
        r = wr_tier_blame(c->near, r, &mine);
    return wr_comm_agree(c->comm, r, &mine, err);
}

/* --- a buffer for it --- */

/* What a rank says when asked whether it can go on; the lowest counts. */
enum readiness { FULL, READY };

static struct wr_job *find_job(struct wr_saver *s, enum wr_job_state state)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->jobs[i].state == state)
            return &s->jobs[i];
    return NULL;
}

/* The snapshot that waits gives its buffer to the step `by`. */
static void replace(struct wr_saver *s, struct wr_job *j, uint64_t by)
{
    weir_err e;

    s->c->stats.replaced++;
    wr_fail(&e, WEIR_ECANCELED,
            "step %" PRIu64 " was replaced by step %" PRIu64, j->step, by);
    wr_ckpt_end_save(s->c, j->seq, WEIR_LEVEL_FAST, &e,
                     /* tell= */ false); /* it was asked for */
    wr_job_forget(j);
}

static struct wr_job *try_take(struct wr_saver *s, uint64_t step)
{
    struct wr_job *j = find_job(s, WR_JOB_FREE);

    if (!j && s->c->cfg.behind == WEIR_BEHIND_LATEST) {
        j = find_job(s, WR_JOB_QUEUED);
        if (j)
            replace(s, j, step);
    }
    if (j)
        j->state = WR_JOB_TAKEN;
    return j;
}

/* Takes a job, waiting up to `until_ns` for one: what is being written ends at
 * last, if only because the drain that it waits for fails. */
static enum readiness take_here(struct wr_saver *s, uint64_t step,
                                uint64_t until_ns, struct wr_job **job,
                                uint64_t *blocked_ns)
{
    weir_ckpt *c = s->c;
    enum readiness ready;

    pthread_mutex_lock(&c->lock);
    while (!*job) {
        uint64_t now_ns = wr_clock_ns();

        *job = try_take(s, step);
        if (*job || now_ns >= until_ns)
            break;
        wr_ckpt_sleep(c, until_ns);
        *blocked_ns += wr_clock_ns() - now_ns;
    }
    ready = *job ? READY : FULL;
    pthread_mutex_unlock(&c->lock);
    return ready;
}

static void give_back(struct wr_saver *s, struct wr_job *j)
{
    if (!j)
        return;
    wr_job_forget(j);
    pthread_mutex_lock(&s->c->lock);
    j->state = WR_JOB_FREE;
    pthread_mutex_unlock(&s->c->lock);
}

/* Rank 0: with WEIR_BEHIND_SKIP a save must not begin what then waits for the
 * drain. The others hold back in the writer. */
static int skip_for_drain(struct wr_saver *s, bool *ret, weir_err *err)
{
    weir_ckpt *c = s->c;
    struct wr_backlog behind = {0};
    weir_err why = {0};
    int r = 0;

    if (c->cfg.rank == 0 && c->far) {
        r = wr_ckpt_behind(c, &behind, &why);
        r = go_on_unasked(s, r, &why, err);
    }
    pthread_mutex_lock(&c->lock);
    for (unsigned i = 0; i < s->count; i++)
        behind.steps += s->jobs[i].state >= WR_JOB_QUEUED;
    pthread_mutex_unlock(&c->lock);
    if (r == 0)
        *ret = c->far && wr_ckpt_too_many(c, &behind);
    return r;
}

/* A part of the ranks' timeout, so that those who wait know that this one is
 * alive; with one rank for ever. */
static uint64_t slice_end(const weir_ckpt *c)
{
    if (c->cfg.world == 1)
        return UINT64_MAX;
    return wr_clock_ns() +
           WR_MIN(c->cfg.comm_timeout_ms, SLICE_MAX_MS) * WR_NS_PER_MS / 4;
}

/* A job on every rank, or 1 when the save is skipped. */
static int take_job(struct wr_saver *s, uint64_t step, uint64_t *blocked_ns,
                    struct wr_job **ret, weir_err *err)
{
    weir_ckpt *c = s->c;
    bool skips = c->cfg.behind == WEIR_BEHIND_SKIP, late = false;
    struct wr_job *job = NULL;
    uint64_t all;
    weir_err mine = {0};
    int r = 0;

    if (skips)
        r = skip_for_drain(s, &late, &mine);
    r = wr_comm_agree(c->comm, r, &mine, err);
    if (r < 0)
        return r;
    do {
        enum readiness here = late
                                  ? FULL
                                  : take_here(s, step, skips ? 0 : slice_end(c),
                                              &job, blocked_ns);

        r = wr_comm_min(c->comm, here, &all, err);
    } while (r == 0 && all == FULL && !skips);
    if (r == 0 && all == READY) {
        *ret = job;
        return 0;
    }
    give_back(s, job);
    return r < 0 ? r : 1;
}

/* --- the snapshot --- */

void wr_job_forget(struct wr_job *j)
{
    wr_pairs_free(j->metadata, j->metadata_count);
    free(j->pipeline);
    j->metadata = NULL;
    j->metadata_count = 0;
    j->pipeline = NULL;
    j->pipeline_len = 0;
}

static int keep_metadata(struct wr_job *j, const weir_ckpt_state *st,
                         weir_err *err)
{
    j->metadata = calloc(st->metadata_count + 1, sizeof(*j->metadata));
    if (!j->metadata)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    j->metadata_count = st->metadata_count;
    for (size_t i = 0; i < st->metadata_count; i++) {
        j->metadata[i].key = strdup(st->metadata[i].key);
        j->metadata[i].value = strdup(st->metadata[i].value);
        if (!j->metadata[i].key || !j->metadata[i].value)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    return 0;
}

/* Plans the image (which checks the tensors) and keeps what goes into the
 * manifest. */
static int plan(weir_ckpt *c, struct wr_job *j, const weir_ckpt_state *st,
                bool lend, weir_err *err)
{
    int r = (lend ? wr_image_plan_lent
                  : wr_image_plan)(j->image, st->tensors, st->count,
                                   st->metadata, st->metadata_count, err);

    if (r == 0 && c->cfg.rank == 0)
        r = keep_metadata(j, st, err);
    if (r == 0 && st->pipeline_len) {
        j->pipeline = malloc(st->pipeline_len);
        if (!j->pipeline)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        memcpy(j->pipeline, st->pipeline, st->pipeline_len);
        j->pipeline_len = st->pipeline_len;
    }
    j->time_ns = wr_clock_wall_ns();
    j->step = st->step;
    j->continues = wr_lineage_from(c, st->step, &j->from);
    return r;
}

/* The save begins: it counts, and its times run. */
static void note(struct wr_saver *s, struct wr_job *j, uint64_t begun_ns,
                 uint64_t blocked_ns)
{
    weir_ckpt *c = s->c;
    struct wr_ckpt_time *t;

    if (!s->top.any || j->step > s->top.step)
        s->top.step = j->step;
    s->top.any = true;
    pthread_mutex_lock(&c->lock);
    t = wr_ckpt_time_new(c, j->step, begun_ns);
    t->t.bytes = wr_image_size(j->image);
    t->t.blocked_ns = blocked_ns;
    j->seq = t->seq;
    if (c->part == 0)
        c->part = j->seq;
    j->part = c->part;
    c->stats.memory = 0;
    for (unsigned i = 0; i < s->count; i++)
        c->stats.memory += wr_image_memory(s->jobs[i].image);
    pthread_mutex_unlock(&c->lock);
}

static void enqueue(weir_ckpt *c, struct wr_job *j, bool waited)
{
    pthread_mutex_lock(&c->lock);
    j->waited = waited;
    j->queued_ns = wr_clock_ns();
    j->state = WR_JOB_QUEUED;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* --- the level --- */

/* What rank 0 tells the others while it waits for a level. */
struct verdict {
    int done;
    weir_err err; /* code 0: reached */
};

/* Rank 0 waits for the slow tier; the others hear from it now and then. */
static int wait_together(weir_ckpt *c, uint64_t seq, enum weir_level level,
                         weir_err *err)
{
    for (;;) {
        struct verdict v = {0};
        char *bytes;
        size_t len;
        int r;

        if (c->cfg.rank == 0) {
            uint64_t end_ns = slice_end(c);

            /* A drain may fail with the same code. */
            v.err.code = wr_ckpt_wait_seq(c, seq, level, end_ns, &v.err);
            v.done = v.err.code != WEIR_ETIMEDOUT || wr_clock_ns() < end_ns;
        }
        r = wr_comm_broadcast(c->comm, &v, sizeof(v), &bytes, &len, err);
        if (r < 0)
            return r;
        memcpy(&v, bytes, WR_MIN(len, sizeof(v)));
        free(bytes);
        if (v.done)
            return wr_fail_as(err, v.err.code, &v.err);
    }
}

static int wait_level(weir_ckpt *c, uint64_t seq, enum weir_level level,
                      weir_err *err)
{
    int r;

    if (c->cfg.world == 1)
        return wr_ckpt_wait_seq(c, seq, level, UINT64_MAX, err);
    r = wr_ckpt_wait_seq(c, seq, WEIR_LEVEL_FAST, UINT64_MAX, err);
    if (r == 0 && level > WEIR_LEVEL_FAST)
        r = wait_together(c, seq, level, err);
    return r;
}

static int run_job(struct wr_saver *s, struct wr_job *j,
                   const weir_ckpt_state *st, enum weir_level level,
                   weir_err *err)
{
    uint64_t seq = j->seq;
    bool lent = wr_image_lends(j->image);

    if (level == WEIR_LEVEL_SNAPSHOT) {
        wr_image_fill(j->image, st->tensors, /* eager= */ false);
        wr_ckpt_reached(s->c, seq, WEIR_LEVEL_SNAPSHOT);
        enqueue(s->c, j, /* waited= */ false);
        return 0;
    }
    enqueue(s->c, j, /* waited= */ true);
    wr_image_fill(j->image, st->tensors, /* eager= */ true);
    if (!lent) /* else with the next level: the tensors must not change yet */
        wr_ckpt_reached(s->c, seq, WEIR_LEVEL_SNAPSHOT);
    return wait_level(s->c, seq, level, err);
}

/* `level` was checked: the ranks agree on it. */
static int save(weir_ckpt *c, const weir_ckpt_state *st, enum weir_level level,
                uint64_t begun_ns, weir_err *err)
{
    struct wr_saver *s = c->saver;
    struct wr_job *job = NULL;
    uint64_t blocked_ns = 0;
    weir_err mine = {0};
    int r;

    r = take_job(s, st->step, &blocked_ns, &job, err);
    pthread_mutex_lock(&c->lock);
    c->stats.blocked_ns += blocked_ns;
    c->stats.skipped += r == 1;
    pthread_mutex_unlock(&c->lock);
    if (r != 0)
        return r;
    r = plan(c, job, st, /* lend= */ level > WEIR_LEVEL_SNAPSHOT, &mine);
    r = wr_comm_agree(c->comm, r, &mine, err);
    if (r < 0) {
        give_back(s, job);
        return r;
    }
    note(s, job, begun_ns, blocked_ns);
    return run_job(s, job, st, level, err);
}

int weir_ckpt_save_sized(weir_ckpt *c, const weir_ckpt_state *state,
                         size_t size, enum weir_level level, weir_err *err)
{
    uint64_t begun_ns = wr_clock_ns();
    weir_err mine = {0};
    weir_ckpt_state own;
    int r = wr_ckpt_check(c, err);

    if (r == 0 && !state)
        r = wr_fail(err, WEIR_EINVAL, "state: is NULL");
    if (r == 0)
        r = wr_sized_copy(&own, sizeof(own), state, size, err);
    if (r < 0) /* on all ranks: they run the same program */
        return r;
    if (!c->saver)
        return wr_fail(err, WEIR_ESTATE, "'%s': was not opened to save",
                       c->cfg.fast);
    r = may_save(c, &own, level, &mine);
    if (r == 0)
        r = save(c, &own, level, begun_ns, &mine);
    pthread_mutex_lock(&c->lock);
    c->stats.stall_ns += wr_clock_ns() - begun_ns;
    if (r == WEIR_EFENCED) /* ranks other than 0 hear of it here */
        wr_ckpt_set_fenced(c, &mine);
    pthread_mutex_unlock(&c->lock);
    return r < 0 ? wr_fail_as(err, r, &mine) : r;
}
