/* older.c - a program that may know fewer members than the library.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: older DATASET BATCH; prints the sizes it knows and what it was fed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
} own;

static int is_touched(const unsigned char *behind)
{
    for (size_t i = 0; i < 256; i++)
        if (behind[i] != MARK)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    weir_dataset *ds = NULL;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    uint64_t sum = 0;
    weir_err err;
    int r;

    if (argc < 3)
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
    if (r < 0) {
        fprintf(stderr, "older: %s\n", err.msg);
        return 1;
    }
    weir_pipeline_stats(p, &own.stats);
    printf("sizes %zu %zu %zu\n", sizeof(own.dataset), sizeof(own.pipeline),
           sizeof(own.stats));
    printf("samples %" PRIu64 " sum %016" PRIx64 "\n", own.stats.samples, sum);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    return is_touched(own.behind_dataset) || is_touched(own.behind_pipeline) ||
           is_touched(own.behind_stats);
}
