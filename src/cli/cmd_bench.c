/* cmd_bench.c - weir bench: how fast the pipeline feeds, and what limits it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/feed_args.h"
#include "cli/interrupt.h"
#include "cli/session.h"
#include "measure/bench.h"
#include "measure/bench_record.h"
#include "pipeline/settings.h"
#include "pipeline/split.h"
#include "report/bench_tables.h"

struct bench_args {
    /* what is done */
    struct wr_enum_list stages, decode, page_cache;
    struct wr_uint_list threads, depth, prefetch, batch;
    uint64_t repeat;
    const char *accelerator;
    double consumer_ms;        /* the old name: ms=... */
    weir_pipeline_config feed; /* what all cases have in common */
    int normalize;
    struct wr_open_args open;
    /* results */
    bool limits, digest, json;
    const char *csv, *record;
    double monitor_hz;
    double min_rate, min_of_decode, min_of_read;
};

#define A struct bench_args
static const struct wr_option options[] = {
    {WR_FEED_OWN(stages, ",..."), WR_OPT_ENUM_LIST(A, stages),
     WR_FEED_RANGE(stages), WR_FEED_DEF(stages), .group = "What to measure",
     WR_FEED_HELP(stages)},
    {WR_OPT_ENUM_LIST(A, page_cache), .name = "page-cache", .arg = "STATE,...",
     .choices = wr_cache_state_choices, .def = "warm",
     .help = "state of the page cache before every run"},
    {WR_FEED_OWN(threads, ",..."), .letter = 't', WR_OPT_UINT_LIST(A, threads),
     .min = 1, .max = 1024, .choices = wr_auto_choices, WR_FEED_NOTE(threads),
     .help = "workers; a list is swept"},
    {WR_FEED_OWN(depth, ",..."), .letter = 'd', WR_OPT_UINT_LIST(A, depth),
     WR_FEED_RANGE(depth), WR_FEED_DEF(depth), WR_FEED_HELP(depth)},
    {WR_FEED_OWN(prefetch, ",..."), .letter = 'p',
     WR_OPT_UINT_LIST(A, prefetch), WR_FEED_RANGE(prefetch),
     WR_FEED_DEF(prefetch), WR_FEED_HELP(prefetch)},
    {WR_FEED_OWN(batch, ",..."), .letter = 'b', WR_OPT_UINT_LIST(A, batch),
     WR_FEED_RANGE(batch), WR_FEED_DEF(batch), WR_FEED_HELP(batch)},
    {WR_FEED_NAME(A, max_batches), .def_note = "one epoch",
     .help = "stop each run after this many batches"},
    {WR_FEED_NAME(A, epochs), .min = 1, WR_FEED_DEF(epochs),
     .help = "epochs per run"},
    {WR_OPT_UINT(A, repeat), .name = "repeat", .letter = 'r', .arg = "N",
     .min = 2, .max = 1000, .def = "6",
     .help = "rounds; the first is a warm-up and not counted"},
    {WR_OPT_STRING(A, accelerator), .name = "accelerator", .arg = "NAME",
     .def = "none",
     .help = "what works on each batch, emulated: " WR_HELP_ACCELERATORS
             "; none: batches are taken as they come"},
    {WR_OPT_DOUBLE(A, consumer_ms), .name = "consumer-ms", .arg = "MS",
     .max = 1e6, .def = "0", .flags = WR_OPTION_HIDDEN,
     .help = "the old name of --accelerator ms=MS"},
    {WR_OPT_FLAG(A, limits), .name = "limits", .def = "yes",
     .help = "do not measure the limits of decoding alone and reading alone"},

    {WR_FEED(A, size), .group = "Output"},
    {WR_FEED(A, channels)},
    {WR_FEED(A, dtype)},
    {WR_FEED(A, layout)},
    WR_NORMALIZE_OPTION(A),
    {WR_FEED(A, resize)},
    {WR_FEED_OWN(decode, ",..."), WR_OPT_ENUM_LIST(A, decode),
     WR_FEED_RANGE(decode), WR_FEED_DEF(decode), WR_FEED_HELP(decode)},
    {WR_FEED(A, orient)},
    {WR_FEED(A, crop)},
    {WR_FEED(A, crop_area), .with = "crop random"},
    {WR_FEED(A, crop_ratio), .with = "crop random"},
    {WR_FEED(A, crop_center), .with = "crop center"},
    {WR_FEED_NAME(A, flip), WR_FEED_HELP(flip)},

    {WR_FEED(A, order), .group = "Which samples, and in which order"},
    {WR_FEED(A, seed)},
    {WR_FEED_NAME(A, block_samples), .max = 1e9, WR_FEED_DEF(block_samples),
     .with = "order block", WR_FEED_HELP(block_samples)},
    {WR_FEED_NAME(A, block_window), .min = 1, .max = 1e6,
     WR_FEED_DEF(block_window), .with = "order block",
     WR_FEED_HELP(block_window)},
    {WR_FEED_NAME(A, rank), .max = 1e9, WR_FEED_DEF(rank), WR_FEED_HELP(rank)},
    {WR_FEED_NAME(A, world), .min = 1, .max = 1e9, WR_FEED_DEF(world),
     WR_FEED_HELP(world)},
    {WR_FEED(A, holdout), .with = "part"},
    {WR_FEED(A, split_seed), .with = "holdout"},
    {WR_FEED(A, part), .with = "holdout"},
    {WR_FEED(A, fields)},
    {WR_FEED(A, remainder)},
    {WR_FEED(A, on_error)},

    {WR_FEED(A, cache), .group = "Where to read from"},
    {WR_FEED(A, cache_what), .with = "cache"},
    {WR_FEED(A, memory)},

    {WR_FEED(A, io), .group = "How to read"},
    {WR_FEED_NAME(A, direct), WR_FEED_HELP(direct)},
    WR_OPEN_OPTIONS(A, "the data set"),

    {WR_OPT_FLAG(A, digest), .name = "digest", .group = "Results",
     .help = "print a digest of everything delivered (takes some time)"},
    {WR_OPT_OUTPUT(A, csv), .name = "csv",
     .help = "write the time of every batch"},
    {WR_OPT_RECORD(A), .help = "write the run record (JSON)"},
    {WR_OPT_FLAG(A, json), .name = "json",
     .help = "print the run record instead of the table"},
    WR_MONITOR_OPTION(A),
    {WR_OPT_DOUBLE(A, min_rate), .name = "min-rate", .arg = "N", .def = "0",
     .help = "exit with 3 if a case delivers fewer samples per second"},
    {WR_OPT_DOUBLE(A, min_of_decode), .name = "min-of-decode", .arg = "R",
     .def = "0", .help = "exit with 3 below this fraction of the decode limit"},
    {WR_OPT_DOUBLE(A, min_of_read), .name = "min-of-read", .arg = "R",
     .def = "0", .help = "exit with 3 below this fraction of the read limit"},
    WR_OPTIONS_END};
