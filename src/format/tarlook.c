/* tarlook.c - a look at the first samples of archives, to find their fields.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What cannot be read now is said when the archive is scanned. */
#include "format/tarfields.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"
#include "format/guess.h"

#define LOOK_ARCHIVES 8u
#define LOOK_FIRST    64u                  /* samples of the first archive */
#define LOOK_OTHERS   8u                   /* of each of the others */
#define LOOK_BYTES    (UINT64_C(64) << 20) /* of one that is inflated */

/* An ending, as the first samples have it. */
struct seen_ending {
    char name[WR_FIELD_NAME];
    enum wr_tar_part part;
    unsigned samples; /* that have it */
    bool text;        /* JSON or an id that says more than a label */
    bool array;       /* x is one of it, */
    bool filled;      /* which has elements */
    struct wr_field x;
};

struct tar_look {
    struct seen_ending list[WR_TAR_MAX_FIELDS];
    unsigned count;
    bool full;                         /* there are more endings */
    unsigned samples, pictures, views; /* samples; with a picture, with more */
    /* the sample that is looked at: */
    bool seen[WR_TAR_MAX_FIELDS];
    unsigned own_pictures;
    char key[WR_TAR_MAX_NAME + 1];
    char label[WR_TAR_MAX_LABEL];
};

static bool is_picture(enum wr_tar_part part)
{
    return part == WR_TAR_PICTURE || part == WR_TAR_VIEW;
}

static bool is_npy(const char *ext)
{
    return !wr_strcasecmp(ext, "npy") || wr_name_has_ext(ext, ".npy");
}

static void close_sample(struct tar_look *look)
{
    if (!look->key[0])
        return;
    look->key[0] = '\0';
    look->samples++;
    look->pictures += look->own_pictures > 0;
    look->views += look->own_pictures > 1;
    look->own_pictures = 0;
    for (unsigned k = 0; k < look->count; k++) {
        look->list[k].samples += look->seen[k];
        look->seen[k] = false;
    }
}

