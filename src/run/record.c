/* record.c - the record of a run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "measure/parts.h"
#include "result/record.h"
#include "run/figures.h"
#include "pipeline/settings.h"
#include "run/job.h"
#include "run/setup.h"
#include "run/shard.h"
#include "workload/choices.h"

/* --- what was asked for --- */

/* Descriptions name distributions only: a number needs no name there. */
static const char *law_name(enum wr_wl_law law)
{
    return law == WR_WL_NONE    ? "none"
           : law == WR_WL_FIXED ? "fixed"
                                : wr_choice_name(wr_wl_laws, (int)law);
}

static struct wr_run_config_values config_of(const struct wr_run_report *r)
{
    const struct wr_run_job job = {.plan = r->plan};
    const struct wr_workload *w = r->plan->w;
    const weir_stats *s = &r->res->stats;

    return (struct wr_run_config_values){
        .workload = r->name,
        .title = w->weir.title,
        .data = r->data,
        .format = wr_choice_name(wr_wl_formats, (int)w->dataset.format),
        .files = (double)w->dataset.files_train,
        .samples = (double)(w->dataset.files_train *
                            w->dataset.samples_per_file),
        .read_type = w->reader.read_type == WR_WL_MEMORY ? "memory"
                                                         : "on_demand",
        .ranks = r->res->rank_count,
        .accelerators = (double)r->res->world,
        .batch = (double)w->reader.batch,
        .epochs = (double)r->res->epoch_count,
        .steps = (double)r->res->steps,
        .step_s = wr_wl_time_mean(&w->train.computation),
        .step_law = law_name(w->train.computation.law),
        .au_target = w->metric.au,
        .scale = r->plan->scale,
        .consume = wr_choice_name(wr_wl_consumes, (int)r->plan->consume),
        .order = wr_choice_name(wr_order_choices, (int)wr_run_order(r->plan)),
        .access = wr_choice_name(wr_wl_accesses, (int)wr_run_access(&job)),
        .compat = r->plan->compat_dlio ? "dlio" : "weir",
        .threads = s->workers,
        .depth = s->depth,
        .prefetch = s->prefetch,
        .cache = r->plan->feed.cache,
        .no_io = r->plan->no_io};
}

/* --- what came out --- */

/* All steps of all ranks' digests; "": not asked for. */
static const char *digest_of(const struct wr_run_report *r, char hex[17])
{
    uint64_t sum = 0;

    for (uint32_t k = 0; k < r->res->rank_count; k++)
        sum += r->res->ranks[k].digest;
    snprintf(hex, 17, "%016" PRIx64, sum);
    return r->plan->digest ? hex : "";
}

static struct wr_run_result_values result_of(const struct wr_run_report *r,
                                             const struct wr_run_figures *f,
                                             double sample_bytes)
{
    double au = r->plan->compat_dlio ? f->au_dlio : f->au;

    return (struct wr_run_result_values){
        .au = f->au,
        .au_dlio = f->au_dlio,
        .meets = isfinite(au) ? au >= r->plan->w->metric.au : NAN,
        .samples_per_s = f->samples_per_s,
        .dlio_samples_per_s = f->dlio_per_s,
        .bytes = (double)f->bytes,
        .bytes_per_s = f->bytes_per_s,
        .nominal_bytes_per_s = f->samples_per_s * sample_bytes,
        .seconds = f->seconds,
        .load_s = f->load_s,
        .samples = (double)f->samples,
        .steps = (double)f->steps,
        .cpu_s_per_gb = f->bytes ? f->cpu_s / ((double)f->bytes / 1e9) : NAN,
        .resident = f->resident < 0 ? NAN : f->resident,
        .peak_bytes = (double)f->peak_bytes,
        .first_batch_ms = f->first_batch_ms};
}

/* Counts by powers of two, those that are empty left out. */
static json_t *hist_json(const struct wr_hist *h)
{
    json_t *list = json_array();

    for (unsigned bit = 0; bit < 63; bit++) {
        uint64_t from = bit ? UINT64_C(1) << bit : 0, to = UINT64_C(2) << bit;
        uint64_t n = wr_hist_count_between(h, from, to);

        if (n)
            json_array_append_new(
                list, json_pack("{s:I, s:I, s:I}", "from", (json_int_t)from,
                                "to", (json_int_t)to, "count", (json_int_t)n));
    }
    return list;
}

/* `to` is cleared. */
static void fill_reads(const struct wr_run_report *r,
                       const struct wr_run_figures *f,
                       struct wr_run_reads_values *to)
{
    const struct wr_meter_counts *c = &f->reads;
    const struct wr_hist *h = &c->latency_ns;
    double n = (double)c->reads;
    double time = (f->seconds + f->load_s) * (double)r->res->world;

