/* test_comm.c - what ranks do together, and what the death of one does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "both_ways.h"
#include "calls.h"
#include "comm/comm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/time.h>

#include "../format/tmpdir.h"
#include "port.h"
#include "base/error.h"
#include "base/mem.h"
#include "ranks.h"

#define LONG_MS 300000 /* never reached: what is to be noticed is so at once */

struct job {
    char url[300];
    uint32_t world;
    uint64_t timeout_ms;
    const char *channel;
    uint32_t victim;
    int op;
    int pipe[2]; /* its write end closes when the victim dies */
};

static struct wr_comm *join_as(const struct job *j, uint32_t rank)
{
    struct wr_comm_config cfg = {.url = j->url,
                                 .channel = j->channel,
                                 .rank = rank,
                                 .world = j->world,
                                 .timeout_ms = j->timeout_ms};
    struct wr_comm *c;
    weir_err err;

    if (wr_comm_open(&cfg, &c, &err) < 0) {
        fprintf(stderr, "rank %u: %s\n", rank, err.msg);
        _exit(1);
    }
    return c;
}

/* Where the ranks of a backend meet; all backends keep the same promises. */
enum { LOCAL, TCP, BACKENDS };

static void choose_url(struct job *j, int backend, const char *folder)
{
    if (backend == LOCAL)
        snprintf(j->url, sizeof(j->url), "local:%s/s", folder);
    else
        snprintf(j->url, sizeof(j->url), "tcp:127.0.0.1:%d", free_port());
}

static void with_ranks(uint32_t world, rank_fn fn, struct job *j)
{
    for (int k = 0; k < BACKENDS; k++) {
        struct tmpdir t;

        tmpdir_init(&t);
        choose_url(j, k, t.path);
        j->world = world;
        if (!j->timeout_ms)
            j->timeout_ms = LONG_MS;
        assert_int_equal(run_ranks(world, fn, j), 0);
        assert_int_equal(tmpdir_count(&t, ""), 0);
        tmpdir_done(&t);
    }
}

/* --- all go well --- */

static void no_mpi_io(struct wr_comm *c)
{
    struct wr_comm_read what = {.path = "f", .len = 1};
    char byte;
    weir_err err;

    CHECK(wr_comm_read_all(c, &what, &byte, &err) == WEIR_ENOTSUP);
    CHECK_TEXT(err.msg, "'f': reading by MPI-IO needs ranks");
    CHECK(!c->failed);
}

/* What failed outside of a call becomes everybody's failure. */
static void gives_up(uint32_t rank, void *arg)
{
    struct wr_comm *c = join_as(arg, rank);
    weir_err err;

    if (rank == 2) {
        wr_fail(&err, WEIR_ENOSPC, "no space left");
        wr_comm_give_up(c, &err);
        CHECK(barrier(c, &err) == WEIR_ENOSPC);
    } else if (rank == 0) {
        CHECK(barrier(c, &err) == WEIR_ENOSPC);
    } else { /* waits for something else */
        while (wr_comm_alive(c, &err) == 0)
            usleep(1000);
    }
    CHECK(err.code == WEIR_ENOSPC);
    CHECK_TEXT(err.msg, rank == 2 ? "no space" : "rank 2 gave up: no space");
    wr_comm_close(c);
}

static void giving_up(void **state)
{
    struct job j = {0};

    (void)state;
    with_ranks(3, gives_up, &j);
}

static void all_calls(uint32_t rank, void *arg)
{
    struct wr_comm *c = join_as(arg, rank);

    CHECK(c->rank == rank && c->world == ((struct job *)arg)->world);
    all_together(c);
    no_mpi_io(c);
    wr_comm_close(c);
}

static void go_well(void **state)
{
    static const uint32_t worlds[] = {1, 2, 5};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(worlds); k++) {
        struct job j = {0};

        with_ranks(worlds[k], all_calls, &j);
    }
}

/* What a barrier is for: none leaves before all have come. */
static void ordered(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_comm *c = join_as(j, rank);
    char byte = 'x';

    if (rank == 2)
        CHECK(write(j->pipe[1], &byte, 1) == 1);
    CHECK(barrier(c, NULL) == 0);
    if (rank == 1) /* would block for ever if rank 2 had not written */
        CHECK(read(j->pipe[0], &byte, 1) == 1);
    wr_comm_close(c);
}

static void barrier_orders(void **state)
{
    struct job j = {0};

    (void)state;
    assert_int_equal(pipe(j.pipe), 0);
    with_ranks(3, ordered, &j);
    close(j.pipe[0]);
    close(j.pipe[1]);
}

static void on_two(uint32_t rank, void *arg)
{
    struct job a = *(const struct job *)arg, b = a;
    struct wr_comm *ca, *cb;
    uint64_t min;

    a.channel = "calls";
    b.channel = "work";
    ca = join_as(&a, rank);
    cb = join_as(&b, rank);
    gather_some(ca, 100000);
    gather_some(cb, 5);
    CHECK(wr_comm_min(cb, rank + 7, &min, NULL) == 0 && min == 7);
    CHECK(wr_comm_min(ca, rank + 9, &min, NULL) == 0 && min == 9);
    /* closing one leaves the other alone */
    wr_comm_close(ca);
    CHECK(barrier(cb, NULL) == 0);
    wr_comm_close(cb);
}

