/* tarfields.c - the fields and labels of a tar archive's samples.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/tarfields.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "codec/json_tree.h"
#include "codec/picture.h"
#include "format/array_shape.h"
#include "format/guess.h"
#include "format/intern.h"
#include "weir/dataset.h"

/* --- what a member of an archive is to its sample, and labels --- */

const char *wr_tar_ending(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strchr(base, '.');

    return dot && dot != base ? dot + 1 : NULL;
}

static const struct {
    const char *ext;
    enum wr_tar_part part;
} endings[] = {
    /* others of labels are in guess.h */
    {"cls.txt", WR_TAR_LABEL_TEXT},
    {"json", WR_TAR_JSON},
    {"id", WR_TAR_ID},
};

static enum wr_tar_part find_ending(const char *ext, unsigned *ret_bit)
{
    const char *name;
    unsigned bit = 1;

    for (unsigned k = 0; k < WR_ARRAY_LEN(endings); k++, bit <<= 1)
        if (!wr_strcasecmp(ext, endings[k].ext)) {
            *ret_bit = bit;
            return endings[k].part;
        }
    for (unsigned k = 0; (name = wr_label_name(WR_LABEL_ENDING, k));
         k++, bit <<= 1)
        if (!wr_strcasecmp(ext, name)) {
            *ret_bit = bit;
            return WR_TAR_LABEL_TEXT;
        }
    for (unsigned k = 0; wr_picture_ext_at(k); k++, bit <<= 1)
        if (!wr_strcasecmp(ext, wr_picture_ext_at(k) + 1)) {
            *ret_bit = bit;
            return WR_TAR_PICTURE;
        }
    *ret_bit = 0;
    return WR_TAR_NO_PART;
}

enum wr_tar_part wr_tar_part_of(const char *ext, unsigned *ret_bit)
{
    const char *dot = strrchr(ext, '.');
    enum wr_tar_part part = find_ending(ext, ret_bit);
    unsigned other;

    if (part == WR_TAR_NO_PART && dot &&
        find_ending(dot + 1, &other) == WR_TAR_PICTURE)
        return WR_TAR_VIEW;
    return part;
}

static int fail_number(weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "the label is no number below 4294967295");
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* "7\n" -> 7, "-1" -> WEIR_NO_LABEL */
static int parse_text(const char *p, size_t len, uint32_t *ret, weir_err *err)
{
    while (len && is_space(p[len - 1]))
        len--;
    while (len && is_space(*p)) {
        p++;
        len--;
    }
    return wr_label_of_text(p, len, ret) ? 0 : fail_number(err);
}

/* The number in a document, or NULL. */
static const json_t *find_number(const json_t *doc)
{
    const char *name;

    if (json_is_integer(doc))
        return doc;
    for (unsigned k = 0; (name = wr_label_name(WR_LABEL_BESIDE, k)); k++) {
        const json_t *value = json_object_get(doc, name);

        if (json_is_integer(value))
            return value;
    }
    return NULL;
}

static int parse_json(const char *bytes, size_t len, uint32_t *ret,
                      weir_err *err)
{
    const json_t *number;
    json_t *doc = NULL;
    int r = wr_json_load(bytes, len, JSON_DECODE_ANY, &doc, err);

    if (r < 0)
        return r;
    number = find_number(doc);
    if (!wr_label_of_number(number ? json_integer_value(number) : -1, ret))
        r = fail_number(err);
    json_decref(doc);
    return r;
}

int wr_tar_label_parse(enum wr_tar_part part, const char *bytes, size_t len,
                       uint32_t *ret, weir_err *err)
{
    if (part == WR_TAR_JSON)
        return parse_json(bytes, len, ret, err);
    if (part == WR_TAR_ID && parse_text(bytes, len, ret, NULL) < 0) {
        *ret = WEIR_NO_LABEL; /* ids are words as often as numbers */
        return 0;
    }
    return part == WR_TAR_ID ? 0 : parse_text(bytes, len, ret, err);
}

/* 1: the bytes of an ID or JSON member say a label and nothing else; 0: they do
 * not; negative: a lack of memory. */
static int tar_is_only_label(enum wr_tar_part part, const char *bytes,
                             size_t len, weir_err *err)
{
    json_t *doc = NULL;
    uint32_t label;
    int r;

    if (part == WR_TAR_ID)
        return parse_text(bytes, len, &label, NULL) == 0;
    r = wr_json_load(bytes, len, JSON_DECODE_ANY, &doc, err);
    if (r < 0)
        return r == WEIR_ENOMEM ? r : 0;
    r = find_number(doc) &&
        (json_is_integer(doc) || json_object_size(doc) == 1);
    json_decref(doc);
    return r;
}

