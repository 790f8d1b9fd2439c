/* test_set_job.c - what a data set was made from is read back.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "described.h"
#include "gen/set_job.h"

static void test_round_trip(void **state)
{
    struct wr_workload *w = described("npz", NULL), *back = NULL;
    uint64_t seed = 0;
    char *text, *again;
    weir_err err = {0};

    (void)state;
    assert_int_equal(wr_gen_job_text(w, 77, &text, NULL), 0);
    assert_int_equal(
        wr_gen_job_parse("job", text, strlen(text), &back, &seed, &err), 0);
    assert_int_equal(seed, 77);
    assert_int_equal(back->dataset.files_eval, 2);
    assert_int_equal(wr_gen_job_text(back, 77, &again, NULL), 0);
    assert_string_equal(text, again);
    free(text);
    free(again);
    wr_workload_free(w);
    wr_workload_free(back);
}

static void refused(const char *text, int code, const char *why)
{
    struct wr_workload *w = NULL;
    uint64_t seed;
    weir_err err = {0};

    assert_int_equal(
        wr_gen_job_parse("job", text, strlen(text), &w, &seed, &err), code);
    assert_non_null(strstr(err.msg, why));
    assert_null(w);
}

static void test_refused(void **state)
{
    (void)state;
    refused("", WEIR_EFORMAT, "missing");
    refused("dataset:\n  format: npz\n", WEIR_EFORMAT, "missing");
    refused("# weir gen, version 1\n# seed x\n", WEIR_EFORMAT, "missing");
    refused("# weir gen, version 1\n# seed 1", WEIR_EFORMAT, "missing");
    refused("# weir gen, version 99\n# seed 1\ndataset:\n", WEIR_ENOTSUP, "99");
    refused("# weir gen, version 1\n# seed 99999999999999999999\n",
            WEIR_EFORMAT, "missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests_name("set_job", tests, NULL, NULL);
}
