/* plan_inputs.h - the files that a plan is made from.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_PLAN_INPUTS_H
#define WR_CLI_PLAN_INPUTS_H

#include "cli/command.h"
#include "plan/answer.h"

/* Each operand into the draft: a record, a workload (a file, or one that is
 * built in) or a trace; and into the list of inputs. */
int wr_plan_read_inputs(const struct wr_cli *cli, struct wr_plan_draft *d,
                        struct wr_plan_answer *a, weir_err *err);

/* Reads the times of batches and explains them, with what the draft knows. */
int wr_plan_read_times(const char *path, const struct wr_plan_draft *d,
                       struct wr_plan_answer *a, weir_err *err);

#endif
