/* shard_list.c - which files of a folder are shards of a data set.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

#define PEEK_LIMIT 256u /* entries of a folder looked at */

static bool is_visible_file(const struct wr_entry *e)
{
    return e->kind == WR_KIND_FILE && e->name[0] != '.';
}

static bool is_visible_folder(const struct wr_entry *e)
{
    return e->kind == WR_KIND_DIR && e->name[0] != '.';
}

static bool is_visible(const struct wr_entry *e)
{
    return is_visible_file(e) || is_visible_folder(e);
}

static int list_leaf(const char *leaf, struct wr_listing *l, weir_err *err)
{
    l->entries = calloc(1, sizeof(*l->entries));
    l->names = strdup(leaf);
    if (!l->entries || !l->names)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    l->entries[0].kind = WR_KIND_FILE;
    l->names_len = l->names_cap = strlen(leaf) + 1;
    l->count = l->cap = 1;
    return 0;
}

/* Lists a folder, on which the index depends from now on. */
static int list_folder(struct wr_index_job *job, const char *path,
                       bool (*wanted)(const struct wr_entry *e),
                       struct wr_listing *l, weir_err *err)
{
    const struct wr_listing_filter filter = {.wanted = wanted};
    struct wr_stat folder;
    bool stop;
    int r = job->store->ops->stat(job->store, path, &folder, err);

    if (r == 0)
        r = wr_index_job_stamp(job, path, &folder, err);
    return r < 0 ? r
                 : wr_listing_read(l, job->store, path, &filter, &stop, err);
}

/* Folders that lie beside shards: they are not looked into, which is said. */
struct unread {
    char first[256];
    size_t count;
};

static void note_folder(struct unread *u, const char *path, const char *name)
{
    if (!u->count++)
        snprintf(u->first, sizeof(u->first), "%s%s%s", path, *path ? "/" : "",
                 name);
}

static void tell_unread(struct wr_index_job *job, const struct unread *u)
{
    char text[512], shown[300];

    if (!u->count)
        return;
    wr_text_show(u->first, /* controls= */ true, shown, sizeof(shown));
    if (u->count == 1)
        snprintf(text, sizeof(text),
                 "the folder '%s' is not read, because files lie beside it",
                 shown);
    else
        snprintf(text, sizeof(text),
                 "%zu folders are not read ('%s' and others), because files "
                 "lie beside them",
                 u->count, shown);
    wr_index_add_remark(job->index, text);
}

/* Keeps the shards of a listing, and counts the others as ignored. */
static int keep_shards(struct wr_listing *l, bool (*is_shard)(const char *name),
                       const char *path, struct unread *unread, weir_err *err)
{
    size_t kept = 0;

    for (size_t k = 0; k < l->count; k++) {
        const char *name = wr_listing_name(l, k);

        if (l->entries[k].kind == WR_KIND_DIR)
            note_folder(unread, path, name);
        else if (is_shard(name))
            l->entries[kept++] = l->entries[k];
        else if (wr_ignored_counts(name) && !wr_ignored_add(&l->ignored, name))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    l->count = kept;
    return 0;
}

/* Adds the entries of `from`, which are those of the folder `path`. */
static int append_below(struct wr_listing *l, const char *path,
                        const struct wr_listing *from, weir_err *err)
{
    for (size_t k = 0; k < from->count; k++) {
        const char *name = wr_listing_name(from, k);
        size_t len = strlen(path) + 1 + strlen(name) + 1;

        if (!wr_grow(&l->entries, &l->cap, l->count + 1, sizeof(*l->entries)) ||
            !wr_grow(&l->names, &l->names_cap, l->names_len + len, 1))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        l->entries[l->count] = from->entries[k];
        l->entries[l->count++].name = l->names_len;
        snprintf(l->names + l->names_len, len, "%s/%s", path, name);
        l->names_len += len;
    }
    return 0;
}

/* Shards that are spread over folders, as DLIO does with many. */
static int list_below(struct wr_index_job *job,
                      bool (*is_shard)(const char *name), struct wr_listing *l,
                      struct unread *unread, weir_err *err)
{
    struct wr_listing folders = {0};
    int r = list_folder(job, "", is_visible_folder, &folders, err);

    for (size_t k = 0; r == 0 && k < folders.count; k++) {
        const char *path = wr_listing_name(&folders, k);
        struct wr_listing below = {0};

        r = list_folder(job, path, is_visible, &below, err);
        if (r == 0)
            r = keep_shards(&below, is_shard, path, unread, err);
        if (r == 0)
            r = append_below(l, path, &below, err);
        wr_listing_done(&below);
    }
    wr_listing_done(&folders);
    return r;
}

int wr_shards_list(struct wr_index_job *job, bool (*is_shard)(const char *name),
                   struct wr_listing *l, weir_err *err)
{
    struct unread unread = {.count = 0};
    int r;

    if (job->leaf)
        return list_leaf(job->leaf, l, err);
    r = list_folder(job, "", is_visible, l, err);
    if (r == 0)
        r = keep_shards(l, is_shard, "", &unread, err);
    if (r == 0 && !l->count) {
        unread.count = 0;
        r = list_below(job, is_shard, l, &unread, err);
    }
    if (r == 0 && l->count)
        tell_unread(job, &unread);
    return r < 0 ? r : wr_index_add_ignored(job->index, &l->ignored, err);
}

struct peek {
    bool (*is_shard)(const char *name);
    char *buf; /* borrowed */
    size_t cap;
    unsigned seen;
    bool found;
};

static int peek_entry(void *arg, const struct wr_entry *e)
{
    struct peek *p = arg;

    if (is_visible_file(e) && p->is_shard(e->name) &&
        strlen(e->name) < p->cap) {
        memcpy(p->buf, e->name, strlen(e->name) + 1);
        p->found = true;
    }
    return p->found || ++p->seen == PEEK_LIMIT;
}

int wr_shards_peek(struct wr_store *st, bool (*is_shard)(const char *name),
                   char *buf, size_t cap)
{
    struct peek p = {.is_shard = is_shard, .buf = buf, .cap = cap};
    int r = st->ops->list(st, "", peek_entry, &p, NULL);

    return wr_index_fails(r) ? r : p.found;
}
