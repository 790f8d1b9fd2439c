/* test_replay_emulated.c - replays in virtual time: exact to the nanosecond.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/mem.h"
#include "measure/replay.h"
#include "../format/tmpdir.h"

#define US   UINT64_C(1000)
#define MS   UINT64_C(1000000)
#define SIZE 20000

/* A byte takes 10 ns. */
static const struct wr_device_profile device = {.name = "test",
                                                .read_latency_us = 100,
                                                .write_latency_us = 300,
                                                .meta_latency_us = 1000,
                                                .sync_latency_us = 5000,
                                                .read_bytes_per_s = 1e8,
                                                .write_bytes_per_s = 1e8,
                                                .channels = 1,
                                                .readahead_bytes = 131072};

static const struct wr_replay_file files[] = {
    {"a", false}, {"gone", false}, {"own", true}, {"b", false}, {"", false}};

struct fixture {
    struct tmpdir dir;
    struct wr_store *store;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    char *leaf = NULL, *data = calloc(1, SIZE);
    weir_err err;

    tmpdir_init(&f->dir);
    tmpdir_put(&f->dir, "a", data, SIZE);
    tmpdir_put(&f->dir, "b", data, SIZE);
    assert_int_equal(wr_store_open(f->dir.path, &f->store, &leaf, &err), 0);
    free(data);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    wr_store_close(f->store);
    tmpdir_done(&f->dir);
    free(f);
    return 0;
}

static struct wr_replay_request request(int op, uint32_t file, uint64_t bytes,
                                        uint64_t start_ns)
{
    return (struct wr_replay_request){.op = (uint8_t)op,
                                      .file = file,
                                      .bytes = bytes,
                                      .start_ns = start_ns,
                                      .offset = UINT64_MAX};
}

static struct wr_replay_plan plan_of(const struct fixture *f,
                                     struct wr_replay_request *q, size_t n,
                                     uint32_t threads)
{
    return (struct wr_replay_plan){.store = f->store,
                                   .files = files,
                                   .file_count = WR_ARRAY_LEN(files),
                                   .requests = q,
                                   .request_count = n,
                                   .threads = threads,
                                   .profile = &device};
}

static struct wr_replay_result *replay(const struct wr_replay_plan *plan)
{
    struct wr_replay_result *r = NULL;
    weir_err err;

    assert_int_equal(wr_replay(plan, &r, &err), 0);
    return r;
}

/* Opening is part of the first read; what was read stays in memory. */
static void test_a_file_is_read_twice(void **state)
{
    struct wr_replay_request q[] = {request(WR_REPLAY_OPEN, 0, 0, 0),
                                    request(WR_REPLAY_STAT, 0, 0, 1 * MS),
                                    request(WR_REPLAY_READ, 0, SIZE, 2 * MS),
                                    request(WR_REPLAY_READ, 0, 0, 3 * MS),
                                    request(WR_REPLAY_CLOSE, 0, 0, 4 * MS),
                                    request(WR_REPLAY_OPEN, 0, 0, 5 * MS),
                                    request(WR_REPLAY_READ, 0, SIZE, 6 * MS)};
    struct wr_replay_plan plan = plan_of(*state, q, WR_ARRAY_LEN(q), 1);
    struct wr_replay_result *r = replay(&plan);

    assert_int_equal(q[0].took_ns, 0);
    assert_int_equal(q[1].took_ns, 0);
    assert_int_equal(q[2].took_ns, 1100 * US + SIZE * 10);
    assert_int_equal(q[3].took_ns, 0);
    assert_int_equal(q[6].took_ns, 0);
    assert_int_equal(r->done, 7);
    assert_int_equal(r->replayed_ns, 6 * MS + q[2].took_ns);
    free(r);
    plan.asap = true;
    r = replay(&plan);
    assert_int_equal(r->replayed_ns, 1100 * US + SIZE * 10);
    free(r);
}

/* A call that asks no device costs what it did, but not what it waited for. */
static void test_the_cost_of_calls(void **state)
{
    struct wr_replay_request q[] = {request(WR_REPLAY_OPEN, 0, 0, 0),
                                    request(WR_REPLAY_STAT, 0, 0, 20 * MS)};
    struct wr_replay_plan plan = plan_of(*state, q, WR_ARRAY_LEN(q), 1);

    q[0].dur_ns = 3 * US;
    q[1].dur_ns = 20 * MS;
    free(replay(&plan));
    assert_int_equal(q[0].took_ns, 3 * US);
    assert_true(q[1].took_ns <= 10 * US);
}

