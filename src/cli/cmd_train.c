/* cmd_train.c - weir train: trains a network, and says what feeding and saving
 * it cost.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/shown.h"
#include "base/text.h"
#include "base/thread.h"
#include "cli/command.h"
#include "cli/feed_args.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/session.h"
#include "convert/classes.h"
#include "format/format.h"
#include "report/train_tables.h"
#include "train/compare.h"
#include "train/record.h"
#include "train/train.h"

struct train_args {
    struct wr_train_plan plan; /* as far as options alone say it */
    /* what is trained */
    const char *accelerator, *engine;
    double holdout;
    bool compare;
    uint64_t repeat; /* rounds of --compare */
    struct wr_open_args open;
    /* results */
    const char *record;
    bool json;
    double monitor_hz;
};

#define COMPARED    20   /* iterations of each way */
#define SMALL_WIDTH 0.25 /* what a few cores can train while one watches */
#define HOLDOUT     0.1

static const struct wr_choice crop_choices[] = {
    {"none", WEIR_CROP_NONE, "all of it"},
    {"center", WEIR_CROP_CENTER, "the middle, in the shape of the output"},
    {"random", WEIR_CROP_RANDOM,
     "a random area and shape in each epoch; validation: the middle"},
    {NULL, 0, NULL}};

#define A struct train_args
#define P struct wr_train_plan /* its first member */
static const struct wr_option options[] = {
    {WR_OPT_UINT(A, plan.epochs), .name = "epochs", .arg = "N", .min = 1,
     .max = 1e9, .def_note = "1, or as --iterations says",
     .group = "What to train",
     .help = "passes over the training part, counted from the very beginning"},
    {WR_OPT_UINT(A, plan.iterations), .name = "iterations", .letter = 'i',
     .arg = "N", .min = 1, .max = 1e11, .def_note = "as --epochs says",
     .help = "batches to train on, counted from the very beginning"},
    {WR_OPT_STRING(A, accelerator), .name = "accelerator", .arg = "NAME",
     .def = "cpu",
     .help = "what computes: cpu trains here; " WR_HELP_ACCELERATORS
             " are emulated: nothing is computed, the time is; none: the "
             "input alone"},
    {WR_OPT_STRING(A, engine), .name = "engine", .arg = "NAME",
     .def_note = "onednn if it is installed, else reference",
     .help = "what the cpu computes with: onednn (fast), reference (the same "
             "weights for any number of threads)"},
    {WR_OPT_U32(A, plan.compute_threads), .name = "compute-threads", .arg = "N",
     .max = 1024, .def_note = "one per core", .help = "threads that compute"},
    {WR_OPT_DOUBLE(A, plan.width), .name = "width", .arg = "F", .max = 4,
     .def_note = "0.25 for cpu, else 1",
     .help = "channels of AlexNet's layers, as a fraction of the published "
             "ones"},
    {WR_OPT_DOUBLE(A, plan.learning_rate), .name = "learning-rate", .arg = "F",
     .max = 1e6, .def = "0.0005", .help = "step size of Adam"},
    {WR_OPT_DOUBLE(A, holdout), .name = "holdout", .arg = "F", .max = 0.5,
     .def_note = "0.1 for cpu, else 0",
     .help = "part of the samples kept for validation after each epoch; 0: "
             "none"},
    {WR_OPT_U32(A, plan.classes), .name = "classes", .letter = 'c', .arg = "N",
     .min = 1, .max = 1 << 24, .def_note = "the data set's",
     .help = "classes that the samples belong to, if labels are inside records "
             "and no classes.txt beside them names the classes"},
    {WR_FEED_NAME(P, split_seed), WR_FEED_DEF(split_seed),
     .help = "seed of the choice of these"},
    {WR_OPT_UINT(A, plan.seed), .name = "seed", .arg = "N", .def = "0",
     .help = "seed of the first weights and of the shuffle"},
    {WR_OPT_FLAG(A, plan.synthetic), .name = "synthetic",
     .help = "train on one batch from memory again and again: what computing "
             "alone takes"},
    {WR_OPT_FLAG(A, compare), .name = "compare",
     .help = "measure the input alone, computing alone (synthetic) and "
             "everything, in turn: what the input costs; 20 iterations each "
             "unless --iterations says otherwise"},
    {WR_OPT_UINT(A, repeat), .name = "repeat", .with = "compare", .letter = 'r',
     .arg = "N", .min = 2, .max = WR_TRAIN_ROUNDS_MAX, .def = "4",
     .help = "with --compare: rounds; the first is a warm-up and not counted"},

    {WR_FEED_NAME(P, batch), .letter = 'b', .min = 1, .max = 1 << 16,
     WR_FEED_DEF(batch), .group = "The input", WR_FEED_HELP(batch)},
    {WR_FEED_NAME(P, threads), .letter = 't', .max = 1024,
     WR_FEED_NOTE(threads), .help = "workers of the input"},
    {WR_FEED_NAME(P, depth), .letter = 'd', .min = 1, .max = 4096,
     WR_FEED_DEF(depth), WR_FEED_HELP(depth)},
    {WR_FEED_NAME(P, prefetch), .letter = 'p', .max = 1024,
     WR_FEED_DEF(prefetch),
     .help = "finished batches kept ahead; 0: work only while training waits"},
    {WR_FEED_NAME(P, size), WR_FEED_RANGE(size), WR_FEED_DEF(size),
     .help = "size of the pictures; at least 67x67"},
    {WR_FEED(P, decode)},
    {WR_FEED(P, resize)},
    {WR_FEED(P, orient)},
    {WR_FEED_NAME(P, crop), .choices = crop_choices, WR_FEED_DEF(crop),
     WR_FEED_HELP(crop)},
    {WR_FEED_NAME(P, flip), WR_FEED_HELP(flip)},
    {WR_FEED(P, order)},
    {WR_FEED(P, on_error)},
    {WR_FEED(P, cache)},
    {WR_FEED(P, cache_what), .with = "cache"},
    {WR_FEED(P, io)},
    {WR_FEED_NAME(P, direct), WR_FEED_HELP(direct)},
    WR_OPEN_OPTIONS(A, "the data set"),

    {WR_OPT_STRING(A, plan.ckpt.fast), .name = "ckpt", .old = "fast",
     .arg = "FOLDER", .flags = WR_OPTION_PATH, .group = "Checkpoints",
     .help = "where to save: the store's folder, or the fast tier's (or a URL: "
             "emu:hdd:FOLDER)"},
    {WR_OPT_STRING(A, plan.ckpt.slow), .name = "slow", .with = "ckpt",
     .arg = "FOLDER", .flags = WR_OPTION_PATH,
     .help = "the slow tier's folder, if there are two tiers"},
    {WR_OPT_STRING(A, plan.ckpt.store), .name = "store", .with = "ckpt",
     .arg = "ID",
     .help = "demand the store with this id (weir ckpt id): refuse any other "
             "one, and an empty folder"},
    {WR_OPT_UINT(A, plan.save_every), .name = "save-every", .with = "ckpt",
     .arg = "N", .def_note = "at the end",
     .help = "save after every N iterations, and at the end"},
    {WR_OPT_CHOICE(A, plan.level), .name = "level", .with = "ckpt",
     .arg = "LEVEL", .choices = wr_level_choices, .def = "snapshot",
     .help = "how far a step gets before training goes on"},
    {WR_OPT_U32(A, plan.ckpt.keep_last), .name = "keep", .with = "ckpt",
     .letter = 'k', .arg = "N", .max = 1000000, .def = "5",
     .help = "newest steps to keep; 0: all"},
    {WR_OPT_U32(A, plan.ckpt.keep_fast), .name = "keep-fast", .with = "slow",
     .arg = "N", .max = 1000000, .def = "1",
     .help = "drained steps to keep on the fast tier too; 0: none"},
    {WR_OPT_U32(A, plan.ckpt.keep_abandoned), .name = "keep-abandoned",
     .with = "ckpt", .arg = "N", .max = 1000000, .def = "1",
     .help = "newest steps to keep of those that the run has left by going "
             "back; 0: none"},
    {WR_OPT_YES(A, plan.ckpt.verify), .name = "verify", .with = "ckpt",
     .def = "yes", .help = "do not read saved steps back"},
    {WR_OPT_FLAG(A, plan.resume), .name = "resume", .with = "ckpt",
     .help = "go on from the newest checkpoint, in the middle of an epoch; "
             "without one start from the beginning"},

    {WR_OPT_RECORD(A), .group = "Results",
     .help = "write the run record (JSON), for weir report"},
    {WR_OPT_FLAG(A, json), .name = "json",
     .help = "print the run record instead of the summary"},
    WR_MONITOR_OPTION(A),
    WR_OPTIONS_END};
