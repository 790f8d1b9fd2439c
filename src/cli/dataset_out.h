/* dataset_out.h - what commands say about a data set and what came out of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_DATASET_OUT_H
#define WR_CLI_DATASET_OUT_H

#include "cli/command.h"
#include "measure/accelerator.h"
#include "weir/dataset.h"

/* What it is, and on what machine and storage: two lines. */
void wr_dataset_print(const struct wr_cli *cli, const weir_dataset *ds);

/* Notes what is odd about it, and the problems that indexing met. */
void wr_dataset_note_issues(const struct wr_cli *cli, const weir_dataset *ds);

/* What works on its batches; `batch` 0: of several sizes. */
void wr_accelerator_print(const struct wr_cli *cli,
                          const struct wr_accelerator *a, uint32_t batch);

#endif
