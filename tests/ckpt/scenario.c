/* scenario.c - workloads of a checkpoint store.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scenario.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "checkpoint/store.h"

/* --- scripts --- */

enum act {
    END,
    OPEN,
    CLOSE,
    SAVE,    /* step, level */
    WAIT,    /* step, level */
    DRAIN,   /* by another store */
    RESTORE, /* the newest, which must be `step` */
    PIN,     /* step */
    UNPIN,   /* step */
    PRUNE,   /* to the last `step` ones, and the spare space */
    BACK,    /* to step */
    GO,      /* what is to be killed begins */
};

struct scn_action {
    enum act act;
    uint64_t step;
    enum weir_level level;
};

#define SNAP     WEIR_LEVEL_SNAPSHOT
#define FAST     WEIR_LEVEL_FAST
#define SLOW     WEIR_LEVEL_SLOW
#define VERIFIED WEIR_LEVEL_VERIFIED

/* One tier: slots from the third save on, a pinned step, going back. */
static const struct scn_action single[] = {
    {OPEN, 0, 0},     {SAVE, 10, FAST}, {SAVE, 20, VERIFIED}, {SAVE, 30, FAST},
    {PIN, 30, 0},     {SAVE, 40, FAST}, {SAVE, 50, SNAP},     {WAIT, 50, FAST},
    {SAVE, 60, FAST}, {CLOSE, 0, 0},    {OPEN, 0, 0},         {RESTORE, 60, 0},
    {SAVE, 70, FAST}, {BACK, 60, 0},    {SAVE, 70, VERIFIED}, {UNPIN, 30, 0},
    {SAVE, 80, FAST}, {PRUNE, 1, 0},    {SAVE, 90, FAST},     {CLOSE, 0, 0},
    {END, 0, 0},
};

/* Two tiers, drained by another store when the script says so. */
static const struct scn_action relay[] = {
    {OPEN, 0, 0},     {SAVE, 10, FAST}, {DRAIN, 0, 0},    {SAVE, 20, FAST},
    {SAVE, 30, FAST}, {DRAIN, 0, 0},    {SAVE, 40, FAST}, {CLOSE, 0, 0},
    {PIN, 30, 0},     {DRAIN, 0, 0},    {OPEN, 0, 0},     {SAVE, 50, FAST},
    {RESTORE, 50, 0}, {DRAIN, 0, 0},    {SAVE, 60, FAST}, {DRAIN, 0, 0},
    {SAVE, 70, FAST}, {CLOSE, 0, 0},    {BACK, 50, 0},    {UNPIN, 30, 0},
    {OPEN, 0, 0},     {RESTORE, 50, 0}, {SAVE, 60, FAST}, {DRAIN, 0, 0},
    {SAVE, 70, FAST}, {CLOSE, 0, 0},    {DRAIN, 0, 0},    {PRUNE, 1, 0},
    {END, 0, 0},
};

/* Two tiers, drained by a thread while saves go on. */
static const struct scn_action burst[] = {
    {OPEN, 0, 0},     {SAVE, 10, SLOW}, {SAVE, 20, VERIFIED},
    {SAVE, 30, FAST}, {SAVE, 40, FAST}, {WAIT, 40, VERIFIED},
    {SAVE, 50, SNAP}, {SAVE, 60, SLOW}, {BACK, 40, 0},
    {SAVE, 50, SLOW}, {CLOSE, 0, 0},    {OPEN, 0, 0},
    {RESTORE, 50, 0}, {SAVE, 60, FAST}, {PRUNE, 1, 0},
    {SAVE, 70, SLOW}, {CLOSE, 0, 0},    {END, 0, 0},
};

const struct scenario scn_all[] = {
    {"single", false, false, 2, 0, 0, single},
    {"relay", true, false, 2, 0, 0, relay},
    {"burst", true, true, 2, 1, 20, burst},
    {NULL, false, false, 0, 0, 0, NULL},
};

/* --- short ones: prepared, then one thing, to be killed at each call of it --- */

/* Into a slot, with retention behind it. */
static const struct scn_action save_one[] = {
    {OPEN, 0, 0},     {SAVE, 10, FAST},     {SAVE, 20, FAST}, {SAVE, 30, FAST},
    {CLOSE, 0, 0},    {GO, 0, 0},           {OPEN, 0, 0},     {SAVE, 40, FAST},
    {SAVE, 50, SNAP}, {WAIT, 50, VERIFIED}, {CLOSE, 0, 0},    {END, 0, 0},
};

