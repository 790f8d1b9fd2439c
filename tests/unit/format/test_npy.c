/* test_npy.c - headers of .npy files, good and bad.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/npz.h"

/* Builds a header of this version around `dict`; returns its length. */
static size_t build(uint8_t *buf, unsigned version, const char *dict)
{
    size_t len = strlen(dict), prefix = version == 1 ? 10 : 12;

    memset(buf, 0, 12);
    memcpy(buf, "\x93NUMPY", 6);
    buf[6] = (uint8_t)version;
    buf[8] = (uint8_t)(len & 255);
    buf[9] = (uint8_t)(len >> 8);
    memcpy(buf + prefix, dict, len);
    return prefix + len;
}

/* Parses from memory of exactly that size. */
static int parse(unsigned version, const char *dict, struct wr_npy *ret,
                 weir_err *err)
{
    uint8_t buf[1024], *exact;
    size_t len = build(buf, version, dict);
    int r;

    exact = malloc(len);
    memcpy(exact, buf, len);
    r = wr_npy_parse(exact, len, ret, err);
    free(exact);
    return r;
}

#define DICT(descr, order, shape)                                              \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

static void test_good(void **state)
{
    struct wr_npy npy;

    (void)state;
    for (unsigned version = 1; version <= 3; version++) {
        assert_int_equal(
            parse(version, DICT("'<f4'", "False", "(10, 28, 28)"), &npy, NULL),
            0);
        assert_string_equal(npy.descr, "<f4");
        assert_int_equal(npy.ndim, 3);
        assert_int_equal(npy.shape[0], 10);
        assert_int_equal(npy.shape[2], 28);
    }
    assert_int_equal(parse(1,
                           "{\"shape\":(7,),\"fortran_order\":False,"
                           "\"descr\":\"|u1\"}   \n",
                           &npy, NULL),
                     0);
    assert_int_equal(npy.ndim, 1);
    assert_int_equal(parse(1, DICT("'<f2'", "False", "(3L, 4L)"), &npy, NULL),
                     0);
    assert_int_equal(parse(1, DICT("'<f2'", "False", "()"), &npy, NULL), 0);
    assert_int_equal(npy.ndim, 0);
}

static void test_bad_text(void **state)
{
    static const char *const dicts[] = {
        "",
        "{",
        "{}",
        "[]",
        "{'descr'",
        "{'descr':",
        "{'descr': 1}",
        DICT("'<f4'", "false", "(1,)"),
        DICT("'<f4'", "0", "(1,)"),
        DICT("'<f4'", "False", "(-1, 3)"),
        DICT("'<f4'", "False", "(1"),
        DICT("'<f4'", "False", "(1.5,)"),
        DICT("'<f4'", "False", "(1 2)"),
        DICT("'<f4'", "False", "[1, 2]"),
        DICT("'<f4'", "False", "(99999999999999999999,)"),
        DICT("'<f4", "False", "(1,)"),
        DICT("'a name that is much too long for it'", "False", "(1,)"),
        DICT("'\\x3c'", "False", "(1,)"),
        ("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
         "'shape': (1,)}"),
        "{'descr': '<f4', 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
        "__import__('os').system('true')",
        "{'descr': __import__('os'), 'fortran_order': False, 'shape': ()}",
    };
    struct wr_npy npy;
    weir_err err;

    (void)state;
    for (size_t k = 0; k < sizeof(dicts) / sizeof(dicts[0]); k++)
        if (parse(1, dicts[k], &npy, &err) != WEIR_EFORMAT)
            fail_msg("taken: %s", dicts[k]);
}

