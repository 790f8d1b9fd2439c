/* test_exif.c - EXIF's orientation: in each kind of picture, and damaged.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/turn.h"
#include "oriented.h"

/* The last of so many tags says `value` with this type. */
static size_t make(uint8_t *to, bool is_big, unsigned tags, uint16_t type,
                   uint32_t value)
{
    size_t at = 10;

    memset(to, 0, 512);
    memcpy(to, is_big ? "MM\0*\0\0\0\x8" : "II*\0\x8\0\0\0", 8);
    to[is_big ? 9 : 8] = (uint8_t)tags;
    for (unsigned k = 0; k < tags; k++, at += 12) {
        uint8_t *e = to + at;
        bool is_last = k + 1 == tags;

        e[0] = e[1] = 1;
        e[is_big ? 1 : 0] = is_last ? 0x12 : 0x0f;
        e[is_big ? 3 : 2] = (uint8_t)type;
        e[is_big ? 7 : 4] = 1;
        if (type == 3)
            e[is_big ? 9 : 8] = (uint8_t)value;
        else
            e[is_big ? 11 : 8] = (uint8_t)value;
    }
    return at + 4;
}

static void test_values(void **state)
{
    uint8_t block[512];

    for (unsigned k = 0; k < 64; k++) {
        uint32_t value = k % 16;
        bool is_big = k & 16;
        size_t len = make(block, is_big, 1 + k % 3, k & 32 ? 3 : 4, value);
        unsigned want = value >= 1 && value <= 8 ? value : 1;

        assert_int_equal(wr_exif_orientation(block, len), want);
    }
    assert_int_equal(wr_exif_orientation(block, make(block, false, 1, 1, 6)),
                     1);
}

/* Cut anywhere: an answer, and no byte behind the end is read. */
static void test_cut(void **state)
{
    uint8_t block[512];
    size_t len = make(block, true, 3, 3, 6);

    for (size_t cut = 0; cut < len; cut++) {
        uint8_t *copy = malloc(cut + 1);
        unsigned o;

        memcpy(copy, block, cut);
        o = wr_exif_orientation(cut ? copy : NULL, cut);
        assert_true(o == 1 || (o == 6 && cut >= 10 + 36));
        free(copy);
    }
    assert_int_equal(wr_exif_orientation(block, len), 6);
    memset(block + 4, 0xff, 4); /* a directory that is not there */
    assert_int_equal(wr_exif_orientation(block, len), 1);
}

static void test_jpeg(void **state)
{
    for (unsigned o = 1; o <= 8; o++) {
        struct made m = make_oriented(30, 20, o);
        struct wr_picture_info info;

        assert_int_equal(wr_picture_info(m.bytes, m.len, &info, NULL), 0);
        assert_int_equal(info.orientation, o);
        assert_int_equal(info.width, 30); /* as stored */
        wr_picture_turn_size(o, &info.width, &info.height);
        assert_int_equal(info.width, o >= 5 ? 20 : 30);
        for (size_t cut = 3; cut < 40; cut++) {
            uint8_t *copy = malloc(cut);

            memcpy(copy, m.bytes, cut);
            wr_codec_orientation(copy, cut);
            free(copy);
        }
        free(m.bytes);
    }
}

/* Chunks of PNG and WebP in front of the one with EXIF. */
static void test_chunks(void **state)
{
    static const char png[] = "\x89PNG\r\n\x1a\n"
                              "\0\0\0\3IHDRabc1234"
                              "\0\0\0\x1a"
                              "eXIfII*\0\x8\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0"
                              "\0\0\0\0\0\0" /* 26 */ "1234";
    static const char webp[] = "RIFF....WEBP"
                               "VP8 \3\0\0\0abc\0"
                               "EXIF\x1c\0\0\0Exif\0\0MM\0*\0\0\0\x8\0\1\1\x12"
                               "\0\3\0\0\0\1\0\x8\0\0";

    assert_int_equal(wr_codec_orientation(png, sizeof(png) - 1),
                     wr_codec_at(1)->missing ? 1 : 6);
    assert_int_equal(wr_codec_orientation(webp, sizeof(webp) - 1),
                     wr_codec_at(2)->missing ? 1 : 8);
    assert_int_equal(wr_codec_orientation("P5 1 1 255 x", 12), 1);
    assert_int_equal(wr_codec_orientation("nothing", 7), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_chunks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