static const struct scn_action drain_two[] = {
    {OPEN, 0, 0},     {SAVE, 10, FAST}, {DRAIN, 0, 0},
    {SAVE, 20, FAST}, {SAVE, 30, FAST}, {CLOSE, 0, 0},
    {GO, 0, 0},       {DRAIN, 0, 0},    {END, 0, 0},
};

static const struct scn_action through[] = {
    {OPEN, 0, 0},     {SAVE, 10, VERIFIED}, {GO, 0, 0},    {SAVE, 20, FAST},
    {SAVE, 30, SLOW}, {SAVE, 40, VERIFIED}, {CLOSE, 0, 0}, {END, 0, 0},
};

static const struct scn_action take_away[] = {
    {OPEN, 0, 0},  {SAVE, 10, FAST}, {SAVE, 20, SLOW},     {SAVE, 30, SLOW},
    {PIN, 20, 0},  {SAVE, 40, SLOW}, {SAVE, 50, VERIFIED}, {GO, 0, 0},
    {BACK, 40, 0}, {UNPIN, 20, 0},   {PRUNE, 1, 0},        {CLOSE, 0, 0},
    {END, 0, 0},
};

static const struct scn_action restore_it[] = {
    {OPEN, 0, 0}, {SAVE, 10, SLOW}, {SAVE, 20, FAST}, {CLOSE, 0, 0}, {GO, 0, 0},
    {OPEN, 0, 0}, {RESTORE, 20, 0}, {CLOSE, 0, 0},    {END, 0, 0},
};

const struct scenario scn_short[] = {
    {"save-one", false, false, 2, 0, 0, save_one},
    {"drain-two", true, false, 2, 0, 0, drain_two},
    {"through", true, true, 2, 1, 0, through},
    {"take-away", true, true, 2, 1, 0, take_away},
    {"restore-it", true, true, 2, 1, 0, restore_it},
    {NULL, false, false, 0, 0, 0, NULL},
};

/* --- tensors: about 30 KB, of three widths --- */

#define PAD_STEP 3000

static uint64_t bytes_of(const weir_tensor *t)
{
    uint64_t n = t->dtype == WEIR_F32 ? 4 : t->dtype == WEIR_I64 ? 8 : 1;

    for (uint32_t i = 0; i < t->ndim; i++)
        n *= t->shape[i];
    return n;
}

void scn_state_make(struct scn_state *s, uint64_t step)
{
    const weir_tensor shapes[SCN_TENSORS] = {
        {.name = "net/w", .dtype = WEIR_F32, .ndim = 2, .shape = {48, 91}},
        {.name = "opt/steps", .dtype = WEIR_I64, .ndim = 0},
        {.name = "mask", .dtype = WEIR_U8, .ndim = 1, .shape = {777}},
        /* Slots are too large, too small, or right. */
        {.name = "pad",
         .dtype = WEIR_U8,
         .ndim = 1,
         .shape = {1 + PAD_STEP * (step / 10 % 5)}},
    };
    uint64_t total = 0;

    for (unsigned i = 0; i < SCN_TENSORS; i++)
        total += WR_ALIGN_UP(bytes_of(&shapes[i]), (uint64_t)8);
    s->memory = calloc(1, total);
    if (!s->memory)
        abort();
    total = 0;
    for (unsigned i = 0; i < SCN_TENSORS; i++) {
        s->tensors[i] = shapes[i];
        s->tensors[i].data = s->memory + total;
        total += WR_ALIGN_UP(bytes_of(&shapes[i]), (uint64_t)8);
    }
}

static uint64_t key_of(uint64_t step, uint64_t salt)
{
    return step * 1000 + salt;
}

/* Eight bytes of a tensor, at a multiple of eight. */
static uint64_t word_at(uint64_t key, unsigned tensor, uint64_t at)
{
    return htole64(wr_rng_at(key, tensor, at / 8));
}

void scn_state_fill(struct scn_state *s, uint64_t step, uint64_t salt)
{
    for (unsigned i = 0; i < SCN_TENSORS; i++) {
        uint8_t *to = s->tensors[i].data;
        uint64_t n = bytes_of(&s->tensors[i]);

        for (uint64_t k = 0; k < n; k += 8) {
            uint64_t word = word_at(key_of(step, salt), i, k);

            memcpy(to + k, &word, (size_t)WR_MIN(n - k, (uint64_t)8));
        }
    }
}

