/* train_text.c - a run of training for a person.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/train_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/units.h"
#include "cli/dataset_out.h"
#include "cli/train_args.h"
#include "train/record.h"

#define BAD_SHOWN         10
#define VALIDATIONS_SHOWN 20  /* rows of their table, the last ones */
#define UNEVEN            1.2 /* times its share: a class is told to be common */

/* --- before --- */

static void print_compute(const struct wr_cli *cli,
                          const struct wr_train_plan *plan)
{
    const struct wr_accelerator *a = &plan->accelerator;
    unsigned threads = plan->compute_threads ? plan->compute_threads
                                             : wr_cpu_count();
    char text[96];

    if (a->kind == WR_ACCELERATOR_CPU) {
        fprintf(cli->out,
                "AlexNet, width %g, Adam, learning rate %g; %s engine, %u "
                "thread%s\n",
                plan->width, plan->learning_rate, plan->engine->name, threads,
                threads == 1 ? "" : "s");
        return;
    }
    wr_accelerator_text(a, plan->feed.batch, text, sizeof(text));
    fprintf(cli->out, "accelerator %s\n", text);
    if (a->kind == WR_ACCELERATOR_EMULATED && strncmp(a->name, "ms=", 3))
        fprintf(cli->out, "  (%s)\n", a->source);
}

static void print_store(const struct wr_cli *cli,
                        const struct wr_train_plan *plan)
{
    const weir_ckpt_config *c = &plan->ckpt;

    if (!c->fast)
        return;
    fprintf(cli->out, "checkpoints to %s%s%s, level %s, ", c->fast,
            c->slow ? " and " : "", c->slow ? c->slow : "",
            wr_choice_name(wr_level_choices, (int)plan->level));
    if (plan->save_every)
        fprintf(cli->out, "every %" PRIu64 " iterations\n", plan->save_every);
    else
        fprintf(cli->out, "at the end\n");
}

void wr_train_print_head(const struct wr_cli *cli,
                         const struct wr_train_plan *plan)
{
    wr_dataset_print(cli, plan->ds);
    print_compute(cli, plan);
    print_store(cli, plan);
}

/* --- meanwhile --- */

char *wr_train_label(const struct wr_train_news *news, char *buf, size_t cap)
{
    size_t n;

    if (news->total)
        snprintf(buf, cap, "%s %" PRIu64 " of %" PRIu64,
                 strcmp(news->doing, "training") ? news->doing : "iteration",
                 news->done, news->total);
    else
        snprintf(buf, cap, "%s %" PRIu64,
                 strcmp(news->doing, "training") ? news->doing : "iteration",
                 news->done);
    n = strlen(buf);
    if (!isnan(news->loss)) {
        snprintf(buf + n, cap - n, ", loss %.3g", news->loss);
        n = strlen(buf);
    }
    if (news->seconds > 0)
        snprintf(buf + n, cap - n, ", %.0f images/s, waiting %.0f %%",
                 (double)news->samples / news->seconds,
                 100 * news->wait_s / news->seconds);
    return buf;
}

/* --- the tables --- */

enum { COMPUTED = 1, SAVED = 2, VALIDATED = 4 };

static const struct wr_column columns[] = {
    {"iterations", "batches that were trained on in this run", '>', 0},
    {"time", "from the first to the last of them", '>', 0},
    {"images/s", "without the time of validation", '>', 0},
    {"waiting", "part of the time spent waiting for input", '>', 0},
    {"computing", "part spent computing", '>', 0},
    {"saving", "part in which a checkpoint held training up", '>', SAVED},
    {"validating", "part spent on the held-out samples", '>', VALIDATED},
    {"first loss", "cross entropy of the first batch", '>', COMPUTED},
    {"last loss", "mean of the last 10 batches", '>', COMPUTED},
    {NULL, NULL, 0, 0}};

static const struct wr_column validation_columns[] = {
    {"iteration", "after which the held-out samples were classified", '>', 0},
    {"accuracy", "part of them that was right", '>', 0},
    {"loss", "mean cross entropy of the held-out samples", '>', 0},
    {NULL, NULL, 0, 0}};

static const struct wr_column save_columns[] = {
    {"saves", "checkpoints written", '>', 0},
    {"size", "of one of them", '>', 0},
    {"stall", "how long training stood still, mean", '>', 0},
    {"longest", "the longest stall", '>', 0},
    {"on fast",
     "from the call until it was on the fast tier, or the only one; "
     "mean",
     '>', 0},
    {"on slow", "and on the slow tier", '>', SAVED},
    {"at the end", "waited after the last iteration, until all was safe", '>',
     0},
    {NULL, NULL, 0, 0}};

const struct wr_columns wr_train_columns[] = {
    {"the run", columns},
    {"validation", validation_columns},
    {"checkpoints", save_columns},
    {NULL, NULL}};

static void cell_s(struct wr_table *t, double s)
{
    char buf[32];

    wr_table_cell(t, "%s",
                  isnan(s) ? "-" : wr_format_ns(buf, sizeof(buf), s * 1e9));
}

