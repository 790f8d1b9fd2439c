/* train_text.h - a run of training for a person.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_TRAIN_TEXT_H
#define WR_CLI_TRAIN_TEXT_H

#include "cli/monitor.h"
#include "cli/table.h"
#include "train/train.h"

/* What is trained, on what, by what, and where it is saved. */
void wr_train_print_head(const struct wr_cli *cli,
                         const struct wr_train_plan *plan);

/* What its columns mean. */
extern const struct wr_columns wr_train_columns[];

/* The tables, what limited the run in words, and the bad samples. */
int wr_train_print(const struct wr_cli *cli, const struct wr_train_plan *plan,
                   const struct wr_train_result *res,
                   const struct wr_monitor *m, weir_err *err);

/* The label of the live line: "iteration 12 of 100, loss 0.53, 81 images/s,
 * waiting 3 %". Returns buf. */
char *wr_train_label(const struct wr_train_news *news, char *buf, size_t cap);

#endif
