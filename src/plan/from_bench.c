/* from_bench.c - what a record of weir bench says of a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/from.h"
#include "result/cases.h"
#include "result/get.h"

/* One case of the record, and its run whose rate is the median. */
struct bench_case {
    const json_t *settings, *run;
    size_t number, count; /* from 1 */
    double rate;
};

/* --- choosing --- */

static double rate_of(const json_t *c)
{
    return wr_get_number(c, "result.samples_per_s");
}

/* The counted run that a report explains, too. */
static const json_t *median_run(const json_t *c)
{
    const struct wr_view_record r = {.json = c};
    const json_t *run = NULL;
    struct wr_cases cases;

    wr_cases_init(&cases, &r, 1, &(struct wr_cases_spec){.rows = NULL});
    if (cases.count)
        run = wr_case_middle(cases.v, "samples_per_s");
    wr_cases_done(&cases);
    return run;
}

static int choose(const struct wr_plan_record *r, struct bench_case *ret,
                  weir_err *err)
{
    const json_t *cases = wr_get_list(r->json, "cases"), *c, *best = NULL;
    struct bench_case b = {.count = json_array_size(cases)};
    size_t k;

    json_array_foreach(cases, k, c)
    {
        if (r->wanted_case ? k + 1 != r->wanted_case
                           : best && !(rate_of(c) > rate_of(best)))
            continue;
        best = c;
        b.number = k + 1;
    }
    if (r->wanted_case && !best)
        return wr_fail(err, WEIR_EINVAL, "'%s': it has %zu cases, not %zu",
                       r->name, b.count, r->wanted_case);
    b.settings = wr_get_object(best, "settings");
    b.run = median_run(best);
    b.rate = rate_of(best);
    if (!b.run)
        return wr_fail(err, WEIR_EINVAL, "'%s': no run is in it", r->name);
    *ret = b;
    return 0;
}

/* --- what records of several commands have --- */

/* Deviation over mean of the stored samples: each bin at its mean size, and
 * inside a bin as if evenly spread. */
static double sizes_cv(const json_t *sizes)
{
    double n = 0, sum = 0, squares = 0, mean;
    const json_t *bin;
    size_t k;

    json_array_foreach(sizes, k, bin)
    {
        double count = wr_get_number(bin, "count");
        double bytes = wr_get_number(bin, "bytes"), m = bytes / count;
        double width = wr_get_number(bin, "to") - wr_get_number(bin, "from");

        if (!(count > 0) || !isfinite(m) || !isfinite(width))
            continue;
        n += count;
        sum += bytes;
        squares += count * (m * m + (count > 1 ? width * width / 48 : 0));
    }
    mean = sum / n;
    if (!(n > 1) || !(mean > 0) || json_array_size(sizes) < 2)
        return 0;
    return sqrt(WR_MAX(squares / n - mean * mean, 0)) / mean;
}

static int say_storage(struct wr_plan_draft *d,
                       const struct wr_plan_saying *who, const char *url,
                       weir_err *err)
{
    struct wr_device_profile p;
    int r;

    if (d->facts[WR_PLAN_K_STORAGE].known &&
        d->facts[WR_PLAN_K_STORAGE].rank == WR_PLAN_GIVEN)
        return 0; /* a profile file that is gone now is not needed */
    r = wr_plan_emulated(url, &p, err);
    return r > 0 ? wr_plan_say_profile(d, who, WR_PLAN_K_STORAGE, &p, err) : r;
}

