/* own.c - is this mine, and only mine to change?
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/regular.h"

#define MAX_LINKS 40 /* as the kernel follows */

/* A path that is walked. */
struct own_walk {
    const char *path; /* borrowed: as it was given, for messages */
    unsigned flags;
    int dir;             /* owned: the folder that was reached */
    char rest[PATH_MAX]; /* of the path, from there */
    char name[NAME_MAX + 1];
    uid_t super; /* who owns "/" */
    unsigned links;
};

/* --- the question --- */

static bool is_trusted(uid_t owner)
{
    return owner == geteuid() || owner == 0;
}

static int fail_owner(const struct stat *sb, const char *name, weir_err *err)
{
    return wr_fail(err, WEIR_EACCES,
                   "'%s': belongs to user %u, not to user %u: it is not used",
                   name, (unsigned)sb->st_uid, (unsigned)geteuid());
}

static int fail_mode(const struct stat *sb, const char *name, weir_err *err)
{
    return wr_fail(err, WEIR_EACCES,
                   "'%s': %s can write to it (mode %03o): it is not used", name,
                   sb->st_mode & S_IWOTH ? "everybody" : "its group",
                   (unsigned)sb->st_mode & 07777);
}

/* Whether this process is a member of the group. */
static bool is_member(gid_t gid)
{
    gid_t list[NGROUPS_MAX];
    int n = gid == getegid() ? 0 : getgroups(NGROUPS_MAX, list);

    for (int k = 0; k < n; k++)
        if (list[k] == gid)
            return true;
    return gid == getegid();
}

static bool is_shared(const struct stat *sb, unsigned flags)
{
    return flags & WR_OWN_ALL ||
           (flags & WR_OWN_GROUP && is_member(sb->st_gid));
}

static int judge_with(const struct stat *sb, unsigned flags, const char *name,
                      weir_err *err)
{
    if (flags & WR_OWN_ANY)
        return 0;
    if (!is_trusted(sb->st_uid) && !is_shared(sb, flags))
        return fail_owner(sb, name, err);
    if (sb->st_mode & (S_IWGRP | S_IWOTH))
        return fail_mode(sb, name, err);
    return 0;
}

static int check_with(int fd, unsigned flags, const char *name, weir_err *err)
{
    struct stat sb;

    if (TEMP_FAILURE_RETRY(fstat(fd, &sb)) < 0)
        return wr_fail_errno(err, errno, "'%s'", name);
    return judge_with(&sb, flags, name, err);
}

int wr_own_check(int fd, const char *name, weir_err *err)
{
    return check_with(fd, 0, name, err);
}

mode_t wr_own_dir_mode(unsigned flags)
{
    return flags & WR_OWN_ALL ? 0755 : flags & WR_OWN_GROUP ? 0750 : 0700;
}

mode_t wr_own_file_mode(unsigned flags)
{
    return wr_own_dir_mode(flags) & 0666;
}

/* --- the way --- */

/* openat that waits for a descriptor if there is none. */
static int open_at(int dir, const char *name, int flags, mode_t mode)
{
    struct wr_fd_wait wait = {0};
    int fd;

    do
        fd = (int)TEMP_FAILURE_RETRY(
            openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW, mode));
    while (fd < 0 && wr_fd_retry(&wait, errno));
    return fd;
}

/* In a user namespace without a root of its own "/" belongs to a number that
 * stands for everybody outside; so do /home and /tmp then. Whoever has "/" can
 * replace this program, too. */
static int check_way(const struct own_walk *w, const struct stat *sb,
                     weir_err *err)
{
    char name[PATH_MAX + 32];

    if (!(w->flags & WR_OWN_WAY))
        return 0;
    snprintf(name, sizeof(name), "%s': a folder on the way, '%s", w->path,
             w->name);
    if (!is_trusted(sb->st_uid) && sb->st_uid != w->super)
        return fail_owner(sb, name, err);
    if (sb->st_mode & (S_IWGRP | S_IWOTH) && !(sb->st_mode & S_ISVTX))
        return fail_mode(sb, name, err);
    return 0;
}

