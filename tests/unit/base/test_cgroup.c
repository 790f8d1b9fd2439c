/* test_cgroup.c - limits of control groups, versions 1 and 2.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"

static void cores(void **state)
{
    static const char *const none[] = {
        "",           "max 100000\n", "max\n", "50000\n",
        "0 100000\n", "50000 100000", "1 0\n", "99999999999999999999 1\n",
        "-1 100000\n"};
    double v = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_false(wr_cgroup_cpu_max(none[i], &v));
    assert_true(v == 7);
    assert_true(wr_cgroup_cpu_max("150000 100000\n", &v));
    assert_true(v == 1.5);
}

static void numbers(void **state)
{
    uint64_t v = 7;

    (void)state;
    assert_false(wr_cgroup_number("max\n", &v));
    assert_false(wr_cgroup_number("-1\n", &v));
    assert_false(wr_cgroup_number("123", &v)); /* cut */
    assert_false(wr_cgroup_number("9223372036854771712\n", &v));
    assert_int_equal(v, 7);
    assert_true(wr_cgroup_number("268435456\n", &v));
    assert_int_equal(v, 268435456);
}

static void paths(void **state)
{
    static const char text[] = "12:cpu,cpuacct:/docker/abc\n"
                               "4:memory:/jobs/a:b\n"
                               "1:name=systemd:/\n"
                               "0::/user.slice\n";
    char buf[32] = "left";

    (void)state;
    assert_true(wr_cgroup_path(text, "cpu", buf, sizeof(buf)));
    assert_string_equal(buf, "/docker/abc");
    assert_true(wr_cgroup_path(text, "cpuacct", buf, sizeof(buf)));
    assert_true(wr_cgroup_path(text, "memory", buf, sizeof(buf)));
    assert_string_equal(buf, "/jobs/a:b");
    assert_true(wr_cgroup_path(text, "", buf, sizeof(buf)));
    assert_string_equal(buf, "/user.slice");
    assert_true(wr_cgroup_path("0::/\n", "", buf, sizeof(buf)));
    assert_string_equal(buf, "");
    assert_true(wr_cgroup_path("2:cpu:/x\n0::/a/b c\n", "", buf, sizeof(buf)));
    assert_string_equal(buf, "/a/b c");
    assert_false(wr_cgroup_path("2:cpu:/x\n", "", buf, sizeof(buf)));
    assert_false(wr_cgroup_path(text, "mem", buf, sizeof(buf)));
    assert_false(wr_cgroup_path(text, "memory", buf, 5));
    assert_false(wr_cgroup_path("0::/cut", "", buf, sizeof(buf)));
    assert_false(wr_cgroup_path("0:\n0\n", "", buf, sizeof(buf)));
    assert_string_equal(buf, "/a/b c");
}

/* Runs a shell script in a new folder, which becomes the root. */
static struct wr_cgroup limits_of(const char *script)
{
    char root[] = "/tmp/weir-test-XXXXXX", cmd[2048];
    struct wr_cgroup group;

    assert_non_null(mkdtemp(root));
    snprintf(cmd, sizeof(cmd),
             "cd %s && mkdir -p proc/self sys/fs/cgroup && cd sys/fs/cgroup && "
             "cgroup() { cat >../../../proc/self/cgroup; } && %s",
             root, script);
    assert_int_equal(system(cmd), 0);
    wr_cgroup_limits(root, &group);
    snprintf(cmd, sizeof(cmd), "rm -r %s", root);
    assert_int_equal(system(cmd), 0);
    return group;
}

static void version_2(void **state)
{
    struct wr_cgroup g;

    (void)state;
    /* The smallest one on the way up counts, for each. */
    g = limits_of(
        "echo 0::/a/b/c | cgroup; mkdir -p a/b/c; "
        "echo max 100000 >a/b/c/cpu.max; echo 300000 100000 >a/cpu.max;"
        "echo 4000 >a/b/c/memory.max; echo 3000 >a/b/memory.max; "
        "echo 5000 >a/memory.max");
    assert_true(g.cores == 3);
    assert_int_equal(g.memory_bytes, 3000);
    /* A container sees itself as the root. */
    g = limits_of("echo 0::/ | cgroup; echo 50000 100000 >cpu.max; "
                  "echo max >memory.max");
    assert_true(g.cores == 0.5);
    assert_int_equal(g.memory_bytes, 0);
    /* The path of the host, which is not there. */
    g = limits_of("echo 0::/host/path | cgroup; echo 7000 >memory.max");
    assert_true(g.cores == 0);
    assert_int_equal(g.memory_bytes, 7000);
}

static void version_1(void **state)
{
    struct wr_cgroup g;

    (void)state;
    g = limits_of(
        "printf '3:cpu,cpuacct:/x\\n2:memory:/y\\n' | cgroup; "
        "mkdir -p cpu/x memory/y; echo -1 >cpu/cpu.cfs_quota_us; "
        "echo 250000 >cpu/x/cpu.cfs_quota_us; "
        "echo 100000 | tee cpu/cpu.cfs_period_us >cpu/x/cpu.cfs_period_us; "
        "echo 9223372036854771712 >memory/memory.limit_in_bytes; "
        "echo 6000 >memory/y/memory.limit_in_bytes");
    assert_true(g.cores == 2.5);
    assert_int_equal(g.memory_bytes, 6000);
}

static void none(void **state)
{
    struct wr_cgroup g = limits_of("true");

    (void)state;
    assert_true(g.cores == 0);
    assert_int_equal(g.memory_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores),     cmocka_unit_test(numbers),
        cmocka_unit_test(paths),     cmocka_unit_test(version_2),
        cmocka_unit_test(version_1), cmocka_unit_test(none)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
