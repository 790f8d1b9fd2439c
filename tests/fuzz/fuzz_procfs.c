/* fuzz_procfs.c - texts of /proc and /sys.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    uint64_t a = 0, b = 0;
    const struct wr_procfs_field fields[] = {{"Cached:", 1024, &a},
                                             {"rchar:", 1, &b}};
    struct wr_procfs_disk disk;
    struct wr_procfs_cores cores;
    struct wr_procfs_cpu cpu;
    cpu_set_t which;
    char path[64];
    double quota;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    wr_procfs_fields(text, fields, 2);
    wr_procfs_cpu(text, &cpu);
    wr_procfs_disk(text, &disk);
    wr_procfs_resident(text, &a);
    CPU_ZERO(&which);
    CPU_SET(0, &which);
    CPU_SET(1, &which);
    wr_procfs_cores(text, &which, &cores);
    wr_cgroup_cpu_max(text, &quota);
    wr_cgroup_number(text, &a);
    wr_cgroup_path(text, "cpu", path, sizeof(path));
    wr_cgroup_path(text, "", path, 4);
    free(text);
    return 0;
}
