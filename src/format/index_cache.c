/* index_cache.c - where index files live, and when they are true.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/index_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/error.h"
#include "base/own.h"
#include "format/index_file.h"

#define WORTH_NS  (100 * WR_NS_PER_MS) /* faster ones are built every time */
#define RACY_NS   (2 * WR_NS_PER_SEC)
#define OLD_NS    (24 * 3600 * WR_NS_PER_SEC)
#define MAX_TEMPS 64 /* removed at once */

/* --- the folder --- */

/* Fresh memory, or NULL: none is wanted, or none is known. */
static char *choose_folder(const weir_dataset_config *cfg, bool *ret_named)
{
    const char *from = cfg->index_dir ? cfg->index_dir
                                      : secure_getenv("WEIR_INDEX_DIR");
    const char *below = "";
    char *folder;

    *ret_named = from != NULL;
    if (!from) {
        from = secure_getenv("XDG_CACHE_HOME");
        below = "/weir/index";
    }
    if (!*ret_named && (!from || from[0] != '/')) {
        from = secure_getenv("HOME");
        below = "/.cache/weir/index";
        if (from && from[0] != '/')
            from = NULL;
    }
    if (!from || !*from)
        return NULL;
    return asprintf(&folder, "%s%s", from, below) < 0 ? NULL : folder;
}

char *wr_index_cache_folder(void)
{
    const weir_dataset_config none = {0};
    bool named;

    return choose_folder(&none, &named);
}

/* Makes one folder that is missing, for this user alone: in a home only where
 * nobody else can say which folder that is. */
static void make_one(const char *path, bool named)
{
    struct stat sb;
    int fd;

    if (stat(path, &sb) == 0)
        return;
    if (named)
        mkdir(path, 0700);
    else if (wr_own_dir(path, WR_OWN_MAKE | WR_OWN_WAY, &fd, NULL) == 0)
        wr_fd_close(fd);
}

/* The same of those above it, too. What went wrong shows at the last one. */
static void make_folder(const char *path, bool named)
{
    char part[PATH_MAX];
    size_t len = strlen(path);

    if (len >= sizeof(part))
        return;
    memcpy(part, path, len + 1);
    for (char *slash = part; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        make_one(part, named);
        *slash = '/';
    }
    make_one(part, named);
}

/* Root with the HOME of a user would write into folders of that user, who can
 * replace them by links. */
static int check_home(const char *folder, weir_err *err)
{
    int fd, r = wr_own_dir(folder, WR_OWN_WAY, &fd, err);

    if (r == 0)
        wr_fd_close(fd);
    return r;
}

int wr_index_cache_check(const char *folder, weir_err *err)
{
    weir_err why;
    int r = secure_getenv("WEIR_INDEX_DIR") ? 0 : check_home(folder, &why);

    return r == WEIR_EACCES ? wr_fail_as(err, r, &why) : 0;
}

/* The folder, made if it is missing, as a store. */
static bool open_folder(const struct wr_index_cache *c, struct wr_store **ret)
{
    unsigned flags = c->named ? WR_STORE_SECRET : WR_STORE_PRIVATE;
    struct wr_store *st;
    char *leaf = NULL;

    make_folder(c->folder, c->named);
    if ((!c->named && check_home(c->folder, NULL) < 0) ||
        wr_storage_file.open(c->folder, flags, &st, &leaf, NULL) < 0)
        return false;
    if (leaf) {
        free(leaf);
        wr_store_close(st);
        return false;
    }
    *ret = st;
    return true;
}

/* --- the key --- */

static bool canonical(struct wr_store *st, const char *leaf, char *buf)
{
    char path[PATH_MAX], *real;
    size_t len;

    if (st->ops != &wr_storage_file ||
        !st->ops->local_path(st, "", path, sizeof(path)) ||
        !(real = realpath(path, NULL)))
        return false;
    len = (size_t)snprintf(buf, PATH_MAX, "%s%s%s", real,
                           leaf && strcmp(real, "/") != 0 ? "/" : "",
                           leaf ? leaf : "");
    free(real);
    return len < PATH_MAX;
}

/* "auto" names the formats that it chooses from: another weir may choose
 * another one. */
static void format_text(const char *name, char *buf, size_t cap)
{
    size_t used = (size_t)snprintf(buf, cap, "%s", name ? name : "auto");

    for (unsigned k = 0; !name && wr_format_at(k) && used < cap; k++)
        used += (size_t)snprintf(buf + used, cap - used, " %s",
                                 wr_format_at(k)->name);
}

static char *make_key(const struct wr_index_job *job)
{
    char place[PATH_MAX], root[PATH_MAX] = "", format[512], *key;

    if (!canonical(job->leaf_store, job->leaf, place))
        return NULL;
    if (job->store != job->leaf_store && !canonical(job->store, NULL, root))
        return NULL;
    format_text(job->cfg->format, format, sizeof(format));
    if (asprintf(&key, "%s\n%s\n%s%s%s%s%s%s%s", format, place, root,
                 job->cfg->columns ? "\n" : "",
                 job->cfg->columns ? job->cfg->columns : "",
                 job->cfg->schema ? "\nschema " : "",
                 job->cfg->schema ? job->cfg->schema : "",
                 job->fragment ? "\nfragment " : "",
                 job->fragment ? job->fragment : "") < 0)
        return NULL;
    return key;
}

