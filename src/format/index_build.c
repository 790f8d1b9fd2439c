/* index_build.c - filling an index, part by part, to the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/filters.h"
#include "format/index_private.h"

/* --- filling an index, part by part --- */

/* Room for `n` columns; new ones are empty. */
static bool grow_columns(struct wr_index *ix, size_t n)
{
    size_t had = ix->column_cap;

    if (!wr_grow(&ix->columns, &ix->column_cap, n, sizeof(*ix->columns)))
        return false;
    memset(ix->columns + had, 0, (ix->column_cap - had) * sizeof(*ix->columns));
    return true;
}

struct wr_index *wr_index_new(void)
{
    struct wr_index *ix = calloc(1, sizeof(*ix));

    if (ix && !grow_columns(ix, 1)) {
        free(ix);
        return NULL;
    }
    if (ix)
        ix->unit = WR_NO_UNIT;
    return ix;
}

static void free_arrays(struct wr_index *ix)
{
    for (size_t k = 0; k < ix->issue_kept; k++) {
        free((void *)(uintptr_t)ix->issues[k].name);
        free((void *)(uintptr_t)ix->issues[k].reason);
    }
    wr_intern_done(&ix->dirs);
    wr_intern_done(&ix->classes);
    wr_intern_done(&ix->stamped);
    wr_ignored_done(&ix->ignored);
    for (unsigned k = 0; k < WR_INDEX_ARRAYS; k++) {
        void *array;

        memcpy(&array, (char *)ix + wr_index_arrays[k].array, sizeof(array));
        if (wr_index_arrays[k].cap)
            free(array);
    }
}

void wr_index_free(struct wr_index *ix)
{
    if (!ix)
        return;
    if (!ix->borrowed)
        free_arrays(ix);
    if (ix->map)
        munmap(ix->map, ix->map_len);
    wr_schema_done(&ix->schema);
    free(ix->columns);
    free(ix->issues);
    free(ix->file);
    free(ix);
}

static int fail_memory(weir_err *err)
{
    return wr_fail(err, WEIR_ENOMEM, "index: out of memory");
}

int64_t wr_index_add_object(struct wr_index *ix, int64_t dir, const char *name,
                            uint64_t size, weir_err *err)
{
    size_t len = strlen(name) + 1;
    size_t need;

    if (dir < 0 || (uint64_t)dir >= ix->dirs.count)
        return wr_fail(err, WEIR_EINVAL, "index: no folder %lld for '%s'",
                       (long long)dir, name);
    if (!wr_add_ok(ix->names_len, len, &need) ||
        !wr_grow(&ix->names, &ix->names_cap, need, 1) ||
        !wr_grow(&ix->objects, &ix->object_cap, ix->object_count + 1,
                 sizeof(*ix->objects)))
        return fail_memory(err);
    memcpy(ix->names + ix->names_len, name, len);
    ix->objects[ix->object_count] = (struct wr_index_object){
        .size = size,
        .name = ix->names_len,
        .dir = (uint32_t)dir,
        .label = WEIR_NO_LABEL,
    };
    ix->names_len = need;
    /* Samples and units that follow are of this object. */
    ix->last_is_sampled = false;
    ix->unit = WR_NO_UNIT;
    return (int64_t)ix->object_count++;
}

void wr_index_set_identity(struct wr_index *ix, uint64_t identity)
{
    ix->objects[ix->object_count - 1].identity = identity;
}

/* Books `count` parts of `length` bytes into the sums. */
static int add_totals(struct wr_index *ix, unsigned column, uint64_t count,
                      uint64_t length, weir_err *err)
{
    size_t bytes, total, samples;

    if (!wr_mul_ok(count, length, &bytes) ||
        !wr_add_ok(ix->totals.bytes, bytes, &total) ||
        !wr_add_ok(ix->columns[column].samples, count, &samples))
        return wr_fail(err, WEIR_ELIMIT,
                       "index: the samples' sizes overflow 64 bits");
    ix->totals.bytes = total;
    ix->columns[column].samples = samples;
    ix->totals.count = ix->columns[0].samples;
    ix->totals.max_length = WR_MAX(ix->totals.max_length, length);
    return 0;
}

