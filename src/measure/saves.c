/* saves.c - the checkpoints of what is measured: saved, timed, settled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/saves.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/own.h"
#include "storage/storage.h"
#include "tier/name.h"

/* --- benchmarks save only where benchmarks have saved before --- */

/* What a benchmark saves is random, and retention removes older steps: in the
 * store of a real training run both destroy. A store that a benchmark made, or
 * found empty, has a mark, a file in `.weir`. Whoever else opens the store to
 * save takes the mark away (tier/claim.c), so that it never stands beside steps
 * that are worth something. */

#define MARK_TEXT                                                              \
    "A benchmark of weir saves here: it overwrites and removes what is in "    \
    "this folder.\n"

/* What an entry of the root says of it. */
struct store_look {
    char name[NAME_MAX + 1]; /* the first that a benchmark must not lose */
    bool step;
};

/* A writer that died before its first save leaves its folder and `.weir`. */
static bool is_worthless(enum wr_name is, const char *name)
{
    return is == WR_NAME_WRITER || is == WR_NAME_TMP || is == WR_NAME_TRASH ||
           is == WR_NAME_SLOT || !strcmp(name, WR_NAME_OWN);
}

static int look_at_entry(void *arg, const struct wr_entry *e)
{
    struct store_look *look = arg;
    uint64_t step;
    enum wr_name is = wr_name_in_root(e->name, &step);

    if (is_worthless(is, e->name))
        return 0;
    snprintf(look->name, sizeof(look->name), "%s", e->name);
    look->step = is == WR_NAME_STEP || is == WR_NAME_STALE;
    return 1;
}

static int look_inside(struct wr_store *st, const char *path, weir_err *err)
{
    struct store_look look = {.step = false};
    struct wr_stat mark;
    int r;

    if (st->ops->stat(st, WR_NAME_BENCHED, &mark, NULL) == 0 &&
        mark.kind == WR_KIND_FILE)
        return 0;
    r = st->ops->list(st, "", look_at_entry, &look, err);
    if (r <= 0)
        return r;
    return wr_fail(err, WEIR_ESTATE,
                   "'%s': holds %s that no benchmark of weir made ('%s'): "
                   "nothing is saved there; name another folder, or remove "
                   "this one if it is of no use",
                   path, look.step ? "checkpoints" : "files", look.name);
}

/* The bytes lie at the path, whatever device is emulated before them. Names such
 * as weir-ckpt-bench-fast are no secret: another user's link may be there. */
static int open_store(const char *path, struct wr_store **ret, weir_err *err)
{
    int r = wr_own_check_links(path, err);

    return r < 0 ? r : wr_store_open_own(path, ret, err);
}

int wr_bench_store_check(const char *url, weir_err *err)
{
    const char *path = wr_url_path(url);
    struct wr_store *st;
    weir_err why;
    int r = open_store(path, &st, &why);

    if (r == WEIR_ENOENT)
        return 0;
    if (r < 0)
        return wr_fail_as(err, r, &why);
    r = look_inside(st, path, err);
    wr_store_close(st);
    return r;
}

int wr_bench_store_mark(const char *url, weir_err *err)
{
    const char *path = wr_url_path(url);
    struct wr_object *o;
    struct wr_store *st;
    int r = open_store(path, &st, err), q;

    if (r < 0)
        return r;
    r = wr_store_change(st, WR_MKDIR, WR_NAME_OWN, NULL, err);
    if (r == 0 || r == WEIR_EEXIST)
        r = st->ops->object_open(st, WR_NAME_BENCHED, WR_OPEN_CREATE, &o, err);
    if (r == 0) {
        r = wr_object_write(o, MARK_TEXT, strlen(MARK_TEXT), 0, err);
        q = o->ops->close(o, /* sync= */ false, r < 0 ? NULL : err);
        r = r < 0 ? r : q;
    }
    wr_store_close(st);
    if (r == WEIR_EEXIST) /* an earlier run's, or another rank's */
        return 0;
    return r < 0 ? wr_fail_prefix(err, r, "in '%s'", path) : 0;
}

/* --- the checkpoints of what is measured: saved, timed, settled --- */

#define LOOK_MS 50 /* between two looks at `stopped` */

