/* find_checkpoint.c - D14: training stops while a checkpoint is written.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#include <math.h>

#define SHARE   0.05
#define LEAST_S 0.05 /* of a whole run: less is nobody's trouble */
#define DAY     86400.0

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    double all = wr_find_pauses(a, false, f), each;
    struct wr_trace_finding other = {0};
    double far = wr_find_pauses(a, true, &other);
    unsigned n = 0;
    uint64_t bytes = 0;

    if (all < LEAST_S || all < SHARE * wr_find_run(a) || far > all / 2)
        return false; /* on a slow tier: S06 */
    for (size_t k = 0; k < a->save_count; k++) {
        const struct wr_trace_save *s = &a->saves[k];

        n += wr_find_is_checkpoint(s) ? s->bursts : 0;
        bytes += wr_find_is_checkpoint(s) ? s->bytes : 0;
    }
    each = all * a->mains / n;
    f->seconds = all / wr_find_epochs(a);
    f->gain = f->seconds;
    f->sure = WR_TRACE_FINDING_SURE;
    snprintf(f->what, sizeof(f->what),
             "Training stops while checkpoints are written: %.1f s each, "
             "%.0f %% of the run.",
             each, 100 * all / wr_find_run(a));
    snprintf(
        f->evidence, sizeof(f->evidence),
        "%u saves of %.1f MB at %.0f MB/s on the main thread. Against one "
        "failure a day, one save every %.0f min loses least (Young, Daly).",
        n, (double)bytes / n * 1e-6, (double)bytes / (all * a->mains) * 1e-6,
        sqrt(2 * each * DAY) / 60);
    snprintf(f->change, sizeof(f->change),
             "Save in the background: state = {k: v.cpu() for k, v in "
             "model.state_dict().items()}; "
             "threading.Thread(target=torch.save, args=(state, path)).start(); "
             "in C: weir_ckpt_save at level snapshot");
    return true;
}

const struct wr_trace_finding_rule wr_find_checkpoint = {
    "D14", "checkpoints stop training", look};
