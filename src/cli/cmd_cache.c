/* cmd_cache.c - weir cache: drops, fills or shows the page cache of files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <inttypes.h>
#include <jansson.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/record_json.h"
#include "cli/screen.h"
#include "cli/table.h"
#include "monitor/pagecache.h"

enum action { ACTION_DROP, ACTION_WARM, ACTION_STATUS };

struct cache_args {
    bool all;
    bool metadata;
    uint64_t threads;
    bool json;
};

/* What one run of the command did. */
struct result {
    int action; /* enum action */
    struct wr_walk walk;
    struct wr_pagecache_report before, after; /* status fills `after` only */
    bool all_done;                            /* drop_caches was written */
    weir_err all_err; /* why not, where it was asked for */
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

static int do_action(const struct wr_cli *cli, struct result *res)
{
    const struct cache_args *a = cli->args;
    unsigned what = WR_DROP_PAGES | (a->metadata ? WR_DROP_METADATA : 0);
    int code = WR_EXIT_DONE;

    if (res->action != ACTION_STATUS)
        code = do_job(cli, &res->walk, "asking", wr_pagecache_status,
                      &res->before);
    if (code == WR_EXIT_DONE && res->action == ACTION_WARM)
        code = do_job(cli, &res->walk, "warming", wr_pagecache_warm,
                      &res->after);
    if (code == WR_EXIT_DONE && res->action == ACTION_DROP)
        code = do_job(cli, &res->walk, "dropping", wr_pagecache_drop,
                      &res->after);
    if (code == WR_EXIT_DONE && a->all)
        res->all_done = wr_pagecache_drop_all(what, &res->all_err) == 0;
    if (code == WR_EXIT_DONE && (res->all_done || res->action == ACTION_STATUS))
        code = do_job(cli, &res->walk, "asking", wr_pagecache_status,
                      &res->after);
    return code;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The kernel told nothing about any of the files. */
static bool is_unknown(const struct wr_pagecache_report *rep)
{
    return rep->files && rep->unknown_files == rep->files;
}

static void add_row(struct wr_table *t, const char *name,
                    const struct wr_pagecache_report *rep)
{
    char buf[32];

    wr_table_cell(t, "%s", name);
    wr_table_cell(t, "%s", wr_format_count(buf, sizeof(buf), rep->files));
    wr_table_cell(t, "%s",
                  wr_format_bytes(buf, sizeof(buf), (double)rep->bytes));
    if (is_unknown(rep)) {
        wr_table_cell(t, "?");
        wr_table_cell(t, "?");
    } else {
        wr_table_cell(
            t, "%s",
            wr_format_bytes(buf, sizeof(buf), (double)rep->resident_bytes));
        wr_table_cell(t, "%.1f %%", percent(rep->resident_bytes, rep->bytes));
    }
    if (rep->means & ~(unsigned)WR_RESIDENCY_CACHESTAT)
        wr_table_cell(t, "?");
    else
        wr_table_cell(
            t, "%s",
            wr_format_bytes(buf, sizeof(buf), (double)rep->dirty_bytes));
}

static const char *checked_by(const struct wr_pagecache_report *rep)
{
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

static const char *done_by(const struct result *res)
{
    switch (res->action) {
    case ACTION_WARM:
        return "readahead and reading";
    case ACTION_DROP:
        if (!res->walk.count)
            return res->all_done ? "drop_caches" : "nothing";
        return res->all_done ? "posix_fadvise, drop_caches" : "posix_fadvise";
    default:
        return NULL;
    }
}

static const struct wr_column columns[] = {
    {.head = "when", .help = "'before' the action, or 'now'", .side = '<'},
    {.head = "files", .help = "files checked", .side = '>'},
    {.head = "size", .help = "their bytes", .side = '>'},
    {.head = "in cache",
     .help = "bytes of these in the page cache; '?': the kernel does not tell",
     .side = '>'},
    {.head = "share", .help = "the same in percent", .side = '>'},
    {.head = "dirty",
     .help = "bytes not yet written to the device",
     .side = '>'},
    {.head = NULL}};

static int print_text(const struct wr_cli *cli, const struct result *res)
{
    struct wr_table *t = wr_table_of(columns, 0);
    const struct wr_cli *to;
    struct wr_screen screen;
    char buf[32];
    weir_err err;
    int r;

    if (res->action != ACTION_STATUS)
        add_row(t, "before", &res->before);
    add_row(t, "now", &res->after);
    r = wr_table_print(t, cli, 0, &err);
    wr_table_free(t);
    if (r < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    to = wr_screen_start(&screen, cli);
    if (done_by(res))
        wr_cli_put(to, "done by %s", done_by(res));
    if (res->after.synced_files)
        wr_cli_put(to, " (%s files written out first)",
                   wr_format_count(buf, sizeof(buf), res->after.synced_files));
    wr_cli_put(to, "%schecked by %s\n", done_by(res) ? "; " : "",
               checked_by(&res->after));
    wr_screen_end(&screen);
    return WR_EXIT_DONE;
}

static json_t *report_json(const struct wr_pagecache_report *rep)
{
    json_t *o = json_pack(
        "{s:I, s:I, s:I, s:f, s:I, s:I, s:s}", "files", (json_int_t)rep->files,
        "bytes", (json_int_t)rep->bytes, "resident_bytes",
        (json_int_t)rep->resident_bytes, "resident_percent",
        percent(rep->resident_bytes, rep->bytes), "dirty_bytes",
        (json_int_t)rep->dirty_bytes, "unknown_files",
        (json_int_t)rep->unknown_files, "checked_by", checked_by(rep));

    if (o && is_unknown(rep)) {
        json_object_set_new(o, "resident_bytes", json_null());
        json_object_set_new(o, "resident_percent", json_null());
        json_object_set_new(o, "dirty_bytes", json_null());
    }
    return o;
}

static int print_json(const struct wr_cli *cli, const struct result *res)
{
    static const char *const names[] = {"drop", "warm", "status"};
    const struct wr_pagecache_report *rep = &res->after;
    json_t *failed = json_array();
    json_t *root = json_pack(
        "{s:s, s:o*, s:o, s:s*, s:b, s:I, s:I, s:o}", "action",
        names[res->action], "before",
        res->action == ACTION_STATUS ? NULL : report_json(&res->before), "now",
        report_json(rep), "done_by", done_by(res), "drop_caches", res->all_done,
        "skipped", (json_int_t)res->walk.skipped, "failures",
        (json_int_t)rep->failures, "failed", failed);
    char buf[4 * sizeof(rep->failed[0])];

    for (size_t i = 0; i < rep->named; i++)
        json_array_append_new(
            failed,
            json_string(wr_text_show(rep->failed[i], false, buf, sizeof(buf))));
    return wr_json_print(cli, root);
}

/* Says on stderr what was not done; the exit code for it. */
static int print_failures(const struct wr_cli *cli, const struct result *res)
{
    const struct cache_args *a = cli->args;
    const struct wr_pagecache_report *rep = &res->after;
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

static int run_on(struct wr_cli *cli, struct result *res)
{
    const struct cache_args *a = cli->args;
    int code = do_action(cli, res), missed;

    if (code != WR_EXIT_DONE)
        return code;
    code = a->json ? print_json(cli, res) : print_text(cli, res);
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
    struct result res = {.action = action};
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
