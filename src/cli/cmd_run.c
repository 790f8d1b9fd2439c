/* cmd_run.c - weir run: runs a workload on emulated accelerators.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/shown.h"
#include "base/value.h"
#include "cli/record_json.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/run_args.h"
#include "cli/screen.h"
#include "cli/session.h"
#include "run/dlio_output.h"
#include "run/saver.h"
#include "run/figures.h"
#include "run/folders.h"
#include "run/record.h"
#include "run/run.h"
#include "run/setup.h"
#include "storage/storage.h"
#include "workload/catalog.h"
#include "workload/choices.h"
#include "workload/derive.h"
#include "workload/explain.h"

/* The label of the progress line; `trying` is the number of accelerators of a
 * search, 0: there is none. */
static void run_label(const struct wr_run_news *news, unsigned trying,
                      char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%s, epoch %" PRIu64, news->doing, news->epoch);

    if (trying && n >= 0 && (size_t)n < cap)
        n += snprintf(buf + n, cap - (size_t)n, ", %u accelerator%s", trying,
                      trying == 1 ? "" : "s");
    if (isfinite(news->au) && n >= 0 && (size_t)n < cap)
        snprintf(buf + n, cap - (size_t)n, ", AU %.1f %%", news->au * 100);
}

/* The name of its data format. */
static const char *run_format_name(const struct wr_workload *w)
{
    return wr_choice_name(wr_wl_formats, (int)w->dataset.format);
}

/* --- the list --- */

static const char *group_title(const char *group)
{
    static const char *const titles[][2] = {
        {"seed", "Ten scientific workloads"},
        {"mlperf", "MLPerf Storage and DLIO"},
        {"checkpoint", "Checkpoints of language models"},
    };

    int k = wr_named_index(WR_NAMED(titles), group);

    return k < 0 ? group : titles[k][1];
}

static void add_entry(struct wr_doc_table *t, const struct wr_catalog_entry *e)
{
    struct wr_workload *w;
    weir_err err;

    if (wr_workload_parse(e->name, e->text, e->len, NULL, 0, NULL, NULL, &w,
                          &err) < 0) {
        wr_doc_cell(t, "%s", e->name);
        wr_doc_cell(t, "%s", "");
        wr_doc_cell(t, "%s", err.msg);
        return;
    }
    wr_doc_cell(t, "%s", e->name);
    wr_doc_cell(t, "%s", w->workflow.train ? run_format_name(w) : "-");
    wr_doc_cell(t, "%s", w->weir.title ? w->weir.title : "");
    wr_workload_free(w);
}

/* Entries of one group, from k on; returns the first of the next one. */
static size_t print_group(const struct wr_cli *cli, size_t k)
{
    const struct wr_catalog_entry *e = wr_catalog_at(k);
    struct wr_doc_table *t = wr_doc_list("<|<|<");
    const char *group = e->group;

    wr_cli_put(cli, "%s%s%s%s\n", k ? "\n" : "",
               wr_cli_style(cli, WR_STYLE_BOLD), group_title(group),
               wr_cli_style(cli, WR_STYLE_END));
    for (; (e = wr_catalog_at(k)) && !strcmp(e->group, group); k++)
        add_entry(t, e);
    wr_cli_list(cli, t, 2, NULL);
    return k;
}

/* The workloads that are built in, by group. Returns enum wr_exit. */
static int run_print_list(const struct wr_cli *cli)
{
    struct wr_screen screen;
    size_t k = 0;

    while (wr_catalog_at(k))
        k = print_group(cli, k);
    wr_cli_put(wr_screen_start(&screen, cli),
               "\nweir run NAME --explain says what one demands, weir "
               "gen NAME FOLDER makes its data.\n");
    wr_screen_end(&screen);
    return WR_EXIT_DONE;
}

/* --- what follows from a description --- */

