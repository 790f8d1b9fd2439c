/* form.c - which form a description's files have, and what they are made from.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/form.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "gen/collage.h"
#include "gen/jpeg_noise.h"
#include "workload/derive.h"

#define PHOTO_CLASSES 100u
#define PHOTO_BASES   512u /* pictures drawn, of which the others are made */
#define SAMPLE_MAX    (UINT64_C(1) << 40)

static const struct wr_gen_form *const noise_forms[WR_WL_FORMATS] = {
    [WR_WL_TFRECORD] = &wr_gen_form_tfrecord,
    [WR_WL_HDF5] = &wr_gen_form_hdf5,
    [WR_WL_CSV] = &wr_gen_form_csv,
    [WR_WL_NPZ] = &wr_gen_form_npz,
    [WR_WL_NPY] = &wr_gen_form_npy,
    [WR_WL_JPEG] = &wr_gen_form_jpeg,
    [WR_WL_PNG] = &wr_gen_form_png,
    [WR_WL_INDEXED_BINARY] = &wr_gen_form_indexed_binary,
    [WR_WL_MMAP_INDEXED_BINARY] = &wr_gen_form_indexed_binary,
    [WR_WL_JSONL] = &wr_gen_form_jsonl,
    [WR_WL_TAR] = &wr_gen_form_tar,
    [WR_WL_TENSOR] = &wr_gen_form_tensor,
};

static const struct wr_gen_form *const photo_forms[WR_WL_FORMATS] = {
    [WR_WL_TFRECORD] = &wr_gen_form_photo_tfrecord,
    [WR_WL_JPEG] = &wr_gen_form_photos,
    [WR_WL_TAR] = &wr_gen_form_photo_tar,
};

static int check_common(const struct wr_gen_form *f,
                        const struct wr_workload *w, weir_err *err)
{
    const char *c = w->dataset.compression;

    if (c && strcmp(c, "none"))
        return wr_fail(err, WEIR_ENOTSUP,
                       "compression '%s': weir gen writes data as they are; "
                       "weir.compressible says how far they can be compressed",
                       c);
    if (!w->dataset.files_train && !w->dataset.files_eval)
        return wr_fail(err, WEIR_EINVAL, "the description has no files");
    if (f->single && w->dataset.samples_per_file > 1)
        return wr_fail(err, WEIR_EINVAL, "num_samples_per_file: %s", f->single);
    return 0;
}

static int refuse(const struct wr_workload *w, weir_err *err)
{
    if (w->dataset.format == WR_WL_SYNTHETIC)
        return wr_fail(err, WEIR_EINVAL,
                       "format synthetic: nothing is read, so there is nothing "
                       "to generate");
    if (w->dataset.format == WR_WL_PARQUET)
        return wr_fail(err, WEIR_ENOTSUP,
                       "format parquet: weir does not write Parquet files");
    if (w->dataset.format == WR_WL_HDF5_OPT)
        return wr_fail(err, WEIR_ENOTSUP,
                       "format hdf5_opt: DLIO has no code for it either; "
                       "use hdf5");
    return wr_fail(err, WEIR_ENOTSUP,
                   "weir.content photos: pictures are written as jpeg, "
                   "tfrecord or tar");
}

const struct wr_gen_form *wr_gen_form_of(const struct wr_workload *w,
                                         weir_err *err)
{
    const struct wr_gen_form *f = w->weir.content == WR_WL_PHOTOS
                                      ? photo_forms[w->dataset.format]
                                      : noise_forms[w->dataset.format];

    if (!f) {
        refuse(w, err);
        return NULL;
    }
    if (check_common(f, w, err) < 0 || (f->check && f->check(w, err) < 0))
        return NULL;
    return f;
}

/* NumPy's names. */
static int find_dtype(const char *name, enum weir_dtype *ret, weir_err *err)
{
    static const struct dtype_name {
        const char *name;
        enum weir_dtype dtype;
    } names[] = {
        {"uint8", WEIR_U8},     {"int8", WEIR_I8},     {"uint16", WEIR_U16},
        {"int16", WEIR_I16},    {"uint32", WEIR_U32},  {"int32", WEIR_I32},
        {"uint64", WEIR_U64},   {"int64", WEIR_I64},   {"float16", WEIR_F16},
        {"float32", WEIR_F32},  {"float64", WEIR_F64}, {"bool", WEIR_BOOL},
        {"complex64", WEIR_C64}};

    const struct dtype_name *n = wr_named_find(WR_NAMED(names), name);

    if (n) {
        *ret = n->dtype;
        return 0;
    }
    return wr_fail(err, WEIR_ENOTSUP,
                   "record_element_type '%s': weir gen has no such type", name);
}

