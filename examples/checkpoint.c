/* checkpoint.c - a training loop that goes on where it was, also after kill -9.
 * SPDX-License-Identifier: Apache-2.0
 * usage: checkpoint DATASET FOLDER. The "model" counts and adds up samples. */
#include <inttypes.h>
#include <stdio.h>

#include <weir/checkpoint.h>
#include <weir/weir.h>

int main(int argc, char **argv)
{
    uint64_t model[2] = {0, 0};
    weir_tensor t = {"model", WEIR_U64, 1, {2}, model};
    char position[4096];
    weir_ckpt_state st = {.tensors = &t, .count = 1, .pipeline = position};
    weir_ckpt_config store;
    weir_pipeline_config cfg;
    weir_ckpt_found *found = NULL;
    weir_dataset *ds = NULL;
    weir_pipeline *p = NULL;
    weir_ckpt *c = NULL;
    const weir_batch *b;
    weir_err err;
    int r, q;

    weir_ckpt_defaults(&store);
    store.fast = argc > 2 ? argv[2] : NULL; /* store.slow: a second folder */
    weir_pipeline_defaults(&cfg);
    cfg.batch = 2;
    cfg.picture.dtype = WEIR_U8;
    cfg.epochs = 30;
    r = weir_ckpt_open(&c, &store, &err);
    if (r == 0)
        r = weir_ckpt_restore(c, WEIR_LATEST, &t, 1, &found, &err);
    if (r > 0) { /* 0: nothing was saved yet */
        st.step = found->step;
        cfg.resume = found->pipeline;
        cfg.resume_len = found->pipeline_len;
        cfg.resume_count = found->pipeline_count;
        printf("resumed at step %" PRIu64 "\n", st.step);
    }
    if (r >= 0 && (r = weir_dataset_open(&ds, argv[1], NULL, &err)) == 0)
        r = weir_pipeline_open(&p, ds, &cfg, &err);
    while (r >= 0 && (r = weir_pipeline_next(p, &b, &err)) > 0) {
        for (uint32_t i = 0; i < b->count; i++, model[0]++)
            model[1] += b->ids[i]; /* train on b->data */
        weir_batch_release(b);
        st.pipeline_len = weir_pipeline_state(p, position, sizeof(position));
        printf("step %" PRIu64 "\n", ++st.step);
        /* A save that fails harms no older step, and the next one may succeed:
         * training ends only when another process has taken the store. */
        r = weir_ckpt_save(c, &st, WEIR_LEVEL_SNAPSHOT, &err);
        if (r < 0)
            fprintf(stderr, "%s\n", err.msg);
        while (r != WEIR_EFENCED && (q = weir_ckpt_problem(c, &err)) < 0) {
            fprintf(stderr, "%s\n", err.msg);
            r = q == WEIR_EFENCED ? q : r;
        }
        r = r == WEIR_EFENCED ? r : 0;
    }
    r = weir_ckpt_close(&c, r < 0 ? NULL : &err) < 0 || r < 0;
    printf("%" PRIu64 " samples, sum %" PRIu64 ": %s\n", model[0], model[1],
           r ? err.msg : "saved");
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    weir_ckpt_found_free(&found);
    return r;
}
