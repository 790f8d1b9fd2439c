/* npz.c - the arrays of a .npy or .npz file: types, shapes, places.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/npz.h"

#include <endian.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/shown.h"
#include "codec/cast.h"
#include "codec/filters.h"
#include "codec/inflate.h"
#include "format/zip.h"

#define MAGIC     "\x93NUMPY"
#define MAGIC_LEN 6

/* --- the header of NumPy's .npy files, versions 1 to 3 --- */

/* The header is the text of a Python dictionary:
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }
 * Just this much of Python is understood: one dictionary of strings, True,
 * False and tuples of whole numbers. */

struct text {
    const char *at, *end; /* borrowed */
};

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

int wr_npy_data_offset(const uint8_t *bytes, size_t len, uint64_t *ret,
                       weir_err *err)
{
    uint64_t prefix, header;

    if (len < WR_NPY_PREFIX || memcmp(bytes, MAGIC, MAGIC_LEN) != 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "not a .npy file: it does not begin with \\x93NUMPY");
    switch (bytes[6]) {
    case 1:
        prefix = 10;
        header = wr_le16(bytes + 8);
        break;
    case 2:
    case 3:
        prefix = 12;
        header = wr_le32(bytes + 8);
        break;
    default:
        return wr_fail(err, WEIR_ENOTSUP, ".npy version %u.%u, not 1 to 3",
                       bytes[6], bytes[7]);
    }
    if (header > WR_NPY_MAX_HEADER)
        return wr_fail(err, WEIR_ELIMIT,
                       "a header of %" PRIu64 " bytes, over %u", header,
                       WR_NPY_MAX_HEADER);
    *ret = prefix + header;
    return 0;
}

static void skip_space(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' ||
                              *t->at == '\t' || *t->at == '\r'))
        t->at++;
}

