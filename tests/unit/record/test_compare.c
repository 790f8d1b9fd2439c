/* test_compare.c - when two sets of runs differ, and how records are matched.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "record/compare.h"
#include "record/doc_private.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static enum wr_verdict verdict(const double *a, size_t n, const double *b,
                               size_t m)
{
    struct wr_compared c;

    wr_compare_runs(a, n, b, m, &c);
    return c.verdict;
}

static void test_verdicts(void **state)
{
    const double low[] = {100, 101, 102, 103, 104};
    const double high[] = {110, 111, 112, 113, 114};
    const double across[] = {99, 105, 101.5, 103.5, 100.5};
    const double bit_more[] = {104.1, 104.2, 104.3, 104.4};

    assert_int_equal(verdict(low, 5, high, 5), WR_VERDICT_HIGHER);
    assert_int_equal(verdict(high, 5, low, 5), WR_VERDICT_LOWER);
    assert_int_equal(verdict(low, 4, high, 4), WR_VERDICT_HIGHER);
    assert_int_equal(verdict(low, 5, across, 5), WR_VERDICT_NOISE);
    assert_int_equal(verdict(low, 5, low, 5), WR_VERDICT_NOISE);
    /* Few runs: apart by 7 and 2 wide; apart by less than that. */
    assert_int_equal(verdict(low, 3, high, 2), WR_VERDICT_HIGHER);
    assert_int_equal(verdict(high, 3, low, 3), WR_VERDICT_LOWER);
    assert_int_equal(verdict(low, 5, bit_more, 3), WR_VERDICT_NOISE);
    assert_int_equal(verdict(low, 1, high, 5), WR_VERDICT_FEW);
    assert_int_equal(verdict(low, 5, high, 1), WR_VERDICT_FEW);
    assert_int_equal(verdict(low, 0, high, 0), WR_VERDICT_FEW);
}

/* Wholly apart, but by less than one percent. */
static void test_small_change(void **state)
{
    const double a[] = {1000, 1000.1, 1000.2, 1000.3};
    const double b[] = {1005, 1005.1, 1005.2, 1005.3};
    struct wr_compared c;

    wr_compare_runs(a, 4, b, 4, &c);
    assert_true(c.p < 0.05);
    assert_int_equal(c.verdict, WR_VERDICT_NOISE);
}

static void test_spread(void **state)
{
    const double a[] = {100, NAN, 200}, b[] = {300};
    struct wr_compared c;

    wr_compare_runs(a, 3, b, 1, &c);
    NEAR(c.a, 150);
    NEAR(c.ratio, 2);
    NEAR(c.low, 1.5 + 0.05 * 1.5);
    NEAR(c.high, 1.5 + 0.95 * 1.5);
    assert_true(isnan(c.p));
    wr_compare_runs(a, 1, b, 1, &c); /* one run of each has none */
    NEAR(c.ratio, 3);
    assert_true(isnan(c.low) && isnan(c.high));
}

/* Medians, ratio and p of runs that need not be as many; what is no number is
 * none. Few runs: apart by more than the wider of them is wide. */
static void test_runs(void **state)
{
    static const struct {
        const char *what;
        double a[6], b[6];
        size_t n, m;
        double median_a, median_b;
        bool has_p;
        enum wr_verdict verdict;
    } cases[] = {
        {"as many",
         {1, 2, 3, 4},
         {5, 6, 7, 8},
         4,
         4,
         2.5,
         6.5,
         true,
         WR_VERDICT_HIGHER},
        {"the other way",
         {5, 6, 7, 8},
         {4, 3, 2, 1},
         4,
         4,
         6.5,
         2.5,
         true,
         WR_VERDICT_LOWER},
        {"four and six",
         {1, 2, 3, 4},
         {5, 6, 7, 8, 9, 9},
         4,
         6,
         2.5,
         7.5,
         true,
         WR_VERDICT_HIGHER},
        {"one is no number",
         {1, 2, NAN, 3, 4},
         {5, 6, 7, 8},
         5,
         4,
         2.5,
         6.5,
         true,
         WR_VERDICT_HIGHER},
        {"three are left",
         {1, 2, NAN, 3},
         {5, 6, 7, 8},
         4,
         4,
         2,
         6.5,
         false,
         WR_VERDICT_NOISE},
        {"two that touch",
         {1, 2},
         {3, 4},
         2,
         2,
         1.5,
         3.5,
         false,
         WR_VERDICT_NOISE},
        {"two that lie apart",
         {1, 2},
         {3.1, 4},
         2,
         2,
         1.5,
         3.55,
         false,
         WR_VERDICT_HIGHER},
        {"the wider one counts",
         {1, 2},
         {4, 7},
         2,
         2,
         1.5,
         5.5,
         false,
         WR_VERDICT_NOISE},
        {"the same each time",
         {5, 5, 5},
         {5, 5, 5},
         3,
         3,
         5,
         5,
         false,
         WR_VERDICT_NOISE},
        {"below one percent",
         {1000, 1000},
         {1009.9, 1009.9},
         2,
         2,
         1000,
         1009.9,
         false,
         WR_VERDICT_NOISE},
        {"one percent",
         {1000, 1000},
         {1010, 1010},
         2,
         2,
         1000,
         1010,
         false,
         WR_VERDICT_HIGHER},
        {"one run", {1}, {5, 6, 7, 8}, 1, 4, 1, 6.5, false, WR_VERDICT_FEW},
        {"one number",
         {1, NAN, NAN, NAN},
         {5, 6, 7, 8},
         4,
         4,
         1,
         6.5,
         false,
         WR_VERDICT_FEW},
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct wr_compared c;

        wr_compare_runs(cases[k].a, cases[k].n, cases[k].b, cases[k].m, &c);
        if (c.verdict != cases[k].verdict || isnan(c.p) == cases[k].has_p)
            fail_msg("%s: verdict %d, p %g", cases[k].what, c.verdict, c.p);
        NEAR(c.a, cases[k].median_a);
        NEAR(c.b, cases[k].median_b);
        NEAR(c.ratio, cases[k].median_b / cases[k].median_a);
        assert_true(!(c.low > c.high));
    }
}

