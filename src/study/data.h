/* data.h - the data sets that a study measures with.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A data set of N samples lies in FOLDER/data/NAME-N and appears there whole,
 * so that one that is there need not be made again. */
#ifndef WR_STUDY_DATA_H
#define WR_STUDY_DATA_H

#include "study/study.h"

struct wr_data_kind {
    const char *name;    /* of wr_cell_job.data */
    double sample_bytes; /* about */
    double decode_s;     /* of a sample, on one core, about */
    double make_s;       /* the same of making one */
    unsigned side;       /* of the form of a picture that is stored; 0: of any
                            size, delivered as 224x224 */
    const char *form;    /* "tensor", "png", "jpeg"; NULL: generated */
};

/* By name; NULL. */
const struct wr_data_kind *wr_data_find(const char *name);

/* FOLDER/data/NAME-N of a job, into buf of WR_FOLDER_PATH bytes. */
void wr_data_path(const struct wr_study *st, const struct wr_cell_job *job,
                  char *buf);

/* Whether a form can be made by this build; else *ret_why (static). */
bool wr_forms_can(const char *form, const char **ret_why);

/* Makes what the cells that are to be run need and is not there. `told` is
 * called about ten times a second with seconds of the estimate that are done;
 * false stops it with WEIR_ECANCELED. */
struct wr_data_watch {
    bool (*told)(void *arg, const char *what, double done_s);
    void *arg;
};
int wr_data_make(const struct wr_study *st, const struct wr_data_watch *watch,
                 weir_err *err);

/* Of what is missing: seconds to make it, and bytes on disk; probes' files and
 * checkpoints included in the latter. */
double wr_data_seconds(const struct wr_study *st);
uint64_t wr_data_bytes(const struct wr_study *st);

/* Bytes of a checkpoint: AlexNet of a width, with the two moments of Adam. */
double wr_data_state_bytes(double width);

#endif
