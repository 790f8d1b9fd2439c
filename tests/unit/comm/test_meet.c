/* test_meet.c - who may come to a meeting, and what is left of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/meet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../format/tmpdir.h"
#include "base/mem.h"
#include "both_ways.h"
#include "comm/comm.h"
#include "ranks.h"

#define LONG_MS 300000

struct job {
    char url[600], path[100]; /* the path with the channel */
    uint32_t world;
    int pipe[2];
};

static void job_init(struct job *j, const struct tmpdir *t, uint32_t world)
{
    snprintf(j->url, sizeof(j->url), "local:%s/s", t->path);
    if (strlen(t->path) + sizeof("/s-main") > sizeof(j->path))
        abort();
    strcat(strcpy(j->path, t->path), "/s-main");
    j->world = world;
}

/* The result of coming as `rank` of `world`; the comm is closed. */
static int come(const struct job *j, uint32_t rank, uint32_t world,
                uint64_t timeout_ms, weir_err *err)
{
    struct wr_comm_config cfg = {
        .url = j->url, .rank = rank, .world = world, .timeout_ms = timeout_ms};
    struct wr_comm *c;
    int r = wr_comm_open(&cfg, &c, err);

    if (r == 0) {
        r = barrier(c, err);
        wr_comm_close(c);
    }
    return r;
}

static void must_come(uint32_t rank, const struct job *j)
{
    weir_err err;

    if (come(j, rank, j->world, LONG_MS, &err) < 0) {
        fprintf(stderr, "rank %u: %s\n", rank, err.msg);
        _exit(1);
    }
}

static void in_tmpdir(rank_fn fn, uint32_t processes, uint32_t world)
{
    struct tmpdir t;
    struct job j;

    tmpdir_init(&t);
    job_init(&j, &t, world);
    assert_int_equal(run_ranks(processes, fn, &j), 0);
    assert_int_equal(tmpdir_count(&t, ""), 0);
    tmpdir_done(&t);
}

static int raw_socket(const char *path, int listening)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    if (fd < 0)
        abort();
    if (listening) {
        if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 4) < 0)
            abort();
        return fd;
    }
    while (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
        poll(NULL, 0, 1);
    return fd;
}

/* --- nobody comes --- */

static void alone(uint32_t k, void *arg)
{
    weir_err err;

    (void)k;
    CHECK(come(arg, 0, 3, 50, &err) == WEIR_ETIMEDOUT);
    CHECK_TEXT(err.msg, "rank 1 and 1 more did not come within 50 ms");
    CHECK(come(arg, 1, 3, 50, &err) == WEIR_ETIMEDOUT);
    CHECK_TEXT(err.msg, "rank 0 did not come within 50 ms");
}

/* Two of three: all are told who is missing. */
static void two_of_three(uint32_t k, void *arg)
{
    weir_err err;

    CHECK(come(arg, k, 3, k == 0 ? 2000 : LONG_MS, &err) == WEIR_ETIMEDOUT);
    CHECK_TEXT(err.msg, "rank 2 did not come within 2000 ms");
}

/* The one that listens waits longer than the one that came. */
static void impatient(uint32_t k, void *arg)
{
    const struct job *j = arg;
    weir_err err;

    if (k == 1) /* when somebody listens */
        close(raw_socket(j->path, 0));
    CHECK(come(j, k, 3, k == 0 ? 2000 : 50, &err) == WEIR_ETIMEDOUT);
    if (k == 1)
        CHECK_TEXT(err.msg, "not all ranks came within 50 ms");
}

static void missing(void **state)
{
    (void)state;
    in_tmpdir(alone, 1, 3);
    in_tmpdir(two_of_three, 2, 3);
    in_tmpdir(impatient, 2, 3);
}

/* --- the wrong ones come --- */

static void other_world(uint32_t k, void *arg)
{
    weir_err err;

    CHECK(come(arg, k, 3 + k, LONG_MS, &err) == WEIR_EINVAL);
    CHECK_TEXT(err.msg, "rank 1 counts 4 ranks, rank 0 counts 3");
}

static void twice(uint32_t k, void *arg)
{
    weir_err err;

    CHECK(come(arg, k > 0, 3, LONG_MS, &err) == WEIR_EINVAL);
    CHECK_TEXT(err.msg, "two processes say that they are rank 1");
}

