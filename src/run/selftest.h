/* selftest.h - can this machine emulate that? The same run without I/O.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_SELFTEST_H
#define WR_RUN_SELFTEST_H

#include "run/run.h"

#define WR_RUN_SELFTEST_AU 0.995 /* that it must reach */

struct wr_run_selftest {
    uint64_t steps;     /* of each accelerator; 0: nothing is computed */
    double overhead_us; /* of the emulator, per step */
    double au;          /* of the run, if there were nothing else */
    bool ok;
};

/* About a second of steps with batches that are there at once. Steps that are
 * long are made shorter: what the emulator takes for one does not depend on it.
 * All ranks; only rank 0 has the result. */
int wr_run_selftest(const struct wr_run_plan *plan, struct wr_run_selftest *ret,
                    weir_err *err);

#endif
