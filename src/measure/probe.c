/* probe.c - what a path can do: tests in passes, medians, the verdicts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "measure/probe_private.h"
#include "result/stats.h"

#define MAX_BLOCK   ((uint64_t)1 << 30)
#define MAX_DEPTH   4096u
#define MAX_WORKERS 1024u
#define MAX_BUFFERS ((uint64_t)4 << 30)
#define LAY_OUT     0.15 /* of the progress */
#define GAIN        1.05 /* per doubling of the depth */

/* --- names --- */

static int name_of_files(const struct wr_probe_test *t, char *buf, size_t cap)
{
    const char *what = t->op == WR_PROBE_CREATE ? "create small files"
                                                : "small files";

    return t->op == WR_PROBE_FILES && t->depth > 1
               ? snprintf(buf, cap, "%s, depth %u", what, t->depth)
               : snprintf(buf, cap, "%s", what);
}

static int name_of_big(const struct wr_probe_test *t, char *buf, size_t cap)
{
    char size[32] = "mixed sizes";

    if (t->block)
        wr_format_binary(size, sizeof(size), (double)t->block);
    return snprintf(buf, cap, "%s %s %s, depth %u, %s",
                    t->pattern == WR_PROBE_RANDOM ? "random" : "sequential",
                    t->op == WR_PROBE_READ ? "read" : "write", size, t->depth,
                    t->direct ? "direct" : "buffered");
}

char *wr_probe_test_name(const struct wr_probe_test *t, char *buf, size_t cap)
{
    int n;

    if (t->op == WR_PROBE_SYNC)
        n = snprintf(buf, cap, "write 4 KiB and sync");
    else if (t->op == WR_PROBE_FILES || t->op == WR_PROBE_CREATE)
        n = name_of_files(t, buf, cap);
    else
        n = name_of_big(t, buf, cap);
    if (t->op == WR_PROBE_FILES && t->direct && n >= 0 && (size_t)n < cap)
        n += snprintf(buf + n, cap - (size_t)n, ", direct");
    if (t->workers > 1 && n >= 0 && (size_t)n < cap)
        snprintf(buf + n, cap - (size_t)n, ", %u workers", t->workers);
    return buf;
}

/* --- the plan --- */

static int check_test(const struct wr_probe_plan *plan,
                      const struct wr_probe_test *t, weir_err *err)
{
    bool files = wr_probe_is_files(t);
    bool big = t->op == WR_PROBE_READ || t->op == WR_PROBE_WRITE;
    char name[WR_PROBE_NAME];

    wr_probe_test_name(t, name, sizeof(name));
    if (t->depth < 1 || t->depth > MAX_DEPTH)
        return wr_fail(err, WEIR_EINVAL, "%s: depth must be in 1..%u", name,
                       MAX_DEPTH);
    if (t->workers < 1 || t->workers > MAX_WORKERS)
        return wr_fail(err, WEIR_EINVAL, "%s: workers must be in 1..%u", name,
                       MAX_WORKERS);
    if (big && t->block > MAX_BLOCK)
        return wr_fail(err, WEIR_EINVAL, "%s: requests are 1 GiB at most",
                       name);
    if (t->op == WR_PROBE_WRITE && t->direct && t->block % WR_DIRECT_ALIGN)
        return wr_fail(err, WEIR_EINVAL,
                       "%s: direct writes are multiples of %u bytes", name,
                       WR_DIRECT_ALIGN);
    if ((files || (big && !t->block)) && !wr_probe_mix_max(&plan->mix))
        return wr_fail(err, WEIR_EINVAL, "%s: no mix of sizes", name);
    if (files && !plan->small_files)
        return wr_fail(err, WEIR_EINVAL, "%s: no small files", name);
    return 0;
}

static int check_plan(const struct wr_probe_plan *plan, weir_err *err)
{
    int r = 0;

    if (plan->passes < 1 || !(plan->seconds > 0) || !plan->test_count)
        return wr_fail(err, WEIR_EINVAL, "nothing to do");
    for (size_t i = 0; r == 0 && i < plan->test_count; i++)
        r = check_test(plan, &plan->tests[i], err);
    return r;
}

