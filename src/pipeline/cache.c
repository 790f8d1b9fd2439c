/* cache.c - tiers in front of the storage: which, and in which order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "pipeline/cache_dir.h"
#include "pipeline/cache_map.h"
#include "pipeline/cache_ram.h"

/* One of the two is there. */
struct tier {
    struct wr_cache_ram *ram; /* owned */
    struct wr_cache_dir *dir; /* owned */
};

struct wr_cache {
    uint64_t samples;
    unsigned count;
    struct tier tiers[WR_CACHE_TIERS];
};

/* --- opening --- */

/* Cuts ":share=..." off. */
static int parse_share(char *part, unsigned *ret, weir_err *err)
{
    char *colon = strrchr(part, ':');

    *ret = 0;
    if (!colon || strncmp(colon, ":share=", 7) != 0)
        return 0;
    if (!strcmp(colon + 7, "group"))
        *ret = WR_STORE_GROUP;
    else if (!strcmp(colon + 7, "all"))
        *ret = WR_STORE_ALL;
    else
        return wr_fail(err, WEIR_EINVAL, "expected share=group or share=all");
    *colon = '\0';
    if (!strncmp(part, "ram:", 4))
        return wr_fail(err, WEIR_EINVAL, "memory is not shared");
    return 0;
}

/* Splits "PATH:SIZE" or "PATH:SIZE:share=...". */
static int parse_part(char *part, struct wr_cache_folder *ret, weir_err *err)
{
    uint64_t budget = 0;
    char *colon;
    int r = parse_share(part, &ret->share, err);

    if (r < 0)
        return r;
    colon = strrchr(part, ':');

    if (!colon || colon == part)
        return wr_fail(err, WEIR_EINVAL,
                       "expected ram:SIZE or FOLDER:SIZE, as in ram:4GiB");
    r = wr_parse_size(colon + 1, &budget, err);
    if (r < 0)
        return r;
    if (budget == 0)
        return wr_fail(err, WEIR_EINVAL, "a size above 0 is expected");
    *colon = '\0';
    ret->budget = budget;
    return 0;
}

static bool has_ram(const struct wr_cache *c)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->tiers[i].ram)
            return true;
    return false;
}

/* One queue reads from all folders, so their stores must be of one kind; and
 * a folder that is there twice would be filled twice. */
static int check_store(const struct wr_cache *c, struct wr_store *st,
                       weir_err *err)
{
    const struct wr_store *first = wr_cache_store(c);
    struct wr_stat a, b;

    if (first &&
        (st->ops != &wr_storage_file || first->ops != &wr_storage_file))
        return wr_fail(err, WEIR_ENOTSUP,
                       "only plain folders may stand beside each other");
    for (unsigned i = 0; i < c->count; i++) {
        struct wr_store *other;

        if (!c->tiers[i].dir)
            continue;
        other = wr_cache_dir_store(c->tiers[i].dir);
        if (st->ops->stat(st, "", &a, err) < 0 ||
            other->ops->stat(other, "", &b, err) < 0)
            return WEIR_EIO;
        if (a.dev == b.dev && a.ino == b.ino)
            return wr_fail(err, WEIR_EINVAL, "this folder is already given");
    }
    return 0;
}

/* Asked before anything is made. */
static int check_budget(uint64_t budget, uint64_t samples, weir_err *err)
{
    size_t map_bytes;

    if (wr_cache_map_bytes(samples, &map_bytes) && map_bytes < budget)
        return 0;
    return wr_fail(err, WEIR_EINVAL,
                   "less than the map of %" PRIu64 " samples takes", samples);
}

static int open_dir(struct wr_cache *c, struct tier *t,
                    const struct wr_cache_folder *given,
                    const struct wr_cache_config *cfg, weir_err *err)
{
    struct wr_cache_folder at = *given;
    struct wr_store *st = NULL;
    char *root, *leaf = NULL;
    int r = check_budget(given->budget, cfg->samples, err);

    if (r < 0)
        return r;
    root = wr_place_root(given->url, given->share);
    if (!root)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_store_open_with(root, at.share ? at.share : WR_STORE_PRIVATE, &st,
                           &leaf, err);
    if (r == 0)
        r = check_store(c, st, err);
    at.url = root;
    if (r == 0)
        r = wr_cache_dir_open(&t->dir, st, &at, cfg, err);
    else
        wr_store_close(st);
    free(root);
    return r;
}

