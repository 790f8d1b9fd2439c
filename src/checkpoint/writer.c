/* writer.c - the thread that writes snapshots to the near tier.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/saver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"

#define HEAD_MAX ((uint64_t)1 << 20) /* of an image, for cfg.reserve */

/* --- together with the other ranks --- */

/* What rank 0 sends before a step is begun. */
#define MSG_WAIT "wait"
#define MSG_GO   "go"

static int announce(weir_ckpt *c, const char *text, weir_err *err)
{
    char *bytes;
    size_t len;
    int r;

    if (c->cfg.world == 1)
        return 0;
    r = wr_comm_broadcast(c->work, text, strlen(text), &bytes, &len, err);
    if (r == 0)
        free(bytes);
    return r;
}

/* What rank 0 said that is not "wait"; fresh memory. */
static int hear(weir_ckpt *c, char **ret, weir_err *err)
{
    for (;;) {
        char *bytes;
        size_t len;
        int r = wr_comm_broadcast(c->work, NULL, 0, &bytes, &len, err);

        if (r < 0)
            return r;
        if (strcmp(bytes, MSG_WAIT) != 0) {
            *ret = bytes;
            return 0;
        }
        free(bytes);
    }
}

/* --- holding back --- */

/* The drain does not work, so nothing is gained by waiting: the step goes onto
 * the fast tier where there is room. What the drain itself did not tell is told
 * here, once. */
static void go_on_without(struct wr_saver *s, const struct wr_pause_end *e)
{
    bool told = e->why.code == s->stands ||
                (s->c->drainer && e->why.code != WEIR_ETIMEDOUT);

    if (told || wr_ckpt_trouble(s->c, WR_LOG_NOTE, WR_STEP_NONE, &e->why,
                                /* tell= */ true))
        s->stands = e->why.code;
}

/* Every save that fails says which one it was: nobody may be waiting for it. */
static int not_saved(const struct wr_job *j, int r, weir_err *err)
{
    return r < 0 ? wr_fail_prefix(err, r, "step %" PRIu64 " was not saved",
                                  j->step)
                 : 0;
}

static bool is_stopped(struct wr_saver *s)
{
    bool stop;

    pthread_mutex_lock(&s->c->lock);
    stop = s->stop;
    pthread_mutex_unlock(&s->c->lock);
    return stop;
}

/* Rank 0: waits until one more step may wait for the slow tier. Not at close:
 * what was saved is to be on the fast tier then. */
static int hold(struct wr_saver *s, weir_err *err)
{
    weir_ckpt *c = s->c;
    uint64_t seen = UINT64_MAX;
    struct wr_pause_end e = {0};
    bool behind = false;
    int r = 0;

    if (c->cfg.rank > 0 || !c->far)
        return 0;
    r = wr_ckpt_fenced(c, err);
    if (r < 0 || c->cfg.behind == WEIR_BEHIND_OLDEST)
        return r;
    for (;;) {
        r = wr_ckpt_is_behind(c, &behind, &e.why);
        if (r == WEIR_EFENCED)
            return wr_fail_as(err, r, &e.why);
        if (r < 0) { /* the slow tier fails, and the fast one may have room */
            go_on_without(s, &e);
            return 0;
        }
        if (!behind)
            s->stands = 0;
        if (!behind || is_stopped(s))
            return 0;
        if (s->held_ns == 0)
            s->held_ns = wr_clock_ns();
        r = announce(c, MSG_WAIT, err);
        if (r < 0)
            return r;
        r = wr_ckpt_check_drain(c, &e.why);
        if (r == 0)
            r = wr_ckpt_pause(c, &seen, &e);
        if (r == WEIR_EFENCED)
            return wr_fail_as(err, r, &e.why);
        if (r < 0) {
            go_on_without(s, &e);
            return 0;
        }
    }
}

