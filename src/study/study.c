/* study.c - which figures, which cells, and what is known of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "study/estimate.h"
#include "study/figure.h"
#include "study/folder.h"

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
