/* pinned.c - batches in memory of the program's own, as a GPU wants them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: pinned DATASET. mlock stands for the call that pins memory for a
 * device (cudaHostAlloc and its like); where the limit is too low for it, the
 * memory is used unpinned. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <weir/weir.h>

struct pool {
    size_t blocks, bytes, most;
};

static void *pool_alloc(void *arg, size_t bytes)
{
    struct pool *pool = arg;
    void *p;

    if (posix_memalign(&p, 4096, bytes))
        return NULL;
    if (mlock(p, bytes) != 0)
        fprintf(stderr, "pinned: not pinned: over the limit\n");
    pool->blocks++;
    pool->bytes += bytes;
    if (pool->bytes > pool->most)
        pool->most = pool->bytes;
    return p;
}

static void pool_free(void *arg, void *p, size_t bytes)
{
    struct pool *pool = arg;

    munlock(p, bytes);
    pool->blocks--;
    pool->bytes -= bytes;
    free(p);
}

int main(int argc, char **argv)
{
    struct pool pool = {0};
    weir_pipeline_config cfg;
    weir_dataset *ds = NULL;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    size_t batches = 0;
    weir_err err;
    int r;

    if (argc != 2) {
        fprintf(stderr, "usage: pinned DATASET\n");
        return 2;
    }
    weir_pipeline_defaults(&cfg);
    cfg.batch = 4;
    cfg.picture.dtype = WEIR_U8;
    cfg.alloc = pool_alloc;
    cfg.free = pool_free;
    cfg.alloc_arg = &pool;
    r = weir_dataset_open(&ds, argv[1], NULL, &err);
    if (r == 0)
        r = weir_pipeline_open(&p, ds, &cfg, &err);
    while (r >= 0 && (r = weir_pipeline_next(p, &b, &err)) > 0) {
        batches++; /* here the copy to the device would start */
        weir_batch_release(b);
    }
    if (r < 0)
        fprintf(stderr, "pinned: %s\n", err.msg);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    printf("%zu batches through %zu bytes of own memory; %zu blocks left\n",
           batches, pool.most, pool.blocks);
    return r < 0 || pool.blocks ? 1 : 0;
}
