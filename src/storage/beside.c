/* beside.c - what is made beside its place, and appears there whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

int wr_beside_init(struct wr_beside *b, const char *url, weir_err *err)
{
    char *leaf = NULL;
    int r = wr_url_split(url, &b->parent, &b->name, err);

    if (r < 0)
        return r;
    r = wr_store_open_with(b->parent, WR_STORE_OWN, &b->store, &leaf, err);
    if (r == 0 && leaf)
        r = wr_fail(err, WEIR_ENOENT, "'%s': is no folder", b->parent);
    else if (r == 0 && !b->store->ops->change)
        r = wr_fail(err, WEIR_ENOTSUP, "'%s': cannot be written to", b->parent);
    free(leaf);
    if (r < 0)
        return r;
    if (asprintf(&b->part, ".%s.part", b->name) < 0)
        b->part = NULL;
    if (asprintf(&b->old, ".%s.old", b->name) < 0)
        b->old = NULL;
    return b->part && b->old ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
}

void wr_beside_done(struct wr_beside *b)
{
    wr_store_close(b->inside);
    wr_store_close(b->store);
    free(b->parent);
    free(b->name);
    free(b->part);
    free(b->old);
    *b = (struct wr_beside){0};
}

int wr_beside_enter(struct wr_beside *b, weir_err *err)
{
    char *url = NULL, *leaf = NULL;
    int r;

    wr_store_close(b->inside);
    b->inside = NULL;
    if (asprintf(&url, "%s/%s", b->parent, b->part) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_store_open_with(url, WR_STORE_MINE, &b->inside, &leaf, err);
    free(leaf);
    free(url);
    return r;
}

int wr_beside_make(struct wr_beside *b, weir_err *err)
{
    int r = wr_store_change(b->store, WR_MKDIR_PRIVATE, b->part, NULL, err);

    if (r < 0)
        return r;
    r = wr_beside_enter(b, err);
    if (r < 0) /* a file system without modes, or a root that is nobody there */
        wr_store_change(b->store, WR_REMOVE, b->part, NULL, NULL);
    return r;
}

int wr_beside_share(struct wr_beside *b, weir_err *err)
{
    return wr_store_change(b->inside, WR_SHARE, "", NULL, err);
}

int wr_beside_check_owner(const struct wr_beside *b, const char *name,
                          weir_err *err)
{
    struct wr_stat is;
    weir_err why;
    int r = b->store->ops->stat(b->store, name, &is, &why);

    if (r == WEIR_ENOENT)
        return 0;
    if (r < 0)
        return wr_fail_as(err, r, &why);
    if (is.owner == geteuid() || is.owner == 0)
        return 0;
    return wr_fail(err, WEIR_EACCES,
                   "'%s': is in the way and belongs to user %u, not to user "
                   "%u: it is left alone; name another folder",
                   name, (unsigned)is.owner, (unsigned)geteuid());
}

bool wr_beside_local_path(const struct wr_beside *b, const char *name,
                          char *buf, size_t cap)
{
    struct wr_store *st = NULL; /* not an own one, which gives no path */
    char *leaf = NULL;
    bool good = wr_store_open(b->parent, &st, &leaf, NULL) == 0 && !leaf &&
                st->ops->local_path && st->ops->local_path(st, name, buf, cap);

    wr_store_close(st);
    free(leaf);
    return good;
}

static int stop_at_first(void *arg, const struct wr_entry *e)
{
    (void)arg;
    (void)e;
    return 1;
}

static bool is_link(const struct wr_beside *b)
{
    char path[PATH_MAX];
    struct stat sb;

    return wr_beside_local_path(b, b->name, path, sizeof(path)) &&
           lstat(path, &sb) == 0 && S_ISLNK(sb.st_mode);
}

int wr_beside_check(const struct wr_beside *b, const char *url, bool *ret_full,
                    weir_err *err)
{
    const struct wr_storage_ops *ops = b->store->ops;
    struct wr_stat is, parent;
    weir_err why;
    int r = ops->stat(b->store, b->name, &is, &why);

    *ret_full = false;
    if (r == WEIR_ENOENT)
        return 0;
    if (r == 0)
        r = ops->stat(b->store, "", &parent, &why);
    if (r < 0)
        return wr_fail(err, r, "%s", why.msg);
    if (is.kind != WR_KIND_DIR && is_link(b))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': is a link: name the folder itself", url);
    if (is.kind != WR_KIND_DIR)
        return wr_fail(err, WEIR_EEXIST, "'%s': exists and is no folder", url);
    if (parent.dev != is.dev)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': is a mount point: name a folder below it", url);
    r = ops->list(b->store, b->name, stop_at_first, NULL, err);
    *ret_full = r > 0;
    return r < 0 ? r : 0;
}

