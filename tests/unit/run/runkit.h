/* runkit.h - a small data set, and a description of it, for tests of runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_RUNKIT_H
#define WR_TEST_RUNKIT_H

#include "../gen/scratch.h"
#include "run/run.h"

#define KIT_FILES    12u
#define KIT_PER_FILE 8u
#define KIT_SAMPLES  (KIT_FILES * KIT_PER_FILE)

struct runkit {
    struct scratch *scratch;
    weir_dataset *ds;
    struct wr_comm *alone;
    struct wr_workload *w;
};

int runkit_setup(void **state);
int runkit_teardown(void **state);

/* A plan for two epochs of batches of 4 without computing. */
void runkit_plan(struct runkit *k, struct wr_run_plan *ret);

#endif
