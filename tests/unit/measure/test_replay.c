/* test_replay.c - requests issued again: all of them, in order, and no others.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "measure/replay.h"
#include "../format/tmpdir.h"

#define MS UINT64_C(1000000)

struct fixture {
    struct tmpdir dir;
    struct wr_store *store;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    char *leaf = NULL;
    weir_err err;

    tmpdir_init(&f->dir);
    tmpdir_put(&f->dir, "a", "0123456789", 10);
    assert_int_equal(wr_store_open(f->dir.path, &f->store, &leaf, &err), 0);
    assert_null(leaf);
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

static const struct wr_replay_file files[] = {
    {"a", false}, {"gone", false}, {"own", true}};

static struct wr_replay_result *replay(const struct fixture *f,
                                       struct wr_replay_request *q, size_t n,
                                       uint32_t threads)
{
    struct wr_replay_plan plan = {.store = f->store,
                                  .files = files,
                                  .requests = q,
                                  .request_count = n,
                                  .threads = threads,
                                  .asap = true};
    struct wr_replay_result *r = NULL;
    weir_err err;

    assert_int_equal(wr_replay(&plan, &r, &err), 0);
    return r;
}

static struct wr_replay_request request(int op, uint32_t file, uint64_t bytes)
{
    return (struct wr_replay_request){.op = (uint8_t)op,
                                      .file = file,
                                      .bytes = bytes,
                                      .offset = UINT64_MAX,
                                      .dur_ns = MS};
}

static void test_a_file_is_read(void **state)
{
    struct wr_replay_request q[] = {
        request(WR_REPLAY_STAT, 0, 0), request(WR_REPLAY_OPEN, 0, 0),
        request(WR_REPLAY_READ, 0, 4), request(WR_REPLAY_READ, 0, 6),
        request(WR_REPLAY_READ, 0, 0), request(WR_REPLAY_CLOSE, 0, 0)};
    struct wr_replay_result *r;

    for (size_t k = 0; k < WR_ARRAY_LEN(q); k++)
        q[k].start_ns = (k + 1) * 2 * MS;
    r = replay(*state, q, WR_ARRAY_LEN(q), 1);
    assert_int_equal(r->done, 6);
    assert_int_equal(r->missing + r->cut + r->failed, 0);
    assert_int_equal(r->classes[WR_REPLAY_READ].bytes, 10);
    assert_int_equal(r->classes[WR_REPLAY_READ].replayed.count, 3);
    assert_int_equal(wr_replay_sum(r, true), 6 * MS);
    assert_true(wr_replay_sum(r, false) > 0);
    assert_int_equal(r->traced_ns, 11 * MS);
    free(r);
}

static void test_threads_and_order(void **state)
{
    struct wr_replay_request q[] = {request(WR_REPLAY_READ, 0, 6),
                                    request(WR_REPLAY_READ, 0, 5),
                                    request(WR_REPLAY_READ, 0, 10)};
    struct wr_replay_result *r;

    q[0].start_ns = 9 * MS; /* after the next one: bytes 5 to 9 and no more */
    q[1].start_ns = 1 * MS;
    q[2].thread = 1;
    r = replay(*state, q, WR_ARRAY_LEN(q), 2);
    assert_int_equal(r->done, 3);
    assert_int_equal(r->cut, 1);
    free(r);
}

static void test_a_missing_file_is_named(void **state)
{
    struct wr_replay_request q[] = {request(WR_REPLAY_OPEN, 1, 0),
                                    request(WR_REPLAY_READ, 1, 10),
                                    request(WR_REPLAY_STAT, 1, 0)};
    struct wr_replay_result *r;

    q[2].failed = true; /* it did so when traced: that is how it should be */
    q[2].start_ns = 1;
    r = replay(*state, q, WR_ARRAY_LEN(q), 1);
    assert_int_equal(r->missing, 2);
    assert_int_equal(r->missing_count, 1);
    assert_int_equal(r->missing_files[0], 1);
    assert_int_equal(r->done, 1);
    free(r);
}