static double memory_of_host(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static int print_rows(const struct wr_cli *cli, const struct wr_explain *x)
{
    const char *group = NULL;
    struct wr_doc_table *t = NULL;

    for (size_t k = 0; k <= x->count; k++) {
        const struct wr_explain_row *row = k < x->count ? &x->row[k] : NULL;

        if (!row || !group || strcmp(row->group, group) != 0) {
            wr_cli_list(cli, t, 2, NULL);
            t = NULL;
        }
        if (!row)
            break;
        if (!t) {
            wr_cli_put(cli, "%s%s\n", group ? "\n" : "",
                       wr_show(row->group).text);
            t = wr_doc_list("<|>|<");
        }
        group = row->group;
        wr_doc_cell(t, "%s", row->name);
        wr_doc_cell(t, "%s", row->value);
        wr_doc_cell(t, "%s", row->note);
    }
    return WR_EXIT_DONE;
}

/* What follows from a description for so many accelerators. */
static int run_print_explained(const struct wr_cli *cli,
                               const struct wr_workload *w, uint64_t world)
{
    struct wr_explain *x = wr_new(cli, 1, sizeof(*x));
    const struct wr_cli *to;
    struct wr_screen screen;
    struct wr_derived d;
    weir_err err;
    int code;

    if (wr_workload_derive(w, world, memory_of_host(), &d, &err) < 0) {
        free(x);
        return wr_cli_usage(cli, "%s", err.msg);
    }
    to = wr_screen_start(&screen, cli);
    if (w->weir.title)
        wr_cli_put(to, "%s\n", wr_show_path(w->weir.title).text);
    if (w->weir.source)
        wr_cli_put(to, "(%s)\n", wr_show_path(w->weir.source).text);
    wr_cli_put(to, "\n");
    wr_screen_end(&screen);
    wr_workload_explain(w, &d, x);
    code = print_rows(cli, x);
    free(x);
    return code;
}

/* One call of the command. */
struct run_call {
    struct wr_session s;
    struct wr_workload *w;  /* owned */
    const char **overrides; /* owned: the list */
    size_t override_count;
    const char *data;   /* borrowed from argv; NULL: not given */
    char *data_url;     /* owned */
    weir_dataset *eval; /* owned */
    struct wr_run_plan plan;
    struct wr_run_selftest selftest;
    struct wr_run_search search;
    struct wr_run_result res;
};

/* --- callbacks --- */

static void on_progress(void *arg, const struct wr_run_news *news)
{
    struct run_call *c = arg;

    run_label(news, c->search.target > 0 ? c->plan.accelerators : 0, c->s.label,
              sizeof(c->s.label));
    wr_progress_callback(&c->s.line, news->done, news->total);
}

static void on_trying(void *arg, unsigned accelerators)
{
    struct run_call *c = arg;

    c->plan.accelerators = accelerators;
}

/* --- the description --- */

/* As many as were asked for, else those that hold one copy of the model, on all
 * ranks together. */
static unsigned accelerators_of(const struct run_call *c)
{
    const struct run_args *a = c->s.args;
    uint64_t copy = c->w->model.tensor * c->w->model.pipeline;
    uint64_t ranks = c->s.ranks.launch.world;

    if (a->accelerators)
        return (unsigned)a->accelerators;
    return (unsigned)WR_MIN((copy + ranks - 1) / ranks, UINT64_C(4096));
}

static uint64_t world_of(const struct run_call *c)
{
    return (uint64_t)accelerators_of(c) * c->s.ranks.launch.world;
}

static int load(struct run_call *c, weir_err *err)
{
    const struct run_args *a = c->s.args;
    const char *name = c->s.cli->operands[0];
    int r = 0;

    c->overrides = wr_new(c->s.cli, c->s.cli->operand_count + 1,
                          sizeof(*c->overrides));
    c->override_count = wr_run_operands(c->s.cli, c->overrides, &c->data, err,
                                        &r);
    if (r == 0)
        r = wr_workload_load(name, c->overrides, c->override_count,
                             wr_session_note, &c->s, &c->w, err);
    if (r == 0 && a->plan.scale != 1)
        r = wr_workload_scale(c->w, a->plan.scale, world_of(c), err);
    if (r == 0)
        r = wr_run_plan_of(c->s.cli, c->w, &c->plan, err);
    if (r == 0)
        c->plan.accelerators = accelerators_of(c);
    return r;
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
 * how many there are. Fresh memory. */
static char *axis_schema(const struct run_call *c, const char *schema)
{
    if (schema && strstr(schema, "axis="))
        return wr_new_text(c->s.cli, "%s", schema);
    return wr_new_text(c->s.cli, "%s%saxis=auto:%" PRIu64, schema ? schema : "",
                       schema ? "," : "", c->w->dataset.samples_per_file);
}

static int open_part(struct run_call *c, bool eval, weir_dataset **ret,
                     weir_err *err)
{
    const struct run_args *a = c->s.args;
    struct wr_open_args open = a->open;
    enum wr_wl_format format = c->w->dataset.format;
    bool numpy = !open.format && (format == WR_WL_NPY || format == WR_WL_NPZ);
    char *url = wr_run_data_url(c->data_url, eval), *schema = NULL;
    int r;

    if (!url)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (!eval && !is_folder(url)) { /* the data itself, not its parent */
        free(url);
        url = wr_new_text(c->s.cli, "%s", c->data_url);
    }
    if (!open.format)
        open.format = wr_run_format(format);
    if (numpy)
        open.schema = schema = axis_schema(c, a->open.schema);
    r = wr_cli_open(c->s.cli, url, &open, ret, err);
    free(schema);
    free(url);
    if (r == 0)
        wr_dataset_note_issues(c->s.cli, *ret);
    return r;
}

/* "ROOT/FOLDER" of the description, as DLIO has it. */
static char *described_data(const struct run_call *c)
{
    const struct wr_workload *w = c->w;
    const char *root = w->storage.root, *folder = w->dataset.data_folder;
    bool plain = *folder == '/' || !*root || !strcmp(root, "./");

    return wr_new_text(c->s.cli, "%s%s%s", plain ? "" : root, plain ? "" : "/",
                       folder);
}

static bool needs_data(const struct run_call *c)
{
    return c->w->workflow.train && !c->plan.no_io &&
           c->w->dataset.format != WR_WL_SYNTHETIC;
}

/* Before anything is opened: what the description may not choose. */
static int check_folders(const struct run_call *c, weir_err *err)
{
    char *data = needs_data(c) && !c->data ? described_data(c) : NULL;
    const struct run_args *args = c->s.args;
    int r = wr_run_folders_check(&c->plan, args->ckpt != NULL, data, err);

    free(data);
    return r;
}

static int check_format(const struct run_call *c, weir_err *err)
{
    if (!needs_data(c) || wr_run_format(c->w->dataset.format))
        return 0;
    return wr_fail(err, WEIR_ENOTSUP, "%s: weir reads no data of this format",
                   run_format_name(c->w));
}

static int open_data(void *arg, weir_err *err)
{
    struct run_call *c = arg;
    int r = 0;

    if (!needs_data(c))
        return 0;
    c->data_url = c->data ? wr_new_text(c->s.cli, "%s", c->data)
                          : described_data(c);
    r = open_part(c, /* eval= */ false, &c->s.ds, err);
    if (r == 0 && c->w->workflow.evaluation && c->w->dataset.files_eval)
        r = open_part(c, /* eval= */ true, &c->eval, err);
    c->plan.train = c->s.ds;
    c->plan.eval = c->eval;
    return r;
}

/* --- running --- */

static int measure(struct run_call *c, weir_err *err)
{
    const struct run_args *a = c->s.args;
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

static int run_work(void *call, weir_err *err)
{
    struct run_call *c = call;

    c->plan.comm = c->s.ranks.comm;
    c->plan.comm_url = c->s.ranks.launch.url;
    c->plan.progress = on_progress;
    c->plan.note = wr_session_note;
    c->plan.arg = c;
    c->plan.stopped = wr_interrupted;
    return measure(c, err);
}

/* --- results --- */

static bool misses(const struct run_call *c)
{
    struct wr_run_figures *f = wr_new(c->s.cli, 1, sizeof(*f));
    double au;

    wr_run_figures(&c->res, f);
    au = c->plan.compat_dlio ? f->au_dlio : f->au;
    free(f);
    return c->search.target > 0 ? c->search.most == 0 : au < c->w->metric.au;
}

static json_t *run_record(void *call)
{
    struct run_call *c = call;
    const struct run_args *a = c->s.args;
    struct wr_run_report report = {
        .plan = &c->plan,
        .res = &c->res,
        .name = c->s.cli->operands[0],
        .data = c->data_url,
        .selftest = a->selftest ? &c->selftest : NULL,
        .search = a->search ? &c->search : NULL,
        .monitor = &c->s.monitor,
    };

    return wr_run_record(&report);
}

/* Each rank has files of its own. */
static int give_dlio(struct run_call *c, weir_err *err)
{
    const struct run_args *a = c->s.args;
    const struct wr_dlio_source src = {
        .w = c->w,
        .res = &c->res,
        .rank = c->s.ranks.launch.rank,
        .name = c->s.cli->operands[0],
        .overrides = c->overrides,
        .override_count = c->override_count,
    };

    return a->dlio_output ? wr_dlio_output(a->dlio_output, &src, err) : 0;
}

static int run_fail(void *call, int r, const weir_err *err)
{
    struct run_call *c = call;

    return r == WEIR_EINVAL ? wr_cli_usage(c->s.cli, "%s", err->msg)
                            : wr_ranks_failed(&c->s.ranks, c->s.cli, r, err);
}

static int run_finish(void *call)
{
    struct run_call *c = call;
    const struct run_args *a = c->s.args;
    weir_err why;

    if (give_dlio(c, &why) < 0)
        return wr_ranks_fail(&c->s.ranks, c->s.cli, why.msg);
    return a->check && wr_ranks_speaks(&c->s.ranks) && misses(c)
               ? WR_EXIT_MISSED
               : WR_EXIT_DONE;
}

static void run_done(void *call)
{
    struct run_call *c = call;

    wr_run_done(&c->res);
    weir_dataset_close(&c->eval);
    wr_workload_free(c->w);
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

static int run_prepare(void *call)
{
    struct run_call *c = call;
    const struct run_args *a = c->s.args;
    weir_err err;
    int r;

    if (a->list)
        return run_print_list(c->s.cli);
    if (!c->s.cli->operand_count)
        return wr_cli_usage(c->s.cli, "which workload? --list names those that "
                                      "are built in");
    r = load(c, &err);
    if (r == 0 && !a->explain)
        r = check_format(c, &err);
    if (r == 0 && !a->explain)
        r = check_folders(c, &err);
    if (r < 0)
        return wr_cli_usage(c->s.cli, "%s", err.msg);
    return a->explain ? run_print_explained(c->s.cli, c->w, world_of(c))
                      : WR_GO_ON;
}

static int run_begin(void *call)
{
    struct run_call *c = call;

    if (wr_ranks_speaks(&c->s.ranks))
        tell_folders(&c->plan, c->s.cli);
    if (c->w->workflow.checkpoint)
        wr_session_watch(&c->s, c->plan.ckpt.fast);
    wr_session_watch(&c->s, c->plan.ckpt.slow);
    return WR_GO_ON;
}

static const struct wr_session_job job = {
    .call_bytes = sizeof(struct run_call),
    .ranks = WR_JOB_RANKS,
    .not_there_is_usage = true,
    .label = "testing the emulator",
    .unit = "steps",
    .monitor_hz = offsetof(struct run_args, monitor_hz),
    WR_JOB_RECORD(struct run_args),
    .prepare = run_prepare,
    .open = open_data,
    .begin = run_begin,
    .work = run_work,
    .fail = run_fail,
    .record = run_record,
    .finish = run_finish,
    .done = run_done};

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
    .job = &job,
};
