/* tier.c - one folder of saved steps: opening it, and what is there.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Becoming the writer is in claim.c, new steps in publish.c, taking
 * away in remove.c, marks in step.c, names in name.c. */
#include "tier/tier.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tier/private.h"

#define SLOTS 1 /* kept, unless the caller says otherwise */

/* --- opening --- */

int wr_tier_wrap(struct wr_store *st, const char *shown, const char *label,
                 struct wr_tier **ret, weir_err *err)
{
    struct wr_tier *t = calloc(1, sizeof(*t));
    size_t len = strlen(shown);

    while (len > 1 && shown[len - 1] == '/')
        len--;
    if (t) {
        t->shown = strndup(shown, len);
        t->known = wr_known_new();
    }
    if (!t || !t->shown || !t->known) {
        if (t) {
            free(t->shown);
            wr_known_free(t->known);
        }
        free(t);
        wr_store_close(st);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    pthread_mutex_init(&t->holding, NULL);
    t->store = st;
    t->label = label;
    t->slots = SLOTS;
    *ret = t;
    return 0;
}

/* Makes the last part of `url` where it is missing, and syncs its entry. */
static int make_folder(const char *url, weir_err *err)
{
    struct wr_store *st = NULL;
    char *parent, *name;
    int r;

    r = wr_url_split(url, &parent, &name, err);
    if (r < 0)
        return r;
    r = wr_store_open_own(parent, &st, err);
    if (r < 0)
        goto out;
    if (!st->ops->change) {
        r = wr_fail(err, WEIR_ENOTSUP, "'%s': read-only storage", parent);
        goto out;
    }
    r = st->ops->change(st, WR_MKDIR, name, NULL, err);
    if (r == 0 || r == WEIR_EEXIST)
        r = st->ops->change(st, WR_SYNC_DIR, "", NULL, err);
    if (r < 0) /* names below it say too little */
        wr_fail_prefix(err, r, "in '%s'", parent);
out:
    wr_store_close(st);
    free(parent);
    free(name);
    return r;
}

int wr_tier_open(const char *url, const char *label, bool create,
                 struct wr_tier **ret, weir_err *err)
{
    struct wr_store *st;
    weir_err why;
    int r;

    r = wr_store_open_own(url, &st, &why);
    if (r == WEIR_ENOENT && create) {
        r = make_folder(url, &why);
        if (r == 0)
            r = wr_store_open_own(url, &st, &why);
    } else if (r == 0 && create) {
        /* Who made it may have died before its entry was synced. A parent that
         * this user cannot open is no reason to refuse a folder that is there.
         */
        make_folder(url, NULL);
    }
    if (r < 0)
        return wr_fail_as(err, r, &why);
    return wr_tier_wrap(st, url, label, ret, err);
}

void wr_tier_close(struct wr_tier *t)
{
    if (!t)
        return;
    wr_tier_let_go(t);
    wr_store_close(t->store);
    pthread_mutex_destroy(&t->holding);
    wr_known_free(t->known);
    free(t->shown);
    free(t);
}

void wr_tier_set_store(struct wr_tier *t, const char id[WR_MANIFEST_ID])
{
    if (!strcmp(t->store_id, id))
        return;
    memcpy(t->store_id, id, sizeof(t->store_id));
    wr_known_keep(t->known, NULL, 0);
}

bool wr_tier_counts(const struct wr_tier *t, const struct wr_manifest *m)
{
    return m->store[0] && !strcmp(m->store, t->store_id);
}

/* --- what is there --- */

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int wr_tier_steps(struct wr_tier *t, uint64_t **ret, size_t *ret_count,
                  weir_err *err)
{
    struct wr_tier_entries in = {0};
    uint64_t *steps = NULL;
    size_t count = 0;
    int r;

    r = wr_tier_entries_read(t, "", &in, err);
    if (r < 0)
        goto out;
    steps = malloc((in.count + 1) * sizeof(*steps));
    if (!steps) {
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        goto out;
    }
    /* Of any kind: a link in the place of a step must not vanish without a word.
     * Who looks at it finds it damaged. */
    for (size_t i = 0; i < in.count; i++)
        if (wr_name_in_root(in.all[i].name, &steps[count]) == WR_NAME_STEP)
            count++;
    qsort(steps, count, sizeof(*steps), by_number);
    *ret = steps;
    *ret_count = count;
out:
    wr_tier_entries_done(&in);
    return r;
}

bool wr_tier_has(struct wr_tier *t, uint64_t step)
{
    char path[WR_TIER_PATH];
    struct wr_stat is;

    wr_name_step(step, path);
    return wr_tier_stat(t, path, &is, NULL) == 0 && is.kind == WR_KIND_DIR;
}

void wr_tier_shard_path(uint64_t step, uint32_t rank, char ret[WR_TIER_PATH])
{
    char dir[WR_TIER_PATH], name[WR_SHARD_NAME];

    wr_name_step(step, dir);
    wr_shard_name(rank, name);
    wr_name_join(dir, name, ret);
}

/* --- manifests --- */

/* What has the name of a step's part and is a link, or something else that weir
 * did not make, is not followed. 0: it is what it should be, or is not there. */
static int check_kind(struct wr_tier *t, const char *path, enum wr_kind kind,
                      weir_err *err)
{
    struct wr_stat is;

    if (wr_tier_stat(t, path, &is, NULL) < 0 || is.kind == kind)
        return 0;
    return wr_fail(err, WEIR_EDAMAGED,
                   "'%s/%s': not a %s; links are not followed", t->shown, path,
                   kind == WR_KIND_DIR ? "folder" : "file");
}

/* A part of a step is missing: the step is damaged, or was taken away. */
static int part_missing(struct wr_tier *t, uint64_t step, const char *path,
                        weir_err *err)
{
    char dir[WR_TIER_PATH];
    int r;

    wr_name_step(step, dir);
    r = check_kind(t, dir, WR_KIND_DIR, err);
    if (r < 0)
        return r;
    if (!wr_tier_has(t, step))
        return wr_fail(err, WEIR_ENOENT, "'%s': no step %" PRIu64, t->shown,
                       step);
    return wr_fail(err, WEIR_EDAMAGED, "'%s/%s': missing", t->shown, path);
}

/* The manifest cannot be read (`r`): because it, or its folder, is not weir's? */
static int not_weirs(struct wr_tier *t, const char *dir, const char *path,
                     int r, weir_err *err)
{
    weir_err why;
    int q = check_kind(t, dir, WR_KIND_DIR, &why);

    if (q == 0)
        q = check_kind(t, path, WR_KIND_FILE, &why);
    return wr_fail_as(err, q, &why) < 0 ? q : r;
}

int wr_tier_manifest_in(struct wr_tier *t, const char *dir, uint64_t step,
                        struct wr_manifest *ret, weir_err *err)
{
    char path[WR_TIER_PATH], *text = NULL, *name = NULL;
    size_t len;
    int r;

