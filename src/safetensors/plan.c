/* plan.c - the head of a safetensors file to be: plan and print.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/head.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/text.h"

/* --- printing --- */

/* Counts what is printed, and writes what fits. */
struct out {
    uint8_t *buf; /* NULL: only counts */
    size_t cap, used;
};

static void put(struct out *o, const char *text, size_t len)
{
    if (o->buf && o->used <= o->cap && len <= o->cap - o->used)
        memcpy(o->buf + o->used, text, len);
    o->used += len;
}

static void put_text(struct out *o, const char *text)
{
    put(o, text, strlen(text));
}

/* `text` between quotes, escaped. */
static void put_quoted(struct out *o, const char *text)
{
    char byte[WR_TEXT_ESCAPED];

    put(o, "\"", 1);
    for (; *text; text++)
        put(o, byte, wr_text_escape(text, 1, /* html= */ false, byte));
    put(o, "\"", 1);
}

static void put_number(struct out *o, uint64_t n)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%" PRIu64, n);
    put_text(o, digits);
}

static void put_metadata(struct out *o, const struct wr_st_head *h)
{
    put_quoted(o, WR_ST_METADATA);
    for (size_t k = 0; k < h->metadata_count; k++) {
        put_text(o, k ? "," : ":{");
        put_quoted(o, h->metadata[k].key);
        put_text(o, ":");
        put_quoted(o, h->metadata[k].value);
    }
    put_text(o, "}");
}

static void put_tensor(struct out *o, const struct wr_st_tensor *t)
{
    put_quoted(o, t->t.name);
    put_text(o, ":{\"dtype\":\"");
    put_text(o, wr_dtype_name(t->t.dtype));
    put_text(o, "\",\"shape\":[");
    for (uint32_t k = 0; k < t->t.ndim; k++) {
        put_text(o, k ? "," : "");
        put_number(o, t->t.shape[k]);
    }
    put_text(o, "],\"data_offsets\":[");
    put_number(o, t->begin);
    put_text(o, ",");
    put_number(o, t->end);
    put_text(o, "]}");
}

static void put_json(struct out *o, const struct wr_st_head *h)
{
    put_text(o, "{");
    if (h->metadata_count)
        put_metadata(o, h);
    for (size_t k = 0; k < h->count; k++) {
        put_text(o, k || h->metadata_count ? "," : "");
        put_tensor(o, &h->tensors[k]);
    }
    put_text(o, "}");
}

int wr_st_print(const struct wr_st_head *h, uint8_t *buf, weir_err *err)
{
    uint64_t n = h->data_offset - 8;
    struct out o = {.buf = buf + 8, .cap = (size_t)n};

    for (int k = 0; k < 8; k++)
        buf[k] = (uint8_t)(n >> (8 * k));
    put_json(&o, h);
    if (o.used > n)
        return wr_fail(err, WEIR_EINVAL,
                       "the head has become %zu bytes long, %" PRIu64
                       " were planned",
                       o.used, n);
    memset(buf + 8 + o.used, ' ', (size_t)n - o.used);
    return 0;
}

/* --- planning --- */

/* Places in the file: whole pages first, then by width, wide ones first. */
#define RANKS (1 + 65)

static unsigned narrowness(enum weir_dtype t)
{
    return 64 - wr_dtype_bits(t);
}

/* Where the group that begins with tensor k ends: tensors of one width, one
 * behind the other in memory. *ret_rank is its place in the file. Nothing is
 * checked yet: what has no size counts as none. */
static size_t group_end(const weir_tensor *tensors, size_t count, size_t k,
                        uint8_t *ret_rank)
{
    unsigned narrow = narrowness(tensors[k].dtype);
    const uint8_t *start = tensors[k].data;
    uint64_t bytes, sum = 0;

    do {
        bytes = 0;
        wr_tensor_bytes(&tensors[k++], &bytes, NULL);
        sum += bytes;
    } while (k < count && start && narrowness(tensors[k].dtype) == narrow &&
             (uintptr_t)tensors[k].data == (uintptr_t)start + sum);
    *ret_rank = (uint8_t)(sum && sum % WR_ST_DATA_ALIGN == 0 ? 0 : 1 + narrow);
    return k;
}

size_t *wr_st_order(const weir_tensor *tensors, size_t count)
{
    size_t *order = malloc((count + 1) * sizeof(*order));
    uint8_t *ranks = malloc(count + 1);
    size_t first[RANKS + 1] = {0};

    for (size_t k = 0, end; order && ranks && k < count; k = end) {
        end = group_end(tensors, count, k, &ranks[k]);
        memset(ranks + k, ranks[k], end - k);
        first[ranks[k] + 1] += end - k;
    }
    for (size_t k = 1; k < RANKS; k++)
        first[k] += first[k - 1];
    for (size_t k = 0; order && ranks && k < count; k++)
        order[first[ranks[k]]++] = k;
    if (!ranks) {
        free(order);
        order = NULL;
    }
    free(ranks);
    return order;
}

