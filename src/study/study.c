/* study.c - which figures, which cells, and what is known of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/study.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/units.h"
#include "measure/accelerator.h"
#include "study/run.h"
#include "study/figure.h"
#include "study/folder.h"

/* --- how much of it is run ---
 *
 * "To the letter" is section IV of the paper: 16,384 pictures in batches of 64,
 * 142 iterations, a checkpoint every 20 of 100, six runs of which the first is
 * discarded. The step at batch 64 is never shortened: an HDD with one thread
 * needs 0.59 s a batch, which a shorter step would not hide. The quick study
 * has a quarter of the batch for a quarter of the step. */

#define MIB (UINT64_C(1) << 20)

static const struct wr_scale scales[] = {
    [WR_STUDY_DEFAULT] =
        {
            .mode = "default",
            .rounds = 6,
            .save_rounds = 6,
            .threads = {4, {1, 2, 4, 8}},
            .images = 2048,
            .batch = 64,
            .train_threads = {4, {1, 2, 4, 8}},
            .train_batch = 64,
            .train_iterations = 40,
            .accelerator = "K4000",
            .batches = {5, {8, 16, 32, 64, 128}},
            .batch_images = 1024,
            .save_every = 4,
            .saves = 5,
            .save_lanes = 1,
            .width = 1,
            .probe_bytes = 1024 * MIB,
            .probe_s = 2,
            .format_images = 256,
        },
    [WR_STUDY_QUICK] =
        {
            .mode = "quick",
            .rounds = 3,
            .save_rounds = 2,
            .threads = {4, {1, 2, 4, 8}},
            .images = 256,
            .batch = 64,
            .train_threads = {2, {1, 8}},
            .train_batch = 16,
            .train_iterations = 10,
            .accelerator = "ms=375",
            .batches = {3, {8, 32, 128}},
            .batch_images = 128,
            .save_every = 5,
            .saves = 2,
            .save_lanes = 3,
            .width = 1,
            .probe_bytes = 64 * MIB,
            .probe_s = 0.3,
            .format_images = 32,
        },
    [WR_STUDY_FULL] =
        {
            .mode = "full",
            .rounds = 6,
            .save_rounds = 6,
            .threads = {4, {1, 2, 4, 8}},
            .images = 16384,
            .batch = 64,
            .train_threads = {4, {1, 2, 4, 8}},
            .train_batch = 64,
            .train_iterations = 142,
            .accelerator = "K4000",
            .batches = {5, {8, 16, 32, 64, 128}},
            .batch_images = 9088,
            .save_every = 20,
            .saves = 5,
            .save_lanes = 1,
            .width = 1,
            .probe_bytes = 5120 * MIB,
            .probe_s = 60,
            .format_images = 1024,
        },
};

/* One more thing that is less, after a semicolon. */
__attribute__((format(printf, 2, 3))) static void add(struct wr_scale *s,
                                                      const char *fmt, ...)
{
    size_t at = strlen(s->note);
    va_list args;

    if (at)
        at += (size_t)snprintf(s->note + at, sizeof(s->note) - at, "; ");
    if (at >= sizeof(s->note))
        return;
    va_start(args, fmt);
    vsnprintf(s->note + at, sizeof(s->note) - at, fmt, args);
    va_end(args);
}

static double step_ms(const struct wr_scale *s)
{
    struct wr_accelerator a = {0};

    (void)wr_accelerator_parse(s->accelerator, &a, NULL); /* of the table */
    return wr_accelerator_step_ms(&a, s->train_batch);
}

static void note_training(struct wr_scale *s, const struct wr_scale *paper)
{
    if (s->train_batch != paper->train_batch)
        add(s, "batches of %u in %.0f ms instead of %u in %.0f ms",
            s->train_batch, step_ms(s), paper->train_batch, step_ms(paper));
    if (s->train_iterations < paper->train_iterations)
        add(s, "%u of %u iterations", s->train_iterations,
            paper->train_iterations);
    if (s->train_threads.count < paper->train_threads.count)
        add(s, "fewer numbers of threads in Fig. 6");
    if (s->saves < paper->saves || s->save_every < paper->save_every)
        add(s, "%u checkpoint%s (every %u iterations) instead of %u (every %u)",
            s->saves, s->saves == 1 ? "" : "s", s->save_every, paper->saves,
            paper->save_every);
    if (s->width < paper->width)
        add(s, "a network of width %g", s->width);
}

/* Made from the numbers, because each may be asked for. */
static void make_note(struct wr_scale *s)
{
    const struct wr_scale *paper = &scales[WR_STUDY_FULL];
    char a[32], b[32];

    if (s->images < paper->images)
        add(s, "%s of %s pictures", wr_format_count(a, sizeof(a), s->images),
            wr_format_count(b, sizeof(b), paper->images));
    note_training(s, paper);
    if (s->rounds < paper->rounds)
        add(s, "%u runs instead of %u (%u with checkpoints)", s->rounds,
            paper->rounds, s->save_rounds);
    if (s->probe_bytes < paper->probe_bytes)
        add(s, "a file of %s instead of %s",
            wr_format_bytes(a, sizeof(a), (double)s->probe_bytes),
            wr_format_bytes(b, sizeof(b), (double)paper->probe_bytes));
}