/* How long the job waited for the drain. */
static void note_held(struct wr_saver *s, const struct wr_job *j)
{
    weir_ckpt *c = s->c;
    struct wr_ckpt_time *t = wr_ckpt_time_at(c, j->seq);
    uint64_t held_ns;

    if (s->held_ns == 0)
        return;
    held_ns = wr_clock_ns() - WR_MAX(s->held_ns, j->queued_ns);
    s->held_ns = 0;
    if (t)
        t->t.blocked_ns += held_ns;
    if (j->waited)
        c->stats.blocked_ns += held_ns;
}

/* --- one step --- */

/* No room, and no drain that makes some: both are told. */
static int no_room(weir_ckpt *c, const weir_err *full,
                   const struct wr_pause_end *e, weir_err *err)
{
    pthread_mutex_lock(&c->lock);
    wr_log_told(&c->log, e->number);
    pthread_mutex_unlock(&c->lock);
    return wr_fail(err, WEIR_ENOSPC, "%s; %s", full->msg, e->why.msg);
}

/* Rank 0: a folder for the step. When there is no room, what is safe on the far
 * tier makes some, or a step that is given up, and else the drain does, by
 * copying or by reading back. */
static int begin(struct wr_saver *s, const struct wr_job *j, uint64_t bytes,
                 struct wr_pending *ret, weir_err *err)
{
    weir_ckpt *c = s->c;
    uint64_t seen = UINT64_MAX;
    struct wr_pause_end e = {0};

    for (;;) {
        struct wr_backlog behind;
        weir_err full;
        bool works = c->drainer && wr_drainer_works(c->drainer);
        int r = wr_tier_begin(c->near, j->step, bytes, ret, &full);

        if (r == 0) {
            wr_tier_trim(c->near, ret, c->cfg.world);
            return 0;
        }
        if (r == WEIR_ENOSPC && !c->far)
            wr_ckpt_tell_anew(c);
        if (r == WEIR_ENOSPC &&
            (wr_ckpt_make_room(c) || wr_ckpt_give_up(c, j->step)))
            continue;
        if (r != WEIR_ENOSPC || wr_ckpt_behind(c, &behind, NULL) < 0 ||
            (behind.steps == 0 && !works) || (is_stopped(s) && !c->drainer))
            return wr_fail_as(err, r, &full);
        r = announce(c, MSG_WAIT, err);
        if (r < 0)
            return r;
        if (wr_ckpt_pause(c, &seen, &e) < 0)
            return no_room(c, &full, &e, err);
    }
}

/* Adds up what the ranks will write; on rank 0. */
static int add_up(weir_ckpt *c, struct wr_job *j, uint64_t *ret, weir_err *err)
{
    uint64_t mine = wr_image_size(j->image), all = 0;
    struct wr_comm_part *parts = NULL;
    int r = wr_comm_gather(c->work, &mine, sizeof(mine), &parts, err);

    if (r < 0 || !parts)
        return r;
    for (uint32_t i = 0; i < c->cfg.world; i++) {
        if (parts[i].len == sizeof(mine))
            memcpy(&mine, parts[i].bytes, sizeof(mine));
        if (parts[i].len != sizeof(mine) ||
            __builtin_add_overflow(all, mine, &all)) {
            r = wr_fail(err, WEIR_EFORMAT, "rank %" PRIu32 ": not a size", i);
            break;
        }
    }
    free(parts);
    *ret = all;
    return r;
}

/* Rank 0: has a folder to write in, and tells its name, "" when it failed. `r`
 * is how it went so far. */
static int begin_first(struct wr_saver *s, struct wr_job *j,
                       struct wr_pending *p, int r, weir_err *err)
{
    weir_ckpt *c = s->c;
    uint64_t bytes = 0;
    weir_err e;
    int x = announce(c, MSG_GO, &e);

    if (x == 0)
        x = add_up(c, j, &bytes, &e);
    s->bytes = bytes;
    if (x == 0 && r == 0)
        r = begin(s, j, bytes, p, err);
    if (x == 0)
        x = announce(c, r == 0 ? p->dir : "", &e);
    if (x == 0 || r < 0)
        return r;
    *err = e;
    return x;
}

