/* meet_unix.c - ranks of one machine meet at a Unix socket.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/meet.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/own.h"
#include "comm/wire.h"

#define PATH_CAP sizeof(((struct sockaddr_un *)NULL)->sun_path)
#define BESIDE   8 /* "~0123456": what a name beside the path adds */

static struct sockaddr_un address(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    return a;
}

static int unix_check(const struct wr_meet *m, weir_err *err)
{
    size_t len = strlen(m->path), most = PATH_CAP - 1 - BESIDE;

    if (len > most)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': too long for a socket: %zu bytes, %zu at most",
                       m->path, len, most);
    return 0;
}

static int new_socket(weir_err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return wr_fail_errno(err, errno, "cannot make a socket");
    return fd;
}

/* A name of its own in the same folder. */
static void beside(const char *path, char ret[PATH_CAP])
{
    uint32_t dice = 0;

    if (getrandom(&dice, sizeof(dice), GRND_NONBLOCK) < 0)
        dice = (uint32_t)getpid() ^ (uint32_t)wr_clock_ns();
    snprintf(ret, PATH_CAP, "%.*s~%07" PRIx32, (int)(PATH_CAP - 1 - BESIDE),
             path, dice & 0xfffffff);
}

/* 0: somebody listens at `path`; else errno. */
static int knock(const char *path)
{
    struct sockaddr_un a = address(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int e = 0;

    if (fd < 0)
        return errno;
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
        e = errno == EAGAIN ? 0 : errno; /* a full queue has an owner */
    close(fd);
    return e;
}

/* Of several rank 0 at one path one at a time looks and takes it. The lock's file
 * goes when it is left, so who gets it asks whether it is still the one in the
 * folder. Its holder does not wait for anybody. */
static int lock(const char *name, uint64_t deadline, weir_err *err)
{
    for (;;) {
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        struct stat ours, there;
        int r;

        if (fd < 0)
            return wr_fail_errno(err, errno, "'%s': cannot lock", name);
        r = wr_own_check(fd, name, err); /* else it may be held for ever */
        if (r < 0) {
            close(fd);
            return r;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &ours) == 0 &&
            lstat(name, &there) == 0 && ours.st_ino == there.st_ino &&
            ours.st_dev == there.st_dev)
            return fd;
        close(fd);
        if (wr_wire_left_ms(deadline) == 0)
            return wr_fail(err, WEIR_ETIMEDOUT, "'%s': locked by another rank",
                           name);
        poll(NULL, 0, 1);
    }
}

/* Removes a socket that a dead process left. Whoever is seen at `path` listens
 * already (see appear). */
static int remove_stale(const char *path, weir_err *err)
{
    struct stat sb;
    int e;

    if (lstat(path, &sb) < 0)
        return errno == ENOENT
                   ? 0
                   : wr_fail_errno(err, errno, "'%s': cannot look", path);
    if (!S_ISSOCK(sb.st_mode))
        return wr_fail(err, WEIR_EEXIST, "'%s': exists and is not a socket",
                       path);
    e = knock(path);
    if (e == 0)
        return wr_fail(err, WEIR_EBUSY, "'%s': other ranks are meeting there",
                       path);
    if (e != ECONNREFUSED && e != ENOENT)
        return wr_fail_errno(err, e, "'%s': cannot connect", path);
    if (unlink(path) < 0 && errno != ENOENT)
        return wr_fail_errno(err, errno, "'%s': cannot remove", path);
    return 0;
}

/* The socket appears under its name only when it listens, for its owner only,
 * and takes nobody's place. */
static int appear(int fd, const char *path, uint64_t deadline, weir_err *err)
{
    char made[PATH_CAP], guard[PATH_CAP];
    struct sockaddr_un a;
    int held, r = 0;

    beside(path, made);
    a = address(made);
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
        return wr_fail_errno(err, errno, "'%s': cannot make a socket", path);
    if (chmod(made, 0600) < 0 || listen(fd, SOMAXCONN) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot listen", path);
    snprintf(guard, sizeof(guard), "%.*s~lock", (int)(PATH_CAP - 1 - BESIDE),
             path);
    held = r < 0 ? r : lock(guard, deadline, err);
    if (held < 0) {
        unlink(made);
        return held;
    }
    r = remove_stale(path, err);
    if (r == 0 && link(made, path) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot listen", path);
    unlink(made);
    unlink(guard);
    close(held);
    return r;
}

static int unix_listen(const struct wr_meet *m, uint64_t deadline_ns,
                       weir_err *err)
{
    int fd = new_socket(err), r;

    if (fd < 0)
        return fd;
    r = appear(fd, m->path, deadline_ns, err);
    if (r < 0) {
        close(fd);
        return r;
    }
    return fd;
}

static bool unix_is_ours(int fd)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
           cred.uid == geteuid();
}

static int unix_connect(const struct wr_meet *m, uint64_t deadline_ns,
                        int *ret_fd, weir_err *err)
{
    struct sockaddr_un a = address(m->path);
    int fd = new_socket(err), r;

    if (fd < 0)
        return fd;
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0) {
        if (unix_is_ours(fd)) {
            *ret_fd = fd;
            return 0;
        }
        r = wr_fail(err, WEIR_EACCES, "'%s': belongs to another user", m->path);
    } else if (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN ||
               errno == EINTR) {
        r = 1;
    } else {
        r = wr_fail_errno(err, errno, "'%s': cannot connect", m->path);
    }
    close(fd);
    return r;
}

static void unix_leave(const struct wr_meet *m)
{
    unlink(m->path);
}

const struct wr_meet_ops wr_meet_unix = {
    .check = unix_check,
    .listen = unix_listen,
    .connect = unix_connect,
    .is_ours = unix_is_ours,
    .leave = unix_leave,
};
