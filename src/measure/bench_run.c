/* bench_run.c - one run of the benchmark: a consumer takes batches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hist.h"
#include "base/mem.h"
#include "measure/loop.h"
#include "measure/parts.h"
#include "monitor/cores.h"
#include "result/get.h"
#include "result/record.h"

/* --- one run of the benchmark by several ranks, as one --- */

/* What a rank tells of its run: its values, and the first bad sample. */
static json_t *describe(const struct wr_bench_run *run,
                        const struct wr_bench_result *bad, uint32_t rank)
{
    const weir_bad_sample *b = bad->bad_kept ? bad->bad : NULL;
    struct wr_bench_values v = run->v;
    char host[65] = "";
    json_t *o;

    gethostname(host, sizeof(host) - 1);
    v.host = host;
    v.rank = rank;
    o = wr_vals_json(&wr_bench_vals, &v, WR_FOR_RANKS);
    if (json_object_set_new(o, "bad",
                            json_pack("{s:I, s:I, s:I, s:i, s:o}", "count",
                                      (json_int_t)bad->bad_count, "id",
                                      (json_int_t)(b ? b->id : 0), "epoch",
                                      (json_int_t)(b ? b->epoch : 0), "code",
                                      b ? b->code : 0, "text",
                                      wr_text_json(b ? b->text : ""))) == 0)
        return o;
    json_decref(o);
    return NULL;
}

/* To a rank the others of its host are other programs: here they are one. */
static void add_cores(struct wr_cores_values *c,
                      const struct wr_bench_values *list, size_t n)
{
    struct wr_cores_use use;
    double wanted = 0, others = 0;

    for (size_t k = 0; k < n; k++) {
        if (strcmp(list[k].host, list[0].host))
            continue;
        wanted += list[k].in_force.threads;
        others += k ? fmax(0, list[k].cores.own) : 0;
    }
    if (!isfinite(c->count)) /* nothing is known of them */
        return;
    c->own += others;
    c->others = fmax(0, c->others - others);
    use = wr_cores_use_of(c);
    c->starved = wr_cores_is_starved(&use, (unsigned)wanted);
}

static void combine(struct wr_bench_run *run)
{
    const struct wr_bench_values *list = run->ranks.v;
    uint64_t digest = 0;
    size_t slowest = 0;

    for (size_t k = 1; k < run->ranks.count; k++)
        if (list[k].seconds > list[slowest].seconds)
            slowest = k;
    wr_vals_gather(&wr_bench_vals, &run->v, &run->ranks, slowest);
    add_cores(&run->v.cores, list, run->ranks.count);
    for (size_t k = 0; k < run->ranks.count; k++) /* in any order the same */
        digest += strtoull(list[k].digest, NULL, 16);
    if (*run->digest)
        snprintf(run->digest, sizeof(run->digest), "%016" PRIx64, digest);
}

/* Counts, and the first one of each other rank. */
static void add_bad(struct wr_bench_result *to, const json_t *said)
{
    size_t n = json_array_size(said);
    weir_bad_sample *grown = realloc(to->bad,
                                     (to->bad_kept + n) * sizeof(*grown));

    if (grown)
        to->bad = grown;
    for (size_t k = 1; k < n; k++) {
        const json_t *o = wr_get_object(json_array_get(said, k), "bad");
        double count = wr_get_number(o, "count");
        char *text = grown && count > 0 ? strdup(wr_get_text(o, "text")) : NULL;

        to->bad_count += (uint64_t)count;
        if (text)
            to->bad[to->bad_kept++] = (weir_bad_sample){
                .id = (uint64_t)wr_get_number(o, "id"),
                .epoch = (uint64_t)wr_get_number(o, "epoch"),
                .code = (int)wr_get_number(o, "code"),
                .text = text};
    }
}

int wr_bench_join(const struct wr_together *t, struct wr_bench_run *run,
                  struct wr_bench_result *bad, weir_err *err)
{
    int r;

    if (!wr_together_is(t))
        return 0;
    r = wr_together_gather(t, describe(run, bad, t->comm->rank), &run->said,
                           err);
    if (r < 0 || !run->said)
        return r;
    if (!wr_vals_read_list(&wr_bench_vals, run->said, &run->ranks))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    combine(run);
    add_bad(bad, run->said);
    return 0;
}

/* --- one run of the benchmark: a consumer takes batches --- */

