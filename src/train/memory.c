/* memory.c - whether the machine has the memory that computing takes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/memory.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/cgroup.h"
#include "base/procfs.h"

uint64_t wr_memory_needed(const struct wr_net *net, uint32_t batch)
{
    uint64_t outs = 0;

    for (size_t i = 0; i < net->layer_count; i++)
        outs += wr_layer_out_count(&net->layers[i]);
    return sizeof(float) * (net->param_count + outs * batch);
}

/* What can be had without swapping, and within the control group's limit;
 * UINT64_MAX when it is not known. */
static uint64_t free_bytes(void)
{
    uint64_t available = UINT64_MAX;
    struct wr_procfs_field field = {"MemAvailable:", 1024, &available};
    struct wr_cgroup group = {0};
    char text[4096];

    if (wr_procfs_read_path("/proc/meminfo", text, sizeof(text)) > 0)
        wr_procfs_fields(text, &field, 1);
    wr_cgroup_limits("", &group);
    return group.memory_bytes ? WR_MIN(available, group.memory_bytes)
                              : available;
}

int wr_memory_check(const struct wr_net *net, uint32_t batch, weir_err *err)
{
    uint64_t needed = wr_memory_needed(net, batch), is_free = free_bytes();
    char want[32], have[32];

    if (needed <= is_free)
        return 0;
    return wr_fail(err, WEIR_ENOMEM,
                   "out of memory: a batch of %" PRIu32
                   " at width %g takes at least %s, and %s are free (a smaller "
                   "--batch or --width takes less)",
                   batch, net->spec.width,
                   wr_format_bytes(want, sizeof(want), (double)needed),
                   wr_format_bytes(have, sizeof(have), (double)is_free));
}
