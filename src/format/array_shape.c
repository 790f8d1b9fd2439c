/* array_shape.c - where the samples of one array lie in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/array_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/shown.h"
#include "base/units.h"
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
