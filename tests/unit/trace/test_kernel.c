/* test_kernel.c - formats of tracepoints, ranks of environments, tables, calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "trace/collect/kernel_state.h"
#include "trace/preload/rank.h"
#include "trace/collect/kernel.h"
#include "trace/event.h"

static const char format[] =
    "name: sys_enter\nID: 443\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"
    "\tfield:void * req;\toffset:64;\tsize:8;\tsigned:0;\n"
    "\tfield:__data_loc char[] comm;\toffset:72;\tsize:4;\tsigned:0;\n\n"
    "print fmt: \"NR %ld\", REC->id\n";

static void test_format(void **state)
{
    struct wr_tracepoint t = {
        .name = "x/y",
        .fields = {
            {"id", 0, 0}, {"args", 0, 0}, {"req", 0, 0}, {"comm", 0, 0}}};
    uint8_t record[80] = {[8] = 1, [9] = 2};
    weir_err err;

    assert_int_equal(wr_tracefs_parse(format, &t, &err), 0);
    assert_int_equal(t.id, 443);
    assert_int_equal(t.fields[0].offset, 8);
    assert_int_equal(t.fields[0].size, 8);
    assert_int_equal(t.fields[1].offset, 16);
    assert_int_equal(t.fields[1].size, 48);
    assert_int_equal(t.fields[2].offset, 64);
    assert_int_equal(t.fields[3].offset, 72);
    assert_int_equal(wr_tracepoint_value(&t.fields[0], record, 80), 513);
    assert_int_equal(wr_tracepoint_value(&t.fields[0], record, 15), 0);
    assert_int_equal(wr_tracepoint_value(&t.fields[1], record, 80), 0);
}

static void test_format_bad(void **state)
{
    struct wr_tracepoint none = {.name = "x/y", .fields = {{"pid", 0, 0}}};
    struct wr_tracepoint far = {.name = "x/y", .fields = {{"id", 0, 0}}};
    weir_err err;

    assert_int_equal(wr_tracefs_parse("", &none, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "'x/y': has no ID"));
    assert_int_equal(wr_tracefs_parse(format, &none, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "no field 'pid'")); /* not common_pid */
    assert_int_equal(wr_tracefs_parse("ID: 1\n\tfield:long id;\toffset:"
                                      "99999999;\tsize:8;\tsigned:1;\n",
                                      &far, &err),
                     WEIR_EFORMAT);
}

static void test_rank(void **state)
{
    static const char none[] = "PATH=/bin\0RANKS=7\0";
    static const char torch[] = "RANK=3\0WORLD_SIZE=8\0SLURM_PROCID=1\0";
    static const char slurm[] = "A=B\0SLURM_PROCID=12\0SLURM_STEP_NUM_TASKS=16";
    static const char odd[] = "RANK=x\0OMPI_COMM_WORLD_RANK=5\0WORLD_SIZE=0\0";
    int32_t rank, world;

    wr_rank_of(none, sizeof(none) - 1, &rank, &world);
    assert_int_equal(rank, -1);
    assert_int_equal(world, -1);
    wr_rank_of(torch, sizeof(torch) - 1, &rank, &world);
    assert_int_equal(rank, 3);
    assert_int_equal(world, 8);
    wr_rank_of(slurm, sizeof(slurm) - 1, &rank, &world); /* the end is cut */
    assert_int_equal(rank, 12);
    assert_int_equal(world, -1);
    wr_rank_of(odd, sizeof(odd) - 1, &rank, &world);
    assert_int_equal(rank, 5);
    assert_int_equal(world, -1);
    wr_rank_of("", 0, &rank, &world);
    assert_int_equal(rank, -1);
}

/* Against the simplest thing that does the same. */
static void test_table(void **state)
{
    static char things[64];
    void *plain[64] = {0};
    struct wr_keyed t = {0};
    uint32_t seed = 1;

    assert_null(wr_keyed_at(&t, 5));
    assert_null(wr_keyed_remove(&t, 5));
    for (int i = 0; i < 20000; i++) {
        unsigned k = (seed = seed * 1664525 + 1013904223) >> 26;
        uint64_t key = (uint64_t)k << 32 | k % 3;

        if (seed >> 8 & 1) {
            assert_true(wr_keyed_put(&t, key, &things[seed >> 9 & 63]));
            plain[k] = &things[seed >> 9 & 63];
        } else {
            assert_ptr_equal(wr_keyed_remove(&t, key), plain[k]);
            plain[k] = NULL;
        }
        for (unsigned n = 0; n < 64; n++)
            assert_ptr_equal(wr_keyed_at(&t, (uint64_t)n << 32 | n % 3),
                             plain[n]);
    }
    wr_keyed_done(&t);
}

static const struct wr_call *call_of(uint64_t number)
{
    for (size_t k = 0; k < wr_call_count; k++)
        if (wr_calls[k].number == number)
            return &wr_calls[k];
    return NULL;
}

static void test_calls(void **state)
{
    assert_null(call_of(SYS_getpid));
    assert_int_equal(call_of(SYS_pread64)->op, WR_TRACE_READ);
    assert_int_equal(call_of(SYS_openat)->path, 1);
    for (size_t i = 0; i < wr_call_count; i++) {
        assert_true(wr_calls[i].number < WR_PATHS_CALLS);
        assert_true(wr_calls[i].op < WR_TRACE_OPS);
        assert_ptr_equal(call_of(wr_calls[i].number), &wr_calls[i]);
    }
}

static void test_text(void **state)
{
    uint8_t raw[16] = {0xff, 0xff, 0x72, 0x74, 1, 0, 0, 0, '/', 'a', 0};
    struct wr_ring_record r = {
        .kind = WR_RING_SAMPLE, .raw = raw, .raw_len = sizeof(raw)};
    unsigned which = 9;

    assert_string_equal(wr_paths_text(&r, &which), "/a");
    assert_int_equal(which, 1);
    memset(raw + 8, 'x', 8); /* without an end */
    assert_null(wr_paths_text(&r, &which));
    raw[15] = 0;
    raw[4] = 2;
    assert_null(wr_paths_text(&r, &which));
    raw[4] = 0;
    raw[0] = 0;
    assert_null(wr_paths_text(&r, &which));
    r.raw_len = 8;
    assert_null(wr_paths_text(&r, &which));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format), cmocka_unit_test(test_format_bad),
        cmocka_unit_test(test_rank),   cmocka_unit_test(test_table),
        cmocka_unit_test(test_calls),  cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
