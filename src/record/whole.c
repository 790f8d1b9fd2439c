/* whole.c - files that a reader sees whole or not at all.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the file system can, what is written has no name until it is whole:
 * whatever kills the process then leaves nothing behind. */
#include "record/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* A file on its way to its place. */
struct whole_target {
    const char *path; /* borrowed: where it goes to, and its name in messages */
    char *temp;       /* owned: its name before; NULL: it is written in place */
    bool named;       /* temp is in the folder */
};

/* A device, a pipe or a link is written to, never replaced. */
static bool is_special(const char *path)
{
    struct stat sb;

    return lstat(path, &sb) == 0 && !S_ISREG(sb.st_mode) &&
           !S_ISDIR(sb.st_mode);
}

/* An open file without a name in the folder of `path`; -1 where there is no
 * such thing. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1)
                         : strdup(".");
    int fd = -1;

    /* It gets its name by way of /proc. */
    if (folder && access("/proc/self/fd", X_OK) == 0)
        fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(folder);
    return fd;
}

static FILE *open_target(struct whole_target *t)
{
    int fd = t->temp ? open_nameless(t->path) : -1;
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (f)
        return f;
    if (fd >= 0)
        close(fd);
    t->named = t->temp != NULL;
    return fopen(t->temp ? t->temp : t->path, "we");
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
        unlink(t->temp); /* of a process long gone that had our number */
        named = linkat(AT_FDCWD, self, AT_FDCWD, t->temp, AT_SYMLINK_FOLLOW) ==
                0;
        if (!named)
            r = wr_fail_errno(err, errno, "'%s': cannot create", t->path);
    }
    if (fclose(f) == EOF && r == 0)
        r = wr_fail_errno(err, errno, "'%s': cannot write", t->path);
    if (r == 0 && rename(t->temp, t->path) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot rename", t->path);
    if (r < 0 && named)
        unlink(t->temp);
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
        unlink(t->temp);
    return r;
}

static int init_target(struct whole_target *t, const char *path, weir_err *err)
{
    *t = (struct whole_target){.path = path};
    if (!is_special(path) &&
        asprintf(&t->temp, "%s.%ld.part", path, (long)getpid()) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

int wr_whole_write(const char *path, const struct wr_whole *what, weir_err *err)
{
    struct whole_target t;
    int r = init_target(&t, path, err);

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
    if (is_special(path))
        return check_special(path, err);
    r = init_target(&t, path, err);
    if (r < 0)
        return r;
    f = open_target(&t);
    if (f)
        fclose(f);
    else
        r = wr_fail_errno(err, errno, "'%s': cannot create", path);
    if (f && t.named)
        unlink(t.temp);
    free(t.temp);
    return r;
}