/* --- the fields of a tar archive's samples: one for each ending --- */

unsigned wr_tar_fields_find(const struct wr_tar_fields *f, const char *ext,
                            enum wr_tar_part part)
{
    bool picture = part == WR_TAR_PICTURE || part == WR_TAR_VIEW;

    if (f->image && picture)
        return 0;
    for (unsigned k = f->image; k < f->count; k++)
        if (!wr_strcasecmp(f->list[k].name, ext))
            return k;
    return WR_NO_COLUMN;
}

/* Names that users can write in lists of fields and in schemas. */
bool wr_tar_is_field_name(const char *ext)
{
    size_t len = strlen(ext);

    if (!len || len >= WR_FIELD_NAME)
        return false;
    for (size_t k = 0; k < len; k++)
        if (ext[k] <= ' ' || ext[k] > '~' || strchr(",=:'\"\\", ext[k]))
            return false;
    return true;
}

/* --- members that are .npy files --- */

/* Arrays without elements have dimensions all the same: NumPy writes them where
 * there is nothing to be found in a picture. */
static int shape_of(struct wr_npz_array *a, struct wr_field *ret, weir_err *err)
{
    struct wr_array_shape s;
    uint64_t dims[WR_NPY_MAX_DIMS];
    int r;

    memcpy(dims, a->npy.shape, sizeof(dims));
    for (uint32_t k = 0; k < a->npy.ndim && !a->bytes; k++)
        a->npy.shape[k] = 1;
    r = wr_array_shape(a, WR_AXIS_FILE, &s, err);
    if (r < 0)
        return r;
    *ret = s.field;
    memcpy(ret->pub.dims, dims, sizeof(ret->pub.dims));
    return 0;
}

static int parse_array(const uint8_t *head, size_t len,
                       const struct wr_tar_member *m, struct wr_tar_array *ret,
                       weir_err *err)
{
    struct wr_npz_array a = {.stored_at = m->offset, .inflated = m->size};
    struct wr_tar_array x = {0};
    int r = wr_npy_parse(head, len, &a.npy, err);

    if (r == 0)
        r = wr_npz_settle(&a, err);
    if (r == 0)
        r = shape_of(&a, &x.field, err);
    if (r < 0)
        return r;
    x.offset = a.offset;
    x.length = a.bytes;
    *ret = x;
    return 0;
}

int wr_tar_array_read(struct wr_tar_walk *w, const struct wr_tar_member *m,
                      struct wr_tar_array *ret, weir_err *ret_flaw,
                      weir_err *err)
{
    uint8_t prefix[WR_NPY_PREFIX], *head;
    size_t have = (size_t)WR_MIN(m->size, (uint64_t)sizeof(prefix));
    uint64_t need = 0;
    int r = wr_tar_read(w, prefix, have, err);

    if (r < 0)
        return r;
    if (wr_npy_data_offset(prefix, have, &need, ret_flaw) < 0)
        return 0;
    need = WR_MIN(WR_MAX(need, (uint64_t)have), m->size); /* it is limited */
    head = malloc((size_t)need);
    if (!head)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(head, prefix, have);
    r = wr_tar_read(w, head + have, (size_t)need - have, err);
    if (r == 0)
        r = parse_array(head, (size_t)need, m, ret, ret_flaw) == 0;
    free(head);
    return r;
}

static bool array_differs(const struct wr_field *f, const struct wr_field *x)
{
    return memcmp(f->pub.dims, x->pub.dims,
                  f->pub.ndim * sizeof(*f->pub.dims)) != 0;
}

int wr_tar_array_check(const struct wr_field *f, const struct wr_field *x,
                       weir_err *err)
{
    char first[128], this[128];

    if (f->pub.dtype != x->pub.dtype || f->pub.ndim != x->pub.ndim)
        return wr_fail(err, WEIR_EFORMAT, "%s, where the first one is %s",
                       wr_field_text(&x->pub, this, sizeof(this)),
                       wr_field_text(&f->pub, first, sizeof(first)));
    if (f->swap != x->swap)
        return wr_fail(err, WEIR_ENOTSUP,
                       "its byte order is not that of the first one");
    if (array_differs(f, x) ? f->strided || x->strided || x->swap
                            : f->strided != x->strided)
        return wr_fail(err, WEIR_ENOTSUP,
                       array_differs(f, x)
                           ? "samples of different dimensions in %s"
                           : "it is in another order than the first one: %s",
                       f->strided || x->strided ? "Fortran order"
                                                : "the other byte order");
    return 0;
}

