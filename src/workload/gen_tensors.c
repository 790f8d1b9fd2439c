/* gen_tensors.c - data sets of raw tensors, many samples per file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shapes that can be a picture (HxWx3, HxWx1, 3xHxW, 1xHxW, HxW) hold pictures
 * of the same classes as the JPEG data sets; others hold noise that the class
 * colours. */
#include "workload/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "workload/synth.h"
#include "workload/texture.h"

#define WRITE_BYTES ((size_t)1 << 20) /* small samples are written together */
#define SIDE_MAX    16384

struct shared {
    struct wr_textures *textures; /* owned */
    uint8_t code[256][4];         /* value / 255 in the file's type */
};

/* How a shape is seen as a picture; height 0: it is none. */
struct tensor_view {
    uint32_t width, height, channels;
    bool planar;
};

/* Samples of one file. */
struct range {
    uint64_t first, count;
};

struct gen_worker {
    const struct wr_gen_run *run; /* borrowed */
    struct tensor_view view;
    size_t elements, sample_bytes;
    uint8_t *pixels;  /* owned: 3 bytes per pixel, or the elements */
    uint8_t *out;     /* owned: samples on their way into the file */
    size_t out_cap;   /* a multiple of sample_bytes */
    uint32_t *labels; /* owned: of one file */
};

static struct tensor_view view_of(const struct wr_gen_shape *s)
{
    const uint64_t *d = s->dims;
    struct tensor_view v = {0};

    for (uint32_t k = 0; k < s->ndim; k++) {
        if (d[k] > SIDE_MAX)
            return v;
    }
    if (s->ndim == 2)
        v = (struct tensor_view){(uint32_t)d[1], (uint32_t)d[0], 1, false};
    else if (s->ndim == 3 && (d[2] == 3 || d[2] == 1))
        v = (struct tensor_view){(uint32_t)d[1], (uint32_t)d[0], (uint32_t)d[2],
                                 false};
    else if (s->ndim == 3 && (d[0] == 3 || d[0] == 1))
        v = (struct tensor_view){(uint32_t)d[2], (uint32_t)d[1], (uint32_t)d[0],
                                 true};
    return v;
}

/* Bits of value/255 as a half: all are 0 or normal numbers, so that only
 * rounding to nearest even needs care. */
static uint16_t half_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    if (bits == 0)
        return 0;
    bits -= UINT32_C(112) << 23;
    bits += 0xfff + ((bits >> 13) & 1);
    return (uint16_t)(bits >> 13);
}

static void make_codes(enum weir_dtype dtype, uint8_t code[256][4])
{
    for (unsigned v = 0; v < 256; v++) {
        float value = (float)v / 255.0f;
        uint32_t bits = v;

        if (dtype == WEIR_F16)
            bits = half_bits(value);
        else if (dtype == WEIR_F32)
            memcpy(&bits, &value, sizeof(bits));
        for (unsigned k = 0; k < 4; k++)
            code[v][k] = (uint8_t)(bits >> (8 * k));
    }
}

static uint64_t tensors_units(const struct wr_gen_config *cfg)
{
    return (cfg->samples + cfg->samples_per_file - 1) / cfg->samples_per_file;
}

static int tensors_begin(struct wr_gen_run *run, weir_err *err)
{
    struct shared *sh = calloc(1, sizeof(*sh));
    int r;

    if (!sh)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    run->shared = sh;
    make_codes(run->cfg.shape.dtype, sh->code);
    r = wr_textures_new(&sh->textures, run->cfg.seed, err);
    return r;
}

static void tensors_end(struct wr_gen_run *run)
{
    struct shared *sh = run->shared;

    if (!sh)
        return;
    wr_textures_free(sh->textures);
    free(sh);
}

static void tensors_worker_free(void *worker)
{
    struct gen_worker *w = worker;

    if (!w)
        return;
    free(w->pixels);
    free(w->out);
    free(w->labels);
    free(w);
}

static int tensors_worker(const struct wr_gen_run *run, void **ret,
                          weir_err *err)
{
    const struct wr_gen_config *cfg = &run->cfg;
    uint64_t per_file = WR_MIN(cfg->samples_per_file, cfg->samples);
    struct gen_worker *w = calloc(1, sizeof(*w));
    size_t together;

    if (!w)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->run = run;
    w->view = view_of(&cfg->shape);
    w->elements = (size_t)wr_gen_shape_elements(&cfg->shape);
    w->sample_bytes = w->elements * wr_dtype_bytes(cfg->shape.dtype);
    together = WR_MAX(1, WRITE_BYTES / w->sample_bytes);
    w->out_cap = together * w->sample_bytes;
    w->pixels = malloc(w->elements * 3);
    w->out = malloc(w->out_cap);
    w->labels = malloc((size_t)per_file * sizeof(*w->labels));
    if (!w->pixels || !w->out || !w->labels) {
        tensors_worker_free(w);
        return wr_fail(err, WEIR_ENOMEM, "no memory for a sample");
    }
    *ret = w;
    return 0;
}

