/* ckpt.h - records of weir ckpt bench as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_CKPT_H
#define WR_REPORT_CKPT_H

#include "report/view.h"

/* What the columns of the table of ways mean. */
extern const struct wr_column wr_ckpt_case_columns[];

#endif
