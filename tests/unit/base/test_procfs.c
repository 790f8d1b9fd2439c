/* test_procfs.c - texts of /proc and /sys of several kernels and machines.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/procfs.h"

/* Linux 2.6.32 with 11 numbers, 4.18 with 15, 5.5 and later with 17. */
static void disks_of_all_kernels(void **state)
{
    static const char *const texts[] = {
        "   12345      67  8901234     5678      910      11   121314     1516"
        "        2     3344     5566\n",
        "   12345      67  8901234     5678      910      11   121314     1516"
        "        2     3344     5566        0        0        0        0\n",
        "12345 67 8901234 5678 910 11 121314 1516 2 3344 5566 7 8 9 10 11 12\n",
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct wr_procfs_disk d;

        assert_true(wr_procfs_disk(texts[i], &d));
        assert_int_equal(d.reads, 12345);
        assert_int_equal(d.read_sectors, 8901234);
        assert_int_equal(d.writes, 910);
        assert_int_equal(d.write_sectors, 121314);
        assert_int_equal(d.busy_ms, 3344);
        assert_int_equal(d.queue_ms, 5566);
    }
}

/* Partitions of old kernels had four numbers; a text may be cut. */
static void disks_that_do_not_tell(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        "123 456 789 1011\n",
        "1 2 3 4 5 6 7 8 9 10\n11\n",
        "1 2 3 4 5 6 7 8 9 10 11", /* cut within a number? */
        "1 2 3 4 5 6 7 8 9 10 -11\n",
        "1 2 3 4 5 6 7 8 9 10 11x\n",
        "1 2 99999999999999999999 4 5 6 7 8 9 10 11\n",
        "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n", /* of diskstats */
    };
    struct wr_procfs_disk d = {.reads = 77};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_false(wr_procfs_disk(texts[i], &d));
    assert_int_equal(d.reads, 77);
}

static void cores(void **state)
{
    struct wr_procfs_cpu c;

    (void)state;
    /* Without steal and guest (2.6.9), with all, and with a guest, whose time
     * is in user already. */
    assert_true(
        wr_procfs_cpu("cpu  100 20 30 4000 50 6 7\ncpu0 1 1 1 1\n", &c));
    assert_int_equal(c.busy, 163);
    assert_int_equal(c.iowait, 50);
    assert_true(wr_procfs_cpu("cpu  100 20 30 4000 50 6 7 800 90 1\n", &c));
    assert_int_equal(c.busy, 163);
    assert_int_equal(c.iowait, 50);
    /* Linux 2.4 */
    assert_true(wr_procfs_cpu("cpu  100 20 30 4000\n", &c));
    assert_int_equal(c.busy, 150);
    assert_int_equal(c.iowait, 0);
    assert_false(wr_procfs_cpu("cpu0 100 20 30 4000 50 6 7\n", &c));
    assert_false(wr_procfs_cpu("cpu  100 20 30\n", &c));
    assert_false(wr_procfs_cpu("", &c));
    assert_false(wr_procfs_cpu("intr 1 2 3 4 5\n", &c));
}

static void fields(void **state)
{
    uint64_t buffers = 1, cached = 2, dirty = 3, none = 4;
    const struct wr_procfs_field want[] = {{"Buffers:", 1024, &buffers},
                                           {"Cached:", 1024, &cached},
                                           {"Dirty:", 1024, &dirty},
                                           {"Nothing:", 1, &none}};

    (void)state;
    assert_int_equal(wr_procfs_fields("MemTotal:  8148 kB\n"
                                      "Buffers:         16 kB\n"
                                      "Cached:          32 kB\n"
                                      "SwapCached:       5 kB\n"
                                      "Dirty:           64 k",
                                      want, 4),
                     2);
    assert_int_equal(buffers, 16384);
    assert_int_equal(cached, 32768);
    assert_int_equal(dirty, 3); /* its line is not whole */
    assert_int_equal(none, 4);
    assert_int_equal(wr_procfs_fields("", want, 4), 0);
    assert_int_equal(wr_procfs_fields("Buffers: none\nDirty:\n7\n", want, 4),
                     0);
}

static void pages(void **state)
{
    uint64_t n = 0;

    (void)state;
    assert_true(wr_procfs_resident("2034 551 489 6 0 117 0\n", &n));
    assert_int_equal(n, 551);
    assert_false(wr_procfs_resident("2034\n551\n", &n));
}

