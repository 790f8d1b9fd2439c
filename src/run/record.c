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

static void put_number(json_t *to, const char *key, uint64_t value)
{
    json_object_set_new(to, key, json_integer((json_int_t)value));
}

static void put_text(json_t *to, const char *key, const char *text)
{
    json_object_set_new(to, key, text ? wr_text_json(text) : json_null());
}

/* A number that is not known is null: the key stays. */
static void put_maybe(json_t *to, const char *key, double value)
{
    json_object_set_new(to, key,
                        isfinite(value) ? json_real(value) : json_null());
}

/* --- what was asked for --- */

static const char *consume_name(enum wr_wl_consume c)
{
    return wr_choice_name(wr_wl_consumes, (int)c);
}

/* Descriptions name distributions only: a number needs no name there. */
static const char *law_name(enum wr_wl_law law)
{
    return law == WR_WL_NONE    ? "none"
           : law == WR_WL_FIXED ? "fixed"
                                : wr_choice_name(wr_wl_laws, (int)law);
}

static void put_data(json_t *to, const struct wr_run_report *r)
{
    const struct wr_workload *w = r->plan->w;

    put_text(to, "data", r->data);
    put_text(to, "format",
             wr_choice_name(wr_wl_formats, (int)w->dataset.format));
    put_number(to, "files", w->dataset.files_train);
    put_number(to, "samples",
               w->dataset.files_train * w->dataset.samples_per_file);
    put_text(to, "read_type",
             w->reader.read_type == WR_WL_MEMORY ? "memory" : "on_demand");
}

static void put_input(json_t *to, const struct wr_run_report *r)
{
    const struct wr_run_job job = {.plan = r->plan};
    const weir_stats *s = &r->res->stats;

    put_text(to, "consume", consume_name(r->plan->consume));
    put_text(to, "order",
             wr_choice_name(wr_order_choices, (int)wr_run_order(r->plan)));
    put_text(to, "access",
             wr_choice_name(wr_wl_accesses, (int)wr_run_access(&job)));
    put_text(to, "compat", r->plan->compat_dlio ? "dlio" : "weir");
    put_number(to, "threads", s->workers);
    put_number(to, "depth", s->depth);
    put_number(to, "prefetch", s->prefetch);
    put_text(to, "cache", r->plan->feed.cache);
    json_object_set_new(to, "no_io", json_boolean(r->plan->no_io));
}

static json_t *config_json(const struct wr_run_report *r)
{
    const struct wr_workload *w = r->plan->w;
    json_t *to = json_object();

    put_text(to, "workload", r->name);
    put_text(to, "title", w->weir.title);
    put_data(to, r);
    put_number(to, "ranks", r->res->rank_count);
    put_number(to, "accelerators", r->res->world);
    put_number(to, "batch", w->reader.batch);
    put_number(to, "epochs", r->res->epoch_count);
    put_number(to, "steps", r->res->steps);
    put_maybe(to, "step_s", wr_wl_time_mean(&w->train.computation));
    put_text(to, "step_law", law_name(w->train.computation.law));
    put_maybe(to, "au_target", w->metric.au);
    put_maybe(to, "scale", r->plan->scale);
    put_input(to, r);
    return to;
}

static json_t *demand_json(const struct wr_run_report *r)
{
    json_t *to = json_object();
    struct wr_derived d;

    if (wr_workload_derive(r->plan->w, r->res->world, 0, &d, NULL) < 0)
        return to;
    put_maybe(to, "bytes_per_s", d.bytes_per_s);
    put_maybe(to, "samples_per_s", d.samples_per_s);
    put_maybe(to, "files_per_s", d.files_per_s);
    put_maybe(to, "sample_bytes", d.sample_bytes);
    put_maybe(to, "dataset_bytes", d.dataset_bytes);
    return to;
}

static json_t *selftest_json(const struct wr_run_selftest *s)
{
    if (!s || !s->steps)
        return json_null();
    return json_pack("{s:f, s:f, s:I, s:b}", "au", s->au, "overhead_us",
                     s->overhead_us, "steps", (json_int_t)s->steps, "ok",
                     s->ok);
}

