/* cmd_report.c - weir report: records as text, CSV or one page.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/report_trace.h"
#include "result/record.h"
#include "report/report.h"
#include "report/columns.h"
#include "report/bench_tables.h"
#include "report/probe_tables.h"
#include "report/train_tables.h"
#include "report/ckpt.h"
#include "report/compare.h"
#include "report/view_monitor.h"
#include "trace/baseline.h"
#include "trace/record.h"
#include "storage/beside.h"

/* --- what the columns of its tables mean --- */

static const struct wr_columns columns[] = {
    {"cases of a benchmark", wr_bench_case_columns},
    {"runs of a benchmark", wr_bench_run_columns},
    {"ranks of a benchmark", wr_bench_rank_columns},
    {"tests of a probe", wr_probe_test_columns},
    {"passes of a probe", wr_probe_pass_columns},
    {"saturation of a probe", wr_probe_depth_columns},
    {"a run of training", wr_train_run_columns},
    {"ways of saving", wr_ckpt_case_columns},
    {"saves of a run of training", wr_train_save_columns},
    {"B against A", wr_compare_columns},
    {"disks and the machine", wr_monitor_columns},
    {NULL, NULL}};

enum format {
    FORMAT_TEXT,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_CHROME,
    FORMAT_DARSHAN,
};

struct report_args {
    int format; /* enum format */
    const char *html;
    const char *output;
    const char *title;
    const char *probe;
    bool compare, json;
    double fail_below;
};

/* A document on its way out. */
struct print_job {
    const struct wr_cli *cli;
    const struct wr_doc *doc;
    bool to_terminal;
};

static int print_html(const void *arg, FILE *out, weir_err *err)
{
    const struct print_job *job = arg;

    return wr_doc_print_html(job->doc, out, err);
}

static int print_plain(const void *arg, FILE *out, weir_err *err)
{
    const struct print_job *job = arg;
    const struct wr_cli *cli = job->cli;
    const struct report_args *a = cli->args;

    if (a->json || a->format == FORMAT_JSON)
        return wr_doc_print_json(job->doc, out, err);
    if (a->format == FORMAT_CSV)
        wr_doc_print_csv(job->doc, out);
    else
        wr_doc_print_text(job->doc,
                          &(struct wr_doc_text_style){
                              .width = job->to_terminal ? cli->width : 80,
                              .utf8 = cli->utf8,
                              .colour = job->to_terminal && cli->color},
                          out);
    return 0;
}

static bool has_trace(const struct wr_cli *cli)
{
    for (size_t i = 0; i < cli->operand_count; i++)
        if (wr_report_is_trace(cli->operands[i]))
            return true;
    return false;
}

/* To a file, or to stdout for "-" or none. What is made of a trace has the
 * arguments of programs as well, and is as private. */
static int print_to(struct print_job *job, const char *path,
                    int (*print)(const void *, FILE *, weir_err *),
                    weir_err *err)
{
    job->to_terminal = !path || !strcmp(path, "-");
    if (job->to_terminal)
        return print(job, job->cli->out, err);
    return wr_whole_write(path,
                          &(struct wr_whole){.print = print,
                                             .arg = job,
                                             .stopped = wr_interrupted,
                                             .private = has_trace(job->cli)},
                          err);
}

static int print_all(const struct wr_cli *cli, const struct wr_doc *doc,
                     weir_err *err)
{
    const struct report_args *a = cli->args;
    struct print_job job = {.cli = cli, .doc = doc};
    int r = 0;

    if (a->html)
        r = print_to(&job, a->html, print_html, err);
    if (r == 0 && (!a->html || a->output || a->json || wr_cli_given(cli, "as")))
        r = print_to(&job, a->output, print_plain, err);
    return r;
}

/* The threshold that was asked for. */
static int judge(const struct wr_cli *cli, const struct wr_comparison *c)
{
    const struct report_args *a = cli->args;

    if (!wr_cli_given(cli, "fail-below") || !(c->worst < a->fail_below))
        return WR_EXIT_DONE;
    wr_cli_note(cli, "%s: %.3f of the rate of A, %.3f was asked for",
                c->worst_name, c->worst, a->fail_below);
    return WR_EXIT_MISSED;
}

static int report_on(struct wr_cli *cli, const json_t *const *records)
{
    const struct report_args *a = cli->args;
    struct wr_report_spec spec = {
        .paths = (const char *const *)cli->operands,
        .records = records,
        .count = cli->operand_count,
        .title = a->title,
    };
    struct wr_comparison comparison = {.worst = NAN};
    struct wr_doc *doc = NULL;
    weir_err err;
    int r;

    spec.compare = wr_cli_given(cli, "compare") ? a->compare
                                                : wr_report_comparable(&spec);
    if (wr_cli_given(cli, "fail-below"))
        spec.compare = true;
    r = wr_report(&spec, &doc, &comparison, &err);
    if (r == 0)
        r = print_all(cli, doc, &err);
    wr_doc_free(doc);
    return r < 0 ? wr_cli_fail(cli, "%s", err.msg) : judge(cli, &comparison);
}

