/* meet.c - how ranks of one machine find each other at a socket.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/meet.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#define HELLO_MAGIC   UINT64_C(0x6f6c6c6568726977)
#define HELLO_VERSION 1u
#define PATH_CAP      sizeof(((struct sockaddr_un *)NULL)->sun_path)
#define BESIDE        8  /* "~0123456": what a name beside the path adds */
#define STRANGERS     64 /* connections that have not said who they are */
#define RETRY_MS      10

/* What a rank says first. */
struct hello {
    uint64_t magic;
    uint32_t version, rank, world, unused;
    char channel[WR_MEET_CHANNEL];
};

/* A connection that has not said it all yet. */
struct guest {
    int fd;
    size_t have;
    struct hello hello;
};

struct host {
    const struct wr_meet *m;
    struct wr_wire *wires;
    int fd; /* listens */
    uint32_t missing;
    struct guest guests[STRANGERS];
    size_t guest_count;
    struct pollfd *fds; /* owned: listener, guests, wires */
};

/* --- sockets and paths --- */

static struct sockaddr_un address(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    return a;
}

static int check_path(const struct wr_meet *m, weir_err *err)
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

/* Removes a socket that a dead process left. Between looking and removing
 * another rank 0 may have put its own there: the name is moved aside first, and
 * moved back if somebody listens at it. Whoever is seen at `path` listens
 * already (see listen_at). */
static int remove_stale(const char *path, weir_err *err)
{
    char aside[PATH_CAP];
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
    if (e == ECONNREFUSED) {
        beside(path, aside);
        if (rename(path, aside) < 0)
            return errno == ENOENT
                       ? 0
                       : wr_fail_errno(err, errno, "'%s': cannot remove", path);
        e = knock(aside);
        if (e != ECONNREFUSED && link(aside, path) < 0)
            e = errno;
        unlink(aside);
    }
    if (e == 0)
        return wr_fail(err, WEIR_EBUSY, "'%s': other ranks are meeting there",
                       path);
    if (e != ECONNREFUSED && e != ENOENT)
        return wr_fail_errno(err, e, "'%s': cannot connect", path);
    return 0;
}

/* The socket appears under its name only when it listens, for its owner only,
 * and takes nobody's place. */
static int appear(int fd, const char *path, weir_err *err)
{
    char made[PATH_CAP];
    struct sockaddr_un a;
    int r = 0;

    beside(path, made);
    a = address(made);
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
        return wr_fail_errno(err, errno, "'%s': cannot make a socket", path);
    if (chmod(made, 0600) < 0 || listen(fd, SOMAXCONN) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot listen", path);
    for (int tries = 0; r == 0 && link(made, path) < 0; tries++) {
        if (errno != EEXIST || tries == 10)
            r = wr_fail_errno(err, errno, "'%s': cannot listen", path);
        else
            r = remove_stale(path, err);
    }
    unlink(made);
    return r;
}

static int listen_at(const char *path, weir_err *err)
{
    int fd = new_socket(err), r;

    if (fd < 0)
        return fd;
    r = appear(fd, path, err);
    if (r < 0) {
        close(fd);
        return r;
    }
    return fd;
}

static bool is_own_user(int fd)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
           cred.uid == geteuid();
}

/* --- rank 0 --- */

static void drop_guest(struct host *h, size_t k)
{
    h->guests[k] = h->guests[--h->guest_count];
}

/* Says no to a rank; rank 0 fails with the same message, since what is wrong
 * does not mend itself. */
static int refuse(const struct host *h, const struct guest *g, weir_err *err)
{
    const struct hello *o = &g->hello;
    struct wr_wire w = {.fd = g->fd, .rank = o->rank};
    weir_err e;

    if (o->version != HELLO_VERSION)
        wr_fail(&e, WEIR_ENOTSUP,
                "'%s': rank %" PRIu32 " speaks version %" PRIu32
                ", rank 0 version %u",
                h->m->path, o->rank, o->version, HELLO_VERSION);
    else if (o->world != h->m->world)
        wr_fail(&e, WEIR_EINVAL,
                "'%s': rank %" PRIu32 " counts %" PRIu32
                " ranks, rank 0 counts %" PRIu32,
                h->m->path, o->rank, o->world, h->m->world);
    else if (o->rank == 0 || o->rank >= o->world)
        wr_fail(&e, WEIR_EINVAL,
                "'%s': somebody came as rank %" PRIu32 " of %" PRIu32,
                h->m->path, o->rank, o->world);
    else if (strcmp(o->channel, h->m->channel) != 0)
        wr_fail(&e, WEIR_EINVAL,
                "'%s': rank %" PRIu32 " is for channel '%s', rank 0 for '%s'",
                h->m->path, o->rank, o->channel, h->m->channel);
    else
        wr_fail(&e, WEIR_EINVAL,
                "'%s': two processes say that they are rank %" PRIu32,
                h->m->path, o->rank);
    wr_wire_give_up(&w, &e);
    return wr_fail_as(err, e.code, &e);
}

