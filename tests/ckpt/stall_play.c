/* stall_play.c - what the stalled process and the new writer do.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "killstep.h"
#include "said.h"
#include "stall.h"

#define FLOATS     40
#define TIMEOUT_MS 8000 /* of waits for a drain: long after all others */

/* --- saves --- */

static void fill_tensor(float *memory, unsigned salt, weir_tensor *ret)
{
    for (unsigned i = 0; i < FLOATS; i++)
        memory[i] = (float)(salt * 1000 + i);
    *ret = (weir_tensor){.name = "w",
                         .dtype = WEIR_F32,
                         .ndim = 1,
                         .shape = {FLOATS},
                         .data = memory};
}

int stall_party_of(const float *memory, uint64_t step)
{
    for (int who = STALL_BEFORE; who <= STALL_LAST; who++) {
        float is[FLOATS];
        weir_tensor t;

        fill_tensor(is, stall_salt((enum stall_party)who, step), &t);
        if (memcmp(is, memory, sizeof(is)) == 0)
            return who;
    }
    return -1;
}

int stall_save(weir_ckpt *c, enum stall_party who, uint64_t step,
               enum weir_level level, weir_err *err)
{
    float memory[FLOATS];
    weir_tensor t;
    weir_ckpt_state state = {.step = step, .tensors = &t, .count = 1};

    fill_tensor(memory, stall_salt(who, step), &t);
    return weir_ckpt_save(c, &state, level, err);
}

int stall_restore(weir_ckpt *c, uint64_t step, int *ret_who,
                  weir_ckpt_found **ret, weir_err *err)
{
    float memory[FLOATS];
    weir_tensor t;
    int r;

    fill_tensor(memory, /* salt= */ 0, &t);
    r = weir_ckpt_restore(c, step, &t, 1, ret, err);
    if (r == 1)
        *ret_who = stall_party_of(memory, (*ret)->step);
    return r;
}

uint64_t stall_top(const struct stall *st)
{
    return st->s->prep == STALL_STALE ? 8 : 6;
}

void stall_config(const struct stall *st, enum stall_party who,
                  weir_ckpt_config *cfg)
{
    bool other = (st->s->how & STALL_OTHER) && who >= STALL_NEW;

    weir_ckpt_defaults(cfg);
    cfg->fast = other ? st->other : st->fast;
    cfg->slow = st->s->prep == STALL_ONE ? NULL : st->slow;
    cfg->threads = 1;
    cfg->keep_last = 0;
    cfg->max_behind = 0;
    cfg->drain_timeout_ms = TIMEOUT_MS;
    cfg->close_timeout_ms = TIMEOUT_MS;
}

/* --- before --- */

static bool save_range(struct stall *st, const weir_ckpt_config *cfg,
                       uint64_t first, uint64_t last)
{
    enum weir_level level = cfg->drain ? WEIR_LEVEL_VERIFIED : WEIR_LEVEL_FAST;
    weir_ckpt *c = NULL;
    weir_err err = {0};
    int r = weir_ckpt_open(&c, cfg, &err);

    for (uint64_t i = first; i <= last && r == 0; i++)
        r = stall_save(c, STALL_BEFORE, i, level, &err);
    if (r == 0 && first <= STALL_PINNED)
        r = weir_ckpt_pin(c, STALL_PINNED, 1, &err);
    /* To be unpinned by the new writer. */
    if (r == 0 && last >= 6)
        r = weir_ckpt_pin(c, last, 1, &err);
    if (r == 0)
        r = weir_ckpt_close(&c, &err);
    weir_ckpt_close(&c, NULL);
    return r == 0 || stall_fail(st, "to prepare: %s", err.msg);
}

bool stall_prepare(struct stall *st, enum stall_prep prep)
{
    struct stall_scenario s = {.prep = prep};
    weir_ckpt_config cfg;
    bool good;

    st->s = &s;
    stall_config(st, STALL_BEFORE, &cfg);
    if (prep == STALL_ONE || prep == STALL_TWO) {
        good = save_range(st, &cfg, 1, 6);
    } else {
        good = save_range(st, &cfg, 1, 4);
        cfg.drain = 0;
        good = good && save_range(st, &cfg, 5, 6);
    }
    if (good && prep == STALL_STALE) {
        cfg.fast = st->other;
        cfg.drain = 1;
        good = save_range(st, &cfg, 7, 8);
    }
    st->s = NULL;
    return good;
}

/* --- calls and what they return --- */

static struct stall_call *begin_call(struct stall *st, enum stall_party who,
                                     enum stall_what what)
{
    struct stall_log *log = st->log;
    struct stall_call *call = &log->calls[who][log->count[who]];

    if (log->count[who] == STALL_CALLS)
        abort();
    call->what = what;
    log->count[who]++;
    return call;
}

static int end_call(struct stall_call *call, int r, const weir_err *err)
{
    call->r = r;
    if (r < 0)
        snprintf(call->text, sizeof(call->text), "%.190s", err->msg);
    call->returned = true;
    return r;
}

