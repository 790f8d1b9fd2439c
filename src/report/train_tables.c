/* train_tables.c - runs of training: their tables and charts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/train_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/batches.h"
#include "report/columns.h"
#include "report/points.h"
#include "result/get.h"
#include "result/stats.h"
#include "result/train.h"

#define SAVES_MAX         ((size_t)1000) /* that are drawn; validations, too */
#define VALIDATIONS_SHOWN ((size_t)20) /* rows of their table, the last ones */

/* --- tables --- */

enum { COMPUTED = 1, SAVED = 2, VALIDATED = 4 };

#define OF(member)                                                             \
    WR_COLUMN(CASE, wr_train_vals, struct wr_train_values, member)
#define PASS(member)                                                           \
    WR_COLUMN(RUN, wr_train_validation_vals,                                   \
              struct wr_train_validation_values, member)
#define SAVE(member)                                                           \
    WR_COLUMN(RUN, wr_train_save_vals, struct wr_train_save_values, member)
#define TIME .show = WR_SHOW_TIME

static double done_of(const struct wr_train_result_values *r)
{
    return r->iterations - fmax(0, r->resumed_at);
}

static double iterations_done(const struct wr_row *r)
{
    const struct wr_train_values *t = r->row->values;

    return done_of(&t->result);
}

static void share_cell(struct wr_doc_table *t, const struct wr_column *c,
                       const struct wr_row *r)
{
    const struct wr_train_values *v = r->row->values;

    wr_doc_percent(t, 100 * wr_number_at(v, c->at) / v->result.seconds, 1);
}

static void loss_cell(struct wr_doc_table *t, const struct wr_column *c,
                      const struct wr_row *r)
{
    double x = wr_number_at(r->run ? r->run : r->row->values, c->at);

    wr_doc_shown(t, x, "%.4g", x);
}

static double mean_stall(const struct wr_row *r)
{
    const struct wr_train_values *t = r->row->values;

    return t->result.save_s / t->result.saves;
}

/* Mean of what is known of the saves that were kept; NaN: nothing is. */
static double mean_of(const struct wr_row *r, size_t at)
{
    const struct wr_train_values *t = r->row->values;
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < t->saves.count; i++) {
        double v = wr_number_at(wr_list_at(&t->saves, i), at);

        sum += isnan(v) ? 0 : v;
        count += !isnan(v);
    }
    return count ? sum / (double)count : NAN;
}

static double mean_on_fast(const struct wr_row *r)
{
    return mean_of(r, offsetof(struct wr_train_save_values, fast_s));
}

static double mean_on_slow(const struct wr_row *r)
{
    return mean_of(r, offsetof(struct wr_train_save_values, slow_s));
}

const struct wr_column wr_train_run_columns[] = {
    {"iterations", "batches that were trained on in this run", '>',
     .number = iterations_done},
    {"time", "from the first to the last of them", '>', OF(result.seconds),
     TIME},
    {"images/s", "without the time of validation", '>',
     OF(result.samples_per_s)},
    {"waiting", "part of the time spent waiting for input", '>',
     OF(result.wait_s), .cell = share_cell},
    {"computing", "part spent computing", '>', OF(result.step_s),
     .cell = share_cell},
    {"saving", "part in which a checkpoint held training up", '>', SAVED,
     OF(result.save_s), .cell = share_cell},
    {"validating", "part spent on the held-out samples", '>', VALIDATED,
     OF(result.validate_s), .cell = share_cell},
    {"first loss", "cross entropy of the first batch", '>', COMPUTED,
     OF(result.loss_first), .cell = loss_cell},
    {"last loss", "mean of the last 10 batches", '>', COMPUTED,
     OF(result.loss_last), .cell = loss_cell},
    {.head = NULL}};

static const struct wr_column validation_columns[] = {
    {"iteration", "after which the held-out samples were classified", '>',
     PASS(iteration)},
    {"accuracy", "part of them that was right", '>', PASS(accuracy),
     .show = WR_SHOW_PERCENT},
    {"loss", "mean cross entropy of the held-out samples", '>', PASS(loss),
     .cell = loss_cell},
    {.head = NULL}};

