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

#include "format/npy.h"

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
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
        "'shape': (1,)}",
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

static void test_refused(void **state)
{
    struct wr_tensor_file t;
    struct wr_npy npy;
    weir_err err;

    (void)state;
    assert_int_equal(parse(1, DICT("'<f4'", "True", "(1, 2)"), &npy, &err),
                     WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "Fortran"));
    assert_int_equal(
        parse(1, DICT("[('a', '<f4')]", "False", "(1,)"), &npy, &err),
        WEIR_ENOTSUP);
    assert_int_equal(
        parse(1, DICT("'<f4'", "False", "(1,2,3,4,5,6,7,8,9)"), &npy, &err),
        WEIR_ENOTSUP);
    assert_int_equal(parse(4, DICT("'<f4'", "False", "(1,)"), &npy, &err),
                     WEIR_ENOTSUP);
    assert_int_equal(parse(1, DICT("'>f4'", "False", "(1,)"), &npy, &err), 0);
    assert_int_equal(wr_npy_tensor(&npy, 1000, &t, &err), WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "big-endian"));
    parse(1, DICT("'|O'", "False", "(1,)"), &npy, &err);
    assert_int_equal(wr_npy_tensor(&npy, 1000, &t, &err), WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "objects"));
    parse(1, DICT("'<f8'", "False", "(1,)"), &npy, &err);
    assert_int_equal(wr_npy_tensor(&npy, 1000, &t, &err), WEIR_ENOTSUP);
    parse(1, DICT("'<f4'", "False", "()"), &npy, &err);
    assert_int_equal(wr_npy_tensor(&npy, 1000, &t, &err), WEIR_EFORMAT);
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

static int tensor(const char *dict, uint64_t data_bytes,
                  struct wr_tensor_file *ret, weir_err *err)
{
    struct wr_npy npy;

    assert_int_equal(parse(1, dict, &npy, NULL), 0);
    return wr_npy_tensor(&npy, npy.data_offset + data_bytes, ret, err);
}

static void test_sizes(void **state)
{
    struct wr_tensor_file t;
    weir_err err;

    (void)state;
    assert_int_equal(
        tensor(DICT("'<f4'", "False", "(10, 3, 2)"), 240, &t, &err), 0);
    assert_int_equal(t.count, 10);
    assert_int_equal(t.sample_bytes, 24);
    assert_int_equal(t.shape.ndim, 2);
    assert_int_equal(t.shape.dims[1], 2);
    assert_int_equal(
        tensor(DICT("'<f4'", "False", "(10, 3, 2)"), 239, &t, &err),
        WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "truncated"));
    assert_int_equal(tensor(DICT("'|u1'", "False", "(10, 0)"), 100, &t, &err),
                     WEIR_EFORMAT);
    assert_int_equal(
        tensor(DICT("'|u1'", "False", "(4294967296, 4294967296, 1)"), 100, &t,
               &err),
        WEIR_ELIMIT);
    assert_int_equal(
        tensor(DICT("'|u1'", "False", "(1, 4294967296, 4294967296)"), 100, &t,
               &err),
        WEIR_EFORMAT);
    assert_int_equal(tensor(DICT("'<f4'", "False", "(18446744073709551615, 2)"),
                            100, &t, &err),
                     WEIR_EFORMAT);
    assert_int_equal(tensor(DICT("'|u1'", "False", "(0, 4)"), 0, &t, &err), 0);
}

static void test_labels(void **state)
{
    struct wr_npy npy;
    weir_err err;

    (void)state;
    parse(1, DICT("'<i8'", "False", "(5,)"), &npy, NULL);
    assert_int_equal(wr_npy_labels(&npy, npy.data_offset + 40, 5, &err), 8);
    assert_int_equal(wr_npy_labels(&npy, npy.data_offset + 39, 5, &err),
                     WEIR_EFORMAT);
    assert_int_equal(wr_npy_labels(&npy, npy.data_offset + 40, 4, &err),
                     WEIR_EFORMAT);
    parse(1, DICT("'<u4'", "False", "(5,)"), &npy, NULL);
    assert_int_equal(wr_npy_labels(&npy, npy.data_offset + 20, 5, &err), 4);
    parse(1, DICT("'<f4'", "False", "(5,)"), &npy, NULL);
    assert_int_equal(wr_npy_labels(&npy, npy.data_offset + 20, 5, &err),
                     WEIR_ENOTSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
