/* cmd_cache.c - weir cache: drops, fills or shows the page cache of files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>

#include "cli/answers.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/record_json.h"
#include "monitor/pagecache.h"

enum action { ACTION_DROP, ACTION_WARM, ACTION_STATUS };

struct cache_args {
    bool all;
    bool metadata;
    uint64_t threads;
    bool json;
};

struct cache_state {
    const char *when;
    struct wr_pagecache_report found;
};

/* What one run of the command did. */
struct cached {
    int action; /* enum action */
    struct wr_walk walk;
    struct cache_state before, now; /* status fills `now` only */
    struct wr_list states;          /* those that are filled */
    bool all_done;                  /* drop_caches was written */
    weir_err all_err;               /* why not, where it was asked for */
};

/* After each file, from any thread: ctx is the progress line. */
static bool on_file(void *ctx, uint64_t files, uint64_t bytes)
{
    struct wr_progress *line = ctx;

    wr_progress_set(line, line->spec.bytes ? bytes : files);
    return wr_interrupted();
}

typedef int (*pagecache_fn)(const struct wr_pagecache_job *job,
                            struct wr_pagecache_report *ret, weir_err *err);

static int do_job(const struct wr_cli *cli, const struct wr_walk *walk,
                  const char *label, pagecache_fn fn,
                  struct wr_pagecache_report *ret)
{
    struct wr_progress_spec spec = {
        .label = label, .unit = "files", .bytes = fn == wr_pagecache_warm};
    const struct cache_args *a = cli->args;
    struct wr_progress line;
    struct wr_pagecache_job job = {
        .paths = walk->paths,
        .count = walk->count,
        .threads = (unsigned)a->threads,
        .progress = on_file,
        .ctx = &line,
    };
    weir_err err;
    int r;

    spec.total = spec.bytes ? walk->bytes : walk->count;
    wr_progress_start(&line, cli, &spec);
    r = fn(&job, ret, &err);
    wr_progress_end(&line);
    return r < 0 ? wr_cli_fail(cli, "%s", err.msg) : WR_EXIT_DONE;
}

static int do_action(const struct wr_cli *cli, struct cached *res)
{
    const struct cache_args *a = cli->args;
    unsigned what = WR_DROP_PAGES | (a->metadata ? WR_DROP_METADATA : 0);
    int code = WR_EXIT_DONE;

    if (res->action != ACTION_STATUS)
        code = do_job(cli, &res->walk, "asking", wr_pagecache_status,
                      &res->before.found);
    if (code == WR_EXIT_DONE && res->action == ACTION_WARM)
        code = do_job(cli, &res->walk, "warming", wr_pagecache_warm,
                      &res->now.found);
    if (code == WR_EXIT_DONE && res->action == ACTION_DROP)
        code = do_job(cli, &res->walk, "dropping", wr_pagecache_drop,
                      &res->now.found);
    if (code == WR_EXIT_DONE && a->all)
        res->all_done = wr_pagecache_drop_all(what, &res->all_err) == 0;
    if (code == WR_EXIT_DONE && (res->all_done || res->action == ACTION_STATUS))
        code = do_job(cli, &res->walk, "asking", wr_pagecache_status,
                      &res->now.found);
    return code;
}

/* --- what it answers --- */

/* The kernel told nothing about any of the files. */
static bool is_unknown(const struct wr_pagecache_report *rep)
{
    return rep->files && rep->unknown_files == rep->files;
}

/* NaN where the kernel does not tell. */
static double resident_bytes(const void *report)
{
    const struct wr_pagecache_report *rep = report;

    return is_unknown(rep) ? NAN : (double)rep->resident_bytes;
}

static double resident_percent(const void *report)
{
    const struct wr_pagecache_report *rep = report;

    return rep->bytes ? 100 * resident_bytes(rep) / (double)rep->bytes
                      : 0 * resident_bytes(rep);
}

static double dirty_bytes(const void *report)
{
    const struct wr_pagecache_report *rep = report;

    return is_unknown(rep) ? NAN : (double)rep->dirty_bytes;
}

