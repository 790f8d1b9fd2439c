/* train_text.h - what training says before and while it runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_TRAIN_TEXT_H
#define WR_CLI_TRAIN_TEXT_H

#include "cli/command.h"
#include "train/train.h"

/* What is trained, on what, by what, and where it is saved. */
void wr_train_print_head(const struct wr_cli *cli,
                         const struct wr_train_plan *plan);

/* The label of the live line: "iteration 12 of 100, loss 0.53, 81 images/s,
 * waiting 3 %". Returns buf. */
char *wr_train_label(const struct wr_train_news *news, char *buf, size_t cap);

#endif
