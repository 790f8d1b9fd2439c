/* array_set.c - the arrays of many files -> samples of one data set.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/array_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "codec/filters.h"
#include "format/array_shape.h"

struct wr_array_set {
    struct wr_index_job *job; /* borrowed */
    enum wr_axis axis;
    uint64_t each; /* samples that a file is said to have; 0: not said */
    bool begun;    /* there was a file: the fields are known */
    bool single;   /* all files have one sample: they may differ in size */
    struct wr_array_scalars scalars;
    uint64_t *dims; /* owned: of all tensors of all samples, while `single` */
    size_t dim_count, dim_cap;
};

/* What is known of a file before it is added. */
struct plan {
    const struct wr_npz_array *tensors[WR_NPZ_MAX]; /* borrowed; by column */
    struct wr_array_shape shapes[WR_NPZ_MAX];
    unsigned count;   /* of these */
    uint64_t samples; /* of each */
    enum wr_axis axis;
};

int wr_array_set_new(struct wr_index_job *job, struct wr_array_set **ret,
                     weir_err *err)
{
    struct wr_array_set *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    s->job = job;
    s->single = true;
    r = wr_axis_parse(job->cfg->schema, &s->axis, &s->each, err);
    if (r == 0)
        r = wr_array_scalars_init(&s->scalars, job->cfg->schema, err);
    if (r < 0) {
        wr_array_set_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

void wr_array_set_free(struct wr_array_set *s)
{
    if (!s)
        return;
    wr_array_scalars_done(&s->scalars);
    free(s->dims);
    free(s);
}

/* --- the axis --- */

static bool all_have(const struct wr_npz *a, enum wr_axis axis, uint64_t n)
{
    for (size_t k = 0; k < a->count; k++)
        if (wr_axis_length(&a->list[k].npy, axis) != n)
            return false;
    return true;
}

/* The labels tell how many samples there are, and so along which axis; so does a
 * workload, whose files have them along the last one if that can be. */
static enum wr_axis choose_axis(const struct wr_array_set *s,
                                const struct wr_npz *a)
{
    const struct wr_npz_array *label = wr_array_scalars_label(&s->scalars, a);
    uint64_t n = label && label->npy.ndim == 1 ? label->npy.shape[0] : 0;

    if (s->axis != WR_AXIS_AUTO)
        return s->axis;
    if (a->count && a->list[0].placed)
        return WR_AXIS_FIRST;
    if (s->each && (!n || n == s->each) && all_have(a, WR_AXIS_LAST, s->each))
        return WR_AXIS_LAST;
    return n && !all_have(a, WR_AXIS_FIRST, n) && all_have(a, WR_AXIS_LAST, n)
               ? WR_AXIS_LAST
               : WR_AXIS_FIRST;
}

void wr_array_set_label(struct wr_array_set *s, const char *name)
{
    if (!s->scalars.label[0])
        snprintf(s->scalars.label, sizeof(s->scalars.label), "%s", name);
}

int wr_array_set_count(const struct wr_array_set *s, const struct wr_npz *a,
                       uint64_t *ret, weir_err *err)
{
    static const char *const words[] = {
        [WR_AXIS_FIRST] = "first", [WR_AXIS_LAST] = "last"};
    enum wr_axis axis = choose_axis(s, a);
    const struct wr_npz_array *first = a->list;

    if (!a->count)
        return wr_fail(err, WEIR_EFORMAT, "no arrays");
    for (size_t k = 0; k < a->count && axis != WR_AXIS_FILE; k++) {
        const struct wr_npz_array *x = &a->list[k];

        if (!x->npy.ndim)
            return wr_fail(err, WEIR_EFORMAT,
                           "shape () has no dimension that counts samples");
        if (wr_axis_length(&x->npy, axis) != wr_axis_length(&first->npy, axis))
            return wr_fail(
                err, WEIR_EFORMAT,
                "'%s' has %" PRIu64 " samples along its %s axis, '%s' has "
                "%" PRIu64 " (FILE#x=NAME,y=NAME chooses arrays; axis=file: "
                "each file is one sample)",
                wr_show(first->name).text, wr_axis_length(&first->npy, axis),
                words[axis], wr_show(x->name).text,
                wr_axis_length(&x->npy, axis));
    }
    *ret = wr_axis_length(&first->npy, axis);
    return 0;
}

/* --- the fields --- */

/* Fields of the first file; those that one number per sample makes come
 * last, when all is known of them. */
static int add_fields(struct wr_array_set *s, const struct wr_npz *a,
                      struct plan *p, weir_err *err)
{
    int r = wr_array_scalars_choose(&s->scalars, a, p->axis == WR_AXIS_FILE,
                                    err);
    unsigned columns = 0;

    for (size_t k = 0; k < a->count && r == 0; k++) {
        const struct wr_npz_array *x = &a->list[k];

        if (wr_array_scalars_has(&s->scalars, x->name))
            continue;
        p->tensors[p->count] = x;
        r = wr_array_shape(x, p->axis, &p->shapes[p->count], err);
        p->shapes[p->count].field.column = columns;
        columns += p->shapes[p->count++].tiles;
    }
    if (r == 0 && columns > WR_INDEX_COLUMNS)
        r = wr_fail(
            err, WEIR_ELIMIT,
            "a sample lies in %u chunks, more than %d: convert it (weir "
            "convert)",
            columns, WR_INDEX_COLUMNS);
    return r;
}

static int find_fields(const struct wr_array_set *s, const struct wr_npz *a,
                       struct plan *p, weir_err *err)
{
    const struct wr_schema *fields = wr_index_fields(s->job->index);

    for (unsigned k = 0; k < fields->count; k++) {
        const char *name = fields->fields[k].name;
        const struct wr_npz_array *x = wr_npz_find(a, name);
        int r;

        if (!x)
            return wr_fail(err, WEIR_EFORMAT,
                           "it has no array '%s', as the first file has",
                           wr_show(name).text);
        p->tensors[p->count] = x;
        r = wr_array_shape(x, p->axis, &p->shapes[p->count++], err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* May the samples of `x` be those of field `f`? With `differ` their sizes are
 * their own. */
static int check_same(const struct wr_field *f, const struct wr_field *x,
                      bool differ, weir_err *err)
{
    bool same = f->pub.dtype == x->pub.dtype && f->pub.ndim == x->pub.ndim;
    bool strided = f->strided || x->strided;

    for (uint32_t k = 0; same && !differ && k < f->pub.ndim; k++)
        same = f->pub.dims[k] == x->pub.dims[k];
    if (!same)
        return wr_fail(err, WEIR_EFORMAT,
                       "its samples have another type or other dimensions "
                       "than those of the first file");
    for (uint32_t k = 0; k < f->pub.ndim; k++)
        same &= f->tiled == x->tiled && f->tile[k] == x->tile[k] &&
                (!f->tiled || f->pub.dims[k] == x->pub.dims[k]);
    if (!same)
        return wr_fail(
            err, WEIR_ENOTSUP,
            "its samples are cut into other chunks than those of the "
            "first file");
    if (f->swap != x->swap)
        return wr_fail(err, WEIR_ENOTSUP,
                       "its byte order is not that of the first file");
    for (uint32_t k = 0; k < f->pub.ndim; k++) {
        if (f->pub.dims[k] != x->pub.dims[k] && (strided || x->swap))
            return wr_fail(err, WEIR_ENOTSUP,
                           "samples of different dimensions in %s",
                           x->swap ? "the other byte order" : "Fortran order");
        if (strided && x->pub.dims[k] > 1 && f->strides[k] != x->strides[k])
            return wr_fail(err, WEIR_ENOTSUP,
                           "its order (C or Fortran) is not that of the first "
                           "file");
    }
    return 0;
}

/* Arrays that the first file does not have are not read. */
static void tell_extra(const struct wr_array_set *s,
                       const struct wr_array_file *f)
{
    const struct wr_schema *fields = wr_index_fields(s->job->index);

    for (size_t k = 0; k < f->arrays->count; k++) {
        const char *name = f->arrays->list[k].name;
        weir_err e;

        if (wr_schema_find(fields, name) ||
            wr_array_scalars_has(&s->scalars, name))
            continue;
        wr_fail(&e, WEIR_ENOTSUP,
                "array '%s' is not read: the first file does not have it",
                wr_show(name).text);
        wr_index_job_issue(s->job, f->name, &e);
    }
}

static int make_plan(const struct wr_array_set *s, const struct wr_npz *a,
                     struct plan *p, weir_err *err)
{
    const struct wr_schema *fields = wr_index_fields(s->job->index);
    int r = wr_array_set_count(s, a, &p->samples, err);

    if (r < 0)
        return r;
    p->axis = choose_axis(s, a);
    if (!s->begun)
        return 0;
    r = find_fields(s, a, p, err);
    for (unsigned k = 0; k < p->count && r == 0; k++)
        r = check_same(&fields->fields[k], &p->shapes[k].field,
                       s->single && p->samples == 1, err);
    return r;
}

/* What is new in this file, that all files before agree with. */
static void join_field(struct wr_field *f, const struct wr_field *x)
{
    f->strided |= x->strided;
    f->scaled |= x->scaled;
    for (uint32_t k = 0; k < f->pub.ndim; k++)
        if (f->pub.dims[k] != x->pub.dims[k])
            f->pub.dims[k] = WEIR_DIM_VARIES;
}

static int settle_fields(struct wr_array_set *s, const struct plan *p,
                         weir_err *err)
{
    struct wr_schema *fields = wr_index_fields(s->job->index);
    int r = 0;

    for (unsigned k = 0; k < p->count && r == 0; k++)
        if (s->begun)
            join_field(&fields->fields[k], &p->shapes[k].field);
        else
            r = wr_index_add_field(s->job->index, &p->shapes[k].field, err);
    return r;
}

/* --- the samples --- */

/* Samples that lie among each other, and those that are deflated, are read with
 * all of their array. */
static int add_unit(struct wr_index *ix, const struct wr_npz_array *x,
                    bool mixed, uint64_t *ret_offset, weir_err *err)
{
    struct wr_unit u = {
        .offset = x->offset, .stored = x->bytes, .inflated = x->bytes};
    int64_t k;

    *ret_offset = x->deflated ? x->offset : mixed ? 0 : x->offset;
    if (!x->deflated && !mixed) {
        wr_index_use_unit(ix, WR_NO_UNIT);
        return 0;
    }
    if (x->deflated)
        u = (struct wr_unit){.offset = x->stored_at,
                             .stored = x->stored,
                             .inflated = x->inflated,
                             .filters = WR_FILTERS(WR_FILTER_DEFLATE, 0, 0, 0),
                             .argument = x->crc};
    k = wr_index_add_unit(ix, &u, err);
    return k < 0 ? (int)k : 0;
}

static int add_runs(struct wr_array_set *s, const struct wr_array_file *f,
                    const struct plan *p, const uint32_t *labels, weir_err *err)
{
    struct wr_index *ix = s->job->index;
    const struct wr_schema *fields = wr_index_fields(ix);
    int64_t dir = wr_index_add_dir(ix, "", err);
    int r = 0;

    if (dir >= 0)
        dir = wr_index_add_object(ix, dir, f->name, f->size, err);
    if (dir < 0)
        return (int)dir;
    wr_index_set_stamped(ix, f->name);
    for (unsigned k = 0; k < p->count && r == 0 && p->samples; k++) {
        const struct wr_array_shape *shape = &p->shapes[k];
        struct wr_run run = {.column = fields->fields[k].column,
                             .length = shape->length,
                             .stride = shape->step,
                             .count = p->samples,
                             .labels = k ? NULL : labels};

        if (p->tensors[k]->placed) {
            r = f->place(f->arg, (size_t)(p->tensors[k] - f->arrays->list),
                         &run, shape->tiles, err);
            continue;
        }
        r = add_unit(ix, p->tensors[k], shape->mixed, &run.offset, err);
        if (r == 0)
            r = wr_index_add_run(ix, &run, err);
    }
    wr_index_use_unit(ix, WR_NO_UNIT);
    return r;
}

/* As long as every file is one sample, their dimensions may come to differ. */
static int keep_dims(struct wr_array_set *s, const struct plan *p,
                     weir_err *err)
{
    if (p->samples > 1) {
        s->single = false;
        free(s->dims);
        s->dims = NULL;
    }
    if (!s->single || !p->samples)
        return 0;
    for (unsigned k = 0; k < p->count; k++) {
        const weir_field *x = &p->shapes[k].field.pub;

        if (!wr_grow(&s->dims, &s->dim_cap, s->dim_count + x->ndim,
                     sizeof(*s->dims)))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        memcpy(s->dims + s->dim_count, x->dims, x->ndim * sizeof(*x->dims));
        s->dim_count += x->ndim;
    }
    return 0;
}

int wr_array_set_add(struct wr_array_set *s, const struct wr_array_file *f,
                     bool *ret_skip, weir_err *err)
{
    struct plan *p = calloc(1, sizeof(*p));
    uint32_t *labels = NULL;
    int r;

    *ret_skip = true;
    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = make_plan(s, f->arrays, p, err);
    if (r == 0 && !s->begun)
        r = add_fields(s, f->arrays, p, err);
    if (r == 0)
        r = wr_array_scalars_read(&s->scalars, f->object, f->arrays, p->samples,
                                  &labels, err);
    if (r < 0)
        goto out;
    *ret_skip = false; /* what can fail from here on is memory alone */
    if (s->begun)
        tell_extra(s, f);
    r = settle_fields(s, p, err);
    s->begun = true;
    if (r == 0)
        r = add_runs(s, f, p, f->labels ? f->labels : labels, err);
    if (r == 0)
        r = keep_dims(s, p, err);
out:
    free(labels);
    free(p);
    return r;
}

/* --- the end --- */

/* Dimensions that vary become fields of their own: "x.dim0". */
static int add_dim_fields(struct wr_array_set *s, weir_err *err)
{
    struct wr_schema *fields = wr_index_fields(s->job->index);
    unsigned tensors = fields->count;
    size_t at = 0;
    int r = 0;

    for (unsigned k = 0; k < tensors; k++) {
        const weir_field x = fields->fields[k].pub;
        char name[WR_FIELD_NAME];

        snprintf(name, sizeof(name), "%s", fields->fields[k].name);
        for (uint32_t d = 0; d < x.ndim && r == 0; d++, at++)
            if (x.dims[d] == WEIR_DIM_VARIES)
                r = wr_array_scalars_add_dim(&s->scalars, name, d, at, err);
    }
    return r;
}

int wr_array_set_finish(struct wr_array_set *s, weir_err *err)
{
    uint64_t samples = wr_index_count(s->job->index);
    int r = s->single && samples ? add_dim_fields(s, err) : 0;

    if (r < 0 || !s->begun)
        return r;
    return wr_array_scalars_finish(&s->scalars, s->job->index, s->dims,
                                   samples ? s->dim_count / samples : 0, err);
}