/* --- what came out --- */

static json_t *epochs_json(const struct wr_run_result *res)
{
    json_t *list = json_array();

    for (uint64_t k = 0; k < res->epoch_count; k++) {
        struct wr_run_epoch_figures e = wr_run_epoch_of(res, k);
        json_t *to = json_object();

        put_number(to, "epoch", k + 1);
        put_maybe(to, "seconds", e.seconds);
        put_number(to, "steps", e.steps);
        put_number(to, "samples", e.samples);
        put_number(to, "bytes", e.bytes);
        put_maybe(to, "au", e.au);
        put_maybe(to, "au_dlio", e.au_dlio);
        put_maybe(to, "samples_per_s", e.samples_per_s);
        put_maybe(to, "bytes_per_s", e.bytes_per_s);
        put_maybe(to, "resident", e.resident < 0 ? NAN : e.resident);
        put_maybe(to, "wait_s", e.wait_s);
        put_maybe(to, "eval_s", e.eval_s);
        put_maybe(to, "save_s", e.save_s);
        json_array_append_new(list, to);
    }
    return list;
}

/* As the description says it. */
static double sample_bytes(const struct wr_run_report *r)
{
    struct wr_derived d;

    return wr_workload_derive(r->plan->w, r->res->world, 0, &d, NULL) < 0
               ? NAN
               : d.sample_bytes;
}

static json_t *result_json(const struct wr_run_report *r,
                           const struct wr_run_figures *f)
{
    const struct wr_workload *w = r->plan->w;
    json_t *to = json_object();
    double au = r->plan->compat_dlio ? f->au_dlio : f->au;
    char hex[24];

    put_maybe(to, "au", f->au);
    put_maybe(to, "au_dlio", f->au_dlio);
    json_object_set_new(to, "meets",
                        isfinite(au) ? json_boolean(au >= w->metric.au)
                                     : json_null());
    put_maybe(to, "samples_per_s", f->samples_per_s);
    put_maybe(to, "dlio_samples_per_s", f->dlio_per_s);
    put_number(to, "bytes", f->bytes);
    put_maybe(to, "bytes_per_s", f->bytes_per_s);
    put_maybe(to, "nominal_bytes_per_s", f->samples_per_s * sample_bytes(r));
    put_maybe(to, "seconds", f->seconds);
    put_maybe(to, "load_s", f->load_s);
    put_number(to, "samples", f->samples);
    put_number(to, "steps", f->steps);
    put_maybe(to, "cpu_s_per_gb",
              f->bytes ? f->cpu_s / ((double)f->bytes / 1e9) : NAN);
    put_maybe(to, "resident", f->resident < 0 ? NAN : f->resident);
    put_number(to, "peak_bytes", f->peak_bytes);
    put_maybe(to, "first_batch_ms", f->first_batch_ms);
    if (r->plan->digest) {
        uint64_t sum = 0;

        for (uint32_t k = 0; k < r->res->rank_count; k++)
            sum += r->res->ranks[k].digest;
        snprintf(hex, sizeof(hex), "%016" PRIx64, sum);
        put_text(to, "digest", hex);
    }
    return to;
}

static json_t *loss_json(const struct wr_run_loss *l)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "compute", l->compute,
                     "read", l->read, "barrier", l->barrier, "save", l->save,
                     "eval", l->eval, "emulator", l->emulator);
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

