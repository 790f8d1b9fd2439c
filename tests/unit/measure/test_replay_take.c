/* test_replay_take.c - which requests of a trace are taken, and their folder.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../trace/maker.h"

#include <stdlib.h>
#include <string.h>

#include "measure/replay_take.h"
#include "../format/tmpdir.h"

static void test_below(void **state)
{
    (void)state;
    assert_string_equal(wr_replay_below("/data", "/data/a/b"), "a/b");
    assert_string_equal(wr_replay_below("/data/", "/data/a"), "a");
    assert_string_equal(wr_replay_below("", "/data"), "data");
    assert_string_equal(wr_replay_below("/", "/data"), "data");
    assert_string_equal(wr_replay_below("/data", "/data"), "");
    assert_null(wr_replay_below("/data", "/database/a"));
    assert_null(wr_replay_below("/data", "/other"));
}

static void test_requests(void **state)
{
    struct maker m;
    struct wr_trace_file *f;
    struct wr_replay_take t;
    uint32_t p, worker, data, log, lib;
    weir_err err;

    (void)state;
    maker_open(&m);
    p = maker_process(&m, -1, 0, 100);
    worker = maker_process(&m, 0, 0, 100);
    data = maker_name(&m, 10 * KB, "/data/a.jpg");
    log = maker_name(&m, 0, "/out/log");
    lib = maker_kind(&m, WR_TRACE_RUNTIME, "/usr/lib/x.py");
    maker_whole(&m, p, data, 10 * KB, 1 * MS, MS);
    maker_whole(&m, worker, data, 10 * KB, 2 * MS, MS);
    maker_whole(&m, p, lib, 10 * KB, 3 * MS, MS);
    maker_event(&m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                            .file = log,
                                            .process = p,
                                            .start_ns = 9 * MS,
                                            .bytes = 5});
    maker_event(&m, (struct wr_trace_event){.op = WR_TRACE_MMAP,
                                            .file = data,
                                            .process = p,
                                            .start_ns = 9 * MS});
    f = maker_read(&m);
    assert_int_equal(wr_replay_take(f, &t, &err), 0);
    assert_int_equal(t.count, 7); /* two whole files and a write */
    assert_int_equal(t.thread_count, 2);
    assert_int_equal(t.others, 1);
    assert_int_equal(t.read_bytes[data], 20 * KB);
    assert_false(t.written[data]);
    assert_true(t.written[log]);
    assert_int_equal(t.read_bytes[lib], 0);
    wr_replay_take_done(&t);
    wr_trace_file_close(f);
    maker_done(&m);
}

/* The traced folder is found by what is there; a script beside it is not in the
 * way. */
static void test_base(void **state)
{
    struct maker m;
    struct tmpdir d;
    struct wr_trace_file *f;
    struct wr_replay_take t;
    struct wr_store *store = NULL;
    char *base = NULL, *leaf = NULL;
    uint32_t p, files[3];
    weir_err err;

    (void)state;
    tmpdir_init(&d);
    tmpdir_mkdir(&d, "set");
    tmpdir_put(&d, "set/a.jpg", "a", 1);
    tmpdir_put(&d, "set/b.jpg", "b", 1);
    maker_open(&m);
    p = maker_process(&m, -1, 0, 100);
    files[0] = maker_name(&m, 10 * KB, "/mnt/data/set/a.jpg");
    files[1] = maker_name(&m, 10 * KB, "/mnt/data/set/b.jpg");
    files[2] = maker_name(&m, 1 * KB, "/scripts/train.py");
    for (size_t k = 0; k < 3; k++)
        maker_whole(&m, p, files[k], k < 2 ? 10 * KB : KB, k * 5 * MS, MS);
    f = maker_read(&m);
    assert_int_equal(wr_replay_take(f, &t, &err), 0);
    assert_int_equal(wr_store_open(d.path, &store, &leaf, &err), 0);
    assert_int_equal(wr_replay_base(&t, store, &base, &err), 0);
    assert_string_equal(base, "/mnt/data");
    free(base);
    base = NULL;
    wr_store_close(store);
    assert_int_equal(wr_store_open(tmpdir_at(&d, "set"), &store, &leaf, &err),
                     0);
    assert_int_equal(wr_replay_base(&t, store, &base, &err), 0);
    assert_string_equal(base, "/mnt/data/set");
    free(base);
    base = NULL;
    wr_store_close(store);
    unlink(tmpdir_at(&d, "set/a.jpg"));
    unlink(tmpdir_at(&d, "set/b.jpg"));
    assert_int_equal(wr_store_open(d.path, &store, &leaf, &err), 0);
    assert_int_equal(wr_replay_base(&t, store, &base, &err), WEIR_ENOENT);
    assert_null(base);
    wr_store_close(store);
    wr_replay_take_done(&t);
    wr_trace_file_close(f);
    maker_done(&m);
    tmpdir_done(&d);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_base),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
