/* run_args.c - the settings of `weir run`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_args.h"

#include <string.h>

#include "base/error.h"
#include "cli/feed_args.h"
#include "measure/saves.h"
#include "cli/options.h"
#include "train/record.h"

static const struct wr_choice consume_choices[] = {
    {"described", -1, "as the description says; drop if it says nothing"},
    {"drop", WR_WL_DROP, "the bytes are read and forgotten"},
    {"read", WR_WL_READ, "they are delivered as they are stored"},
    {"decode", WR_WL_DECODE, "they are decoded into tensors"},
    {NULL, 0, NULL}};

static const struct wr_choice access_choices[] = {
    {"described", WR_WL_ACCESS_AUTO, "as the description says"},
    {"multi", WR_WL_ACCESS_MULTI, "files are dealt out to accelerators"},
    {"shared", WR_WL_ACCESS_SHARED, "each has a range of the samples"},
    {"same", WR_WL_ACCESS_SAME, "all read the same samples"},
    {"collective", WR_WL_ACCESS_COLLECTIVE,
     "few ranks read, the others get it from them"},
    {"mpi-io", WR_WL_ACCESS_MPIIO, "the same by MPI-IO's collective reads"},
    {"dealt", WR_WL_ACCESS_POSIX, "samples are dealt out one by one"},
    {NULL, 0, NULL}};

static const struct wr_choice compat_choices[] = {
    {"weir", 0, "samples are shuffled as described; AU by MLPerf's rules"},
    {"dlio", 1, "in DLIO's order, and by its formulas"},
    {NULL, 0, NULL}};

static const struct wr_choice search_choices[] = {
    {"none", 0, "one run"},
    {"accelerators", 1, "the most accelerators that reach the target"},
    {NULL, 0, NULL}};

#define A struct run_args
#define P struct wr_run_plan /* its first member */
const struct wr_option wr_run_options[] = {
    {WR_OPT_FLAG(A, list), .name = "list", .letter = 'l',
     .help = "list the workloads that are built in"},
    {WR_OPT_FLAG(A, explain), .name = "explain",
     .help = "print what follows from the description, and run nothing"},
    {WR_OPT_DOUBLE(A, plan.scale), .name = "scale", .arg = "F", .max = 1000,
     .def = "1",
     .help = "shrink data, steps and saved states to this part of what is "
             "described, as the data was generated with"},
    {WR_OPT_UINT(A, accelerators), .name = "accelerators", .letter = 'g',
     .arg = "N", .min = 1, .max = 4096,
     .def_note = "1, or as many as hold one copy of the model",
     .help = "emulated accelerators in this process (in each rank)"},
    {WR_OPT_UINT(A, plan.max_epochs), .name = "epochs", .arg = "N", .max = 1e9,
     .def_note = "as described", .help = "at most so many epochs"},
    {WR_OPT_UINT(A, plan.max_steps), .name = "steps", .arg = "N", .max = 1e12,
     .def_note = "as described", .help = "at most so many steps in each epoch"},
    {WR_OPT_ENUM(A, search), .name = "search", .arg = "WHAT",
     .choices = search_choices, .def = "none",
     .help = "repeat the run with different numbers"},
    {WR_OPT_UINT(A, search_max), .name = "search-max", .arg = "N", .min = 1,
     .max = 4096, .def = "64",
     .help = "with --search: no more accelerators than this in each rank"},
    {WR_OPT_FLAG(A, check), .name = "check",
     .help = "exit with 3 if the target (metric.au) is missed"},

    {WR_OPT_ENUM(A, consume), .name = "consume", .arg = "HOW",
     .choices = consume_choices, .def = "described", .group = "The input",
     .help = "what is done with the samples"},
    {WR_OPT_CHOICE(A, plan.access), .name = "file-access", .arg = "HOW",
     .choices = access_choices, .def = "described",
     .help = "who reads which samples"},
    {WR_OPT_ENUM(A, compat), .name = "compat", .arg = "WITH",
     .choices = compat_choices, .def = "weir",
     .help = "whose order and formulas"},
    {WR_FEED_NAME(P, order), WR_FEED_RANGE(order), .def_note = "as described",
     WR_FEED_HELP(order)},
    {WR_FEED_NAME(P, threads), .letter = 't', .max = 1024,
     .def_note = "the cores, shared by the accelerators",
     .help = "workers of each accelerator's input"},
    {WR_FEED_NAME(P, depth), .letter = 'd', .min = 1, .max = 4096,
     WR_FEED_DEF(depth), WR_FEED_HELP(depth)},
    {WR_FEED_NAME(P, prefetch), .letter = 'p', .max = 1024,
     .def_note = "as described", WR_FEED_HELP(prefetch)},
    {WR_FEED(P, memory)},
    {WR_FEED(P, on_error)},
    {WR_FEED(P, cache)},
    {WR_FEED(P, io)},
    {WR_FEED_NAME(P, direct), WR_FEED_HELP(direct)},
    {WR_OPT_CHOICE(A, plan.cache), .name = "page-cache", .arg = "STATE",
     .choices = wr_cache_state_choices, .def = "asis",
     .help = "page cache before each epoch"},
    {WR_OPT_FLAG(A, plan.no_io), .name = "no-io",
     .help = "read nothing: batches are there at once; what the emulator "
             "itself takes"},
    {WR_OPT_FLAG(A, selftest), .name = "selftest", .def = "yes",
     .help = "do not test first whether this machine is fast enough to "
             "emulate the steps"},
    {WR_OPT_FLAG(A, plan.digest), .name = "digest",
     .help = "hash all that is delivered, by position: the same for any "
             "number of ranks and accelerators"},
    WR_OPEN_OPTIONS(A, "the data set"),

    {WR_OPT_STRING(A, ckpt), .name = "ckpt", .arg = "FOLDER",
     .flags = WR_OPTION_PATH, .group = "Checkpoints",
     .def_note = "as described",
     .help = "where to save: the store's folder, or the fast tier's"},
    {WR_OPT_STRING(A, plan.ckpt.slow), .name = "slow", .with = "ckpt",
     .arg = "FOLDER", .flags = WR_OPTION_PATH,
     .help = "the slow tier's folder, if there are two tiers"},
    {WR_OPT_STRING(A, plan.ckpt.store), .name = "store", .arg = "ID",
     .help = "demand the store with this id (weir ckpt id): refuse any other "
             "one, and an empty folder"},
    {WR_OPT_CHOICE(A, plan.level), .name = "level", .arg = "LEVEL",
     .choices = wr_level_choices, .def = "fast",
     .help = "how far a save gets before training goes on"},
    {WR_OPT_FLAG(A, checkpoints), .name = "checkpoints", .def = "yes",
     .help = "save nothing, whatever is described"},

    {WR_OPT_RECORD(A), .group = "Results",
     .help = "write the run record (JSON), for weir report"},
    {WR_OPT_STRING(A, dlio_output), .name = "dlio-output", .arg = "FOLDER",
     .flags = WR_OPTION_PATH,
     .help = "also write the result files of DLIO, for tools that read those"},
    {WR_OPT_FLAG(A, json), .name = "json",
     .help = "print the run record instead of the summary"},
    WR_MONITOR_OPTION(A),
    WR_OPTIONS_END};
