/* report_columns.h - what the columns of a report's tables mean, for its help.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_REPORT_COLUMNS_H
#define WR_CLI_REPORT_COLUMNS_H

#include "record/columns.h"

/* Their headings stand in src/record; tests/cli/report/columns compares. */
extern const struct wr_columns wr_report_columns[];

#endif
