/* array_shape.c - arrays as fields: where samples lie, numbers per sample.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/array_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/shown.h"
#include "base/units.h"
#include "codec/cast.h"
#include "format/guess.h"
#include "format/index.h"

static const char *const axes[] = {[WR_AXIS_AUTO] = "auto",
                                   [WR_AXIS_FIRST] = "first",
                                   [WR_AXIS_LAST] = "last",
                                   [WR_AXIS_FILE] = "file"};

int wr_axis_parse(const char *schema, enum wr_axis *ret, uint64_t *ret_each,
                  weir_err *err)
{
    char text[32];
    const char *each = text + 5;
    int k;

    *ret = WR_AXIS_AUTO;
    *ret_each = 0;
    if (!schema || !wr_schema_option(schema, "axis", text, sizeof(text)))
        return 0;
    if (!strncmp(text, "auto:", 5) && wr_take_digits(&each, NULL, ret_each) &&
        !*each && *ret_each)
        return 0;
    k = wr_named_index(WR_NAMED(axes), text);
    if (k >= 0) {
        *ret = (enum wr_axis)k;
        return 0;
    }
    return wr_fail(err, WEIR_EINVAL,
                   "schema: axis=%s is not one of auto, first, last, file",
                   text);
}

uint64_t wr_axis_length(const struct wr_npy *npy, enum wr_axis axis)
{
    if (axis == WR_AXIS_FILE)
        return 1;
    return npy->ndim ? npy->shape[axis == WR_AXIS_LAST ? npy->ndim - 1 : 0] : 1;
}

/* Bytes from one index to the next along each axis of the whole array. Nothing
 * overflows: the array's bytes were counted. */
static void array_strides(const struct wr_npy *npy, uint64_t *ret)
{
    uint64_t step = wr_dtype_bytes(npy->dtype);

    for (uint32_t k = 0; k < npy->ndim; k++) {
        uint32_t axis = npy->fortran ? k : npy->ndim - 1 - k;

        ret[axis] = step;
        step *= npy->shape[axis];
    }
}

/* Do elements with these strides follow each other in C order? */
static bool is_c_order(const struct wr_field *f)
{
    uint64_t step = wr_dtype_bytes(f->pub.dtype);

    for (uint32_t k = f->pub.ndim; k-- > 0; step *= f->pub.dims[k])
        if (f->pub.dims[k] > 1 && f->strides[k] != step)
            return false;
    return true;
}

static int check_sample(const struct wr_npz_array *a, uint64_t bytes,
                        uint32_t ndim, weir_err *err)
{
    if (ndim > WR_ARRAY_LEN(((weir_field *)0)->dims))
        return wr_fail(err, WEIR_ENOTSUP, "'%s': more than 7 dimensions",
                       a->name);
    if (!bytes)
        return wr_fail(err, WEIR_EFORMAT, "'%s': samples of zero bytes",
                       a->name);
    if (bytes > WR_FIELD_MAX_BYTES)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': samples of %" PRIu64
                       " bytes, over the limit of 1 GiB",
                       a->name, bytes);
    return 0;
}

/* Where samples lie among each other, one reaches through all of the array. */
static int check_reach(const struct wr_npz_array *a, uint64_t bytes,
                       weir_err *err)
{
    if (bytes <= WR_ARRAY_WHOLE)
        return 0;
    return wr_fail(err, WEIR_ELIMIT,
                   "'%s': samples lie among each other in over 2 GiB; save it "
                   "so that each is one piece",
                   a->name);
}

/* Bytes of one sample; an array of no samples has a size for them, too. */
static int sample_bytes(const struct wr_npz_array *a, uint32_t skip,
                        uint64_t *ret, weir_err *err)
{
    size_t bytes = wr_dtype_bytes(a->npy.dtype);

    for (uint32_t k = 0; k < a->npy.ndim; k++)
        if (k != skip && !wr_mul_ok(bytes, a->npy.shape[k], &bytes))
            return wr_fail(err, WEIR_EFORMAT,
                           "the dimensions' product overflows 64 bits");
    *ret = bytes;
    return check_sample(a, bytes, a->npy.ndim - (skip < a->npy.ndim), err);
}

