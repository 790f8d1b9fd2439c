/* report.h - records become one document.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_REPORT_H
#define WR_REPORT_REPORT_H

#include <jansson.h>

#include "report/compare.h"
#include "report/doc.h"

struct wr_report_spec {
    const char *const *paths;     /* borrowed: names of the records */
    const json_t *const *records; /* borrowed */
    size_t count;
    const char *title;
    bool compare; /* two records of one command against each other */
};

/* Every record is shown beside the others of its command; commands come in the
 * order of their views. With `compare` ret_comparison is filled
 * (WEIR_EINVAL when they cannot be compared). Free *ret with wr_doc_free. */
int wr_report(const struct wr_report_spec *spec, struct wr_doc **ret,
              struct wr_comparison *ret_comparison, weir_err *err);

/* Whether these can be compared: two, of one command that is known. */
bool wr_report_comparable(const struct wr_report_spec *spec);

#endif
