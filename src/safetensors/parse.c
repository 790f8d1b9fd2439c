/* parse.c - the head of a safetensors file, every rule checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/head.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/shown.h"
#include "base/text.h"
#include "safetensors/scan.h"

#define MAX_UNKNOWN 32 /* keys of an entry that mean nothing here */

/* What an entry may hold; the bits of `seen`. */
enum head_field { DTYPE = 1, SHAPE = 2, OFFSETS = 4 };

/* The tensor that is being read. */
struct entry {
    struct wr_scan *s;
    struct wr_st_tensor *t; /* its name lies in the text */
    unsigned seen;
    const char *unknown[MAX_UNKNOWN];
    size_t unknown_count;
};

static struct wr_shown name_of(const struct entry *e)
{
    return wr_show(e->t->t.name);
}

/* --- an entry --- */

/* Whole, not negative, not over the format's bound. */
static int take_number(struct entry *e, const char *what, uint64_t *ret,
                       weir_err *err)
{
    char c = wr_scan_peek(e->s);
    bool whole = false;
    uint64_t n = 0;
    int r = 0;

    if (c == '-' || (c >= '0' && c <= '9'))
        r = wr_scan_number(e->s, &whole, &n, err);
    if (r < 0)
        return r;
    if (!whole)
        return wr_fail(
            err, WEIR_EFORMAT,
            "'%s': '%s' has something else than whole numbers from 0",
            name_of(e).text, what);
    if (n > WR_ST_MAX_NUMBER)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': '%s' has a number above 2^48 - 1",
                       name_of(e).text, what);
    *ret = n;
    return 0;
}

static int take_dtype(struct entry *e, weir_err *err)
{
    char *text = NULL;
    int r;

    if (wr_scan_peek(e->s) != '"')
        return wr_fail(err, WEIR_EFORMAT, "'%s': 'dtype' is no text",
                       name_of(e).text);
    r = wr_scan_text(e->s, &text, err);
    if (r < 0)
        return r;
    if (!wr_dtype_find(text, &e->t->t.dtype))
        return wr_fail(err, WEIR_EFORMAT, "'%s': the type '%s' is unknown",
                       name_of(e).text, wr_show(text).text);
    return 0;
}

/* A list of numbers. */
struct numbers {
    uint64_t n[WEIR_TENSOR_DIMS]; /* the first of them */
    size_t count;                 /* of all that there are */
};

static int take_list(struct entry *e, const char *what, struct numbers *ret,
                     weir_err *err)
{
    bool first = true;
    uint64_t n = 0;
    int r;

    if (wr_scan_peek(e->s) != '[')
        return wr_fail(err, WEIR_EFORMAT, "'%s': '%s' is no list",
                       name_of(e).text, what);
    e->s->j.at++;
    while ((r = wr_scan_more(e->s, ']', &first, err)) == 1) {
        r = take_number(e, what, &n, err);
        if (r < 0)
            return r;
        if (ret->count < WEIR_TENSOR_DIMS)
            ret->n[ret->count] = n;
        ret->count++;
    }
    return r;
}

static int take_shape(struct entry *e, weir_err *err)
{
    struct numbers list = {0};
    int r = take_list(e, "shape", &list, err);

    if (r < 0)
        return r;
    if (list.count > WEIR_TENSOR_DIMS)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': has %zu dimensions, at most %d are supported",
                       name_of(e).text, list.count, WEIR_TENSOR_DIMS);
    e->t->t.ndim = (uint32_t)list.count;
    memcpy(e->t->t.shape, list.n, sizeof(list.n));
    return 0;
}

static int take_offsets(struct entry *e, weir_err *err)
{
    struct numbers list = {0};
    int r = take_list(e, "data_offsets", &list, err);

    if (r < 0)
        return r;
    if (list.count != 2)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': 'data_offsets' has %zu numbers instead of two",
                       name_of(e).text, list.count);
    if (list.n[1] < list.n[0])
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': its data end (%" PRIu64
                       ") before they begin (%" PRIu64 ")",
                       name_of(e).text, list.n[1], list.n[0]);
    e->t->begin = list.n[0];
    e->t->end = list.n[1];
    return 0;
}