/* --- removing --- */

/* Gathered first: a folder is not changed while it is listed. */
struct found_names {
    char *text; /* owned: one behind another, each with its NUL */
    size_t len, cap;
};

static int gather(void *arg, const struct wr_entry *e)
{
    struct found_names *n = arg;
    size_t len = strlen(e->name) + 1;

    if (!wr_grow(&n->text, &n->cap, n->len + len, 1))
        return WEIR_ENOMEM;
    memcpy(n->text + n->len, e->name, len);
    n->len += len;
    return 0;
}

static int remove_child(struct wr_store *st, const char *folder,
                        const char *name, const struct wr_tree_rule *rule,
                        weir_err *err)
{
    struct wr_tree_rule below = {rule->last, rule->depth - 1};
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >=
        (int)sizeof(path))
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", folder);
    return wr_tree_remove(st, path, &below, err);
}

static int remove_children(struct wr_store *st, const char *folder,
                           const struct wr_tree_rule *rule, weir_err *err)
{
    struct found_names n = {0};
    bool has_last = false;
    int first = st->ops->list(st, folder, gather, &n, err);

    for (size_t i = 0; i < n.len; i += strlen(n.text + i) + 1) {
        int r = 0;

        if (rule->last && !strcmp(n.text + i, rule->last))
            has_last = true;
        else
            r = remove_child(st, folder, n.text + i, rule,
                             first < 0 ? NULL : err);
        first = first < 0 ? first : r;
    }
    free(n.text);
    if (first >= 0 && has_last)
        first = remove_child(st, folder, rule->last, rule, err);
    return first;
}

/* Removing first and listing only what is not empty never follows a link. */
int wr_tree_remove(struct wr_store *st, const char *path,
                   const struct wr_tree_rule *rule, weir_err *err)
{
    weir_err why;
    int r = st->ops->change(st, WR_REMOVE, path, NULL, &why);

    if (r == 0 || r == WEIR_ENOENT)
        return 0;
    if (r != WEIR_EEXIST)
        return wr_fail(err, r, "%s", why.msg);
    if (!rule->depth)
        return wr_fail(err, WEIR_ELIMIT, "'%s': not what it was", path);
    r = remove_children(st, path, rule, err);
    return r < 0 ? r : st->ops->change(st, WR_REMOVE, path, NULL, err);
}

/* --- files ---
 *
 * Where the file system can, what is written has no name until it is whole:
 * whatever kills the process then leaves nothing behind. The name that it has
 * before is not to be guessed, and nothing that is there already is opened: the
 * folder may be one that others write to, too. */

/* A file on its way to its place. */
struct whole_target {
    int folder;       /* borrowed: what paths begin at */
    const char *path; /* borrowed: where it goes to, and its name in messages */
    char *temp;       /* owned: its name before; NULL: it is written in place */
    bool named;       /* temp is in the folder */
    mode_t mode;
};

/* A device, a pipe or a link is written to, never replaced. */
static bool is_special(const char *path)
{
    struct stat sb;

    return lstat(path, &sb) == 0 && !S_ISREG(sb.st_mode) &&
           !S_ISDIR(sb.st_mode);
}

/* A link of another user's may lead to any file of this one's. */
static int check_link(const char *path, weir_err *err)
{
    struct stat sb;

    if (lstat(path, &sb) < 0 || !S_ISLNK(sb.st_mode) ||
        sb.st_uid == geteuid() || sb.st_uid == 0)
        return 0;
    return wr_fail(err, WEIR_EACCES,
                   "'%s': is a link that belongs to user %u, not to user %u: "
                   "it is not followed",
                   path, (unsigned)sb.st_uid, (unsigned)geteuid());
}

/* An open file without a name in the target's folder; -1 where there is no such
 * thing. */
static int open_nameless(const struct whole_target *t)
{
    const char *slash = strrchr(t->path, '/');
    char *around = slash ? strndup(t->path, (size_t)(slash - t->path) + 1)
                         : strdup(".");
    int fd = -1;

    /* It gets its name by way of /proc. */
    if (around && access("/proc/self/fd", X_OK) == 0)
        fd = openat(t->folder, around, O_TMPFILE | O_WRONLY | O_CLOEXEC,
                    t->mode);
    free(around);
    return fd;
}

static FILE *open_target(struct whole_target *t)
{
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
    int fd = t->temp ? open_nameless(t) : -1, e;
    FILE *f;

    if (fd < 0) {
        fd = t->temp ? openat(t->folder, t->temp, flags | O_EXCL | O_NOFOLLOW,
                              t->mode)
                     : openat(t->folder, t->path, flags | O_TRUNC, t->mode);
        t->named = t->temp && fd >= 0;
    }
    f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f && fd >= 0) {
        e = errno;
        close(fd);
        if (t->named)
            unlinkat(t->folder, t->temp, 0);
        errno = e;
    }
    return f;
}

