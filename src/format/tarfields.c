/* tarfields.c - the fields and labels of a tar archive's samples.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/tarfields.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "codec/picture.h"
#include "format/array_scalars.h"
#include "format/array_shape.h"
#include "format/guess.h"
#include "format/intern.h"
#include "weir/dataset.h"

/* --- what a member of an archive is to its sample, and labels --- */

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

static int load_json(const char *bytes, size_t len, json_t **ret, weir_err *err)
{
    locale_t before = wr_locale_enter();
    json_error_t why;
    json_t *doc;

    errno = 0;
    doc = json_loadb(bytes, len, JSON_DECODE_ANY, &why);
    wr_locale_leave(before);
    /* jansson blames the text when memory is short; errno has kept it. */
    if (errno == ENOMEM) { /* also when something was left out */
        json_decref(doc);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    if (!doc)
        return wr_fail(err, WEIR_EFORMAT, "not JSON: %s", why.text);
    *ret = doc;
    return 0;
}

static int parse_json(const char *bytes, size_t len, uint32_t *ret,
                      weir_err *err)
{
    const json_t *number;
    json_t *doc = NULL;
    int r = load_json(bytes, len, &doc, err);

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

int wr_tar_is_only_label(enum wr_tar_part part, const char *bytes, size_t len,
                         weir_err *err)
{
    json_t *doc = NULL;
    uint32_t label;
    int r;

    if (part == WR_TAR_ID)
        return parse_text(bytes, len, &label, NULL) == 0;
    r = load_json(bytes, len, &doc, err);
    if (r < 0)
        return r == WEIR_ENOMEM ? r : 0;
    r = find_number(doc) &&
        (json_is_integer(doc) || json_object_size(doc) == 1);
    json_decref(doc);
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

int wr_tar_classify(struct wr_index_job *job, weir_err *err)
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
