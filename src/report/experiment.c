/* experiment.c - which records belong together in one chart.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/experiment.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "result/get.h"

/* What differs between records but is no setting of a case. */
#define DEVICE "device"
#define FORMAT "format"

/* What the cases of one record have in common. */
struct profile {
    json_t *fixed; /* owned: settings that all cases share, and the above */
    json_t *swept; /* owned: names of those in which they differ */
    const json_t *record;
    size_t group;
};

/* A group while it is put together. */
struct record_group {
    size_t first;      /* its first record */
    const char *extra; /* borrowed: the one thing that differs, or NULL */
    json_t *swept;     /* borrowed: of the record that swept most */
};

static json_t *mutable(const json_t *j)
{
    return (json_t *)(uintptr_t)j; /* iterating changes nothing */
}

/* Sorts the settings of one record into those that it swept and those it did
 * not. False when memory is short. */
static bool profile_init(struct profile *p, const struct wr_view_record *r,
                         const struct wr_cases_spec *spec)
{
    char device[WR_VIEW_NAME];
    struct wr_cases c;
    const char *key;
    json_t *value;

    *p = (struct profile){json_object(), json_object(), r->json, SIZE_MAX};
    wr_cases_init(&c, r, 1, spec);
    for (size_t i = 0; i < c.varying_count; i++)
        json_object_set_new(p->swept, c.varying[i], json_true());
    if (c.count)
        json_object_foreach(mutable(c.v[0].settings), key,
                            value) if (!wr_cases_varies(&c, key) &&
                                       !wr_case_is_amount(key))
            json_object_set(p->fixed, key, value);
    wr_view_device(r->json, device, sizeof(device));
    json_object_set_new(p->fixed, DEVICE, json_string(device));
    json_object_set_new(p->fixed, FORMAT,
                        json_string(wr_get_text(r->json, "dataset.format")));
    wr_cases_done(&c);
    return p->fixed && p->swept && !c.failed;
}

static void profile_done(struct profile *p)
{
    json_decref(p->fixed);
    json_decref(p->swept);
}

/* Whether every key of a is in b. */
static bool is_within(json_t *a, json_t *b)
{
    const char *key;
    json_t *value;

    json_object_foreach(a, key,
                        value) if (!json_object_get(b, key)) return false;
    return true;
}

/* Other data, other stages, another accelerator: nothing to compare. */
static bool is_same_kind(const struct profile *a, const struct profile *b)
{
    static const char *const numbers[] = {"dataset.samples", "consumer_ms"};
    json_t *x = json_object_get(a->fixed, "stages");
    json_t *y = json_object_get(b->fixed, "stages");

    for (size_t i = 0; i < WR_ARRAY_LEN(numbers); i++) {
        double u = wr_get_number(a->record, numbers[i]);
        double v = wr_get_number(b->record, numbers[i]);

        if (u != v && !(isnan(u) && isnan(v)))
            return false;
    }
    return x == y || (x && y && json_equal(x, y));
}

/* Adds to *extra the keys of a that differ in b and were swept by none; false
 * when that makes more than one. */
static bool add_differences(const struct profile *a, const struct profile *b,
                            const char **extra)
{
    const char *key;
    json_t *value;

    json_object_foreach(a->fixed, key, value)
    {
        json_t *other = json_object_get(b->fixed, key);

        if (json_object_get(a->swept, key) || json_object_get(b->swept, key) ||
            (other && json_equal(value, other)))
            continue;
        if (*extra && strcmp(*extra, key))
            return false;
        *extra = key;
    }
    return true;
}

static bool belongs(const struct record_group *g, const struct profile *all,
                    const struct profile *p, const char **ret_extra)
{
    const struct profile *first = &all[g->first];
    bool within = is_within(p->swept, g->swept);
    bool around = is_within(g->swept, p->swept);

    *ret_extra = g->extra;
    if (!is_same_kind(first, p) || (!within && !around) ||
        !add_differences(first, p, ret_extra) ||
        !add_differences(p, first, ret_extra))
        return false;
    return (within && around) || !*ret_extra;
}

/* The number of the group of record i, which may be a new one. */
static size_t find_group(struct record_group *groups, size_t *count,
                         struct profile *all, size_t i)
{
    const char *extra;

    for (size_t k = 0; k < *count; k++) {
        if (!belongs(&groups[k], all, &all[i], &extra))
            continue;
        groups[k].extra = extra;
        if (is_within(groups[k].swept, all[i].swept))
            groups[k].swept = all[i].swept;
        return k;
    }
    groups[*count] = (struct record_group){i, NULL, all[i].swept};
    return (*count)++;
}

/* --- names --- */

static void add_name(char *to, size_t cap, const char *key, size_t left)
{
    size_t used = strlen(to);

    snprintf(to + used, cap - used, "%s%s",
             !used       ? ", by "
             : left == 0 ? " and "
                         : ", ",
             key);
    for (char *p = to + used; *p; p++)
        *p = *p == '_' ? ' ' : *p;
}