    to->count = n;
    to->bytes = (double)c->bytes;
    to->errors = (double)c->errors;
    to->opens = (double)c->opens;
    if (!c->reads)
        return;
    to->p50_us = (double)wr_hist_quantile(h, 0.5) / 1e3;
    to->p95_us = (double)wr_hist_quantile(h, 0.95) / 1e3;
    to->p99_us = (double)wr_hist_quantile(h, 0.99) / 1e3;
    to->max_us = (double)h->max / 1e3;
    to->usual_bytes = (double)wr_hist_quantile(&c->sizes, 0.5);
    to->mean_bytes = (double)c->bytes / n;
    to->sequential = (double)c->sequential / n;
    to->consecutive = (double)c->consecutive / n;
    to->io_share = time > 0 ? fmin(1, (double)c->busy_ns * 1e-9 / time) : NAN;
    to->sizes = hist_json(&c->sizes);
    to->latencies = hist_json(h);
}

static struct wr_run_batches_values batches_of(const struct wr_run_report *r,
                                               const struct wr_run_figures *f)
{
    const struct wr_hist *h = &f->waits;

    return (struct wr_run_batches_values){
        .wait_p50_ms = (double)wr_hist_quantile(h, 0.5) / 1e6,
        .wait_p95_ms = (double)wr_hist_quantile(h, 0.95) / 1e6,
        .wait_p99_ms = (double)wr_hist_quantile(h, 0.99) / 1e6,
        .wait_max_ms = (double)h->max / 1e6,
        .stalls = (double)f->stalls,
        .steps = (double)(f->steps * r->res->world)};
}

static struct wr_run_rank_values rank_of(const struct wr_run_rank *k,
                                         uint32_t number)
{
    double n = fmax(k->accelerators, 1);
    double wall = (double)k->t.wall * n - (double)k->t.save -
                  (double)k->t.eval - (double)k->first_wait_ns * n;

    return (struct wr_run_rank_values){
        .rank = number,
        .host = k->host,
        .accelerators = k->accelerators,
        .seconds = (double)k->t.wall * 1e-9,
        .au = wall > 0 ? (double)k->t.compute / wall : NAN,
        .wait_s = (double)k->t.wait * 1e-9 / n,
        .barrier_s = (double)k->t.barrier * 1e-9 / n,
        .samples = (double)k->samples,
        .bytes = (double)k->bytes,
        .peak_bytes = (double)k->peak_bytes};
}

static json_t *series_json(const struct wr_series *s)
{
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "merged",
                     (json_int_t)s->merge, "t", wr_series_json(s, -1, 4),
                     "wait_ms", wr_series_json(s, WR_RUN_WAIT_MS, 3), "step_ms",
                     wr_series_json(s, WR_RUN_STEP_MS, 3), "mb_per_s",
                     wr_series_json(s, WR_RUN_MB_PER_S, 1), "au",
                     wr_series_json(s, WR_RUN_AU, 4));
}

/* What others measured of the same workload; `to` is cleared. */
static void fill_seed(const struct wr_workload *w,
                      struct wr_run_seed_values *to)
{
    const struct wr_wl_figures *f = &w->weir.figures;

    if (isnan(f->io_percent) && isnan(f->request_bytes) &&
        isnan(f->sequential_percent) && isnan(f->bytes_per_s) &&
        isnan(f->step_s))
        return;
    *to = (struct wr_run_seed_values){
        .source = w->weir.source,
        .io_percent = f->io_percent,
        .request_bytes = f->request_bytes,
        .sequential_percent = f->sequential_percent,
        .consecutive_percent = f->consecutive_percent,
        .bytes_per_s = f->bytes_per_s,
        .step_s = f->step_s,
        .ranks = f->ranks};
}

/* --- lists --- */

static bool fill_epochs(const struct wr_run_result *res, struct wr_list *to)
{
    struct wr_run_epoch_values *v = wr_list_new(&wr_run_epoch_vals, to,
                                                res->epoch_count);

    for (size_t k = 0; k < to->count; k++)
        v[k] = wr_run_epoch_of(res, k);
    return v;
}

static bool fill_ranks(const struct wr_run_result *res, struct wr_list *to)
{
    struct wr_run_rank_values *v = wr_list_new(&wr_run_rank_vals, to,
                                               res->rank_count);

    for (uint32_t k = 0; k < to->count; k++)
        v[k] = rank_of(&res->ranks[k], k);
    return v;
}

static bool fill_saves(const struct wr_run_result *res, struct wr_list *to)
{
    struct wr_run_save_values *v = wr_list_new(&wr_run_save_vals, to,
                                               res->save_count);

    for (size_t k = 0; k < to->count; k++) {
        const struct wr_run_save *s = &res->saves[k];

        v[k] = (struct wr_run_save_values){.step = (double)s->step,
                                           .at_s = s->at_s,
                                           .bytes = (double)s->bytes,
                                           .stall_s = s->stall_s,
                                           .fast_s = s->fast_s,
                                           .slow_s = s->slow_s};
    }
    return v;
}

