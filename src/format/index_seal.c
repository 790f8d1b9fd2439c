/* index_seal.c - the end of building an index.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/index_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"

static int compare_segments(const void *a, const void *b)
{
    const struct wr_index_segment *x = a, *y = b;

    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

bool wr_index_find_columns(struct wr_index *ix)
{
    memset(ix->columns, 0, ix->column_cap * sizeof(*ix->columns));
    ix->column_count = 0;
    for (size_t k = 0; k < ix->segment_count; k++) {
        const struct wr_index_segment *s = &ix->segments[k];
        struct wr_index_column *c;

        if (s->column >= WR_INDEX_COLUMNS ||
            (s->column + 1 != ix->column_count &&
             s->column != ix->column_count) ||
            !wr_index_grow_columns(ix, s->column + 1))
            return false;
        ix->column_count = (unsigned)s->column + 1;
        c = &ix->columns[s->column];
        if (!c->count++)
            c->start = k;
        c->last = k;
        c->samples = s->first + s->count;
    }
    return true;
}

void wr_index_order(struct wr_index *ix)
{
    if (ix->column_count < 2)
        return;
    qsort(ix->segments, ix->segment_count, sizeof(*ix->segments),
          compare_segments);
    wr_index_find_columns(ix);
}

void wr_index_add_declared(struct wr_index *ix, const char *text)
{
    ix->declared = (ix->declared * 3) ^ (XXH3_64bits(text, strlen(text)) | 1);
}

static int check_columns(const struct wr_index *ix, weir_err *err)
{
    for (unsigned k = 0; k < ix->column_count; k++)
        if (ix->columns[k].samples != ix->totals.count)
            return wr_fail(err, WEIR_EINVAL,
                           "index: column %u has %" PRIu64 " parts for %" PRIu64
                           " samples",
                           k, ix->columns[k].samples, ix->totals.count);
    if (ix->scalar_count != ix->totals.count * ix->schema.scalars)
        return wr_fail(err, WEIR_EINVAL, "index: samples without scalars");
    return 0;
}

/* The label that stands beside the parts, as a field. */
static int add_label_field(struct wr_index *ix, weir_err *err)
{
    const struct wr_field label = {
        .pub = {.kind = WEIR_FIELD_SCALAR, .dtype = WEIR_I64, .is_label = 1},
        .name = "label",
        .column = WR_NO_COLUMN,
        .scalar = WR_SCALAR_IS_LABEL,
    };

    if (!wr_index_class_count(ix) || wr_schema_label(&ix->schema) ||
        wr_schema_find(&ix->schema, label.name))
        return 0;
    return wr_schema_add(&ix->schema, &label, err);
}

/* Cuts an array to what is used; failing to shrink is no failure. */
static void shrink(struct wr_index *ix, const struct wr_index_array *a)
{
    char *base = (char *)ix;
    size_t used, cap;
    void *array;

    if (!a->cap)
        return;
    memcpy(&array, base + a->array, sizeof(array));
    memcpy(&used, base + a->count, sizeof(used));
    memcpy(&cap, base + a->cap, sizeof(cap));
    if (!array || used == cap || !used)
        return;
    array = realloc(array, used * a->elem);
    if (!array)
        return;
    memcpy(base + a->array, &array, sizeof(array));
    memcpy(base + a->cap, &used, sizeof(used));
}

int wr_index_seal(struct wr_index *ix, weir_err *err)
{
    int r = add_label_field(ix, err);

    if (r == 0)
        r = check_columns(ix, err);
    if (r < 0)
        return r;
    wr_index_order(ix);
    wr_schema_seal(&ix->schema);
    wr_ignored_sort(&ix->ignored);
    wr_intern_seal(&ix->dirs);
    wr_intern_seal(&ix->classes);
    wr_intern_seal(&ix->stamped);
    for (unsigned k = 0; k < WR_INDEX_ARRAYS; k++)
        shrink(ix, &wr_index_arrays[k]);
    return 0;
}
