/* cmd_train.c - weir train: trains a network, and says what feeding and saving
 * it cost.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/shown.h"
#include "base/text.h"
#include "base/thread.h"
#include "cli/dataset_out.h"
#include "cli/interrupt.h"
#include "cli/monitor.h"
#include "cli/open.h"
#include "cli/progress.h"
#include "cli/record_json.h"
#include "cli/train_args.h"
#include "convert/classes.h"
#include "format/format.h"
#include "record/train_words.h"
#include "train/compare.h"
#include "train/record.h"
#include "train/train.h"

#define LABEL_BYTES 160

/* What the callbacks know. */
struct live {
    struct wr_cli *cli;
    struct wr_progress line;
    char label[LABEL_BYTES]; /* of the line; changed by its only thread */
};

/* --- its report --- */

static void print_compute(const struct wr_cli *cli,
                          const struct wr_train_plan *plan)
{
    const struct wr_accelerator *a = &plan->accelerator;
    unsigned threads = plan->compute_threads ? plan->compute_threads
                                             : wr_cpu_count();

    if (a->kind == WR_ACCELERATOR_CPU) {
        wr_cli_put(cli,
                   "AlexNet, width %g, Adam, learning rate %g; %s engine, %u "
                   "thread%s\n",
                   plan->width, plan->learning_rate, plan->engine->name,
                   threads, threads == 1 ? "" : "s");
        return;
    }
    wr_accelerator_print(cli, a, plan->feed.batch);
}

static void print_store(const struct wr_cli *cli,
                        const struct wr_train_plan *plan)
{
    const weir_ckpt_config *c = &plan->ckpt;

    if (!c->fast)
        return;
    wr_cli_put(cli, "checkpoints to %s%s%s, level %s, ",
               wr_show_path(c->fast).text, c->slow ? " and " : "",
               wr_show_path(c->slow ? c->slow : "").text,
               wr_choice_name(wr_level_choices, (int)plan->level));
    if (plan->save_every)
        wr_cli_put(cli, "every %" PRIu64 " iterations\n", plan->save_every);
    else
        wr_cli_put(cli, "at the end\n");
}

/* What is trained, on what, by what, and where it is saved. */
static void train_print_head(const struct wr_cli *cli,
                             const struct wr_train_plan *plan)
{
    wr_dataset_print(cli, plan->ds);
    print_compute(cli, plan);
    print_store(cli, plan);
}

/* The label of the live line: "iteration 12 of 100, loss 0.53, 81 images/s,
 * waiting 3 %". Returns buf. */
static char *train_label(const struct wr_train_news *news, char *buf,
                         size_t cap)
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

/* --- the command --- */

static void on_progress(void *arg, const struct wr_train_news *news)
{
    struct live *l = arg;

    train_label(news, l->label, sizeof(l->label));
    /* What an earlier process did says nothing about the time that is left. */
    wr_progress_total(&l->line, news->total ? news->total - news->from : 0);
    wr_progress_set(&l->line, news->done - news->from);
}

static void on_note(void *arg, const char *text)
{
    struct live *l = arg;

    wr_progress_hide(&l->line);
    wr_cli_note(l->cli, "%s", text);
}

/* What a run found. */
struct found_store {
    const struct wr_train_plan *plan; /* borrowed */
    struct wr_train_result res;
    struct wr_train_compared compared; /* rounds 0: nothing was */
    struct wr_monitor monitor;
};

static int give_record(const struct wr_cli *cli, const struct found_store *f,
                       weir_err *err)
{
    const struct train_args *a = cli->args;
    json_t *record = wr_train_record(f->plan, &f->res, &f->compared,
                                     &f->monitor);

    return wr_cli_give_record(cli, record, a->json, a->record, err);
}

