/* cmd_run.c - weir run: runs a workload on emulated accelerators.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "cli/dataset_out.h"
#include "cli/interrupt.h"
#include "cli/monitor.h"
#include "cli/open.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/record_json.h"
#include "cli/run_args.h"
#include "cli/run_text.h"
#include "run/dlio_output.h"
#include "run/extra.h"
#include "run/figures.h"
#include "run/folders.h"
#include "run/record.h"
#include "run/setup.h"
#include "storage/storage.h"

#define LABEL_BYTES 120

/* One call of the command. */
struct run_call {
    struct wr_cli *cli;
    struct wr_ranks ranks;
    struct wr_workload *w;  /* owned */
    const char **overrides; /* owned: the list */
    size_t override_count;
    const char *data;           /* borrowed from argv; NULL: not given */
    char *data_url;             /* owned */
    weir_dataset *train, *eval; /* owned */
    struct wr_run_plan plan;
    struct wr_run_selftest selftest;
    struct wr_run_search search;
    struct wr_run_result res;
    struct wr_monitor monitor;
    struct wr_progress line;
    char label[LABEL_BYTES];
};

/* --- callbacks --- */

static void on_progress(void *arg, const struct wr_run_news *news)
{
    struct run_call *c = arg;

    wr_run_label(news, c->search.target > 0 ? c->plan.accelerators : 0,
                 c->label, sizeof(c->label));
    wr_progress_total(&c->line, news->total);
    wr_progress_set(&c->line, news->done);
}

static void on_note(void *arg, const char *text)
{
    struct run_call *c = arg;

    wr_progress_hide(&c->line);
    wr_cli_note(c->cli, "%s", text);
}

static void on_trying(void *arg, unsigned accelerators)
{
    struct run_call *c = arg;

    c->plan.accelerators = accelerators;
}

static void on_remark(void *arg, const char *text)
{
    const struct run_call *c = arg;

    wr_cli_note(c->cli, "%s", text);
}

/* --- the description --- */

/* As many as were asked for, else those that hold one copy of the model, on all
 * ranks together. */
static unsigned accelerators_of(const struct run_call *c)
{
    const struct run_args *a = c->cli->args;
    uint64_t copy = c->w->model.tensor * c->w->model.pipeline;
    uint64_t ranks = c->ranks.launch.world;

    if (a->accelerators)
        return (unsigned)a->accelerators;
    return (unsigned)WR_MIN((copy + ranks - 1) / ranks, UINT64_C(4096));
}

static uint64_t world_of(const struct run_call *c)
{
    return (uint64_t)accelerators_of(c) * c->ranks.launch.world;
}

static int load(struct run_call *c, weir_err *err)
{
    const struct run_args *a = c->cli->args;
    const char *name = c->cli->operands[0];
    int r = 0;

    c->overrides = calloc(c->cli->operand_count + 1, sizeof(*c->overrides));
    if (!c->overrides)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    c->override_count = wr_run_operands(c->cli, c->overrides, &c->data, err,
                                        &r);
    if (r == 0)
        r = wr_workload_load(name, c->overrides, c->override_count, on_remark,
                             c, &c->w, err);
    if (r == 0 && a->scale != 1)
        r = wr_workload_scale(c->w, a->scale, world_of(c), err);
    if (r < 0)
        return r;
    wr_run_defaults(&c->plan);
    c->plan.w = c->w;
    c->plan.accelerators = accelerators_of(c);
    return wr_run_plan_of(c->cli, &c->plan, err);
}

/* --- the data --- */

static bool is_folder(const char *url)
{
    struct wr_store *st;
    char *leaf = NULL;
    bool there = wr_store_open(url, &st, &leaf, NULL) == 0;

    if (there)
        wr_store_close(st);
    there = there && !leaf;
    free(leaf);
    return there;
}

/* NumPy's files do not say which axis counts the samples; the description says
 * how many there are. Fresh memory, or NULL. */
static char *axis_schema(const struct run_call *c, const char *schema)
{
    char *text;

    if (schema && strstr(schema, "axis="))
        return strdup(schema);
    return asprintf(&text, "%s%saxis=auto:%" PRIu64, schema ? schema : "",
                    schema ? "," : "", c->w->dataset.samples_per_file) < 0
               ? NULL
               : text;
}

