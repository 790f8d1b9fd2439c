/* figures.h - the numbers that a result comes down to.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_FIGURES_H
#define WR_RUN_FIGURES_H

#include "result/run.h"
#include "run/run.h"

struct wr_run_figures {
    /* Utilization by the rules of MLPerf Storage: the time that computing was
     * to take over the time that training took, without checkpoints,
     * evaluations and the wait for the first batch. NaN: nothing is computed. */
    double au;
    double au_dlio; /* by DLIO's formula */
    double dlio_per_s;
    double seconds; /* of the slowest rank; reading into memory left out */
    double load_s;  /* reading into memory first; 0: on demand */
    double samples_per_s, bytes_per_s; /* while it trained */
    double cpu_s;
    uint64_t samples, bytes, steps, stalls, peak_bytes;
    double first_batch_ms, resident; /* -1: not known */
    struct wr_run_loss_values loss;
    struct wr_meter_counts reads;
    struct wr_hist waits;
};

/* `r` is rank 0's. The result is large: not for small stacks. */
void wr_run_figures(const struct wr_run_result *r, struct wr_run_figures *ret);

/* Epoch number `epoch`, from 0, of all ranks. */
struct wr_run_epoch_values wr_run_epoch_of(const struct wr_run_result *r,
                                           uint64_t epoch);

#endif