/* Where training stands, and how to go on. */
static void say_saved(const struct wr_cli *cli,
                      const struct wr_train_result *res, int r)
{
    const struct train_args *a = cli->args;

    if (r == WEIR_ESTATE && res->has_saved) /* it would end there again */
        wr_cli_note(cli, "step %" PRIu64 " is still there", res->saved);
    else if (!a->ckpt)
        wr_cli_note(cli, "nothing was saved: --ckpt FOLDER keeps checkpoints");
    else if (res->has_saved)
        wr_cli_note(cli,
                    "step %" PRIu64 " is saved; the same command with "
                    "--resume continues from there",
                    res->saved);
    else
        wr_cli_note(cli, "no step is saved");
}

static int fail(const struct wr_cli *cli, const struct wr_train_result *res,
                int r, const weir_err *err)
{
    const struct train_args *a = cli->args;
    bool interrupted = r == WEIR_ECANCELED && wr_interrupted();
    char shown[600];
    int code;

    if (interrupted && a->compare)
        code = wr_cli_fail(cli, "interrupted: no result");
    else if (interrupted)
        code = wr_cli_fail(cli, "interrupted after iteration %" PRIu64,
                           res->done);
    else
        code = wr_cli_fail(cli, "%s", err->msg);
    if (res->bad_kept && !strstr(err->msg, res->bad[0].text))
        wr_cli_note(cli, "%zu%s samples could not be read, the first: %s",
                    res->bad_kept,
                    res->bad_kept == WR_TRAIN_BAD_MAX ? " or more" : "",
                    wr_text_show(res->bad[0].text, true, shown, sizeof(shown)));
    if (!a->compare && (res->done > res->from || res->has_saved))
        say_saved(cli, res, r);
    return code;
}

static void start_monitor(struct wr_monitor *m, const struct wr_cli *cli,
                          const weir_dataset *ds)
{
    const struct train_args *a = cli->args;
    const char *paths[2];
    size_t count = 0;

    if (a->ckpt)
        paths[count++] = a->ckpt;
    if (a->slow)
        paths[count++] = a->slow;
    wr_monitor_watch(m, cli,
                     &(struct wr_monitor_spec){.hz = a->monitor_hz,
                                               .store = ds->store,
                                               .paths = paths,
                                               .path_count = count});
}

static int run_plan(struct wr_cli *cli, struct wr_train_plan *plan)
{
    const struct train_args *a = cli->args;
    struct live live = {.cli = cli, .label = "training"};
    struct found_store f = {.plan = plan};
    weir_err err;
    int r, code;

    start_monitor(&f.monitor, cli, plan->ds);
    wr_progress_start(&live.line, cli,
                      &(struct wr_progress_spec){.label = live.label});
    plan->progress = on_progress;
    plan->note = on_note;
    plan->arg = &live;
    plan->stopped = wr_interrupted;
    r = a->compare ? wr_train_compare(plan, (unsigned)a->repeat, &f.compared,
                                      &f.res, &err)
                   : wr_train(plan, &f.res, &err);
    wr_monitor_stop(&f.monitor);
    wr_progress_end(&live.line);
    if (r < 0)
        code = fail(cli, &f.res, r, &err);
    else if (give_record(cli, &f, &err) < 0)
        code = wr_cli_fail(cli, "%s", err.msg);
    else
        code = WR_EXIT_DONE;
    wr_monitor_free(&f.monitor);
    wr_train_done(&f.res);
    return code;
}

/* Labels inside records are not known before these are read: the classes are
 * those whose names lie beside them, or as many as is said. */
static int find_classes(const struct wr_cli *cli, struct wr_train_plan *plan,
                        weir_err *err)
{
    const struct train_args *a = cli->args;
    struct wr_classes found;
    int r;

    plan->classes = (uint32_t)a->classes;
    if (plan->classes || !plan->ds->format->unpack ||
        weir_dataset_class_count(plan->ds) ||
        plan->accelerator.kind != WR_ACCELERATOR_CPU)
        return 0;
    r = wr_classes_init(&found, plan->ds, err);
    if (r < 0)
        return r;
    plan->classes = found.count;
    wr_classes_done(&found);
    if (plan->classes)
        return 0;
    return wr_fail(err, WEIR_EINVAL,
                   "the labels are inside the records, and no " WR_CLASSES_FILE
                   " beside them names the classes: give their number with "
                   "--classes");
}

