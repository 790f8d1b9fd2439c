/* test_report.c - unit tests of trace/report.c: an analysis as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/report.h"

/* The text is the caller's. */
static void print_text(const struct result *r, unsigned width, char **ret)
{
    size_t size = 0;
    FILE *out = open_memstream(ret, &size);

    wr_trace_report(r->a, &r->found,
                    (struct wr_trace_report_style){.width = width}, out);
    fclose(out);
    assert_non_null(*ret);
}

static void assert_says(const struct result *r, const char *words)
{
    char *text = NULL;

    print_text(r, 2000, &text); /* no line is broken */
    if (!strstr(text, words))
        fail_msg("not \"%s\" in:\n%s", words, text);
    free(text);
}

static size_t count_of(const char *text, const char *words)
{
    size_t n = 0;

    for (; (text = strstr(text, words)); text++)
        n++;
    return n;
}

/* One finding of each form, in place of what was found. */
static void test_findings(void **state)
{
    static const struct wr_trace_finding_rule rule = {"D99", "a title", "",
                                                      NULL};
    struct wr_trace_finding one = {.rule = &rule,
                                   .seconds = 1.5,
                                   .gain = 1.25,
                                   .sure = WR_TRACE_FINDING_LIKELY,
                                   .what = "This is so.",
                                   .evidence = "Three of four.",
                                   .change = "do that"};
    struct wr_trace_findings found;
    struct result r;

    result_run(&r, &script_fine);
    assert_says(&r, "\nNothing to change was found.\n");
    found = r.found;
    r.found = (struct wr_trace_findings){&one, 1};
    assert_says(&r, "\nD99  a title: 1.50 s per epoch\n"
                    "     This is so. Three of four.\n"
                    "     change: do that\n"
                    "     expected: 1.25 s less per epoch (likely)\n");
    one.once = true;
    assert_says(&r, "\nD99  a title: 1.50 s per run\n");
    assert_says(&r, "expected: 1.25 s less per run (likely)\n");
    one.gain = one.seconds = 0;
    assert_says(&r, "\nD99  a title\n");
    assert_says(&r, "change: do that\n\nData set"); /* nothing is expected */
    one.risk = true;
    assert_says(&r, "\nD99  a title (a risk)\n");
    one.example_count = 2;
    one.examples[0] = (struct wr_trace_finding_example){
        .at_ns = 1500 * MS, .file = 7, .detail = "2 s"};
    one.examples[1] = (struct wr_trace_finding_example){
        .at_ns = 2500 * MS, .file = WR_TRACE_NO_FILE, .detail = "3 s"};
    assert_says(&r, "     at 1.500 s: /data/train/00007.jpg, 2 s\n"
                    "     at 2.500 s: 3 s\n");
    r.found = found;
    result_done(&r);
}

/* What makes numbers less than they seem comes before them. */
static void test_reservations(void **state)
{
    struct result r;

    result_begin(&r, &script_plain);
    r.m.info.lost_records = 17;
    r.m.info.merged = 4;
    r.m.processes[0].lost_events = 9000;
    maker_again(&r.m, 0);
    result_finish(&r);
    assert_says(&r, "\n9000 events were over the budget: ");
    assert_says(&r, "\n17 of the kernel's records are lost: ");
    assert_says(&r, "\nMade of 4 traces by weir trace merge.\n");
    result_done(&r);
}

/* 400 files of 100 KB, three times; of the later times a part from memory. */
static void test_data_set(void **state)
{
    struct result r;

    result_run(&r, &script_plain);
    assert_says(&r,
                "  400 files (40.0 MB, 100 KB each); 120.0 MB read, 40.0 MB "
                "of it different (3.00 times); 0.0 % of the files were read "
                "once.\n");
    assert_says(&r, "  1200 reads: 100.0 % sequential, 100.0 % consecutive; "
                    "500.0 MB/s per request; 1200 opens, ");
    assert_says(&r, "  File access: many files, read one request behind the "
                    "other.\n");
    assert_says(&r, "  100.0 % of reads ask for 100000 bytes.\n");
    assert_says(&r, "\n  to 102400 B                1200   100.0      0.240   "
                    "100.0      500.0\n");
    r.a->set_counted = true;
    r.a->device_read = 30 * MB;
    assert_says(&r, "  Devices gave 30.0 MB: 75.0 % of what was read came from "
                    "the page cache.\n");
    r.a->resident = 10 * MB;
    r.a->resident_of = 40 * MB;
    assert_says(&r, "  25.0 % of the data set was in memory at the end.\n");
    result_done(&r);
}

static void test_ranks(void **state)
{
    struct script s = script_plain;
    struct result r;

    s.ranks = 4;
    result_run(&r, &s);
    assert_says(&r, "  File access: each rank has files of its own, read one "
                    "request behind the other; 30.0 to 30.0 MB per rank.\n");
    assert_says(&r, "  0 files were read by more than one rank.\n");
    result_done(&r);
    s.same = true;
    result_run(&r, &s);
    assert_says(&r, "ranks share files and read the same places, ");
    assert_says(&r, "  400 files were read by more than one rank.\n");
    r.a->same_bytes = 0;
    r.a->set_sequential = r.a->set_consecutive = 0;
    assert_says(&r,
                "ranks share files and read different places, read here and "
                "there;");
    result_done(&r);
}

/* Twelve epochs and saves are shown, the others counted. */
static void test_long_lists(void **state)
{
    struct script s = script_plain;
    struct result r;
    uint32_t file;
    char *text = NULL;

    s.epochs = 15;
    s.files = 60;
    result_begin(&r, &s);
    file = maker_kind(&r.m, WR_TRACE_DATA, "/out/model");
    for (uint64_t k = 0; k < 14; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                                  .file = file,
                                                  .offset = k * MB,
                                                  .bytes = MB,
                                                  .start_ns = k * 2000 * MS,
                                                  .dur_ns = MS});
    result_finish(&r);
    assert_int_equal(r.a->epoch_count, 15);
    assert_int_equal(r.a->save_count, 14);
    print_text(&r, 80, &text);
    assert_int_equal(count_of(text, "  and 3 more\n"), 1);
    assert_int_equal(count_of(text, "  and 2 more\n"), 1);
    assert_int_equal(count_of(text, "yes  /out/model\n"), 12);
    free(text);
    result_done(&r);
}

/* Names cannot move the cursor; text, unlike titles and tables,
 * keeps to the width. */
static void test_terminal(void **state)
{
    struct script s = script_plain;
    struct result r;
    const char *tables;
    char *text = NULL;

    s.folder = "/data/\033[31mred";
    result_run(&r, &s);
    print_text(&r, 60, &text);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "D01"));
    assert_non_null(strstr(text, "Top files"));
    tables = strstr(text, "\nReads (data set)");
    for (const char *at = text, *end; at < tables; at = end + 1) {
        end = strchr(at, '\n');
        assert_true(end - at <= 60 || !strncmp(at, "D0", 2)); /* or a title */
    }
    free(text);
    result_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_findings),   cmocka_unit_test(test_reservations),
        cmocka_unit_test(test_data_set),   cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_long_lists), cmocka_unit_test(test_terminal)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
