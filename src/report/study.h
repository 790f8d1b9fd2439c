/* study.h - records of weir study as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_STUDY_H
#define WR_REPORT_STUDY_H

#include "report/view.h"

/* What the columns of the table of verdicts mean. */
extern const struct wr_column wr_study_verdict_columns[];

#endif
