/* test_jpeg_rows.c - rows of a JPEG, taken apart and put together.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "codec/jpegenc.h"
#include "decode.h"
#include "gen/jpeg_rows.h"

#define WIDTH  75
#define HEIGHT 96

struct encoded {
    uint8_t *bytes;
    size_t len;
};

static struct encoded encode(uint32_t channels, bool full_chroma,
                             unsigned quality)
{
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    struct wr_jpegenc_picture pic = {.pixels = pixels,
                                     .width = WIDTH,
                                     .height = HEIGHT,
                                     .channels = channels,
                                     .quality = quality,
                                     .full_chroma = full_chroma};
    struct encoded ret;
    struct wr_jpegenc *e;
    const uint8_t *bytes;

    for (size_t k = 0; k < sizeof(pixels); k++)
        pixels[k] = (uint8_t)(wr_rng_at(1, 2, k / 5) ^ k / 700);
    assert_int_equal(wr_jpegenc_new(&e, NULL), 0);
    assert_int_equal(wr_jpegenc_encode(e, &pic, &bytes, &ret.len, NULL), 0);
    ret.bytes = malloc(ret.len);
    memcpy(ret.bytes, bytes, ret.len);
    wr_jpegenc_free(e);
    return ret;
}

/* The picture with its rows turned round by `turn`. */
static struct encoded join(const struct encoded *from,
                           const struct wr_jpeg_rows *r, size_t turn)
{
    struct wr_jpeg_bits b = {0};
    struct encoded ret;
    size_t room = r->head_len + 2;

    for (size_t y = 0; y < r->count; y++)
        room += wr_jpeg_row_room(&r->rows[y]);
    ret.bytes = malloc(room);
    memcpy(ret.bytes, from->bytes, r->head_len);
    b.out = ret.bytes + r->head_len;
    for (size_t y = 0; y < r->count; y++)
        wr_jpeg_bits_row(&b, r, &r->rows[(y + turn) % r->count]);
    wr_jpeg_bits_end(&b);
    memcpy(b.out, "\xff\xd9", 2);
    ret.len = (size_t)(b.out + 2 - ret.bytes);
    assert_true(ret.len <= room);
    return ret;
}

static void check(uint32_t channels, bool full_chroma, unsigned quality,
                  unsigned side)
{
    struct encoded e = encode(channels, full_chroma, quality), again, turned;
    size_t line = (size_t)WIDTH * channels;
    struct wr_jpeg_rows r;
    struct decoded a, b;

    assert_int_equal(wr_jpeg_rows_find(e.bytes, e.len, &r, NULL), 0);
    assert_int_equal(r.width, WIDTH);
    assert_int_equal(r.height, HEIGHT);
    assert_int_equal(r.count, HEIGHT / side);
    assert_int_equal(r.components, channels);
    /* In their own order they are the same bytes. */
    again = join(&e, &r, 0);
    assert_int_equal(again.len, e.len);
    assert_memory_equal(again.bytes, e.bytes, e.len);
    /* In another one they are the same pixels, elsewhere. Colour of 4:2:0 is
     * smoothed across rows, and is not compared. */
    turned = join(&e, &r, 2);
    assert_int_equal(decode(e.bytes, e.len, &a), 0);
    assert_int_equal(decode(turned.bytes, turned.len, &b), 0);
    assert_int_equal(b.warnings, 0);
    for (unsigned y = 0; side == 8 && y < HEIGHT; y++)
        assert_memory_equal(b.pixels + y * line,
                            a.pixels + (y + 2 * side) % HEIGHT * line, line);
    free(a.pixels);
    free(b.pixels);
    free(e.bytes);
    free(again.bytes);
    free(turned.bytes);
    wr_jpeg_rows_done(&r);
}

static void test_rows(void **state)
{
    (void)state;
    for (unsigned quality = 30; quality <= 100; quality += 10) {
        check(1, false, quality, 8);
        check(3, true, quality, 8);
        check(3, false, quality, 16);
    }
}

/* Cut or changed anywhere, it is refused or read as something else. */
static void test_broken(void **state)
{
    struct encoded e = encode(3, false, 90);
    struct wr_jpeg_rows r;

    (void)state;
    for (size_t k = 0; k < e.len - 8; k += 3) {
        uint8_t *cut = malloc(k + 1);

        memcpy(cut, e.bytes, k);
        assert_int_equal(wr_jpeg_rows_find(cut, k, &r, NULL), WEIR_EFORMAT);
        free(cut);
    }
    for (size_t k = 0; k < e.len; k++) {
        e.bytes[k] ^= 0x55;
        if (wr_jpeg_rows_find(e.bytes, e.len, &r, NULL) == 0)
            wr_jpeg_rows_done(&r);
        e.bytes[k] ^= 0x55;
    }
    free(e.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_broken),
    };

    return cmocka_run_group_tests_name("jpeg_rows", tests, NULL, NULL);
}
