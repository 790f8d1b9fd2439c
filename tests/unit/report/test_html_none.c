/* test_html_none.c - a weir without pages says why.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "report/doc.h"

static void test_says_why(void **state)
{
    struct wr_doc *d = wr_doc_new("d", "");
    weir_err err;

    assert_int_equal(wr_doc_print_html(d, stdout, &err), WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "Chart.js"));
    wr_doc_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_says_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
