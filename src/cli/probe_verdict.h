/* probe_verdict.h - what a probe means for training, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_PROBE_VERDICT_H
#define WR_CLI_PROBE_VERDICT_H

#include "cli/table.h"
#include "measure/probe.h"

/* Where depth stops to pay, and the closing sentences. */
int wr_probe_print_verdict(const struct wr_cli *cli,
                           const struct wr_probe_plan *plan,
                           const struct wr_probe_report *rep, weir_err *err);

/* Of its table: the depth that is enough. */
extern const struct wr_column wr_probe_saturation_columns[];

#endif
