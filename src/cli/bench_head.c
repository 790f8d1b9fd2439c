/* bench_head.c - what a benchmark says before it measures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_head.h"

#include "base/units.h"
#include "cli/bench_args.h"
#include "cli/dataset_out.h"
#include "comm/comm.h"
#include "pipeline/settings.h"
#include "pipeline/split.h"

/* The batch size of all cases; 0: there are several. */
static uint32_t common_batch(const struct wr_bench_plan *plan)
{
    for (size_t k = 1; k < plan->case_count; k++)
        if (plan->cases[k].cfg.batch != plan->cases[0].cfg.batch)
            return 0;
    return plan->cases[0].cfg.batch;
}

/* Which part of the data set is fed, if not all of it. */
static void print_part(const struct wr_cli *cli,
                       const struct wr_bench_plan *plan)
{
    const weir_pipeline_config *c = &plan->cases[0].cfg;
    const struct wr_split split = wr_split_of(c);
    uint64_t n = wr_index_count(plan->ds->index);
    char count[32];

    if (c->part != WEIR_PART_ALL)
        wr_cli_put(
            cli, "part %s: %s samples (holdout %g)\n",
            wr_choice_name(wr_part_choices, (int)c->part),
            wr_format_count(count, sizeof(count), wr_split_count(&split, n)),
            (double)c->holdout);
}

void wr_bench_print_head(const struct wr_cli *cli,
                         const struct wr_bench_plan *plan, uint32_t hosts)
{
    uint32_t world = plan->comm ? plan->comm->world : 1;

    wr_dataset_print(cli, plan->ds);
    print_part(cli, plan);
    if (world > 1)
        wr_cli_put(cli, "%u ranks on %u host%s, each with its share\n", world,
                   hosts, hosts == 1 ? "" : "s");
    if (plan->accelerator.kind == WR_ACCELERATOR_EMULATED)
        wr_accelerator_print(cli, &plan->accelerator, common_batch(plan));
}
