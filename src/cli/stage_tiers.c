/* stage_tiers.c - the folder tiers of weir stage, and what lies in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/stage_tiers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "pipeline/cache_map.h"
#include "storage/storage.h"

#define ROOT  "weir-cache"
#define BLOCK 4096u /* what a file takes is rounded to */

/* --- which tiers --- */

static int add_tier(struct wr_stage_tiers *t, char *part, weir_err *err)
{
    char *colon = strrchr(part, ':');
    struct wr_stage_tier *tier = &t->list[t->count];
    int r;

    if (!strncmp(part, "ram:", 4))
        return wr_fail(err, WEIR_EINVAL,
                       "memory is gone when this command ends: only folders "
                       "can be staged");
    if (!colon || colon == part)
        return wr_fail(err, WEIR_EINVAL,
                       "expected FOLDER:SIZE, as in /fast/dir:200G");
    if (t->count == WR_CACHE_TIERS)
        return wr_fail(err, WEIR_EINVAL, "more than %d tiers", WR_CACHE_TIERS);
    r = wr_parse_size(colon + 1, &tier->budget, err);
    if (r < 0)
        return r;
    tier->spec = strdup(part);
    tier->url = strndup(part, (size_t)(colon - part));
    t->count++;
    if (!tier->spec || !tier->url)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

int wr_stage_tiers_init(struct wr_stage_tiers *t, const char *spec,
                        weir_err *err)
{
    char *copy = strdup(spec), *next = copy;
    int r = 0;

    *t = (struct wr_stage_tiers){0};
    if (!copy)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    while (r == 0 && next) {
        char *part = strsep(&next, ",");

        r = add_tier(t, part, err);
        if (r < 0)
            wr_fail_prefix(err, r, "tier '%s'", part);
    }
    free(copy);
    return r;
}

void wr_stage_tiers_done(struct wr_stage_tiers *t)
{
    for (unsigned k = 0; k < t->count; k++) {
        free(t->list[k].spec);
        free(t->list[k].url);
    }
    t->count = 0;
}

/* --- what lies in them --- */

/* One tier, gone through. */
struct look {
    struct wr_store *store;         /* borrowed */
    const struct wr_stage_set *set; /* borrowed; NULL: fingerprint is known */
    unsigned sure;           /* that the map is that of the set; 0: none is */
    uint64_t fingerprint;    /* of the set's map */
    uint64_t entries, bytes; /* that it has */
    uint64_t all;            /* bytes of all sets */
};

static bool read_header(struct look *l, const char *dir,
                        struct wr_map_header *ret)
{
    uint64_t fingerprint, name_hash;
    char path[NAME_MAX + 32];
    struct wr_object *o;
    int64_t n;

    snprintf(path, sizeof(path), ROOT "/%s/map", dir);
    if (l->store->ops->object_open(l->store, path, WR_OPEN_READ, &o, NULL) < 0)
        return false;
    n = o->ops->read(o, ret, sizeof(*ret), 0, NULL);
    o->ops->close(o, /* sync= */ false, NULL);
    return n == (int64_t)sizeof(*ret) &&
           wr_map_peek(ret, &fingerprint, &name_hash);
}

/* The name in a map is that of the data set, "#" and what was done to it; it
 * may be cut. */
static bool has_name(const struct wr_map_header *h, const char *name)
{
    size_t len = strlen(name), most = sizeof(h->name) - 1;

    return !strncmp(h->name, name, WR_MIN(len, most)) &&
           (len >= most || !h->name[len] || h->name[len] == '#');
}

/* How sure is it that this map is that of the set? The same data may have
 * another name here; an older state that is still in use holds as many samples,
 * but hardly ever as many bytes. */
static unsigned is_sure(const struct look *l, const struct wr_map_header *h,
                        uint64_t bytes)
{
    const struct wr_stage_set *set = l->set;

    if (!set)
        return h->fingerprint == l->fingerprint;
    if (h->samples != set->samples || h->sample_bytes != set->sample_bytes)
        return 0;
    return 1 + has_name(h, set->name) + 2 * (bytes == set->bytes);
}

static int look_at(void *arg, const struct wr_entry *e)
{
    struct look *l = arg;
    struct wr_map_header h;
    unsigned sure;
    uint64_t bytes;
    size_t map;

    if (e->kind != WR_KIND_DIR || !read_header(l, e->name, &h) ||
        !wr_map_bytes(h.samples, &map))
        return 0;
    bytes = h.used + WR_ALIGN_UP(map, (size_t)BLOCK);
    l->all += bytes;
    sure = is_sure(l, &h, bytes);
    if (sure > l->sure) {
        l->sure = sure;
        l->fingerprint = h.fingerprint;
        l->entries = h.entries;
        l->bytes = bytes;
    }
    return 0;
}

static int look_at_tier(const struct wr_stage_tier *t, struct look *l,
                        weir_err *err)
{
    char *leaf = NULL;
    struct wr_stat st;
    int r = wr_store_open(t->url, &l->store, &leaf, err);

    free(leaf);
    if (r < 0)
        return r;
    if (l->store->ops->stat(l->store, ROOT, &st, NULL) == 0)
        r = l->store->ops->list(l->store, ROOT, look_at, l, err);
    wr_store_close(l->store);
    return r;
}

int wr_stage_tiers_find(const struct wr_stage_tiers *t, unsigned i,
                        const struct wr_stage_set *set, struct wr_stage_kept *k,
                        weir_err *err)
{
    struct look l = {.set = set};
    int r = look_at_tier(&t->list[i], &l, err);

    if (r < 0)
        return r;
    k->found[i] = l.sure > 0;
    k->fingerprint[i] = l.fingerprint;
    return 0;
}

int wr_stage_tiers_count(const struct wr_stage_tiers *t,
                         struct wr_stage_kept *k, weir_err *err)
{
    k->samples = k->bytes = k->room = 0;
    for (unsigned i = 0; i < t->count; i++) {
        struct look l = {.fingerprint = k->fingerprint[i]};
        int r = look_at_tier(&t->list[i], &l, err);

        if (r < 0)
            return r;
        if (k->found[i]) {
            k->samples += l.entries;
            k->bytes += l.bytes;
        }
        if (l.all < t->list[i].budget)
            k->room = WR_MAX(k->room, t->list[i].budget - l.all);
    }
    return 0;
}
