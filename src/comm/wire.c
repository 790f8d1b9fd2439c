/* wire.c - framed messages on connected sockets, many at once, with a deadline.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "comm/comm.h"

#define MAGIC   UINT32_C(0x77656972)
#define HEAD    sizeof(struct wr_wire_head)
#define STEP    ((size_t)1 << 20)       /* bytes of one system call, at most */
#define FOREVER UINT64_C(1000000000000) /* ms; keeps the sums in range */

/* The body of WR_WIRE_FAILURE. */
struct failure {
    int32_t code, os_errno;
    char msg[sizeof(((weir_err *)NULL)->msg)];
};

uint64_t wr_wire_deadline(uint64_t timeout_ms)
{
    return wr_clock_ns() + WR_MIN(timeout_ms, FOREVER) * WR_NS_PER_MS;
}

int wr_wire_left_ms(uint64_t deadline_ns)
{
    uint64_t now = wr_clock_ns(), ms;

    if (now >= deadline_ns)
        return 0;
    ms = (deadline_ns - now + WR_NS_PER_MS - 1) / WR_NS_PER_MS;
    return (int)WR_MIN(ms, (uint64_t)INT_MAX);
}

static const char *kind_name(uint32_t kind)
{
    switch (kind) {
    case WR_WIRE_WELCOME:
        return "meeting";
    case WR_WIRE_PART:
        return "gather";
    case WR_WIRE_BROADCAST:
        return "broadcast";
    case WR_WIRE_MAX:
        return "maximum";
    case WR_WIRE_SHARE:
        return "share";
    default:
        return "something else";
    }
}

static int is_gone(struct wr_wire *w, weir_err *err)
{
    w->gone = true;
    return wr_fail(err, WEIR_EIO, "rank %" PRIu32 " is gone", w->rank);
}

/* --- in --- */

