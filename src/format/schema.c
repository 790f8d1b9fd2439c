/* schema.c - the fields that the samples of a data set have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/units.h"

/* --- the fields that the samples of a data set have --- */

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

/* --- fields as text, and what users declare of them --- */

#define SCHEMA_HELP "write NAME=KIND[:DTYPE[:DIMS]] or label=NAME"

static const char *const kinds[] = {
    [WEIR_FIELD_TENSOR] = "tensor",
    [WEIR_FIELD_PICTURE] = "picture",
    [WEIR_FIELD_BYTES] = "bytes",
    [WEIR_FIELD_SCALAR] = "scalar",
};

const char *wr_field_kind_name(enum weir_field_kind kind)
{
    return kinds[kind];
}

const char *wr_field_text(const weir_field *f, char *buf, size_t cap)
{
    size_t used = 0;

    if (f->kind == WEIR_FIELD_PICTURE || f->kind == WEIR_FIELD_BYTES) {
        snprintf(buf, cap, "%s", kinds[f->kind]);
        return buf;
    }
    if (!f->ndim)
        used = (size_t)snprintf(buf, cap, "scalar");
    for (uint32_t k = 0; k < f->ndim && used < cap; k++) {
        if (f->dims[k] == WEIR_DIM_VARIES)
            used += (size_t)snprintf(buf + used, cap - used, "%s?",
                                     k ? "x" : "");
        else
            used += (size_t)snprintf(buf + used, cap - used, "%s%" PRIu64,
                                     k ? "x" : "", f->dims[k]);
    }
    if (used < cap)
        snprintf(buf + used, cap - used, " %s", wr_dtype_text(f->dtype));
    return buf;
}

/* --- what is declared: NAME=KIND[:DTYPE[:DIMS]] --- */

static int fail_text(const char *part, weir_err *err)
{
    return wr_fail(err, WEIR_EINVAL, "schema: '%.200s': " SCHEMA_HELP, part);
}

/* "128x128x?"; a question mark where samples differ. */
static bool parse_dims(char *text, weir_field *f)
{
    char *rest = NULL;

    f->ndim = 0;
    for (char *t = strtok_r(text, "x", &rest); t;
         t = strtok_r(NULL, "x", &rest)) {
        uint64_t n = WEIR_DIM_VARIES;

        if (f->ndim == WR_ARRAY_LEN(f->dims) ||
            (strcmp(t, "?") != 0 &&
             wr_parse_uint(t, 1, WR_FIELD_MAX_BYTES, &n, NULL) < 0))
            return false;
        f->dims[f->ndim++] = n;
    }
    return f->ndim > 0;
}

static bool parse_kind(const char *text, enum weir_field_kind *ret)
{
    int k = wr_named_index(WR_NAMED(kinds), text);

    if (k >= 0)
        *ret = (enum weir_field_kind)k;
    return k >= 0;
}

/* KIND[:DTYPE[:DIMS]] into *f; other members stay. */
static bool parse_type(char *text, weir_field *f)
{
    char *rest = NULL;
    const char *kind = strtok_r(text, ":", &rest);
    const char *dtype = strtok_r(NULL, ":", &rest);
    char *dims = strtok_r(NULL, ":", &rest);
    bool same = f->kind == WEIR_FIELD_TENSOR; /* then it keeps its shape */

    if (!kind || !parse_kind(kind, &f->kind) || strtok_r(NULL, ":", &rest))
        return false;
    same = same && f->kind == WEIR_FIELD_TENSOR;
    f->ndim = same ? f->ndim : 0;
    if (f->kind == WEIR_FIELD_PICTURE || f->kind == WEIR_FIELD_BYTES) {
        f->dtype = WEIR_U8;
        return !dtype;
    }
    if (!dtype || !wr_dtype_parse(dtype, &f->dtype) ||
        !wr_dtype_bytes(f->dtype))
        return false;
    if (f->kind == WEIR_FIELD_SCALAR)
        return !dims;
    return !dims || parse_dims(dims, f);
}

