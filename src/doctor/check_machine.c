/* check_machine.c - kernel, cores and memory that this process may use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/units.h"
#include "base/cgroup.h"
#include "base/procfs.h"

#define KERNEL_URING 519 /* registered files that need no list: 5.19 */
#define LEAST_MEMORY (UINT64_C(80) << 20)

static void lacks_proc(struct wr_finding *f, const char *path, const char *what)
{
    wr_observed(f, "not known: no %s", path);
    wr_means(f, "/proc is not mounted: weir cannot tell %s.", what);
    wr_remedy(f, WR_HEALTH_LIMITED, "mount -t proc proc /proc");
}

void wr_check_kernel(const struct wr_doctor *d, struct wr_finding *f)
{
    unsigned version = wr_doctor_kernel(d);
    char text[128];

    if (!version) {
        lacks_proc(f, "/proc/sys/kernel/osrelease",
                   "what the machine does while it measures");
        return;
    }
    wr_doctor_read(d, "/proc/sys/kernel/osrelease", text, sizeof(text));
    text[strcspn(text, "\n")] = '\0';
    wr_observed(f, "Linux %s", text);
    if (version >= KERNEL_URING)
        return;
    wr_means(f, "Its io_uring lacks what weir uses since Linux 5.19, so reads "
                "go through a pool of threads.");
    wr_remedy(f, WR_HEALTH_LIMITED, "apt-get install " WR_DOCTOR_KERNEL);
}

void wr_check_cores(const struct wr_doctor *d, struct wr_finding *f)
{
    unsigned mine = wr_cpu_count();
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    struct wr_cgroup group;

    wr_cgroup_limits(d->root, &group);
    if (group.cores > 0 && group.cores < mine) {
        unsigned whole = group.cores < 1 ? 1 : (unsigned)group.cores;

        wr_observed(f, "a quota of %.3g cores on %u", group.cores, mine);
        wr_means(f, "The control group stops all threads for the rest of each "
                    "period when the quota is used up. weir starts one thread "
                    "per core that it may run on: ask for fewer, or raise the "
                    "quota.");
        wr_remedy(f, WR_HEALTH_LIMITED, "weir bench --threads %u ...", whole);
        return;
    }
    if (all > 0 && mine < (unsigned long)all) {
        wr_observed(f, "%u of %ld", mine, all);
        wr_means(f, "This process is bound to some of the cores. In a batch "
                    "job, ask for more.");
        wr_remedy(f, WR_HEALTH_LIMITED, "taskset -c 0-%ld weir ...", all - 1);
        return;
    }
    wr_observed(f, "%u, all of them", mine);
}

/* weir's own wishes: a quarter of the machine's memory with `auto`. */
static void judge_group(struct wr_finding *f, uint64_t total, uint64_t limit)
{
    char a[32], b[32];

    wr_observed(f, "%s of %s", wr_format_bytes(a, sizeof(a), (double)limit),
                wr_format_bytes(b, sizeof(b), (double)total));
    wr_means(f, "The control group allows no more, page cache included; a "
                "process that wants more is killed. With --depth auto or "
                "--prefetch auto weir spends up to a quarter of the machine's "
                "memory unless it is told otherwise.");
    wr_remedy(f, WR_HEALTH_LIMITED, "weir bench --memory %" PRIu64 "MiB ...",
              limit / 4 >> 20);
}

void wr_check_memory(const struct wr_doctor *d, struct wr_finding *f)
{
    uint64_t total = 0, available = 0;
    const struct wr_procfs_field fields[] = {
        {"MemTotal:", 1024, &total}, {"MemAvailable:", 1024, &available}};
    struct wr_cgroup group;
    char text[8192], a[32], b[32];

    if (wr_doctor_read(d, "/proc/meminfo", text, sizeof(text)) < 0 ||
        !wr_procfs_fields(text, fields, 2) || !total) {
        lacks_proc(f, "/proc/meminfo", "how much memory there is");
        return;
    }
    wr_cgroup_limits(d->root, &group);
    if (group.memory_bytes && group.memory_bytes < total) {
        judge_group(f, total, group.memory_bytes);
        if (group.memory_bytes < LEAST_MEMORY)
            f->health = WR_HEALTH_MISSING;
        return;
    }
    wr_observed(f, "%s, %s free", wr_format_bytes(a, sizeof(a), (double)total),
                wr_format_bytes(b, sizeof(b), (double)available));
    if (available >= LEAST_MEMORY)
        return;
    wr_means(f, "Batches, reads in flight and decoders take some 100 MB.");
    wr_remedy(f, WR_HEALTH_MISSING, "ps -eo rss,pid,comm --sort=-rss | head");
}
