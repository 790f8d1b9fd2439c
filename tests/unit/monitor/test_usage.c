/* test_usage.c - unit tests of cores.c and host.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "monitor/host.h"
#include "monitor/cores.h"

#define BIG ((size_t)32 << 20)

/* The peak remembers memory that is gone, until it is reset. */
static void test_peak(void **state)
{
    struct wr_usage before, high, after;
    weir_err err;
    void *p;

    (void)state;
    assert_int_equal(wr_usage_now(&before, &err), 0);
    p = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    assert_true(p != MAP_FAILED);
    memset(p, 1, BIG);
    munmap(p, BIG);
    assert_int_equal(wr_usage_now(&high, &err), 0);
    assert_true(high.peak_rss_bytes >= before.rss_bytes + BIG / 2);
    assert_true(high.rss_bytes < high.peak_rss_bytes);
    if (wr_usage_reset_peak(&err) < 0)
        skip(); /* not permitted in some containers */
    assert_int_equal(wr_usage_now(&after, &err), 0);
    assert_true(after.peak_rss_bytes < high.peak_rss_bytes - BIG / 2);
}

/* A user in very many groups: they stand before the memory. */
static void test_many_groups(void **state)
{
    static gid_t had[65536], many[2000];
    int had_count = getgroups(65536, had);
    struct wr_usage u;
    int r;

    (void)state;
    assert_true(had_count >= 0);
    for (size_t i = 0; i < WR_ARRAY_LEN(many); i++)
        many[i] = 4000000000u + (gid_t)i;
    if (setgroups(WR_ARRAY_LEN(many), many) < 0)
        skip(); /* the superuser may, outside of some containers */
    r = wr_usage_now(&u, NULL);
    assert_int_equal(setgroups((size_t)had_count, had), 0);
    assert_int_equal(r, 0);
    assert_true(u.rss_bytes > 0);
}

static void test_cpu(void **state)
{
    struct wr_usage from, to, used;
    volatile unsigned sink = 0;

    (void)state;
    assert_int_equal(wr_usage_now(&from, NULL), 0);
    do { /* until the kernel has accounted for something */
        for (unsigned i = 0; i < 1000000; i++)
            sink += i;
        assert_int_equal(wr_usage_now(&to, NULL), 0);
        used = wr_usage_between(&from, &to);
    } while (used.user_s + used.sys_s <= 0 && sink);
    assert_true(used.user_s >= 0);
    assert_true(used.sys_s >= 0);
    assert_int_equal(used.rss_bytes, to.rss_bytes);
}

static void test_between_without_io(void **state)
{
    struct wr_usage from = {.has_io = false, .read_bytes = 0};
    struct wr_usage to = {.has_io = true, .read_bytes = 100};
    struct wr_usage d = wr_usage_between(&from, &to);

    (void)state;
    assert_false(d.has_io);
    assert_int_equal(d.read_bytes, 0);
}

static void test_host(void **state)
{
    struct wr_host h;
    char name[256];

    (void)state;
    wr_host_info(&h);
    gethostname(name, sizeof(name));
    assert_string_equal(h.name, name);
    assert_non_null(strstr(h.kernel, "Linux "));
    assert_true(h.cores >= 1);
    assert_true(h.memory_bytes > 1 << 20);
}

static void test_file_systems(void **state)
{
    struct wr_host_fs fs;
    char mount[sizeof(fs.mount)];
    weir_err err;

    (void)state;
    assert_int_equal(wr_host_fs_of("/proc/self/status", &fs, &err), 0);
    assert_string_equal(fs.type, "proc");
    assert_string_equal(fs.mount, "/proc");
    assert_string_equal(fs.device, "");
    assert_int_equal(fs.rotational, -1);
    assert_int_equal(wr_host_fs_of("/", &fs, &err), 0);
    /* In a chroot nothing may be mounted there. */
    assert_true(!strcmp(fs.mount, "/") || !strcmp(fs.mount, ""));
    snprintf(mount, sizeof(mount), "%s", fs.mount);
    assert_true(fs.type[0] != '\0');
    assert_int_equal(wr_host_fs_of("/nonexistent", &fs, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "'/nonexistent'"));
    assert_string_equal(fs.mount, mount); /* untouched */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peak), cmocka_unit_test(test_many_groups),
        cmocka_unit_test(test_cpu),  cmocka_unit_test(test_between_without_io),
        cmocka_unit_test(test_host), cmocka_unit_test(test_file_systems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
