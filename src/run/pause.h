/* pause.h - time that passes in a run, and can be interrupted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_PAUSE_H
#define WR_RUN_PAUSE_H

#include "weir/error.h"

struct wr_run_job;

/* WEIR_ECANCELED when the run is stopped meanwhile. */
int wr_run_pause(const struct wr_run_job *job, double seconds, weir_err *err);

#endif
