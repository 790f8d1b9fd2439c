/* test_storage.c - URLs: where their path begins, and its last part.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/storage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void paths(void **state)
{
    static const char *const rows[][2] = {
        {"a/b", "a/b"},
        {"", ""},
        {"file:a", "a"},
        {"file:emu:hdd:a", "emu:hdd:a"}, /* a path with colons */
        {"fault::/x", "/x"},
        {"fault:eio@1:emu:./my.profile:file:d/e", "d/e"},
        {"emu:hdd", "hdd"}, /* no URL at all; opening it says so */
        {"other:a/b", "other:a/b"},
    };

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(rows); i++)
        assert_string_equal(wr_url_path(rows[i][0]), rows[i][1]);
}

static void splits(void **state)
{
    static const struct {
        const char *url, *parent, *name;
    } rows[] = {
        {"a", ".", "a"},
        {"a/", ".", "a"},
        {"/a", "/", "a"},
        {"a/b/c", "a/b", "c"},
        {"/a/b//", "/a", "b"},
        {"fault:eio:/x/y", "fault:eio:/x", "y"},
        {"emu:hdd:a", "emu:hdd:.", "a"},
        {"emu:hdd:/a", "emu:hdd:/", "a"},
        {"emu:d/my.profile:a/", "emu:d/my.profile:.", "a"},
    };
    static const char *const bad[] = {
        "", "/", ".", "..", "a/..", "a/.", "emu:hdd:", "emu:hdd:/", "file:.."};
    char *parent, *name;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(rows); k++) {
        assert_int_equal(wr_url_split(rows[k].url, &parent, &name, NULL), 0);
        assert_string_equal(parent, rows[k].parent);
        assert_string_equal(name, rows[k].name);
        free(parent);
        free(name);
    }
    for (size_t k = 0; k < WR_ARRAY_LEN(bad); k++)
        assert_int_equal(wr_url_split(bad[k], &parent, &name, NULL),
                         WEIR_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(splits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
