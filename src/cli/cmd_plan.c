/* cmd_plan.c - weir plan: will it feed them, and what to change?
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/plan_args.h"
#include "cli/plan_inputs.h"
#include "cli/plan_paper.h"
#include "cli/progress.h"
#include "cli/record_json.h"
#include "record/plan_tables.h"

/* One call of the command. */
struct plan_call {
    struct wr_cli *cli;
    struct wr_plan_draft draft;
    struct wr_plan_answer answer;
    struct wr_progress line;
    char label[80];
};

static void on_progress(void *arg, const char *what, size_t done, size_t total)
{
    struct plan_call *c = arg;

    snprintf(c->label, sizeof(c->label), "%s", what);
    wr_progress_total(&c->line, total);
    wr_progress_set(&c->line, done);
}

/* Whether a plan is described at all, or only times are to be explained. */
static bool is_planned(const struct plan_call *c)
{
    const struct plan_args *a = c->cli->args;

    return !a->explain || c->cli->operand_count || a->model || a->storage;
}

/* Everything that is said, and what follows from it. */
static int gather(struct plan_call *c, weir_err *err)
{
    const struct plan_args *a = c->cli->args;
    const struct wr_plan_model *model = NULL;
    int r = wr_plan_args_check(c->cli, err);

    wr_plan_draft_init(&c->draft);
    if (r == 0)
        r = wr_plan_args_say(c->cli, &c->draft, &model, err);
    if (r == 0)
        r = wr_plan_read_inputs(c->cli, &c->draft, &c->answer, err);
    if (r == 0)
        r = wr_plan_args_say_late(c->cli, &c->draft, err);
    if (r == 0 && is_planned(c))
        r = wr_plan_draft_finish(&c->draft, err);
    if (r == 0 && a->explain)
        r = wr_plan_read_times(a->explain, &c->draft, &c->answer, err);
    c->answer.model = model ? model->name : NULL;
    return r;
}

static int answer(struct plan_call *c, weir_err *err)
{
    const struct plan_args *a = c->cli->args;
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
    int r;

    if (!is_planned(c))
        return 0;
    c->answer.draft = &c->draft;
    wr_progress_start(&c->line, c->cli,
                      &(struct wr_progress_spec){.label = c->label});
    r = wr_plan_answer(&c->answer, &q, err);
    wr_progress_end(&c->line);
    return r;
}

static int run_call(struct plan_call *c)
{
    const struct plan_args *a = c->cli->args;
    weir_err err;
    int r = gather(c, &err);

    /* What is read cannot be planned with, whatever the reason. */
    if (r == WEIR_ENOMEM)
        return wr_cli_fail(c->cli, "%s", err.msg);
    if (r < 0)
        return wr_cli_usage(c->cli, "%s", err.msg);
    r = answer(c, &err);
    if (r == 0)
        r = wr_cli_give_record(c->cli, wr_plan_record(&c->answer), a->json,
                               a->record, &err);
    if (r == WEIR_EINVAL)
        return wr_cli_usage(c->cli, "%s", err.msg);
    return r < 0 ? wr_cli_fail(c->cli, "%s", err.msg) : WR_EXIT_DONE;
}

static int print_paper(struct wr_cli *cli)
{
    weir_err err;

    return wr_plan_print_paper(cli, &err) < 0 ? wr_cli_fail(cli, "%s", err.msg)
                                              : WR_EXIT_DONE;
}

static int plan_run(struct wr_cli *cli)
{
    const struct plan_args *a = cli->args;
    struct plan_call *c;
    int code;

    if (a->paper)
        return print_paper(cli);
    c = calloc(1, sizeof(*c));
    if (!c)
        return wr_cli_fail(cli, "out of memory");
    c->cli = cli;
    code = run_call(c);
    wr_plan_answer_done(&c->answer);
    free(c);
    return code;
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
