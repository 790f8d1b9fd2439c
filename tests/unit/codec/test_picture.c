/* test_picture.c - every kind of picture, whole, cropped and damaged.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "codec/kernel.h"
#include "codec/picture.h"
#include "make_picture.h"

static const weir_picture_config u8_64 = {
    .width = 64, .height = 48, .channels = 3, .dtype = WEIR_U8};

/* A slot that ends where the process has no memory. */
struct guarded {
    uint8_t *map, *slot;
    size_t map_bytes;
};

static struct guarded guarded_new(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct guarded g = {.map_bytes = (bytes + 2 * page - 1) / page * page};

    g.map = mmap(NULL, g.map_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(g.map, MAP_FAILED);
    assert_int_equal(mprotect(g.map + g.map_bytes - page, page, PROT_NONE), 0);
    g.slot = g.map + g.map_bytes - page - bytes;
    return g;
}

static int decode(const weir_picture_config *spec, struct made m,
                  const struct wr_picture_crop *crop, uint8_t *slot,
                  weir_err *err)
{
    struct wr_picture_decoder *d = NULL;
    int r = wr_picture_new(&d, spec, err);

    assert_int_equal(r, 0);
    r = wr_picture_decode(d, m.bytes, m.len, crop, slot, NULL, err);
    wr_picture_free(d);
    return r;
}

static const struct make_jpeg jpegs[] = {
    {.width = 200, .height = 150, .color = MAKE_RGB, .h_samp = 2, .v_samp = 2},
    {.width = 201, .height = 149, .color = MAKE_RGB, .h_samp = 2, .v_samp = 1},
    {.width = 99, .height = 203, .color = MAKE_RGB, .h_samp = 1, .v_samp = 2},
    {.width = 64, .height = 48, .color = MAKE_RGB},
    {.width = 130, .height = 70, .color = MAKE_RGB, .h_samp = 4, .v_samp = 1},
    {.width = 77, .height = 55, .color = MAKE_GRAY},
    {.width = 90, .height = 60, .color = MAKE_CMYK},
    {.width = 90, .height = 60, .color = MAKE_YCCK},
    {.width = 150,
     .height = 200,
     .color = MAKE_RGB,
     .h_samp = 2,
     .v_samp = 2,
     .progressive = 1},
    {.width = 80, .height = 80, .color = MAKE_RGB, .arithmetic = 1},
    {.width = 80, .height = 80, .color = MAKE_RGB, .restart_rows = 1},
    {.width = 1, .height = 1, .color = MAKE_RGB, .h_samp = 2, .v_samp = 2},
    {.width = 3, .height = 200, .color = MAKE_RGB, .h_samp = 2, .v_samp = 2},
    {.width = 700, .height = 520, .color = MAKE_RGB, .h_samp = 2, .v_samp = 2},
};
#define JPEGS (sizeof(jpegs) / sizeof(jpegs[0]))

static double mean_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += abs(a[i] - b[i]);
    return sum / (double)n;
}

/* A tensor of the picture's own size must be the decoded picture. */
static void check_identity(struct made m, uint32_t w, uint32_t h)
{
    weir_picture_config spec = {
        .width = w, .height = h, .channels = 3, .dtype = WEIR_U8};
    struct wr_picture_decoder *d = NULL;
    struct wr_picture_info info = {0};
    const uint8_t *pixels = NULL;
    size_t bytes = wr_picture_slot_bytes(&spec);
    uint8_t *slot = malloc(bytes);

    assert_int_equal(wr_picture_new(&d, &spec, NULL), 0);
    assert_int_equal(
        wr_picture_decode(d, m.bytes, m.len, NULL, slot, NULL, NULL), 0);
    assert_int_equal(
        wr_picture_decode_only(d, m.bytes, m.len, &info, &pixels, NULL), 0);
    assert_int_equal(info.width, w);
    assert_int_equal(info.height, h);
    assert_memory_equal(slot, pixels, bytes);
    wr_picture_free(d);
    free(slot);
}

