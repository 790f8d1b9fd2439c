/* cmd_inspect.c - weir inspect: what a data set holds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cli/answers.h"
#include "cli/inspect_answer.h"
#include "cli/interrupt.h"
#include "cli/session.h"
#include "cli/progress.h"
#include "cli/record_json.h"
#include "gen/dataset.h"

#define SHOWN       100u /* problems that are listed */
#define CHART_WIDTH 100u /* wider charts are hard to follow */
#define BAR_MIN     10u
#define BAR_BESIDE  42u /* columns that stand beside a bar */

/* What comparing made data comes to. */
struct made_check {
    const struct wr_cli *cli; /* borrowed */
    struct wr_progress progress;
    bool json;
    const char *path;
    struct wr_verify_result res;
    double seconds;
    json_t *problems; /* owned */
    uint64_t count, more;
};

struct inspect_args {
    struct wr_open_args open;
    uint64_t samples, threads;
    bool all, verify, classes, json;
};

/* --- data that weir has made --- */

struct made_problem {
    const char *file, *problem;
};

#define THIS struct made_problem
static const struct wr_vals wr_made_problem_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, file), WR_VAL_IS(TEXT, problem));
#undef THIS

static const struct wr_answer problem_answer = {.of = &wr_made_problem_vals,
                                                .say = "{file}: {problem}"};

#define THIS struct made_check
static const struct wr_vals made_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, path), WR_VAL_OF(U64, "seed", res.seed),
    WR_VAL_OF(U64, "files", res.files),
    WR_VAL_OF(U64, "bytes", res.bytes, .help = "compared"),
    WR_VAL_OF(U64, "damaged", res.damaged),
    WR_VAL_OF(U64, "missing", res.missing), WR_VAL_OF(U64, "extra", res.extra),
    WR_VAL_IS(REAL, seconds),
    WR_VAL_IS(JSON, problems, .of = &wr_made_problem_vals),
    WR_VAL_IS(U64, count, .flags = WR_VAL_INSIDE),
    WR_VAL_IS(U64, more, .flags = WR_VAL_INSIDE));
#undef THIS

const struct wr_answer wr_answer_inspect_made = {
    .name = "inspect-made",
    .of = &made_vals,
    .screen = WR_SCREEN(
        {.say = "[{?more>0}... and {more} more]"},
        {.say = "{path}: {files:number} files, {bytes:bytes} compared with "
                "seed {seed} in {seconds:1} s: {count>0?{damaged} damaged, "
                "{missing} missing, {extra} too many|all as it was made}"}),
};

static void on_problem(void *arg, const char *path, const char *what)
{
    struct made_check *c = arg;
    const struct made_problem p = {path, what};

    if (c->count++ >= SHOWN) {
        c->more++;
    } else if (c->json) {
        json_array_append_new(c->problems, wr_vals_json(&wr_made_problem_vals,
                                                        &p, WR_FOR_RECORD));
    } else {
        wr_progress_hide(&c->progress);
        wr_cli_answer(c->cli, &problem_answer, &p, /* json= */ false);
    }
}

static int on_progress(void *arg, const struct wr_dataset_state *s)
{
    struct made_check *c = arg;

    wr_progress_total(&c->progress, s->files);
    wr_progress_set(&c->progress, s->files_done);
    return wr_interrupted();
}

/* Compares every byte of the folder with what its description and seed say.
 * False: the folder does not say how it was made, and nothing was done;
 * *ret_exit is set otherwise. */
