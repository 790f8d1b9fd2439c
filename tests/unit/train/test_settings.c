/* test_settings.c - what a checkpoint remembers, and what of it is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "train/store.h"

static void settings_of(uint32_t batch, struct wr_train_settings *ret)
{
    const struct wr_net_spec spec = {0.0625, 4, 224, 224, 3};
    struct wr_train_plan plan;
    struct wr_net net;

    wr_train_defaults(&plan);
    plan.feed.batch = batch;
    assert_int_equal(wr_net_init(&net, &spec, NULL), 0);
    wr_train_settings_of(&plan, &net, ret);
}

static int check(const struct wr_train_settings *s, const weir_pair *found,
                 size_t count, weir_err *err)
{
    return wr_train_settings_check(s, found, count, err);
}

static void test_order_does_not_count(void **state)
{
    struct wr_train_settings s;
    weir_pair found[WR_TRAIN_SETTINGS + 1];
    weir_err err;

    settings_of(8, &s);
    assert_in_range(s.count, 10, WR_TRAIN_SETTINGS);
    for (size_t i = 0; i < s.count; i++)
        found[i] = s.pairs[s.count - 1 - i];
    found[s.count] = (weir_pair){"other", "thing"};
    assert_int_equal(check(&s, found, s.count + 1, &err), 0);
}

static void test_each_is_compared(void **state)
{
    struct wr_train_settings s;
    weir_pair found[WR_TRAIN_SETTINGS];
    weir_err err;

    settings_of(8, &s);
    for (size_t i = 0; i < s.count; i++) {
        memcpy(found, s.pairs, sizeof(found));
        found[i].value = "17 of them";
        assert_int_equal(check(&s, found, s.count, &err), WEIR_ESTATE);
        assert_non_null(strstr(err.msg, "was 17 of them when"));
        found[i].key = "else";
        assert_int_equal(check(&s, found, s.count, &err), WEIR_ESTATE);
        assert_non_null(strstr(err.msg, "not "));
    }
}

static void test_of_another_program(void **state)
{
    const weir_pair found[] = {{"format", "pt"}};
    struct wr_train_settings s;
    weir_err err;

    settings_of(8, &s);
    assert_int_equal(check(&s, found, 1, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "not saved by weir train"));
    assert_int_equal(check(&s, NULL, 0, &err), WEIR_ESTATE);
}

/* What is in a file is shown, not obeyed by a terminal. */
static void test_odd_values(void **state)
{
    struct wr_train_settings s, other;
    char longest[5000];
    weir_err err;

    settings_of(8, &s);
    settings_of(9, &other);
    assert_int_equal(check(&s, other.pairs, other.count, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "--batch was 9 when"));
    other.pairs[0].value = "\033[31m\xff";
    assert_int_equal(check(&s, other.pairs, other.count, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "was \\x1b[31m\\xff when"));
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    other.pairs[0].value = longest;
    assert_int_equal(check(&s, other.pairs, other.count, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "and is 1 now"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_does_not_count),
        cmocka_unit_test(test_each_is_compared),
        cmocka_unit_test(test_of_another_program),
        cmocka_unit_test(test_odd_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
