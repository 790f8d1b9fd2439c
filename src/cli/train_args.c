/* train_args.c - the settings of `weir train`, and the plan they make.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/train_args.h"

#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "cli/feed_args.h"
#include "cli/optvalue.h"
#include "train/compare.h"
#include "train/record.h"

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
const struct wr_option wr_train_options[] = {
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
    {WR_OPT_UINT(A, repeat), .name = "repeat", .letter = 'r', .arg = "N",
     .min = 2, .max = WR_TRAIN_ROUNDS_MAX, .def = "4",
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
    {WR_FEED(P, cache_what)},
    {WR_FEED(P, io)},
    {WR_FEED_NAME(P, direct), WR_FEED_HELP(direct)},
    WR_OPEN_OPTIONS(A, "the data set"),

    {WR_OPT_STRING(A, plan.ckpt.fast), .name = "ckpt", .old = "fast",
     .arg = "FOLDER", .flags = WR_OPTION_PATH, .group = "Checkpoints",
     .help = "where to save: the store's folder, or the fast tier's (or a URL: "
             "emu:hdd:FOLDER)"},
    {WR_OPT_STRING(A, plan.ckpt.slow), .name = "slow", .arg = "FOLDER",
     .flags = WR_OPTION_PATH,
     .help = "the slow tier's folder, if there are two tiers"},
    {WR_OPT_STRING(A, plan.ckpt.store), .name = "store", .arg = "ID",
     .help = "demand the store with this id (weir ckpt id): refuse any other "
             "one, and an empty folder"},
    {WR_OPT_UINT(A, plan.save_every), .name = "save-every", .arg = "N",
     .def_note = "at the end",
     .help = "save after every N iterations, and at the end"},
    {WR_OPT_CHOICE(A, plan.level), .name = "level", .arg = "LEVEL",
     .choices = wr_level_choices, .def = "snapshot",
     .help = "how far a step gets before training goes on"},
    {WR_OPT_U32(A, plan.ckpt.keep_last), .name = "keep", .letter = 'k',
     .arg = "N", .max = 1000000, .def = "5",
     .help = "newest steps to keep; 0: all"},
    {WR_OPT_U32(A, plan.ckpt.keep_fast), .name = "keep-fast", .arg = "N",
     .max = 1000000, .def = "1",
     .help = "drained steps to keep on the fast tier too; 0: none"},
    {WR_OPT_U32(A, plan.ckpt.keep_abandoned), .name = "keep-abandoned",
     .arg = "N", .max = 1000000, .def = "1",
     .help = "newest steps to keep of those that the run has left by going "
             "back; 0: none"},
    {WR_OPT_YES(A, plan.ckpt.verify), .name = "verify", .def = "yes",
     .help = "do not read saved steps back"},
    {WR_OPT_FLAG(A, plan.resume), .name = "resume",
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

void wr_train_args_defaults(void *args)
{
    struct train_args *a = args;

    wr_train_defaults(&a->plan);
    a->plan.epochs = 0;
}

/* Whether the command has an option for it. */
static bool is_setting(const struct wr_setting *s)
{
    const struct wr_option *o = wr_train_options;

    while (o->name && !(o->store && !strcmp(o->name, s->option)))
        o++;
    return o->name;
}

/* --- the plan --- */

/* Options that change nothing without another one. */
static int check_pairs(const struct wr_cli *cli, weir_err *err)
{
    const struct train_args *a = cli->args;
    const struct wr_train_plan *p = &a->plan;
    const struct {
        const char *option;
        bool fits;
        const char *with;
    } needs[] = {
        {"slow", p->ckpt.fast, "--ckpt"},
        {"store", p->ckpt.fast, "--ckpt"},
        {"keep-abandoned", p->ckpt.fast, "--ckpt"},
        {"save-every", p->ckpt.fast, "--ckpt"},
        {"level", p->ckpt.fast, "--ckpt"},
        {"keep", p->ckpt.fast, "--ckpt"},
        {"keep-fast", p->ckpt.slow, "--slow"},
        {"verify", p->ckpt.fast, "--ckpt"},
        {"resume", p->ckpt.fast, "--ckpt"},
        {"cache-what", p->feed.cache, "--cache"},
        {"repeat", a->compare, "--compare"},
    };

    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
        if (wr_cli_given(cli, needs[i].option) && !needs[i].fits)
            return wr_fail(err, WEIR_EINVAL, "option --%s goes with %s",
                           needs[i].option, needs[i].with);
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
    r = wr_feed_check(wr_train_options, &p->feed, err);
    return r == 0 && cpu ? find_engine(cli, &p->engine, err) : r;
}

int wr_train_plan_of(const struct wr_cli *cli, struct wr_train_plan *ret,
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