/* The consumer's notes. */
struct tally {
    const struct wr_bench_plan *plan; /* borrowed */
    struct wr_hist *gaps;             /* owned: nanoseconds between batches */
    uint64_t opened_ns, last_ns, batches;
    uint64_t epoch, epoch_ns, epoch_samples; /* the one that is running */
    XXH3_state_t *hash;                      /* owned; NULL: no digest */
    struct wr_bench_batch *times;            /* owned until handed over */
    size_t time_count, time_cap;
    struct wr_series *series; /* borrowed; NULL: not kept */
};

static void hash_batch(XXH3_state_t *hash, const weir_batch *b)
{
    if (b->data)
        XXH3_64bits_update(hash, b->data, b->bytes);
    XXH3_64bits_update(hash, b->labels, b->count * sizeof(*b->labels));
    XXH3_64bits_update(hash, b->ids, b->count * sizeof(*b->ids));
    XXH3_64bits_update(hash, b->lengths, b->count * sizeof(*b->lengths));
}

static void add_row(struct wr_series *s, const struct wr_bench_batch *when,
                    uint64_t last_ns)
{
    const double row[WR_BENCH_BATCH_COLUMNS] = {
        [WR_BENCH_WAIT] = (double)when->wait_ns / 1e6,
        [WR_BENCH_GAP] = last_ns ? (double)(when->at_ns - last_ns) / 1e6 : NAN,
    };

    wr_series_add(s, (double)when->at_ns / 1e6, row);
}

