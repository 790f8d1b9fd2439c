/* store.c - the checkpoints of a run of training.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/store.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "pipeline/settings.h"
#include "storage/storage.h"

/* --- the settings that decide what training learns, kept with it --- */

#define MARK                                                                   \
    "weir.train" /* who wrote the checkpoint, and the version of this */

#define PREFIX "train."

/* What keys mean to a person that are not the names of options. */
static const struct {
    const char *key, *name;
} names[] = {
    {MARK, "version"},
    {PREFIX "classes", "the number of classes"},
    {PREFIX "samples", "the number of samples in the data set"},
    {PREFIX "input", "the input"},
    {PREFIX "computed", "--accelerator"},
};

/* "train.split_seed" -> "--split-seed". */
static const char *name_of(const char *key, char *buf, size_t cap)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(names); i++)
        if (!strcmp(names[i].key, key))
            return names[i].name;
    snprintf(buf, cap, "--%s", key + strlen(PREFIX));
    for (char *at = buf; (at = strchr(at, '_'));)
        *at = '-';
    return buf;
}

static void __attribute__((format(printf, 3, 4)))
add(struct wr_train_settings *s, const char *key, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(s->text[s->count], sizeof(s->text[0]), fmt, args);
    va_end(args);
    s->pairs[s->count] = (weir_pair){key, s->text[s->count]};
    s->count++;
}

static void add_setting(struct wr_train_settings *s,
                        const struct wr_setting *row,
                        const weir_pipeline_config *cfg)
{
    const void *at = wr_setting_at(row, cfg);
    char *key = s->key[s->count], text[40];

    snprintf(key, sizeof(s->key[0]), PREFIX "%s", row->name);
    wr_value_text(&row->value, at, text, sizeof(text));
    if (row->value.type == WR_VALUE_YES)
        add(s, key, "%s", *(const int *)at ? "on" : "off");
    else if (row->value.type == WR_VALUE_FLOATS)
        add(s, key, "%.6g", (double)*(const float *)at);
    else if (!strcmp(text, "block"))
        add(s, key, "block of %" PRIu32 " in a window of %" PRIu32,
            cfg->block_samples, cfg->block_window);
    else
        add(s, key, "%s", text);
}

void wr_train_settings_of(const struct wr_train_plan *plan,
                          const struct wr_net *net,
                          struct wr_train_settings *ret)
{
    const struct wr_net_spec *spec = &net->spec;

    ret->count = 0;
    add(ret, MARK, "1");
    add(ret, "train.computed", "%s",
        plan->accelerator.kind == WR_ACCELERATOR_CPU ? "cpu" : "emulated");
    add(ret, "train.input", "%s", plan->synthetic ? "synthetic" : "data set");
    add(ret, "train.width", "%.9g", spec->width);
    add(ret, "train.classes", "%" PRIu32, spec->classes);
    add(ret, "train.size", "%" PRIu32 "x%" PRIu32, spec->cols, spec->height);
    add(ret, "train.samples", "%" PRIu64,
        plan->ds ? weir_dataset_count(plan->ds) : 0);
    add(ret, "train.learning_rate", "%.9g", plan->learning_rate);
    add(ret, "train.seed", "%" PRIu64, plan->seed);
    for (const struct wr_setting *row = wr_settings; row->name; row++)
        if (row->flags & WR_SET_LEARN)
            add_setting(ret, row, &plan->feed);
}

static const char *value_of(const weir_pair *pairs, size_t count,
                            const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(pairs[i].key, key))
            return pairs[i].value;
    return NULL;
}

int wr_train_settings_check(const struct wr_train_settings *s,
                            const weir_pair *found, size_t count, weir_err *err)
{
    char shown[100], name[40]; /* what it was comes from a file */

    if (!value_of(found, count, MARK))
        return wr_fail(err, WEIR_ESTATE,
                       "the checkpoint there was not saved by weir train");
    for (size_t i = 0; i < s->count; i++) {
        const char *key = s->pairs[i].key, *is = s->pairs[i].value;
        const char *was = value_of(found, count, key);

        if (!was || strcmp(was, is))
            return wr_fail(err, WEIR_ESTATE,
                           "%s was %s when the checkpoint was saved and is %s "
                           "now: give the same settings, or save elsewhere",
                           name_of(key, name, sizeof(name)),
                           wr_text_show(was ? was : "not there", true, shown,
                                        sizeof(shown)),
                           is);
    }
    return 0;
}

/* --- the checkpoints of a run of training --- */

static void say(const struct wr_train_plan *plan, const char *text)
{
    if (plan->note)
        plan->note(plan->arg, text);
}

/* --- opening and resuming --- */

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
        r = weir_ckpt_restore(st->to.c, f->step, s->tensors, s->count, NULL,
                              err);
    if (r == 0)
        r = wr_fail(err, WEIR_ENOENT, "step %" PRIu64 " is gone", f->step);
    if (r < 0)
        return r;
    say_passed_over(st->plan, f);
    s->step = f->step;
    wr_saves_resume(&st->to, f->step);
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
    int r = weir_ckpt_look(st->to.c, WEIR_LATEST, &st->found, err);

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
    const struct wr_train_plan *plan = st->plan;
    weir_ckpt_config cfg = plan->ckpt;
    int r;

    *ret_start = (struct wr_train_start){0};
    if (!cfg.fast)
        return 0;
    cfg.reserve = plan->level == WEIR_LEVEL_SNAPSHOT ? s->bytes : 0;
    st->to.to = (struct wr_ckpt_listener){plan->note, plan->arg};
    st->to.stopped = plan->stopped;
    st->to.every = plan->save_every;
    r = wr_saves_open(&st->to, &cfg, err);
    if (r == 0)
        r = look(st, s, ret_start, err);
    return r < 0 ? r : wr_ckpt_tell_problems(st->to.c, &st->to.to, err);
}

/* --- saving --- */

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
    int r;

    st->to.zero_ns = st->ret->start_ns;
    r = wr_saves_save(&st->to, &state, level, err);
    st->ret->save_s = st->to.stall_s;
    return r;
}

/* --- the end --- */

int wr_train_store_close(struct wr_train_store *st, bool settle, weir_err *err)
{
    enum weir_level level = st->plan->ckpt.verify ? WEIR_LEVEL_VERIFIED
                                                  : WEIR_LEVEL_SLOW;
    struct wr_train_result *ret = st->ret;
    struct wr_saves *s = &st->to;
    int r = 0, q;

    if (settle && s->c && s->total)
        r = wr_saves_settle(s, level, err);
    q = wr_saves_close(s, r < 0 ? NULL : err);
    weir_ckpt_found_free(&st->found);
    ret->ckpt = s->stats;
    ret->saves = s->saves;
    ret->save_kept = s->count;
    ret->save_count = s->total;
    ret->save_max_s = s->stall_max_s;
    ret->saved = s->durable;
    ret->has_saved = s->durable;
    return r < 0 ? r : q;
}
