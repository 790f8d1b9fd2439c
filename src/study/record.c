/* record.c - the record of a study: figures, numbers, verdicts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "measure/parts.h"
#include "result/study.h"
#include "study/figure.h"
#include "study/study.h"

/* A number that a page can show: five digits are enough. */
static double five_digits(double v)
{
    char text[32];
    double shown;

    wr_snprintf(text, sizeof(text), "%.5g", v);
    shown = wr_strtod(text, NULL);
    return isfinite(shown) ? shown : v; /* the largest are cut */
}

static json_t *value_of(const struct wr_point *p)
{
    struct wr_spread s = wr_point_spread(p);
    struct wr_study_measured_values v;

    if (!p || !s.count || isnan(s.median))
        return json_null();
    v = (struct wr_study_measured_values){.median = five_digits(s.median),
                                          .low = five_digits(s.low),
                                          .high = five_digits(s.high),
                                          .runs = (double)s.count,
                                          .limit = p->limit};
    if (p->role == WR_POINT_MEASURED)
        return wr_vals_json(&wr_study_measured_vals, &v, WR_FOR_RECORD);
    return isfinite(v.median) ? json_real(v.median) : json_null();
}

/* The points of a figure and part, each series and label once, in the order in
 * which they were added. */
static bool is_first(const struct wr_study *st, size_t k, bool by_series)
{
    const struct wr_point *p = &st->points[k];

    for (size_t i = 0; i < k; i++) {
        const struct wr_point *q = &st->points[i];

        if (q->figure == p->figure && !strcmp(q->part, p->part) &&
            (by_series ? !strcmp(q->series, p->series)
                       : !strcmp(q->label, p->label)))
            return false;
    }
    return true;
}

static bool is_first_part(const struct wr_study *st, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (st->points[i].figure == st->points[k].figure &&
            !strcmp(st->points[i].part, st->points[k].part))
            return false;
    return true;
}

static bool is_in(const struct wr_point *p, const struct wr_point *part)
{
    return p->figure == part->figure && !strcmp(p->part, part->part);
}

static json_t *values_json(const struct wr_study *st, const struct wr_point *s)
{
    json_t *values = json_array();

    for (size_t k = 0; k < st->point_count; k++)
        if (is_in(&st->points[k], s) && is_first(st, k, /* by_series= */ false))
            json_array_append_new(
                values, value_of(wr_study_point(
                            st, s->figure,
                            WR_AT(s->part, s->series, st->points[k].label))));
    return values;
}

static bool fill_part(const struct wr_study *st, const struct wr_point *part,
                      struct wr_study_part_values *to)
{
    static const char *const roles[] = {[WR_POINT_MEASURED] = "measured",
                                        [WR_POINT_REFERENCE] = "reference",
                                        [WR_POINT_CEILING] = "ceiling"};
    struct wr_study_series_values *v = wr_list_new(
        &wr_study_series_vals, &to->series, st->point_count);

    to->title = part->part;
    to->labels = json_array();
    to->series.count = 0;
    for (size_t k = 0; v && k < st->point_count; k++) {
        const struct wr_point *p = &st->points[k];

        if (!is_in(p, part))
            continue;
        if (is_first(st, k, /* by_series= */ false))
            json_array_append_new(to->labels, json_string(p->label));
        if (is_first(st, k, /* by_series= */ true))
            v[to->series.count++] = (struct wr_study_series_values){
                p->series, roles[p->role], values_json(st, p)};
    }
    return v;
}

static bool fill_parts(const struct wr_study *st, const struct wr_figure *f,
                       struct wr_list *to)
{
    struct wr_study_part_values *v = wr_list_new(&wr_study_part_vals, to,
                                                 st->point_count);
    bool whole = v;

    to->count = 0;
    for (size_t k = 0; whole && k < st->point_count; k++)
        if (st->points[k].figure == f && is_first_part(st, k))
            whole = fill_part(st, &st->points[k], &v[to->count++]);
    return whole;
}

/* The values of a figure; `j` has its verdict. */
static bool fill_figure(const struct wr_study *st, const struct wr_figure *f,
                        struct wr_judgement *j,
                        struct wr_study_figure_values *to)
{
    wr_figure_judge(st, f, j);
    to->id = f->id;
    to->title = f->title;
    to->question = f->question;
    to->unit = f->unit;
    to->x = f->x;
    to->complete = wr_study_is_whole(st, f);
    to->verdict = wr_ruling_name(j->ruling);
    to->calibration = f->calibration;
    to->conclusion = f->conclusion;
    to->why = j->why;
    if (f->lines)
        to->lines = f->lines(st);
    if (!json_array_size(to->lines)) { /* nothing was traced */
        json_decref(to->lines);
        to->lines = NULL;
    }
    if (f->table)
        to->table = f->table(st, f);
    return fill_parts(st, f, &to->parts);
}

static struct wr_study_data_values data_of(const struct wr_scale *s)
{
    return (struct wr_study_data_values){.images = (double)s->images,
                                         .batch = s->batch,
                                         .train_batch = s->train_batch,
                                         .iterations = s->train_iterations,
                                         .accelerator = s->accelerator,
                                         .checkpoints = s->saves,
                                         .save_every = s->save_every,
                                         .width = s->width,
                                         .scaled = s->note};
}

static bool fill_figures(struct wr_study *st,
                         struct wr_judgement j[WR_STUDY_FIGURES],
                         struct wr_list *to)
{
    struct wr_study_figure_values *v = wr_list_new(&wr_study_figure_vals, to,
                                                   WR_STUDY_FIGURES);
    bool whole = v;

    to->count = 0;
    for (size_t k = 0; st->figures[k];
         k++) /* before texts of points are lent */
        if (st->figures[k]->finish)
            st->figures[k]->finish(st, st->figures[k]);
    for (size_t k = 0; whole && st->figures[k]; k++)
        whole = fill_figure(st, st->figures[k], &j[k], &v[to->count++]);
    return whole;
}

json_t *wr_study_record(struct wr_study *st)
{
    struct wr_judgement j[WR_STUDY_FIGURES];
    json_t *record = wr_record_new("study");
    struct wr_study_values v;
    bool whole;

    wr_vals_clear(&wr_study_vals, &v);
    v.mode = st->scale.mode;
    v.host = wr_host_json(st->cfg.folder);
    v.seconds = five_digits(st->seconds);
    v.repeat = st->scale.rounds;
    v.warm_up_runs = 1;
    v.data = data_of(&st->scale);
    v.control.ratio = five_digits(st->control);
    v.control.alone = st->alone;
    whole = fill_figures(st, j, &v.figures) && !st->failed;
    if (!json_object_update_new(record,
                                wr_vals_give(&wr_study_vals, &v, whole)))
        return record;
    json_decref(record);
    return NULL;
}