static int open_part(struct run_call *c, bool eval, weir_dataset **ret,
                     weir_err *err)
{
    const struct run_args *a = c->cli->args;
    struct wr_open_args open = a->open;
    enum wr_wl_format format = c->w->dataset.format;
    bool numpy = !open.format && (format == WR_WL_NPY || format == WR_WL_NPZ);
    char *url = wr_run_data_url(c->data_url, eval), *schema = NULL;
    int r;

    if (!url)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (!eval && !is_folder(url)) { /* the data itself, not its parent */
        free(url);
        url = strdup(c->data_url);
    }
    if (!open.format)
        open.format = wr_run_format(format);
    if (numpy)
        open.schema = schema = axis_schema(c, a->open.schema);
    r = url && (!numpy || schema) ? wr_cli_open(c->cli, url, &open, ret, err)
                                  : wr_fail(err, WEIR_ENOMEM, "out of memory");
    free(schema);
    free(url);
    if (r == 0)
        wr_dataset_note_issues(c->cli, *ret);
    return r;
}

/* "ROOT/FOLDER" of the description, as DLIO has it. */
static char *described_data(const struct wr_workload *w)
{
    const char *root = w->storage.root, *folder = w->dataset.data_folder;
    bool plain = *folder == '/' || !*root || !strcmp(root, "./");
    char *url;

    if (plain)
        return strdup(folder);
    return asprintf(&url, "%s/%s", root, folder) < 0 ? NULL : url;
}

static bool needs_data(const struct run_call *c)
{
    return c->w->workflow.train && !c->plan.no_io &&
           c->w->dataset.format != WR_WL_SYNTHETIC;
}

/* Before anything is opened: what the description may not choose. */
static int check_folders(const struct run_call *c, weir_err *err)
{
    char *data = needs_data(c) && !c->data ? described_data(c->w) : NULL;
    const struct run_args *args = c->cli->args;
    int r = wr_run_folders_check(&c->plan, args->ckpt != NULL, data, err);

    free(data);
    return r;
}

static int check_format(const struct run_call *c, weir_err *err)
{
    if (!needs_data(c) || wr_run_format(c->w->dataset.format))
        return 0;
    return wr_fail(err, WEIR_ENOTSUP, "%s: weir reads no data of this format",
                   wr_run_format_name(c->w));
}

static int open_data(void *arg, weir_err *err)
{
    struct run_call *c = arg;
    int r = 0;

    if (!needs_data(c))
        return 0;
    c->data_url = c->data ? strdup(c->data) : described_data(c->w);
    if (!c->data_url)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = open_part(c, /* eval= */ false, &c->train, err);
    if (r == 0 && c->w->workflow.evaluation && c->w->dataset.files_eval)
        r = open_part(c, /* eval= */ true, &c->eval, err);
    c->plan.train = c->train;
    c->plan.eval = c->eval;
    return r;
}

/* --- running --- */

static void start_monitor(struct run_call *c)
{
    const struct run_args *a = c->cli->args;
    const char *paths[2];
    size_t count = 0;

    if (c->w->workflow.checkpoint && c->plan.ckpt.fast)
        paths[count++] = c->plan.ckpt.fast;
    if (c->plan.ckpt.slow)
        paths[count++] = c->plan.ckpt.slow;
    wr_monitor_watch(
        &c->monitor, c->cli,
        &(struct wr_monitor_spec){.hz = a->monitor_hz,
                                  .store = c->train ? c->train->store : NULL,
                                  .paths = paths,
                                  .path_count = count});
}

static int measure(struct run_call *c, weir_err *err)
{
    const struct run_args *a = c->cli->args;
    int r = 0;

    if (a->selftest)
        r = wr_run_selftest(&c->plan, &c->selftest, err);
    if (r < 0)
        return r;
    if (!a->search)
        return wr_run(&c->plan, &c->res, err);
    c->search = (struct wr_run_search){.target = c->w->metric.au,
                                       .most_asked = (unsigned)a->search_max,
                                       .trying = on_trying,
                                       .arg = c};
    return wr_run_search(&c->search, &c->plan, &c->res, err);
}

