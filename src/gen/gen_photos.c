/* gen_photos.c - data sets of JPEG files in class folders.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/generate.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "gen/collage.h"
#include "gen/photo.h"
#include "gen/texture.h"

/* What all threads read: of a small set the textures, of a large one pictures
 * that were drawn. */
struct photo_stock {
    struct wr_textures *textures; /* owned; NULL: all is in the collage */
    struct wr_collage *collage;   /* owned; NULL: every picture is drawn */
    uint32_t drawn;
};

/* Of one thread. */
struct photo_worker {
    struct wr_photo *photo; /* owned; NULL with a collage */
    struct wr_bytes bytes;  /* owned */
};

static uint64_t photos_units(const struct wr_gen_config *cfg)
{
    return cfg->samples;
}

static const struct wr_photo_profile *profile_of(const struct wr_gen_run *run)
{
    return run->kind == &wr_gen_imagenet ? &wr_photo_imagenet
                                         : &wr_photo_caltech;
}

static int photos_begin(struct wr_gen_run *run, weir_err *err)
{
    const struct wr_gen_config *cfg = &run->cfg;
    struct photo_stock *st = calloc(1, sizeof(*st));
    struct wr_collage_config c = {.profile = profile_of(run),
                                  .seed = cfg->seed,
                                  .classes = cfg->classes,
                                  .threads = cfg->threads};

    if (!st)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    run->shared = st;
    /* Of each class one at least, if there is one. */
    c.count = (uint32_t)WR_MAX(cfg->drawn, cfg->classes);
    if (cfg->samples <= c.count)
        return wr_textures_new(&st->textures, cfg->seed, err);
    st->drawn = c.count;
    return wr_collage_new(&st->collage, &c, err);
}

static void photos_end(struct wr_gen_run *run)
{
    struct photo_stock *st = run->shared;

    if (!st)
        return;
    wr_textures_free(st->textures);
    wr_collage_free(st->collage);
    free(st);
}

static void photos_worker_free(void *worker)
{
    struct photo_worker *w = worker;

    if (!w)
        return;
    wr_photo_free(w->photo);
    free(w->bytes.bytes);
    free(w);
}

static int photos_worker(const struct wr_gen_run *run, void **ret,
                         weir_err *err)
{
    const struct photo_stock *st = run->shared;
    struct photo_worker *w = calloc(1, sizeof(*w));
    int r = w ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    if (r == 0 && st->textures)
        r = wr_photo_new(&w->photo, profile_of(run), st->textures, err);
    if (r < 0)
        photos_worker_free(w);
    else
        *ret = w;
    return r;
}

/* The bytes of a picture: drawn now, drawn before, or put together. */
static int picture_of(const struct photo_stock *st, struct photo_worker *w,
                      const struct wr_photo_sample *s, struct wr_slice *ret,
                      weir_err *err)
{
    int r;

    if (!st->collage)
        return wr_photo_make(w->photo, s, &ret->bytes, &ret->len, err);
    if (s->index < st->drawn) {
        *ret = wr_collage_drawn(st->collage, (uint32_t)s->index);
        return 0;
    }
    w->bytes.len = 0;
    r = wr_collage_make(st->collage, s->index, &w->bytes, NULL, err);
    if (r == 0)
        *ret = (struct wr_slice){w->bytes.bytes, w->bytes.len};
    return r;
}

static int photos_make(const struct wr_gen_job *job, uint64_t unit,
                       weir_err *err)
{
    struct wr_gen_run *run = job->run;
    struct wr_photo_sample s = {.seed = run->cfg.seed,
                                .index = unit,
                                .label = wr_gen_label(&run->cfg, unit)};
    char path[WR_GEN_PATH_MAX];
    struct wr_slice bytes;
    int64_t there = -1;
    int r = 0;

    wr_gen_picture_path(&run->cfg, unit, path);
    if (wr_sink_resumes(run->sink))
        there = wr_sink_size(run->sink, path, NULL);
    if (there < 0) {
        r = picture_of(run->shared, job->worker, &s, &bytes, err);
        if (r == 0)
            r = wr_sink_put(run->sink, path, bytes.bytes, bytes.len, err);
        if (r < 0)
            return r;
        there = (int64_t)bytes.len;
    }
    run->files++;
    run->bytes += (uint64_t)there;
    wr_gen_count(job, (uint64_t)there);
    return 0;
}

const struct wr_gen_kind wr_gen_imagenet = {
    .name = "imagenet",
    .samples = 4096,
    .classes = 100,
    .pictures = true,
    .units = photos_units,
    .begin = photos_begin,
    .end = photos_end,
    .worker_new = photos_worker,
    .worker_free = photos_worker_free,
    .make = photos_make,
};

const struct wr_gen_kind wr_gen_caltech101 = {
    .name = "caltech101",
    .samples = 9144,
    .classes = 102,
    .pictures = true,
    .units = photos_units,
    .begin = photos_begin,
    .end = photos_end,
    .worker_new = photos_worker,
    .worker_free = photos_worker_free,
    .make = photos_make,
};