/* The sample's dimensions, and how its elements lie when it is alone. */
static void fill_field(const struct wr_npz_array *a, uint32_t skip,
                       const uint64_t *strides, uint64_t scale,
                       struct wr_field *f)
{
    snprintf(f->name, sizeof(f->name), "%s", a->name);
    f->pub.kind = WEIR_FIELD_TENSOR;
    f->pub.dtype = a->npy.dtype;
    f->swap = a->npy.swap;
    for (uint32_t k = 0; k < a->npy.ndim; k++) {
        if (k == skip)
            continue;
        f->pub.dims[f->pub.ndim] = a->npy.shape[k];
        f->strides[f->pub.ndim++] = strides[k] / scale;
    }
    f->scaled = scale > 1;
    f->strided = f->scaled || !is_c_order(f);
}

/* How each sample is cut, where the array is. */
static int cut(const struct wr_npz_array *a, uint32_t skip,
               struct wr_array_shape *s, weir_err *err)
{
    struct wr_field *f = &s->field;
    uint32_t n = 0;
    size_t tiles = 1;

    s->tiles = 1;
    if (!a->tile[0])
        return 0;
    for (uint32_t k = 0; k < a->npy.ndim; k++) {
        uint64_t dim = a->npy.shape[k], tile = a->tile[k];

        if (k == skip)
            continue;
        f->tiled |= tile != dim;
        f->tile[n++] = tile;
        if (!wr_mul_ok(tiles, dim / tile + !!(dim % tile), &tiles) ||
            tiles > WR_INDEX_COLUMNS)
            return wr_fail(
                err, WEIR_ELIMIT,
                "'%s': a sample lies in more than %d chunks: convert "
                "it (weir convert)",
                wr_show(a->name).text, WR_INDEX_COLUMNS);
    }
    s->tiles = (unsigned)tiles;
    if (f->tiled)
        s->length = wr_field_span(f);
    else
        memset(f->tile, 0, sizeof(f->tile));
    if (s->length > WR_FIELD_MAX_BYTES)
        return wr_fail(err, WEIR_ELIMIT, "'%s': %" PRIu64 " bytes per chunk",
                       wr_show(a->name).text, s->length);
    return 0;
}

int wr_array_shape(const struct wr_npz_array *a, enum wr_axis axis,
                   struct wr_array_shape *ret, weir_err *err)
{
    const struct wr_npy *npy = &a->npy;
    uint32_t skip = axis == WR_AXIS_FILE || !npy->ndim ? UINT32_MAX
                    : axis == WR_AXIS_LAST             ? npy->ndim - 1
                                                       : 0;
    struct wr_array_shape s = {.count = wr_axis_length(npy, axis)};
    uint64_t strides[WR_NPY_MAX_DIMS], elem = wr_dtype_bytes(npy->dtype);
    int r = sample_bytes(a, skip, &s.length, err);

    if (r < 0)
        return r;
    array_strides(npy, strides);
    /* Where neighbours are of other samples, all strides of a sample are so
     * many times those that it has alone. */
    s.mixed = s.count > 1 && s.length > elem && strides[skip] == elem;
    fill_field(a, skip, strides, s.mixed ? s.count : 1, &s.field);
    s.step = s.mixed ? elem : s.length;
    if (s.mixed)
        s.length = elem + (s.length - elem) * s.count;
    r = check_reach(a, s.mixed ? s.length : 0, err);
    if (r == 0)
        r = cut(a, skip, &s, err);
    if (r == 0)
        *ret = s;
    return r;
}

#define MAX_SAMPLES UINT64_C(100000000)

/* --- arrays of one number per sample, and which is the label --- */

int wr_array_scalars_init(struct wr_array_scalars *s, const char *schema,
                          weir_err *err)
{
    if (schema &&
        wr_schema_option(schema, "label", s->label, sizeof(s->label)) &&
        !s->label[0])
        return wr_fail(err, WEIR_EINVAL, "schema: label= names no array");
    return 0;
}

void wr_array_scalars_done(struct wr_array_scalars *s)
{
    free(s->list);
    free(s->rows);
}

/* One number: a complex one is two. */
static bool is_number(const struct wr_npz_array *a)
{
    return wr_cast_can(a->npy.dtype, WEIR_F64);
}

const struct wr_npz_array *
wr_array_scalars_label(const struct wr_array_scalars *s, const struct wr_npz *a)
{
    const struct wr_npz_array *x = NULL;
    const char *name;

    if (s->label[0])
        return wr_npz_find(a, s->label);
    for (unsigned k = 0; !x && (name = wr_label_name(WR_LABEL_COLUMN, k)); k++)
        x = wr_npz_find(a, name);
    return x && is_number(x) && x->npy.ndim < 2 ? x : NULL;
}

