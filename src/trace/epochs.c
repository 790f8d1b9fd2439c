/* epochs.c - passes over the data set, told apart without being told of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The walk counts for each file how often it was read as a whole. All reads of
 * first passes lie in one stretch of time, those of second passes in the next,
 * and so on: these are epochs. Where every rank reads every file, or each sample
 * is opened twice, the stretches of several passes overlap, and together make one
 * epoch. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "trace/analysis_private.h"

/* A pass that only a few files have (read once more at the start, say), or only
 * a few bytes: the rest of one before. */
#define FEW 0.05

static double mean_of(const struct wr_pass_stat *p)
{
    return p->time / p->weight;
}

/* Half the length of the stretch, as if reads were spread evenly over it. */
static double half_of(const struct wr_pass_stat *p)
{
    double m = mean_of(p), var = p->time2 / p->weight - m * m;

    return var > 0 ? sqrt(3 * var) : 0;
}

static bool overlap(const struct wr_pass_stat *a, const struct wr_pass_stat *b)
{
    return mean_of(b) - mean_of(a) < (half_of(a) + half_of(b)) / 2;
}

/* The number of the epoch of each pass, from 0 on; returns how many: one where
 * the pass with the files has few of the bytes, and the one with the bytes has
 * few files. */
static uint32_t number_epochs(const struct wr_trace_walk *w, uint32_t *epoch_of)
{
    uint64_t most = 0, most_bytes = 0;
    uint32_t n = 0;
    const struct wr_pass_stat *last = NULL;

    for (size_t k = 0; k < w->pass_count; k++) {
        most = WR_MAX(most, w->passes[k].files);
        most_bytes = WR_MAX(most_bytes, w->passes[k].bytes);
    }
    for (size_t k = 0; k < w->pass_count; k++) {
        const struct wr_pass_stat *p = &w->passes[k];

        epoch_of[k] = n ? n - 1 : 0;
        if (!p->weight || (double)p->files < FEW * (double)most ||
            (double)p->bytes < FEW * (double)most_bytes)
            continue;
        if (!last || !overlap(last, p))
            n++;
        last = p;
        epoch_of[k] = n - 1;
    }
    return WR_MAX(n, 1u);
}

/* Ranks that read the same random places of one file go through it as often as
 * there are ranks, one after the other as far as bytes tell. */
static uint32_t join_ranks(const struct wr_trace_walk *w, uint32_t *epoch_of,
                           uint32_t n)
{
    uint32_t ranks = w->a->ranks;
    uint64_t all = 0;

    for (size_t k = 0; k < w->pass_count; k++)
        all += w->passes[k].bytes;
    if (ranks < 2 || n % ranks || w->a->same_bytes < all / 3 ||
        all / n > w->a->set_unique + w->a->set_unique / 2)
        return n; /* or side by side: a pass has the bytes of all ranks */
    for (size_t k = 0; k < w->pass_count; k++)
        epoch_of[k] /= ranks;
    return n / ranks;
}

/* Which epoch most reads of a bin belong to, by the mean of their passes. */
static uint32_t epoch_of_bin(const struct wr_trace_walk *w,
                             const struct wr_trace_bin *b,
                             const uint32_t *epoch_of)
{
    uint64_t pass = (b->pass_sum + b->set_reads / 2) / b->set_reads;

    pass = WR_MIN(WR_MAX(pass, 1), w->pass_count);
    return epoch_of[pass - 1];
}

static void place_epochs(struct wr_trace_walk *w, const uint32_t *epoch_of)
{
    struct wr_trace_analysis *a = w->a;
    uint32_t now = 0;

    for (size_t k = 0; k < a->bin_count; k++) {
        const struct wr_trace_bin *b = &a->bins[k];
        struct wr_trace_epoch *e;
        uint32_t n;

        if (!b->set_reads)
            continue;
        n = epoch_of_bin(w, b, epoch_of);
        if (n == now + 1)
            now = n; /* time goes on: a read ahead of it changes nothing */
        e = &a->epochs[now];
        if (!e->end_ns)
            e->start_ns = k * a->bin_ns;
        e->end_ns = WR_MIN((k + 1) * a->bin_ns, a->end_ns);
        e->set_bytes += b->set_bytes;
        e->set_reads += b->set_reads;
        e->set_ns += b->set_ns;
    }
    for (size_t k = 0; k < w->pass_count; k++) {
        struct wr_trace_epoch *e = &a->epochs[epoch_of[k]];

        e->files = WR_MAX(e->files, w->passes[k].files);
    }
}

int wr_trace_epochs(struct wr_trace_walk *w, weir_err *err)
{
    struct wr_trace_analysis *a = w->a;
    uint32_t *epoch_of, n;

    if (!w->pass_count)
        return 0;
    epoch_of = calloc(w->pass_count, sizeof(*epoch_of));
    if (!epoch_of)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    n = number_epochs(w, epoch_of);
    n = join_ranks(w, epoch_of, n);
    a->epochs = calloc(n, sizeof(*a->epochs));
    if (!a->epochs) {
        free(epoch_of);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    place_epochs(w, epoch_of);
    for (a->epoch_count = n;
         a->epoch_count && !a->epochs[a->epoch_count - 1].end_ns;)
        a->epoch_count--;
    free(epoch_of);
    return 0;
}
