/* test_tree.c - YAML as nodes: kinds, texts, lines and columns.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "workload/tree.h"

static struct wr_wl_tree *parsed(const char *text)
{
    struct wr_wl_tree *t = NULL;
    weir_err err = {0};

    if (wr_wl_tree_parse("t", text, strlen(text), &t, &err) < 0)
        fail_msg("%s", err.msg);
    return t;
}

static void test_places(void **state)
{
    struct wr_wl_tree *t = parsed("a: 1\nb:\n  - 'x'\n  - {c: \"y\"}\nd:\n");
    const struct wr_wl_node *n = wr_wl_tree_root(t);

    assert_int_equal(n->kind, WR_WL_MAPPING);
    n = n->first;
    assert_string_equal(n->key, "a");
    assert_string_equal(n->text, "1");
    assert_true(n->plain);
    assert_int_equal(n->key_line, 1);
    assert_int_equal(n->key_column, 1);
    assert_int_equal(n->column, 4);
    n = n->next;
    assert_int_equal(n->kind, WR_WL_SEQUENCE);
    assert_int_equal(n->first->line, 3);
    assert_int_equal(n->first->column, 5); /* of the quote */
    assert_false(n->first->plain);
    assert_string_equal(n->first->next->first->key, "c");
    assert_int_equal(n->first->next->first->column, 9);
    n = n->next;
    assert_true(wr_wl_node_is_null(n));
    assert_int_equal(n->line, 5); /* left out: where its key is */
    assert_null(n->next);
    wr_wl_tree_free(t);
}

static void test_null(void **state)
{
    struct wr_wl_tree *t = parsed("[~, null, '', 'null', 0]\n");
    const struct wr_wl_node *n = wr_wl_tree_root(t)->first;
    bool expected[] = {true, true, false, false, false};

    for (unsigned i = 0; i < 5; i++, n = n->next)
        assert_int_equal(wr_wl_node_is_null(n), expected[i]);
    wr_wl_tree_free(t);
}

/* Many aliases of aliases take the memory of a few nodes. */
static void test_alias_bomb(void **state)
{
    char text[2000];
    size_t used = (size_t)sprintf(text, "a0: &a0 [1, 1]\n");
    struct wr_wl_tree *t;

    for (int i = 1; i < 28; i++)
        used += (size_t)sprintf(text + used, "a%d: &a%d [*a%d, *a%d]\n", i, i,
                                i - 1, i - 1);
    t = parsed(text);
    wr_wl_tree_free(t);
}

/* libfyaml 0.7.12 takes the length of this one wrong. */
static void test_folded(void **state)
{
    struct wr_wl_tree *t = parsed("  e: >-\n  x\n    y: 1\n    z: 2\n");

    assert_string_equal(wr_wl_tree_root(t)->first->text, "x\n  y: 1\n  z: 2");
    wr_wl_tree_free(t);
}

static void test_empty(void **state)
{
    struct wr_wl_tree *t = parsed("");

    assert_null(wr_wl_tree_root(t));
    wr_wl_tree_free(t);
    wr_wl_tree_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),     cmocka_unit_test(test_null),
        cmocka_unit_test(test_alias_bomb), cmocka_unit_test(test_folded),
        cmocka_unit_test(test_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
