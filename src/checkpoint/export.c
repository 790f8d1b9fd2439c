/* export.c - copying a step out of a store, and checking such a copy.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The copy is made in a folder beside the one that is asked for and renamed
 * there when all of it is on the medium, so a reader sees all of it or
 * nothing. */
#include "checkpoint/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/candidates.h"
#include "checkpoint/found.h"
#include "checkpoint/store.h"
#include "codec/crc32c.h"

/* --- a lone file --- */

struct part {
    const struct wr_export_meter *meter;
    uint64_t done, total;
};

static int on_part(void *arg, uint64_t bytes)
{
    struct part *p = arg;

    p->done += bytes;
    return p->meter && p->meter->progress
               ? p->meter->progress(p->meter->arg, p->done, p->total)
               : 0;
}

/* The digits of "weir.crc32c" into fresh numbers. */
static int parse_crcs(const char *digits, const char *name, struct wr_shard *s,
                      weir_err *err)
{
    uint64_t n = wr_shard_chunks(s, WR_CHUNK);

    if (strlen(digits) != n * 8 || strspn(digits, "0123456789abcdef") != n * 8)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': its checksums are not of this file", name);
    s->crcs = calloc(n + 1, sizeof(*s->crcs));
    if (!s->crcs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint64_t i = 0; i < n; i++) {
        char one[9] = {0};

        memcpy(one, digits + i * 8, 8);
        s->crcs[i] = (uint32_t)strtoul(one, NULL, 16);
    }
    return 0;
}

static const char *find_crcs(const struct wr_st_head *h)
{
    for (size_t i = 0; i < h->metadata_count; i++)
        if (!strcmp(h->metadata[i].key, WR_IMAGE_CRC_KEY))
            return h->metadata[i].value;
    return NULL;
}

int wr_export_check(const struct wr_place *file,
                    const struct wr_export_meter *meter, weir_err *err)
{
    struct wr_shard s = {0};
    struct part part = {.meter = meter};
    struct wr_st_head head;
    const char *digits;
    uint8_t *bytes;
    int r = wr_st_read(file->store, file->path, &head, &bytes, err);

    if (r < 0)
        return r;
    s.data_offset = head.data_offset;
    s.size = head.data_offset + head.data_bytes;
    s.head_crc = wr_crc32c(0, bytes, head.data_offset);
    part.total = s.size;
    digits = find_crcs(&head);
    r = digits
            ? parse_crcs(digits, file->path, &s, err)
            : wr_fail(err, WEIR_ENOTSUP,
                      "'%s': has no checksums to compare it with", file->path);
    if (r == 0)
        r = wr_shard_read(file, &s, WR_CHUNK, NULL, 0,
                          &(struct wr_meter){on_part, &part}, err);
    free(bytes);
    wr_shard_done(&s);
    wr_st_done(&head);
    return r;
}

/* --- a step --- */

/* Where it goes. */
struct exit_way {
    struct wr_store *store; /* owned: around the folder */
    char *name;             /* owned: the folder */
    char *beside;           /* owned: while it is written */
};

static int open_way(const char *to, struct exit_way *ret, weir_err *err)
{
    char id[WR_MANIFEST_ID], *parent = NULL, *leaf = NULL;
    struct wr_stat sb;
    int r = wr_url_split(to, &parent, &ret->name, err);

    if (r == 0)
        r = wr_store_open(parent, &ret->store, &leaf, err);
    free(parent);
    if (r < 0)
        return r;
    wr_manifest_new_id(id);
    if (leaf)
        r = wr_fail(err, WEIR_ENOENT, "'%s': not in a folder", to);
    else if (ret->store->ops->stat(ret->store, ret->name, &sb, NULL) == 0)
        r = wr_fail(err, WEIR_EEXIST, "'%s': is there already", to);
    else if (!ret->store->ops->change)
        r = wr_fail(err, WEIR_ENOTSUP, "'%s': read-only storage", to);
    else if (asprintf(&ret->beside, ".%s.tmp-%s", ret->name, id) < 0)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    free(leaf);
    return r;
}

static void close_way(struct exit_way *w)
{
    wr_store_close(w->store);
    free(w->name);
    free(w->beside);
}

static int gather_name(void *arg, const struct wr_entry *e)
{
    char *name = arg;

    snprintf(name, WR_TIER_PATH, "%s", e->name);
    return 1; /* one at a time: it is removed before the next is looked for */
}

static void remove_beside(struct exit_way *w)
{
    struct wr_store *st = w->store;
    char name[WR_TIER_PATH], *path;

    while (st->ops->list(st, w->beside, gather_name, name, NULL) == 1) {
        int r = asprintf(&path, "%s/%s", w->beside, name);

        if (r >= 0) {
            r = st->ops->change(st, WR_REMOVE, path, NULL, NULL);
            free(path);
        }
        if (r < 0)
            break;
    }
    st->ops->change(st, WR_REMOVE, w->beside, NULL, NULL);
}

