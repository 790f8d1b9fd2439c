/* meet_tcp.c - ranks of several machines meet at a TCP port.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/meet.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#define HOST_CAP   256
#define CONNECT_MS 2000 /* for one address: the next may be the right one */
#define BUSY_NS    (5 * WR_NS_PER_SEC) /* another channel may be meeting */

/* One entry of the path. */
struct tcp_address {
    char host[HOST_CAP], port[6];
};

/* Reads the entry at *at and moves behind it and its comma. */
static bool next_address(const char **at, struct tcp_address *ret)
{
    size_t len = strcspn(*at, ","), host;
    const char *s = *at, *colon = memrchr(s, ':', len);
    char *end;
    unsigned long port;

    if (!colon || colon == s || colon[1] < '0' || colon[1] > '9')
        return false;
    errno = 0;
    port = strtoul(colon + 1, &end, 10);
    if (end != s + len || port == 0 || port > UINT16_MAX)
        return false;
    host = (size_t)(colon - s);
    if (s[0] == '[' && s[host - 1] == ']' && host > 2) {
        s++;
        host -= 2;
    } else if (memchr(s, ':', host) || memchr(s, '[', host)) {
        return false; /* which colon is the port's? */
    }
    if (host >= sizeof(ret->host))
        return false;
    snprintf(ret->host, sizeof(ret->host), "%.*s", (int)host, s);
    snprintf(ret->port, sizeof(ret->port), "%lu", port);
    *at += len + ((*at)[len] == ',');
    return true;
}

static int tcp_check(const struct wr_meet *m, weir_err *err)
{
    const char *at = m->path;
    struct tcp_address a;

    do {
        if (!next_address(&at, &a))
            return wr_fail(err, WEIR_EINVAL,
                           "'%s': no address: HOST:PORT is one", m->path);
    } while (*at);
    return 0;
}

static void set_option(int fd, int level, int name, int value)
{
    /* What a system does not have it does without. */
    (void)setsockopt(fd, level, name, &value, sizeof(value));
}

/* Frames are small and are waited for. A peer that no longer answers is given
 * up after 2 + 3 * 2 s. */
static void tcp_tune(int fd)
{
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 2);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 2);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 8000);
}

static int tcp_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Who resolves names may not know this one, or take long to say so. */
static const char *host_of(const struct tcp_address *a)
{
    return strcmp(a->host, "localhost") == 0 ? "127.0.0.1" : a->host;
}

/* --- rank 0 --- */

/* The descriptor, or -1 and errno. */
static int listen_on(const struct sockaddr *a, socklen_t len)
{
    int fd = tcp_socket(a->sa_family), e;

    if (fd < 0)
        return -1;
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (a->sa_family == AF_INET6)
        set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (bind(fd, a, len) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    e = errno;
    close(fd);
    errno = e;
    return -1;
}

/* All addresses of this machine: IPv6 and IPv4, or IPv4 where there is no
 * IPv6. */
static int listen_anywhere(uint16_t port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                               .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = listen_on((const struct sockaddr *)&six, sizeof(six));

    if (fd < 0 && errno != EADDRINUSE)
        fd = listen_on((const struct sockaddr *)&four, sizeof(four));
    return fd;
}

static bool is_loopback(const struct sockaddr *a)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)a;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;

    if (a->sa_family == AF_INET)
        return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* The only address of a list that other machines reach; NULL: there is none, or
 * there are several, of which the others may choose any. */
static const struct addrinfo *only_address(const struct addrinfo *list)
{
    const struct addrinfo *only = NULL;

    for (const struct addrinfo *k = list; k; k = k->ai_next) {
        if (is_loopback(k->ai_addr))
            continue;
        if (only && (k->ai_addrlen != only->ai_addrlen ||
                     memcmp(k->ai_addr, only->ai_addr, k->ai_addrlen) != 0))
            return NULL;
        only = k;
    }
    return only;
}

static int listen_at_name(const struct tcp_address *a)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV};
    const struct addrinfo *only;
    struct addrinfo *list = NULL;
    int fd = -1, e = EADDRNOTAVAIL;

    if (getaddrinfo(a->host, a->port, &hints, &list) != 0)
        list = NULL;
    only = only_address(list);
    if (only) {
        fd = listen_on(only->ai_addr, only->ai_addrlen);
        e = errno;
    }
    if (list)
        freeaddrinfo(list);
    if (fd < 0 && e == EADDRNOTAVAIL)
        return listen_anywhere((uint16_t)strtoul(a->port, NULL, 10));
    errno = e;
    return fd;
}

/* At the address that was named, and at no other. A name may be that of a
 * loopback address on its own machine (127.0.1.1), which the others do not reach,
 * of several addresses, or of one that is translated on the way: then at all. */
