/* find_imports.c - D19: loading programs and modules takes long.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"

#define LEAST 0.25 /* seconds */
#define SHARE 0.02

/* Whether code on this mount waits for other machines. */
static bool is_remote(const struct wr_trace_mount *m)
{
    return m && (m->network || !strncmp(m->type, "fuse", 4));
}

/* Seconds of calls on code that lies elsewhere, and where most of it is. */
static double remote_s(const struct wr_trace_analysis *a,
                       const struct wr_trace_mount **ret)
{
    uint64_t ns = 0, most = 0;

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];
        const struct wr_trace_name *name = wr_trace_file_name(a->file, k);
        const struct wr_trace_mount *m;

        if (u->role != WR_TRACE_ROLE_AMBIENT || !u->meta_ns)
            continue;
        m = wr_trace_mount_of(a, name->path);
        if (!is_remote(m))
            continue;
        ns += u->meta_ns;
        if (u->meta_ns > most) {
            most = u->meta_ns;
            *ret = m;
        }
    }
    return (double)ns * 1e-9;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    const struct wr_trace_io *io = &a->kinds[WR_TRACE_RUNTIME];
    const struct wr_trace_mount *m = NULL;
    uint64_t ops = 0, most = 0;
    double wall, remote = remote_s(a, &m);
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
    wall = WR_MIN(wall, remote);
    if (!m || wall < LEAST || wall < SHARE * wr_find_run(a))
        return false;
    f->seconds = wall;
    f->gain = wall;
    f->once = true;
    f->sure = WR_TRACE_FINDING_LIKELY;
    snprintf(
        f->what, sizeof(f->what),
        "Loading programs and modules from %.60s (%.30s) takes %.1f s of a "
        "process's time.",
        m->path, m->type, wall);
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
