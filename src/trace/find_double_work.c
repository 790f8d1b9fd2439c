/* find_double_work.c - D09: several calls where one would do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define CALLS 5.0 /* per sample: open, read, close and two more */
#define LEAST 20
#define SHARE 0.02

static uint64_t most_calls(const struct wr_trace_use *u)
{
    uint64_t calls = (uint64_t)u->opens + u->stats + u->seeks + u->zero_reads;

    return u->role == WR_TRACE_ROLE_SET && calls > 5 * (uint64_t)u->passes
               ? u->meta_ns
               : 0;
}

struct calls {
    double passes, opens, stats, seeks, zeros, others, ns;
    unsigned files;
};

static struct calls sum_of(const struct wr_trace_analysis *a)
{
    struct calls c = {0};

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];
        uint64_t size = wr_trace_file_name(a->file, k)->size;

        if (u->role != WR_TRACE_ROLE_SET || size >= (8 << 20))
            continue;
        c.files++;
        c.passes += u->passes;
        c.opens += u->opens;
        c.stats += u->stats;
        c.seeks += u->seeks;
        c.zeros += u->zero_reads;
        c.others += u->closes;
        c.ns += (double)u->meta_ns;
    }
    return c;
}

static double mean_ns(const struct wr_hist *h)
{
    return h->count ? (double)h->sum / (double)h->count : 0;
}

/* Time of calls beyond one open and one close per sample. Opens and stats have
 * times of their own; seeks and closes share what is left. */
static double extra(const struct wr_trace_analysis *a, const struct calls *c)
{
    double open = mean_ns(a->latency[WR_TRACE_LAT_OPEN]);
    double stat = mean_ns(a->latency[WR_TRACE_LAT_STAT]);
    double rest = c->ns - c->opens * open - c->stats * stat;
    double others = c->seeks + c->others, ns = c->stats * stat;

    if (c->opens > c->passes)
        ns += (c->opens - c->passes) * open;
    if (rest > 0 && others > c->passes)
        ns += rest * (others - c->passes) / others;
    return ns < c->ns ? ns : c->ns;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    struct calls c = sum_of(a);
    double meta = c.opens + c.stats + c.seeks + c.others;
    double per = c.passes ? (meta + c.zeros + c.passes) / c.passes : 0;

    if (!wr_find_loads(a) || c.files < LEAST || per <= CALLS ||
        meta <= 2 * c.passes)
        return false;
    f->seconds = wr_find_lost(a, extra(a, &c));
    f->gain = f->seconds;
    f->sure = WR_TRACE_FINDING_LIKELY;
    if (f->seconds * wr_find_epochs(a) < SHARE * wr_find_run(a))
        return false;
    snprintf(f->what, sizeof(f->what),
             "Each sample takes %.1f calls where open, read and close would "
             "do.",
             per);
    snprintf(f->evidence, sizeof(f->evidence),
             "Per sample: %.1f opens, %.1f stats, %.1f seeks, %.1f reads of no "
             "bytes.",
             c.opens / c.passes, c.stats / c.passes, c.seeks / c.passes,
             c.zeros / c.passes);
    snprintf(f->change, sizeof(f->change),
             "Read each file once, unbuffered: with open(path, 'rb', "
             "buffering=0) as f: data = f.read(); then "
             "Image.open(io.BytesIO(data))");
    wr_find_files(a, f, most_calls);
    return true;
}

const struct wr_trace_finding_rule wr_find_double_work = {
    "D09", "double work per sample", look};
