/* phases.c - what the program was doing when, by what it did with files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/mem.h"
#include "trace/analysis_private.h"

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
        wr_trace_bin_add(&p->sums, &a->bins[k]);
    }
    return 0;
}
