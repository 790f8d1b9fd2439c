/* figures.c - the registry of figures, and what several of them use.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "result/get.h"
#include "study/figure.h"

static const struct wr_figure *const figures[] = {
    &wr_figure_table1, &wr_figure_fig4,  &wr_figure_fig5,
    &wr_figure_fig6,   &wr_figure_fig7,  &wr_figure_fig8,
    &wr_figure_fig9,   &wr_figure_fig10, &wr_figure_formats,
};

static const char *const places[] = {"hdd", "ssd", "optane", "lustre", "disk"};

const struct wr_figure *wr_figure_at(size_t k)
{
    return k < WR_ARRAY_LEN(figures) ? figures[k] : NULL;
}

const char *wr_study_device(size_t k)
{
    return k + 1 < WR_ARRAY_LEN(places) ? places[k] : NULL;
}

const char *wr_study_place(size_t k)
{
    return k < WR_ARRAY_LEN(places) ? places[k] : NULL;
}

/* Pictures like those of Caltech-101, enough for the longest of the runs: no
 * run sees one twice. */
static uint64_t training_pictures(const struct wr_scale *s)
{
    uint64_t n = (uint64_t)s->train_batch * s->train_iterations;

    n = WR_MAX(n, (uint64_t)s->train_batch * s->save_every * s->saves);
    n = WR_MAX(n, (uint64_t)s->batch_images);
    return s->train_iterations == 142 ? WR_MAX(n, UINT64_C(9144)) : n;
}

struct wr_cell_job wr_study_training(const struct wr_study *st,
                                     const char *device, unsigned threads,
                                     unsigned prefetch)
{
    struct wr_cell_job job = {
        .kind = WR_CELL_TRAIN,
        .data = "caltech101",
        .threads = threads,
        .batch = st->scale.train_batch,
        .prefetch = prefetch,
        .iterations = st->scale.train_iterations,
        .samples = training_pictures(&st->scale),
    };

    snprintf(job.device, sizeof(job.device), "%s", device);
    snprintf(job.accelerator, sizeof(job.accelerator), "%s",
             st->scale.accelerator);
    return job;
}

struct wr_cell_job wr_study_saving(const struct wr_study *st,
                                   const char *saves_to)
{
    const struct wr_scale *s = &st->scale;
    unsigned threads = s->train_threads.v[s->train_threads.count - 1];
    struct wr_cell_job job = wr_study_training(st, "ssd", threads, 1);

    job.iterations = s->save_every * s->saves;
    job.save_every = s->save_every;
    job.width = s->width;
    snprintf(job.saves_to, sizeof(job.saves_to), "%s", saves_to);
    return job;
}

double wr_study_saved(const struct wr_study *st, const char *saves_to,
                      const char *key)
{
    struct wr_cell_job job = wr_study_saving(st, saves_to);

    return wr_study_median(st, &job, key);
}

struct wr_label wr_number_label(unsigned n)
{
    struct wr_label l;

    snprintf(l.text, sizeof(l.text), "%u", n);
    return l;
}

/* The chart of this title, made when it is new; NULL: out of memory. */
static json_t *chart_of(json_t *charts, const char *title)
{
    json_t *chart;
    size_t k;

    json_array_foreach(
        charts, k,
        chart) if (!strcmp(wr_get_text(chart, "title"), title)) return chart;
    chart = json_pack("{s:s, s:s, s:s, s:[]}", "title", title, "x", "s", "y",
                      "MB/s", "series");
    return json_array_append_new(charts, chart) < 0 ? NULL : chart;
}

/* A chart has one band: the run that its last line belongs to. */
static void set_band(json_t *chart, double end)
{
    json_object_set_new(
        chart, "bands",
        json_pack("[{s:f, s:f, s:s}]", "from", 0.0, "to", end, "name", "run"));
}

void wr_study_add_line(json_t *charts, const struct wr_study_line *line)
{
    double end = wr_cell_spread(line->cell, "end_s").median;
    const json_t *t, *v;
    json_t *chart;
    char key[40];

    snprintf(key, sizeof(key), "%s_t", line->key);
    t = wr_cell_list(line->cell, key);
    v = wr_cell_list(line->cell, line->key);
    if (!t || !v)
        return;
    chart = chart_of(charts, line->title);
    json_array_append_new(
        json_object_get(chart, "series"),
        json_pack("{s:s, s:O, s:O}", "name", line->name, "x", t, "y", v));
    if (line->band && end > 0 && isfinite(end))
        set_band(chart, end);
}

static void say(struct wr_judgement *j, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

static void say(struct wr_judgement *j, const char *fmt, va_list args)
{
    size_t at = strlen(j->why);

    if (at && at + 2 < sizeof(j->why)) {
        strcpy(j->why + at, "; ");
        at += 2;
    }
    vsnprintf(j->why + at, sizeof(j->why) - at, fmt, args);
}

static void hold(struct wr_judgement *j)
{
    if (j->ruling == WR_RULING_UNSEEN)
        j->ruling = WR_RULING_HOLDS;
}

void wr_judge_holds(struct wr_judgement *j, const char *fmt, ...)
{
    va_list args;

    hold(j);
    va_start(args, fmt);
    say(j, fmt, args);
    va_end(args);
}

void wr_judge_fails(struct wr_judgement *j, const char *fmt, ...)
{
    va_list args;

    j->ruling = WR_RULING_FAILS;
    va_start(args, fmt);
    say(j, fmt, args);
    va_end(args);
}

void wr_judge_unseen(struct wr_judgement *j, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(j, fmt, args);
    va_end(args);
}

void wr_judge(struct wr_judgement *j, bool holds, const char *fmt, ...)
{
    va_list args;

    if (holds)
        hold(j);
    else
        j->ruling = WR_RULING_FAILS;
    va_start(args, fmt);
    say(j, fmt, args);
    va_end(args);
}

/* Whether other programs had the cores in at least half of a figure's cells. */
static bool is_starved(const struct wr_study *st, const struct wr_figure *f)
{
    size_t starved = 0, all = 0;

    for (size_t k = 0; k < st->point_count; k++) {
        const struct wr_point *p = &st->points[k];
        struct wr_spread s;

        if (p->figure != f || !p->cell)
            continue;
        s = wr_cell_spread(p->cell, "starved");
        all += s.count > 0;
        starved += s.count > 0 && s.median >= 0.5;
    }
    return all && 2 * starved >= all;
}

void wr_figure_judge(const struct wr_study *st, const struct wr_figure *f,
                     struct wr_judgement *ret)
{
    *ret = (struct wr_judgement){.ruling = WR_RULING_UNSEEN};
    f->judge(st, f, ret);
    if (ret->ruling == WR_RULING_FAILS && is_starved(st, f)) {
        ret->ruling = WR_RULING_UNSEEN;
        wr_judge_unseen(ret, "but other programs had the cores meanwhile: "
                             "measure again (--fresh) on an idle machine");
    }
}

const char *wr_ruling_name(enum wr_ruling r)
{
    return r == WR_RULING_HOLDS   ? "holds"
           : r == WR_RULING_FAILS ? "does not hold"
                                  : "cannot be seen here";
}
