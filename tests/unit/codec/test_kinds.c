/* test_kinds.c - kinds of pictures by first bytes and by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "codec/codec.h"

static void test_sniff(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        enum wr_picture_kind kind;
    } cases[] = {
        {"\xff\xd8\xff", 3, WR_PICTURE_JPEG},
        {"\x89PNG\r\n\x1a\n", 8, WR_PICTURE_PNG},
        {"BM............\x28\0\0\0", 18, WR_PICTURE_BMP},
        {"BM............\x0c\0\0\0", 18, WR_PICTURE_BMP},
        {"BM............\x0d\0\0\0", 18, WR_PICTURE_UNKNOWN},
        {"BMW drivers of the world", 24, WR_PICTURE_UNKNOWN},
        {"RIFF....WEBP", 12, WR_PICTURE_WEBP},
        {"RIFF....WAVE", 12, WR_PICTURE_UNKNOWN},
        {"II*\0", 4, WR_PICTURE_TIFF},
        {"MM\0*", 4, WR_PICTURE_TIFF},
        {"II+\0", 4, WR_PICTURE_TIFF},
        {"II*.", 4, WR_PICTURE_UNKNOWN},
        {"GIF87a", 6, WR_PICTURE_GIF},
        {"GIF89a", 6, WR_PICTURE_GIF},
        {"GIF90a", 6, WR_PICTURE_UNKNOWN},
        {"P6 1", 4, WR_PICTURE_PNM},
        {"P1\n# a comment", 14, WR_PICTURE_PNM},
        {"P5#a", 4, WR_PICTURE_PNM},
        {"P7 1", 4, WR_PICTURE_UNKNOWN},
        {"P5 and other names", 18, WR_PICTURE_UNKNOWN},
        {"P5", 2, WR_PICTURE_UNKNOWN},
        {"", 0, WR_PICTURE_UNKNOWN},
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        if (wr_picture_probe(cases[k].bytes, cases[k].len) != cases[k].kind)
            fail_msg("case %zu is taken for %s", k,
                     wr_picture_kind_name(
                         wr_picture_probe(cases[k].bytes, cases[k].len)));
}

static enum wr_picture_kind of_name(const char *name)
{
    return wr_picture_kind_of_name(name, strlen(name));
}

static void test_names(void **state)
{
    assert_int_equal(of_name("a.jpg"), WR_PICTURE_JPEG);
    assert_int_equal(of_name("a.b.JPEG"), WR_PICTURE_JPEG);
    assert_int_equal(of_name("x/y.Png"), WR_PICTURE_PNG);
    assert_int_equal(of_name("a.jfif"), WR_PICTURE_JPEG);
    assert_int_equal(of_name("a.bmp"), WR_PICTURE_BMP);
    assert_int_equal(of_name("a.webp"), WR_PICTURE_WEBP);
    assert_int_equal(of_name("a.TIF"), WR_PICTURE_TIFF);
    assert_int_equal(of_name("a.tiff"), WR_PICTURE_TIFF);
    assert_int_equal(of_name("a.gif"), WR_PICTURE_GIF);
    assert_int_equal(of_name("a.pgm"), WR_PICTURE_PNM);
    assert_int_equal(of_name("a.pnm"), WR_PICTURE_PNM);
    assert_int_equal(of_name(".jpg"), WR_PICTURE_UNKNOWN);
    assert_int_equal(of_name("jpg"), WR_PICTURE_UNKNOWN);
    assert_int_equal(of_name("a.txt"), WR_PICTURE_UNKNOWN);
    assert_int_equal(of_name(""), WR_PICTURE_UNKNOWN);
    assert_string_equal(wr_picture_ext_at(0), ".jpg");
}

/* Each kind has a name, an ending and a codec of its own, built or not. */
static void test_registry(void **state)
{
    unsigned exts = 0;

    for (int k = 1; k < WR_PICTURE_KINDS; k++) {
        const char *ext = wr_picture_kind_ext(k);

        assert_string_not_equal(wr_picture_kind_name(k), "unknown");
        assert_int_equal(ext[0], '.');
    }
    assert_int_equal(WR_PICTURE_KINDS - 1, WR_CODEC_COUNT);
    for (; wr_picture_ext_at(exts); exts++)
        assert_in_range(strlen(wr_picture_ext_at(exts)), 2,
                        WR_PICTURE_EXT_BYTES - 1);
    assert_in_range(exts, 1, 28); /* tarlabel.c has a bit for each */
    for (size_t i = 0; i < WR_CODEC_COUNT; i++) {
        const struct wr_codec *c = wr_codec_at(i);

        assert_non_null(c->sniff);
        assert_true(c->missing ? !c->start : !!c->start);
    }
    assert_string_equal(wr_picture_kind_ext(WR_PICTURE_UNKNOWN), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sniff),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_registry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
