/* check_limits.c - limits of this process: descriptors and locked memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <stdint.h>
#include <sys/resource.h>

#include "base/units.h"

#define ENOUGH_FILES    1024
#define LEAST_FILES     16
#define KERNEL_UNLOCKED 512 /* rings are charged to the control group: 5.12 */
#define ENOUGH_LOCKED   (UINT64_C(1) << 20)

/* The limit, or RLIM_INFINITY when it is not known; false: that was said. */
static bool has_limit(int which, struct rlimit *lim, struct wr_finding *f)
{
    bool known = getrlimit((__rlimit_resource_t)which, lim) == 0;

    if (known && lim->rlim_cur != RLIM_INFINITY)
        return true;
    wr_observed(f, known ? "unlimited" : "not known");
    return false;
}

void wr_check_files(const struct wr_doctor *d, struct wr_finding *f)
{
    struct rlimit lim;
    char buf[32];

    if (!has_limit(RLIMIT_NOFILE, &lim, f))
        return;
    wr_observed(f, "%s descriptors",
                wr_format_count(buf, sizeof(buf), lim.rlim_cur));
    if (lim.rlim_cur >= ENOUGH_FILES)
        return;
    wr_means(f, "Each file that is being read takes a descriptor: fewer reads "
                "can be in flight, and a mount or many shards may not open.");
    wr_remedy(
        f, lim.rlim_cur < LEAST_FILES ? WR_HEALTH_MISSING : WR_HEALTH_LIMITED,
        lim.rlim_cur < lim.rlim_max && lim.rlim_max >= ENOUGH_FILES
            ? "ulimit -n %u"
            : "sudo prlimit --nofile=%u --pid $$",
        65536u);
}

void wr_check_memlock(const struct wr_doctor *d, struct wr_finding *f)
{
    unsigned kernel = wr_doctor_kernel(d);
    struct rlimit lim;
    char buf[32];

    if (!has_limit(RLIMIT_MEMLOCK, &lim, f))
        return;
    wr_observed(f, "%s",
                wr_format_bytes(buf, sizeof(buf), (double)lim.rlim_cur));
    if (!kernel || kernel >= KERNEL_UNLOCKED || lim.rlim_cur >= ENOUGH_LOCKED)
        return;
    wr_means(f, "Before Linux 5.12 the rings of io_uring count as locked "
                "memory: there is room for few of them.");
    wr_remedy(f, WR_HEALTH_LIMITED, "ulimit -l unlimited");
}
