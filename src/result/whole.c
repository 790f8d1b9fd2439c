/* whole.c - files that a reader sees whole or not at all.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the file system can, what is written has no name until it is whole:
 * whatever kills the process then leaves nothing behind. The name that it has
 * before is not to be guessed, and nothing that is there already is opened: the
 * folder may be one that others write to, too. */
#include "result/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

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
