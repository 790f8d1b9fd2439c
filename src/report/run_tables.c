/* run_tables.c - a run of a workload: its tables and charts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/run_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/pivot.h"
#include "report/points.h"
#include "report/say.h"
#include "result/get.h"
#include "result/run.h"

#define BARS_MAX 64 /* epochs or ranks that are drawn */
#define BINS_MAX 64

/* An AU that misses the target stands out. */
static void au_cell(struct wr_doc_table *t, const struct wr_column *c,
                    const struct wr_row *r)
{
    const struct wr_run_values *v = r->row->values;
    double au = wr_number_at(r->run, c->at), target = v->config.au_target;

    wr_doc_percent(t, 100 * au, 1);
    if (target > 0 && au < target)
        wr_doc_tone(t, WR_DOC_BAD);
}

static void restored_cell(struct wr_doc_table *t, const struct wr_column *c,
                          const struct wr_row *r)
{
    const struct wr_run_restore_values *v = r->run;

    wr_say_rate_cell(t, v->seconds > 0 ? v->bytes / v->seconds : NAN);
}

#define EPOCH(member)                                                          \
    WR_COLUMN(RUN, wr_run_epoch_vals, struct wr_run_epoch_values, member)
#define RANK(member)                                                           \
    WR_COLUMN(RUN, wr_run_rank_vals, struct wr_run_rank_values, member)
#define SAVE(member)                                                           \
    WR_COLUMN(RUN, wr_run_save_vals, struct wr_run_save_values, member)
#define RESTORE(member)                                                        \
    WR_COLUMN(RUN, wr_run_restore_vals, struct wr_run_restore_values, member)
#define TIME .show = WR_SHOW_TIME

static const struct wr_column epoch_columns[] = {
    {.head = "epoch", .side = '>', EPOCH(epoch)},
    {"time", "of the epoch, everything included", '>', EPOCH(seconds), TIME},
    {"AU", "part of the time in which the accelerators computed", '>',
     EPOCH(au), .cell = au_cell},
    {"AU (DLIO)", "by the formula of DLIO, which leaves out some steps", '+',
     EPOCH(au_dlio), .show = WR_SHOW_PERCENT},
    {"samples/s", "of all accelerators", '>', EPOCH(samples_per_s)},
    {"read", "bytes per second that were read, measured", '>',
     EPOCH(bytes_per_s), .show = WR_SHOW_RATE},
    {"waiting", "for batches, mean of the accelerators", '>', EPOCH(wait_s),
     TIME},
    {"evaluating", "time of the evaluation", '>', .if_any = true, EPOCH(eval_s),
     TIME},
    {"saving", "time in which a checkpoint held it up", '>', .if_any = true,
     EPOCH(save_s), TIME},
    {"cached", "part of the data in the page cache before the epoch", '>',
     .if_any = true, EPOCH(resident), .show = WR_SHOW_PERCENT},
    {.head = NULL}};

static const struct wr_column search_columns[] = {
    {"accelerators", "how many were emulated", '>', .only = 0},
    {"AU", "that they reached", '>', .only = 0},
    {"samples/s", "of all of them", '>', .only = 0},
    {"read", "bytes per second", '>', .only = 0},
    {"fed", "whether AU reached the target", '<', .only = 0},
    {.head = NULL}};

static const struct wr_column rank_columns[] = {
    {.head = "rank", .side = '>', RANK(rank)},
    {.head = "host", .side = '<', RANK(host)},
    {"accelerators", "that it emulated", '>', RANK(accelerators)},
    {"AU", "of these", '>', RANK(au), .cell = au_cell},
    {"waiting", "for batches", '>', RANK(wait_s), TIME},
    {"for others", "waiting for slower ranks", '>', RANK(barrier_s), TIME},
    {"read", "bytes in all", '>', RANK(bytes), .show = WR_SHOW_BYTES},
    {.head = NULL}};

static const struct wr_column save_columns[] = {
    {"step", "after which it was saved", '>', SAVE(step)},
    {"began", "seconds since the run began", '>', SAVE(at_s), TIME},
    {"size", "of all ranks", '>', SAVE(bytes), .show = WR_SHOW_BYTES},
    {"stall", "how long the accelerators stood still", '>', SAVE(stall_s),
     TIME},
    {"on fast", "from the call until it was on the fast tier, or the only one",
     '>', SAVE(fast_s), TIME},
    {"on slow", "and on the slow tier", '>', .if_any = true, SAVE(slow_s),
     TIME},
    {.head = NULL}};

