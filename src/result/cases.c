/* cases.c - the cases of benchmarks and the tests of probes, as rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/cases.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/named.h"
#include "result/bench.h"
#include "result/ckpt.h"
#include "result/get.h"
#include "result/head.h"
#include "result/plan.h"
#include "result/probe.h"
#include "result/record.h"
#include "result/run.h"
#include "result/stats.h"
#include "result/study.h"
#include "result/trace.h"
#include "result/train.h"

#define VALUE_MAX      128
#define KEYS_LOOKED_AT 256 /* of a row's settings; no command has more */

const struct wr_cases_spec *const wr_cases_specs[] = {
    &wr_bench_spec,  &wr_ckpt_spec, &wr_plan_spec,  &wr_probe_spec,
    &wr_replay_spec, &wr_run_spec,  &wr_study_spec, &wr_trace_spec,
    &wr_train_spec,  NULL};

/* --- the values of a record --- */

static const json_t *runs_of(const json_t *row,
                             const struct wr_cases_spec *spec)
{
    return wr_get_list(row, spec->runs ? spec->runs : "runs");
}

/* A record whose runs are all warm-up still has something to show. */
static size_t warm_up_of(const json_t *row, const struct wr_cases_spec *spec)
{
    double n = wr_get_number(row, "warm_up_runs");

    return n > 0 && n < (double)json_array_size(runs_of(row, spec)) ? (size_t)n
                                                                    : 0;
}

static struct wr_list counted_runs(const struct wr_cases_spec *spec,
                                   const void *values, size_t warm_up)
{
    const struct wr_list *all = (const void *)((const char *)values +
                                               spec->runs_at);

    return (struct wr_list){(char *)all->v + warm_up * all->step,
                            all->count - warm_up, all->step};
}

static bool read_case(const struct wr_cases_spec *spec, const json_t *row,
                      void *to)
{
    struct wr_list runs;

    if (!wr_vals_read(spec->of, row, to))
        return false;
    if (!spec->of_run)
        return true;
    runs = counted_runs(spec, to, warm_up_of(row, spec));
    runs.count = WR_MIN(runs.count, (size_t)WR_CASE_RUNS_MAX);
    wr_vals_median(spec->of_run, (char *)to + spec->of->size, &runs);
    return true;
}

static const struct wr_cases_spec *spec_of(const json_t *record)
{
    const char *command = wr_get_text(record, "command");

    for (size_t i = 0; wr_cases_specs[i]; i++)
        if (!strcmp(wr_cases_specs[i]->command, command))
            return wr_cases_specs[i];
    return NULL;
}

bool wr_view_record_read(struct wr_view_record *r)
{
    const struct wr_cases_spec *spec = spec_of(r->json);
    const json_t *rows = spec && spec->rows ? wr_get_list(r->json, spec->rows)
                                            : NULL;
    size_t n = WR_MIN(json_array_size(rows), (size_t)WR_CASES_MAX);
    struct wr_list *l = &r->cases;
    bool ok = true;

    if (spec && !spec->rows)
        n = 1;
    if (!n)
        return true;
    l->step = spec->of->size + (spec->of_run ? spec->of_run->size : 0);
    l->v = calloc(n, l->step);
    for (; l->v && ok && l->count < n; l->count++)
        ok = read_case(spec, rows ? json_array_get(rows, l->count) : r->json,
                       (char *)l->v + l->count * l->step);
    if (!l->v || !ok)
        wr_view_record_done(r);
    return r->cases.v;
}

void wr_view_record_done(struct wr_view_record *r)
{
    const struct wr_cases_spec *spec = spec_of(r->json);

    for (size_t k = 0; k < r->cases.count; k++)
        wr_vals_done(spec->of, (char *)r->cases.v + k * r->cases.step);
    free(r->cases.v);
    r->cases = (struct wr_list){0};
}

/* --- rows --- */