static void note_label(struct wr_index *ix, uint32_t label)
{
    if (label != WEIR_NO_LABEL && label >= ix->totals.max_label_plus_1)
        ix->totals.max_label_plus_1 = label + 1;
}

static struct wr_index_segment *last_segment(struct wr_index *ix,
                                             unsigned column)
{
    return column < ix->column_count && ix->columns[column].count
               ? &ix->segments[ix->columns[column].last]
               : NULL;
}

/* A segment of `column` for the object added last. */
static struct wr_index_segment start_segment(const struct wr_index *ix,
                                             unsigned column,
                                             enum wr_segment_kind kind)
{
    return (struct wr_index_segment){
        .first = ix->columns[column].samples,
        .object = ix->object_count - 1,
        .kind = kind,
        .column = column,
        .unit = kind == WR_SEGMENT_WHOLE ? WR_NO_UNIT : ix->unit,
        .stride = kind == WR_SEGMENT_WHOLE,
    };
}

static bool push_segment(struct wr_index *ix, const struct wr_index_segment *s)
{
    struct wr_index_column *c = &ix->columns[s->column];

    if (!wr_grow(&ix->segments, &ix->segment_cap, ix->segment_count + 1,
                 sizeof(*ix->segments)))
        return false;
    if (!c->count++)
        c->start = ix->segment_count;
    c->last = ix->segment_count;
    ix->column_count = WR_MAX(ix->column_count, (unsigned)s->column + 1);
    ix->segments[ix->segment_count++] = *s;
    return true;
}

/* Does object `number` follow those of a segment of whole ones? The second one
 * of a segment says how far apart they are. */
static bool goes_on(struct wr_index_segment *s, uint64_t number)
{
    if (!s || s->kind != WR_SEGMENT_WHOLE)
        return false;
    if (s->count == 1 && number - s->object <= WR_INDEX_MAX_STRIDE)
        s->stride = number - s->object;
    return s->object + s->count * s->stride == number;
}

static int check_column(struct wr_index *ix, unsigned column, weir_err *err)
{
    if (!ix->object_count || column >= WR_INDEX_COLUMNS)
        return wr_fail(err, WEIR_EINVAL,
                       "index: a part needs an object and a column");
    return grow_columns(ix, (size_t)column + 1) ? 0 : fail_memory(err);
}

int wr_index_add_whole(struct wr_index *ix, unsigned column, uint32_t label,
                       weir_err *err)
{
    struct wr_index_segment *last = last_segment(ix, column);
    struct wr_index_object *o;
    uint64_t number;
    int r = check_column(ix, column, err);

    if (r < 0)
        return r;
    if (ix->last_is_sampled)
        return wr_fail(err, WEIR_EINVAL,
                       "index: a whole sample needs an object of its own");
    number = ix->object_count - 1;
    o = &ix->objects[number];
    if (!goes_on(last, number)) {
        struct wr_index_segment s = start_segment(ix, column, WR_SEGMENT_WHOLE);

        if (!push_segment(ix, &s))
            return fail_memory(err);
        last = last_segment(ix, column);
    }
    r = add_totals(ix, column, 1, o->size, err);
    if (r < 0)
        return r;
    last->count++;
    o->label = label;
    ix->last_is_sampled = true;
    note_label(ix, label);
    return 0;
}

static int copy_labels(struct wr_index *ix, const uint32_t *labels,
                       uint64_t count, weir_err *err)
{
    size_t need;

    if (!wr_add_ok(ix->label_count, count, &need) ||
        !wr_grow(&ix->labels, &ix->label_cap, need, sizeof(*labels)))
        return fail_memory(err);
    memcpy(ix->labels + ix->label_count, labels, count * sizeof(*labels));
    ix->label_count = need;
    for (uint64_t k = 0; k < count; k++)
        note_label(ix, labels[k]);
    return 0;
}

