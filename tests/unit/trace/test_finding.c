/* test_finding.c - the list of findings, those that stand in for others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "trace/finding_private.h"

static const struct wr_trace_finding_rule rules[] = {
#define FINDING(code, name, title, over) {code, title, over, wr_find_##name},
#include "trace/findings.def"
};

static char tried[1000]; /* pairs that a test has shown: "D01>D02 " */

static const struct wr_trace_finding_rule *rule_of(const char *code)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(rules); k++)
        if (!strcmp(rules[k].code, code))
            return &rules[k];
    fail_msg("%s is not a code", code);
    return NULL;
}

/* Whether the rule speaks, be it told or not. */
static bool speaks(const struct result *r, const char *code)
{
    struct wr_trace_finding f = {0};

    return rule_of(code)->look(r->a, &f);
}

/* Judges again, after the test changed what is known. */
static void judge(struct result *r)
{
    weir_err err;

    wr_trace_findings_done(&r->found);
    assert_int_equal(wr_trace_findings_of(r->a, &r->found, &err), 0);
}

/* Both have something to say, and one of them says it. */
static void assert_covers(const struct result *r, const char *code,
                          const char *over)
{
    size_t len = strlen(tried);

    assert_true(speaks(r, code));
    assert_true(speaks(r, over));
    assert_non_null(result_find(r, code));
    assert_null(result_find(r, over));
    snprintf(tried + len, sizeof(tried) - len, "%s>%s ", code, over);
}

/* Whether it stands in for `code`, or for one that does. Rows in a circle would
 * recurse without an end here, and in the library. */
static bool reaches(const struct wr_trace_finding_rule *x, const char *code)
{
    for (const char *at = x->over; *at; at += 3 + (at[3] == ' ')) {
        char over[4] = {at[0], at[1], at[2]};

        if (!strcmp(over, code) || reaches(rule_of(over), code))
            return true;
    }
    return false;
}

/* By code, each with one place; none stands in for itself. */
static void test_rows(void **state)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(rules); k++) {
        const struct wr_trace_finding_rule *x = &rules[k];

        assert_int_equal(strlen(x->code), 3);
        assert_true(!k || strcmp(rules[k - 1].code, x->code) < 0);
        assert_true(strlen(x->over) % 4 == 3 || !*x->over);
        assert_false(reaches(x, x->code));
    }
}

/* Workers that never rest, and a main thread that reads for longer than they. */
static void test_number_of_workers(void **state)
{
    struct script s = script_fine;
    struct result r;
    uint64_t at;

    s.workers = 2;
    s.compute_ns = MS;
    result_begin(&r, &s);
    at = s.start_ns;
    for (unsigned k = 0; k < 50; k++)
        at = maker_whole(&r.m, r.end.main,
                         maker_name(&r.m, 100 * KB, "/data/test/%u", k),
                         100 * KB, at + MS, 12 * MS);
    result_finish(&r);
    assert_covers(&r, "D01", "D02");
    result_done(&r);
}

/* 800 MB on nfs, in epochs that wait for them. */
static void test_memory_and_staging(void **state)
{
    struct script s = script_plain;
    struct result r;

    s.files = 200;
    s.size = 4 * 1024 * 1024;
    s.read_ns = 30 * MS;
    result_run(&r, &s);
    assert_covers(&r, "D07", "S05");
    result_done(&r);
}

/* Files of 4 MiB on nfs, 8 KiB at once. */
static void test_size_of_requests(void **state)
{
    struct script s = script_plain;
    struct result r;

    s.files = 20;
    s.size = 4 * 1024 * 1024;
    s.reads = 512;
    s.read_ns = MS / 10;
    result_run(&r, &s);
    assert_covers(&r, "D08", "S01");
    result_done(&r);
}

/* Files of 4 MB that take longer to open than to read. */
static void test_packing(void **state)
{
    struct result r;
    uint64_t at = 0;

    maker_open(&r.m);
    maker_process(&r.m, -1, 0, 10000);
    for (unsigned k = 0; k < 200; k++)
        maker_name(&r.m, 4 * MB, "/data/set/%u", k);
    for (unsigned k = 0; k < 400; k++) { /* two epochs */
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_STAT,
                                                  .file = k % 200,
                                                  .start_ns = at,
                                                  .dur_ns = 30 * MS});
        at = maker_whole(&r.m, 0, k % 200, 4 * MB, at + 30 * MS, 20 * MS);
    }
    result_finish(&r);
    assert_covers(&r, "D10", "S03");
    result_done(&r);
}

