/* cmd_inspect.c - weir inspect: what a data set holds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>

#include "base/clock.h"
#include "base/shown.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/inspect_json.h"
#include "cli/inspect_report.h"
#include "cli/interrupt.h"
#include "cli/session.h"
#include "cli/progress.h"
#include "cli/record_json.h"
#include "cli/screen.h"
#include "gen/dataset.h"

#define SHOWN 100u /* problems that are listed */

struct made_check {
    const struct wr_cli *cli; /* borrowed */
    struct wr_progress progress;
    json_t *problems; /* owned; NULL: print them */
    uint64_t count;
};

struct inspect_args {
    struct wr_open_args open;
    uint64_t samples, threads;
    bool all, verify, classes, json;
};

/* --- data that weir has made --- */

static void on_problem(void *arg, const char *path, const char *what)
{
    struct made_check *c = arg;
    char shown[4 * PATH_MAX + 8];
    struct wr_screen screen;

    if (c->count++ >= SHOWN)
        return;
    wr_text_show(path, false, shown, sizeof(shown));
    if (c->problems) {
        json_array_append_new(c->problems, json_pack("{s:s, s:s}", "file",
                                                     shown, "problem", what));
        return;
    }
    wr_progress_hide(&c->progress);
    wr_cli_put(wr_screen_start(&screen, c->cli), "%s: %s\n",
               wr_show_path(path).text, what);
    wr_screen_end(&screen);
}

static int on_progress(void *arg, const struct wr_dataset_state *s)
{
    struct made_check *c = arg;

    wr_progress_total(&c->progress, s->files);
    wr_progress_set(&c->progress, s->files_done);
    return wr_interrupted();
}

static void print_text(const struct made_check *c, const char *url,
                       const struct wr_verify_result *res)
{
    double seconds = (double)res->elapsed_ns / (double)WR_NS_PER_SEC;
    struct wr_screen screen;
    const struct wr_cli *to = wr_screen_start(&screen, c->cli);
    char a[32], b[32];

    if (c->count > SHOWN)
        wr_cli_put(to, "... and %" PRIu64 " more\n", c->count - SHOWN);
    wr_cli_put(
        to, "%s: %s files, %s compared with seed %" PRIu64 " in %.1f s: ",
        wr_show_path(url).text, wr_format_count(a, sizeof(a), res->files),
        wr_format_bytes(b, sizeof(b), (double)res->bytes), res->seed, seconds);
    if (!c->count)
        wr_cli_put(to, "all as it was made\n");
    else
        wr_cli_put(to,
                   "%" PRIu64 " damaged, %" PRIu64 " missing, %" PRIu64
                   " too many\n",
                   res->damaged, res->missing, res->extra);
    wr_screen_end(&screen);
}

static int print_json(struct made_check *c, const char *url,
                      const struct wr_verify_result *res)
{
    char path[4 * PATH_MAX + 8];
    json_t *problems = c->problems;

    c->problems = NULL;
    return wr_json_print(
        c->cli,
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "path",
                  wr_text_show(url, false, path, sizeof(path)), "seed",
                  (json_int_t)res->seed, "files", (json_int_t)res->files,
                  "bytes", (json_int_t)res->bytes, "damaged",
                  (json_int_t)res->damaged, "missing", (json_int_t)res->missing,
                  "extra", (json_int_t)res->extra, "seconds",
                  (double)res->elapsed_ns / (double)WR_NS_PER_SEC, "problems",
                  problems));
}

/* Compares every byte of the folder with what its description and seed say.
 * False: the folder does not say how it was made, and nothing was done;
 * *ret_exit is set otherwise. */
static bool inspect_made(const struct wr_cli *cli, const char *url,
                         unsigned threads, bool json, int *ret_exit)
{
    struct made_check c = {.cli = cli, .problems = json ? json_array() : NULL};
    struct wr_verify_config cfg = {.url = url,
                                   .threads = threads,
                                   .problem = on_problem,
                                   .progress = on_progress,
                                   .arg = &c};
    struct wr_verify_result res;
    weir_err err;
    int r;

    wr_progress_start(
        &c.progress, cli,
        &(struct wr_progress_spec){.label = "comparing", .unit = "files"});
    r = wr_gen_verify(&cfg, &res, &err);
    wr_progress_end(&c.progress);
    if (r == 0) {
        *ret_exit = json ? print_json(&c, url, &res) : WR_EXIT_DONE;
        if (!json)
            print_text(&c, url, &res);
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

static int inspect_run(struct wr_cli *cli)
{
    const struct inspect_args *a = cli->args;
    struct wr_inspect_report report = {.url = cli->operands[0],
                                       .verified = a->verify,
                                       .all_classes = a->classes};
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
    if (r == 0 && a->json)
        r = wr_inspect_print_json(cli, &report, &err);
    else if (r == 0)
        wr_inspect_print(cli, &report);
    if (r < 0)
        r = wr_cli_fail(cli, "%s", err.msg);
    else if (a->verify && report.scan.broken_count)
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
