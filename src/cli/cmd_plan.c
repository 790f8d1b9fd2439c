/* cmd_plan.c - weir plan: will it feed them, and what to change?
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/record_json.h"
#include "cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"
#include "cli/interrupt.h"
#include "cli/plan_args.h"
#include "cli/session.h"
#include "cli/report_trace.h"
#include "plan/answer.h"
#include "plan/paper.h"
#include "report/plan_tables.h"
#include "result/get.h"
#include "trace/workload.h"
#include "result/record.h"
#include "workload/catalog.h"

static const char *const devices[] = {"hdd", "ssd", "optane", "lustre"};
static const uint32_t threads[] = {1, 2, 4, 8};

/* One call of the command. */
struct plan_call {
    struct wr_session s;
    struct wr_plan_draft draft;
    struct wr_plan_answer answer;
};

/* --- the systems of the paper --- */

static void put(struct wr_doc_table *t, const char *what, const char *paper,
                double simulated)
{
    wr_doc_cell(t, "%s", what);
    wr_doc_cell(t, "%s", paper);
    wr_doc_cell(t, "%.2fx", simulated);
}

/* What so many threads gain. */
static double gain(const char *device, uint32_t n, weir_err *err)
{
    return wr_paper_read_rate(device, n, err) /
           wr_paper_read_rate(device, 1, err);
}

/* Seconds of a save to the disk over those through the burst buffer. */
static double burst_gain(double saver_s, weir_err *err)
{
    struct wr_paper_saves disk, burst;

    if (wr_paper_saving("hdd", saver_s, &disk, err) < 0 ||
        wr_paper_saving("burst", saver_s, &burst, err) < 0)
        return NAN;
    return disk.stall_s / burst.stall_s;
}

static int print_gains(const struct wr_cli *cli, weir_err *err)
{
    struct wr_doc_table *t = wr_doc_list("<what is gained|>paper|>simulated");
    char saver[80];
    int r;

    snprintf(saver, sizeof(saver),
             "the same, TensorFlow's saver taking %.2f s (solved for)",
             WR_PAPER_SAVER_S);
    put(t, "reading by 2 threads, hdd", "1.65x", gain("hdd", 2, err));
    put(t, "by 4 threads", "1.95x", gain("hdd", 4, err));
    put(t, "by 8 threads", "2.30x", gain("hdd", 8, err));
    put(t, "by 8 threads, lustre", "7.80x", gain("lustre", 8, err));
    put(t, "saving through a burst buffer: bandwidths alone", "2.60x",
        burst_gain(0, err));
    put(t, saver, "2.60x", burst_gain(WR_PAPER_SAVER_S, err));
    r = wr_cli_list(cli, t, 0, err);
    return r;
}

/* Fig. 6: with prefetch all bars are the same. */
static int print_runs(const struct wr_cli *cli, weir_err *err)
{
    struct wr_doc_table *t = wr_doc_list(
        "<device|>threads|>with prefetch|>without|>cost of I/O");
    int r;

    for (unsigned d = 0; d < WR_ARRAY_LEN(devices); d++)
        for (unsigned k = 0; k < WR_ARRAY_LEN(threads); k++) {
            double with = wr_paper_run(devices[d], threads[k], 1, err);
            double without = wr_paper_run(devices[d], threads[k], 0, err);

            wr_doc_cell(t, "%s", k ? "" : devices[d]);
            wr_doc_cell(t, "%" PRIu32, threads[k]);
            wr_doc_cell(t, "%.1f s", with);
            wr_doc_cell(t, "%.1f s", without);
            wr_doc_cell(t, "%.1f s", without - with);
        }
    r = wr_cli_list(cli, t, 0, err);
    return r;
}

/* Fig. 9. */
static int print_saves(const struct wr_cli *cli, weir_err *err)
{
    static const char *const to[] = {"hdd", "ssd", "optane", "lustre", "burst"};
    struct wr_paper_saves s[WR_ARRAY_LEN(to)];
    struct wr_doc_table *t;

    for (unsigned k = 0; k < WR_ARRAY_LEN(to); k++) {
        int r = wr_paper_saving(to[k], WR_PAPER_SAVER_S, &s[k], err);

        if (r < 0)
            return r;
    }
    t = wr_doc_list("<saves to|>a save|>the whole run");
    for (unsigned k = 0; k < WR_ARRAY_LEN(to); k++) {
        wr_doc_cell(t, "%s", k == 4 ? "burst buffer: optane, then hdd" : to[k]);
        wr_doc_cell(t, "%.2f s", s[k].stall_s);
        wr_doc_cell(t, "%.1f s", s[k].run_s);
    }
    return wr_cli_list(cli, t, 0, err);
}

