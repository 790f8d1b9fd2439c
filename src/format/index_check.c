/* index_check.c - does an index that came from a file hold together?
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the builder guarantees is checked here, so that an index that lies is
 * never worse than none. */
#include "format/index.h"

#include <string.h>

#include "base/mem.h"
#include "codec/filters.h"
#include "codec/inflate.h"
#include "format/index_private.h"

/* What the segments add up to, so far. */
struct sums {
    struct wr_index_totals totals; /* count: of this column */
    uint64_t object;          /* the first that the next segment may have, */
    uint64_t unused;          /* and the first that has no samples yet */
    uint64_t labels, entries; /* that this column may have next */
    uint64_t all_entries;     /* of all columns so far */
    uint64_t sample_records;  /* of column 0 */
    uint64_t sample_bytes;    /* each part must have; 0: any */
    uint64_t tile_units;      /* that tiles named: each unit once */
};

static const char *check_intern(const struct wr_intern *in)
{
    uint64_t last = 0;

    if (!in->count != !in->pool_len)
        return "a table of texts is incomplete";
    if (in->pool_len && in->pool[in->pool_len - 1] != '\0')
        return "a text does not end";
    for (size_t k = 0; k < in->count; k++) {
        uint64_t at = in->at[k];

        /* Every text starts behind the NUL of the one before. */
        if (at >= in->pool_len || (k ? at <= last : at != 0) ||
            (at && in->pool[at - 1] != '\0'))
            return "a text is out of place";
        last = at;
    }
    return NULL;
}

static const char *check_names(const struct wr_index *ix)
{
    uint64_t wrong = 0;

    if (ix->names_len && ix->names[ix->names_len - 1] != '\0')
        return "the names do not end";
    /* Without a branch a million of these take a millisecond. */
    for (size_t k = 0; k < ix->object_count; k++) {
        const struct wr_index_object *o = &ix->objects[k];

        wrong |= (uint64_t)(o->name >= ix->names_len) |
                 (uint64_t)(o->dir >= ix->dirs.count);
    }
    if (wrong)
        return "a file's name or folder is out of range";
    for (size_t k = 0; k < ix->entry_name_count; k++)
        wrong |= (uint64_t)(ix->entry_names[k] >= ix->names_len);
    return wrong ? "a sample's name is out of range" : NULL;
}

/* Whether a path is absolute, or one of its parts is "..". */
static bool leads_out(const char *path)
{
    if (*path == '/')
        return true;
    while (*path) {
        size_t n = strcspn(path, "/");

        if (n == 2 && path[0] == '.' && path[1] == '.')
            return true;
        path += n;
        path += strspn(path, "/");
    }
    return false;
}

static bool any_leads_out(const struct wr_intern *paths)
{
    for (size_t k = 0; k < paths->count; k++)
        if (leads_out(wr_intern_text(paths, k)))
            return true;
    return false;
}

/* Whether ".." ends a part of a path, wherever a name may begin; without a branch
 * it takes a third of what going by the names takes. */
static bool has_dots(const char *names, size_t len)
{
    unsigned char any = 0;

    for (size_t i = 2; i < len; i++)
        any |= (unsigned char)((names[i - 2] == '.') & (names[i - 1] == '.') &
                               ((names[i] == '/') | (names[i] == '\0')));
    return any;
}

const char *wr_index_check_below(const struct wr_index *ix)
{
    bool deep = ix->names_len && memchr(ix->names, '/', ix->names_len);
    bool wrong = any_leads_out(&ix->dirs) || any_leads_out(&ix->stamped);

    /* Names of files seldom have a '/', and then only ".." leads out. */
    if (deep || has_dots(ix->names, ix->names_len))
        for (size_t k = 0; k < ix->object_count && !wrong; k++)
            wrong = leads_out(ix->names + ix->objects[k].name);
    return wrong ? "a path that leads out of the data set" : NULL;
}

static bool knows_filters(uint32_t filters)
{
    bool ended = false;

    for (unsigned k = 0; k < WR_FILTERS_MAX; k++, filters >>= 8) {
        uint32_t f = filters & 0xff;

        if (f >= WR_FILTER_COUNT || (f && ended))
            return false;
        ended = !f;
    }
    return true;
}

static const char *check_units(const struct wr_index *ix)
{
    for (size_t k = 0; k < ix->unit_count; k++) {
        const struct wr_unit *u = &ix->units[k];

        if (u->object >= ix->object_count || !u->inflated ||
            u->inflated > WR_INFLATE_MAX || (k && u->object < u[-1].object))
            return "the list of units is wrong";
        if (u->filters == WR_FILTER_FILL && !u->stored)
            continue; /* it lies nowhere */
        if (u->offset > ix->objects[u->object].size ||
            u->stored > ix->objects[u->object].size - u->offset ||
            !knows_filters(u->filters) ||
            (!u->filters && u->stored != u->inflated))
            return "the list of units is wrong";
    }
    return NULL;
}