static void refused(void **state)
{
    (void)state;
    in_tmpdir(other_world, 2, 3);
    in_tmpdir(twice, 3, 3);
}

/* Strangers that say nothing, or nonsense, or leave at once, do no harm. */
static void with_strangers(uint32_t k, void *arg)
{
    const struct job *j = arg;
    char nonsense[200];

    if (k == 2) {
        int quiet, loud;

        memset(nonsense, 'x', sizeof(nonsense));
        quiet = raw_socket(j->path, 0);
        loud = raw_socket(j->path, 0);
        CHECK(send(loud, nonsense, sizeof(nonsense), MSG_NOSIGNAL) > 0);
        close(raw_socket(j->path, 0));
        must_come(2, j);
        close(quiet);
        close(loud);
        return;
    }
    must_come(k, j);
}

static void strangers(void **state)
{
    (void)state;
    in_tmpdir(with_strangers, 3, 3);
}

/* More strangers than are listened to at a time, which then leave. */
static void with_a_crowd(uint32_t k, void *arg)
{
    const struct job *j = arg;
    int fds[100];

    if (k == 1) {
        for (size_t n = 0; n < WR_ARRAY_LEN(fds); n++)
            fds[n] = raw_socket(j->path, 0);
        for (size_t n = 0; n < WR_ARRAY_LEN(fds); n++)
            close(fds[n]);
    }
    must_come(k, j);
}

static void crowd(void **state)
{
    (void)state;
    in_tmpdir(with_a_crowd, 2, 2);
}

/* A rank comes, dies before all are there, and is started again. */
static void second_try(uint32_t k, void *arg)
{
    const struct job *j = arg;
    weir_err err;
    char byte;

    if (k == 3) { /* the first rank 1 */
        CHECK(come(j, 1, 3, 100, &err) == WEIR_ETIMEDOUT);
        die_now();
    }
    close(j->pipe[1]);
    if (k > 0) /* when it is dead */
        CHECK(read(j->pipe[0], &byte, 1) == 0);
    must_come(k, j);
}

static void started_again(void **state)
{
    struct tmpdir t;
    struct job j;

    (void)state;
    tmpdir_init(&t);
    job_init(&j, &t, 3);
    assert_int_equal(pipe(j.pipe), 0);
    assert_int_equal(run_ranks_with(4, second_try, &j, j.pipe[1]), 0);
    close(j.pipe[0]);
    tmpdir_done(&t);
}

/* --- what is at the path already --- */

static void all_come(uint32_t k, void *arg)
{
    must_come(k, arg);
}

static void stale(void **state)
{
    struct tmpdir t;
    struct job j;

    (void)state;
    tmpdir_init(&t);
    job_init(&j, &t, 3);
    close(raw_socket(j.path, 1));
    assert_int_equal(tmpdir_count(&t, ""), 1);
    assert_int_equal(run_ranks(3, all_come, &j), 0);
    assert_int_equal(tmpdir_count(&t, ""), 0);
    tmpdir_done(&t);
}

#define RIVALS 8

/* Several rank 0 at a stale socket: one gets it, the others are told so. The
 * only rank 1 comes when they are. */
static void rivals(uint32_t k, void *arg)
{
    const struct job *j = arg;
    weir_err err;
    char byte = 'x';
    int r;

    if (k == 0) {
        for (int told = 0; told < RIVALS - 1; told++)
            CHECK(read(j->pipe[0], &byte, 1) == 1);
        must_come(1, j);
        return;
    }
    r = come(j, 0, 2, LONG_MS, &err);
    if (r == 0)
        return;
    CHECK(r == WEIR_EBUSY);
    CHECK(write(j->pipe[1], &byte, 1) == 1);
}

static void one_of_rivals(void **state)
{
    (void)state;
    for (int k = 0; k < 30; k++) {
        struct tmpdir t;
        struct job j;

        tmpdir_init(&t);
        job_init(&j, &t, 2);
        assert_int_equal(pipe(j.pipe), 0);
        close(raw_socket(j.path, 1));
        assert_int_equal(run_ranks(RIVALS + 1, rivals, &j), 0);
        assert_int_equal(tmpdir_count(&t, ""), 0);
        close(j.pipe[0]);
        close(j.pipe[1]);
        tmpdir_done(&t);
    }
}

