/* test_crc32c.c - known sums, and sums in pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "codec/crc32c.h"

/* The check value of the CRC catalogue, and vectors of RFC 3720, B.4. */
static void test_known(void **state)
{
    uint8_t b[32];

    (void)state;
    assert_int_equal(wr_crc32c(0, "123456789", 9), 0xe3069283u);
    assert_int_equal(wr_crc32c(0, "", 0), 0);
    memset(b, 0, sizeof(b));
    assert_int_equal(wr_crc32c(0, b, sizeof(b)), 0x8a9136aau);
    memset(b, 0xff, sizeof(b));
    assert_int_equal(wr_crc32c(0, b, sizeof(b)), 0x62a8ab43u);
    for (unsigned k = 0; k < sizeof(b); k++)
        b[k] = (uint8_t)k;
    assert_int_equal(wr_crc32c(0, b, sizeof(b)), 0x46dd794eu);
}

static void test_pieces(void **state)
{
    const char text[] = "the whole is the sum of its parts, in order";
    uint32_t whole = wr_crc32c(0, text, sizeof(text));

    (void)state;
    for (size_t cut = 0; cut <= sizeof(text); cut++)
        assert_int_equal(
            wr_crc32c(wr_crc32c(0, text, cut), text + cut, sizeof(text) - cut),
            whole);
}

/* Rotated right by 15, plus a constant. */
static void test_mask(void **state)
{
    (void)state;
    assert_int_equal(wr_crc32c_mask(0), 0xa282ead8u);
    assert_int_equal(wr_crc32c_mask(0x00008000u), 0xa282ead9u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_mask),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