static bool add_samples(struct sums *s, uint64_t count, uint64_t length)
{
    size_t bytes;

    if (s->sample_bytes && length != s->sample_bytes)
        return false;
    if (!wr_mul_ok(count, length, &bytes) ||
        !wr_add_ok(s->totals.bytes, bytes, &s->totals.bytes) ||
        !wr_add_ok(s->totals.count, count, &s->totals.count))
        return false;
    s->totals.max_length = WR_MAX(s->totals.max_length, length);
    return true;
}

/* Labels stand beside the parts of column 0. */
static void note_label(struct sums *s, uint32_t label)
{
    uint32_t next = label + 1; /* 0 for WEIR_NO_LABEL */

    s->totals.max_label_plus_1 = WR_MAX(s->totals.max_label_plus_1, next);
}

static const char *check_whole(const struct wr_index *ix,
                               const struct wr_index_segment *g, struct sums *s)
{
    if (g->unit != WR_NO_UNIT)
        return "a segment of whole files names a unit";
    if (!g->stride || g->stride > WR_INDEX_MAX_STRIDE ||
        g->object >= ix->object_count ||
        g->count - 1 > (ix->object_count - 1 - g->object) / g->stride)
        return "a segment names files that are not there";
    if (g->object < s->unused) /* also: each file is looked at once here */
        return "the segments share files";
    s->object = s->unused = g->object + (g->count - 1) * g->stride + 1;
    for (uint64_t k = 0; k < g->count; k++) {
        const struct wr_index_object *o =
            &ix->objects[g->object + k * g->stride];

        if (!add_samples(s, 1, o->size))
            return "the sizes of files do not fit together";
        if (!g->column)
            note_label(s, o->label);
    }
    return NULL;
}

/* Labels of `g`, a segment of equal parts. */
static const char *check_labels(const struct wr_index *ix,
                                const struct wr_index_segment *g,
                                struct sums *s)
{
    if (g->labels == WR_INDEX_NO_LABELS)
        return NULL;
    if (g->column || g->labels != s->labels ||
        g->count > ix->label_count - s->labels)
        return "a run's labels are out of range";
    for (uint64_t k = 0; k < g->count; k++)
        note_label(s, ix->labels[s->labels + k]);
    s->labels += g->count;
    return NULL;
}

bool wr_index_run_fits(const struct wr_index *ix,
                       const struct wr_index_segment *g)
{
    size_t end;

    return g->length && g->stride && wr_mul_ok(g->stride, g->count - 1, &end) &&
           wr_add_ok(g->offset, end, &end) && wr_add_ok(end, g->length, &end) &&
           end <= wr_index_limit(ix, g->object, g->unit);
}

uint64_t wr_index_tile_rows(const struct wr_index *ix,
                            const struct wr_index_segment *g)
{
    uint64_t rows = g->offset ? (g->count - 1) / g->offset + 1 : 0;
    size_t bytes, last;

    if (!rows || !g->length || !wr_mul_ok(g->offset, g->length, &bytes) ||
        !wr_mul_ok(rows - 1, g->stride, &last) ||
        !wr_add_ok(last, g->unit, &last) || last >= ix->unit_count)
        return 0;
    return g->stride ? rows : 1;
}

bool wr_index_tiles_fit(const struct wr_index *ix,
                        const struct wr_index_segment *g, uint64_t rows)
{
    for (uint64_t k = 0; k < rows; k++) {
        const struct wr_unit *u = &ix->units[g->unit + k * g->stride];

        if (u->object != g->object || u->inflated < g->offset * g->length)
            return false;
    }
    return true;
}

/* A unit has one column's tiles, so each is looked at once. */
static const char *check_tiles(const struct wr_index *ix,
                               const struct wr_index_segment *g, struct sums *s)
{
    uint64_t rows = wr_index_tile_rows(ix, g);

    if (!rows)
        return "tiles lie outside of units";
    s->tile_units += rows; /* at most unit_count more each time */
    if (s->tile_units > ix->unit_count)
        return "tiles share units";
    if (!wr_index_tiles_fit(ix, g, rows))
        return "tiles lie outside of their unit";
    if (!add_samples(s, g->count, g->length))
        return "the sizes of samples do not fit together";
    return check_labels(ix, g, s);
}

static const char *check_run(const struct wr_index *ix,
                             const struct wr_index_segment *g, struct sums *s)
{
    if (!wr_index_run_fits(ix, g))
        return "a run of samples lies outside its file";
    if (!add_samples(s, g->count, g->length))
        return "the sizes of samples do not fit together";
    if (g->stride < g->length)
        s->totals.bytes -= (g->count - 1) * (g->length - g->stride);
    return check_labels(ix, g, s);
}

static const char *check_records(const struct wr_index *ix,
                                 const struct wr_index_segment *g,
                                 struct sums *s)
{
    uint64_t limit = wr_index_limit(ix, g->object, g->unit);

