/* test_pngenc.c - the head of an encoded PNG, and what becomes none.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/pngenc.h"

static void test_head(void **state)
{
    /* 7x5: width and height of the IHDR, then 8 bits, RGB. */
    static const uint8_t head[] = {
        0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I',
        'H',  'D', 'R', 0,   0,    0,    7,    0,    0, 0, 5, 8,  2};
    uint8_t pixels[7 * 5 * 3], *bytes = NULL;
    struct wr_pngenc_picture p = {pixels, 7, 5};
    size_t len = 0;
    weir_err err;
    int r;

    for (size_t k = 0; k < sizeof(pixels); k++)
        pixels[k] = (uint8_t)(k * 37);
    r = wr_pngenc_encode(&p, &bytes, &len, &err);
    if (!wr_pngenc_is_there()) {
        assert_int_equal(r, WEIR_ENOTSUP);
        return;
    }
    assert_int_equal(r, 0);
    assert_true(len > sizeof(head));
    assert_memory_equal(bytes, head, sizeof(head));
    free(bytes);
}

static void test_nothing(void **state)
{
    uint8_t pixel[3] = {0}, *bytes = NULL;
    struct wr_pngenc_picture p = {pixel, 0, 1};
    size_t len = 0;
    weir_err err;

    assert_true(wr_pngenc_encode(&p, &bytes, &len, &err) < 0);
    assert_null(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
