/* test_slurm.c - lists of nodes and tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void first_nodes(void **state)
{
    static const struct {
        const char *list, *first; /* NULL: an error */
    } rows[] = {
        {"n1", "n1"},
        {"n1,n2", "n1"},
        {"n[3-5,7]", "n3"},
        {"n[003-005]", "n003"},
        {"rack[2-3]n[01,07]-ib.example,x", "rack2n01-ib.example"},
        {"a_b", "a_b"},
        {"", NULL},
        {",n1", NULL},
        {"n[", NULL},
        {"n[]", NULL},
        {"n[1", NULL},
        {"n[1-2", NULL},
        {"n[x]", NULL},
        {"n1]", NULL},
        {"n:1", NULL},
        {"n 1", NULL},
        {"n/1", NULL},
    };
    char name[64];
    weir_err err;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(rows); k++) {
        int r = wr_slurm_first_node(rows[k].list, name, sizeof(name), &err);

        if (rows[k].first) {
            assert_int_equal(r, 0);
            assert_string_equal(name, rows[k].first);
        } else {
            assert_int_equal(r, WEIR_EINVAL);
            assert_non_null(strstr(err.msg, "no list of nodes"));
        }
    }
    assert_int_equal(wr_slurm_first_node("abc", name, 3, &err), WEIR_EINVAL);
    assert_int_equal(wr_slurm_first_node("abc", name, 4, &err), 0);
}

static void long_names(void **state)
{
    char list[600], name[600];

    (void)state;
    memset(list, '1', sizeof(list) - 1);
    list[sizeof(list) - 1] = '\0';
    assert_int_equal(wr_slurm_first_node(list, name, sizeof(name), NULL),
                     WEIR_EINVAL);
    list[0] = '[';
    assert_int_equal(wr_slurm_first_node(list, name, sizeof(name), NULL),
                     WEIR_EINVAL);
    list[255] = '\0';
    list[0] = 'n';
    assert_int_equal(wr_slurm_first_node(list, name, sizeof(name), NULL), 0);
}

static void tasks(void **state)
{
    static const struct {
        const char *list;
        uint32_t node, tasks; /* 0: an error */
    } rows[] = {
        {"4", 0, 4},       {"4", 1, 0},       {"2(x3),1", 0, 2},
        {"2(x3),1", 2, 2}, {"2(x3),1", 3, 1}, {"2(x3),1", 4, 0},
        {"", 0, 0},        {"x", 0, 0},       {"2(x", 0, 0},
        {"2(x3", 0, 0},    {"2;1", 1, 0},     {"99999999999999999999", 0, 0},
        {"2(x0),5", 0, 5}, {"2(x2),", 2, 0},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(rows); k++) {
        uint32_t n = 77;
        int r = wr_slurm_tasks(rows[k].list, rows[k].node, &n, NULL);

        assert_int_equal(r, rows[k].tasks ? 0 : WEIR_EINVAL);
        assert_int_equal(n, rows[k].tasks ? rows[k].tasks : 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_nodes),
        cmocka_unit_test(long_names),
        cmocka_unit_test(tasks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