/* Prints what is simulated beside what the paper states. */
static int plan_print_paper(const struct wr_cli *cli, weir_err *err)
{
    int r;

    wr_cli_put(
        cli, "Chien et al. 2018, simulated from Table I's devices and a K4000 "
             "of 1.5 s per batch of 64\n\n");
    r = print_gains(cli, err);
    wr_cli_put(
        cli,
        "\nFig. 6: 142 iterations on Caltech 101. Paper: with prefetch the "
        "time is the same\nfor all threads and devices; without, I/O comes "
        "on top, most on the disk.\n\n");
    if (r == 0)
        r = print_runs(cli, err);
    wr_cli_put(
        cli,
        "\nFig. 9: 100 iterations, a checkpoint of 600 MB every 20. Paper: "
        "Optane is the\nfastest, then SSD; the burst buffer is about as "
        "fast as Optane alone.\n\n");
    if (r == 0)
        r = print_saves(cli, err);
    return r;
}

/* --- its inputs --- */

static void on_note(void *arg, const char *text)
{
    wr_cli_note(arg, "%s", text);
}

static void add(struct wr_plan_answer *a, const char *path, const char *kind)
{
    if (a->input_count < WR_PLAN_INPUTS_MAX)
        a->inputs[a->input_count++] = (struct wr_plan_input){path, kind};
}

/* --- kinds of inputs --- */

static int take_workload(const struct wr_cli *cli, const char *name,
                         struct wr_plan_draft *d, weir_err *err)
{
    struct wr_workload *w = NULL;
    int r = wr_workload_load(name, NULL, 0, on_note, (void *)(uintptr_t)cli, &w,
                             err);

    if (r == 0)
        r = wr_plan_from_workload(d, w, name, err);
    wr_workload_free(w);
    return r;
}

static int take_trace(const char *path, struct wr_plan_draft *d, weir_err *err)
{
    struct wr_trace_file *f = NULL;
    struct wr_workload *w = NULL;
    char *text = NULL;
    int r = wr_trace_file_open(&f, path, err);

    if (r == 0)
        r = wr_traced_workload(f, path, &text, err);
    if (r == 0)
        r = wr_workload_parse(path, text, strlen(text), NULL, 0, NULL, NULL, &w,
                              err);
    if (r == 0)
        r = wr_plan_from_workload(d, w, path, err);
    wr_workload_free(w);
    free(text);
    wr_trace_file_close(f);
    return r;
}

/* The name of a record's command, for as long as the program runs. */
static const char *kind_of(const json_t *record)
{
    static const char *const kinds[] = {"bench", "probe", "ckpt", "train",
                                        "run"};

    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        if (!strcmp(wr_get_text(record, "command"), kinds[k]))
            return kinds[k];
    return "";
}

/* --- telling them apart --- */

static bool is_yaml(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

/* A record is a JSON object. */
static bool begins_with_brace(const char *text, size_t size)
{
    size_t k = 0;

    while (k < size && wr_is_space(text[k]))
        k++;
    return k < size && text[k] == '{';
}

static int take_file(const struct wr_cli *cli, const char *path,
                     struct wr_plan_draft *d, struct wr_plan_answer *a,
                     weir_err *err)
{
    const struct plan_args *args = cli->args;
    json_t *record = NULL;
    char *text = NULL;
    size_t size = 0;
    int r = wr_record_read(path, &text, &size, err);

    if (r == 0 && size && !begins_with_brace(text, size)) {
        free(text);
        add(a, path, "workload");
        return take_workload(cli, path, d, err);
    }
    if (r == 0)
        r = wr_record_parse(text, size, path, &record, err);
    if (r == 0) {
        const struct wr_plan_record rec = {path, record,
                                           (size_t)args->wanted_case};

        add(a, path, kind_of(record));
        r = wr_plan_from_record(d, &rec, err);
    }
    json_decref(record);
    free(text);
    return r;
}

static int take_input(const struct wr_cli *cli, const char *path,
                      struct wr_plan_draft *d, struct wr_plan_answer *a,
                      weir_err *err)
{
    bool is_stdin = !strcmp(path, "-");
    bool there = is_stdin || access(path, F_OK) == 0;

    if (!there && (wr_catalog_find(path) || is_yaml(path))) {
        add(a, path, "workload");
        return take_workload(cli, path, d, err);
    }
    if (!there)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s': no such file, and no workload has this name "
                       "('weir run --list' names them)",
                       path);
    if (!is_stdin && wr_report_is_trace(path)) {
        add(a, path, "trace");
        return take_trace(path, d, err);
    }
    return take_file(cli, path, d, a, err);
}

