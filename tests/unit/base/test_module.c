/* test_module.c - where modules are looked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../format/tmpdir.h"

static void named(void **state)
{
    char list[3 * 256 + 8], path[256], want[600];
    struct tmpdir a, b;

    (void)state;
    tmpdir_init(&a);
    tmpdir_init(&b);
    tmpdir_put_text(&b, "weir-thing.so", "");
    snprintf(want, sizeof(want), "%s/weir-thing.so", b.path);
    snprintf(list, sizeof(list), "%s::%s:", a.path, b.path);
    assert_int_equal(setenv("WEIR_MODULES", list, 1), 0);
    assert_string_equal(wr_module_named(), list);
    assert_true(wr_module_find("thing", "none", path, sizeof(path)));
    assert_string_equal(path, want);
    assert_false(wr_module_find("other", "none", path, sizeof(path)));
    assert_false(wr_module_find("thing", "none", path, 10));
    /* the first folder wins */
    tmpdir_put_text(&a, "weir-thing.so", "");
    assert_true(wr_module_find("thing", "none", path, sizeof(path)));
    assert_memory_equal(path, a.path, strlen(a.path));
    tmpdir_done(&a);
    tmpdir_done(&b);
}

/* Beside this program, in the folder of a build tree; not when folders are
 * named. */
static void beside(void **state)
{
    char path[4096], own[4096], name[32];
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
    char *slash;

    (void)state;
    assert_true(n > 0);
    own[n] = '\0';
    slash = strrchr(own, '/');
    snprintf(slash, sizeof(own) - (size_t)(slash - own), "/weir-beside-%d.so",
             (int)getpid());
    fclose(fopen(own, "w"));
    assert_int_equal(setenv("WEIR_MODULES", "", 1), 0);
    assert_null(wr_module_named());
    snprintf(name, sizeof(name), "beside-%d", (int)getpid());
    assert_true(wr_module_find(name, ".", path, sizeof(path)));
    unlink(own);
    assert_false(wr_module_find("beside", ".", path, sizeof(path)));
    assert_true(*wr_module_installed() == '/');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named),
        cmocka_unit_test(beside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