static const struct wr_column restore_columns[] = {
    {.head = "restored step", .side = '>', RESTORE(step)},
    {"time", "until all ranks had it", '>', RESTORE(seconds), TIME},
    {"size", "of all ranks", '>', RESTORE(bytes), .show = WR_SHOW_BYTES},
    {"rate", "bytes per second", '>', .cell = restored_cell},
    {.head = NULL}};

const struct wr_columns wr_run_columns[] = {
    {"epochs", epoch_columns},     {"search", search_columns},
    {"ranks", rank_columns},       {"checkpoints", save_columns},
    {"restores", restore_columns}, {NULL, NULL}};

const struct wr_table_rule wr_run_epoch_table = {
    "Epochs", "epochs", epoch_columns, offsetof(struct wr_run_values, epochs),
    .least = 1};

/* Of more than one. */
const struct wr_table_rule wr_run_rank_table = {
    "Ranks", "ranks", rank_columns, offsetof(struct wr_run_values, ranks),
    .least = 2};

const struct wr_table_rule wr_run_save_table = {
    "Saves", "saves", save_columns, offsetof(struct wr_run_values, saves),
    .least = 1};

const struct wr_table_rule wr_run_restore_table = {
    "Restores", "restores", restore_columns,
    offsetof(struct wr_run_values, restores), .least = 1};

#define POINTS_MAX 1000 /* of a search that are shown */

/* The points of a search by their number of accelerators, into ret; how many,
 * `cap` at most. A search does not try them in that order. */
static size_t search_points(const json_t *j, const json_t **ret, size_t cap)
{
    const json_t *list = wr_get_list(j, "search.points");
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list) && n < cap; i++) {
        const json_t *o = json_array_get(list, i);
        double at = wr_get_number(o, "accelerators");
        size_t k = n;

        if (isnan(at))
            continue;
        for (; k && wr_get_number(ret[k - 1], "accelerators") > at; k--)
            ret[k] = ret[k - 1];
        ret[k] = o;
        n++;
    }
    return n;
}

void wr_run_search_table(struct wr_scope *v)
{
    const json_t *j = v->r->json, *points[POINTS_MAX];
    size_t n = search_points(j, points, POINTS_MAX);
    double target = wr_get_number(j, "search.target");
    struct wr_doc_table *t;

    if (!n)
        return;
    t = wr_doc_table_of(v->s, v->brief ? "" : "Search", search_columns, 0);
    for (size_t i = 0; i < n; i++) {
        const json_t *o = points[i], *meets = wr_get(o, "meets");
        double au = wr_get_number(o, "au");
        bool fed = json_is_boolean(meets) ? json_is_true(meets) : au >= target;

        wr_doc_number(t, wr_get_number(o, "accelerators"), 0);
        wr_doc_percent(t, 100 * au, 1);
        wr_doc_number(t, wr_get_number(o, "samples_per_s"), 1);
        wr_say_rate_cell(t, wr_get_number(o, "bytes_per_s"));
        wr_doc_cell(t, "%s", fed ? "yes" : "no");
        wr_doc_tone(t, fed ? WR_DOC_GOOD : WR_DOC_BAD);
    }
}

/* --- beside what others have reported --- */

/* A step, computing included, as the mean of the epochs. */
static double step_s(const json_t *j)
{
    const json_t *list = wr_get_list(j, "epochs");
    double steps = wr_get_number(j, "config.steps"), sum = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        sum += wr_get_number(json_array_get(list, i), "seconds");
    return sum / (double)json_array_size(list) / steps;
}

static void percent_row(struct wr_doc_table *t, double theirs, double ours)
{
    wr_doc_percent(t, theirs, 0);
    wr_doc_percent(t, ours, 0);
}

static void seed_row(struct wr_doc_table *t, const char *key, double theirs,
                     double ours)
{
    char a[32] = "-", b[32] = "-";

    if (strstr(key, "percent")) {
        percent_row(t, theirs, ours);
    } else if (!strcmp(key, "request_bytes")) {
        if (ours >= 0)
            wr_format_binary(b, sizeof(b), ours);
        wr_doc_shown(t, theirs, "%s", wr_format_binary(a, sizeof(a), theirs));
        wr_doc_shown(t, ours, "%s", b);
    } else if (!strcmp(key, "bytes_per_s")) {
        wr_say_rate_cell(t, theirs);
        wr_say_rate_cell(t, ours);
    } else if (!strcmp(key, "step_s")) {
        wr_say_time_cell(t, theirs);
        wr_say_time_cell(t, ours);
    } else {
        wr_doc_number(t, theirs, 0);
        wr_doc_number(t, ours, 0);
    }
}

