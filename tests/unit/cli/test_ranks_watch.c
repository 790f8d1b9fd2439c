/* test_ranks_watch.c - a rank that dies while the others do something else.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../comm/ranks.h"
#include "../format/tmpdir.h"
#include "cli/interrupt.h"

#define WAIT_MS 30000

struct job {
    char url[300];
    bool callback;
};

static void on_lost(void *arg)
{
    *(atomic_bool *)arg = true;
}

static void start(const struct job *j, uint32_t rank, struct wr_ranks_watch *w)
{
    struct wr_comm_config cfg = {
        .url = j->url, .rank = rank, .world = 3, .timeout_ms = WAIT_MS};

    CHECK(wr_ranks_watch_start(w, &cfg, NULL) == 0);
}

static void one_dies(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    atomic_bool told = false;
    struct wr_ranks_watch w = {.on_lost = j->callback ? on_lost : NULL,
                               .arg = &told};

    start(j, rank, &w);
    if (rank == 1)
        die_now();
    CHECK(wr_ranks_watch_lost(&w, WAIT_MS));
    CHECK_TEXT(w.why.msg, "rank 1 is gone");
    wr_ranks_watch_stop(&w);
    CHECK(told == j->callback);
    CHECK(wr_interrupted() == !j->callback);
    CHECK(wr_interrupt_exit_code() == 0);
    wr_ranks_watch_close(&w, NULL);
}

/* One that says why is not taken for dead. */
static void one_leaves(uint32_t rank, void *arg)
{
    const weir_err why = {.code = WEIR_EIO, .msg = "no more space"};
    struct wr_ranks_watch w = {0};

    start(arg, rank, &w);
    if (rank != 2) {
        CHECK(wr_ranks_watch_lost(&w, WAIT_MS));
        CHECK_TEXT(w.why.msg, "rank 2 gave up: no more space");
    }
    wr_ranks_watch_close(&w, rank == 2 ? &why : NULL);
}

static void run(rank_fn fn, bool callback)
{
    struct job j = {.callback = callback};
    struct tmpdir t;

    tmpdir_init(&t);
    snprintf(j.url, sizeof(j.url), "local:%s/s", t.path);
    assert_int_equal(run_ranks(3, fn, &j), 0);
    tmpdir_done(&t);
}

static void test_death(void **state)
{
    (void)state;
    run(one_dies, /* callback= */ false);
    run(one_dies, /* callback= */ true);
}

static void test_reason(void **state)
{
    (void)state;
    run(one_leaves, /* callback= */ false);
}

static void test_nobody(void **state)
{
    struct wr_ranks_watch w = {0};

    (void)state;
    assert_false(wr_ranks_watch_lost(&w, WAIT_MS)); /* does not wait */
    wr_ranks_watch_close(&w, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_death),
        cmocka_unit_test(test_reason),
        cmocka_unit_test(test_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
