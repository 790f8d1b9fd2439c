/* bench.c - rounds of runs and limits, and what they say together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "measure/together.h"
#include "pipeline/config.h"
#include "pipeline/split.h"
#include "result/stats.h"

/* Rows of all series of batches together, and of one at least. */
#define BATCH_ROWS_ALL 60000
#define BATCH_ROWS_MIN 64

/* The state of one benchmark. */
struct bench_job {
    struct wr_bench_plan live;        /* the plan, and how far it is */
    const struct wr_bench_plan *plan; /* borrowed: `live` */
    struct wr_file_list files;
    struct wr_together together;
    bool begun; /* all ranks have begun the limit that is being measured */
    struct wr_bench_result *results; /* owned: plan->case_count */
    /* For the read limit by cache state: log2 of the thread count that was
     * best in the first round; -1: not known yet. */
    int best[3];
};

/* --- limits beside a run --- */

static uint64_t samples_of(const struct bench_job *b,
                           const struct wr_bench_case *c)
{
    const struct wr_split split = wr_split_of(&c->cfg);
    uint64_t all = wr_split_count(&split, wr_index_count(b->plan->ds->index));
    uint32_t world = wr_together_is(&b->together) ? c->cfg.world : 1;

    if (world > 1)
        all = all / world + (c->cfg.rank < all % world);
    return c->cfg.max_batches ? WR_MIN(all, c->cfg.max_batches * c->cfg.batch)
                              : all;
}

/* Batches of one run, about. */
static uint64_t batches_of(const struct bench_job *b,
                           const struct wr_bench_case *c)
{
    uint64_t epoch = (samples_of(b, c) + c->cfg.batch - 1) / c->cfg.batch;

    return c->cfg.max_batches ? epoch : epoch * WR_MAX(c->cfg.epochs, 1u);
}

/* A run, or its limits, is over. */
static void step(struct bench_job *b, const struct wr_bench_case *c)
{
    b->live.done += batches_of(b, c);
    if (b->live.progress)
        b->live.progress(b->live.progress_arg, b->live.done, b->live.total);
}

/* As many threads as the pipeline has at most. */
static unsigned limit_threads(const struct wr_bench_case *c)
{
    return c->cfg.threads == WEIR_AUTO || !c->cfg.threads ? wr_cpu_count()
                                                          : c->cfg.threads;
}

/* Brings the page cache into its state, once for each host, and waits for the
 * ranks that do so. */
static int prepare(struct bench_job *b, enum wr_cache_state state,
                   double *ret_resident, weir_err *err)
{
    int r = 0;

    *ret_resident = -1;
    if (b->plan->local_rank == 0)
        r = wr_files_prepare(&b->files, state, b->plan->stopped, ret_resident,
                             err);
    return r == 0 ? wr_together_begin(&b->together, err) : r;
}

static int begin_limit(void *arg, weir_err *err)
{
    struct bench_job *b = arg;

    b->begun = true;
    return wr_together_begin(&b->together, err);
}

static struct wr_limit_job
limit_job(struct bench_job *b, const struct wr_bench_case *c, unsigned threads)
{
    struct wr_limit_job job = {
        .ds = b->plan->ds,
        .cfg = &c->cfg,
        .samples = samples_of(b, c),
        .threads = threads,
        .stopped = b->plan->stopped,
    };

    if (wr_together_is(&b->together)) {
        job.rank = c->cfg.rank;
        job.world = c->cfg.world;
        job.begin = begin_limit;
        job.begin_arg = b;
    }
    return job;
}

typedef int limit_function(const struct wr_limit_job *job, struct wr_limit *ret,
                           weir_err *err);

/* All ranks measure it at the same time, each on its share. The rate is 0 when
 * one of them cannot. */
