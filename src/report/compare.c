/* compare.c - two records of the same command against each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/named.h"
#include "report/pivot.h"
#include "report/view.h"
#include "result/bench.h"
#include "result/ckpt.h"
#include "result/get.h"
#include "result/probe.h"
#include "result/run.h"
#include "result/stats.h"

#define SPREAD_LOW  0.05
#define SPREAD_HIGH 0.95

/* All ratios of a run of b to a run of a; their central part. */
static void spread(const double *a, size_t n, const double *b, size_t m,
                   struct wr_compared *ret)
{
    double ratios[WR_STATS_RUNS_MAX * WR_STATS_RUNS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            ratios[count++] = b[k] / a[i];
    count = wr_stats_sort(ratios, count);
    ret->low = ret->high = NAN;
    if (count < 2) /* one of each: no spread */
        return;
    ret->low = wr_stats_quantile(ratios, count, SPREAD_LOW);
    ret->high = wr_stats_quantile(ratios, count, SPREAD_HIGH);
}

/* Few runs: the ranges lie apart by more than the wider of them is wide. */
static bool ranges_apart(const double *a, size_t n, const double *b, size_t m)
{
    double wider = fmax(a[n - 1] - a[0], b[m - 1] - b[0]);

    return b[0] - a[n - 1] > wider || a[0] - b[m - 1] > wider;
}

/* a and b sorted. */
static enum wr_verdict judge(const double *a, size_t n, const double *b,
                             size_t m, struct wr_compared *c)
{
    bool apart;

    if (n < 2 || m < 2)
        return WR_VERDICT_FEW;
    if (n >= WR_COMPARE_RUNS && m >= WR_COMPARE_RUNS) {
        c->p = wr_stats_rank_test(a, n, b, m);
        apart = c->p <= WR_COMPARE_LEVEL;
    } else {
        apart = ranges_apart(a, n, b, m);
    }
    if (!apart || !(fabs(c->b - c->a) >= WR_COMPARE_CHANGE * fabs(c->a)))
        return WR_VERDICT_NOISE;
    return c->b > c->a ? WR_VERDICT_HIGHER : WR_VERDICT_LOWER;
}

void wr_compare_runs(const double *a, size_t n, const double *b, size_t m,
                     struct wr_compared *ret)
{
    double x[WR_STATS_RUNS_MAX], y[WR_STATS_RUNS_MAX];