static int fail_twice(const struct entry *e, const char *key, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT, "'%s': the key '%s' is there twice",
                   name_of(e).text, wr_show(key).text);
}

/* Means nothing here, but no key may be there twice. */
static int skip_unknown(struct entry *e, const char *key, weir_err *err)
{
    for (size_t k = 0; k < e->unknown_count; k++)
        if (!strcmp(e->unknown[k], key))
            return fail_twice(e, key, err);
    if (e->unknown_count == MAX_UNKNOWN)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': the entry has more than %d unknown keys",
                       name_of(e).text, MAX_UNKNOWN);
    e->unknown[e->unknown_count++] = key;
    return wr_scan_skip(e->s, err);
}

static int take_field(struct entry *e, weir_err *err)
{
    static const struct {
        const char *key;
        enum head_field bit;
        int (*take)(struct entry *e, weir_err *err);
    } fields[] = {
        {"dtype", DTYPE, take_dtype},
        {"shape", SHAPE, take_shape},
        {"data_offsets", OFFSETS, take_offsets},
    };
    char *key = NULL;
    int r = wr_scan_key(e->s, &key, err), k;

    if (r < 0)
        return r;
    k = wr_named_index(WR_NAMED(fields), key);
    if (k < 0)
        return skip_unknown(e, key, err);
    if (e->seen & fields[k].bit)
        return fail_twice(e, key, err);
    e->seen |= fields[k].bit;
    return fields[k].take(e, err);
}

/* All is there, and type, shape and place agree. */
static int check_entry(const struct entry *e, weir_err *err)
{
    const char *missing = !(e->seen & DTYPE)     ? "dtype"
                          : !(e->seen & SHAPE)   ? "shape"
                          : !(e->seen & OFFSETS) ? "data_offsets"
                                                 : NULL;
    uint64_t bytes = 0, held = e->t->end - e->t->begin;

    if (missing)
        return wr_fail(err, WEIR_EFORMAT, "'%s': '%s' is missing",
                       name_of(e).text, missing);
    if (wr_tensor_bytes(&e->t->t, &bytes, err) < 0) {
        if (err)
            err->code = WEIR_EFORMAT; /* the file's mistake, not the caller's */
        return WEIR_EFORMAT;
    }
    if (held != bytes)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': type and shape need %" PRIu64
                       " bytes, 'data_offsets' hold %" PRIu64,
                       name_of(e).text, bytes, held);
    return 0;
}

static int take_tensor(struct wr_scan *s, const char *name,
                       struct wr_st_tensor *ret, weir_err *err)
{
    struct wr_st_tensor t = {.t.name = name};
    struct entry e = {.s = s, .t = &t};
    bool first = true;
    int r;

    if (wr_scan_peek(s) != '{')
        return wr_fail(err, WEIR_EFORMAT, "'%s': the entry is no object",
                       wr_show(name).text);
    s->j.at++;
    while ((r = wr_scan_more(s, '}', &first, err)) == 1) {
        r = take_field(&e, err);
        if (r < 0)
            return r;
    }
    if (r == 0)
        r = check_entry(&e, err);
    if (r < 0)
        return r;
    t.t.name = strdup(name);
    if (!t.t.name)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *ret = t;
    return 0;
}

/* --- metadata --- */

static int take_pair(struct wr_scan *s, struct wr_st_pair *ret, weir_err *err)
{
    char *key = NULL, *value = NULL;
    int r = wr_scan_key(s, &key, err);

    if (r < 0)
        return r;
    if (wr_scan_peek(s) != '"')
        return wr_fail(err, WEIR_EFORMAT,
                       "'" WR_ST_METADATA "': the value of '%s' is no text",
                       wr_show(key).text);
    r = wr_scan_text(s, &value, err);
    if (r < 0)
        return r;
    ret->key = strdup(key);
    ret->value = strdup(value);
    return ret->key && ret->value ? 0
                                  : wr_fail(err, WEIR_ENOMEM, "out of memory");
}