static int measure_limit(struct bench_job *b, const struct wr_limit_job *job,
                         limit_function *limit, double *ret_rate, weir_err *err)
{
    struct wr_limit mine = {0};
    double seconds = NAN;
    int r, q = 0;

    b->begun = false;
    r = limit(job, &mine, err);
    if (r == WEIR_ECANCELED)
        return r;
    if (!wr_together_is(&b->together)) {
        *ret_rate = r == 0 ? mine.samples_per_s : 0;
        return 0;
    }
    if (!b->begun) /* it failed before: the others wait */
        q = begin_limit(b, err);
    if (r == 0)
        seconds = (double)mine.samples / mine.samples_per_s;
    return q < 0 ? q
                 : wr_together_rate(&b->together, (double)mine.samples, seconds,
                                    ret_rate, err);
}

/* One pass of plain preads. */
static int read_pass(struct bench_job *b, enum wr_cache_state cache,
                     const struct wr_limit_job *job, double *ret_rate,
                     weir_err *err)
{
    double resident;
    int r = prepare(b, cache, &resident, err);

    if (r == WEIR_ECANCELED || (r < 0 && wr_together_is(&b->together)))
        return r;
    *ret_rate = 0;
    return r == 0 ? measure_limit(b, job, wr_limit_read, ret_rate, err) : 0;
}

/* The first round tries all thread counts, the others the best one and its
 * neighbours. Which of them is the limit is decided at the end, by their
 * medians: the best of several noisy numbers in each round would be more than
 * any of them can do. */
static int read_limit(struct bench_job *b, const struct wr_bench_case *c,
                      struct wr_bench_run *run, weir_err *err)
{
    int *best = &b->best[c->cache];
    int top = 0;

    for (int k = 0; k < WR_BENCH_READ_COUNTS; k++) {
        struct wr_limit_job job = limit_job(b, c, 1u << k);
        int r;

        if (*best >= 0 && abs(k - *best) > 1)
            continue;
        r = read_pass(b, c->cache, &job, &run->read_rates[k], err);
        if (r < 0)
            return r;
        if (run->read_rates[k] > run->read_rates[top])
            top = k;
    }
    if (*best < 0)
        *best = top;
    return 0;
}

/* Where the bytes are the tensor, the places they go to do not fit into the
 * cache: what plain reads reach when they have to fill them too. */
static int slot_limit(struct bench_job *b, const struct wr_bench_case *c,
                      struct wr_bench_run *run, weir_err *err)
{
    struct wr_limit_job job = limit_job(b, c, limit_threads(c));

    job.slots = 2 * c->cfg.batch;
    if (c->cfg.stages != WEIR_STAGES_ALL ||
        wr_limit_has_decode(b->plan->ds, &c->cfg))
        return 0;
    return read_pass(b, c->cache, &job, &run->v.slot_limit_per_s, err);
}

static int decode_limit(struct bench_job *b, const struct wr_bench_case *c,
                        struct wr_bench_run *run, weir_err *err)
{
    const struct wr_limit_job job = limit_job(b, c, limit_threads(c));

    if (!wr_limit_has_decode(b->plan->ds, &c->cfg))
        return 0;
    return measure_limit(b, &job, wr_limit_decode, &run->v.decode_limit_per_s,
                         err);
}

/* Samples inside gzip are no byte ranges of a file: plain reads cannot have
 * them. */
static bool is_packed(const weir_dataset *ds)
{
    struct wr_part first;

    wr_index_part(ds->index, 0, 0, &first);
    return wr_part_is_packed(&first);
}

static int run_limits(struct bench_job *b, const struct wr_bench_case *c,
                      struct wr_bench_run *run, weir_err *err)
{
    int r;

    if (!b->plan->limits || is_packed(b->plan->ds))
        return 0;
    r = decode_limit(b, c, run, err);
    if (r == 0)
        r = read_limit(b, c, run, err);
    if (r == 0)
        r = slot_limit(b, c, run, err);
    if (r == 0)
        step(b, c);
    return r;
}

/* --- rounds --- */

