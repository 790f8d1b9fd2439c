/* cmd_study.c - weir study: the paper's parametric study, end to end.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/record_json.h"
#include "cli/worker.h"
#include "report/report.h"
#include "report/study.h"
#include "result/record.h"
#include "storage/beside.h"
#include "study/data.h"
#include "study/run.h"
#include "study/figure.h"
#include "study/folder.h"
#include "study/study.h"

#define PARTS_S 1000 /* of a second, for the progress */

/* What the process that measures tells the one that the user sees. It prints
 * nothing itself: its text would mix with the line. */
struct study_news {
    char what[400]; /* or why it failed */
    bool ended;     /* the last news, with what follows */
    int code;       /* 0, or WEIR_E... */
    double done_s, total_s;
    double seconds, control;
    bool alone;
};

/* One measurement. */
struct measured_study {
    struct wr_study *st;
    struct wr_child worker;
    struct study_news last;
    char label[400];
};

static void on_progress(void *arg, const struct wr_study_news *news)
{
    struct study_news n = {.done_s = news->done_s, .total_s = news->total_s};

    snprintf(n.what, sizeof(n.what), "%s", news->what);
    wr_cli_work_tell(arg, &n, sizeof(n));
}

static int measure_study(void *arg)
{
    struct measured_study *s = arg;
    struct wr_study *st = s->st;
    struct study_news n = {.ended = true};
    weir_err err;

    st->cfg.progress = on_progress;
    st->cfg.progress_arg = &s->worker;
    n.code = wr_study_run(st, &err);
    if (n.code < 0)
        snprintf(n.what, sizeof(n.what), "%.399s", err.msg);
    n.seconds = st->seconds;
    n.control = st->control;
    n.alone = st->alone;
    wr_cli_work_tell(&s->worker, &n, sizeof(n));
    return n.code < 0 ? WR_EXIT_FAILED : WR_EXIT_DONE;
}

static bool show_news(void *arg, struct wr_progress *line, const void *news)
{
    struct measured_study *s = arg;
    const struct study_news *n = news;

    if (!n)
        return true;
    s->last = *n;
    if (n->ended)
        return false;
    snprintf(s->label, sizeof(s->label), "%s", n->what);
    wr_progress_callback(line, (uint64_t)(n->done_s * PARTS_S),
                         (uint64_t)(n->total_s * PARTS_S));
    return true;
}

/* Runs that the files have, and how many there should be. */
static unsigned long count_runs(const struct wr_study *st, unsigned long *all)
{
    struct wr_study_config cfg = st->cfg;
    unsigned long n = 0;
    struct wr_study now;

    *all = 0;
    cfg.note = NULL;
    cfg.fresh = false;
    (void)wr_study_init(&now, &cfg, NULL);
    for (size_t k = 0; k < now.cell_count; k++) {
        n += wr_cell_runs(now.cells[k]);
        *all += now.cells[k]->rounds;
    }
    wr_study_done(&now);
    return n;
}

static int end_early(const struct wr_cli *cli, const struct wr_study *st,
                     int how)
{
    unsigned long all, done = count_runs(st, &all);
    weir_err err;

    if (wr_folder_tidy(st, &err) < 0)
        wr_cli_note(cli, "what was half done could not be removed: %s",
                    err.msg);
    return wr_cli_fail(cli,
                       "%s%s: %lu of %lu runs are done and kept; the same "
                       "command%s goes on there",
                       wr_interrupted() ? "interrupted"
                                        : "the process that measured was ended "
                                          "by ",
                       wr_interrupted() ? "" : strsignal(-how), done, all,
                       st->cfg.fresh ? " without --fresh" : "");
}

