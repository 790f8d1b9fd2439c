/* probe_fit.c - the device profile that would have given a probe's results.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/probe_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/mem.h"

#define MIB          (UINT64_C(1) << 20)
#define NEAR_BYTES   (8 * MIB)
#define SMALL        (64 * 1024) /* requests up to that tell latency */
#define NO_SEEK      0.1         /* of the latency: less is noise */
#define ALL_AT_ONCE  0.9         /* of the depth: no end of channels was seen */
#define MISFIT       0.15        /* more than that from the law of channels */
#define ARM_SEEK_US  2000        /* a lone seek that takes an arm ... */
#define ARM_GAIN     6           /* ... when depth gains less than that */
#define CACHE_GAP    8.0         /* a write past the cache is so much slower */
#define LEAST_PART   0.02 /* of the writes are on each side of that gap */
#define LEAST_FACTOR 0.01

/* Tests are looked up by what they are; results come with them. */
struct fit_view {
    const struct wr_probe_plan *plan;
    const struct wr_probe_report *rep;
};

struct fitted {
    const struct wr_probe_test *test; /* borrowed; NULL: there is none */
    const struct wr_probe_result *result;
};

/* --- looking up --- */

static bool is_range(const struct wr_probe_test *t, enum wr_probe_op op,
                     enum wr_probe_pattern pattern)
{
    return t->op == op && t->pattern == pattern && t->block;
}

static bool was_run(const struct wr_probe_result *r)
{
    return !r->skipped && r->run_count && r->v.ops_per_s > 0;
}

/* Buffered reads of ranges are read ahead by the kernel: they tell nothing of
 * the device when there are direct ones. */
static bool has_direct(const struct fit_view *v)
{
    for (size_t k = 0; k < v->rep->count; k++)
        if (v->plan->tests[k].direct && was_run(&v->rep->results[k]))
            return true;
    return false;
}

/* The next test of this kind behind *k. */
static bool next_range(const struct fit_view *v, enum wr_probe_op op,
                       enum wr_probe_pattern pattern, size_t *k,
                       struct fitted *ret)
{
    bool direct = has_direct(v);

    for (; *k < v->rep->count; ++*k) {
        const struct wr_probe_test *t = &v->plan->tests[*k];

        if (is_range(t, op, pattern) && t->direct == direct &&
            was_run(&v->rep->results[*k])) {
            *ret = (struct fitted){t, &v->rep->results[(*k)++]};
            return true;
        }
    }
    return false;
}

/* The one with a lone request in flight and the smallest block. */
static struct fitted lone(const struct fit_view *v, enum wr_probe_op op,
                          enum wr_probe_pattern pattern)
{
    struct fitted best = {0}, f;

    for (size_t k = 0; next_range(v, op, pattern, &k, &f);)
        if (f.test->depth == 1 && f.test->workers == 1 &&
            f.test->block <= SMALL &&
            (!best.test || f.test->block < best.test->block))
            best = f;
    return best;
}

static struct fitted fastest(const struct fit_view *v, enum wr_probe_op op,
                             enum wr_probe_pattern pattern)
{
    struct fitted best = {0}, f;

    for (size_t k = 0; next_range(v, op, pattern, &k, &f);)
        if (!best.test || f.result->v.bytes_per_s > best.result->v.bytes_per_s)
            best = f;
    return best;
}

/* The one with the most bytes in flight. */
static struct fitted deepest(const struct fit_view *v, enum wr_probe_op op,
                             enum wr_probe_pattern pattern)
{
    struct fitted best = {0}, f;

    for (size_t k = 0; next_range(v, op, pattern, &k, &f);)
        if (!best.test ||
            f.test->block * f.test->depth * f.test->workers >
                best.test->block * best.test->depth * best.test->workers)
            best = f;
    return best;
}

static struct fitted first_of(const struct fit_view *v, enum wr_probe_op op)
{
    for (size_t k = 0; k < v->rep->count; k++)
        if (v->plan->tests[k].op == op && was_run(&v->rep->results[k]))
            return (struct fitted){&v->plan->tests[k], &v->rep->results[k]};
    return (struct fitted){0};
}