#undef P
#undef A

static void train_args_defaults(void *args)
{
    struct train_args *a = args;

    wr_train_defaults(&a->plan);
    a->plan.epochs = 0;
}

/* Whether the command has an option for it. */
static bool is_setting(const struct wr_setting *s)
{
    const struct wr_option *o = options;

    while (o->name && !(o->store && !strcmp(o->name, s->option)))
        o++;
    return o->name;
}

/* --- the plan --- */

/* Options that contradict. */
static int check_pairs(const struct wr_cli *cli, weir_err *err)
{
    const struct train_args *a = cli->args;
    const struct wr_train_plan *p = &a->plan;

    if (p->synthetic && !p->iterations)
        return wr_fail(err, WEIR_EINVAL,
                       "option --synthetic needs "
                       "--iterations: there are no epochs");
    if (a->compare && (p->ckpt.fast || p->epochs || p->synthetic))
        return wr_fail(err, WEIR_EINVAL,
                       "option --compare does not go with --ckpt, --epochs or "
                       "--synthetic");
    if (p->level == WEIR_LEVEL_VERIFIED && !p->ckpt.verify)
        return wr_fail(err, WEIR_EINVAL,
                       "--level verified and --no-verify contradict");
    return 0;
}

/* onednn where it can be loaded, else the reference, with a word about it. */
static int find_engine(const struct wr_cli *cli,
                       const struct wr_engine_ops **ret, weir_err *err)
{
    const struct train_args *a = cli->args;
    weir_err why;

    if (a->engine) {
        int r = wr_engine_find(a->engine, ret, err);

        return r < 0 ? wr_fail_prefix(err, r, "option --engine") : 0;
    }
    if (wr_engine_find("onednn", ret, &why) == 0)
        return 0;
    wr_cli_note(cli, "computing with the reference engine, which is slower: %s",
                why.msg);
    return wr_engine_find("reference", ret, err);
}

