/* index.c - where every sample lies: its parts, one per column, and its label.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/index_private.h"

/* --- where every sample lies: its parts, one per column, and its label --- */

#define XXH_STATIC_LINKING_ONLY /* a state without memory of its own */
#include <xxhash.h>

#include "base/mem.h"
#include "base/sorted.h"
#include "format/index_private.h"

const struct wr_index_array wr_index_arrays[WR_INDEX_ARRAYS] = {
#define AT(member) offsetof(struct wr_index, member)
    {AT(objects), AT(object_count), AT(object_cap),
     sizeof(struct wr_index_object)},
    {AT(names), AT(names_len), AT(names_cap), 1},
    {AT(segments), AT(segment_count), AT(segment_cap),
     sizeof(struct wr_index_segment)},
    {AT(labels), AT(label_count), AT(label_cap), sizeof(uint32_t)},
    {AT(entries), AT(entry_count), AT(entry_cap),
     sizeof(struct wr_index_entry)},
    {AT(entry_names), AT(entry_name_count), AT(entry_name_cap),
     sizeof(uint64_t)},
    {AT(units), AT(unit_count), AT(unit_cap), sizeof(struct wr_unit)},
    {AT(scalars), AT(scalar_count), AT(scalar_cap), sizeof(union wr_scalar)},
    {AT(stamps), AT(stamp_count), AT(stamp_cap), sizeof(struct wr_stamp)},
    {AT(dirs.pool), AT(dirs.pool_len), 0, 1},
    {AT(dirs.at), AT(dirs.count), 0, sizeof(uint64_t)},
    {AT(classes.pool), AT(classes.pool_len), 0, 1},
    {AT(classes.at), AT(classes.count), 0, sizeof(uint64_t)},
    {AT(stamped.pool), AT(stamped.pool_len), 0, 1},
    {AT(stamped.at), AT(stamped.count), 0, sizeof(uint64_t)},
    {AT(ignored.list), AT(ignored.count), 0, sizeof(struct wr_ignored_ext)},
#undef AT
};

struct wr_packing wr_unit_packing(const struct wr_unit *u)
{
    return (struct wr_packing){.filters = u->filters,
                               .argument = u->argument,
                               .stored = u->stored,
                               .inflated = u->inflated,
                               .fill = u->offset};
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
    size_t sum = sizeof(*ix) + ix->map_len +
                 ix->column_cap * sizeof(*ix->columns) +
                 wr_intern_memory(&ix->dirs) + wr_intern_memory(&ix->classes) +
                 wr_intern_memory(&ix->stamped) +
                 ix->schema.cap * sizeof(*ix->schema.fields) +
                 ix->ignored.cap * sizeof(*ix->ignored.list) +
                 ix->issue_cap * sizeof(*ix->issues);

    for (unsigned k = 0; k < WR_INDEX_ARRAYS; k++) {
        const struct wr_index_array *a = &wr_index_arrays[k];
        size_t cap = 0;

        if (a->cap)
            memcpy(&cap, (const char *)ix + a->cap, sizeof(cap));
        sum += cap * a->elem;
    }
    return sum;
}

unsigned wr_index_columns(const struct wr_index *ix)
{
    return WR_MAX(ix->column_count, 1u);
}

uint64_t wr_index_tile_samples(const struct wr_index *ix)
{
    const struct wr_index_segment *s = ix->segment_count
                                           ? wr_index_find_segment(ix, 0, 0)
                                           : NULL;

    return s && s->kind == WR_SEGMENT_TILES && s->stride ? s->offset : 0;
}

uint64_t wr_index_unit_count(const struct wr_index *ix)
{
    return ix->unit_count;
}

const struct wr_unit *wr_index_unit(const struct wr_index *ix, uint64_t k)
{
    return &ix->units[k];
}

uint64_t wr_index_limit(const struct wr_index *ix, uint64_t object,
                        uint64_t unit)
{
    return unit == WR_NO_UNIT ? ix->objects[object].size
                              : ix->units[unit].inflated;
}

const struct wr_index_segment *
wr_index_find_segment(const struct wr_index *ix, unsigned column, uint64_t i)
{
    const struct wr_index_segment *s = ix->segments + ix->columns[column].start;
    size_t n = wr_count_below(s, sizeof(*s), ix->columns[column].count,
                              offsetof(struct wr_index_segment, first), i + 1);

    return n ? &s[n - 1] : s;
}