    wr_name_join(dir, WR_MANIFEST_NAME, path);
    r = wr_tier_slurp(t, path, WR_MANIFEST_MAX, &text, &len, err);
    if (r == WEIR_ENOENT)
        return part_missing(t, step, path, err);
    if (r < 0)
        return not_weirs(t, dir, path, r, err);
    if (asprintf(&name, "%s/%s", t->shown, path) < 0) {
        name = NULL;
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    } else {
        r = wr_manifest_parse(text, len, name, ret, err);
    }
    if (r == 0 && ret->step != step) {
        r = wr_fail(err, WEIR_EDAMAGED, "'%s': is that of step %" PRIu64, name,
                    ret->step);
        wr_manifest_done(ret);
    }
    if (r == 0) {
        ret->text = text;
        ret->text_len = len;
        text = NULL;
    }
    free(name);
    free(text);
    return r;
}

int wr_tier_check_shard(struct wr_tier *t, const char *dir,
                        const struct wr_st_shard *s, weir_err *err)
{
    char path[WR_TIER_PATH];
    struct wr_stat is;
    int r;

    wr_name_join(dir, s->name, path);
    r = wr_tier_stat(t, path, &is, err);
    if (r < 0)
        return r;
    if (is.kind != WR_KIND_FILE)
        return wr_fail(err, WEIR_EDAMAGED, "'%s/%s': not a file", t->shown,
                       path);
    if (is.size != s->size)
        return wr_fail(err, WEIR_EDAMAGED,
                       "'%s/%s': has %" PRIu64 " bytes and not %" PRIu64,
                       t->shown, path, is.size, s->size);
    return 0;
}

static int look_once(struct wr_tier *t, uint64_t step, struct wr_manifest *ret,
                     weir_err *err)
{
    char dir[WR_TIER_PATH], path[WR_TIER_PATH];
    struct wr_manifest m = {0};
    int r;

    wr_name_step(step, dir);
    r = wr_tier_manifest_in(t, dir, step, &m, err);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < m.world && r == 0; i++) {
        r = wr_tier_check_shard(t, dir, &m.shards[i], err);
        if (r == WEIR_ENOENT) {
            wr_tier_shard_path(step, i, path);
            r = part_missing(t, step, path, err);
        }
    }
    if (r < 0)
        wr_manifest_done(&m);
    else
        *ret = m;
    return r;
}

int wr_tier_manifest(struct wr_tier *t, uint64_t step, struct wr_manifest *ret,
                     weir_err *err)
{
    int r = look_once(t, step, ret, err);

    /* Between its parts the step may have become another one of its number. */
    return r == WEIR_EDAMAGED ? look_once(t, step, ret, err) : r;
}