    if (g->labels < s->entries || g->labels > ix->entry_count ||
        g->count > ix->entry_count - g->labels ||
        (!g->column && ix->entry_name_count && g->stride != s->sample_records))
        return "records are out of range";
    for (uint64_t k = 0; k < g->count; k++) {
        const struct wr_index_entry *e = &ix->entries[g->labels + k];

        if ((e->offset != WR_ABSENT || e->length) &&
            (e->offset > limit || e->length > limit - e->offset))
            return "a record lies outside its file";
        if (e->offset != WR_ABSENT
                ? !add_samples(s, 1, e->length)
                : !wr_add_ok(s->totals.count, 1, &s->totals.count))
            return "the sizes of records do not fit together";
        if (!g->column)
            note_label(s, e->label);
    }
    s->entries = g->labels + g->count;
    s->all_entries += g->count;
    s->sample_records += g->column ? 0 : g->count;
    return NULL;
}

static const char *check_segment(const struct wr_index *ix,
                                 const struct wr_index_segment *g,
                                 struct sums *s)
{
    if (g->first != s->totals.count || !g->count || g->object < s->object)
        return "the segments are not in order";
    if (g->kind == WR_SEGMENT_WHOLE)
        return check_whole(ix, g, s);
    if (g->object >= ix->object_count ||
        (g->unit != WR_NO_UNIT &&
         (g->unit >= ix->unit_count || ix->units[g->unit].object != g->object)))
        return "a segment lies outside of files and units";
    s->object = g->object;
    s->unused = g->object + 1;
    switch (g->kind) {
    case WR_SEGMENT_RUN:
        return check_run(ix, g, s);
    case WR_SEGMENT_RECORDS:
        return check_records(ix, g, s);
    case WR_SEGMENT_TILES:
        return check_tiles(ix, g, s);
    default:
        return "a segment of an unknown kind";
    }
}

/* The bytes that each part of a column must have; 0: any. False: its fields do
 * not agree. */
static bool part_bytes(const struct wr_schema *schema, unsigned column,
                       uint64_t *ret)
{
    *ret = 0;
    for (unsigned k = 0; k < schema->count; k++) {
        const struct wr_field *f = &schema->fields[k];
        uint64_t span = wr_field_span(f);

        if (f->column > column || column - f->column >= wr_field_columns(f) ||
            f->unpacked || !span)
            continue;
        if (*ret && *ret != span)
            return false;
        *ret = span;
    }
    return true;
}

static const char *check_column(const struct wr_index *ix, unsigned column,
                                struct sums *s)
{
    const struct wr_index_column *c = &ix->columns[column];
    const char *why = NULL;

    s->totals.count = s->object = s->unused = s->entries = 0;
    if (!part_bytes(&ix->schema, column, &s->sample_bytes))
        return "the sizes of fields do not fit together";
    for (size_t k = 0; k < c->count && !why; k++)
        why = check_segment(ix, &ix->segments[c->start + k], s);
    if (!why && s->totals.count != ix->totals.count)
        why = "the totals are not those of the samples";
    return why;
}

static const char *check_segments(const struct wr_index *ix)
{
    struct sums s = {0};
    const char *why = NULL;
    size_t scalars;

    for (unsigned k = 0; k < wr_index_columns(ix) && !why; k++)
        why = check_column(ix, k, &s);
    if (why)
        return why;
    if (s.labels != ix->label_count || s.all_entries != ix->entry_count)
        return "labels or records that no segment has";
    if (ix->entry_name_count && ix->entry_name_count != s.sample_records)
        return "only some of the records have names";
    if (s.totals.bytes != ix->totals.bytes ||
        s.totals.max_length != ix->totals.max_length ||
        s.totals.max_label_plus_1 != ix->totals.max_label_plus_1)
        return "the totals are not those of the samples";
    if (!wr_mul_ok(ix->totals.count, ix->schema.scalars, &scalars) ||
        scalars != ix->scalar_count)
        return "the scalars are not those of the samples";
    return NULL;
}

static const char *check_ignored(const struct wr_ignored *ig)
{
    uint64_t files = 0;

    if (ig->count > WR_IGNORED_KINDS)
        return "too many endings of ignored files";
    for (size_t k = 0; k < ig->count; k++)
        if (!memchr(ig->list[k].ext, '\0', sizeof(ig->list[k].ext)) ||
            __builtin_add_overflow(files, ig->list[k].files, &files))
            return "ignored files that cannot be";
    return NULL;
}

const char *wr_index_check(const struct wr_index *ix)
{
    uint64_t issues = 0;
    const char *why;

    if (ix->stamp_count != ix->stamped.count)
        return "the stamps do not match their paths";
    for (size_t k = 0; k < ix->issue_kept; k++)
        issues += ix->issues[k].code != 0;
    if (ix->issue_count < issues)
        return "more problems than were counted";
    why = check_intern(&ix->dirs);
    if (!why)
        why = check_intern(&ix->classes);
    if (!why)
        why = check_intern(&ix->stamped);
    if (!why)
        why = check_units(ix);
    if (!why)
        why = check_names(ix);
    if (!why)
        why = check_ignored(&ix->ignored);
    if (!why)
        why = wr_schema_check(&ix->schema, wr_index_columns(ix));
    return why ? why : check_segments(ix);
}