static const struct wr_column saving_columns[] = {
    {"saves", "checkpoints written", '>', OF(result.saves)},
    {"size", "of one of them", '>', OF(network.state_bytes),
     .show = WR_SHOW_BYTES},
    {"stall", "how long training stood still, mean", '>', .number = mean_stall,
     TIME},
    {"longest", "the longest stall", '>', OF(result.save_max_s), TIME},
    {"on fast",
     "from the call until it was on the fast tier, or the only one; mean", '>',
     .number = mean_on_fast, TIME},
    {"on slow", "and on the slow tier", '>', SAVED, .number = mean_on_slow,
     TIME},
    {"at the end", "waited after the last iteration, until all was safe", '>',
     OF(result.flush_s), TIME},
    {.head = NULL}};

const struct wr_column wr_train_save_columns[] = {
    {"iteration", NULL, '>', SAVE(step)},
    {"MB", NULL, '>', SAVE(bytes)},
    {"began s", NULL, '>', SAVE(t_s)},
    {"stall s", "how long training stands still", '>', SAVE(stall_s)},
    {"for earlier saves s", "of that: waiting for saves before it", '>',
     SAVE(blocked_s)},
    {"fast s", "from the beginning of the save until it is on the fast tier",
     '>', SAVE(fast_s)},
    {"slow s", "until it is on the slow tier", '>', SAVE(slow_s)},
    {"verified s", "until it was read back and compared", '>',
     SAVE(verified_s)},
    {.head = NULL}};

const struct wr_columns wr_train_columns[] = {
    {"the run", wr_train_run_columns},
    {"validation", validation_columns},
    {"checkpoints", saving_columns},
    {NULL, NULL}};

static unsigned run_bits(const struct wr_scope *v)
{
    const struct wr_train_result_values *r = &wr_train_values_of(v->r)->result;

    return (isnan(r->loss_first) ? 0 : COMPUTED) | (r->saves > 0 ? SAVED : 0) |
           (r->validate_s > 0 ? VALIDATED : 0);
}

static unsigned saving_bits(const struct wr_scope *v)
{
    return *wr_get_text(v->r->json, "settings.slow") ? SAVED : 0;
}

const struct wr_table_rule wr_train_run_table = {
    "The run", "runs", wr_train_run_columns, .which = run_bits};
const struct wr_table_rule wr_train_saving_table = {
    "Checkpoints", "runs", saving_columns, .which = saving_bits};
const struct wr_table_rule wr_train_save_table = {
    "Saves", "saves", wr_train_save_columns,
    offsetof(struct wr_train_values, saves), .least = 1};

/* Of more than one: that is said in words. */
void wr_train_validation_table(struct wr_scope *v)
{
    const struct wr_list *l = &wr_train_values_of(v->r)->validations;
    size_t n = l->count;
    struct wr_doc_table *t;

    if (n < 2)
        return;
    t = wr_doc_table_of(v->s, "", validation_columns, 0);
    for (size_t i = n - WR_MIN(n, VALIDATIONS_SHOWN); i < n; i++)
        wr_cells(t, validation_columns, 0,
                 &(struct wr_row){.i = i, .run = wr_list_at(l, i)});
}

/* --- charts --- */

const struct wr_chart_rule wr_train_rate_chart = {
    .is = {.kind = WR_DOC_BARS,
           .title = "Images per second",
           .x = "",
           .y = "images/s"},
    .from = WR_FROM_CASE,
    .of = &wr_train_vals,
    .series = WR_SERIES({"result.samples_per_s", "images/s", 1}),
    .label = wr_chart_record};

/* Times of an iteration. */
static const struct {
    const char *key, *name;
} parts[] = {{"wait_ms", "waiting for the batch"},
             {"step_ms", "computing"},
             {"save_ms", "saving"}};
#define PARTS WR_ARRAY_LEN(parts)

/* --- the loss --- */

/* Rows of the series may stand for several iterations each. */
static double iteration_of(const struct wr_view_record *r, size_t row)
{
    double merged = wr_get_number(r->json, "series.merged");

    return fmax(0, wr_train_values_of(r)->result.resumed_at) +
           (double)(row + 1) * (merged > 1 ? merged : 1);
}

static bool has_loss(const json_t *record)
{
    const json_t *list = wr_get_list(record, "series.loss");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (!isnan(wr_get_at(list, i)))
            return true;
    return false;
}