static void test_jpeg_kinds(void **state)
{
    weir_picture_config fast = u8_64;
    uint8_t a[64 * 48 * 3], b[64 * 48 * 3];
    weir_err err;

    fast.decode = WEIR_DECODE_FAST;
    for (size_t i = 0; i < JPEGS; i++) {
        struct made m = make_jpeg(&jpegs[i]);

        check_identity(m, jpegs[i].width, jpegs[i].height);
        assert_int_equal(decode(&u8_64, m, NULL, a, &err), 0);
        assert_int_equal(decode(&fast, m, NULL, b, &err), 0);
        if (mean_difference(a, b, sizeof(a)) > 3)
            fail_msg("JPEG %zu: fast differs by %g", i,
                     mean_difference(a, b, sizeof(a)));
        free(m.bytes);
    }
}

static void test_jpeg_is_what_was_encoded(void **state)
{
    const struct make_jpeg how = {.width = 64, .height = 48, .color = MAKE_RGB};
    struct made m = make_jpeg(&how);
    uint8_t got[64 * 48 * 3], want[64 * 48 * 3];
    weir_err err;

    for (size_t i = 0; i < sizeof(want); i++)
        want[i] = make_value((uint32_t)(i / 3 % 64), (uint32_t)(i / 3 / 64),
                             (uint32_t)(i % 3));
    assert_int_equal(decode(&u8_64, m, NULL, got, &err), 0);
    assert_true(mean_difference(got, want, sizeof(got)) < 6);
    free(m.bytes);
}

static void png_expected(const struct make_png *how, uint32_t x, uint32_t y,
                         uint8_t rgb[3])
{
    unsigned shift = how->bit_depth < 8 ? 8u - how->bit_depth : 0;
    unsigned top = (1u << (8 - shift)) - 1;

    for (uint32_t c = 0; c < 3; c++) {
        bool color = how->color_type & 2 && how->color_type != 3;
        unsigned v = make_value(x, y, color ? c : 0);

        v >>= shift;
        if (how->color_type == 3) {
            const uint8_t entry[3] = {(uint8_t)v, (uint8_t)(255 - v),
                                      (uint8_t)(v * 3)};

            v = entry[c];
        } else {
            v = v * 255 / top;
        }
        rgb[c] = (uint8_t)v;
    }
}

static void test_png_kinds(void **state)
{
    static const struct make_png kinds[] = {
        {50, 40, 0, 1, 0},  {50, 40, 0, 2, 0},  {50, 40, 0, 4, 0},
        {50, 40, 0, 8, 0},  {50, 40, 0, 16, 0}, {50, 40, 2, 8, 0},
        {50, 40, 2, 16, 0}, {50, 40, 3, 1, 0},  {51, 40, 3, 2, 0},
        {53, 40, 3, 4, 0},  {50, 40, 3, 8, 0},  {50, 40, 4, 8, 0},
        {50, 40, 4, 16, 0}, {50, 40, 6, 8, 0},  {50, 40, 6, 16, 0},
        {1, 1, 2, 8, 0},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct made m = make_png(&kinds[i]);
        struct wr_picture_decoder *d = NULL;
        const uint8_t *pixels = NULL;
        uint8_t rgb[3];

        if (!m.len) {
            free(m.bytes);
            skip();
        }
        check_identity(m, kinds[i].width, kinds[i].height);
        assert_int_equal(wr_picture_new(&d, &u8_64, NULL), 0);
        assert_int_equal(
            wr_picture_decode_only(d, m.bytes, m.len, NULL, &pixels, NULL), 0);
        for (uint32_t y = 0; y < kinds[i].height; y++)
            for (uint32_t x = 0; x < kinds[i].width; x++) {
                png_expected(&kinds[i], x, y, rgb);
                assert_memory_equal(rgb, pixels + 3 * (y * kinds[i].width + x),
                                    3);
            }
        wr_picture_free(d);
        free(m.bytes);
    }
}

