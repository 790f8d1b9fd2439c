/* test_histogram.c - histograms and classes of data sets of made-up sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../format/tmpdir.h"
#include "base/mem.h"
#include "cli/inspect_stats.h"

/* Files of these sizes, in one folder of a class or of several. */
struct made {
    struct tmpdir t;
    weir_dataset *ds;
    struct wr_inspect_stats s;
};

static void put_sized(const struct tmpdir *t, const char *name, uint64_t size)
{
    FILE *f = fopen(tmpdir_at(t, name), "we");

    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), (off_t)size), 0);
    assert_int_equal(fclose(f), 0);
}

static void make(struct made *m, const uint64_t *sizes, size_t count)
{
    weir_dataset_config cfg;
    weir_err err;

    *m = (struct made){0};
    tmpdir_init(&m->t);
    tmpdir_mkdir(&m->t, "a");
    for (size_t k = 0; k < count; k++) {
        char name[30];

        snprintf(name, sizeof(name), "a/%03zu.jpg", k);
        put_sized(&m->t, name, sizes[k]);
    }
    weir_dataset_defaults(&cfg);
    cfg.format = "images";
    cfg.no_index_cache = 1;
    if (weir_dataset_open(&m->ds, m->t.path, &cfg, &err) < 0 ||
        wr_inspect_stats(m->ds, &m->s, &err) < 0)
        fail_msg("%s", err.msg);
}

static void unmake(struct made *m)
{
    wr_inspect_stats_done(&m->s);
    weir_dataset_close(&m->ds);
    tmpdir_done(&m->t);
}

/* "100-120:2 ... 580-:1": the bins that are not empty, and all there are. */
static void bins_of(const struct wr_inspect_stats *s, char *ret, size_t cap)
{
    size_t len = (size_t)snprintf(ret, cap, "%u:", s->bins);

    for (unsigned k = 0; k < s->bins; k++) {
        const struct wr_inspect_bin *b = &s->bin[k];
        char to[24] = "";

        if (k)
            assert_int_equal(b->from, s->bin[k - 1].to);
        if (b->to)
            snprintf(to, sizeof(to), "%" PRIu64, b->to);
        if (b->count)
            len += (size_t)snprintf(ret + len, cap - len,
                                    " %" PRIu64 "-%s=%" PRIu64, b->from, to,
                                    b->count);
    }
}

static void test_bins(void **state)
{
    static const struct {
        const char *what, *bins;
        uint64_t sizes[12];
        size_t count;
    } cases[] = {
        {"of one size", "0:", {500, 500, 500}, 3},
        {"two sizes", "6: 100-110=1 150-=1", {100, 150}, 2},
        /* Steps of 1, 2 or 5 times a power of ten: a twentieth, at least. */
        {"up to 300: steps of 20",
         "14: 20-40=1 140-160=1 280-=1",
         {30, 150, 299},
         3},
        {"up to 1000: steps of 50",
         "20: 50-100=1 500-550=1 1000-=1",
         {51, 520, 1000},
         3},
        {"single bytes", "5: 1-2=1 3-4=1 5-=1", {1, 3, 5}, 3},
        /* Of different orders: powers of two, the first from 0 or below the
         * least. */
        {"different orders",
         "8: 0-1024=2 4096-8192=1 65536-=1",
         {10, 20, 5000, 70000},
         4},
        {"none is small",
         "7: 4096-8192=3 262144-=1",
         {5000, 5001, 5002, 300000},
         4},
        {"on an edge",
         "8: 1024-2048=3 131072-=1",
         {1024, 1024, 1025, 131072},
         4},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        uint64_t all = 0;
        struct made m;
        char bins[400];

        make(&m, cases[k].sizes, cases[k].count);
        bins_of(&m.s, bins, sizeof(bins));
        if (strcmp(bins, cases[k].bins) != 0)
            fail_msg("%s: %s", cases[k].what, bins);
        for (size_t i = 0; i < cases[k].count; i++)
            all += cases[k].sizes[i];
        assert_int_equal(m.s.bytes, all);
        assert_int_equal(m.s.count, cases[k].count);
        unmake(&m);
    }
}

/* --- what was looked at --- */

static void test_dims(void **state)
{
    /* Width, height, how many. The fifth and sixth are as many. */
    static const struct wr_inspect_dim dims[] = {
        {10, 10, 3}, {20, 10, 7}, {10, 20, 5}, {30, 30, 1},
        {40, 40, 2}, {50, 50, 4}, {60, 60, 1}};
    static const uint64_t counts[] = {7, 5, 4, 3, 2};
    struct wr_inspect_found found[40];
    struct wr_inspect_pictures p;
    size_t n = 0;

    (void)state;
    for (size_t round = 0; round < 7; round++) /* one after the other */
        for (size_t k = 0; k < WR_ARRAY_LEN(dims); k++)
            if (round < dims[k].count)
                found[n++] = (struct wr_inspect_found){.width = dims[k].width,
                                                       .height = dims[k].height,
                                                       .kind = WR_PICTURE_PNG,
                                                       .components = 3};
    wr_inspect_count_pictures(found, n, &p);
    assert_int_equal(p.good, 23);
    assert_int_equal(p.of_kind[WR_PICTURE_PNG], 23);
    assert_true(p.distinct == 7 && p.others == 2);
    for (size_t k = 0; k < WR_INSPECT_TOP_DIMS; k++)
        assert_int_equal(p.dims[k].count, counts[k]);
    assert_int_equal(p.dims[0].width, 20);
    assert_int_equal(p.dims[1].height, 20);
    assert_true(p.width.min == 10 && p.width.max == 60);
    wr_inspect_count_pictures(found, 0, &p);
    assert_true(p.good == 0 && p.distinct == 0 && p.others == 0);
    assert_true(p.width.min != p.width.min); /* there is none */
}

static void test_labels(void **state)
{
    static const struct {
        uint32_t labels[8];
        size_t count, classes, smallest, largest;
        uint64_t most, unlabelled;
    } cases[] = {
        {{0}, 0, 0, 0, 0, 0, 0},
        {{5, 5, 5}, 3, 1, 0, 0, 3, 0},
        {{9, 1, 9, 4, 9, 4}, 6, 3, 0, 2, 3, 0},
        /* Of as many, the first by number. */
        {{3, 2, 1, 0}, 4, 4, 0, 0, 1, 0},
        {{WEIR_NO_LABEL, 7, WEIR_NO_LABEL}, 3, 1, 0, 0, 1, 2},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_inspect_found found[8] = {{0}};
        struct wr_inspect_labels l;

        for (size_t i = 0; i < cases[k].count; i++)
            found[i] = (struct wr_inspect_found){
                .width = 1, .height = 1, .label = cases[k].labels[i]};
        assert_int_equal(
            wr_inspect_count_labels(found, cases[k].count, &l, NULL), 0);
        assert_int_equal(l.count, cases[k].classes);
        assert_int_equal(l.unlabelled, cases[k].unlabelled);
        assert_int_equal(l.smallest, cases[k].smallest);
        assert_int_equal(l.largest, cases[k].largest);
        if (l.count)
            assert_int_equal(l.list[l.largest].samples, cases[k].most);
        for (size_t i = 1; i < l.count; i++)
            assert_true(l.list[i - 1].label < l.list[i].label);
        free(l.list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bins),
        cmocka_unit_test(test_dims),
        cmocka_unit_test(test_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