/* Adds a segment of equal parts. */
static int push_run(struct wr_index *ix, const struct wr_index_segment *s,
                    const uint32_t *labels, weir_err *err)
{
    int r = labels ? copy_labels(ix, labels, s->count, err) : 0;

    if (r < 0)
        return r;
    if (!wr_grow(&ix->segments, &ix->segment_cap, ix->segment_count + 1,
                 sizeof(*s)))
        return fail_memory(err);
    r = add_totals(ix, (unsigned)s->column, s->count, s->length, err);
    if (r < 0)
        return r;
    ix->last_is_sampled = true;
    push_segment(ix, s); /* cannot fail: the room is there */
    return 0;
}

int wr_index_add_run(struct wr_index *ix, const struct wr_run *run,
                     weir_err *err)
{
    struct wr_index_segment s;
    int r;

    if (!ix->object_count || !run->length || (run->column && run->labels))
        return wr_fail(err, WEIR_EINVAL,
                       "index: a run needs an object and a length");
    r = check_column(ix, run->column, err);
    if (r < 0 || !run->count)
        return r;
    s = start_segment(ix, run->column, WR_SEGMENT_RUN);
    s.count = run->count;
    s.offset = run->offset;
    s.length = run->length;
    s.stride = run->stride ? run->stride : run->length;
    s.labels = run->labels ? ix->label_count : WR_INDEX_NO_LABELS;
    if (!wr_index_run_fits(ix, &s))
        return wr_fail(err, WEIR_EINVAL,
                       "index: a run reaches beyond the end of its object");
    r = push_run(ix, &s, run->labels, err);
    if (r == 0 && s.stride < s.length) /* bytes that parts share count once */
        ix->totals.bytes -= (s.count - 1) * (s.length - s.stride);
    return r;
}

int wr_index_add_tiles(struct wr_index *ix, const struct wr_tile_run *run,
                       weir_err *err)
{
    struct wr_index_segment s;
    int r = check_column(ix, run->column, err);

    if (r < 0 || !run->count)
        return r;
    s = start_segment(ix, run->column, WR_SEGMENT_TILES);
    s.count = run->count;
    s.offset = run->per;
    s.length = run->length;
    s.unit = run->unit;
    s.stride = run->step;
    s.labels = run->labels ? ix->label_count : WR_INDEX_NO_LABELS;
    if ((run->column && run->labels) || !wr_index_tile_rows(ix, &s) ||
        !wr_index_tiles_fit(ix, &s, wr_index_tile_rows(ix, &s)))
        return wr_fail(err, WEIR_EINVAL, "index: tiles lie outside of units");
    return push_run(ix, &s, run->labels, err);
}

int64_t wr_index_add_unit(struct wr_index *ix, const struct wr_unit *u,
                          weir_err *err)
{
    struct wr_unit unit = *u;
    size_t end;

    unit.object = ix->object_count - 1;
    if (!ix->object_count || !u->inflated ||
        (u->filters != WR_FILTER_FILL &&
         (!wr_add_ok(u->offset, u->stored, &end) ||
          end > ix->objects[unit.object].size)))
        return wr_fail(err, WEIR_EINVAL, "index: a unit is not in its object");
    if (!wr_grow(&ix->units, &ix->unit_cap, ix->unit_count + 1, sizeof(unit)))
        return fail_memory(err);
    ix->units[ix->unit_count] = unit;
    ix->unit = ix->unit_count;
    return (int64_t)ix->unit_count++;
}

void wr_index_use_unit(struct wr_index *ix, uint64_t unit)
{
    assert(unit == WR_NO_UNIT ||
           ix->units[unit].object == ix->object_count - 1);
    ix->unit = unit;
}

int wr_index_add_field(struct wr_index *ix, const struct wr_field *f,
                       weir_err *err)
{
    return wr_schema_add(&ix->schema, f, err);
}

struct wr_schema *wr_index_fields(struct wr_index *ix)
{
    return &ix->schema;
}

