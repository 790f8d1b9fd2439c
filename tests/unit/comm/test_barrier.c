/* test_barrier.c - the end of a step: order, values, deaths.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/barrier.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <sys/prctl.h>

#include "../format/tmpdir.h"
#include "base/mem.h"
#include "comm/barrier_page.h"
#include "comm/comm.h"
#include "ranks.h"

#define LONG_MS 300000
#define ROUNDS  300

struct job {
    char url[300];
    uint32_t world, victim;
    uint64_t timeout_ms;
    int hosts;   /* that the ranks say they are on */
    bool hidden; /* their memory cannot be opened */
    bool expect_shared;
    int pipe[2];
};

static bool is_root(void)
{
    return geteuid() == 0;
}

/* A name of its own makes a rank count as one of another host. */
static void move_to_host(const struct job *j, uint32_t rank)
{
    char name[32];

    if (j->hosts < 2)
        return;
    CHECK(unshare(CLONE_NEWUTS) == 0);
    snprintf(name, sizeof(name), "host%u", rank % (uint32_t)j->hosts);
    CHECK(sethostname(name, strlen(name)) == 0);
}

/* A process that may not be looked at: /proc/PID/fd is closed to others. */
static void hide(const struct job *j)
{
    if (!j->hidden)
        return;
    CHECK(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
    if (is_root()) {
        CHECK(setresgid(65534, 65534, 65534) == 0);
        CHECK(setresuid(65534, 65534, 65534) == 0);
    }
}

static struct wr_barrier *open_as(const struct job *j, uint32_t rank,
                                  struct wr_comm **ret)
{
    struct wr_comm_config cfg = {.url = j->url,
                                 .rank = rank,
                                 .world = j->world,
                                 .timeout_ms = j->timeout_ms};
    struct wr_barrier *b;
    weir_err err;

    move_to_host(j, rank);
    hide(j);
    if (wr_comm_open(&cfg, ret, &err) < 0 ||
        wr_barrier_open(*ret, &b, &err) < 0) {
        fprintf(stderr, "rank %u: %s\n", rank, err.msg);
        _exit(1);
    }
    CHECK(wr_barrier_is_shared(b) == j->expect_shared);
    CHECK(wr_barrier_one_host(b) == (j->hosts < 2));
    return b;
}

static void with_ranks(uint32_t world, rank_fn fn, struct job *j)
{
    struct tmpdir t;

    tmpdir_init(&t);
    assert_int_equal(chmod(t.path, 0777), 0);
    snprintf(j->url, sizeof(j->url), "local:%s/s", t.path);
    j->world = world;
    if (!j->timeout_ms)
        j->timeout_ms = LONG_MS;
    assert_int_equal(run_ranks(world, fn, j), 0);
    assert_int_equal(tmpdir_count(&t, ""), 0);
    tmpdir_done(&t);
}

/* A different rank has the largest value each time. */
static void maxima(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_comm *c;
    struct wr_barrier *b = open_as(j, rank, &c);
    uint64_t most;

    for (uint64_t k = 0; k < ROUNDS; k++) {
        uint64_t value = k * 100 + (rank + k) % j->world;

        CHECK(wr_barrier_max(b, value, &most, NULL) == 0);
        CHECK(most == k * 100 + j->world - 1);
    }
    CHECK(wr_barrier_max(b, UINT64_MAX - rank, &most, NULL) == 0);
    CHECK(most == UINT64_MAX);
    CHECK(wr_barrier_max(b, 0, &most, NULL) == 0 && most == 0);
    wr_barrier_close(b);
    wr_comm_close(c);
}

/* Of all lengths and roots, one after the other, slow ranks included. */
static void sharing(uint32_t rank, void *arg)
{
    static const size_t lens[] = {
        0, 1, 1000, WR_PAGE_HALF, WR_PAGE_HALF + 1, 5 * WR_PAGE_HALF + 7};
    const struct job *j = arg;
    struct wr_comm *c;
    struct wr_barrier *b = open_as(j, rank, &c);
    unsigned char *buf = malloc(lens[5]);

    for (uint32_t k = 0; k < 60; k++) {
        size_t len = lens[k % WR_ARRAY_LEN(lens)];
        uint32_t root = k % j->world;

        for (size_t i = 0; i < len; i++)
            buf[i] = rank == root ? (unsigned char)(i * 7 + k) : 0xee;
        if (k % 7 == rank)
            usleep(2000);
        CHECK(wr_barrier_share(b, buf, len, root, NULL) == 0);
        for (size_t i = 0; i < len; i++)
            CHECK(buf[i] == (unsigned char)(i * 7 + k));
    }
    CHECK(wr_barrier_share(b, buf, 1, j->world, NULL) == WEIR_EINVAL);
    free(buf);
    wr_barrier_close(b);
    wr_comm_close(c);
}

static void shares(void **state)
{
    struct job alone = {0}, here = {.expect_shared = true};
    struct job far = {.hosts = 2, .expect_shared = true};
    struct job hidden = {.hidden = true};

    (void)state;
    with_ranks(1, sharing, &alone);
    with_ranks(2, sharing, &here);
    with_ranks(5, sharing, &here);
    with_ranks(3, sharing, &hidden);
    if (is_root())
        with_ranks(4, sharing, &far);
}

static void values(void **state)
{
    static const uint32_t worlds[] = {1, 2, 4, 7};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(worlds); k++) {
        struct job j = {.expect_shared = worlds[k] > 1};

        with_ranks(worlds[k], maxima, &j);
    }
}