/* The other ranks: hear of it. */
static int begin_other(weir_ckpt *c, struct wr_job *j, struct wr_pending *p,
                       weir_err *err)
{
    uint64_t bytes;
    char *text;
    int r = hear(c, &text, err);

    if (r < 0)
        return r;
    free(text);
    r = add_up(c, j, &bytes, err);
    if (r == 0)
        r = hear(c, &text, err);
    if (r < 0)
        return r;
    p->step = j->step;
    snprintf(p->dir, sizeof(p->dir), "%s", text);
    free(text);
    return 0;
}

/* This rank's file. */
static int write_shard(struct wr_saver *s, struct wr_job *j,
                       const struct wr_pending *p, struct wr_st_shard *ret,
                       weir_err *err)
{
    weir_ckpt *c = s->c;
    char path[WR_TIER_PATH];
    struct wr_shard_at at = {c->near->store, path};
    uint64_t retried = 0;
    int r;

    wr_pending_shard_path(p, c->cfg.rank, path);
    r = wr_shard_write(&at, j->image, ret, &retried, err);
    pthread_mutex_lock(&c->lock);
    c->stats.retried += retried;
    pthread_mutex_unlock(&c->lock);
    if (r < 0)
        return wr_tier_name_whole(c->near, path, r, err);
    ret->rank = c->cfg.rank;
    wr_shard_name(ret->rank, ret->name);
    ret->pipeline = j->pipeline;
    ret->pipeline_len = j->pipeline_len;
    j->pipeline = NULL;
    j->pipeline_len = 0;
    return wr_tier_sync_pending(c->near, p, err);
}

/* Rank 0: the manifest out of what all ranks sent. */
static int make_manifest(weir_ckpt *c, struct wr_job *j,
                         const struct wr_comm_part *parts,
                         struct wr_manifest *m, weir_err *err)
{
    *m = (struct wr_manifest){
        .step = j->step,
        .epoch = c->near->epoch,
        .turn = {.generation = c->generation,
                 .seq = j->seq,
                 .part = j->part,
                 .step = j->step},
        .continues = j->continues,
        .from = j->from,
        .time_ns = j->time_ns,
        .chunk = WR_CHUNK,
        .metadata = j->metadata,
        .metadata_count = j->metadata_count,
    };
    j->metadata = NULL;
    j->metadata_count = 0;
    memcpy(m->store, c->near->store_id, sizeof(m->store));
    memcpy(m->turn.nonce, c->nonce, sizeof(m->turn.nonce));
    wr_manifest_new_id(m->id);
    if (!m->store[0]) /* nothing may count as of no store */
        return wr_fail(err, WEIR_ESTATE, "the id of the store is not known");
    m->shards = calloc(c->cfg.world, sizeof(*m->shards));
    if (!m->shards)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < c->cfg.world; i++) {
        int r = parts[i].len ? wr_shard_parse(parts[i].bytes, parts[i].len,
                                              m->chunk, &m->shards[i], err)
                             /* a rank that lacks it sends nothing */
                             : wr_fail(err, WEIR_ENOMEM, "out of memory");

        if (r < 0)
            return r;
        m->world++;
        if (m->shards[i].rank != i)
            return wr_fail(err, WEIR_EFORMAT,
                           "rank %" PRIu32 " sent the shard of rank %" PRIu32,
                           i, m->shards[i].rank);
    }
    return 0;
}

static void note_id(weir_ckpt *c, uint64_t seq, const char *id)
{
    struct wr_ckpt_time *t;

    pthread_mutex_lock(&c->lock);
    t = wr_ckpt_time_at(c, seq);
    if (t)
        snprintf(t->id, sizeof(t->id), "%s", id);
    pthread_mutex_unlock(&c->lock);
}