/* Files of 4 MB that are opened for each record. */
static void test_opened_again(void **state)
{
    struct result r;
    uint64_t at = 0;

    maker_open(&r.m);
    maker_process(&r.m, -1, 0, 12000);
    for (unsigned k = 0; k < 120; k++)
        maker_name(&r.m, 4 * MB, "/data/%u.h5", k);
    for (unsigned k = 0; k < 240; k++) /* two epochs */
        at = maker_records(&r.m, k % 120, 40, /* again= */ true, at);
    result_finish(&r);
    assert_covers(&r, "D22", "D09");
    assert_covers(&r, "D22", "D10");
    assert_covers(&r, "D22", "S03");
    result_done(&r);
}

/* 64 KiB at random places of a file on nfs: by reads, or by page faults. What a
 * covered finding stands in for is told. */
static void test_random_places(void **state)
{
    struct result r;
    uint32_t file;

    for (int mapped = 0; mapped < 2; mapped++) {
        maker_open(&r.m);
        maker_process(&r.m, -1, 0, 2000);
        file = maker_name(&r.m, 128 * MB, "/data/all.h5");
        for (uint64_t k = 0; k < 2000; k++)
            maker_event(&r.m, (struct wr_trace_event){
                                  .op = mapped ? WR_TRACE_FAULT : WR_TRACE_READ,
                                  .file = file,
                                  .start_ns = k * MS,
                                  .dur_ns = MS / 2,
                                  .offset = k * 7 % 2000 * 64 * KB,
                                  .bytes = 64 * KB});
        result_finish(&r);
        r.a->set_counted = true;
        r.a->device_read = 3 * r.a->set_bytes;
        judge(&r);
        if (mapped) {
            assert_covers(&r, "D13", "D12");
            assert_non_null(result_find(&r, "S01"));
        } else {
            assert_covers(&r, "D12", "S01");
        }
        result_done(&r);
    }
}

static void judge_by_disk(struct result *r, double utilisation)
{
    r->a->baseline = (struct wr_trace_baseline){.utilisation = utilisation,
                                                .source = "a test"};
    judge(r);
}

/* Storage at its limit: neither a loader nor more workers help. Where decoding
 * is the limit, they do. */
static void test_limit(void **state)
{
    struct script s = script_plain;
    struct result r;

    s.read_ns = 5 * MS;
    s.compute_ns = 3 * MS;
    result_run(&r, &s);
    judge_by_disk(&r, 0.95);
    assert_covers(&r, "D17", "D01");
    result_done(&r);
    s.workers = 2;
    result_run(&r, &s);
    judge_by_disk(&r, 0.95);
    assert_covers(&r, "D17", "D02");
    result_done(&r);
    s.read_ns = MS / 2;
    s.decode_ns = 10 * MS;
    result_run(&r, &s);
    judge_by_disk(&r, 0.05);
    assert_non_null(result_find(&r, "D17"));
    assert_non_null(result_find(&r, "D02"));
    result_done(&r);
}

/* Two ranks that read 300 files both, and 200 each alone. */
static void test_shares_of_ranks(void **state)
{
    struct result r;

    maker_open(&r.m);
    for (unsigned k = 0; k < 700; k++)
        maker_name(&r.m, 100 * KB, "/data/%u", k);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint64_t at = 0;

        maker_process(&r.m, -1, 0, 2000);
        r.m.processes[rank].rank = (int)rank;
        r.m.processes[rank].world = 2;
        maker_again(&r.m, rank);
        for (unsigned k = 0; k < 500; k++)
            at = maker_whole(&r.m, rank, k < 300 ? k : k + rank * 200, 100 * KB,
                             at + MS, MS);
    }
    result_finish(&r);
    assert_covers(&r, "S02", "D05");
    result_done(&r);
}

/* The tests above have shown each pair. */
static void test_every_pair(void **state)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(rules); k++)
        for (const char *at = rules[k].over; *at; at += 3 + (at[3] == ' ')) {
            char pair[9];

            snprintf(pair, sizeof(pair), "%s>%.3s ", rules[k].code, at);
            if (!strstr(tried, pair))
                fail_msg("no test of %s", pair);
        }
}

static void test_fine(void **state)
{
    struct result r;

    result_run(&r, &script_fine);
    for (size_t k = 0; k < r.found.count; k++)
        fail_msg("%s: %s", r.found.list[k].rule->code, r.found.list[k].what);
    result_done(&r);
}

/* Costly ones first. */
static void test_order(void **state)
{
    struct result r;

    result_run(&r, &script_plain);
    assert_true(r.found.count >= 1);
    for (size_t k = 1; k < r.found.count; k++)
        assert_true(r.found.list[k].risk ||
                    wr_trace_finding_cost(r.a, &r.found.list[k - 1]) >=
                        wr_trace_finding_cost(r.a, &r.found.list[k]));
    result_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_number_of_workers),
        cmocka_unit_test(test_memory_and_staging),
        cmocka_unit_test(test_size_of_requests),
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_opened_again),
        cmocka_unit_test(test_random_places),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_shares_of_ranks),
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_fine),
        cmocka_unit_test(test_order)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
