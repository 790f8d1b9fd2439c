/* probe_fit.h - the device profile that would have given a probe's results.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What cannot be told apart is not guessed: channels that the bandwidth hides
 * are counted only as far as they are seen to work, and a seek that gets
 * shorter with depth is told from channels by how fast depth gains. What was
 * not measured is taken from what is like it, or left at "none". */
#ifndef WR_MEASURE_PROBE_FIT_H
#define WR_MEASURE_PROBE_FIT_H

#include "measure/probe.h"
#include "storage/device.h"

/* Whether the tests of a plan are enough for it; WEIR_EINVAL says what else is
 * needed. A test that cannot be run may still make wr_probe_fit fail. */
int wr_probe_fit_check(const struct wr_probe_plan *plan, weir_err *err);

/* Fails (WEIR_EINVAL) when there is no test to take latency and bandwidth of
 * reads from. The profile is called "probed". */
int wr_probe_fit(const struct wr_probe_plan *plan,
                 const struct wr_probe_report *r, struct wr_device_profile *ret,
                 weir_err *err);

#endif
