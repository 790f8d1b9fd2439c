/* json_tree.c - JSON as a tree: reasons that can be shown, and memory that is short.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/json_tree.h"

#include <errno.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/text.h"

int wr_json_load(const void *bytes, size_t len, size_t flags, json_t **ret,
                 weir_err *err)
{
    char shown[4 * JSON_ERROR_TEXT_LENGTH];
    locale_t before = wr_locale_enter();
    json_error_t why;
    json_t *doc;

    errno = 0;
    doc = json_loadb(bytes, len, flags, &why);
    wr_locale_leave(before);
    /* jansson blames the text when memory is short, or leaves something out;
     * errno has kept it. */
    if (errno == ENOMEM) {
        json_decref(doc);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    if (doc) {
        *ret = doc;
        return 0;
    }
    wr_text_show(why.text, /* controls= */ true, shown, sizeof(shown));
    switch (json_error_code(&why)) {
    case json_error_out_of_memory:
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    case json_error_invalid_utf8:
        return wr_fail(err, WEIR_EFORMAT, "not UTF-8: %s", shown);
    case json_error_duplicate_key:
        return wr_fail(err, WEIR_EFORMAT, "%s", shown);
    default:
        return wr_fail(err, WEIR_EFORMAT, "not JSON: %s", shown);
    }
}