static int run(struct run_call *c, weir_err *err)
{
    int r;

    c->plan.comm = c->ranks.comm;
    c->plan.comm_url = c->ranks.launch.url;
    c->plan.progress = on_progress;
    c->plan.note = on_note;
    c->plan.arg = c;
    c->plan.stopped = wr_interrupted;
    snprintf(c->label, sizeof(c->label), "testing the emulator");
    start_monitor(c);
    wr_progress_start(
        &c->line, c->cli,
        &(struct wr_progress_spec){.label = c->label, .unit = "steps"});
    r = measure(c, err);
    wr_monitor_stop(&c->monitor);
    wr_progress_end(&c->line);
    return r;
}

/* --- results --- */

static bool misses(const struct run_call *c)
{
    struct wr_run_figures *f = malloc(sizeof(*f));
    bool missed = false;

    if (f) {
        wr_run_figures(&c->res, f);
        missed = (c->plan.compat_dlio ? f->au_dlio : f->au) < c->w->metric.au;
    }
    if (c->search.target > 0)
        missed = c->search.most == 0;
    free(f);
    return missed;
}

static int give(struct run_call *c, weir_err *err)
{
    const struct run_args *a = c->cli->args;
    struct wr_run_report report = {
        .plan = &c->plan,
        .res = &c->res,
        .name = c->cli->operands[0],
        .data = c->data_url,
        .selftest = a->selftest ? &c->selftest : NULL,
        .search = a->search ? &c->search : NULL,
        .monitor = &c->monitor,
    };

    return wr_cli_give_record(c->cli, wr_run_record(&report), a->json,
                              a->record, err);
}

/* Each rank has files of its own. */
static int give_dlio(struct run_call *c, weir_err *err)
{
    const struct run_args *a = c->cli->args;
    const struct wr_dlio_source src = {
        .w = c->w,
        .res = &c->res,
        .rank = c->ranks.launch.rank,
        .name = c->cli->operands[0],
        .overrides = c->overrides,
        .override_count = c->override_count,
    };

    return a->dlio_output ? wr_dlio_output(a->dlio_output, &src, err) : 0;
}

static int finish(struct run_call *c, int r, const weir_err *err)
{
    const struct run_args *a = c->cli->args;
    weir_err why;

    if (r < 0)
        return r == WEIR_EINVAL ? wr_cli_usage(c->cli, "%s", err->msg)
                                : wr_ranks_failed(&c->ranks, c->cli, r, err);
    if (give_dlio(c, &why) < 0)
        return wr_ranks_fail(&c->ranks, c->cli, why.msg);
    if (!wr_ranks_speaks(&c->ranks))
        return WR_EXIT_DONE;
    if (give(c, &why) < 0)
        return wr_cli_fail(c->cli, "%s", why.msg);
    return a->check && misses(c) ? WR_EXIT_MISSED : WR_EXIT_DONE;
}

static void done(struct run_call *c)
{
    wr_monitor_free(&c->monitor);
    wr_run_done(&c->res);
    weir_dataset_close(&c->train);
    weir_dataset_close(&c->eval);
    wr_workload_free(c->w);
    wr_ranks_done(&c->ranks);
    free(c->overrides);
    free(c->data_url);
}

/* "--ckpt", "'my.yaml':12", "checkpoint.checkpoint_folder=...", by whom the
 * folder of checkpoints was chosen. */
static const char *chosen_by(const struct wr_run_plan *plan,
                             const struct run_args *args, char *buf, size_t cap)
{
    const struct wr_workload *w = plan->w;

    if (args->ckpt)
        return "--ckpt";
    if (w->said.checkpoints.command)
        return "checkpoint.checkpoint_folder=";
    if (!w->said.checkpoints.line)
        return "by default";
    snprintf(buf, cap, "'%.200s':%u", w->file, w->said.checkpoints.line);
    return buf;
}

/* A note for each folder that the run will write to. */
static void tell_folders(const struct wr_run_plan *plan,
                         const struct wr_cli *cli)
{
    const struct run_args *args = cli->args;
    char *files = wr_run_extra_folder(plan);
    char by[240];

    if (wr_run_saves(plan))
        wr_cli_note(cli, "saves checkpoints to '%s' (%s)", plan->ckpt.fast,
                    chosen_by(plan, args, by, sizeof(by)));
    if (wr_run_saves(plan) && plan->ckpt.slow)
        wr_cli_note(cli, "and drains them to '%s' (--slow)", plan->ckpt.slow);
    if (files)
        wr_cli_note(cli, "writes other files to '%s'", files);
    if (args->dlio_output)
        wr_cli_note(cli, "writes DLIO's results to '%s' (--dlio-output)",
                    args->dlio_output);
    free(files);
}