const char *scn_state_differs(const struct scn_state *s, size_t count,
                              uint64_t step, uint64_t salt)
{
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *is = s->tensors[i].data;
        uint64_t n = bytes_of(&s->tensors[i]), k, word, got;

        for (k = 0; k + 8 <= n; k += 8) {
            memcpy(&got, is + k, 8);
            if (got != word_at(key_of(step, salt), i, k))
                return s->tensors[i].name;
        }
        word = word_at(key_of(step, salt), i, k);
        if (memcmp(is + k, &word, (size_t)(n - k)) != 0)
            return s->tensors[i].name;
    }
    return NULL;
}

void scn_state_done(struct scn_state *s)
{
    free(s->memory);
    s->memory = NULL;
}

/* --- running --- */

static void tell(const struct scn_listener *to, const struct scn_event *e)
{
    if (to)
        to->tell(to->arg, e);
}

int scn_save(weir_ckpt *c, const struct scn_event *what,
             const struct scn_listener *to, weir_err *err)
{
    char step[24], salt[24];
    const weir_pair pairs[] = {{"step", step}, {"salt", salt}};
    struct scn_event e = *what;
    struct scn_state s;
    weir_ckpt_state st = {.step = e.step,
                          .tensors = s.tensors,
                          .count = SCN_TENSORS,
                          .metadata = pairs,
                          .metadata_count = 2,
                          .pipeline = step,
                          .pipeline_len = 2};
    int r;

    snprintf(step, sizeof(step), "%" PRIu64, e.step);
    snprintf(salt, sizeof(salt), "%" PRIu64, e.salt);
    scn_state_make(&s, e.step);
    scn_state_fill(&s, e.step, e.salt);
    e.what = SCN_BEGUN;
    tell(to, &e);
    r = weir_ckpt_save(c, &st, (enum weir_level)e.level, err);
    scn_state_done(&s);
    if (r != 0)
        return r;
    e.what = SCN_REACHED;
    tell(to, &e);
    return 0;
}

void scn_config(const struct scenario *s, weir_ckpt_config *cfg)
{
    weir_ckpt_defaults(cfg);
    cfg->fast = "fast";
    cfg->slow = s->two_tiers ? "slow" : NULL;
    cfg->drain = s->drain;
    cfg->keep_last = s->keep_last;
    cfg->keep_every = s->keep_every;
    cfg->keep_fast = s->keep_fast;
    cfg->threads = 1;
}

struct run {
    const struct scenario *s;
    const struct scn_place *at;
    const struct scn_listener *to;
    weir_ckpt *c;
    struct scn_ledger done; /* told so far */
    uint64_t salt;
    bool managed; /* `c` is open for one action */
};

static void report(struct run *r, const struct scn_event *e)
{
    scn_note(&r->done, e);
    tell(r->to, e);
}

static void report_save(void *arg, const struct scn_event *e)
{
    report(arg, e);
}

static int open_store(struct run *r, enum weir_ckpt_role role, weir_ckpt **ret,
                      weir_err *err)
{
    weir_ckpt_config cfg;
    struct wr_store *fast, *slow = NULL;

    scn_config(r->s, &cfg);
    cfg.role = role;
    fast = r->at->open(r->at->arg, "fast");
    if (fast && r->s->two_tiers)
        slow = r->at->open(r->at->arg, "slow");
    if (!fast || (r->s->two_tiers && !slow)) {
        wr_store_close(fast);
        return wr_fail(err, WEIR_EIO, "the place cannot be opened");
    }
    return wr_ckpt_open_stores(ret, &cfg, fast, slow, err);
}

/* A level that all steps have reached which were saved. */
static void report_all(struct run *r, enum weir_level level)
{
    for (size_t i = 0; i < r->done.count; i++) {
        const struct scn_save *s = &r->done.saves[i];
        struct scn_event e = {SCN_REACHED, level, s->step, s->salt};

        if (s->level >= WEIR_LEVEL_FAST && !s->may_go)
            report(r, &e);
    }
}

static int drain(struct run *r, weir_err *err)
{
    weir_ckpt *c;
    int e, e2;

    e = open_store(r, WEIR_CKPT_DRAIN, &c, err);
    if (e < 0)
        return e;
    e = weir_ckpt_drain(c, err);
    if (e == 0)
        report_all(r, WEIR_LEVEL_SLOW);
    e2 = weir_ckpt_close(&c, e < 0 ? NULL : err);
    return e < 0 ? e : e2;
}