static bool inspect_made(const struct wr_cli *cli, const char *url,
                         unsigned threads, bool json, int *ret_exit)
{
    struct made_check c = {
        .cli = cli, .json = json, .path = url, .problems = json_array()};
    struct wr_verify_config cfg = {.url = url,
                                   .threads = threads,
                                   .problem = on_problem,
                                   .progress = on_progress,
                                   .arg = &c};
    weir_err err;
    int r;

    wr_progress_start(
        &c.progress, cli,
        &(struct wr_progress_spec){.label = "comparing", .unit = "files"});
    r = wr_gen_verify(&cfg, &c.res, &err);
    wr_progress_end(&c.progress);
    if (r == 0) {
        c.seconds = (double)c.res.elapsed_ns / (double)WR_NS_PER_SEC;
        *ret_exit = wr_cli_answer(cli, &wr_answer_inspect_made, &c, json);
        if (*ret_exit == WR_EXIT_DONE && c.count)
            *ret_exit = WR_EXIT_MISSED;
    } else if (r != WEIR_ENOENT) {
        *ret_exit = wr_cli_fail(cli, "%s", err.msg);
    }
    json_decref(c.problems);
    return r != WEIR_ENOENT;
}

/* --- the command --- */

static int open_dataset(struct wr_cli *cli, weir_dataset **ret,
                        struct wr_inspect_report *report, weir_err *err)
{
    const struct inspect_args *a = cli->args;
    uint64_t start = wr_clock_ns();
    int r;

    r = wr_cli_open(cli, report->url, &a->open, ret, err);
    report->index_seconds = (double)(wr_clock_ns() - start) /
                            (double)WR_NS_PER_SEC;
    return r;
}

/* Tensors have no headers of their own: they are looked at to verify only. */
static int scan_dataset(struct wr_cli *cli, struct wr_inspect_report *report,
                        weir_err *err)
{
    const struct inspect_args *a = cli->args;
    struct wr_progress progress;
    struct wr_inspect_scan_spec spec = {
        .ds = report->ds,
        .samples = a->verify || a->all ? 0 : a->samples,
        .threads = (unsigned)a->threads,
        .verify = a->verify,
        .chosen = wr_inspect_is_chosen(report),
        .progress = &progress,
    };
    int r;

    if (!wr_index_has_pictures(report->ds->index) && !a->verify)
        return 0;
    wr_progress_start(&progress, cli,
                      &(struct wr_progress_spec){
                          .label = a->verify ? "verifying" : "reading headers",
                          .unit = "samples"});
    r = wr_inspect_scan(&spec, &report->scan, err);
    wr_progress_end(&progress);
    return r;
}

/* What follows from what was found. */
static void sum_up(struct wr_inspect_report *r)
{
    const struct wr_inspect_labels *l = &r->scan.labels;
    const struct wr_inspect_stats *s = &r->stats;
    uint64_t listed = 0;

    while (weir_dataset_issue(r->ds, listed))
        listed++;
    r->format = weir_dataset_format(r->ds);
    r->objects = wr_index_object_count(r->ds->index);
    r->links = weir_dataset_link_count(r->ds);
    r->ignored = weir_dataset_ignored_count(r->ds);
    r->issues = weir_dataset_issue_count(r->ds);
    r->issues_more = r->issues - listed;
    r->index_memory = wr_index_memory(r->ds->index);
    r->index_per_sample = (double)r->index_memory / (double)s->count;
    r->index_reused = weir_dataset_index_reused(r->ds);
    r->index_file = wr_index_file(r->ds->index);
    r->one_size = s->min == s->max;
    r->picked = r->scan.all ? "all" : r->scan.first ? "first" : "random";
    r->broken_more = r->scan.broken_count - r->scan.broken_kept;
    wr_inspect_count_pictures(r->scan.found, r->scan.count, &r->pictures);
    r->classes = r->scan.has_labels ? l->count : s->classes;
    r->labels_of = r->scan.has_labels ? r->scan.count : s->count;
    r->unlabelled = r->scan.has_labels ? l->unlabelled : s->unlabelled;
    if (r->scan.has_labels)
        r->even = l->count &&
                  l->list[l->smallest].samples == l->list[l->largest].samples;
    else
        r->even = s->class_samples &&
                  s->class_samples[s->smallest] == s->class_samples[s->largest];
}

/* What a bar of the histogram has, between a size and a count. */
static unsigned bar_columns(unsigned width)
{
    width = WR_MIN(width, CHART_WIDTH);
    return width > BAR_BESIDE + BAR_MIN ? width - BAR_BESIDE : BAR_MIN;
}