static int run_call(struct run_call *c)
{
    const struct run_args *a = c->cli->args;
    weir_err err;
    int r;

    if (a->list)
        return wr_run_print_list(c->cli);
    if (!c->cli->operand_count)
        return wr_cli_usage(c->cli, "which workload? --list names those that "
                                    "are built in");
    r = load(c, &err);
    if (r == 0 && !a->explain)
        r = check_format(c, &err);
    if (r == 0 && !a->explain)
        r = check_folders(c, &err);
    if (r < 0)
        return wr_cli_usage(c->cli, "%s", err.msg);
    if (a->explain)
        return wr_run_print_explained(c->cli, c->w, world_of(c));
    r = wr_ranks_meet(&c->ranks, &err);
    if (r == 0)
        r = wr_ranks_in_turn(&c->ranks, open_data, c, &err);
    if (r == WEIR_ENOENT)
        return wr_cli_usage(c->cli, "%s", err.msg);
    if (r < 0)
        return wr_ranks_speaks(&c->ranks) ? wr_cli_open_failed(c->cli, &err)
                                          : WR_EXIT_FAILED;
    if (wr_ranks_speaks(&c->ranks))
        tell_folders(&c->plan, c->cli);
    r = run(c, &err);
    return finish(c, r, &err);
}

static int run_run(struct wr_cli *cli)
{
    struct run_call *c = calloc(1, sizeof(*c));
    weir_err err;
    int code;

    if (!c)
        return wr_cli_fail(cli, "out of memory");
    c->cli = cli;
    code = wr_ranks_find(&c->ranks, cli, &err) < 0
               ? wr_cli_fail(cli, "%s", err.msg)
               : run_call(c);
    done(c);
    free(c);
    return code;
}

static const struct wr_operand operands[] = {
    {.name = "WORKLOAD",
     .flags = WR_OPERAND_OPTIONAL | WR_OPERAND_PATH,
     .help = "one that is built in (--list), or a YAML file: weir's, DLIO's or "
             "MLPerf Storage's"},
    {.name = "DATA|KEY=VALUE",
     .flags = WR_OPERAND_OPTIONAL | WR_OPERAND_PATH | WR_OPERAND_MANY,
     .help = "the folder that weir gen made, or a URL; and overrides of the "
             "description: reader.batch_size=8"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir run --list", "what is built in"},
    {"weir run unet3d_h100 --explain -g 8",
     "what eight H100 that train unet3d demand of the storage"},
    {"weir gen unet3d_h100 data --scale 0.05", "its data, 5 % of it"},
    {"weir run unet3d_h100 data --scale 0.05 -g 2",
     "does this storage keep two of them busy?"},
    {"weir run unet3d_h100 data --scale 0.05 --search accelerators",
     "how many can it feed?"},
    {"weir run resnet50_a100 emu:lustre:data train.epochs=1",
     "the same from an emulated device, one epoch"},
    {"mpirun -n 4 weir run cosmoflow_a100 /lustre/data -g 2",
     "four processes with two accelerators each, one result"},
    {"weir run my.yaml data --dlio-output out",
     "a description of DLIO, with its result files"},
    {NULL, NULL}};

const struct wr_command wr_cmd_run = {
    .name = "run",
    .group = WR_GROUP_MEASURE,
    .summary = "emulate a training workload: can this storage feed it?",
    .description =
        "Runs what a description says of a training: epochs of steps on "
        "batches from real storage, evaluations, checkpoints. The accelerators "
        "are emulated: each step takes the time that is described, and no "
        "core. The result is the accelerator utilization (AU): the time that "
        "computing takes over the time that training took. Below the target "
        "(metric.au) the storage does not feed that many.\n\n"
        "The loss is explained: waiting for reads, waiting for the slowest "
        "accelerator, saving, evaluating, and what the emulator itself took. "
        "Before, the same run without I/O shows whether this machine can "
        "emulate it at all.\n\n"
        "Descriptions are YAML files with DLIO's keys, so that its files and "
        "those of MLPerf Storage can be used as they are; misspelt keys are "
        "errors, keys without effect are named.",
    .operands = operands,
    .options = wr_run_options,
    .args_size = sizeof(struct run_args),
    .defaults = wr_run_args_defaults,
    .examples = examples,
    .ranks = WR_RANKS_ALL,
    .run = run_run,
};
