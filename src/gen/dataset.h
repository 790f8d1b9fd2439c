/* dataset.h - the data set of a workload: made, continued, and checked.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Folders and names are DLIO's: train/img_07_of_64.npz, valid/..., so that its
 * data sets and these are interchangeable. What a file holds is a function of
 * (description, seed, number of the file). */
#ifndef WR_GEN_DATASET_H
#define WR_GEN_DATASET_H

#include <stdbool.h>

#include "comm/comm.h"
#include "gen/crew.h"
#include "workload/workload.h"

/* How far it is, of this rank's files. */
struct wr_dataset_state {
    uint64_t files_done, files;
    uint64_t bytes_done, bytes; /* `bytes` is what is expected, or nearly */
};

struct wr_dataset_config {
    const struct wr_workload *workload; /* borrowed */
    const char *target;                 /* borrowed: URL of the folder */
    uint64_t seed;
    unsigned threads;     /* 0: one per core */
    bool force;           /* begin anew, and replace what is there */
    struct wr_comm *comm; /* borrowed; NULL: alone */

    /* Called from the calling thread about 20 times a second; a nonzero return
     * cancels with WEIR_ECANCELED. May be NULL. */
    int (*progress)(void *arg, const struct wr_dataset_state *s);
    void *progress_arg;
};

struct wr_dataset_result {
    uint64_t files, samples; /* of the whole data set */
    uint64_t train_files, eval_files;
    uint64_t made_files, made_bytes; /* by this run and rank */
    uint64_t kept_files; /* by this rank: an earlier run had made them */
    uint64_t elapsed_ns;
    unsigned threads;
};

/* Makes the data set, or the rest of it. Rank r of W makes files r, r + W, ...;
 * rank 0 commits. After a failure or a cancellation the part stays (its name is
 * in the message): the same call continues. A lack of space is noticed before
 * anything is written. */
int wr_gen_workload(const struct wr_dataset_config *cfg,
                    struct wr_dataset_result *ret, weir_err *err);

/* --- checking --- */

struct wr_verify_config {
    const char *url; /* borrowed: the folder */
    unsigned threads;
    /* From any thread, one at a time: what is wrong with `path`. May be NULL. */
    void (*problem)(void *arg, const char *path, const char *what);
    int (*progress)(void *arg, const struct wr_dataset_state *s);
    void *arg; /* of both */
};

struct wr_verify_result {
    uint64_t files, bytes; /* compared */
    uint64_t damaged, missing, extra;
    uint64_t seed;
    uint64_t elapsed_ns;
};

/* Makes every file again and compares. WEIR_ENOENT: the folder does not say how
 * it was made. Damage is counted, not returned. */
int wr_gen_verify(const struct wr_verify_config *cfg,
                  struct wr_verify_result *ret, weir_err *err);

#endif
