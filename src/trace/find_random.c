/* find_random.c - D12: random reads of big files fetch more than is used.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define BIG    (UINT64_C(64) << 20)
#define RANDOM 0.2
#define WASTE  1.5
#define LEAST  100

static uint64_t most_random(const struct wr_trace_use *u)
{
    uint64_t reads = u->reads - u->zero_reads;

    return u->role == WR_TRACE_ROLE_SET && u->end_read >= BIG
               ? reads - WR_MIN(reads, u->consecutive)
               : 0;
}

/* What is in memory of a file at the end was read, unless it was there before:
 * where reads are slow, it was not. */
static uint64_t resident_of(const struct wr_trace_analysis *a, size_t k)
{
    uint64_t n = wr_trace_file_name(a->file, k)->resident;

    return n == UINT64_MAX ? 0 : n;
}

/* Nanoseconds for what is not used: at the rate of the device, if a probe says
 * it; else as if all time went with bytes, which is the most it can be. */
static double in_vain(const struct wr_trace_analysis *a, double ns,
                      double bytes, double waste)
{
    double most = ns * (1 - 1 / waste), rate = a->baseline.sequential_rate;
    double took = rate > 0 ? bytes * (waste - 1) / rate * 1e9 : most;

    return WR_MIN(took, most);
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    uint64_t reads = 0, random = 0, ns = 0, bytes = 0;
    uint64_t unique = 0, resident = 0;
    double waste;

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];

        if (u->role != WR_TRACE_ROLE_SET || u->end_read < BIG)
            continue;
        reads += u->reads - u->zero_reads;
        random += most_random(u);
        ns += u->read_ns;
        bytes += u->bytes_read;
        unique += WR_MIN(u->bytes_read, u->end_read);
        resident += resident_of(a, k);
    }
    if (random < LEAST || (double)random < RANDOM * (double)reads || !bytes ||
        (double)ns < 2 * wr_find_cached((double)reads, (double)bytes))
        return false; /* few, or from memory */
    waste = a->set_counted && a->device_read != UINT64_MAX
                ? (double)a->device_read / (double)a->set_bytes
                : (double)resident / (double)unique;
    if (waste < WASTE)
        return false;
    f->seconds = wr_find_lost(a, in_vain(a, (double)ns, (double)bytes, waste));
    f->gain = f->seconds;
    f->sure = a->baseline.sequential_rate > 0 ? WR_TRACE_FINDING_LIKELY
                                              : WR_TRACE_FINDING_MAYBE;
    snprintf(f->what, sizeof(f->what),
             "Random reads of big files make the device deliver %.1f times "
             "what the program uses.",
             waste);
    snprintf(f->evidence, sizeof(f->evidence),
             "%" PRIu64 " of %" PRIu64
             " reads do not follow the one before; %.1f KB "
             "each on average. The device gave about %.2f GB for %.2f GB.",
             random, reads, (double)bytes / (double)reads * 1e-3,
             waste * (double)bytes * 1e-9, (double)bytes * 1e-9);
    snprintf(f->change, sizeof(f->change),
             "os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_RANDOM) after "
             "open, or read shards in order and shuffle in memory: "
             "tf.data: ds.shuffle(10000)");
    wr_find_files(a, f, most_random);
    return wr_find_matters(a, f->seconds);
}

const struct wr_trace_finding_rule wr_find_random = {
    "D12", "random access in big files", look};