/* Cropping while decoding must be decoding and then cropping. */
static void check_crop(struct made m, uint32_t width, uint32_t height,
                       struct wr_rng *rng)
{
    struct wr_picture_decoder *d = NULL;
    weir_picture_config spec = {.channels = 3, .dtype = WEIR_U8};
    const uint8_t *pixels = NULL;
    struct wr_picture_crop c = {0};
    struct guarded g;

    c.width = 1 + (uint32_t)wr_rng_below(rng, width);
    c.height = 1 + (uint32_t)wr_rng_below(rng, height);
    c.x = (uint32_t)wr_rng_below(rng, width - c.width + 1);
    c.y = (uint32_t)wr_rng_below(rng, height - c.height + 1);
    spec.width = c.width;
    spec.height = c.height;
    g = guarded_new(wr_picture_slot_bytes(&spec));
    assert_int_equal(wr_picture_new(&d, &spec, NULL), 0);
    assert_int_equal(
        wr_picture_decode_only(d, m.bytes, m.len, NULL, &pixels, NULL), 0);
    assert_int_equal(
        wr_picture_decode(d, m.bytes, m.len, &c, g.slot, NULL, NULL), 0);
    for (uint32_t y = 0; y < c.height; y++)
        if (memcmp(g.slot + (size_t)y * c.width * 3,
                   pixels + ((size_t)(c.y + y) * width + c.x) * 3,
                   (size_t)c.width * 3))
            fail_msg("crop %ux%u+%u+%u of %ux%u differs in row %u", c.width,
                     c.height, c.x, c.y, width, height, y);
    wr_picture_free(d);
    munmap(g.map, g.map_bytes);
}

static void test_crop_is_decode_then_crop(void **state)
{
    const struct make_png png = {97, 61, 2, 8, 0};
    struct wr_rng rng = {.seed = 11};
    struct made m;

    for (size_t i = 0; i < JPEGS; i++) {
        m = make_jpeg(&jpegs[i]);
        for (int k = 0; k < 25; k++)
            check_crop(m, jpegs[i].width, jpegs[i].height, &rng);
        free(m.bytes);
    }
    m = make_png(&png);
    for (int k = 0; k < 25 && m.len; k++)
        check_crop(m, png.width, png.height, &rng);
    free(m.bytes);
}

static void test_bad_crop(void **state)
{
    const struct wr_picture_crop outside = {
        .x = 10, .y = 10, .width = 200, .height = 1};
    struct made m = make_jpeg(&jpegs[0]);
    uint8_t slot[64 * 48 * 3];
    weir_err err;

    assert_int_equal(decode(&u8_64, m, &outside, slot, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "crop"));
    free(m.bytes);
}

/* Every length short of the whole is refused, with a reason; `tail` bytes at
 * the end are no part of the picture (the checksum of PNG's last chunk, JPEG's
 * end marker). */
static void check_truncated(struct made m, size_t step, size_t tail)
{
    struct wr_picture_decoder *d = NULL;
    uint8_t slot[64 * 48 * 3];
    weir_err err;

    assert_int_equal(wr_picture_new(&d, &u8_64, NULL), 0);
    for (size_t len = 0; len + tail < m.len; len += step) {
        uint8_t *cut = malloc(len ? len : 1);
        int r;

        memcpy(cut, m.bytes, len);
        memset(&err, 0, sizeof(err));
        r = wr_picture_decode(d, cut, len, NULL, slot, NULL, &err);
        if (r >= 0)
            fail_msg("%zu of %zu bytes were taken for a picture", len, m.len);
        assert_true(err.msg[0]);
        free(cut);
    }
    /* And the decoder is as good as new. */
    assert_int_equal(
        wr_picture_decode(d, m.bytes, m.len, NULL, slot, NULL, &err), 0);
    wr_picture_free(d);
}

