/* timeline.c - what happened when: stretches of time, phases and epochs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "trace/analysis_private.h"

/* --- a fixed number of stretches of time --- */

static void bin_add(struct wr_trace_bin *to, const struct wr_trace_bin *b)
{
    to->set_bytes += b->set_bytes;
    to->set_reads += b->set_reads;
    to->set_ns += b->set_ns;
    to->eval_bytes += b->eval_bytes;
    to->other_read_bytes += b->other_read_bytes;
    to->written_bytes += b->written_bytes;
    to->write_ns += b->write_ns;
    to->sync_ns += b->sync_ns;
    to->meta_ops += b->meta_ops;
    to->meta_ns += b->meta_ns;
    to->scan_ops += b->scan_ops;
    to->scan_ns += b->scan_ns;
    to->runtime_ops += b->runtime_ops;
    to->runtime_ns += b->runtime_ns;
    to->pass_sum += b->pass_sum;
    to->marks += b->marks;
    to->max_read_ns = WR_MAX(to->max_read_ns, b->max_read_ns);
}

/* Neighbours become one: the run lasts longer than was thought. */
static void halve(struct wr_trace_analysis *a)
{
    for (size_t k = 0; k < WR_TRACE_BINS / 2; k++) {
        struct wr_trace_bin sum = a->bins[2 * k];

        bin_add(&sum, &a->bins[2 * k + 1]);
        a->bins[k] = sum;
    }
    memset(a->bins + WR_TRACE_BINS / 2, 0,
           WR_TRACE_BINS / 2 * sizeof(*a->bins));
    a->bin_ns *= 2;
    a->bin_count = (a->bin_count + 1) / 2;
}

struct wr_trace_bin *wr_trace_bin_at(struct wr_trace_analysis *a, uint64_t ns)
{
    size_t k;

    while (ns / a->bin_ns >= WR_TRACE_BINS)
        halve(a);
    k = (size_t)(ns / a->bin_ns);
    a->bin_count = WR_MAX(a->bin_count, k + 1);
    return &a->bins[k];
}

/* --- what the program was doing, by what it did with files --- */

static const char *const phase_names[WR_TRACE_PHASES] = {
    "idle", "import", "scan", "train", "evaluate", "checkpoint"};

const char *wr_trace_phase_name(int kind)
{
    return kind >= 0 && kind < WR_TRACE_PHASES ? phase_names[kind] : "?";
}

static bool in_save(const struct wr_trace_analysis *a, uint64_t from,
                    uint64_t to)
{
    for (size_t k = 0; k < a->save_count; k++)
        if (a->saves[k].main_thread && a->saves[k].start_ns < to &&
            a->saves[k].end_ns > from)
            return true;
    return false;
}

/* What a stretch of time was spent on; IDLE: nothing that shows. */
static int kind_of(const struct wr_trace_analysis *a, size_t k)
{
    const struct wr_trace_bin *b = &a->bins[k];
    uint64_t set = b->set_ns + b->meta_ns - WR_MIN(b->meta_ns, b->scan_ns);

    if (b->set_reads && b->set_ns >= b->scan_ns / 4 &&
        (set >= b->runtime_ns || b->set_bytes >= (1 << 20)))
        return b->eval_bytes * 2 > b->set_bytes ? WR_TRACE_PHASE_EVALUATE
                                                : WR_TRACE_PHASE_TRAIN;
    if (b->written_bytes && in_save(a, k * a->bin_ns, (k + 1) * a->bin_ns))
        return WR_TRACE_PHASE_CHECKPOINT;
    if (b->scan_ops > b->runtime_ops)
        return WR_TRACE_PHASE_SCAN;
    if (b->runtime_ops)
        return WR_TRACE_PHASE_IMPORT;
    if (in_save(a, k * a->bin_ns, (k + 1) * a->bin_ns))
        return WR_TRACE_PHASE_CHECKPOINT;
    return WR_TRACE_PHASE_IDLE;
}

static bool is_step(int kind)
{
    return kind == WR_TRACE_PHASE_TRAIN || kind == WR_TRACE_PHASE_EVALUATE;
}

/* Between two stretches of training a program computes: that is training too,
 * and so is a module that it loads late, or a look at a file. */
static void fill(uint8_t *kinds, size_t n)
{
    size_t last = n;

    for (size_t k = 0; k < n; k++) {
        if (is_step(kinds[k])) {
            for (size_t j = last + 1; last < n && j < k; j++)
                if (kinds[j] != WR_TRACE_PHASE_CHECKPOINT)
                    kinds[j] = kinds[last];
            last = k;
        }
    }
    for (size_t k = 1; k < n; k++) /* others last until something else */
        if (kinds[k] == WR_TRACE_PHASE_IDLE &&
            kinds[k - 1] == WR_TRACE_PHASE_IMPORT)
            kinds[k] = WR_TRACE_PHASE_IMPORT;
    for (size_t k = last + 1; last < n && k < n; k++) /* the last steps */
        if (kinds[k] == WR_TRACE_PHASE_IDLE)
            kinds[k] = kinds[k - 1] == WR_TRACE_PHASE_CHECKPOINT
                           ? WR_TRACE_PHASE_IDLE
                           : kinds[k - 1];
}

int wr_trace_phases(struct wr_trace_analysis *a, weir_err *err)
{
    uint8_t kinds[WR_TRACE_BINS];
    size_t cap = 0;

    for (size_t k = 0; k < a->bin_count; k++)
        kinds[k] = (uint8_t)kind_of(a, k);
    fill(kinds, a->bin_count);
    for (size_t k = 0; k < a->bin_count; k++) {
        struct wr_trace_phase *p;

        if (!k || kinds[k] != kinds[k - 1]) {
            if (!wr_grow(&a->phases, &cap, a->phase_count + 1,
                         sizeof(*a->phases)))
                return wr_fail(err, WEIR_ENOMEM, "out of memory");
            a->phases[a->phase_count++] = (struct wr_trace_phase){
                .kind = kinds[k], .start_ns = k * a->bin_ns};
        }
        p = &a->phases[a->phase_count - 1];
        p->end_ns = WR_MIN((k + 1) * a->bin_ns, a->end_ns);
        bin_add(&p->sums, &a->bins[k]);
    }
    return 0;
}

/* --- passes over the data set, told apart without being told of them --- */

/* The walk counts for each file how often it was read as a whole. All reads of
 * first passes lie in one stretch of time, those of second passes in the next,
 * and so on: these are epochs. Where every rank reads every file, or each sample
 * is opened twice, the stretches of several passes overlap, and together make one
 * epoch. */

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
