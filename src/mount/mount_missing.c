/* mount_missing.c - what mounting says when it was built without libfuse3.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/mount.h"

#include <stddef.h>

#include "base/error.h"

const char *wr_mount_missing(void)
{
    return "this weir was built without libfuse3";
}

static int fail_missing(weir_err *err)
{
    return wr_fail(err, WEIR_ENOTSUP, "%s", wr_mount_missing());
}

int wr_mount_open(const struct wr_mount_config *cfg, struct wr_mount **ret,
                  weir_err *err)
{
    return fail_missing(err);
}

void wr_mount_facts(const struct wr_mount *m, struct wr_mount_facts *ret)
{
    *ret = (struct wr_mount_facts){0};
}

void wr_mount_stats(const struct wr_mount *m, struct wr_mount_stats *ret)
{
    *ret = (struct wr_mount_stats){0};
}

int wr_mount_event(const struct wr_mount *m)
{
    return -1;
}

bool wr_mount_end(struct wr_mount *m)
{
    return true;
}

void wr_mount_close(struct wr_mount *m)
{
}

int wr_mount_remove(const char *mountpoint, bool lazy, weir_err *err)
{
    return fail_missing(err);
}