/* "Reading alone, by device and threads". */
static void name_group(const struct record_group *g,
                       const struct profile *first, char *title, size_t cap)
{
    const char *stages = json_string_value(
        json_object_get(first->fixed, "stages"));
    size_t left = json_object_size(g->swept) + (g->extra != NULL);
    double step = wr_get_number(first->record, "consumer_ms");
    char by[WR_VIEW_NAME / 2] = "";
    const char *key;
    json_t *value;

    if (g->extra)
        add_name(by, sizeof(by), g->extra, --left);
    json_object_foreach(g->swept, key, value)
        add_name(by, sizeof(by), key, --left);
    snprintf(title, cap, "%s%s%s",
             !stages                   ? "Benchmark"
             : !strcmp(stages, "read") ? "Reading alone"
             : !strcmp(stages, "all")  ? "The whole pipeline"
                                       : "Benchmark",
             step > 0 ? " beside an accelerator" : "", by);
}

/* "hdd" instead of "emulated hdd": the section's title says it once. */
static void strip_emulated(struct wr_view_group *e)
{
    static const char word[] = "emulated ";
    size_t len = strlen(word);

    for (size_t i = 0; i < e->count; i++)
        if (strncmp(e->names[i], word, len))
            return;
    for (size_t i = 0; i < e->count; i++)
        memmove(e->names[i], e->names[i] + len, strlen(e->names[i]) - len + 1);
}

/* Several records of one device: "run-a (hdd)". */
static void add_files(struct wr_view_group *e)
{
    for (size_t i = 0; i < e->count; i++) {
        char device[WR_VIEW_NAME / 2];

        snprintf(device, sizeof(device), "%s", e->names[i]);
        snprintf(e->names[i], WR_VIEW_NAME, "%.100s (%s)", e->records[i].label,
                 *device ? device : "?");
    }
}

/* Records are called by what tells them apart; by their files if nothing does, or
 * the settings of their cases do. */
static void label(struct wr_view_group *e, const char *extra, bool repeated)
{
    bool device = extra && !strcmp(extra, DEVICE);
    bool format = extra && !strcmp(extra, FORMAT);

    for (size_t i = 0; i < e->count; i++) {
        e->names[i][0] = '\0';
        if (device)
            wr_view_device(e->records[i].json, e->names[i], WR_VIEW_NAME);
        else if (format)
            snprintf(e->names[i], WR_VIEW_NAME, "%s",
                     wr_get_text(e->records[i].json, "dataset.format"));
    }
    if (e->count < 2 || (repeated && !device))
        return;
    if (device)
        strip_emulated(e);
    if (repeated)
        add_files(e);
    for (size_t i = 0; i < e->count && extra; i++)
        if (device || format)
            e->records[i].label = e->names[i];
        else /* a setting, which is in the names of cases */
            e->records[i].told = true;
}

/* Whether two records have the same value of the setting that tells them
 * apart; then their files must be named. */
static bool repeats(const struct profile *all, size_t n, size_t group,
                    const char *extra)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i && extra; k++) {
            json_t *a = json_object_get(all[i].fixed, extra);
            json_t *b = json_object_get(all[k].fixed, extra);

            if (all[i].group == group && all[k].group == group &&
                (a == b || (a && b && json_equal(a, b))))
                return true;
        }
    return false;
}

static bool fill(struct wr_view_group *e, const struct wr_view_record *r,
                 const struct profile *all, size_t n, size_t group)
{
    e->records = calloc(n, sizeof(*e->records));
    if (!e->records)
        return false;
    for (size_t i = 0; i < n; i++)
        if (all[i].group == group)
            e->records[e->count++] = r[i];
    e->names = calloc(e->count, sizeof(*e->names));
    return e->names;
}

struct wr_view_group *wr_experiments(const struct wr_view_record *r, size_t n,
                                     const struct wr_cases_spec *spec,
                                     size_t *ret_count)
{
    struct profile *all = calloc(n + 1, sizeof(*all));
    struct record_group *groups = calloc(n + 1, sizeof(*groups));
    struct wr_view_group *e = calloc(n + 1, sizeof(*e));
    size_t count = 0, known = 0;
    bool ok = all && groups && e;

    for (; ok && known < n; known++) {
        ok = profile_init(&all[known], &r[known], spec);
        if (ok)
            all[known].group = find_group(groups, &count, all, known);
    }
    for (size_t i = 0; ok && i < count; i++) {
        ok = fill(&e[i], r, all, n, i);
        if (!ok)
            break;
        name_group(&groups[i], &all[groups[i].first], e[i].title,
                   sizeof(e[i].title));
        label(&e[i], groups[i].extra, repeats(all, n, i, groups[i].extra));
    }
    for (size_t i = 0; all && i < known; i++)
        profile_done(&all[i]);
    free(all);
    free(groups);
    *ret_count = count;
    if (ok)
        return e;
    wr_view_groups_free(e, n);
    return NULL;
}
