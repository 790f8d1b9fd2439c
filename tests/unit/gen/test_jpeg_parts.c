/* test_jpeg_parts.c - a JPEG is taken apart at its restart markers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/jpegenc.h"
#include "gen/jpeg_noise.h"

static void encode(unsigned blocks, uint8_t **ret, size_t *len)
{
    static uint8_t pixels[100 * 100 * 3];
    struct wr_jpegenc_picture pic = {.pixels = pixels,
                                     .width = 100,
                                     .height = 100,
                                     .channels = 3,
                                     .quality = 90,
                                     .restart = blocks};
    const uint8_t *bytes;
    struct wr_jpegenc *e;

    for (size_t k = 0; k < sizeof(pixels); k++)
        pixels[k] = (uint8_t)(k * 7919 >> 3);
    assert_int_equal(wr_jpegenc_new(&e, NULL), 0);
    assert_int_equal(wr_jpegenc_encode(e, &pic, &bytes, len, NULL), 0);
    *ret = malloc(*len);
    memcpy(*ret, bytes, *len);
    wr_jpegenc_free(e);
}

static void check(unsigned blocks, size_t count)
{
    struct wr_jpeg_parts p;
    uint8_t *bytes;
    size_t len, sum;

    encode(blocks, &bytes, &len);
    assert_int_equal(wr_jpeg_parts_find(bytes, len, &p, NULL), 0);
    assert_int_equal(p.count, count);
    sum = p.head_len;
    for (size_t k = 0; k < p.count; k++) {
        assert_int_equal(p.intervals[k].at, sum);
        sum += p.intervals[k].len + 2; /* and a marker */
    }
    assert_int_equal(sum, len);
    assert_int_equal(bytes[p.soi_len], 0xff);
    wr_jpeg_parts_done(&p);
    free(bytes);
}

static void test_parts(void **state)
{
    (void)state;
    check(7, 7);  /* rows of 16 pixels */
    check(10, 5); /* 7x7 blocks, ten by ten */
    check(0, 1);
}

/* Cut anywhere, it is refused and nothing is left. */
static void test_cut(void **state)
{
    struct wr_jpeg_parts p;
    uint8_t *bytes;
    size_t len;

    (void)state;
    encode(7, &bytes, &len);
    for (size_t k = 0; k < len; k += 13) {
        uint8_t *cut = malloc(k + 1);

        memcpy(cut, bytes, k);
        assert_int_equal(wr_jpeg_parts_find(cut, k, &p, NULL), WEIR_EFORMAT);
        free(cut);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_cut),
    };

    return cmocka_run_group_tests_name("jpeg_parts", tests, NULL, NULL);
}