static int run_case(struct bench_job *b, size_t k, unsigned round,
                    weir_err *err)
{
    const struct wr_bench_case *c = &b->plan->cases[k];
    struct wr_bench_run *run = &b->results[k].runs[round];
    double resident = -1;
    int r = 0;

    wr_vals_clear(&wr_bench_vals, &run->v);
    if (c->cache != WR_CACHE_ASIS)
        r = run_limits(b, c, run, err);
    if (r == 0)
        r = prepare(b, c->cache, &resident, err);
    if (r == 0)
        r = wr_bench_once(b->plan, c, run, &b->results[k], err);
    if (r == 0)
        r = wr_bench_join(&b->together, run, &b->results[k], err);
    if (r == 0)
        step(b, c);
    run->v.resident = resident >= 0 ? resident : NAN;
    /* The limits read the files: a cache that is left alone comes first. */
    if (r == 0 && c->cache == WR_CACHE_ASIS)
        r = run_limits(b, c, run, err);
    return r;
}

/* Sorts them; NaN: there are none. */
static double median_of(double *values, size_t n)
{
    return wr_stats_quantile(values, wr_stats_sort(values, n), 0.5);
}

/* Median over the counted rounds of the rate as a part of the limit that
 * lies at `offset` in a run. */
static double ratio_of(const struct wr_bench_result *res, size_t offset,
                       double *scratch)
{
    size_t n = 0;

    for (unsigned i = 1; i < res->round_count; i++) {
        const struct wr_bench_values *v = &res->runs[i].v;

        if (wr_number_at(v, offset) > 0)
            scratch[n++] = v->samples_per_s / wr_number_at(v, offset);
    }
    return median_of(scratch, n);
}

/* Chooses the thread count whose median is best as the read limit. */
static void choose_read_limit(struct wr_bench_result *res, double *scratch)
{
    double best = 0;
    int top = 0;

    for (int k = 0; k < WR_BENCH_READ_COUNTS; k++) {
        size_t n = 0;
        double rate;

        for (unsigned i = 1; i < res->round_count; i++)
            if (res->runs[i].read_rates[k] > 0)
                scratch[n++] = res->runs[i].read_rates[k];
        rate = n + 1 == res->round_count ? median_of(scratch, n) : 0;
        if (rate > best) {
            best = rate;
            top = k;
        }
    }
    for (unsigned i = 0; i < res->round_count; i++) {
        res->runs[i].v.read_limit_per_s = res->runs[i].read_rates[top];
        res->runs[i].v.read_limit_threads = 1u << top;
    }
}

static void sum_up(struct wr_bench_result *res, double *scratch)
{
    struct wr_bench_result_values *to = &res->v;
    size_t n = 0, starved = 0, middle;

    for (unsigned i = 1; i < res->round_count; i++) {
        scratch[n++] = res->runs[i].v.samples_per_s;
        starved += res->runs[i].v.cores.starved;
    }
    to->starved = 2 * starved >= n;
    middle = wr_stats_middle(scratch, n);
    res->median = 1 + (unsigned)(middle < n ? middle : 0);
    to->samples_per_s = median_of(scratch, n);
    to->samples_per_s_min = scratch[0];
    to->samples_per_s_max = scratch[n - 1];
    choose_read_limit(res, scratch);
#define RATIO(limit)                                                           \
    ratio_of(res, offsetof(struct wr_bench_values, limit), scratch)
    to->of_decode_limit = RATIO(decode_limit_per_s);
    to->of_read_limit = RATIO(read_limit_per_s);
    to->of_slot_limit = RATIO(slot_limit_per_s);
#undef RATIO
    to->verdict = res->runs[res->median].v.verdict;
}

static int run_rounds(struct bench_job *b, weir_err *err)
{
    for (unsigned round = 0; round < b->plan->rounds; round++)
        for (size_t k = 0; k < b->plan->case_count; k++) {
            int r = run_case(b, k, round, err);

            if (r < 0)
                return r;
        }
    return 0;
}

/* The longest wait and gap of a row: a stall must stay visible. */
static const enum wr_series_rule batch_rules[WR_BENCH_BATCH_COLUMNS] = {
    [WR_BENCH_WAIT] = WR_SERIES_MAX, [WR_BENCH_GAP] = WR_SERIES_MAX};

/* The series of all runs are made before the first one: memory does not grow
 * while it is measured. */
