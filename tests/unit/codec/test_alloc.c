/* test_alloc.c - memory that runs out at any point ends in an error, no crash.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "codec/picture.h"
#include "corpus.h"
#include "make_picture.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) &&                    \
    !defined(__SANITIZE_THREAD__)

/* glibc's own, under the names that stay when malloc is replaced. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

static long fail_at = -1; /* allocations until one fails; -1: never */

static int is_failing(void)
{
    if (fail_at < 0)
        return 0;
    if (fail_at > 0) {
        fail_at--;
        return 0;
    }
    errno = ENOMEM;
    return 1; /* and every one after it */
}

void *malloc(size_t size)
{
    return is_failing() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return is_failing() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return is_failing() ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return is_failing() ? NULL : __libc_memalign(align, size);
}

static int decode_once(struct made m, enum weir_decode how, weir_err *err)
{
    static uint8_t slot[64 * 48 * 3 * 4];
    const struct wr_picture_spec spec = {.width = 64,
                                         .height = 48,
                                         .channels = 3,
                                         .decode = how,
                                         .std = {1, 1, 1}};
    struct wr_picture_decoder *d = NULL;
    int r = wr_picture_new(&d, &spec, err);

    if (r >= 0)
        r = wr_picture_decode(d, m.bytes, m.len, NULL, slot, NULL, err);
    if (r >= 0)
        r = wr_picture_decode_only(d, m.bytes, m.len, NULL, NULL, err);
    wr_picture_free(d);
    return r;
}

static void fail_everywhere(struct made m, enum weir_decode how)
{
    weir_err err;
    long n = 0;
    int r;

    do {
        fail_at = n++;
        r = decode_once(m, how, &err);
        if (r < 0) {
            fail_at = -1;
            if (r != WEIR_ENOMEM)
                fail_msg("allocation %ld: %d, %s", n - 1, r, err.msg);
        }
    } while (r < 0 && n < 2000);
    fail_at = -1;
    assert_int_equal(r, 0);
    assert_true(n > 5);
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
        free(m.bytes);
    }
    m = make_png(&png);
    if (m.len)
        fail_everywhere(m, WEIR_DECODE_EXACT);
    free(m.bytes);
}

/* The same of pictures whose decoders are others' libraries. */
static void test_other_kinds(void **state)
{
    static const char *const names[] = {"bmp/rle8",
                                        "pnm/p6",
                                        "gif/interlaced",
                                        "webp/lossless",
                                        "webp/lossy",
                                        "webp/animated",
                                        "tiff/rgb-raw",
                                        "tiff/rgb-tiff-lzw",
                                        "tiff/jpeg",
                                        "tiff/ycbcr",
                                        "tiff/palette-tiff-adobe-deflate"};

    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        struct made m = corpus_picture(names[k]);
        struct wr_picture_info info;

        if (wr_picture_info(m.bytes, m.len, &info, NULL) != WEIR_ENOTSUP)
            fail_everywhere(m, WEIR_DECODE_EXACT);
        free(m.bytes);
    }
}

#else

static void test_other_kinds(void **state)
{
    skip();
}

static void test_every_allocation(void **state)
{
    skip(); /* sanitizers replace malloc themselves */
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation),
        cmocka_unit_test(test_other_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
