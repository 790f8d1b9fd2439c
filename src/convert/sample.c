/* sample.c - the names of samples: in messages, and in what is made of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/sample.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "pipeline/custom.h"

#define SCAN_SAMPLES 256u /* read at once for their names */
#define POLL_SAMPLES 4096u

void wr_convert_name_sample(const weir_dataset *ds, uint64_t id, weir_err *err)
{
    struct wr_part part;
    char path[PATH_MAX];

    wr_index_part(ds->index, 0, id, &part);
    wr_index_object_path(ds->index, part.object, path, sizeof(path));
    if (part.whole)
        wr_fail_prefix(err, err->code, "'%s'", path);
    else
        wr_fail_prefix(err, err->code,
                       "'%s': sample %" PRIu64 " at offset %" PRIu64, path, id,
                       part.offset);
}

/* The key without a suffix: of the index, of the sample, or its number. */
static void plain_key(const weir_dataset *ds, const struct wr_sample *s,
                      char key[WR_CONVERT_KEY_MAX])
{
    char found[4 * WR_CONVERT_KEY_MAX];
    size_t len = weir_dataset_key(ds, s->id, found, sizeof(found));

    len = wr_convert_safe_key(found, WR_MIN(len, sizeof(found) - 1), key);
    if (!len && s->key)
        len = wr_convert_safe_key(s->key, s->key_len, key);
    if (!len)
        snprintf(key, WR_CONVERT_KEY_MAX, "%08" PRIu64, s->id);
}

void wr_convert_key(const struct wr_convert_plan *p, const struct wr_sample *s,
                    char key[WR_CONVERT_KEY_MAX])
{
    uint32_t suffix = wr_convert_names_suffix(&p->names, s->id);
    size_t len;

    plain_key(p->ds, s, key);
    len = strlen(key);
    if (suffix)
        snprintf(key + len, WR_CONVERT_KEY_MAX - len, "_%" PRIu32, suffix);
}

static int add_name(struct wr_convert_plan *p, uint64_t id, uint32_t label,
                    const char *key, weir_err *err)
{
    char name[WR_CONVERT_KEY_MAX];

    wr_classes_meet(&p->classes, label);
    if (p->kind->unique)
        p->kind->unique(p, label, key, name);
    return wr_convert_names_add(&p->names, p->kind->unique ? name : key, id,
                                p->count, err);
}

static int stopped(void *arg)
{
    const struct wr_convert_plan *p = arg;
    const struct wr_convert_config *cfg = p->cfg;

    return cfg->progress && cfg->progress(cfg->progress_arg, 0, 0);
}

static int poll_user(struct wr_convert_plan *p, weir_err *err)
{
    return stopped(p) ? wr_fail(err, WEIR_ECANCELED, "canceled") : 0;
}

/* By the index alone. */
static int names_by_index(struct wr_convert_plan *p, weir_err *err)
{
    char key[WR_CONVERT_KEY_MAX];
    int r = 0;

    for (uint64_t pos = 0; pos < p->count && r == 0; pos++) {
        struct wr_sample s = {.id = wr_convert_plan_sample(p, pos)};
        struct wr_part place;

        wr_index_part(p->ds->index, 0, s.id, &place);
        plain_key(p->ds, &s, key);
        r = add_name(p, s.id, place.label, key, err);
        if (r == 0 && pos % POLL_SAMPLES == 0)
            r = poll_user(p, err);
    }
    return r;
}

/* --- by the samples themselves --- */

struct name_decoder {
    struct wr_decoder base;
    const weir_dataset *ds; /* borrowed */
};

/* An entry is the key; the batch has the label. */
static int name_decode(struct wr_decoder *d, const struct wr_sample *s,
                       void *slot, struct wr_picture_times *times,
                       weir_err *err)
{
    (void)times;
    (void)err;
    plain_key(((struct name_decoder *)d)->ds, s, slot);
    return 0;
}

static void name_free(struct wr_decoder *d)
{
    free(d);
}

static const struct wr_decoder_ops name_ops = {
    .decode = name_decode,
    .free = name_free,
};

static int name_decoder(void *arg, struct wr_decoder **ret, weir_err *err)
{
    const struct wr_convert_plan *p = arg;
    struct name_decoder *d = malloc(sizeof(*d));

    if (!d)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *d = (struct name_decoder){.base.ops = &name_ops, .ds = p->ds};
    *ret = &d->base;
    return 0;
}

static uint64_t sample_at(void *arg, uint64_t position)
{
    return wr_convert_plan_sample(arg, position);
}

/* A bad one needs no name. */
static int add_batch(struct wr_convert_plan *p, const weir_batch *b,
                     weir_err *err)
{
    const char(*keys)[WR_CONVERT_KEY_MAX] = b->fields[0].data;
    size_t left;
    const struct wr_hole *hole = wr_batch_holes(b, &left);
    int r = 0;

    for (uint32_t k = 0; k < b->count && r == 0; k++) {
        if (left && hole->slot == k) {
            left--;
            hole++;
            continue;
        }
        r = add_name(p, b->ids[k], b->labels[k], keys[k], err);
    }
    return r;
}

static int names_by_samples(struct wr_convert_plan *p, unsigned threads,
                            weir_err *err)
{
    const struct wr_custom custom = {
        .arg = p,
        .count = p->count,
        .sample_at = sample_at,
        .decoder_new = name_decoder,
        .entry = WR_CONVERT_KEY_MAX,
        .quick = true,
    };
    weir_pipeline_config c = p->feed;
    weir_pipeline *pipeline = NULL;
    const weir_batch *b;
    int r;

    c.batch = SCAN_SAMPLES;
    c.threads = threads;
    c.on_error = WEIR_ON_ERROR_SKIP;
    c.stopped = stopped;
    c.stopped_arg = p;
    r = wr_pipeline_open_custom(&pipeline, p->ds, &c, &custom, err);
    while (r == 0 && (r = weir_pipeline_next(pipeline, &b, err)) > 0) {
        r = add_batch(p, b, err);
        weir_batch_release(b);
        if (r == 0)
            r = poll_user(p, err);
    }
    weir_pipeline_close(&pipeline);
    return r;
}

int wr_convert_find_names(struct wr_convert_plan *p, unsigned threads,
                          weir_err *err)
{
    int r;

    if (!p->kind->paths)
        return 0;
    r = p->ds->format->unpack ? names_by_samples(p, threads, err)
                              : names_by_index(p, err);
    wr_convert_names_seal(&p->names);
    return r;
}
