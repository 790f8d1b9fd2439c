/* stage_report.h - what weir stage has done, as text and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_STAGE_REPORT_H
#define WR_CLI_STAGE_REPORT_H

#include <jansson.h>

#include "cli/command.h"
#include "weir/pipeline.h"

struct wr_stage_result {
    bool decoded;
    uint64_t samples;      /* of the data set */
    uint64_t before, kept; /* that the tiers hold: at first, and now */
    uint64_t staged;       /* between; by others, too */
    uint64_t not_fitted;
    weir_stats stats;
    double seconds;
};

/* Names the bad samples on stderr, at most 20, and returns them all for the
 * JSON (to be given back). */
json_t *wr_stage_note_bad(const struct wr_cli *cli, const weir_pipeline *p);

void wr_stage_print_text(const struct wr_cli *cli,
                         const struct wr_stage_result *s);

/* Returns enum wr_exit. */
int wr_stage_print_json(const struct wr_cli *cli,
                        const struct wr_stage_result *s, json_t *bad);

#endif
