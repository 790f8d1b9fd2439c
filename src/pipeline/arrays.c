/* arrays.c - the fields of a batch, and where each lies in its buffer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/decode.h"

/* --- which --- */

static bool is_wanted(const struct wr_arrays *a, const struct wr_field *f)
{
    for (unsigned k = 0; k < a->count; k++)
        if (a->of[k].field == f)
            return true;
    return false;
}

static void want(struct wr_arrays *a, const struct wr_schema *s,
                 const struct wr_field *f)
{
    a->of[a->count++] = (struct wr_array){.field = f,
                                          .number = (unsigned)(f - s->fields)};
}

static int fail_name(const struct wr_schema *s, const char *name, weir_err *err)
{
    char known[512] = "";

    for (unsigned k = 0; k < s->count; k++) {
        size_t used = strlen(known);

        snprintf(known + used, sizeof(known) - used, "%s%s", k ? ", " : "",
                 s->fields[k].name);
    }
    return wr_fail(err, WEIR_EINVAL, "fields: '%s' is not one of %s", name,
                   known);
}

/* "image,label": in that order. */
static int want_named(struct wr_arrays *a, const struct wr_schema *s,
                      const char *text, weir_err *err)
{
    char *names = strdup(text), *next = names, *name;
    int r = names ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    while (r == 0 && (name = strsep(&next, ","))) {
        const struct wr_field *f = wr_schema_find(s, name);

        if (!f)
            r = fail_name(s, name, err);
        else if (is_wanted(a, f))
            r = wr_fail(err, WEIR_EINVAL, "fields: '%s' is there twice", name);
        else
            want(a, s, f);
    }
    free(names);
    return r;
}

static int choose(struct wr_arrays *a, const char *fields, weir_err *err)
{
    const struct wr_schema *s = wr_index_schema(a->index);

    a->of = calloc(s->count + 1, sizeof(*a->of));
    if (!a->of)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (fields)
        return want_named(a, s, fields, err);
    for (unsigned k = 0; k < s->count; k++)
        want(a, s, &s->fields[k]);
    return 0;
}

/* --- where --- */

/* Which part of a sample column `column` is; a new one, if it is the first
 * field of it. */
static unsigned part_of(struct wr_arrays *a, unsigned column)
{
    unsigned k = 0;

    if (column == WR_NO_COLUMN)
        return WR_NO_ARRAY;
    while (k < a->parts && a->columns[k] != column)
        k++;
    if (k == a->parts)
        a->columns[a->parts++] = column;
    return k;
}

static bool is_cached(const struct wr_array *f)
{
    return f->part != WR_NO_ARRAY && f->varying == WR_NO_ARRAY &&
           !f->field->pub.is_label;
}

static int place(struct wr_arrays *a, struct wr_array *f, uint32_t batch,
                 weir_err *err)
{
    bool varies = f->varying != WR_NO_ARRAY;
    size_t entry = varies ? sizeof(uint64_t) : f->shape.bytes;
    size_t array;

    a->delivered++;
    a->bytes = WR_ALIGN_UP(a->bytes, (size_t)WR_CACHE_LINE);
    f->offset = a->bytes;
    if (!wr_mul_ok(entry, (size_t)batch + varies, &array) ||
        array > SIZE_MAX / 2 - a->bytes)
        return wr_fail(err, WEIR_EINVAL, "a batch would be too large");
    a->bytes += array;
    if (is_cached(f))
        a->sample_bytes += f->shape.bytes;
    return 0;
}

static void set_shortcut(struct wr_arrays *a, unsigned k)
{
    const weir_field *f = &a->of[k].field->pub;

    if ((f->kind == WEIR_FIELD_TENSOR || f->kind == WEIR_FIELD_PICTURE) &&
        a->data == WR_NO_ARRAY && a->of[k].delivered &&
        a->of[k].varying == WR_NO_ARRAY)
        a->data = k;
    if (f->is_label)
        a->label = k;
}

int wr_arrays_init(struct wr_arrays *a, const weir_dataset *ds,
                   const weir_pipeline_config *cfg, weir_err *err)
{
    const struct wr_field_want how = wr_want_of(cfg);
    bool all = cfg->stages == WEIR_STAGES_ALL;
    int r;

    *a = (struct wr_arrays){
        .index = ds->index, .data = WR_NO_ARRAY, .label = WR_NO_ARRAY};
    r = choose(a, NULL, err);
    for (unsigned k = 0; r == 0 && k < a->count; k++) {
        struct wr_array *f = &a->of[k];

        f->part = part_of(a, f->field->column);
        f->delivered = all || f->part == WR_NO_ARRAY;
        f->varying = WR_NO_ARRAY;
        if (cfg->stages != WEIR_STAGES_READ || f->delivered)
            r = wr_field_shape(f->field, &how, &f->shape, err);
        if (r == 0 && !f->shape.bytes && f->delivered)
            f->varying = a->varying++;
        if (r == 0 && f->delivered)
            r = place(a, f, cfg->batch, err);
        set_shortcut(a, k);
    }
    return r;
}

