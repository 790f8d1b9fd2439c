/* index_check.c - does an index that came from a file hold together?
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the builder guarantees is checked here, so that an index that lies is
 * never worse than none. */
#include "format/index_check.h"

#include <string.h>

#include "base/mem.h"
#include "codec/inflate.h"
#include "format/index_private.h"

#define MAX_SAMPLE (UINT64_C(1) << 30) /* of tensors, as their reader has it */

/* What the segments add up to, so far. */
struct sums {
    struct wr_index_totals totals;
    uint64_t object; /* the first that the next segment may have, */
    uint64_t unused; /* and the first that has no samples yet */
    uint64_t labels, entries;
    uint64_t sample_bytes; /* each sample must have; 0: any */
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

static const char *check_packed(const struct wr_index *ix)
{
    for (size_t k = 0; k < ix->packed_count; k++) {
        const struct wr_index_packed *p = &ix->packed[k];

        if (p->object >= ix->object_count || !p->inflated ||
            p->inflated > WR_INFLATE_MAX || (k && p->object <= p[-1].object))
            return "the list of gzip files is wrong";
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

static void note_label(struct sums *s, uint32_t label)
{
    uint32_t next = label + 1; /* 0 for WEIR_NO_LABEL */

    s->totals.max_label_plus_1 = WR_MAX(s->totals.max_label_plus_1, next);
}

static const char *check_whole(const struct wr_index *ix,
                               const struct wr_index_segment *g, struct sums *s)
{
    if (g->object > ix->object_count || g->count > ix->object_count - g->object)
        return "a segment names files that are not there";
    if (g->object < s->unused) /* also: each file is looked at once here */
        return "the segments share files";
    s->object = s->unused = g->object + g->count;
    for (uint64_t k = 0; k < g->count; k++) {
        const struct wr_index_object *o = &ix->objects[g->object + k];

        if (!add_samples(s, 1, o->size))
            return "the sizes of files do not fit together";
        note_label(s, o->label);
    }
    return NULL;
}

static const char *check_run(const struct wr_index *ix,
                             const struct wr_index_segment *g, struct sums *s)
{
    size_t bytes, end;

    if (g->object >= ix->object_count || !g->length ||
        !wr_mul_ok(g->length, g->count, &bytes) ||
        !wr_add_ok(g->offset, bytes, &end) || end > ix->objects[g->object].size)
        return "a run of samples lies outside its file";
    if (!add_samples(s, g->count, g->length))
        return "the sizes of samples do not fit together";
    if (g->labels == WR_INDEX_NO_LABELS)
        return NULL;
    if (g->labels != s->labels || g->count > ix->label_count - s->labels)
        return "a run's labels are out of range";
    for (uint64_t k = 0; k < g->count; k++)
        note_label(s, ix->labels[s->labels + k]);
    s->labels += g->count;
    return NULL;
}

static const char *check_records(const struct wr_index *ix,
                                 const struct wr_index_segment *g,
                                 struct sums *s)
{
    uint64_t limit;

    if (g->object >= ix->object_count || g->labels != s->entries ||
        g->count > ix->entry_count - s->entries)
        return "records are out of range";
    limit = wr_index_object_packed(ix, g->object);
    if (!limit)
        limit = ix->objects[g->object].size;
    for (uint64_t k = 0; k < g->count; k++) {
        const struct wr_index_entry *e = &ix->entries[s->entries + k];

        if (e->offset > limit || e->length > limit - e->offset)
            return "a record lies outside its file";
        if (!add_samples(s, 1, e->length))
            return "the sizes of records do not fit together";
        note_label(s, e->label);
    }
    s->entries += g->count;
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
    s->object = g->object; /* below the count, as the next checks */
    s->unused = g->object + 1;
    switch (g->kind) {
    case WR_SEGMENT_RUN:
        return check_run(ix, g, s);
    case WR_SEGMENT_RECORDS:
        return check_records(ix, g, s);
    default:
        return "a segment of an unknown kind";
    }
}

/* The tensor's decoder takes the shape's word for the size of samples. */
static const char *check_shape(const struct wr_sample_shape *shape,
                               uint64_t *ret_bytes)
{
    static const uint8_t elem_bytes[] = {
        [WR_ELEM_F32] = 4, [WR_ELEM_F16] = 2, [WR_ELEM_U8] = 1};
    size_t bytes;

    if (!shape->known)
        return NULL;
    if ((unsigned)shape->elem >= WR_ARRAY_LEN(elem_bytes) ||
        shape->ndim > WR_ARRAY_LEN(shape->dims))
        return "the samples' shape is not one";
    bytes = elem_bytes[shape->elem];
    for (uint32_t k = 0; k < shape->ndim; k++)
        if (!wr_mul_ok(bytes, shape->dims[k], &bytes))
            return "the samples' dimensions overflow";
    if (!bytes || bytes > MAX_SAMPLE)
        return "samples of zero bytes, or over the limit of 1 GiB";
    *ret_bytes = bytes;
    return NULL;
}

static const char *check_segments(const struct wr_index *ix)
{
    struct sums s = {0};
    const char *why = check_shape(&ix->shape, &s.sample_bytes);

    for (size_t k = 0; k < ix->segment_count && !why; k++)
        why = check_segment(ix, &ix->segments[k], &s);
    if (why)
        return why;
    if (s.labels != ix->label_count || s.entries != ix->entry_count)
        return "labels or records that no segment has";
    if (s.totals.count != ix->totals.count ||
        s.totals.bytes != ix->totals.bytes ||
        s.totals.max_length != ix->totals.max_length ||
        s.totals.max_label_plus_1 != ix->totals.max_label_plus_1)
        return "the totals are not those of the samples";
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
    const char *why;

    if (ix->entry_name_count && ix->entry_name_count != ix->entry_count)
        return "only some of the records have names";
    if (ix->stamp_count != ix->stamped.count)
        return "the stamps do not match their paths";
    if (ix->issue_count < ix->issue_kept)
        return "more problems than were counted";
    why = check_intern(&ix->dirs);
    if (!why)
        why = check_intern(&ix->classes);
    if (!why)
        why = check_intern(&ix->stamped);
    if (!why)
        why = check_packed(ix);
    if (!why)
        why = check_names(ix);
    if (!why)
        why = check_ignored(&ix->ignored);
    return why ? why : check_segments(ix);
}