static void tile_part(const struct wr_index *ix,
                      const struct wr_index_segment *s, uint64_t k,
                      struct wr_part *ret)
{
    uint64_t number = s->unit + k / s->offset * s->stride;
    const struct wr_unit *u = &ix->units[number];
    uint64_t at = k % s->offset * s->length;

    *ret = (struct wr_part){
        .object = s->object,
        .offset = u->filters ? at : u->offset + at,
        .length = s->length,
        .unit = u->filters ? number : WR_NO_UNIT,
        .label = s->labels == WR_INDEX_NO_LABELS ? WEIR_NO_LABEL
                                                 : ix->labels[s->labels + k],
    };
}

static void record_part(const struct wr_index *ix,
                        const struct wr_index_segment *s, uint64_t k,
                        struct wr_part *ret)
{
    const struct wr_index_entry *e = &ix->entries[s->labels + k];
    bool absent = e->offset == WR_ABSENT;

    *ret = (struct wr_part){
        .object = s->object,
        .offset = absent ? 0 : e->offset,
        .length = e->length,
        .unit = s->unit,
        .label = e->label,
        .absent = absent,
    };
}

void wr_index_part(const struct wr_index *ix, unsigned column, uint64_t i,
                   struct wr_part *ret)
{
    const struct wr_index_segment *s = wr_index_find_segment(ix, column, i);
    uint64_t k = i - s->first;

    if (s->kind == WR_SEGMENT_WHOLE) {
        uint64_t object = s->object + k * s->stride;
        const struct wr_index_object *o = &ix->objects[object];

        *ret = (struct wr_part){.object = object,
                                .length = o->size,
                                .unit = WR_NO_UNIT,
                                .label = o->label,
                                .whole = true};
        return;
    }
    if (s->kind == WR_SEGMENT_RECORDS) {
        record_part(ix, s, k, ret);
        return;
    }
    if (s->kind == WR_SEGMENT_TILES) {
        tile_part(ix, s, k, ret);
        return;
    }
    *ret = (struct wr_part){
        .object = s->object,
        .offset = s->offset + k * s->stride,
        .length = s->length,
        .unit = s->unit,
        .label = s->labels == WR_INDEX_NO_LABELS ? WEIR_NO_LABEL
                                                 : ix->labels[s->labels + k],
    };
}

const struct wr_schema *wr_index_schema(const struct wr_index *ix)
{
    return &ix->schema;
}

const weir_field *wr_index_tensor(const struct wr_index *ix)
{
    const struct wr_schema *s = &ix->schema;

    return s->count && s->fields[0].pub.kind == WEIR_FIELD_TENSOR
               ? &s->fields[0].pub
               : NULL;
}

bool wr_index_has_pictures(const struct wr_index *ix)
{
    const struct wr_field *f = wr_schema_first(&ix->schema);

    return f && f->pub.kind == WEIR_FIELD_PICTURE;
}

bool wr_index_scalar(const struct wr_index *ix, unsigned field, uint64_t i,
                     union wr_scalar *ret)
{
    const struct wr_field *f = &ix->schema.fields[field];
    struct wr_part p;

    if (f->column != WR_NO_COLUMN)
        return false;
    if (f->scalar != WR_SCALAR_IS_LABEL) {
        *ret = ix->scalars[i * ix->schema.scalars + f->scalar];
        return true;
    }
    wr_index_part(ix, 0, i, &p);
    if (p.label == WEIR_NO_LABEL)
        return false;
    ret->i = p.label;
    return true;
}