/* Row number k of a record. */
static void add_row(struct wr_cases *c, size_t record, size_t k,
                    const json_t *row, const struct wr_cases_spec *spec)
{
    const struct wr_list *read = &c->records[record].cases;
    const char *settings = spec->settings;
    struct wr_case *to;

    if (!json_is_object(row))
        return;
    if (c->count == WR_CASES_MAX || (spec->of && k >= read->count)) {
        c->left_out++;
        return;
    }
    if (!wr_grow(&c->v, &c->cap, c->count + 1, sizeof(*c->v))) {
        c->failed = true;
        return;
    }
    to = &c->v[c->count++];
    *to = (struct wr_case){
        .record = record,
        .json = row,
        .settings = settings ? wr_get_object(row, settings) : row,
        .runs = runs_of(row, spec),
        .warm_up = warm_up_of(row, spec),
    };
    if (!spec->of)
        return;
    to->values = wr_list_at(read, k);
    if (!spec->of_run)
        return;
    to->median = (const char *)to->values + spec->of->size;
    to->list = counted_runs(spec, to->values, to->warm_up);
}

static bool same(const json_t *a, const json_t *b)
{
    return a == b || (a && b && json_equal(a, b));
}

bool wr_case_is_amount(const char *key)
{
    return !strcmp(key, "max_batches") || !strcmp(key, "epochs");
}

/* Whether rows differ in this setting. An amount must do so in one record. */
static bool differs(const struct wr_cases *c, const char *key)
{
    bool amount = wr_case_is_amount(key);

    for (size_t i = 1; i < c->count; i++)
        if ((!amount || c->v[i].record == c->v[i - 1].record) &&
            !same(json_object_get(c->v[amount ? i - 1 : 0].settings, key),
                  json_object_get(c->v[i].settings, key)))
            return true;
    return false;
}

static void try_key(struct wr_cases *c, const char *key)
{
    if (c->varying_count == WR_CASE_KEYS_MAX || wr_cases_varies(c, key) ||
        !differs(c, key))
        return;
    c->varying[c->varying_count++] = key;
}

/* What differs at all is told by the first row and any other that has keys
 * which the first has not; a record's rows mostly have the same keys. */
static void find_varying(struct wr_cases *c, const char *const *keys)
{
    const char *key;
    json_t *value;
    size_t step = WR_MAX(c->count / 64, (size_t)1);

    if (!c->count)
        return;
    for (; keys && *keys; keys++)
        try_key(c, *keys);
    for (size_t i = 0; !keys && i < c->count; i += step) {
        /* Iterating is not const in jansson, but changes nothing. */
        json_t *o = (json_t *)(uintptr_t)c->v[i].settings;

        size_t looked = 0;

        json_object_foreach(o, key, value) if (looked++ < KEYS_LOOKED_AT)
            try_key(c, key);
    }
}

void wr_cases_init(struct wr_cases *c, const struct wr_view_record *records,
                   size_t record_count, const struct wr_cases_spec *spec)
{
    *c = (struct wr_cases){.records = records, .record_count = record_count};
    for (size_t i = 0; i < record_count; i++) {
        const json_t *list = spec->rows
                                 ? wr_get_list(records[i].json, spec->rows)
                                 : NULL;

        if (!spec->rows)
            add_row(c, i, 0, records[i].json, spec);
        for (size_t k = 0; k < json_array_size(list); k++)
            add_row(c, i, k, json_array_get(list, k), spec);
    }
    find_varying(c, spec->keys);
}

void wr_cases_done(struct wr_cases *c)
{
    free(c->v);
    *c = (struct wr_cases){0};
}

bool wr_cases_varies(const struct wr_cases *c, const char *key)
{
    return wr_named_find(c->varying, c->varying_count, sizeof(*c->varying),
                         key);
}

static void append(char *buf, size_t cap, const char *text)
{
    size_t used = strlen(buf);

    snprintf(buf + used, cap - used, "%s", text);
}

void wr_case_setting(const struct wr_case *row, const char *key, char *buf,
                     size_t cap)
{
    const json_t *v = json_object_get(row->settings, key);
    char shown[VALUE_MAX], name[VALUE_MAX];

    if (!*wr_get_shown(v, shown, sizeof(shown)))
        return;
    if (*buf)
        append(buf, cap, ", ");
    /* A word tells by itself what it is, a number does not. */
    if (!json_is_string(v) || !strcmp(shown, "auto")) {
        snprintf(name, sizeof(name), "%s ", key);
        for (char *p = name; *p; p++)
            *p = *p == '_' ? ' ' : *p;
        append(buf, cap, name);
    }
    append(buf, cap, shown);
}