static void two_channels(void **state)
{
    struct job j = {0};

    (void)state;
    with_ranks(3, on_two, &j);
}

/* The same place again and again, as stores that are opened anew do. */
static void on_and_on(uint32_t rank, void *arg)
{
    for (int k = 0; k < 20; k++) {
        struct wr_comm *c = join_as(arg, rank);

        if (k % 2)
            CHECK(barrier(c, NULL) == 0);
        wr_comm_close(c);
    }
}

static void meet_again(void **state)
{
    struct job j = {0};

    (void)state;
    with_ranks(4, on_and_on, &j);
}

/* --- one dies --- */

enum { GATHER, BROADCAST, BARRIER, AGREE, MIN, MAX, SHARE, OPS };

static int do_op(struct wr_comm *c, int op, weir_err *err)
{
    struct wr_comm_part *parts;
    uint64_t min;
    size_t len;
    char *text, some[100] = "";
    int r;

    switch (op) {
    case GATHER:
        r = wr_comm_gather(c, "abc", 3, &parts, err);
        if (r == 0)
            free(parts);
        return r;
    case BROADCAST:
        r = wr_comm_broadcast(c, "abc", 3, &text, &len, err);
        if (r == 0)
            free(text);
        return r;
    case BARRIER:
        return barrier(c, err);
    case AGREE:
        return wr_comm_agree(c, 0, NULL, err);
    case MAX:
        return wr_comm_max(c, NULL, 1, &min, err);
    case SHARE:
        return wr_comm_share(c, some, sizeof(some), c->world - 1, err);
    default:
        return wr_comm_min(c, 1, &min, err);
    }
}

/* Calls until it fails, as it must; then it fails for good, the same way. */
static void until_it_fails(struct wr_comm *c, const struct job *j)
{
    char text[40];
    weir_err err, second;

    while (do_op(c, j->op, &err) == 0)
        ;
    snprintf(text, sizeof(text), "rank %u is gone", j->victim);
    CHECK(err.code == WEIR_EIO);
    CHECK_TEXT(err.msg, text);
    CHECK(c->failed);
    for (int op = 0; op < OPS; op++) {
        CHECK(do_op(c, op, &second) == err.code);
        CHECK(!strcmp(second.msg, err.msg));
        CHECK(do_op(c, op, NULL) == err.code);
    }
}

static void dies_before(uint32_t rank, void *arg)
{
    struct wr_comm *c = join_as(arg, rank);
    const struct job *j = arg;

    CHECK(barrier(c, NULL) == 0);
    if (rank == j->victim)
        die_now();
    until_it_fails(c, j);
    wr_comm_close(c);
}

/* It takes part once more, or in the first half of a call. */
static void dies_after(uint32_t rank, void *arg)
{
    struct wr_comm *c = join_as(arg, rank);
    const struct job *j = arg;
    struct wr_comm_part *parts;

    CHECK(barrier(c, NULL) == 0);
    if (rank == j->victim) {
        int whole = j->op == GATHER || j->op == BROADCAST;

        if (whole)
            CHECK(do_op(c, j->op, NULL) == 0);
        else
            CHECK(wr_comm_gather(c, NULL, 0, &parts, NULL) == 0);
        die_now();
    }
    until_it_fails(c, j);
    wr_comm_close(c);
}

static void deaths(void **state)
{
    static const rank_fn when[] = {dies_before, dies_after};

    (void)state;
    for (size_t w = 0; w < WR_ARRAY_LEN(when); w++)
        for (int op = 0; op < OPS; op++)
            for (uint32_t victim = 0; victim < 4; victim++) {
                struct job j = {.victim = victim, .op = op};

                /* a part of no bytes is no value for a minimum */
                if (w == 1 && (op > MIN || (op == MIN && victim != 0)))
                    continue;
                with_ranks(4, when[w], &j);
            }
}

/* The victim's bytes are half way when it dies: the others begin to read only
 * when it is dead, and the bytes are more than the socket holds. */
static void dies_within(uint32_t rank, void *arg)
{
    struct wr_comm *c = join_as(arg, rank);
    const struct job *j = arg;
    char byte;

    if (rank == j->victim) {
        struct itimerval soon = {.it_value = {.tv_usec = 30000}};
        size_t len = (size_t)32 << 20, got_len;
        char *many = calloc(1, len), *got;
        struct wr_comm_part *parts;

        signal(SIGALRM, SIG_DFL);
        setitimer(ITIMER_REAL, &soon, NULL);
        if (j->op == GATHER)
            wr_comm_gather(c, many, len, &parts, NULL);
        else
            wr_comm_broadcast(c, many, len, &got, &got_len, NULL);
        CHECK(!"returned"); /* nobody reads */
    }
    close(j->pipe[1]);
    CHECK(read(j->pipe[0], &byte, 1) == 0);
    until_it_fails(c, j);
    wr_comm_close(c);
}