/* All ranks send their shard's entry; rank 0 publishes. */
static int publish(weir_ckpt *c, struct wr_job *j, struct wr_pending *p,
                   const struct wr_st_shard *shard, weir_err *err)
{
    struct wr_comm_part *parts = NULL;
    struct wr_manifest m;
    size_t len = 0;
    char *text = wr_shard_text(shard, WR_CHUNK, &len);
    int r = wr_comm_gather(c->work, text, text ? len : 0, &parts, err);

    free(text);
    if (r < 0 || !parts)
        return r;
    r = make_manifest(c, j, parts, &m, err);
    free(parts);
    if (r == 0) {
        note_id(c, j->seq, m.id); /* first: it may be drained at once */
        r = wr_tier_publish(c->near, p, &m, err);
        p->dir[0] = 0; /* gone in any case */
    }
    wr_manifest_done(&m);
    return p->unsure ? r : not_saved(j, r, err);
}

/* Writes and publishes a step. `r` is how it went so far (rank 0). */
static int write_job(struct wr_saver *s, struct wr_job *j, int r, weir_err *err)
{
    weir_ckpt *c = s->c;
    struct wr_pending p = {0};
    struct wr_st_shard shard = {0};
    weir_err mine = {0};

    if (r < 0)
        mine = *err;
    if (c->cfg.rank == 0)
        r = begin_first(s, j, &p, r, &mine);
    else
        r = begin_other(c, j, &p, &mine);
    if (r == 0 && p.dir[0])
        r = write_shard(s, j, &p, &shard, &mine);
    if (c->cfg.rank == 0)
        r = wr_tier_blame(c->near, r, &mine);
    r = not_saved(j, r, &mine);
    r = wr_comm_agree(c->work, r, &mine, err);
    if (r < 0 && c->work->failed)
        not_saved(j, r, err);
    if (r == 0) {
        r = publish(c, j, &p, &shard, &mine);
        r = wr_comm_agree(c->work, r, &mine, err);
        if (r < 0 && c->work->failed)
            wr_fail_prefix(err, r, "step %" PRIu64 " may not have been saved",
                           j->step);
    }
    if (r < 0 && c->cfg.rank == 0 && p.dir[0])
        wr_tier_abandon(c->near, &p);
    wr_shard_done(&shard);
    return r;
}

/* --- what comes of it --- */