/* Each worker of a test has at least one request to make, and all of them have
 * memory for theirs. */
static int check_size(const struct wr_probe_place *p,
                      const struct wr_probe_test *t, weir_err *err)
{
    uint64_t size = t->op == WR_PROBE_READ ? p->read_bytes
                                           : p->plan->file_bytes;
    uint64_t block = wr_probe_largest(p, t);
    char name[WR_PROBE_NAME];

    wr_probe_test_name(t, name, sizeof(name));
    if (wr_probe_memory(p, t) > MAX_BUFFERS)
        return wr_fail(err, WEIR_ELIMIT,
                       "%s: its requests take more than 4 GiB of memory", name);
    if (!wr_probe_is_files(t) &&
        WR_ALIGN_UP(block, (uint64_t)WR_DIRECT_ALIGN) > size / t->workers)
        return wr_fail(err, WEIR_EINVAL, "%s: the file is too small for it",
                       name);
    return 0;
}

/* --- runs --- */

struct probe_job {
    const struct wr_probe_plan *plan; /* borrowed */
    struct wr_probe_place place;
    struct wr_probe_report report;
};

static int run_one(struct probe_job *pr, unsigned pass, size_t i, weir_err *err)
{
    const struct wr_probe_plan *plan = pr->plan;
    const struct wr_probe_test *t = &plan->tests[i];
    struct wr_probe_result *res = &pr->report.results[i];
    double step = (1 - LAY_OUT) / (double)(plan->passes * plan->test_count);
    uint64_t number = (uint64_t)pass * plan->test_count + i;
    char name[WR_PROBE_NAME];
    struct wr_probe_job job = {
        .place = &pr->place,
        .test = t,
        .stream = number + 1,
        .seconds = plan->seconds,
        .kind = t->op == WR_PROBE_CREATE ? 'c' : 's',
        .name = wr_probe_test_name(t, name, sizeof(name)),
        .from = LAY_OUT + step * (double)number,
        .to = LAY_OUT + step * (double)(number + 1),
        .engine = pr->report.engine,
    };
    double resident;
    int r;

    if (res->skipped)
        return 0;
    wr_probe_tell(plan, name, job.from);
    r = wr_probe_make_cold(&pr->place, t, &resident, err);
    if (r == 0 && t->op == WR_PROBE_CREATE)
        r = wr_probe_small_folders(&pr->place, 'c', err);
    if (r == 0)
        r = wr_probe_run(&job, &res->runs[res->run_count], err);
    if (r < 0)
        return r;
    res->runs[res->run_count++].v.resident = resident >= 0 ? resident : NAN;
    return t->op == WR_PROBE_CREATE
               ? wr_probe_small_remove(&pr->place, 'c', err)
               : 0;
}

static int run_all(struct probe_job *pr, weir_err *err)
{
    int r = 0;

    for (unsigned pass = 0; r == 0 && pass < pr->plan->passes; pass++)
        for (size_t i = 0; r == 0 && i < pr->plan->test_count; i++) {
            if (wr_probe_is_stopped(pr->plan))
                return wr_fail(err, WEIR_ECANCELED, "stopped");
            r = run_one(pr, pass, i, err);
        }
    return r;
}

