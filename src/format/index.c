/* index.c - where every sample lies: object, offset, length, label.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples form segments. In a `whole` segment sample k is object `object + k`
 * and its label stands in the object, so that a tree of pictures is one
 * segment, however large, and finding a sample is one array access. A run is
 * a segment of equal byte ranges inside one object; records are ranges of any
 * length inside one object. */
#include "format/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/intern.h"

#define MAX_ISSUES 1000
#define NO_LABELS  UINT64_MAX

struct object {
    uint64_t size;
    uint64_t name;  /* where its name starts in names */
    uint32_t dir;   /* number of its folder */
    uint32_t label; /* of its whole sample */
};

/* A sample of its own length. */
struct entry {
    uint64_t offset;
    uint32_t length, label;
};

/* An object that is gzip. */
struct packed {
    uint64_t object, inflated;
};

enum segment_kind { SEGMENT_WHOLE, SEGMENT_RUN, SEGMENT_RECORDS };

struct segment {
    uint64_t first;          /* number of its first sample */
    uint64_t count;          /* samples */
    uint64_t object;         /* number of its first (else: only) object */
    uint64_t offset, length; /* runs */
    uint64_t labels;         /* runs: start in labels, or NO_LABELS;
                                records: start in entries */
    uint64_t kind;           /* enum segment_kind */
};

struct wr_index {
    struct object *objects; /* owned */
    size_t object_count, object_cap;
    char *names; /* owned: the objects' names, each with its NUL */
    size_t names_len, names_cap;
    struct segment *segments; /* owned */
    size_t segment_count, segment_cap;
    uint32_t *labels; /* owned: of the runs */
    size_t label_count, label_cap;
    struct entry *entries; /* owned: of the records */
    size_t entry_count, entry_cap;
    uint64_t *entry_names; /* owned: where their names start in names */
    size_t entry_name_count, entry_name_cap;
    struct packed *packed; /* owned: by object number */
    size_t packed_count, packed_cap;
    struct wr_stamp *stamps; /* owned */
    size_t stamp_count, stamp_cap;
    struct wr_intern dirs, classes, stamped;
    weir_issue *issues; /* owned, with the texts in it */
    size_t issue_kept, issue_cap;
    uint64_t issue_count;
    uint64_t count, bytes, max_length;
    uint32_t max_label_plus_1; /* 0: no labels */
    bool last_is_sampled;      /* the object added last has its sample */
    struct wr_sample_shape shape;
};

struct wr_index *wr_index_new(void)
{
    return calloc(1, sizeof(struct wr_index));
}

void wr_index_free(struct wr_index *ix)
{
    if (!ix)
        return;
    for (size_t k = 0; k < ix->issue_kept; k++) {
        free((void *)(uintptr_t)ix->issues[k].name);
        free((void *)(uintptr_t)ix->issues[k].reason);
    }
    wr_intern_done(&ix->dirs);
    wr_intern_done(&ix->classes);
    wr_intern_done(&ix->stamped);
    free(ix->stamps);
    free(ix->packed);
    free(ix->entry_names);
    free(ix->entries);
    free(ix->issues);
    free(ix->labels);
    free(ix->segments);
    free(ix->names);
    free(ix->objects);
    free(ix);
}

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
    ix->objects[ix->object_count] = (struct object){
        .size = size,
        .name = ix->names_len,
        .dir = (uint32_t)dir,
        .label = WEIR_NO_LABEL,
    };
    ix->names_len = need;
    ix->last_is_sampled = false;
    return (int64_t)ix->object_count++;
}

/* Books `count` samples of `length` bytes into the sums. */
static int add_totals(struct wr_index *ix, uint64_t count, uint64_t length,
                      weir_err *err)
{
    size_t bytes, total, samples;

    if (!wr_mul_ok(count, length, &bytes) ||
        !wr_add_ok(ix->bytes, bytes, &total) ||
        !wr_add_ok(ix->count, count, &samples))
        return wr_fail(err, WEIR_ELIMIT,
                       "index: the samples' sizes overflow 64 bits");
    ix->bytes = total;
    ix->count = samples;
    ix->max_length = WR_MAX(ix->max_length, length);
    return 0;
}

static void note_label(struct wr_index *ix, uint32_t label)
{
    if (label != WEIR_NO_LABEL && label >= ix->max_label_plus_1)
        ix->max_label_plus_1 = label + 1;
}

static struct segment *last_segment(struct wr_index *ix)
{
    return ix->segment_count ? &ix->segments[ix->segment_count - 1] : NULL;
}

static bool push_segment(struct wr_index *ix, const struct segment *s)
{
    if (!wr_grow(&ix->segments, &ix->segment_cap, ix->segment_count + 1,
                 sizeof(*ix->segments)))
        return false;
    ix->segments[ix->segment_count++] = *s;
    return true;
}

