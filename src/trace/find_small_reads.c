/* find_small_reads.c - D08: files are read in small pieces, one after the other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SHARE 0.2
#define LEAST 100
#define WHOLE 65536.0 /* bytes: pieces from here on are not small */

static uint64_t most_small(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET ? u->small_ns : 0;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    uint64_t reads = 0, ns = 0, bytes = 0;
    double size, each, saved, all = (double)(a->set_ns + a->set_meta_ns);

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];

        if (u->role != WR_TRACE_ROLE_SET || !u->small_reads)
            continue;
        reads += u->small_reads;
        ns += u->small_ns;
        bytes += u->bytes_read / WR_MAX(1, u->reads - u->zero_reads) *
                 u->small_reads;
    }
    if (reads < LEAST || (double)ns < SHARE * all)
        return false;
    size = (double)bytes / (double)reads;
    size = size < WHOLE ? size : WHOLE;
    /* A wait for the device that few of them have (the kernel reads ahead) stays
     * with large reads; what each one costs does not. */
    each = (double)wr_hist_quantile(a->latency[WR_TRACE_LAT_SMALL_READ], 0.5) -
           wr_find_cached(0, size);
    saved = (double)reads * (each > 0 ? each : 0) * (1 - size / WHOLE);
    if (saved < SHARE * all)
        return false;
    f->seconds = wr_find_lost(a, saved);
    f->gain = f->seconds;
    f->sure = WR_TRACE_FINDING_LIKELY;
    snprintf(f->what, sizeof(f->what),
             "Files are read in small pieces, one behind the other: %.1f KB on "
             "average.",
             size * 1e-3);
    snprintf(f->evidence, sizeof(f->evidence),
             "%" PRIu64 " reads below 64 KiB follow the one before; they take "
             "%.1f s in all, %.0f %% of the time on the data set.",
             reads, (double)ns * 1e-9, 100 * (double)ns / all);
    snprintf(f->change, sizeof(f->change),
             "open(path, 'rb', buffering=1 << 20), or read the whole file: "
             "io.BytesIO(open(path, 'rb').read()); tf.data: "
             "TFRecordDataset(files, buffer_size=8 << 20)");
    wr_find_files(a, f, most_small);
    return wr_find_matters(a, f->seconds);
}

const struct wr_trace_finding_rule wr_find_small_reads = {"D08", "small reads",
                                                          look};
