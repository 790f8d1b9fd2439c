/* test_ranks.c - commands of several processes: who speaks, and what of.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../comm/ranks.h"
#include "../format/tmpdir.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "cli/interrupt.h"

static const struct wr_command cmd = {.name = "toy"};

/* --- alone --- */

static int count_call(void *arg, weir_err *err)
{
    int *calls = arg;

    ++*calls;
    return *calls > 1 ? wr_fail(err, WEIR_ENOSPC, "call %d", *calls) : 5;
}

static void test_alone(void **state)
{
    struct wr_ranks r;
    uint32_t hosts = 0;
    int calls = 0;
    weir_err err;

    (void)state;
    wr_ranks_alone(&r);
    assert_false(wr_ranks_several(&r));
    assert_true(wr_ranks_speaks(&r));
    assert_int_equal(wr_ranks_threads(&r), wr_cpu_count());
    assert_int_equal(wr_ranks_meet(&r, &err), 0);
    assert_false(r.watch.started);
    assert_int_equal(wr_ranks_in_turn(&r, count_call, &calls, &err), 5);
    assert_int_equal(wr_ranks_in_turn(&r, count_call, &calls, &err),
                     WEIR_ENOSPC);
    assert_string_equal(err.msg, "call 2");
    assert_int_equal(wr_ranks_hosts(&r, &hosts, &err), 0);
    assert_int_equal(hosts, 1);
    wr_ranks_done(&r);
}

/* A rank has its share of the host's cores, and one at least. */
static void test_threads(void **state)
{
    unsigned cores = wr_cpu_count();
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    bool bound = all > 0 && cores < (unsigned long)all;

    (void)state;
    for (uint32_t local = 1; local < 4 * cores; local++) {
        const struct wr_ranks r = {
            .launch = {.world = 99, .local_world = local}};
        unsigned share = cores / local ? cores / local : 1;

        assert_int_equal(wr_ranks_threads(&r), bound ? cores : share);
    }
    assert_int_equal(
        wr_ranks_threads(&(struct wr_ranks){.launch = {.world = 3}}), cores);
}

/* --- what is said --- */

