/* report_trace.h - weir report of a trace.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_REPORT_TRACE_H
#define WR_CLI_REPORT_TRACE_H

#include <jansson.h>
#include <stdio.h>

#include "cli/command.h"
#include "report/doc.h"

enum wr_trace_form {
    WR_TRACE_FORM_TEXT,
    WR_TRACE_FORM_CSV, /* of events */
    WR_TRACE_FORM_CHROME,
    WR_TRACE_FORM_DARSHAN,
};

/* Whether a file begins as a trace does; false too if it cannot be read. */
bool wr_report_is_trace(const char *path);

/* What a trace says: findings, then the numbers. `probe`: see wr_trace_judge, or
 * NULL. */
int wr_report_trace_text(const char *path, const json_t *probe,
                         struct wr_doc_text_style style, FILE *out,
                         weir_err *err);

/* Shows one trace, to `output` or stdout (NULL, "-"); Returns enum
 * wr_exit. */
int wr_report_trace(const struct wr_cli *cli, const char *path, int form,
                    const char *output, const json_t *probe);

#endif