/* --- dimensions that vary --- */

/* Which dimensions differ anywhere. Those of no elements vary, too: a field of
 * fixed size must have some. */
static bool find_varying(struct wr_tar_fields *f,
                         const struct wr_tar_odds *odds, size_t archives,
                         bool (*ret)[7])
{
    bool any = false;

    for (size_t a = 0; a < archives; a++)
        for (size_t k = 0; k < odds[a].count; k++) {
            const struct wr_tar_odd *x = &odds[a].list[k];
            const weir_field *pub = &f->list[x->column].pub;

            for (uint32_t d = 0; d < pub->ndim && !x->absent; d++)
                ret[x->column][d] |= x->dims[d] != pub->dims[d];
        }
    for (unsigned c = 0; c < f->count; c++)
        for (uint32_t d = 0; d < f->list[c].pub.ndim; d++) {
            ret[c][d] |= f->list[c].pub.kind == WEIR_FIELD_TENSOR &&
                         !f->list[c].pub.dims[d];
            any |= ret[c][d];
        }
    return any;
}

/* Dimensions of all arrays of all samples. */
static uint64_t *all_dims(const struct wr_tar_fields *f,
                          const struct wr_tar_odds *odds, size_t archives,
                          uint64_t samples, size_t per_sample)
{
    uint64_t *dims = calloc(samples * per_sample + 1, sizeof(*dims));
    size_t at[WR_TAR_MAX_FIELDS], n = 0;
    uint64_t first = 0;

    if (!dims)
        return NULL;
    for (unsigned c = 0; c < f->count; n += f->list[c++].pub.ndim)
        at[c] = n;
    for (uint64_t i = 0; i < samples; i++)
        for (unsigned c = 0; c < f->count; c++)
            memcpy(dims + i * per_sample + at[c], f->list[c].pub.dims,
                   f->list[c].pub.ndim * sizeof(*dims));
    for (size_t a = 0; a < archives; first += odds[a++].samples)
        for (size_t k = 0; k < odds[a].count; k++) {
            const struct wr_tar_odd *x = &odds[a].list[k];

            memcpy(dims + (first + x->sample) * per_sample + at[x->column],
                   x->dims, f->list[x->column].pub.ndim * sizeof(*dims));
        }
    return dims;
}

static int add_fields(const struct wr_tar_fields *f, struct wr_index *ix,
                      weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; k < f->count && r == 0; k++)
        r = wr_index_add_field(ix, &f->list[k], err);
    return r;
}

/* Dimensions that vary become fields of their own: "npy.dim0". */
static int add_varying(struct wr_tar_fields *f, struct wr_index *ix,
                       const bool (*varies)[7], const uint64_t *dims,
                       weir_err *err)
{
    struct wr_array_scalars s = {0};
    size_t at = 0;
    int r = 0;

    for (unsigned c = 0; c < f->count && r == 0; c++)
        for (uint32_t d = 0; d < f->list[c].pub.ndim && r == 0; d++, at++)
            if (varies[c][d]) {
                f->list[c].pub.dims[d] = WEIR_DIM_VARIES;
                r = wr_array_scalars_add_dim(&s, f->list[c].name, d, at, err);
            }
    if (r == 0)
        r = add_fields(f, ix, err);
    if (r == 0)
        r = wr_array_scalars_finish(&s, ix, dims, at, err);
    wr_array_scalars_done(&s);
    return r;
}

int wr_tar_fields_add(struct wr_tar_fields *f, struct wr_index *ix,
                      const struct wr_tar_odds *odds, size_t archives,
                      weir_err *err)
{
    bool varies[WR_TAR_MAX_FIELDS][7] = {0};
    size_t per_sample = 0;
    uint64_t *dims;
    int r;

    if (!find_varying(f, odds, archives, varies))
        return add_fields(f, ix, err);
    for (unsigned c = 0; c < f->count; c++)
        per_sample += f->list[c].pub.ndim;
    dims = all_dims(f, odds, archives, wr_index_count(ix), per_sample);
    if (!dims)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = add_varying(f, ix, varies, dims, err);
    free(dims);
    return r;
}

#define LOOK_ARCHIVES 8u
#define LOOK_FIRST    64u                  /* samples of the first archive */
#define LOOK_OTHERS   8u                   /* of each of the others */
#define LOOK_BYTES    (UINT64_C(64) << 20) /* of one that is inflated */

/* --- a look at the first samples of archives, to find their fields --- */

/* What cannot be read now is said when the archive is scanned. */

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
        r = tar_is_only_label(e->part, look->label, (size_t)m->size, err);
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