static void across_hosts(void **state)
{
    struct job two = {.hosts = 2, .expect_shared = true};
    struct job three = {.hosts = 3, .expect_shared = true};

    (void)state;
    if (!is_root())
        skip();
    with_ranks(2, maxima, &two);
    with_ranks(5, maxima, &two);
    with_ranks(5, maxima, &three);
}

static void without_sharing(void **state)
{
    struct job j = {.hidden = true};

    (void)state;
    with_ranks(3, maxima, &j);
}

/* Nobody leaves before all have come. */
static void ordered(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_comm *c;
    struct wr_barrier *b = open_as(j, rank, &c);
    uint64_t most;
    char byte = 'x';

    if (rank == 2)
        CHECK(write(j->pipe[1], &byte, 1) == 1);
    CHECK(wr_barrier_max(b, 0, &most, NULL) == 0);
    if (rank == 1) /* would block for ever if rank 2 had not written */
        CHECK(read(j->pipe[0], &byte, 1) == 1);
    wr_barrier_close(b);
    wr_comm_close(c);
}

static void order(void **state)
{
    struct job j = {.expect_shared = true};

    (void)state;
    assert_int_equal(pipe(j.pipe), 0);
    with_ranks(3, ordered, &j);
    close(j.pipe[0]);
    close(j.pipe[1]);
}

/* The victim dies in the middle; the others say so, and go on saying so. */
static void one_dies(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_comm *c;
    struct wr_barrier *b = open_as(j, rank, &c);
    weir_err err, again;
    uint64_t most;
    char text[40];
    int r;

    for (int k = 0; (r = wr_barrier_max(b, 0, &most, &err)) == 0; k++)
        if (k == 20 && rank == j->victim)
            die_now();
    snprintf(text, sizeof(text), "rank %u is gone", j->victim);
    CHECK_TEXT(err.msg, text);
    CHECK(r == WEIR_EIO && c->failed);
    CHECK(wr_barrier_max(b, 0, &most, &again) == r);
    CHECK(!strcmp(again.msg, err.msg));
    wr_barrier_close(b);
    wr_comm_close(c);
}

static void deaths(void **state)
{
    (void)state;
    for (uint32_t victim = 0; victim < 4; victim++) {
        struct job j = {.victim = victim, .expect_shared = true};
        struct job far = {.victim = victim, .expect_shared = true, .hosts = 2};
        struct job hidden = {.victim = victim, .hidden = true};

        with_ranks(4, one_dies, &j);
        with_ranks(4, one_dies, &hidden);
        if (is_root())
            with_ranks(4, one_dies, &far);
    }
}

static void one_is_late(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_comm *c;
    struct wr_barrier *b = open_as(j, rank, &c);
    weir_err err;
    uint64_t most;
    char byte;

    if (rank == j->victim) { /* comes when the others have gone */
        close(j->pipe[1]);
        CHECK(read(j->pipe[0], &byte, 1) == 0);
    }
    CHECK(wr_barrier_max(b, 0, &most, &err) < 0);
    CHECK_TEXT(err.msg, "rank 1 did not come within 1000 ms");
    wr_barrier_close(b);
    wr_comm_close(c);
}

static void lateness(void **state)
{
    struct job j = {
        .victim = 1, .timeout_ms = 1000, .world = 3, .expect_shared = true};
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    snprintf(j.url, sizeof(j.url), "local:%s/s", t.path);
    assert_int_equal(pipe(j.pipe), 0);
    assert_int_equal(run_ranks_with(3, one_is_late, &j, j.pipe[1]), 0);
    close(j.pipe[0]);
    tmpdir_done(&t);
}

/* Process numbers are used again: only the right page is taken. */
static void wrong_pages(void **state)
{
    struct wr_page *p, *other = NULL;
    weir_err err;
    int fd;

    (void)state;
    assert_int_equal(wr_page_make(3, 77, &p, &fd, NULL), 0);
    assert_int_equal(wr_page_find(getpid(), fd, 3, 77, &other, NULL), 0);
    other->count = 9;
    assert_int_equal(p->count, 9);
    other->count = 3;
    wr_page_unmap(other, 3);
    assert_int_equal(wr_page_find(getpid(), fd, 3, 78, &other, &err),
                     WEIR_ESTATE);
    assert_int_equal(wr_page_find(getpid(), fd, 4, 77, &other, &err),
                     WEIR_ESTATE);
    assert_true(wr_page_find(getpid(), -1, 3, 77, &other, &err) < 0);
    assert_int_not_equal(ftruncate(fd, 0), 0); /* sealed */
    close(fd);
    wr_page_unmap(p, 3);
    wr_page_unmap(NULL, 3);
}

static void first_failure(void **state)
{
    weir_err a = {.code = WEIR_EIO, .msg = "first"};
    weir_err b = {.code = WEIR_ENOMEM, .msg = "second"};
    struct wr_page *p;
    int fd;

    (void)state;
    assert_int_equal(wr_page_make(1, 0, &p, &fd, NULL), 0);
    wr_page_fail(p, &a);
    wr_page_fail(p, &b);
    assert_int_equal(p->failed, WEIR_EIO);
    assert_string_equal(p->why, "first");
    close(fd);
    wr_page_unmap(p, 1);
    wr_barrier_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares),        cmocka_unit_test(values),
        cmocka_unit_test(across_hosts),  cmocka_unit_test(without_sharing),
        cmocka_unit_test(order),         cmocka_unit_test(deaths),
        cmocka_unit_test(lateness),      cmocka_unit_test(wrong_pages),
        cmocka_unit_test(first_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
