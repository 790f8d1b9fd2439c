/* feed.c - the smallest training loop that is fed by libweir.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: feed DATASET [BATCH] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

int main(int argc, char **argv)
{
    weir_pipeline_config cfg;
    weir_dataset *ds = NULL;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    weir_err err;
    int r;

    if (argc < 2) {
        fprintf(stderr, "usage: feed DATASET [BATCH]\n");
        return 2;
    }
    weir_pipeline_defaults(&cfg);
    cfg.picture.dtype = WEIR_U8;
    if (argc > 2)
        cfg.batch = (uint32_t)strtoul(argv[2], NULL, 10);

    r = weir_dataset_open(&ds, argv[1], NULL, &err);
    if (r == 0)
        r = weir_pipeline_open(&p, ds, &cfg, &err);
    while (r >= 0 && (r = weir_pipeline_next(p, &b, &err)) > 0) {
        /* b->data holds b->count samples: train on them here. */
        printf("epoch %" PRIu64 " batch %" PRIu64 ": %" PRIu32
               " samples, %zu bytes, first sample %" PRIu64 "\n",
               b->epoch, b->index, b->count, b->bytes, b->ids[0]);
        weir_batch_release(b);
    }
    if (r < 0)
        fprintf(stderr, "feed: %s\n", err.msg);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    return r < 0 ? 1 : 0;
}
