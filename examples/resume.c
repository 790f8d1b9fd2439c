/* resume.c - stops in the middle of an epoch and goes on from a saved state.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: resume DATASET. Takes three batches, keeps the state as a program
 * would keep it in its checkpoint, closes everything, goes on from the state,
 * and shows that each sample came exactly once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

struct state {
    void *bytes; /* owned */
    size_t len;
};

/* Counts in `seen` what up to `max` batches bring; what next() said last. */
static int take(weir_pipeline *p, unsigned max, unsigned char *seen,
                weir_err *err)
{
    const weir_batch *b;
    int r = 1;

    while (max-- && (r = weir_pipeline_next(p, &b, err)) > 0) {
        for (uint32_t i = 0; i < b->count; i++)
            seen[b->ids[i]]++;
        weir_batch_release(b);
    }
    return r;
}

/* The first part of the epoch, up to a state. */
static int first_part(const weir_dataset *ds, const weir_pipeline_config *cfg,
                      unsigned char *seen, struct state *state, weir_err *err)
{
    weir_pipeline *p;
    int r = weir_pipeline_open(&p, ds, cfg, err);

    if (r < 0)
        return r;
    r = take(p, 3, seen, err);
    if (r >= 0) {
        state->len = weir_pipeline_state(p, NULL, 0);
        state->bytes = malloc(state->len);
        if (state->bytes)
            weir_pipeline_state(p, state->bytes, state->len);
    }
    weir_pipeline_close(&p);
    return r;
}

/* The rest of it, in a pipeline that knows nothing but the state. */
static int second_part(const weir_dataset *ds, weir_pipeline_config cfg,
                       unsigned char *seen, const struct state *state,
                       weir_err *err)
{
    const void *bytes = state->bytes;
    weir_pipeline *p;
    int r;

    cfg.resume = &bytes;
    cfg.resume_len = &state->len;
    cfg.resume_count = 1;
    r = weir_pipeline_open(&p, ds, &cfg, err);
    if (r < 0)
        return r;
    r = take(p, UINT32_MAX, seen, err);
    weir_pipeline_close(&p);
    return r;
}

static int run(const weir_dataset *ds, unsigned char *seen, weir_err *err)
{
    weir_pipeline_config cfg;
    struct state state = {0};
    int r;

    weir_pipeline_defaults(&cfg);
    cfg.batch = 4;
    cfg.picture.dtype = WEIR_U8;
    cfg.seed = 42;
    r = first_part(ds, &cfg, seen, &state, err);
    if (r >= 0 && state.bytes) {
        printf("state after 3 batches: %zu bytes\n", state.len);
        r = second_part(ds, cfg, seen, &state, err);
    }
    free(state.bytes);
    return r;
}

int main(int argc, char **argv)
{
    weir_dataset *ds;
    unsigned char *seen;
    uint64_t once = 0, count;
    weir_err err;

    if (argc != 2) {
        fprintf(stderr, "usage: resume DATASET\n");
        return 2;
    }
    if (weir_dataset_open(&ds, argv[1], NULL, &err) < 0) {
        fprintf(stderr, "resume: %s\n", err.msg);
        return 1;
    }
    count = weir_dataset_count(ds);
    seen = calloc(count, 1);
    if (!seen || run(ds, seen, &err) < 0) {
        fprintf(stderr, "resume: %s\n", seen ? err.msg : "out of memory");
        return 1;
    }
    for (uint64_t i = 0; i < count; i++)
        once += seen[i] == 1;
    printf("%" PRIu64 " of %" PRIu64 " samples came exactly once\n", once,
           count);
    free(seen);
    weir_dataset_close(&ds);
    return once == count ? 0 : 1;
}
