/* test_yaml.c - descriptions printed: all texts survive, and DLIO's form.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "given.h"

static void test_texts(void **state)
{
    static const char *const texts[] = {"",
                                        "null",
                                        "3",
                                        "a: b # c",
                                        "it's \"x\"",
                                        "a\\b",
                                        "line\nline",
                                        "tab\tbell\a",
                                        "\xc2\x85",
                                        "\xc3\xa4",
                                        "\xe2\x80\xa8",
                                        "\xef\xbb\xbf",
                                        "\xf0\x9f\x98\x80",
                                        " x ",
                                        "{}",
                                        "\x7f"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct wr_workload *w = given("train: {}\n", NULL, NULL), *back;
        char *text;

        w->weir.title = texts[i];
        text = wr_workload_yaml(w);
        back = given(text, NULL, NULL);
        assert_string_equal(back->weir.title, texts[i]);
        free(text);
        wr_workload_free(w);
        wr_workload_free(back);
    }
}

static void test_numbers(void **state)
{
    static const double numbers[] = {0.1,  1.0 / 3, 114660.07, 1e-9,
                                     1e15, 0,       146600628, 0.000375};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct wr_workload *w = given("train: {}\n", NULL, NULL), *back;
        char *text;

        w->dataset.record_stdev = numbers[i];
        w->train.computation = (struct wr_wl_time){WR_WL_EXPONENTIAL,
                                                   numbers[i] / 1e6, 0};
        text = wr_workload_yaml(w);
        back = given(text, NULL, NULL);
        assert_true(back->dataset.record_stdev == numbers[i]);
        assert_true(back->train.computation.a == numbers[i] / 1e6);
        free(text);
        wr_workload_free(w);
        wr_workload_free(back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