static int write_manifest(struct exit_way *w, const struct wr_manifest *m,
                          weir_err *err)
{
    struct wr_object *o;
    size_t len;
    char *text = wr_manifest_text(m, &len), *path = NULL;
    int r, q;

    if (!text || asprintf(&path, "%s/" WR_MANIFEST_NAME, w->beside) < 0) {
        free(text);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    r = w->store->ops->object_open(w->store, path, WR_OPEN_CREATE, &o, err);
    if (r == 0) {
        r = o->ops->write(o, text, len, 0, err);
        q = o->ops->close(o, /* sync= */ r == 0, r < 0 ? NULL : err);
        r = r < 0 ? r : q;
    }
    free(path);
    free(text);
    return r;
}

static int copy_shards(struct wr_tier *t, const struct wr_manifest *m,
                       struct exit_way *w, const struct wr_meter *meter,
                       weir_err *err)
{
    char from[WR_TIER_PATH], *to;
    int r = 0;

    for (uint32_t i = 0; i < m->world && r == 0; i++) {
        wr_tier_shard_path(m->step, i, from);
        if (asprintf(&to, "%s/%s", w->beside, m->shards[i].name) < 0)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        r = wr_shard_copy(&(struct wr_place){t->store, from},
                          &(struct wr_place){w->store, to}, &m->shards[i],
                          m->chunk, meter, err);
        free(to);
    }
    return r;
}

/* One copy of a step, to the folder beside and from there to its name. */
static int export_copy(weir_ckpt *c, struct wr_tier *t,
                       const struct wr_manifest *m, struct exit_way *w,
                       weir_err *err)
{
    struct wr_export_meter meter = {c->cfg.progress, c->cfg.progress_arg};
    const struct wr_storage_ops *ops = w->store->ops;
    struct part part = {.meter = &meter, .total = wr_manifest_bytes(m)};
    int r = ops->change(w->store, WR_MKDIR, w->beside, NULL, err);

    if (r < 0)
        return r;
    r = copy_shards(t, m, w, &(struct wr_meter){on_part, &part}, err);
    if (r == 0)
        r = write_manifest(w, m, err);
    if (r == 0)
        r = ops->change(w->store, WR_SYNC_DIR, w->beside, NULL, err);
    if (r == 0)
        r = ops->change(w->store, WR_RENAME_NEW, w->beside, w->name, err);
    if (r < 0)
        remove_beside(w);
    else
        r = ops->change(w->store, WR_SYNC_DIR, "", NULL, err);
    return r;
}

/* What another copy may do better. */
static bool is_of_copy(int r)
{
    return r == WEIR_EDAMAGED || r == WEIR_EIO || r == WEIR_ENOENT ||
           r == WEIR_ECHANGED;
}

static int tell_found(weir_ckpt *c, const struct wr_candidates *k,
                      struct wr_tier *t, struct wr_manifest *m,
                      weir_ckpt_found **ret, weir_err *err)
{
    struct wr_part part = {0};
    int r = wr_part_open(&part, t, m, &c->cfg, err);

    if (r == 0 && wr_found_new(m, &part, k->passed, k->passed_len, ret) < 0)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_part_done(&part);
    return r;
}

/* Copy after copy, until one is good. */
static int try_copies(weir_ckpt *c, struct wr_candidates *k, struct exit_way *w,
                      weir_ckpt_found **ret, weir_err *err)
{
    struct wr_candidate n;
    struct wr_manifest m;
    int r;

    while ((r = wr_candidates_next(k, &n, &m, err)) == 1) {
        struct wr_tier *t = wr_ckpt_tier(c, n.tier);
        weir_err why;
        int q = export_copy(c, t, &m, w, &why);

        if (q == 0 && ret)
            q = tell_found(c, k, t, &m, ret, &why);
        if (q < 0 && is_of_copy(q))
            r = wr_candidates_pass(k, m.id, &why, err);
        wr_manifest_done(&m);
        if (q == 0)
            return 1;
        if (!is_of_copy(q) && err)
            *err = why;
        if (!is_of_copy(q) || r < 0)
            return is_of_copy(q) ? r : q;
    }
    return r;
}

int weir_ckpt_export(weir_ckpt *c, uint64_t step, const char *to,
                     weir_ckpt_found **ret, weir_err *err)
{
    struct wr_candidates k = {0};
    struct exit_way w = {0};
    int r = wr_ckpt_take_trouble(c, err);

    if (r == 0 && c->cfg.world > 1)
        r = wr_fail(err, WEIR_ENOTSUP, "one process alone copies a step out");
    if (r == 0)
        r = open_way(to, &w, err);
    if (r == 0)
        r = wr_candidates_init(&k, c, step, err);
    if (r == 0)
        r = try_copies(c, &k, &w, ret, err);
    wr_candidates_done(&k);
    close_way(&w);
    return r;
}
