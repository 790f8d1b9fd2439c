/* tar.c - archives of pictures, arrays and labels, grouped as WebDataset does.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Members that follow each other and have the same name up to the first dot
 * of the basename are one sample; that part of the name is its key. The parts
 * of a sample are the members' own bytes: there is nothing to unpack. */
#include "format/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/intern.h"
#include "format/tarfields.h"

#define BEHIND_MAX (2u << 20) /* bytes behind the end that are looked at */

/* One field of the sample that is being put together. */
struct group_part {
    uint64_t offset, length; /* WR_ABSENT: it has none */
    uint64_t dims[7];        /* of an array */
};

/* The sample that is being put together. */
struct member_group {
    bool open;
    uint64_t start; /* where the data of its first member lie */
    struct group_part parts[WR_TAR_MAX_FIELDS];
    enum wr_tar_part picture; /* what was taken as the one picture;
                                 WR_TAR_NO_PART: nothing */
    enum wr_tar_part labelled;
    uint32_t label;
    unsigned views; /* pictures that are not plain ones */
    bool refused;   /* a picture was too large, and that was said */
    bool bad;       /* a field is of no use, and that was said */
    uint64_t seen;  /* bits of wr_tar_part_of, and of fields above them */
    char key[WR_TAR_MAX_NAME + 1];
};

/* What all scans share. */
struct tar_job {
    struct wr_tar_fields fields;
    struct wr_tar_odds *odds; /* owned: one per archive, filled by its scan */
};

struct tar_scan {
    struct wr_shard *shard;             /* borrowed */
    const struct wr_tar_fields *fields; /* borrowed */
    struct wr_tar_odds *odds;           /* borrowed */
    struct wr_tar_walk *walk;           /* owned */
    bool has_labels;                    /* samples before had labels */
    bool strange;                       /* an unknown ending was named */
    struct member_group group;
    char text[WR_TAR_MAX_LABEL];
};

/* --- one shard (any thread) --- */

static void note(struct tar_scan *t, const weir_err *e)
{
    wr_shard_note(t->shard, t->shard->path, e);
}

static void note_member(struct tar_scan *t, const struct wr_tar_member *m,
                        const weir_err *e)
{
    weir_err full;

    wr_fail(&full, e->code, "offset %" PRIu64 ": member '%.200s': %s",
            m->offset, m->name, e->msg);
    note(t, &full);
}

/* Is it the field that takes one picture of any ending? */
static bool is_one_picture(const struct tar_scan *t, unsigned column)
{
    return t->fields->image && column == 0;
}

static bool has_part(const struct member_group *g, unsigned column)
{
    return g->parts[column].offset != WR_ABSENT;
}

/* Does it have something to learn from? Bytes count where there is nothing
 * else. With `all` it must have every such field. */
static bool is_sample(const struct tar_scan *t, bool all)
{
    const struct wr_tar_fields *f = t->fields;

    for (unsigned k = 0; k < f->count; k++) {
        bool counts = f->list[k].pub.kind != WEIR_FIELD_BYTES ||
                      !(f->pictures || f->arrays);

        if (counts && has_part(&t->group, k) != all)
            return !all;
    }
    return all;
}

static void note_none(struct tar_scan *t)
{
    const struct wr_tar_fields *f = t->fields;
    weir_err e;

    wr_fail(&e, WEIR_EFORMAT, "offset %" PRIu64 ": '%.200s' has no %s",
            t->group.start, t->group.key,
            f->pictures && f->arrays ? "picture and no array"
            : f->arrays              ? "array"
            : f->pictures            ? "picture"
                                     : "member but a label");
    note(t, &e);
}

/* Arrays of other dimensions than the first ones, and those that are missing
 * where others come to differ. */