void wr_scale_of(enum wr_study_mode mode, const struct wr_scale_wish *wish,
                 struct wr_scale *ret)
{
    struct wr_scale s = scales[mode];

    if (wish->images && wish->images < s.images) {
        double part = (double)wish->images / (double)s.images;

        s.probe_bytes = WR_MAX((uint64_t)((double)s.probe_bytes * part),
                               4 * MIB) /
                        MIB * MIB;
        s.probe_s = WR_MAX(s.probe_s * part, 0.02);
    }
    if (wish->images) {
        s.images = wish->images;
        s.format_images = WR_MIN(s.format_images, wish->images);
        s.batch_images = (unsigned)WR_MIN(s.batch_images, wish->images);
    }
    if (wish->rounds)
        s.rounds = s.save_rounds = (unsigned)wish->rounds;
    if (wish->iterations) {
        s.train_iterations = (unsigned)wish->iterations;
        s.save_every = (unsigned)WR_MAX(wish->iterations / s.saves,
                                        UINT64_C(1));
    }
    if (wish->threads.count)
        s.threads = s.train_threads = wish->threads;
    if (wish->width > 0)
        s.width = wish->width;
    /* At least four batches, as far as there are so many pictures. */
    s.batch = (unsigned)WR_MAX(WR_MIN(s.batch, s.images / 4), UINT64_C(1));
    make_note(&s);
    *ret = s;
}

/* --- points and cells --- */

static struct wr_cell *cell_of(struct wr_study *st,
                               const struct wr_cell_job *job)
{
    char id[WR_CELL_ID];
    struct wr_cell *c;

    wr_cell_job_id(job, id);
    for (size_t k = 0; k < st->cell_count; k++)
        if (!strcmp(st->cells[k]->id, id))
            return st->cells[k];
    c = calloc(1, sizeof(*c));
    if (!c || !wr_grow(&st->cells, &st->cell_cap, st->cell_count + 1,
                       sizeof(struct wr_cell *))) {
        free(c);
        st->failed = true;
        return NULL;
    }
    strcpy(c->id, id);
    c->job = *job;
    c->rounds = job->save_every ? st->scale.save_rounds : st->scale.rounds;
    c->estimate_s = wr_estimate_job(job, st->cores);
    st->cells[st->cell_count++] = c;
    return c;
}

static struct wr_point *new_point(struct wr_study *st,
                                  const struct wr_figure *f,
                                  const struct wr_point_at *at)
{
    struct wr_point *p;

    if (!wr_grow(&st->points, &st->point_cap, st->point_count + 1,
                 sizeof(*st->points))) {
        st->failed = true;
        return NULL;
    }
    p = &st->points[st->point_count++];
    *p = (struct wr_point){.figure = f, .number = NAN};
    snprintf(p->part, sizeof(p->part), "%s", at->part);
    snprintf(p->series, sizeof(p->series), "%s", at->series);
    snprintf(p->label, sizeof(p->label), "%s", at->label);
    return p;
}

void wr_study_measure(struct wr_study *st, const struct wr_figure *f,
                      const struct wr_point_at *at,
                      const struct wr_cell_job *job, const char *key)
{
    struct wr_cell *c = cell_of(st, job);
    struct wr_point *p = c ? new_point(st, f, at) : NULL;

    if (p) {
        p->cell = c;
        p->key = key;
    }
}

struct wr_point *wr_study_know(struct wr_study *st, const struct wr_figure *f,
                               const struct wr_point_at *at,
                               enum wr_point_role role, double number)
{
    struct wr_point *p = new_point(st, f, at);

    if (p) {
        p->role = role;
        p->number = number;
    }
    return p;
}

const struct wr_cell *wr_study_cell(const struct wr_study *st,
                                    const struct wr_cell_job *job)
{
    char id[WR_CELL_ID];

    wr_cell_job_id(job, id);
    for (size_t k = 0; k < st->cell_count; k++)
        if (!strcmp(st->cells[k]->id, id))
            return st->cells[k];
    return NULL;
}

double wr_study_median(const struct wr_study *st, const struct wr_cell_job *job,
                       const char *key)
{
    return wr_cell_spread(wr_study_cell(st, job), key).median;
}

const struct wr_point *wr_study_point(const struct wr_study *st,
                                      const struct wr_figure *f,
                                      const struct wr_point_at *at)
{
    for (size_t k = 0; k < st->point_count; k++) {
        const struct wr_point *p = &st->points[k];

        if (p->figure == f && !strcmp(p->part, at->part) &&
            !strcmp(p->series, at->series) && !strcmp(p->label, at->label))
            return p;
    }
    return NULL;
}

struct wr_spread wr_point_spread(const struct wr_point *p)
{
    if (p && !p->cell)
        return (struct wr_spread){p->number, p->number, p->number, 1};
    return wr_cell_spread(p ? p->cell : NULL, p ? p->key : "");
}

