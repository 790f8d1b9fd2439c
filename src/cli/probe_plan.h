/* probe_plan.h - which tests a probe has: quick, full, or as asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_PROBE_PLAN_H
#define WR_CLI_PROBE_PLAN_H

#include "cli/options.h"
#include "measure/probe.h"

/* Tests that belong together: one table of the result each. */
enum wr_probe_group {
    WR_PROBE_GROUP_SEQ,
    WR_PROBE_GROUP_RANDOM,
    WR_PROBE_GROUP_MIX,
    WR_PROBE_GROUP_FILES,
    WR_PROBE_GROUP_SYNC,
    WR_PROBE_GROUPS
};

/* The page cache: which tests go past it. */
enum wr_probe_access {
    WR_PROBE_BOTH, /* requests of the big file do, a few also go through it */
    WR_PROBE_DIRECT,
    WR_PROBE_BUFFERED
};

struct wr_probe_wish {
    bool quick;
    unsigned groups; /* 1u << enum wr_probe_group, summed; 0: all of them */
    enum wr_probe_access access;
    struct wr_uint_list depth, block, workers; /* empty: the plan's own */
};

#define WR_PROBE_TESTS_MAX 256

struct wr_probe_tests {
    size_t count;
    struct wr_probe_test v[WR_PROBE_TESTS_MAX];
};

/* Fails on blocks that cannot be read directly and on too many tests. */
int wr_probe_plan_tests(const struct wr_probe_wish *w,
                        struct wr_probe_tests *ret, weir_err *err);

/* Bytes of the big file, when the user did not say: what quick and full probes
 * take, but only a part of the free space (0: not known), and little when the
 * tests hardly use it. */
uint64_t wr_probe_plan_size(const struct wr_probe_tests *tests, bool quick,
                            uint64_t free_bytes);

#endif
