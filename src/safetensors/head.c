/* head.c - heads of safetensors files: reading, finding, freeing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/head.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/shown.h"

void wr_st_done(struct wr_st_head *h)
{
    for (size_t k = 0; h->tensors && k < h->count; k++)
        free((void *)(uintptr_t)h->tensors[k].t.name);
    free(h->tensors);
    free(h->by_name);
    wr_pairs_free(h->metadata, h->metadata_count);
    memset(h, 0, sizeof(*h));
}

static int compare_names(const void *a, const void *b, void *arg)
{
    const struct wr_st_tensor *tensors = arg;

    return strcmp(tensors[*(const uint32_t *)a].t.name,
                  tensors[*(const uint32_t *)b].t.name);
}

bool wr_st_index(struct wr_st_head *h, const char **ret_twice)
{
    uint32_t *ix = malloc((h->count + 1) * sizeof(*ix));
    const char *twice = NULL;

    if (!ix)
        return false;
    for (size_t k = 0; k < h->count; k++)
        ix[k] = (uint32_t)k;
    qsort_r(ix, h->count, sizeof(*ix), compare_names, h->tensors);
    for (size_t k = 1; k < h->count && !twice; k++)
        if (compare_names(&ix[k - 1], &ix[k], h->tensors) == 0)
            twice = h->tensors[ix[k]].t.name;
    free(h->by_name);
    h->by_name = ix;
    *ret_twice = twice;
    return true;
}

const struct wr_st_tensor *wr_st_find(const struct wr_st_head *h,
                                      const char *name)
{
    size_t low = 0, high = h->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct wr_st_tensor *t = &h->tensors[h->by_name[mid]];
        int order = strcmp(t->t.name, name);

        if (order == 0)
            return t;
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* Reads [from, to) of the file into buf + from. */
static int read_range(struct wr_object *o, uint8_t *buf, size_t from, size_t to,
                      weir_err *err)
{
    int64_t n = wr_object_read_all(o, buf + from, to - from, from, err);

    if (n < 0)
        return (int)n;
    return (size_t)n == to - from
               ? 0
               : wr_fail(err, WEIR_EFORMAT,
                         "cut off: ends at byte %zu inside its head",
                         from + (size_t)n);
}

/* The head's bytes, at most as many as the file and the format allow. */
static int read_head(struct wr_object *o, uint64_t file_size, uint8_t **ret,
                     size_t *ret_len, weir_err *err)
{
    uint8_t first[8] = {0}, *bytes;
    size_t have = file_size < 8 ? (size_t)file_size : 8, len = have;
    uint64_t n;
    int r = read_range(o, first, 0, have, err);

    if (r < 0)
        return r;
    n = wr_le64(first);
    /* A length that cannot be is refused by the parser. */
    if (have == 8 && n <= WR_ST_MAX_JSON && n <= file_size - 8)
        len = 8 + (size_t)n;
    bytes = malloc(len + 1);
    if (!bytes)
        return wr_fail(err, WEIR_ENOMEM,
                       "out of memory for a head of %zu bytes", len);
    memcpy(bytes, first, have);
    r = read_range(o, bytes, have, len, err);
    if (r < 0) {
        free(bytes);
        return r;
    }
    *ret = bytes;
    *ret_len = len;
    return 0;
}

int wr_st_read(struct wr_store *st, const char *path, struct wr_st_head *ret,
               uint8_t **ret_bytes, weir_err *err)
{
    struct wr_object *o;
    struct wr_stat stat = {0};
    uint8_t *bytes = NULL;
    size_t len = 0;
    int r = st->ops->stat(st, path, &stat, err);

    if (r < 0)
        return r;
    if (stat.kind != WR_KIND_FILE)
        return wr_fail(err, WEIR_EFORMAT, "'%s': not a file", path);
    r = st->ops->object_open(st, path, WR_OPEN_READ, &o, err);
    if (r < 0)
        return r;
    r = read_head(o, stat.size, &bytes, &len, err);
    o->ops->close(o, /* sync= */ false, NULL);
    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", path);
    r = wr_st_parse(bytes, len, stat.size, path, ret, err);
    if (r == 0 && ret_bytes) {
        *ret_bytes = bytes;
        bytes = NULL;
    }
    free(bytes);
    return r;
}

/* --- metadata: JSON objects of texts, from and to pairs --- */

int wr_pairs_parse(json_t *object, const char *what, struct wr_st_pair **ret,
                   size_t *ret_count, weir_err *err)
{
    struct wr_st_pair *pairs;
    const char *key;
    json_t *value;
    size_t n = 0;
    int r = 0;

    if (!json_is_object(object))
        return wr_fail(err, WEIR_EFORMAT, "%s is no object", what);
    pairs = calloc(json_object_size(object) + 1, sizeof(*pairs));
    if (!pairs)
        return wr_fail(err, WEIR_ENOMEM, "%s: out of memory", what);
    json_object_foreach(object, key, value)
    {
        if (!json_is_string(value)) {
            r = wr_fail(err, WEIR_EFORMAT, "%s: the value of '%s' is no text",
                        what, wr_show(key).text);
            break;
        }
        pairs[n].key = strdup(key);
        pairs[n].value = strdup(json_string_value(value));
        n++;
        if (!pairs[n - 1].key || !pairs[n - 1].value) {
            r = wr_fail(err, WEIR_ENOMEM, "%s: out of memory", what);
            break;
        }
    }
    if (r < 0) {
        wr_pairs_free(pairs, n);
        return r;
    }
    *ret = pairs;
    *ret_count = n;
    return 0;
}

json_t *wr_pairs_json(const struct wr_st_pair *pairs, size_t count)
{
    json_t *object = json_object();

    for (size_t k = 0; object && k < count; k++)
        if (json_object_set_new(object, pairs[k].key,
                                json_string(pairs[k].value)) < 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

static int compare_keys(const void *a, const void *b)
{
    const struct wr_st_pair *const *x = a, *const *y = b;

    return strcmp((*x)->key, (*y)->key);
}

bool wr_pairs_twice(const struct wr_st_pair *pairs, size_t count,
                    const char **ret)
{
    const struct wr_st_pair **sorted = malloc(
        (count + 1) * sizeof(const struct wr_st_pair *));
    const char *twice = NULL;

    if (!sorted)
        return false;
    for (size_t k = 0; k < count; k++)
        sorted[k] = &pairs[k];
    qsort(sorted, count, sizeof(*sorted), compare_keys);
    for (size_t k = 1; k < count && !twice; k++)
        if (compare_keys(&sorted[k - 1], &sorted[k]) == 0)
            twice = sorted[k]->key;
    free(sorted);
    *ret = twice;
    return true;
}

void wr_pairs_free(struct wr_st_pair *pairs, size_t count)
{
    for (size_t k = 0; pairs && k < count; k++) {
        free(pairs[k].key);
        free(pairs[k].value);
    }
    free(pairs);
}