static int restore(struct run *r, uint64_t step, weir_err *err)
{
    weir_ckpt_found *f = NULL;
    struct scn_state s;
    int e;

    scn_state_make(&s, step);
    e = weir_ckpt_restore(r->c, WEIR_LATEST, s.tensors, SCN_FIXED, &f, err);
    if (e == 1 && f->step != step)
        e = wr_fail(err, WEIR_EDAMAGED, "restored %" PRIu64 " and not %" PRIu64,
                    f->step, step);
    else if (e == 0)
        e = wr_fail(err, WEIR_ENOENT, "nothing to restore");
    weir_ckpt_found_free(&f);
    scn_state_done(&s);
    return e < 0 ? e : 0;
}

/* Between CLOSE and OPEN another one manages the store. */
static int manager_open(struct run *r, weir_err *err)
{
    r->managed = !r->c;
    return r->managed ? open_store(r, WEIR_CKPT_MANAGE, &r->c, err) : 0;
}

static int manager_close(struct run *r, weir_err *err)
{
    return r->managed ? weir_ckpt_close(&r->c, err) : 0;
}

static int prune(struct run *r, const struct scn_action *a, weir_err *err)
{
    weir_ckpt_prune_plan plan = {.keep_last = r->s->keep_last,
                                 .keep_every = r->s->keep_every};
    struct scn_event e = {.what = SCN_BACK_BEGUN, .step = a->step};
    int got;

    if (a->act == BACK) {
        plan.go_back = 1;
        plan.after = a->step;
    } else {
        e.what = SCN_PRUNED;
        plan.keep_last = (uint32_t)a->step;
        plan.spare = 1;
    }
    report(r, &e);
    got = manager_open(r, err);
    if (got < 0)
        return got;
    got = weir_ckpt_prune(r->c, &plan, err);
    if (got == 0)
        got = manager_close(r, err);
    if (got == 0 && a->act == BACK) {
        e.what = SCN_BACK_DONE;
        report(r, &e);
    }
    return got;
}

static int pin(struct run *r, const struct scn_action *a, weir_err *err)
{
    struct scn_event e = {.what = SCN_PINNED, .step = a->step};
    int got;

    if (a->act == UNPIN) { /* from now on it may go */
        e.what = SCN_UNPINNED;
        report(r, &e);
    }
    got = manager_open(r, err);
    if (got < 0)
        return got;
    got = weir_ckpt_pin(r->c, a->step, a->act == PIN, err);
    if (got == 0)
        got = manager_close(r, err);
    if (got == 0 && a->act == PIN)
        report(r, &e);
    return got;
}

static int wait_for(struct run *r, const struct scn_action *a, weir_err *err)
{
    int got = weir_ckpt_wait(r->c, a->step, a->level, /* timeout_ms= */ 300000,
                             err);

    for (size_t i = 0; i < r->done.count && got == 0; i++) {
        const struct scn_save *s = &r->done.saves[i];
        struct scn_event e = {SCN_REACHED, a->level, s->step, s->salt};

        if (s->step == a->step && !s->may_go)
            report(r, &e);
    }
    return got;
}

static int act(struct run *r, const struct scn_action *a, weir_err *err)
{
    const struct scn_listener self = {report_save, r};
    struct scn_event e = {.level = a->level, .step = a->step};

    switch (a->act) {
    case OPEN:
        return open_store(r, WEIR_CKPT_SAVE, &r->c, err);
    case CLOSE:
        return weir_ckpt_close(&r->c, err);
    case SAVE:
        e.salt = r->salt;
        return scn_save(r->c, &e, &self, err);
    case WAIT:
        return wait_for(r, a, err);
    case DRAIN:
        return drain(r, err);
    case RESTORE:
        return restore(r, a->step, err);
    case PIN:
    case UNPIN:
        return pin(r, a, err);
    case BACK:
        r->salt++;
        return prune(r, a, err);
    case PRUNE:
        return prune(r, a, err);
    case GO:
        e.what = SCN_GO;
        report(r, &e);
        break;
    case END:
        break;
    }
    return 0;
}

int scn_run(const struct scenario *s, const struct scn_place *at,
            const struct scn_listener *to, weir_err *err)
{
    struct run r = {.s = s, .at = at, .to = to};
    int e = 0;

    for (const struct scn_action *a = s->script; a->act != END && e == 0; a++) {
        e = act(&r, a, err);
        if (e < 0)
            wr_fail_prefix(err, e, "%s, action %td", s->name, a - s->script);
    }
    weir_ckpt_close(&r.c, NULL);
    return e;
}
