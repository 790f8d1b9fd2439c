/* io.c - the storage table, with messages that name the tier.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

int wr_tier_told(const struct wr_tier *t, const char *path, const weir_err *why,
                 weir_err *err)
{
    const char *reason = *why->msg == '\'' ? strstr(why->msg, "': ") : NULL;

    wr_fail(err, why->code, "'%s%s%s': %s", t->shown, *path ? "/" : "", path,
            reason ? reason + 3 : why->msg);
    if (err)
        err->os_errno = why->os_errno;
    return why->code;
}

int wr_tier_name_whole(const struct wr_tier *t, const char *path, int r,
                       weir_err *err)
{
    weir_err why;

    if (r >= 0 || !err || !wr_error_past_name(err->msg, path))
        return r;
    why = *err;
    return wr_tier_told(t, path, &why, err);
}

int wr_tier_unless_gone(int r, const weir_err *why, weir_err *err)
{
    if (r == 0 || r == WEIR_ENOENT)
        return 0;
    return wr_fail_as(err, r, why);
}

/* A call to the storage has returned; hands its error on. */
static int returned(struct wr_tier *t, const char *path, int r,
                    const weir_err *why, weir_err *err)
{
    t->calls++;
    return r < 0 ? wr_tier_told(t, path, why, err) : 0;
}

int wr_tier_stat(struct wr_tier *t, const char *path, struct wr_stat *ret,
                 weir_err *err)
{
    weir_err why;
    int r = t->store->ops->stat(t->store, path, ret, &why);

    return returned(t, path, r, &why, err);
}

int wr_tier_change(struct wr_tier *t, enum wr_change what, const char *path,
                   const char *to, weir_err *err)
{
    weir_err why;
    int r;

    if (!t->store->ops->change)
        return wr_fail(err, WEIR_ENOTSUP, "'%s': read-only storage", t->shown);
    r = t->store->ops->change(t->store, what, path, to, &why);
    return returned(t, path, r, &why, err);
}

/* A rename between folders lasts when both are synced. The second sync finds
 * little to do where a file system keeps a journal. */
int wr_tier_sync_root(struct wr_tier *t, weir_err *err)
{
    int r = wr_tier_is_writer(t)
                ? wr_tier_change(t, WR_SYNC_DIR, t->work, NULL, err)
                : 0;

    return r < 0 ? wr_tier_blame(t, r, err)
                 : wr_tier_change(t, WR_SYNC_DIR, "", NULL, err);
}

int wr_tier_remove(struct wr_tier *t, const char *path, weir_err *err)
{
    weir_err why;
    int r = wr_tier_change(t, WR_REMOVE, path, NULL, &why);

    return wr_tier_unless_gone(r, &why, err);
}

int wr_tier_slurp(struct wr_tier *t, const char *path, size_t limit, char **ret,
                  size_t *ret_len, weir_err *err)
{
    weir_err why;
    int r = wr_store_slurp(t->store, path, limit, ret, ret_len, &why);

    return returned(t, path, r, &why, err);
}

/* --- writing small files --- */

struct content {
    const char *text;
    size_t len;
};

/* *ret_unsure: it was the sync that failed. */
static int put_once(struct wr_tier *t, const char *path, struct content c,
                    bool *ret_unsure, weir_err *err)
{
    struct wr_object *o;
    int r;

    r = t->store->ops->object_open(t->store, path, WR_OPEN_CREATE, &o, err);
    if (r < 0)
        return r;
    if (c.len)
        r = o->ops->write ? o->ops->write(o, c.text, c.len, 0, err)
                          : wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    r = o->ops->close(o, /* sync= */ true, err);
    *ret_unsure = r < 0;
    return r;
}

int wr_tier_put(struct wr_tier *t, const char *path, const char *text,
                size_t len, weir_err *err)
{
    struct content c = {text, len};
    bool unsure = false;
    weir_err why;
    int r;

    r = put_once(t, path, c, &unsure, &why);
    if (r < 0 && unsure) {
        /* After a failed sync the page cache shows content that the medium
         * does not have, and another sync of that file would succeed. So: a
         * new file, once. */
        r = wr_tier_remove(t, path, err);
        if (r < 0)
            return r;
        r = put_once(t, path, c, &unsure, &why);
    }
    return returned(t, path, r, &why, err);
}

int wr_tier_replace(struct wr_tier *t, const char *path, const char *text,
                    weir_err *err)
{
    char beside[WR_TIER_PATH];
    int r;

    if (wr_tier_is_writer(t))
        wr_name_draft(t->work, beside);
    else
        wr_name_new(path, beside);
    r = wr_tier_put(t, beside, text, strlen(text), err);
    if (r == 0)
        r = wr_tier_change(t, WR_RENAME, beside, path, err);
    if (r == 0 && wr_tier_is_writer(t))
        r = wr_tier_change(t, WR_SYNC_DIR, t->work, NULL, err);
    if (r == 0)
        return wr_tier_change(t, WR_SYNC_DIR, WR_NAME_OWN, NULL, err);
    if (r == WEIR_ENOENT)
        r = wr_tier_blame(t, r, err);
    if (r != WEIR_EFENCED)
        wr_tier_remove(t, beside, NULL); /* or the next claim does it */
    return r;
}

/* --- listing --- */

static int add_entry(void *arg, const struct wr_entry *e)
{
    struct wr_tier_entries *to = arg;
    char *name = strdup(e->name);

    if (!name ||
        !wr_grow(&to->all, &to->cap, to->count + 1, sizeof(to->all[0]))) {
        free(name);
        return WEIR_ENOMEM;
    }
    to->all[to->count].name = name;
    to->all[to->count].kind = e->kind;
    to->all[to->count].size = e->kind == WR_KIND_FILE ? e->size : 0;
    to->count++;
    return 0;
}

int wr_tier_entries_read(struct wr_tier *t, const char *path,
                         struct wr_tier_entries *ret, weir_err *err)
{
    weir_err why = {.code = WEIR_ENOMEM, .msg = "out of memory"};

    int r = t->store->ops->list(t->store, path, add_entry, ret, &why);

    return returned(t, path, r, &why, err);
}

/* Keeps the folders whose name is of one kind. */
static void keep_folders(struct wr_tier_entries *e,
                         enum wr_name (*name_in)(const char *, uint64_t *),
                         enum wr_name kind)
{
    size_t kept = 0;

    for (size_t i = 0; i < e->count; i++) {
        struct wr_tier_entry *one = &e->all[i];

        if (one->kind == WR_KIND_DIR && name_in(one->name, &one->step) == kind)
            e->all[kept++] = *one;
        else
            free(one->name);
    }
    e->count = kept;
}

int wr_tier_folders(struct wr_tier *t, enum wr_name kind,
                    struct wr_tier_entries *ret, weir_err *err)
{
    int r = wr_tier_entries_read(t, "", ret, err);

    keep_folders(ret, wr_name_in_root, kind);
    return r;
}

int wr_tier_work_folders(struct wr_tier *t, const char *work, enum wr_name kind,
                         struct wr_tier_entries *ret, weir_err *err)
{
    int r = wr_tier_entries_read(t, work, ret, err);

    keep_folders(ret, wr_name_in_work, kind);
    return r;
}

void wr_tier_entries_done(struct wr_tier_entries *e)
{
    for (size_t i = 0; i < e->count; i++)
        free(e->all[i].name);
    free(e->all);
    *e = (struct wr_tier_entries){0};
}
