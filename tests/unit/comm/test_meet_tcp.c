/* test_meet_tcp.c - who may come to a meeting at a port.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/meet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/rng.h"
#include "both_ways.h"
#include "comm/comm.h"
#include "port.h"
#include "ranks.h"

#define LONG_MS 300000

struct job {
    char url[300];
    int port;
    uint32_t world;
    int pipe[2];
};

static struct wr_comm_config config(const struct job *j, uint32_t rank,
                                    uint64_t timeout_ms)
{
    return (struct wr_comm_config){.url = j->url,
                                   .rank = rank,
                                   .world = j->world,
                                   .timeout_ms = timeout_ms};
}

static int come(const struct wr_comm_config *cfg, weir_err *err)
{
    struct wr_comm *c;
    int r = wr_comm_open(cfg, &c, err);

    if (r == 0) {
        r = barrier(c, err);
        wr_comm_close(c);
    }
    return r;
}

static void must_come(const struct job *j, uint32_t rank)
{
    struct wr_comm_config cfg = config(j, rank, LONG_MS);
    weir_err err;

    if (come(&cfg, &err) < 0) {
        fprintf(stderr, "rank %u: %s\n", rank, err.msg);
        _exit(1);
    }
}

static void meet_at(rank_fn fn, uint32_t processes, uint32_t world,
                    const char *before, const char *behind)
{
    struct job j = {.port = free_port(), .world = world};

    snprintf(j.url, sizeof(j.url), "%s%d%s", before, j.port, behind);
    assert_int_equal(run_ranks(processes, fn, &j), 0);
}

static int connect_raw(const struct job *j)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)j->port),
                            .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = -1;

    do {
        if (fd >= 0) {
            close(fd);
            poll(NULL, 0, 1);
        }
        fd = socket(AF_INET, SOCK_STREAM, 0);
    } while (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0);
    return fd;
}

/* --- addresses --- */

static void all_come(uint32_t rank, void *arg)
{
    must_come(arg, rank);
}

static void addresses(void **state)
{
    (void)state;
    meet_at(all_come, 3, 3, "tcp:127.0.0.1:", "");
    meet_at(all_come, 2, 2, "tcp:localhost:", "");
    /* the second one is right; nobody answers at the first (discard port) */
    meet_at(all_come, 2, 2, "tcp:127.0.0.1:", ",127.0.0.1:9");
}

static void no_addresses(void **state)
{
    static const char *const urls[] = {
        "tcp:",           "tcp:host",        "tcp:host:",   "tcp:host:0",
        "tcp:host:65536", "tcp:host:1x",     "tcp::1",      "tcp:::1:2",
        "tcp:host:1,",    "tcp:host:1,host", "tcp:host:-1", "tcp:[]:1",
        "tcp:host:+1",
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(urls); k++) {
        struct wr_comm_config cfg = {
            .url = urls[k], .rank = 0, .world = 2, .timeout_ms = 100};
        weir_err err;

        for (cfg.rank = 0; cfg.rank < 2; cfg.rank++) {
            int r = come(&cfg, &err);

            if (r != WEIR_EINVAL && strcmp(urls[k], "tcp:host:1,") != 0)
                fail_msg("%s: %d", urls[k], r);
        }
    }
}

static void nobody(void **state)
{
    struct job j = {.port = free_port(), .world = 2};
    struct wr_comm_config cfg = config(&j, 1, 100);
    weir_err err;
    int fd;

    (void)state;
    snprintf(j.url, sizeof(j.url), "tcp:127.0.0.1:%d", j.port);
    assert_int_equal(come(&cfg, &err), WEIR_ETIMEDOUT);
    assert_non_null(strstr(err.msg, "rank 0 did not come within 100 ms"));
    assert_non_null(strstr(err.msg, "Connection refused"));
    cfg.rank = 0;
    assert_int_equal(come(&cfg, &err), WEIR_ETIMEDOUT);
    assert_non_null(strstr(err.msg, "rank 1 did not come within 100 ms"));

    /* an address of another machine; a port that is taken */
    cfg.url = "tcp:192.0.2.1:20000";
    assert_true(come(&cfg, &err) < 0);
    assert_non_null(strstr(err.msg, "rank 0 cannot listen"));
    fd = wr_meet_tcp_listen(/* one_host= */ true, &(uint16_t){0}, &err);
    assert_true(fd > 0);
    close(fd);
}

/* --- strangers --- */

/* Whoever does not know the secret stays outside, and both ends say so. */
static void other_secret(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_comm_config cfg = config(j, rank, rank == 0 ? 2000 : 500);
    weir_err err;

    CHECK(setenv("WEIR_SECRET", rank == 0 ? "this" : "that", 1) == 0);
    if (rank == 1)
        close(connect_raw(j)); /* when rank 0 listens */
    CHECK(come(&cfg, &err) == WEIR_ETIMEDOUT);
    CHECK_TEXT(err.msg, rank == 0 ? "came with another secret, or"
                                  : "lets this rank not in");
}