/* Each operand into the draft: a record, a workload (a file, or one that is
 * built in) or a trace; and into the list of inputs. */
static int plan_read_inputs(const struct wr_cli *cli, struct wr_plan_draft *d,
                            struct wr_plan_answer *a, weir_err *err)
{
    int r = 0;

    if (cli->operand_count > WR_PLAN_INPUTS_MAX - 1)
        return wr_fail(err, WEIR_EINVAL, "more than %d inputs",
                       WR_PLAN_INPUTS_MAX - 1);
    for (size_t k = 0; k < cli->operand_count && r == 0; k++)
        r = take_input(cli, cli->operands[k], d, a, err);
    return r;
}

/* --- times --- */

/* What is known besides. */
static struct wr_plan_hints hints_of(const struct wr_plan_draft *d)
{
    const struct wr_plan *p = &d->plan;
    struct wr_plan_hints h = {.step_ms = NAN};

    if (d->facts[WR_PLAN_K_WORKERS].known)
        h.workers = p->loader.workers;
    if (d->facts[WR_PLAN_K_PREFETCH].known)
        h.prefetch = p->loader.prefetch;
    if (d->facts[WR_PLAN_K_STEP].known)
        h.step_ms = p->compute.step_s.mean * 1e3;
    if (d->facts[WR_PLAN_K_EVERY].known)
        h.save_every = p->save.every;
    return h;
}

/* Reads the times of batches and explains them, with what the draft knows. */
static int plan_read_times(const char *path, const struct wr_plan_draft *d,
                           struct wr_plan_answer *a, weir_err *err)
{
    const struct wr_plan_hints hints = hints_of(d);
    char *text = NULL;
    size_t size = 0;
    int r = wr_record_read(path, &text, &size, err);