const char *wr_index_sample_name(const struct wr_index *ix, uint64_t i)
{
    const struct wr_index_segment *s = wr_index_find_segment(ix, 0, i);

    if (s->kind != WR_SEGMENT_RECORDS || !ix->entry_name_count)
        return NULL;
    return ix->names + ix->entry_names[s->stride + (i - s->first)];
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

    /* Paths are made for each sample of each epoch: copied, not printed. */
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

uint64_t wr_index_object_identity(const struct wr_index *ix, uint64_t object)
{
    return ix->objects[object].identity;
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

/* A whole object of gzip: indexes had nothing else once. */
static bool is_plain_unit(const struct wr_index *ix, uint64_t k)
{
    const struct wr_unit *u = &ix->units[k];

    return u->filters == WR_FILTER_GZIP && !u->offset && !u->argument &&
           u->stored == ix->objects[u->object].size;
}

static void hash_segments(const struct wr_index *ix, XXH3_state_t *h)
{
    for (size_t k = 0; k < ix->segment_count; k++) {
        const struct wr_index_segment *s = &ix->segments[k];
        uint64_t stride = s->kind == WR_SEGMENT_RUN ? s->length : 1;
        bool plain = !s->column && s->kind != WR_SEGMENT_TILES &&
                     (s->unit == WR_NO_UNIT || is_plain_unit(ix, s->unit)) &&
                     (s->kind == WR_SEGMENT_RECORDS || s->stride == stride);

        XXH3_64bits_update(h, s, plain ? WR_SEGMENT_PLAIN : sizeof(*s));
    }
}

static void hash_units(const struct wr_index *ix, XXH3_state_t *h)
{
    for (size_t k = 0; k < ix->unit_count; k++) {
        const struct wr_unit *u = &ix->units[k];

        XXH3_64bits_update(h, &u->object, sizeof(u->object));
        XXH3_64bits_update(h, &u->inflated, sizeof(u->inflated));
        if (!is_plain_unit(ix, k))
            XXH3_64bits_update(h, u, sizeof(*u));
    }
}

/* The caches of decoded samples and conversions that are continued rely on it:
 * what an index of one column says hashes as it did before there were more. */
uint64_t wr_index_fingerprint(const struct wr_index *ix)
{
    const struct {
        const void *at;
        size_t bytes;
        void (*fn)(const struct wr_index *ix, XXH3_state_t *h);
    } parts[] = {
        {ix->objects, ix->object_count * sizeof(*ix->objects), NULL},
        {ix->names, ix->names_len, NULL},
        {.fn = hash_segments},
        {ix->labels, ix->label_count * sizeof(*ix->labels), NULL},
        {ix->entries, ix->entry_count * sizeof(*ix->entries), NULL},
        {.fn = hash_units},
        {ix->stamps, ix->stamp_count * sizeof(*ix->stamps), NULL},
        {ix->dirs.pool, ix->dirs.pool_len, NULL},
        {ix->classes.pool, ix->classes.pool_len, NULL},
        {ix->stamped.pool, ix->stamped.pool_len, NULL},
    };
    uint64_t h = ix->totals.count ^ ix->declared;
    XXH3_state_t state;

    XXH3_INITSTATE(&state); /* resetting looks at what was there */
    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++) {
        XXH3_64bits_reset_withSeed(&state, h);
        if (parts[k].fn)
            parts[k].fn(ix, &state);
        else
            XXH3_64bits_update(&state, parts[k].at, parts[k].bytes);
        h = XXH3_64bits_digest(&state);
    }
    if (ix->scalar_count)
        h = XXH3_64bits_withSeed(ix->scalars,
                                 ix->scalar_count * sizeof(*ix->scalars), h);
    return h;
}

const struct wr_ignored *wr_index_ignored(const struct wr_index *ix)
{
    return &ix->ignored;
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

/* Number k of those that are problems, or of the remarks among them. */
static const weir_issue *kept_issue(const struct wr_index *ix, uint64_t k,
                                    bool remark)
{
    for (size_t n = 0; n < ix->issue_kept; n++)
        if (!ix->issues[n].code == remark && k-- == 0)
            return &ix->issues[n];
    return NULL;
}

const weir_issue *wr_index_issue(const struct wr_index *ix, uint64_t k)
{
    return kept_issue(ix, k, /* remark= */ false);
}

const char *wr_index_remark(const struct wr_index *ix, uint64_t k)
{
    const weir_issue *i = kept_issue(ix, k, /* remark= */ true);

    return i ? i->reason : NULL;
}

/* --- filling an index: folders, classes, stamps and problems --- */

static int64_t intern(struct wr_intern *in, const char *text, weir_err *err)
{
    int64_t k = wr_intern_add(in, text, strlen(text));

    if (k < 0)
        return wr_fail(err, (int)k, "index: cannot keep '%s': %s", text,
                       weir_strerror((int)k));
    return k;
}

int64_t wr_index_add_dir(struct wr_index *ix, const char *path, weir_err *err)
{
    return intern(&ix->dirs, path, err);
}

int64_t wr_index_add_class(struct wr_index *ix, const char *name, weir_err *err)
{
    return intern(&ix->classes, name, err);
}

static int fail_memory(weir_err *err)
{
    return wr_fail(err, WEIR_ENOMEM, "index: out of memory");
}

static int compare_names(const void *a, const void *b, void *arg)
{
    const struct wr_intern *names = arg;

    return strcmp(wr_intern_text(names, *(const uint32_t *)a),
                  wr_intern_text(names, *(const uint32_t *)b));
}

int wr_index_add_classes(struct wr_index *ix, const struct wr_intern *names,
                         uint32_t **ret_rank, weir_err *err)
{
    size_t n = names->count;
    uint32_t *order = malloc(n * sizeof(*order) + 1);
    uint32_t *rank = malloc(n * sizeof(*rank) + 1);
    int64_t r = 0;

    if (!order || !rank)
        r = fail_memory(err);
    for (size_t k = 0; k < n && r >= 0; k++)
        order[k] = (uint32_t)k;
    if (r >= 0)
        qsort_r(order, n, sizeof(*order), compare_names,
                (void *)(uintptr_t)names);
    for (size_t k = 0; k < n && r >= 0; k++) {
        rank[order[k]] = (uint32_t)k;
        r = wr_index_add_class(ix, wr_intern_text(names, order[k]), err);
    }
    free(order);
    if (r < 0) {
        free(rank);
        return (int)r;
    }
    *ret_rank = rank;
    return 0;
}

void wr_index_set_stamped(struct wr_index *ix, const char *path)
{
    int64_t k = wr_intern_add(&ix->stamped, path, strlen(path));

    if (k >= 0 && (uint64_t)k < ix->stamp_count)
        wr_index_set_identity(ix, ix->stamps[k].identity);
}

int wr_index_add_stamp(struct wr_index *ix, const char *path,
                       const struct wr_stamp *s, weir_err *err)
{
    int64_t k = intern(&ix->stamped, path, err);

    if (k < 0)
        return (int)k;
    if (!wr_grow(&ix->stamps, &ix->stamp_cap, (size_t)k + 1,
                 sizeof(*ix->stamps)))
        return fail_memory(err);
    ix->stamps[k] = *s;
    ix->stamp_count = ix->stamped.count;
    return 0;
}

/* Remembers a problem as long as there is room. */
static void keep_issue(struct wr_index *ix, const char *name, int code,
                       const char *reason)
{
    weir_issue issue = {.code = code};
    char *n, *why;

    ix->issue_count += code != 0;
    if (ix->issue_kept >= WR_INDEX_MAX_ISSUES ||
        !wr_grow(&ix->issues, &ix->issue_cap, ix->issue_kept + 1,
                 sizeof(issue)))
        return;
    n = strdup(name);
    why = strdup(reason);
    if (!n || !why) { /* it is counted at least */
        free(n);
        free(why);
        return;
    }
    issue.name = n;
    issue.reason = why;
    ix->issues[ix->issue_kept++] = issue;
}

void wr_index_add_issue(struct wr_index *ix, const char *name, int code,
                        const char *reason)
{
    /* What is wrong with bytes and names stays so until a stamp changes. */
    if (code != WEIR_EFORMAT && code != WEIR_ELIMIT && code != WEIR_ENOTSUP)
        ix->unsure = true;
    keep_issue(ix, name, code, reason);
}

void wr_index_add_remark(struct wr_index *ix, const char *text)
{
    keep_issue(ix, "", /* code= */ 0, text);
}

void wr_index_add_missing(struct wr_index *ix, const char *path,
                          const char *reason)
{
    static const struct wr_stamp absent = {0};

    if (ix->issue_count >= WR_INDEX_MAX_ISSUES ||
        wr_index_add_stamp(ix, path, &absent, NULL) < 0)
        ix->unsure = true;
    keep_issue(ix, path, WEIR_ENOENT, reason);
}

void wr_index_add_link(struct wr_index *ix)
{
    ix->links++;
}

uint64_t wr_index_link_count(const struct wr_index *ix)
{
    return ix->links;
}

int wr_index_add_ignored(struct wr_index *ix, const struct wr_ignored *more,
                         weir_err *err)
{
    return wr_ignored_merge(&ix->ignored, more) ? 0 : fail_memory(err);
}
