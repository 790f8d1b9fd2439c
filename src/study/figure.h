/* figure.h - a figure of the paper: what it asks, its cells and its rule.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A figure is one file with one const table, and one line in figures.c. Its
 * rule is a function of the measured points alone. It claims nothing where the
 * number of cores was the limit, and says so where agreement is calibration,
 * because the profiles of the devices were fitted to the paper's numbers. */
#ifndef WR_STUDY_FIGURE_H
#define WR_STUDY_FIGURE_H

#include "study/study.h"

enum wr_ruling {
    WR_RULING_UNSEEN, /* cannot be seen here */
    WR_RULING_HOLDS,
    WR_RULING_FAILS, /* does not hold */
};

/* What a rule has found: claims are added one by one. One that fails decides;
 * one that holds does unless another fails; with none of both it cannot be
 * seen. */
struct wr_judgement {
    enum wr_ruling ruling;
    char why[1200];
};

void wr_judge_holds(struct wr_judgement *j, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void wr_judge_fails(struct wr_judgement *j, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void wr_judge_unseen(struct wr_judgement *j, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Holds or fails. */
void wr_judge(struct wr_judgement *j, bool holds, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The figure's rule. What fails while other programs have the cores is not
 * judged: the machine was measured, not the conclusion. */
void wr_figure_judge(const struct wr_study *st, const struct wr_figure *f,
                     struct wr_judgement *ret);

const char *wr_ruling_name(enum wr_ruling r); /* "does not hold" */

struct wr_figure {
    const char *id, *title;
    const char *question;
    const char *conclusion; /* the paper's, in our words */
    const char *unit, *x;   /* of the values; of the labels */
    bool calibration;       /* agreement is how the devices were made, or an
                         assumption: it confirms nothing */
    /* required: its points. */
    void (*add)(struct wr_study *st, const struct wr_figure *f);
    /* optional: ceilings and what limited, once all is measured. */
    void (*finish)(struct wr_study *st, const struct wr_figure *f);
    /* required: the rule. */
    void (*judge)(const struct wr_study *st, const struct wr_figure *f,
                  struct wr_judgement *ret);
    /* optional: charts over time, a list; a table. NULL: out of memory. */
    json_t *(*lines)(const struct wr_study *st);
    json_t *(*table)(const struct wr_study *st, const struct wr_figure *f);
};

/* The registry: figure k, NULL past the end. */
const struct wr_figure *wr_figure_at(size_t k);

/* The devices of the paper: name k, NULL past the end; the last one of
 * wr_study_place is the real disk, "disk". */
const char *wr_study_device(size_t k);
const char *wr_study_place(size_t k);

/* The job of a run of the mini-application (Fig. 6, 8): data on `device`. */
struct wr_cell_job wr_study_training(const struct wr_study *st,
                                     const char *device, unsigned threads,
                                     unsigned prefetch);
/* The same with checkpoints (Fig. 9, 10) to `saves_to`; "": with none. */
struct wr_cell_job wr_study_saving(const struct wr_study *st,
                                   const char *saves_to);

/* A number of the run that saves there; NaN: not measured. */
double wr_study_saved(const struct wr_study *st, const char *saves_to,
                      const char *key);

/* "8", by value. */
struct wr_label {
    char text[24];
};
struct wr_label wr_number_label(unsigned n);

/* A line of bytes over time: column `key` of the trace of a cell's last run, in
 * MB/s, up to the end of the run and what came after it. Lines of one title are
 * in one chart. */
struct wr_study_line {
    const struct wr_cell *cell;
    const char *title, *name;
    const char *key; /* "data_read", "fast_written", "slow_written" */
    bool band;       /* the run is shown as a band */
};
void wr_study_add_line(json_t *charts, const struct wr_study_line *line);

extern const struct wr_figure wr_figure_table1, wr_figure_fig4, wr_figure_fig5,
    wr_figure_fig6, wr_figure_fig7, wr_figure_fig8, wr_figure_fig9,
    wr_figure_fig10, wr_figure_formats;

#endif