void wr_arrays_done(struct wr_arrays *a)
{
    free(a->of);
    *a = (struct wr_arrays){0};
}

const struct wr_array *wr_arrays_only(const struct wr_arrays *a)
{
    const struct wr_array *only = NULL;

    for (unsigned k = 0; k < a->count; k++) {
        const struct wr_array *f = &a->of[k];

        if (f->part == WR_NO_ARRAY || f->field->pub.is_label)
            continue;
        if (only || f->varying != WR_NO_ARRAY || !f->delivered)
            return NULL;
        only = f;
    }
    return only;
}

/* --- samples --- */

void wr_arrays_move(const struct wr_arrays *a, void *buffer, uint32_t from,
                    uint32_t to)
{
    for (unsigned k = 0; k < a->count; k++) {
        const struct wr_array *f = &a->of[k];

        if (f->delivered && f->varying == WR_NO_ARRAY)
            memcpy(wr_array_at(f, buffer, to), wr_array_at(f, buffer, from),
                   f->shape.bytes);
    }
}

static void set_scalar(const struct wr_array *f, void *slot,
                       union wr_scalar value)
{
    float single = (float)value.f;

    if (f->shape.dtype == WEIR_F32)
        memcpy(slot, &single, sizeof(single));
    else
        memcpy(slot, &value, sizeof(value));
}

void wr_arrays_set_label(const struct wr_arrays *a, void *buffer, uint32_t slot,
                         uint32_t label)
{
    const struct wr_array *f = a->label == WR_NO_ARRAY ? NULL
                                                       : &a->of[a->label];
    union wr_scalar value = {.i = label == WEIR_NO_LABEL ? -1 : (int64_t)label};

    if (f && f->delivered && f->shape.dtype == WEIR_I64)
        set_scalar(f, wr_array_at(f, buffer, slot), value);
}

void wr_arrays_set_indexed(const struct wr_arrays *a, void *buffer,
                           uint32_t slot, uint64_t id, uint32_t label)
{
    for (unsigned k = 0; k < a->count; k++) {
        const struct wr_array *f = &a->of[k];
        union wr_scalar value;

        if (k == a->label)
            wr_arrays_set_label(a, buffer, slot, label);
        else if (f->part == WR_NO_ARRAY &&
                 wr_index_scalar(a->index, f->number, id, &value))
            set_scalar(f, wr_array_at(f, buffer, slot), value);
    }
}

void wr_arrays_gather(const struct wr_arrays *a, void *buffer, uint32_t slot,
                      uint8_t *ret)
{
    for (unsigned k = 0; k < a->count; k++) {
        const struct wr_array *f = &a->of[k];

        if (!is_cached(f))
            continue;
        memcpy(ret, wr_array_at(f, buffer, slot), f->shape.bytes);
        ret += f->shape.bytes;
    }
}

void wr_arrays_scatter(const struct wr_arrays *a, void *buffer, uint32_t slot,
                       const uint8_t *bytes)
{
    for (unsigned k = 0; k < a->count; k++) {
        const struct wr_array *f = &a->of[k];

        if (!is_cached(f))
            continue;
        memcpy(wr_array_at(f, buffer, slot), bytes, f->shape.bytes);
        bytes += f->shape.bytes;
    }
}

/* --- what the consumer sees --- */

static weir_batch_field public_field(const struct wr_array *f,
                                     const void *buffer, uint32_t count)
{
    weir_batch_field pub = {
        .name = f->field->pub.name,
        .kind = f->field->pub.kind,
        .dtype = f->shape.dtype,
        .ndim = f->shape.ndim + 1,
        .shape = {count},
        .data = (const uint8_t *)buffer + f->offset,
        .bytes = count * f->shape.bytes,
    };

    memcpy(pub.shape + 1, f->shape.dims, f->shape.ndim * sizeof(pub.shape[0]));
    return pub;
}

void wr_arrays_publish(const struct wr_arrays *a, const void *buffer,
                       weir_batch_field *ret, weir_batch *pub)
{
    pub->fields = ret;
    pub->ndim = 1;
    pub->shape[0] = pub->count;
    for (unsigned k = 0; k < a->count; k++) {
        weir_batch_field *f = &ret[pub->field_count];

        if (!a->of[k].delivered)
            continue;
        pub->field_count++;
        *f = public_field(&a->of[k], buffer, pub->count);
        if (k == a->data) {
            pub->data = f->data;
            pub->bytes = f->bytes;
            pub->dtype = f->dtype;
            pub->ndim = f->ndim;
            memcpy(pub->shape, f->shape, sizeof(pub->shape));
        }
    }
}
