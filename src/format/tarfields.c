/* tarfields.c - the fields of a tar archive's samples: one for each ending.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/tarfields.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "format/array_scalars.h"
#include "format/array_shape.h"

unsigned wr_tar_fields_find(const struct wr_tar_fields *f, const char *ext,
                            enum wr_tar_part part)
{
    bool picture = part == WR_TAR_PICTURE || part == WR_TAR_VIEW;

    if (f->image && picture)
        return 0;
    for (unsigned k = f->image; k < f->count; k++)
        if (!wr_strcasecmp(f->list[k].name, ext))
            return k;
    return WR_NO_COLUMN;
}

/* Names that users can write in lists of fields and in schemas. */
bool wr_tar_is_field_name(const char *ext)
{
    size_t len = strlen(ext);

    if (!len || len >= WR_FIELD_NAME)
        return false;
    for (size_t k = 0; k < len; k++)
        if (ext[k] <= ' ' || ext[k] > '~' || strchr(",=:'\"\\", ext[k]))
            return false;
    return true;
}

/* --- members that are .npy files --- */

/* Arrays without elements have dimensions all the same: NumPy writes them where
 * there is nothing to be found in a picture. */
static int shape_of(struct wr_npz_array *a, struct wr_field *ret, weir_err *err)
{
    struct wr_array_shape s;
    uint64_t dims[WR_NPY_MAX_DIMS];
    int r;

    memcpy(dims, a->npy.shape, sizeof(dims));
    for (uint32_t k = 0; k < a->npy.ndim && !a->bytes; k++)
        a->npy.shape[k] = 1;
    r = wr_array_shape(a, WR_AXIS_FILE, &s, err);
    if (r < 0)
        return r;
    *ret = s.field;
    memcpy(ret->pub.dims, dims, sizeof(ret->pub.dims));
    return 0;
}

static int parse_array(const uint8_t *head, size_t len,
                       const struct wr_tar_member *m, struct wr_tar_array *ret,
                       weir_err *err)
{
    struct wr_npz_array a = {.stored_at = m->offset, .inflated = m->size};
    struct wr_tar_array x = {0};
    int r = wr_npy_parse(head, len, &a.npy, err);

    if (r == 0)
        r = wr_npz_settle(&a, err);
    if (r == 0)
        r = shape_of(&a, &x.field, err);
    if (r < 0)
        return r;
    x.offset = a.offset;
    x.length = a.bytes;
    *ret = x;
    return 0;
}

int wr_tar_array_read(struct wr_tar_walk *w, const struct wr_tar_member *m,
                      struct wr_tar_array *ret, weir_err *ret_flaw,
                      weir_err *err)
{
    uint8_t prefix[WR_NPY_PREFIX], *head;
    size_t have = (size_t)WR_MIN(m->size, (uint64_t)sizeof(prefix));
    uint64_t need = 0;
    int r = wr_tar_read(w, prefix, have, err);

    if (r < 0)
        return r;
    if (wr_npy_data_offset(prefix, have, &need, ret_flaw) < 0)
        return 0;
    need = WR_MIN(WR_MAX(need, (uint64_t)have), m->size); /* it is limited */
    head = malloc((size_t)need);
    if (!head)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(head, prefix, have);
    r = wr_tar_read(w, head + have, (size_t)need - have, err);
    if (r == 0)
        r = parse_array(head, (size_t)need, m, ret, ret_flaw) == 0;
    free(head);
    return r;
}

bool wr_tar_array_differs(const struct wr_field *f, const struct wr_field *x)
{
    return memcmp(f->pub.dims, x->pub.dims,
                  f->pub.ndim * sizeof(*f->pub.dims)) != 0;
}

int wr_tar_array_check(const struct wr_field *f, const struct wr_field *x,
                       weir_err *err)
{
    char first[128], this[128];

    if (f->pub.dtype != x->pub.dtype || f->pub.ndim != x->pub.ndim)
        return wr_fail(err, WEIR_EFORMAT, "%s, where the first one is %s",
                       wr_field_text(&x->pub, this, sizeof(this)),
                       wr_field_text(&f->pub, first, sizeof(first)));
    if (f->swap != x->swap)
        return wr_fail(err, WEIR_ENOTSUP,
                       "its byte order is not that of the first one");
    if (wr_tar_array_differs(f, x) ? f->strided || x->strided || x->swap
                                   : f->strided != x->strided)
        return wr_fail(err, WEIR_ENOTSUP,
                       wr_tar_array_differs(f, x)
                           ? "samples of different dimensions in %s"
                           : "it is in another order than the first one: %s",
                       f->strided || x->strided ? "Fortran order"
                                                : "the other byte order");
    return 0;
}

