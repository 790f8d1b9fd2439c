/* probe_sim.h - a probe of the device model in virtual time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROBE_SIM_H
#define PROBE_SIM_H

#include "measure/probe.h"
#include "storage/device.h"

/* Runs every test of the plan once on a fresh device of the profile; a report
 * as wr_probe would give it, to be freed with sim_done. */
void sim_probe(const struct wr_probe_plan *plan,
               const struct wr_device_profile *p, struct wr_probe_report *ret);
void sim_done(struct wr_probe_report *r);

#endif