/* One arm: who comes second waits for the first, though the first one's request
 * is computed as a whole. */
static void test_threads_wait_for_each_other(void **state)
{
    struct wr_replay_request q[] = {request(WR_REPLAY_READ, 0, SIZE, 0),
                                    request(WR_REPLAY_READ, 3, SIZE, 50 * US)};
    struct wr_replay_plan plan = plan_of(*state, q, WR_ARRAY_LEN(q), 2);

    q[1].thread = 1;
    free(replay(&plan));
    assert_int_equal(q[0].took_ns, 300 * US);
    assert_int_equal(q[1].took_ns, 550 * US);
}

static void test_missing_and_short_files(void **state)
{
    struct wr_replay_request q[] = {
        request(WR_REPLAY_OPEN, 1, 0, 0),
        request(WR_REPLAY_READ, 1, 10, 1),
        request(WR_REPLAY_STAT, 1, 0, 2),
        request(WR_REPLAY_READ, 0, SIZE + 1, 3),
    };
    struct wr_replay_plan plan = plan_of(*state, q, WR_ARRAY_LEN(q), 1);
    struct wr_replay_result *r;

    q[2].failed = true;
    r = replay(&plan);
    assert_int_equal(r->missing, 2);
    assert_int_equal(r->missing_files[0], 1);
    assert_int_equal(r->cut, 1);
    assert_int_equal(r->done, 2);
    free(r);
}

/* Pieces of a mebibyte, one after the other; nothing is really written. */
static void test_writes_and_syncs(void **state)
{
    const struct fixture *f = *state;
    struct wr_replay_request q[] = {
        request(WR_REPLAY_OPEN, 2, 0, 0),
        request(WR_REPLAY_WRITE, 2, 1 << 21, 1),
        request(WR_REPLAY_SYNC, 2, 0, 2),
        request(WR_REPLAY_CLOSE, 2, 0, 3),
        request(WR_REPLAY_OPEN, 2, 0, 4),
        request(WR_REPLAY_READ, 2, 1 << 21, 5),
    };
    struct wr_replay_plan plan = plan_of(f, q, WR_ARRAY_LEN(q), 1);
    struct wr_replay_result *r = replay(&plan);
    struct wr_stat sb;

    assert_int_equal(r->done, 6);
    assert_int_equal(r->cut, 0);
    assert_int_equal(q[0].took_ns, 1 * MS);
    assert_in_range(q[1].took_ns, 20 * MS, 23 * MS);
    assert_in_range(q[2].took_ns, 5 * MS, 6 * MS);
    assert_int_equal(q[5].took_ns, 0);
    assert_int_not_equal(f->store->ops->stat(f->store, "own", &sb, NULL), 0);
    free(r);
}

static void test_folders_and_direct_reads(void **state)
{
    struct wr_replay_request q[] = {
        request(WR_REPLAY_LIST, 4, 0, 0),
        request(WR_REPLAY_READ, 0, 4096, 10 * MS),
        request(WR_REPLAY_READ, 0, 4096, 20 * MS),
    };
    struct wr_replay_plan plan = plan_of(*state, q, WR_ARRAY_LEN(q), 1);

    q[1].direct = q[2].direct = true;
    q[1].offset = q[2].offset = 0;
    free(replay(&plan));
    assert_int_equal(q[0].took_ns, 1 * MS);
    assert_int_equal(q[1].took_ns, 100 * US + 40960);
    assert_int_equal(q[2].took_ns, 100 * US + 40960);
}

static bool always(void)
{
    return true;
}

static void test_stopping(void **state)
{
    struct wr_replay_request q = request(WR_REPLAY_STAT, 0, 0, 0);
    struct wr_replay_plan plan = plan_of(*state, &q, 1, 1);
    struct wr_replay_result *r = NULL;
    weir_err err;

    plan.stopped = always;
    assert_int_equal(wr_replay(&plan, &r, &err), WEIR_ECANCELED);
    assert_null(r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest all[] = {
        T(test_a_file_is_read_twice),
        T(test_the_cost_of_calls),
        T(test_threads_wait_for_each_other),
        T(test_missing_and_short_files),
        T(test_writes_and_syncs),
        T(test_folders_and_direct_reads),
        T(test_stopping),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
