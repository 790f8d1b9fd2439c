/* found.c - what a restore found, as its caller gets it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/found.h"

#include <stdlib.h>
#include <string.h>

struct found {
    weir_ckpt_found shown; /* first: what the caller has is its address */
    struct wr_manifest m;
    struct wr_reading part;
    weir_tensor *tensors;
    weir_pair *metadata;
    const void **pipeline;
    size_t *pipeline_len;
    char *passed;
    const char **passed_over;
};

static void free_found(struct found *f)
{
    wr_reading_done(&f->part);
    wr_manifest_done(&f->m);
    free(f->tensors);
    free(f->metadata);
    free(f->pipeline);
    free(f->pipeline_len);
    free(f->passed);
    free(f->passed_over);
    free(f);
}

void weir_ckpt_found_free(weir_ckpt_found **found)
{
    if (!found || !*found)
        return;
    free_found((struct found *)*found);
    *found = NULL;
}

/* calloc() that gives memory for nothing, too. */
static void *array(size_t count, size_t size)
{
    return calloc(count ? count : 1, size);
}

/* A lower rank has it, too: one of them is shown, which is the one that would be
 * restored. */
static bool is_shown(const struct wr_reading *p, uint32_t rank,
                     const weir_tensor *t)
{
    for (uint32_t k = 0; k < rank; k++) {
        const struct wr_st_tensor *same = wr_st_find(&p->heads[k], t->name);

        if (same && wr_reading_is_alike(&same->t, t))
            return true;
    }
    return false;
}

static bool show_tensors(struct found *f)
{
    size_t count = 0;

    for (uint32_t k = 0; k < f->part.count; k++)
        count += f->part.heads[k].count;
    f->tensors = array(count, sizeof(*f->tensors));
    if (!f->tensors)
        return false;
    f->shown.tensors = f->tensors;
    for (uint32_t k = 0; k < f->part.count; k++)
        for (size_t i = 0; i < f->part.heads[k].count; i++)
            if (!is_shown(&f->part, k, &f->part.heads[k].tensors[i].t))
                f->tensors[f->shown.count++] = f->part.heads[k].tensors[i].t;
    return true;
}

static bool show_metadata(struct found *f)
{
    f->metadata = array(f->m.metadata_count, sizeof(*f->metadata));
    if (!f->metadata)
        return false;
    for (size_t k = 0; k < f->m.metadata_count; k++) {
        f->metadata[k].key = f->m.metadata[k].key;
        f->metadata[k].value = f->m.metadata[k].value;
    }
    f->shown.metadata = f->metadata;
    f->shown.metadata_count = f->m.metadata_count;
    return true;
}

/* Those that there are: a rank may have had none. */
static bool show_pipeline(struct found *f)
{
    f->pipeline = array(f->m.world, sizeof(*f->pipeline));
    f->pipeline_len = array(f->m.world, sizeof(*f->pipeline_len));
    if (!f->pipeline || !f->pipeline_len)
        return false;
    for (uint32_t k = 0; k < f->m.world; k++) {
        const struct wr_st_shard *s = &f->m.shards[k];
        size_t at = f->shown.pipeline_count;

        if (!s->pipeline)
            continue;
        f->pipeline[at] = s->pipeline;
        f->pipeline_len[at] = s->pipeline_len;
        f->shown.pipeline_count++;
    }
    f->shown.pipeline = f->pipeline;
    f->shown.pipeline_len = f->pipeline_len;
    return true;
}

static bool show_passed(struct found *f, const char *passed, size_t len)
{
    size_t count = 0;

    for (size_t k = 0; k < len; k++)
        count += passed[k] == '\0';
    f->passed = array(len, 1);
    f->passed_over = array(count, sizeof(*f->passed_over));
    if (!f->passed || !f->passed_over)
        return false;
    if (len)
        memcpy(f->passed, passed, len);
    for (const char *at = f->passed; f->shown.passed_over_count < count;
         at += strlen(at) + 1)
        f->passed_over[f->shown.passed_over_count++] = at;
    f->shown.passed_over = f->passed_over;
    return true;
}

int wr_found_new(struct wr_manifest *m, struct wr_reading *p,
                 const char *passed, size_t passed_len, weir_ckpt_found **ret)
{
    struct found *f = calloc(1, sizeof(*f));

    if (!f) {
        wr_reading_done(p);
        wr_manifest_done(m);
        return WEIR_ENOMEM;
    }
    f->m = *m;
    f->part = *p;
    f->part.m = &f->m;
    *m = (struct wr_manifest){0};
    *p = (struct wr_reading){0};
    f->shown.step = f->m.step;
    f->shown.time_ns = f->m.time_ns;
    f->shown.world = f->m.world;
    f->shown.differing = f->part.differing;
    f->shown.tier = f->part.tier->label;
    if (!show_tensors(f) || !show_metadata(f) || !show_pipeline(f) ||
        !show_passed(f, passed, passed_len)) {
        free_found(f);
        return WEIR_ENOMEM;
    }
    *ret = &f->shown;
    return 0;
}
