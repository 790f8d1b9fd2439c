/* test_byte_order.c - unit tests of be.h and le.h: numbers at any address.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/be.h"
#include "base/le.h"

static const uint8_t bytes[] = {0, 0xf1, 2, 3, 4, 5, 6, 7, 0xf8};

static void test_big(void **state)
{
    assert_int_equal(wr_be16(bytes), 0x00f1);
    assert_int_equal(wr_be16(bytes + 1), 0xf102);
    assert_int_equal(wr_be32(bytes + 1), 0xf1020304);
    assert_true(wr_be64(bytes + 1) == UINT64_C(0xf1020304050607f8));
}

static void test_little(void **state)
{
    assert_int_equal(wr_le16(bytes + 1), 0x02f1);
    assert_int_equal(wr_le32(bytes + 1), 0x040302f1);
    assert_true(wr_le64(bytes + 1) == UINT64_C(0xf8070605040302f1));
}

static void test_put(void **state)
{
    uint8_t to[4] = {9, 9, 9, 9};

    wr_le_put(to, 0x123456, 2);
    assert_int_equal(wr_le32(to), 0x09093456);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_big),
        cmocka_unit_test(test_little),
        cmocka_unit_test(test_put),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