void wr_run_seed_table(struct wr_scope *v)
{
    const json_t *j = v->r->json;
    const json_t *seed = wr_get_object(j, "seed");
    const json_t *reads = wr_get_object(j, "reads");
    const struct {
        const char *key, *name;
        double ours;
    } rows[] = {
        {"io_percent", "time with I/O", 100 * wr_get_number(reads, "io_share")},
        {"request_bytes", "usual request", wr_get_number(reads, "usual_bytes")},
        {"sequential_percent", "sequential",
         100 * wr_get_number(reads, "sequential")},
        {"consecutive_percent", "consecutive",
         100 * wr_get_number(reads, "consecutive")},
        {"bytes_per_s", "rate of a request",
         1e6 * wr_get_number(reads, "mean_bytes") /
             wr_get_number(reads, "p50_us")},
        {"step_s", "time of a step", step_s(j)},
        {"ranks", "ranks", wr_get_number(j, "config.ranks")},
    };
    const char *source = wr_get_text(seed, "source");
    struct wr_doc_table *t = NULL;
    char title[WR_VIEW_NAME];

    snprintf(title, sizeof(title), "Reported%s%s%s, and measured here",
             *source ? " (" : "", source, *source ? ")" : "");
    for (size_t i = 0; i < WR_ARRAY_LEN(rows); i++) {
        double theirs = wr_get_number(seed, rows[i].key);

        if (!isfinite(theirs))
            continue;
        if (!t)
            t = wr_doc_table(v->s, title, "<|>reported|>measured");
        wr_doc_cell(t, "%s", rows[i].name);
        seed_row(t, rows[i].key, theirs, rows[i].ours);
    }
}

/* --- charts --- */

const struct wr_chart_series wr_run_parts[] = {
    {"loss.compute", "computing", 0.01},
    {"loss.read", "waiting for input", 0.01},
    {"loss.barrier", "waiting for the slowest accelerator", 0.01},
    {"loss.save", "saving checkpoints", 0.01},
    {"loss.eval", "evaluating", 0.01},
    {"loss.emulator", "the emulator itself", 0.01},
    {NULL}};

const struct wr_chart_rule wr_run_loss_chart = {
    .is = {WR_DOC_STACKED, "Where the time went", "", "% of the time",
           "Everything but computing is lost.", .most = 100},
    .from = WR_FROM_CASE,
    .of = &wr_run_vals,
    .series = wr_run_parts,
    .if_any = true,
    .label = wr_chart_run};

const struct wr_chart_rule wr_run_au_chart = {
    .is = {WR_DOC_BARS, "Utilization of each epoch", "epoch", "AU (%)",
           "AU: the part of the time in which the accelerators "
           "computed.",
           .most = 100},
    .from = WR_FROM_RUN,
    .of = &wr_run_epoch_vals,
    .list = offsetof(struct wr_run_values, epochs),
    .most = BARS_MAX,
    .series = WR_SERIES({"au", "AU", 0.01}),
    .label = wr_chart_place,
    .by = wr_chart_records,
    .target = "config.au_target"};

const struct wr_chart_rule wr_run_step_chart = {
    .is = {WR_DOC_POINTS, "Time of each step, and waiting in it", "seconds",
           "milliseconds",
           "Waiting is time in which an accelerator had no data."},
    .columns = "series",
    .x = "t",
    .series = WR_SERIES({"wait_ms", "waiting for the batch", 1},
                        {"step_ms", "the whole step", 1})};

static const struct wr_chart_rule flow_chart = {
    .is = {WR_DOC_AREA, "What was read over time", "seconds", "MB/s",
           "Demand: what the accelerators take if they never wait."},
    .columns = "series",
    .x = "t",
    .series = WR_SERIES({"mb_per_s", "read", 1})};

static const char *rank_label(const struct wr_row *r, char *buf, size_t cap)
{
    const struct wr_run_rank_values *rank = r->run;
    const char *host = wr_text_at(&rank->host, 0);

    snprintf(buf, cap, "%.0f%s%s%s", fmax(0, rank->rank), *host ? " (" : "",
             host, *host ? ")" : "");
    return buf;
}

const struct wr_chart_rule wr_run_rank_chart = {
    .is = {WR_DOC_STACKED, "Time that each rank lost", "rank", "seconds",
           "A rank that waits for its batches and not for others is "
           "the one that they wait for."},
    .from = WR_FROM_RUN,
    .of = &wr_run_rank_vals,
    .list = offsetof(struct wr_run_values, ranks),
    .least = 2,
    .most = BARS_MAX,
    .series = WR_SERIES({"wait_s", "waiting for its batches", 1},
                        {"barrier_s", "waiting for slower ranks", 1}),
    .label = rank_label};

