/* train.h - a run of training: batches in, steps of a network, checkpoints out.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each iteration waits for a batch, computes on it, and, every so often, saves.
 * What computes is this machine (an engine), an emulated accelerator (a time per
 * batch, and no core), or nothing. The three times of each iteration are what a
 * run is about: they say what the input and the checkpoints cost.
 *
 * A step is the number of iterations that have been done. A run that is resumed
 * continues to count, so that `iterations` and `epochs` mean the whole training
 * and not this process. */
#ifndef WR_TRAIN_TRAIN_H
#define WR_TRAIN_TRAIN_H

#include <stdbool.h>

#include "base/series.h"
#include "measure/accelerator.h"
#include "measure/saves.h"
#include "pipeline/settings.h"
#include "train/engine.h"
#include "weir/pipeline.h"

/* What is going on, told after every iteration. */
struct wr_train_news {
    const char *doing;    /* static: "training", "validating", "saving" */
    uint64_t done, total; /* iterations; total 0: no end is known */
    uint64_t from;        /* of these, done by an earlier process */
    uint64_t samples;     /* of this process */
    double seconds;       /* since its first iteration began */
    double wait_s;        /* of these, waiting for input */
    double loss;          /* of the last iteration; NaN: nothing is computed */
};

struct wr_train_plan {
    const weir_dataset *ds;    /* borrowed; NULL with `synthetic` */
    weir_pipeline_config feed; /* batch, size, threads, prefetch, ...; epochs,
                                  max_batches, remainder, part, resume and
                                  stopped are set here */
    bool synthetic;            /* batches from memory, the same again and again,
                                  in place of the data set's */
    struct wr_accelerator accelerator;
    const struct wr_engine_ops *engine; /* accelerator cpu: static table */
    unsigned compute_threads;           /* of the engine; 0: one per core */
    uint32_t classes;                   /* 0: the data set's */
    double width;                       /* of the network, 1: as published */
    double learning_rate;
    uint64_t seed; /* of the weights; that of the order is in `feed` */
    uint64_t iterations, epochs; /* the end, whichever comes first; 0: this one
                                    is no limit */
    bool validate; /* on the held-out part, after each epoch and at the end */

    weir_ckpt_config ckpt; /* fast NULL: no checkpoints; role and reserve are
                              set here */
    enum weir_level level; /* that a save waits for */
    uint64_t save_every;   /* iterations; 0: at the end only */
    bool resume;           /* go on from the newest checkpoint, if any */
    bool settle;           /* at the end wait for the slow tier, too */

    size_t rows; /* of the series, at most */
    /* All may be NULL. */
    bool (*is_setting)(const struct wr_setting *s); /* the record has it */
    void (*progress)(void *arg, const struct wr_train_news *news);
    void (*note)(void *arg, const char *text); /* what a person should know */
    void *arg;                                 /* of both */
    bool (*stopped)(void); /* polled: the run ends with WEIR_ECANCELED */
};

/* Columns of the series of iterations; its time is the end of each, in seconds
 * since the first one began. */
enum wr_train_column {
    WR_TRAIN_LOSS,    /* NaN: nothing is computed */
    WR_TRAIN_WAIT_MS, /* for the batch */
    WR_TRAIN_STEP_MS, /* computing */
    WR_TRAIN_SAVE_MS, /* inside weir_ckpt_save */
    WR_TRAIN_COLUMNS
};

/* One pass over the held-out part. */
struct wr_train_validation {
    uint64_t step, samples, right;
    uint64_t most; /* samples of the most common class: what guessing it gets */
    double at_s, seconds;
    double loss; /* mean */
};

/* What most of the time was spent on. */
enum wr_train_limit {
    WR_TRAIN_LIMIT_NONE, /* too little happened to say */
    WR_TRAIN_LIMIT_COMPUTE,
    WR_TRAIN_LIMIT_INPUT,
    WR_TRAIN_LIMIT_SAVE,
};

#define WR_TRAIN_VALIDATIONS_MAX 1000 /* kept in a result; the first ones */
#define WR_TRAIN_BAD_MAX         100

struct wr_train_result {
    uint64_t start_ns;    /* wr_clock_ns of the first iteration */
    uint64_t from, done;  /* steps before and after this process */
    uint64_t samples;     /* that it trained on */
    uint64_t per_epoch;   /* iterations of an epoch; 0: not known */
    uint64_t parameters;  /* of the network */
    uint64_t state_bytes; /* of a checkpoint; 0: none was wanted */
    uint32_t classes;
    double seconds; /* first iteration to last, all included */
    double wait_s, step_s, save_s, validate_s; /* sums */
    double first_wait_s;                       /* of wait_s: the first batch */
    double save_max_s;                         /* the longest stall */
    double flush_s;          /* after the last iteration, until all that was
                                   saved was safe */
    double loss_first;       /* of the first iteration; NaN: not computed */
    double loss_last;        /* mean of the last iterations, 10 at most */
    struct wr_series series; /* enum wr_train_column */
    struct wr_saved *saves;  /* owned */
    size_t save_kept;
    uint64_t save_count;
    struct wr_train_validation *validations; /* owned */
    size_t validation_kept;
    uint64_t validation_count;
    struct wr_train_validation last; /* the last one; samples 0: none */
    uint64_t held_out;               /* samples of that part, bad ones too */
    weir_stats stats;                /* of the input */
    weir_ckpt_stats ckpt;            /* of the store */
    enum wr_train_limit limit;
    weir_bad_sample *bad; /* owned, as is each text */
    size_t bad_kept;
    uint64_t bad_count;
    char tuning[2400]; /* what WEIR_AUTO chose and why; "": nothing */
    uint64_t digest;   /* xxh3 of the weights at the end */
    bool has_digest;
    bool has_saved;
    uint64_t saved; /* newest step that is saved, by whichever process */
};

/* Runs it. *ret is filled also if it fails or is stopped (WEIR_ECANCELED), with
 * what was measured until then; wr_train_done frees it in every case. A run that
 * is stopped saves what it has, if it has a store. */
int wr_train(const struct wr_train_plan *plan, struct wr_train_result *ret,
             weir_err *err);
void wr_train_done(struct wr_train_result *r);

/* Defaults: no accelerator, width 1, learning rate 0.001, an epoch, rows. */
void wr_train_defaults(struct wr_train_plan *plan);

#endif
