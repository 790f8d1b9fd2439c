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
#include "checkpoint/candidates.h"
#include "checkpoint/reading.h"
#include "checkpoint/store.h"
#include "codec/crc32c.h"
#include "safetensors/hex.h"
#include "storage/beside.h"

/* --- a lone file --- */

/* The digits of "weir.crc32c" into fresh numbers. */
static int parse_crcs(const char *digits, const char *name,
                      struct wr_st_shard *s, weir_err *err)
{
    uint64_t n = wr_shard_chunks(s, WR_CHUNK);

    if (strlen(digits) != n * 8 || !wr_hex_is(digits, (size_t)n * 8))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': its checksums are not of this file", name);
    s->crcs = calloc(n + 1, sizeof(*s->crcs));
    if (!s->crcs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint64_t i = 0; i < n; i++)
        s->crcs[i] = wr_hex_u32(digits + i * 8);
    return 0;
}

static const char *find_crcs(const struct wr_st_head *h)
{
    for (size_t i = 0; i < h->metadata_count; i++)
        if (!strcmp(h->metadata[i].key, WR_IMAGE_CRC_KEY))
            return h->metadata[i].value;
    return NULL;
}

int wr_export_check(const struct wr_shard_at *file, struct wr_byte_count *read,
                    weir_err *err)
{
    struct wr_st_shard s = {0};
    struct wr_byte_count unseen = {0};
    const struct wr_byte_meter meter = {wr_byte_count_add,
                                        read ? read : &unseen};
    struct wr_st_head head;
    const char *digits;
    uint8_t *bytes;
    int r = wr_st_read(file->store, file->path, &head, &bytes, err);

    if (r < 0)
        return r;
    s.data_offset = head.data_offset;
    s.size = head.data_offset + head.data_bytes;
    s.head_crc = wr_crc32c(0, bytes, head.data_offset);
    if (read)
        read->total = s.size;
    digits = find_crcs(&head);
    r = digits
            ? parse_crcs(digits, file->path, &s, err)
            : wr_fail(err, WEIR_ENOTSUP,
                      "'%s': has no checksums to compare it with", file->path);
    if (r == 0)
        r = wr_shard_read(file, &s, WR_CHUNK, NULL, 0, &meter, err);
    free(bytes);
    wr_shard_done(&s);
    wr_st_done(&head);
    return r;
}

/* --- a step --- */

/* Where it goes. */
struct exit_way {
    const char *to;         /* borrowed: as the caller named it */
    struct wr_store *store; /* owned: around the folder */
    char *name;             /* owned: the folder */
    char *beside;           /* owned: while it is written */
    bool
        of_copy; /* what failed last is the copy in the store: another may do */
};

static int change(const struct exit_way *w, enum wr_change what,
                  const char *path, const char *to, weir_err *err)
{
    return w->store->ops->change(w->store, what, path, to, err);
}

static int open_way(struct exit_way *w, weir_err *err)
{
    char id[WR_MANIFEST_ID], *parent = NULL;
    struct wr_stat sb;
    int r = wr_url_split(w->to, &parent, &w->name, err);

    if (r == 0)
        r = wr_store_open_own(parent, &w->store, err);
    free(parent);
    if (r < 0)
        return r;
    wr_manifest_new_id(id);
    if (w->store->ops->stat(w->store, w->name, &sb, NULL) == 0)
        r = wr_fail(err, WEIR_EEXIST, "'%s': is there already", w->to);
    else if (!w->store->ops->change)
        r = wr_fail(err, WEIR_ENOTSUP, "'%s': read-only storage", w->to);
    else if (asprintf(&w->beside, ".%s.tmp-%s", w->name, id) < 0)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    return r;
}

static void close_way(struct exit_way *w)
{
    wr_store_close(w->store);
    free(w->name);
    free(w->beside);
}

/* --- the folder beside --- */

static int write_manifest(const struct exit_way *w, const struct wr_manifest *m,
                          weir_err *err)
{
    struct wr_object *o;
    size_t len;
    char *text = wr_manifest_as_read(m, &len), *path = NULL;
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
                       struct exit_way *w, const struct wr_byte_meter *meter,
                       weir_err *err)
{
    char from[WR_TIER_PATH], *to;
    int r = 0;

    for (uint32_t i = 0; i < m->world && r == 0; i++) {
        struct wr_way way = {.from = {t->store, from}};

        wr_tier_shard_path(m->step, i, from);
        if (asprintf(&to, "%s/%s", w->beside, m->shards[i].name) < 0)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        way.to = (struct wr_shard_at){w->store, to};
        r = wr_shard_copy(&way, &m->shards[i], m->chunk, meter, err);
        w->of_copy = r < 0 && !way.to_failed;
        if (w->of_copy)
            wr_tier_name_whole(t, from, r, err);
        free(to);
    }
    return r;
}