int wr_plan_from_dataset(struct wr_plan_draft *d,
                         const struct wr_plan_record *r, weir_err *err)
{
    const json_t *set = wr_get_object(r->json, "dataset");
    double samples = wr_get_number(set, "samples");
    double files = wr_get_number(set, "files");
    double bytes = wr_get_number(set, "bytes");
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int res;

    snprintf(source, sizeof(source), "'%.150s'", r->name);
    res = wr_plan_say(d, &who, WR_PLAN_K_CORES,
                      wr_get_number(r->json, "host.cores"), err);
    if (res < 0 || !set)
        return res;
    res = wr_plan_say(d, &who, WR_PLAN_K_SAMPLES, samples, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_BYTES, bytes / samples, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_BYTES_CV,
                          sizes_cv(wr_get_list(set, "sizes")), err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_PER_OBJECT,
                          WR_MAX(round(samples / files), 1), err);
    if (res == 0)
        res = say_storage(d, &who, wr_get_text(set, "url"), err);
    return res;
}

/* --- the case --- */

/* The settings that were in force. */
static int say_loader(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                      const struct bench_case *b, weir_err *err)
{
    static const struct {
        enum wr_plan_key key;
        const char *path;
    } of_run[] = {{WR_PLAN_K_WORKERS, "in_force.threads"},
                  {WR_PLAN_K_DEPTH, "in_force.depth"},
                  {WR_PLAN_K_PREFETCH, "in_force.prefetch"}};
    const char *order = wr_get_text(b->settings, "order");
    int r = 0;

    for (size_t k = 0; k < WR_ARRAY_LEN(of_run) && r == 0; k++)
        r = wr_plan_say(d, who, of_run[k].key,
                        wr_get_number(b->run, of_run[k].path), err);
    if (r == 0)
        r = wr_plan_say(d, who, WR_PLAN_K_BATCH,
                        wr_get_number(b->settings, "batch"), err);
    if (r == 0 && *order)
        r = wr_plan_say(d, who, WR_PLAN_K_SEQUENTIAL,
                        strcmp(order, "shuffle") != 0, err);
    if (r == 0 && !strcmp(order, "block"))
        r = wr_plan_say(d, who, WR_PLAN_K_SHUFFLED, 1, err);
    return r;
}

/* Reads that serve several samples, samples that are read into their place, and
 * what a stored tensor would be. */
static int say_shape(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                     const struct bench_case *b, weir_err *err)
{
    double requests = wr_get_number(b->run, "requests");
    double samples = wr_get_number(b->run, "samples");
    double slots = wr_get_number(b->run, "slot_limit_per_s");
    double pixels = wr_get_number(b->settings, "width") *
                    wr_get_number(b->settings, "height") *
                    wr_get_number(b->settings, "channels");
    int r = 0;

    if (requests > 0 && requests < 0.9 * samples)
        r = wr_plan_say(d, who, WR_PLAN_K_UNIT,
                        round(wr_get_number(b->run, "bytes") / requests), err);
    if (r == 0)
        r = wr_plan_say(d, who, WR_PLAN_K_IN_PLACE, slots > 0, err);
    if (r == 0 && !(slots > 0))
        r = wr_plan_say(d, who, WR_PLAN_K_TENSOR_BYTES, pixels, err);
    return r;
}

/* Whether nothing else changes what a sample costs. */
static bool same_but_decode(const json_t *a, const json_t *b)
{
    static const char *const cost[] = {"page_cache", "stages", "width",
                                       "height",     "dtype",  "resize",
                                       "crop",       "order"};

    for (size_t k = 0; k < WR_ARRAY_LEN(cost); k++) {
        const json_t *x = wr_get(a, cost[k]), *y = wr_get(b, cost[k]);

        if ((x || y) && !json_equal(x, y))
            return false;
    }
    return true;
}

/* A case of the same with the fast decoder tells what that would take. */
static double fast_cpu(const struct wr_plan_record *r,
                       const struct bench_case *b)
{
    const json_t *cases = wr_get_list(r->json, "cases"), *c;
    size_t k;

    if (strcmp(wr_get_text(b->settings, "decode"), "exact") != 0)
        return NAN;
    json_array_foreach(cases, k, c)
    {
        const json_t *s = wr_get_object(c, "settings");

        if (!strcmp(wr_get_text(s, "decode"), "fast") &&
            same_but_decode(b->settings, s))
            return wr_get_number(median_run(c), "cpu_s_per_1000") / 1000;
    }
    return NAN;
}