double wr_study_value(const struct wr_study *st, const struct wr_figure *f,
                      const struct wr_point_at *at)
{
    return wr_point_spread(wr_study_point(st, f, at)).median;
}

bool wr_study_is_whole(const struct wr_study *st, const struct wr_figure *f)
{
    for (size_t k = 0; k < st->point_count; k++) {
        const struct wr_point *p = &st->points[k];

        if (p->figure == f && p->cell &&
            wr_cell_runs(p->cell) < p->cell->rounds)
            return false;
    }
    return true;
}

/* --- the choice of figures --- */

static const struct wr_figure *figure_named(const char *name, size_t len)
{
    const struct wr_figure *f;

    for (size_t k = 0; (f = wr_figure_at(k)); k++)
        if (strlen(f->id) == len && !strncmp(f->id, name, len))
            return f;
    return NULL;
}

static bool is_chosen(const char *only, const struct wr_figure *f)
{
    const char *at = only;
    size_t len;

    for (; *at; at += len + (at[len] == ',')) {
        len = strcspn(at, ",");
        if (figure_named(at, len) == f)
            return true;
    }
    return false;
}

/* Figures keep the order of the registry, however they are asked for. */
static int choose(struct wr_study *st, weir_err *err)
{
    const char *only = st->cfg.only;
    const struct wr_figure *f;
    size_t n = 0;

    for (const char *at = only ? only : ""; *at;) {
        size_t len = strcspn(at, ",");

        if (!figure_named(at, len))
            return wr_fail(err, WEIR_EINVAL,
                           "unknown figure '%.*s' (--list shows them)",
                           (int)len, at);
        at += len + (at[len] == ',');
    }
    for (size_t k = 0; (f = wr_figure_at(k)) && n < WR_STUDY_FIGURES; k++)
        if (!only || is_chosen(only, f))
            st->figures[n++] = f;
    if (!n)
        return wr_fail(err, WEIR_EINVAL, "no figure was chosen");
    return 0;
}

/* --- what was measured before --- */

static void say_damaged(struct wr_study *st, const weir_err *why)
{
    char text[700];

    st->damaged++;
    snprintf(text, sizeof(text), "%s: it is measured again", why->msg);
    if (st->cfg.note)
        st->cfg.note(st->cfg.note_arg, text);
}

static int load_cells(struct wr_study *st, weir_err *err)
{
    char folder[WR_FOLDER_PATH];
    weir_err why;

    wr_folder_path(st, "cells", folder);
    for (size_t k = 0; k < st->cell_count; k++) {
        int r = wr_cell_load(st->cells[k], folder, &why);

        if (r == WEIR_ESTATE)
            return wr_fail(err, r,
                           "%s: repeat the options of the first time (--quick, "
                           "--images ...), choose another folder, or --fresh "
                           "to forget what is there",
                           why.msg);
        if (r < 0 && r != WEIR_EFORMAT)
            return wr_fail(err, r, "%s", why.msg);
        if (r < 0)
            say_damaged(st, &why);
    }
    return 0;
}

int wr_study_init(struct wr_study *st, const struct wr_study_config *cfg,
                  weir_err *err)
{
    int r;

    *st = (struct wr_study){.cfg = *cfg,
                            .cores = cfg->cores ? cfg->cores : wr_cpu_count(),
                            .control = NAN,
                            .lock = -1};
    wr_scale_of(cfg->mode, &cfg->wish, &st->scale);
    r = choose(st, err);
    for (size_t k = 0; r == 0 && st->figures[k]; k++)
        st->figures[k]->add(st, st->figures[k]);
    if (r == 0 && st->failed)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0 && !cfg->fresh)
        r = load_cells(st, err);
    return r;
}

/* A figure alone, as this folder has it: all of its cells are there. */
static bool was_measured(const struct wr_study_config *cfg,
                         const struct wr_figure *f)
{
    struct wr_study_config one = *cfg;
    struct wr_study st;
    bool whole;

    one.only = f->id;
    one.note = NULL;
    one.fresh = false;
    whole = wr_study_init(&st, &one, NULL) == 0 && !st.damaged &&
            st.cell_count && wr_study_is_whole(&st, f);
    wr_study_done(&st);
    return whole;
}

void wr_study_known(const struct wr_study_config *cfg, char *ret, size_t cap)
{
    const struct wr_figure *f;
    size_t at = 0;

    ret[0] = '\0';
    for (size_t k = 0; (f = wr_figure_at(k)); k++)
        if ((!cfg->only || is_chosen(cfg->only, f) || was_measured(cfg, f)) &&
            at < cap)
            at += (size_t)snprintf(ret + at, cap - at, "%s%s", at ? "," : "",
                                   f->id);
}

void wr_study_done(struct wr_study *st)
{
    for (size_t k = 0; k < st->cell_count; k++) {
        wr_cell_done(st->cells[k]);
        free(st->cells[k]);
    }
    if (st->lock >= 0)
        close(st->lock);
    st->lock = -1;
    free(st->cells);
    free(st->points);
    st->cells = NULL;
    st->points = NULL;
    st->cell_count = st->point_count = 0;
}