int wr_index_add_scalars(struct wr_index *ix, const union wr_scalar *row,
                         weir_err *err)
{
    size_t n = ix->schema.scalars;

    if (!n)
        return 0;
    if (!wr_grow(&ix->scalars, &ix->scalar_cap, ix->scalar_count + n,
                 sizeof(*row)))
        return fail_memory(err);
    memcpy(ix->scalars + ix->scalar_count, row, n * sizeof(*row));
    ix->scalar_count += n;
    return 0;
}

static int check_record(struct wr_index *ix, const struct wr_record *r,
                        weir_err *err)
{
    size_t end;

    if (!ix->object_count || r->length > WR_RECORD_MAX)
        return wr_fail(err, WEIR_EINVAL,
                       "index: a record needs an object and a short length");
    if ((r->offset != WR_ABSENT || r->length) &&
        (!wr_add_ok(r->offset, r->length, &end) ||
         end > wr_index_limit(ix, ix->object_count - 1, ix->unit)))
        return wr_fail(err, WEIR_EINVAL,
                       "index: a record reaches beyond the end of its object");
    if (r->column ? r->name || r->label != WEIR_NO_LABEL
                  : ix->sample_records && !r->name != !ix->entry_name_count)
        return wr_fail(err, WEIR_EINVAL,
                       "index: either all records have names or none");
    return check_column(ix, r->column, err);
}

/* Room for one more record and its name; nothing is counted yet. */
static bool grow_records(struct wr_index *ix, size_t name_len)
{
    size_t need;

    if (!wr_grow(&ix->entries, &ix->entry_cap, ix->entry_count + 1,
                 sizeof(*ix->entries)))
        return false;
    if (!name_len)
        return true;
    return wr_grow(&ix->entry_names, &ix->entry_name_cap,
                   ix->entry_name_count + 1, sizeof(*ix->entry_names)) &&
           wr_add_ok(ix->names_len, name_len, &need) &&
           wr_grow(&ix->names, &ix->names_cap, need, 1);
}

int wr_index_add_record(struct wr_index *ix, const struct wr_record *rec,
                        weir_err *err)
{
    size_t name_len = rec->name ? strlen(rec->name) + 1 : 0;
    struct wr_index_segment *last;
    int r = check_record(ix, rec, err);

    if (r < 0)
        return r;
    last = last_segment(ix, rec->column);
    /* All memory first: a record that fails leaves the index as it was. */
    if (!grow_records(ix, name_len))
        return fail_memory(err);
    if (!last || last->kind != WR_SEGMENT_RECORDS ||
        last->object != ix->object_count - 1 || last->unit != ix->unit ||
        last->labels + last->count != ix->entry_count) {
        struct wr_index_segment s = start_segment(ix, rec->column,
                                                  WR_SEGMENT_RECORDS);

        s.labels = ix->entry_count;
        s.stride = rec->column ? 0 : ix->entry_name_count;
        if (!push_segment(ix, &s))
            return fail_memory(err);
        last = last_segment(ix, rec->column);
    }
    r = add_totals(ix, rec->column, 1, rec->length, err);
    if (r < 0)
        return r;
    last->count++;
    ix->sample_records += !rec->column;
    ix->entries[ix->entry_count++] = (struct wr_index_entry){
        .offset = rec->offset,
        .length = (uint32_t)rec->length,
        .label = rec->label,
    };
    if (name_len) {
        ix->entry_names[ix->entry_name_count++] = ix->names_len;
        memcpy(ix->names + ix->names_len, rec->name, name_len);
        ix->names_len += name_len;
    }
    ix->last_is_sampled = true;
    note_label(ix, rec->label);
    return 0;
}

void wr_index_set_label(struct wr_index *ix, uint64_t i, uint32_t label)
{
    const struct wr_index_segment *s = wr_index_find_segment(ix, 0, i);

    assert(s->kind == WR_SEGMENT_RECORDS);
    ix->entries[s->labels + (i - s->first)].label = label;
    note_label(ix, label);
}

/* --- the end of building an index --- */

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
            !grow_columns(ix, s->column + 1))
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