static int note_batch(struct tally *t, const weir_batch *b,
                      const struct wr_bench_batch *when, weir_err *err)
{
    if (b->epoch != t->epoch) {
        t->epoch = b->epoch;
        t->epoch_ns = t->last_ns;
        t->epoch_samples = 0;
    }
    t->epoch_samples += b->count;
    if (t->last_ns)
        wr_hist_add(t->gaps, when->at_ns - t->last_ns);
    if (t->series)
        add_row(t->series, when, t->last_ns);
    t->last_ns = when->at_ns;
    if (t->hash)
        hash_batch(t->hash, b);
    if (!t->times)
        return 0;
    if (!wr_grow(&t->times, &t->time_cap, t->time_count + 1, sizeof(*t->times)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    t->times[t->time_count++] = *when;
    return 0;
}

static int init_tally(struct tally *t, const struct wr_bench_plan *plan,
                      weir_err *err)
{
    *t = (struct tally){.plan = plan, .gaps = calloc(1, sizeof(*t->gaps))};
    if (plan->digest) {
        t->hash = XXH3_createState();
        if (t->hash)
            XXH3_64bits_reset(t->hash);
    }
    if (plan->keep_batches)
        wr_grow(&t->times, &t->time_cap, 256, sizeof(*t->times));
    if (!t->gaps || (plan->digest && !t->hash) ||
        (plan->keep_batches && !t->times))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

static void done_tally(struct tally *t)
{
    free(t->gaps);
    free(t->times);
    if (t->hash)
        XXH3_freeState(t->hash);
}

static int is_stopped(void *arg)
{
    const struct tally *t = arg;

    return t->plan->stopped && t->plan->stopped();
}

static int take_batch(void *arg, const struct wr_step *s, weir_err *err)
{
    struct tally *t = arg;
    const struct wr_bench_plan *plan = t->plan;
    const struct wr_bench_batch when = {.wait_ns = s->got_ns - s->asked_ns,
                                        .at_ns = s->got_ns - t->opened_ns,
                                        .count = s->count};
    int r = note_batch(t, s->batch, &when, err);

    t->batches++;
    if (plan->progress)
        plan->progress(plan->progress_arg, plan->done + t->batches,
                       plan->total);
    return r;
}

/* Takes batches until the end. */
static int consume(weir_pipeline *p, struct tally *t, weir_err *err)
{
    const struct wr_bench_plan *plan = t->plan;
    struct wr_emulated machine = {.of = &plan->accelerator,
                                  .stopped = plan->stopped};

    return wr_loop(&(struct wr_loop){.next = wr_loop_next,
                                     .feed = p,
                                     .ops = &wr_step_emulated,
                                     .machine = &machine,
                                     .take = take_batch,
                                     .arg = t,
                                     .stopped = plan->stopped,
                                     .steps = UINT64_MAX},
                   err);
}

/* Copies what was bad, to be shown after the pipeline is closed. */
static void keep_bad(const weir_pipeline *p, struct wr_bench_result *to)
{
    const weir_bad_sample *s;
    uint64_t n = weir_pipeline_bad_count(p);

    for (size_t i = 0; i < to->bad_kept; i++)
        free((void *)(uintptr_t)to->bad[i].text);
    free(to->bad);
    to->bad_count = n;
    to->bad_kept = 0;
    to->bad = calloc(n ? WR_MIN(n, (uint64_t)1000) : 1, sizeof(*to->bad));
    for (uint64_t k = 0; to->bad && k < n && (s = weir_pipeline_bad(p, k));
         k++) {
        to->bad[k] = *s;
        to->bad[k].text = strdup(s->text ? s->text : "?");
        to->bad_kept++;
    }
}

void wr_bench_fill(struct wr_bench_values *v, const weir_stats *s)
{
    v->verdict = wr_verdict_name(weir_stats_verdict(s));
    v->io = s->io;
    v->seconds = (double)s->wall_ns / 1e9;
    v->samples = (double)s->samples;
    v->batches = (double)s->batches;
    v->bytes = (double)s->bytes_read;
    v->requests = (double)s->requests;
    v->first_batch_ms = (double)s->first_batch_ns / 1e6;
    v->times = wr_input_values(s);
    v->in_force = (struct wr_in_force_values){s->workers, s->depth,
                                              s->prefetch};
    v->cache = (struct wr_tier_values){.ram_hits = (double)s->cache_ram_hits,
                                       .dir_hits = (double)s->cache_dir_hits,
                                       .misses = (double)s->cache_misses,
                                       .damaged = (double)s->cache_damaged,
                                       .ram_bytes = (double)s->cache_ram_bytes,
                                       .dir_bytes = (double)s->cache_dir_bytes};
}

static void fill_run(struct wr_bench_run *run, weir_pipeline *p,
                     const struct tally *t, const struct wr_usage *used)
{
    struct wr_bench_values *v = &run->v;
    weir_stats s;
    weir_err why;

    weir_pipeline_stats(p, &s);
    wr_bench_fill(v, &s);
    v->gap_p50_ms = (double)wr_hist_quantile(t->gaps, 0.5) / 1e6;
    v->gap_p99_ms = (double)wr_hist_quantile(t->gaps, 0.99) / 1e6;
    if (t->epoch_ns && t->last_ns > t->epoch_ns)
        v->last_epoch_per_s = (double)t->epoch_samples * 1e9 /
                              (double)(t->last_ns - t->epoch_ns);
    weir_pipeline_tuning(p, run->tuning, sizeof(run->tuning));
    v->tuning = run->tuning;
    if (weir_pipeline_cache_error(p, &why) < 0)
        snprintf(run->cache_error, sizeof(run->cache_error), "%s", why.msg);
    v->cache_error = run->cache_error;
    v->cpu_s = used->user_s + used->sys_s;
    if (t->hash)
        snprintf(run->digest, sizeof(run->digest), "%016" PRIx64,
                 (uint64_t)XXH3_64bits_digest(t->hash));
    v->digest = run->digest;
    wr_vals_derive(&wr_bench_vals, v);
}

int wr_bench_once(const struct wr_bench_plan *plan,
                  const struct wr_bench_case *c, struct wr_bench_run *ret,
                  struct wr_bench_result *bad, weir_err *err)
{
    struct wr_usage before = {0}, after = {0}, used;
    struct wr_cores_use use;
    struct wr_cores cores[2];
    weir_pipeline_config cfg = c->cfg;
    weir_pipeline *p = NULL;
    struct tally t;
    int r = init_tally(&t, plan, err);

    wr_usage_reset_peak(NULL);
    if (r == 0)
        r = wr_usage_now(&before, err);
    if (ret->series.capacity)
        t.series = &ret->series;
    cfg.stopped = is_stopped;
    cfg.stopped_arg = &t;
    wr_cores_now(&cores[0]);
    ret->start_ns = t.opened_ns = wr_clock_ns();
    if (r == 0)
        r = weir_pipeline_open(&p, plan->ds, &cfg, err);
    if (r == 0)
        r = consume(p, &t, err);
    wr_cores_now(&cores[1]);
    if (r == 0)
        r = wr_usage_now(&after, err);
    if (r == 0) {
        used = wr_usage_between(&before, &after);
        fill_run(ret, p, &t, &used);
        wr_cores_between(&cores[0], &cores[1], &use);
        ret->v.cores = wr_cores_values(
            &use, wr_cores_is_starved(&use, (unsigned)ret->v.in_force.threads));
        ret->v.peak_bytes = (double)after.peak_rss_bytes;
        ret->batch_times = t.times;
        ret->batch_time_count = t.time_count;
        t.times = NULL;
    }
    if (r == 0 && bad)
        keep_bad(p, bad);
    weir_pipeline_close(&p);
    done_tally(&t);
    return r;
}