/* Small reads of stdio are one request as long as its buffer lasts. */
static void test_stdio_reads_share_a_request(void **state)
{
    struct wr_replay_request q[] = {request(WR_REPLAY_READ, 0, 2),
                                    request(WR_REPLAY_READ, 0, 2)};
    struct wr_replay_result *r;

    q[0].buffered = q[1].buffered = true;
    q[1].start_ns = 1;
    r = replay(*state, q, WR_ARRAY_LEN(q), 1);
    assert_int_equal(r->done, 2);
    assert_int_equal(r->cut, 0);
    assert_true(q[0].took_ns > 0);
    assert_int_equal(q[1].took_ns, 0);
    free(r);
}

static void test_writes_go_to_own_files_only(void **state)
{
    const struct fixture *f = *state;
    struct wr_replay_request q[] = {
        request(WR_REPLAY_OPEN, 2, 0), request(WR_REPLAY_WRITE, 2, 100),
        request(WR_REPLAY_SYNC, 2, 0), request(WR_REPLAY_WRITE, 0, 5)};
    struct wr_replay_result *r;
    struct wr_stat sb;
    weir_err err;

    for (size_t k = 0; k < WR_ARRAY_LEN(q); k++)
        q[k].start_ns = k;
    r = replay(f, q, WR_ARRAY_LEN(q), 1);
    assert_int_equal(r->done, 3);
    assert_int_equal(r->failed, 1); /* 'a' is open for reading */
    assert_int_not_equal(r->first.code, 0);
    assert_int_equal(f->store->ops->stat(f->store, "own", &sb, &err), 0);
    assert_int_equal(sb.size, 100);
    assert_int_equal(f->store->ops->stat(f->store, "a", &sb, &err), 0);
    assert_int_equal(sb.size, 10);
    free(r);
}

/* More files than a thread keeps open. */
static void test_many_open_files(void **state)
{
    enum { MANY = 200 };
    const struct fixture *f = *state;
    struct wr_replay_file *list = calloc(MANY, sizeof(*list));
    struct wr_replay_request *q = calloc(2 * MANY, sizeof(*q));
    struct wr_replay_plan plan = {.store = f->store,
                                  .files = list,
                                  .requests = q,
                                  .request_count = 2 * MANY,
                                  .threads = 1,
                                  .asap = true};
    struct wr_replay_result *r = NULL;
    weir_err err;

    for (uint32_t k = 0; k < MANY; k++) {
        list[k].path = "a";
        q[k] = request(WR_REPLAY_OPEN, k, 0);
        q[MANY + k] = request(WR_REPLAY_READ, k, 10);
        q[k].start_ns = k;
        q[MANY + k].start_ns = MANY + k;
    }
    assert_int_equal(wr_replay(&plan, &r, &err), 0);
    assert_int_equal(r->done, 2 * MANY);
    assert_int_equal(r->cut, 0);
    free(r);
    free(q);
    free(list);
}

static bool always(void)
{
    return true;
}

static void test_stopping_and_wrong_plans(void **state)
{
    const struct fixture *f = *state;
    struct wr_replay_request q = request(WR_REPLAY_STAT, 0, 0);
    struct wr_replay_plan plan = {.store = f->store,
                                  .files = files,
                                  .requests = &q,
                                  .request_count = 1,
                                  .threads = 1,
                                  .stopped = always};
    struct wr_replay_result *r = NULL;
    weir_err err;

    assert_int_equal(wr_replay(&plan, &r, &err), WEIR_ECANCELED);
    plan.threads = WR_REPLAY_THREADS + 1;
    assert_int_equal(wr_replay(&plan, &r, &err), WEIR_ELIMIT);
    plan.request_count = 0;
    assert_int_equal(wr_replay(&plan, &r, &err), WEIR_EINVAL);
    assert_null(r);
    assert_string_equal(wr_replay_op_name(WR_REPLAY_LIST), "list");
    assert_string_equal(wr_replay_op_name(99), "?");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest all[] = {
        T(test_a_file_is_read),
        T(test_threads_and_order),
        T(test_a_missing_file_is_named),
        T(test_stdio_reads_share_a_request),
        T(test_writes_go_to_own_files_only),
        T(test_many_open_files),
        T(test_stopping_and_wrong_plans),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