/* 1: it has said who it is; 0: not yet; -1: it is no rank. */
static int hear(struct guest *g)
{
    int r = wr_wire_pull(g->fd, &g->hello, &g->have, sizeof(g->hello));

    if (r <= 0)
        return r;
    if (g->hello.magic != HELLO_MAGIC)
        return -1;
    g->hello.channel[WR_MEET_CHANNEL - 1] = '\0';
    return 1;
}

/* Takes a guest in, or refuses it. */
static int seat(struct host *h, const struct guest *g, weir_err *err)
{
    const struct hello *o = &g->hello;
    struct wr_wire *w;

    if (o->version != HELLO_VERSION || o->world != h->m->world ||
        o->rank == 0 || o->rank >= o->world ||
        strcmp(o->channel, h->m->channel) != 0)
        return refuse(h, g, err);
    w = &h->wires[o->rank - 1];
    if (w->fd >= 0)
        return refuse(h, g, err);
    *w = (struct wr_wire){.fd = g->fd, .rank = o->rank};
    h->missing--;
    return 0;
}

static int hear_guests(struct host *h, weir_err *err)
{
    const struct pollfd *fds = h->fds + 1;

    for (size_t k = h->guest_count; k-- > 0;) {
        struct guest g;
        int r;

        if (!fds[k].revents)
            continue;
        r = hear(&h->guests[k]);
        if (r == 0)
            continue;
        g = h->guests[k];
        drop_guest(h, k);
        if (r < 0) {
            close(g.fd);
            continue;
        }
        r = seat(h, &g, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A rank that came and died makes room: it may be started once more. */
static void see_off(struct host *h, const struct pollfd *fds)
{
    for (uint32_t k = 0; k + 1 < h->m->world; k++) {
        if (h->wires[k].fd < 0 || fds[k].fd < 0 || !fds[k].revents)
            continue;
        wr_wire_close(&h->wires[k]);
        h->missing++;
    }
}

static int let_in(struct host *h, weir_err *err)
{
    while (h->guest_count < STRANGERS) {
        int fd = accept4(h->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (fd < 0)
            return wr_fail_errno(err, errno, "'%s': cannot accept", h->m->path);
        if (is_own_user(fd))
            h->guests[h->guest_count++] = (struct guest){.fd = fd};
        else
            close(fd);
    }
    return 0;
}

static int too_late(const struct host *h, weir_err *err)
{
    uint32_t k = 0;

    while (h->wires[k].fd >= 0)
        k++;
    if (h->missing > 1)
        return wr_fail(err, WEIR_ETIMEDOUT,
                       "'%s': rank %" PRIu32 " and %" PRIu32
                       " more did not come within %" PRIu64 " ms",
                       h->m->path, k + 1, h->missing - 1, h->m->timeout_ms);
    return wr_fail(err, WEIR_ETIMEDOUT,
                   "'%s': rank %" PRIu32 " did not come within %" PRIu64 " ms",
                   h->m->path, k + 1, h->m->timeout_ms);
}

static size_t fill_fds(struct host *h)
{
    size_t n = 1;

    h->fds[0] = (struct pollfd){.fd = h->guest_count < STRANGERS ? h->fd : -1,
                                .events = POLLIN};
    for (size_t k = 0; k < h->guest_count; k++)
        h->fds[n++] = (struct pollfd){.fd = h->guests[k].fd, .events = POLLIN};
    for (uint32_t k = 0; k + 1 < h->m->world; k++)
        h->fds[n++] = (struct pollfd){.fd = h->wires[k].fd,
                                      .events = POLLRDHUP};
    return n;
}

static int wait_for_all(struct host *h, uint64_t deadline, weir_err *err)
{
    while (h->missing > 0) {
        size_t n = fill_fds(h), guests = h->guest_count;
        int left = wr_wire_left_ms(deadline), r;

        if (left == 0)
            return too_late(h, err);
        r = poll(h->fds, n, left);
        if (r < 0 && errno != EINTR)
            return wr_fail_errno(err, errno, "'%s': waiting", h->m->path);
        if (r <= 0)
            continue;
        see_off(h, h->fds + 1 + guests);
        r = hear_guests(h, err);
        if (r == 0 && h->fds[0].revents)
            r = let_in(h, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int wr_meet_host(const struct wr_meet *m, struct wr_wire *wires, weir_err *err)
{
    uint64_t deadline = wr_wire_deadline(m->timeout_ms);
    struct host h = {.m = m, .wires = wires, .missing = m->world - 1};
    struct wr_wire_job welcome = {
        .send = true, .kind = WR_WIRE_WELCOME, .timeout_ms = m->timeout_ms};
    int r = check_path(m, err);

    if (r < 0)
        return r;
    h.fds = calloc((size_t)STRANGERS + m->world, sizeof(*h.fds));
    if (!h.fds)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    h.fd = listen_at(m->path, err);
    if (h.fd < 0) {
        free(h.fds);
        return h.fd;
    }
    r = wait_for_all(&h, deadline, err);
    /* Gone before anyone is welcomed: who meets again must not come here. */
    unlink(m->path);
    close(h.fd);
    for (size_t k = 0; k < h.guest_count; k++)
        close(h.guests[k].fd);
    free(h.fds);
    return r < 0 ? r : wr_wire_run(wires, m->world - 1, &welcome, err);
}

/* --- the others --- */

static int say_hello(const struct wr_meet *m, int fd, weir_err *err)
{
    struct hello o = {.magic = HELLO_MAGIC,
                      .version = HELLO_VERSION,
                      .rank = m->rank,
                      .world = m->world};
    ssize_t n;

    if (!is_own_user(fd))
        return wr_fail(err, WEIR_EACCES, "'%s': belongs to another user",
                       m->path);
    snprintf(o.channel, sizeof(o.channel), "%s", m->channel);
    do
        n = send(fd, &o, sizeof(o), MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    /* A new socket takes so little at once; otherwise the other end died. */
    return n == (ssize_t)sizeof(o) ? 0 : 1;
}

/* 0: in; 1: nobody is there (any more). */
static int try_join(const struct wr_meet *m, struct wr_wire *w,
                    uint64_t deadline, weir_err *err)
{
    struct sockaddr_un a = address(m->path);
    struct wr_wire_job welcome = {.kind = WR_WIRE_WELCOME};
    int r;

    w->fd = new_socket(err);
    if (w->fd < 0)
        return w->fd;
    if (connect(w->fd, (struct sockaddr *)&a, sizeof(a)) < 0)
        r = errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN ||
                    errno == EINTR
                ? 1
                : wr_fail_errno(err, errno, "'%s': cannot connect", m->path);
    else
        r = say_hello(m, w->fd, err);
    if (r == 0) {
        welcome.timeout_ms = (uint64_t)wr_wire_left_ms(deadline);
        r = wr_wire_run(w, 1, &welcome, err);
        if (r < 0 && w->gone)
            r = 1;
        else if (r == WEIR_ETIMEDOUT && w->head.kind != WR_WIRE_FAILURE)
            wr_fail(err, r, "'%s': not all ranks came within %" PRIu64 " ms",
                    m->path, m->timeout_ms);
    }
    if (r != 0) {
        wr_wire_close(w);
        w->gone = false;
    }
    return r;
}

int wr_meet_join(const struct wr_meet *m, struct wr_wire *wire, weir_err *err)
{
    uint64_t deadline = wr_wire_deadline(m->timeout_ms);
    struct wr_wire w = {.fd = -1};
    weir_err e;
    int r = check_path(m, err), left;

    if (r < 0)
        return r;
    while ((r = try_join(m, &w, deadline, &e)) > 0) {
        left = wr_wire_left_ms(deadline);
        if (left == 0)
            return wr_fail(err, WEIR_ETIMEDOUT,
                           "'%s': rank 0 did not come within %" PRIu64 " ms",
                           m->path, m->timeout_ms);
        poll(NULL, 0, WR_MIN(left, RETRY_MS));
    }
    if (r < 0)
        return wr_fail_as(err, r, &e);
    free(w.body);
    w.body = NULL;
    *wire = w;
    return 0;
}