static int check_usage(const struct wr_cli *cli)
{
    const struct report_args *a = cli->args;
    bool plain = a->output || a->json || wr_cli_given(cli, "as");
    bool compared = a->compare || wr_cli_given(cli, "fail-below");
    size_t from_stdin = 0;

    if (compared && cli->operand_count != 2)
        return wr_cli_usage(cli, "two records are compared, not %zu",
                            cli->operand_count);
    if (wr_cli_given(cli, "compare") && !a->compare &&
        wr_cli_given(cli, "fail-below"))
        return wr_cli_usage(cli, "--fail-below needs the comparison");
    if (a->html && !strcmp(a->html, "-") && plain &&
        (!a->output || !strcmp(a->output, "-")))
        return wr_cli_usage(cli, "the page and the text cannot both go to "
                                 "stdout: give one of them a file");
    for (size_t i = 0; i < cli->operand_count; i++)
        from_stdin += !strcmp(cli->operands[i], "-");
    if (from_stdin > 1)
        return wr_cli_usage(cli, "only one record can come from stdin");
    return WR_EXIT_DONE;
}

/* What is asked of a trace alone; -1: it is shown as records are. */
static int form_of(const struct report_args *a)
{
    if (a->json || a->html || a->compare)
        return -1;
    switch (a->format) {
    case FORMAT_TEXT:
        return WR_TRACE_FORM_TEXT;
    case FORMAT_CSV:
        return WR_TRACE_FORM_CSV;
    case FORMAT_CHROME:
        return WR_TRACE_FORM_CHROME;
    case FORMAT_DARSHAN:
        return WR_TRACE_FORM_DARSHAN;
    default:
        return -1;
    }
}

static int trace_run(struct wr_cli *cli, const json_t *probe)
{
    const struct report_args *a = cli->args;
    int form = form_of(a);

    if (cli->operand_count != 1)
        return wr_cli_usage(cli, "one trace at a time");
    return wr_report_trace(cli, cli->operands[0], form, a->output, probe);
}

/* A record, or a trace as one. */
static int load(const char *path, const json_t *probe, json_t **ret,
                weir_err *err)
{
    return strcmp(path, "-") && wr_report_is_trace(path)
               ? wr_trace_record_load(path, probe, /* brief= */ false, ret, err)
               : wr_record_load(path, ret, err);
}

static int report_files(struct wr_cli *cli, const json_t *probe)
{
    const struct report_args *a = cli->args;
    int code = WR_EXIT_DONE;
    json_t **records;
    weir_err err;
    size_t loaded = 0;

    if (wr_report_is_trace(cli->operands[0]) && form_of(a) >= 0)
        return trace_run(cli, probe);
    if (a->format == FORMAT_CHROME || a->format == FORMAT_DARSHAN)
        return wr_cli_usage(cli, "only a trace has that form");
    records = calloc(cli->operand_count, sizeof(json_t *));
    if (!records)
        return wr_cli_fail(cli, "out of memory");
    for (; loaded < cli->operand_count && !wr_interrupted(); loaded++)
        if (load(cli->operands[loaded], probe, &records[loaded], &err) < 0) {
            code = wr_cli_fail(cli, "%s", err.msg);
            break;
        }
    if (loaded == cli->operand_count)
        code = report_on(cli, (const json_t *const *)records);
    for (size_t i = 0; i < loaded; i++)
        json_decref(records[i]);
    free(records);
    return code;
}