static void loss_line(struct wr_doc *d, struct wr_doc_chart *c,
                      const struct wr_view_record *r, const char *name)
{
    const json_t *list = wr_get_list(r->json, "series.loss");
    struct wr_points p = {0};

    for (size_t i = 0; i < json_array_size(list); i++)
        wr_points_add(&p, iteration_of(r, i), wr_get_at(list, i), false);
    wr_points_draw(&p, d, wr_doc_series(c, name), WR_VIEW_SERIES_POINTS);
    wr_points_done(&p);
}

/* A line over the validations of a value, times `unit`. */
static void validation_line(struct wr_doc_chart *c,
                            const struct wr_view_record *r, const char *name,
                            size_t at, double unit)
{
    const struct wr_list *l = &wr_train_values_of(r)->validations;
    struct wr_doc_series *to = l->count ? wr_doc_series(c, name) : NULL;

    for (size_t i = 0; i < WR_MIN(l->count, SAVES_MAX); i++) {
        const struct wr_train_validation_values *v = wr_list_at(l, i);

        wr_doc_point(to, v->iteration, unit * wr_number_at(v, at));
    }
}

void wr_train_loss(struct wr_scope *v)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_LINES,
        .title = "Loss",
        .x = "iteration",
        .y = "loss",
        .note = "The mean of each batch; held out: pictures that the network "
                "never learns from."};
    struct wr_doc_chart *c = wr_doc_chart(v->s, &spec);
    bool named = v->n > 1;
    char name[WR_VIEW_NAME];

    for (size_t i = 0; i < v->n; i++) {
        const struct wr_view_record *r = &v->r[i];

        if (!has_loss(r->json))
            continue;
        loss_line(v->d, c, r, named ? r->label : "training");
        snprintf(name, sizeof(name), "%s%sheld out", named ? r->label : "",
                 named ? ", " : "");
        validation_line(c, r, name,
                        offsetof(struct wr_train_validation_values, loss), 1);
    }
}

void wr_train_accuracy(struct wr_scope *v)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_LINES,
        .title = "Accuracy on the held-out part",
        .x = "iteration",
        .y = "right (%)",
        .note = "Chance: what guessing would get right."};
    const struct wr_train_values *t = wr_train_values_of(v->r);
    const struct wr_list *l = &t->validations;
    struct wr_doc_series *guess;
    struct wr_doc_chart *c;

    if (l->count < 2) /* a number of the summary says it */
        return;
    c = wr_doc_chart(v->s, &spec);
    validation_line(c, v->r, "right",
                    offsetof(struct wr_train_validation_values, accuracy), 100);
    if (!(t->result.chance > 0))
        return;
    guess = wr_doc_series(c, "chance");
    wr_doc_series_is(guess, WR_DOC_REFERENCE);
    for (size_t i = 0; i < WR_MIN(l->count, SAVES_MAX); i++) {
        const struct wr_train_validation_values *at = wr_list_at(l, i);

        wr_doc_point(guess, at->iteration, 100 * t->result.chance);
    }
}

/* --- where the time went --- */

/* What is not waiting, computing, saving or validating. */
static double rest_of(const struct wr_row *row)
{
    const struct wr_train_values *t = row->row->values;
    const struct wr_train_result_values *r = &t->result;

    return fmax(0, r->seconds - fmax(0, r->wait_s) - fmax(0, r->step_s) -
                       fmax(0, r->save_s) - fmax(0, r->validate_s));
}

const struct wr_chart_rule wr_train_parts_chart = {
    .is = {.kind = WR_DOC_STACKED,
           .title = "Where the time went",
           .x = "",
           .y = "seconds",
           .note =
               "Waiting for input and saving are what computing alone would "
               "not take."},
    .from = WR_FROM_CASE,
    .of = &wr_train_vals,
    .series = WR_SERIES({"result.step_s", "computing", 1},
                        {"result.wait_s", "waiting for input", 1},
                        {"result.save_s", "saving", 1},
                        {"result.validate_s", "validating", 1},
                        {"", "else", 1}),
    .number = rest_of,
    .label = wr_chart_run};

/* --- input alone, synthetic, all --- */

