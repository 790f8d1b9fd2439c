/* pairs.c - metadata: JSON objects of texts, from and to pairs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/shown.h"

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