/* What can be trained on, but hardly is what was meant. */
static void note_classes(const struct wr_cli *cli,
                         const struct wr_train_plan *plan)
{
    uint32_t classes = plan->classes ? plan->classes
                                     : weir_dataset_class_count(plan->ds);

    if (plan->accelerator.kind != WR_ACCELERATOR_CPU)
        return;
    if (classes == 1)
        wr_cli_note(cli, "the data set has one class: there is nothing to "
                         "learn, and accuracy means nothing");
    else if (classes > weir_dataset_count(plan->ds))
        wr_cli_note(cli,
                    "there are more classes (%" PRIu32 ") than samples: labels "
                    "count from 0, and the largest one decides",
                    classes);
}

static int train_run(struct wr_cli *cli)
{
    const struct train_args *a = cli->args;
    struct wr_train_plan plan;
    weir_dataset *ds = NULL;
    weir_err err;
    int code;

    if (wr_train_plan_of(cli, &plan, &err) < 0)
        return err.code == WEIR_EINVAL ? wr_cli_usage(cli, "%s", err.msg)
                                       : wr_cli_fail(cli, "%s", err.msg);
    if (wr_cli_open(cli, cli->operands[0], &a->open, &ds, &err) < 0)
        return wr_cli_open_failed(cli, &err);
    plan.ds = ds;
    wr_dataset_note_issues(cli, ds);
    if (find_classes(cli, &plan, &err) < 0) {
        weir_dataset_close(&ds);
        return wr_cli_fail(cli, "%s", err.msg);
    }
    note_classes(cli, &plan);
    if (!a->json)
        train_print_head(cli, &plan);
    fflush(cli->out);
    code = run_plan(cli, &plan);
    weir_dataset_close(&ds);
    return code;
}

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("DATASET", WR_OPERAND_PATH), .help = WR_HELP_DATASET},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir train photos --epochs 5",
     "train a small AlexNet on 'photos', and watch it learn"},
    {"weir train photos --epochs 90 --ckpt run7 --save-every 100 --resume",
     "the same with checkpoints; started again, it goes on where it was"},
    {"weir train photos --accelerator K4000 -b 64 -i 142 -p 0",
     "the paper's mini-application without prefetching, its GPU emulated"},
    {"weir train photos --accelerator P100 --ckpt emu:optane:a --slow "
     "emu:hdd:b",
     "checkpoints through a burst buffer, both devices emulated"},
    {"weir train photos --accelerator none", "the input alone"},
    {"weir train photos --compare", "what the input costs, in one sentence"},
    {"weir train photos --engine reference --json | jq .result.weights_digest",
     "the same digest for any number of threads, and after kill -9"},
    {NULL, NULL}};

const struct wr_command wr_cmd_train = {
    .name = "train",
    .group = WR_GROUP_MEASURE,
    .summary = "train a network, and say what feeding and saving it cost",
    .description =
        "Trains AlexNet (the network of the paper's mini-application) on any "
        "labelled data set, fed by weir's pipeline: forward, backward, softmax "
        "cross entropy, Adam. Part of the samples is held out and classified "
        "after each epoch; accuracy is given beside what guessing would "
        "reach.\n\n"
        "Every iteration waits for a batch, computes, and saves now and then; "
        "the summary says how much of the time each took, and what limits. "
        "With --accelerator a GPU is emulated instead: nothing is learned, but "
        "input and checkpoints are real, and the cores are free for them as "
        "they are beside a GPU.\n\n"
        "A checkpoint (--ckpt) has weights, Adam's state and the position in "
        "the epoch. After Ctrl-C the iteration is finished and saved; after a "
        "crash the newest checkpoint counts. --resume goes on from it with the "
        "same settings; with the reference engine the weights become those of "
        "a run that was never stopped. A folder that has checkpoints is never "
        "trained into without --resume.",
    .operands = operands,
    .options = wr_train_options,
    .args_size = sizeof(struct train_args),
    .defaults = wr_train_args_defaults,
    .columns = wr_train_columns,
    .examples = examples,
    .run = train_run,
};