/* Takes `c` if it comes next. */
static bool take(struct text *t, char c)
{
    skip_space(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool take_word(struct text *t, const char *word)
{
    size_t n = strlen(word);

    skip_space(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

/* A quoted string without escapes of fewer than `cap` bytes. */
static bool take_string(struct text *t, char *buf, size_t cap)
{
    const char *start, *close;
    char quote;

    skip_space(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return false;
    quote = *t->at;
    start = t->at + 1;
    close = memchr(start, quote, (size_t)(t->end - start));
    if (!close || (size_t)(close - start) >= cap ||
        memchr(start, '\\', (size_t)(close - start)) ||
        memchr(start, '\0', (size_t)(close - start)))
        return false;
    memcpy(buf, start, (size_t)(close - start));
    buf[close - start] = '\0';
    t->at = close + 1;
    return true;
}

static int take_dimension(struct text *t, uint64_t *ret, weir_err *err)
{
    size_t value = 0;

    skip_space(t);
    if (t->at == t->end || *t->at < '0' || *t->at > '9')
        return wr_fail(err, WEIR_EFORMAT,
                       "header: a dimension of 'shape' is no whole number");
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
        if (!wr_mul_ok(value, 10, &value) ||
            !wr_add_ok(value, (size_t)(*t->at - '0'), &value))
            return wr_fail(err, WEIR_EFORMAT,
                           "header: a dimension of 'shape' is over 64 bits");
    if (t->at < t->end && *t->at == 'L') /* Python 2's long */
        t->at++;
    *ret = value;
    return 0;
}

static int take_shape(struct text *t, struct wr_npy *npy, weir_err *err)
{
    int r;

    if (!take(t, '('))
        return wr_fail(err, WEIR_EFORMAT, "header: 'shape' is no tuple");
    npy->ndim = 0;
    while (!take(t, ')')) {
        if (npy->ndim == WR_NPY_MAX_DIMS)
            return wr_fail(err, WEIR_ENOTSUP, "more than %u dimensions",
                           WR_NPY_MAX_DIMS);
        r = take_dimension(t, &npy->shape[npy->ndim], err);
        if (r < 0)
            return r;
        npy->ndim++;
        if (!take(t, ',')) {
            if (!take(t, ')'))
                return wr_fail(err, WEIR_EFORMAT,
                               "header: 'shape' is not closed");
            break;
        }
    }
    return 0;
}

static int take_order(struct text *t, struct wr_npy *npy, weir_err *err)
{
    npy->fortran = take_word(t, "True");
    if (!npy->fortran && !take_word(t, "False"))
        return wr_fail(err, WEIR_EFORMAT,
                       "header: 'fortran_order' is neither True nor False");
    return 0;
}

/* What NumPy calls the types that weir has; the first character, the byte order,
 * apart. */
static const struct {
    char name[4];
    enum weir_dtype dtype;
} types[] = {
    {"b1", WEIR_BOOL}, {"i1", WEIR_I8},  {"u1", WEIR_U8},  {"i2", WEIR_I16},
    {"u2", WEIR_U16},  {"i4", WEIR_I32}, {"u4", WEIR_U32}, {"i8", WEIR_I64},
    {"u8", WEIR_U64},  {"f2", WEIR_F16}, {"f4", WEIR_F32}, {"f8", WEIR_F64},
    {"c8", WEIR_C64},
};

static int fail_type(const char *descr, weir_err *err)
{
    static const struct {
        char letter;
        const char *what;
    } others[] = {
        {'O', "holds Python objects, not numbers"},
        {'S', "holds strings, not numbers"},
        {'a', "holds strings, not numbers"},
        {'U', "holds strings, not numbers"},
        {'V', "holds bytes without a type (save it as a numeric type)"},
        {'M', "holds dates (save it as int64)"},
        {'m', "holds times (save it as int64)"},
    };
    char letter = descr[0] && strchr("<>|=", descr[0]) ? descr[1] : descr[0];

    for (size_t k = 0; k < WR_ARRAY_LEN(others); k++)
        if (letter == others[k].letter)
            return wr_fail(err, WEIR_ENOTSUP, "type '%s' %s", descr,
                           others[k].what);
    return wr_fail(err, WEIR_ENOTSUP,
                   "type '%s' is none of b1, i1 to i8, u1 to u8, f2, f4, f8 "
                   "and c8",
                   descr);
}

static int take_descr(struct text *t, struct wr_npy *npy, weir_err *err)
{
    if (take(t, '[') || take(t, '('))
        return wr_fail(err, WEIR_ENOTSUP,
                       "a structured type: save its fields as arrays of their "
                       "own (numpy.savez)");
    if (!take_string(t, npy->descr, sizeof(npy->descr)))
        return wr_fail(err, WEIR_EFORMAT, "header: 'descr' is no type");
    return 0;
}

/* What `descr` means. */
static int settle_type(struct wr_npy *npy, weir_err *err)
{
    const char *order = strchr("<>|=", npy->descr[0]);
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

    for (size_t k = 0; k < WR_ARRAY_LEN(types) && order && *order; k++)
        if (!strcmp(npy->descr + 1, types[k].name)) {
            npy->dtype = types[k].dtype;
            npy->swap = wr_dtype_bytes(npy->dtype) > 1 &&
                        *order == (little ? '>' : '<');
            return 0;
        }
    return fail_type(npy->descr, err);
}

const char *wr_npy_type(enum weir_dtype dtype)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(types); k++)
        if (types[k].dtype == dtype)
            return types[k].name;
    return NULL;
}

/* One "'key': value"; returns the HAS_ bit of the key. */
static int take_item(struct text *t, struct wr_npy *npy, weir_err *err)
{
    char key[16];
    int r;

    if (!take_string(t, key, sizeof(key)) || !take(t, ':'))
        return wr_fail(err, WEIR_EFORMAT, "header: a key was expected");
    if (!strcmp(key, "descr"))
        return (r = take_descr(t, npy, err)) < 0 ? r : HAS_DESCR;
    if (!strcmp(key, "fortran_order"))
        return (r = take_order(t, npy, err)) < 0 ? r : HAS_ORDER;
    if (!strcmp(key, "shape"))
        return (r = take_shape(t, npy, err)) < 0 ? r : HAS_SHAPE;
    return wr_fail(err, WEIR_EFORMAT, "header: unknown key '%s'", key);
}

static int parse_dict(struct text *t, struct wr_npy *npy, weir_err *err)
{
    int seen = 0;

    if (!take(t, '{'))
        return wr_fail(err, WEIR_EFORMAT, "header: no dictionary");
    while (!take(t, '}')) {
        int key = take_item(t, npy, err);

        if (key < 0)
            return key;
        if (seen & key)
            return wr_fail(err, WEIR_EFORMAT, "header: a key comes twice");
        seen |= key;
        if (!take(t, ',')) {
            if (!take(t, '}'))
                return wr_fail(err, WEIR_EFORMAT,
                               "header: the dictionary is not closed");
            break;
        }
    }
    skip_space(t);
    if (t->at != t->end)
        return wr_fail(err, WEIR_EFORMAT, "header: text after it");
    if (seen != HAS_ALL)
        return wr_fail(err, WEIR_EFORMAT,
                       "header: 'descr', 'fortran_order' or 'shape' is "
                       "missing");
    return 0;
}

int wr_npy_parse(const uint8_t *bytes, size_t len, struct wr_npy *ret,
                 weir_err *err)
{
    struct wr_npy npy = {0};
    struct text t;
    int r;

    r = wr_npy_data_offset(bytes, len, &npy.data_offset, err);
    if (r < 0)
        return r;
    if (npy.data_offset > len)
        return wr_fail(err, WEIR_EFORMAT,
                       "truncated: the header ends at byte %" PRIu64
                       ", the file at %zu",
                       npy.data_offset, len);
    t.at = (const char *)bytes + (bytes[6] == 1 ? 10 : 12);
    t.end = (const char *)bytes + npy.data_offset;
    r = parse_dict(&t, &npy, err);
    if (r == 0)
        r = settle_type(&npy, err);
    if (r < 0)
        return r;
    *ret = npy;
    return 0;
}

#define FIRST_READ 4096u  /* nearly every header fits */
#define PIECE      16384u /* of deflated bytes */
#define CHOOSE     "FILE#x=MEMBER,y=MEMBER"

bool wr_is_zip(const void *bytes, size_t len)
{
    return len >= 4 && !memcmp(bytes, "PK\x03\x04", 4);
}

/* The first bytes of what a member inflates to: `len` of them, at most `all`. */
static int inflate_begin(struct wr_object *o, const struct wr_npz_array *a,
                         uint8_t *buf, size_t len, weir_err *err)
{
    struct wr_inflate *z = NULL;
    uint8_t piece[PIECE];
    uint64_t fed = 0;
    size_t done = 0;
    int r = wr_inflate_new(&z, err);

    if (r < 0)
        return r;
    wr_inflate_set_raw(z);
    while (r == 0 && done < len) {
        int64_t n = wr_inflate_read(z, buf + done, len - done, err);
        size_t more = (size_t)WR_MIN(a->stored - fed, (uint64_t)PIECE);

        if (n < 0)
            r = (int)n;
        else if (n > 0)
            done += (size_t)n;
        else if (!more)
            r = wr_fail(err, WEIR_EFORMAT,
                        "ends after %zu of %" PRIu64 " bytes", done,
                        a->inflated);
        else
            r = wr_object_read_fully(o, piece, more, a->stored_at + fed, err);
        if (r == 0 && n == 0) {
            wr_inflate_feed(z, piece, more);
            fed += more;
        }
    }
    wr_inflate_free(z);
    return r;
}

/* The array's file, or member, from its beginning on. */
static int read_begin(struct wr_object *o, const struct wr_npz_array *a,
                      uint8_t *buf, size_t len, weir_err *err)
{
    return a->deflated ? inflate_begin(o, a, buf, len, err)
                       : wr_object_read_fully(o, buf, len, a->stored_at, err);
}

int wr_npz_settle(struct wr_npz_array *a, weir_err *err)
{
    size_t bytes = wr_dtype_bytes(a->npy.dtype), end = 0;

    for (uint32_t k = 0; k < a->npy.ndim; k++)
        if (!wr_mul_ok(bytes, a->npy.shape[k], &bytes))
            return wr_fail(err, WEIR_EFORMAT,
                           "the dimensions' product overflows 64 bits");
    if (!wr_add_ok(bytes, a->npy.data_offset, &end) || end > a->inflated)
        return wr_fail(err, WEIR_EFORMAT,
                       "truncated: %" PRIu64 " bytes, the header says %zu",
                       a->inflated, end);
    a->bytes = bytes;
    a->elements = bytes / wr_dtype_bytes(a->npy.dtype);
    a->offset = a->npy.data_offset + (a->deflated ? 0 : a->stored_at);
    return 0;
}

/* Reads the header of an array whose place is known. */
static int read_header(struct wr_object *o, struct wr_npz_array *a,
                       weir_err *err)
{
    size_t have = (size_t)WR_MIN(a->inflated, (uint64_t)FIRST_READ);
    uint8_t first[FIRST_READ], *all;
    uint64_t need;
    int r;

    r = read_begin(o, a, first, have, err);
    if (r == 0)
        r = wr_npy_data_offset(first, have, &need, err);
    if (r < 0)
        return r;
    if (need <= have || a->inflated <= have) {
        r = wr_npy_parse(first, have, &a->npy, err);
        return r < 0 ? r : wr_npz_settle(a, err);
    }
    have = (size_t)WR_MIN(need, a->inflated); /* need is limited */
    all = malloc(have);
    if (!all)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = read_begin(o, a, all, have, err);
    if (r == 0)
        r = wr_npy_parse(all, have, &a->npy, err);
    free(all);
    return r < 0 ? r : wr_npz_settle(a, err);
}

/* "x.npy" -> "x"; 0: it is no array, and left out. */
static int take_name(struct wr_npz_array *a, const char *name, weir_err *err)
{
    size_t len = strlen(name);

    if (len <= 4 || strcmp(name + len - 4, ".npy") != 0)
        return 0;
    if (len - 4 >= sizeof(a->name))
        return wr_fail(err, WEIR_ELIMIT, "member '%s': a name of over %d bytes",
                       wr_show(name).text, WR_ARRAY_NAME - 1);
    memcpy(a->name, name, len - 4);
    return 1;
}

static int read_member(struct wr_object *o, const struct wr_zip *z,
                       const struct wr_zip_member *m, struct wr_npz_array *a,
                       weir_err *err)
{
    size_t len = (size_t)WR_MIN(z->end - m->head, (uint64_t)FIRST_READ);
    const struct wr_packing packing = {
        .filters = WR_FILTERS(WR_FILTER_DEFLATE, 0, 0, 0),
        .argument = m->crc,
        .stored = m->stored,
        .inflated = m->inflated};
    uint8_t head[FIRST_READ];
    int r;

    a->deflated = m->deflated;
    a->stored = m->stored;
    a->inflated = m->inflated;
    a->crc = m->crc;
    r = m->deflated ? wr_filters_check(&packing, err) : 0;
    if (r == 0)
        r = wr_object_read_fully(o, head, len, m->head, err);
    if (r == 0)
        r = wr_zip_data(z, m, head, len, &a->stored_at, err);
    return r < 0 ? r : read_header(o, a, err);
}

/* May an array called so be added? */
static int check_new(const struct wr_npz *a, const char *name, weir_err *err)
{
    if (wr_npz_find(a, name))
        return wr_fail(err, WEIR_EFORMAT, "two arrays are called '%s'",
                       wr_show(name).text);
    return 0;
}

static int add_member(struct wr_object *o, const struct wr_zip *z,
                      const struct wr_zip_member *m, struct wr_npz *to,
                      weir_err *err)
{
    struct wr_npz_array *a = &to->list[to->count];
    int r = check_new(to, a->name, err);

    if (r < 0)
        return r;
    to->count++;
    r = read_member(o, z, m, a, err);
    return r < 0 ? wr_fail_prefix(err, r, "member '%s'", wr_show(m->name).text)
                 : 0;
}

static void note_other(struct wr_npz *to, const char *name)
{
    size_t len = strlen(to->others);

    snprintf(to->others + len, sizeof(to->others) - len, "%s'%s'",
             len ? ", " : "", wr_show(name).text);
}

static int add_all(struct wr_object *o, const struct wr_zip *z,
                   struct wr_npz *to, weir_err *err)
{
    weir_err why;
    int r = 0;

    for (size_t k = 0; r >= 0 && k < z->count; k++) {
        const struct wr_zip_member *m = &z->members[k];

        if (to->count == WR_NPZ_MAX)
            return wr_fail(err, WEIR_ELIMIT,
                           "more than %d arrays: choose some: " CHOOSE,
                           WR_NPZ_MAX);
        r = take_name(&to->list[to->count], m->name, &why);
        if (r == 0)
            note_other(to, m->name);
        else if (r > 0)
            r = add_member(o, z, m, to, &why);
    }
    if (r == WEIR_ENOTSUP)
        return wr_fail(err, r, "%.400s; choose others: " CHOOSE, why.msg);
    return r < 0 ? wr_fail_as(err, r, &why) : 0;
}

/* "x", "/x" and "x.npy" are the member x.npy. */
static const struct wr_zip_member *find_member(const struct wr_zip *z,
                                               const char *name)
{
    size_t len = strlen(name += strspn(name, "/"));

    for (size_t k = 0; k < z->count; k++)
        if (!strncmp(z->members[k].name, name, len) &&
            (!z->members[k].name[len] ||
             !strcmp(z->members[k].name + len, ".npy")))
            return &z->members[k];
    return NULL;
}

static int add_chosen(struct wr_object *o, const struct wr_zip *z,
                      struct wr_npz *to, weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; k < to->chosen->count && r == 0; k++) {
        const struct wr_fragment_pair *pair = &to->chosen->pairs[k];
        const struct wr_zip_member *m = find_member(z, pair->value);

        if (!m)
            return wr_fail(err, WEIR_EFORMAT, "it has no member '%s'",
                           wr_show(pair->value).text);
        strcpy(to->list[to->count].name, pair->name); /* of one size */
        r = add_member(o, z, m, to, err);
    }
    return r;
}

static int read_zip(struct wr_object *o, uint64_t size, struct wr_npz *to,
                    weir_err *err)
{
    struct wr_zip z;
    int r = wr_zip_open(o, size, &z, err);

    if (r < 0)
        return r;
    to->list = calloc(WR_NPZ_MAX + 1, sizeof(*to->list));
    if (!to->list)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else
        r = to->chosen ? add_chosen(o, &z, to, err) : add_all(o, &z, to, err);
    wr_zip_done(&z);
    return r;
}

static int read_npy(struct wr_object *o, uint64_t size, struct wr_npz *to,
                    weir_err *err)
{
    to->list = calloc(1, sizeof(*to->list));
    if (!to->list)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    to->count = 1;
    to->list[0] = (struct wr_npz_array){
        .name = "x", .stored = size, .inflated = size};
    return read_header(o, to->list, err);
}

int wr_npz_read(struct wr_object *o, uint64_t size, bool zip, struct wr_npz *io,
                weir_err *err)
{
    struct wr_npz all = {.chosen = io->chosen};
    int r = zip ? read_zip(o, size, &all, err) : read_npy(o, size, &all, err);

    if (r < 0)
        wr_npz_done(&all);
    else
        *io = all;
    return r;
}

void wr_npz_done(struct wr_npz *a)
{
    free(a->list);
    *a = (struct wr_npz){0};
}

const struct wr_npz_array *wr_npz_find(const struct wr_npz *a, const char *name)
{
    int k = wr_named_text(a->list, a->count, sizeof(*a->list), name);

    return k < 0 ? NULL : &a->list[k];
}

/* Inflates all of a member; the elements move to the front. */
static int inflate_whole(struct wr_object *o, const struct wr_npz_array *a,
                         uint8_t **ret, weir_err *err)
{
    const struct wr_packing packing = {
        .filters = WR_FILTERS(WR_FILTER_DEFLATE, 0, 0, 0),
        .argument = a->crc,
        .stored = a->stored,
        .inflated = a->inflated};
    uint8_t *stored = malloc(a->stored + 1), *out = malloc(a->inflated + 1);
    int r = stored && out ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    if (r == 0)
        r = wr_object_read_fully(o, stored, a->stored, a->stored_at, err);
    if (r == 0)
        r = wr_filters_undo(&packing, stored, out, err);
    free(stored);
    if (r < 0) {
        free(out);
        return r;
    }
    memmove(out, out + a->offset, a->bytes);
    *ret = out;
    return 0;
}

int wr_npz_values(struct wr_object *o, const struct wr_npz_array *a, void **ret,
                  weir_err *err)
{
    uint8_t *bytes = NULL;
    int r = 0;

    if (a->inflated > WR_ARRAY_WHOLE)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': %" PRIu64 " bytes of numbers, over 2 GiB",
                       wr_show(a->name).text, a->inflated);
    if (a->deflated) {
        r = inflate_whole(o, a, &bytes, err);
    } else {
        bytes = malloc(a->bytes + 1);
        if (!bytes)
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        else if (a->values)
            memcpy(bytes, a->values, a->bytes);
        else
            r = wr_object_read_fully(o, bytes, a->bytes, a->offset, err);
    }
    if (r < 0) {
        free(bytes);
        return r;
    }
    if (a->npy.swap)
        wr_swap(bytes, a->bytes, wr_swap_width(a->npy.dtype), bytes);
    *ret = bytes;
    return 0;
}