/* A real device: from memory if the pages were there, else by what plain reads
 * reached, which is a guess at its bandwidth and nothing more. */
static int guess_storage(struct wr_plan_draft *d,
                         const struct wr_plan_record *r,
                         const struct bench_case *b, weir_err *err)
{
    double limit = wr_get_number(b->run, "read_limit_per_s");
    double threads = wr_get_number(b->run, "read_limit_threads");
    double resident = wr_get_number(b->run, "resident");
    struct wr_device_profile p = {.name = "read limit",
                                  .title = "what plain reads reached"};
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_ASSUMED};

    if (d->facts[WR_PLAN_K_STORAGE].known)
        return 0;
    if (resident >= 0.99 ||
        !strcmp(wr_get_text(b->settings, "page_cache"), "warm")) {
        wr_plan_memory_profile(&p);
        snprintf(source, sizeof(source),
                 "'%.100s': the data was in the page cache", r->name);
        return wr_plan_say_profile(d, &who, WR_PLAN_K_STORAGE, &p, err);
    }
    if (!(limit > 0))
        return 0;
    p.read_bytes_per_s = limit * d->plan.data.bytes.mean;
    p.write_bytes_per_s = p.read_bytes_per_s;
    p.channels = threads >= 1 && threads <= WR_DEVICE_MAX_CHANNELS
                     ? (unsigned)threads
                     : 1;
    p.read_latency_us = WR_MIN(p.channels / limit * 1e6, WR_DEVICE_MAX_US);
    snprintf(source, sizeof(source),
             "'%.100s': what plain reads reached; a record of weir probe says "
             "more",
             r->name);
    return wr_plan_say_profile(d, &who, WR_PLAN_K_STORAGE, &p, err);
}

static int say_accelerator(struct wr_plan_draft *d,
                           const struct wr_plan_saying *who,
                           const struct wr_plan_record *r, double batch,
                           weir_err *err)
{
    const json_t *a = wr_get_object(r->json, "accelerator");
    double ms = wr_get_number(a, "step_ms");
    double fixed = wr_get_number(a, "fixed_ms");
    double each = wr_get_number(a, "per_sample_ms");
    int res;

    if (!(ms > 0))
        return 0;
    res = wr_plan_say_text(d, who, WR_PLAN_K_ACCELERATOR,
                           wr_get_text(a, "name"), err);
    if (res <= 0)
        return res;
    if (fixed >= 0 && each >= 0) {
        d->fixed_s = fixed / 1e3;
        d->per_sample_s = each / 1e3;
        d->batch_of_step = each > 0 ? batch : 0;
    }
    return wr_plan_say(d, who, WR_PLAN_K_STEP, ms / 1e3, err);
}

int wr_plan_from_bench(struct wr_plan_draft *d, const struct wr_plan_record *r,
                       weir_err *err)
{
    struct bench_case b = {0};
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int res = choose(r, &b, err);

    if (res == 0)
        res = wr_plan_from_dataset(d, r, err);
    if (res < 0)
        return res;
    snprintf(source, sizeof(source), "'%.120s'", r->name);
    if (b.count > 1)
        snprintf(source, sizeof(source), "'%.100s', case %zu of %zu", r->name,
                 b.number, b.count);
    res = say_loader(d, &who, &b, err);
    if (res == 0)
        res = say_shape(d, &who, &b, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_CPU,
                          wr_get_number(b.run, "cpu_s_per_1000") / 1000, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_CPU_FAST, fast_cpu(r, &b), err);
    if (res == 0)
        res = guess_storage(d, r, &b, err);
    if (res == 0)
        res = say_accelerator(d, &who, r, wr_get_number(b.settings, "batch"),
                              err);
    return res;
}