/* The buffer is free when the level is told: the next save finds it. */
static void finish(struct wr_saver *s, struct wr_job *j, int r,
                   const weir_err *err)
{
    weir_ckpt *c = s->c;
    struct wr_ckpt_time *t;

    wr_job_forget(j);
    pthread_mutex_lock(&c->lock);
    t = wr_ckpt_time_at(c, j->seq);
    if (r < 0) {
        c->stats.failed++;
        wr_ckpt_end_save(c, j->seq, WEIR_LEVEL_FAST, err, /* tell= */ true);
    } else {
        c->stats.bytes_saved += wr_image_size(j->image);
        c->ahead_lost |= j->step <= s->last;
        s->last = j->step;
        if (c->far && c->cfg.rank == 0) { /* counted anew now and then */
            c->stats.behind++;
            c->behind_bytes += s->bytes;
        }
        if (!c->far && c->cfg.rank == 0 && c->cfg.verify)
            wr_saver_want_verified(s, j->step);
    }
    if (r == 0 && t) {
        wr_ckpt_time_note(t, WEIR_LEVEL_SNAPSHOT);
        wr_ckpt_time_note(t, WEIR_LEVEL_FAST);
        if (!c->far)
            wr_ckpt_time_note(t, WEIR_LEVEL_SLOW);
    }
    j->state = WR_JOB_FREE;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* Rank 0, after a step was published: older ones go, with one tier. That they
 * cannot is told once: it must not refuse every other save. */
static void follow_up(struct wr_saver *s, uint64_t step)
{
    weir_ckpt *c = s->c;
    struct wr_backlog behind;
    weir_err err;
    int r;

    if (c->far) {
        r = wr_ckpt_behind(c, &behind, NULL); /* for the statistics, too */
        if (r == 0 && c->cfg.behind == WEIR_BEHIND_OLDEST)
            wr_ckpt_keep_limit(c, step);
        return;
    }
    r = wr_ckpt_retain(c, &err);
    if (r < 0)
        wr_fail_prefix(&err, r, "older steps are not removed");
    if (r == 0 || r == s->told ||
        wr_ckpt_trouble(c, WR_LOG_NOTE, WR_STEP_NONE, &err, /* tell= */ true))
        s->told = r;
}

/* --- reading back, with one tier --- */

void wr_saver_want_verified(struct wr_saver *s, uint64_t step)
{
    for (unsigned i = 0; i < s->unverified_count; i++)
        if (s->unverified[i] == step)
            return;
    if (s->unverified_count == WR_UNVERIFIED_MAX)
        memmove(s->unverified, s->unverified + 1,
                --s->unverified_count * sizeof(s->unverified[0]));
    s->unverified[s->unverified_count++] = step;
    pthread_cond_broadcast(&s->c->changed);
}

static struct wr_job *oldest_job(struct wr_saver *s)
{
    struct wr_job *oldest = NULL;

    for (unsigned i = 0; i < s->count; i++) {
        struct wr_job *j = &s->jobs[i];

        if (j->state == WR_JOB_QUEUED && (!oldest || j->seq < oldest->seq))
            oldest = j;
    }
    return oldest;
}

/* Saves come first, and closing does. */
static int verify_meter(void *arg, uint64_t bytes)
{
    struct wr_saver *s = arg;
    int ends;

    pthread_mutex_lock(&s->c->lock);
    ends = s->stop || s->pauses || oldest_job(s);
    pthread_mutex_unlock(&s->c->lock);
    return ends;
}

/* Reads back the newest step that waits for it. Without the lock. */
static void verify_one(struct wr_saver *s, uint64_t step)
{
    weir_ckpt *c = s->c;
    const struct wr_byte_meter meter = {verify_meter, s};
    struct wr_ckpt_time *t;
    uint64_t seq;
    weir_err err;
    int r;

    /* The step may be taken away and be saved again meanwhile: that save is
     * another one, which is not on the tier before this thread brings it. */
    pthread_mutex_lock(&c->lock);
    t = wr_ckpt_time_find(c, step);
    seq = t && t->level >= WEIR_LEVEL_FAST ? t->seq : 0;
    pthread_mutex_unlock(&c->lock);
    r = wr_step_verify(c->near, step, /* mark= */ true, &meter, &err);
    wr_stock_touch(c, step);
    pthread_mutex_lock(&c->lock);
    t = wr_ckpt_time_at(c, seq);
    if (r == 0 && t)
        wr_ckpt_time_note(t, WEIR_LEVEL_VERIFIED);
    c->stats.verified += r == 0;
    if (r == WEIR_ECANCELED)
        wr_saver_want_verified(s, step);
    else if (r == WEIR_ENOENT && t) /* retention was faster */
        wr_ckpt_end_save(c, seq, WEIR_LEVEL_VERIFIED, &err, /* tell= */ false);
    else if (r < 0 && r != WEIR_ENOENT) {
        wr_fail_prefix(&err, r, "step %" PRIu64 " was not verified", step);
        c->stats.failed++;
        wr_ckpt_end_save(c, seq, WEIR_LEVEL_VERIFIED, &err, /* tell= */ true);
    }
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* --- the thread --- */

static void set_busy(struct wr_saver *s, bool busy)
{
    s->busy = busy;
    if (!busy)
        pthread_cond_broadcast(&s->c->changed);
}

/* Waits for a job, reading back meanwhile. With the lock held; false: the
 * end. */
static bool wait_for_job(struct wr_saver *s)
{
    set_busy(s, false);
    while (!oldest_job(s)) {
        if (s->stop)
            return false;
        if (s->unverified_count && !s->pauses) {
            uint64_t step = s->unverified[--s->unverified_count];

            set_busy(s, true);
            pthread_mutex_unlock(&s->c->lock);
            verify_one(s, step);
            if (s->c->stock.abandoned) /* they waited for that */
                follow_up(s, step);
            pthread_mutex_lock(&s->c->lock);
            set_busy(s, false);
        } else {
            wr_ckpt_sleep(s->c, UINT64_MAX);
        }
    }
    set_busy(s, true);
    return true;
}

static void *run(void *arg)
{
    struct wr_saver *s = arg;
    weir_ckpt *c = s->c;

    pthread_mutex_lock(&c->lock);
    while (wait_for_job(s)) {
        struct wr_job *j;
        uint64_t step;
        weir_err err;
        int r;

        pthread_mutex_unlock(&c->lock);
        r = hold(s, &err);
        pthread_mutex_lock(&c->lock);
        j = oldest_job(s); /* by now perhaps a newer one */
        if (!j) {
            if (r < 0)
                wr_ckpt_end_save(c, 0, WEIR_LEVEL_FAST, &err,
                                 /* tell= */ true);
            continue;
        }
        j->state = WR_JOB_WRITING;
        step = j->step;
        note_held(s, j);
        pthread_mutex_unlock(&c->lock);
        r = write_job(s, j, r, &err);
        wr_stock_touch(c,
                       step); /* also when nobody knows whether it is there */
        if (r == 0) /* first: the next save is to know that it is behind */
            wr_drainer_add(c->drainer, step, s->bytes);
        finish(s, j, r, &err);
        if (r == 0 && c->cfg.rank == 0)
            follow_up(s, step);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void free_saver(struct wr_saver *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        wr_image_free(s->jobs[i].image);
        wr_job_forget(&s->jobs[i]);
    }
    free(s);
}

static int make_images(struct wr_saver *s, weir_err *err)
{
    weir_ckpt *c = s->c;
    int r = 0;

    for (unsigned i = 0; i < s->count && r == 0; i++) {
        r = wr_image_new(c->cfg.threads, &s->jobs[i].image, err);
        if (r == 0 && c->cfg.reserve)
            r = wr_image_reserve(s->jobs[i].image, c->cfg.reserve + HEAD_MAX,
                                 err);
        if (r == 0)
            c->stats.memory += wr_image_memory(s->jobs[i].image);
    }
    return r;
}

int wr_saver_start(weir_ckpt *c, weir_err *err)
{
    unsigned count = c->cfg.snapshots;
    struct wr_saver *s = calloc(1, sizeof(*s) + count * sizeof(s->jobs[0]));
    int r;

    if (!s)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    s->c = c;
    s->count = count;
    r = make_images(s, err);
    if (r == 0 && c->cfg.rank == 0)
        r = wr_newest_add(&s->top, c->near, err);
    if (r == 0 && c->cfg.rank == 0 && c->far)
        r = wr_newest_add(&s->top, c->far, err);
    if (r == 0)
        r = wr_thread_start(&s->thread, "weir-save", run, s, err);
    if (r < 0) {
        free_saver(s);
        return r;
    }
    c->saver = s;
    return 0;
}

void wr_saver_pause(struct wr_saver *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->c->lock);
    s->pauses++;
    while (s->busy || oldest_job(s))
        wr_ckpt_sleep(s->c, UINT64_MAX);
    pthread_mutex_unlock(&s->c->lock);
}

void wr_saver_resume(struct wr_saver *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->c->lock);
    s->pauses--;
    pthread_cond_broadcast(&s->c->changed);
    pthread_mutex_unlock(&s->c->lock);
}

void wr_saver_stop(struct wr_saver *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->c->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->c->changed);
    pthread_mutex_unlock(&s->c->lock);
    pthread_join(s->thread, NULL);
    free_saver(s);
}
