/* gen_tensors.c - data sets of raw tensors, many samples per file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shapes that can be a picture (HxWx3, HxWx1, 3xHxW, 1xHxW, HxW) hold pictures
 * of the same classes as the JPEG data sets; others hold noise that the class
 * colours. */
#include "gen/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/cast.h"
#include "format/npz.h"
#include "format/writer.h"
#include "gen/synth.h"
#include "gen/texture.h"

#define WRITE_BYTES ((size_t)1 << 20) /* small samples are written together */
#define SIDE_MAX    16384

struct shared {
    struct wr_textures *textures; /* owned */
    uint8_t code[256][8];         /* levels in the file's type */
};

/* How a shape is seen as a picture; height 0: it is none. */
struct tensor_view {
    uint32_t width, height, channels;
    bool planar;
};

/* Samples of one file. */
struct gen_range {
    uint64_t first, count;
};

struct gen_worker {
    const struct wr_gen_run *run; /* borrowed */
    struct wr_gen_shape shape;    /* of the samples in this file */
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

/* What a level is in the file's type: of 0 to 1 in floats, itself in
 * integers, as far as they reach. */
static void make_codes(enum weir_dtype dtype, uint8_t code[256][8])
{
    const char *type = wr_npy_type(dtype);

    for (unsigned v = 0; v < 256; v++) {
        float value = (float)v / 255.0f;
        uint8_t level = (uint8_t)v;

        if (!type || type[0] == 'f')
            wr_cast(WEIR_F32, dtype, &value, 1, code[v]);
        else
            wr_cast(WEIR_U8, dtype, &level, 1, code[v]);
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

/* The first dimension of a sample; `u` is from 0 to 1. */
static uint64_t vary(const struct wr_gen_config *cfg, uint64_t dim, double u)
{
    double factor = 1 + cfg->vary / 100.0 * (2 * u - 1);

    return WR_MAX(1, (uint64_t)((double)dim * factor + 0.5));
}

static void set_shape(struct gen_worker *w)
{
    w->view = view_of(&w->shape);
    w->elements = (size_t)wr_gen_shape_elements(&w->shape);
    w->sample_bytes = w->elements * wr_dtype_bytes(w->shape.dtype);
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
    w->shape = cfg->shape;
    w->shape.dims[0] = vary(cfg, cfg->shape.dims[0], 1); /* room for all */
    set_shape(w);
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

/* A file as it is written. */
struct tensor_sink {
    const char *path;                         /* borrowed */
    struct wr_object *object;                 /* owned */
    const struct wr_array_writer_ops *arrays; /* borrowed, static; or NULL */
    struct wr_array_out *out;                 /* owned; of `arrays` */
    const struct wr_writer_ops *records;      /* borrowed, static; or NULL */
    struct wr_bytes ahead;                    /* of `records`; owned */
    weir_field fields[2];                     /* x, and y: the labels */
    uint64_t at;                              /* bytes written */
};

static int sink_write(struct tensor_sink *to, const void *bytes, size_t len,
                      weir_err *err)
{
    int r = len ? to->object->ops->write(to->object, bytes, len, to->at, err)
                : 0;

    to->at += len;
    return r;
}

/* What records there are, once they are many. */
static int sink_flush(struct tensor_sink *to, size_t most, weir_err *err)
{
    int r = to->ahead.len > most
                ? sink_write(to, to->ahead.bytes, to->ahead.len, err)
                : 0;

    to->ahead.len = to->ahead.len > most ? 0 : to->ahead.len;
    return r;
}

/* One sample of `fields`. */
static int sink_add(struct tensor_sink *to, const struct gen_worker *w,
                    uint64_t k, weir_err *err)
{
    const struct wr_slice values[] = {
        {w->out, w->sample_bytes},
        {(const uint8_t *)&w->labels[k], sizeof(w->labels[k])},
    };
    const struct wr_write_sample s = {.key = "",
                                      .label = w->labels[k],
                                      .fields = to->fields,
                                      .values = values,
                                      .field_count = WR_ARRAY_LEN(values)};
    int r;

    if (to->arrays)
        return to->arrays->add(to->out, values, err);
    r = to->records->add(&to->ahead, &s, err);
    return r < 0 ? r : sink_flush(to, WRITE_BYTES, err);
}

static int write_fields(const struct wr_gen_job *job, struct tensor_sink *to,
                        struct gen_range range, weir_err *err)
{
    struct gen_worker *w = job->worker;
    int r = 0;

    for (uint64_t k = 0; k < range.count && !*job->stop && r == 0; k++) {
        make_sample(w, range.first + k, w->out);
        wr_gen_count(job, w->sample_bytes);
        r = sink_add(to, w, k, err);
    }
    return r;
}

/* Samples that follow each other as they are. */
static int write_plain(const struct wr_gen_job *job, struct tensor_sink *to,
                       struct gen_range range, weir_err *err)
{
    struct gen_worker *w = job->worker;
    size_t used = 0;
    int r = 0;

    for (uint64_t k = 0; k < range.count && !*job->stop && r == 0; k++) {
        make_sample(w, range.first + k, w->out + used);
        used += w->sample_bytes;
        wr_gen_count(job, w->sample_bytes);
        if (used + w->sample_bytes <= w->out_cap && k + 1 < range.count)
            continue;
        r = sink_write(to, w->out, used, err);
        used = 0;
    }
    return r;
}

static int fill_plain(const struct wr_gen_job *job, struct tensor_sink *to,
                      struct gen_range range, weir_err *err)
{
    const struct gen_worker *w = job->worker;
    struct wr_tensor_bytes head;
    int r = strcmp(job->run->cfg.to, "npy")
                ? wr_tensor_wt_header(&w->shape, range.count, w->labels, &head,
                                      err)
                : wr_tensor_npy_header(&w->shape, range.count, &head, err);

    if (r < 0)
        return r;
    r = sink_write(to, head.bytes, head.len, err);
    free(head.bytes);
    return r < 0 ? r : write_plain(job, to, range, err);
}

/* A file beside a file of arrays. */
static int put_side(void *arg, const char *path, const void *bytes, size_t len,
                    weir_err *err)
{
    struct wr_gen_run *run = arg;

    run->bytes += len;
    run->files++;
    return wr_gen_target_write(run->target, path, bytes, len, err);
}

static int fill_arrays(const struct wr_gen_job *job, struct tensor_sink *to,
                       struct gen_range range, weir_err *err)
{
    const struct wr_array_layout layout = {.fields = to->fields,
                                           .count = to->arrays->single ? 1 : 2,
                                           .samples = range.count,
                                           .packed = job->run->cfg.packed};
    int r = to->arrays->open(to->object, &layout, &to->out, err);

    if (r == 0)
        r = write_fields(job, to, range, err);
    if (r == 0)
        r = to->arrays->finish(to->out, &to->at, err);
    if (r == 0)
        r = wr_array_writer_sides(
            to->arrays, to->out,
            &(struct wr_side_sink){to->path, put_side, job->run}, err);
    to->arrays->free(to->out);
    return r;
}

static int fill_records(const struct wr_gen_job *job, struct tensor_sink *to,
                        struct gen_range range, weir_err *err)
{
    const struct wr_writer_ops *ops = to->records;
    int r = ops->begin ? ops->begin(&to->ahead, to->fields,
                                    WR_ARRAY_LEN(to->fields), err)
                       : 0;

    if (r == 0)
        r = write_fields(job, to, range, err);
    if (r == 0 && ops->finish)
        r = ops->finish(&to->ahead, err);
    if (r == 0)
        r = sink_flush(to, 0, err);
    free(to->ahead.bytes);
    return r;
}

static void set_fields(struct tensor_sink *to, const struct wr_gen_shape *s)
{
    to->fields[0] = (weir_field){.name = "x",
                                 .kind = WEIR_FIELD_TENSOR,
                                 .dtype = s->dtype,
                                 .ndim = s->ndim};
    memcpy(to->fields[0].dims, s->dims, sizeof(s->dims));
    to->fields[1] = (weir_field){.name = "y",
                                 .kind = WEIR_FIELD_SCALAR,
                                 .dtype = WEIR_U32,
                                 .is_label = true};
}

static int write_file(const struct wr_gen_job *job, const char *path,
                      struct gen_range range, weir_err *err)
{
    const struct gen_worker *w = job->worker;
    struct tensor_sink to = {
        .path = path,
        .arrays = wr_array_writer_find(job->run->cfg.to),
        .records = wr_writer_find(job->run->cfg.to),
    };
    int r = wr_gen_target_create(job->run->target, path, &to.object, err);

    if (r < 0)
        return r;
    set_fields(&to, &w->shape);
    r = to.arrays    ? fill_arrays(job, &to, range, err)
        : to.records ? fill_records(job, &to, range, err)
                     : fill_plain(job, &to, range, err);
    if (r < 0)
        to.object->ops->close(to.object, /* sync= */ false, NULL);
    else
        r = to.object->ops->close(to.object, /* sync= */ false, err);
    job->run->bytes += to.at;
    job->run->files++;
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

static const char *ending(const struct wr_gen_config *cfg)
{
    const struct wr_array_writer_ops *arrays = wr_array_writer_find(cfg->to);
    const struct wr_writer_ops *records = wr_writer_find(cfg->to);

    return arrays                   ? arrays->ext
           : records                ? records->ext
           : strcmp(cfg->to, "npy") ? ".wt"
                                    : ".npy";
}

static int tensors_make(const struct wr_gen_job *job, uint64_t unit,
                        weir_err *err)
{
    const struct wr_gen_config *cfg = &job->run->cfg;
    struct gen_range range = {.first = unit * cfg->samples_per_file};
    struct gen_worker *w = job->worker;
    char path[WR_GEN_PATH_MAX];
    int r;

    range.count = WR_MIN(cfg->samples_per_file, cfg->samples - range.first);
    for (uint64_t k = 0; k < range.count; k++)
        w->labels[k] = wr_gen_label(cfg, range.first + k);
    if (cfg->vary) {
        double u = (double)(wr_rng_at(cfg->seed, 103, unit) >> 11) * 0x1p-53;

        w->shape.dims[0] = vary(cfg, cfg->shape.dims[0], u);
        set_shape(w);
    }
    snprintf(path, sizeof(path), "part-%05" PRIu64 "%s", unit, ending(cfg));
    r = write_file(job, path, range, err);
    if (r < 0 || strcmp(cfg->to, "npy") != 0)
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
