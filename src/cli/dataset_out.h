/* dataset_out.h - what commands say about a data set and what came out of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_DATASET_OUT_H
#define WR_CLI_DATASET_OUT_H

#include <jansson.h>

#include "cli/command.h"
#include "weir/dataset.h"
#include "weir/pipeline.h"

/* What it is, and on what machine and storage: two lines. */
void wr_dataset_print(const struct wr_cli *cli, const weir_dataset *ds);

/* Notes what is odd about it, and the problems that indexing met. */
void wr_dataset_note_issues(const struct wr_cli *cli, const weir_dataset *ds);

/* The same for programs: the data set, where its pipeline's time went, and
 * samples that could not be delivered. */
json_t *wr_dataset_json(const weir_dataset *ds);
json_t *wr_input_json(const weir_stats *s);
json_t *wr_bad_json(const weir_bad_sample *bad, size_t count);

#endif