/* The same, also where some of it was not told. */
static double dirty_shown(const void *report)
{
    const struct wr_pagecache_report *rep = report;

    return rep->means & ~(unsigned)WR_RESIDENCY_CACHESTAT
               ? NAN
               : (double)rep->dirty_bytes;
}

static const char *checked_by(const void *report)
{
    const struct wr_pagecache_report *rep = report;

    switch (rep->means & ~(unsigned)WR_RESIDENCY_UNKNOWN) {
    case WR_RESIDENCY_CACHESTAT:
        return "cachestat";
    case WR_RESIDENCY_MINCORE:
        return "mincore";
    case WR_RESIDENCY_CACHESTAT | WR_RESIDENCY_MINCORE:
        return "cachestat, mincore";
    default:
        return "nothing";
    }
}

#define THIS struct wr_pagecache_report
static const struct wr_vals wr_report_vals = WR_VALS_OF(
    WR_VAL_IS(U64, files), WR_VAL_IS(U64, bytes),
    WR_VAL_BY(COUNT, "resident_bytes", .derive = resident_bytes,
              .help = "null: the kernel does not tell"),
    WR_VAL_BY(REAL, "resident_percent", .derive = resident_percent),
    WR_VAL_BY(COUNT, "dirty_bytes", .derive = dirty_bytes),
    WR_VAL_IS(U64, unknown_files),
    WR_VAL_BY(TEXT, "checked_by", .text = checked_by),
    WR_VAL_BY(COUNT, "dirty_shown", .derive = dirty_shown,
              .flags = WR_VAL_INSIDE),
    WR_VAL_IS(U64, synced_files, .flags = WR_VAL_INSIDE));
#undef THIS

static const char *action_name(const void *result)
{
    static const char *const names[] = {"drop", "warm", "status"};

    return names[((const struct cached *)result)->action];
}

static const char *done_by(const void *result)
{
    const struct cached *res = result;

    switch (res->action) {
    case ACTION_WARM:
        return "readahead and reading";
    case ACTION_DROP:
        if (!res->walk.count)
            return res->all_done ? "drop_caches" : "nothing";
        return res->all_done ? "posix_fadvise, drop_caches" : "posix_fadvise";
    default:
        return "";
    }
}

static json_t *before_json(const void *result)
{
    const struct cached *res = result;

    return res->action == ACTION_STATUS
               ? NULL
               : wr_vals_json(&wr_report_vals, &res->before.found,
                              WR_FOR_RECORD);
}

static json_t *failed_json(const void *result)
{
    const struct cached *res = result;
    json_t *failed = json_array();

    for (size_t i = 0; i < res->now.found.named; i++)
        json_array_append_new(failed, wr_text_json(res->now.found.failed[i]));
    return failed;
}

#define THIS struct cache_state
static const struct wr_vals wr_state_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, when), WR_VAL_IS(GROUP(report), found));
#undef THIS

#define THIS struct cached
static const struct wr_vals result_vals = WR_VALS_OF(
    WR_VAL_BY(TEXT, "action", .text = action_name),
    WR_VAL_BY(GROUP(report), "before", .json = before_json,
              .flags = WR_VAL_SPARE),
    WR_VAL_OF(GROUP(report), "now", now.found),
    WR_VAL_BY(TEXT, "done_by", .text = done_by, .flags = WR_VAL_SPARE),
    WR_VAL_OF(FLAG, "drop_caches", all_done,
              .help = "the whole machine's cache was dropped"),
    WR_VAL_OF(U64, "skipped", walk.skipped),
    WR_VAL_OF(U64, "failures", now.found.failures),
    WR_VAL_BY(JSON, "failed", .json = failed_json),
    WR_VAL_IS(LIST(state), states, .flags = WR_VAL_INSIDE));
#undef THIS

static const struct wr_column columns[] = {
    WR_SAY_COLUMN('<', "when", "{when}", "'before' the action, or 'now'"),
    WR_SAY_COLUMN('>', "files", "{found.files:number}", "files checked"),
    WR_SAY_COLUMN('>', "size", "{found.bytes:bytes}", "their bytes"),
    WR_SAY_COLUMN(
        '>', "in cache", "[{found.resident_bytes:bytes}|?]",
        "bytes of these in the page cache; '?': the kernel does not tell"),
    WR_SAY_COLUMN('>', "share", "[{found.resident_percent:1} %|?]",
                  "the same in percent"),
    WR_SAY_COLUMN('>', "dirty", "[{found.dirty_shown:bytes}|?]",
                  "bytes not yet written to the device"),
    {.head = NULL}};

