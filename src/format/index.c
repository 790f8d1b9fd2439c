/* index.c - where every sample lies: object, offset, length, label.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/index.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"
#include "format/index_private.h"

uint64_t wr_index_object_packed(const struct wr_index *ix, uint64_t object)
{
    size_t lo = 0, hi = ix->packed_count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (ix->packed[mid].object == object)
            return ix->packed[mid].inflated;
        if (ix->packed[mid].object < object)
            lo = mid + 1;
        else
            hi = mid;
    }
    return 0;
}

uint64_t wr_index_count(const struct wr_index *ix)
{
    return ix->totals.count;
}

uint64_t wr_index_object_count(const struct wr_index *ix)
{
    return ix->object_count;
}

uint64_t wr_index_bytes(const struct wr_index *ix)
{
    return ix->totals.bytes;
}

uint64_t wr_index_max_length(const struct wr_index *ix)
{
    return ix->totals.max_length;
}

size_t wr_index_memory(const struct wr_index *ix)
{
    return sizeof(*ix) + ix->map_len + ix->object_cap * sizeof(*ix->objects) +
           ix->names_cap + ix->segment_cap * sizeof(*ix->segments) +
           ix->label_cap * sizeof(*ix->labels) +
           ix->entry_cap * sizeof(*ix->entries) +
           ix->entry_name_cap * sizeof(*ix->entry_names) +
           ix->packed_cap * sizeof(*ix->packed) +
           ix->stamp_cap * sizeof(*ix->stamps) + wr_intern_memory(&ix->dirs) +
           wr_intern_memory(&ix->classes) + wr_intern_memory(&ix->stamped) +
           ix->ignored.cap * sizeof(*ix->ignored.list) +
           ix->issue_cap * sizeof(*ix->issues);
}

const struct wr_index_segment *wr_index_find_segment(const struct wr_index *ix,
                                                     uint64_t i)
{
    size_t lo = 0, hi = ix->segment_count;

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (ix->segments[mid].first <= i)
            lo = mid;
        else
            hi = mid;
    }
    return &ix->segments[lo];
}

void wr_index_place(const struct wr_index *ix, uint64_t i, struct wr_place *ret)
{
    const struct wr_index_segment *s = wr_index_find_segment(ix, i);
    uint64_t k = i - s->first;

    if (s->kind == WR_SEGMENT_WHOLE) {
        const struct wr_index_object *o = &ix->objects[s->object + k];

        *ret = (struct wr_place){.object = s->object + k,
                                 .length = o->size,
                                 .label = o->label,
                                 .whole = true};
        return;
    }
    if (s->kind == WR_SEGMENT_RECORDS) {
        const struct wr_index_entry *e = &ix->entries[s->labels + k];

        *ret = (struct wr_place){
            .object = s->object,
            .offset = e->offset,
            .length = e->length,
            .label = e->label,
            .packed = ix->packed_count &&
                      wr_index_object_packed(ix, s->object) != 0,
        };
        return;
    }
    *ret = (struct wr_place){
        .object = s->object,
        .offset = s->offset + k * s->length,
        .length = s->length,
        .label = s->labels == WR_INDEX_NO_LABELS ? WEIR_NO_LABEL
                                                 : ix->labels[s->labels + k],
    };
}

const char *wr_index_sample_name(const struct wr_index *ix, uint64_t i)
{
    const struct wr_index_segment *s = wr_index_find_segment(ix, i);

    if (s->kind != WR_SEGMENT_RECORDS || !ix->entry_name_count)
        return NULL;
    return ix->names + ix->entry_names[s->labels + (i - s->first)];
}

size_t wr_index_object_path(const struct wr_index *ix, uint64_t object,
                            char *buf, size_t cap)
{
    const struct wr_index_object *o = &ix->objects[object];
    const char *dir = wr_intern_text(&ix->dirs, o->dir);
    const char *name = ix->names + o->name;
    size_t dir_len = strlen(dir);
    size_t name_len = strlen(name);
    size_t slash = dir_len && dir[dir_len - 1] != '/';
    size_t len = dir_len + slash + name_len;

    if (len >= cap) {
        snprintf(buf, cap, "%s%s%s", dir, slash ? "/" : "", name);
        return len;
    }
    memcpy(buf, dir, dir_len);
    if (slash)
        buf[dir_len] = '/';
    memcpy(buf + dir_len + slash, name, name_len + 1);
    return len;
}

uint64_t wr_index_object_size(const struct wr_index *ix, uint64_t object)
{
    return ix->objects[object].size;
}

uint64_t wr_index_stamp_count(const struct wr_index *ix)
{
    return ix->stamp_count;
}

bool wr_stamp_is_absent(const struct wr_stamp *s)
{
    return !s->dev && !s->ino;
}

void wr_index_stamp(const struct wr_index *ix, uint64_t k,
                    struct wr_stamp *ret_stamp, const char **ret_path)
{
    *ret_stamp = ix->stamps[k];
    *ret_path = wr_intern_text(&ix->stamped, k);
}

uint64_t wr_index_fingerprint(const struct wr_index *ix)
{
    const struct {
        const void *at;
        size_t bytes;
    } parts[] = {
        {ix->objects, ix->object_count * sizeof(*ix->objects)},
        {ix->names, ix->names_len},
        {ix->segments, ix->segment_count * sizeof(*ix->segments)},
        {ix->labels, ix->label_count * sizeof(*ix->labels)},
        {ix->entries, ix->entry_count * sizeof(*ix->entries)},
        {ix->packed, ix->packed_count * sizeof(*ix->packed)},
        {ix->stamps, ix->stamp_count * sizeof(*ix->stamps)},
        {ix->dirs.pool, ix->dirs.pool_len},
        {ix->classes.pool, ix->classes.pool_len},
        {ix->stamped.pool, ix->stamped.pool_len},
    };
    uint64_t h = ix->totals.count;

    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++)
        h = XXH3_64bits_withSeed(parts[k].at, parts[k].bytes, h);
    return h;
}

const struct wr_ignored *wr_index_ignored(const struct wr_index *ix)
{
    return &ix->ignored;
}

const struct wr_sample_shape *wr_index_shape(const struct wr_index *ix)
{
    return &ix->shape;
}

uint32_t wr_index_class_count(const struct wr_index *ix)
{
    return WR_MAX((uint32_t)ix->classes.count, ix->totals.max_label_plus_1);
}

const char *wr_index_class_name(const struct wr_index *ix, uint32_t label)
{
    return label < ix->classes.count ? wr_intern_text(&ix->classes, label)
                                     : NULL;
}

bool wr_index_is_unsure(const struct wr_index *ix)
{
    return ix->unsure;
}

const char *wr_index_file(const struct wr_index *ix)
{
    return ix->file;
}

uint64_t wr_index_issue_count(const struct wr_index *ix)
{
    return ix->issue_count;
}

const weir_issue *wr_index_issue(const struct wr_index *ix, uint64_t k)
{
    return k < ix->issue_kept ? &ix->issues[k] : NULL;
}