static void one_secret(uint32_t rank, void *arg)
{
    CHECK(setenv("WEIR_SECRET", "the same", 1) == 0);
    must_come(arg, rank);
}

/* Garbage of all lengths, beginnings of a hello included. */
static void garbage(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_rng rng = {.seed = 1};

    for (int k = 0; rank == 1 && k < 200; k++) {
        uint64_t bytes[40];
        int fd = connect_raw(j);

        for (size_t n = 0; n < WR_ARRAY_LEN(bytes); n++)
            bytes[n] = wr_rng_next(&rng);
        if (k % 2) /* the magic of a hello, so that the rest is looked at */
            bytes[0] = UINT64_C(0x6f6c6c6568726977);
        if (k % 4 == 3) /* and its version */
            bytes[1] = (bytes[1] & ~UINT64_C(0xffffffff)) | 2;
        (void)send(fd, bytes, wr_rng_below(&rng, sizeof(bytes)), MSG_NOSIGNAL);
        close(fd);
    }
    must_come(j, rank);
}

/* The hello of the version before: the token stood last in it. */
static void former_version(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct {
        uint64_t magic;
        uint32_t version, rank, world, unused;
        char channel[64];
        unsigned char token[32];
    } hello = {UINT64_C(0x6f6c6c6568726977), 2, 1, j->world, 0, "main", {0}};
    int fd;

    if (rank == 1) {
        fd = connect_raw(j);
        CHECK(send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) > 0);
        close(fd);
    }
    must_come(j, rank);
}

/* Connections that say nothing, and more of them all the time. */
#define SILENT 900

static void silent(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_comm_config cfg = config(j, rank, 20000);
    int fds[SILENT];
    weir_err err;

    if (rank == j->world) { /* the stranger */
        for (int k = 0; k < SILENT; k++)
            fds[k] = connect_raw(j);
        CHECK(write(j->pipe[1], "x", 1) == 1);
        poll(NULL, 0, 3000);
        for (int k = 0; k < SILENT; k++)
            close(fds[k]);
        return;
    }
    if (rank == j->world - 1) { /* when all of them are there */
        CHECK(read(j->pipe[0], &(char){0}, 1) == 1);
        cfg.timeout_ms = 2500;
    }
    if (come(&cfg, &err) < 0) {
        fprintf(stderr, "rank %u: %s\n", rank, err.msg);
        _exit(1);
    }
}

static void crowd(void **state)
{
    struct job j = {.port = free_port(), .world = 3};

    (void)state;
    snprintf(j.url, sizeof(j.url), "tcp:127.0.0.1:%d", j.port);
    assert_int_equal(pipe(j.pipe), 0);
    assert_int_equal(run_ranks(4, silent, &j), 0);
    close(j.pipe[0]);
    close(j.pipe[1]);
}

/* A server of another kind is at the port: not taken for rank 0. */
static void other_server(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_comm_config cfg = config(j, 1, 500);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)j->port),
                            .sin_addr = {htonl(INADDR_LOOPBACK)}};
    static const char text[] = "220 mail.example ESMTP ready, say something\n";
    weir_err err;
    int fd, on = 1;

    if (rank == 0) {
        fd = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0);
        CHECK(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
        CHECK(listen(fd, 10) == 0);
        for (;;) {
            struct pollfd p = {.fd = fd, .events = POLLIN};
            int one;

            if (poll(&p, 1, 2000) == 0)
                break;
            one = accept(fd, NULL, NULL);
            CHECK(send(one, text, sizeof(text), MSG_NOSIGNAL) > 0);
            close(one);
        }
        close(fd);
        return;
    }
    close(connect_raw(j));
    CHECK(come(&cfg, &err) == WEIR_ETIMEDOUT);
    CHECK_TEXT(err.msg, "within 500 ms");
}

/* Two channels at one port, each rank in another order. */
static void crossed(uint32_t k, void *arg)
{
    const struct job *j = arg;
    static const char *const names[] = {"a", "b"};
    uint32_t rank = k / 2, which = k % 2;
    struct wr_comm_config cfg = config(j, rank, LONG_MS);
    weir_err err;

    cfg.channel = names[which];
    if (come(&cfg, &err) < 0) {
        fprintf(stderr, "rank %u, %s: %s\n", rank, cfg.channel, err.msg);
        _exit(1);
    }
}

static void strangers(void **state)
{
    (void)state;
    meet_at(other_secret, 2, 2, "tcp:127.0.0.1:", "");
    meet_at(one_secret, 3, 3, "tcp:127.0.0.1:", "");
    meet_at(garbage, 3, 3, "tcp:127.0.0.1:", "");
    meet_at(former_version, 3, 3, "tcp:127.0.0.1:", "");
    meet_at(other_server, 2, 2, "tcp:127.0.0.1:", "");
    meet_at(crossed, 4, 2, "tcp:127.0.0.1:", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses), cmocka_unit_test(no_addresses),
        cmocka_unit_test(nobody),    cmocka_unit_test(strangers),
        cmocka_unit_test(crowd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