int wr_index_add_whole(struct wr_index *ix, uint32_t label, weir_err *err)
{
    struct segment *last = last_segment(ix);
    struct object *o;
    uint64_t number;
    int r;

    if (!ix->object_count || ix->last_is_sampled)
        return wr_fail(err, WEIR_EINVAL,
                       "index: a whole sample needs an object of its own");
    number = ix->object_count - 1;
    o = &ix->objects[number];
    if (!last || last->kind != SEGMENT_WHOLE ||
        last->object + last->count != number) {
        struct segment s = {
            .first = ix->count, .object = number, .kind = SEGMENT_WHOLE};

        if (!push_segment(ix, &s))
            return fail_memory(err);
        last = last_segment(ix);
    }
    r = add_totals(ix, 1, o->size, err);
    if (r < 0)
        return r;
    last->count++;
    o->label = label;
    ix->last_is_sampled = true;
    note_label(ix, label);
    return 0;
}

static int check_run(const struct wr_index *ix, uint64_t offset,
                     uint64_t length, uint64_t count, weir_err *err)
{
    size_t bytes, end;

    if (!ix->object_count || !length)
        return wr_fail(err, WEIR_EINVAL,
                       "index: a run needs an object and a length");
    if (!wr_mul_ok(length, count, &bytes) || !wr_add_ok(offset, bytes, &end) ||
        end > ix->objects[ix->object_count - 1].size)
        return wr_fail(err, WEIR_EINVAL,
                       "index: a run reaches behind the end of its object");
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

int wr_index_add_run(struct wr_index *ix, uint64_t offset, uint64_t length,
                     uint64_t count, const uint32_t *labels, weir_err *err)
{
    struct segment s = {.first = ix->count,
                        .count = count,
                        .offset = offset,
                        .length = length,
                        .labels = labels ? ix->label_count : NO_LABELS,
                        .kind = SEGMENT_RUN};
    int r;

    r = check_run(ix, offset, length, count, err);
    if (r < 0 || !count)
        return r;
    s.object = ix->object_count - 1;
    if (labels) {
        r = copy_labels(ix, labels, count, err);
        if (r < 0)
            return r;
    }
    if (!wr_grow(&ix->segments, &ix->segment_cap, ix->segment_count + 1,
                 sizeof(s)))
        return fail_memory(err);
    r = add_totals(ix, count, length, err);
    if (r < 0)
        return r;
    ix->last_is_sampled = true;
    push_segment(ix, &s); /* cannot fail: the room is there */
    return 0;
}

int wr_index_set_packed(struct wr_index *ix, uint64_t inflated, weir_err *err)
{
    if (!ix->object_count || ix->last_is_sampled || !inflated)
        return wr_fail(err, WEIR_EINVAL,
                       "index: an object is gzip before it has samples");
    if (!wr_grow(&ix->packed, &ix->packed_cap, ix->packed_count + 1,
                 sizeof(*ix->packed)))
        return fail_memory(err);
    ix->packed[ix->packed_count++] = (struct packed){
        .object = ix->object_count - 1, .inflated = inflated};
    return 0;
}

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

static int check_record(const struct wr_index *ix, const struct wr_record *r,
                        weir_err *err)
{
    uint64_t inflated;
    size_t end;

    if (!ix->object_count || r->length > WR_RECORD_MAX)
        return wr_fail(err, WEIR_EINVAL,
                       "index: a record needs an object and a short length");
    inflated = wr_index_object_packed(ix, ix->object_count - 1);
    if (!wr_add_ok(r->offset, r->length, &end) ||
        end > (inflated ? inflated : ix->objects[ix->object_count - 1].size))
        return wr_fail(err, WEIR_EINVAL,
                       "index: a record reaches behind the end of its object");
    if (ix->entry_count && !r->name != !ix->entry_name_count)
        return wr_fail(err, WEIR_EINVAL,
                       "index: either all records have names or none");
    return 0;
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
    struct segment *last = last_segment(ix);
    int r = check_record(ix, rec, err);

    if (r < 0)
        return r;
    if (!grow_records(ix, name_len))
        return fail_memory(err);
    if (!last || last->kind != SEGMENT_RECORDS ||
        last->object != ix->object_count - 1) {
        struct segment s = {.first = ix->count,
                            .object = ix->object_count - 1,
                            .labels = ix->entry_count,
                            .kind = SEGMENT_RECORDS};

        if (!push_segment(ix, &s))
            return fail_memory(err);
        last = last_segment(ix);
    }
    r = add_totals(ix, 1, rec->length, err);
    if (r < 0)
        return r;
    last->count++;
    ix->entries[ix->entry_count++] = (struct entry){
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

uint64_t wr_index_stamp_count(const struct wr_index *ix)
{
    return ix->stamp_count;
}

void wr_index_stamp(const struct wr_index *ix, uint64_t k,
                    struct wr_stamp *ret_stamp, const char **ret_path)
{
    *ret_stamp = ix->stamps[k];
    *ret_path = wr_intern_text(&ix->stamped, k);
}

void wr_index_add_issue(struct wr_index *ix, const char *name, int code,
                        const char *reason)
{
    weir_issue issue = {.code = code};
    char *n, *why;

    ix->issue_count++;
    if (ix->issue_kept >= MAX_ISSUES ||
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

void wr_index_set_shape(struct wr_index *ix, const struct wr_sample_shape *s)
{
    ix->shape = *s;
}

/* Cuts an array to what is used; failing to shrink is no failure. */
static void shrink(void *array, size_t *cap, size_t used, size_t elem_size)
{
    void *old, *cut;

    memcpy(&old, array, sizeof(old));
    if (!old || used == *cap || !used)
        return;
    cut = realloc(old, used * elem_size);
    if (!cut)
        return;
    memcpy(array, &cut, sizeof(cut));
    *cap = used;
}

void wr_index_seal(struct wr_index *ix)
{
    wr_intern_seal(&ix->dirs);
    wr_intern_seal(&ix->classes);
    wr_intern_seal(&ix->stamped);
    shrink(&ix->objects, &ix->object_cap, ix->object_count,
           sizeof(*ix->objects));
    shrink(&ix->names, &ix->names_cap, ix->names_len, 1);
    shrink(&ix->segments, &ix->segment_cap, ix->segment_count,
           sizeof(*ix->segments));
    shrink(&ix->labels, &ix->label_cap, ix->label_count, sizeof(*ix->labels));
    shrink(&ix->entries, &ix->entry_cap, ix->entry_count, sizeof(*ix->entries));
    shrink(&ix->entry_names, &ix->entry_name_cap, ix->entry_name_count,
           sizeof(*ix->entry_names));
    shrink(&ix->stamps, &ix->stamp_cap, ix->stamp_count, sizeof(*ix->stamps));
}

uint64_t wr_index_count(const struct wr_index *ix)
{
    return ix->count;
}

uint64_t wr_index_object_count(const struct wr_index *ix)
{
    return ix->object_count;
}

uint64_t wr_index_bytes(const struct wr_index *ix)
{
    return ix->bytes;
}

uint64_t wr_index_max_length(const struct wr_index *ix)
{
    return ix->max_length;
}

size_t wr_index_memory(const struct wr_index *ix)
{
    return sizeof(*ix) + ix->object_cap * sizeof(*ix->objects) + ix->names_cap +
           ix->segment_cap * sizeof(*ix->segments) +
           ix->label_cap * sizeof(*ix->labels) +
           ix->entry_cap * sizeof(*ix->entries) +
           ix->entry_name_cap * sizeof(*ix->entry_names) +
           ix->packed_cap * sizeof(*ix->packed) +
           ix->stamp_cap * sizeof(*ix->stamps) + wr_intern_memory(&ix->dirs) +
           wr_intern_memory(&ix->classes) + wr_intern_memory(&ix->stamped) +
           ix->issue_cap * sizeof(*ix->issues);
}

/* The last segment whose first sample is not behind i. */
static const struct segment *find_segment(const struct wr_index *ix, uint64_t i)
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
    const struct segment *s = find_segment(ix, i);
    uint64_t k = i - s->first;

    if (s->kind == SEGMENT_WHOLE) {
        const struct object *o = &ix->objects[s->object + k];

        *ret = (struct wr_place){.object = s->object + k,
                                 .length = o->size,
                                 .label = o->label,
                                 .whole = true};
        return;
    }
    if (s->kind == SEGMENT_RECORDS) {
        const struct entry *e = &ix->entries[s->labels + k];

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
        .label = s->labels == NO_LABELS ? WEIR_NO_LABEL
                                        : ix->labels[s->labels + k],
    };
}

const char *wr_index_sample_name(const struct wr_index *ix, uint64_t i)
{
    const struct segment *s = find_segment(ix, i);

    if (s->kind != SEGMENT_RECORDS || !ix->entry_name_count)
        return NULL;
    return ix->names + ix->entry_names[s->labels + (i - s->first)];
}

size_t wr_index_object_path(const struct wr_index *ix, uint64_t object,
                            char *buf, size_t cap)
{
    const struct object *o = &ix->objects[object];
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
    uint64_t h = ix->count;

    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++)
        h = XXH3_64bits_withSeed(parts[k].at, parts[k].bytes, h);
    return h;
}

const struct wr_sample_shape *wr_index_shape(const struct wr_index *ix)
{
    return &ix->shape;
}

uint32_t wr_index_class_count(const struct wr_index *ix)
{
    return WR_MAX((uint32_t)ix->classes.count, ix->max_label_plus_1);
}

const char *wr_index_class_name(const struct wr_index *ix, uint32_t label)
{
    return label < ix->classes.count ? wr_intern_text(&ix->classes, label)
                                     : NULL;
}

uint64_t wr_index_issue_count(const struct wr_index *ix)
{
    return ix->issue_count;
}

const weir_issue *wr_index_issue(const struct wr_index *ix, uint64_t k)
{
    return k < ix->issue_kept ? &ix->issues[k] : NULL;
}