static bool is_scalar(const struct wr_npz_array *a, bool file, bool label)
{
    if (!is_number(a))
        return false;
    return file ? a->elements == 1 && (label || !a->npy.ndim)
                : a->npy.ndim == 1;
}

static int add_scalar(struct wr_array_scalars *s,
                      const struct wr_array_scalar *x, weir_err *err)
{
    if (!wr_grow(&s->list, &s->cap, s->count + 1, sizeof(*x)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    s->list[s->count++] = *x;
    return 0;
}

static enum weir_dtype scalar_type(enum weir_dtype stored)
{
    switch (stored) {
    case WEIR_F64:
        return WEIR_F64;
    case WEIR_F32:
    case WEIR_F16:
    case WEIR_BF16:
        return WEIR_F32;
    default:
        return WEIR_I64;
    }
}

/* The array that stays a tensor though it has one number per sample: a data
 * set is not labels alone. */
static const struct wr_npz_array *only_tensor(const struct wr_npz *a, bool file,
                                              const struct wr_npz_array *label)
{
    const struct wr_npz_array *first = NULL;

    for (size_t k = 0; k < a->count; k++) {
        const struct wr_npz_array *x = &a->list[k];

        if (!is_scalar(x, file, x == label))
            return NULL;
        if (!first && x != label)
            first = x;
    }
    return first ? first : a->list;
}

int wr_array_scalars_choose(struct wr_array_scalars *s, const struct wr_npz *a,
                            bool file, weir_err *err)
{
    const struct wr_npz_array *label = wr_array_scalars_label(s, a);
    const struct wr_npz_array *tensor = only_tensor(a, file, label);
    int r = 0;

    s->count = 0;
    for (size_t k = 0; k < a->count && r == 0; k++) {
        const struct wr_npz_array *x = &a->list[k];
        struct wr_array_scalar one = {.dtype = scalar_type(x->npy.dtype),
                                      .label = x == label};

        if (x == tensor || !is_scalar(x, file, x == label))
            continue;
        snprintf(one.name, sizeof(one.name), "%s", x->name);
        r = add_scalar(s, &one, err);
    }
    return r;
}

bool wr_array_scalars_has(const struct wr_array_scalars *s, const char *name)
{
    return wr_named_text(s->list, s->count, sizeof(*s->list), name) >= 0;
}

/* --- values --- */

/* A scalar is i64: numbers of u64 beyond it would become others. */
static int check_range(const struct wr_npz_array *x, const void *values,
                       uint64_t samples, weir_err *err)
{
    const uint64_t *v = values;

    for (uint64_t i = 0; x->npy.dtype == WEIR_U64 && i < samples; i++)
        if (v[i] > INT64_MAX)
            return wr_fail(err, WEIR_ENOTSUP,
                           "'%s' has %" PRIu64 ", over the limit of i64",
                           wr_show(x->name).text, v[i]);
    return 0;
}

/* The values of one array into column k of the rows of `samples` samples. */
static int read_column(const struct wr_array_scalars *s, size_t k,
                       struct wr_object *o, const struct wr_npz_array *x,
                       union wr_scalar *rows, uint64_t samples, weir_err *err)
{
    enum weir_dtype to = s->list[k].dtype == WEIR_I64 ? WEIR_I64 : WEIR_F64;
    union wr_scalar *wide;
    void *values = NULL;
    int r;

    if (x->elements != samples || !is_number(x) ||
        (to == WEIR_I64 && scalar_type(x->npy.dtype) != WEIR_I64))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s' is not one number per sample, as in the first "
                       "file",
                       wr_show(x->name).text);
    wide = malloc(samples * sizeof(*wide) + 1);
    r = wide ? wr_npz_values(o, x, &values, err)
             : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0)
        r = check_range(x, values, samples, err);
    if (r == 0) {
        wr_cast(x->npy.dtype, to, values, samples, wide);
        for (uint64_t i = 0; i < samples; i++)
            rows[i * s->count + k] = wide[i];
    }
    free(values);
    free(wide);
    return r;
}

