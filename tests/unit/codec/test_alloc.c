/* test_alloc.c - memory that runs out at any point ends in an error, no crash.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../fault/failmalloc.h"
#include "codec/picture.h"
#include "corpus.h"
#include "make_picture.h"

static uint8_t slot[64 * 48 * 3 * 4], expected[sizeof(slot)];

static int new_decoder(struct wr_picture_decoder **ret, enum weir_decode how,
                       weir_err *err)
{
    const weir_picture_config spec = {.width = 64,
                                      .height = 48,
                                      .channels = 3,
                                      .decode = how,
                                      .std = {1, 1, 1}};

    return wr_picture_new(ret, &spec, err);
}

static int decode_once(struct made m, enum weir_decode how, weir_err *err)
{
    struct wr_picture_decoder *d = NULL;
    int r = new_decoder(&d, how, err);

    if (r >= 0)
        r = wr_picture_decode(d, m.bytes, m.len, NULL, slot, NULL, err);
    if (r >= 0)
        r = wr_picture_decode_only(d, m.bytes, m.len, NULL, NULL, err);
    wr_picture_free(d);
    return r;
}

static void fail_everywhere(struct made m, enum weir_decode how)
{
    unsigned long n = 0;
    weir_err err;
    int r;

    do {
        fm_start(n++, ULONG_MAX);
        r = decode_once(m, how, &err);
        fm_stop();
        if (r < 0 && r != WEIR_ENOMEM)
            fail_msg("allocation %lu: %d, %s", n - 1, r, err.msg);
    } while (r < 0 && n < 2000);
    assert_int_equal(r, 0);
    assert_true(n > 5);
}

static void assert_lack(int r, unsigned long n, const weir_err *err)
{
    if (r != WEIR_ENOMEM)
        fail_msg("allocation %lu alone: %d, %s", n, r, err->msg);
    if (strstr(err->msg, "damaged") || strstr(err->msg, "truncated"))
        fail_msg("allocation %lu alone: '%s' blames the picture", n, err->msg);
}

/* Memory that is short once: the picture is not blamed, is never decoded wrong,
 * and the same decoder succeeds when it is asked again. */
static void fail_one_by_one(struct made m, enum weir_decode how)
{
    struct wr_picture_decoder *d;
    bool over = false;
    weir_err err;
    int r;

    assert_int_equal(new_decoder(&d, how, &err), 0);
    assert_int_equal(
        wr_picture_decode(d, m.bytes, m.len, NULL, expected, NULL, &err), 0);
    wr_picture_free(d);
    for (unsigned long n = 0; !over && n < 5000; n++) {
        assert_int_equal(new_decoder(&d, how, &err), 0);
        memset(slot, 0xee, sizeof(slot));
        fm_start(n, n + 1);
        r = wr_picture_decode(d, m.bytes, m.len, NULL, slot, NULL, &err);
        over = fm_stop() <= n;
        if (r < 0) {
            assert_lack(r, n, &err);
            r = wr_picture_decode(d, m.bytes, m.len, NULL, slot, NULL, &err);
        }
        assert_int_equal(r, 0);
        assert_memory_equal(slot, expected, sizeof(slot));
        wr_picture_free(d);
    }
    assert_true(over);
}

static void test_every_allocation(void **state)
{
    static const struct make_jpeg jpegs[] = {
        {.width = 90, .height = 60, .color = MAKE_RGB, .h_samp = 2},
        {.width = 90, .height = 60, .color = MAKE_CMYK},
        {.width = 90, .height = 60, .color = MAKE_RGB, .progressive = 1},
    };
    const struct make_png png = {50, 40, 6, 8, 0};
    struct made m;

    for (int i = 0; i < 6; i++) {
        m = make_jpeg(&jpegs[i / 2]);
        fail_everywhere(m, (enum weir_decode)(i % 2));
        fail_one_by_one(m, (enum weir_decode)(i % 2));
        free(m.bytes);
    }
    m = make_png(&png);
    if (m.len) {
        fail_everywhere(m, WEIR_DECODE_EXACT);
        fail_one_by_one(m, WEIR_DECODE_EXACT);
    }
    free(m.bytes);
}

/* The same of pictures whose decoders are others' libraries. Left out is what
 * these die of themselves: libwebp 1.2.4 frees what it has not set when there
 * is no memory for the Huffman tables of lossless data, and libtiff 4.5.0 uses
 * the state of a codec that it could not allocate. */
static void test_other_kinds(void **state)
{
    static const char *const names[] = {"bmp/rle8",       "pnm/p6",
                                        "gif/interlaced", "webp/lossy",
                                        "tiff/rgb-raw",   "tiff/ycbcr"};

    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        struct made m = corpus_picture(names[k]);
        struct wr_picture_info info;

        if (wr_picture_info(m.bytes, m.len, &info, NULL) != WEIR_ENOTSUP) {
            fail_everywhere(m, WEIR_DECODE_EXACT);
            fail_one_by_one(m, WEIR_DECODE_EXACT);
        }
        free(m.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation),
        cmocka_unit_test(test_other_kinds),
    };

    if (!fm_can_fail())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
