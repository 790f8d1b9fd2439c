/* known.c - what manifests said, so that each is read once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/known.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sorted.h"

struct one {
    struct wr_gist gist;
    uint64_t dev, ino, mtime_ns, size; /* of the manifest */
};

struct wr_known {
    pthread_mutex_t lock; /* guards what is below; a leaf lock */
    struct one *all;      /* owned; rising */
    size_t count, cap;
};

void wr_gist_of(const struct wr_manifest *m, struct wr_gist *ret)
{
    *ret = (struct wr_gist){.turn = m->turn,
                            .from = m->from,
                            .continues = m->continues,
                            .bytes = wr_manifest_bytes(m),
                            .time_ns = m->time_ns,
                            .world = m->world};
    memcpy(ret->id, m->id, sizeof(ret->id));
    memcpy(ret->store, m->store, sizeof(ret->store));
}

struct wr_known *wr_known_new(void)
{
    struct wr_known *k = calloc(1, sizeof(*k));

    if (k)
        pthread_mutex_init(&k->lock, NULL);
    return k;
}

void wr_known_free(struct wr_known *k)
{
    if (!k)
        return;
    pthread_mutex_destroy(&k->lock);
    free(k->all);
    free(k);
}

/* With the lock held: the first that is not below `step`. */
static size_t index_of(const struct wr_known *k, uint64_t step)
{
    return wr_count_below(k->all, sizeof(*k->all), k->count,
                          offsetof(struct one, gist.turn.step), step);
}

static bool is_same(const struct one *o, const struct wr_stat *as)
{
    return o->dev == as->dev && o->ino == as->ino &&
           o->mtime_ns == as->mtime_ns && o->size == as->size;
}

bool wr_known_find(struct wr_known *k, uint64_t step, const struct wr_stat *as,
                   struct wr_gist *ret)
{
    bool found;
    size_t at;

    pthread_mutex_lock(&k->lock);
    at = index_of(k, step);
    found = at < k->count && k->all[at].gist.turn.step == step &&
            is_same(&k->all[at], as);
    if (found)
        *ret = k->all[at].gist;
    pthread_mutex_unlock(&k->lock);
    return found;
}

void wr_known_learn(struct wr_known *k, const struct wr_stat *as,
                    const struct wr_gist *g)
{
    size_t at;

    pthread_mutex_lock(&k->lock);
    at = index_of(k, g->turn.step);
    if (at == k->count || k->all[at].gist.turn.step != g->turn.step) {
        if (!wr_grow(&k->all, &k->cap, k->count + 1, sizeof(*k->all)))
            goto out;
        memmove(&k->all[at + 1], &k->all[at],
                (k->count - at) * sizeof(*k->all));
        k->count++;
    }
    k->all[at] = (struct one){*g, as->dev, as->ino, as->mtime_ns, as->size};
out:
    pthread_mutex_unlock(&k->lock);
}

void wr_known_keep(struct wr_known *k, const uint64_t *steps, size_t count)
{
    size_t kept = 0, at = 0;

    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < k->count; i++) {
        while (at < count && steps[at] < k->all[i].gist.turn.step)
            at++;
        if (at < count && steps[at] == k->all[i].gist.turn.step)
            k->all[kept++] = k->all[i];
    }
    k->count = kept;
    pthread_mutex_unlock(&k->lock);
}