static int take_metadata(struct wr_scan *s, struct wr_st_head *h, weir_err *err)
{
    const char *twice = NULL;
    bool first = true;
    size_t cap = 0;
    int r;

    if (wr_scan_peek(s) == 'n')
        return wr_scan_skip(s, err); /* null: there is none */
    if (wr_scan_peek(s) != '{')
        return wr_fail(err, WEIR_EFORMAT, "'" WR_ST_METADATA "' is no object");
    s->j.at++;
    while ((r = wr_scan_more(s, '}', &first, err)) == 1) {
        struct wr_st_pair pair = {0};

        if (!wr_grow(&h->metadata, &cap, h->metadata_count + 1, sizeof(pair)))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        r = take_pair(s, &pair, err);
        h->metadata[h->metadata_count++] = pair;
        if (r < 0)
            return r;
    }
    if (r < 0)
        return r;
    if (!wr_pairs_twice(h->metadata, h->metadata_count, &twice))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (twice)
        return wr_fail(err, WEIR_EFORMAT,
                       "'" WR_ST_METADATA "': the key '%s' is there twice",
                       wr_show(twice).text);
    return 0;
}

/* --- the head --- */

static int take_entries(struct wr_scan *s, struct wr_st_head *h, weir_err *err)
{
    bool first = true, metadata = false;
    size_t cap = 0;
    char *key = NULL;
    int r;

    while ((r = wr_scan_more(s, '}', &first, err)) == 1) {
        r = wr_scan_key(s, &key, err);
        if (r < 0)
            return r;
        if (!strcmp(key, WR_ST_METADATA)) {
            if (metadata)
                return wr_fail(err, WEIR_EFORMAT, "'%s' is there twice", key);
            metadata = true;
            r = take_metadata(s, h, err);
        } else {
            if (!wr_grow(&h->tensors, &cap, h->count + 1, sizeof(*h->tensors)))
                return wr_fail(err, WEIR_ENOMEM, "out of memory");
            r = take_tensor(s, key, &h->tensors[h->count], err);
            h->count += r == 0;
        }
        if (r < 0)
            return r;
    }
    return r < 0 ? r : wr_scan_end(s, err);
}

/* `text` is overwritten. */
static int take_json(char *text, size_t len, struct wr_st_head *h,
                     weir_err *err)
{
    struct wr_scan s = {text, {.at = text, .end = text + len}};
    int r;

    if (wr_text_not_utf8(text, text + len))
        return wr_fail(err, WEIR_EFORMAT, "the head is not UTF-8");
    if (wr_scan_peek(&s) == '{') {
        s.j.at++;
        return take_entries(&s, h, err);
    }
    r = wr_scan_skip(&s, err);
    if (r == 0)
        r = wr_scan_end(&s, err);
    return r < 0 ? r : wr_fail(err, WEIR_EFORMAT, "the head is no object");
}

