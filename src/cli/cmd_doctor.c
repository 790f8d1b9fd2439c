/* cmd_doctor.c - weir doctor: what of this machine weir can use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/answers.h"
#include "cli/record_json.h"
#include "doctor/doctor.h"
#include "format/index_cache.h"
#include "weir/weir.h"

struct doctor_args {
    bool strict;
    bool json;
};

/* What one round found. */
struct outcome {
    const char *schema;
    uint32_t version;
    const char *weir;        /* its version */
    struct wr_finding *list; /* owned */
    size_t count;
    struct wr_list checks;          /* the same */
    uint64_t of[3];                 /* by enum wr_health */
    const struct wr_finding *fatal; /* essential and missing; NULL: none */
    bool can_feed;                  /* there is none */
};

static void count(struct outcome *o)
{
    for (size_t i = 0; i < o->count; i++) {
        const struct wr_finding *f = &o->list[i];

        o->of[f->health]++;
        if (f->essential && f->health == WR_HEALTH_MISSING && !o->fatal)
            o->fatal = f;
    }
    o->can_feed = !o->fatal;
    o->checks = (struct wr_list){o->list, o->count, sizeof(*o->list)};
}

/* --- what it answers --- */

static const char *health_of(const void *finding)
{
    return wr_health_name(((const struct wr_finding *)finding)->health);
}

#define THIS struct wr_finding
static const struct wr_vals wr_finding_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, check), WR_VAL_IS(CHARS, path, .flags = WR_VAL_NULL),
    WR_VAL_BY(TEXT, "health", .text = health_of), WR_VAL_IS(FLAG, essential),
    WR_VAL_IS(CHARS, found), WR_VAL_IS(CHARS, means, .flags = WR_VAL_NULL),
    WR_VAL_IS(CHARS, remedy, .flags = WR_VAL_NULL));
#undef THIS

/* The machine, and each path. */
static json_t *places_json(const void *outcome)
{
    const struct outcome *o = outcome;
    json_t *places = json_array(), *checks = NULL;

    for (const struct wr_finding *f = o->list; f < o->list + o->count; f++) {
        if (f == o->list || strcmp(f->path, f[-1].path) != 0) {
            checks = json_array();
            json_array_append_new(places, json_pack("{s:o, s:o}", "path",
                                                    wr_text_json(f->path),
                                                    "checks", checks));
        }
        json_array_append_new(checks,
                              wr_vals_json(&wr_finding_vals, f, WR_FOR_RANKS));
    }
    return places;
}

#define THIS struct outcome
static const struct wr_vals outcome_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, schema), WR_VAL_IS(U32, version), WR_VAL_IS(TEXT, weir),
    WR_VAL_IS(FLAG, can_feed), WR_VAL_OF(U64, "ok", of[WR_HEALTH_OK]),
    WR_VAL_OF(U64, "limited", of[WR_HEALTH_LIMITED]),
    WR_VAL_OF(U64, "missing", of[WR_HEALTH_MISSING]),
    WR_VAL_OF(LIST(finding), "checks", checks),
    WR_VAL_BY(JSON, "places", .json = places_json, .flags = WR_VAL_INSIDE));
#undef THIS

static const struct wr_column found_columns[] = {
    {.head = "",
     .side = '<',
     .say = "{health:,-7}",
     .good = "ok     ",
     .bad = "missing"},
    {.head = "", .side = '<', .say = "{check:,-13}"},
    {.head = "", .side = '<', .say = "{found}"},
    {.head = NULL}};

static const struct wr_column means_columns[] = {
    {.head = "", .say = ""},
    {.head = "", .say = ""},
    {.head = "", .say = "[{?!health=ok}{means}]"},
    {.head = NULL}};

static const struct wr_column remedy_columns[] = {
    {.head = "", .say = ""},
    {.head = "", .say = ""},
    {.head = "", .say = "[{?!health=ok}$ {remedy}]"},
    {.head = NULL}};

const struct wr_answer wr_answer_doctor = {
    .name = "doctor",
    .of = &outcome_vals,
    .screen = WR_SCREEN(
        {.section = "{path}", .each = "places"},
        {.each = "checks",
         .table = found_columns,
         .below = {means_columns, remedy_columns}},
        {.section = ""},
        {.say = "{ok} ok, {limited} limited, {missing} missing: weir "
                "{can_feed?can|cannot} feed here."}),
};

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
                    o->count - (size_t)o->of[WR_HEALTH_OK], o->count);
        return WR_EXIT_MISSED;
    }
    return WR_EXIT_DONE;
}

static int run_on(const struct wr_cli *cli, const struct wr_doctor *d)
{
    const struct doctor_args *a = cli->args;
    struct outcome o = {
        .schema = "weir-doctor", .version = 1, .weir = weir_version_string()};
    weir_err err;
    int code, verdict;

    if (wr_doctor_examine(d, &o.list, &o.count, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    count(&o);
    code = wr_cli_answer(cli, &wr_answer_doctor, &o, a->json);
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
