/* test_timeline.c - stretches of time, phases and epochs of made-up sums.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/analysis_private.h"

#define SEC UINT64_C(1000000000)

static struct wr_trace_bin *new_bins(void)
{
    struct wr_trace_bin *bins = calloc(WR_TRACE_BINS, sizeof(*bins));

    assert_non_null(bins);
    return bins;
}

/* A run that lasts longer than the bins reach makes them wider, and keeps sums. */
static void test_wider(void **state)
{
    struct wr_trace_analysis a = {.bins = new_bins(), .bin_ns = 10};
    uint64_t bytes = 0;

    (void)state;
    for (uint64_t k = 0; k < WR_TRACE_BINS; k++) {
        struct wr_trace_bin *b = wr_trace_bin_at(&a, 10 * k + 9);

        b->set_bytes += k;
        b->max_read_ns = k == 6 ? 70 : 7;
        b->marks = 1;
    }
    assert_int_equal(a.bin_ns, 10);
    assert_int_equal(a.bin_count, WR_TRACE_BINS);
    wr_trace_bin_at(&a, UINT64_C(10) * WR_TRACE_BINS)->set_bytes += 1000;
    assert_int_equal(a.bin_ns, 20);
    assert_int_equal(a.bin_count, WR_TRACE_BINS / 2 + 1);
    assert_int_equal(a.bins[3].set_bytes, 6 + 7);
    assert_int_equal(a.bins[3].max_read_ns, 70);
    assert_int_equal(a.bins[2].max_read_ns, 7);
    assert_int_equal(a.bins[3].marks, 2);
    assert_int_equal(a.bins[WR_TRACE_BINS / 2].set_bytes, 1000);
    assert_int_equal(a.bins[WR_TRACE_BINS / 2 + 1].set_bytes, 0);
    wr_trace_bin_at(&a, UINT64_C(10) * WR_TRACE_BINS * 100);
    assert_int_equal(a.bin_ns, 10 * 128);
    for (size_t k = 0; k < WR_TRACE_BINS; k++)
        bytes += a.bins[k].set_bytes;
    assert_int_equal(bytes, WR_TRACE_BINS * (WR_TRACE_BINS - 1) / 2 + 1000);
    free(a.bins);
}

/* A bin by a letter: what was done in it. */
static struct wr_trace_bin bin_of(char letter)
{
    switch (letter) {
    case 't': /* trains */
        return (struct wr_trace_bin){
            .set_reads = 1, .set_bytes = 100, .set_ns = 10};
    case 'e': /* evaluates: most bytes are of that part */
        return (struct wr_trace_bin){
            .set_reads = 1, .set_bytes = 100, .eval_bytes = 51, .set_ns = 10};
    case 'h': /* half of them */
        return (struct wr_trace_bin){
            .set_reads = 1, .set_bytes = 100, .eval_bytes = 50, .set_ns = 10};
    case 's': /* looks at names */
        return (struct wr_trace_bin){
            .scan_ops = 9, .scan_ns = 50, .meta_ops = 9, .meta_ns = 50};
    case 'S': /* while a little is read */
        return (struct wr_trace_bin){.set_reads = 1,
                                     .set_bytes = 100,
                                     .set_ns = 10,
                                     .scan_ops = 9,
                                     .scan_ns = 44,
                                     .meta_ns = 44};
    case 'i': /* loads modules */
        return (struct wr_trace_bin){.runtime_ops = 5, .runtime_ns = 50};
    case 'r': /* while a little is read */
        return (struct wr_trace_bin){.set_reads = 1,
                                     .set_bytes = 100,
                                     .set_ns = 10,
                                     .runtime_ops = 5,
                                     .runtime_ns = 50};
    case 'R': /* while a lot is read */
        return (struct wr_trace_bin){.set_reads = 1,
                                     .set_bytes = 1 << 20,
                                     .set_ns = 10,
                                     .runtime_ops = 5,
                                     .runtime_ns = 50};
    case 'o': /* while files are opened to be read */
        return (struct wr_trace_bin){.set_reads = 1,
                                     .set_bytes = 100,
                                     .set_ns = 10,
                                     .meta_ns = 45,
                                     .runtime_ops = 5,
                                     .runtime_ns = 50};
    case 'w': /* writes */
        return (struct wr_trace_bin){.written_bytes = 1, .write_ns = 5};
    default:
        return (struct wr_trace_bin){0};
    }
}

/* "import 0-2, train 2-5": of bins of a second each. */
static void phases_of(const char *letters, struct wr_trace_save *save,
                      char *ret, size_t cap)
{
    struct wr_trace_analysis a = {.bins = new_bins(),
                                  .bin_ns = SEC,
                                  .bin_count = strlen(letters),
                                  .end_ns = strlen(letters) * SEC,
                                  .saves = save,
                                  .save_count = save->end_ns > 0};
    weir_err err;
    size_t len = 0;

    for (size_t k = 0; letters[k]; k++)
        a.bins[k] = bin_of(letters[k]);
    assert_int_equal(wr_trace_phases(&a, &err), 0);
    *ret = '\0';
    for (size_t k = 0; k < a.phase_count; k++)
        len += (size_t)snprintf(ret + len, cap - len, "%s%s %g-%g",
                                k ? ", " : "",
                                wr_trace_phase_name(a.phases[k].kind),
                                (double)a.phases[k].start_ns / (double)SEC,
                                (double)a.phases[k].end_ns / (double)SEC);
    free(a.phases);
    free(a.bins);
}

