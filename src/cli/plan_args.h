/* plan_args.h - the settings of `weir plan`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_PLAN_ARGS_H
#define WR_CLI_PLAN_ARGS_H

#include "cli/command.h"
#include "plan/answer.h"
#include "plan/models.h"

struct plan_args {
    /* the machine */
    const char *model, *accelerator;
    uint64_t gpus, nodes, batch;
    double step_ms, step_cv, reduce_ms;
    const char *storage;
    bool shared;
    uint64_t aggregate, client_limit;
    double opens, vary;
    /* the input */
    int loader;
    uint64_t workers, depth, prefetch, cores;
    double cpu_ms, cpu_cv, fast_cpu_ms, batch_cpu_ms;
    uint64_t samples, sample_bytes, per_file;
    double sample_cv;
    bool sequential;
    uint64_t epochs, steps;
    const char *cache;
    bool cache_decoded;
    uint64_t wanted_case;
    /* checkpoints */
    int save;
    uint64_t every, state, kept, copy;
    const char *slow, *fast;
    double mtbf_h, restart_s;
    /* questions */
    double target;
    uint64_t most, life, simulate;
    bool what_if;
    struct wr_uint_list scale;
    const char *explain;
    bool paper;
    uint64_t seed;
    /* results */
    const char *record;
    bool json;
};

extern const struct wr_option wr_plan_options[];

/* What the options say, as facts; those that need what inputs say come with the
 * second one. */
int wr_plan_args_say(const struct wr_cli *cli, struct wr_plan_draft *d,
                     const struct wr_plan_model **ret_model, weir_err *err);
int wr_plan_args_say_late(const struct wr_cli *cli, struct wr_plan_draft *d,
                          weir_err *err);

/* Options that change nothing without another one, or contradict it. */
int wr_plan_args_check(const struct wr_cli *cli, weir_err *err);

#endif