/* Names the file, closes it, and puts it in the place of another. No signal
 * that can wait comes in between. */
static int put_in_place(const struct whole_target *t, FILE *f, weir_err *err)
{
    sigset_t all, before;
    bool named = t->named;
    char self[64];
    int r = 0;

    snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(f));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!named) {
        named = linkat(AT_FDCWD, self, t->folder, t->temp, AT_SYMLINK_FOLLOW) ==
                0;
        if (!named)
            r = wr_fail_errno(err, errno, "'%s': cannot create", t->path);
    }
    if (fclose(f) == EOF && r == 0)
        r = wr_fail_errno(err, errno, "'%s': cannot write", t->path);
    if (r == 0 && renameat(t->folder, t->temp, t->folder, t->path) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot rename", t->path);
    if (r < 0 && named)
        unlinkat(t->folder, t->temp, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

static int print_to(FILE *f, const struct whole_target *t,
                    const struct wr_whole *what, weir_err *err)
{
    int r;

    errno = 0;
    r = what->print(what->arg, f, err);
    if (r == 0 && (fflush(f) == EOF || ferror(f)))
        r = wr_fail_errno(err, errno ? errno : EIO, "'%s': cannot write",
                          t->path);
    if (r == 0 && t->temp && what->stopped && what->stopped())
        r = wr_fail(err, WEIR_ECANCELED, "'%s': not written: interrupted",
                    t->path);
    return r;
}

static int write_target(struct whole_target *t, const struct wr_whole *what,
                        weir_err *err)
{
    FILE *f = open_target(t);
    int r;

    if (!f)
        return wr_fail_errno(err, errno, "'%s': cannot create", t->path);
    r = print_to(f, t, what, err);
    if (r == 0 && t->temp)
        return put_in_place(t, f, err);
    if (fclose(f) == EOF && r == 0)
        r = wr_fail_errno(err, errno, "'%s': cannot write", t->path);
    if (r < 0 && t->named)
        unlinkat(t->folder, t->temp, 0);
    return r;
}

/* The name that it has before. */
static int name_target(struct whole_target *t, weir_err *err)
{
    uint32_t dice = (uint32_t)wr_clock_ns();

    if (getrandom(&dice, sizeof(dice), GRND_NONBLOCK) < 0)
        errno = 0; /* the clock's will do: it must not exist in any case */
    if (asprintf(&t->temp, "%s.%08" PRIx32 ".part", t->path, dice) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

static int init_target(struct whole_target *t, const char *path, mode_t mode,
                       weir_err *err)
{
    int r = check_link(path, err);

    *t = (struct whole_target){.folder = AT_FDCWD, .path = path, .mode = mode};
    return r < 0 || is_special(path) ? r : name_target(t, err);
}

static mode_t mode_of(const struct wr_whole *what)
{
    return what->private ? 0600 : 0666;
}

int wr_whole_write(const char *path, const struct wr_whole *what, weir_err *err)
{
    struct whole_target t;
    int r = init_target(&t, path, mode_of(what), err);

    if (r == 0) {
        r = write_target(&t, what, err);
        free(t.temp);
    }
    return r;
}

int wr_whole_write_in(int folder, const char *name, const struct wr_whole *what,
                      weir_err *err)
{
    struct whole_target t = {
        .folder = folder, .path = name, .mode = mode_of(what)};
    int r = name_target(&t, err);

    if (r == 0) {
        r = write_target(&t, what, err);
        free(t.temp);
    }
    return r;
}

/* What is written in place is not opened: a pipe would wait for its reader. */
static int check_special(const char *path, weir_err *err)
{
    /* The file that a link leads to may be made later. */
    if (access(path, W_OK) < 0 && errno != ENOENT)
        return wr_fail_errno(err, errno, "'%s': cannot write", path);
    return 0;
}

int wr_whole_check(const char *path, weir_err *err)
{
    struct whole_target t;
    struct stat sb;
    FILE *f;
    int r;

    if (stat(path, &sb) == 0 && S_ISDIR(sb.st_mode))
        return wr_fail_errno(err, EISDIR, "'%s': cannot write", path);
    r = check_link(path, err);
    if (r == 0 && is_special(path))
        return check_special(path, err);
    if (r == 0)
        r = init_target(&t, path, 0600, err);
    if (r < 0)
        return r;
    f = open_target(&t);
    if (f)
        fclose(f);
    else
        r = wr_fail_errno(err, errno, "'%s': cannot create", path);
    if (f && t.named)
        unlinkat(t.folder, t.temp, 0);
    free(t.temp);
    return r;
}
