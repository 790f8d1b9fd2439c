/* test_bmp.c - bitmaps: run lengths, odd headers, damage.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Depths, masks and palettes are compared with PIL in tests/interop. */
#include "small_picture.h"

#include "codec/crc32c.h"
#include "corpus.h"

struct bmp {
    uint8_t bytes[512];
    size_t len;
};

static void put32(uint8_t *to, uint32_t v)
{
    for (int k = 0; k < 4; k++)
        to[k] = (uint8_t)(v >> 8 * k);
}

/* A bitmap with the palette black, red, green, blue, and these pixels. */
static struct bmp make(uint32_t w, uint32_t h, uint32_t bits,
                       uint32_t compression, const void *pixels, size_t n)
{
    static const uint8_t palette[] = {0, 0,   0, 0, 0,   0, 255, 0,
                                      0, 255, 0, 0, 255, 0, 0,   0};
    struct bmp b = {.len = 14 + 40 + 16 + n};

    memcpy(b.bytes, "BM", 2);
    put32(b.bytes + 10, 14 + 40 + 16);
    put32(b.bytes + 14, 40);
    put32(b.bytes + 18, w);
    put32(b.bytes + 22, h);
    put32(b.bytes + 26, 1 | bits << 16);
    put32(b.bytes + 30, compression);
    put32(b.bytes + 46, 4);
    memcpy(b.bytes + 54, palette, sizeof(palette));
    memcpy(b.bytes + 70, pixels, n);
    return b;
}

#define BLACK 0, 0, 0
#define RED   255, 0, 0
#define GREEN 0, 255, 0
#define BLUE  0, 0, 255

static void test_rle8(void **state)
{
    /* the lowest row: two red, a blue one as it is (and padding); a step of
     * one to the right and one up; a green one. */
    static const uint8_t rle[] = {2, 1, 0, 3, 3, 2, 1, 0, 0,
                                  0, 0, 2, 1, 1, 1, 2, 0, 1};
    static const uint8_t want[] = {
        BLACK, GREEN, BLACK, BLACK, BLACK, /* y 0: x 1, by the step */
        BLACK, BLACK, BLACK, BLACK, BLACK, RED, RED, BLUE, GREEN, RED,
    };
    struct bmp b = make(5, 3, 8, 1, rle, sizeof(rle));

    check_pixels(b.bytes, b.len, 5, 3, want);
}

static void test_rle4(void **state)
{
    /* three pixels of red and green in turn; three as they are. */
    static const uint8_t rle[] = {3, 0x12, 0, 3, 0x32, 0x10, 0, 1};
    static const uint8_t want[] = {RED, GREEN, RED, BLUE, GREEN, RED};
    struct bmp b = make(6, 1, 4, 2, rle, sizeof(rle));

    check_pixels(b.bytes, b.len, 6, 1, want);
}

static void test_rle_damage(void **state)
{
    static const struct {
        uint8_t rle[8];
        size_t len;
        const char *word;
    } bad[] = {
        {{0, 5, 1, 1}, 4, "truncated"}, /* pixels that are not there */
        {{0, 2, 0, 3}, 4, "outside"},   /* a step out of the picture */
        {{0, 2, 1}, 3, "truncated"},
        {{5, 1, 0, 0, 3, 1}, 6, "truncated"},     /* no end */
        {{0, 0, 0, 0, 0, 0, 0, 1}, 8, "outside"}, /* too many rows */
        {{0, 0, 0, 0, 1, 1, 0, 1}, 8, "outside"}, /* above the top */
        {{5, 1, 5, 2, 0, 1}, 6, "end of line"},   /* rows without an end */
        {{4, 1, 4, 2, 2, 3, 0, 1}, 8, "end of line"},
        {{5, 1, 2, 3, 0, 1}, 6, "end of line"}, /* one more row, of two */
        {{10, 1, 0, 1}, 4, "end of line"},      /* as one run */
    };

    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        struct bmp b = make(5, 2, 8, 1, bad[k].rle, bad[k].len);

        check_refused(b.bytes, b.len, WEIR_EFORMAT, bad[k].word);
    }
}

/* Rows as ImageMagick writes them, padded to whole words, and steps, runs and
 * pixels that reach over the row's end. */
static void test_rle_padded_rows(void **state)
{
    static const uint8_t rle[] = {8, 1, 0, 0, 0, 8, 2, 3, 2, 3, 2, 9,
                                  9, 9, 0, 0, 0, 2, 6, 0, 1, 1, 0, 1};
    static const uint8_t want[] = {BLACK, BLACK, BLACK, BLACK, BLACK,
                                   GREEN, BLUE,  GREEN, BLUE,  GREEN,
                                   RED,   RED,   RED,   RED,   RED};
    struct bmp b = make(5, 3, 8, 1, rle, sizeof(rle));

    check_pixels(b.bytes, b.len, 5, 3, want);
}

static void test_rle4_padded_rows(void **state)
{
    static const uint8_t rle[] = {8, 0x12, 0, 0, 0, 8, 0x32, 0x10, 0, 0, 0, 1};
    static const uint8_t want[] = {BLUE, GREEN, RED, RED, GREEN, RED};
    struct bmp b = make(3, 2, 4, 2, rle, sizeof(rle));

    check_pixels(b.bytes, b.len, 3, 2, want);
}

