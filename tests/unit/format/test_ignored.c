/* test_ignored.c - files that no format takes, counted by their endings.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "format/listing.h"

static void test_endings(void **state)
{
    static const char *const names[] = {"a.gif",   "b.GIF",
                                        "c.heic",  "d",
                                        "e.f.gif", "x.a very odd one",
                                        "y.",      "z.averylongendingindeed"};
    struct wr_ignored ig = {0};

    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        assert_true(wr_ignored_add(&ig, names[k]));
    wr_ignored_sort(&ig);
    assert_int_equal(ig.count, 3);
    assert_string_equal(ig.list[0].ext, "");
    assert_int_equal(ig.list[0].files, 4);
    assert_string_equal(ig.list[1].ext, ".gif");
    assert_int_equal(ig.list[1].files, 3);
    assert_string_equal(ig.list[2].ext, ".heic");
    assert_int_equal(wr_ignored_files(&ig), 8);
    wr_ignored_done(&ig);
    assert_int_equal(wr_ignored_files(&ig), 0);
}

/* Whatever the number of endings, no file is lost. */
static void test_many(void **state)
{
    struct wr_ignored a = {0}, b = {0};
    char name[32];

    for (unsigned k = 0; k < 200; k++) {
        snprintf(name, sizeof(name), "x.e%u", k);
        assert_true(wr_ignored_add(k % 2 ? &a : &b, name));
    }
    assert_int_equal(a.count, WR_IGNORED_KINDS);
    assert_true(wr_ignored_merge(&a, &b));
    assert_true(wr_ignored_merge(&a, &b));
    assert_int_equal(a.count, WR_IGNORED_KINDS);
    assert_int_equal(wr_ignored_files(&a), 300);
    wr_ignored_sort(&a);
    assert_string_equal(a.list[0].ext, WR_IGNORED_REST);
    assert_int_equal(a.list[0].files, 300 - (WR_IGNORED_KINDS - 1));
    wr_ignored_done(&a);
    wr_ignored_done(&b);
}

static void test_what_counts(void **state)
{
    assert_true(wr_ignored_counts("a.gif"));
    assert_true(wr_ignored_counts("core"));
    assert_true(wr_ignored_counts("a.npy"));
    assert_false(wr_ignored_counts(".DS_Store"));
    assert_false(wr_ignored_counts("README"));
    assert_false(wr_ignored_counts("readme.md"));
    assert_false(wr_ignored_counts("labels.TXT"));
    assert_false(wr_ignored_counts("meta.json"));
    assert_false(wr_ignored_counts("Thumbs.db"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_what_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
