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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../format/tmpdir.h"

static void named(void **state)
{
    char list[3 * 256 + 8], path[PATH_MAX], want[600];
    weir_err err;
    struct tmpdir a, b;

    (void)state;
    tmpdir_init(&a);
    tmpdir_init(&b);
    tmpdir_put_text(&b, "weir-thing.so", "");
    snprintf(want, sizeof(want), "%s/weir-thing.so", b.path);
    snprintf(list, sizeof(list), "%s::%s:", a.path, b.path);
    assert_int_equal(setenv("WEIR_MODULES", list, 1), 0);
    assert_int_equal(wr_module_find("thing", "none", path, &err), 0);
    assert_string_equal(path, want);
    assert_int_equal(wr_module_find("other", "none", path, &err), WEIR_ENOENT);
    /* the first folder wins */
    tmpdir_put_text(&a, "weir-thing.so", "");
    assert_int_equal(wr_module_find("thing", "none", path, &err), 0);
    assert_memory_equal(path, a.path, strlen(a.path));
    tmpdir_done(&a);
    tmpdir_done(&b);
}

/* What is said of a module that cannot be had: where it was looked for, and how
 * it is built. */
static void test_messages(void **state)
{
    struct wr_module m = {.who = "engine 'x'",
                          .name = "x",
                          .tree = "none",
                          .library = "libx",
                          .package = "libx1",
                          .symbol = "wr_x"};
    char path[PATH_MAX];
    const void *module;
    struct tmpdir dir;
    weir_err err;

    assert_int_equal(setenv("WEIR_MODULES", "", 1), 0);
    assert_int_equal(wr_module_load(&m, &module, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "engine 'x': no weir-x.so beside weir nor "
                                    "in '/"));
    m.unbuilt = "it (Debian: ...)";
    assert_int_equal(wr_module_load(&m, &module, &err), WEIR_ENOTSUP);
    assert_string_equal(err.msg, "engine 'x': this weir was built without it "
                                 "(Debian: ...)");
    tmpdir_init(&dir);
    assert_int_equal(setenv("WEIR_MODULES", dir.path, 1), 0);
    assert_int_equal(wr_module_load(&m, &module, &err), WEIR_ENOENT);
    assert_non_null(
        strstr(err.msg, "engine 'x': no weir-x.so in WEIR_MODULES"));
    tmpdir_put_text(&dir, "weir-x.so", "no object");
    snprintf(path, sizeof(path), "'%s/weir-x.so': cannot load: ", dir.path);
    assert_int_equal(wr_module_load(&m, &module, &err), WEIR_ENOENT);
    assert_memory_equal(err.msg, path, strlen(path));
    assert_null(strstr(err.msg, "Debian")); /* that is not what it lacks */
    tmpdir_done(&dir);
}

/* --- beside this program, which libweir is linked into --- */

/* A file beside this program; `name` is the module's. */
static void put_beside(char name[32], char own[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", own, PATH_MAX - 64);
    char *slash;

    assert_true(n > 0);
    own[n] = '\0';
    slash = strrchr(own, '/');
    snprintf(name, 32, "beside-%d", (int)getpid());
    snprintf(slash, PATH_MAX - (size_t)(slash - own), "/weir-%s.so", name);
    fclose(fopen(own, "w"));
    assert_int_equal(setenv("WEIR_MODULES", "", 1), 0);
}

/* In the folder of a build tree; not when folders are named. */
static void beside(void **state)
{
    char path[PATH_MAX], own[PATH_MAX], name[32];
    weir_err err;

    (void)state;
    put_beside(name, own);
    assert_int_equal(wr_module_find(name, ".", path, &err), 0);
    assert_string_equal(path, own);
    unlink(own);
    assert_int_equal(wr_module_find(name, ".", path, &err), WEIR_ENOENT);
}

/* What others can change is not taken: the program is not theirs. */
static void not_ours(void **state)
{
    char path[PATH_MAX], own[PATH_MAX], other[PATH_MAX + 8], name[32];
    weir_err err;

    (void)state;
    put_beside(name, own);
    chmod(own, 0666);
    assert_int_equal(wr_module_find(name, ".", path, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "everybody can write to it (mode 666)"));
    /* nor a link, which says nothing about where it will lead */
    chmod(own, 0644);
    snprintf(other, sizeof(other), "%s.real", own);
    assert_int_equal(rename(own, other), 0);
    assert_int_equal(symlink(other, own), 0);
    assert_int_equal(wr_module_find(name, ".", path, &err), WEIR_EACCES);
    unlink(own);
    unlink(other);
}

/* A group that can change the program runs as this user anyway. */
static void of_a_group(void **state)
{
    char path[PATH_MAX], own[PATH_MAX], name[32];
    struct stat was, sb;
    weir_err err;

    (void)state;
    put_beside(name, own);
    chmod(own, 0664);
    assert_int_equal(stat("/proc/self/exe", &was), 0);
    assert_int_equal(stat(own, &sb), 0);
    if (sb.st_gid == was.st_gid) {
        assert_int_equal(chmod("/proc/self/exe", 0775), 0);
        assert_int_equal(wr_module_find(name, ".", path, &err), 0);
        assert_int_equal(chmod("/proc/self/exe", was.st_mode & 07777), 0);
    }
    unlink(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named),      cmocka_unit_test(test_messages),
        cmocka_unit_test(beside),     cmocka_unit_test(not_ours),
        cmocka_unit_test(of_a_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
