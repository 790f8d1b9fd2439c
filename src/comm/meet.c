/* meet.c - how ranks find each other at a listening socket.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/meet.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#define HELLO_MAGIC   UINT64_C(0x6f6c6c6568726977)
#define HELLO_VERSION 3u
#define STRANGERS     64 /* connections that have not said who they are */
#define OF_ONE        16 /* of them, of one address */
#define PATIENCE_NS   WR_NS_PER_SEC /* ranks say it as soon as they connect */
#define LOOK_MS       100
#define RETRY_MS      10
#define ADDRESS       16 /* bytes */

/* What a rank says first, in the byte order of its machine: one of another byte
 * order is a stranger. The token stands first in every version from the third on,
 * and nothing else counts before it is right: whoever does not know it has no
 * say in what happens to the meeting. */
struct hello {
    unsigned char token[WR_MEET_TOKEN];
    uint64_t magic;
    uint32_t version, rank, world, unused;
    char channel[WR_MEET_CHANNEL];
};

/* A connection that has not said it all yet. */
struct guest {
    int fd;
    size_t have;
    uint64_t until_ns; /* when it must have said it */
    bool counted;      /* it came from a network: `address` counts */
    unsigned char address[ADDRESS];
    struct hello hello;
};

struct host {
    const struct wr_meet *m;
    struct wr_wire *wires;
    int fd; /* listens */
    uint32_t missing;
    uint32_t turned_away; /* connections that did not know the token, or were of
                             a version that does not say it first */
    struct guest guests[STRANGERS];
    size_t guest_count;
    struct pollfd *fds; /* owned: listener, guests, wires */
};

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
    else
        wr_fail(&e, WEIR_EINVAL,
                "'%s': two processes say that they are rank %" PRIu32,
                h->m->path, o->rank);
    wr_wire_give_up(&w, &e);
    return wr_fail_as(err, e.code, &e);
}

/* Compares all bytes, however early they differ: how long it takes must not
 * tell a stranger how much of the token was right. */
static bool knows_token(const struct wr_meet *m, const struct hello *o)
{
    unsigned differ = 0;

    for (size_t k = 0; k < WR_MEET_TOKEN; k++)
        differ |= o->token[k] ^ (m->token ? m->token[k] : 0u);
    return differ == 0;
}

/* 1: it has said who it is; 0: not yet; -1: it is no rank, or one that comes
 * for another channel: it tries again until that channel's turn. */
static int hear(struct host *h, struct guest *g)
{
    int r = wr_wire_pull(g->fd, &g->hello, &g->have, sizeof(g->hello));

    if (g->have >= sizeof(g->hello.token) && !knows_token(h->m, &g->hello)) {
        h->turned_away++;
        return -1;
    }
    if (r <= 0)
        return r;
    if (g->hello.magic != HELLO_MAGIC)
        return -1;
    /* The version decides what the rest means. */
    if (g->hello.version != HELLO_VERSION)
        return 1;
    g->hello.channel[WR_MEET_CHANNEL - 1] = '\0';
    return strcmp(g->hello.channel, h->m->channel) == 0 ? 1 : -1;
}

/* Takes a guest in, or refuses it. */
static int seat(struct host *h, const struct guest *g, weir_err *err)
{
    const struct hello *o = &g->hello;
    struct wr_wire *w;

    if (o->version != HELLO_VERSION || o->world != h->m->world ||
        o->rank == 0 || o->rank >= o->world)
        return refuse(h, g, err);
    w = &h->wires[o->rank - 1];
    if (w->fd >= 0)
        return refuse(h, g, err);
    *w = (struct wr_wire){.fd = g->fd, .rank = o->rank};
    h->missing--;
    return 0;
}

/* Hears guest k, who stays only if it may yet say more until `now_ns`. */
static int hear_guest(struct host *h, size_t k, uint64_t now_ns, weir_err *err)
{
    int r = hear(h, &h->guests[k]);
    struct guest g = h->guests[k];

    if (r == 0 && now_ns < g.until_ns)
        return 0;
    drop_guest(h, k);
    if (r > 0)
        return seat(h, &g, err);
    close(g.fd);
    return 0;
}