static int set_compute(const struct wr_cli *cli, struct wr_train_plan *p,
                       weir_err *err)
{
    const struct train_args *a = cli->args;
    bool cpu, holds_out = !p->synthetic && !a->compare;
    int r = wr_accelerator_parse(a->accelerator, &p->accelerator, err);

    if (r < 0)
        return wr_fail_prefix(err, r, "option --accelerator");
    cpu = p->accelerator.kind == WR_ACCELERATOR_CPU;
    if (!wr_cli_given(cli, "width"))
        p->width = cpu ? SMALL_WIDTH : 1;
    p->feed.holdout = (float)(wr_cli_given(cli, "holdout") ? a->holdout
                              : cpu && holds_out           ? HOLDOUT
                                                           : 0);
    p->feed.part = p->feed.holdout > 0 ? WEIR_PART_TRAIN : WEIR_PART_ALL;
    p->validate = cpu && p->feed.holdout > 0;
    if (p->width <= 0)
        return wr_fail(err, WEIR_EINVAL, "option --width: must be over 0");
    if (p->learning_rate <= 0)
        return wr_fail(err, WEIR_EINVAL,
                       "option --learning-rate: must be over 0");
    if (a->compare && p->accelerator.kind == WR_ACCELERATOR_NONE)
        return wr_fail(err, WEIR_EINVAL,
                       "option --compare needs an accelerator: there is "
                       "nothing to compare the input with");
    r = wr_feed_check(options, &p->feed, err);
    return r == 0 && cpu ? find_engine(cli, &p->engine, err) : r;
}

/* The plan, but for the data set and the callbacks. An engine is loaded if one
 * is needed. A message names the option. */
static int train_plan_of(const struct wr_cli *cli, struct wr_train_plan *ret,
                         weir_err *err)
{
    const struct train_args *a = cli->args;
    int r = check_pairs(cli, err);

    *ret = a->plan;
    if (a->compare && !ret->iterations)
        ret->iterations = COMPARED;
    if (!ret->epochs && !ret->iterations)
        ret->epochs = 1;
    ret->is_setting = is_setting;
    ret->feed.seed = ret->seed;
    if (!ret->feed.threads)
        ret->feed.threads = wr_cpu_count();
    return r == 0 ? set_compute(cli, ret, err) : r;
}

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
    return wr_train_record(&c->plan, &c->res, &c->compared, &c->s.monitor);
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

    if (train_plan_of(c->s.cli, &c->plan, &err) == 0)
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
    .options = options,
    .args_size = sizeof(struct train_args),
    .defaults = train_args_defaults,
    .columns = wr_train_columns,
    .examples = examples,
    .job = &job,
};