static void test_phases(void **state)
{
    static const struct {
        const char *letters;
        double from, to; /* of a save, in seconds; 0: none */
        bool beside;     /* by another thread than the first one */
        const char *phases;
    } cases[] = {
        {"....", 0, 0, false, "idle 0-4"},
        {"iisstt", 0, 0, false, "import 0-2, scan 2-4, train 4-6"},
        /* Between steps it computes, or loads a module late. */
        {"tt..tt", 0, 0, false, "train 0-6"},
        {"ttiitt", 0, 0, false, "train 0-6"},
        {"ttstt", 0, 0, false, "train 0-5"},
        {"tt.ee.tt", 0, 0, false, "train 0-3, evaluate 3-6, train 6-8"},
        {"hhh", 0, 0, false, "train 0-3"},
        /* The last steps are computed, too. */
        {"..tt..", 0, 0, false, "idle 0-2, train 2-6"},
        {"i..tt", 0, 0, false, "import 0-3, train 3-5"},
        {"s..tt", 0, 0, false, "scan 0-1, idle 1-3, train 3-5"},
        {"i.i.s", 0, 0, false, "import 0-4, scan 4-5"},
        /* What counts where two things are done at once. */
        {"SSS", 0, 0, false, "scan 0-3"},
        {"rrr", 0, 0, false, "import 0-3"},
        {"RRR", 0, 0, false, "train 0-3"},
        {"ooo", 0, 0, false, "train 0-3"},
        /* Saves. */
        {"ttwtt", 2.2, 2.9, false, "train 0-2, checkpoint 2-3, train 3-5"},
        {"ttwtt", 2.2, 2.9, true, "train 0-5"},
        {"ttwtt", 0, 0, false, "train 0-5"},
        {"ttw.tt", 2.2, 2.9, false, "train 0-2, checkpoint 2-3, train 3-6"},
        {"ttww..", 2.2, 3.9, false, "train 0-2, checkpoint 2-4, idle 4-6"},
        {"tt...t", 2.2, 3.5, false, "train 0-2, checkpoint 2-4, train 4-6"},
        {"ttitt", 2.2, 2.9, false, "train 0-5"},
        {"ttt", 1.2, 1.9, false, "train 0-3"}, /* reads count for more */
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_trace_save save = {
            .start_ns = (uint64_t)(cases[k].from * (double)SEC),
            .end_ns = (uint64_t)(cases[k].to * (double)SEC),
            .main_thread = !cases[k].beside};
        char text[200];

        phases_of(cases[k].letters, &save, text, sizeof(text));
        if (strcmp(text, cases[k].phases) != 0)
            fail_msg("%zu, '%s': %s", k, cases[k].letters, text);
    }
    assert_string_equal(wr_trace_phase_name(WR_TRACE_PHASES), "?");
    assert_string_equal(wr_trace_phase_name(-1), "?");
}

/* A phase has the sums of its bins, and ends with the run. */
static void test_sums(void **state)
{
    struct wr_trace_analysis a = {.bins = new_bins(),
                                  .bin_ns = SEC,
                                  .bin_count = 4,
                                  .end_ns = 3 * SEC + 5};
    weir_err err;

    (void)state;
    for (size_t k = 0; k < 4; k++)
        a.bins[k] = bin_of(k ? 't' : 'i');
    a.bins[2].max_read_ns = 9;
    assert_int_equal(wr_trace_phases(&a, &err), 0);
    assert_int_equal(a.phase_count, 2);
    assert_int_equal(a.phases[0].sums.runtime_ops, 5);
    assert_int_equal(a.phases[0].sums.set_bytes, 0);
    assert_int_equal(a.phases[1].sums.set_bytes, 300);
    assert_int_equal(a.phases[1].sums.set_reads, 3);
    assert_int_equal(a.phases[1].sums.max_read_ns, 9);
    assert_int_equal(a.phases[1].start_ns, SEC);
    assert_int_equal(a.phases[1].end_ns, 3 * SEC + 5);
    free(a.phases);
    free(a.bins);
}

/* --- epochs --- */

/* A pass over files whose reads are spread evenly from one second to another. */
struct pass {
    double from, to;
    uint64_t files, bytes;
};

static struct wr_pass_stat stat_of(const struct pass *p)
{
    double mean = (p->from + p->to) / 2, length = p->to - p->from;

    return (struct wr_pass_stat){
        .files = p->files,
        .bytes = p->bytes,
        .weight = p->to > 0,
        .time = p->to > 0 ? mean : 0,
        .time2 = p->to > 0 ? mean * mean + length * length / 12 : 0};
}

