/* test_library_kinds.c - WebP and GIF: cut off anywhere, limits, no library.
 * SPDX-License-Identifier: Apache-2.0 */
#include "small_picture.h"

#include "corpus.h"

/* Which library reads it; NULL: it is in this build. */
static const char *missing(const char *ext)
{
    struct wr_picture_info info;
    weir_err err = {0};
    struct made m = corpus_picture(ext[1] == 'g' ? "gif/rows" : "webp/lossy");
    int r = wr_picture_info(m.bytes, m.len, &info, &err);

    free(m.bytes);
    if (r != WEIR_ENOTSUP)
        return NULL;
    if (!strstr(err.msg, "was built without"))
        fail_msg("'%s' does not say why", err.msg);
    return "not built";
}

/* A picture that is cut off anywhere but behind its pixels is refused. */
static void cut_everywhere(const char *name, size_t spare)
{
    struct made m = corpus_picture(name);
    struct wr_picture_decoder *d = NULL;
    const uint8_t *pixels;
    weir_err err;

    assert_int_equal(wr_picture_new(&d, &small_spec, NULL), 0);
    assert_int_equal(
        wr_picture_decode_only(d, m.bytes, m.len, NULL, &pixels, &err), 0);
    for (size_t len = 12; len + spare < m.len; len++) {
        uint8_t *copy = malloc(len);
        int r;

        memcpy(copy, m.bytes, len);
        r = wr_picture_decode_only(d, copy, len, NULL, NULL, &err);
        if (r != WEIR_EFORMAT)
            fail_msg("%s: %zu of %zu bytes: %d", name, len, m.len, r);
        free(copy);
    }
    wr_picture_free(d);
    free(m.bytes);
}

static void test_webp(void **state)
{
    struct made m;

    if (missing(".webp"))
        skip();
    cut_everywhere("webp/lossless", 2);
    cut_everywhere("webp/lossy", 2);
    m = corpus_picture("webp/lossless");
    m.bytes[8] = 'x';
    check_refused(m.bytes, m.len, WEIR_EFORMAT, "known kind");
    free(m.bytes);
}

static void test_gif(void **state)
{
    static const uint8_t colours[] = {0, 0, 0, 255, 0, 0};
    uint8_t file[64] = "GIF89a";
    struct made m;

    if (missing(".gif"))
        skip();
    cut_everywhere("gif/rows", 2);
    cut_everywhere("gif/interlaced", 2);
    /* no frame at all */
    file[6] = file[8] = 3;
    file[10] = 0x80;
    memcpy(file + 13, colours, sizeof(colours));
    file[19] = ';';
    check_refused(file, 20, WEIR_EFORMAT, "no frame");
    /* a frame of no pixels */
    memcpy(file + 19, ",\0\0\0\0\0\0\3\0\0\2", 11);
    check_refused(file, 40, WEIR_EFORMAT, "0x3");
    /* a screen over the limit of pixels */
    memset(file + 6, 0xff, 4);
    memcpy(file + 24, "\1\0\1\0", 4);
    check_refused(file, 40, WEIR_ELIMIT, "65535x65535");
    /* an index that the palette does not have is a gray */
    m = corpus_picture("gif/rows");
    assert_int_equal(wr_picture_probe(m.bytes, m.len), WR_PICTURE_GIF);
    free(m.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_webp),
        cmocka_unit_test(test_gif),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