/* Class numbers, -1 for none; NULL in *ret when they are something else. */
static int take_labels(struct wr_array_scalars *s, size_t k,
                       const union wr_scalar *rows, uint64_t samples,
                       uint32_t **ret, weir_err *err)
{
    bool classes = s->list[k].dtype == WEIR_I64;
    uint32_t *labels = malloc(samples * sizeof(*labels) + 1);

    if (!labels)
        return wr_fail(err, WEIR_ENOMEM, "out of memory for labels");
    for (uint64_t i = 0; i < samples && classes; i++)
        classes = wr_label_of_number(rows[i * s->count + k].i, &labels[i]);
    s->wide |= !classes;
    if (classes)
        *ret = labels;
    else
        free(labels);
    return 0;
}

int wr_array_scalars_read(struct wr_array_scalars *s, struct wr_object *o,
                          const struct wr_npz *a, uint64_t samples,
                          uint32_t **ret_labels, weir_err *err)
{
    union wr_scalar *rows;
    size_t need;
    int r = 0;

    if (!s->count || !samples)
        return 0;
    if (samples > MAX_SAMPLES)
        return wr_fail(err, WEIR_ELIMIT,
                       "%" PRIu64 " labels, over the limit of %" PRIu64,
                       samples, MAX_SAMPLES);
    need = s->row_values + samples * s->count;
    if (!wr_grow(&s->rows, &s->row_cap, need, sizeof(*s->rows)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory for labels");
    rows = s->rows + s->row_values;
    for (size_t k = 0; k < s->count && r == 0; k++) {
        const struct wr_npz_array *x = wr_npz_find(a, s->list[k].name);

        if (!x)
            return wr_fail(err, WEIR_EFORMAT,
                           "it has no array '%s', as the first file has",
                           wr_show(s->list[k].name).text);
        r = read_column(s, k, o, x, rows, samples, err);
    }
    for (size_t k = 0; k < s->count && r == 0; k++)
        if (s->list[k].label)
            r = take_labels(s, k, rows, samples, ret_labels, err);
    if (r == 0)
        s->row_values = need;
    return r;
}

/* --- the end --- */

int wr_array_scalars_add_dim(struct wr_array_scalars *s, const char *name,
                             uint32_t k, size_t at, weir_err *err)
{
    struct wr_array_scalar x = {.dtype = WEIR_I64, .dim = true, .dim_at = at};

    if (snprintf(x.name, sizeof(x.name), "%s.dim%" PRIu32, name, k) >=
        (int)sizeof(x.name))
        return wr_fail(err, WEIR_ELIMIT, "'%s': its name is too long",
                       wr_show(name).text);
    return add_scalar(s, &x, err);
}

/* Labels that are class numbers stand beside the samples already. */
static bool is_kept(const struct wr_array_scalars *s, size_t k)
{
    return !s->list[k].label || s->wide;
}

static int add_fields(const struct wr_array_scalars *s, struct wr_index *ix,
                      weir_err *err)
{
    int r = 0;

    for (size_t k = 0; k < s->count && r == 0; k++) {
        const struct wr_array_scalar *x = &s->list[k];
        struct wr_field f = wr_guess_field(x->name, WEIR_FIELD_SCALAR,
                                           x->dtype);

        f.pub.is_label = x->label;
        f.column = WR_NO_COLUMN;
        if (!is_kept(s, k))
            f.scalar = WR_SCALAR_IS_LABEL;
        r = wr_index_add_field(ix, &f, err);
    }
    return r;
}

int wr_array_scalars_finish(const struct wr_array_scalars *s,
                            struct wr_index *ix, const uint64_t *dims,
                            size_t per_sample, weir_err *err)
{
    uint64_t samples = wr_index_count(ix);
    size_t read = samples ? s->row_values / samples : 0; /* of each */
    union wr_scalar *row = calloc(s->count + 1, sizeof(*row));
    int r = row ? add_fields(s, ix, err)
                : wr_fail(err, WEIR_ENOMEM, "out of memory");

    for (uint64_t i = 0; i < samples && r == 0; i++) {
        size_t n = 0;

        for (size_t k = 0; k < s->count; k++)
            if (s->list[k].dim)
                row[n++].i = (int64_t)dims[i * per_sample + s->list[k].dim_at];
            else if (is_kept(s, k))
                row[n++] = s->rows[i * read + k];
        if (n)
            r = wr_index_add_scalars(ix, row, err);
    }
    free(row);
    return r;
}