static int save_step(struct stall *st, weir_ckpt *c, enum stall_party who,
                     uint64_t step, enum weir_level level)
{
    struct stall_call *call = begin_call(st, who, STALL_DO_SAVE);
    weir_err err = {0};

    call->step = step;
    call->level = level;
    return end_call(call, stall_save(c, who, step, level, &err), &err);
}

static int open_store(struct stall *st, enum stall_party who,
                      const weir_ckpt_config *cfg, weir_ckpt **ret)
{
    struct stall_call *call = begin_call(st, who, STALL_DO_OPEN);
    weir_err err = {0};

    return end_call(call, weir_ckpt_open(ret, cfg, &err), &err);
}

static void close_store(struct stall *st, enum stall_party who, weir_ckpt **c)
{
    struct stall_call *call = begin_call(st, who, STALL_DO_CLOSE);
    weir_err err = {0};

    end_call(call, weir_ckpt_close(c, &err), &err);
}

/* --- the stalled one --- */

/* It goes on whatever it is told: so does a program that takes no notice. */
static void save_some(struct stall *st, weir_ckpt *c)
{
    enum stall_job job = st->s->job;
    bool opens = job == STALL_OPEN || job == STALL_OPEN_FORCE;
    uint64_t step = stall_top(st) + 1;

    if (!opens)
        save_step(st, c, STALL_OLD, step++, WEIR_LEVEL_FAST);
    save_step(st, c, STALL_OLD, step,
              job == STALL_SAVE_FAST ? WEIR_LEVEL_FAST : WEIR_LEVEL_VERIFIED);
}

static void manage(struct stall *st, weir_ckpt *c)
{
    struct stall_call *call = begin_call(st, STALL_OLD, STALL_DO_OTHER);
    weir_ckpt_prune_plan plan = {.keep_last = 2};
    weir_err err = {0};
    int r = 0;

    switch (st->s->job) {
    case STALL_DRAIN:
    case STALL_OPEN_DRAIN:
        r = weir_ckpt_drain(c, &err);
        break;
    case STALL_GO_BACK:
        plan = (weir_ckpt_prune_plan){.go_back = 1, .after = 3};
        r = weir_ckpt_prune(c, &plan, &err);
        break;
    case STALL_PRUNE:
    case STALL_OPEN_PRUNE:
        r = weir_ckpt_prune(c, &plan, &err);
        break;
    case STALL_REMOVE:
        r = weir_ckpt_remove(c, 4, NULL, &err);
        break;
    case STALL_ADOPT:
        r = weir_ckpt_adopt(c, WEIR_LATEST, NULL, NULL, &err);
        break;
    case STALL_DISCARD:
        r = weir_ckpt_discard(c, WEIR_LATEST, NULL, NULL, &err);
        break;
    default:
        abort();
    }
    end_call(call, r, &err);
}

static enum weir_ckpt_role role_of(enum stall_job job)
{
    switch (job) {
    case STALL_DRAIN:
    case STALL_OPEN_DRAIN:
        return WEIR_CKPT_DRAIN;
    case STALL_PRUNE:
    case STALL_OPEN_PRUNE:
    case STALL_GO_BACK:
    case STALL_REMOVE:
    case STALL_DISCARD:
        return WEIR_CKPT_MANAGE;
    case STALL_ADOPT:
        return WEIR_CKPT_ADOPT;
    default:
        return WEIR_CKPT_SAVE;
    }
}

static bool counts_open(enum stall_job job)
{
    return job == STALL_OPEN || job == STALL_OPEN_FORCE ||
           job == STALL_OPEN_DRAIN || job == STALL_OPEN_PRUNE;
}

int stall_old(void *arg)
{
    struct stall *st = arg;
    enum stall_job job = st->s->job;
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;

    said_by_me(st->said);
    stall_config(st, STALL_OLD, &cfg);
    cfg.role = role_of(job);
    cfg.drain = job != STALL_SAVE_FAST;
    cfg.take_over = job == STALL_OPEN_FORCE;
    if (job == STALL_RETAIN)
        cfg.keep_last = 2;
    if (counts_open(job) && !killstep_go())
        abort();
    if (open_store(st, STALL_OLD, &cfg, &c) < 0)
        return counts_open(job) ? 0 : 1;
    if (!counts_open(job) && !killstep_go())
        abort();
    if (cfg.role == WEIR_CKPT_SAVE)
        save_some(st, c);
    else
        manage(st, c);
    close_store(st, STALL_OLD, &c);
    return 0;
}

/* --- the new writer --- */

static bool look_around(struct stall *st, weir_ckpt *c)
{
    weir_ckpt_entry *e;
    weir_err err;
    size_t count;

    if (weir_ckpt_list(c, &e, &count, &err) < 0)
        return stall_fail(st, "the new writer lists: %s", err.msg);
    for (size_t i = 0; i < count; i++) {
        if (e[i].step < STALL_STEPS && (e[i].fast >= WEIR_COPY_COMPLETE ||
                                        e[i].slow >= WEIR_COPY_COMPLETE))
            st->log->seen[e[i].step] = true;
        if (e[i].fast == WEIR_COPY_DAMAGED || e[i].slow == WEIR_COPY_DAMAGED)
            stall_fail(st, "the new writer found step %u damaged: %s",
                       (unsigned)e[i].step, e[i].problem);
    }
    free(e);
    return !st->log->why[0];
}