static void test_commands(void **state)
{
    static const struct {
        const char *command;
        bool known;
    } cases[] = {{"bench", true}, {"probe", true}, {"ckpt", true},
                 {"run", true},   {"plan", false}, {"", false}};

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        assert_int_equal(wr_compare_knows(cases[k].command), cases[k].known);
}

/* A record of bench cases: prefetch, and the rate of each of four runs. */
static json_t *make(const char *kernel, int threads, double scale,
                    const int *prefetch, size_t cases)
{
    json_t *list = json_array();

    for (size_t k = 0; k < cases; k++) {
        json_t *runs = json_array();

        for (int i = 0; i < 5; i++) /* the first is a warm-up far off */
            json_array_append_new(
                runs,
                json_pack("{s:f}", "samples_per_s",
                          i ? scale * (100 + i) * (prefetch[k] + 1) : 1.0));
        json_array_append_new(list, json_pack("{s:{s:i, s:i}, s:i, s:o}",
                                              "settings", "threads", threads,
                                              "prefetch", prefetch[k],
                                              "warm_up_runs", 1, "runs", runs));
    }
    return json_pack("{s:s, s:s, s:{s:s}, s:o}", "command", "bench", "time",
                     "t", "host", "kernel", kernel, "cases", list);
}

static bool has_note(const struct wr_doc *d, const char *text)
{
    const struct wr_doc_section *s = d->sections[0];

    for (size_t i = 0; i < s->note_count; i++)
        if (strstr(s->notes[i].text, text))
            return true;
    return false;
}

static void test_matching(void **state)
{
    json_t *a = make("6.1", 1, 1, (int[]){0, 1, 4}, 3);
    json_t *b = make("6.9", 2, 0.5, (int[]){4, 2, 0}, 3);
    struct wr_view_record r[2] = {{.path = "a", .label = "a", .json = a},
                                  {.path = "b", .label = "b", .json = b}};
    struct wr_doc *d = wr_doc_new("t", "");
    struct wr_comparison c;

    for (size_t i = 0; i < 2; i++)
        assert_true(wr_view_record_read(&r[i]));
    wr_compare(d, r, &c);
    assert_false(wr_doc_failed(d));
    assert_int_equal(c.rates, 2);
    assert_int_equal(c.slower, 2);
    NEAR(c.worst, 0.5);
    assert_string_equal(c.worst_name, "prefetch 0");
    assert_true(has_note(d, "Not the same: kernel, threads."));
    assert_true(has_note(d, "Only in A: prefetch 1."));
    assert_true(has_note(d, "Only in B: prefetch 2."));
    wr_doc_free(d);
    for (size_t i = 0; i < 2; i++)
        wr_view_record_done(&r[i]);
    json_decref(a);
    json_decref(b);
}

static void test_same(void **state)
{
    json_t *a = make("6.1", 1, 1, (int[]){0}, 1);
    struct wr_view_record r[2] = {{.path = "a", .label = "a", .json = a},
                                  {.path = "b", .label = "b", .json = a}};
    struct wr_doc *d = wr_doc_new("t", "");
    struct wr_comparison c;

    for (size_t i = 0; i < 2; i++)
        assert_true(wr_view_record_read(&r[i]));
    wr_compare(d, r, &c);
    assert_int_equal(c.rates, 1);
    assert_int_equal(c.faster + c.slower, 0);
    assert_true(isnan(c.worst));
    assert_true(has_note(d, "are the same"));
    wr_doc_free(d);
    for (size_t i = 0; i < 2; i++)
        wr_view_record_done(&r[i]);
    json_decref(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts), cmocka_unit_test(test_small_change),
        cmocka_unit_test(test_spread),   cmocka_unit_test(test_matching),
        cmocka_unit_test(test_same),     cmocka_unit_test(test_runs),
        cmocka_unit_test(test_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
