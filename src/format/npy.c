/* npy.c - the header of NumPy's .npy files, versions 1 to 3.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The header is the text of a Python dictionary:
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }
 * Just this much of Python is understood: one dictionary of strings, True,
 * False and tuples of whole numbers. */
#include "format/npy.h"

#include <endian.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"

#define MAGIC     "\x93NUMPY"
#define MAGIC_LEN 6

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
