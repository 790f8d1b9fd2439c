/* test_tensorfile.c - headers, byte by byte as docs/formats/wt.md has them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "format/tensor.h"

static uint64_t le(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned k = bytes; k-- > 0;)
        v = v << 8 | p[k];
    return v;
}

static void test_parse(void **state)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "3x",
                                      "x3",
                                      "3xx3",
                                      "0x3",
                                      "-1",
                                      "3x4 ",
                                      "1x1x1x1x1x1x1x1",
                                      "a",
                                      "224x224x3.0",
                                      "65536x65536",
                                      "18446744073709551617",
                                      "1x268435457"};
    struct wr_gen_shape s = {.dtype = WEIR_F16};
    weir_err err;

    (void)state;
    assert_int_equal(wr_gen_shape_parse("224x112x3", &s, &err), 0);
    assert_int_equal(s.dtype, WEIR_F16);
    assert_int_equal(s.ndim, 3);
    assert_int_equal(s.dims[0], 224);
    assert_int_equal(s.dims[1], 112);
    assert_int_equal(s.dims[2], 3);
    assert_int_equal(wr_gen_shape_elements(&s), 224 * 112 * 3);
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        assert_true(wr_gen_shape_parse(bad[k], &s, &err) < 0);
        assert_non_null(strstr(err.msg, "shape"));
        assert_int_equal(s.ndim, 3);
    }
    assert_int_equal(wr_gen_shape_parse("1x2x3x4x5x6x7", &s, &err), 0);
    assert_int_equal(s.ndim, 7);
    assert_int_equal(wr_gen_shape_parse("1x268435456", &s, &err), 0);
}

static void test_wt(void **state)
{
    struct wr_gen_shape s = {.dtype = WEIR_U8, .ndim = 2, .dims = {5, 7}};
    struct wr_tensor_bytes head;
    uint32_t labels[1000];

    (void)state;
    for (uint32_t k = 0; k < 1000; k++)
        labels[k] = k * 70000;
    assert_int_equal(wr_tensor_wt_header(&s, 1000, labels, &head, NULL), 0);
    assert_int_equal(head.len, 8192); /* 128 + 4000, rounded up */
    assert_memory_equal(head.bytes, "WEIRTNS1", 8);
    assert_int_equal(le(head.bytes + 8, 4), 1);
    assert_int_equal(le(head.bytes + 12, 4), 2);
    assert_int_equal(le(head.bytes + 16, 4), 2);
    assert_int_equal(le(head.bytes + 20, 4), 1);
    assert_int_equal(le(head.bytes + 24, 8), 1000);
    assert_int_equal(le(head.bytes + 64, 8), 5);
    assert_int_equal(le(head.bytes + 72, 8), 7);
    for (unsigned k = 32; k < 128; k++)
        assert_true((k >= 64 && k < 80) || head.bytes[k] == 0);
    for (uint32_t k = 0; k < 1000; k++)
        assert_int_equal(le(head.bytes + 128 + 4 * k, 4), labels[k]);
    for (size_t k = 128 + 4000; k < head.len; k++)
        assert_int_equal(head.bytes[k], 0);
    free(head.bytes);
    assert_int_equal(wr_tensor_wt_header(&s, 1000, NULL, &head, NULL), 0);
    assert_int_equal(head.len, 4096);
    assert_int_equal(le(head.bytes + 20, 4), 0);
    free(head.bytes);
}

static void check_npy(const struct wr_tensor_bytes *head, size_t data,
                      const char *dict)
{
    assert_memory_equal(head->bytes, "\x93NUMPY\x01\x00", 8);
    assert_int_equal(le(head->bytes + 8, 2) + 10, data);
    assert_int_equal(data % 64, 0);
    assert_memory_equal(head->bytes + 10, dict, strlen(dict));
    for (size_t k = 10 + strlen(dict); k < data - 1; k++)
        assert_int_equal(head->bytes[k], ' ');
    assert_int_equal(head->bytes[data - 1], '\n');
}

static void test_npy(void **state)
{
    struct wr_gen_shape s = {.dtype = WEIR_F32, .ndim = 2, .dims = {5, 7}};
    uint32_t labels[3] = {1, 2, 0xfffffffe};
    struct wr_tensor_bytes head;

    (void)state;
    assert_int_equal(wr_tensor_npy_header(&s, 12, &head, NULL), 0);
    check_npy(
        &head, head.len,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 5, 7), }");
    free(head.bytes);
    assert_int_equal(wr_tensor_npy_labels(labels, 3, &head, NULL), 0);
    check_npy(&head, head.len - 12,
              "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }");
    assert_int_equal(le(head.bytes + head.len - 4, 4), 0xfffffffe);
    free(head.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_wt),
        cmocka_unit_test(test_npy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