static void taken(void **state)
{
    struct tmpdir t;
    struct job j;
    weir_err err;
    int fd;

    (void)state;
    tmpdir_init(&t);
    job_init(&j, &t, 2);
    fd = raw_socket(j.path, 1);
    assert_int_equal(come(&j, 0, 2, LONG_MS, &err), WEIR_EBUSY);
    assert_non_null(strstr(err.msg, "other ranks are meeting there"));
    assert_int_equal(tmpdir_count(&t, ""), 1);
    close(fd);
    unlink(j.path);

    tmpdir_put_text(&t, "s-main", "precious");
    assert_int_equal(come(&j, 0, 2, LONG_MS, &err), WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "is not a socket"));
    assert_int_equal(tmpdir_count(&t, ""), 1);
    assert_int_equal(access(j.path, F_OK), 0);
    tmpdir_done(&t);
}

static void paths(void **state)
{
    struct tmpdir t;
    struct job j;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    job_init(&j, &t, 2);
    snprintf(j.url, sizeof(j.url), "local:%s/%0120d", t.path, 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_int_equal(come(&j, rank, 2, LONG_MS, &err), WEIR_EINVAL);
        assert_non_null(strstr(err.msg, "too long for a socket"));
    }
    snprintf(j.url, sizeof(j.url), "local:%s/none/s", t.path);
    assert_int_equal(come(&j, 0, 2, LONG_MS, &err), WEIR_ENOENT);
    assert_int_equal(tmpdir_count(&t, ""), 0);
    tmpdir_done(&t);
}

/* For its owner only, from the moment that it is there. */
static void look_at_mode(uint32_t k, void *arg)
{
    const struct job *j = arg;
    struct stat sb;

    umask(0);
    if (k == 1) {
        while (stat(j->path, &sb) < 0)
            poll(NULL, 0, 1);
        CHECK(S_ISSOCK(sb.st_mode) && (sb.st_mode & 0777) == 0600);
    }
    must_come(k, j);
}

static void mode(void **state)
{
    (void)state;
    in_tmpdir(look_at_mode, 2, 2);
}

/* --- what a rank sends is looked at --- */

static const struct wr_wire_head bad_heads[] = {
    {.magic = 1, .kind = WR_WIRE_PART, .call = 1, .len = 0},
    {.magic = 0x77656972, .kind = 0, .call = 1, .len = 0},
    {.magic = 0x77656972, .kind = 99, .call = 1, .len = 0},
    {.magic = 0x77656972,
     .kind = WR_WIRE_PART,
     .call = 1,
     .len = WR_COMM_MAX + 1},
    {.magic = 0x77656972, .kind = WR_WIRE_PART, .call = 1, .len = UINT64_MAX},
    {.magic = 0x77656972, .kind = WR_WIRE_FAILURE, .call = 1, .len = 0},
};

static void send_bad_head(uint32_t k, void *arg)
{
    const struct job *j = arg;

    for (size_t n = 0; n < WR_ARRAY_LEN(bad_heads); n++) {
        struct wr_meet m = {.ops = &wr_meet_unix,
                            .path = j->path,
                            .channel = "main",
                            .rank = 1,
                            .world = 2,
                            .timeout_ms = LONG_MS};
        struct wr_wire w;
        weir_err err;

        if (k == 0) {
            CHECK(come(j, 0, 2, LONG_MS, &err) == WEIR_EFORMAT);
            CHECK_TEXT(err.msg, "what rank 1 sent cannot be read");
            continue;
        }
        CHECK(wr_meet_join(&m, &w, NULL) == 0);
        CHECK(send(w.fd, &bad_heads[n], sizeof(bad_heads[n]), 0) > 0);
        shutdown(w.fd, SHUT_WR);
        CHECK(poll(&(struct pollfd){.fd = w.fd, .events = POLLIN}, 1, -1) == 1);
        wr_wire_close(&w);
    }
}

static void bad_frames(void **state)
{
    (void)state;
    in_tmpdir(send_bad_head, 2, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing),       cmocka_unit_test(refused),
        cmocka_unit_test(strangers),     cmocka_unit_test(crowd),
        cmocka_unit_test(started_again), cmocka_unit_test(stale),
        cmocka_unit_test(one_of_rivals), cmocka_unit_test(taken),
        cmocka_unit_test(paths),         cmocka_unit_test(mode),
        cmocka_unit_test(bad_frames),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