static int open_part(struct wr_cache *c, const char *text,
                     const struct wr_cache_config *cfg, weir_err *err)
{
    struct wr_cache_folder at = {0};
    struct tier t = {0};
    char *part = strdup(text);
    int r;

    if (!part)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = parse_part(part, &at, err);
    at.url = part;
    if (r == 0 && c->count == WR_CACHE_TIERS)
        r = wr_fail(err, WEIR_EINVAL, "more than %d tiers", WR_CACHE_TIERS);
    else if (r == 0 && strcmp(part, "ram"))
        r = open_dir(c, &t, &at, cfg, err);
    else if (r == 0 && has_ram(c))
        r = wr_fail(err, WEIR_EINVAL, "ram is already given");
    else if (r == 0)
        r = wr_cache_ram_open(&t.ram, at.budget, cfg, err);
    free(part);
    if (r < 0)
        return wr_fail_prefix(err, r, "cache '%s'", text);
    c->tiers[c->count++] = t;
    return 0;
}

/* What can be said of a list of tiers without opening any. */
int wr_cache_check_spec(const char *text, weir_err *err)
{
    char *spec = strdup(text), *next = spec, *part;
    struct wr_cache_folder at;
    int r = spec ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    while (r == 0 && (part = strsep(&next, ","))) {
        char *whole = strdup(part);

        r = whole ? parse_part(part, &at, err)
                  : wr_fail(err, WEIR_ENOMEM, "out of memory");
        if (r < 0 && whole)
            wr_fail_prefix(err, r, "cache '%s'", whole);
        free(whole);
    }
    free(spec);
    return r;
}

int wr_cache_open(struct wr_cache **ret, const struct wr_cache_config *cfg,
                  weir_err *err)
{
    struct wr_cache *c = calloc(1, sizeof(*c));
    char *spec = strdup(cfg->spec);
    char *next = spec;
    int r = 0;

    if (!c || !spec)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else
        c->samples = cfg->samples;
    while (r == 0 && next) {
        char *part = strsep(&next, ",");

        r = open_part(c, part, cfg, err);
    }
    free(spec);
    if (r < 0) {
        wr_cache_close(c);
        return r;
    }
    *ret = c;
    return 0;
}

void wr_cache_close(struct wr_cache *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->count; i++) {
        wr_cache_ram_close(c->tiers[i].ram);
        wr_cache_dir_close(c->tiers[i].dir);
    }
    free(c);
}

/* --- samples --- */

bool wr_cache_find(struct wr_cache *c, uint64_t id, struct wr_cache_hit *ret)
{
    if (id >= c->samples)
        return false;
    for (unsigned i = 0; i < c->count; i++) {
        struct tier *t = &c->tiers[i];

        if (t->ram ? wr_cache_ram_find(t->ram, id, ret)
                   : wr_cache_dir_find(t->dir, id, ret)) {
            ret->tier = i;
            return true;
        }
    }
    return false;
}

bool wr_cache_check(struct wr_cache *c, uint64_t id,
                    const struct wr_cache_hit *hit, const void *bytes)
{
    struct tier *t = &c->tiers[hit->tier];

    return t->ram || wr_cache_dir_check(t->dir, id, hit, bytes);
}

/* A tier before that where it lies may take it, too: a folder that was filled
 * by an earlier run would else keep the memory empty. */
bool wr_cache_wants(struct wr_cache *c, uint64_t id, size_t len)
{
    if (id >= c->samples)
        return false;
    for (unsigned i = 0; i < c->count; i++) {
        struct tier *t = &c->tiers[i];

        if (t->ram ? wr_cache_ram_has(t->ram, id)
                   : wr_cache_dir_has(t->dir, id))
            return false;
        if (t->ram ? wr_cache_ram_has_room(t->ram, len)
                   : wr_cache_dir_has_room(t->dir, len))
            return true;
    }
    return false;
}

void wr_cache_put(struct wr_cache *c, uint64_t id, uint32_t label,
                  const void *bytes, size_t len)
{
    if (id >= c->samples)
        return;
    for (unsigned i = 0; i < c->count; i++) {
        struct tier *t = &c->tiers[i];

        if (t->ram ? wr_cache_ram_put(t->ram, id, label, bytes, len)
                   : wr_cache_dir_put(t->dir, id, label, bytes, len))
            return;
    }
}

/* --- what it has --- */

unsigned wr_cache_tier_count(const struct wr_cache *c)
{
    return c->count;
}

void wr_cache_tier_stats(const struct wr_cache *c, unsigned tier,
                         struct wr_cache_stats *ret)
{
    const struct tier *t = &c->tiers[tier];

    if (t->ram)
        wr_cache_ram_stats(t->ram, ret);
    else
        wr_cache_dir_stats(t->dir, ret);
}

struct wr_store *wr_cache_store(const struct wr_cache *c)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->tiers[i].dir)
            return wr_cache_dir_store(c->tiers[i].dir);
    return NULL;
}

int wr_cache_error(const struct wr_cache *c, weir_err *err)
{
    int r = 0;

    for (unsigned i = 0; r == 0 && i < c->count; i++)
        if (c->tiers[i].dir)
            r = wr_cache_dir_error(c->tiers[i].dir, err);
    return r;
}