/* What is read, beside what is taken. */
void wr_run_flow_chart(struct wr_scope *v)
{
    const struct wr_run_values *run = wr_run_values_of(v->r);
    const json_t *t = wr_get_list(run->series, "t");
    double demand = run->demand.bytes_per_s * run->config.accelerators / 1e6;
    struct wr_doc_chart *c = wr_chart_draw(v, &flow_chart);
    size_t rows = json_array_size(t);
    struct wr_doc_series *line;

    if (!c || !(demand > 0) || rows < 2)
        return;
    line = wr_doc_series(c, "demand");
    wr_doc_series_is(line, WR_DOC_REFERENCE);
    wr_doc_point(line, wr_get_at(t, 0), demand);
    wr_doc_point(line, wr_get_at(t, rows - 1), demand);
}

/* The target at both ends of the axis. */
static void target_line(struct wr_doc_chart *c, double target, double from,
                        double to)
{
    struct wr_doc_series *line;

    if (!(target > 0) || !(from <= to))
        return;
    line = wr_doc_series(c, "target");
    wr_doc_series_is(line, WR_DOC_REFERENCE);
    wr_doc_point(line, from, 100 * target);
    if (to > from)
        wr_doc_point(line, to, 100 * target);
}

void wr_run_search_chart(struct wr_scope *v)
{
    const struct wr_view_record *r = v->r;
    size_t n = v->n;
    const struct wr_doc_chart_spec spec = {
        WR_DOC_LINES,
        "Utilization by number of accelerators",
        "accelerators",
        "AU (%)",
        "As many can be fed as stay above the target.",
        .most = 100};
    double from = INFINITY, to = -INFINITY, target = NAN;
    struct wr_doc_chart *c = NULL;

    for (size_t i = 0; i < n; i++) {
        const json_t *points[POINTS_MAX];
        size_t count = search_points(r[i].json, points, POINTS_MAX);
        struct wr_doc_series *line;

        if (!count)
            continue;
        if (!c)
            c = wr_doc_chart(v->s, &spec);
        line = wr_doc_series(c, n > 1 ? r[i].label : "AU");
        for (size_t k = 0; k < count; k++) {
            double x = wr_get_number(points[k], "accelerators");

            wr_doc_point(line, x, 100 * wr_get_number(points[k], "au"));
            from = fmin(from, x);
            to = fmax(to, x);
        }
        target = wr_get_number(r[i].json, "search.target");
    }
    if (c)
        target_line(c, target, from, to);
}

/* --- reads --- */

/* Nanoseconds, as the record has them. */
static char *latency_text(char *buf, size_t cap, double ns)
{
    if (ns < 1e6)
        snprintf(buf, cap, "%.3g us", ns / 1e3);
    else
        wr_say_time(ns / 1e9, buf, cap);
    return buf;
}

static void add_bins(struct wr_pivot *p, const char *series, const json_t *list,
                     char *(*text)(char *, size_t, double))
{
    double total = 0;

    for (size_t i = 0; i < json_array_size(list) && i < BINS_MAX; i++)
        total += fmax(0, wr_get_number(json_array_get(list, i), "count"));
    for (size_t i = 0; i < json_array_size(list) && i < BINS_MAX; i++) {
        const json_t *bin = json_array_get(list, i);
        double from = wr_get_number(bin, "from"), to = wr_get_number(bin, "to");
        double count = wr_get_number(bin, "count");
        char label[96], a[32], b[32];

        if (!(from >= 0) || !(to >= from) || !(count >= 0) || !(total > 0))
            continue;
        snprintf(label, sizeof(label), "%s to %s", text(a, sizeof(a), from),
                 text(b, sizeof(b), to));
        wr_pivot_add(p, series, label, from, 100 * count / total);
    }
}

void wr_run_read_charts(struct wr_scope *v)
{
    const struct wr_view_record *r = v->r;
    size_t n = v->n;
    static const struct {
        const char *path, *title, *x;
        char *(*text)(char *, size_t, double);
    } charts[] = {{"reads.latencies", "How long reads took", "time of a read",
                   latency_text},
                  {"reads.sizes", "How large reads were", "bytes of a read",
                   wr_format_binary}};

    for (size_t k = 0; k < WR_ARRAY_LEN(charts); k++) {
        const struct wr_doc_chart_spec spec = {.kind = WR_DOC_BARS,
                                               .title = charts[k].title,
                                               .x = charts[k].x,
                                               .y = "% of all reads"};
        struct wr_pivot p = {0};

        for (size_t i = 0; i < n; i++)
            add_bins(&p, n > 1 ? r[i].label : "reads",
                     wr_get_list(r[i].json, charts[k].path), charts[k].text);
        wr_pivot_draw(&p, v->d, v->s, &spec);
    }
}
