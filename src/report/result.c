/* result.c - what a command prints of the record that it has just made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/result.h"

#include "base/error.h"
#include "result/get.h"
#include "report/view.h"

int wr_result_print(const json_t *record, struct wr_doc_text_style style,
                    FILE *out, weir_err *err)
{
    struct wr_view_record r = {
        .path = "", .label = "", .json = record, .alone = true};
    const struct wr_view *view = wr_view_find(wr_get_text(record, "command"));
    struct wr_doc *d = wr_doc_new("", "");
    bool failed;

    if (!wr_view_record_read(&r))
        wr_doc_fail(d);
    wr_view_print(view, d, &r);
    wr_view_record_done(&r);
    failed = wr_doc_failed(d);
    style.bare = true;
    style.numbers = view->numbers;
    if (!failed)
        wr_doc_print_text(d, &style, out);
    wr_doc_free(d);
    return failed ? wr_fail(err, WEIR_ENOMEM, "out of memory") : 0;
}