void wr_index_cache_init(struct wr_index_cache *c,
                         const struct wr_index_job *job)
{
    memset(c, 0, sizeof(*c));
    c->began_ns = wr_clock_ns();
    c->wall_ns = wr_clock_wall_ns();
    if (job->cfg->no_index_cache)
        return;
    c->key = make_key(job);
    if (!c->key)
        return;
    c->folder = choose_folder(job->cfg, &c->named);
    snprintf(c->file, sizeof(c->file), "%016" PRIx64 "-%u.widx",
             (uint64_t)XXH3_64bits(c->key, strlen(c->key)),
             (unsigned)geteuid());
}

void wr_index_cache_done(struct wr_index_cache *c)
{
    free(c->folder);
    free(c->key);
    memset(c, 0, sizeof(*c));
}

/* --- loading --- */

static bool stamp_holds(const struct wr_stamp *s, const char *path,
                        struct wr_store *store)
{
    struct wr_stat st;
    int r = store->ops->stat(store, path, &st, NULL);

    if (wr_stamp_is_absent(s))
        return r == WEIR_ENOENT;
    return r == 0 && st.dev == s->dev && st.ino == s->ino &&
           st.size == s->size && st.mtime_ns == s->mtime_ns &&
           st.identity == s->identity;
}

/* Do all stamps still hold in `store`? */
static bool is_fresh(const struct wr_index *ix, struct wr_store *store)
{
    for (uint64_t k = 0; k < wr_index_stamp_count(ix); k++) {
        struct wr_stamp stamp;
        const char *path;

        wr_index_stamp(ix, k, &stamp, &path);
        if (!stamp_holds(&stamp, path, store))
            return false;
    }
    return true;
}

bool wr_index_cache_load(struct wr_index_cache *c, struct wr_store *store,
                         struct wr_index **ret,
                         const struct wr_format_ops **ret_format)
{
    const struct wr_format_ops *format;
    struct wr_index *ix;
    char path[PATH_MAX];
    const char *name;
    weir_err why;

    if (!c->folder || (size_t)snprintf(path, sizeof(path), "%s/%s", c->folder,
                                       c->file) >= sizeof(path))
        return false;
    if (wr_index_load(path, c->key, &ix, &name, &why) < 0) {
        /* A right that is missing (an errno) is a lack of ours. */
        if (why.code == WEIR_EACCES && !why.os_errno)
            c->strange = why;
        return false;
    }
    format = wr_format_find(name);
    if (!format || !wr_index_count(ix) || !wr_index_stamp_count(ix) ||
        !is_fresh(ix, store)) {
        wr_index_free(ix);
        return false;
    }
    *ret = ix;
    *ret_format = format;
    return true;
}

/* --- saving --- */

/* Files that builders of this user left behind that were killed. */
struct temps {
    char mark[24]; /* that is in their names */
    unsigned count;
    char names[MAX_TEMPS][64];
};

static int note_temp(void *arg, const struct wr_entry *e)
{
    struct temps *t = arg;
    size_t len = strlen(e->name), end = strlen(WR_INDEX_TEMP_SUFFIX);

    if (e->kind != WR_KIND_FILE || len < end || len >= sizeof(t->names[0]) ||
        !strstr(e->name, t->mark) ||
        strcmp(e->name + len - end, WR_INDEX_TEMP_SUFFIX) != 0)
        return 0;
    memcpy(t->names[t->count++], e->name, len + 1);
    return t->count == MAX_TEMPS;
}

static void remove_old_temps(struct wr_store *st, uint64_t now_ns)
{
    struct temps *t = calloc(1, sizeof(*t));

    if (!t)
        return;
    snprintf(t->mark, sizeof(t->mark), "-%u.widx.", (unsigned)geteuid());
    st->ops->list(st, "", note_temp, t, NULL);
    for (unsigned k = 0; k < t->count; k++) {
        struct wr_stat sb;

        if (st->ops->stat(st, t->names[k], &sb, NULL) == 0 &&
            sb.mtime_ns + OLD_NS < now_ns)
            st->ops->change(st, WR_REMOVE, t->names[k], NULL, NULL);
    }
    free(t);
}

/* Something that changed just before it was looked at may change once more
 * within the same tick of its file system's clock, unseen. */
static bool is_racy(const struct wr_index *ix, uint64_t wall_ns)
{
    for (uint64_t k = 0; k < wr_index_stamp_count(ix); k++) {
        struct wr_stamp stamp;
        const char *path;

        wr_index_stamp(ix, k, &stamp, &path);
        if (stamp.mtime_ns + RACY_NS > wall_ns)
            return true;
    }
    return false;
}

bool wr_index_cache_save(const struct wr_index_cache *c,
                         const struct wr_index *ix, const char *format)
{
    const struct wr_index_about about = {c->key, format};
    struct wr_store *st;
    bool saved;

    if (!c->folder || c->strange.code || !wr_index_stamp_count(ix) ||
        wr_index_is_unsure(ix) || is_racy(ix, c->wall_ns) ||
        (!c->named && wr_clock_ns() - c->began_ns < WORTH_NS))
        return false;
    if (!open_folder(c, &st))
        return false;
    saved = wr_index_save(ix, st, c->file, &about, NULL) == 0;
    if (saved)
        remove_old_temps(st, wr_clock_wall_ns());
    wr_store_close(st);
    return saved;
}