/* The reads of each pass are in the bins of its time, a second each. */
static struct wr_trace_walk *walk_of(const struct pass *list, size_t count)
{
    struct wr_trace_walk *w = calloc(1, sizeof(*w));
    struct wr_trace_analysis *a = calloc(1, sizeof(*a));

    assert_true(w && a);
    w->a = a;
    w->passes = calloc(count + 1, sizeof(*w->passes));
    w->pass_count = count;
    a->bins = new_bins();
    a->bin_ns = SEC;
    for (size_t k = 0; k < count; k++) {
        w->passes[k] = stat_of(&list[k]);
        for (uint64_t s = (uint64_t)list[k].from; s < list[k].to; s++) {
            struct wr_trace_bin *b = wr_trace_bin_at(a, s * SEC);

            b->set_reads += 10;
            b->set_bytes += 1000;
            b->pass_sum += 10 * (k + 1);
        }
    }
    a->end_ns = a->bin_count * SEC - 7;
    return w;
}

static void free_walk(struct wr_trace_walk *w)
{
    free(w->a->bins);
    free(w->a->epochs);
    free(w->a);
    free(w->passes);
    free(w);
}

static void expect_epochs(const struct wr_trace_walk *w, const char *want)
{
    char text[300] = "";
    size_t len = 0;

    for (size_t k = 0; k < w->a->epoch_count; k++) {
        const struct wr_trace_epoch *e = &w->a->epochs[k];

        len += (size_t)snprintf(
            text + len, sizeof(text) - len, "%s%.0f-%.0f of %u", k ? ", " : "",
            (double)e->start_ns / (double)SEC, (double)e->end_ns / (double)SEC,
            (unsigned)e->files);
    }
    assert_string_equal(text, want);
}

static void test_epochs(void **state)
{
    static const struct {
        const char *want;
        struct pass list[4];
        size_t count;
    } cases[] = {
        {"", {{0, 0, 0, 0}}, 0},
        {"0-10 of 100", {{0, 10, 100, 1000}}, 1},
        {"0-10 of 100, 10-20 of 100",
         {{0, 10, 100, 1000}, {10, 20, 100, 1000}},
         2},
        {"0-10 of 100, 10-20 of 100, 20-30 of 90",
         {{0, 10, 100, 1000}, {10, 20, 100, 1000}, {20, 30, 90, 900}},
         3},
        /* Two that overlap by half are one; by less they are two. */
        {"0-14 of 100", {{0, 10, 100, 1000}, {4, 14, 90, 1000}}, 2},
        {"0-6 of 100, 6-16 of 90", {{0, 10, 100, 1000}, {6, 16, 90, 1000}}, 2},
        /* What few files have, or few of the bytes, is no epoch. */
        {"0-10 of 100, 10-21 of 100",
         {{0, 10, 100, 1000}, {10, 20, 100, 1000}, {20, 21, 4, 900}},
         3},
        {"0-10 of 100, 10-21 of 100",
         {{0, 10, 100, 1000}, {10, 20, 100, 1000}, {20, 21, 90, 49}},
         3},
        /* What nothing was read in is left out at the end. */
        {"0-10 of 100", {{0, 10, 100, 1000}, {0, 0, 0, 0}}, 2},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_trace_walk *w = walk_of(cases[k].list, cases[k].count);
        weir_err err;

        assert_int_equal(wr_trace_epochs(w, &err), 0);
        expect_epochs(w, cases[k].want);
        free_walk(w);
    }
}

/* Ranks that read the same places of one file, one after the other. */
static void test_epochs_of_ranks(void **state)
{
    static const struct pass list[] = {
        {0, 10, 1, 900}, {10, 20, 1, 900}, {20, 30, 1, 900}, {30, 40, 1, 900}};
    static const struct {
        uint32_t ranks;
        uint64_t same, unique;
        size_t epochs;
    } cases[] = {
        {2, 1200, 900, 2}, /* a third of all bytes were read by both */
        {2, 1199, 900, 4}, /* less */
        {2, 3600, 600, 2}, /* a pass has as much as half of the file more */
        {2, 3600, 599, 4}, /* more than that: side by side */
        {3, 3600, 900, 4}, /* cannot be dealt out to three */
        {4, 3600, 900, 1}, {1, 3600, 900, 4}, {0, 3600, 900, 4},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_trace_walk *w = walk_of(list, WR_ARRAY_LEN(list));
        weir_err err;

        w->a->ranks = cases[k].ranks;
        w->a->same_bytes = cases[k].same;
        w->a->set_unique = cases[k].unique;
        assert_int_equal(wr_trace_epochs(w, &err), 0);
        assert_int_equal(w->a->epoch_count, cases[k].epochs);
        assert_int_equal(w->a->epochs[0].end_ns / SEC,
                         cases[k].epochs == 1 ? 39 : 40 / cases[k].epochs);
        free_walk(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wider),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_epochs_of_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