    if (r == 0)
        r = wr_plan_times_parse(text, size, path, &a->times, err);
    free(text);
    if (r < 0)
        return r;
    r = wr_plan_explain(&a->times, &hints, &a->explained, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", path);
    add(a, path, "times");
    return 0;
}

/* --- the command --- */

static void on_progress(void *arg, const char *what, size_t done, size_t total)
{
    struct plan_call *c = arg;

    snprintf(c->s.label, sizeof(c->s.label), "%s", what);
    wr_progress_callback(&c->s.line, done, total);
}

/* Whether a plan is described at all, or only times are to be explained. */
static bool is_planned(const struct plan_call *c)
{
    const struct plan_args *a = c->s.args;

    return !a->explain || c->s.cli->operand_count || a->model || a->storage;
}

/* Everything that is said, and what follows from it. */
static int gather(struct plan_call *c, weir_err *err)
{
    const struct plan_args *a = c->s.args;
    const struct wr_plan_model *model = NULL;
    int r = wr_plan_args_check(c->s.cli, err);

    wr_plan_draft_init(&c->draft);
    if (r == 0)
        r = wr_plan_args_say(c->s.cli, &c->draft, &model, err);
    if (r == 0)
        r = plan_read_inputs(c->s.cli, &c->draft, &c->answer, err);
    if (r == 0)
        r = wr_plan_args_say_late(c->s.cli, &c->draft, err);
    if (r == 0 && is_planned(c))
        r = wr_plan_draft_finish(&c->draft, err);
    if (r == 0 && a->explain)
        r = plan_read_times(a->explain, &c->draft, &c->answer, err);
    c->answer.model = model ? model->name : NULL;
    return r;
}

static int plan_work(void *call, weir_err *err)
{
    struct plan_call *c = call;
    const struct plan_args *a = c->s.args;
    const struct wr_plan_questions q = {
        .target = a->target,
        .most = (uint32_t)a->most,
        .what_if = a->what_if,
        .life = (uint32_t)a->life,
        .steps = a->simulate,
        .scale = a->scale.v,
        .scale_count = a->scale.count,
        .stopped = wr_interrupted,
        .progress = on_progress,
        .arg = c,
    };

    if (!is_planned(c))
        return 0;
    c->answer.draft = &c->draft;
    return wr_plan_answer(&c->answer, &q, err);
}

static int plan_fail(void *call, int r, const weir_err *err)
{
    struct plan_call *c = call;

    return r == WEIR_EINVAL ? wr_cli_usage(c->s.cli, "%s", err->msg)
                            : wr_cli_fail(c->s.cli, "%s", err->msg);
}

/* What is read cannot be planned with, whatever the reason. */
static int plan_prepare(void *call)
{
    struct plan_call *c = call;
    weir_err err;
    int r = gather(c, &err);

    if (r == 0)
        return WR_GO_ON;
    return plan_fail(c, r == WEIR_ENOMEM ? r : WEIR_EINVAL, &err);
}

static json_t *plan_record(void *call)
{
    struct plan_call *c = call;

    return wr_plan_record(&c->answer);
}

static void plan_done(void *call)
{
    struct plan_call *c = call;

    wr_plan_answer_done(&c->answer);
}

static const struct wr_session_job job = {
    .call_bytes = sizeof(struct plan_call),
    .label = "",
    WR_JOB_RECORD(struct plan_args),
    .prepare = plan_prepare,
    .work = plan_work,
    .fail = plan_fail,
    .record = plan_record,
    .done = plan_done};

static int print_paper(struct wr_cli *cli)
{
    weir_err err;

    return plan_print_paper(cli, &err) < 0 ? wr_cli_fail(cli, "%s", err.msg)
                                           : WR_EXIT_DONE;
}

static int plan_run(struct wr_cli *cli)
{
    const struct plan_args *a = cli->args;

    return a->paper ? print_paper(cli) : wr_session(cli, &job);
}

static const struct wr_operand operands[] = {
    {.name = "INPUT",
     .flags = WR_OPERAND_OPTIONAL | WR_OPERAND_PATH | WR_OPERAND_MANY,
     .help = "records of weir bench, probe, ckpt bench, train and run; a "
             "workload (a name of 'weir run --list', or a YAML file); a trace "
             "of weir trace"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir plan --model resnet50 --accelerator A100 -g 8 --storage nvme "
     "--cores 64",
     "what do eight A100 need, and does an NVMe drive deliver it?"},
    {"weir plan bench.json probe.json --accelerator A100 -g 4",
     "from what was measured: who waits for whom, what to change"},
    {"weir plan unet3d_h100 --storage lustre --cores 48 --life 6",
     "a workload, and the life of its first six batches"},
    {"weir plan cosmoflow_h100 --aggregate 1TB/s --cores 64 --try-nodes "
     "10,100,1000",
     "nodes that share one file system"},
    {"weir plan bert_v100 --storage hdd --save burst --fast-device ssd --mtbf "
     "9000",
     "saves through a burst buffer, and how often to save"},
    {"weir plan --stalls train.log --threads 4",
     "why does every fourth batch stall?"},
    {NULL, NULL}};

const struct wr_command wr_cmd_plan = {
    .name = "plan",
    .group = WR_GROUP_MEASURE,
    .summary = "predict how fast a training runs, and what to change",
    .description =
        "Answers how fast a training will run, who waits for whom, what to "
        "change, and what to buy, from what was measured, described or given. "
        "The first bottleneck is computed from what each resource could do "
        "alone; queues, variation, the start of an epoch and saves are "
        "simulated in virtual time, with the same device model that emu: "
        "paths use. Nothing is read or measured but the inputs.\n\n"
        "Options win over records, records over descriptions, these over "
        "tables; of two records the later one wins and that is said. Inputs "
        "about different data are refused. Every number is listed with its "
        "source, and what was assumed is marked.\n\n"
        "The table of changes tries one thing at a time and is sorted by what "
        "it gains. The same seed gives the same result.",
    .operands = operands,
    .options = wr_plan_options,
    .args_size = sizeof(struct plan_args),
    .columns = wr_plan_columns,
    .examples = examples,
    .ranks = WR_RANKS_FIRST,
    .run = plan_run,
};
