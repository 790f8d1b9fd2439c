/* cmd_doctor.c - weir doctor: what of this machine weir can use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/record_json.h"
#include "doctor/doctor.h"
#include "format/index_cache.h"
#include "weir/weir.h"

#define NAME_WIDTH 13 /* of the longest name of a check */
#define INDENT     (9 + NAME_WIDTH + 2)

struct doctor_args {
    bool strict;
    bool json;
};

/* What one round found. */
struct outcome {
    struct wr_finding *list; /* owned */
    size_t count;
    size_t of[3];                   /* by enum wr_health */
    const struct wr_finding *fatal; /* essential and missing; NULL: none */
};

static void count(struct outcome *o)
{
    for (size_t i = 0; i < o->count; i++) {
        const struct wr_finding *f = &o->list[i];

        o->of[f->health]++;
        if (f->essential && f->health == WR_HEALTH_MISSING && !o->fatal)
            o->fatal = f;
    }
}

static const char *style_of(const struct wr_cli *cli, enum wr_health health)
{
    static const enum wr_style styles[] = {[WR_HEALTH_OK] = WR_STYLE_GOOD,
                                           [WR_HEALTH_LIMITED] = WR_STYLE_WARN,
                                           [WR_HEALTH_MISSING] = WR_STYLE_BAD};

    return wr_cli_style(cli, styles[health]);
}

static void print_finding(const struct wr_cli *cli, const struct wr_finding *f)
{
    const struct wr_text_wrap wrap = {INDENT, INDENT, cli->width};
    char found[1024];

    wr_cli_put(cli, "%s%-7s%s  %-*s  ", style_of(cli, f->health),
               wr_health_name(f->health), wr_cli_style(cli, WR_STYLE_END),
               NAME_WIDTH, f->check);
    wr_text_print(cli->out, wr_text_show(f->found, true, found, sizeof(found)),
                  wrap);
    if (f->health == WR_HEALTH_OK)
        return;
    if (*f->means) {
        wr_cli_put(cli, "%*s", INDENT, "");
        wr_text_print(cli->out, f->means, wrap);
    }
    if (*f->remedy)
        wr_cli_put(cli, "%*s$ %s\n", INDENT, "",
                   wr_text_show(f->remedy, true, found, sizeof(found)));
}

static void print_text(const struct wr_cli *cli, const struct outcome *o)
{
    char shown[4 * sizeof(o->list->path)];
    const char *at = "";

    for (size_t i = 0; i < o->count; i++) {
        const struct wr_finding *f = &o->list[i];

        if (strcmp(f->path, at) != 0)
            wr_cli_put(cli, "\n%s%s%s\n", wr_cli_style(cli, WR_STYLE_BOLD),
                       wr_text_show(f->path, true, shown, sizeof(shown)),
                       wr_cli_style(cli, WR_STYLE_END));
        at = f->path;
        print_finding(cli, f);
    }
    wr_cli_put(cli, "\n%zu ok, %zu limited, %zu missing: weir %s here.\n",
               o->of[WR_HEALTH_OK], o->of[WR_HEALTH_LIMITED],
               o->of[WR_HEALTH_MISSING], o->fatal ? "cannot feed" : "can feed");
}

static json_t *text_or_null(const char *s)
{
    return *s ? wr_text_json(s) : json_null();
}

static json_t *finding_json(const struct wr_finding *f)
{
    return json_pack("{s:s, s:o, s:s, s:b, s:o, s:o, s:o}", "check", f->check,
                     "path", text_or_null(f->path), "health",
                     wr_health_name(f->health), "essential", f->essential,
                     "found", wr_text_json(f->found), "means",
                     text_or_null(f->means), "remedy", text_or_null(f->remedy));
}

