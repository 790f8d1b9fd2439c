/* study_text.c - the plan and the results of weir study as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/study_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "record/get.h"
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

/* --- the plan --- */

static const struct wr_column plan_columns[] = {
    {"figure", "which of them", '<', 0},
    {"cells", "measured points that it is the first to need", '>', 0},
    {"runs", "runs that are missing, warm-ups included", '>', 0},
    {"time", "about how long they take", '>', 0},
    {"title", NULL, '<', 0},
    {NULL, NULL, 0, 0}};

static const struct wr_column verdict_columns[] = {
    {"figure", NULL, '<', 0},
    {"verdict",
     "'holds', 'does not hold' or 'cannot be seen here'; '(calibration)' where "
     "the emulated devices were fitted to the paper's numbers, or a number is "
     "an assumption, so that agreement confirms nothing",
     '<', 0},
    {"title", NULL, '<', 0},
    {NULL, NULL, 0, 0}};

const struct wr_columns wr_study_columns[] = {{"the plan", plan_columns},
                                              {"the verdicts", verdict_columns},
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
    fprintf(cli->out, "The %s study, in '%s'%s%s\n\n", st->scale.mode,
            st->cfg.folder, *st->scale.note ? ": " : "", st->scale.note);
    r = print_plan_table(cli, st, err);
    fprintf(cli->out,
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

/* --- results --- */

static int print_verdicts(const struct wr_cli *cli, const json_t *figures,
                          weir_err *err)
{
    struct wr_table *t = wr_table_of(verdict_columns, 0);
    const json_t *f;
    size_t k;
    int r;

    json_array_foreach(figures, k, f)
    {
        wr_table_cell(t, "%s", wr_get_text(f, "id"));
        wr_table_cell(t, "%s%s", wr_get_text(f, "verdict"),
                      wr_get_true(f, "calibration") ? " (calibration)" : "");
        wr_table_cell(t, "%s", wr_get_text(f, "title"));
    }
    r = wr_table_print(t, cli, 2, err);
    wr_table_free(t);
    return r;
}

/* Three digits that count; large numbers whole. */
static void print_number(double v, char *buf, size_t cap)
{
    if (isnan(v))
        snprintf(buf, cap, "-");
    else
        snprintf(buf, cap, "%.*f", v >= 100 ? 0 : v >= 10 ? 1 : 2, v);
}

/* "123 (120-125)", "123 (120-125) cores", "-". */
static void print_value(const json_t *v, char *buf, size_t cap)
{
    char median[32], low[32], high[32];
    const char *limit = wr_get_text(v, "limit");

    if (!json_is_object(v)) {
        print_number(json_is_number(v) ? json_number_value(v) : NAN, buf, cap);
        return;
    }
    print_number(wr_get_number(v, "median"), median, sizeof(median));
    print_number(wr_get_number(v, "low"), low, sizeof(low));
    print_number(wr_get_number(v, "high"), high, sizeof(high));
    snprintf(buf, cap, "%s (%s-%s)%s%s", median, low, high, *limit ? " " : "",
             limit);
}

static int print_part(const struct wr_cli *cli, const json_t *part,
                      const char *x, weir_err *err)
{
    const json_t *labels = wr_get_list(part, "labels"), *label, *s;
    const json_t *series = wr_get_list(part, "series");
    char text[512];
    struct wr_table *t;
    size_t k, i;
    int n = snprintf(text, sizeof(text), "<%s", x), r;

    json_array_foreach(series, k, s) if (n < (int)sizeof(text)) n += snprintf(
        text + n, sizeof(text) - (size_t)n, "|>%s", wr_get_text(s, "name"));
    t = wr_table_new(text);
    json_array_foreach(labels, k, label)
    {
        wr_table_cell(t, "%s", json_string_value(label));
        json_array_foreach(series, i, s)
        {
            print_value(json_array_get(wr_get_list(s, "values"), k), text,
                        sizeof(text));
            wr_table_cell(t, "%s", text);
        }
    }
    fprintf(cli->out, "\n  %s\n", wr_get_text(part, "title"));
    r = wr_table_print(t, cli, 4, err);
    wr_table_free(t);
    return r;
}

/* "  Paper: ...", wrapped. */
static void print_sentence(const struct wr_cli *cli, const char *head,
                           const char *text)
{
    size_t at = (size_t)fprintf(cli->out, "  %-7s", head);

    wr_text_print(cli->out, text,
                  (struct wr_text_wrap){at, 9, WR_MAX(cli->width, 60u)});
}

static int print_figure(const struct wr_cli *cli, const json_t *f,
                        weir_err *err)
{
    const json_t *parts = wr_get_list(f, "parts"), *part;
    size_t k;
    int r = 0;

    fprintf(cli->out, "\n%s%s%s (%s)%s\n", wr_cli_style(cli, WR_STYLE_BOLD),
            wr_get_text(f, "title"), wr_cli_style(cli, WR_STYLE_END),
            wr_get_text(f, "unit"),
            wr_get_true(f, "complete") ? "" : ", not complete");
    print_sentence(cli, "Paper:", wr_get_text(f, "conclusion"));
    print_sentence(cli, "Here:", wr_get_text(f, "verdict"));
    print_sentence(cli, "", wr_get_text(f, "why"));
    json_array_foreach(parts, k, part) if (r == 0)
        r = print_part(cli, part, wr_get_text(f, "x"), err);
    return r;
}

int wr_study_print(const struct wr_cli *cli, const json_t *record,
                   weir_err *err)
{
    const json_t *figures = wr_get_list(record, "figures"), *f;
    size_t k;
    int r = print_verdicts(cli, figures, err);

    json_array_foreach(figures, k, f) if (r == 0) r = print_figure(cli, f, err);
    return r;
}