static bool fill_restores(const struct wr_run_result *res, struct wr_list *to)
{
    struct wr_run_restore_values *v = wr_list_new(&wr_run_restore_vals, to,
                                                  res->restore_count);

    for (size_t k = 0; k < to->count; k++)
        v[k] = (struct wr_run_restore_values){
            .step = (double)res->restores[k].step,
            .seconds = res->restores[k].stall_s,
            .bytes = (double)res->restores[k].bytes};
    return v;
}

/* `to` is cleared, and stays so without a search. */
static bool fill_search(const struct wr_run_search *s, uint32_t ranks,
                        struct wr_run_search_values *to)
{
    static const char *const limits[] = {[WR_RUN_LIMIT_FOUND] = "storage",
                                         [WR_RUN_LIMIT_ASKED] = "asked",
                                         [WR_RUN_LIMIT_DATA] = "data"};
    struct wr_run_point_values *v = wr_list_new(&wr_run_point_vals, &to->points,
                                                s ? s->count : 0);

    if (!s)
        return v;
    to->target = s->target;
    to->most = (double)((uint64_t)s->most * ranks);
    to->limit = limits[s->limit];
    for (size_t k = 0; k < to->points.count; k++) {
        const struct wr_run_point *p = &s->points[k];

        v[k] = (struct wr_run_point_values){.accelerators = (double)p->world,
                                            .au = p->au,
                                            .samples_per_s = p->samples_per_s,
                                            .bytes_per_s = p->bytes_per_s,
                                            .meets = p->meets};
    }
    return v;
}

/* Whether there was memory for all of it. */
static bool fill_lists(const struct wr_run_report *r, struct wr_run_values *v)
{
    return fill_epochs(r->res, &v->epochs) && fill_ranks(r->res, &v->ranks) &&
           fill_saves(r->res, &v->saves) &&
           fill_restores(r->res, &v->restores) &&
           fill_search(r->search, r->res->rank_count, &v->search);
}

static void fill_groups(const struct wr_run_report *r,
                        const struct wr_run_figures *f, struct wr_run_values *v)
{
    const struct wr_run_selftest *test = r->selftest;
    const weir_stats *s = &r->res->stats;
    struct wr_derived d;

    v->config = config_of(r);
    if (wr_workload_derive(r->plan->w, r->res->world, 0, &d, NULL) == 0)
        v->demand = (struct wr_run_demand_values){
            .bytes_per_s = d.bytes_per_s,
            .samples_per_s = d.samples_per_s,
            .files_per_s = d.files_per_s,
            .sample_bytes = d.sample_bytes,
            .dataset_bytes = d.dataset_bytes};
    if (test && test->steps)
        v->selftest = (struct wr_run_selftest_values){
            .au = test->au,
            .overhead_us = test->overhead_us,
            .steps = (double)test->steps,
            .ok = test->ok};
    v->result = result_of(r, f, v->demand.sample_bytes);
    v->loss = f->loss;
    if (s->workers)
        v->input = (struct wr_run_input_values){
            .io = s->io,
            .verdict = wr_verdict_name(weir_stats_verdict(s)),
            .times = wr_input_values(s)};
    fill_reads(r, f, &v->reads);
    v->batches = batches_of(r, f);
    v->series = series_json(&r->res->series);
    fill_seed(r->plan->w, &v->seed);
    v->bad = json_array();
    if (r->res->bad_text)
        json_array_append_new(v->bad, wr_text_json(r->res->bad_text));
    v->bad_count = (double)r->res->bad_count;
    if (r->monitor)
        v->start_s = wr_monitor_at(r->monitor, r->res->start_ns);
}

static json_t *values_json(const struct wr_run_report *r,
                           const struct wr_run_figures *f)
{
    struct wr_run_values v;
    char hex[17];
    bool whole;

    wr_vals_clear(&wr_run_vals, &v);
    fill_groups(r, f, &v);
    v.result.digest = digest_of(r, hex);
    whole = fill_lists(r, &v);
    return wr_vals_give(&wr_run_vals, &v, whole);
}

static int put_all(json_t *record, const struct wr_run_report *r,
                   const struct wr_run_figures *f)
{
    const struct wr_run_plan *plan = r->plan;
    int bad;

    bad = json_object_set_new(record, "host",
                              plan->train ? wr_host_json_of(plan->train->store)
                                          : wr_host_json(plan->ckpt.fast));
    if (plan->train)
        bad |= json_object_set_new(record, "dataset",
                                   wr_dataset_json(plan->train));
    bad |= json_object_update_new(record, values_json(r, f));
    if (r->monitor)
        bad |= wr_monitor_record(r->monitor, record);
    return bad;
}

json_t *wr_run_record(const struct wr_run_report *r)
{
    struct wr_run_figures *f = malloc(sizeof(*f));
    json_t *record = f ? wr_record_new("run") : NULL;

    if (record) {
        wr_run_figures(r->res, f);
        if (put_all(record, r, f)) {
            json_decref(record);
            record = NULL;
        }
    }
    free(f);
    return record;
}