static int get_results(struct probe_job *pr, weir_err *err)
{
    struct wr_probe_report *rep = &pr->report;

    rep->results = calloc(pr->plan->test_count, sizeof(*rep->results));
    if (!rep->results)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    rep->count = pr->plan->test_count;
    for (size_t i = 0; i < rep->count; i++) {
        rep->results[i].runs = calloc(pr->plan->passes,
                                      sizeof(*rep->results[i].runs));
        if (!rep->results[i].runs)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    return 0;
}

static void skip_direct(struct probe_job *pr, enum wr_probe_op op)
{
    for (size_t i = 0; i < pr->plan->test_count; i++) {
        struct wr_probe_result *res = &pr->report.results[i];

        if (!pr->plan->tests[i].direct || pr->plan->tests[i].op != op)
            continue;
        res->skipped = true;
        snprintf(res->reason, sizeof(res->reason),
                 "no O_DIRECT here: the file system takes the page cache");
    }
}

/* Which tests cannot be run here: the file to be read may lie elsewhere than
 * those to be written. */
static int choose_tests(struct probe_job *pr, weir_err *err)
{
    static const enum wr_probe_op ops[] = {WR_PROBE_READ, WR_PROBE_WRITE,
                                           WR_PROBE_FILES};
    bool works;
    int r = 0;

    pr->report.cache.direct_works = true;
    for (size_t k = 0; r == 0 && k < WR_ARRAY_LEN(ops); k++) {
        r = wr_probe_direct_works(&pr->place, ops[k], &works, err);
        if (r < 0 || works)
            continue;
        pr->report.cache.direct_works = false;
        skip_direct(pr, ops[k]);
    }
    return r;
}

/* --- what came out --- */

static double median_of(double *v, unsigned n)
{
    return wr_stats_quantile(v, wr_stats_sort(v, n), 0.5);
}

void wr_probe_summarize(struct wr_probe_result *res, double *scratch)
{
    struct wr_probe_result_values *v = &res->v;
    unsigned n = res->run_count;
    double middle;

    if (!n)
        return;
    for (unsigned i = 0; i < n; i++)
        scratch[i] = res->runs[i].v.ops_per_s;
    v->ops_per_s = median_of(scratch, n);
    v->ops_per_s_min = scratch[0];
    v->ops_per_s_max = scratch[n - 1];
    middle = scratch[(n - 1) / 2];
    for (unsigned i = n; i-- > 0;)
        if (res->runs[i].v.ops_per_s == middle)
            res->median = i;
    for (unsigned i = 0; i < n; i++)
        scratch[i] = fabs(res->runs[i].v.ops_per_s - v->ops_per_s);
    res->ops_spread = median_of(scratch, n);
    for (unsigned i = 0; i < n; i++)
        scratch[i] = res->runs[i].v.bytes_per_s;
    v->bytes_per_s = median_of(scratch, n);
    for (unsigned i = 0; i < n; i++)
        scratch[i] = res->runs[i].v.bytes > 0
                         ? res->runs[i].v.cpu_s * 1e9 / res->runs[i].v.bytes
                         : 0;
    v->cpu_s_per_gb = median_of(scratch, n);
}

static void sum_up_cache(struct probe_job *pr)
{
    struct wr_probe_cache *c = &pr->report.cache;

    c->resident = -1;
    for (size_t i = 0; i < pr->report.count; i++) {
        const struct wr_probe_test *t = &pr->plan->tests[i];
        const struct wr_probe_result *res = &pr->report.results[i];

        if (t->op != WR_PROBE_READ && t->op != WR_PROBE_FILES)
            continue;
        for (unsigned k = 0; k < res->run_count; k++)
            c->resident = fmax(c->resident, res->runs[k].v.resident);
        c->dropped |= res->run_count && !t->direct &&
                      pr->place.store->ops->local_path;
    }
    wr_probe_find_cache_below(&pr->place, &pr->report);
}

static int sum_up(struct probe_job *pr, weir_err *err)
{
    struct wr_probe_report *rep = &pr->report;
    double *scratch = calloc(pr->plan->passes, sizeof(*scratch));

    if (!scratch)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < rep->count; i++)
        wr_probe_summarize(&rep->results[i], scratch);
    free(scratch);
    sum_up_cache(pr);
    rep->file_bytes = pr->place.read_path ? pr->place.read_bytes
                                          : pr->plan->file_bytes;
    rep->small_files = pr->plan->small_files;
    if (!rep->engine[0])
        snprintf(rep->engine, sizeof(rep->engine), "blocking");
    return 0;
}

static int probe_in_place(struct probe_job *pr, weir_err *err)
{
    int r;

    r = get_results(pr, err);
    for (size_t i = 0; r == 0 && i < pr->plan->test_count; i++)
        r = check_size(&pr->place, &pr->plan->tests[i], err);
    if (r == 0)
        r = wr_probe_place_fill(&pr->place, LAY_OUT, err);
    if (r == 0)
        r = choose_tests(pr, err);
    if (r == 0)
        r = run_all(pr, err);
    return r < 0 ? r : sum_up(pr, err);
}