/* Noise around a level that belongs to the class. */
static void draw_noise(const struct gen_worker *w, const struct shared *sh,
                       uint64_t key, uint32_t label)
{
    int level = 64 + (int)(wr_mix64(label + 1) % 128);
    size_t at = (size_t)key;

    for (size_t i = 0; i < w->elements; i++) {
        size_t k = at + i;
        int n = sh->textures->grain[(k >> WR_TEXTURE_BITS) & WR_TEXTURE_MASK]
                                   [k & WR_TEXTURE_MASK];

        w->pixels[i] = (uint8_t)(level + n / 2);
    }
}

/* One element after another, from interleaved bytes, into the file's type. */
static void convert(const struct gen_worker *w, const struct shared *sh,
                    uint8_t *out)
{
    size_t size = w->sample_bytes / w->elements;
    size_t channels = w->view.planar ? w->view.channels : 1;
    size_t plane = w->elements / channels;

    if (size == 1 && channels == 1) {
        memcpy(out, w->pixels, w->elements);
        return;
    }
    for (size_t c = 0; c < channels; c++) {
        for (size_t i = 0; i < plane; i++, out += size)
            memcpy(out, sh->code[w->pixels[i * channels + c]], size);
    }
}

static void make_sample(const struct gen_worker *w, uint64_t i, uint8_t *out)
{
    const struct wr_gen_config *cfg = &w->run->cfg;
    const struct shared *sh = w->run->shared;
    struct wr_synth_picture p = {
        .label = wr_gen_label(cfg, i),
        .key = wr_rng_at(cfg->seed, 102, i),
        .width = w->view.width,
        .height = w->view.height,
        .channels = w->view.channels,
        .grain = 40,
        .detail = 220,
    };

    if (p.height)
        wr_synth_draw(sh->textures, &p, w->pixels);
    else
        draw_noise(w, sh, p.key, p.label);
    convert(w, sh, out);
}

/* Writes the samples behind the header, from offset `at` on. */
static int write_samples(const struct wr_gen_job *job, struct wr_object *o,
                         struct range range, uint64_t at, weir_err *err)
{
    struct gen_worker *w = job->worker;
    size_t used = 0;
    int r;

    for (uint64_t k = 0; k < range.count && !job->run->stop; k++) {
        make_sample(w, range.first + k, w->out + used);
        used += w->sample_bytes;
        wr_gen_count(job, w->sample_bytes);
        if (used < w->out_cap && k + 1 < range.count)
            continue;
        r = o->ops->write(o, w->out, used, at, err);
        if (r < 0)
            return r;
        job->run->bytes += used;
        at += used;
        used = 0;
    }
    return 0;
}

static int write_file(const struct wr_gen_job *job, const char *path,
                      struct range range, weir_err *err)
{
    const struct gen_worker *w = job->worker;
    const struct wr_gen_config *cfg = &job->run->cfg;
    struct wr_object *o = NULL;
    struct wr_tensor_bytes head;
    int r;

    if (cfg->format == WR_GEN_WT)
        r = wr_tensor_wt_header(&cfg->shape, range.count, w->labels, &head,
                                err);
    else
        r = wr_tensor_npy_header(&cfg->shape, range.count, &head, err);
    if (r < 0)
        return r;
    r = wr_gen_target_create(job->run->target, path, &o, err);
    if (r < 0)
        goto out;
    r = o->ops->write(o, head.bytes, head.len, 0, err);
    if (r == 0)
        r = write_samples(job, o, range, head.len, err);
    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        goto out;
    }
    r = o->ops->close(o, /* sync= */ false, err);
    job->run->bytes += head.len;
    job->run->files++;
out:
    free(head.bytes);
    return r;
}

static int write_labels(const struct wr_gen_job *job, const char *path,
                        uint64_t count, weir_err *err)
{
    const struct gen_worker *w = job->worker;
    struct wr_tensor_bytes file;
    int r = wr_tensor_npy_labels(w->labels, count, &file, err);

    if (r < 0)
        return r;
    r = wr_gen_target_write(job->run->target, path, file.bytes, file.len, err);
    free(file.bytes);
    job->run->bytes += file.len;
    job->run->files++;
    return r;
}

static int tensors_make(const struct wr_gen_job *job, uint64_t unit,
                        weir_err *err)
{
    const struct wr_gen_config *cfg = &job->run->cfg;
    struct range range = {.first = unit * cfg->samples_per_file};
    struct gen_worker *w = job->worker;
    char path[WR_GEN_PATH_MAX];
    int r;

    range.count = WR_MIN(cfg->samples_per_file, cfg->samples - range.first);
    for (uint64_t k = 0; k < range.count; k++)
        w->labels[k] = wr_gen_label(cfg, range.first + k);
    snprintf(path, sizeof(path), "part-%05" PRIu64 "%s", unit,
             cfg->format == WR_GEN_WT ? ".wt" : ".npy");
    r = write_file(job, path, range, err);
    if (r < 0 || cfg->format == WR_GEN_WT)
        return r;
    snprintf(path, sizeof(path), "part-%05" PRIu64 ".labels.npy", unit);
    return write_labels(job, path, range.count, err);
}

const struct wr_gen_kind wr_gen_tensors = {
    .name = "tensors",
    .samples = 4096,
    .classes = 100,
    .units = tensors_units,
    .begin = tensors_begin,
    .end = tensors_end,
    .worker_new = tensors_worker,
    .worker_free = tensors_worker_free,
    .make = tensors_make,
};