static void counters_wrap(void **state)
{
    (void)state;
    assert_int_equal(wr_procfs_grown(10, 17), 7);
    assert_int_equal(wr_procfs_grown(UINT32_MAX - 4, 5), 10);
    assert_int_equal(wr_procfs_grown((uint64_t)1 << 40, 5), 0); /* began anew */
}

static void files_are_read_again(void **state)
{
    char path[] = "/tmp/weir-test-XXXXXX", text[8];
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "one\n", 4), 4);
    assert_int_equal(wr_procfs_read(fd, text, sizeof(text)), 4);
    assert_string_equal(text, "one\n");
    assert_int_equal(pwrite(fd, "two long lines\n", 15, 0), 15);
    assert_int_equal(wr_procfs_read(fd, text, sizeof(text)), 7);
    assert_string_equal(text, "two lon");
    assert_int_equal(wr_procfs_read_path(path, text, sizeof(text)), 7);
    close(fd);
    unlink(path);
    assert_int_equal(wr_procfs_read_path(path, text, sizeof(text)), -ENOENT);
    assert_int_equal(wr_procfs_read(fd, text, sizeof(text)), -EBADF);
}

static void set_of(cpu_set_t *set, unsigned a, unsigned b)
{
    CPU_ZERO(set);
    CPU_SET(a, set);
    CPU_SET(b, set);
}

/* Only the lines of the cores that are asked for; Linux 2.6.10 has no steal. */
static void some_cores(void **state)
{
    static const char text[] = "cpu  1 1 1 1 1 1 1 1 1 1\n"
                               "cpu0 100 20 30 4000 50 6 7 800 90 1\n"
                               "cpu1 9 9 9 9 9 9 9 9 9 9\n"
                               "cpu12 1 2 3 4 5 6 7\n"
                               "intr 4 5 6\ncpu3 1 1 1 1 1 1 1\n";
    struct wr_procfs_cores c = {.busy = 77};
    cpu_set_t set;

    (void)state;
    set_of(&set, 0, 12);
    assert_true(wr_procfs_cores(text, &set, &c));
    assert_int_equal(c.count, 2);
    assert_int_equal(c.busy, 100 + 20 + 30 + 6 + 7 + 1 + 2 + 3 + 6 + 7);
    assert_int_equal(c.idle, 4050 + 9);
    assert_int_equal(c.steal, 800);
    c.busy = 77;
    set_of(&set, 0, 2); /* not there */
    assert_false(wr_procfs_cores(text, &set, &c));
    set_of(&set, 0, 3); /* behind other lines */
    assert_false(wr_procfs_cores(text, &set, &c));
    assert_false(wr_procfs_cores("", &set, &c));
    assert_false(wr_procfs_cores("cpu0 1 2 3 4", &set, &c));
    assert_int_equal(c.busy, 77);
}

static void mounts(void **state)
{
    char whole[] = "36 35 98:0 /mnt1 /a\\040b\\134c rw,noatime master:1 - "
                   "ext3 /dev/my\\040root rw,errors=continue\n";
    char plain[] = "22 1 8:1 / / rw shared:1 - xfs none rw\n";
    char cut[] = "36 35 98:0 /mnt1 /a\\04 rw - fuse.weir x\\";
    char no_end[] = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1\n";
    char no_source[] = "36 35 98:0 /mnt1 /mnt2 rw - ext3\n";
    char no_point[] = "36 35 98:0 / - ext3 /dev/root\n";
    struct wr_procfs_mount m;

    (void)state;
    assert_true(wr_procfs_mount(whole, &m));
    assert_string_equal(m.dev, "98:0");
    assert_string_equal(m.point, "/a b\\c");
    assert_string_equal(m.type, "ext3");
    assert_string_equal(m.source, "/dev/my root");
    assert_true(wr_procfs_mount(plain, &m));
    assert_string_equal(m.point, "/");
    assert_string_equal(m.source, "none");
    assert_true(wr_procfs_mount(cut, &m));
    assert_string_equal(m.point, "/a\\04");
    assert_string_equal(m.source, "x\\");
    assert_false(wr_procfs_mount(no_end, &m));
    assert_false(wr_procfs_mount(no_source, &m));
    assert_false(wr_procfs_mount(no_point, &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disks_of_all_kernels),
        cmocka_unit_test(disks_that_do_not_tell),
        cmocka_unit_test(cores),
        cmocka_unit_test(some_cores),
        cmocka_unit_test(fields),
        cmocka_unit_test(pages),
        cmocka_unit_test(counters_wrap),
        cmocka_unit_test(mounts),
        cmocka_unit_test(files_are_read_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
