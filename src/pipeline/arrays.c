/* arrays.c - the fields of a batch, and where each lies in its buffer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "pipeline/settings.h"

/* --- which --- */

static bool is_wanted(const struct wr_arrays *a, const struct wr_field *f)
{
    for (unsigned k = 0; k < a->count; k++)
        if (a->of[k].field == f)
            return true;
    return false;
}

/* A tensor that nobody asked anything of: what is asked of the pictures, or of
 * the tensor that stands for them, is meant for those. A mask has no channels,
 * and nothing could be asked of it but its own type. */
static bool is_beside(const struct wr_arrays *a, const struct wr_schema *s,
                      const struct wr_field *f)
{
    if (f->pub.kind != WEIR_FIELD_TENSOR)
        return false;
    return wr_index_has_pictures(a->index) ||
           (f != wr_schema_first(s) && f->pub.dtype == WEIR_U8 &&
            !wr_field_has_channels(&f->pub));
}

static void want(struct wr_arrays *a, const struct wr_schema *s,
                 const struct wr_field *f)
{
    a->of[a->count++] = (struct wr_array){
        .field = f,
        .number = (unsigned)(f - s->fields),
        .columns = wr_field_columns(f),
        .tiles = wr_field_tiles(f),
        .beside = is_beside(a, s, f),
    };
}

static bool has_parts(const struct wr_arrays *a)
{
    for (unsigned k = 0; k < a->count; k++)
        if (a->of[k].field->column != WR_NO_COLUMN)
            return true;
    return false;
}