/* --- dimensions that vary --- */

/* Which dimensions differ anywhere. Those of no elements vary, too: a field of
 * fixed size must have some. */
static bool find_varying(struct wr_tar_fields *f,
                         const struct wr_tar_odds *odds, size_t archives,
                         bool (*ret)[7])
{
    bool any = false;

    for (size_t a = 0; a < archives; a++)
        for (size_t k = 0; k < odds[a].count; k++) {
            const struct wr_tar_odd *x = &odds[a].list[k];
            const weir_field *pub = &f->list[x->column].pub;

            for (uint32_t d = 0; d < pub->ndim && !x->absent; d++)
                ret[x->column][d] |= x->dims[d] != pub->dims[d];
        }
    for (unsigned c = 0; c < f->count; c++)
        for (uint32_t d = 0; d < f->list[c].pub.ndim; d++) {
            ret[c][d] |= f->list[c].pub.kind == WEIR_FIELD_TENSOR &&
                         !f->list[c].pub.dims[d];
            any |= ret[c][d];
        }
    return any;
}

/* Dimensions of all arrays of all samples. */
static uint64_t *all_dims(const struct wr_tar_fields *f,
                          const struct wr_tar_odds *odds, size_t archives,
                          uint64_t samples, size_t per_sample)
{
    uint64_t *dims = calloc(samples * per_sample + 1, sizeof(*dims));
    size_t at[WR_TAR_MAX_FIELDS], n = 0;
    uint64_t first = 0;

    if (!dims)
        return NULL;
    for (unsigned c = 0; c < f->count; n += f->list[c++].pub.ndim)
        at[c] = n;
    for (uint64_t i = 0; i < samples; i++)
        for (unsigned c = 0; c < f->count; c++)
            memcpy(dims + i * per_sample + at[c], f->list[c].pub.dims,
                   f->list[c].pub.ndim * sizeof(*dims));
    for (size_t a = 0; a < archives; first += odds[a++].samples)
        for (size_t k = 0; k < odds[a].count; k++) {
            const struct wr_tar_odd *x = &odds[a].list[k];

            memcpy(dims + (first + x->sample) * per_sample + at[x->column],
                   x->dims, f->list[x->column].pub.ndim * sizeof(*dims));
        }
    return dims;
}

static int add_fields(const struct wr_tar_fields *f, struct wr_index *ix,
                      weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; k < f->count && r == 0; k++)
        r = wr_index_add_field(ix, &f->list[k], err);
    return r;
}

/* Dimensions that vary become fields of their own: "npy.dim0". */
static int add_varying(struct wr_tar_fields *f, struct wr_index *ix,
                       const bool (*varies)[7], const uint64_t *dims,
                       weir_err *err)
{
    struct wr_array_scalars s = {0};
    size_t at = 0;
    int r = 0;

    for (unsigned c = 0; c < f->count && r == 0; c++)
        for (uint32_t d = 0; d < f->list[c].pub.ndim && r == 0; d++, at++)
            if (varies[c][d]) {
                f->list[c].pub.dims[d] = WEIR_DIM_VARIES;
                r = wr_array_scalars_add_dim(&s, f->list[c].name, d, at, err);
            }
    if (r == 0)
        r = add_fields(f, ix, err);
    if (r == 0)
        r = wr_array_scalars_finish(&s, ix, dims, at, err);
    wr_array_scalars_done(&s);
    return r;
}

int wr_tar_fields_add(struct wr_tar_fields *f, struct wr_index *ix,
                      const struct wr_tar_odds *odds, size_t archives,
                      weir_err *err)
{
    bool varies[WR_TAR_MAX_FIELDS][7] = {0};
    size_t per_sample = 0;
    uint64_t *dims;
    int r;

    if (!find_varying(f, odds, archives, varies))
        return add_fields(f, ix, err);
    for (unsigned c = 0; c < f->count; c++)
        per_sample += f->list[c].pub.ndim;
    dims = all_dims(f, odds, archives, wr_index_count(ix), per_sample);
    if (!dims)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = add_varying(f, ix, varies, dims, err);
    free(dims);
    return r;
}
