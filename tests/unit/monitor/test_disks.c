/* test_disks.c - which disks are watched, on machines of several kinds.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/host.h"

/* A sysfs: a server with a SATA disk in partitions, two NVMe disks in a RAID
 * with a mapped volume on it, a multipath one, and what every machine has. */
static const char tree[] =
    "set -e; mkdir -p block class/block devices; "
    "dev() { mkdir -p \"devices/$2$1/slaves\"; "
    "ln -s \"../devices/$2$1\" \"block/$1\"; "
    "ln -s \"../../devices/$2$1\" \"class/block/$1\"; }; "
    "part() { mkdir \"devices/$1/$2\"; echo 1 >\"devices/$1/$2/partition\"; "
    "ln -s \"../../devices/$1/$2\" \"class/block/$2\"; }; "
    "dev sda pci/; touch devices/pci/sda/device; "
    "part pci/sda sda1; part pci/sda sda2; "
    "dev nvme0n1 pci/; touch devices/pci/nvme0n1/device; "
    "part pci/nvme0n1 nvme0n1p3; "
    "dev nvme1n1 pci/; touch devices/pci/nvme1n1/device; "
    "dev nvme2c0n1 pci/; touch devices/pci/nvme2c0n1/device; "
    "echo 1 >devices/pci/nvme2c0n1/hidden; "
    "dev loop0 virtual/; dev ram0 virtual/; dev zram0 virtual/; "
    "dev md127 virtual/; touch devices/virtual/md127/slaves/nvme0n1p3 "
    "devices/virtual/md127/slaves/nvme1n1; "
    "dev dm-0 virtual/; touch devices/virtual/dm-0/slaves/md127; "
    "dev dm-1 virtual/; touch devices/virtual/dm-1/slaves/dm-1; "
    "dev 'cciss!c0d0' pci/; touch 'devices/pci/cciss!c0d0/device'";

static int make_tree(void **state)
{
    char *dir = strdup("/tmp/weir-test-XXXXXX"), cmd[4096];

    if (!mkdtemp(dir))
        return -1;
    snprintf(cmd, sizeof(cmd), "cd %s && %s", dir, tree);
    *state = dir;
    return system(cmd);
}

static int remove_tree(void **state)
{
    char cmd[4096];

    snprintf(cmd, sizeof(cmd), "rm -r %s", (char *)*state);
    free(*state);
    return system(cmd);
}

static void check(const struct wr_disks *d, size_t count, ...)
{
    va_list ap;

    assert_int_equal(d->count, count);
    va_start(ap, count);
    for (size_t k = 0; k < count; k++) {
        const char *want = va_arg(ap, const char *);
        bool found = false;

        for (size_t i = 0; i < d->count; i++)
            found |= !strcmp(d->name[i], want);
        assert_true(found);
    }
    va_end(ap);
}

static void a_partition_stands_for_its_disk(void **state)
{
    struct wr_disks d = {.sys = *state};

    wr_disks_add(&d, "sda2");
    wr_disks_add(&d, "sda1");
    wr_disks_add(&d, "sda");
    check(&d, 1, "sda");
}

static void what_it_is_made_of_is_watched_too(void **state)
{
    struct wr_disks d = {.sys = *state};

    wr_disks_add(&d, "dm-0");
    check(&d, 4, "dm-0", "md127", "nvme0n1", "nvme1n1");
    assert_string_equal(d.name[0], "dm-0");
    d.count = 0;
    wr_disks_add(&d, "dm-1"); /* nonsense, but it ends */
    check(&d, 1, "dm-1");
}

static void unknown_devices_are_passed_over(void **state)
{
    struct wr_disks d = {.sys = *state};

    wr_disks_add(&d, "sdz");
    wr_disks_add(&d, "");
    wr_disks_add_path(&d, "/no/such/path");
    wr_disks_add_path(&d, "/proc/self"); /* lies on no disk */
    check(&d, 0);
    d.sys = "/no/such/sys";
    wr_disks_add(&d, "sda");
    wr_disks_add_all(&d);
    check(&d, 0);
}

static void all_are_the_real_ones(void **state)
{
    struct wr_disks d = {.sys = *state};

    wr_disks_add_all(&d);
    check(&d, 4, "sda", "nvme0n1", "nvme1n1", "cciss!c0d0");
}

static void no_more_than_fit(void **state)
{
    struct wr_disks d = {.sys = *state, .count = WR_DISKS_MAX - 1};

    for (size_t k = 0; k < d.count; k++)
        snprintf(d.name[k], sizeof(d.name[k]), "x%zu", k);
    wr_disks_add(&d, "dm-0");
    assert_int_equal(d.count, WR_DISKS_MAX);
    assert_string_equal(d.name[WR_DISKS_MAX - 1], "dm-0");
}

static void files_of_a_disk(void **state)
{
    struct wr_disks d = {.sys = "/s"};
    char buf[20];

    (void)state;
    d.count = 1;
    snprintf(d.name[0], sizeof(d.name[0]), "sda");
    assert_string_equal(wr_disks_file(&d, 0, "stat", buf, sizeof(buf)),
                        "/s/block/sda/stat");
    assert_null(wr_disks_file(&d, 0, "stat", buf, 17));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_partition_stands_for_its_disk),
        cmocka_unit_test(what_it_is_made_of_is_watched_too),
        cmocka_unit_test(unknown_devices_are_passed_over),
        cmocka_unit_test(all_are_the_real_ones),
        cmocka_unit_test(no_more_than_fit),
        cmocka_unit_test(files_of_a_disk),
    };

    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