/* Goes to "/"; the walk then has a folder to close. */
static int start_at_root(struct own_walk *w, weir_err *err)
{
    struct stat sb;
    int fd = open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);

    if (fd < 0 || TEMP_FAILURE_RETRY(fstat(fd, &sb)) < 0) {
        if (fd >= 0)
            wr_fd_close(fd);
        return wr_fail_errno(err, errno, "'/'");
    }
    if (w->dir >= 0)
        wr_fd_close(w->dir);
    w->dir = fd;
    w->super = sb.st_uid;
    strcpy(w->name, "/");
    return check_way(w, &sb, err);
}

static int fail_length(const struct own_walk *w, weir_err *err)
{
    return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", w->path);
}

/* Takes the next component; *ret_last: none follows. */
static int take_name(struct own_walk *w, bool *ret_last, weir_err *err)
{
    const char *from = w->rest + strspn(w->rest, "/");
    size_t n = strcspn(from, "/");
    const char *next = from + n + strspn(from + n, "/");

    if (n >= sizeof(w->name))
        return fail_length(w, err);
    memcpy(w->name, from, n);
    w->name[n] = '\0';
    if (!n)
        strcpy(w->name, ".");
    *ret_last = !*next;
    memmove(w->rest, next, strlen(next) + 1);
    return 0;
}

/* Puts what a link says in front of what is left of the path. */
static int follow_link(struct own_walk *w, int link, const struct stat *sb,
                       weir_err *err)
{
    char to[PATH_MAX];
    ssize_t n;

    if (!is_trusted(sb->st_uid) && sb->st_uid != w->super)
        return wr_fail(err, WEIR_EACCES,
                       "'%s': '%s' is a link that belongs to user %u, not to "
                       "user %u: it is not followed",
                       w->path, w->name, (unsigned)sb->st_uid,
                       (unsigned)geteuid());
    n = readlinkat(link, "", to, sizeof(to) - 1);
    if (n < 0)
        return wr_fail_errno(err, errno, "'%s'", w->path);
    to[n] = '\0';
    if (++w->links > MAX_LINKS)
        return wr_fail(err, WEIR_EACCES, "'%s': too many links", w->path);
    if ((size_t)n + 1 + strlen(w->rest) >= sizeof(w->rest))
        return fail_length(w, err);
    memmove(w->rest + n + 1, w->rest, strlen(w->rest) + 1);
    memcpy(w->rest, to, (size_t)n);
    w->rest[n] = '/';
    return *to == '/' ? start_at_root(w, err) : 0;
}

/* Enters the folder w->name, or takes it for a link. */
static int enter(struct own_walk *w, weir_err *err)
{
    struct stat sb;
    int fd = open_at(w->dir, w->name, O_PATH, 0), r;

    if (fd < 0 || TEMP_FAILURE_RETRY(fstat(fd, &sb)) < 0) {
        r = wr_fail_errno(err, errno, "'%s': folder '%s'", w->path, w->name);
    } else if (S_ISLNK(sb.st_mode)) {
        r = follow_link(w, fd, &sb, err);
    } else if (!S_ISDIR(sb.st_mode)) {
        r = wr_fail(err, WEIR_ENOENT, "'%s': '%s' is not a folder", w->path,
                    w->name);
    } else {
        r = check_way(w, &sb, err);
        if (r == 0) {
            wr_fd_close(w->dir);
            w->dir = fd;
            return 0;
        }
    }
    if (fd >= 0)
        wr_fd_close(fd);
    return r;
}

/* Goes as far as the last component, which stands in w->name then. */
static int walk_to_last(struct own_walk *w, const char *path, weir_err *err)
{
    bool last = false;
    int r;

    w->path = path;
    if (!*path)
        return wr_fail_errno(err, ENOENT, "''");
    if (*path != '/' && !getcwd(w->rest, sizeof(w->rest)))
        return wr_fail_errno(err, errno, "'%s'", path);
    if (strlen(w->rest) + 1 + strlen(path) >= sizeof(w->rest))
        return fail_length(w, err);
    strcat(strcat(w->rest, "/"), path);
    r = start_at_root(w, err);
    while (r == 0) {
        r = take_name(w, &last, err);
        if (r < 0 || last)
            break;
        r = enter(w, err);
    }
    return r;
}

/* --- what is there --- */

/* What is at the end of a walk: links have a code of their own already, unless
 * something would be made in a sticky folder where another user's link is. */
