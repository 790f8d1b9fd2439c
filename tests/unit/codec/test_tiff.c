/* test_tiff.c - TIFF: what is refused, and before what is spent.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Kinds of pixels are compared with PIL in tests/interop. */
#include "small_picture.h"

#include "corpus.h"

enum { MAX_TAGS = 20, SHORT = 3, LONG = 4 };

/* A little-endian TIFF: pixels from byte 8 on, then its tags. */
struct tags {
    struct {
        uint32_t tag, value;
    } list[MAX_TAGS];
    unsigned count;
};

/* A gray picture of 8 bits in one strip. */
static struct tags gray(uint32_t w, uint32_t h)
{
    return (struct tags){.list = {{256, w},
                                  {257, h},
                                  {258, 8},
                                  {259, 1},
                                  {262, 1},
                                  {273, 8},
                                  {277, 1},
                                  {278, h},
                                  {279, w * h}},
                         .count = 9};
}

/* Changes a tag, or puts it where it belongs in their order. */
static void set(struct tags *t, uint32_t tag, uint32_t value)
{
    unsigned k = 0;

    while (k < t->count && t->list[k].tag < tag)
        k++;
    if (k == t->count || t->list[k].tag != tag) {
        memmove(&t->list[k + 1], &t->list[k],
                (t->count - k) * sizeof(t->list[0]));
        t->count++;
    }
    t->list[k].tag = tag;
    t->list[k].value = value;
}

static void drop(struct tags *t, uint32_t tag)
{
    unsigned k = 0;

    while (t->list[k].tag != tag)
        k++;
    memmove(&t->list[k], &t->list[k + 1],
            (--t->count - k) * sizeof(t->list[0]));
}

static size_t make(const struct tags *t, uint8_t *to, size_t pixels)
{
    uint8_t *p = to;
    uint32_t at = 8 + (uint32_t)pixels;

    memcpy(p, "II*\0", 4);
    memcpy(p + 4, &at, 4);
    for (size_t k = 0; k < pixels; k++)
        p[8 + k] = (uint8_t)(k * 10);
    p += at;
    *p++ = (uint8_t)t->count;
    *p++ = 0;
    for (unsigned k = 0; k < t->count; k++, p += 12) {
        const uint16_t head[] = {(uint16_t)t->list[k].tag, LONG};
        const uint32_t rest[] = {1, t->list[k].value};

        memcpy(p, head, 4);
        memcpy(p + 4, rest, 8);
    }
    memset(p, 0, 4);
    return (size_t)(p + 4 - to);
}

static void refuse(const struct tags *t, int code, const char *word)
{
    uint8_t file[512];

    check_refused(file, make(t, file, 6), code, word);
}

static void refuse_with(uint32_t tag, uint32_t value, int code,
                        const char *word)
{
    struct tags t = gray(3, 2);

    set(&t, tag, value);
    refuse(&t, code, word);
}

static bool is_missing(void)
{
    uint8_t file[512];
    struct tags t = gray(3, 2);
    struct wr_picture_info info;
    weir_err err = {0};

    if (wr_picture_info(file, make(&t, file, 6), &info, &err) != WEIR_ENOTSUP)
        return false;
    assert_non_null(strstr(err.msg, "was built without libtiff"));
    return true;
}

static void test_plain(void **state)
{
    static const uint8_t want[] = {0,  0,  0,  10, 10, 10, 20, 20, 20,
                                   30, 30, 30, 40, 40, 40, 50, 50, 50};
    struct tags t = gray(3, 2);
    uint8_t file[512];
    size_t len;

    if (is_missing())
        skip();
    len = make(&t, file, 6);
    check_pixels(file, len, 3, 2, want);
    for (size_t cut = 5; cut < len - 4; cut++)
        check_refused(file, cut, WEIR_EFORMAT, "TIFF");
}

static void test_refused(void **state)
{
    struct tags t = gray(3, 2);

    if (is_missing())
        skip();
    refuse_with(259, 34661, WEIR_ENOTSUP, "compression 34661"); /* JBIG */
    refuse_with(259, 6, WEIR_ENOTSUP, "compression 6");         /* old JPEG */
    refuse_with(262, 8, WEIR_ENOTSUP, "kind 8");                /* Lab */
    refuse_with(339, 3, WEIR_ENOTSUP, "whole numbers");         /* floats */
    refuse_with(339, 2, WEIR_ENOTSUP, "whole numbers");         /* signed */
    refuse_with(258, 12, WEIR_ENOTSUP, "12 bits");
    refuse_with(258, 32, WEIR_ENOTSUP, "32 bits");
    refuse_with(262, 2, WEIR_EFORMAT, "TIFF"); /* RGB of one sample */
    refuse_with(262, 5, WEIR_EFORMAT, "TIFF"); /* inks of one sample */
    refuse_with(277, 60000, WEIR_EFORMAT, "TIFF");
    refuse_with(273, 1u << 30, WEIR_EFORMAT, "TIFF"); /* pixels outside */
    drop(&t, 262);
    refuse(&t, WEIR_EFORMAT, "what its samples mean");
    t = gray(3, 2);
    drop(&t, 256);
    refuse(&t, WEIR_EFORMAT, "TIFF");
    t = gray(3, 2);
    drop(&t, 273);
    refuse(&t, WEIR_EFORMAT, "TIFF");
}

/* Nothing is spent on sizes that the file cannot back. */
static void test_limits(void **state)
{
    struct tags t = gray(3, 2);

    if (is_missing())
        skip();
    refuse_with(256, 0, WEIR_EFORMAT, "TIFF");
    refuse_with(256, 70000, WEIR_ELIMIT, "70000x2");
    refuse_with(257, 70000, WEIR_ELIMIT, "3x70000");
    refuse_with(257, 0xffffffffu, WEIR_EFORMAT, "TIFF");
    set(&t, 256, 16000);
    set(&t, 257, 16000);
    set(&t, 278, 16000);
    refuse(&t, WEIR_EFORMAT, "truncated TIFF");
    t = gray(3, 2); /* a picture of 6 pixels in a tile of 2^32 */
    drop(&t, 273);
    drop(&t, 278);
    drop(&t, 279);
    set(&t, 322, 65536);
    set(&t, 323, 65536);
    set(&t, 324, 8);
    set(&t, 325, 6);
    refuse(&t, WEIR_ELIMIT, "pieces");
}

/* A cut is noticed in each compression. */
static void test_cut(void **state)
{
    static const char *const names[] = {
        "tiff/rgb-tiff-lzw", "tiff/gray-packbits",
        "tiff/rgb-tiff-adobe-deflate", "tiff/jpeg", "tiff/zstd"};

    if (is_missing())
        skip();
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        struct made m = corpus_picture(names[k]);
        struct wr_picture_info info;

        assert_int_equal(wr_picture_info(m.bytes, m.len, &info, NULL), 0);
        for (size_t len = 8; len < m.len * 9 / 10; len += 7)
            check_refused(m.bytes, len, WEIR_EFORMAT, "TIFF");
        free(m.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