/* DLIO writes pictures and raw bytes whatever the type of the elements is. */
static bool is_bytes(enum wr_wl_format f)
{
    return f == WR_WL_JPEG || f == WR_WL_PNG;
}

bool wr_gen_side_path(const struct wr_gen_form *f, const char *path, unsigned k,
                      char *buf)
{
    const char *slash = strrchr(path, '/');
    int n;

    if (!f->side_folder || !slash)
        n = snprintf(buf, PATH_MAX, "%s%s", path, f->sides[k]);
    else
        n = snprintf(buf, PATH_MAX, "%s/%.*s/%s%s", f->side_folder,
                     (int)strcspn(path, "/"), path, slash + 1, f->sides[k]);
    return n < PATH_MAX;
}

int wr_gen_spec_init(struct wr_gen_spec *s, const struct wr_workload *w,
                     uint64_t seed, uint64_t file, weir_err *err)
{
    uint64_t bytes;
    int r;

    *s = (struct wr_gen_spec){.w = w,
                              .seed = seed,
                              .file = file,
                              .samples = w->dataset.samples_per_file,
                              .dtype = WEIR_U8};
    if (__builtin_mul_overflow(file, s->samples, &s->first))
        return wr_fail(err, WEIR_ELIMIT, "too many samples");
    wr_workload_sides(w, seed, file, &s->dims);
    r = is_bytes(w->dataset.format)
            ? 0
            : find_dtype(w->dataset.element_type, &s->dtype, err);
    if (r < 0)
        return r;
    bytes = wr_dtype_bytes(s->dtype);
    for (unsigned k = 0; k < s->dims.count; k++)
        if (__builtin_mul_overflow(bytes, s->dims.dim[k], &bytes) ||
            bytes > SAMPLE_MAX)
            return wr_fail(err, WEIR_ELIMIT, "a sample is too large");
    if (!s->dims.count || !bytes ||
        __builtin_mul_overflow(bytes, s->samples, &(uint64_t){0}))
        return wr_fail(err, WEIR_EINVAL, "a sample has no bytes, or too many");
    s->sample_bytes = bytes;
    return 0;
}

void wr_gen_spec_noise(const struct wr_gen_spec *s, uint64_t array,
                       struct wr_noise *ret)
{
    const struct wr_noise_place place = {s->seed, s->file, array};

    wr_noise_init(ret, &place, s->dtype, s->w->weir.compressible);
}

uint32_t wr_gen_photo_label(uint64_t sample)
{
    return (uint32_t)(sample % PHOTO_CLASSES);
}

int wr_gen_stock_init(struct wr_gen_stock *st, const struct wr_workload *w,
                      uint64_t seed, unsigned threads, weir_err *err)
{
    uint64_t samples = (w->dataset.files_train + w->dataset.files_eval) *
                       w->dataset.samples_per_file;
    struct wr_collage_config cfg = {
        .profile = &wr_photo_imagenet,
        .mean_bytes = w->dataset.record_bytes,
        .seed = seed,
        .classes = PHOTO_CLASSES,
        .count = (uint32_t)WR_MAX(1, WR_MIN(samples, PHOTO_BASES)),
        .threads = threads,
    };

    *st = (struct wr_gen_stock){0};
    if (w->weir.content == WR_WL_PHOTOS)
        return wr_collage_new(&st->photos, &cfg, err);
    if (w->dataset.format == WR_WL_JPEG)
        return wr_jpeg_noise_new(&st->jpegs, seed, err);
    return 0;
}

void wr_gen_stock_done(struct wr_gen_stock *st)
{
    wr_collage_free(st->photos);
    wr_jpeg_noise_free(st->jpegs);
    *st = (struct wr_gen_stock){0};
}

int wr_gen_maker_init(struct wr_gen_maker *m, const struct wr_gen_stock *st,
                      weir_err *err)
{
    *m = (struct wr_gen_maker){.stock = st};
    m->buf = aligned_alloc(WR_DIRECT_ALIGN, WR_PEN_BYTES);
    if (!m->buf)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

void wr_gen_maker_done(struct wr_gen_maker *m)
{
    free(m->buf);
    free(m->scratch.bytes);
    *m = (struct wr_gen_maker){0};
}