static int keep_odds(struct tar_scan *t, weir_err *err)
{
    for (unsigned k = 0; k < t->fields->count; k++) {
        const struct wr_field *f = &t->fields->list[k];
        const struct group_part *p = &t->group.parts[k];
        struct wr_tar_odds *o = t->odds;
        size_t bytes = f->pub.ndim * sizeof(*p->dims);
        int r;

        if (f->pub.kind != WEIR_FIELD_TENSOR ||
            !memcmp(p->dims, f->pub.dims, bytes))
            continue;
        r = wr_shard_keep(t->shard, sizeof(*o->list), err);
        if (r < 0)
            return r;
        if (!wr_grow(&o->list, &o->cap, o->count + 1, sizeof(*o->list)))
            return wr_fail(err, WEIR_ENOMEM, "out of memory for the index");
        o->list[o->count] = (struct wr_tar_odd){
            .sample = o->samples,
            .column = k,
            .absent = !has_part(&t->group, k)};
        memcpy(o->list[o->count++].dims, p->dims, bytes);
    }
    return 0;
}

static int add_sample(struct tar_scan *t, weir_err *err)
{
    const struct member_group *g = &t->group;
    struct wr_record parts[WR_TAR_MAX_FIELDS];
    int r = keep_odds(t, err);

    if (r < 0)
        return r;
    for (unsigned k = 0; k < t->fields->count; k++) {
        const struct group_part *p = &g->parts[k];
        bool picture = t->fields->list[k].pub.kind == WEIR_FIELD_PICTURE;

        /* No bytes are as good as none, but for a picture. */
        parts[k] = (struct wr_record){
            .offset = p->length || picture ? p->offset : WR_ABSENT,
            .length = p->length,
            .label = k ? WEIR_NO_LABEL : g->label,
            .name = k ? NULL : g->key};
    }
    r = wr_shard_add(t->shard, parts, err);
    t->odds->samples += r == 0;
    return r;
}

/* The sample is complete: it has a picture, say, or it is none. */
static int close_group(struct tar_scan *t, weir_err *err)
{
    struct member_group *g = &t->group;
    weir_err e;

    if (!g->open)
        return 0;
    g->open = false;
    if (g->bad)
        return 0;
    if (!is_sample(t, /* all= */ false)) {
        if (!g->refused)
            note_none(t);
        return 0;
    }
    if (g->picture == WR_TAR_VIEW && g->views > 1) {
        wr_fail(&e, WEIR_EFORMAT,
                "offset %" PRIu64
                ": '%.200s' has %u pictures; the first is taken",
                g->start, g->key, g->views);
        note(t, &e);
    }
    t->has_labels |= g->label != WEIR_NO_LABEL;
    return add_sample(t, err);
}

static void open_group(struct tar_scan *t, const struct wr_tar_member *m,
                       size_t key_len)
{
    struct member_group *g = &t->group;

    g->open = true;
    g->start = m->offset;
    g->picture = g->labelled = WR_TAR_NO_PART;
    g->label = WEIR_NO_LABEL;
    g->views = 0;
    g->seen = 0;
    g->refused = g->bad = false;
    for (unsigned k = 0; k < t->fields->count; k++)
        g->parts[k] = (struct group_part){.offset = WR_ABSENT};
    memcpy(g->key, m->name, key_len);
    g->key[key_len] = '\0';
}

/* An ending that comes again under the same key begins another sample: so two
 * samples of one key that follow each other stay two. */
static bool is_in_group(const struct member_group *g, const char *name,
                        size_t key_len, uint64_t bits)
{
    return g->open && !strncmp(g->key, name, key_len) && !g->key[key_len] &&
           !(g->seen & bits);
}

/* The range of a member as the sample's part in `column`; false: the index
 * cannot hold it. Samples go without such bytes, but not without a picture,
 * unless there is another one to be taken. */
static bool take_part(struct tar_scan *t, const struct wr_tar_member *m,
                      unsigned column)
{
    struct member_group *g = &t->group;
    weir_err e;

    if (m->size > WR_RECORD_MAX) {
        wr_fail(&e, WEIR_ELIMIT, "%" PRIu64 " bytes (limit %u)", m->size,
                WR_RECORD_MAX);
        note_member(t, m, &e);
        g->refused |= is_one_picture(t, column);
        g->bad |= t->fields->list[column].pub.kind != WEIR_FIELD_BYTES &&
                  !is_one_picture(t, column);
        return false;
    }
    g->parts[column].offset = m->offset;
    g->parts[column].length = m->size;
    return true;
}