static void cell_part(struct wr_table *t, double part, double whole)
{
    if (whole > 0)
        wr_table_cell(t, "%.1f%%", 100 * part / whole);
    else
        wr_table_cell(t, "-");
}

static int print_run(const struct wr_cli *cli,
                     const struct wr_train_result *res, weir_err *err)
{
    bool computed = !isnan(res->loss_first);
    struct wr_table *t = wr_table_of(
        columns, (computed ? COMPUTED : 0u) | (res->save_count ? SAVED : 0u) |
                     (res->validation_count ? VALIDATED : 0u));
    int r;

    wr_table_cell(t, "%" PRIu64, res->done - res->from);
    cell_s(t, res->seconds);
    wr_table_cell(t, "%.1f", wr_train_rate(res));
    cell_part(t, res->wait_s, res->seconds);
    cell_part(t, res->step_s, res->seconds);
    if (res->save_count)
        cell_part(t, res->save_s, res->seconds);
    if (res->validation_count)
        cell_part(t, res->validate_s, res->seconds);
    if (computed) {
        wr_table_cell(t, "%.4g", res->loss_first);
        wr_table_cell(t, "%.4g", res->loss_last);
    }
    r = wr_table_print(t, cli, 0, err);
    wr_table_free(t);
    return r;
}

static double accuracy_of(const struct wr_train_validation *v)
{
    return 100 * (double)v->right / (double)v->samples;
}

/* One is said in words; more are a table. */
static int print_validations(const struct wr_cli *cli,
                             const struct wr_train_result *res, weir_err *err)
{
    size_t n = res->validation_kept;
    struct wr_table *t;
    int r;

    if (n < 2)
        return 0;
    fputc('\n', cli->out);
    t = wr_table_of(validation_columns, 0);
    for (size_t i = n - WR_MIN(n, (size_t)VALIDATIONS_SHOWN); i < n; i++) {
        const struct wr_train_validation *v = &res->validations[i];

        wr_table_cell(t, "%" PRIu64, v->step);
        wr_table_cell(t, "%.1f%%", accuracy_of(v));
        wr_table_cell(t, "%.4g", v->loss);
    }
    r = wr_table_print(t, cli, 0, err);
    wr_table_free(t);
    return r;
}

/* Mean of what is known of the saves that were kept; NaN: nothing is. */
static double mean_of(const struct wr_train_result *res, size_t offset)
{
    double sum = 0, v;
    size_t count = 0;

    for (size_t i = 0; i < res->save_kept; i++) {
        memcpy(&v, (const char *)&res->saves[i] + offset, sizeof(v));
        if (isnan(v))
            continue;
        sum += v;
        count++;
    }
    return count ? sum / (double)count : NAN;
}

static int print_saves(const struct wr_cli *cli,
                       const struct wr_train_plan *plan,
                       const struct wr_train_result *res, weir_err *err)
{
    struct wr_table *t;
    char size[32];
    int r;

    if (!res->save_count)
        return 0;
    fputc('\n', cli->out);
    t = wr_table_of(save_columns, plan->ckpt.slow ? SAVED : 0);
    wr_table_cell(t, "%" PRIu64, res->save_count);
    wr_table_cell(
        t, "%s", wr_format_bytes(size, sizeof(size), (double)res->state_bytes));
    cell_s(t, res->save_s / (double)res->save_count);
    cell_s(t, res->save_max_s);
    cell_s(t, mean_of(res, offsetof(struct wr_train_save, fast_s)));
    if (plan->ckpt.slow)
        cell_s(t, mean_of(res, offsetof(struct wr_train_save, slow_s)));
    cell_s(t, res->flush_s);
    r = wr_table_print(t, cli, 0, err);
    wr_table_free(t);
    return r;
}

/* --- in words --- */

static void print_accuracy(const struct wr_cli *cli,
                           const struct wr_train_result *res)
{
    const struct wr_train_validation *v = &res->last;
    double most = v->samples ? (double)v->most / (double)v->samples : 0;

    if (!v->samples)
        return;
    fprintf(cli->out,
            "Held-out accuracy %.1f %% of %" PRIu64
            " sample%s (chance: %.1f %%",
            accuracy_of(v), v->samples, v->samples == 1 ? "" : "s",
            100.0 / res->classes);
    if (most > UNEVEN / res->classes)
        fprintf(cli->out, "; always the most common class: %.1f %%",
                100 * most);
    fprintf(cli->out, "), loss %.3g.\n", v->loss);
}

/* Why the input was late, from what its workers did. */
static const char *input_reason(const struct wr_train_plan *plan,
                                const struct wr_train_result *res)
{
    switch (weir_stats_verdict(&res->stats)) {
    case WEIR_VERDICT_STORAGE:
        return "the storage is too slow for it";
    case WEIR_VERDICT_DECODE:
        return "decoding takes the cores";
    case WEIR_VERDICT_CONVERT:
        return "converting tensors takes the cores";
    default:
        return plan->accelerator.kind == WR_ACCELERATOR_CPU
                   ? "it shares the cores with computing"
                   : "its workers had little to do";
    }
}