static bool go_back(struct stall *st, weir_ckpt *c)
{
    weir_ckpt_prune_plan plan = {.go_back = 1, .after = st->log->back};
    weir_err err;

    return weir_ckpt_prune(c, &plan, &err) == 0 ||
           stall_fail(st, "the new writer goes back: %s", err.msg);
}

/* 0: it does not go back. */
static uint64_t choose_back(const struct stall *st)
{
    const struct stall_log *log = st->log;
    unsigned newer = 0;

    if (st->s->numbers < STALL_AGAIN)
        return 0;
    if (st->s->numbers == STALL_BACK)
        return STALL_PINNED;
    for (uint64_t i = STALL_STEPS - 1; i > 0; i--)
        if (log->seen[i] && newer++ == 1)
            return i;
    return 0;
}

static bool take_up(struct stall *st, weir_ckpt *c)
{
    uint64_t back = choose_back(st);
    weir_ckpt_found *f = NULL;
    weir_err err;
    int who = -1;
    int r;

    st->log->back = back;
    r = stall_restore(c, back ? back : WEIR_LATEST, &who, &f, &err);
    if (r < 0)
        return stall_fail(st, "the new writer restores: %s", err.msg);
    if (r == 0)
        return stall_fail(st, "the new writer found nothing to restore");
    st->log->restored = f->step;
    if (who != STALL_BEFORE && who != STALL_OLD)
        stall_fail(st, "the new writer restored what was never saved as %u",
                   (unsigned)f->step);
    if (f->passed_over_count)
        stall_fail(st, "the new writer passed over: %s", f->passed_over[0]);
    weir_ckpt_found_free(&f);
    if (st->log->why[0])
        return false;
    return !back || go_back(st, c);
}

static bool change_pins(struct stall *st, weir_ckpt *c, uint64_t first)
{
    uint64_t top = stall_top(st);
    bool has = st->log->seen[top] && (!st->log->back || top <= st->log->back);
    weir_err err;

    for (uint64_t i = 1; (st->s->how & STALL_REOPENS) && i < 3; i++)
        if (weir_ckpt_pin(c, first + i, 1, &err) < 0)
            return stall_fail(st, "the new writer pins: %s", err.msg);

    if (weir_ckpt_pin(c, first, 1, &err) < 0 ||
        (has && weir_ckpt_pin(c, top, 0, &err) < 0))
        return stall_fail(st, "the new writer pins: %s", err.msg);
    st->log->unpinned = has ? top : 0;
    return true;
}

/* What the new writer was promised, it is told later whether that holds. */
static uint64_t save_new(struct stall *st, weir_ckpt *c, uint64_t step,
                         bool again)
{
    static const enum weir_level levels[] = {WEIR_LEVEL_FAST, WEIR_LEVEL_SLOW,
                                             WEIR_LEVEL_VERIFIED};

    for (size_t i = 0; i < WR_ARRAY_LEN(levels); i++) {
        if (again && i == 1)
            continue;
        save_step(st, c, STALL_NEW, step++,
                  (st->s->how & (STALL_IDLE | STALL_REOPENS)) ? WEIR_LEVEL_FAST
                                                              : levels[i]);
        st->log->calls[STALL_NEW][st->log->count[STALL_NEW] - 1].again = again;
    }
    return step;
}

static bool tell_ready(struct stall *st, bool wait)
{
    char c = 0;

    return write(st->gate, &c, 1) == 1 && (!wait || read(st->gate, &c, 1) == 1);
}

int stall_new(struct stall *st)
{
    uint64_t step;
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;

    said_by_me(st->said);
    stall_config(st, STALL_NEW, &cfg);
    cfg.take_over = 1;
    cfg.drain = !(st->s->how & STALL_IDLE);
    if (open_store(st, STALL_NEW, &cfg, &c) < 0)
        return 0;
    if (!look_around(st, c) || !take_up(st, c))
        goto out;
    if ((st->s->how & STALL_REOPENS)) {
        close_store(st, STALL_NEW, &c);
        cfg.take_over = cfg.drain = 0;
        if (open_store(st, STALL_NEW, &cfg, &c) < 0)
            return 0;
    }
    step = st->s->numbers == STALL_APART ? 50 : st->log->restored + 1;
    save_new(st, c, step, /* again= */ false);
    if (!change_pins(st, c, step))
        goto out;
    step += 3;
    if ((st->s->how & STALL_CLOSES)) {
        close_store(st, STALL_NEW, &c);
        return tell_ready(st, /* wait= */ false) ? 0 : 1;
    }
    if (!tell_ready(st, /* wait= */ true))
        return 1;
    save_new(st, c, step, /* again= */ true);
out:
    close_store(st, STALL_NEW, &c);
    return 0;
}
