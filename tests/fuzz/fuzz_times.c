/* fuzz_times.c - logs of batch times, and what is made of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte of the input chooses what is known besides. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct wr_plan_times *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (!(t->ms[i] >= 0 && isfinite(t->ms[i])) ||
            (i && t->batch[i] <= t->batch[i - 1]))
            abort();
}

static void explain(const struct wr_plan_times *t, uint8_t known)
{
    struct wr_plan_hints h = {
        .workers = known & 1 ? 4 : 0,
        .prefetch = known & 2 ? 2 : 0,
        .step_ms = known & 4 ? 30 : NAN,
        .epoch_batches = known & 8 ? 5 : 0,
        .save_every = known & 16 ? 3 : 0,
    };
    struct wr_plan_explained e;
    weir_err err = {0};

    if (wr_plan_explain(t, &h, &e, &err) < 0) {
        if (err.code >= 0 || !err.msg[0])
            abort();
        return;
    }
    if (e.cause >= WR_PLAN_CAUSES || !(e.sure >= 0 && e.sure <= 1) ||
        !(e.lost_share >= 0 && e.lost_share <= 1) ||
        (e.period && e.phase >= e.period) || !e.what[0] || !e.why[0] ||
        !e.change[0])
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_plan_times t;
    weir_err err = {0};
    char *text;

    if (!size)
        return 0;
    text = malloc(size > 1 ? size - 1 : 1); /* reading behind it is noticed */
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    if (wr_plan_times_parse(text, size - 1, "fuzz", &t, &err) < 0) {
        if (err.code >= 0 || !err.msg[0])
            abort();
    } else {
        check(&t);
        explain(&t, data[0]);
        wr_plan_times_done(&t);
    }
    free(text);
    return 0;
}