/* All pixels are there, and no mark of the end: as some programs write. */
static void test_rle_without_end(void **state)
{
    static const uint8_t rle[] = {2, 1, 0, 0, 2, 2};
    static const uint8_t want[] = {GREEN, GREEN, RED, RED};
    struct bmp b = make(2, 2, 8, 1, rle, sizeof(rle));

    check_pixels(b.bytes, b.len, 2, 2, want);
}

/* Files by ImageMagick: the sums are of the pixels that it and PIL decode. */
static void test_rle_by_others(void **state)
{
    static const struct {
        const char *name;
        uint32_t w, h, crc;
    } files[] = {
        {"bmp/imagemagick-palette-5", 5, 5, 0xd335de30},
        {"bmp/imagemagick-palette-6", 6, 5, 0x485984e5},
        {"bmp/imagemagick-palette-7", 7, 5, 0x69b84ff6},
        {"bmp/imagemagick-bilevel-5", 5, 5, 0x0a887068},
        {"bmp/imagemagick-shapes", 37, 20, 0x397f09e6},
        {"bmp/imagemagick-long-runs", 300, 3, 0x38d67771},
    };

    for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
        struct made m = corpus_picture(files[k].name);
        struct wr_picture_decoder *d = NULL;
        struct wr_picture_info info = {0};
        const uint8_t *pixels = NULL;

        assert_int_equal(wr_picture_new(&d, &small_spec, NULL), 0);
        assert_int_equal(
            wr_picture_decode_only(d, m.bytes, m.len, &info, &pixels, NULL), 0);
        assert_int_equal(info.width, files[k].w);
        assert_int_equal(info.height, files[k].h);
        assert_int_equal(
            wr_crc32c(0, pixels, (size_t)info.width * info.height * 3),
            files[k].crc);
        wr_picture_free(d);
        free(m.bytes);
    }
}

/* An index that the palette does not have is black. */
static void test_short_palette(void **state)
{
    static const uint8_t pixels[] = {3, 9, 255, 1};
    static const uint8_t want[] = {BLUE, BLACK, BLACK, RED};
    struct bmp b = make(4, 1, 8, 0, pixels, sizeof(pixels));

    check_pixels(b.bytes, b.len, 4, 1, want);
}

/* The padding of the last row in the file may be missing. */
static void test_last_padding(void **state)
{
    static const uint8_t pixels[] = {1, 0, 0, 0, 2};
    static const uint8_t want[] = {GREEN, RED};
    struct bmp b = make(1, 2, 8, 0, pixels, sizeof(pixels));

    check_pixels(b.bytes, b.len, 1, 2, want);
    check_refused(b.bytes, b.len - 1, WEIR_EFORMAT, "truncated");
}

static void test_header_damage(void **state)
{
    static const uint8_t pixels[16];
    struct bmp b = make(2, 2, 8, 0, pixels, sizeof(pixels));

    for (size_t len = 18; len < 70 + 6; len++)
        check_refused(b.bytes, len, WEIR_EFORMAT, "truncated");
    b = make(0, 2, 8, 0, pixels, sizeof(pixels));
    check_refused(b.bytes, b.len, WEIR_EFORMAT, "0x2");
    b = make(0x80000000u, 2, 8, 0, pixels, sizeof(pixels));
    check_refused(b.bytes, b.len, WEIR_ELIMIT, "limit");
    b = make(2, 0x80000000u, 8, 0, pixels, sizeof(pixels));
    check_refused(b.bytes, b.len, WEIR_ELIMIT, "limit");
    b = make(16000, 16000, 32, 0, pixels, sizeof(pixels));
    check_refused(b.bytes, b.len, WEIR_EFORMAT, "truncated");
    b = make(2, 2, 3, 0, pixels, sizeof(pixels));
    check_refused(b.bytes, b.len, WEIR_EFORMAT, "3 bits");
    b = make(2, 2, 8, 4, pixels, sizeof(pixels));
    check_refused(b.bytes, b.len, WEIR_ENOTSUP, "compression 4");
    b = make(2, 2, 4, 1, pixels, sizeof(pixels));
    check_refused(b.bytes, b.len, WEIR_EFORMAT, "compression 1");
    b = make(2, 0u - 2, 8, 1, pixels, sizeof(pixels));
    check_refused(b.bytes, b.len, WEIR_EFORMAT, "top down");
    b = make(2, 2, 8, 0, pixels, sizeof(pixels));
    put32(b.bytes + 10, 0xffffffffu);
    check_refused(b.bytes, b.len, WEIR_EFORMAT, "truncated");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rle8),
        cmocka_unit_test(test_rle4),
        cmocka_unit_test(test_rle_damage),
        cmocka_unit_test(test_rle_padded_rows),
        cmocka_unit_test(test_rle4_padded_rows),
        cmocka_unit_test(test_rle_without_end),
        cmocka_unit_test(test_rle_by_others),
        cmocka_unit_test(test_short_palette),
        cmocka_unit_test(test_last_padding),
        cmocka_unit_test(test_header_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