/* What the child has measured is in the files. */
static int take_results(const struct wr_cli *cli, struct wr_study *st,
                        const struct study_news *last)
{
    struct wr_study_config cfg = st->cfg;
    weir_err err;

    cfg.fresh = false;
    wr_study_done(st);
    if (wr_study_init(st, &cfg, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    st->seconds = last->seconds;
    st->control = last->control;
    st->alone = last->alone;
    return WR_EXIT_DONE;
}

/* Measures what `st` lacks in a process of its own, shows in a line how far it is,
 * and has `st` know the results. Ctrl-C ends it in the middle of anything: what
 * was measured is kept in files, what was half done is removed, and how to go on
 * is said. Returns enum wr_exit. */
static int study_apart(struct wr_cli *cli, struct wr_study *st)
{
    struct measured_study s = {
        .st = st,
        .last = {.what = "the process that measured failed"},
        .label = "starting"};
    const struct wr_work work = {.line = {.label = s.label},
                                 .news = sizeof(s.last),
                                 .work = measure_study,
                                 .show = show_news};
    weir_err err;
    int code, r = wr_cli_work_run(&s.worker, cli, &work, &s, &code, &err);

    if (r < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    if (r == WR_WORK_CHILD)
        _exit(code); /* it has printed nothing */
    if (code < 0 || wr_interrupted())
        return end_early(cli, st, code);
    if (code != WR_EXIT_DONE)
        return wr_cli_fail(cli, "%s", s.last.what);
    return take_results(cli, st, &s.last);
}

#define FOLDER "weir-study"

struct study_args {
    bool quick, full, list, dry_run, fresh, clean, json;
    struct wr_enum_list only;
    struct wr_uint_list threads;
    uint64_t images, repeat, iterations;
    double width;
};

/* One run of the command. */
struct study_cmd {
    struct wr_cli *cli; /* borrowed */
    const char *folder; /* borrowed */
    char only[200];     /* the figures, "fig6,fig7" */
};

/* --- its report --- */

/* "3 h 20 min", "4 min 10 s", "12 s". Returns buf. */
static char *study_duration(double seconds, char *buf, size_t cap)
{
    unsigned s = (unsigned)(seconds + 0.5);

    if (s >= 3600)
        snprintf(buf, cap, "%u h %02u min", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(buf, cap, "%u min %02u s", s / 60, s % 60);
    else
        snprintf(buf, cap, "%u s", s);
    return buf;
}

static const struct wr_column plan_columns[] = {
    {.head = "figure", .help = "which of them", .side = '<'},
    {.head = "cells",
     .help = "measured points that it is the first to need",
     .side = '>'},
    {.head = "runs",
     .help = "runs that are missing, warm-ups included",
     .side = '>'},
    {.head = "time", .help = "about how long they take", .side = '>'},
    {.head = "title", .side = '<'},
    {.head = NULL}};

static const struct wr_columns study_columns[] = {
    {"the plan", plan_columns},
    {"the verdicts", wr_study_verdict_columns},
    {NULL, NULL}};

/* Cells that a figure is the first to need, and their missing runs. */
static size_t count_cells(const struct wr_study *st, const struct wr_figure *f,
                          size_t *ret_missing)
{
    size_t n = 0;

    *ret_missing = 0;
    for (size_t k = 0; k < st->cell_count; k++) {
        const struct wr_cell *c = st->cells[k];

        if (wr_estimate_runs_for(st, c) != f)
            continue;
        n++;
        *ret_missing += c->rounds - wr_cell_runs(c);
    }
    return n;
}

static int print_plan_table(const struct wr_cli *cli, const struct wr_study *st,
                            weir_err *err)
{
    struct wr_doc_table *t = wr_doc_list_of(plan_columns);
    char text[32];
    size_t missing, cells;
    int r;

    for (size_t k = 0; st->figures[k]; k++) {
        const struct wr_figure *f = st->figures[k];

        cells = count_cells(st, f, &missing);
        wr_doc_cell(t, "%s", f->id);
        wr_doc_cell(t, "%zu", cells);
        wr_doc_cell(t, "%zu", missing);
        wr_doc_cell(
            t, "%s",
            study_duration(wr_estimate_figure(st, f), text, sizeof(text)));
        wr_doc_cell(t, "%s", f->title);
    }
    r = wr_cli_list(cli, t, 2, err);
    return r;
}

/* What will be done, how long it takes, and what it needs on disk. */
static int study_print_plan(const struct wr_cli *cli, const struct wr_study *st,
                            weir_err *err)
{
    char a[32], b[32], c[32];
    uint64_t space = 0;
    int r = wr_folder_space(st, &space, err);

    if (r < 0)
        return r;
    wr_cli_put(cli, "The %s study, in '%s'%s%s\n\n", st->scale.mode,
               wr_show_path(st->cfg.folder).text, *st->scale.note ? ": " : "",
               st->scale.note);
    r = print_plan_table(cli, st, err);
    wr_cli_put(
        cli,
        "\nAbout %s, %s of them to make data. It needs %s on disk, %s are "
        "free.\n",
        study_duration(wr_estimate_all(st), a, sizeof(a)),
        study_duration(wr_data_seconds(st), (char[32]){""}, 32),
        wr_format_bytes(b, sizeof(b), (double)wr_data_bytes(st)),
        wr_format_bytes(c, sizeof(c), (double)space));
    return r;
}

static json_t *study_plan_json(const struct wr_study *st)
{
    json_t *figures = json_array();
    uint64_t space = 0;
    int bad = 0;

    (void)wr_folder_space(st, &space, NULL);
    for (size_t k = 0; st->figures[k]; k++) {
        size_t missing, cells = count_cells(st, st->figures[k], &missing);

        bad |= json_array_append_new(
            figures,
            json_pack("{s:s, s:s, s:I, s:I, s:f}", "id", st->figures[k]->id,
                      "title", st->figures[k]->title, "cells",
                      (json_int_t)cells, "runs", (json_int_t)missing, "seconds",
                      wr_estimate_figure(st, st->figures[k])));
    }
    if (bad) {
        json_decref(figures);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:f, s:f, s:I, s:I}", "mode", st->scale.mode,
                     "figures", figures, "seconds", wr_estimate_all(st),
                     "data_seconds", wr_data_seconds(st), "bytes",
                     (json_int_t)wr_data_bytes(st), "free_bytes",
                     (json_int_t)space);
}

/* The figures that there are. */
static int study_print_list(const struct wr_cli *cli, weir_err *err)
{
    struct wr_doc_table *t = wr_doc_list("<|<");
    const struct wr_figure *f;
    int r;

    for (size_t k = 0; (f = wr_figure_at(k)); k++) {
        wr_doc_cell(t, "%s", f->id);
        wr_doc_cell(t, "%s", f->title);
    }
    r = wr_cli_list(cli, t, 0, err);
    return r;
}

/* --- the command --- */

static void on_note(void *arg, const char *text)
{
    const struct study_cmd *s = arg;

    wr_cli_note(s->cli, "%s", text);
}

/* The option's numbers are those of the registry. */
static void name_figures(struct study_cmd *s)
{
    const struct study_args *a = s->cli->args;
    size_t at = 0;

    for (size_t k = 0; k < a->only.count; k++) {
        const struct wr_figure *f = wr_figure_at((size_t)a->only.v[k]);

        if (f && at < sizeof(s->only))
            at += (size_t)snprintf(s->only + at, sizeof(s->only) - at, "%s%s",
                                   at ? "," : "", f->id);
    }
}

static struct wr_study_config config_of(struct study_cmd *s)
{
    const struct study_args *a = s->cli->args;
    struct wr_study_config cfg = {
        .folder = s->folder,
        .mode = a->quick  ? WR_STUDY_QUICK
                : a->full ? WR_STUDY_FULL
                          : WR_STUDY_DEFAULT,
        .wish = {.images = a->images,
                 .rounds = a->repeat,
                 .iterations = a->iterations,
                 .width = a->width},
        .only = a->only.count ? s->only : NULL,
        .fresh = a->fresh,
        .stopped = wr_interrupted,
        .note = on_note,
        .note_arg = s,
    };

    cfg.wish.threads.count = a->threads.count;
    for (size_t k = 0; k < a->threads.count && k < WR_SCALE_LIST; k++)
        cfg.wish.threads.v[k] = (unsigned)a->threads.v[k];
    return cfg;
}

/* --- results --- */

static int print_html(const void *doc, FILE *out, weir_err *err)
{
    return wr_doc_print_html(doc, out, err);
}

static int write_page(const json_t *record, int folder, weir_err *err)
{
    const char *const names[] = {"study.json"};
    const json_t *const records[] = {record};
    struct wr_report_spec spec = {
        .paths = names, .records = records, .count = 1, .title = "weir study"};
    struct wr_comparison none;
    struct wr_doc *doc = NULL;
    int r = wr_report(&spec, &doc, &none, err);

    if (r == 0)
        r = wr_whole_write_in(
            folder, "study.html",
            &(struct wr_whole){.print = print_html, .arg = doc}, err);
    wr_doc_free(doc);
    return r;
}

/* The page is left out where weir was built without the library for it. */
static int write_results(struct study_cmd *s, struct wr_study *st,
                         const json_t *record, weir_err *err)
{
    int folder = open(st->cfg.folder, O_PATH | O_DIRECTORY | O_CLOEXEC), r;
    char size[32];

    if (folder < 0)
        return wr_fail_errno(err, errno, "'%s'", st->cfg.folder);
    r = wr_record_write_in(record, folder, "study.json", err);
    if (r == 0)
        r = write_page(record, folder, err);
    close(folder);
    if (r == WEIR_ENOTSUP) {
        wr_cli_note(s->cli, "no page: %s", err->msg);
        r = 0;
    } else if (r == 0) {
        wr_cli_note(s->cli, "'%s/study.html': the figures, as a page",
                    st->cfg.folder);
    }
    if (r == 0)
        wr_cli_note(s->cli,
                    "'%s/data' has %s to measure with: 'weir study %s --clean' "
                    "removes it",
                    st->cfg.folder,
                    wr_format_bytes(size, sizeof(size),
                                    (double)wr_folder_data_bytes(st)),
                    st->cfg.folder);
    return r;
}

/* The record of the whole folder: what was measured there before stays on the
 * page when a part is measured now. NULL: failed. */
static json_t *whole_record(const struct wr_study *st, weir_err *err)
{
    struct wr_study_config cfg = st->cfg;
    struct wr_study all;
    char known[sizeof(((struct study_cmd *)0)->only)];
    json_t *record = NULL;

    cfg.fresh = false;
    cfg.note = NULL;
    wr_study_known(&cfg, known, sizeof(known));
    cfg.only = known;
    if (wr_study_init(&all, &cfg, err) == 0) {
        all.seconds = st->seconds;
        all.control = st->control;
        all.alone = st->alone;
        record = wr_study_record(&all);
        if (!record)
            wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    wr_study_done(&all);
    return record;
}

static int show(struct study_cmd *s, struct wr_study *st)
{
    const struct study_args *a = s->cli->args;
    weir_err err;
    json_t *whole = whole_record(st, &err);
    int r = whole ? wr_cli_give_record(s->cli, wr_study_record(st), a->json,
                                       /* path= */ NULL, &err)
                  : err.code;

    if (r == 0)
        r = write_results(s, st, whole, &err);
    json_decref(whole);
    return r < 0 ? wr_cli_fail(s->cli, "%s", err.msg) : WR_EXIT_DONE;
}

/* --- measuring --- */

static int check_space(const struct wr_study *st, weir_err *err)
{
    uint64_t need = wr_data_bytes(st), space = 0;
    char a[32], b[32];
    int r = wr_folder_space(st, &space, err);

    if (r == 0 && need > space)
        r = wr_fail(err, WEIR_ENOSPC,
                    "'%s': %s are needed for data, and %s are free: choose a "
                    "folder elsewhere, or fewer figures (--only)",
                    st->cfg.folder, wr_format_bytes(a, sizeof(a), (double)need),
                    wr_format_bytes(b, sizeof(b), (double)space));
    return r;
}

static int measure(struct study_cmd *s, struct wr_study *st)
{
    weir_err err;
    int code;

    if (check_space(st, &err) < 0)
        return wr_cli_fail(s->cli, "%s", err.msg);
    code = study_apart(s->cli, st);
    return code == WR_EXIT_DONE ? show(s, st) : code;
}

/* The plan goes to stderr, where it does not mix with results. */
static int print_plan(struct study_cmd *s, const struct wr_study *st)
{
    const struct study_args *a = s->cli->args;
    struct wr_cli to = *s->cli;
    weir_err err;

    if (a->dry_run && a->json)
        return wr_json_print(s->cli, study_plan_json(st));
    if (!a->dry_run)
        to.out = s->cli->err;
    if (!a->dry_run && s->cli->quiet)
        return WR_EXIT_DONE;
    if (study_print_plan(&to, st, &err) < 0)
        return wr_cli_fail(s->cli, "%s", err.msg);
    if (!a->dry_run)
        fputc('\n', to.out);
    return WR_EXIT_DONE;
}

static int run_study(struct study_cmd *s)
{
    const struct study_args *a = s->cli->args;
    struct wr_study_config cfg = config_of(s);
    struct wr_study st;
    weir_err err;
    int code, r = wr_study_init(&st, &cfg, &err);

    if (r < 0)
        code = wr_cli_fail(s->cli, "%s", err.msg);
    else
        code = print_plan(s, &st);
    if (code == WR_EXIT_DONE && !a->dry_run)
        code = measure(s, &st);
    wr_study_done(&st);
    return code;
}

static int study_run(struct wr_cli *cli)
{
    const struct study_args *a = cli->args;
    struct study_cmd s = {
        .cli = cli, .folder = cli->operand_count ? cli->operands[0] : FOLDER};
    weir_err err;

    if (a->quick && a->full)
        return wr_cli_usage(cli, "--quick and --full do not go together");
    if (a->threads.count > WR_SCALE_LIST)
        return wr_cli_usage(cli, "--threads takes %d values at most",
                            WR_SCALE_LIST);
    if (a->list)
        return study_print_list(cli, &err) < 0 ? wr_cli_fail(cli, "%s", err.msg)
                                               : WR_EXIT_DONE;
    if (a->clean)
        return wr_folder_clean(s.folder, &err) < 0
                   ? wr_cli_fail(cli, "%s", err.msg)
                   : WR_EXIT_DONE;
    name_figures(&s);
    return run_study(&s);
}

/* In the order of the registry (a test compares them). */
static const struct wr_choice figure_choices[] = {
    {"table1", 0, "bandwidth of each device"},
    {"fig4", 1, "the input pipeline, by threads"},
    {"fig5", 2, "reading files, by threads"},
    {"fig6", 3, "the mini-application, with and without prefetch"},
    {"fig7", 4, "the size of batches"},
    {"fig8", 5, "reads over time"},
    {"fig9", 6, "checkpoints, and the burst buffer"},
    {"fig10", 7, "writes over time"},
    {"formats", 8, "tensor, PNG and JPEG"},
    {NULL, 0, NULL}};

#define A struct study_args
static const struct wr_option options[] = {
    {WR_OPT_FLAG(A, quick), .name = "quick", .group = "What to measure",
     .help = "all figures in less than five minutes: less data, fewer runs"},
    {WR_OPT_FLAG(A, full), .name = "full",
     .help = "as the paper has it, to the letter: about eight hours"},
    {WR_OPT_ENUM_LIST(A, only), .name = "only", .arg = "WHAT,...",
     .choices = figure_choices, .def_note = "all of them",
     .help = "only these figures"},
    {WR_OPT_FLAG(A, list), .name = "list", .letter = 'l',
     .help = "show the figures"},
    {WR_OPT_FLAG(A, dry_run), .name = "dry-run",
     .help = "print the plan, how long it takes and what it needs, and end"},
    {WR_OPT_FLAG(A, fresh), .name = "fresh",
     .help = "forget what was measured in the folder before"},
    {WR_OPT_FLAG(A, clean), .name = "clean",
     .help = "remove the data that was measured with, keep the results, and "
             "end"},

    {WR_OPT_UINT(A, images), .name = "images", .arg = "N", .min = 1, .max = 1e9,
     .def_note = "2,048; quick 256, full 16,384", .group = "How much of it",
     .help = "pictures of the micro-benchmark; fewer make the other data less "
             "too"},
    {WR_OPT_UINT(A, iterations), .name = "iterations", .letter = 'i',
     .arg = "N", .min = 2, .max = 1e6, .def_note = "40; quick 10, full 142",
     .help = "iterations of the mini-application"},
    {WR_OPT_UINT(A, repeat), .name = "repeat", .letter = 'r', .arg = "N",
     .min = 2, .max = 1000, .def_note = "6; quick 3",
     .help = "rounds; the first is a warm-up and not counted"},
    {WR_OPT_UINT_LIST(A, threads), .name = "threads", .letter = 't',
     .arg = "N,...", .min = 1, .max = 256, .def_note = "1,2,4,8",
     .help = "threads of the pipeline"},
    {WR_OPT_DOUBLE(A, width), .name = "width", .arg = "F", .min = 0.01,
     .max = 4, .def_note = "1",
     .help = "width of the network that is saved, 1: 559 MB"},
    {WR_OPT_FLAG(A, json), .name = "json", .group = "Output",
     .help = "print the record (with --dry-run: the plan) as JSON"},
    WR_OPTIONS_END};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("FOLDER", WR_OPERAND_PATH | WR_OPERAND_OPTIONAL),
     .help = "where data and results go ('" FOLDER "' by default); a study "
             "that was stopped there goes on"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir study --quick", "every figure, judged, in less than five minutes"},
    {"weir study results --only fig4,fig5", "parts of it"},
    {"weir study results --full --dry-run",
     "how long the whole study takes, and what it needs"},
    {"weir study results --clean", "remove the data, keep the results"},
    {NULL, NULL}};

const struct wr_command wr_cmd_study = {
    .name = "study",
    .group = WR_GROUP_MEASURE,
    .summary = "repeat the TensorFlow I/O paper's study, and judge it",
    .description =
        "Measures the figures of Chien et al., Characterizing Deep-Learning "
        "I/O Workloads in TensorFlow (2018), on emulated devices (HDD, SSD, "
        "Optane, Lustre as in its Table I) and on the disk under FOLDER, and "
        "says of each conclusion whether it holds here, does not hold, or "
        "cannot be seen here, and why. What the number of cores limits is not "
        "claimed.\n\n"
        "It makes its data, prints the plan with the time it takes, and "
        "measures in rounds, of which the first is a warm-up. Every run is "
        "kept in FOLDER/cells as soon as it is done: after Ctrl-C, a crash or "
        "a power cut the same command goes on there. The results are printed, "
        "and kept as FOLDER/study.json and FOLDER/study.html.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct study_args),
    .columns = study_columns,
    .examples = examples,
    .run = study_run,
};
