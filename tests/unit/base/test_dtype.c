/* test_dtype.c - names and sizes of element types.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/ascii.h"
#include "base/dtype.h"

static void test_names(void **state)
{
    unsigned count = 0;

    (void)state;
#define CHECK(type, value, text, width)                                        \
    do {                                                                       \
        enum weir_dtype found = (enum weir_dtype)99;                           \
                                                                               \
        assert_string_equal(wr_dtype_name(type), text);                        \
        assert_int_equal(wr_dtype_bits(type), width);                          \
        assert_true(wr_dtype_find(text, &found));                              \
        assert_int_equal(found, type);                                         \
        assert_int_equal(wr_strcasecmp(wr_dtype_text(type), text), 0);         \
        assert_string_not_equal(wr_dtype_text(type), text);                    \
        assert_true(wr_dtype_parse(wr_dtype_text(type), &found));              \
        assert_int_equal(found, type);                                         \
        assert_int_equal(wr_dtype_bytes(type), (width) % 8 ? 0 : (width) / 8); \
        count++;                                                               \
    } while (0);
    WEIR_DTYPE_MAP(CHECK)
#undef CHECK
    assert_int_equal(count, 22); /* those of safetensors */
}

static void test_no_type(void **state)
{
    enum weir_dtype found = WEIR_I8;

    (void)state;
    assert_null(wr_dtype_name((enum weir_dtype)22));
    assert_null(wr_dtype_name((enum weir_dtype) - 1));
    assert_null(wr_dtype_text((enum weir_dtype)22));
    assert_int_equal(wr_dtype_bits((enum weir_dtype)22), 0);
    assert_int_equal(wr_dtype_bytes((enum weir_dtype)22), 0);
    assert_false(wr_dtype_parse("F32", &found));
    assert_false(wr_dtype_parse("", &found));
    assert_false(wr_dtype_find("F31", &found));
    assert_false(wr_dtype_find("f32", &found));
    assert_false(wr_dtype_find("", &found));
    assert_int_equal(found, WEIR_I8);
}

static void check_bytes(weir_tensor t, uint64_t expected)
{
    uint64_t bytes = 99;

    t.name = "w";
    assert_int_equal(wr_tensor_bytes(&t, &bytes, NULL), 0);
    assert_int_equal(bytes, expected);
}

static void test_bytes(void **state)
{
    (void)state;
    check_bytes((weir_tensor){.dtype = WEIR_F64}, 8);
    check_bytes((weir_tensor){.dtype = WEIR_F32, .ndim = 2, .shape = {3, 5}},
                60);
    check_bytes((weir_tensor){.dtype = WEIR_F4, .ndim = 1, .shape = {6}}, 3);
    check_bytes((weir_tensor){.dtype = WEIR_F6_E2M3, .ndim = 1, .shape = {4}},
                3);
    check_bytes((weir_tensor){.dtype = WEIR_U8, .ndim = 2, .shape = {0, 9}}, 0);
    check_bytes((weir_tensor){.dtype = WEIR_U8,
                              .ndim = 8,
                              .shape = {2, 2, 2, 2, 2, 2, 2, 2}},
                256);
    check_bytes((weir_tensor){.dtype = WEIR_U8,
                              .ndim = 2,
                              .shape = {UINT64_C(1) << 30, 1u << 30}},
                UINT64_C(1) << 60);
}

static void check_refused(weir_tensor t, int code, const char *reason)
{
    uint64_t bytes = 99;
    weir_err err = {0};

    t.name = "a\nb";
    assert_int_equal(wr_tensor_bytes(&t, &bytes, &err), code);
    assert_non_null(strstr(err.msg, reason));
    assert_int_equal(strncmp(err.msg, "'a\\x0ab': ", 10), 0);
    assert_int_equal(bytes, 99);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused((weir_tensor){.dtype = (enum weir_dtype)22}, WEIR_EINVAL,
                  "type 22 is unknown");
    check_refused((weir_tensor){.dtype = WEIR_U8, .ndim = 9}, WEIR_ELIMIT,
                  "has 9 dimensions, at most 8");
    check_refused((weir_tensor){.dtype = WEIR_F4, .ndim = 1, .shape = {5}},
                  WEIR_EINVAL, "20 bits of F4 are no whole bytes");
    check_refused((weir_tensor){.dtype = WEIR_F4}, WEIR_EINVAL,
                  "no whole bytes");
    check_refused((weir_tensor){.dtype = WEIR_U8,
                                .ndim = 2,
                                .shape = {UINT64_C(1) << 40, 1u << 30}},
                  WEIR_EINVAL, "overflows");
    check_refused((weir_tensor){.dtype = WEIR_U8,
                                .ndim = 3,
                                .shape = {UINT64_C(1) << 40, 1u << 30, 0}},
                  WEIR_EINVAL, "overflows");
    check_refused((weir_tensor){.dtype = WEIR_F64,
                                .ndim = 1,
                                .shape = {UINT64_C(1) << 60}},
                  WEIR_EINVAL, "overflows"); /* only times its width */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_type),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