static int hear_guests(struct host *h, weir_err *err)
{
    const struct pollfd *fds = h->fds + 1;
    uint64_t now_ns = wr_clock_ns();
    int r = 0;

    for (size_t k = h->guest_count; r == 0 && k-- > 0;)
        if (fds[k].revents || now_ns >= h->guests[k].until_ns)
            r = hear_guest(h, k, now_ns, err);
    return r;
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

/* Where a connection comes from. Who has an IPv6 address has all of its network
 * of 64 bits. */
static void note_address(struct guest *g, const struct sockaddr_storage *from)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)from;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
    bool mapped = from->ss_family == AF_INET6 &&
                  IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);

    if (from->ss_family == AF_INET6)
        memcpy(g->address, &six->sin6_addr, mapped ? ADDRESS : ADDRESS / 2);
    else if (from->ss_family == AF_INET)
        memcpy(g->address, &four->sin_addr, sizeof(four->sin_addr));
    g->counted = from->ss_family == AF_INET6 || from->ss_family == AF_INET;
}

/* The guest who makes room for `g`: of those who came from the same address, if
 * they are many, or of all if those are, the one who came first. guest_count:
 * there is room. */
static size_t who_leaves(const struct host *h, const struct guest *g)
{
    size_t all = h->guest_count, same = 0, first = all, first_same = all;

    for (size_t k = 0; k < all; k++) {
        const struct guest *o = &h->guests[k];

        if (first == all || o->until_ns < h->guests[first].until_ns)
            first = k;
        if (!g->counted || memcmp(o->address, g->address, ADDRESS) != 0)
            continue;
        same++;
        if (first_same == all || o->until_ns < h->guests[first_same].until_ns)
            first_same = k;
    }
    return same >= OF_ONE ? first_same : all >= STRANGERS ? first : all;
}

/* A connection that says nothing keeps nobody out: ranks say who they are at
 * once, and one that was sent away too early comes again. */
static int add_guest(struct host *h, const struct guest *g, weir_err *err)
{
    size_t k = who_leaves(h, g);
    int r = 0;

    if (k < h->guest_count)
        r = hear_guest(h, k, UINT64_MAX, err);
    h->guests[h->guest_count++] = *g;
    return r < 0 ? r : hear_guest(h, h->guest_count - 1, g->until_ns - 1, err);
}

/* What accept passes on of a connection that has failed meanwhile. */
static bool is_of_one(int e)
{
    return e == EINTR || e == ECONNABORTED || e == EPROTO || e == ENETDOWN ||
           e == ENETUNREACH || e == EHOSTDOWN || e == EHOSTUNREACH ||
           e == ENONET || e == ENOPROTOOPT;
}

