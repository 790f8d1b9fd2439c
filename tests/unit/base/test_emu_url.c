/* test_emu_url.c - unit tests of emu_url.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/emu_url.h"

static void test_parts(void **state)
{
    struct wr_emu_url u;

    (void)state;
    assert_true(wr_emu_url("emu:hdd:/data", &u));
    assert_string_equal(u.profile, "hdd");
    assert_null(u.trace);
    assert_string_equal(u.inner, "/data");
    assert_true(wr_emu_url("emu:./a.profile,trace=/t/x:s3:b", &u));
    assert_string_equal(u.profile, "./a.profile");
    assert_string_equal(u.trace, "/t/x");
    assert_string_equal(u.inner, "s3:b");
    assert_true(wr_emu_url("emu:ssd,trace=:", &u)); /* no name is a name */
    assert_string_equal(u.trace, "");
    assert_string_equal(u.inner, "");
    assert_true(wr_emu_url_rest("nvme:x", &u));
    assert_string_equal(u.profile, "nvme");
}

static void test_others(void **state)
{
    struct wr_emu_url u;
    char text[2 * PATH_MAX];

    (void)state;
    assert_false(wr_emu_url("/data", &u));
    assert_false(wr_emu_url("emu:hdd", &u));
    assert_false(wr_emu_url("fault:emu:hdd:/x", &u));
    memset(text, 'x', sizeof(text));
    memcpy(text, "emu:", 4);
    text[4 + PATH_MAX - 1] = ':';
    text[4 + PATH_MAX] = '\0';
    assert_true(wr_emu_url(text, &u));
    assert_int_equal(strlen(u.profile), PATH_MAX - 1);
    text[4 + PATH_MAX - 1] = 'x';
    text[4 + PATH_MAX] = ':';
    text[4 + PATH_MAX + 1] = '\0';
    assert_false(wr_emu_url(text, &u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