/* One of several pictures, of which one is taken. */
static void take_picture(struct tar_scan *t, const struct wr_tar_member *m,
                         enum wr_tar_part part)
{
    struct member_group *g = &t->group;

    g->views += part == WR_TAR_VIEW;
    if ((part > g->picture || m->size > WR_RECORD_MAX) && take_part(t, m, 0))
        g->picture = part;
}

/* Reads the header of an array. One that is of no use makes the sample so;
 * that is said once. */
static int take_array(struct tar_scan *t, const struct wr_tar_member *m,
                      unsigned column, weir_err *err)
{
    struct group_part *p = &t->group.parts[column];
    struct wr_tar_array a;
    weir_err flaw;
    int r = 1;

    if (!t->group.bad)
        r = wr_tar_array_read(t->walk, m, &a, &flaw, err);
    if (r > 0 && !t->group.bad &&
        wr_tar_array_check(&t->fields->list[column], &a.field, &flaw) < 0)
        r = 0;
    if (r == 0)
        note_member(t, m, &flaw);
    t->group.bad |= r == 0;
    if (r >= 0)
        r = wr_tar_finish(t->walk, err); /* it counts when all of it is there */
    if (r < 0 || t->group.bad)
        return r;
    p->offset = a.offset;
    p->length = a.length;
    memcpy(p->dims, a.field.pub.dims, sizeof(p->dims));
    return 0;
}

/* Reads a label; one that is of no use leaves the sample without. */
static int take_label(struct tar_scan *t, const struct wr_tar_member *m,
                      enum wr_tar_part part, weir_err *err)
{
    struct member_group *g = &t->group;
    weir_err e;
    int r;

    if (part <= g->labelled)
        return wr_tar_finish(t->walk, err);
    if (m->size > WR_TAR_MAX_LABEL) {
        wr_fail(&e, WEIR_ELIMIT, "%" PRIu64 " bytes for a label (limit %u)",
                m->size, WR_TAR_MAX_LABEL);
        note_member(t, m, &e);
        return wr_tar_finish(t->walk, err);
    }
    r = wr_tar_read(t->walk, t->text, m->size, err);
    if (r < 0)
        return r;
    if (wr_tar_label_parse(part, t->text, m->size, &g->label, &e) < 0)
        note_member(t, m, &e);
    else if (g->label != WEIR_NO_LABEL || part == WR_TAR_LABEL_TEXT)
        g->labelled = part;
    return 0;
}

/* Fields were found by the first samples; what comes new later is not one. */
static void note_strange(struct tar_scan *t, const struct wr_tar_member *m,
                         const char *ext)
{
    weir_err e;

    if (t->strange || !wr_tar_is_field_name(ext))
        return;
    t->strange = true;
    wr_fail(&e, WEIR_EFORMAT,
            "no sample that was looked at first has such a member: members "
            "with this ending are not read");
    note_member(t, m, &e);
}

static int take_member(struct tar_scan *t, const struct wr_tar_member *m,
                       const char *ext, weir_err *err)
{
    size_t key_len = (size_t)(ext - m->name) - 1;
    unsigned bit, column;
    enum wr_tar_part part = wr_tar_part_of(ext, &bit);
    uint64_t bits = bit;
    int r;

    column = wr_tar_fields_find(t->fields, ext, part);
    if (column != WR_NO_COLUMN && !is_one_picture(t, column))
        bits |= UINT64_C(1) << (32 + column);
    if (!is_in_group(&t->group, m->name, key_len, bits)) {
        r = close_group(t, err);
        if (r < 0)
            return r;
        open_group(t, m, key_len);
    }
    t->group.seen |= bits;
    if (column == WR_NO_COLUMN && part < WR_TAR_ID)
        note_strange(t, m, ext);
    if (column != WR_NO_COLUMN &&
        t->fields->list[column].pub.kind == WEIR_FIELD_TENSOR)
        return take_array(t, m, column, err);
    if (part >= WR_TAR_ID)
        r = take_label(t, m, part, err);
    else
        r = wr_tar_finish(t->walk, err); /* it counts when all of it is there */
    if (r == 0 && is_one_picture(t, column))
        take_picture(t, m, part);
    else if (r == 0 && column != WR_NO_COLUMN)
        take_part(t, m, column);
    return r;
}