/* So that errors say of which they are. */
static bool has_several(const struct wr_arrays *a)
{
    unsigned n = 0;

    for (unsigned k = 0; k < a->count; k++)
        n += a->of[k].field->column != WR_NO_COLUMN &&
             !a->of[k].field->pub.is_label;
    return n > 1;
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

/* All of them, or without the extra ones and those of kind bytes: many formats
 * carry some beside what is to be learned from. */
static void want_all(struct wr_arrays *a, const struct wr_schema *s, bool extra)
{
    for (unsigned k = 0; k < s->count; k++)
        if (extra || (s->fields[k].pub.kind != WEIR_FIELD_BYTES &&
                      !s->fields[k].pub.is_extra))
            want(a, s, &s->fields[k]);
}

static int choose(struct wr_arrays *a, const char *fields, weir_err *err)
{
    const struct wr_schema *s = wr_index_schema(a->index);

    a->of = calloc((size_t)s->count + 1, sizeof(*a->of));
    if (!a->of)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (fields && strcmp(fields, "*") != 0)
        return want_named(a, s, fields, err);
    want_all(a, s, /* extra= */ fields != NULL);
    if (!a->count || !has_parts(a))
        a->count = 0, want_all(a, s, /* extra= */ true);
    return 0;
}

/* Each of cfg->field is of a field that is wanted. */
static int set_own(struct wr_arrays *a, const weir_pipeline_config *cfg,
                   weir_err *err)
{
    for (uint32_t i = 0; i < cfg->field_count; i++) {
        const weir_field_config *own = &cfg->field[i];
        unsigned k = 0;

        while (k < a->count && strcmp(a->of[k].field->name, own->name) != 0)
            k++;
        if (k == a->count)
            return wr_fail(err, WEIR_EINVAL, "field '%s': not among the fields",
                           own->name);
        a->of[k].own = own;
    }
    return 0;
}

/* --- what comes out --- */

struct wr_field_want wr_array_want(const struct wr_array *f,
                                   const weir_pipeline_config *cfg)
{
    struct wr_field_want want = wr_want_of(cfg);

    if (f->own) {
        want.picture = f->own->picture;
        want.convert = f->own->convert;
        want.dtype = f->own->dtype;
    } else if (f->beside) {
        want.picture.crop = WEIR_CROP_NONE;
        want.picture.flip = 0;
        want.picture.orient = WEIR_ORIENT_IGNORE;
        want.convert = true;
        want.dtype = f->field->pub.dtype;
    }
    return want;
}

/* As it is stored, whatever it is. */
static void shape_as_bytes(struct wr_array *f)
{
    f->as_bytes = true;
    f->shape = (struct wr_tensor_shape){
        .dtype = WEIR_U8, .ndim = 1, .dims = {WEIR_DIM_VARIES}, .direct = true};
}

/* The first dimension takes what is asked for; the others are known. */
static int shape_padded(struct wr_array *f, weir_err *err)
{
    size_t row = wr_dtype_bits(f->shape.dtype) / 8;

    for (uint32_t d = 1; d < f->shape.ndim; d++)
        if (f->shape.dims[d] == WEIR_DIM_VARIES ||
            !wr_mul_ok(row, f->shape.dims[d], &row))
            row = 0;
    if (!row || f->own->pad % row || f->shape.dims[0] != WEIR_DIM_VARIES)
        return wr_fail(err, WEIR_EINVAL,
                       "field '%s': pad is not a number of whole rows",
                       f->field->name);
    f->padded = true;
    f->shape.dims[0] = f->own->pad / row;
    f->shape.bytes = f->own->pad;
    f->shape.direct = false;
    return 0;
}

/* What lies along the dimensions that do not vary. */
static size_t row_of(const struct wr_tensor_shape *s)
{
    size_t row = wr_dtype_bytes(s->dtype);

    for (uint32_t d = 0; d < s->ndim; d++)
        if (s->dims[d] != WEIR_DIM_VARIES)
            row *= s->dims[d]; /* the schema was checked */
    return row;
}

static int set_shape(const struct wr_arrays *a, struct wr_array *f,
                     const weir_pipeline_config *cfg, weir_err *err)
{
    const struct wr_field_want want = wr_array_want(f, cfg);
    int r = 0;

    if (f->own && f->own->as_bytes)
        shape_as_bytes(f);
    else
        r = wr_field_shape(f->field, &want, &f->shape, err);
    if (r < 0 && has_several(a))
        return wr_fail_prefix(err, r, "field '%s'", f->field->name);
    if (r == 0 && !f->shape.bytes)
        f->row = row_of(&f->shape);
    if (r == 0 && f->own && f->own->pad && f->row)
        r = shape_padded(f, err);
    return r;
}

/* --- where --- */

static int compare_columns(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

static void add_part(struct wr_arrays *a, unsigned column)
{
    for (unsigned i = 0; i < a->parts; i++)
        if (a->columns[i] == column)
            return;
    a->columns[a->parts++] = column;
}

/* The columns that they lie in, once each, in order. */
static void set_parts(struct wr_arrays *a)
{
    for (unsigned k = 0; k < a->count; k++)
        for (unsigned i = 0; i < a->of[k].columns; i++)
            add_part(a, a->of[k].field->column + i);
    qsort(a->columns, a->parts, sizeof(a->columns[0]), compare_columns);
}

static bool has_part(const struct wr_array *f)
{
    return f->field->column != WR_NO_COLUMN;
}

/* Class numbers stand beside an entry. */
static bool is_class(const struct wr_array *f)
{
    return f->field->pub.is_label && f->field->pub.dtype == WEIR_I64;
}

static bool is_cached(const struct wr_array *f)
{
    return has_part(f) && f->delivered && f->varying == WR_NO_ARRAY &&
           !is_class(f);
}

/* The next array of a buffer. */
static bool add_array(struct wr_arrays *a, size_t entry, size_t count,
                      size_t *ret_offset)
{
    size_t start = WR_ALIGN_UP(a->bytes, (size_t)WR_CACHE_LINE), array;

    if (!wr_mul_ok(entry, count, &array) || array > SIZE_MAX / 2 - start)
        return false;
    *ret_offset = start;
    a->bytes = start + array;
    return true;
}

static int place(struct wr_arrays *a, struct wr_array *f, uint32_t batch,
                 weir_err *err)
{
    bool varies = !f->shape.bytes;

    a->delivered++;
    if (varies)
        f->varying = a->varying++;
    if (!add_array(a, varies ? sizeof(uint64_t) : f->shape.bytes,
                   (size_t)batch + varies, &f->offset) ||
        (f->padded && !add_array(a, sizeof(uint64_t), batch, &f->lengths)))
        return wr_fail(err, WEIR_EINVAL, "a batch would be too large");
    if (is_cached(f))
        a->sample_bytes += f->shape.bytes;
    return 0;
}

static void set_shortcuts(struct wr_arrays *a)
{
    unsigned several = 0;

    for (unsigned k = 0; k < a->count; k++) {
        const struct wr_array *f = &a->of[k];
        enum weir_field_kind kind = f->field->pub.kind;

        if ((kind == WEIR_FIELD_TENSOR || kind == WEIR_FIELD_PICTURE) &&
            a->data == WR_NO_ARRAY && f->delivered && f->varying == WR_NO_ARRAY)
            a->data = k;
        if (f->field->pub.is_label)
            a->label = k;
        if (!has_part(f) || is_class(f))
            continue;
        a->only = several++ || !is_cached(f) ? NULL : f;
    }
    a->named = several > 1;
}

int wr_arrays_init(struct wr_arrays *a, const weir_dataset *ds,
                   const weir_pipeline_config *cfg, weir_err *err)
{
    bool all = cfg->stages == WEIR_STAGES_ALL;
    int r;

    *a = (struct wr_arrays){
        .index = ds->index, .data = WR_NO_ARRAY, .label = WR_NO_ARRAY};
    r = choose(a, cfg->fields, err);
    if (r == 0)
        r = set_own(a, cfg, err);
    for (unsigned k = 0; r == 0 && k < a->count; k++) {
        struct wr_array *f = &a->of[k];

        f->delivered = all || !has_part(f);
        f->varying = WR_NO_ARRAY;
        if (cfg->stages != WEIR_STAGES_READ || f->delivered)
            r = set_shape(a, f, cfg, err);
        if (r == 0 && f->delivered)
            r = place(a, f, cfg->batch, err);
    }
    if (r < 0)
        return r;
    set_parts(a);
    set_shortcuts(a);
    return 0;
}

void wr_arrays_done(struct wr_arrays *a)
{
    free(a->of);
    *a = (struct wr_arrays){0};
}

const struct wr_array *wr_arrays_in(const struct wr_arrays *a, unsigned column)
{
    for (unsigned k = 0; k < a->count; k++)
        if (column - a->of[k].field->column < a->of[k].columns)
            return &a->of[k];
    return NULL;
}

/* Mostly all samples lie like the first one. */
static bool is_whole(const struct wr_arrays *a, unsigned column)
{
    struct wr_part part = {0};

    if (wr_index_count(a->index))
        wr_index_part(a->index, column, 0, &part);
    return part.whole;
}

bool wr_arrays_are_direct(const struct wr_arrays *a)
{
    unsigned fields = 0;

    for (unsigned k = 0; k < a->count; k++) {
        const struct wr_array *f = &a->of[k];

        if (!has_part(f))
            continue;
        if (!f->delivered || !f->shape.direct || f->field->unpacked ||
            is_whole(a, f->field->column))
            return false;
        fields++;
    }
    return fields && fields == a->parts;
}

/* What is done to the samples of a field. */
static uint64_t key_of(const struct wr_array *f,
                       const weir_pipeline_config *cfg)
{
    weir_pipeline_config own = *cfg;

    own.picture = wr_array_want(f, cfg).picture;
    own.picture.dtype = f->shape.dtype;
    /* What is converted is not normalized. */
    return wr_settings_key(&own) ^ (f->own && f->own->convert);
}

uint64_t wr_arrays_key(const struct wr_arrays *a,
                       const weir_pipeline_config *cfg)
{
    const struct wr_field *first = wr_schema_first(wr_index_schema(a->index));
    uint64_t key = wr_settings_key(cfg);

    if (cfg->cache_what != WEIR_CACHE_DECODED)
        return a->parts == wr_index_columns(a->index)
                   ? key
                   : XXH3_64bits_withSeed(
                         a->columns, a->parts * sizeof(a->columns[0]), key);
    if (a->only && a->only->field == first)
        return key_of(a->only, cfg);
    for (unsigned k = 0; k < a->count; k++) {
        const struct wr_array *f = &a->of[k];
        const uint64_t what[] = {f->number, key_of(f, cfg)};

        if (is_cached(f))
            key = XXH3_64bits_withSeed(what, sizeof(what), key);
    }
    return key;
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
        if (f->padded)
            wr_array_lengths(f, buffer)[to] = wr_array_lengths(f, buffer)[from];
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

bool wr_arrays_is_label(const struct wr_arrays *a, void *buffer, uint32_t slot,
                        uint32_t label)
{
    const struct wr_array *f = a->label == WR_NO_ARRAY ? NULL
                                                       : &a->of[a->label];
    int64_t value;

    if (!f || !f->delivered || !has_part(f) || !is_class(f))
        return true;
    memcpy(&value, wr_array_at(f, buffer, slot), sizeof(value));
    return value == (label == WEIR_NO_LABEL ? -1 : (int64_t)label);
}

uint32_t wr_arrays_label(const struct wr_arrays *a, uint64_t id,
                         const struct wr_part *first)
{
    const struct wr_array *f = a->label == WR_NO_ARRAY ? NULL
                                                       : &a->of[a->label];
    union wr_scalar value;
    struct wr_part part;

    if (f && !has_part(f) && f->field->scalar != WR_SCALAR_IS_LABEL) {
        if (!is_class(f) || !wr_index_scalar(a->index, f->number, id, &value) ||
            value.i < 0 || value.i >= (int64_t)WEIR_NO_LABEL)
            return WEIR_NO_LABEL;
        return (uint32_t)value.i;
    }
    if (a->parts && a->columns[0] == 0)
        return first->label;
    wr_index_part(a->index, 0, id, &part);
    return part.label;
}

void wr_arrays_set_indexed(const struct wr_arrays *a, void *buffer,
                           uint32_t slot, uint64_t id, uint32_t label)
{
    for (unsigned k = 0; k < a->count; k++) {
        const struct wr_array *f = &a->of[k];
        union wr_scalar value;

        if (has_part(f))
            continue;
        if (f->field->scalar == WR_SCALAR_IS_LABEL)
            wr_arrays_set_label(a, buffer, slot, label);
        else if (wr_index_scalar(a->index, f->number, id, &value))
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

    if (f->as_bytes)
        pub.kind = WEIR_FIELD_BYTES;
    if (f->padded)
        pub.lengths = (const uint64_t *)((const uint8_t *)buffer + f->lengths);

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
