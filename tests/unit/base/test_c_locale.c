/* test_c_locale.c - text as in the C locale; tests/locale runs it in others.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"

static void numbers(void **unused)
{
    char buf[32], *end;

    assert_true(wr_strtod("1.5,x", &end) == 1.5);
    assert_string_equal(end, ",x");
    assert_true(wr_strtof("-.25e1", NULL) == -2.5f);
    assert_int_equal(wr_snprintf(buf, sizeof(buf), "%.2f %a", 2.5, 1.5), 13);
    assert_string_equal(buf, "2.50 0x1.8p+0");
}

static void errors(void **unused)
{
    assert_string_equal(wr_strerror(ENOENT), "No such file or directory");
    assert_non_null(strstr(wr_strerror(9999), "9999"));
}

static void letters(void **unused)
{
    for (int c = 0; c < 256; c++) {
        bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
        bool digit = c >= '0' && c <= '9';

        assert_int_equal((unsigned char)wr_lower((char)c), upper ? c + 32 : c);
        assert_int_equal((unsigned char)wr_upper((char)c), lower ? c - 32 : c);
        assert_int_equal(wr_is_alpha((char)c), upper || lower);
        assert_int_equal(wr_is_digit((char)c), digit);
        assert_int_equal(wr_is_alnum((char)c), upper || lower || digit);
        assert_int_equal(wr_is_space((char)c), c && strchr(" \t\n\v\f\r", c));
    }
}

static void comparisons(void **unused)
{
    assert_int_equal(wr_strcasecmp(".TIFF", ".tiff"), 0);
    assert_true(wr_strcasecmp("a", "B") < 0);
    assert_true(wr_strcasecmp("ab", "A") > 0);
    assert_true(wr_strcasecmp("", "\xc4") < 0);
    assert_true(wr_strcasecmp("\xc3\x84", "\xc3\xa4") != 0);
    assert_int_equal(wr_strncasecmp("GIF89a", "gif87a", 4), 0);
    assert_true(wr_strncasecmp("GIF89a", "gif87a", 5) > 0);
    assert_int_equal(wr_strncasecmp("i", "I\0x", 9), 0);
    assert_string_equal(wr_strcasestr("no MINI memory", "mini"), "MINI memory");
    assert_string_equal(wr_strcasestr("a", ""), "a");
    assert_null(wr_strcasestr("colorma", "COLORMAP"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(errors),
        cmocka_unit_test(letters),
        cmocka_unit_test(comparisons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
