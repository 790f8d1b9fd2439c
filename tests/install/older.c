/* older.c - a program that may know fewer members than the library.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: older DATASET BATCH STORE; prints the sizes it knows, what it was fed,
 * and what it saved and got back in a new folder STORE. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/ckpt_manage.h>
#include <weir/weir.h>

#define MARK 0x5a

/* What lies behind a struct is not the library's. */
static struct {
    weir_dataset_config dataset;
    unsigned char behind_dataset[256];
    weir_pipeline_config pipeline;
    unsigned char behind_pipeline[256];
    weir_stats stats;
    unsigned char behind_stats[256];
    weir_ckpt_config store;
    unsigned char behind_store[256];
    weir_ckpt_state state;
    unsigned char behind_state[256];
    weir_ckpt_times times;
    unsigned char behind_times[256];
    weir_ckpt_stats saved;
    unsigned char behind_saved[256];
    weir_ckpt_prune_plan plan;
    unsigned char behind_plan[256];
} own;

static int is_touched(const unsigned char *behind)
{
    for (size_t i = 0; i < 256; i++)
        if (behind[i] != MARK)
            return 1;
    return 0;
}

/* Steps 1 to 3 are saved, all but the last are pruned, and that is read. The
 * saves wait until the step was read back: pruning spares the newest verified
 * step, which otherwise is any of the three. */
static int save(const char *folder, weir_err *err)
{
    uint64_t value = 0, count = 0;
    weir_tensor t = {.name = "value", .dtype = WEIR_U64, .data = &value};
    weir_ckpt_entry *steps = NULL;
    weir_ckpt *c = NULL;
    size_t n = 0;
    int r, q;

    weir_ckpt_defaults(&own.store);
    own.store.fast = folder;
    memset(&own.state, 0, sizeof(own.state));
    memset(&own.plan, 0, sizeof(own.plan));
    own.state.tensors = &t;
    own.state.count = 1;
    own.plan.keep_last = 1;
    r = weir_ckpt_open(&c, &own.store, err);
    for (; r == 0 && value < 3; value++) {
        own.state.step = value + 1;
        r = weir_ckpt_save(c, &own.state, WEIR_LEVEL_VERIFIED, err);
    }
    if (r == 0)
        r = weir_ckpt_list(c, &steps, &n, err);
    for (size_t i = 0; i < n; i++) /* an array: the size of one matters */
        count = count * 10 + steps[i].step * (steps[i].fast > WEIR_COPY_NONE);
    free(steps);
    if (r == 0)
        r = weir_ckpt_prune(c, &own.plan, err);
    if (r == 0)
        r = weir_ckpt_times_of(c, 3, &own.times);
    if (r == 0)
        r = weir_ckpt_restore(c, WEIR_LATEST, &t, 1, NULL, err);
    if (r == 1) {
        weir_ckpt_get_stats(c, &own.saved);
        printf("steps %" PRIu64 " pruned %" PRIu64 " value %" PRIu64 " %s\n",
               count, own.saved.pruned, value,
               own.times.step == 3 && own.times.snapshot_ns ? "timed" : "lost");
    }
    q = weir_ckpt_close(&c, r < 0 ? NULL : err);
    return r < 0 ? r : q;
}

int main(int argc, char **argv)
{
    weir_dataset *ds = NULL;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    uint64_t sum = 0;
    weir_err err;
    int r;

    if (argc < 4)
        return 2;
    memset(&own, MARK, sizeof(own));
    weir_dataset_defaults(&own.dataset);
    weir_pipeline_defaults(&own.pipeline);
    own.pipeline.batch = (uint32_t)strtoul(argv[2], NULL, 10);
    r = weir_config_set(&own.pipeline, "dtype", "u8", &err);
    if (r == 0)
        r = weir_dataset_open(&ds, argv[1], &own.dataset, &err);
    if (r == 0)
        r = weir_pipeline_open(&p, ds, &own.pipeline, &err);
    while (r >= 0 && (r = weir_pipeline_next(p, &b, &err)) > 0) {
        for (size_t i = 0; i < b->bytes; i++)
            sum = sum * 31 + ((const unsigned char *)b->data)[i];
        weir_batch_release(b);
    }
    if (r == 0)
        r = save(argv[3], &err);
    if (r < 0) {
        fprintf(stderr, "older: %s\n", err.msg);
        return 1;
    }
    weir_pipeline_stats(p, &own.stats);
    printf("sizes %zu %zu %zu %zu %zu %zu %zu %zu %zu\n", sizeof(own.dataset),
           sizeof(own.pipeline), sizeof(own.stats), sizeof(own.store),
           sizeof(own.state), sizeof(own.times), sizeof(own.saved),
           sizeof(own.plan), sizeof(weir_ckpt_entry));
    printf("samples %" PRIu64 " sum %016" PRIx64 "\n", own.stats.samples, sum);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    return is_touched(own.behind_dataset) || is_touched(own.behind_pipeline) ||
           is_touched(own.behind_stats) || is_touched(own.behind_store) ||
           is_touched(own.behind_state) || is_touched(own.behind_times) ||
           is_touched(own.behind_saved) || is_touched(own.behind_plan);
}
