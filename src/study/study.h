/* study.h - the paper's parametric study: figures, their cells, and verdicts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Chien et al., Characterizing Deep-Learning I/O Workloads in TensorFlow
 * (2018). A figure (figure.h) adds points to the study; a point is a place in a
 * chart and the cell (cell.h) that is measured for it. Then all cells are run in
 * rounds, figure by figure, and every figure judges whether the paper's
 * conclusion holds here. */
#ifndef WR_STUDY_STUDY_H
#define WR_STUDY_STUDY_H

#include <stddef.h>
#include <stdint.h>

#include "study/cell.h"
#include "weir/error.h"

/* --- how much of it is run --- */

enum wr_study_mode {
    WR_STUDY_DEFAULT, /* fewer pictures and iterations than the paper */
    WR_STUDY_QUICK,   /* below five minutes */
    WR_STUDY_FULL,    /* to the letter */
};

#define WR_SCALE_LIST 8

struct wr_scale_list {
    size_t count;
    unsigned v[WR_SCALE_LIST];
};

struct wr_scale {
    const char *mode;     /* static: "quick" */
    char note[400];       /* what is less than in the paper; "": nothing */
    unsigned rounds;      /* runs of each cell, the warm-up included */
    unsigned save_rounds; /* the same of Fig. 9 */
    struct wr_scale_list threads;       /* Fig. 4 and 5 */
    uint64_t images;                    /* of the micro-benchmark */
    unsigned batch;                     /* of the micro-benchmark */
    struct wr_scale_list train_threads; /* Fig. 6 */
    unsigned train_batch, train_iterations;
    const char *accelerator;      /* static: of Fig. 6, 8, 9 and 10 */
    struct wr_scale_list batches; /* Fig. 7 */
    unsigned batch_images;        /* the same number for each of them */
    unsigned save_every, saves;   /* Fig. 9 */
    unsigned save_lanes;          /* runs with checkpoints at once */
    double width;                 /* of the network that is saved */
    uint64_t probe_bytes;         /* Table I */
    double probe_s;
    uint64_t format_images;
};

/* What was asked for on top of a mode; 0: as the mode has it. */
struct wr_scale_wish {
    uint64_t images, rounds, iterations;
    struct wr_scale_list threads;
    double width;
};

/* --- the study --- */

struct wr_figure;

#define WR_STUDY_FIGURES 16 /* more than there are */

/* How far it is, told about ten times a second. */
struct wr_study_news {
    const char *what; /* borrowed during the call: "fig6 hdd, run 2 of 6" */
    double done_s, total_s; /* of the work of this process, by its estimates */
};

struct wr_study_config {
    const char *folder; /* borrowed: where all of it goes */
    enum wr_study_mode mode;
    struct wr_scale_wish wish;
    const char *only;      /* borrowed: "fig6,fig7"; NULL: all figures */
    unsigned cores;        /* of the machine; 0: as it has */
    bool fresh;            /* forget what was measured before */
    bool (*stopped)(void); /* polled by all threads; may be NULL */
    void (*progress)(void *arg, const struct wr_study_news *news);
    void *progress_arg;
    void (*note)(void *arg, const char *text); /* what a person should know */
    void *note_arg;
};

enum wr_point_role { WR_POINT_MEASURED, WR_POINT_REFERENCE, WR_POINT_CEILING };

/* Where a number stands: a chart of the figure, a series, a label. */
struct wr_point_at {
    const char *part, *series, *label; /* borrowed by calls */
};

#define WR_AT(part, series, label)                                             \
    (&(const struct wr_point_at){part, series, label})

/* One number of a figure. */
struct wr_point {
    const struct wr_figure *figure;
    char part[40], series[40], label[24];
    enum wr_point_role role;
    const struct wr_cell *cell; /* borrowed; NULL: a number that is known */
    const char *key;            /* static: which number of each run */
    double number;              /* without a cell */
    char limit[16];             /* what limited it; "": not said */
};

struct wr_study {
    struct wr_study_config cfg;
    struct wr_scale scale;
    unsigned cores;
    const struct wr_figure
        *figures[WR_STUDY_FIGURES + 1]; /* chosen; NULL ends */
    struct wr_cell **cells; /* owned, as is each; in the order they are run */
    size_t cell_count, cell_cap;
    struct wr_point *points; /* owned */
    size_t point_count, point_cap;
    size_t damaged; /* cells whose files were, and which are measured again */
    double seconds; /* that this process measured */
    double control; /* a run beside others over the same run alone; NaN: none
                         was needed */
    bool alone;     /* the control differed: one after the other */
    int lock;       /* owned: descriptor of the folder; -1: not taken */
    bool failed;    /* memory ran out */
};

/* Chooses the figures, makes their cells, takes what an earlier process has
 * measured. Nothing is written. WEIR_EINVAL: an unknown figure; WEIR_ESTATE: the
 * folder has cells of other settings. Free with wr_study_done in every case. */
int wr_study_init(struct wr_study *st, const struct wr_study_config *cfg,
                  weir_err *err);
void wr_study_done(struct wr_study *st);

/* The figures that are asked for, and those that the folder has whole besides:
 * "table1,fig6", for `only`. So a part that is measured later does not take the
 * rest off the page. */
void wr_study_known(const struct wr_study_config *cfg, char *ret, size_t cap);

/* --- for figures --- */

/* A point that is measured by the number `key` of the job's runs. */
void wr_study_measure(struct wr_study *st, const struct wr_figure *f,
                      const struct wr_point_at *at,
                      const struct wr_cell_job *job, const char *key);

/* A point that is known: what the paper states, or a limit. */
struct wr_point *wr_study_know(struct wr_study *st, const struct wr_figure *f,
                               const struct wr_point_at *at,
                               enum wr_point_role role, double number);

/* The cell of a job that some figure has asked for; NULL. */
const struct wr_cell *wr_study_cell(const struct wr_study *st,
                                    const struct wr_cell_job *job);

/* The median of a number of its runs; NaN: not measured. */
double wr_study_median(const struct wr_study *st, const struct wr_cell_job *job,
                       const char *key);

/* The point there, NULL; its median, NaN. */
const struct wr_point *wr_study_point(const struct wr_study *st,
                                      const struct wr_figure *f,
                                      const struct wr_point_at *at);
double wr_study_value(const struct wr_study *st, const struct wr_figure *f,
                      const struct wr_point_at *at);
struct wr_spread wr_point_spread(const struct wr_point *p);

/* --- running it --- */

/* Makes the data and measures what is missing. WEIR_ECANCELED when it was
 * stopped: what was measured is kept. */
int wr_study_run(struct wr_study *st, weir_err *err);

/* Whether all cells of a figure are measured. */
bool wr_study_is_whole(const struct wr_study *st, const struct wr_figure *f);

/* The record, with all figures and verdicts; NULL: out of memory. */
json_t *wr_study_record(struct wr_study *st);

void wr_scale_of(enum wr_study_mode mode, const struct wr_scale_wish *wish,
                 struct wr_scale *ret);

#endif