const struct wr_answer wr_answer_cache = {
    .name = "cache",
    .of = &result_vals,
    .screen = WR_SCREEN(
        {.each = "states", .table = columns}, {.section = ""},
        {.say = "[done by {done_by}][{?now.synced_files>0} "
                "({now.synced_files:number} files written out "
                "first)][{?done_by}; ]checked by {now.checked_by}"}),
};

/* Says on stderr what was not done; the exit code for it. */
static int print_failures(const struct wr_cli *cli, const struct cached *res)
{
    const struct cache_args *a = cli->args;
    const struct wr_pagecache_report *rep = &res->now.found;
    int code = WR_EXIT_DONE;

    for (size_t i = 0; i < rep->named; i++)
        code = wr_cli_fail(cli, "%s", rep->failed[i]);
    if (rep->failures > rep->named)
        code = wr_cli_fail(cli, "... %" PRIu64 " files failed", rep->failures);
    if (res->walk.skipped)
        code = wr_cli_fail(cli, "%s (%" PRIu64 " skipped)", res->walk.reason,
                           res->walk.skipped);
    if (a->all && !res->all_done)
        code = wr_cli_fail(cli, "--all: not permitted: %s", res->all_err.msg);
    if (rep->unknown_files)
        wr_cli_note(cli,
                    "%" PRIu64 " files: not verified; the kernel tells "
                    "residency only to their owner or root",
                    rep->unknown_files);
    if (res->action == ACTION_DROP && rep->resident_bytes)
        wr_cli_note(cli, "what is still in the cache is in use: mapped, "
                         "locked or being read by another process");
    return code;
}

static int run_on(struct wr_cli *cli, struct cached *res)
{
    const struct cache_args *a = cli->args;
    int code = do_action(cli, res), missed;

    if (code != WR_EXIT_DONE)
        return code;
    res->states = (struct wr_list){
        res->action == ACTION_STATUS ? &res->now : &res->before,
        res->action == ACTION_STATUS ? 1 : 2, sizeof(struct cache_state)};
    code = wr_cli_answer(cli, &wr_answer_cache, res, a->json);
    missed = print_failures(cli, res);
    return code ? code : missed;
}

/* The whole machine's cache can only be dropped by root: said before anything
 * is done, and nothing is done then. */
static int check_all(const struct wr_cli *cli)
{
    const struct cache_args *a = cli->args;
    weir_err err;

    if (!a->all || wr_pagecache_may_drop_all(&err) == 0)
        return WR_EXIT_DONE;
    return wr_cli_fail(cli,
                       "--all needs root: %s; without it the pages of the "
                       "files alone are dropped",
                       err.msg);
}

