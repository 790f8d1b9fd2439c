/* find_pieces.c - S04: a small file is read in many pieces, here and there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SMALL  (UINT64_C(1) << 20)
#define PIECES 10

static uint64_t pieces_of(const struct wr_trace_use *u)
{
    uint32_t reads = u->reads - u->zero_reads;

    if (u->role != WR_TRACE_ROLE_SET || u->end_read >= SMALL || !u->passes ||
        reads / u->passes < PIECES || u->consecutive * 2 > reads)
        return 0; /* one behind the other: D08 */
    return u->read_ns;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    uint64_t ns = 0, files = 0, reads = 0;

    for (size_t k = 0; k < a->use_count; k++)
        if (pieces_of(&a->uses[k])) {
            ns += pieces_of(&a->uses[k]);
            files++;
            reads += a->uses[k].reads - a->uses[k].zero_reads;
        }
    if (!files)
        return false;
    f->seconds = wr_find_lost(a, (double)ns) *
                 (1 - (double)files / (double)reads);
    f->gain = 0.9 * f->seconds;
    f->sure = WR_TRACE_FINDING_LIKELY;
    snprintf(f->what, sizeof(f->what),
             "Small files are read in many pieces that do not follow each "
             "other.");
    snprintf(f->evidence, sizeof(f->evidence),
             "%" PRIu64 " files below 1 MiB are read by %" PRIu64
             " calls, %.2f s in all.",
             files, reads, (double)ns * 1e-9);
    snprintf(f->change, sizeof(f->change),
             "Read the file once and use it from memory: "
             "h5py.File(path, 'r', driver='core'), or "
             "io.BytesIO(open(path, 'rb').read())");
    wr_find_files(a, f, pieces_of);
    return wr_find_matters(a, f->seconds);
}

const struct wr_trace_finding_rule wr_find_pieces = {
    "S04", "small files in pieces", look};
