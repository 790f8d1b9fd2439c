/* fuzz_workload.c - descriptions of workloads, and what follows from them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What stands behind the first zero byte is an override. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "workload/derive.h"
#include "workload/explain.h"
#include "workload/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(void *arg, const char *text)
{
    if (!*text)
        abort();
}

/* What is printed says the same. */
static void print_and_read(const struct wr_workload *w)
{
    char *text = wr_workload_yaml(w), *again;
    struct wr_workload *back = NULL;

    if (!text)
        return;
    if (wr_workload_parse("printed", text, strlen(text), NULL, 0, note, NULL,
                          &back, NULL) < 0)
        abort();
    again = wr_workload_yaml(back);
    if (again && strcmp(text, again) != 0)
        abort();
    free(again);
    free(text);
    wr_workload_free(back);
}

static void use_times(const struct wr_workload *w)
{
    for (uint64_t k = 0; k < 4; k++)
        if (!(wr_wl_time_draw(&w->train.computation, 1, 2, k) >= 0))
            abort();
}

static void derive(const struct wr_workload *w, uint64_t world)
{
    struct wr_explain rows;
    struct wr_derived d;
    weir_err err = {0};

    if (wr_workload_derive(w, world, 1e9, &d, &err) < 0) {
        if (err.code >= 0 || !err.msg[0])
            abort();
        return;
    }
    if (!isfinite(d.dataset_bytes) || !isfinite(d.checkpoint_bytes) ||
        (w->workflow.train && !d.steps))
        abort();
    wr_workload_explain(w, &d, &rows);
}

static void use(struct wr_workload *w)
{
    struct wr_wl_dims sides;
    char name[512];

    print_and_read(w);
    use_times(w);
    derive(w, 1);
    derive(w, 8);
    wr_workload_sides(w, 1, 3, &sides);
    for (unsigned i = 0; i < sides.count; i++)
        if (!sides.dim[i])
            abort();
    wr_workload_file_name(w, false, 3, name, sizeof(name));
    if (wr_workload_scale(w, 0.01, 4, NULL) == 0)
        derive(w, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = memchr(data, 0, size);
    size_t len = zero ? (size_t)(zero - data) : size;
    char *override = NULL;
    struct wr_workload *w = NULL;
    weir_err err = {0};
    int r;

    if (zero)
        override = strndup((const char *)zero + 1, size - len - 1);
    r = wr_workload_parse("fuzz", (const char *)data, len,
                          (const char *const[]){override}, override ? 1 : 0,
                          note, NULL, &w, &err);
    if (r < 0 && (err.code != r || !err.msg[0]))
        abort();
    if (r == 0)
        use(w);
    wr_workload_free(w);
    free(override);
    return 0;
}
