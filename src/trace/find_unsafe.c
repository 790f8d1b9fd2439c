/* find_unsafe.c - D15: a crash while saving can lose the checkpoint.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

static uint64_t is_unsafe(const struct wr_trace_use *u)
{
    return u->fault & (WR_TRACE_UNSAFE_IN_PLACE | WR_TRACE_UNSAFE_RENAME)
               ? u->bytes_written
               : 0;
}

/* rsync and the like can copy again; they read what they write. */
static bool copies(const struct wr_trace_analysis *a)
{
    return !wr_find_trains(a) && a->set_bytes &&
           a->set_bytes >= a->kinds[WR_TRACE_DATA].bytes_written / 2;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    unsigned in_place = 0, renamed = 0;

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];

        if (u->role != WR_TRACE_ROLE_OUTPUT)
            continue;
        in_place += !!(u->fault & WR_TRACE_UNSAFE_IN_PLACE);
        renamed += !!(u->fault & WR_TRACE_UNSAFE_RENAME);
    }
    if ((!in_place && !renamed) || copies(a))
        return false;
    f->risk = true;
    f->sure = WR_TRACE_FINDING_SURE;
    snprintf(f->what, sizeof(f->what), "%s",
             in_place ? "Checkpoints are written over in place: a crash while "
                        "saving loses both the old and the new one."
                      : "Checkpoints are renamed into place before they are on "
                        "the device: a power failure can leave an empty file.");
    snprintf(f->evidence, sizeof(f->evidence),
             "%u files were cut and written over, %u renamed without an fsync "
             "before.",
             in_place, renamed);
    snprintf(f->change, sizeof(f->change),
             "with open(path + '.tmp', 'wb') as f: torch.save(state, f); "
             "f.flush(); os.fsync(f.fileno()); then os.replace(path + '.tmp', "
             "path) and fsync the folder");
    wr_find_files(a, f, is_unsafe);
    return true;
}

const struct wr_trace_finding_rule wr_find_unsafe = {
    "D15", "unsafe checkpoints", look};
