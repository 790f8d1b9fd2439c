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
#include "cli/interrupt.h"
#include "cli/record_json.h"
#include "cli/session.h"
#include "cli/train_args.h"
#include "convert/classes.h"
#include "format/format.h"
#include "record/train_words.h"
#include "train/compare.h"
#include "train/record.h"
#include "train/train.h"

/* One call of the command. */
struct train_call {
    struct wr_session s;
    struct wr_train_plan plan;
    struct wr_train_result res;
    struct wr_train_compared compared; /* rounds 0: nothing was */
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
    struct wr_session *s = arg;

    train_label(news, s->label, sizeof(s->label));
    /* What an earlier process did says nothing about the time that is left. */
    wr_progress_callback(&s->line, news->done - news->from,
                         news->total ? news->total - news->from : 0);
}

static json_t *train_record(void *call)
{
    struct train_call *c = call;
    json_t *record = wr_train_record(&c->plan, &c->res, &c->s.monitor);

    if (c->compared.rounds)
        json_object_set_new(record, "compare",
                            wr_train_compared_json(&c->compared));
    return record;
}

/* Where training stands, and how to go on. */
static void say_saved(const struct wr_cli *cli,
                      const struct wr_train_result *res, int r)
{
    const struct train_args *a = cli->args;

    if (r == WEIR_ESTATE && res->has_saved) /* it would end there again */
        wr_cli_note(cli, "step %" PRIu64 " is still there", res->saved);
    else if (!a->plan.ckpt.fast)
        wr_cli_note(cli, "nothing was saved: --ckpt FOLDER keeps checkpoints");
    else if (res->has_saved)
        wr_cli_note(cli,
                    "step %" PRIu64 " is saved; the same command with "
                    "--resume continues from there",
                    res->saved);
    else
        wr_cli_note(cli, "no step is saved");
}

static int train_fail(void *call, int r, const weir_err *err)
{
    struct train_call *c = call;
    const struct wr_cli *cli = c->s.cli;
    const struct wr_train_result *res = &c->res;
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

static int train_work(void *call, weir_err *err)
{
    struct train_call *c = call;
    const struct train_args *a = c->s.args;

    c->plan.progress = on_progress;
    c->plan.note = wr_session_note;
    c->plan.arg = &c->s;
    c->plan.stopped = wr_interrupted;
    return a->compare ? wr_train_compare(&c->plan, (unsigned)a->repeat,
                                         &c->compared, &c->res, err)
                      : wr_train(&c->plan, &c->res, err);
}

/* Labels inside records are not known before these are read: the classes are
 * those whose names lie beside them, or as many as is said. */
static int find_classes(struct wr_train_plan *plan, weir_err *err)
{
    struct wr_classes found;
    int r;

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

static int train_prepare(void *call)
{
    struct train_call *c = call;
    weir_err err;

    if (wr_train_plan_of(c->s.cli, &c->plan, &err) == 0)
        return WR_GO_ON;
    return err.code == WEIR_EINVAL ? wr_cli_usage(c->s.cli, "%s", err.msg)
                                   : wr_cli_fail(c->s.cli, "%s", err.msg);
}

static int train_begin(void *call)
{
    struct train_call *c = call;
    const struct train_args *a = c->s.args;
    weir_err err;

    c->plan.ds = c->s.ds;
    wr_dataset_note_issues(c->s.cli, c->s.ds);
    if (find_classes(&c->plan, &err) < 0)
        return wr_cli_fail(c->s.cli, "%s", err.msg);
    note_classes(c->s.cli, &c->plan);
    if (!a->json)
        train_print_head(c->s.cli, &c->plan);
    wr_session_watch(&c->s, a->plan.ckpt.fast);
    wr_session_watch(&c->s, a->plan.ckpt.slow);
    return WR_GO_ON;
}

static void train_done(void *call)
{
    struct train_call *c = call;

    wr_train_done(&c->res);
}

static const struct wr_session_job job = {
    .call_bytes = sizeof(struct train_call),
    .label = "training",
    WR_JOB_DATASET(struct train_args),
    WR_JOB_RECORD(struct train_args),
    .prepare = train_prepare,
    .begin = train_begin,
    .work = train_work,
    .fail = train_fail,
    .record = train_record,
    .done = train_done};

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
    .job = &job,
};
