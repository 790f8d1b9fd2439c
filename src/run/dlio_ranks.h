/* dlio_ranks.h - DLIO's files of one rank: its steps and its epochs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_DLIO_RANKS_H
#define WR_RUN_DLIO_RANKS_H

#include <jansson.h>

#include "run/dlio_output.h"

#define WR_DLIO_TIME 40 /* bytes of a time, enough */

/* Local time, "2026-11-17T06:20:00.123456"; returns buf. */
char *wr_dlio_time(uint64_t wall_ns, char *buf, size_t cap);

/* Until a save was on storage, which the run need not have waited for. */
double wr_dlio_save_s(const struct wr_saved *save);

/* RANK_output.json and RANK_per_epoch_stats.json. */
json_t *wr_dlio_rank_json(const struct wr_dlio_source *src);
json_t *wr_dlio_epochs_json(const struct wr_dlio_source *src);

#endif