static void test_truncated(void **state)
{
    static const struct make_png pngs[] = {{60, 40, 2, 8, 0},
                                           {40, 40, 3, 4, 0}};
    struct made m;
    weir_err err;
    uint8_t slot[64 * 48 * 3];

    for (size_t i = 0; i < JPEGS; i++) {
        m = make_jpeg(&jpegs[i]);
        check_truncated(m, 1 + m.len / 97, 2);
        free(m.bytes);
    }
    for (int i = 0; i < 2; i++) {
        m = make_png(&pngs[i]);
        if (m.len)
            check_truncated(m, 1 + m.len / 199, 4);
        free(m.bytes);
    }
    m = make_jpeg(&jpegs[0]);
    m.len = m.len * 2 / 3;
    assert_int_equal(decode(&u8_64, m, NULL, slot, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "truncated JPEG: data end at row"));
    assert_non_null(strstr(err.msg, "of 150"));
    free(m.bytes);
}

/* Some cameras write a few bytes before the end marker: the same picture. */
static void test_bytes_before_the_end(void **state)
{
    struct made m = make_jpeg(&jpegs[0]), padded;
    uint8_t plain[64 * 48 * 3], slot[64 * 48 * 3];
    weir_err err;

    padded.len = m.len + 100;
    padded.bytes = malloc(padded.len);
    memcpy(padded.bytes, m.bytes, m.len - 2);
    memset(padded.bytes + m.len - 2, 0x5a, 100);
    memcpy(padded.bytes + padded.len - 2, m.bytes + m.len - 2, 2);
    assert_int_equal(decode(&u8_64, m, NULL, plain, &err), 0);
    assert_int_equal(decode(&u8_64, padded, NULL, slot, &err), 0);
    assert_memory_equal(plain, slot, sizeof(slot));
    free(padded.bytes);
    free(m.bytes);
}

/* Flipped bits may change pixels unseen, but never do worse. */
static void test_bit_flips(void **state)
{
    struct wr_rng rng = {.seed = 5};
    struct wr_picture_decoder *d = NULL;
    uint8_t slot[64 * 48 * 3];
    int refused = 0;

    assert_int_equal(wr_picture_new(&d, &u8_64, NULL), 0);
    for (int k = 0; k < 600; k++) {
        const struct make_png png = {60, 40, 6, 8, 0};
        struct made m = k % 4 ? make_jpeg(&jpegs[k % (int)JPEGS])
                              : make_png(&png);
        weir_err err = {0};
        int r;

        for (int f = 0; f < 3 && m.len; f++)
            m.bytes[wr_rng_below(&rng, m.len)] ^= (uint8_t)(1u << wr_rng_below(
                                                                &rng, 8));
        r = wr_picture_decode(d, m.bytes, m.len, NULL, slot, NULL, &err);
        refused += r < 0;
        assert_true(r >= 0 || err.msg[0]);
        free(m.bytes);
    }
    assert_true(refused > 100);
    wr_picture_free(d);
}

static void check_refused(const void *bytes, size_t len, int code,
                          const char *text)
{
    struct made m = {malloc(len ? len : 1), len};
    uint8_t slot[64 * 48 * 3];
    weir_err err;

    memcpy(m.bytes, bytes, len);
    assert_int_equal(decode(&u8_64, m, NULL, slot, &err), code);
    if (!strstr(err.msg, text))
        fail_msg("'%s' does not say '%s'", err.msg, text);
    free(m.bytes);
}

/* Width and height in the frame header, two bytes each, height first. */
static void set_jpeg_size(struct made m, uint16_t width, uint16_t height)
{
    for (size_t i = 0; i + 9 < m.len; i++)
        if (m.bytes[i] == 0xff &&
            (m.bytes[i + 1] == 0xc0 || m.bytes[i + 1] == 0xc2)) {
            m.bytes[i + 5] = (uint8_t)(height >> 8);
            m.bytes[i + 6] = (uint8_t)height;
            m.bytes[i + 7] = (uint8_t)(width >> 8);
            m.bytes[i + 8] = (uint8_t)width;
            return;
        }
    fail();
}

