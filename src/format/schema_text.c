/* schema_text.c - fields as text, and what users declare of them.
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
