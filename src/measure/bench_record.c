/* bench_record.c - the benchmark's results for programs: record and CSV.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "measure/bench_ranks.h"
#include "measure/parts.h"
#include "pipeline/settings.h"
#include "result/record.h"
#include "result/whole.h"

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

static json_t *cache_json(const weir_stats *s)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "ram_hits",
                     (json_int_t)s->cache_ram_hits, "dir_hits",
                     (json_int_t)s->cache_dir_hits, "misses",
                     (json_int_t)s->cache_misses, "damaged",
                     (json_int_t)s->cache_damaged, "ram_bytes",
                     (json_int_t)s->cache_ram_bytes, "dir_bytes",
                     (json_int_t)s->cache_dir_bytes);
}

static json_t *batches_json(const struct wr_series *s)
{
    return json_pack("{s:I, s:o, s:o, s:o}", "merged", (json_int_t)s->merge,
                     "t_ms", wr_series_json(s, -1, 2), "wait_ms",
                     wr_series_json(s, WR_BENCH_WAIT, 2), "gap_ms",
                     wr_series_json(s, WR_BENCH_GAP, 2));
}

static json_t *run_json(const struct wr_bench_run *run,
                        const struct wr_monitor *m, bool digest)
{
    char hex[24];
    json_t *j = json_pack(
        "{s:f, s:I, s:I, s:I, s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:f, s:s, "
        "s:s, s:f, s:f, s:i, s:f, s:o}",
        "seconds", run->seconds, "samples", (json_int_t)run->samples, "batches",
        (json_int_t)run->batches, "bytes", (json_int_t)run->bytes,
        "samples_per_s", run->samples_per_s, "bytes_per_s", run->bytes_per_s,
        "cpu_s_per_1000", run->cpu_s_per_1000, "peak_bytes",
        (json_int_t)run->peak_bytes, "first_batch_ms", run->first_batch_ms,
        "gap_p50_ms", run->gap_p50_ms, "gap_p99_ms", run->gap_p99_ms,
        "resident", run->resident, "io", run->stats.io, "verdict",
        wr_verdict_name(run->verdict), "decode_limit_per_s", run->decode_limit,
        "read_limit_per_s", run->read_limit, "read_limit_threads",
        (int)run->read_limit_threads, "slot_limit_per_s", run->slot_limit,
        "times", wr_input_json(&run->stats));

    if (run->cores.known)
        json_object_set_new(j, "cores",
                            wr_cores_json(&run->cores, run->starved));
    json_object_set_new(j, "requests",
                        json_integer((json_int_t)run->stats.requests));
    json_object_set_new(j, "in_force",
                        json_pack("{s:i, s:i, s:i}", "threads",
                                  (int)run->stats.workers, "depth",
                                  (int)run->stats.depth, "prefetch",
                                  (int)run->stats.prefetch));
    if (*run->tuning)
        json_object_set_new(j, "tuning", wr_text_json(run->tuning));
    if (run->last_epoch_per_s > 0)
        json_object_set_new(j, "last_epoch_per_s",
                            json_real(run->last_epoch_per_s));
    json_object_set_new(j, "cache", cache_json(&run->stats));
    if (*run->cache_error)
        json_object_set_new(j, "cache_error", wr_text_json(run->cache_error));
    json_object_set_new(j, "start_s",
                        json_real(wr_monitor_at(m, run->start_ns)));
    if (run->series.capacity)
        json_object_set_new(j, "batch_times", batches_json(&run->series));
    if (digest) {
        snprintf(hex, sizeof(hex), "%016" PRIx64, run->digest);
        json_object_set_new(j, "digest", json_string(hex));
    }
    return j;
}

static json_t *rank_json(const struct wr_bench_rank *k, uint32_t number)
{
    return json_pack(
        "{s:I, s:s%, s:f, s:I, s:I, s:f, s:I, s:s}", "rank", (json_int_t)number,
        "host", k->host, strlen(k->host), "seconds", k->seconds, "samples",
        (json_int_t)k->samples, "bytes", (json_int_t)k->bytes, "samples_per_s",
        k->seconds > 0 ? (double)k->samples / k->seconds : 0.0, "peak_bytes",
        (json_int_t)k->peak_bytes, "verdict", wr_verdict_name(k->verdict));
}

/* Those of the run that stands for the case. */
static json_t *ranks_json(const struct wr_bench_run *run)
{
    json_t *list = json_array();

    for (uint32_t k = 0; k < run->rank_count; k++)
        json_array_append_new(list, rank_json(&run->ranks[k], k));
    return list;
}

static json_t *case_json(const struct wr_bench_plan *plan, size_t k,
                         const struct wr_bench_result *res,
                         const struct wr_monitor *m)
{
    const struct wr_bench_run *middle = &res->runs[res->median];
    json_t *runs = json_array(), *to;

    for (unsigned i = 0; i < res->round_count; i++)
        json_array_append_new(runs, run_json(&res->runs[i], m, plan->digest));
    to = json_pack(
        "{s:o, s:{s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:b}, s:i, s:o, s:I, s:o}",
        "settings", settings_json(&plan->cases[k]), "result", "samples_per_s",
        res->rate_median, "samples_per_s_min", res->rate_min,
        "samples_per_s_max", res->rate_max, "of_decode_limit", res->of_decode,
        "of_read_limit", res->of_read, "of_slot_limit", res->of_slot, "verdict",
        wr_verdict_name(middle->verdict), "starved", (int)res->starved,
        "warm_up_runs", 1, "runs", runs, "bad_count",
        (json_int_t)res->bad_count, "bad",
        wr_bad_json(res->bad, res->bad_kept));
    if (to && middle->rank_count)
        json_object_set_new(to, "ranks", ranks_json(middle));
    return to;
}

json_t *wr_bench_record(const struct wr_bench_plan *plan,
                        const struct wr_bench_result *results,
                        const struct wr_monitor *m)
{
    json_t *record = wr_record_new("bench"), *cases = json_array();
    const uint32_t batch = plan->cases[0].cfg.batch;
    int bad = 0;

    for (size_t k = 0; k < plan->case_count; k++)
        bad |= json_array_append_new(cases, case_json(plan, k, &results[k], m));
    bad |= json_object_set_new(record, "host",
                               wr_host_json_of(plan->ds->store));
    bad |= json_object_set_new(record, "dataset", wr_dataset_json(plan->ds));
    bad |= json_object_set_new(
        record, "consumer_ms",
        json_real(wr_accelerator_step_ms(&plan->accelerator, batch)));
    bad |= json_object_set_new(record, "accelerator",
                               wr_accelerator_json(&plan->accelerator, batch));
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
        fprintf(out,
                "%zu,%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%u,%" PRIu64
                ",%" PRIu32 ",%.3f,%.3f\n",
                k, wr_choice_name(wr_stages_choices, (int)c->cfg.stages),
                wr_choice_name(wr_cache_state_choices, (int)c->cache),
                run->stats.workers, run->stats.depth, run->stats.prefetch,
                round, b, run->batch_times[b].count,
                (double)run->batch_times[b].at_ns / 1e6,
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
