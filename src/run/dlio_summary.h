/* dlio_summary.h - DLIO's summary.json: the metrics by its formulas.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_DLIO_SUMMARY_H
#define WR_RUN_DLIO_SUMMARY_H

#include <jansson.h>

#include "run/dlio_output.h"

json_t *wr_dlio_summary_json(const struct wr_dlio_source *src);

#endif
