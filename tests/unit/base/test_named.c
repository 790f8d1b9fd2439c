/* test_named.c - unit tests of named.c: by name, or nearly.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/named.h"

struct thing {
    const char *name;
    int value;
};

static const struct thing things[] = {{"one", 1}, {"two", 2}, {"three", 3}};
static const struct thing ended[] = {{"one", 1}, {"two", 2}, {NULL, 0}};
static const struct thing *const ops[] = {&things[2], &things[0]};
static const struct thing *const ended_ops[] = {&things[1], NULL};
static const char *const words[] = {"a", "b", "c"};
static const char texts[][8] = {"north", "south"};

static void test_arrays(void **state)
{
    assert_int_equal(wr_named_index(WR_NAMED(things), "three"), 2);
    assert_int_equal(wr_named_index(WR_NAMED(things), "thre"), -1);
    assert_ptr_equal(wr_named_find(WR_NAMED(things), "two"), &things[1]);
    assert_null(wr_named_find(WR_NAMED(things), ""));
    assert_int_equal(wr_named_index(WR_NAMED(words), "c"), 2);
    assert_int_equal(wr_named_index(words, 2, sizeof(*words), "c"), -1);
    assert_int_equal(wr_named_index(NULL, 0, sizeof(*words), "c"), -1);
}

static void test_lists_that_end(void **state)
{
    assert_ptr_equal(wr_named_find(WR_NAMED_OPEN(ended), "two"), &ended[1]);
    assert_null(wr_named_find(WR_NAMED_OPEN(ended), "three"));
    assert_null(wr_named_find(WR_NAMED(ended), "three"));
}

static void test_texts(void **state)
{
    assert_int_equal(wr_named_text(WR_NAMED(texts), "south"), 1);
    assert_int_equal(wr_named_text(WR_NAMED(texts), "sout"), -1);
    assert_int_equal(wr_named_text(texts, 1, sizeof(*texts), "south"), -1);
}

static void test_pointers(void **state)
{
    assert_ptr_equal(wr_named_ops(ops, 2, "one"), &things[0]);
    assert_null(wr_named_ops(ops, 2, "two"));
    assert_null(wr_named_ops(ops, 1, "one"));
    assert_ptr_equal(wr_named_ops(ended_ops, SIZE_MAX, "two"), &things[1]);
    assert_null(wr_named_ops(ended_ops, SIZE_MAX, "one"));
}

static void test_suggested(void **state)
{
    struct wr_suggest near;

    wr_suggest_init(&near, "thre");
    assert_string_equal(wr_suggest_said(&near, "").text, "");
    for (size_t k = 0; k < 3; k++)
        wr_suggest_try(&near, things[k].name);
    assert_string_equal(wr_suggest_said(&near, "").text,
                        " (did you mean three?)");
    assert_string_equal(wr_suggest_said(&near, "--").text,
                        " (did you mean --three?)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),    cmocka_unit_test(test_lists_that_end),
        cmocka_unit_test(test_texts),     cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_suggested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