static int listen_at(const struct tcp_address *a)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *list;
    int fd, e;

    if (getaddrinfo(host_of(a), a->port, &hints, &list) != 0)
        return listen_at_name(a);
    fd = listen_on(list->ai_addr, list->ai_addrlen);
    e = errno;
    freeaddrinfo(list);
    errno = e;
    return fd;
}

static int tcp_listen(const struct wr_meet *m, uint64_t deadline_ns,
                      weir_err *err)
{
    uint64_t until = WR_MIN(deadline_ns, wr_clock_ns() + BUSY_NS);
    const char *at = m->path;
    struct tcp_address a;
    int fd;

    if (!next_address(&at, &a))
        return wr_fail(err, WEIR_EINVAL, "'%s': no address", m->path);
    while ((fd = listen_at(&a)) < 0 && errno == EADDRINUSE &&
           wr_clock_ns() < until)
        poll(NULL, 0, 10);
    if (fd < 0)
        return wr_fail_errno(err, errno, "'%s': rank 0 cannot listen", m->path);
    return fd;
}

int wr_meet_tcp_listen(bool one_host, uint16_t *ret_port, weir_err *err)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof(bound);
    int fd = one_host ? listen_on((const struct sockaddr *)&here, sizeof(here))
                      : listen_anywhere(0);

    if (fd < 0)
        return wr_fail_errno(err, errno, "rank 0 cannot listen");
    if (getsockname(fd, (struct sockaddr *)&bound, &len) < 0) {
        int e = errno;

        close(fd);
        return wr_fail_errno(err, e, "rank 0 cannot listen");
    }
    if (fd == 0) { /* "none" for wr_meet.listener */
        fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
        close(0);
        if (fd < 0)
            return wr_fail_errno(err, errno, "rank 0 cannot listen");
    }
    /* The port is at the same place for IPv4 and IPv6. */
    *ret_port = ntohs(((const struct sockaddr_in *)&bound)->sin_port);
    return fd;
}

/* --- the others --- */

/* Connected, or -1 and errno. */
static int connect_to(const struct addrinfo *a, uint64_t deadline_ns)
{
    int fd = tcp_socket(a->ai_family), e = 0;
    socklen_t len = sizeof(e);
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    if (fd < 0)
        return -1;
    tcp_tune(fd);
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    e = errno;
    if (e == EINPROGRESS || e == EINTR) { /* it goes on all the same */
        uint64_t mine_ns = wr_clock_ns() + CONNECT_MS * WR_NS_PER_MS;
        int r;

        mine_ns = WR_MIN(mine_ns, deadline_ns);
        do
            r = poll(&p, 1, wr_wire_left_ms(mine_ns));
        while (r < 0 && errno == EINTR && wr_clock_ns() < mine_ns);
        e = ETIMEDOUT;
        if (r == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len) < 0)
            e = errno;
    }
    if (e == 0)
        return fd;
    close(fd);
    errno = e;
    return -1;
}

/* The first address of the entry that answers; -1: none, and `err` says why. */
static int try_address(const struct tcp_address *a, uint64_t deadline_ns,
                       weir_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list, *k;
    int fd = -1, r = getaddrinfo(host_of(a), a->port, &hints, &list);

    if (r != 0) {
        wr_fail(err, WEIR_ENOENT, "'%s': %s", a->host, wr_gai_strerror(r));
        return -1;
    }
    for (k = list; k && fd < 0; k = k->ai_next)
        fd = connect_to(k, deadline_ns);
    if (fd < 0)
        wr_fail_errno(err, errno, "'%s:%s'", a->host, a->port);
    freeaddrinfo(list);
    return fd;
}

static uint32_t count_addresses(const char *path)
{
    struct tcp_address a;
    uint32_t n = 0;

    while (*path && next_address(&path, &a))
        n++;
    return n;
}

static void find_address(const char *path, uint32_t number,
                         struct tcp_address *ret)
{
    for (uint32_t k = 0; k <= number && next_address(&path, ret); k++)
        ;
}

/* Each attempt begins with another address: something else may listen at the
 * first one that answers, such as a bridge that every machine has. */
static int tcp_connect(const struct wr_meet *m, uint64_t deadline_ns,
                       int *ret_fd, weir_err *err)
{
    uint32_t count = count_addresses(m->path);
    struct tcp_address a;
    weir_err e = {0};
    int fd = -1;

    for (uint32_t k = 0; k < count && fd < 0; k++) {
        find_address(m->path, (m->attempt + k) % count, &a);
        fd = try_address(&a, deadline_ns, &e);
        if (fd < 0 && e.os_errno == EMFILE)
            return wr_fail_as(err, e.code, &e);
    }
    if (fd < 0) {
        wr_fail_as(err, e.code, &e);
        return 1;
    }
    *ret_fd = fd;
    return 0;
}

const struct wr_meet_ops wr_meet_tcp = {
    .check = tcp_check,
    .listen = tcp_listen,
    .connect = tcp_connect,
    .tune = tcp_tune,
};