int wr_wire_pull(int fd, void *to, size_t *have, size_t upto)
{
    while (*have < upto) {
        ssize_t n = recv(fd, (char *)to + *have, WR_MIN(upto - *have, STEP),
                         MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (n <= 0)
            return -1;
        *have += (size_t)n;
    }
    return 1;
}

/* The same for the bytes [from, upto) of the frame. */
static int pull(struct wr_wire *w, void *to, size_t from, size_t upto)
{
    size_t have = w->done - from;
    int r = wr_wire_pull(w->fd, to, &have, upto - from);

    w->done = from + have;
    return r;
}

static int check_head(const struct wr_wire *w, weir_err *err)
{
    const struct wr_wire_head *h = &w->head;

    if (h->magic != MAGIC || h->kind < WR_WIRE_WELCOME ||
        h->kind >= WR_WIRE_KINDS || h->len > WR_COMM_MAX)
        return wr_fail(err, WEIR_EFORMAT,
                       "what rank %" PRIu32 " sent cannot be read", w->rank);
    return 0;
}

/* 1: the frame is there; 0: not yet. */
static int take_in(struct wr_wire *w, weir_err *err)
{
    int r = pull(w, &w->head, 0, HEAD);

    if (r == 1 && !w->body) {
        r = check_head(w, err);
        if (r < 0)
            return r;
        w->body = malloc((size_t)w->head.len + 1);
        if (!w->body)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        w->body[w->head.len] = '\0';
        r = 1;
    }
    if (r == 1)
        r = pull(w, w->body, HEAD, HEAD + (size_t)w->head.len);
    return r < 0 ? is_gone(w, err) : r;
}

/* The other end's reason, passed on. */
static int told(const struct wr_wire *w, weir_err *err)
{
    struct failure f;

    if (w->head.len != sizeof(f))
        return wr_fail(err, WEIR_EFORMAT,
                       "what rank %" PRIu32 " sent cannot be read", w->rank);
    memcpy(&f, w->body, sizeof(f));
    f.msg[sizeof(f.msg) - 1] = '\0';
    if (f.code >= 0)
        f.code = WEIR_EFORMAT;
    /* Rank 0 tells what it heard; others tell of themselves. */
    if (w->rank == 0)
        wr_fail(err, f.code, "%s", f.msg);
    else
        wr_fail(err, f.code, "rank %" PRIu32 " gave up: %s", w->rank, f.msg);
    if (err)
        err->os_errno = f.os_errno;
    return f.code;
}

static int receive(struct wr_wire *w, const struct wr_wire_job *job,
                   weir_err *err)
{
    int r = take_in(w, err);

    if (r <= 0)
        return r;
    if (w->head.kind == WR_WIRE_FAILURE)
        return told(w, err);
    if (w->head.kind != (uint32_t)job->kind || w->head.call != job->call)
        return wr_fail(err, WEIR_ESTATE,
                       "the ranks do different things: rank %" PRIu32
                       " is at call %" PRIu64 " (%s), this one at call %" PRIu64
                       " (%s)",
                       w->rank, w->head.call, kind_name(w->head.kind),
                       job->call, kind_name(job->kind));
    return 1;
}

char *wr_wire_take(struct wr_wire *w, size_t *ret_len)
{
    char *body = w->body;

    *ret_len = (size_t)w->head.len;
    w->body = NULL;
    return body;
}

/* --- out --- */

/* 1: all is sent; 0: not yet; -1: the other end is gone. */
static int push(struct wr_wire *w, const void *bytes, size_t len)
{
    while (w->done < HEAD + len) {
        bool in_head = w->done < HEAD;
        const char *from = in_head ? (const char *)&w->head + w->done
                                   : (const char *)bytes + (w->done - HEAD);
        size_t left = (in_head ? HEAD : HEAD + len) - w->done;
        ssize_t n = send(w->fd, from, WR_MIN(left, STEP),
                         MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (n < 0)
            return -1;
        w->done += (size_t)n;
    }
    return 1;
}

static int transmit(struct wr_wire *w, const struct wr_wire_job *job,
                    weir_err *err)
{
    weir_err why;
    int r = push(w, job->bytes, job->len);

    if (r >= 0)
        return r;
    /* It cannot be sent to; perhaps it said why before it left. */
    w->done = 0;
    w->sending = false;
    if (take_in(w, &why) == 1 && w->head.kind == WR_WIRE_FAILURE)
        return told(w, err);
    return is_gone(w, err);
}

/* --- all of them --- */

static void prepare(struct wr_wire *w, const struct wr_wire_job *job)
{
    free(w->body);
    w->body = NULL;
    w->done = 0;
    w->complete = w->skip;
    w->sending = job->send;
    w->head = (struct wr_wire_head){.magic = MAGIC,
                                    .kind = (uint32_t)job->kind,
                                    .call = job->call,
                                    .len = job->len};
}

static int late(const struct wr_wire *wires, size_t count,
                const struct wr_wire_job *job, weir_err *err)
{
    const struct wr_wire *w = NULL;
    size_t n = 0;

    for (size_t k = count; k-- > 0;) {
        if (wires[k].complete)
            continue;
        w = &wires[k];
        n++;
    }
    if (n > 1)
        return wr_fail(err, WEIR_ETIMEDOUT,
                       "rank %" PRIu32 " and %zu more did not come within "
                       "%" PRIu64 " ms (%s)",
                       w->rank, n - 1, job->timeout_ms, kind_name(job->kind));
    return wr_fail(err, WEIR_ETIMEDOUT,
                   "rank %" PRIu32 " did not come within %" PRIu64 " ms (%s)",
                   w ? w->rank : 0, job->timeout_ms, kind_name(job->kind));
}

/* Goes on with the wires that poll() found ready. */
static int advance(struct wr_wire *wires, size_t count,
                   const struct wr_wire_job *job, const struct pollfd *fds,
                   weir_err *err)
{
    for (size_t k = 0; k < count; k++) {
        struct wr_wire *w = &wires[k];
        int r;

        if (w->complete || !fds[k].revents)
            continue;
        r = job->send ? transmit(w, job, err) : receive(w, job, err);
        if (r < 0)
            return r;
        w->complete = r == 1;
    }
    return 0;
}

int wr_wire_run(struct wr_wire *wires, size_t count,
                const struct wr_wire_job *job, weir_err *err)
{
    uint64_t deadline = wr_wire_deadline(job->timeout_ms);
    struct pollfd *fds = calloc(count, sizeof(*fds));
    size_t open;
    int r = 0, left = 1;

    if (!fds)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < count; k++)
        prepare(&wires[k], job);
    for (;;) {
        open = 0;
        for (size_t k = 0; k < count; k++) {
            fds[k].fd = wires[k].complete ? -1 : wires[k].fd;
            fds[k].events = job->send ? POLLOUT : POLLIN;
            fds[k].revents = 0;
            open += !wires[k].complete;
        }
        if (open == 0)
            break;
        if (left == 0) {
            r = late(wires, count, job, err);
            break;
        }
        left = wr_wire_left_ms(deadline);
        r = poll(fds, count, left);
        if (r < 0 && errno != EINTR) {
            r = wr_fail_errno(err, errno, "waiting for other ranks");
            break;
        }
        r = r > 0 ? advance(wires, count, job, fds, err) : 0;
        if (r < 0)
            break;
    }
    free(fds);
    return r;
}

int wr_wire_alive(struct wr_wire *w, weir_err *err)
{
    struct pollfd fd = {.fd = w->fd, .events = POLLRDHUP};
    struct wr_wire_job none = {.kind = WR_WIRE_FAILURE};
    weir_err e;

    if (poll(&fd, 1, 0) <= 0)
        return 0;
    /* It is over: nobody will miss the frames before the reason. */
    do
        prepare(w, &none);
    while (take_in(w, &e) == 1 && w->head.kind != WR_WIRE_FAILURE);
    if (w->body && w->head.kind == WR_WIRE_FAILURE &&
        w->done == HEAD + w->head.len)
        return told(w, err);
    return is_gone(w, err);
}

void wr_wire_give_up(struct wr_wire *w, const weir_err *why)
{
    struct failure f = {.code = why->code, .os_errno = why->os_errno};
    struct wr_wire_job job = {
        .send = true, .kind = WR_WIRE_FAILURE, .len = sizeof(f)};
    bool torn = w->sending && !w->complete && w->done > 0;

    /* In the middle of another frame it would be taken for a piece of it. */
    w->skip = false;
    if (w->fd >= 0 && !torn && !w->gone) {
        snprintf(f.msg, sizeof(f.msg), "%s", why->msg);
        prepare(w, &job);
        (void)push(w, &f, sizeof(f));
    }
    wr_wire_close(w);
}

void wr_wire_close(struct wr_wire *w)
{
    if (w->fd >= 0) {
        /* A child of this process may have the socket too. */
        shutdown(w->fd, SHUT_RDWR);
        close(w->fd);
    }
    w->fd = -1;
    free(w->body);
    w->body = NULL;
}