/* Over all passes, as it is printed: the pass whose rate is the median may be
 * one of a few in which the device was in another mood. */
static double median_us(struct fitted f, enum wr_probe_step step)
{
    struct wr_hist all;

    wr_probe_latency(f.result, step, &all);
    return (double)wr_hist_quantile(&all, 0.5) / 1e3;
}

static double transfer_us(uint64_t bytes, double bytes_per_s)
{
    return bytes_per_s > 0 ? (double)bytes / bytes_per_s * 1e6 : 0;
}

/* --- reads --- */

static bool is_lone_random(const struct wr_probe_test *t)
{
    return is_range(t, WR_PROBE_READ, WR_PROBE_RANDOM) && t->depth == 1 &&
           t->workers == 1 && t->block <= SMALL;
}

int wr_probe_fit_check(const struct wr_probe_plan *plan, weir_err *err)
{
    bool seq = false, rnd = false, direct = false;

    for (size_t k = 0; k < plan->test_count; k++)
        direct |= plan->tests[k].direct;
    for (size_t k = 0; k < plan->test_count; k++) {
        const struct wr_probe_test *t = &plan->tests[k];

        if (t->direct != direct)
            continue;
        seq |= is_range(t, WR_PROBE_READ, WR_PROBE_SEQUENTIAL);
        rnd |= is_lone_random(t);
    }
    if (!seq)
        return wr_fail(err, WEIR_EINVAL,
                       "a profile needs sequential reads among the tests");
    if (!rnd)
        return wr_fail(err, WEIR_EINVAL,
                       "a profile needs random reads of up to 64 KiB at depth "
                       "1 by one thread among the tests");
    return 0;
}

static int fit_bandwidth(const struct fit_view *v, struct wr_device_profile *p,
                         weir_err *err)
{
    struct fitted seq = fastest(v, WR_PROBE_READ, WR_PROBE_SEQUENTIAL);
    struct fitted any = fastest(v, WR_PROBE_READ, WR_PROBE_RANDOM);

    if (!seq.test)
        return wr_fail(err, WEIR_EINVAL,
                       "a profile needs sequential reads among the tests");
    p->read_bytes_per_s = seq.result->v.bytes_per_s;
    if (any.test)
        p->read_bytes_per_s = WR_MAX(p->read_bytes_per_s,
                                     any.result->v.bytes_per_s);
    return 0;
}

/* A lone small read takes the latency, and a seek when it goes anywhere. */
static int fit_latency(const struct fit_view *v, struct wr_device_profile *p,
                       weir_err *err)
{
    struct fitted rnd = lone(v, WR_PROBE_READ, WR_PROBE_RANDOM);
    struct fitted seq = lone(v, WR_PROBE_READ, WR_PROBE_SEQUENTIAL);
    double anywhere, next;

    if (!rnd.test)
        return wr_fail(err, WEIR_EINVAL,
                       "a profile needs random reads of up to 64 KiB at depth "
                       "1 among the tests");
    anywhere = median_us(rnd, WR_PROBE_ALL_STEPS) -
               transfer_us(rnd.test->block, p->read_bytes_per_s);
    anywhere = WR_MAX(anywhere, 0);
    p->read_latency_us = anywhere;
    if (!seq.test)
        return 0;
    next = median_us(seq, WR_PROBE_ALL_STEPS) -
           transfer_us(seq.test->block, p->read_bytes_per_s);
    next = WR_MAX(next, 0);
    if (anywhere > next && anywhere - next > NO_SEEK * anywhere) {
        p->read_latency_us = next;
        p->seek_us = anywhere - next;
        p->near_bytes = NEAR_BYTES;
    }
    return 0;
}

/* Small random reads at more depth than one: the block that `lone` has. */
static bool next_deeper(const struct fit_view *v, uint64_t block, size_t *k,
                        struct fitted *ret)
{
    while (next_range(v, WR_PROBE_READ, WR_PROBE_RANDOM, k, ret))
        if (ret->test->block == block && ret->test->workers == 1 &&
            ret->test->depth > 1)
            return true;
    return false;
}

