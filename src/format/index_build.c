/* index_build.c - filling an index, sample by sample.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/index_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/mem.h"

struct wr_index *wr_index_new(void)
{
    return calloc(1, sizeof(struct wr_index));
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
    free(ix->stamps);
    free(ix->packed);
    free(ix->entry_names);
    free(ix->entries);
    free(ix->labels);
    free(ix->segments);
    free(ix->names);
    free(ix->objects);
}

void wr_index_free(struct wr_index *ix)
{
    if (!ix)
        return;
    if (!ix->borrowed)
        free_arrays(ix);
    if (ix->map)
        munmap(ix->map, ix->map_len);
    free(ix->issues);
    free(ix->file);
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
    ix->last_is_sampled = false;
    return (int64_t)ix->object_count++;
}

/* Books `count` samples of `length` bytes into the sums. */
static int add_totals(struct wr_index *ix, uint64_t count, uint64_t length,
                      weir_err *err)
{
    size_t bytes, total, samples;

    if (!wr_mul_ok(count, length, &bytes) ||
        !wr_add_ok(ix->totals.bytes, bytes, &total) ||
        !wr_add_ok(ix->totals.count, count, &samples))
        return wr_fail(err, WEIR_ELIMIT,
                       "index: the samples' sizes overflow 64 bits");
    ix->totals.bytes = total;
    ix->totals.count = samples;
    ix->totals.max_length = WR_MAX(ix->totals.max_length, length);
    return 0;
}

static void note_label(struct wr_index *ix, uint32_t label)
{
    if (label != WEIR_NO_LABEL && label >= ix->totals.max_label_plus_1)
        ix->totals.max_label_plus_1 = label + 1;
}

static struct wr_index_segment *last_segment(struct wr_index *ix)
{
    return ix->segment_count ? &ix->segments[ix->segment_count - 1] : NULL;
}

static bool push_segment(struct wr_index *ix, const struct wr_index_segment *s)
{
    if (!wr_grow(&ix->segments, &ix->segment_cap, ix->segment_count + 1,
                 sizeof(*ix->segments)))
        return false;
    ix->segments[ix->segment_count++] = *s;
    return true;
}

int wr_index_add_whole(struct wr_index *ix, uint32_t label, weir_err *err)
{
    struct wr_index_segment *last = last_segment(ix);
    struct wr_index_object *o;
    uint64_t number;
    int r;

    if (!ix->object_count || ix->last_is_sampled)
        return wr_fail(err, WEIR_EINVAL,
                       "index: a whole sample needs an object of its own");
    number = ix->object_count - 1;
    o = &ix->objects[number];
    if (!last || last->kind != WR_SEGMENT_WHOLE ||
        last->object + last->count != number) {
        struct wr_index_segment s = {.first = ix->totals.count,
                                     .object = number,
                                     .kind = WR_SEGMENT_WHOLE};

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
                       "index: a run reaches beyond the end of its object");
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
    struct wr_index_segment s = {.first = ix->totals.count,
                                 .count = count,
                                 .offset = offset,
                                 .length = length,
                                 .labels = labels ? ix->label_count
                                                  : WR_INDEX_NO_LABELS,
                                 .kind = WR_SEGMENT_RUN};
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
    ix->packed[ix->packed_count++] = (struct wr_index_packed){
        .object = ix->object_count - 1, .inflated = inflated};
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
                       "index: a record reaches beyond the end of its object");
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
    struct wr_index_segment *last = last_segment(ix);
    int r = check_record(ix, rec, err);

    if (r < 0)
        return r;
    if (!grow_records(ix, name_len))
        return fail_memory(err);
    if (!last || last->kind != WR_SEGMENT_RECORDS ||
        last->object != ix->object_count - 1) {
        struct wr_index_segment s = {.first = ix->totals.count,
                                     .object = ix->object_count - 1,
                                     .labels = ix->entry_count,
                                     .kind = WR_SEGMENT_RECORDS};

        if (!push_segment(ix, &s))
            return fail_memory(err);
        last = last_segment(ix);
    }
    r = add_totals(ix, 1, rec->length, err);
    if (r < 0)
        return r;
    last->count++;
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
    const struct wr_index_segment *s = wr_index_find_segment(ix, i);

    assert(s->kind == WR_SEGMENT_RECORDS);
    ix->entries[s->labels + (i - s->first)].label = label;
    note_label(ix, label);
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

    ix->issue_count++;
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

void wr_index_add_missing(struct wr_index *ix, const char *path,
                          const char *reason)
{
    static const struct wr_stamp absent = {0};

    if (ix->issue_count >= WR_INDEX_MAX_ISSUES ||
        wr_index_add_stamp(ix, path, &absent, NULL) < 0)
        ix->unsure = true;
    keep_issue(ix, path, WEIR_ENOENT, reason);
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

int wr_index_add_ignored(struct wr_index *ix, const struct wr_ignored *more,
                         weir_err *err)
{
    return wr_ignored_merge(&ix->ignored, more) ? 0 : fail_memory(err);
}

void wr_index_seal(struct wr_index *ix)
{
    wr_ignored_sort(&ix->ignored);
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