const struct wr_choice wr_level_choices[] = {
    {"snapshot", WEIR_LEVEL_SNAPSHOT,
     "copied in memory, written in the background"},
    {"fast", WEIR_LEVEL_FAST, "on the fast tier (or the only folder)"},
    {"slow", WEIR_LEVEL_SLOW, "on the slow tier"},
    {"verified", WEIR_LEVEL_VERIFIED, "and read back from there"},
    {NULL, 0, NULL}};

static double since(uint64_t start_ns)
{
    return (double)(wr_clock_ns() - start_ns) * 1e-9;
}

static double or_nan(uint64_t ns)
{
    return ns ? (double)ns * 1e-9 : NAN;
}

static bool is_stopped(const struct wr_saves *s)
{
    return s->stopped && s->stopped();
}

/* --- opening --- */

/* For what the store does in this thread. */
static int on_progress(void *arg, uint64_t done, uint64_t total)
{
    return is_stopped(arg);
}

static int mark_tiers(const weir_ckpt_config *cfg, weir_err *err)
{
    int r = wr_bench_store_mark(cfg->fast, err);

    return r == 0 && cfg->slow ? wr_bench_store_mark(cfg->slow, err) : r;
}

int wr_saves_open(struct wr_saves *s, const weir_ckpt_config *cfg,
                  weir_err *err)
{
    weir_ckpt_config own = *cfg;
    int r;

    own.role = WEIR_CKPT_SAVE;
    own.progress = on_progress;
    own.progress_arg = s;
    s->has_slow = cfg->slow;
    s->verifies = cfg->verify;
    s->saves = calloc(WR_SAVES_MAX, sizeof(*s->saves));
    if (!s->saves)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = weir_ckpt_open(&s->c, &own, err);
    if (r == 0 && s->random)
        r = mark_tiers(&own, err);
    if (r < 0)
        weir_ckpt_close(&s->c, NULL);
    return r;
}

void wr_saves_resume(struct wr_saves *s, uint64_t step)
{
    s->begun[0] = s->durable = step;
}

bool wr_saves_is_due(const struct wr_saves *s, uint64_t steps)
{
    return s->c && s->every && steps % s->every == 0;
}

/* --- saving --- */

void wr_saves_look(const struct wr_saves *s, struct wr_saved *save)
{
    weir_ckpt_times t;

    if (weir_ckpt_times_of(s->c, save->step, &t) < 0)
        return;
    save->bytes = t.bytes;
    save->blocked_s = (double)t.blocked_ns * 1e-9;
    save->fast_s = or_nan(t.fast_ns);
    save->slow_s = s->has_slow ? or_nan(t.slow_ns) : NAN;
    save->verified_s = or_nan(t.verified_ns);
    save->drain_s = or_nan(t.drain_ns);
}

static bool has_all(const struct wr_saves *s, const struct wr_saved *save)
{
    return !isnan(save->fast_s) && (!s->has_slow || !isnan(save->slow_s)) &&
           (!s->verifies || !isnan(save->verified_s));
}

/* The store knows the times of the last saves only, and they grow while it
 * drains: they are fetched again until the last tier has the step. */
static void note_times(struct wr_saves *s)
{
    for (size_t i = s->noted; i < s->count; i++) {
        wr_saves_look(s, &s->saves[i]);
        if (s->noted == i && has_all(s, &s->saves[i]))
            s->noted++;
    }
}

/* A step is durable once the fast tier has it: one that was copied in memory may
 * still fail. */
static void note_durable(struct wr_saves *s)
{
    weir_ckpt_times t;

    for (size_t i = 0; i < WR_SAVES_BEGUN; i++)
        if (s->begun[i] > s->durable &&
            weir_ckpt_times_of(s->c, s->begun[i], &t) == 0 && t.fast_ns)
            s->durable = s->begun[i];
}

static void note_save(struct wr_saves *s, const struct wr_saved *save)
{
    s->last = *save;
    s->total++;
    s->stall_s += save->stall_s;
    s->stall_max_s = fmax(s->stall_max_s, save->stall_s);
    if (s->count < WR_SAVES_MAX)
        s->saves[s->count++] = *save;
    note_times(s);
    note_durable(s);
}

