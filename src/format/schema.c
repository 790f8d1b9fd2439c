/* schema.c - the fields that the samples of a data set have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"

void wr_schema_done(struct wr_schema *s)
{
    free(s->fields);
    memset(s, 0, sizeof(*s));
}

struct wr_field *wr_schema_find(const struct wr_schema *s, const char *name)
{
    for (unsigned k = 0; k < s->count; k++)
        if (!strcmp(s->fields[k].name, name))
            return &s->fields[k];
    return NULL;
}

const struct wr_field *wr_schema_first(const struct wr_schema *s)
{
    for (unsigned k = 0; k < s->count; k++)
        if (s->fields[k].pub.kind == WEIR_FIELD_TENSOR ||
            s->fields[k].pub.kind == WEIR_FIELD_PICTURE)
            return &s->fields[k];
    return NULL;
}

const struct wr_field *wr_schema_label(const struct wr_schema *s)
{
    for (unsigned k = 0; k < s->count; k++)
        if (s->fields[k].pub.is_label)
            return &s->fields[k];
    return NULL;
}

static bool is_scalar_of_index(const struct wr_field *f)
{
    return f->column == WR_NO_COLUMN && f->scalar != WR_SCALAR_IS_LABEL;
}

int wr_schema_add(struct wr_schema *s, const struct wr_field *f, weir_err *err)
{
    if (!f->name[0] || wr_schema_find(s, f->name))
        return wr_fail(err, WEIR_EFORMAT, "two fields are called '%s'",
                       f->name);
    if (s->count >= WR_FIELD_MAX)
        return wr_fail(err, WEIR_ELIMIT, "more than %d fields", WR_FIELD_MAX);
    if (!wr_grow(&s->fields, &s->cap, (size_t)s->count + 1, sizeof(*f)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    s->fields[s->count] = *f;
    if (is_scalar_of_index(f))
        s->fields[s->count].scalar = s->scalars++;
    s->count++;
    return 0;
}

void wr_schema_seal(struct wr_schema *s)
{
    for (unsigned k = 0; k < s->count; k++)
        s->fields[k].pub.name = s->fields[k].name;
}

uint64_t wr_field_bytes(const weir_field *f)
{
    uint64_t bytes = wr_dtype_bytes(f->dtype);

    if (f->kind != WEIR_FIELD_TENSOR && f->kind != WEIR_FIELD_SCALAR)
        return 0;
    for (uint32_t k = 0; k < f->ndim; k++) {
        if (f->dims[k] == WEIR_DIM_VARIES)
            return 0;
        bytes *= f->dims[k];
    }
    return bytes;
}

struct wr_tiles wr_field_tiles(const struct wr_field *f)
{
    struct wr_tiles t = {.ndim = f->pub.ndim,
                         .elem = (uint32_t)wr_dtype_bytes(f->pub.dtype)};

    memcpy(t.dims, f->pub.dims, sizeof(f->pub.dims));
    memcpy(t.tile, f->tile, sizeof(f->tile));
    return t;
}

unsigned wr_field_columns(const struct wr_field *f)
{
    const struct wr_tiles t = wr_field_tiles(f);

    if (f->column == WR_NO_COLUMN)
        return 0;
    return f->tiled ? (unsigned)wr_tiles_count(&t) : 1;
}

uint64_t wr_field_span(const struct wr_field *f)
{
    const struct wr_tiles t = wr_field_tiles(f);
    uint64_t span = wr_dtype_bytes(f->pub.dtype);

    if (f->tiled)
        return wr_tiles_bytes(&t);
    if (!f->strided || !wr_field_bytes(&f->pub))
        return wr_field_bytes(&f->pub);
    if (f->scaled)
        return 0;
    for (uint32_t k = 0; k < f->pub.ndim; k++)
        span += (f->pub.dims[k] - 1) * f->strides[k];
    return span;
}

/* The decoder takes the shape's word for the size of samples. */
static const char *check_dims(const struct wr_field *f)
{
    size_t bytes = wr_dtype_bytes(f->pub.dtype), span = bytes, step;
    bool varies = false;

    if (!bytes || f->pub.ndim > WR_ARRAY_LEN(f->pub.dims))
        return "a field's shape is not one";
    for (uint32_t k = 0; k < f->pub.ndim; k++) {
        if (f->pub.dims[k] == WEIR_DIM_VARIES) {
            varies = true;
            continue;
        }
        if (!wr_mul_ok(bytes, f->pub.dims[k], &bytes))
            return "the samples' dimensions overflow";
        if (!bytes || bytes > WR_FIELD_MAX_BYTES)
            return "samples of zero bytes, or over the limit of 1 GiB";
        if (f->strided &&
            (!wr_mul_ok(f->pub.dims[k] - 1, f->strides[k], &step) ||
             !wr_add_ok(span, step, &span) || span > WR_FIELD_MAX_BYTES))
            return "a field spans more than 1 GiB";
    }
    return varies && f->strided ? "a field that varies has strides" : NULL;
}

/* The tiles lie in columns that are there, and are not larger than what may be
 * read at once. */
static const char *check_tiles(const struct wr_field *f, unsigned columns)
{
    size_t bytes = wr_dtype_bytes(f->pub.dtype), count = 1;

    if (f->pub.kind != WEIR_FIELD_TENSOR || !f->pub.ndim || f->strided ||
        f->scaled || f->unpacked || f->column == WR_NO_COLUMN)
        return "a field with tiles that is no tensor";
    for (uint32_t k = 0; k < f->pub.ndim; k++) {
        uint64_t dim = f->pub.dims[k], tile = f->tile[k];

        if (dim == WEIR_DIM_VARIES || !tile ||
            !wr_mul_ok(bytes, tile, &bytes) || bytes > WR_FIELD_MAX_BYTES ||
            !wr_mul_ok(count, dim / tile + !!(dim % tile), &count) ||
            count > columns - f->column)
            return "a field's tiles lie in no columns";
    }
    return NULL;
}

static const char *check_field(const struct wr_schema *s, unsigned k,
                               unsigned columns)
{
    const struct wr_field *f = &s->fields[k];
    const char *why;

    if (!f->name[0] || !memchr(f->name, '\0', sizeof(f->name)))
        return "a field has no name";
    if ((unsigned)f->pub.kind > WEIR_FIELD_SCALAR)
        return "a field of an unknown kind";
    if (f->column == WR_NO_COLUMN
            ? f->pub.kind != WEIR_FIELD_SCALAR || f->unpacked
            : f->column >= columns)
        return "a field lies in no column";
    if (f->pub.kind == WEIR_FIELD_SCALAR && f->pub.ndim)
        return "a scalar has dimensions";
    if (f->column == WR_NO_COLUMN && f->pub.dtype != WEIR_I64 &&
        f->pub.dtype != WEIR_F32 && f->pub.dtype != WEIR_F64)
        return "a scalar of the index is of another type";
    if (f->pub.is_label &&
        (f->pub.kind != WEIR_FIELD_SCALAR || wr_schema_label(s) != f))
        return "a label that is none";
    if (wr_schema_find(s, f->name) != f)
        return "two fields have the same name";
    why = check_dims(f);
    return why || !f->tiled ? why : check_tiles(f, columns);
}

const char *wr_schema_check(const struct wr_schema *s, unsigned columns)
{
    const char *why = NULL;

    if (s->count > WR_FIELD_MAX)
        return "too many fields";
    for (unsigned k = 0; k < s->count && !why; k++)
        why = check_field(s, k, columns);
    return why;
}
