/* plan_scale.c - how long a simulated cluster takes to compute.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-plan-scale NODES STEPS VARY LUMP
 *
 * Simulates so many steps of so many nodes of 8 accelerators on one file system,
 * whose reads vary by VARY percent; LUMP is 1 or 0. Prints the seconds
 * that it took, the bytes that were resident at most, the simulated seconds, and
 * whether nodes or accelerators were lumped. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/units.h"
#include "plan/cluster.h"

/* ResNet-50 from files, on storage that gives each accelerator a bit more than it
 * needs, and steps that vary. */
static void describe(struct wr_plan *p, uint32_t nodes, uint64_t steps,
                     double vary)
{
    wr_plan_defaults(p);
    p->nodes = nodes;
    p->seed = 1;
    p->data.bytes = (struct wr_plan_draw){WR_PLAN_FIXED, 115e3, 0};
    p->compute.accelerators = 8;
    p->compute.batch = 64;
    p->compute.step_s = (struct wr_plan_draw){WR_PLAN_LOGNORMAL, 0.05, 0.05};
    p->compute.reduce_s = 0.005;
    p->data.samples = steps * nodes * 8 * 64;
    p->loader.workers = p->loader.cores = 16;
    p->loader.prefetch = 2;
    p->loader.cpu_s.mean = 0.001;
    strcpy(p->storage.profile.name, "shared");
    p->storage.profile.read_latency_us = 500;
    p->storage.profile.meta_latency_us = 500;
    p->storage.profile.read_bytes_per_s = 1e9 * nodes;
    p->storage.client_bytes_per_s = 5e9;
    p->storage.shared = true;
    p->storage.vary = vary;
}

static int run(uint32_t nodes, uint64_t steps, double vary, bool lump)
{
    struct wr_plan_how how = {0};
    struct wr_plan_result r;
    struct wr_plan p;
    struct rusage usage;
    uint64_t start;
    weir_err err;

    describe(&p, nodes, steps, vary);
    start = wr_clock_ns();
    if (wr_plan_check(&p, &err) < 0 ||
        wr_plan_cluster(&p, &how, lump, &r, &err) < 0) {
        fprintf(stderr, "bench-plan-scale: %s\n", err.msg);
        return 1;
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%.6f %.0f %.9g %d\n", (double)(wr_clock_ns() - start) / 1e9,
           (double)usage.ru_maxrss * 1024, r.seconds, r.lumped);
    wr_plan_result_done(&r);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t nodes, steps, percent, lump;
    weir_err err;

    if (argc != 5 ||
        wr_parse_uint(argv[1], 1, WR_PLAN_MAX_NODES, &nodes, &err) < 0 ||
        wr_parse_uint(argv[2], 1, 1000000, &steps, &err) < 0 ||
        wr_parse_uint(argv[3], 0, 100, &percent, &err) < 0 ||
        wr_parse_uint(argv[4], 0, 1, &lump, &err) < 0) {
        fprintf(stderr, "usage: bench-plan-scale NODES STEPS VARY LUMP\n");
        return 2;
    }
    return run((uint32_t)nodes, steps, (double)percent / 100, lump);
}
