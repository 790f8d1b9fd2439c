/* study_text.h - the plan of weir study as text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_STUDY_TEXT_H
#define WR_CLI_STUDY_TEXT_H

#include <jansson.h>

#include "cli/command.h"
#include "cli/table.h"
#include "study/study.h"

/* What will be done, how long it takes, and what it needs on disk. */
int wr_study_print_plan(const struct wr_cli *cli, const struct wr_study *st,
                        weir_err *err);
json_t *wr_study_plan_json(const struct wr_study *st);

/* The figures that there are. */
int wr_study_print_list(const struct wr_cli *cli, weir_err *err);

extern const struct wr_columns wr_study_columns[];

/* "3 h 20 min", "4 min 10 s", "12 s". Returns buf. */
char *wr_study_duration(double seconds, char *buf, size_t cap);

#endif
