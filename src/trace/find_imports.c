/* find_imports.c - D19: loading programs and modules takes long.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define MANY  10000 /* calls */
#define LONG  10.0  /* seconds */
#define SHARE 0.02

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    const struct wr_trace_io *io = &a->kinds[WR_TRACE_RUNTIME];
    uint64_t ops = 0, most = 0;
    double wall;
    size_t who = 0;

    for (int c = 0; c < WR_TRACE_CLASSES; c++)
        ops += io->ops[c];
    for (size_t k = 0; k < a->actor_count; k++) {
        uint64_t ns = 0;

        for (int c = 0; c < WR_TRACE_CLASSES; c++)
            ns += a->actors[k].ambient.ns[c];
        if (ns > most) {
            most = ns;
            who = k;
        }
    }
    wall = (double)most * 1e-9;
    if ((ops < MANY && wall < LONG) || wall < SHARE * wr_find_run(a))
        return false;
    f->seconds = wall;
    f->gain = 0.8 * wall;
    f->once = true;
    f->sure = WR_TRACE_FINDING_LIKELY;
    snprintf(f->what, sizeof(f->what),
             "Loading programs and modules takes %.1f s of a process's time.",
             wall);
    snprintf(f->evidence, sizeof(f->evidence),
             "%" PRIu64 " calls on code in %zu processes (%" PRIu64
             " opens, %" PRIu64 " stats, %" PRIu64 " of all failed); the "
             "slowest is process %d.",
             ops, a->actor_count, io->opens, io->stats, io->failed,
             (int)wr_trace_file_process(a->file, who)->pid);
    snprintf(f->change, sizeof(f->change),
             "Keep the environment on a local disk: cp -r \"$VIRTUAL_ENV\" "
             "/tmp/venv && /tmp/venv/bin/python ...; one archive unpacked per "
             "node is faster than a shared folder");
    return true;
}

const struct wr_trace_finding_rule wr_find_imports = {"D19", "import storm",
                                                      look};