static int run_action(struct wr_cli *cli, enum action action)
{
    const struct cache_args *a = cli->args;
    struct cached res = {
        .action = action, .before.when = "before", .now.when = "now"};
    weir_err err;
    int code;

    if (a->metadata && !a->all)
        return wr_cli_usage(cli, "--metadata works only with --all");
    if (!cli->operand_count && !a->all)
        return wr_cli_usage(cli,
                            "argument PATH is missing: a file or a folder");
    code = check_all(cli);
    if (code != WR_EXIT_DONE)
        return code;
    if (cli->operand_count &&
        wr_walk_init(&res.walk, cli->operands, cli->operand_count, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    code = run_on(cli, &res);
    wr_walk_done(&res.walk);
    return code;
}

static int drop_run(struct wr_cli *cli)
{
    return run_action(cli, ACTION_DROP);
}

static int warm_run(struct wr_cli *cli)
{
    return run_action(cli, ACTION_WARM);
}

static int status_run(struct wr_cli *cli)
{
    return run_action(cli, ACTION_STATUS);
}

/* --- tables --- */

#define PATH_HELP "files, and folders with everything below them"

static const struct wr_operand paths[] = {
    {WR_ARGUMENT("PATH", WR_OPERAND_MANY | WR_OPERAND_PATH), .help = PATH_HELP},
    {.name = NULL}};

static const struct wr_operand drop_paths[] = {
    {WR_ARGUMENT("PATH",
                 WR_OPERAND_OPTIONAL | WR_OPERAND_MANY | WR_OPERAND_PATH),
     .help = PATH_HELP "; optional with --all"},
    {.name = NULL}};

static const struct wr_columns tables[] = {{NULL, columns}, {NULL, NULL}};
static const char *const own_options[] = {"threads", "json", NULL};
static const char *const drop_options[] = {"all", "metadata", "threads", "json",
                                           NULL};

static const struct wr_help_example drop_examples[] = {
    {"weir cache drop photos", "make the next run read from the device"},
    {"weir cache drop --all --metadata photos",
     "as root: leave nothing in memory"},
    {NULL, NULL}};

static const struct wr_help_example warm_examples[] = {
    {"weir cache warm photos", "make the next run read from memory"},
    {NULL, NULL}};

static const struct wr_help_example status_examples[] = {
    {"weir cache status photos", "how much of the data set is in memory"},
    {NULL, NULL}};

static const struct wr_action action_drop = {
    .name = "drop",
    .summary = "write out dirty pages, then drop the files' pages",
    .operands = drop_paths,
    .options = drop_options,
    .columns = tables,
    .examples = drop_examples,
    .failed = "A file could not be dropped, or --all is not permitted.",
    .run = drop_run,
};

static const struct wr_action action_warm = {
    .name = "warm",
    .summary = "read the files into the cache",
    .operands = paths,
    .options = own_options,
    .columns = tables,
    .examples = warm_examples,
    .failed = "A file could not be read.",
    .run = warm_run,
};

static const struct wr_action action_status = {
    .name = "status",
    .summary = "show how much of the files is in the cache",
    .operands = paths,
    .options = own_options,
    .columns = tables,
    .examples = status_examples,
    .failed = "A file could not be checked.",
    .ranks = WR_RANKS_FIRST,
    .run = status_run,
};

static const struct wr_action *const actions[] = {&action_drop, &action_warm,
                                                  &action_status, NULL};

static const struct wr_option options[] = {
    {WR_OPT_FLAG(struct cache_args, all), .name = "all",
     .help = "drop: also empty the whole machine's page cache through "
             "/proc/sys/vm/drop_caches; needs root"},
    {WR_OPT_FLAG(struct cache_args, metadata), .name = "metadata",
     .help = "with --all: also drop directory entries and inodes, so that "
             "opening files is cold too"},
    {WR_OPT_UINT(struct cache_args, threads), .name = "threads", .letter = 't',
     .arg = "N", .min = 1, .max = 64, .def_note = "16 to warm, else 4",
     .help = "files processed at once"},
    {WR_OPT_FLAG(struct cache_args, json), .name = "json",
     .help = "print the result as JSON"},
    WR_OPTIONS_END};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("ACTION", WR_OPERAND_ACTION), .help = "what to do"},
    {WR_ARGUMENT("PATH",
                 WR_OPERAND_OPTIONAL | WR_OPERAND_MANY | WR_OPERAND_PATH),
     .help = PATH_HELP "; optional with --all"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir cache status photos", "how much of the data set is in memory"},
    {"weir cache drop photos", "make the next run read from the device"},
    {"weir cache drop --all --metadata photos",
     "as root: leave nothing in memory"},
    {"weir cache warm photos", "make the next run read from memory"},
    {NULL, NULL}};

const struct wr_command wr_cmd_cache = {
    .name = "cache",
    .group = WR_GROUP_DATA,
    .summary = "drop, warm or show the page cache of files",
    .description =
        "Linux keeps the files it has read in memory, so a second run of "
        "anything reads from memory instead of the device. This command puts "
        "the files of a data set into a known state before a measurement and "
        "shows that state: it asks the kernel before and after, with "
        "cachestat(2) or, before Linux 6.5, mincore(2).\n\n"
        "Dropping needs no privilege for files that can be read. Pages that "
        "another process has mapped or locked stay; the result shows them.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct cache_args),
    .actions = actions,
    .columns = tables,
    .examples = examples,
};