char *wr_cases_label(const struct wr_cases *c, size_t k, const char *without,
                     char *buf, size_t cap)
{
    char settings[1024] = "";

    for (size_t i = 0; i < c->varying_count; i++)
        if (!without || strcmp(c->varying[i], without))
            wr_case_setting(&c->v[k], c->varying[i], settings,
                            sizeof(settings));
    if (c->record_count > 1 && !c->records[c->v[k].record].told)
        snprintf(buf, cap, "%s%s%s", c->records[c->v[k].record].label,
                 *settings ? ": " : "", settings);
    else
        snprintf(buf, cap, "%s", settings);
    return buf;
}

char *wr_cases_name(const struct wr_cases *c, size_t k, const char *none,
                    char *buf, size_t cap)
{
    if (!*wr_cases_label(c, k, NULL, buf, cap))
        snprintf(buf, cap, "%s", none);
    return buf;
}

size_t wr_case_numbers(const struct wr_case *row, size_t at, double *v)
{
    size_t n = WR_MIN(row->list.count, (size_t)WR_CASE_RUNS_MAX), used = 0;

    for (size_t k = 0; k < n; k++) {
        double x = wr_number_at(wr_list_at(&row->list, k), at);

        if (!isnan(x))
            v[used++] = x;
    }
    return used;
}

/* What all records begin with, and what those of several commands have. */
static json_t *head_schema(const char *command)
{
    static const struct {
        const char *key;
        const struct wr_vals *of;
    } parts[] = {{"host", &wr_host_vals},
                 {"dataset", &wr_dataset_vals},
                 {"cores", &wr_cores_vals},
                 {"monitor", &wr_monitor_vals}};
    json_t *head = json_pack(
        "{s:s, s:{s:{s:s}, s:{s:i}, s:{s:s}}, s:[s, s, s, s, s]}", "type",
        "object", "properties", "schema", "const", WR_RECORD_SCHEMA, "version",
        "const", WR_RECORD_VERSION, "command", "const", command, "required",
        "schema", "version", "command", "time", "weir");
    json_t *all = json_object_get(head, "properties");

    json_object_set_new(all, "time", json_pack("{s:s}", "type", "string"));
    json_object_set_new(all, "weir", json_pack("{s:s}", "type", "string"));
    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++)
        json_object_set_new(all, parts[k].key,
                            wr_vals_schema(parts[k].of, WR_FOR_RECORD));
    return head;
}

/* Rows stand in a list of the record, or it is one itself. */
static json_t *record_schema(const struct wr_cases_spec *spec)
{
    json_t *head = head_schema(spec->command);
    json_t *row = wr_vals_schema(spec->of, WR_FOR_RECORD);
    json_t *all = json_object_get(head, "properties");
    json_t *needed = json_object_get(head, "required");

    if (spec->head) {
        json_t *beside = wr_vals_schema(spec->head, WR_FOR_RECORD);

        json_object_update_missing(all, json_object_get(beside, "properties"));
        json_array_extend(needed, json_object_get(beside, "required"));
        json_decref(beside);
    }
    if (spec->rows) {
        json_object_set_new(
            all, spec->rows,
            json_pack("{s:s, s:O}", "type", "array", "items", row));
        json_array_append_new(needed, json_string(spec->rows));
    } else {
        json_object_update_missing(all, json_object_get(row, "properties"));
        json_array_extend(needed, json_object_get(row, "required"));
    }
    json_decref(row);
    return head;
}

json_t *wr_record_schemas(void)
{
    json_t *defs = json_object();
    int bad = 0;

    for (size_t i = 0; wr_cases_specs[i]; i++)
        bad |= json_object_set_new(defs, wr_cases_specs[i]->command,
                                   record_schema(wr_cases_specs[i]));
    if (bad) {
        json_decref(defs);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:o}", "$schema",
                     "https://json-schema.org/draft/2020-12/schema", "title",
                     "Run records of weir", "$defs", defs);
}
