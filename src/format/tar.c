/* tar.c - archives of pictures and labels, grouped as WebDataset does.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Members that follow each other and have the same name up to the first dot
 * of the basename are one sample; that part of the name is its key. The
 * sample's range is the picture itself, so there is nothing to unpack. */
#include "format/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "format/intern.h"
#include "format/pictures.h"
#include "format/shards.h"
#include "format/tarlabel.h"
#include "format/tarmember.h"

#define BEHIND_MAX (2u << 20) /* bytes behind the end that are looked at */
#define LOOK_AT    256 /* entries of a folder, to find out what it holds */

/* The sample that is being put together. */
struct member_group {
    bool open;
    uint64_t start; /* where the data of its first member lie */
    uint64_t offset, length;
    enum wr_tar_part picture; /* what was taken; WR_TAR_NO_PART: nothing */
    enum wr_tar_part labelled;
    uint32_t label;
    unsigned views; /* pictures that are not plain ones */
    bool refused;   /* a picture was too large, and that was said */
    unsigned seen;  /* bits of wr_tar_part_of */
    char key[WR_TAR_MAX_NAME + 1];
};

struct tar_scan {
    struct wr_shard *shard;   /* borrowed */
    struct wr_tar_walk *walk; /* owned */
    bool has_labels;          /* samples before had labels */
    struct member_group group;
    char text[WR_TAR_MAX_LABEL];
};

static bool is_shard(const char *name)
{
    return wr_name_has_ext(name, ".tar") || wr_name_has_ext(name, ".tar.gz") ||
           wr_name_has_ext(name, ".tgz");
}

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

/* The sample is complete: it has a picture, or it is none. */
static int close_group(struct tar_scan *t, weir_err *err)
{
    struct member_group *g = &t->group;
    weir_err e;

    if (!g->open)
        return 0;
    g->open = false;
    if (g->picture == WR_TAR_NO_PART && g->refused)
        return 0;
    if (g->picture == WR_TAR_NO_PART) {
        wr_fail(&e, WEIR_EFORMAT, "offset %" PRIu64 ": '%.200s' has no picture",
                g->start, g->key);
        note(t, &e);
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
    return wr_shard_add(t->shard,
                        &(struct wr_record){.offset = g->offset,
                                            .length = g->length,
                                            .label = g->label,
                                            .name = g->key},
                        err);
}

static void open_group(struct tar_scan *t, const struct wr_tar_member *m,
                       size_t key_len)
{
    struct member_group *g = &t->group;

    g->open = true;
    g->start = m->offset;
    g->picture = g->labelled = WR_TAR_NO_PART;
    g->label = WEIR_NO_LABEL;
    g->views = g->seen = 0;
    g->refused = false;
    memcpy(g->key, m->name, key_len);
    g->key[key_len] = '\0';
}

/* An ending that comes again under the same key begins another sample: so two
 * samples of one key that follow each other stay two. */
static bool is_in_group(const struct member_group *g, const char *name,
                        size_t key_len, unsigned bit)
{
    return g->open && !strncmp(g->key, name, key_len) && !g->key[key_len] &&
           !(g->seen & bit);
}

static void take_picture(struct tar_scan *t, const struct wr_tar_member *m,
                         enum wr_tar_part part)
{
    struct member_group *g = &t->group;
    weir_err e;

    g->views += part == WR_TAR_VIEW;
    if (m->size > WR_RECORD_MAX) {
        wr_fail(&e, WEIR_ELIMIT, "%" PRIu64 " bytes (limit %u)", m->size,
                WR_RECORD_MAX);
        note_member(t, m, &e);
        g->refused = true;
    } else if (part > g->picture) {
        g->picture = part;
        g->offset = m->offset;
        g->length = m->size;
    }
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

static int take_member(struct tar_scan *t, const struct wr_tar_member *m,
                       weir_err *err)
{
    const char *slash = strrchr(m->name, '/');
    const char *base = slash ? slash + 1 : m->name;
    const char *dot = strchr(base, '.');
    size_t key_len = dot ? (size_t)(dot - m->name) : 0;
    enum wr_tar_part part;
    unsigned bit;
    int r;

    if (m->flaw)
        note(t, m->flaw);
    if (m->flaw || !dot || dot == base) /* README, .hidden: no sample's */
        return wr_tar_finish(t->walk, err);
    part = wr_tar_part_of(dot + 1, &bit);
    if (!is_in_group(&t->group, m->name, key_len, bit)) {
        r = close_group(t, err);
        if (r < 0)
            return r;
        open_group(t, m, key_len);
    }
    t->group.seen |= bit;
    if (part == WR_TAR_JSON || part == WR_TAR_LABEL_TEXT)
        return take_label(t, m, part, err);
    r = wr_tar_finish(t->walk, err); /* it counts when all of it is there */
    if (r == 0 && part != WR_TAR_NO_PART)
        take_picture(t, m, part);
    return r;
}

static int walk_members(struct tar_scan *t, weir_err *err)
{
    const struct member_group *g = &t->group;
    struct wr_tar_member m;
    weir_err e;
    int r;

    while ((r = wr_tar_next(t->walk, &m, err)) > 0) {
        r = take_member(t, &m, err);
        if (r < 0)
            break;
    }
    if (r == 0)
        return close_group(t, err);
    /* A sample at the cut is kept, unless its label is what was cut off. */
    if (r != WEIR_ECANCELED && !wr_err_is_lack(r) && g->picture &&
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
    struct tar_scan *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    t->shard = s;
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

/* --- folders as classes --- */

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
static int classify(struct wr_index_job *job, weir_err *err)
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

static int tar_index(struct wr_index_job *job, weir_err *err)
{
    struct wr_listing l = {0};
    int r;

    r = wr_shards_list(job, is_shard, &l, err);
    if (r == 0)
        r = wr_index_job_picture(job, /* unpacked= */ false, err);
    if (r == 0)
        r = wr_shards_index(job, &l, tar_scan, err);
    if (r == 0)
        r = classify(job, err);
    wr_listing_done(&l);
    return r;
}

/* --- is it one? --- */

struct tar_look {
    unsigned seen;
    bool shard, folder;
};

static int look_at(void *arg, const struct wr_entry *e)
{
    struct tar_look *look = arg;

    if (e->name[0] != '.') {
        look->shard |= e->kind == WR_KIND_FILE && is_shard(e->name);
        look->folder |= e->kind == WR_KIND_DIR;
    }
    return ++look->seen >= LOOK_AT;
}

static int tar_probe(struct wr_store *st, const char *leaf)
{
    uint8_t block[WR_TAR_BLOCK];
    struct tar_look look = {0};
    int64_t n;
    int r;

    if (leaf && is_shard(leaf))
        return 100;
    if (leaf) {
        n = wr_shard_head(st, leaf, block, sizeof(block));
        if (n < 0)
            return (int)n;
        return n == sizeof(block) && wr_tar_is_head(block) ? 70 : 0;
    }
    r = st->ops->list(st, "", look_at, &look, NULL);
    if (wr_err_is_lack(r))
        return r;
    if (!look.shard)
        return 0;
    return look.folder ? 40 : 80; /* a tree of pictures has folders */
}

const struct wr_format_ops wr_format_tar = {
    .name = "tar",
    .help = "tar archives of pictures and labels (WebDataset), or a folder of "
            "them",
    .probe = tar_probe,
    .index = tar_index,
};