    n = WR_MIN(n, (size_t)WR_STATS_RUNS_MAX);
    m = WR_MIN(m, (size_t)WR_STATS_RUNS_MAX);
    memcpy(x, a, n * sizeof(*x));
    memcpy(y, b, m * sizeof(*y));
    n = wr_stats_sort(x, n);
    m = wr_stats_sort(y, m);
    *ret = (struct wr_compared){.a = wr_stats_quantile(x, n, 0.5),
                                .b = wr_stats_quantile(y, m, 0.5),
                                .p = NAN};
    ret->ratio = ret->b / ret->a;
    spread(x, n, y, m, ret);
    ret->verdict = judge(x, n, y, m, ret);
}

#define ROWS_MAX     2000 /* of each record */
#define NAMED_MAX    20   /* rows without a partner that are named */
#define SETTINGS_MAX 64

/* How records of one command are compared: by the rows of their runs' values that
 * say so. */
struct kind {
    const char *command;
    const struct wr_cases_spec *spec;
    const char *name; /* of a row; NULL: its settings */
};

static const struct kind kinds[] = {
    {"bench", &wr_bench_spec, NULL},
    {"probe", &wr_probe_spec, "name"},
    {"ckpt", &wr_ckpt_spec, "name"},
    {"run", &wr_run_spec, NULL}, /* each epoch is one of its runs */
};

/* One of the numbers that are compared. */
struct metric {
    const struct wr_val *v;
    size_t at;
};

/* What it is called when B's is more, and less. */
static const struct {
    const char *higher, *lower;
    bool rate; /* more is better, and it may fail a check */
} words[] = {[WR_IS_RATE] = {"faster", "slower", true},
             [WR_IS_TIME] = {"slower", "faster", false},
             [WR_IS_COST] = {"dearer", "cheaper", false},
             [WR_IS_SHARE] = {"higher", "lower", true}};

/* What should be the same for a fair comparison. */
static const struct {
    const char *path, *name;
} conditions[] = {
    {"weir", "weir"},
    {"host.name", "host"},
    {"host.kernel", "kernel"},
    {"host.cpu", "CPU"},
    {"host.cores", "cores"},
    {"host.memory_bytes", "memory"},
    {"host.file_system.type", "file system"},
    {"host.file_system.source", "source of the file system"},
    {"host.file_system.device", "device"},
    {"host.file_system.model", "model of the device"},
    {"device_profile", "device profile"},
    {"path", "path"},
    {"file", "file"},
    {"file_bytes", "size of the file"},
    {"small_files", "small files"},
    {"seconds", "seconds of a test"},
    {"engine", "I/O engine"},
    {"sizes.name", "mix of sizes"},
    {"dataset.url", "data set"},
    {"dataset.format", "format"},
    {"dataset.samples", "samples"},
    {"dataset.bytes", "bytes of the data set"},
    {"consumer_ms", "consumer"},
    {"accelerator.name", "accelerator"},
};

/* Everything about one comparison. */
struct comparison {
    const struct kind *kind;
    struct wr_doc *d;
    struct wr_doc_section *s;
    struct wr_cases both, side[2];   /* all rows; those of A, of B */
    const char *apart[SETTINGS_MAX]; /* settings that are one in all of A,
                                        another in all of B */
    size_t apart_count;
    char **keys[2]; /* owned: what tells a row of a side */
    struct wr_comparison *ret;
};

static const struct kind *kind_of(const char *command)
{
    return wr_named_find(WR_NAMED(kinds), command);
}

bool wr_compare_knows(const char *command)
{
    return kind_of(command) != NULL;
}

static bool is_apart(const struct comparison *j, const char *key)
{
    return wr_named_find(j->apart, j->apart_count, sizeof(*j->apart), key);
}

/* Settings that differ between the records but not inside them: they are told
 * once, and rows are matched without them. */
static void find_apart(struct comparison *j)
{
    for (size_t i = 0; i < j->both.varying_count; i++) {
        const char *key = j->both.varying[i];

        if (j->side[0].count && j->side[1].count &&
            !wr_cases_varies(&j->side[0], key) &&
            !wr_cases_varies(&j->side[1], key))
            j->apart[j->apart_count++] = key;
    }
}

static void add_difference(struct comparison *j, struct wr_doc_table **t,
                           char *names, const char *name,
                           const char *const shown[2])
{
    size_t used = strlen(names);

    if (!*t)
        *t = wr_doc_table(j->s, "What is not the same", "<|<A|<B");
    snprintf(names + used, WR_VIEW_NAME - used, "%s%s", used ? ", " : "", name);
    wr_doc_cell(*t, "%s", name);
    wr_doc_cell(*t, "%s", shown[0]);
    wr_doc_cell(*t, "%s", shown[1]);
}

static void list_differences(struct comparison *j,
                             const struct wr_view_record r[2])
{
    char names[WR_VIEW_NAME] = "", a[WR_VIEW_NAME], b[WR_VIEW_NAME];
    struct wr_doc_table *t = NULL;

    for (size_t i = 0; i < WR_ARRAY_LEN(conditions); i++) {
        const json_t *x = wr_get(r[0].json, conditions[i].path);
        const json_t *y = wr_get(r[1].json, conditions[i].path);

        if ((!x && !y) || (x && y && json_equal(x, y)))
            continue;
        add_difference(j, &t, names, conditions[i].name,
                       (const char *const[2]){wr_get_shown(x, a, sizeof(a)),
                                              wr_get_shown(y, b, sizeof(b))});
    }
    for (size_t i = 0; i < j->apart_count; i++)
        add_difference(
            j, &t, names, j->apart[i],
            (const char *const[2]){
                wr_get_shown(
                    json_object_get(j->side[0].v[0].settings, j->apart[i]), a,
                    sizeof(a)),
                wr_get_shown(
                    json_object_get(j->side[1].v[0].settings, j->apart[i]), b,
                    sizeof(b))});
    if (t)
        wr_doc_note(j->s, true, "Not the same: %s.", names);
    else
        wr_doc_note(j->s, false,
                    "Machine, data and settings are the same, as far as the "
                    "records tell.");
}

/* The settings of a row but for those that are told once, as one text. */
static char *row_key(const struct comparison *j, const struct wr_case *row)
{
    json_t *o = json_object(), *value;
    const char *key;
    char *text;

    if (j->kind->spec->keys) {
        for (const char *const *k = j->kind->spec->keys; *k; k++)
            if (!is_apart(j, *k))
                json_object_set(o, *k, json_object_get(row->settings, *k));
    } else {
        /* Iterating is not const in jansson, but changes nothing. */
        json_t *settings = (json_t *)(uintptr_t)row->settings;

        json_object_foreach(settings, key, value) if (!is_apart(j, key))
            json_object_set(o, key, value);
    }
    text = json_dumps(o, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(o);
    return text;
}

static bool make_keys(struct comparison *j)
{
    for (int side = 0; side < 2; side++) {
        struct wr_cases *c = &j->side[side];

        if (c->count > ROWS_MAX) {
            wr_doc_note(j->s, true,
                        "Only the first %d of %zu rows of %c are "
                        "compared.",
                        ROWS_MAX, c->count + c->left_out, 'A' + side);
            c->count = ROWS_MAX;
        }
        j->keys[side] = calloc(WR_MAX(c->count, (size_t)1), sizeof(char *));
        for (size_t k = 0; j->keys[side] && k < c->count; k++) {
            j->keys[side][k] = row_key(j, &c->v[k]);
            if (!j->keys[side][k])
                return false;
        }
        if (!j->keys[side])
            return false;
    }
    return true;
}

/* What a row is called: its name, or the settings that differ inside a
 * record. */
static char *row_name(const struct comparison *j, const struct wr_case *row,
                      char *buf)
{
    *buf = '\0';
    if (j->kind->name)
        snprintf(buf, WR_VIEW_NAME, "%s",
                 wr_get_text(row->json, j->kind->name));
    for (size_t i = 0; !j->kind->name && i < j->both.varying_count; i++)
        if (!is_apart(j, j->both.varying[i]))
            wr_case_setting(row, j->both.varying[i], buf, WR_VIEW_NAME);
    if (!*buf)
        snprintf(buf, WR_VIEW_NAME, "all");
    return buf;
}

static void count_rate(struct wr_comparison *ret, const struct wr_compared *c,
                       const char *name)
{
    ret->rates++;
    ret->faster += c->verdict == WR_VERDICT_HIGHER;
    ret->slower += c->verdict == WR_VERDICT_LOWER;
    if (c->verdict == WR_VERDICT_LOWER && !(ret->worst <= c->ratio)) {
        ret->worst = c->ratio;
        snprintf(ret->worst_name, sizeof(ret->worst_name), "%s", name);
    }
}

static void verdict_cell(struct wr_doc_table *t, const struct metric *m,
                         enum wr_verdict verdict)
{
    bool higher = verdict == WR_VERDICT_HIGHER;

    if (verdict == WR_VERDICT_NOISE || verdict == WR_VERDICT_FEW) {
        wr_doc_cell(t, "%s",
                    verdict == WR_VERDICT_NOISE ? "inside the noise"
                                                : "too few runs");
        return;
    }
    wr_doc_cell(t, "%s",
                higher ? words[m->v->better].higher
                       : words[m->v->better].lower);
    wr_doc_tone(t,
                words[m->v->better].rate == higher ? WR_DOC_GOOD : WR_DOC_BAD);
}

/* One metric of two rows that belong together: a line of the table, or without
 * one a bar of the chart. */
static void compare_metric(struct comparison *j, struct wr_doc_table *t,
                           const struct metric *m,
                           const struct wr_case *const row[2],
                           struct wr_pivot *p)
{
    double a[WR_CASE_RUNS_MAX], b[WR_CASE_RUNS_MAX];
    size_t n = wr_case_numbers(row[0], m->at, a);
    size_t k = wr_case_numbers(row[1], m->at, b);
    char name[WR_VIEW_NAME];
    struct wr_compared c;

    if (!n || !k)
        return;
    wr_compare_runs(a, n, b, k, &c);
    row_name(j, row[0], name);
    wr_doc_cell(t, "%s", name);
    wr_doc_cell(t, "%s", m->v->title ? m->v->title : m->v->head);
    wr_doc_number(t, c.ratio, 3);
    wr_doc_number(t, c.low, 3);
    wr_doc_number(t, c.high, 3);
    verdict_cell(t, m, c.verdict);
    wr_doc_number(t, c.a, m->v->digits);
    wr_doc_number(t, c.b, m->v->digits);
    wr_doc_cell(t, "%zu, %zu", WR_MIN(n, (size_t)WR_STATS_RUNS_MAX),
                WR_MIN(k, (size_t)WR_STATS_RUNS_MAX));
    wr_doc_number(t, c.p, 3);
    if (!words[m->v->better].rate || t) /* rates are looked at once */
        return;
    wr_pivot_add(p, "B / A", name, NAN, c.ratio);
    count_rate(j->ret, &c, name);
}

/* Number of the row of B that belongs to row k of A and is not taken yet. */
static size_t partner(const struct comparison *j, size_t k, const bool *taken)
{
    for (size_t i = 0; i < j->side[1].count; i++)
        if (!taken[i] && !strcmp(j->keys[0][k], j->keys[1][i]))
            return i;
    return SIZE_MAX;
}

/* The rows of a side that have no partner, by name. */
static void name_unmatched(const struct comparison *j, int side,
                           const bool *taken)
{
    char names[8 * WR_VIEW_NAME] = "", name[WR_VIEW_NAME];
    size_t left = 0;

    for (size_t k = 0; k < j->side[side].count; k++) {
        size_t used = strlen(names);

        if (taken[k] || left++ >= NAMED_MAX)
            continue;
        snprintf(names + used, sizeof(names) - used, "%s%s", used ? "; " : "",
                 row_name(j, &j->side[side].v[k], name));
    }
    if (left > NAMED_MAX)
        wr_doc_note(j->s, false, "Only in %c: %s; and %zu more.", 'A' + side,
                    names, left - NAMED_MAX);
    else if (left)
        wr_doc_note(j->s, false, "Only in %c: %s.", 'A' + side, names);
}

/* Every row of A with its partner in B. `taken` marks those that have one. */
static void walk(struct comparison *j, struct wr_doc_table *t,
                 struct wr_pivot *p, bool *const taken[2])
{
    const struct wr_vals *of_run = j->kind->spec->of_run;
    struct metric metric;

    memset(taken[1], 0, ROWS_MAX);
    for (size_t k = 0; k < j->side[0].count; k++) {
        size_t i = partner(j, k, taken[1]);

        taken[0][k] = i != SIZE_MAX;
        if (i == SIZE_MAX)
            continue;
        taken[1][i] = true;
        for (unsigned m = 1;
             (metric.v = wr_vals_compared(of_run, m, &metric.at)); m++)
            compare_metric(j, t, &metric,
                           (const struct wr_case *const[2]){&j->side[0].v[k],
                                                            &j->side[1].v[i]},
                           p);
    }
}

const struct wr_column wr_compare_columns[] = {
    {"what", "case or test, as far as it differs from others", '<', .only = 0},
    {"metric", "which number of it", '<', .only = 0},
    {"B/A", "ratio of the medians", '>', .only = 0},
    {"from", "lower end of the middle 90 % of the ratios of single runs", '>',
     .only = 0},
    {"to", "upper end of them", '>', .only = 0},
    {.head = "verdict", .side = '<'},
    {"A", "median of the first record", '>', .only = 0},
    {"B", "median of the second record", '>', .only = 0},
    {"runs", "counted runs of each", '>', .only = 0},
    {"p", "of the rank test: how often chance alone does this", '>', .only = 0},
    {.head = NULL}};

static void compare_rows(struct comparison *j)
{
    const struct wr_doc_chart_spec spec = {
        WR_DOC_BARS, "B against A", j->kind->name ? "test" : "case", "B / A",
        .note =
            "Above 1: B is faster. The table says which are more than noise."};
    bool *const taken[2] = {calloc(ROWS_MAX, 1), calloc(ROWS_MAX, 1)};
    struct wr_pivot p = {0};
    struct wr_doc_table *t;

    if (!taken[0] || !taken[1] || !make_keys(j)) {
        wr_doc_fail(j->d);
        goto out;
    }
    walk(j, NULL, &p, taken);
    name_unmatched(j, 0, taken[0]);
    name_unmatched(j, 1, taken[1]);
    wr_pivot_draw(&p, j->d, j->s, &spec);
    t = wr_doc_table_of(j->s, "B against A", wr_compare_columns, 0);
    if (t)
        walk(j, t, NULL, taken);
out:
    free(taken[0]);
    free(taken[1]);
}

/* The second is taken for what came of a change: who has them the wrong way
 * round reads every ratio upside down. Times of records (UTC) sort as texts. */
static void note_order(struct comparison *j, const struct wr_view_record r[2])
{
    const char *a = wr_get_text(r[0].json, "time");
    const char *b = wr_get_text(r[1].json, "time");

    if (*a && *b && strcmp(b, a) < 0)
        wr_doc_note(j->s, true,
                    "B is older than A: the ratios show the change backwards. "
                    "'weir report %s %s' puts them in order.",
                    r[1].path, r[0].path);
}

static void note_starved(struct comparison *j, const struct wr_view_record r[2])
{
    for (int side = 0; side < 2; side++)
        if (wr_view_was_starved(r[side].json))
            wr_doc_note(j->s, true,
                        "%c was starved: others had cores that it could have "
                        "used (see below). What differs may be their doing.",
                        'A' + side);
}

static void sum_up(const struct comparison *j)
{
    const struct wr_comparison *c = j->ret;

    if (!c->rates) {
        wr_doc_note(j->s, true, "Nothing was measured in both.");
        return;
    }
    wr_doc_summary(j->d,
                   "Of %zu rates B is faster in %zu, slower in %zu; %zu are "
                   "inside the noise or have too few runs.",
                   c->rates, c->faster, c->slower,
                   c->rates - c->faster - c->slower);
    wr_doc_headline(j->d, "rates of B are faster", "%zu of %zu", c->faster,
                    c->rates);
    wr_doc_headline(j->d, "rates of B are slower", "%zu of %zu", c->slower,
                    c->rates);
    wr_doc_note(
        j->s, false,
        "B/A is the ratio of the medians; from-to holds 90 %% of the ratios of "
        "one run of each. More than noise: p <= %g in a rank test (%d runs of "
        "each at least); with fewer runs, ranges that lie apart by more than "
        "the wider of them, which chance can also bring about. Less than "
        "%g %% is noise in any case.",
        WR_COMPARE_LEVEL, WR_COMPARE_RUNS, 100 * WR_COMPARE_CHANGE);
}

void wr_compare(struct wr_doc *d, const struct wr_view_record r[2],
                struct wr_comparison *ret)
{
    struct comparison j = {
        .kind = kind_of(wr_get_text(r[0].json, "command")), .d = d, .ret = ret};

    *ret = (struct wr_comparison){.worst = NAN};
    if (!j.kind)
        return;
    j.s = wr_view_section(d, "Comparison", r, 2);
    wr_doc_fact(j.s, "A", "%s (%s)", r[0].path, wr_get_text(r[0].json, "time"));
    wr_doc_fact(j.s, "B", "%s (%s)", r[1].path, wr_get_text(r[1].json, "time"));
    note_order(&j, r);
    note_starved(&j, r);
    wr_cases_init(&j.both, r, 2, j.kind->spec);
    wr_cases_init(&j.side[0], r, 1, j.kind->spec);
    wr_cases_init(&j.side[1], r + 1, 1, j.kind->spec);
    if (j.both.failed || j.side[0].failed || j.side[1].failed)
        wr_doc_fail(d);
    find_apart(&j);
    list_differences(&j, r);
    compare_rows(&j);
    sum_up(&j);
    for (int side = 0; side < 2; side++) {
        for (size_t k = 0; j.keys[side] && k < j.side[side].count; k++)
            free(j.keys[side][k]);
        free(j.keys[side]);
        wr_cases_done(&j.side[side]);
    }
    wr_cases_done(&j.both);
}