static void torn_frames(void **state)
{
    static const struct {
        uint32_t victim;
        int op;
    } rows[] = {{1, GATHER}, {2, GATHER}, {0, BROADCAST}};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(rows) * BACKENDS; k++) {
        size_t row = k / BACKENDS;
        struct job j = {.victim = rows[row].victim, .op = rows[row].op};
        struct tmpdir t;

        tmpdir_init(&t);
        choose_url(&j, (int)(k % BACKENDS), t.path);
        j.world = 3;
        j.timeout_ms = LONG_MS;
        assert_int_equal(pipe(j.pipe), 0);
        assert_int_equal(run_ranks_with(3, dies_within, &j, j.pipe[1]), 0);
        close(j.pipe[0]);
        tmpdir_done(&t);
    }
}

/* --- one is late, or does something else --- */

static void is_late(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_comm *c = join_as(j, rank);
    weir_err err;
    char byte;

    if (rank == 2) { /* comes when the others have gone */
        close(j->pipe[1]);
        CHECK(read(j->pipe[0], &byte, 1) == 0);
        while (barrier(c, &err) == 0)
            ;
        CHECK_TEXT(err.msg, "rank 2 did not come within 3000 ms");
    } else {
        CHECK(barrier(c, &err) == WEIR_ETIMEDOUT);
        CHECK(c->failed);
        if (rank == 0)
            CHECK_TEXT(err.msg, "rank 2 did not come within 3000 ms (gather)");
    }
    wr_comm_close(c);
}

static void timeouts(void **state)
{
    struct job j = {.timeout_ms = 3000, .world = 3}; /* they meet in time */
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    snprintf(j.url, sizeof(j.url), "local:%s/s", t.path);
    assert_int_equal(pipe(j.pipe), 0);
    assert_int_equal(run_ranks_with(3, is_late, &j, j.pipe[1]), 0);
    close(j.pipe[0]);
    tmpdir_done(&t);
}

static void differ(uint32_t rank, void *arg)
{
    struct wr_comm *c = join_as(arg, rank);
    weir_err err;

    if (rank == 1)
        CHECK(do_op(c, GATHER, NULL) == 0);
    CHECK(do_op(c, BROADCAST, &err) == 0 || rank == 1);
    if (rank == 1)
        CHECK(err.code == WEIR_ESTATE);
    else
        CHECK(do_op(c, BARRIER, &err) == WEIR_ESTATE);
    CHECK_TEXT(err.msg, "the ranks do different things");
    wr_comm_close(c);
}

static void different_calls(void **state)
{
    struct job j = {0};

    (void)state;
    with_ranks(2, differ, &j);
}

/* A part that is too big is an error of all, at once. */
static void too_big(uint32_t rank, void *arg)
{
    struct wr_comm *c = join_as(arg, rank);
    struct wr_comm_part *parts;
    weir_err err;
    int r;

    if (rank == 1) {
        r = wr_comm_gather(c, "", WR_COMM_MAX + 1, &parts, &err);
        CHECK(r == WEIR_ELIMIT);
    } else {
        while ((r = do_op(c, BARRIER, &err)) == 0)
            ;
        CHECK(r == WEIR_ELIMIT);
        CHECK_TEXT(err.msg, "rank 1 gave up: ");
    }
    wr_comm_close(c);
}

static void limits(void **state)
{
    struct job j = {0};

    (void)state;
    with_ranks(3, too_big, &j);
}

static void bad_configs(void **state)
{
    static const struct {
        struct wr_comm_config cfg;
        const char *text;
    } rows[] = {
        {{.url = NULL, .world = 2}, "need a way to meet"},
        {{.url = "udp:x", .world = 2}, "'udp:x': no way for ranks to meet"},
        {{.url = "tcp:x", .world = 2}, "'x': no address"},
        {{.url = "local:", .world = 2}, "no place"},
        {{.url = "local:x", .channel = "a/b", .world = 2}, "no place"},
        {{.url = "local:x", .rank = 2, .world = 2}, "no rank 2 of 2"},
        {{.url = "local:x", .world = 0}, "no rank 0 of 0"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(rows); k++) {
        struct wr_comm *c = NULL;
        weir_err err;

        assert_int_equal(wr_comm_open(&rows[k].cfg, &c, &err), WEIR_EINVAL);
        assert_non_null(strstr(err.msg, rows[k].text));
        assert_null(c);
    }
    wr_comm_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(go_well),      cmocka_unit_test(barrier_orders),
        cmocka_unit_test(two_channels), cmocka_unit_test(meet_again),
        cmocka_unit_test(deaths),       cmocka_unit_test(torn_frames),
        cmocka_unit_test(timeouts),     cmocka_unit_test(different_calls),
        cmocka_unit_test(limits),       cmocka_unit_test(bad_configs),
        cmocka_unit_test(giving_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