#undef A

static void bench_defaults(void *args)
{
    weir_pipeline_defaults(&((struct bench_args *)args)->feed);
}

#define MAX_CASES  256
#define BATCH_ROWS 20000 /* of a run's batches in the record, at most */

/* One call of the command. */
struct bench_call {
    struct wr_session s;
    uint32_t hosts; /* of rank 0 */
    char *tiers;    /* owned: their folders, which are watched */
    struct wr_bench_plan plan;
    struct wr_bench_result *results; /* owned */
};

/* --- its cases --- */

/* Case number k of the product of all lists; the last list turns fastest. */
static void pick_case(const struct bench_args *a, size_t k,
                      struct wr_bench_case *c)
{
    const struct {
        size_t count;
        const uint64_t *u;
        const int *e;
    } lists[] = {
        {a->stages.count, NULL, a->stages.v},
        {a->page_cache.count, NULL, a->page_cache.v},
        {a->decode.count, NULL, a->decode.v},
        {a->batch.count, a->batch.v, NULL},
        {a->prefetch.count, a->prefetch.v, NULL},
        {a->depth.count, a->depth.v, NULL},
        {a->threads.count, a->threads.v, NULL},
    };
    uint64_t v[WR_ARRAY_LEN(lists)];

    for (size_t i = WR_ARRAY_LEN(lists); i-- > 0;) {
        size_t n = WR_MAX(lists[i].count, (size_t)1);

        v[i] = !lists[i].count ? wr_cpu_count()
               : lists[i].u    ? lists[i].u[k % n]
                               : (uint64_t)lists[i].e[k % n];
        k /= n;
    }
    c->cfg.stages = (enum weir_stages)v[0];
    c->cache = (enum wr_cache_state)v[1];
    c->cfg.picture.decode = (enum weir_decode)v[2];
    c->cfg.batch = (uint32_t)v[3];
    c->cfg.prefetch = (uint32_t)v[4];
    c->cfg.depth = (uint32_t)v[5];
    c->cfg.threads = (uint32_t)v[6];
}