#undef P
#undef A

void wr_run_args_defaults(void *args)
{
    wr_run_defaults(&((struct run_args *)args)->plan);
}

/* "section.key=value" or "+..."; a path may have an '=' behind a '/'. */
static bool is_override(const char *text)
{
    const char *eq = strchr(text, '='), *slash = strchr(text, '/');

    return *text == '+' || (eq && (!slash || eq < slash));
}

size_t wr_run_operands(const struct wr_cli *cli, const char **ret,
                       const char **ret_data, weir_err *err, int *ret_code)
{
    size_t n = 0;

    *ret_data = NULL;
    *ret_code = 0;
    for (size_t k = 1; k < cli->operand_count; k++) {
        const char *text = cli->operands[k];

        if (is_override(text))
            ret[n++] = text;
        else if (!*ret_data)
            *ret_data = text;
        else
            *ret_code = wr_fail(err, WEIR_EINVAL,
                                "'%s': the data is '%s' already, and an "
                                "override is section.key=value",
                                text, *ret_data);
    }
    return n;
}

/* Options that change nothing without another one. */
static int check_pairs(const struct wr_cli *cli, weir_err *err)
{
    const struct run_args *a = cli->args;

    if (wr_cli_given(cli, "search-max") && !a->search)
        return wr_fail(err, WEIR_EINVAL,
                       "option --search-max goes with --search");
    if (a->search && wr_cli_given(cli, "accelerators"))
        return wr_fail(err, WEIR_EINVAL,
                       "option --search finds the number of accelerators: "
                       "--search-max limits it");
    if (a->search && a->dlio_output)
        return wr_fail(err, WEIR_EINVAL,
                       "option --dlio-output does not go with --search");
    if (!(a->plan.scale > 0))
        return wr_fail(err, WEIR_EINVAL, "option --scale: must be over 0");
    return 0;
}

int wr_run_plan_of(const struct wr_cli *cli, const struct wr_workload *w,
                   struct wr_run_plan *plan, weir_err *err)
{
    const struct run_args *a = cli->args;
    int r = check_pairs(cli, err);

    if (r < 0)
        return r;
    *plan = a->plan;
    plan->w = w;
    plan->has_order = wr_cli_given(cli, "order");
    plan->has_prefetch = wr_cli_given(cli, "prefetch");
    plan->consume = a->consume < 0 ? w->weir.consume
                                   : (enum wr_wl_consume)a->consume;
    plan->compat_dlio = a->compat;
    plan->keep_steps = a->dlio_output;
    plan->ckpt.fast = a->ckpt ? a->ckpt : w->checkpoint.folder;
    plan->no_ckpt = !a->checkpoints;
    return wr_feed_check(wr_run_options, &plan->feed, err);
}