/* `r` is what came before; who stopped the probe must know it, too. */
static int tell_what_stays(int r, const weir_err *why, weir_err *err)
{
    weir_err before = {0};

    if (r < 0 && err)
        before = *err;
    return wr_fail(err, r < 0 && r != WEIR_ECANCELED ? r : why->code,
                   "%s%swhat was written is not removed: %s", before.msg,
                   *before.msg ? "; " : "", why->msg);
}

int wr_probe(const struct wr_probe_plan *plan, struct wr_probe_report *ret,
             weir_err *err)
{
    struct probe_job pr = {.plan = plan};
    weir_err later;
    int r, removed;

    r = check_plan(plan, err);
    if (r == 0)
        r = wr_probe_place_open(&pr.place, plan, &pr.report.free_bytes, err);
    if (r < 0)
        return r;
    r = probe_in_place(&pr, err);
    if (r == 0)
        wr_probe_tell(plan, "clean up", 1);
    removed = wr_probe_place_close(&pr.place, &later);
    if (removed < 0)
        r = tell_what_stays(r, &later, err);
    if (r < 0) {
        wr_probe_report_done(&pr.report);
        return r;
    }
    *ret = pr.report;
    return 0;
}

void wr_probe_report_done(struct wr_probe_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        for (unsigned k = 0; k < r->results[i].run_count; k++)
            wr_probe_run_done(&r->results[i].runs[k]);
        free(r->results[i].runs);
    }
    free(r->results);
    *r = (struct wr_probe_report){0};
}

void wr_probe_latency(const struct wr_probe_result *r, enum wr_probe_step step,
                      struct wr_hist *ret)
{
    *ret = (struct wr_hist){0};
    for (unsigned i = 0; i < r->run_count; i++) {
        const struct wr_probe_run *run = &r->runs[i];
        const struct wr_hist *h = step == WR_PROBE_OPEN       ? run->open
                                  : step == WR_PROBE_TRANSFER ? run->transfer
                                  : step == WR_PROBE_CLOSE    ? run->close
                                                              : run->latency;

        if (h)
            wr_hist_merge(ret, h);
    }
}

/* --- saturation --- */

static bool differs_in_depth_alone(const struct wr_probe_test *a,
                                   const struct wr_probe_test *b)
{
    return a->op == b->op && a->pattern == b->pattern && a->block == b->block &&
           a->workers == b->workers && a->direct == b->direct;
}

/* The test of the next larger depth that was run; plan->test_count: none. */
static size_t next_deeper(const struct wr_probe_plan *plan,
                          const struct wr_probe_report *r,
                          const struct wr_probe_test *like, unsigned depth)
{
    size_t best = plan->test_count;

    for (size_t i = 0; i < plan->test_count; i++)
        if (r->results[i].run_count &&
            differs_in_depth_alone(&plan->tests[i], like) &&
            plan->tests[i].depth > depth &&
            (best == plan->test_count ||
             plan->tests[i].depth < plan->tests[best].depth))
            best = i;
    return best;
}

unsigned wr_probe_saturation(const struct wr_probe_plan *plan,
                             const struct wr_probe_report *r,
                             const struct wr_probe_test *like,
                             bool *ret_reached)
{
    size_t best = next_deeper(plan, r, like, 0), i = best;
    unsigned seen = 0;

    for (; i < plan->test_count;
         i = next_deeper(plan, r, like, plan->tests[i].depth), seen++) {
        /* Measured against the best so far: a dip is no reason to take its
         * recovery for a gain. */
        double doublings = log2((double)plan->tests[i].depth /
                                plan->tests[best].depth);

        if (r->results[i].v.ops_per_s >=
            r->results[best].v.ops_per_s * pow(GAIN, doublings))
            best = i;
    }
    if (seen < 2)
        return 0;
    *ret_reached = next_deeper(plan, r, like, plan->tests[best].depth) <
                   plan->test_count;
    return plan->tests[best].depth;
}
