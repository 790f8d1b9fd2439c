/* device_profiles.c - the built-in devices: one entry each.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the numbers come from, and how the law of `hdd` and the seek of
 * `lustre` were solved: docs/formats/profile.md. "Table I" is that of Chien et
 * al., Characterizing Deep-Learning I/O Workloads in TensorFlow, 2018. */
#include "storage/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "storage/storage.h"

#define KIB           (UINT64_C(1) << 10)
#define MIB           (UINT64_C(1) << 20)
#define MAX_FILE_SIZE ((size_t)64 * KIB)

static const struct wr_device_profile profiles[] = {
    {
        .name = "hdd",
        .title = "a 7200 rpm disk on SATA (Table I: HDD)",
        .read_latency_us = 20,
        .write_latency_us = 60,
        .meta_latency_us = 100,
        .sync_latency_us = 12000,
        .read_bytes_per_s = 163.00e6,
        .write_bytes_per_s = 133.14e6,
        .channels = 1,
        .seek_us = 8500,
        .near_bytes = 8 * MIB,
        .seek_law = {{1, 1},
                     {2, 0.56865},
                     {4, 0.46656},
                     {8, 0.38111},
                     {16, 0.345},
                     {32, 0.32}},
        .seek_points = 6,
        .write_cache_bytes = 64 * MIB,
        .readahead_bytes = 128 * KIB,
    },
    {
        .name = "ssd",
        .title = "a SATA flash drive (Table I: SSD, Samsung 850 EVO)",
        .read_latency_us = 20,
        .write_latency_us = 30,
        .meta_latency_us = 240,
        .sync_latency_us = 1500,
        .read_bytes_per_s = 280.55e6,
        .write_bytes_per_s = 195.05e6,
        .channels = 10,
        .seek_us = 80,
        .near_bytes = 2 * MIB,
        .write_cache_bytes = 32 * MIB,
        .readahead_bytes = 128 * KIB,
    },
    {
        .name = "optane",
        .title = "a 3D XPoint card on PCIe 3 (Table I: Intel Optane, 900P)",
        .read_latency_us = 10,
        .write_latency_us = 10,
        .meta_latency_us = 60,
        .sync_latency_us = 20,
        .read_bytes_per_s = 1603.06e6,
        .write_bytes_per_s = 511.78e6,
        .channels = 8,
        .readahead_bytes = 128 * KIB,
    },
    {
        .name = "lustre",
        .title = "Lustre over EDR InfiniBand (Table I: Lustre)",
        .read_latency_us = 300,
        .write_latency_us = 300,
        .meta_latency_us = 500,
        .sync_latency_us = 3000,
        .read_bytes_per_s = 1968.618e6,
        .write_bytes_per_s = 991.914e6,
        .channels = 32,
        .seek_us = 1200,
        .near_bytes = 16 * MIB,
        .seek_law = {{1, 1}, {8, 1.04395}},
        .seek_points = 2,
        .write_cache_bytes = 128 * MIB,
        .readahead_bytes = 64 * MIB,
    },
    {
        .name = "nvme",
        .title = "a data-centre flash drive on PCIe 3",
        .read_latency_us = 80,
        .write_latency_us = 15,
        .meta_latency_us = 90,
        .sync_latency_us = 30,
        .read_bytes_per_s = 3200e6,
        .write_bytes_per_s = 2000e6,
        .channels = 51,
        .write_cache_bytes = 64 * MIB,
        .readahead_bytes = 128 * KIB,
    },
    {
        .name = "nfs",
        .title = "an NFS server with flash, over 10 Gb/s Ethernet",
        .read_latency_us = 250,
        .write_latency_us = 250,
        .meta_latency_us = 500,
        .sync_latency_us = 1500,
        .read_bytes_per_s = 1150e6,
        .write_bytes_per_s = 800e6,
        .channels = 64,
        .write_cache_bytes = 64 * MIB,
        .readahead_bytes = 128 * KIB,
    },
    {
        .name = "null",
        .title = "no latency and no limit: what the emulation itself costs",
        .readahead_bytes = 1 * MIB,
    },
};

const struct wr_device_profile *wr_device_profile_at(unsigned k)
{
    return k < WR_ARRAY_LEN(profiles) ? &profiles[k] : NULL;
}

static int read_profile(const char *path, struct wr_device_profile *ret,
                        weir_err *err)
{
    struct wr_store *st = NULL;
    char *leaf = NULL, *text = NULL;
    size_t len;
    int r;

    r = wr_store_open(path, &st, &leaf, err);
    if (r == 0)
        r = leaf ? wr_store_slurp(st, leaf, MAX_FILE_SIZE, &text, &len, err)
                 : wr_fail(err, WEIR_EINVAL, "'%s': a folder, not a profile",
                           path);
    if (r == 0)
        r = wr_device_profile_parse(text, len, path, ret, err);
    free(text);
    free(leaf);
    wr_store_close(st);
    return r;
}

int wr_device_profile_find(const char *what, struct wr_device_profile *ret,
                           weir_err *err)
{
    const char *dot = strrchr(what, '.');
    char names[256] = "";
    size_t used = 0;

    if (strchr(what, '/') || (dot && !strcmp(dot, ".profile")))
        return read_profile(what, ret, err);
    for (unsigned k = 0; k < WR_ARRAY_LEN(profiles); k++) {
        if (!strcmp(what, profiles[k].name)) {
            *ret = profiles[k];
            return 0;
        }
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                 k ? ", " : "", profiles[k].name);
    }
    return wr_fail(err, WEIR_EINVAL,
                   "'%.64s': no such device profile (there are %s, or the path "
                   "of a .profile file)",
                   what, names);
}