static void lower(char *text)
{
    for (; *text; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text = (char)(*text - 'A' + 'a');
}

/* NULL: its members are no field's. */
static struct seen_ending *ending_of(struct tar_look *look, const char *ext,
                                     enum wr_tar_part part)
{
    struct seen_ending *e;

    if (part == WR_TAR_LABEL_TEXT || !wr_tar_is_field_name(ext))
        return NULL;
    for (unsigned k = 0; k < look->count; k++)
        if (!wr_strcasecmp(look->list[k].name, ext))
            return &look->list[k];
    if (look->count == WR_TAR_MAX_FIELDS) {
        look->full = true;
        return NULL;
    }
    e = &look->list[look->count++];
    e->part = part;
    memcpy(e->name, ext, strlen(ext) + 1);
    lower(e->name);
    return e;
}

static void open_sample(struct tar_look *look, const struct wr_tar_member *m,
                        size_t key_len, const struct seen_ending *e)
{
    bool same = !strncmp(look->key, m->name, key_len) && !look->key[key_len];

    if (same && !(e && look->seen[e - look->list]))
        return;
    close_sample(look);
    memcpy(look->key, m->name, key_len);
    look->key[key_len] = '\0';
}

/* What can only be known from its bytes. */
static int look_inside(struct tar_look *look, struct wr_tar_walk *w,
                       const struct wr_tar_member *m, struct seen_ending *e,
                       weir_err *err)
{
    struct wr_tar_array a;
    weir_err flaw;
    int r = 0;

    if (is_npy(e->name) && !e->filled)
        r = wr_tar_array_read(w, m, &a, &flaw, err);
    if (r > 0) {
        e->array = true;
        e->filled = a.length > 0; /* else another one may tell more */
        e->x = a.field;
        return 0;
    }
    if ((e->part != WR_TAR_JSON && e->part != WR_TAR_ID) || e->text)
        return r;
    e->text = m->size > WR_TAR_MAX_LABEL;
    if (e->text)
        return 0;
    r = wr_tar_read(w, look->label, (size_t)m->size, err);
    if (r == 0)
        r = wr_tar_is_only_label(e->part, look->label, (size_t)m->size, err);
    e->text = r == 0;
    return WR_MIN(r, 0);
}

static int look_at_member(struct tar_look *look, struct wr_tar_walk *w,
                          const struct wr_tar_member *m, weir_err *err)
{
    const char *ext = wr_tar_ending(m->name);
    struct seen_ending *e;
    int r = 0;

    if (m->flaw || !ext)
        return wr_tar_finish(w, err);
    e = ending_of(look, ext, wr_tar_part_of(ext, &(unsigned){0}));
    open_sample(look, m, (size_t)(ext - m->name) - 1, e);
    if (e) {
        look->seen[e - look->list] = true;
        look->own_pictures += is_picture(e->part);
        r = look_inside(look, w, m, e, err);
    }
    return r < 0 ? r : wr_tar_finish(w, err);
}

static int look_at_archive(struct tar_look *look, struct wr_shard_reader *in,
                           unsigned samples, weir_err *err)
{
    bool packed = wr_shard_reader_is_packed(in);
    unsigned end = look->samples + samples;
    struct wr_tar_walk *w = NULL;
    struct wr_tar_member m;
    int r = wr_tar_walk_new(&w, in, packed ? 0 : wr_shard_reader_stat(in)->size,
                            err);

    while (r == 0 && look->samples < end &&
           (!packed || wr_shard_reader_tell(in) < LOOK_BYTES) &&
           (r = wr_tar_next(w, &m, err)) > 0)
        r = look_at_member(look, w, &m, err);
    close_sample(look);
    wr_tar_walk_free(w);
    return r;
}

static int look_at_all(struct tar_look *look, struct wr_index_job *job,
                       const struct wr_listing *l, weir_err *err)
{
    size_t n = WR_MIN(l->count, (size_t)LOOK_ARCHIVES);
    int r = 0;

    for (size_t k = 0; k < n && r == 0; k++) {
        struct wr_shard_reader *in = NULL;

        r = wr_shard_reader_open(&in, job->store,
                                 wr_listing_name(l, k * l->count / n), err);
        if (r == 0)
            r = look_at_archive(look, in, k ? LOOK_OTHERS : LOOK_FIRST, err);
        wr_shard_reader_close(in);
        if (!wr_index_fails(r))
            r = wr_index_job_progress(job, err);
    }
    return r;
}

/* --- what is made of it --- */

/* In which order fields come: what is to be learned from first. -1: labels. */
static int rank_of(const struct seen_ending *e)
{
    return e->part == WR_TAR_PICTURE              ? 0
           : e->part == WR_TAR_VIEW               ? 1
           : e->array                             ? 2
           : e->part == WR_TAR_NO_PART || e->text ? 3
                                                  : -1;
}

static void add_ending(struct wr_tar_fields *f, const struct seen_ending *e,
                       unsigned samples)
{
    struct wr_field *to = &f->list[f->count];
    int rank = rank_of(e);

    if (f->image && (rank < 2 || !strcmp(e->name, f->list[0].name)))
        return;
    *to = rank == 2
              ? e->x
              : wr_guess_field(e->name,
                               rank < 2 ? WEIR_FIELD_PICTURE : WEIR_FIELD_BYTES,
                               WEIR_U8);
    /* What most samples lack would make them bad, unless it is asked for. */
    to->pub.is_extra = rank == 3 ? f->pictures || f->arrays
                                 : e->samples * 2 < samples;
    memcpy(to->name, e->name, sizeof(to->name));
    to->column = f->count++;
    f->pictures |= rank < 2;
    f->arrays |= rank == 2;
}

static void add_image(struct wr_tar_fields *f)
{
    f->list[0] = wr_guess_field("image", WEIR_FIELD_PICTURE, WEIR_U8);
    f->count = 1;
    f->image = f->pictures = true;
}

static void make_fields(const struct tar_look *look, struct wr_tar_fields *f)
{
    *f = (struct wr_tar_fields){0};
    if (look->pictures && look->views * 2 < look->pictures)
        add_image(f);
    for (int rank = 0; rank < 4; rank++)
        for (unsigned k = 0; k < look->count; k++)
            if (rank_of(&look->list[k]) == rank && f->count < WR_TAR_MAX_FIELDS)
                add_ending(f, &look->list[k], look->samples);
    if (!f->count)
        add_image(f);
}

int wr_tar_look(struct wr_index_job *job, const struct wr_listing *l,
                struct wr_tar_fields *ret, weir_err *err)
{
    struct tar_look *look = calloc(1, sizeof(*look));
    weir_err more;
    int r;

    if (!look)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = look_at_all(look, job, l, err);
    if (r == 0 && look->full) {
        wr_fail(&more, WEIR_ELIMIT,
                "more than %u endings: other members than those of the first "
                "ones are not read",
                WR_TAR_MAX_FIELDS);
        wr_index_job_issue(job, wr_listing_name(l, 0), &more);
    }
    if (r == 0)
        make_fields(look, ret);
    free(look);
    return r;
}