static int check_name(const weir_tensor *t, size_t index, weir_err *err)
{
    if (!t->name || !*t->name)
        return wr_fail(err, WEIR_EINVAL, "tensor %zu has no name", index);
    if (!strcmp(t->name, WR_ST_METADATA))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': the format keeps this name for itself",
                       wr_show(t->name).text);
    if (!wr_text_is_utf8(t->name))
        return wr_fail(err, WEIR_EINVAL, "'%s': the name is not UTF-8",
                       wr_show(t->name).text);
    return 0;
}

static int check_numbers(const weir_tensor *t, weir_err *err)
{
    for (uint32_t k = 0; k < t->ndim; k++)
        if (t->shape[k] > WR_ST_MAX_NUMBER)
            return wr_fail(err, WEIR_ELIMIT,
                           "'%s': the shape has a number above 2^48 - 1",
                           wr_show(t->name).text);
    return 0;
}

/* Puts a tensor behind those that have a place. */
static int place(struct wr_st_head *h, const weir_tensor *t, size_t index,
                 weir_err *err)
{
    struct wr_st_tensor *to = &h->tensors[h->count];
    uint64_t bytes = 0;
    int r = check_name(t, index, err);

    if (r == 0)
        r = wr_tensor_bytes(t, &bytes, err);
    if (r == 0)
        r = check_numbers(t, err);
    if (r < 0)
        return r;
    if (bytes > WR_ST_MAX_NUMBER - h->data_bytes)
        return wr_fail(err, WEIR_ELIMIT,
                       "the tensors have more than 2^48 - 1 bytes");
    to->t.dtype = t->dtype;
    to->t.ndim = t->ndim;
    memcpy(to->t.shape, t->shape, t->ndim * sizeof(t->shape[0]));
    to->t.name = strdup(t->name);
    if (!to->t.name)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    to->begin = h->data_bytes;
    to->end = h->data_bytes += bytes;
    h->count++;
    return 0;
}

static int place_all(struct wr_st_head *h, const weir_tensor *tensors,
                     size_t count, weir_err *err)
{
    size_t *order = wr_st_order(tensors, count);
    const char *twice = NULL;
    int r = 0;

    h->tensors = calloc(count + 1, sizeof(*h->tensors));
    if (!order || !h->tensors)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; r == 0 && k < count; k++)
        r = place(h, &tensors[order[k]], order[k], err);
    free(order);
    if (r < 0)
        return r;
    if (!wr_st_index(h, &twice))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (!twice)
        return 0;
    return wr_fail(err, WEIR_EINVAL, "'%s': two tensors have this name",
                   wr_show(twice).text);
}

static int copy_metadata(struct wr_st_head *h, const weir_pair *pairs,
                         size_t count, weir_err *err)
{
    const char *twice = NULL;

    for (size_t k = 0; k < count; k++) {
        if (!pairs[k].key || !pairs[k].value)
            return wr_fail(err, WEIR_EINVAL,
                           "metadata: pair %zu has no key or no value", k);
        if (!wr_text_is_utf8(pairs[k].key) || !wr_text_is_utf8(pairs[k].value))
            return wr_fail(err, WEIR_EINVAL,
                           "metadata: '%s' or its value is not UTF-8",
                           wr_show(pairs[k].key).text);
    }
    h->metadata = calloc(count + 1, sizeof(*h->metadata));
    if (!h->metadata)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    h->metadata_count = count;
    for (size_t k = 0; k < count; k++) {
        h->metadata[k].key = strdup(pairs[k].key);
        h->metadata[k].value = strdup(pairs[k].value);
        if (!h->metadata[k].key || !h->metadata[k].value)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    if (!wr_pairs_twice(h->metadata, count, &twice))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (twice)
        return wr_fail(err, WEIR_EINVAL,
                       "metadata: the key '%s' is there twice",
                       wr_show(twice).text);
    return 0;
}

int wr_st_plan(const weir_tensor *tensors, size_t count,
               const weir_pair *metadata, size_t metadata_count,
               struct wr_st_head *ret, weir_err *err)
{
    struct wr_st_head h = {0};
    struct out o = {0};
    int r;

    if (count >= WR_ST_MAX_JSON) /* each takes more than a byte */
        return wr_fail(err, WEIR_ELIMIT, "too many tensors: %zu", count);
    r = place_all(&h, tensors, count, err);
    if (r == 0)
        r = copy_metadata(&h, metadata, metadata_count, err);
    if (r == 0) {
        put_json(&o, &h);
        h.data_offset = WR_ALIGN_UP(8 + (uint64_t)o.used, WR_ST_DATA_ALIGN);
        if (h.data_offset - 8 > WR_ST_MAX_JSON)
            r = wr_fail(err, WEIR_ELIMIT,
                        "the head of %zu tensors would have %" PRIu64
                        " bytes, at most %u are allowed",
                        count, h.data_offset - 8, WR_ST_MAX_JSON);
    }
    if (r < 0) {
        wr_st_done(&h);
        return r;
    }
    *ret = h;
    return 0;
}
