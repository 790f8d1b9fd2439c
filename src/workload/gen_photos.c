/* gen_photos.c - data sets of JPEG files in class folders.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/generate.h"

#include "workload/photo.h"
#include "workload/texture.h"

static uint64_t photos_units(const struct wr_gen_config *cfg)
{
    return cfg->samples;
}

static int photos_begin(struct wr_gen_run *run, weir_err *err)
{
    struct wr_textures *t;
    int r = wr_textures_new(&t, run->cfg.seed, err);

    if (r < 0)
        return r;
    run->shared = t;
    return 0;
}

static void photos_end(struct wr_gen_run *run)
{
    wr_textures_free(run->shared);
}

static int photos_worker(const struct wr_gen_run *run, void **ret,
                         weir_err *err)
{
    struct wr_photo *ph;
    int r = wr_photo_new(&ph,
                         run->kind == &wr_gen_imagenet ? &wr_photo_imagenet
                                                       : &wr_photo_caltech,
                         run->shared, err);

    if (r == 0)
        *ret = ph;
    return r;
}

static void photos_worker_free(void *worker)
{
    wr_photo_free(worker);
}

static int photos_make(const struct wr_gen_job *job, uint64_t unit,
                       weir_err *err)
{
    struct wr_gen_run *run = job->run;
    struct wr_photo_sample s = {.seed = run->cfg.seed,
                                .index = unit,
                                .label = wr_gen_label(&run->cfg, unit)};
    char path[WR_GEN_PATH_MAX];
    const uint8_t *bytes;
    size_t len;
    int r;

    r = wr_photo_make(job->worker, &s, &bytes, &len, err);
    if (r < 0)
        return r;
    wr_gen_picture_path(&run->cfg, unit, path);
    r = wr_gen_target_write(run->target, path, bytes, len, err);
    if (r < 0)
        return r;
    run->files++;
    run->bytes += len;
    wr_gen_count(job, len);
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
