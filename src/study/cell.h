/* cell.h - one measured point of a study, and the file that keeps it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A cell is a job (what is measured) and the runs of it that are done. Its name
 * is made of the job, so that two figures that need the same measurement share
 * it. Every run is written to the cell's file at once: a study that is stopped
 * or killed goes on behind it. */
#ifndef WR_STUDY_CELL_H
#define WR_STUDY_CELL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#define WR_CELL_ID 96

enum wr_cell_kind {
    WR_CELL_PROBE, /* sequential reads and writes of one big file */
    WR_CELL_FEED,  /* the input pipeline alone, as weir bench */
    WR_CELL_TRAIN, /* the mini-application with an emulated accelerator */
};

/* What is measured. Unused fields are zero. */
struct wr_cell_job {
    enum wr_cell_kind kind;
    char device[16]; /* "hdd", ...: emulated; "disk": the real one */
    char data[24];   /* "imagenet", "caltech101", "png-768", ...; "": none */
    unsigned threads, batch, prefetch;
    unsigned iterations; /* batches; 0: one epoch */
    uint64_t samples;    /* of the data set */
    bool read_only;
    char accelerator[24]; /* "K4000", "ms=375", "none" */
    char saves_to[16];    /* "hdd", ..., "burst", "async"; "": no checkpoints */
    unsigned save_every;
    double width;   /* of the network that is saved */
    uint64_t bytes; /* of the probe's file */
    double seconds; /* of each of its tests */
};

/* The median of the counted runs, and their range; count 0: nothing known. */
struct wr_spread {
    double median, low, high;
    size_t count;
};

struct wr_cell {
    char id[WR_CELL_ID];
    struct wr_cell_job job;
    unsigned rounds;   /* wanted, the warm-up included */
    double estimate_s; /* one run, by the model */
    json_t *runs;      /* owned: list of objects, the warm-up first */
};

/* The name of a job: a file name. */
void wr_cell_job_id(const struct wr_cell_job *job, char buf[WR_CELL_ID]);

/* All of a job, as it stands in the cell's file. NULL: out of memory. */
json_t *wr_cell_job_json(const struct wr_cell_job *job);

/* Runs that are done, at most `rounds`. */
unsigned wr_cell_runs(const struct wr_cell *c);

/* Of the number `key` of each counted run; of the warm-up alone if no other run
 * is there and none is wanted. NaN where nothing is known. Takes NULL. */
struct wr_spread wr_cell_spread(const struct wr_cell *c, const char *key);

/* A list of the last counted run; NULL if it has none. Takes NULL. */
const json_t *wr_cell_list(const struct wr_cell *c, const char *key);

/* Adds a run (stolen, also on failure) and writes the file into `folder`. */
int wr_cell_add(struct wr_cell *c, const char *folder, json_t *run,
                weir_err *err);

/* Takes the runs that the file in `folder` has: 0, or 1 when there is none. A
 * file that is damaged is WEIR_EFORMAT, one of other settings WEIR_ESTATE with
 * their name; the cell has no runs then. */
int wr_cell_load(struct wr_cell *c, const char *folder, weir_err *err);

/* The same from memory; messages call it `name`. */
int wr_cell_parse(struct wr_cell *c, const char *bytes, size_t size,
                  const char *name, weir_err *err);

void wr_cell_done(struct wr_cell *c);

#endif
