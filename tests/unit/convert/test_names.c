/* test_names.c - keys that are safe as paths, and no two alike.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "convert/names.h"

static void keys_become_safe(void **state)
{
    static const char *const table[][2] = {
        {"a/b", "a/b"},
        {"/etc/passwd", "etc/passwd"},
        {"../../x", "x"},
        {"a/../../b", "a/b"},
        {"a//b/./c/", "a/b/c"},
        {".hidden/.x", "_hidden/_x"},
        {"...", "_.."},
        {"a\nb\x7f", "a_b_"},
        {"a\\b", "a_b"},
        {"", ""},
        {"..", ""},
        {"/", ""},
        {"na\xc3\xafve", "na\xc3\xafve"},
    };
    char buf[WR_CONVERT_KEY_MAX];

    (void)state;
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        const char *key = table[k][0];

        assert_int_equal(wr_convert_safe_key(key, strlen(key), buf),
                         strlen(table[k][1]));
        assert_string_equal(buf, table[k][1]);
    }
}

static void long_keys_are_cut(void **state)
{
    char key[5000], buf[WR_CONVERT_KEY_MAX];
    size_t len;

    (void)state;
    memset(key, 'x', sizeof(key));
    assert_int_equal(wr_convert_safe_key(key, sizeof(key), buf), 200);
    for (size_t k = 100; k < sizeof(key); k += 100)
        key[k] = '/';
    len = wr_convert_safe_key(key, sizeof(key), buf);
    assert_true(len < WR_CONVERT_KEY_MAX - 50);
    assert_int_equal(len, strlen(buf));
}

static void twins_get_suffixes(void **state)
{
    struct wr_convert_names n = {0};
    const char *const names[] = {"a", "b", "a", "a_2", "a", "b"};
    const uint32_t want[] = {0, 0, 2, 2, 3, 2};

    (void)state;
    for (uint64_t k = 0; k < 6; k++)
        assert_int_equal(wr_convert_names_add(&n, names[k], k, 6, NULL), 0);
    wr_convert_names_seal(&n);
    for (uint64_t k = 0; k < 6; k++)
        assert_int_equal(wr_convert_names_suffix(&n, k), want[k]);
    wr_convert_names_done(&n);
}

static void many_names(void **state)
{
    struct wr_convert_names n = {0};
    char name[32];

    (void)state;
    for (uint64_t k = 0; k < 20000; k++) {
        snprintf(name, sizeof(name), "class/%u", (unsigned)k);
        assert_int_equal(wr_convert_names_add(&n, name, k, 20000, NULL), 0);
    }
    assert_null(n.suffix);
    wr_convert_names_done(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_become_safe),
        cmocka_unit_test(long_keys_are_cut),
        cmocka_unit_test(twins_get_suffixes),
        cmocka_unit_test(many_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