static int report_run(struct wr_cli *cli)
{
    int code = check_usage(cli);
    const struct report_args *a = cli->args;
    json_t *probe = NULL;
    weir_err err;

    if (code != WR_EXIT_DONE)
        return code;
    if (a->probe && wr_trace_probe_load(a->probe, &probe, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    code = a->probe && !has_trace(cli)
               ? wr_cli_usage(cli, "--probe judges a trace, and there is none")
               : report_files(cli, probe);
    json_decref(probe);
    return code;
}

static const struct wr_choice formats[] = {
    {"text", FORMAT_TEXT, "for a terminal"},
    {"csv", FORMAT_CSV, "one line per number, for spreadsheets and scripts"},
    {"json", FORMAT_JSON, "the same as a tree, for programs"},
    {"chrome", FORMAT_CHROME,
     "events of a trace, for chrome://tracing and "
     "Perfetto"},
    {"darshan", FORMAT_DARSHAN,
     "counters of a trace, as darshan-parser prints "
     "them"},
    {NULL, 0, NULL}};

static const struct wr_option options[] = {
    {WR_OPT_ENUM(struct report_args, format), .name = "as", .old = "format",
     .arg = "FORMAT", .choices = formats, .def = "text",
     .help = "output format"},
    {WR_OPT_FLAG(struct report_args, json), .name = "json",
     .help = "the same as --as json"},
    {WR_OPT_OUTPUT(struct report_args, html), .name = "html",
     .help = "write one self-contained page with charts ('-': to stdout); "
             "nothing else is printed then, unless --as or --output is "
             "given too"},
    {WR_OPT_OUTPUT(struct report_args, output), .name = "output",
     .help = "write the text or CSV to a file instead of stdout"},
    {WR_OPT_STRING(struct report_args, title), .name = "title", .arg = "TEXT",
     .def = "weir report", .help = "heading of the report"},
    {WR_OPT_STRING(struct report_args, probe), .name = "probe", .arg = "RECORD",
     .flags = WR_OPTION_PATH,
     .help = "of a trace, judge by this record of weir probe whether storage "
             "was the limit"},
    {WR_OPT_FLAG(struct report_args, compare), .name = "compare",
     .def_note = "on for two records of the same command",
     .help = "compare the second record with the first"},
    {WR_OPT_DOUBLE(struct report_args, fail_below), .name = "fail-below",
     .arg = "RATIO", .min = 0, .max = 1000,
     .help = "exit with 3 if a rate of the second record is below this "
             "fraction of the first one's by more than noise"},
    WR_OPTIONS_END};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("RECORD", WR_OPERAND_MANY | WR_OPERAND_PATH),
     .help = "records of weir bench, probe, ckpt bench, run, train or study "
             "('-': stdin), traces of weir trace"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir report run.json", "a record as text, with small charts"},
    {"weir report --html page.html hdd.json ssd.json nvme.json",
     "three devices side by side on one page"},
    {"weir report --html page.html run.wtrace",
     "what a traced program lost time with, and what it did, as a page"},
    {"weir report before.json after.json",
     "what has changed, and which changes are more than noise"},
    {"weir report --fail-below 0.95 good.json new.json",
     "for CI: exit with 3 if a rate fell by more than 5 %"},
    {"weir report --as csv run.json --output run.csv",
     "all numbers for a spreadsheet"},
    {"weir report run.wtrace",
     "what a traced program should change, in seconds "
     "per epoch"},
    {"weir report --probe disk.json run.wtrace",
     "the same; whether storage was the limit, by weir probe --record "
     "disk.json"},
    {"weir report --as chrome run.wtrace --output run.trace.json",
     "a trace for chrome://tracing or Perfetto"},
    {NULL, NULL}};

const struct wr_command wr_cmd_report = {
    .name = "report",
    .group = WR_GROUP_MEASURE,
    .summary = "show and compare records as text, CSV or a page with charts",
    .description =
        "Shows what weir bench, probe, ckpt bench, train (--record FILE) and "
        "study recorded: a summary, charts, and the numbers in tables. Records "
        "that swept the same settings on the same data and differ in one thing "
        "at most (a device, a format, a setting) are one experiment: a section "
        "whose title says what varies. What is the same in all its cases is "
        "said once, names have what differs. Bars are medians, whiskers the "
        "lowest and the highest run; what a paper states is hatched. A batch "
        "is marked as a stall when the consumer's wait for it, or the "
        "time since the previous batch, is over three times the median and "
        "over 1 ms.\n\n"
        "Of a trace (weir trace) come first the findings: what costs time, "
        "how much, and the change that is expected to help; then what the "
        "processes did over time, requests, epochs, checkpoints and files.\n\n"
        "Two records of the same command are compared. Cases (tests) are "
        "matched by their settings; a setting that has one value throughout A "
        "and another throughout B is named and does not prevent the match. B/A "
        "is the ratio of the medians; from-to holds 90 % of the ratios of one "
        "run of B to one of A. A difference is more than noise when a "
        "two-sided rank test (exact, Mann-Whitney) gives p <= 0.05, which "
        "needs four counted runs of each; with two or three, when the gap "
        "between the ranges is larger than the wider of them. That rule is "
        "rough: chance alone meets it now and then. With one run nothing can "
        "be said. Less than 1 % always counts as noise. Of twenty metrics that "
        "do not differ, one is expected to look as if it did. All runs of a "
        "record share the state of the machine at that time, and a difference "
        "beyond noise can still come from the time of day rather than the "
        "change: repeat both, alternating.",
    .operands = operands,
    .options = options,
    .columns = columns,
    .args_size = sizeof(struct report_args),
    .examples = examples,
    .ranks = WR_RANKS_FIRST,
    .run = report_run,
};