static int fill_beside(const weir_ckpt *c, struct wr_tier *t,
                       const struct wr_manifest *m, struct exit_way *w,
                       weir_err *err)
{
    struct wr_byte_count copied = {c->cfg.progress, c->cfg.progress_arg, 0,
                                   wr_manifest_bytes(m)};
    const struct wr_byte_meter meter = {wr_byte_count_add, &copied};
    int r = change(w, WR_MKDIR, w->beside, NULL, err);

    if (r == 0)
        r = copy_shards(t, m, w, &meter, err);
    if (r == 0)
        r = write_manifest(w, m, err);
    if (r == 0)
        r = change(w, WR_SYNC_DIR, w->beside, NULL, err);
    return r;
}

/* Gives the folder its name, for good or not at all. */
static int show(const struct exit_way *w, weir_err *err)
{
    int r = change(w, WR_RENAME_NEW, w->beside, w->name, err);

    if (r < 0)
        return r;
    r = change(w, WR_SYNC_DIR, "", NULL, err);
    if (r < 0)
        change(w, WR_RENAME, w->name, w->beside, NULL);
    return r;
}

/* --- copy after copy --- */

/* Takes the manifest. */
static int tell_found(const weir_ckpt *c, const struct wr_candidates *k,
                      struct wr_tier *t, struct wr_manifest *m,
                      weir_ckpt_found **ret, weir_err *err)
{
    struct wr_reading part = {0};
    int r = wr_reading_open(&part, t, m, &c->cfg, err);

    if (r == 0 && wr_found_new(m, &part, k->passed, k->passed_len, ret) < 0)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_reading_done(&part);
    return r;
}

/* What was found is put together before the folder is there: all of it works
 * out or nothing. Takes the manifest. */
static int export_copy(const weir_ckpt *c, const struct wr_candidates *k,
                       struct wr_manifest *m, struct exit_way *w,
                       weir_ckpt_found **ret, weir_err *err)
{
    struct wr_tier *t = wr_ckpt_tier(c, k->all[k->at - 1].tier);
    weir_ckpt_found *found = NULL;
    int r;

    w->of_copy = false;
    r = fill_beside(c, t, m, w, err);
    if (r == 0 && ret) {
        r = tell_found(c, k, t, m, &found, err);
        w->of_copy = r < 0;
    }
    if (r == 0)
        r = show(w, err);
    if (r < 0) {
        w->of_copy &= r != WEIR_ECANCELED;
        /* As far as it can be done, and nothing that weir did not make there. */
        wr_tree_remove(w->store, w->beside, &(struct wr_tree_rule){.depth = 1},
                       NULL);
        weir_ckpt_found_free(&found);
    } else if (ret) {
        *ret = found;
    }
    return r;
}

/* Until one is good. */
static int try_copies(const weir_ckpt *c, struct wr_candidates *k,
                      struct exit_way *w, weir_ckpt_found **ret, weir_err *err)
{
    struct wr_candidate n;
    struct wr_manifest m;
    int r;

    while ((r = wr_candidates_next(k, &n, &m, err)) == 1) {
        char id[WR_MANIFEST_ID];
        weir_err why;

        memcpy(id, m.id, sizeof(id));
        r = export_copy(c, k, &m, w, ret, &why);
        wr_manifest_done(&m);
        if (r == 0)
            return 1;
        if (!w->of_copy) {
            wr_fail_as(err, r, &why);
            return r == WEIR_ECANCELED ? r
                                       : wr_fail_prefix(err, r, "'%s'", w->to);
        }
        r = wr_candidates_pass(k, id, &why, err);
        if (r < 0)
            return r;
    }
    return r;
}

int weir_ckpt_export(weir_ckpt *c, uint64_t step, const char *to,
                     weir_ckpt_found **ret, weir_err *err)
{
    struct wr_candidates k = {0};
    struct exit_way w = {.to = to};
    int r = wr_ckpt_begin(c, err);

    if (r == 0 && !to)
        r = wr_fail(err, WEIR_EINVAL, "to: is NULL");
    if (r < 0)
        return r;
    if (c->cfg.world > 1)
        r = wr_fail(err, WEIR_ENOTSUP, "one process alone copies a step out");
    if (r == 0)
        r = open_way(&w, err);
    if (r == 0)
        r = wr_candidates_init(&k, c, step, err);
    if (r == 0)
        r = try_copies(c, &k, &w, ret, err);
    wr_candidates_done(&k);
    close_way(&w);
    return r == 1 ? r : wr_ckpt_end(c, r, err);
}