void wr_train_compared(struct wr_scope *v)
{
    const struct wr_train_compare_values *o =
        &wr_train_values_of(v->r)->compare;
    const struct {
        const struct wr_train_rate_values *rate;
        const char *name;
    } of[] = {{&o->input, "input alone"},
              {&o->synthetic, "computing alone"},
              {&o->full, "everything"}};
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = "What the input costs",
        .x = "",
        .y = "images/s",
        .note = "Computing alone: on the same batch from memory, again and "
                "again. Whiskers: lowest and highest run."};
    struct wr_doc_chart *c = wr_doc_chart(v->s, &spec);
    struct wr_doc_series *to = wr_doc_series(c, "images/s");

    for (size_t i = 0; i < WR_ARRAY_LEN(of); i++) {
        if (isnan(of[i].rate->images_per_s))
            continue;
        wr_doc_label(c, "%s", of[i].name);
        wr_doc_value_range(to, of[i].rate->images_per_s, of[i].rate->min,
                           of[i].rate->max);
    }
}

/* --- each iteration --- */

/* What is longer than this is a stall. */
static double stall_limit(const json_t *series, size_t rows)
{
    double *v = malloc(WR_MAX(rows, (size_t)1) * sizeof(*v)), median;

    if (!v)
        return INFINITY;
    for (size_t i = 0; i < rows; i++) {
        v[i] = 0;
        for (size_t k = 0; k < PARTS; k++)
            v[i] += fmax(0, wr_get_at(wr_get_list(series, parts[k].key), i));
    }
    median = wr_stats_quantile(v, wr_stats_sort(v, rows), 0.5);
    free(v);
    return fmax(WR_STALL_TIMES * median, WR_STALL_MS);
}

void wr_train_iterations(struct wr_scope *v)
{
    const json_t *series = wr_get_object(v->r->json, "series");
    const json_t *t = wr_get_list(series, "t_s");
    size_t rows = json_array_size(t);
    double limit = stall_limit(series, rows);
    char note[WR_VIEW_NAME];
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_POINTS,
                                           .title = "Time of each iteration",
                                           .x = "seconds",
                                           .y = "milliseconds",
                                           .note = note};
    struct wr_points p = {0};
    struct wr_doc_chart *c;

    snprintf(note, sizeof(note),
             "Marked: stalls, over %g times the median of an iteration.",
             WR_STALL_TIMES);
    c = wr_doc_chart(v->s, &spec);
    for (size_t k = 0; k < PARTS; k++) {
        const json_t *list = wr_get_list(series, parts[k].key);

        for (size_t i = 0; i < rows; i++) {
            double ms = wr_get_at(list, i);

            /* Most iterations do not save: that is no time of 0. */
            if (ms > 0 || !strcmp(parts[k].key, "wait_ms"))
                wr_points_add(&p, wr_get_at(t, i), ms, i > 0 && ms > limit);
        }
        if (p.count)
            wr_points_draw(&p, v->d, wr_doc_series(c, parts[k].name),
                           WR_VIEW_SERIES_POINTS);
    }
    wr_points_done(&p);
}

/* --- saves --- */

void wr_train_saves(struct wr_scope *v)
{
    static const struct {
        const char *key, *name;
    } of[] = {{"stall_s", "training stood still"},
              {"fast_s", "on the fast tier"},
              {"slow_s", "on the slow tier"},
              {"verified_s", "verified"}};
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_POINTS,
                                           .title = "How long each save took",
                                           .x = "iteration",
                                           .y = "seconds since the save began",
                                           .log_y = true};
    const json_t *list = wr_get_list(v->r->json, "saves");
    size_t n = WR_MIN(json_array_size(list), SAVES_MAX);
    struct wr_doc_chart *c;

    if (!n)
        return;
    c = wr_doc_chart(v->s, &spec);
    for (size_t k = 0; k < WR_ARRAY_LEN(of); k++) {
        struct wr_doc_series *to = NULL;

        for (size_t i = 0; i < n; i++) {
            const json_t *save = json_array_get(list, i);
            double x = wr_get_number(save, of[k].key);

            if (isnan(x))
                continue;
            if (!to)
                to = wr_doc_series(c, of[k].name);
            wr_doc_point(to, wr_get_number(save, "step"), x);
        }
    }
}
