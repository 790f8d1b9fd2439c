/* cache_place.c - the folder of a cache: what lies in it, and who is stale.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cache_place.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/mem.h"

#define MAP_NAME "map"

char *wr_place_root(const char *url, unsigned share)
{
    char *root;
    int n = share
                ? asprintf(&root, "%s/weir-cache-shared", url)
                : asprintf(&root, "%s/weir-cache-%u", url, (unsigned)geteuid());

    return n < 0 ? NULL : root;
}

void wr_place_init(struct wr_cache_place *p, struct wr_store *st,
                   const char *root, unsigned share,
                   const struct wr_cache_map_id *id)
{
    uint64_t key[2] = {id->fingerprint, id->sample_bytes};

    p->store = st;
    p->root = wr_url_path(root);
    p->share = share;
    snprintf(p->dir, sizeof(p->dir), "%016" PRIx64,
             (uint64_t)XXH64(key, sizeof(key), 0));
}

int wr_place_make(const struct wr_cache_place *p, weir_err *err)
{
    weir_err why;
    int r = wr_store_change(p->store, WR_MKDIR, p->dir, NULL, &why);

    return r == WEIR_EEXIST ? 0 : wr_fail_as(err, r, &why);
}

void wr_place_segment(const struct wr_cache_place *p, unsigned segment,
                      char *buf, size_t cap)
{
    snprintf(buf, cap, "%s/data-%04u", p->dir, segment);
}

int wr_place_map_path(const struct wr_cache_place *p, char *buf, size_t cap,
                      weir_err *err)
{
    if (snprintf(buf, cap, "%s/%s/" MAP_NAME, p->root, p->dir) >= (int)cap)
        return wr_fail(err, WEIR_ELIMIT, "the path is too long");
    return 0;
}

/* --- the data files --- */

static int note_size(void *arg, const struct wr_entry *e)
{
    uint64_t *sizes = arg;
    char name[32];
    unsigned n;

    if (e->kind != WR_KIND_FILE || sscanf(e->name, "data-%4u", &n) != 1)
        return 0;
    snprintf(name, sizeof(name), "data-%04u", n);
    if (n < WR_CACHE_MAP_SEGMENTS && !strcmp(name, e->name))
        sizes[n] = e->size;
    return 0;
}

int wr_place_sizes(const struct wr_cache_place *p,
                   uint64_t sizes[WR_CACHE_MAP_SEGMENTS], weir_err *err)
{
    for (unsigned i = 0; i < WR_CACHE_MAP_SEGMENTS; i++)
        sizes[i] = UINT64_MAX;
    return p->store->ops->list(p->store, p->dir, note_size, sizes, err);
}

int wr_place_remove_segment(const struct wr_cache_place *p, unsigned segment,
                            weir_err *err)
{
    char path[64];

    wr_place_segment(p, segment, path, sizeof(path));
    return p->store->ops->change(p->store, WR_REMOVE, path, NULL, err);
}

/* --- the other data sets --- */

struct place_sweep {
    const struct wr_cache_place *place; /* borrowed */
    const struct wr_cache_map_id *id;   /* borrowed */
    char dir[PATH_MAX];                 /* that is looked at */
    uint64_t bytes;
    weir_err *err; /* borrowed; NULL: none */
};

static int add_size(void *arg, const struct wr_entry *e)
{
    struct place_sweep *s = arg;
    uint64_t size = e->kind == WR_KIND_FILE ? e->size : 0;

    s->bytes += WR_ALIGN_UP(WR_MIN(size, (uint64_t)1 << 60),
                            (uint64_t)WR_PLACE_BLOCK);
    return 0;
}

/* All but the map: see below. */
static int remove_file(void *arg, const struct wr_entry *e)
{
    struct place_sweep *s = arg;
    struct wr_store *st = s->place->store;
    char path[PATH_MAX];

    if (strcmp(e->name, MAP_NAME) &&
        snprintf(path, sizeof(path), "%s/%s", s->dir, e->name) <
            (int)sizeof(path))
        st->ops->change(st, WR_REMOVE, path, NULL, NULL);
    return 0;
}

/* Is the map at `path` that of an older state of our data set? */
static bool is_stale(struct place_sweep *s, const char *path)
{
    struct wr_store *st = s->place->store;
    uint8_t bytes[WR_CACHE_MAP_HEADER];
    uint64_t fingerprint, name_hash;
    struct wr_object *o;
    int64_t n;

    if (!*s->id->name ||
        st->ops->object_open(st, path, WR_OPEN_READ, &o, NULL) < 0)
        return false;
    n = o->ops->read(o, bytes, sizeof(bytes), 0, NULL);
    o->ops->close(o, /* sync= */ false, NULL);
    return n == (int64_t)sizeof(bytes) &&
           wr_cache_map_peek(bytes, &fingerprint, &name_hash) &&
           fingerprint != s->id->fingerprint &&
           name_hash == wr_cache_map_name_hash(s->id->name);
}

/* The lock keeps others from using it, as long as the map that they would find
 * is the one that is locked: so it goes last. Who waits for the lock finds out
 * that it was removed, and makes another. */
static void remove_if_stale(struct place_sweep *s)
{
    struct wr_store *st = s->place->store;
    char path[PATH_MAX], local[PATH_MAX];
    enum wr_cache_map_hold hold;
    struct wr_cache_map map;

    if (snprintf(path, sizeof(path), "%s/" MAP_NAME, s->dir) >=
            (int)sizeof(path) ||
        !is_stale(s, path) ||
        snprintf(local, sizeof(local), "%s/%s", s->place->root, path) >=
            (int)sizeof(local) ||
        wr_cache_map_lock(&map, local, s->place->share, &hold, NULL) < 0)
        return;
    if (hold == WR_CACHE_MAP_ALONE && wr_cache_map_is_at(&map, local) &&
        is_stale(s, path)) {
        st->ops->list(st, s->dir, remove_file, s, NULL);
        st->ops->change(st, WR_REMOVE, path, NULL, NULL);
        st->ops->change(st, WR_REMOVE, s->dir, NULL, NULL);
    }
    wr_cache_map_close(&map);
}

static int sweep_one(void *arg, const struct wr_entry *e)
{
    struct place_sweep *s = arg;
    struct wr_store *st = s->place->store;
    weir_err why;
    int r;

    if (e->kind != WR_KIND_DIR)
        return add_size(s, e);
    if (snprintf(s->dir, sizeof(s->dir), "%s", e->name) >=
            (int)sizeof(s->dir) ||
        !strcmp(s->dir, s->place->dir))
        return 0;
    remove_if_stale(s);
    r = st->ops->list(st, s->dir, add_size, s, &why);
    if (r == WEIR_ENOENT) /* gone */
        return 0;
    if (r < 0 && s->err)
        *s->err = why;
    s->bytes += WR_PLACE_BLOCK;
    return r;
}

int wr_place_sweep(const struct wr_cache_place *p,
                   const struct wr_cache_map_id *id, uint64_t *ret_bytes,
                   weir_err *err)
{
    struct place_sweep s = {.place = p, .id = id, .err = err};
    int r = p->store->ops->list(p->store, "", sweep_one, &s, err);

    if (r < 0)
        return r;
    *ret_bytes = s.bytes;
    return 0;
}