/* Where a tensor lies, and which one it is in the file. */
struct key {
    uint64_t begin, end;
    size_t index;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Brings the tensors into the order of their data. */
static int sort_tensors(struct wr_st_head *h, weir_err *err)
{
    struct key *keys = malloc((h->count + 1) * sizeof(*keys));
    struct wr_st_tensor *sorted = malloc((h->count + 1) * sizeof(*sorted));

    if (!keys || !sorted) {
        free(keys);
        free(sorted);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    for (size_t k = 0; k < h->count; k++)
        keys[k] = (struct key){h->tensors[k].begin, h->tensors[k].end, k};
    qsort(keys, h->count, sizeof(*keys), compare_keys);
    for (size_t k = 0; k < h->count; k++)
        sorted[k] = h->tensors[keys[k].index];
    free(keys);
    free(h->tensors);
    h->tensors = sorted;
    return 0;
}

/* One behind the other, from 0 to the end of the file. */
static int check_chain(const struct wr_st_head *h, weir_err *err)
{
    uint64_t at = 0;

    for (size_t k = 0; k < h->count; k++) {
        const struct wr_st_tensor *t = &h->tensors[k];

        if (t->begin > at)
            return wr_fail(err, WEIR_EFORMAT,
                           "'%s': a hole of %" PRIu64 " bytes lies before it",
                           wr_show(t->t.name).text, t->begin - at);
        if (t->begin < at)
            return wr_fail(err, WEIR_EFORMAT,
                           "'%s': its data overlap those of '%s'",
                           wr_show(t->t.name).text,
                           wr_show(h->tensors[k - 1].t.name).text);
        at = t->end;
    }
    if (at < h->data_bytes)
        return wr_fail(err, WEIR_EFORMAT,
                       "the file goes on for %" PRIu64
                       " bytes behind the last tensor",
                       h->data_bytes - at);
    if (at > h->data_bytes)
        return wr_fail(err, WEIR_EFORMAT,
                       "cut off: %" PRIu64 " bytes of data are missing",
                       at - h->data_bytes);
    return 0;
}

/* Names must be unique, places must chain. */
static int check_all(struct wr_st_head *h, weir_err *err)
{
    const char *twice = NULL;
    int r = sort_tensors(h, err);

    if (r < 0)
        return r;
    if (!wr_st_index(h, &twice))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (twice)
        return wr_fail(err, WEIR_EFORMAT, "'%s': two tensors have this name",
                       wr_show(twice).text);
    return check_chain(h, err);
}

/* The length of the JSON text. */
static int take_length(const uint8_t *bytes, size_t len, uint64_t file_size,
                       size_t *ret, weir_err *err)
{
    uint64_t n;

    if (len < 8 || file_size < 8)
        return wr_fail(err, WEIR_EFORMAT,
                       "too small: %" PRIu64 " bytes hold no head", file_size);
    n = wr_le64(bytes);
    if (n > WR_ST_MAX_JSON && n > file_size)
        return wr_fail(err, WEIR_EFORMAT,
                       "not a safetensors file: its first 8 bytes are not the "
                       "length of a head");
    if (n > WR_ST_MAX_JSON)
        return wr_fail(err, WEIR_ELIMIT,
                       "the head is too large: %" PRIu64
                       " bytes, at most %u are allowed",
                       n, WR_ST_MAX_JSON);
    if (n > file_size - 8 || n > len - 8)
        return wr_fail(err, WEIR_EFORMAT,
                       "the head's length is invalid: %" PRIu64
                       " bytes do not fit into a file of %" PRIu64,
                       n, file_size);
    if (n == 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "the head is empty: the file was never finished");
    *ret = (size_t)n;
    return 0;
}

static int parse(const uint8_t *bytes, size_t len, uint64_t file_size,
                 struct wr_st_head *h, weir_err *err)
{
    size_t n = 0;
    char *text;
    int r = take_length(bytes, len, file_size, &n, err);

    if (r < 0)
        return r;
    h->data_offset = 8 + n;
    h->data_bytes = file_size - h->data_offset;
    if (memchr(bytes + 8, 0, n))
        return wr_fail(err, WEIR_EFORMAT, "not JSON: a NUL in the head");
    text = malloc(n);
    if (!text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(text, bytes + 8, n);
    r = take_json(text, n, h, err);
    free(text);
    return r < 0 ? r : check_all(h, err);
}

int wr_st_parse(const void *bytes, size_t len, uint64_t file_size,
                const char *name, struct wr_st_head *ret, weir_err *err)
{
    struct wr_st_head h = {0};
    int r = parse(bytes, len, file_size, &h, err);

    if (r < 0) {
        wr_st_done(&h);
        return wr_fail_prefix(err, r, "'%s'", name);
    }
    *ret = h;
    return 0;
}
