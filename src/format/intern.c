/* intern.c - texts that occur many times, kept once and numbered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/intern.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "weir/error.h"

#define MAX_TEXTS ((size_t)1 << 31)

static uint64_t hash_text(const char *text, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return wr_mix64(h);
}

static bool is_text(const struct wr_intern *in, uint64_t k, const char *text,
                    size_t len)
{
    const char *have = in->pool + in->at[k];

    return in->pool_len - in->at[k] > len && !memcmp(have, text, len) &&
           have[len] == '\0';
}

/* The slot that holds `text`, or the free one where it belongs. */
static size_t find_slot(const struct wr_intern *in, const char *text,
                        size_t len)
{
    size_t mask = in->table_cap - 1;
    size_t slot = (size_t)hash_text(text, len) & mask;

    while (in->table[slot] && !is_text(in, in->table[slot] - 1, text, len))
        slot = (slot + 1) & mask;
    return slot;
}

/* Keeps the table at most half full. */
static bool grow_table(struct wr_intern *in)
{
    size_t cap = in->table_cap ? in->table_cap : 16;

    while (cap / 2 <= in->count)
        cap *= 2;
    if (cap == in->table_cap)
        return true;
    free(in->table);
    in->table_cap = 0;
    in->table = calloc(cap, sizeof(*in->table));
    if (!in->table)
        return false;
    in->table_cap = cap;
    for (size_t k = 0; k < in->count; k++) {
        const char *text = in->pool + in->at[k];

        in->table[find_slot(in, text, strlen(text))] = (uint32_t)k + 1;
    }
    return true;
}

int64_t wr_intern_add(struct wr_intern *in, const char *text, size_t len)
{
    size_t slot, need;

    assert(!in->pool || in->pool_cap); /* not one that is borrowed */
    /* Callers often repeat the text they added last. */
    if (in->count && is_text(in, in->count - 1, text, len))
        return (int64_t)in->count - 1;
    if (!in->table_cap && !grow_table(in))
        return WEIR_ENOMEM;
    slot = find_slot(in, text, len);
    if (in->table[slot]) /* needs no memory */
        return in->table[slot] - 1;
    if (in->count >= MAX_TEXTS)
        return WEIR_ELIMIT;
    if (!grow_table(in))
        return WEIR_ENOMEM;
    slot = find_slot(in, text, len);
    if (!wr_add_ok(in->pool_len, len, &need) || !wr_add_ok(need, 1, &need) ||
        !wr_grow(&in->pool, &in->pool_cap, need, 1) ||
        !wr_grow(&in->at, &in->at_cap, in->count + 1, sizeof(*in->at)))
        return WEIR_ENOMEM;
    memcpy(in->pool + in->pool_len, text, len);
    in->pool[in->pool_len + len] = '\0';
    in->at[in->count] = in->pool_len;
    in->pool_len = need;
    in->table[slot] = (uint32_t)++in->count;
    return (int64_t)in->count - 1;
}

const char *wr_intern_text(const struct wr_intern *in, uint64_t k)
{
    return in->pool + in->at[k];
}

void wr_intern_seal(struct wr_intern *in)
{
    free(in->table);
    in->table = NULL;
    in->table_cap = 0;
}

size_t wr_intern_memory(const struct wr_intern *in)
{
    return in->pool_cap + in->at_cap * sizeof(*in->at) +
           in->table_cap * sizeof(*in->table);
}

void wr_intern_done(struct wr_intern *in)
{
    if (in->pool_cap)
        free(in->pool);
    if (in->at_cap)
        free(in->at);
    free(in->table);
    memset(in, 0, sizeof(*in));
}
