/* keyed.c - pointers by number: processes, threads, requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/keyed.h"

#include <stdlib.h>

#define LEAST 64 /* places, a power of two */

static size_t home(const struct wr_keyed *t, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) &
           (t->places - 1);
}

/* Where the key is, or the free place where it would be. */
static size_t place_of(const struct wr_keyed *t, uint64_t key)
{
    size_t k = home(t, key);

    while (t->values[k] && t->keys[k] != key)
        k = (k + 1) & (t->places - 1);
    return k;
}

void *wr_keyed_at(const struct wr_keyed *t, uint64_t key)
{
    return t->places ? t->values[place_of(t, key)] : NULL;
}

static bool grow(struct wr_keyed *t)
{
    struct wr_keyed larger = {.places = t->places ? t->places * 2 : LEAST};

    larger.keys = calloc(larger.places, sizeof(*larger.keys));
    larger.values = calloc(larger.places, sizeof(*larger.values));
    if (!larger.keys || !larger.values) {
        wr_keyed_done(&larger);
        return false;
    }
    for (size_t k = 0; k < t->places; k++)
        if (t->values[k])
            wr_keyed_put(&larger, t->keys[k], t->values[k]);
    wr_keyed_done(t);
    *t = larger;
    return true;
}

bool wr_keyed_put(struct wr_keyed *t, uint64_t key, void *value)
{
    size_t k;

    if (t->count * 2 >= t->places && !grow(t))
        return false;
    k = place_of(t, key);
    t->count += !t->values[k];
    t->keys[k] = key;
    t->values[k] = value;
    return true;
}

/* Those behind it move up: no place is ever lost. */
void *wr_keyed_remove(struct wr_keyed *t, uint64_t key)
{
    size_t free_at, k;
    void *value;

    if (!t->places)
        return NULL;
    free_at = k = place_of(t, key);
    value = t->values[k];
    if (!value)
        return NULL;
    for (;;) {
        k = (k + 1) & (t->places - 1);
        if (!t->values[k])
            break;
        if (((k - home(t, t->keys[k])) & (t->places - 1)) >=
            ((k - free_at) & (t->places - 1))) {
            t->keys[free_at] = t->keys[k];
            t->values[free_at] = t->values[k];
            free_at = k;
        }
    }
    t->values[free_at] = NULL;
    t->count--;
    return value;
}

void wr_keyed_done(struct wr_keyed *t)
{
    free(t->keys);
    free(t->values);
    *t = (struct wr_keyed){0};
}