static int inspect_run(struct wr_cli *cli)
{
    const struct inspect_args *a = cli->args;
    struct wr_inspect_report report = {.url = cli->operands[0],
                                       .verified = a->verify,
                                       .all_classes = a->classes || a->json,
                                       .columns = bar_columns(cli->width),
                                       .utf8 = cli->utf8};
    weir_dataset *ds = NULL;
    weir_err err;
    int r;

    if (a->verify &&
        inspect_made(cli, report.url, (unsigned)a->threads, a->json, &r))
        return r;
    r = open_dataset(cli, &ds, &report, &err);
    if (r < 0)
        return wr_cli_open_failed(cli, &err);
    report.ds = ds;
    r = wr_inspect_stats(ds, &report.stats, &err);
    if (r == 0)
        r = scan_dataset(cli, &report, &err);
    sum_up(&report);
    r = r < 0 ? wr_cli_fail(cli, "%s", err.msg)
              : wr_cli_answer(cli, &wr_answer_inspect, &report, a->json);
    if (r == WR_EXIT_DONE && a->verify && report.scan.broken_count)
        r = WR_EXIT_MISSED;
    wr_inspect_scan_done(&report.scan);
    wr_inspect_stats_done(&report.stats);
    weir_dataset_close(&ds);
    return r;
}

static const struct wr_option options[] = {
    {WR_OPT_UINT(struct inspect_args, samples), .name = "samples",
     .letter = 'n', .arg = "N", .min = 1, .def = "1000",
     .group = "What to look at",
     .help = "pictures whose headers are read: random ones, or the first ones "
             "where gzip must be inflated"},
    {WR_OPT_FLAG(struct inspect_args, all), .name = "all-samples", .old = "all",
     .letter = 'a', .help = "read the header of every picture"},
    {WR_OPT_FLAG(struct inspect_args, verify), .name = "verify",
     .help = "read and decode every sample; of a workload's data set that weir "
             "gen made, compare every byte with what its seed says; exit with "
             "3 if one is broken"},
    WR_OPEN_OPTIONS(struct inspect_args, "the data set"),
    {WR_OPT_UINT(struct inspect_args, threads), .name = "threads",
     .letter = 't', .arg = "N", .min = 1, .max = 256,
     .def_note = "one per core, 8 or more for headers",
     .help = "threads that read and decode"},
    {WR_OPT_FLAG(struct inspect_args, classes), .name = "list-classes",
     .old = "classes", .group = "What to show",
     .help = "every class with its name and number of samples"},
    {WR_OPT_FLAG(struct inspect_args, json), .name = "json",
     .help = "print everything as JSON"},
    WR_OPTIONS_END};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("DATASET", WR_OPERAND_PATH), .help = WR_HELP_DATASET},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir inspect photos", "what is in the folder 'photos'"},
    {"weir inspect photos --verify", "decode every picture, list broken ones"},
    {"weir inspect train.csv --root /data --json",
     "a list of files below /data, as JSON"},
    {NULL, NULL}};

const struct wr_command wr_cmd_inspect = {
    .name = "inspect",
    .group = WR_GROUP_DATA,
    .summary = "show what a data set holds: sizes, shapes, classes, damage",
    .description =
        "Indexes the data set and prints its format, number of samples and "
        "classes, their sizes with a histogram, the problems met on the way "
        "(folders that cannot be read, lines of a list that name missing "
        "files), and the files that were ignored. For pictures it reads the "
        "headers of a random selection: dimensions, formats and colours.\n\n"
        "With --verify it reads every sample and decodes every picture, on all "
        "cores, and names each broken one with the reason; of JSON and "
        "TFRecord also what only later samples have, so that no field delivers "
        "it. Quantiles of sizes are within 1 percent.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct inspect_args),
    .columns = wr_inspect_columns,
    .examples = examples,
    .ranks = WR_RANKS_FIRST,
    .run = inspect_run,
};