static void test_types(void **state)
{
    static const struct {
        const char *descr;
        enum weir_dtype dtype;
        bool big; /* endian */
    } types[] = {
        {"|b1", WEIR_BOOL, false}, {"|i1", WEIR_I8, false},
        {"|u1", WEIR_U8, false},   {">u1", WEIR_U8, false},
        {"<i2", WEIR_I16, false},  {">i2", WEIR_I16, true},
        {"<u2", WEIR_U16, false},  {">u2", WEIR_U16, true},
        {"<i4", WEIR_I32, false},  {">i4", WEIR_I32, true},
        {"<u4", WEIR_U32, false},  {">u4", WEIR_U32, true},
        {"<i8", WEIR_I64, false},  {">i8", WEIR_I64, true},
        {"<u8", WEIR_U64, false},  {">u8", WEIR_U64, true},
        {"<f2", WEIR_F16, false},  {">f2", WEIR_F16, true},
        {"<f4", WEIR_F32, false},  {">f4", WEIR_F32, true},
        {"<f8", WEIR_F64, false},  {">f8", WEIR_F64, true},
        {"<c8", WEIR_C64, false},  {">c8", WEIR_C64, true},
    };
    struct wr_npy npy;
    char dict[128];

    (void)state;
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
        snprintf(dict, sizeof(dict),
                 "{'descr': '%s', 'fortran_order': %s, 'shape': (2, 3)}",
                 types[k].descr, k % 2 ? "True" : "False");
        assert_int_equal(parse(1, dict, &npy, NULL), 0);
        assert_int_equal(npy.dtype, types[k].dtype);
        assert_int_equal(npy.swap, types[k].big);
        assert_int_equal(npy.fortran, k % 2);
        assert_string_equal(wr_npy_type(npy.dtype), types[k].descr + 1);
    }
    assert_null(wr_npy_type(WEIR_BF16));
}

static void refuse(const char *dict, const char *why)
{
    struct wr_npy npy;
    weir_err err;

    assert_int_equal(parse(1, dict, &npy, &err), WEIR_ENOTSUP);
    if (!strstr(err.msg, why))
        fail_msg("'%s', not '%s'", err.msg, why);
}

static void test_refused(void **state)
{
    struct wr_npy npy;
    weir_err err;

    (void)state;
    refuse(DICT("[('a', '<f4')]", "False", "(1,)"), "structured");
    refuse(DICT("'<f4'", "False", "(1,2,3,4,5,6,7,8,9)"), "dimensions");
    refuse(DICT("'|O'", "False", "(1,)"), "'|O' holds Python objects");
    refuse(DICT("'<U5'", "False", "(1,)"), "holds strings");
    refuse(DICT("'|S5'", "False", "(1,)"), "holds strings");
    refuse(DICT("'|V8'", "False", "(1,)"), "without a type");
    refuse(DICT("'<M8[ns]'", "False", "(1,)"), "holds dates");
    refuse(DICT("'<m8[s]'", "False", "(1,)"), "holds times");
    refuse(DICT("'<c16'", "False", "(1,)"), "'<c16' is none of");
    refuse(DICT("'<f16'", "False", "(1,)"), "'<f16' is none of");
    refuse(DICT("''", "False", "(1,)"), "'' is none of");
    refuse(DICT("'f4'", "False", "(1,)"), "'f4' is none of");
    assert_int_equal(parse(4, DICT("'<f4'", "False", "(1,)"), &npy, &err),
                     WEIR_ENOTSUP);
}

static void test_truncated(void **state)
{
    uint8_t buf[1024];
    size_t len = build(buf, 1, DICT("'<f4'", "False", "(10, 28)"));
    struct wr_npy npy;

    (void)state;
    for (size_t n = 0; n < len; n++) {
        uint8_t *cut = malloc(n + !n);

        memcpy(cut, buf, n);
        assert_int_equal(wr_npy_parse(cut, n, &npy, NULL), WEIR_EFORMAT);
        free(cut);
    }
    memset(buf + 8, 0xff, 4); /* a header of 4 GiB */
    buf[6] = 2;
    assert_int_equal(wr_npy_parse(buf, len, &npy, NULL), WEIR_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