static void test_refused(void **state)
{
    struct made m;

    check_refused("", 0, WEIR_EFORMAT, "empty");
    check_refused("GIF90a..", 8, WEIR_EFORMAT, "known kind");
    check_refused("\xff", 1, WEIR_EFORMAT, "known kind");
    check_refused("\xff\xd8\xff", 3, WEIR_EFORMAT, "truncated JPEG");
#ifdef WR_HAVE_SPNG
    check_refused("\x89PNG\r\n\x1a\n", 8, WEIR_EFORMAT, "PNG");
#else
    check_refused("\x89PNG\r\n\x1a\n", 8, WEIR_ENOTSUP, "without libspng");
#endif
    for (int i = 0; i < 9; i += 8) { /* baseline, progressive */
        m = make_jpeg(&jpegs[i]);
        set_jpeg_size(m, 65000, 65000);
        check_refused(m.bytes, m.len, WEIR_ELIMIT, "65000x65000");
        set_jpeg_size(m, 0, 10);
        check_refused(m.bytes, m.len, WEIR_EFORMAT, "JPEG");
        free(m.bytes);
    }
    m = make_jpeg(&jpegs[8]);
    set_jpeg_size(m, 16000, 16000);
    check_refused(m.bytes, m.len, WEIR_ELIMIT, "512 MiB");
    free(m.bytes);
}

static void test_info(void **state)
{
    const struct make_png png = {31, 17, 6, 8, 0};
    struct made m = make_jpeg(&jpegs[6]);
    struct wr_picture_info info;

    assert_int_equal(wr_picture_info(m.bytes, m.len, &info, NULL), 0);
    assert_int_equal(info.kind, WR_PICTURE_JPEG);
    assert_int_equal(info.width, 90);
    assert_int_equal(info.height, 60);
    assert_int_equal(info.components, 4);
    assert_int_equal(wr_picture_info(m.bytes, 20, &info, NULL), WEIR_EFORMAT);
    assert_int_equal(wr_picture_probe(m.bytes, m.len), WR_PICTURE_JPEG);
    assert_int_equal(wr_picture_probe(m.bytes, 2), WR_PICTURE_UNKNOWN);
    free(m.bytes);
    m = make_png(&png);
    if (m.len) {
        assert_int_equal(wr_picture_info(m.bytes, m.len, &info, NULL), 0);
        assert_int_equal(info.width, 31);
        assert_int_equal(info.components, 4);
    }
    free(m.bytes);
    assert_string_equal(wr_picture_kind_name(WR_PICTURE_JPEG), "JPEG");
    assert_string_equal(wr_picture_kind_name(WR_PICTURE_UNKNOWN), "unknown");
}

static void test_bad_spec(void **state)
{
    weir_picture_config s = u8_64;
    struct wr_picture_decoder *d = NULL;

    s.channels = 2;
    assert_int_equal(wr_picture_new(&d, &s, NULL), WEIR_EINVAL);
    s = u8_64;
    s.height = 0;
    assert_int_equal(wr_picture_new(&d, &s, NULL), WEIR_EINVAL);
    s = u8_64;
    s.dtype = WEIR_F32; /* std 0 */
    assert_int_equal(wr_picture_new(&d, &s, NULL), WEIR_EINVAL);
    assert_null(d);
}

