/* run_tables.c - a run of a workload: its tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/run_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "record/view_say.h"
#include "result/get.h"
#include "result/run.h"

enum { EVALUATED = 1, SAVED = 2, CACHED = 4, SLOW = 8 };

static void put_size(struct wr_doc_table *t, double bytes)
{
    char text[32] = "-";

    if (bytes >= 0)
        wr_format_bytes(text, sizeof(text), bytes);
    wr_doc_shown(t, bytes >= 0 ? bytes : NAN, "%s", text);
}

static void size_cell(struct wr_doc_table *t, const struct wr_column *c,
                      const struct wr_row *r)
{
    put_size(t, wr_number_at(r->run, c->at));
}

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
    {.head = "time",
     .help = "of the epoch, everything included",
     .side = '>',
     EPOCH(seconds),
     TIME},
    {.head = "AU",
     .help = "part of the time in which the accelerators computed",
     .side = '>',
     EPOCH(au),
     .cell = au_cell},
    {.head = "AU (DLIO)",
     .help = "by the formula of DLIO, which leaves out some steps",
     .side = '+',
     EPOCH(au_dlio),
     .show = WR_SHOW_PERCENT},
    {.head = "samples/s",
     .help = "of all accelerators",
     .side = '>',
     EPOCH(samples_per_s)},
    {.head = "read",
     .help = "bytes per second that were read, measured",
     .side = '>',
     EPOCH(bytes_per_s),
     .show = WR_SHOW_RATE},
    {.head = "waiting",
     .help = "for batches, mean of the accelerators",
     .side = '>',
     EPOCH(wait_s),
     TIME},
    {.head = "evaluating",
     .help = "time of the evaluation",
     .side = '>',
     .only = EVALUATED,
     .if_any = true,
     EPOCH(eval_s),
     TIME},
    {.head = "saving",
     .help = "time in which a checkpoint held it up",
     .side = '>',
     .only = SAVED,
     .if_any = true,
     EPOCH(save_s),
     TIME},
    {.head = "cached",
     .help = "part of the data in the page cache before the epoch",
     .side = '>',
     .only = CACHED,
     .if_any = true,
     EPOCH(resident),
     .show = WR_SHOW_PERCENT},
    {.head = NULL}};

static const struct wr_column search_columns[] = {
    {.head = "accelerators", .help = "how many were emulated", .side = '>'},
    {.head = "AU", .help = "that they reached", .side = '>'},
    {.head = "samples/s", .help = "of all of them", .side = '>'},
    {.head = "read", .help = "bytes per second", .side = '>'},
    {.head = "fed", .help = "whether AU reached the target", .side = '<'},
    {.head = NULL}};

static const struct wr_column rank_columns[] = {
    {.head = "rank", .side = '>', RANK(rank)},
    {.head = "host", .side = '<', RANK(host)},
    {.head = "accelerators",
     .help = "that it emulated",
     .side = '>',
     RANK(accelerators)},
    {.head = "AU", .help = "of these", .side = '>', RANK(au), .cell = au_cell},
    {.head = "waiting", .help = "for batches", .side = '>', RANK(wait_s), TIME},
    {.head = "for others",
     .help = "waiting for slower ranks",
     .side = '>',
     RANK(barrier_s),
     TIME},
    {.head = "read",
     .help = "bytes in all",
     .side = '>',
     RANK(bytes),
     .cell = size_cell},
    {.head = NULL}};

static const struct wr_column save_columns[] = {
    {.head = "step",
     .help = "after which it was saved",
     .side = '>',
     SAVE(step)},
    {.head = "began",
     .help = "seconds since the run began",
     .side = '>',
     SAVE(at_s),
     TIME},
    {.head = "size",
     .help = "of all ranks",
     .side = '>',
     SAVE(bytes),
     .cell = size_cell},
    {.head = "stall",
     .help = "how long the accelerators stood still",
     .side = '>',
     SAVE(stall_s),
     TIME},
    {.head = "on fast",
     .help = "from the call until it was on the fast tier, or the only one",
     .side = '>',
     SAVE(fast_s),
     TIME},
    {.head = "on slow",
     .help = "and on the slow tier",
     .side = '>',
     .only = SLOW,
     .if_any = true,
     SAVE(slow_s),
     TIME},
    {.head = NULL}};

static const struct wr_column restore_columns[] = {
    {.head = "restored step", .side = '>', RESTORE(step)},
    {.head = "time",
     .help = "until all ranks had it",
     .side = '>',
     RESTORE(seconds),
     TIME},
    {.head = "size",
     .help = "of all ranks",
     .side = '>',
     RESTORE(bytes),
     .cell = size_cell},
    {.head = "rate",
     .help = "bytes per second",
     .side = '>',
     .cell = restored_cell},
    {.head = NULL}};

const struct wr_columns wr_run_columns[] = {
    {"epochs", epoch_columns},     {"search", search_columns},
    {"ranks", rank_columns},       {"checkpoints", save_columns},
    {"restores", restore_columns}, {NULL, NULL}};

const struct wr_table_rule wr_run_epoch_table = {
    .title = "Epochs",
    .rows = "epochs",
    .columns = epoch_columns,
    .list = offsetof(struct wr_run_values, epochs),
    .least = 1};

/* Of more than one. */
const struct wr_table_rule wr_run_rank_table = {
    .title = "Ranks",
    .rows = "ranks",
    .columns = rank_columns,
    .list = offsetof(struct wr_run_values, ranks),
    .least = 2};

const struct wr_table_rule wr_run_save_table = {
    .title = "Saves",
    .rows = "saves",
    .columns = save_columns,
    .list = offsetof(struct wr_run_values, saves),
    .least = 1};

const struct wr_table_rule wr_run_restore_table = {
    .title = "Restores",
    .rows = "restores",
    .columns = restore_columns,
    .list = offsetof(struct wr_run_values, restores),
    .least = 1};

size_t wr_run_search_points(const json_t *j, const json_t **ret, size_t cap)
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
    const json_t *j = v->r->json, *points[WR_RUN_POINTS];
    size_t n = wr_run_search_points(j, points, WR_RUN_POINTS);
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
