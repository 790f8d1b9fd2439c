/* safetensors_parse.c - the head of a safetensors file, every rule checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checkpoint/dtype.h"
#include "checkpoint/json.h"
#include "checkpoint/pairs.h"
#include "checkpoint/shown.h"

/* A number of an entry: whole, not negative, not over the format's bound. */
static int take_number(const json_t *v, const char *name, const char *what,
                       uint64_t *ret, weir_err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return wr_fail(
            err, WEIR_EFORMAT,
            "'%s': '%s' has something else than whole numbers from 0",
            wr_show(name).text, what);
    if ((uint64_t)json_integer_value(v) > WR_ST_MAX_NUMBER)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': '%s' has a number above 2^48 - 1",
                       wr_show(name).text, what);
    *ret = (uint64_t)json_integer_value(v);
    return 0;
}

static int take_dtype(const json_t *entry, weir_tensor *t, weir_err *err)
{
    const char *text = json_string_value(json_object_get(entry, "dtype"));

    if (!text)
        return wr_fail(err, WEIR_EFORMAT, "'%s': 'dtype' is missing or no text",
                       wr_show(t->name).text);
    if (!wr_dtype_find(text, &t->dtype))
        return wr_fail(err, WEIR_EFORMAT, "'%s': the type '%s' is unknown",
                       wr_show(t->name).text, wr_show(text).text);
    return 0;
}

static int take_shape(const json_t *entry, weir_tensor *t, weir_err *err)
{
    const json_t *shape = json_object_get(entry, "shape");
    size_t ndim = json_array_size(shape);

    if (!json_is_array(shape))
        return wr_fail(err, WEIR_EFORMAT, "'%s': 'shape' is missing or no list",
                       wr_show(t->name).text);
    if (ndim > WEIR_TENSOR_DIMS)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': has %zu dimensions, at most %d are supported",
                       wr_show(t->name).text, ndim, WEIR_TENSOR_DIMS);
    t->ndim = (uint32_t)ndim;
    for (size_t k = 0; k < ndim; k++) {
        int r = take_number(json_array_get(shape, k), t->name, "shape",
                            &t->shape[k], err);

        if (r < 0)
            return r;
    }
    return 0;
}

static int take_offsets(const json_t *entry, struct wr_st_tensor *t,
                        weir_err *err)
{
    const json_t *list = json_object_get(entry, "data_offsets");
    int r;

    if (!json_is_array(list) || json_array_size(list) != 2)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': 'data_offsets' is missing or no list of two",
                       wr_show(t->t.name).text);
    r = take_number(json_array_get(list, 0), t->t.name, "data_offsets",
                    &t->begin, err);
    if (r == 0)
        r = take_number(json_array_get(list, 1), t->t.name, "data_offsets",
                        &t->end, err);
    if (r == 0 && t->end < t->begin)
        r = wr_fail(err, WEIR_EFORMAT,
                    "'%s': its data end (%" PRIu64 ") before they begin "
                    "(%" PRIu64 ")",
                    wr_show(t->t.name).text, t->end, t->begin);
    return r;
}

/* Type, shape and place must agree. */
static int check_size(const struct wr_st_tensor *t, weir_err *err)
{
    uint64_t bytes;
    int r = wr_tensor_bytes(&t->t, &bytes, err);

    if (r < 0) {
        if (err)
            err->code = WEIR_EFORMAT; /* the file's mistake, not the caller's */
        return WEIR_EFORMAT;
    }
    if (t->end - t->begin != bytes)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': type and shape need %" PRIu64
                       " bytes, 'data_offsets' hold %" PRIu64,
                       wr_show(t->t.name).text, bytes, t->end - t->begin);
    return 0;
}

static int take_tensor(const char *name, const json_t *entry,
                       struct wr_st_tensor *t, weir_err *err)
{
    int r;

    if (!json_is_object(entry))
        return wr_fail(err, WEIR_EFORMAT, "'%s': the entry is no object",
                       wr_show(name).text);
    t->t.name = strdup(name);
    if (!t->t.name)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = take_dtype(entry, &t->t, err);
    if (r == 0)
        r = take_shape(entry, &t->t, err);
    if (r == 0)
        r = take_offsets(entry, t, err);
    if (r == 0)
        r = check_size(t, err);
    return r;
}

static int take_entries(json_t *doc, struct wr_st_head *h, weir_err *err)
{
    const char *key;
    json_t *value;
    int r = 0;

    if (!json_is_object(doc))
        return wr_fail(err, WEIR_EFORMAT, "the head is no object");
    h->tensors = calloc(json_object_size(doc) + 1, sizeof(*h->tensors));
    if (!h->tensors)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    json_object_foreach(doc, key, value)
    {
        if (strcmp(key, WR_ST_METADATA) != 0)
            r = take_tensor(key, value, &h->tensors[h->count++], err);
        else if (!json_is_null(value))
            r = wr_pairs_parse(value, "'" WR_ST_METADATA "'", &h->metadata,
                               &h->metadata_count, err);
        if (r < 0)
            break;
    }
    return r;
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

/* The length of the JSON text. */
static int take_length(const uint8_t *bytes, size_t len, uint64_t file_size,
                       size_t *ret, weir_err *err)
{
    uint64_t n = 0;

    if (len < 8 || file_size < 8)
        return wr_fail(err, WEIR_EFORMAT,
                       "too small: %" PRIu64 " bytes hold no head", file_size);
    for (int k = 7; k >= 0; k--)
        n = n << 8 | bytes[k];
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
    const char *twice = NULL;
    json_t *doc = NULL;
    size_t n = 0;
    int r = take_length(bytes, len, file_size, &n, err);

    if (r < 0)
        return r;
    h->data_offset = 8 + n;
    h->data_bytes = file_size - h->data_offset;
    r = wr_json_load(bytes + 8, n, &doc, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "head");
    r = take_entries(doc, h, err);
    json_decref(doc);
    if (r == 0)
        r = sort_tensors(h, err);
    if (r == 0)
        r = check_chain(h, err);
    /* Names are unique: the JSON's keys were. */
    if (r == 0 && !wr_st_index(h, &twice))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    return r;
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
