/* test_guess.c - labels by their names and values, and kinds of fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "format/guess.h"

static void check_names(enum wr_label_place place, const char *want)
{
    char got[256] = "";
    const char *name;

    for (unsigned k = 0; (name = wr_label_name(place, k)); k++) {
        strcat(got, k ? " " : "");
        strcat(got, name);
    }
    assert_string_equal(got, want);
}

static void test_names(void **state)
{
    (void)state;
    check_names(WR_LABEL_COLUMN, "label labels class class_id cls target y");
    check_names(WR_LABEL_BESIDE, "label class class_id cls");
    check_names(WR_LABEL_FEATURE,
                "image/class/label label class class_id cls image/label");
    check_names(WR_LABEL_ENDING, "label cls");
    for (unsigned k = 0; k < WR_LABEL_NAMES; k++)
        assert_int_equal(strlen(wr_label_names[k].text), wr_label_names[k].len);
}

static void test_said(void **state)
{
    char buf[WR_FIELD_NAME];

    (void)state;
    assert_null(wr_label_said(NULL, buf));
    assert_null(wr_label_said("x=tensor:f32", buf));
    assert_null(wr_label_said("label=scalar:i64", buf)); /* a field */
    assert_string_equal(wr_label_said("x=tensor,label=kind", buf), "kind");
    assert_string_equal(wr_label_said("label=", buf), "");
}

static void test_numbers(void **state)
{
    uint32_t label = 7;

    (void)state;
    assert_true(wr_label_of_number(0, &label));
    assert_int_equal(label, 0);
    assert_true(wr_label_of_number(4294967294, &label));
    assert_int_equal(label, 4294967294);
    assert_true(wr_label_of_number(-1, &label));
    assert_int_equal(label, WEIR_NO_LABEL);
    label = 7;
    assert_false(wr_label_of_number(-2, &label));
    assert_false(wr_label_of_number(4294967295, &label));
    assert_int_equal(label, 7);
}

static void test_texts(void **state)
{
    static const char *const wrong[] = {
        "",   "-",   "-2", "+1",         " 1",
        "1 ", "1.0", "x",  "4294967295", "99999999999999999999"};
    uint32_t label = 7;

    (void)state;
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
        assert_false(wr_label_of_text(wrong[k], strlen(wrong[k]), &label));
    assert_int_equal(label, 7);
    assert_true(wr_label_of_text("42x", 2, &label)); /* no NUL behind it */
    assert_int_equal(label, 42);
    assert_true(wr_label_of_text("4294967294", 10, &label));
    assert_int_equal(label, 4294967294);
    assert_true(wr_label_of_text("-1", 2, &label));
    assert_int_equal(label, WEIR_NO_LABEL);
}

static void test_bytes(void **state)
{
    const int64_t five = 5, low = -5, high = INT64_MAX;

    (void)state;
    assert_int_equal(wr_label_of_bytes(&five, sizeof(five)), 5);
    assert_int_equal(wr_label_of_bytes(&low, sizeof(low)), WEIR_NO_LABEL);
    assert_int_equal(wr_label_of_bytes(&high, sizeof(high)), WEIR_NO_LABEL);
    assert_int_equal(wr_label_of_bytes(&five, 4), WEIR_NO_LABEL);
    assert_int_equal(wr_label_of_bytes(NULL, 0), WEIR_NO_LABEL);
}

static void test_fields(void **state)
{
    const uint64_t dims[] = {3, 0};
    struct wr_field f = wr_guess_field("t", WEIR_FIELD_TENSOR, WEIR_F64);

    (void)state;
    assert_string_equal(f.name, "t");
    assert_int_equal(f.pub.kind, WEIR_FIELD_TENSOR);
    assert_int_equal(f.pub.dtype, WEIR_F64);
    assert_int_equal(f.pub.ndim, 0);
    wr_guess_dims(&f, dims, 2);
    assert_int_equal(f.pub.ndim, 2);
    assert_int_equal(f.pub.dims[0], 3);
    assert_true(f.pub.dims[1] == WEIR_DIM_VARIES);
    f = wr_guess_field("b", WEIR_FIELD_BYTES, WEIR_F64);
    assert_int_equal(f.pub.dtype, WEIR_U8);
    assert_int_equal(f.pub.ndim, 1);
    assert_true(f.pub.dims[0] == WEIR_DIM_VARIES);
    f = wr_guess_field("p", WEIR_FIELD_PICTURE, WEIR_F64);
    assert_int_equal(f.pub.dtype, WEIR_U8);
    assert_int_equal(f.pub.ndim, 0);
}

/* As many words as numbers: they stand for numbers that are missing. */
static void test_words(void **state)
{
    (void)state;
    assert_true(wr_guess_words(3, 2));
    assert_false(wr_guess_words(2, 2));
    assert_false(wr_guess_words(0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_said),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_texts),
        cmocka_unit_test(test_bytes),   cmocka_unit_test(test_fields),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
