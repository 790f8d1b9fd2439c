/* store.c - the checkpoints of a run of training.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "checkpoint/problem.h"
#include "storage/storage.h"

#define LOOK_MS 100 /* between two looks at `stopped` */

static void say(const struct wr_train_plan *plan, const char *text)
{
    if (plan->note)
        plan->note(plan->arg, text);
}

/* What training goes on after. */
static int tell_problems(const struct wr_train_store *st, weir_err *err)
{
    const struct wr_ckpt_listener to = {st->plan->note, st->plan->arg};

    return wr_ckpt_tell_problems(st->c, &to, err);
}

/* --- opening and resuming --- */

static int on_progress(void *arg, uint64_t done, uint64_t total)
{
    return wr_train_is_stopped(arg);
}

static void say_passed_over(const struct wr_train_plan *plan,
                            const weir_ckpt_found *f)
{
    char text[600];

    for (size_t i = 0; i < f->passed_over_count; i++) {
        snprintf(text, sizeof(text), "passed over: %s", f->passed_over[i]);
        say(plan, text);
    }
}

static int resume(struct wr_train_store *st, struct wr_train_state *s,
                  struct wr_train_start *ret, weir_err *err)
{
    const weir_ckpt_found *f = st->found;
    int r = wr_train_settings_check(st->settings, f->metadata,
                                    f->metadata_count, err);

    if (r == 0)
        r = weir_ckpt_restore(st->c, f->step, s->tensors, s->count, NULL, err);
    if (r == 0)
        r = wr_fail(err, WEIR_ENOENT, "step %" PRIu64 " is gone", f->step);
    if (r < 0)
        return r;
    say_passed_over(st->plan, f);
    s->step = f->step;
    st->begun[0] = f->step;
    st->ret->saved = f->step;
    st->ret->has_saved = true;
    *ret = (struct wr_train_start){.from = f->step};
    if (!st->plan->synthetic) {
        ret->states = f->pipeline;
        ret->lengths = f->pipeline_len;
        ret->count = f->pipeline_count;
    }
    return 0;
}

static int check_tier(const char *folder, uint64_t bytes, weir_err *err)
{
    uint64_t unused = UINT64_MAX;
    char need[32], have[32];
    struct wr_store *st;
    int r = 0;

    if (wr_store_open_own(folder, &st, NULL) < 0)
        return 0; /* what is wrong is said when it is used */
    if (st->ops->space && st->ops->space(st, &unused, NULL) == 0 &&
        unused < bytes)
        r = wr_fail(err, WEIR_ENOSPC,
                    "'%s': no room for a checkpoint: it takes %s, and %s are "
                    "free",
                    folder, wr_format_bytes(need, sizeof(need), (double)bytes),
                    wr_format_bytes(have, sizeof(have), (double)unused));
    wr_store_close(st);
    return r;
}

/* Said before the hours that it takes to get to the first save. A store that
 * has steps may overwrite one. */
static int check_room(const struct wr_train_plan *plan, uint64_t bytes,
                      weir_err *err)
{
    int r = check_tier(plan->ckpt.fast, bytes, err);

    return r == 0 && plan->ckpt.slow ? check_tier(plan->ckpt.slow, bytes, err)
                                     : r;
}

/* Looks at the newest step: its settings are compared before anything else of it
 * is read. */
static int look(struct wr_train_store *st, struct wr_train_state *s,
                struct wr_train_start *ret, weir_err *err)
{
    const char *folder = st->plan->ckpt.fast;
    int r = weir_ckpt_look(st->c, WEIR_LATEST, &st->found, err);

    if (r < 0)
        return r;
    if (r == 0) {
        if (st->plan->resume)
            say(st->plan, "no checkpoint yet: training starts from the "
                          "beginning");
        return check_room(st->plan, s->bytes, err);
    }
    if (!st->plan->resume)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': has checkpoints, the newest of step %" PRIu64
                       ": continue with --resume, or save to another folder",
                       folder, st->found->step);
    r = resume(st, s, ret, err);
    return r < 0 ? wr_fail_prefix(err, r, "'%s': cannot resume", folder) : 0;
}

int wr_train_store_open(struct wr_train_store *st, struct wr_train_state *s,
                        struct wr_train_start *ret_start, weir_err *err)
{
    weir_ckpt_config cfg = st->plan->ckpt;
    int r;

    *ret_start = (struct wr_train_start){0};
    if (!cfg.fast)
        return 0;
    cfg.role = WEIR_CKPT_SAVE;
    cfg.reserve = st->plan->level == WEIR_LEVEL_SNAPSHOT ? s->bytes : 0;
    cfg.progress = on_progress;
    cfg.progress_arg = (void *)(uintptr_t)st->plan;
    r = weir_ckpt_open(&st->c, &cfg, err);
    if (r == 0)
        r = look(st, s, ret_start, err);
    return r < 0 ? r : tell_problems(st, err);
}

/* --- saving --- */

static double or_nan(uint64_t ns)
{
    return ns ? (double)ns * 1e-9 : NAN;
}

/* The store knows the times of the last saves only, and they grow while it
 * drains: they are fetched again until the last tier has the step. */