static int next_member(struct tar_scan *t, const struct wr_tar_member *m,
                       weir_err *err)
{
    const char *ext = wr_tar_ending(m->name);

    if (m->flaw)
        note(t, m->flaw);
    if (m->flaw || !ext)
        return wr_tar_finish(t->walk, err);
    return take_member(t, m, ext, err);
}

static int walk_members(struct tar_scan *t, weir_err *err)
{
    const struct member_group *g = &t->group;
    struct wr_tar_member m;
    weir_err e;
    int r;

    while ((r = wr_tar_next(t->walk, &m, err)) > 0) {
        r = next_member(t, &m, err);
        if (r < 0)
            break;
    }
    if (r == 0)
        return close_group(t, err);
    /* A sample at the cut is kept, unless its label is what was cut off. */
    if (r != WEIR_ECANCELED && !wr_index_fails(r) && g->open &&
        is_sample(t, /* all= */ true) &&
        (g->label != WEIR_NO_LABEL || !t->has_labels))
        close_group(t, &e);
    return r;
}

static bool is_zero(const uint8_t *block)
{
    return !block[0] && !memcmp(block, block + 1, WR_TAR_BLOCK - 1);
}

/* Archives that were put behind each other (by cat, say) have more behind the
 * end of the first, which tar itself leaves out without a word. */
static int look_behind(struct tar_scan *t, weir_err *err)
{
    struct wr_shard_reader *in = t->shard->reader;
    uint8_t block[WR_TAR_BLOCK] = {0};
    uint64_t start = wr_shard_reader_tell(in), at = start;
    weir_err e;

    for (; is_zero(block) && at - start < BEHIND_MAX; at += sizeof(block)) {
        int64_t n = wr_shard_reader_read(in, block, sizeof(block), err);

        if (n < (int64_t)sizeof(block))
            return n < 0 ? (int)n : 0;
    }
    if (!is_zero(block) && wr_tar_is_head(block)) {
        wr_fail(&e, WEIR_EFORMAT,
                "offset %" PRIu64 ": another archive follows the end of this "
                "one and is not read: join them by tar --concatenate, not by "
                "cat",
                at - sizeof(block));
        note(t, &e);
    }
    return 0;
}

/* The length of gzip, and whether its checksum is right, is known then. */
static int read_to_end(struct wr_shard *s, weir_err *err)
{
    int64_t n = wr_shard_reader_skip(s->reader, INT64_MAX, err);

    return n < 0 ? (int)n : 0;
}

static int tar_scan(struct wr_shard *s, weir_err *err)
{
    uint64_t size = wr_shard_reader_is_packed(s->reader) ? 0 : s->stat.size;
    struct tar_job *job = s->arg;
    struct tar_scan *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    t->shard = s;
    t->fields = &job->fields;
    t->odds = &job->odds[s->number];
    r = wr_tar_walk_new(&t->walk, s->reader, size, err);
    if (r == 0)
        r = walk_members(t, err);
    if (r == 0)
        r = look_behind(t, err);
    if (r == 0)
        r = read_to_end(s, err);
    wr_tar_walk_free(t->walk);
    free(t);
    return r;
}

/* --- folders of keys as classes of samples --- */

static size_t folder_len(const char *key)
{
    const char *slash = strchr(key, '/');

    return slash ? (size_t)(slash - key) : 0;
}

/* The number of the first folder of sample i's key among `names`;
 * WEIR_NO_LABEL: it has none. */
