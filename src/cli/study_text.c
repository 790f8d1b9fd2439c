/* study_text.c - the plan of weir study as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/study_text.h"

#include <stdio.h>

#include "base/shown.h"
#include "base/units.h"
#include "record/view_study.h"
#include "study/data.h"
#include "study/estimate.h"
#include "study/figure.h"
#include "study/folder.h"

char *wr_study_duration(double seconds, char *buf, size_t cap)
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

const struct wr_columns wr_study_columns[] = {
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
    struct wr_table *t = wr_table_of(plan_columns, 0);
    char text[32];
    size_t missing, cells;
    int r;

    for (size_t k = 0; st->figures[k]; k++) {
        const struct wr_figure *f = st->figures[k];

        cells = count_cells(st, f, &missing);
        wr_table_cell(t, "%s", f->id);
        wr_table_cell(t, "%zu", cells);
        wr_table_cell(t, "%zu", missing);
        wr_table_cell(
            t, "%s",
            wr_study_duration(wr_estimate_figure(st, f), text, sizeof(text)));
        wr_table_cell(t, "%s", f->title);
    }
    r = wr_table_print(t, cli, 2, err);
    wr_table_free(t);
    return r;
}

int wr_study_print_plan(const struct wr_cli *cli, const struct wr_study *st,
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
        wr_study_duration(wr_estimate_all(st), a, sizeof(a)),
        wr_study_duration(wr_data_seconds(st), (char[32]){""}, 32),
        wr_format_bytes(b, sizeof(b), (double)wr_data_bytes(st)),
        wr_format_bytes(c, sizeof(c), (double)space));
    return r;
}

json_t *wr_study_plan_json(const struct wr_study *st)
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

int wr_study_print_list(const struct wr_cli *cli, weir_err *err)
{
    struct wr_table *t = wr_table_new("<|<");
    const struct wr_figure *f;
    int r;

    for (size_t k = 0; (f = wr_figure_at(k)); k++) {
        wr_table_cell(t, "%s", f->id);
        wr_table_cell(t, "%s", f->title);
    }
    r = wr_table_print(t, cli, 0, err);
    wr_table_free(t);
    return r;
}