/* "image, label", for messages. */
static const char *names_of(const struct wr_schema *s, char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    for (unsigned k = 0; k < s->count && used < cap; k++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", k ? ", " : "",
                                 s->fields[k].name);
    return buf;
}

static int set_label(struct wr_schema *s, const char *name, weir_err *err)
{
    struct wr_field *f = wr_schema_find(s, name);
    char all[256];

    if (!f || f->pub.kind != WEIR_FIELD_SCALAR)
        return wr_fail(err, WEIR_EINVAL,
                       "schema: label=%.200s is not a field of one number; "
                       "there are %s",
                       name, names_of(s, all, sizeof(all)));
    for (unsigned k = 0; k < s->count; k++)
        s->fields[k].pub.is_label = &s->fields[k] == f;
    return 0;
}

static bool has_dims(const weir_field *f, const weir_field *as)
{
    return f->ndim == as->ndim &&
           !memcmp(f->dims, as->dims, f->ndim * sizeof(f->dims[0]));
}

/* Bytes may be anything; numbers stay what they are, in any shape if they lie
 * in it. */
static bool may_become(const struct wr_field *f, const weir_field *pub)
{
    bool bytes = f->pub.kind == WEIR_FIELD_BYTES ||
                 f->pub.kind == WEIR_FIELD_PICTURE;
    bool number = pub->kind == WEIR_FIELD_SCALAR ||
                  pub->kind == WEIR_FIELD_TENSOR;

    if (bytes)
        return pub->kind != WEIR_FIELD_SCALAR;
    if (pub->dtype != f->pub.dtype)
        return false;
    if (f->column == WR_NO_COLUMN || f->strided)
        return pub->kind == f->pub.kind && has_dims(&f->pub, pub);
    if (f->swap) /* what is only copied is not swapped */
        return pub->kind == WEIR_FIELD_TENSOR && wr_field_bytes(pub);
    return number;
}

static int declare(struct wr_schema *s, char *part, weir_err *err)
{
    char shown[201], all[256], *type = strchr(part, '=');
    struct wr_field *f;
    weir_field pub;

    snprintf(shown, sizeof(shown), "%s", part);
    if (!type || type == part)
        return fail_text(shown, err);
    *type++ = '\0';
    if (!strcmp(part, "axis"))
        return 0;
    if (!strcmp(part, "label") && !strchr(type, ':'))
        return set_label(s, type, err);
    f = wr_schema_find(s, part);
    if (!f)
        return wr_fail(err, WEIR_EINVAL,
                       "schema: there is no field '%.200s'; there are %s", part,
                       names_of(s, all, sizeof(all)));
    pub = f->pub;
    if (!parse_type(type, &pub))
        return fail_text(shown, err);
    if (!may_become(f, &pub))
        return wr_fail(err, WEIR_EINVAL,
                       "schema: '%.200s' is %s in the data, and stays so", part,
                       wr_field_text(&f->pub, all, sizeof(all)));
    f->pub = pub;
    f->pub.is_extra = 0; /* who declares it wants it */
    return 0;
}

int wr_schema_declare(struct wr_schema *s, const char *text, weir_err *err)
{
    char *copy = strdup(text), *rest = NULL;
    int r = 0;

    if (!copy)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (char *part = strtok_r(copy, ",", &rest); part && r == 0;
         part = strtok_r(NULL, ",", &rest))
        r = declare(s, part, err);
    free(copy);
    return r;
}

bool wr_schema_option(const char *text, const char *name, char *buf, size_t cap)
{
    size_t len = strlen(name);

    for (const char *at = text; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, len) && at[len] == '=') {
            at += len + 1;
            snprintf(buf, cap, "%.*s", (int)strcspn(at, ","), at);
            return true;
        }
    }
    return false;
}