/* What works on each batch. */
static int bench_accelerator(const struct bench_args *a,
                             struct wr_accelerator *ret, weir_err *err)
{
    char old[32];

    snprintf(old, sizeof(old), "ms=%.9g", a->consumer_ms);
    if (wr_accelerator_parse(a->consumer_ms > 0 ? old : a->accelerator, ret,
                             err) < 0)
        return wr_fail_prefix(err, WEIR_EINVAL, "option --accelerator");
    if (ret->kind == WR_ACCELERATOR_CPU)
        return wr_fail(err, WEIR_EINVAL,
                       "option --accelerator: bench computes nothing; 'weir "
                       "train DATASET' trains on the CPU");
    return 0;
}

/* Every combination of the settings; *ret is to be freed, after a failure too. */
static int bench_cases(const struct wr_cli *cli, struct wr_bench_case **ret,
                       size_t *ret_count, weir_err *err)
{
    const struct bench_args *a = cli->args;
    size_t n = a->stages.count * a->page_cache.count * a->decode.count *
               a->batch.count * a->prefetch.count * a->depth.count *
               WR_MAX(a->threads.count, (size_t)1);
    struct wr_bench_case *cases;

    if (n > MAX_CASES)
        return wr_fail(err, WEIR_EINVAL,
                       "%zu combinations are too many; the limit is %d", n,
                       MAX_CASES);
    *ret = cases = wr_new(cli, n, sizeof(*cases));
    *ret_count = n;
    for (size_t k = 0; k < n; k++) {
        int r;

        cases[k].cfg = a->feed;
        wr_settings_normalize((enum wr_normalize)a->normalize,
                              &cases[k].cfg.picture);
        pick_case(a, k, &cases[k]);
        r = wr_feed_check(options, &cases[k].cfg, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* --- what it says before it measures --- */

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

/* What is measured, on what, by how many ranks (of `hosts` hosts), and what
 * takes the batches. */
static void bench_print_head(const struct wr_cli *cli,
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

/* --- the command --- */

/* Thresholds that were asked for. */
static int judge(const struct wr_cli *cli, const struct wr_bench_plan *plan,
                 const struct wr_bench_result *results)
{
    const struct bench_args *a = cli->args;
    int code = WR_EXIT_DONE;

    for (size_t k = 0; k < plan->case_count; k++) {
        const struct wr_bench_result_values *v = &results[k].v;
        const struct {
            const char *what;
            double is, wanted;
        } checks[] = {
            {"samples per second", v->samples_per_s, a->min_rate},
            {"of the decode limit", v->of_decode_limit, a->min_of_decode},
            {"of the read limit", v->of_read_limit, a->min_of_read},
        };

        for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
            if (checks[i].wanted > 0 && isnan(checks[i].is)) {
                wr_cli_note(cli, "row %zu: the part %s was not measured", k + 1,
                            checks[i].what);
            } else if (checks[i].is < checks[i].wanted) {
                wr_cli_note(cli, "row %zu: %.2f %s, %.2f was asked for", k + 1,
                            checks[i].is, checks[i].what, checks[i].wanted);
                code = WR_EXIT_MISSED;
            }
    }
    return code;
}

/* What was delivered must not differ from round to round. */
static int check_digests(const struct wr_bench_plan *plan,
                         const struct wr_bench_result *results, weir_err *err)
{
    for (size_t k = 0; plan->digest && k < plan->case_count; k++)
        for (unsigned i = 1; i < results[k].round_count; i++)
            if (strcmp(results[k].runs[i].digest, results[k].runs[0].digest))
                return wr_fail(err, WEIR_EIO,
                               "row %zu: round %u delivered other data than "
                               "the first one",
                               k + 1, i + 1);
    return 0;
}

static json_t *bench_record(void *call)
{
    struct bench_call *c = call;

    return wr_bench_record(&c->plan, c->results, &c->s.monitor);
}

/* Rank 0 has the results of all. */
static int bench_finish(void *call)
{
    struct bench_call *c = call;
    const struct bench_args *a = c->s.args;
    weir_err err;
    int r = 0;

    if (!wr_ranks_speaks(&c->s.ranks))
        return WR_EXIT_DONE;
    if (a->csv)
        r = wr_bench_write_csv(&c->plan, c->results, a->csv, &err);
    if (r == 0)
        r = check_digests(&c->plan, c->results, &err);
    return r < 0 ? wr_cli_fail(c->s.cli, "%s", err.msg)
                 : judge(c->s.cli, &c->plan, c->results);
}

static int bench_work(void *call, weir_err *err)
{
    struct bench_call *c = call;

    c->plan.progress = wr_progress_callback;
    c->plan.progress_arg = &c->s.line;
    c->plan.stopped = wr_interrupted;
    return wr_bench(&c->plan, &c->results, err);
}

static int check_options(const struct wr_cli *cli)
{
    const struct bench_args *a = cli->args;

    if (wr_cli_given(cli, "consumer-ms") && wr_cli_given(cli, "accelerator"))
        return wr_cli_usage(cli, "--consumer-ms is the old name of "
                                 "--accelerator ms=MS: give one of them");
    if (!a->limits && (a->min_of_decode > 0 || a->min_of_read > 0))
        return wr_cli_usage(cli, "a part of a limit needs the limits");
    return WR_EXIT_DONE;
}

/* A threshold that no case can be held to. */
static int check_thresholds(const struct wr_cli *cli,
                            const struct wr_bench_plan *plan)
{
    const struct bench_args *a = cli->args;

    for (size_t k = 0; a->min_of_decode > 0 && k < plan->case_count; k++)
        if (!wr_limit_has_decode(plan->ds, &plan->cases[k].cfg))
            return wr_cli_usage(cli,
                                "--min-of-decode: with --stages %s nothing of "
                                "these samples is decoded",
                                wr_choice_name(wr_stages_choices,
                                               (int)plan->cases[k].cfg.stages));
    return WR_EXIT_DONE;
}

/* Each rank runs every case on its share. */
static void share_cases(struct bench_call *c)
{
    const struct bench_args *a = c->s.args;
    const struct wr_launch *l = &c->s.ranks.launch;

    for (size_t k = 0; wr_ranks_several(&c->s.ranks) && k < c->plan.case_count;
         k++) {
        weir_pipeline_config *cfg = &c->plan.cases[k].cfg;

        cfg->rank = l->rank;
        cfg->world = l->world;
        if (!a->threads.count)
            cfg->threads = wr_ranks_threads(&c->s.ranks);
    }
    c->plan.local_rank = l->local_rank;
}

/* What is to be measured, from the options alone. */
static int bench_prepare(void *call)
{
    struct bench_call *c = call;
    const struct bench_args *a = c->s.args;
    struct wr_bench_plan *plan = &c->plan;
    int code = check_options(c->s.cli);
    weir_err err;

    if (code != WR_EXIT_DONE)
        return code;
    *plan = (struct wr_bench_plan){
        .rounds = (unsigned)a->repeat,
        .digest = a->digest,
        .limits = a->limits,
        .keep_batches = a->csv,
        .batch_rows = a->record || a->json ? BATCH_ROWS : 0,
    };
    if (bench_accelerator(a, &plan->accelerator, &err) < 0 ||
        bench_cases(c->s.cli, &plan->cases, &plan->case_count, &err) < 0)
        return wr_cli_usage(c->s.cli, "%s", err.msg);
    share_cases(c);
    return WR_GO_ON;
}

/* Of the tiers' folders. */
static void watch_disks(struct bench_call *c)
{
    const struct bench_args *a = c->s.args;
    char *tier, *rest = NULL;

    c->tiers = wr_new_text(c->s.cli, "%s", a->feed.cache ? a->feed.cache : "");
    for (tier = strtok_r(c->tiers, ",", &rest); tier;
         tier = strtok_r(NULL, ",", &rest)) {
        char *size = strrchr(tier, ':');

        if (size)
            *size = '\0';
        if (strcmp(tier, "ram"))
            wr_session_watch(&c->s, tier);
    }
}

static int bench_begin(void *call)
{
    struct bench_call *c = call;
    const struct bench_args *a = c->s.args;
    weir_err err;
    int code, r = wr_ranks_several(&c->s.ranks)
                      ? wr_ranks_hosts(&c->s.ranks, &c->hosts, &err)
                      : 0;

    if (r < 0)
        return wr_ranks_failed(&c->s.ranks, c->s.cli, r, &err);
    c->plan.ds = c->s.ds;
    c->plan.comm = c->s.ranks.comm;
    wr_dataset_note_issues(c->s.cli, c->s.ds);
    code = check_thresholds(c->s.cli, &c->plan);
    if (code != WR_EXIT_DONE)
        return code;
    if (!a->json)
        bench_print_head(c->s.cli, &c->plan, c->hosts);
    watch_disks(c);
    return WR_GO_ON;
}

static void bench_done(void *call)
{
    struct bench_call *c = call;

    wr_bench_free(c->results, c->plan.case_count);
    free(c->plan.cases);
    free(c->tiers);
}

/* A process that was told which share to take is not one of several. */
static int bench_run(struct wr_cli *cli)
{
    const struct wr_session_job job = {
        .call_bytes = sizeof(struct bench_call),
        .ranks = wr_cli_given(cli, "rank") || wr_cli_given(cli, "world")
                     ? WR_JOB_ALONE
                     : WR_JOB_RANKS,
        .label = "measuring",
        .unit = "batches",
        WR_JOB_DATASET(struct bench_args),
        WR_JOB_RECORD(struct bench_args),
        .prepare = bench_prepare,
        .begin = bench_begin,
        .work = bench_work,
        .record = bench_record,
        .finish = bench_finish,
        .done = bench_done,
    };

    return wr_session(cli, &job);
}

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("DATASET", WR_OPERAND_PATH), .help = WR_HELP_DATASET},
    {.name = NULL}};

static const struct wr_columns tables[] = {
    {NULL, wr_bench_case_columns + WR_BENCH_REPORT_COLUMNS}, {NULL, NULL}};

static const struct wr_help_example examples[] = {
    {"weir bench photos", "how fast 'photos' is fed, and what limits it"},
    {"weir bench photos --stages read --page-cache cold -t 1,2 -d 8,32,64",
     "how fast this disk delivers the files, by threads and depth"},
    {"weir bench photos -t 1,2,4,8 --page-cache cold,warm -o run.json",
     "the paper's strong scaling, kept as a record"},
    {"weir bench photos --accelerator ms=50 -p 0,1",
     "what prefetching gains for an accelerator of 50 ms per batch"},
    {"mpirun -n 4 weir bench /lustre/photos -o run.json",
     "four processes together, one result"},
    {"weir bench photos --digest --no-limits -r 2",
     "the same digest on every machine, thread count and I/O engine"},
    {NULL, NULL}};

const struct wr_command wr_cmd_bench = {
    .name = "bench",
    .group = WR_GROUP_MEASURE,
    .summary = "measure how fast the pipeline feeds, and what limits it",
    .description =
        "Reads the data set through the input pipeline as a training loop "
        "would, and takes batches as fast as they come (or at the pace of an "
        "emulated --accelerator). Options that take a list are swept. Each "
        "combination "
        "is run --repeat times, in rounds; the first round is a warm-up, the "
        "others give the median and the spread (half of the range).\n\n"
        "In the same rounds it measures two limits of this machine: 'of "
        "decode' is the rate as a fraction of what the same threads reach when "
        "they decode the same samples from memory and do nothing else; 'of "
        "read' is the rate as a fraction of what plain pread threads (the best "
        "of several thread counts) reach on the same ranges.\n\n"
        "The verdict says what to improve: storage-bound (faster storage, more "
        "depth), decode-bound (more cores, cheaper samples), convert-bound "
        "(tensors: more cores, or stored as they are asked for), "
        "consumer-bound (the input is fast enough). Starved means that other "
        "programs or a CPU limit took cores that weir could have used: measure "
        "again on an idle machine.\n\n"
        "Under mpirun, srun or torchrun each rank takes its share of the "
        "samples, all at the same time, and there is one result: the samples "
        "of all ranks over the time of the slowest one. The limits are "
        "measured by all ranks together, each on its share. --rank and --world "
        "take a share in a process of its own instead.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct bench_args),
    .defaults = bench_defaults,
    .columns = tables,
    .examples = examples,
    .ranks = WR_RANKS_ALL,
    .run = bench_run,
};