static json_t *reads_json(const struct wr_run_report *r,
                          const struct wr_run_figures *f)
{
    const struct wr_meter_counts *c = &f->reads;
    const struct wr_hist *h = &c->latency_ns;
    double n = (double)c->reads;
    double time = (f->seconds + f->load_s) * (double)r->res->world;
    json_t *to = json_object();

    put_number(to, "count", c->reads);
    put_number(to, "bytes", c->bytes);
    put_number(to, "errors", c->errors);
    put_number(to, "opens", c->opens);
    if (!c->reads)
        return to;
    put_maybe(to, "p50_us", (double)wr_hist_quantile(h, 0.5) / 1e3);
    put_maybe(to, "p95_us", (double)wr_hist_quantile(h, 0.95) / 1e3);
    put_maybe(to, "p99_us", (double)wr_hist_quantile(h, 0.99) / 1e3);
    put_maybe(to, "max_us", (double)h->max / 1e3);
    put_number(to, "usual_bytes", wr_hist_quantile(&c->sizes, 0.5));
    put_maybe(to, "mean_bytes", (double)c->bytes / n);
    put_maybe(to, "sequential", (double)c->sequential / n);
    put_maybe(to, "consecutive", (double)c->consecutive / n);
    put_maybe(to, "io_share",
              time > 0 ? fmin(1, (double)c->busy_ns * 1e-9 / time) : NAN);
    json_object_set_new(to, "sizes", hist_json(&c->sizes));
    json_object_set_new(to, "latencies", hist_json(h));
    return to;
}

/* Of the first accelerator's pipeline. */
static json_t *input_json(const weir_stats *s)
{
    if (!s->workers)
        return json_null();
    return json_pack("{s:s, s:s, s:o}", "io", s->io ? s->io : "", "verdict",
                     wr_verdict_name(weir_stats_verdict(s)), "times",
                     wr_input_json(s));
}

static json_t *batches_json(const struct wr_run_report *r,
                            const struct wr_run_figures *f)
{
    const struct wr_hist *h = &f->waits;
    json_t *to = json_object();

    put_maybe(to, "wait_p50_ms", (double)wr_hist_quantile(h, 0.5) / 1e6);
    put_maybe(to, "wait_p95_ms", (double)wr_hist_quantile(h, 0.95) / 1e6);
    put_maybe(to, "wait_p99_ms", (double)wr_hist_quantile(h, 0.99) / 1e6);
    put_maybe(to, "wait_max_ms", (double)h->max / 1e6);
    put_number(to, "stalls", f->stalls);
    put_number(to, "steps", f->steps * r->res->world); /* of all */
    return to;
}

static json_t *rank_json(const struct wr_run_rank *k, uint32_t number)
{
    double n = fmax(k->accelerators, 1);
    double wall = (double)k->t.wall * n - (double)k->t.save -
                  (double)k->t.eval - (double)k->first_wait_ns * n;
    json_t *to = json_object();

    put_number(to, "rank", number);
    put_text(to, "host", k->host);
    put_number(to, "accelerators", k->accelerators);
    put_maybe(to, "seconds", (double)k->t.wall * 1e-9);
    put_maybe(to, "au", wall > 0 ? (double)k->t.compute / wall : NAN);
    put_maybe(to, "wait_s", (double)k->t.wait * 1e-9 / n);
    put_maybe(to, "barrier_s", (double)k->t.barrier * 1e-9 / n);
    put_number(to, "samples", k->samples);
    put_number(to, "bytes", k->bytes);
    put_number(to, "peak_bytes", k->peak_bytes);
    return to;
}

static json_t *ranks_json(const struct wr_run_result *res)
{
    json_t *list = json_array();

    for (uint32_t k = 0; k < res->rank_count; k++)
        json_array_append_new(list, rank_json(&res->ranks[k], k));
    return list;
}

static json_t *saves_json(const struct wr_run_save *saves, size_t count)
{
    json_t *list = json_array();

    for (size_t k = 0; k < count; k++) {
        json_t *to = json_object();

        put_number(to, "step", saves[k].step);
        put_maybe(to, "at_s", saves[k].at_s);
        put_number(to, "bytes", saves[k].bytes);
        put_maybe(to, "stall_s", saves[k].stall_s);
        put_maybe(to, "fast_s", saves[k].fast_s);
        put_maybe(to, "slow_s", saves[k].slow_s);
        json_array_append_new(list, to);
    }
    return list;
}

