/* test_wt.c - headers of .wt files, good and bad.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "format/tensor.h"

static void put32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, 4);
}

static void put64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, 8);
}

/* 100 pictures of 8x4x3 u8 with labels: 4096 + 9600 bytes. */
static void good_header(uint8_t *h)
{
    memset(h, 0, WR_WT_HEADER);
    memcpy(h, WR_WT_MAGIC, 8);
    put32(h + 8, 1);
    put32(h + 12, 2);
    put32(h + 16, 3);
    put32(h + 20, 1);
    put64(h + 24, 100);
    put64(h + 64, 8);
    put64(h + 72, 4);
    put64(h + 80, 3);
}

#define GOOD_SIZE (4096 + 9600)

static void test_good(void **state)
{
    uint8_t h[WR_WT_HEADER];
    struct wr_tensor_file t;

    (void)state;
    good_header(h);
    assert_int_equal(wr_wt_parse(h, sizeof(h), GOOD_SIZE, &t, NULL), 0);
    assert_int_equal(t.count, 100);
    assert_int_equal(t.shape.dtype, WEIR_U8);
    assert_int_equal(t.shape.ndim, 3);
    assert_int_equal(t.shape.dims[0], 8);
    assert_int_equal(t.shape.dims[2], 3);
    assert_int_equal(t.data_offset, 4096);
    assert_int_equal(t.labels_offset, 128);
    assert_int_equal(t.sample_bytes, 96);

    put64(h + 24, 10000); /* labels now take ten pages */
    assert_int_equal(wr_wt_parse(h, sizeof(h), 40960 + 960000, &t, NULL), 0);
    assert_int_equal(t.data_offset, 40960);

    good_header(h);
    put32(h + 12, 0);
    put32(h + 16, 0); /* scalars without labels */
    put32(h + 20, 0);
    memset(h + 64, 0, 56);
    assert_int_equal(wr_wt_parse(h, sizeof(h), 4096 + 400, &t, NULL), 0);
    assert_int_equal(t.labels_offset, 0);
    assert_int_equal(t.sample_bytes, 4);
}

static void check_bad(unsigned at, uint64_t value, unsigned bytes, int code)
{
    uint8_t h[WR_WT_HEADER];
    struct wr_tensor_file t = {.count = 77};
    weir_err err;

    good_header(h);
    if (bytes == 4)
        put32(h + at, (uint32_t)value);
    else
        put64(h + at, value);
    assert_int_equal(wr_wt_parse(h, sizeof(h), GOOD_SIZE, &t, &err), code);
    assert_int_equal(t.count, 77); /* untouched on failure */
    assert_true(strlen(err.msg) > 0);
}

static void test_bad_fields(void **state)
{
    (void)state;
    check_bad(0, 0, 4, WEIR_EFORMAT);
    check_bad(8, 2, 4, WEIR_ENOTSUP);
    check_bad(12, 3, 4, WEIR_EFORMAT);
    check_bad(16, 8, 4, WEIR_EFORMAT);
    check_bad(16, UINT32_MAX, 4, WEIR_EFORMAT);
    check_bad(16, 2, 4, WEIR_EFORMAT); /* a dimension too many is set */
    check_bad(20, 3, 4, WEIR_EFORMAT);
    check_bad(24, 99, 8, WEIR_EFORMAT);
    check_bad(24, 101, 8, WEIR_EFORMAT);
    check_bad(24, UINT64_MAX, 8, WEIR_EFORMAT);
    check_bad(24, UINT64_MAX / 4 + 1, 8, WEIR_EFORMAT); /* labels overflow */
    check_bad(64, 0, 8, WEIR_EFORMAT);
    check_bad(64, UINT64_MAX, 8, WEIR_EFORMAT);
    check_bad(64, UINT64_C(1) << 40, 8, WEIR_ELIMIT);
    check_bad(88, 1, 8, WEIR_EFORMAT);
}

static void test_truncated(void **state)
{
    uint8_t h[WR_WT_HEADER];
    struct wr_tensor_file t;

    (void)state;
    good_header(h);
    for (size_t n = 0; n < sizeof(h); n++) {
        uint8_t *cut = malloc(n + !n);

        memcpy(cut, h, n);
        assert_int_equal(wr_wt_parse(cut, n, n, &t, NULL), WEIR_EFORMAT);
        free(cut);
    }
    assert_int_equal(wr_wt_parse(h, sizeof(h), GOOD_SIZE - 1, &t, NULL),
                     WEIR_EFORMAT);
    assert_int_equal(wr_wt_parse(h, sizeof(h), GOOD_SIZE + 1, &t, NULL),
                     WEIR_EFORMAT);
    assert_int_equal(wr_wt_parse(h, sizeof(h), 128, &t, NULL), WEIR_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad_fields),
        cmocka_unit_test(test_truncated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