static int print_json(const struct wr_cli *cli, const struct outcome *o)
{
    json_t *checks = json_array(), *root;
    int r = -1;

    for (size_t i = 0; i < o->count; i++)
        json_array_append_new(checks, finding_json(&o->list[i]));
    root = json_pack("{s:s, s:i, s:s, s:b, s:I, s:I, s:I, s:o}", "schema",
                     "weir-doctor", "version", 1, "weir", weir_version_string(),
                     "can_feed", o->fatal == NULL, "ok",
                     (json_int_t)o->of[WR_HEALTH_OK], "limited",
                     (json_int_t)o->of[WR_HEALTH_LIMITED], "missing",
                     (json_int_t)o->of[WR_HEALTH_MISSING], "checks", checks);
    if (root)
        r = wr_record_dump(root, JSON_INDENT(2), cli->out);
    json_decref(root);
    wr_cli_put(cli, "\n");
    return r < 0 ? wr_cli_fail(cli, "cannot write JSON") : WR_EXIT_DONE;
}

static int judge(const struct wr_cli *cli, const struct outcome *o)
{
    const struct doctor_args *a = cli->args;
    const struct wr_finding *f = o->fatal;

    if (f)
        return wr_cli_fail(cli, "weir cannot feed here: %s%s%s%s: %s",
                           *f->path ? "'" : "", f->path, *f->path ? "': " : "",
                           f->check, f->found);
    if (a->strict && o->of[WR_HEALTH_OK] != o->count) {
        wr_cli_note(cli, "--strict: %zu of %zu checks are not ok",
                    o->count - o->of[WR_HEALTH_OK], o->count);
        return WR_EXIT_MISSED;
    }
    return WR_EXIT_DONE;
}

static int run_on(const struct wr_cli *cli, const struct wr_doctor *d)
{
    const struct doctor_args *a = cli->args;
    struct outcome o = {0};
    weir_err err;
    int code, verdict;

    if (wr_doctor_examine(d, &o.list, &o.count, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    count(&o);
    code = WR_EXIT_DONE;
    if (a->json)
        code = print_json(cli, &o);
    else
        print_text(cli, &o);
    verdict = judge(cli, &o);
    free(o.list);
    return code ? code : verdict;
}

/* Looks at the paths that were named; else at this folder and, if it is there,
 * at the one that keeps indexes. */
static int doctor_run(struct wr_cli *cli)
{
    char here[] = ".", *folder = wr_index_cache_folder();
    char *usual[] = {here, folder};
    struct wr_doctor d = {
        .root = "", .paths = cli->operands, .path_count = cli->operand_count};
    int code;

    if (!d.path_count) {
        d.paths = usual;
        d.path_count = folder && access(folder, F_OK) == 0 ? 2 : 1;
    }
    code = run_on(cli, &d);
    free(folder);
    return code;
}

static const struct wr_option options[] = {
    {WR_OPT_FLAG(struct doctor_args, strict), .name = "strict",
     .help = "exit with 3 if anything is limited or missing"},
    {WR_OPT_FLAG(struct doctor_args, json), .name = "json",
     .help = "print the result as JSON (docs/formats/doctor.md)"},
    WR_OPTIONS_END};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("PATH",
                 WR_OPERAND_OPTIONAL | WR_OPERAND_MANY | WR_OPERAND_PATH),
     .help = "files or folders with data sets or checkpoints (default: this "
             "folder, and the one that keeps indexes)"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir doctor /data /scratch",
     "what can weir use here, and on these paths?"},
    {"weir doctor --strict -q",
     "in a job script: stop unless everything is ok"},
    {NULL, NULL}};

const struct wr_command wr_cmd_doctor = {
    .name = "doctor",
    .group = WR_GROUP_HELP,
    .summary = "check what weir can use on this machine",
    .description =
        "Checks the kernel, cores, memory, limits of the process, io_uring, "
        "the page cache, FUSE and the optional parts of this build, and for "
        "each path its file system, O_DIRECT and disks. Features are tried "
        "where that is harmless: a ring is set up and reads, a page is read "
        "past the cache. An unnamed file may be created in a folder; nothing "
        "is left.\n\n"
        "Each check is ok, limited (less than weir could use) or missing, with "
        "the consequence and a command that fixes it. The exit status is 0 if "
        "weir can feed from here, 1 if something essential is missing. MPI is "
        "not checked: nothing in this version uses it.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct doctor_args),
    .examples = examples,
    .ranks = WR_RANKS_FIRST,
    .run = doctor_run,
};
