/* gen_workload.h - weir gen WORKLOAD: the data set of a description.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_GEN_WORKLOAD_H
#define WR_CLI_GEN_WORKLOAD_H

#include "cli/ranks.h"

struct wr_gen_workload_args {
    const char *workload;         /* borrowed: name in the catalog, or a path */
    const char *folder;           /* borrowed */
    const char *const *overrides; /* borrowed: "section.key=value" */
    size_t override_count;
    double scale;
    uint64_t accelerators; /* that will read it */
    uint64_t seed;
    unsigned threads;
    bool force, json;
    struct wr_ranks *ranks; /* borrowed: found, not met yet */
};

/* Returns enum wr_exit. */
int wr_cli_gen_workload(const struct wr_cli *cli,
                        const struct wr_gen_workload_args *a);

#endif
