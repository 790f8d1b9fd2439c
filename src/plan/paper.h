/* paper.h - the plans of the TensorFlow I/O paper, from its own numbers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Chien et al., Characterizing Deep-Learning I/O Workloads in TensorFlow (2018):
 * bandwidths of Table I, 112 KB files of ImageNet and 14 KB files of Caltech 101,
 * a K4000 that computes 1.5 s on a batch of 64, 600 MB per checkpoint. */
#ifndef WR_PLAN_PAPER_H
#define WR_PLAN_PAPER_H

#include "plan/plan.h"

/* Seconds that TensorFlow's saver takes by itself for 600 MB, so that the burst
 * buffer gains the paper's 2.6 over the disk; by the bandwidths of Table I alone
 * it would gain more. Solved for, not measured. */
#define WR_PAPER_SAVER_S 0.98

/* Fig. 5: files per second by so many threads that read; NaN: it failed. */
double wr_paper_read_rate(const char *device, uint32_t threads, weir_err *err);

/* Fig. 6: seconds of 142 iterations; NaN: it failed. */
double wr_paper_run(const char *device, uint32_t threads, uint32_t prefetch,
                    weir_err *err);

struct wr_paper_saves {
    double run_s;   /* 100 iterations with five saves */
    double stall_s; /* of one */
};

/* Fig. 9: to a device, or "burst": Optane, drained to the disk. */
int wr_paper_saving(const char *to, double saver_s, struct wr_paper_saves *ret,
                    weir_err *err);

#endif