static int64_t folder_of(const struct wr_index *ix, uint64_t i,
                         struct wr_intern *names, weir_err *err)
{
    const char *key = wr_index_sample_name(ix, i);
    size_t len = folder_len(key);
    int64_t k = len ? wr_intern_add(names, key, len) : WEIR_NO_LABEL;

    return k < 0
               ? wr_fail(err, (int)k, "cannot keep the class of '%.200s'", key)
               : k;
}

/* Progress now and then, while sample i is looked at. */
static int tick(struct wr_index_job *job, uint64_t i, weir_err *err)
{
    return i % 4096 ? 0 : wr_index_job_progress(job, err);
}

static int find_folders(struct wr_index_job *job, struct wr_intern *names,
                        weir_err *err)
{
    int r = 0;

    for (uint64_t i = 0; i < wr_index_count(job->index) && r == 0; i++) {
        int64_t k = folder_of(job->index, i, names, err);

        r = k < 0 ? (int)k : tick(job, i, err);
    }
    return r;
}

static int set_labels(struct wr_index_job *job, struct wr_intern *names,
                      const uint32_t *rank, weir_err *err)
{
    int r = 0;

    for (uint64_t i = 0; i < wr_index_count(job->index) && r == 0; i++) {
        int64_t k = folder_of(job->index, i, names, err); /* a known one */

        if (k >= 0 && k != WEIR_NO_LABEL)
            wr_index_set_label(job->index, i, rank[k]);
        r = k < 0 ? (int)k : tick(job, i, err);
    }
    return r;
}

/* Labels are in the archives, or else nowhere: then the first folder of each
 * key is its class. That is known when all is read. */
static int classify_keys(struct wr_index_job *job, weir_err *err)
{
    struct wr_intern names = {0};
    uint32_t *rank = NULL;
    int r;

    if (wr_index_class_count(job->index))
        return 0;
    r = find_folders(job, &names, err);
    if (r == 0 && names.count)
        r = wr_index_add_classes(job->index, &names, &rank, err);
    if (r == 0 && names.count)
        r = set_labels(job, &names, rank, err);
    wr_intern_done(&names);
    free(rank);
    return r;
}

static int index_archives(struct wr_index_job *job, const struct wr_listing *l,
                          struct tar_job *tj, weir_err *err)
{
    struct wr_shard_scan scan = {.fn = tar_scan, .arg = tj};
    int r = wr_tar_look(job, l, &tj->fields, err);

    scan.columns = tj->fields.count;
    if (r == 0)
        r = wr_shards_index(job, l, &scan, err);
    if (r < 0)
        return r;
    wr_index_order(job->index);
    r = classify_keys(job, err);
    if (r == 0)
        r = wr_tar_fields_add(&tj->fields, job->index, tj->odds, l->count, err);
    return r;
}

static int tar_index(struct wr_index_job *job, weir_err *err)
{
    struct tar_job *tj = calloc(1, sizeof(*tj));
    struct wr_listing l = {0};
    int r;

    if (!tj)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_files_list(job, &wr_format_tar.files, &l, err);
    if (r == 0 && !(tj->odds = calloc(l.count + 1, sizeof(*tj->odds))))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0)
        r = index_archives(job, &l, tj, err);
    for (size_t k = 0; tj->odds && k < l.count; k++)
        free(tj->odds[k].list);
    free(tj->odds);
    free(tj);
    wr_listing_done(&l);
    return r;
}

/* --- is it one? --- */

static int check_head(struct wr_store *st, const char *path)
{
    uint8_t block[WR_TAR_BLOCK];
    int64_t n = wr_shard_head(st, path, block, sizeof(block));

    return n < 0 ? (int)n : n == sizeof(block) && wr_tar_is_head(block);
}

const struct wr_format_ops wr_format_tar = {
    .name = "tar",
    .help = "tar archives of samples (WebDataset), or a folder of them",
    .files = {.endings = ".tar .tar.gz .tgz",
              .named = 100,
              .check = check_head,
              .checked = 70,
              .folder = 80,
              .tree = 40}, /* a tree of pictures has folders */
    .index = tar_index,
};