/* How many lone requests' times went by at once. */
static double at_once(const struct wr_device_profile *p, struct fitted f)
{
    double alone = p->read_latency_us + p->seek_us +
                   transfer_us(f.test->block, p->read_bytes_per_s);

    return f.result->v.ops_per_s * alone / 1e6;
}

/* The most that went on at once, at any depth. */
static double most_at_once(const struct fit_view *v,
                           const struct wr_device_profile *p, uint64_t block)
{
    struct fitted f;
    double most = 1;

    for (size_t k = 0; next_deeper(v, block, &k, &f);)
        most = WR_MAX(most, at_once(p, f));
    return most;
}

/* Channels gain in step with the depth until all are busy. An arm that chooses
 * among waiting requests gains slowly all the way; when too few depths were
 * tried to see that, long seeks and small gains tell it. */
static bool is_arm(const struct fit_view *v, const struct wr_device_profile *p,
                   uint64_t block)
{
    double rest = p->read_latency_us + transfer_us(block, p->read_bytes_per_s);
    double channels = most_at_once(v, p, block);
    struct fitted f;

    /* One arm cannot be faster than if it had nothing to seek. */
    if (p->seek_us <= 0 || channels * rest > rest + p->seek_us)
        return false;
    for (size_t k = 0; next_deeper(v, block, &k, &f);) {
        double in_step = WR_MIN((double)f.test->depth, channels);

        if (at_once(p, f) < (1 - MISFIT) * in_step)
            return true;
    }
    return p->seek_us >= ARM_SEEK_US && channels < ARM_GAIN;
}

static void insert_point(struct wr_device_profile *p, unsigned depth,
                         double factor)
{
    unsigned k = p->seek_points;

    if (k == WR_SEEK_POINTS)
        return;
    for (; k && p->seek_law[k - 1].depth > depth; k--)
        p->seek_law[k] = p->seek_law[k - 1];
    p->seek_law[k] = (struct wr_seek_point){depth, factor};
    p->seek_points++;
}

static void fit_arm(const struct fit_view *v, struct wr_device_profile *p,
                    uint64_t block)
{
    double rest = p->read_latency_us + transfer_us(block, p->read_bytes_per_s);
    struct fitted f;

    p->channels = 1;
    insert_point(p, 1, 1);
    for (size_t k = 0; next_deeper(v, block, &k, &f);) {
        double factor = (1e6 / f.result->v.ops_per_s - rest) / p->seek_us;

        insert_point(p, f.test->depth, WR_MIN(WR_MAX(factor, LEAST_FACTOR), 1));
    }
}

static void fit_channels(const struct fit_view *v, struct wr_device_profile *p,
                         uint64_t block)
{
    struct fitted f;
    bool ended = false; /* depth gained less than it could have */

    for (size_t k = 0; next_deeper(v, block, &k, &f);)
        ended |= at_once(p, f) < ALL_AT_ONCE * f.test->depth;
    p->channels = ended ? (unsigned)lround(most_at_once(v, p, block)) : 0;
}

static void fit_depth(const struct fit_view *v, struct wr_device_profile *p)
{
    struct fitted rnd = lone(v, WR_PROBE_READ, WR_PROBE_RANDOM), f;
    size_t k = 0;

    if (!next_deeper(v, rnd.test->block, &k, &f))
        p->channels = 1;
    else if (is_arm(v, p, rnd.test->block))
        fit_arm(v, p, rnd.test->block);
    else
        fit_channels(v, p, rnd.test->block);
}

/* --- writes --- */

/* Values of `h` below and above a line, and the middle of those above. */
struct split {
    double below, above; /* parts of all */
    double fast_ns, slow_ns;
};

static struct split split_at(const struct wr_hist *h, double line_ns)
{
    struct split s = {0};
    double below = (double)wr_hist_count_between(h, 0, (uint64_t)line_ns);

    s.below = below / (double)h->count;
    s.above = 1 - s.below;
    s.fast_ns = (double)wr_hist_quantile(h, s.below / 2);
    s.slow_ns = (double)wr_hist_quantile(h, s.below + s.above / 2);
    return s;
}

