/* settings.c - the settings that decide what training learns, kept with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/settings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "pipeline/settings.h"

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