static void find_as(const char *rank, struct wr_ranks *r, struct wr_cli *cli,
                    int code)
{
    weir_err err;

    setenv("RANK", rank, 1);
    setenv("WORLD_SIZE", "2", 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", "29500", 1);
    assert_int_equal(wr_ranks_find(r, cli, &err), code);
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    unsetenv("MASTER_ADDR");
    unsetenv("MASTER_PORT");
}

static void test_find(void **state)
{
    struct wr_cli first = {.out = stdout}, other = {.out = stdout};
    struct wr_ranks r;

    (void)state;
    find_as("0", &r, &first, 0);
    assert_true(wr_ranks_speaks(&r) && wr_ranks_several(&r));
    assert_ptr_equal(first.out, stdout);
    assert_false(first.quiet || first.hushed);
    assert_null(r.nowhere);
    find_as("1", &r, &other, 0);
    assert_false(wr_ranks_speaks(&r));
    assert_true(other.quiet && other.hushed);
    assert_ptr_equal(other.out, r.nowhere);
    wr_ranks_done(&r);
    find_as("2", &r, &first, WEIR_EINVAL);
}

/* What a rank says of a failure: of its own, of another one, and of Ctrl-C. */
static void test_failed(void **state)
{
    struct wr_comm *met = (struct wr_comm *)(uintptr_t)&cmd; /* not looked at */
    const struct {
        uint32_t rank, world;
        bool has_met;
        int code;
        const char *message, *stopped, *said;
    } cases[] = {
        {0, 1, false, WEIR_EIO, "cannot read", NULL, "weir toy: cannot read\n"},
        {0, 1, false, WEIR_ECANCELED, "x", NULL,
         "weir toy: interrupted: no result\n"},
        {0, 1, false, WEIR_ECANCELED, "x", "nothing was left",
         "weir toy: interrupted: nothing was left\n"},
        {0, 2, true, WEIR_EIO, "rank 1 is gone", NULL,
         "weir toy: rank 1 is gone\n"},
        /* Rank 0 says it for the others, but for its own end. */
        {1, 2, true, WEIR_EIO, "cannot read", NULL, ""},
        {1, 2, true, WEIR_ECANCELED, "x", NULL, ""},
        {1, 2, true, WEIR_EIO, "rank 0 is gone", NULL,
         "weir toy: rank 1: rank 0 is gone\n"},
        /* They never met: nobody else can say it. */
        {1, 2, false, WEIR_EIO, "no such host", NULL,
         "weir toy: rank 1: no such host\n"},
        {1, 2, false, WEIR_ECANCELED, "x", NULL,
         "weir toy: interrupted: no result\n"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        const struct wr_ranks r = {
            .launch = {.rank = cases[k].rank, .world = cases[k].world},
            .comm = cases[k].has_met ? met : NULL,
            .stopped = cases[k].stopped};
        char *said = NULL;
        size_t len;
        const struct wr_cli cli = {.cmd = &cmd,
                                   .err = open_memstream(&said, &len)};
        weir_err err;

        wr_fail(&err, cases[k].code, "%s", cases[k].message);
        assert_int_equal(wr_ranks_failed(&r, &cli, cases[k].code, &err),
                         WR_EXIT_FAILED);
        fclose(cli.err);
        assert_string_equal(said, cases[k].said);
        free(said);
    }
}

static void test_fail(void **state)
{
    static const struct {
        uint32_t rank, world;
        const char *said;
    } cases[] = {{0, 1, "weir toy: no\n"},
                 {0, 2, "weir toy: rank 0: no\n"},
                 {3, 4, "weir toy: rank 3: no\n"}};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        const struct wr_ranks r = {
            .launch = {.rank = cases[k].rank, .world = cases[k].world}};
        char *said = NULL;
        size_t len;
        const struct wr_cli cli = {.cmd = &cmd,
                                   .err = open_memstream(&said, &len)};

        assert_int_equal(wr_ranks_fail(&r, &cli, "no"), WR_EXIT_FAILED);
        fclose(cli.err);
        assert_string_equal(said, cases[k].said);
        free(said);
    }
}

/* --- together --- */

#define WORLD 3

struct job {
    char url[300], mark[300];
    uint32_t fails; /* this rank's turn; WORLD: none */
};

struct turn {
    const struct job *j;
    uint32_t rank;
};

/* Rank 0 makes a file, which the others find. */
static int take_turn(void *arg, weir_err *err)
{
    const struct turn *t = arg;

    if (t->rank == t->j->fails)
        return wr_fail(err, WEIR_EDAMAGED, "turn of %u", t->rank);
    if (t->rank == 0) {
        FILE *f = fopen(t->j->mark, "we");

        CHECK(f && fclose(f) == 0);
    }
    CHECK(access(t->j->mark, F_OK) == 0);
    return 0;
}

static void meets(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    struct wr_ranks r = {.launch = {.rank = rank, .world = WORLD}};
    struct turn turn = {j, rank};
    uint32_t hosts = 0;
    char said[20];
    weir_err err;

    snprintf(r.launch.url, sizeof(r.launch.url), "%s", j->url);
    /* Two of one name are one host. */
    snprintf(r.launch.host, sizeof(r.launch.host), "host%u", rank / 2);
    CHECK(wr_ranks_meet(&r, &err) == 0);
    CHECK(r.watch.started);
    if (j->fails == WORLD) {
        CHECK(wr_ranks_in_turn(&r, take_turn, &turn, &err) == 0);
        CHECK(wr_ranks_hosts(&r, &hosts, &err) == 0);
        CHECK(rank != 0 || hosts == 2);
    } else {
        snprintf(said, sizeof(said), "turn of %u", j->fails);
        CHECK(wr_ranks_in_turn(&r, take_turn, &turn, &err) == WEIR_EDAMAGED);
        CHECK_TEXT(err.msg, said);
    }
    CHECK(!wr_ranks_watch_lost(&r.watch, 0));
    wr_ranks_done(&r);
    CHECK(!wr_interrupted());
}

static void test_together(void **state)
{
    static const uint32_t fails[] = {WORLD, 0, 2};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(fails); k++) {
        struct job j = {.fails = fails[k]};
        struct tmpdir t;

        tmpdir_init(&t);
        snprintf(j.url, sizeof(j.url), "local:%s/s", t.path);
        snprintf(j.mark, sizeof(j.mark), "%s/made", t.path);
        assert_int_equal(run_ranks(WORLD, meets, &j), 0);
        tmpdir_done(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_find),  cmocka_unit_test(test_failed),
        cmocka_unit_test(test_fail),  cmocka_unit_test(test_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
