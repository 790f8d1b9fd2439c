/* result.h - what a command prints of the record that it has just made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_RESULT_H
#define WR_REPORT_RESULT_H

#include <jansson.h>

#include "report/doc.h"

/* Tables and words of the view of the record's command, without the charts
 * and the headings of a report. */
int wr_result_print(const json_t *record, struct wr_doc_text_style style,
                    FILE *out, weir_err *err);

#endif