/* Writes that a cache takes come back at once until it is full, all later ones
 * at the pace at which it drains. (The time of a run ends with a sync, so the
 * bandwidth is that of the medium in any case.) */
static void fit_cache(struct fitted w, struct wr_device_profile *p)
{
    for (unsigned k = 0; k < w.result->run_count; k++) {
        const struct wr_probe_run *run = &w.result->runs[k];
        struct split s;
        double line;

        if (!run->latency || !run->latency->count)
            continue;
        line = sqrt((double)WR_MAX(run->latency->min, 1u) *
                    (double)wr_hist_quantile(run->latency, 0.99));
        s = split_at(run->latency, line);
        if (WR_MIN(s.below, s.above) < LEAST_PART ||
            s.slow_ns < CACHE_GAP * s.fast_ns)
            continue;
        p->write_cache_bytes = WR_MAX(p->write_cache_bytes,
                                      (uint64_t)(s.below * run->v.bytes));
    }
}

static void fit_writes(const struct fit_view *v, struct wr_device_profile *p)
{
    struct fitted big = deepest(v, WR_PROBE_WRITE, WR_PROBE_SEQUENTIAL);
    struct fitted small = lone(v, WR_PROBE_WRITE, WR_PROBE_SEQUENTIAL);

    if (!big.test) { /* not measured: as reads */
        p->write_bytes_per_s = p->read_bytes_per_s;
        p->write_latency_us = p->read_latency_us;
        return;
    }
    p->write_bytes_per_s = big.result->v.bytes_per_s;
    fit_cache(big, p);
    p->write_latency_us = p->read_latency_us;
    if (small.test) {
        double us = median_us(small, WR_PROBE_ALL_STEPS);

        if (!p->write_cache_bytes)
            us -= transfer_us(small.test->block, p->write_bytes_per_s);
        p->write_latency_us = WR_MAX(us, 0);
    }
}

/* --- files and syncs --- */

static void fit_rest(const struct fit_view *v, struct wr_device_profile *p)
{
    struct fitted files = first_of(v, WR_PROBE_FILES);
    struct fitted sync = first_of(v, WR_PROBE_SYNC);

    if (files.test)
        p->meta_latency_us = median_us(files, WR_PROBE_OPEN);
    if (sync.test)
        p->sync_latency_us = median_us(sync, WR_PROBE_ALL_STEPS);
}

/* Four digits: more were never measured. By way of text, lest the last bit
 * make sixteen of them. */
static double rounded(double x)
{
    char text[32];

    wr_snprintf(text, sizeof(text), "%.4g", x);
    return wr_strtod(text, NULL);
}

static void round_all(struct wr_device_profile *p)
{
    double *const numbers[] = {&p->read_latency_us,  &p->write_latency_us,
                               &p->meta_latency_us,  &p->sync_latency_us,
                               &p->read_bytes_per_s, &p->write_bytes_per_s,
                               &p->seek_us};

    for (size_t k = 0; k < WR_ARRAY_LEN(numbers); k++)
        *numbers[k] = rounded(*numbers[k]);
    for (unsigned k = 0; k < p->seek_points; k++)
        p->seek_law[k].factor = rounded(p->seek_law[k].factor);
    p->write_cache_bytes = (p->write_cache_bytes + MIB / 2) / MIB * MIB;
}

int wr_probe_fit(const struct wr_probe_plan *plan,
                 const struct wr_probe_report *r, struct wr_device_profile *ret,
                 weir_err *err)
{
    const struct fit_view v = {plan, r};
    struct wr_device_profile p = {.name = "probed"};
    int res = fit_bandwidth(&v, &p, err);

    if (res == 0)
        res = fit_latency(&v, &p, err);
    if (res < 0)
        return res;
    fit_depth(&v, &p);
    fit_writes(&v, &p);
    fit_rest(&v, &p);
    round_all(&p);
    snprintf(p.title, sizeof(p.title), "fitted by weir probe");
    *ret = p;
    return 0;
}