static struct wr_saved begin_save(const struct wr_saves *s, uint64_t step,
                                  uint64_t now_ns)
{
    return (struct wr_saved){.step = step,
                             .start_wall_ns = wr_clock_wall_ns(),
                             .at_s = (double)(now_ns - s->zero_ns) * 1e-9,
                             .fast_s = NAN,
                             .slow_s = NAN,
                             .verified_s = NAN,
                             .drain_s = NAN};
}

static void note_begun(struct wr_saves *s, uint64_t step)
{
    memmove(s->begun + 1, s->begun, sizeof(s->begun) - sizeof(s->begun[0]));
    s->begun[0] = step;
}

int wr_saves_save(struct wr_saves *s, const weir_ckpt_state *state,
                  enum weir_level level, weir_err *err)
{
    uint64_t start = wr_clock_ns();
    struct wr_saved save = begin_save(s, state->step, start);
    int r;

    if (!s->c || s->begun[0] == state->step)
        return 0;
    note_begun(s, state->step);
    r = weir_ckpt_save(s->c, state, level, err);
    if (!s->strict)
        r = wr_ckpt_tell_save(s->c, state->step, r, &s->to, err);
    if (r >= 0 && s->also)
        r = s->also(s->also_arg, state->step, err);
    if (r < 0)
        return r;
    save.stall_s = since(start);
    save.epoch = s->epoch;
    save.block = s->block;
    note_save(s, &save);
    /* This one is saved; that an earlier one was not ends the run while the last
     * good step is near. */
    return s->strict ? 0 : wr_ckpt_tell_problems(s->c, &s->to, err);
}

int wr_saves_restore(struct wr_saves *s, const weir_ckpt_state *into,
                     struct wr_saved *ret, weir_err *err)
{
    weir_ckpt_found *found = NULL;
    uint64_t start = wr_clock_ns();
    struct wr_saved load = begin_save(s, 0, start);
    int r = weir_ckpt_restore(s->c, WEIR_LATEST, into->tensors, into->count,
                              &found, err);

    if (r <= 0)
        return r;
    load.stall_s = since(start);
    load.step = found->step;
    weir_ckpt_found_free(&found);
    *ret = load;
    return 1;
}

/* --- the end --- */

/* A time-out that comes before its time is not that of the wait: the slow tier
 * has not answered for long. */
static int wait_briefly(struct wr_saves *s, enum weir_level level,
                        bool *ret_again, weir_err *err)
{
    uint64_t start = wr_clock_ns();
    int r = weir_ckpt_wait(s->c, WEIR_LATEST, level, LOOK_MS, err);

    *ret_again = r == WEIR_ETIMEDOUT &&
                 wr_clock_ns() - start >= LOOK_MS * WR_NS_PER_MS;
    return r;
}

int wr_saves_settle(struct wr_saves *s, enum weir_level level, weir_err *err)
{
    bool again = true;
    int r = 0;

    if (!s->strict) /* else the wait would fail for what was */
        r = wr_ckpt_tell_problems(s->c, &s->to, err);
    if (r < 0)
        return r;
    while (again) {
        if (is_stopped(s))
            return wr_fail(err, WEIR_ECANCELED, "stopped");
        r = wait_briefly(s, level, &again, err);
    }
    return r;
}

int wr_saves_close(struct wr_saves *s, weir_err *err)
{
    int r;

    if (!s->c)
        return 0;
    /* Times are lost with the store: first everything gets to the fast tier,
     * which closing would wait for, too. An error may be that of one of several
     * steps. Who is strict has looked after each save. */
    r = s->strict ? 0
                  : weir_ckpt_wait(s->c, WEIR_LATEST, WEIR_LEVEL_FAST, -1, err);
    if (r < 0)
        weir_ckpt_wait(s->c, WEIR_LATEST, WEIR_LEVEL_FAST, -1, NULL);
    note_times(s);
    note_durable(s);
    weir_ckpt_get_stats(s->c, &s->stats);
    if (r < 0) {
        weir_ckpt_close(&s->c, NULL);
        return r;
    }
    return weir_ckpt_close(&s->c, err);
}
