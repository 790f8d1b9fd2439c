/* html_none.c - no pages: Chart.js was not there when weir was built.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/doc.h"

#include "base/error.h"

const char *wr_doc_html_missing(void)
{
    return "this weir makes no pages: it was built without Chart.js "
           "(Debian: libjs-chart.js)";
}

int wr_doc_print_html(const struct wr_doc *d, FILE *out, weir_err *err)
{
    return wr_fail(err, WEIR_ENOTSUP, "%s", wr_doc_html_missing());
}