/* What comes out depends on the picture, not on the decoder's past. */
static void test_past_does_not_matter(void **state)
{
    weir_picture_config spec = {
        .width = 56, .height = 40, .channels = 3, .std = {1, 1, 1}};
    size_t bytes = wr_picture_slot_bytes(&spec);
    uint8_t *fresh = malloc(bytes), *later = malloc(bytes);

    for (int fast = 0; fast < 2; fast++) {
        struct wr_picture_decoder *d = NULL;

        spec.decode = (enum weir_decode)fast;
        assert_int_equal(wr_picture_new(&d, &spec, NULL), 0);
        for (size_t i = 0; i < 3 * JPEGS; i++) {
            struct made m = make_jpeg(&jpegs[i * 5 % JPEGS]);

            assert_int_equal(decode(&spec, m, NULL, fresh, NULL), 0);
            assert_int_equal(
                wr_picture_decode(d, m.bytes, m.len, NULL, later, NULL, NULL),
                0);
            assert_memory_equal(fresh, later, bytes);
            wr_picture_decode(d, m.bytes, m.len / 2, NULL, later, NULL, NULL);
            free(m.bytes);
        }
        wr_picture_free(d);
    }
    free(fresh);
    free(later);
}

/* Huffman tables of one picture must not serve the next one. */
static void test_tables_do_not_leak(void **state)
{
    struct made whole = make_jpeg(&jpegs[8]), bare;
    struct wr_picture_decoder *d = NULL;
    uint8_t slot[64 * 48 * 3];
    size_t n = 0;

    bare.bytes = malloc(whole.len);
    for (size_t i = 0; i < whole.len;) { /* leaves out all DHT segments */
        size_t len = 1;

        if (i + 3 < whole.len && whole.bytes[i] == 0xff &&
            whole.bytes[i + 1] == 0xc4) {
            i += 2u + (size_t)whole.bytes[i + 2] * 256 + whole.bytes[i + 3];
            continue;
        }
        memcpy(bare.bytes + n, whole.bytes + i, len);
        n += len;
        i += len;
    }
    bare.len = n;
    assert_true(bare.len < whole.len);
    assert_int_equal(wr_picture_new(&d, &u8_64, NULL), 0);
    assert_int_equal(
        wr_picture_decode(d, whole.bytes, whole.len, NULL, slot, NULL, NULL),
        0);
    assert_true(
        wr_picture_decode(d, bare.bytes, bare.len, NULL, slot, NULL, NULL) < 0);
    wr_picture_free(d);
    free(whole.bytes);
    free(bare.bytes);
}

static void test_no_overrun(void **state)
{
    struct made m = make_jpeg(&jpegs[0]);

    for (int i = 0; i < 3 * 2 * 2 * 2 * 10; i++) {
        weir_picture_config spec = {
            .width = 1 + (uint32_t)i % 23,
            .height = 1 + (uint32_t)i % 5,
            .channels = i / 12 % 2 ? 3 : 1,
            .dtype = (enum weir_dtype)(i % 3),
            .layout = (enum weir_layout)(i / 3 % 2),
            .decode = (enum weir_decode)(i / 6 % 2),
            .std = {1, 1, 1},
        };
        struct guarded g = guarded_new(wr_picture_slot_bytes(&spec));
        struct wr_picture_times times = {0};
        struct wr_picture_decoder *d = NULL;

        assert_int_equal(wr_picture_new(&d, &spec, NULL), 0);
        assert_int_equal(
            wr_picture_decode(d, m.bytes, m.len, NULL, g.slot, &times, NULL),
            0);
        assert_true(times.decode_ns > 0);
        wr_picture_free(d);
        munmap(g.map, g.map_bytes);
    }
    free(m.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jpeg_kinds),
        cmocka_unit_test(test_jpeg_is_what_was_encoded),
        cmocka_unit_test(test_png_kinds),
        cmocka_unit_test(test_crop_is_decode_then_crop),
        cmocka_unit_test(test_bad_crop),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_bytes_before_the_end),
        cmocka_unit_test(test_bit_flips),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_bad_spec),
        cmocka_unit_test(test_past_does_not_matter),
        cmocka_unit_test(test_tables_do_not_leak),
        cmocka_unit_test(test_no_overrun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
