/* test_names.c - unit tests of collect/names.c: paths, kinds, hashes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "trace/collect/names.h"

static void expect_join(const char *folder, const char *rel, const char *want)
{
    char buf[256];
    size_t n = wr_names_join(folder, rel, buf, sizeof(buf));

    assert_string_equal(buf, want);
    assert_int_equal(n, strlen(want));
}

static void paths_are_joined(void **state)
{
    (void)state;
    expect_join("/a/b", "c", "/a/b/c");
    expect_join("/a/b", "/c//d/", "/c/d");
    expect_join("/a/b", "./c/./d", "/a/b/c/d");
    expect_join("/a/b", "../c", "/a/c");
    expect_join("/a", "../../../c", "/c");
    expect_join("/", "c", "/c");
    expect_join("/", ".", "/");
    expect_join("", "pipe", "pipe");
}

static void long_paths_are_cut(void **state)
{
    char buf[16];

    (void)state;
    assert_true(wr_names_join("/a", "0123456789012345678", buf, sizeof(buf)) <
                sizeof(buf));
    assert_memory_equal(buf, "/a/0123", 7);
}

static void kinds_go_by_the_path(void **state)
{
    (void)state;
    assert_int_equal(wr_names_classify("/data/1.jpg"), WR_TRACE_DATA);
    assert_int_equal(wr_names_classify("/usr/share/x.csv"), WR_TRACE_DATA);
    assert_int_equal(wr_names_classify("/opt/libx.so.3"), WR_TRACE_RUNTIME);
    assert_int_equal(wr_names_classify("/data/train.py"), WR_TRACE_RUNTIME);
    assert_int_equal(wr_names_classify("/proc/self/io"), WR_TRACE_SYSTEM);
    assert_int_equal(wr_names_classify("/dev/shm/torch_1"), WR_TRACE_SHM);
    assert_int_equal(wr_names_classify("/memfd:x"), WR_TRACE_SHM);
    assert_int_equal(wr_names_classify("pipe:[12]"), WR_TRACE_STREAM);
    assert_int_equal(wr_names_classify("socket:[12]"), WR_TRACE_STREAM);
}

static void a_path_has_one_number(void **state)
{
    struct wr_names *n;
    bool is_new;
    char path[32];
    weir_err err;

    (void)state;
    assert_int_equal(wr_names_new(&n, false, &err), 0);
    for (unsigned i = 0; i < 10000; i++) {
        int len = snprintf(path, sizeof(path), "/d/%u", i);

        assert_int_equal(wr_names_number(n, path, (size_t)len, &is_new), i);
        assert_true(is_new);
    }
    assert_int_equal(wr_names_number(n, "/d/77", 5, &is_new), 77);
    assert_false(is_new);
    assert_int_equal(wr_names_count(n), 10000);
    assert_string_equal(wr_names_path(n, 9999), "/d/9999");
    wr_names_free(n);
}

static void hashes_keep_the_shape(void **state)
{
    struct wr_names *n;
    char buf[256];
    const char *shown;
    weir_err err;

    (void)state;
    assert_int_equal(wr_names_new(&n, true, &err), 0);
    shown = wr_names_shown(n, "/secret/cats/1.jpg", buf, sizeof(buf));
    assert_null(strstr(shown, "secret"));
    assert_null(strstr(shown, "cats"));
    assert_string_equal(shown + strlen(shown) - 4, ".jpg");
    assert_int_equal(strlen(shown), 3 * 9 + 4);
    assert_string_equal(wr_names_shown(n, "/usr/lib/x.so", buf, sizeof(buf)),
                        "/usr/lib/x.so");
    wr_names_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_joined),
        cmocka_unit_test(long_paths_are_cut),
        cmocka_unit_test(kinds_go_by_the_path),
        cmocka_unit_test(a_path_has_one_number),
        cmocka_unit_test(hashes_keep_the_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
