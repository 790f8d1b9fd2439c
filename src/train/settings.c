/* settings.c - the settings that decide what training learns, kept with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/settings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define MARK                                                                   \
    "weir.train" /* who wrote the checkpoint, and the version of this */

/* Keys of the metadata, and how a person calls them. */
static const struct {
    const char *key, *name;
} names[] = {
    {MARK, "version"},
    {"train.width", "--width"},
    {"train.classes", "the number of classes"},
    {"train.samples", "the number of samples in the data set"},
    {"train.size", "--size"},
    {"train.batch", "--batch"},
    {"train.learning_rate", "--learning-rate"},
    {"train.seed", "--seed"},
    {"train.holdout", "--holdout"},
    {"train.split_seed", "--split-seed"},
    {"train.order", "--order"},
    {"train.decode", "--decode"},
    {"train.resize", "--resize"},
    {"train.orient", "--orient"},
    {"train.crop", "--crop"},
    {"train.flip", "--flip"},
    {"train.input", "the input"},
    {"train.computed", "--accelerator"},
};

static const char *name_of(const char *key)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(names[i].key, key))
            return names[i].name;
    return key;
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

/* A choice as a person reads it: `values` has blanks between, in the order of
 * their numbers. */
static void add_choice(struct wr_train_settings *s, const char *key,
                       unsigned value, const char *values)
{
    for (unsigned i = 0; i < value && *values; i++) {
        values += strcspn(values, " ");
        values += strspn(values, " ");
    }
    add(s, key, "%.*s", (int)strcspn(values, " "), values);
}

/* What is done to the pictures. */
static void add_feed(struct wr_train_settings *s,
                     const weir_pipeline_config *cfg)
{
    add(s, "train.batch", "%" PRIu32, cfg->batch);
    if (cfg->order == WEIR_ORDER_BLOCK)
        add(s, "train.order", "block of %" PRIu32 " in a window of %" PRIu32,
            cfg->block_samples, cfg->block_window);
    else
        add_choice(s, "train.order", cfg->order, "shuffle sequential");
    add_choice(s, "train.decode", cfg->picture.decode, "exact fast");
    add_choice(s, "train.resize", cfg->picture.resize,
               "bilinear bilinear-noaa area");
    add_choice(s, "train.orient", cfg->picture.orient, "ignore exif");
    add_choice(s, "train.crop", cfg->picture.crop, "none center random");
    add(s, "train.flip", "%s", cfg->picture.flip ? "on" : "off");
    add(s, "train.holdout", "%.6g", (double)cfg->holdout);
    add(s, "train.split_seed", "%" PRIu64, cfg->split_seed);
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
    add_feed(ret, &plan->feed);
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
    char shown[100]; /* what it was comes from a file */

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
                           name_of(key),
                           wr_text_show(was ? was : "not there", true, shown,
                                        sizeof(shown)),
                           is);
    }
    return 0;
}
