/* bench_record.c - the benchmark's results for programs: record and CSV.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "measure/parts.h"
#include "pipeline/settings.h"
#include "result/record.h"
#include "storage/beside.h"

static json_t *settings_json(const struct wr_bench_case *c)
{
    const weir_pipeline_config *g = &c->cfg;
    const weir_picture_config *p = &g->picture;
    json_t *to = json_object();

    json_object_set_new(
        to, "page_cache",
        json_string(wr_choice_name(wr_cache_state_choices, (int)c->cache)));
    for (const struct wr_setting *s = wr_settings; s->name; s++)
        wr_setting_json(to, s, g);
    if (g->part == WEIR_PART_ALL) {
        json_object_del(to, "part");
        json_object_del(to, "split_seed");
        json_object_del(to, "holdout");
    }
    json_object_set_new(to, "normalize",
                        json_pack("{s:[fff], s:[fff]}", "mean",
                                  (double)p->mean[0], (double)p->mean[1],
                                  (double)p->mean[2], "std", (double)p->std[0],
                                  (double)p->std[1], (double)p->std[2]));
    return to;
}

static json_t *batches_json(const struct wr_series *s)
{
    return json_pack("{s:I, s:o, s:o, s:o}", "merged", (json_int_t)s->merge,
                     "t_ms", wr_series_json(s, -1, 2), "wait_ms",
                     wr_series_json(s, WR_BENCH_WAIT, 2), "gap_ms",
                     wr_series_json(s, WR_BENCH_GAP, 2));
}

/* The values of all runs, with what only the record needs: times on the axis of
 * the monitor, series. NULL: memory is short. */
static struct wr_bench_values *runs_of(const struct wr_bench_result *res,
                                       const struct wr_monitor *m)
{
    struct wr_bench_values *v = calloc(res->round_count, sizeof(*v));

    for (unsigned i = 0; v && i < res->round_count; i++) {
        v[i] = res->runs[i].v;
        v[i].start_s = wr_monitor_at(m, res->runs[i].start_ns);
        if (res->runs[i].series.capacity)
            v[i].batch_times = batches_json(&res->runs[i].series);
    }
    return v;
}

static json_t *case_json(const struct wr_bench_plan *plan, size_t k,
                         const struct wr_bench_result *res,
                         const struct wr_monitor *m)
{
    struct wr_bench_values *runs = runs_of(res, m);
    struct wr_bench_case_values v = {
        .settings = settings_json(&plan->cases[k]),
        .result = res->v,
        .warm_up_runs = 1,
        .runs = {runs, res->round_count, sizeof(*runs)},
        .bad_count = (double)res->bad_count,
        .bad = wr_bad_json(res->bad, res->bad_kept),
        .ranks = res->runs[res->median].ranks};
    json_t *j = NULL;

    if (runs)
        j = wr_vals_json(&wr_bench_case_vals, &v, WR_FOR_RECORD);
    json_decref(v.settings);
    json_decref(v.bad);
    for (unsigned i = 0; runs && i < res->round_count; i++)
        json_decref(runs[i].batch_times);
    free(runs);
    return j;
}

json_t *wr_bench_record(const struct wr_bench_plan *plan,
                        const struct wr_bench_result *results,
                        const struct wr_monitor *m)
{
    json_t *record = wr_record_new("bench"), *cases = json_array();
    const struct wr_accelerator_values accelerator = wr_accelerator_values(
        &plan->accelerator, plan->cases[0].cfg.batch);
    int bad = 0;

    for (size_t k = 0; k < plan->case_count; k++)
        bad |= json_array_append_new(cases, case_json(plan, k, &results[k], m));
    bad |= json_object_set_new(record, "host",
                               wr_host_json_of(plan->ds->store));
    bad |= json_object_set_new(record, "dataset", wr_dataset_json(plan->ds));
    bad |= json_object_set_new(record, "consumer_ms",
                               json_real(accelerator.step_ms));
    bad |= json_object_set_new(
        record, "accelerator",
        wr_vals_json(&wr_accelerator_vals, &accelerator, WR_FOR_RECORD));
    bad |= json_object_set_new(record, "cases", cases);
    bad |= wr_monitor_record(m, record);
    if (!bad)
        return record;
    json_decref(record);
    return NULL;
}

/* --- the times of all batches --- */

struct csv {
    const struct wr_bench_plan *plan;
    const struct wr_bench_result *results;
};

static void print_run(const struct csv *csv, size_t k, unsigned round,
                      FILE *out)
{
    const struct wr_bench_case *c = &csv->plan->cases[k];
    const struct wr_bench_run *run = &csv->results[k].runs[round];

    for (uint64_t b = 0; b < run->batch_time_count; b++)
        fprintf(
            out,
            "%zu,%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%u,%" PRIu64
            ",%" PRIu32 ",%.3f,%.3f\n",
            k, wr_choice_name(wr_stages_choices, (int)c->cfg.stages),
            wr_choice_name(wr_cache_state_choices, (int)c->cache),
            (uint32_t)run->v.in_force.threads, (uint32_t)run->v.in_force.depth,
            (uint32_t)run->v.in_force.prefetch, round, b,
            run->batch_times[b].count, (double)run->batch_times[b].at_ns / 1e6,
            (double)run->batch_times[b].wait_ns / 1e6);
}

static int print_csv(const void *arg, FILE *out, weir_err *err)
{
    const struct csv *csv = arg;

    (void)err;
    fprintf(out,
            "case,stages,page_cache,threads,depth,prefetch,round,batch,samples,"
            "at_ms,wait_ms\n");
    for (size_t k = 0; k < csv->plan->case_count; k++)
        for (unsigned i = 0; i < csv->results[k].round_count; i++)
            print_run(csv, k, i, out);
    return 0;
}

int wr_bench_write_csv(const struct wr_bench_plan *plan,
                       const struct wr_bench_result *results, const char *path,
                       weir_err *err)
{
    const struct csv csv = {plan, results};

    return wr_whole_write(
        path, &(struct wr_whole){.print = print_csv, .arg = &csv}, err);
}
