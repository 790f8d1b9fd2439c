/* trace_merge.c - weir trace merge: traces of several ranks or hosts become one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/trace_args.h"

static void on_note(void *arg, const char *text)
{
    wr_cli_note(arg, "%s", text);
}

/* How far the order of events of two traces can be trusted. */
static void note_clocks(const struct wr_cli *cli, const struct wr_merge_sum *s)
{
    const struct trace_args *a = cli->args;

    if (s->traces < 2)
        return;
    if (a->align == WR_MERGE_START)
        wr_cli_note(cli,
                    "all traces begin at 0 (by their wall clocks they began "
                    "within %.3f s): what happened at the same time on two of "
                    "them is not known",
                    (double)s->spread_ns * 1e-9);
    else if (s->hosts > 1)
        wr_cli_note(cli,
                    "aligned by the wall clocks of %zu hosts, which began "
                    "within %.3f s: as exact as these clocks agree (some "
                    "milliseconds with NTP)",
                    s->hosts, (double)s->spread_ns * 1e-9);
    else
        wr_cli_note(cli,
                    "aligned by the wall clock of one host, starts within "
                    "%.3f s: exact to a millisecond, unless it was set "
                    "meanwhile",
                    (double)s->spread_ns * 1e-9);
}

static int merge_run(struct wr_cli *cli)
{
    const struct trace_args *a = cli->args;
    struct wr_merge_config cfg = {.output = cli->operands[0],
                                  .inputs = cli->operands + 1,
                                  .count = cli->operand_count - 1,
                                  .align = a->align,
                                  .note = on_note,
                                  .stop = wr_interrupted,
                                  .arg = cli};
    struct wr_merge_sum sum;
    char events[32];
    weir_err err;

    if (wr_trace_merge(&cfg, &sum, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    note_clocks(cli, &sum);
    wr_cli_note(cli,
                "%zu trace%s of %zu host%s: %s events of %zu processes, %zu "
                "ranks, in %s",
                sum.traces, sum.traces == 1 ? "" : "s", sum.hosts,
                sum.hosts == 1 ? "" : "s",
                wr_format_count(events, sizeof(events), sum.events),
                sum.processes, sum.ranks, cfg.output);
    return WR_EXIT_DONE;
}

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("OUT", WR_OPERAND_PATH),
     .help = "the trace that is made; it must not exist"},
    {WR_ARGUMENT("IN", WR_OPERAND_MANY | WR_OPERAND_PATH),
     .help = "traces of the ranks or hosts of one job"},
    {.name = NULL}};

static const char *const options[] = {"align", NULL};

static const struct wr_help_example examples[] = {
    {"weir trace merge job.wtrace job.0.wtrace job.1.wtrace",
     "the traces of two ranks"},
    {"weir trace merge --align start job.wtrace a.wtrace b.wtrace",
     "of two hosts whose clocks disagree"},
    {NULL, NULL}};

const struct wr_action wr_trace_action_merge = {
    .name = "merge",
    .summary = "join the traces of several ranks or hosts",
    .description =
        "Joins traces of one job into one, which all of weir reads like any "
        "other. Processes keep their host and rank; where pids of two hosts "
        "are the same, 4,194,304 times the number of the host is added. A path "
        "is one file on one host, and on all hosts if it lies on a network "
        "file system. Traces that were cut off are used up to there. OUT is "
        "written as a whole or not at all.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .ranks = WR_RANKS_FIRST,
    .run = merge_run,
};