static void print_input_limit(const struct wr_cli *cli,
                              const struct wr_train_plan *plan,
                              const struct wr_train_result *res, double wait)
{
    const weir_stats *s = &res->stats;

    if (plan->accelerator.kind == WR_ACCELERATOR_NONE)
        fprintf(cli->out, "Input alone: %.1f images/s; %s.\n",
                wr_train_rate(res), input_reason(plan, res));
    else
        fprintf(cli->out,
                "The input limits: training waited for it %.0f %% of the time; "
                "%s%s.\n",
                wait, input_reason(plan, res),
                s->prefetch ? ""
                            : ", and nothing is prefetched (--prefetch 1)");
}

/* Whether the first batch took so long that the table shows it. */
static bool is_late(const struct wr_train_result *res)
{
    return res->first_wait_s > res->seconds / 50;
}

static void print_verdict(const struct wr_cli *cli,
                          const struct wr_train_plan *plan,
                          const struct wr_train_result *res)
{
    double waited = res->wait_s - res->first_wait_s;
    double all = waited + res->step_s + res->save_s;
    double wait = all > 0 ? 100 * waited / all : 0;
    double save = all > 0 ? 100 * res->save_s / all : 0;

    switch (res->limit) {
    case WR_TRAIN_LIMIT_COMPUTE:
        fprintf(cli->out,
                "Computing limits: the input cost %.1f %% of the time%s%s",
                wait, is_late(res) ? " after the first batch" : "",
                res->save_count ? "" : ".\n");
        if (res->save_count)
            fprintf(cli->out, ", saving %.1f %%.\n", save);
        break;
    case WR_TRAIN_LIMIT_INPUT:
        print_input_limit(cli, plan, res, wait);
        break;
    case WR_TRAIN_LIMIT_SAVE:
        fprintf(cli->out,
                "Saving limits: training stood still %.0f %% of the time; %s "
                "it less.\n",
                save,
                plan->level > WEIR_LEVEL_SNAPSHOT
                    ? "--level snapshot or a fast tier holds"
                    : "saving less often (--save-every) or a fast tier holds");
        break;
    case WR_TRAIN_LIMIT_NONE:
        break;
    }
}

static void print_bad(const struct wr_cli *cli,
                      const struct wr_train_result *res)
{
    char shown[600];

    if (!res->bad_count)
        return;
    fprintf(cli->out, "\n%zu%s sample%s skipped", res->bad_kept,
            res->bad_kept == WR_TRAIN_BAD_MAX ? " or more" : "",
            res->bad_kept == 1 ? "" : "s");
    if (res->bad_count > res->bad_kept)
        fprintf(cli->out, ", %" PRIu64 " times in all epochs", res->bad_count);
    fprintf(cli->out, ":\n");
    for (size_t i = 0; i < res->bad_kept && i < BAD_SHOWN; i++)
        fprintf(cli->out, "  %s\n",
                wr_text_show(res->bad[i].text, true, shown, sizeof(shown)));
    if (res->bad_kept > BAD_SHOWN)
        fprintf(cli->out, "  ... (--record has more)\n");
}

/* An emulated accelerator computes nothing: as long as its input is in time,
 * other programs take nothing away. */
static bool needs_cores(const struct wr_train_plan *plan,
                        const struct wr_train_result *res)
{
    return plan->accelerator.kind != WR_ACCELERATOR_EMULATED ||
           res->limit != WR_TRAIN_LIMIT_COMPUTE;
}

static void print_resumed(const struct wr_cli *cli,
                          const struct wr_train_result *res)
{
    if (res->done == res->from)
        fprintf(cli->out,
                "Nothing was left to do: all %" PRIu64 " iterations had been "
                "done (more: --epochs or --iterations).\n",
                res->done);
    else if (res->from)
        fprintf(cli->out, "Resumed after iteration %" PRIu64 ".\n\n",
                res->from);
}

int wr_train_print(const struct wr_cli *cli, const struct wr_train_plan *plan,
                   const struct wr_train_result *res,
                   const struct wr_monitor *m, weir_err *err)
{
    int r;

    if (m->starved && needs_cores(plan, res))
        wr_monitor_print_starved(m, cli);
    else
        fputc('\n', cli->out);
    print_resumed(cli, res);
    r = res->done > res->from ? print_run(cli, res, err) : 0;
    if (r == 0)
        r = print_validations(cli, res, err);
    if (r == 0)
        r = print_saves(cli, plan, res, err);
    if (r < 0)
        return r;
    fputc('\n', cli->out);
    print_accuracy(cli, res);
    print_verdict(cli, plan, res);
    wr_monitor_print(m, cli, wr_monitor_at(m, res->start_ns),
                     wr_monitor_at(m, res->start_ns) + res->seconds);
    if (res->has_digest)
        fprintf(cli->out, "Digest of the weights: %016" PRIx64 "\n",
                res->digest);
    print_bad(cli, res);
    return 0;
}
