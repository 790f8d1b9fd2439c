/* record.c - the record of a study: figures, numbers, verdicts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "measure/parts.h"
#include "study/figure.h"
#include "study/study.h"

/* A number that a page can show: five digits are enough. */
static json_t *number(double v)
{
    char text[32];
    double shown;

    if (!isfinite(v))
        return json_null();
    wr_snprintf(text, sizeof(text), "%.5g", v);
    shown = wr_strtod(text, NULL);
    return json_real(isfinite(shown) ? shown : v); /* the largest are cut */
}

static json_t *value_of(const struct wr_point *p)
{
    struct wr_spread s = wr_point_spread(p);
    json_t *v;

    if (!p || !s.count || isnan(s.median))
        return json_null();
    if (p->role != WR_POINT_MEASURED)
        return number(s.median);
    v = json_pack("{s:o, s:o, s:o, s:i}", "median", number(s.median), "low",
                  number(s.low), "high", number(s.high), "runs", (int)s.count);
    if (v && *p->limit &&
        json_object_set_new(v, "limit", json_string(p->limit)) < 0) {
        json_decref(v);
        return NULL;
    }
    return v;
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

static json_t *series_json(const struct wr_study *st, const struct wr_point *s)
{
    static const char *const roles[] = {[WR_POINT_MEASURED] = "measured",
                                        [WR_POINT_REFERENCE] = "reference",
                                        [WR_POINT_CEILING] = "ceiling"};
    json_t *values = json_array();
    int bad = 0;

    for (size_t k = 0; k < st->point_count; k++)
        if (is_in(&st->points[k], s) && is_first(st, k, /* by_series= */ false))
            bad |= json_array_append_new(
                values, value_of(wr_study_point(
                            st, s->figure,
                            &(struct wr_point_at){s->part, s->series,
                                                  st->points[k].label})));
    if (bad) {
        json_decref(values);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:o}", "name", s->series, "role",
                     roles[s->role], "values", values);
}

static json_t *part_json(const struct wr_study *st, const struct wr_point *part)
{
    json_t *labels = json_array(), *series = json_array();
    int bad = 0;

    for (size_t k = 0; k < st->point_count; k++) {
        const struct wr_point *p = &st->points[k];

        if (!is_in(p, part))
            continue;
        if (is_first(st, k, /* by_series= */ false))
            bad |= json_array_append_new(labels, json_string(p->label));
        if (is_first(st, k, /* by_series= */ true))
            bad |= json_array_append_new(series, series_json(st, p));
    }
    if (bad) {
        json_decref(labels);
        json_decref(series);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:o}", "title", part->part, "labels", labels,
                     "series", series);
}

static int add_parts(const struct wr_study *st, const struct wr_figure *f,
                     json_t *record)
{
    json_t *parts = json_array();
    int bad = json_object_set_new(record, "parts", parts);

    for (size_t k = 0; k < st->point_count; k++)
        if (st->points[k].figure == f && is_first_part(st, k))
            bad |= json_array_append_new(parts, part_json(st, &st->points[k]));
    return bad;
}

static json_t *figure_json(const struct wr_study *st, const struct wr_figure *f)
{
    struct wr_judgement j;
    json_t *record = json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "id", f->id,
                               "title", f->title, "question", f->question,
                               "unit", f->unit, "x", f->x, "complete",
                               (int)wr_study_is_whole(st, f));
    int bad = record ? add_parts(st, f, record) : -1;

    if (!bad && f->draw)
        bad = f->draw(st, f, record);
    wr_figure_judge(st, f, &j);
    bad |= json_object_set_new(record, "verdict",
                               json_string(wr_ruling_name(j.ruling)));
    bad |= json_object_set_new(record, "calibration",
                               json_boolean(f->calibration));
    bad |= json_object_set_new(record, "conclusion",
                               json_string(f->conclusion));
    bad |= json_object_set_new(record, "why", json_string(j.why));
    if (bad) {
        json_decref(record);
        return NULL;
    }
    return record;
}

static json_t *data_json(const struct wr_study *st)
{
    const struct wr_scale *s = &st->scale;

    return json_pack("{s:I, s:i, s:i, s:i, s:s, s:i, s:i, s:f, s:s}", "images",
                     (json_int_t)s->images, "batch", (int)s->batch,
                     "train_batch", (int)s->train_batch, "iterations",
                     (int)s->train_iterations, "accelerator", s->accelerator,
                     "checkpoints", (int)s->saves, "save_every",
                     (int)s->save_every, "width", s->width, "scaled", s->note);
}

json_t *wr_study_record(struct wr_study *st)
{
    json_t *record = wr_record_new("study"), *figures = json_array();
    int bad = 0;

    bad |= json_object_set_new(record, "mode", json_string(st->scale.mode));
    bad |= json_object_set_new(record, "host", wr_host_json(st->cfg.folder));
    bad |= json_object_set_new(record, "seconds", number(st->seconds));
    bad |= json_object_set_new(record, "repeat",
                               json_integer((json_int_t)st->scale.rounds));
    bad |= json_object_set_new(record, "warm_up_runs", json_integer(1));
    bad |= json_object_set_new(record, "data", data_json(st));
    bad |= json_object_set_new(record, "control",
                               json_pack("{s:o, s:b}", "ratio",
                                         number(st->control), "alone",
                                         (int)st->alone));
    bad |= json_object_set_new(record, "figures", figures);
    for (size_t k = 0; !bad && st->figures[k]; k++) {
        if (st->figures[k]->finish)
            st->figures[k]->finish(st, st->figures[k]);
        bad |= json_array_append_new(figures, figure_json(st, st->figures[k]));
    }
    if (bad || st->failed) {
        json_decref(record);
        return NULL;
    }
    return record;
}
