/* intern.c - texts that occur many times, kept once and numbered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/intern.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"
#include "weir/error.h"

#define MAX_TEXTS ((size_t)1 << 31)

static uint64_t key_of(const char *text, size_t len)
{
    return wr_map_hashed(XXH3_64bits(text, len));
}

static bool is_text(const struct wr_intern *in, uint64_t k, const char *text,
                    size_t len)
{
    const char *have = in->pool + in->at[k];

    return in->pool_len - in->at[k] > len && !memcmp(have, text, len) &&
           have[len] == '\0';
}

/* In an empty table: all texts that are there. */
static bool fill_table(struct wr_intern *in)
{
    in->table.size = sizeof(struct wr_map_number);
    for (size_t k = 0; k < in->count; k++) {
        const char *text = in->pool + in->at[k];
        struct wr_map_number *n = wr_map_add(&in->table,
                                             key_of(text, strlen(text)));

        if (!n) {
            wr_map_done(&in->table);
            return false;
        }
        n->number = (uint32_t)k;
    }
    return true;
}

int64_t wr_intern_add(struct wr_intern *in, const char *text, size_t len)
{
    struct wr_map_number *n;
    uint64_t key;
    size_t need;

    assert(!in->pool || in->pool_cap); /* not one that is borrowed */
    /* Callers often repeat the text they added last. */
    if (in->count && is_text(in, in->count - 1, text, len))
        return (int64_t)in->count - 1;
    if (!in->table.count && !fill_table(in))
        return WEIR_ENOMEM;
    key = key_of(text, len);
    n = wr_map_find(&in->table, key);
    while (n && !is_text(in, n->number, text, len))
        n = wr_map_next(&in->table, n);
    if (n)
        return n->number;
    if (in->count >= MAX_TEXTS)
        return WEIR_ELIMIT;
    if (!wr_add_ok(in->pool_len, len, &need) || !wr_add_ok(need, 1, &need) ||
        !wr_grow(&in->pool, &in->pool_cap, need, 1) ||
        !wr_grow(&in->at, &in->at_cap, in->count + 1, sizeof(*in->at)))
        return WEIR_ENOMEM;
    n = wr_map_add(&in->table, key);
    if (!n)
        return WEIR_ENOMEM;
    memcpy(in->pool + in->pool_len, text, len);
    in->pool[in->pool_len + len] = '\0';
    in->at[in->count] = in->pool_len;
    in->pool_len = need;
    n->number = (uint32_t)in->count++;
    return n->number;
}

const char *wr_intern_text(const struct wr_intern *in, uint64_t k)
{
    return in->pool + in->at[k];
}

void wr_intern_seal(struct wr_intern *in)
{
    wr_map_done(&in->table);
}

size_t wr_intern_memory(const struct wr_intern *in)
{
    return in->pool_cap + in->at_cap * sizeof(*in->at) +
           in->table.cap * in->table.size;
}

void wr_intern_done(struct wr_intern *in)
{
    if (in->pool_cap)
        free(in->pool);
    if (in->at_cap)
        free(in->at);
    wr_map_done(&in->table);
    memset(in, 0, sizeof(*in));
}