static json_t *restores_json(const struct wr_run_result *res)
{
    json_t *list = json_array();

    for (size_t k = 0; k < res->restore_count; k++)
        json_array_append_new(
            list, json_pack("{s:I, s:f, s:I}", "step",
                            (json_int_t)res->restores[k].step, "seconds",
                            res->restores[k].stall_s, "bytes",
                            (json_int_t)res->restores[k].bytes));
    return list;
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

/* What others measured of the same workload. */
static json_t *seed_json(const struct wr_workload *w)
{
    const struct wr_wl_figures *f = &w->weir.figures;
    json_t *to;

    if (isnan(f->io_percent) && isnan(f->request_bytes) &&
        isnan(f->sequential_percent) && isnan(f->bytes_per_s) &&
        isnan(f->step_s))
        return json_null();
    to = json_object();
    put_text(to, "source", w->weir.source);
    put_maybe(to, "io_percent", f->io_percent);
    put_maybe(to, "request_bytes", f->request_bytes);
    put_maybe(to, "sequential_percent", f->sequential_percent);
    put_maybe(to, "consecutive_percent", f->consecutive_percent);
    put_maybe(to, "bytes_per_s", f->bytes_per_s);
    put_maybe(to, "step_s", f->step_s);
    put_maybe(to, "ranks", f->ranks);
    return to;
}

static json_t *search_json(const struct wr_run_search *s, uint32_t ranks)
{
    static const char *const limits[] = {[WR_RUN_LIMIT_FOUND] = "storage",
                                         [WR_RUN_LIMIT_ASKED] = "asked",
                                         [WR_RUN_LIMIT_DATA] = "data"};
    json_t *points;

    if (!s)
        return json_null();
    points = json_array();
    for (size_t k = 0; k < s->count; k++) {
        const struct wr_run_point *p = &s->points[k];
        json_t *to = json_object();

        put_number(to, "accelerators", p->world);
        put_maybe(to, "au", p->au);
        put_maybe(to, "samples_per_s", p->samples_per_s);
        put_maybe(to, "bytes_per_s", p->bytes_per_s);
        json_object_set_new(to, "meets", json_boolean(p->meets));
        json_array_append_new(points, to);
    }
    return json_pack("{s:f, s:I, s:o, s:s}", "target", s->target, "most",
                     (json_int_t)((uint64_t)s->most * ranks), "points", points,
                     "limit", limits[s->limit]);
}

static int put_all(json_t *record, const struct wr_run_report *r,
                   const struct wr_run_figures *f)
{
    const struct wr_run_plan *plan = r->plan;
    const struct wr_run_result *res = r->res;
    json_t *bad = json_array();
    int lack = 0;

#define PUT(key, value) lack |= json_object_set_new(record, key, value)
    PUT("host", plan->train ? wr_host_json_of(plan->train->store)
                            : wr_host_json(plan->ckpt.fast));
    if (plan->train)
        PUT("dataset", wr_dataset_json(plan->train));
    PUT("config", config_json(r));
    PUT("demand", demand_json(r));
    PUT("selftest", selftest_json(r->selftest));
    PUT("epochs", epochs_json(res));
    PUT("result", result_json(r, f));
    PUT("loss", loss_json(&f->loss));
    PUT("input", input_json(&res->stats));
    PUT("reads", reads_json(r, f));
    PUT("batches", batches_json(r, f));
    PUT("ranks", ranks_json(res));
    PUT("saves", saves_json(res->saves, res->save_count));
    PUT("restores", restores_json(res));
    PUT("series", series_json(&res->series));
    PUT("seed", seed_json(plan->w));
    PUT("search", search_json(r->search, res->rank_count));
    if (res->bad_text)
        json_array_append_new(bad, wr_text_json(res->bad_text));
    PUT("bad", bad);
    put_number(record, "bad_count", res->bad_count);
    if (r->monitor) {
        wr_put_real(record, "start_s",
                    wr_monitor_at(r->monitor, res->start_ns));
        lack |= wr_monitor_record(r->monitor, record);
    }
#undef PUT
    return lack;
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