static int init_series(struct bench_job *b, size_t k, weir_err *err)
{
    const struct wr_bench_plan *plan = b->plan;
    size_t runs = plan->case_count * (plan->rounds - 1);
    size_t rows = WR_MAX(BATCH_ROWS_ALL / runs, (size_t)BATCH_ROWS_MIN);
    /* One that is not filled is not merged. */
    uint64_t needed = batches_of(b, &plan->cases[k]) + 1;
    int r = 0;

    rows = WR_MIN(rows, plan->batch_rows);
    rows = (size_t)WR_MIN((uint64_t)rows, needed);
    for (unsigned i = 1; r == 0 && rows && i < plan->rounds; i++)
        r = wr_series_init(&b->results[k].runs[i].series, rows,
                           WR_BENCH_BATCH_COLUMNS, batch_rules, err);
    return r;
}

static int init_results(struct bench_job *b, weir_err *err)
{
    const struct wr_bench_plan *plan = b->plan;
    int r = 0;

    b->results = calloc(plan->case_count, sizeof(*b->results));
    if (!b->results)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < plan->case_count; k++) {
        b->results[k].runs = calloc(plan->rounds, sizeof(struct wr_bench_run));
        if (!b->results[k].runs)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        b->results[k].round_count = plan->rounds;
    }
    for (size_t k = 0; r == 0 && k < plan->case_count; k++)
        r = init_series(b, k, err);
    return r;
}

/* All cases before the first run: the last one must not fail after minutes. */
static int check_cases(const struct wr_bench_plan *plan, weir_err *err)
{
    for (size_t k = 0; k < plan->case_count; k++) {
        weir_pipeline_config cfg = plan->cases[k].cfg;
        struct wr_tune tune;
        int r = wr_config_settle(plan->ds, &cfg, &tune, err);

        if (r < 0)
            return r;
    }
    return 0;
}

/* What all runs and limits have to do. */
static void count_batches(struct bench_job *b)
{
    const struct wr_bench_plan *plan = b->plan;

    b->live.done = b->live.total = 0;
    for (size_t k = 0; k < plan->case_count; k++)
        b->live.total += batches_of(b, &plan->cases[k]) * plan->rounds *
                         (plan->limits ? 2 : 1);
}

static int run_all(struct bench_job *b, weir_err *err)
{
    const struct wr_bench_plan *plan = b->plan;
    double *scratch = calloc(plan->rounds, sizeof(*scratch));
    int r = scratch ? check_cases(plan, err)
                    : wr_fail(err, WEIR_ENOMEM, "out of memory");

    count_batches(b);
    if (r == 0)
        r = init_results(b, err);
    if (r == 0)
        r = wr_files_init(&b->files, plan->ds, err);
    if (r == 0)
        r = run_rounds(b, err);
    for (size_t k = 0; r == 0 && k < plan->case_count; k++)
        sum_up(&b->results[k], scratch);
    wr_files_done(&b->files);
    free(scratch);
    return r;
}

int wr_bench(const struct wr_bench_plan *plan, struct wr_bench_result **ret,
             weir_err *err)
{
    struct bench_job b = {.live = *plan, .plan = &b.live, .best = {-1, -1, -1}};
    weir_err why;
    int r = wr_together_open(&b.together, plan->comm, &why);

    if (r == 0)
        r = run_all(&b, &why);
    if (r < 0)
        wr_together_give_up(&b.together, &why);
    wr_together_close(&b.together);
    if (r < 0) {
        wr_bench_free(b.results, plan->case_count);
        return wr_fail_as(err, r, &why);
    }
    *ret = b.results;
    return 0;
}

void wr_bench_free(struct wr_bench_result *results, size_t count)
{
    for (size_t k = 0; results && k < count; k++) {
        struct wr_bench_result *res = &results[k];

        for (unsigned i = 0; res->runs && i < res->round_count; i++) {
            free(res->runs[i].batch_times);
            free(res->runs[i].ranks.v);
            json_decref(res->runs[i].said);
            wr_series_done(&res->runs[i].series);
        }
        for (size_t i = 0; i < res->bad_kept; i++)
            free((void *)(uintptr_t)res->bad[i].text);
        free(res->bad);
        free(res->runs);
    }
    free(results);
}