static void note_times(struct wr_train_store *st)
{
    bool drains = st->plan->ckpt.slow != NULL;
    bool checks = st->plan->ckpt.verify;

    for (size_t i = st->noted; i < st->ret->save_kept; i++) {
        struct wr_train_save *s = &st->ret->saves[i];
        weir_ckpt_times t;

        if (weir_ckpt_times_of(st->c, s->step, &t) < 0)
            continue;
        s->bytes = t.bytes;
        s->blocked_s = (double)t.blocked_ns * 1e-9;
        s->fast_s = or_nan(t.fast_ns);
        s->slow_s = drains ? or_nan(t.slow_ns) : NAN;
        s->verified_s = or_nan(t.verified_ns);
        s->drain_s = or_nan(t.drain_ns);
        if (st->noted == i && t.fast_ns && (!drains || t.slow_ns) &&
            (!checks || t.verified_ns))
            st->noted++;
    }
}

static void note_save(struct wr_train_store *st, uint64_t step, uint64_t start,
                      double stall_s)
{
    struct wr_train_result *ret = st->ret;

    ret->save_count++;
    ret->save_s += stall_s;
    ret->save_max_s = fmax(ret->save_max_s, stall_s);
    if (ret->save_kept < WR_TRAIN_SAVES_MAX)
        ret->saves[ret->save_kept++] = (struct wr_train_save){
            .step = step,
            .at_s = (double)(start - ret->start_ns) * 1e-9,
            .stall_s = stall_s,
            .fast_s = NAN,
            .slow_s = NAN,
            .verified_s = NAN,
            .drain_s = NAN};
    note_times(st);
}

/* A step is saved once the fast tier has it: one that was copied in memory may
 * still fail. */
static void note_saved(struct wr_train_store *st)
{
    weir_ckpt_times t;

    for (size_t i = 0; i < WR_TRAIN_UNDER_WAY; i++) {
        if (st->begun[i] <= st->ret->saved ||
            weir_ckpt_times_of(st->c, st->begun[i], &t) < 0 || !t.fast_ns)
            continue;
        st->ret->saved = st->begun[i];
        st->ret->has_saved = true;
    }
}

static void note_begun(struct wr_train_store *st, uint64_t step)
{
    memmove(st->begun + 1, st->begun, sizeof(st->begun) - sizeof(st->begun[0]));
    st->begun[0] = step;
}

int wr_train_store_save(struct wr_train_store *st,
                        const struct wr_train_state *s, enum weir_level level,
                        weir_err *err)
{
    const weir_ckpt_state state = {
        .step = s->step,
        .tensors = s->tensors,
        .count = s->count,
        .metadata = st->settings->pairs,
        .metadata_count = st->settings->count,
        .pipeline = s->position_len ? s->position : NULL,
        .pipeline_len = s->position_len,
    };
    const struct wr_ckpt_listener to = {st->plan->note, st->plan->arg};
    uint64_t start = wr_clock_ns();
    int r;

    if (!st->c || st->begun[0] == s->step)
        return 0;
    note_begun(st, s->step);
    r = weir_ckpt_save(st->c, &state, level, err);
    r = wr_ckpt_tell_save(st->c, s->step, r, &to, err);
    if (r < 0)
        return r;
    note_save(st, s->step, start, (double)(wr_clock_ns() - start) * 1e-9);
    note_saved(st);
    /* This one is saved; that an earlier one was not ends the run while the last
     * good step is near. */
    return tell_problems(st, err);
}

/* --- the end --- */

/* A time-out that comes before its time is not that of the wait: the slow tier
 * has not answered for long. */
static int wait_briefly(struct wr_train_store *st, enum weir_level level,
                        bool *ret_again, weir_err *err)
{
    uint64_t start = wr_clock_ns();
    int r = weir_ckpt_wait(st->c, WEIR_LATEST, level, LOOK_MS, err);

    *ret_again = r == WEIR_ETIMEDOUT &&
                 wr_clock_ns() - start >= LOOK_MS * WR_NS_PER_MS;
    return r;
}

int wr_train_store_settle(struct wr_train_store *st, weir_err *err)
{
    enum weir_level level = st->plan->ckpt.verify ? WEIR_LEVEL_VERIFIED
                                                  : WEIR_LEVEL_SLOW;
    bool again = true;
    int r = 0;

    if (!st->c || !st->ret->save_count)
        return 0;
    r = tell_problems(st, err); /* else the wait would fail for what was */
    if (r < 0)
        return r;
    while (again) {
        if (wr_train_is_stopped((void *)(uintptr_t)st->plan))
            return wr_fail(err, WEIR_ECANCELED, "stopped");
        r = wait_briefly(st, level, &again, err);
    }
    return r;
}

int wr_train_store_close(struct wr_train_store *st, weir_err *err)
{
    int r;

    weir_ckpt_found_free(&st->found);
    if (!st->c)
        return 0;
    /* Times are lost with the store: first everything gets to the fast tier,
     * which closing would wait for, too. An error may be that of one of several
     * steps. */
    r = weir_ckpt_wait(st->c, WEIR_LATEST, WEIR_LEVEL_FAST, -1, err);
    if (r < 0)
        weir_ckpt_wait(st->c, WEIR_LATEST, WEIR_LEVEL_FAST, -1, NULL);
    note_times(st);
    note_saved(st);
    weir_ckpt_get_stats(st->c, &st->ret->ckpt);
    if (r < 0) {
        weir_ckpt_close(&st->c, NULL);
        return r;
    }
    return weir_ckpt_close(&st->c, err);
}