static int fail_open(const struct own_walk *w, int e, weir_err *err)
{
    struct stat sb;

    if ((e == ENOTDIR || e == ELOOP || e == EACCES) &&
        fstatat(w->dir, w->name, &sb, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(sb.st_mode))
        return wr_fail(err, WEIR_EACCES,
                       "'%s': is a link of user %u: it is not followed",
                       w->path, (unsigned)sb.st_uid);
    if (e == ENOTDIR)
        return wr_fail(err, WEIR_ENOENT, "'%s': is not a folder", w->path);
    return wr_regular_fail(w->dir, w->name, w->path, e, err);
}

static int open_last_dir(const struct own_walk *w, int *ret_fd, weir_err *err)
{
    int flags = O_RDONLY | O_DIRECTORY;
    int fd = open_at(w->dir, w->name, flags, 0), r;

    if (fd < 0 && errno == ENOENT && w->flags & WR_OWN_MAKE) {
        if (mkdirat(w->dir, w->name, wr_own_dir_mode(w->flags)) < 0 &&
            errno != EEXIST)
            return wr_fail_errno(err, errno, "'%s': cannot create folder",
                                 w->path);
        fd = open_at(w->dir, w->name, flags, 0);
    }
    if (fd < 0)
        return fail_open(w, errno, err);
    r = check_with(fd, w->flags, w->path, err);
    if (r < 0)
        wr_fd_close(fd);
    else
        *ret_fd = fd;
    return r;
}

int wr_own_dir(const char *path, unsigned flags, int *ret_fd, weir_err *err)
{
    struct own_walk w = {.flags = flags, .dir = -1};
    int r = walk_to_last(&w, path, err);

    if (r == 0)
        r = open_last_dir(&w, ret_fd, err);
    if (w.dir >= 0)
        wr_fd_close(w.dir);
    return r;
}

int wr_own_check_links(const char *path, weir_err *err)
{
    char inside[PATH_MAX];
    weir_err why;
    int fd, r;

    /* The last component is not followed: that is "." then. */
    if (snprintf(inside, sizeof(inside), "%s/.", path) >= (int)sizeof(inside))
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", path);
    r = wr_own_dir(inside, WR_OWN_ANY, &fd, &why);
    if (r == 0)
        wr_fd_close(fd);
    return r == 0 || r == WEIR_ENOENT ? 0 : wr_fail_as(err, r, &why);
}

static int check_file(const struct own_walk *w, int fd, int oflags,
                      weir_err *err)
{
    const char *path = w->path;
    struct stat sb;

    if (TEMP_FAILURE_RETRY(fstat(fd, &sb)) < 0)
        return wr_fail_errno(err, errno, "'%s'", path);
    if ((oflags & O_ACCMODE) != O_RDONLY && sb.st_nlink > 1)
        return wr_fail(err, WEIR_EACCES,
                       "'%s': has %lu names, one of which may be another "
                       "file's: it is not written to",
                       path, (unsigned long)sb.st_nlink);
    return judge_with(&sb, w->flags, path, err);
}

static int open_last_file(const struct own_walk *w, int oflags, int *ret_fd,
                          weir_err *err)
{
    /* Cut only once it is known to be ours. */
    int flags = (oflags & ~O_TRUNC) | O_NOFOLLOW, r;
    struct wr_fd_wait wait = {0};
    int fd;

    do
        fd = wr_regular_open(w->dir, w->name, flags,
                             wr_own_file_mode(w->flags));
    while (fd < 0 && wr_fd_retry(&wait, errno));
    if (fd < 0)
        return fail_open(w, errno, err);
    r = check_file(w, fd, oflags, err);
    if (r == 0 && oflags & O_TRUNC && ftruncate(fd, 0) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot cut", w->path);
    if (r < 0)
        wr_fd_close(fd);
    else
        *ret_fd = fd;
    return r;
}

int wr_own_open(const char *path, int oflags, unsigned flags, int *ret_fd,
                weir_err *err)
{
    struct own_walk w = {.flags = flags, .dir = -1};
    int r = walk_to_last(&w, path, err);

    if (r == 0)
        r = open_last_file(&w, oflags, ret_fd, err);
    if (w.dir >= 0)
        wr_fd_close(w.dir);
    return r;
}