/* At most so many at a time, for there may be always one more. */
static int let_in(struct host *h, weir_err *err)
{
    for (int k = 0; k < STRANGERS; k++) {
        struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
        struct guest g = {.until_ns = wr_clock_ns() + PATIENCE_NS};
        socklen_t len = sizeof(from);
        int r;

        g.fd = accept4(h->fd, (struct sockaddr *)&from, &len,
                       SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (g.fd < 0 && is_of_one(errno))
            continue;
        if (g.fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (g.fd < 0)
            return wr_fail_errno(err, errno, "'%s': cannot accept", h->m->path);
        if (h->m->ops->is_ours && !h->m->ops->is_ours(g.fd)) {
            close(g.fd);
            continue;
        }
        if (h->m->ops->tune)
            h->m->ops->tune(g.fd);
        note_address(&g, &from);
        r = add_guest(h, &g, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int too_late(const struct host *h, weir_err *err)
{
    char more[48] = "", why[96] = "";
    uint32_t k = 0;

    while (h->wires[k].fd >= 0)
        k++;
    if (h->missing > 1)
        snprintf(more, sizeof(more), " and %" PRIu32 " more", h->missing - 1);
    if (h->turned_away > 0)
        snprintf(why, sizeof(why),
                 " (%" PRIu32
                 " came with another secret, or another version of weir)",
                 h->turned_away);
    return wr_fail(err, WEIR_ETIMEDOUT,
                   "'%s': rank %" PRIu32 "%s did not come within %" PRIu64
                   " ms%s",
                   h->m->path, k + 1, more, h->m->timeout_ms, why);
}

static size_t fill_fds(struct host *h)
{
    size_t n = 1;

    h->fds[0] = (struct pollfd){.fd = h->fd, .events = POLLIN};
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
        /* Connections that say nothing are looked at now and then. */
        r = poll(h->fds, n, guests > 0 ? WR_MIN(left, LOOK_MS) : left);
        if (r < 0 && errno != EINTR)
            return wr_fail_errno(err, errno, "'%s': waiting", h->m->path);
        if (r < 0)
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

static void host_done(struct host *h)
{
    /* Gone before anyone is welcomed: who meets again must not come here. */
    if (h->m->ops->leave)
        h->m->ops->leave(h->m);
    close(h->fd);
    for (size_t k = 0; k < h->guest_count; k++)
        close(h->guests[k].fd);
}

int wr_meet_host(const struct wr_meet *m, struct wr_wire *wires, weir_err *err)
{
    uint64_t deadline = wr_wire_deadline(m->timeout_ms);
    struct host h = {.m = m, .wires = wires, .missing = m->world - 1};
    struct wr_wire_job welcome = {
        .send = true, .kind = WR_WIRE_WELCOME, .timeout_ms = m->timeout_ms};
    int r = m->ops->check ? m->ops->check(m, err) : 0;

    h.fd = m->listener;
    if (r == 0 && h.fd <= 0)
        r = h.fd = m->ops->listen(m, deadline, err);
    if (r < 0) {
        if (m->listener > 0)
            close(m->listener);
        return r;
    }
    h.fds = calloc((size_t)STRANGERS + m->world, sizeof(*h.fds));
    r = h.fds ? wait_for_all(&h, deadline, err)
              : wr_fail(err, WEIR_ENOMEM, "out of memory");
    host_done(&h);
    free(h.fds);
    return r < 0 ? r : wr_wire_run(wires, m->world - 1, &welcome, err);
}

/* --- the others --- */

/* 0: said; 1: nobody listens (any more). */
static int say_hello(const struct wr_meet *m, int fd)
{
    struct hello o = {.magic = HELLO_MAGIC,
                      .version = HELLO_VERSION,
                      .rank = m->rank,
                      .world = m->world};
    ssize_t n;

    snprintf(o.channel, sizeof(o.channel), "%s", m->channel);
    if (m->token)
        memcpy(o.token, m->token, sizeof(o.token));
    do
        n = send(fd, &o, sizeof(o), MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    /* A new socket takes so little at once; otherwise the other end died. */
    return n == (ssize_t)sizeof(o) ? 0 : 1;
}

static int turned_away(const struct wr_meet *m, weir_err *err)
{
    wr_fail(err, WEIR_EACCES,
            "'%s' answers and lets this rank not in: it meets other ranks, has "
            "another secret or another version of weir, or died",
            m->path);
    return 1;
}

/* 0: in; 1: nobody is there (any more); `err` may say more. */
static int try_join(const struct wr_meet *m, struct wr_wire *w,
                    uint64_t deadline, weir_err *err)
{
    struct wr_wire_job welcome = {.kind = WR_WIRE_WELCOME};
    int r = m->ops->connect(m, deadline, &w->fd, err);

    if (r == 0)
        r = say_hello(m, w->fd);
    if (r == 0) {
        welcome.timeout_ms = (uint64_t)wr_wire_left_ms(deadline);
        r = wr_wire_run(w, 1, &welcome, err);
        /* What cannot be read was sent by something else that listens there. */
        if (r < 0 && (w->gone || r == WEIR_EFORMAT))
            r = turned_away(m, err);
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

static int not_let_in(const struct wr_meet *m, const weir_err *last,
                      weir_err *err)
{
    return wr_fail(err, WEIR_ETIMEDOUT,
                   "'%s': rank 0 did not come within %" PRIu64 " ms%s%s",
                   m->path, m->timeout_ms, last->msg[0] ? ": " : "", last->msg);
}

int wr_meet_join(const struct wr_meet *m, struct wr_wire *wire, weir_err *err)
{
    uint64_t deadline = wr_wire_deadline(m->timeout_ms);
    struct wr_wire w = {.fd = -1};
    struct wr_meet try = *m;
    weir_err last = {0}, e = {0};
    int r = m->ops->check ? m->ops->check(m, err) : 0;

    if (r < 0)
        return r;
    for (; (r = try_join(&try, &w, deadline, &e)) > 0; try.attempt++) {
        last = e;
        poll(NULL, 0, WR_MIN(wr_wire_left_ms(deadline), RETRY_MS));
        if (wr_wire_left_ms(deadline) == 0)
            return not_let_in(m, &last, err);
    }
    /* Time ran out before it was turned away once more. */
    if (r == WEIR_ETIMEDOUT && last.code == WEIR_EACCES)
        return not_let_in(m, &last, err);
    if (r < 0)
        return wr_fail_as(err, r, &e);
    free(w.body);
    w.body = NULL;
    *wire = w;
    return 0;
}
