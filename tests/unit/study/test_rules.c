/* test_rules.c - each rule with cells that hold, that do not, and none.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "made_up.h"

#define HOLDS  WR_RULING_HOLDS
#define FAILS  WR_RULING_FAILS
#define UNSEEN WR_RULING_UNSEEN

/* --- Table I --- */

static const struct {
    const char *device;
    double read, write;
} table1[] = {{"hdd", 163.00, 133.14},
              {"ssd", 280.55, 195.05},
              {"optane", 1603.06, 511.78},
              {"lustre", 1968.618, 991.914}};

static void fill_table1(struct wr_study *st, double factor, double disk)
{
    char id[64];

    made_up_study(st, "table1", 2);
    for (size_t k = 0; k < WR_ARRAY_LEN(table1); k++) {
        snprintf(id, sizeof(id), "probe-%s", table1[k].device);
        made_up_number(st, id, "read", table1[k].read * factor);
        made_up_number(st, id, "write", table1[k].write * factor);
    }
    made_up_number(st, "probe-disk", "read", disk);
    made_up_number(st, "probe-disk", "write", disk);
}

static void test_table1(void **state)
{
    struct wr_study st;

    fill_table1(&st, 0.99, 5000);
    made_up_judge(&st, HOLDS, "8 of 8 bandwidths are within 1.0 %");
    fill_table1(&st, 0.9, 5000);
    made_up_judge(&st, FAILS, "the paper states 163");
    fill_table1(&st, 0.9, 5000);
    st.scale.probe_bytes = 4000000;
    made_up_judge(&st, UNSEEN, "a file of 4 MB");
    /* A device cannot be faster than what is behind it. */
    fill_table1(&st, 0.9, 100);
    made_up_judge(&st, UNSEEN, "because the disk behind it reads only 100");
    made_up_study(&st, "table1", 2);
    made_up_judge(&st, UNSEEN, "was not measured");
}

/* --- Fig. 5 and 4 --- */

static void feed(struct wr_study *st, const char *device, unsigned threads,
                 const char *what, double rate)
{
    char id[96];

    snprintf(id, sizeof(id), "feed-imagenet-%s-t%u-%s", device, threads, what);
    made_up_number(st, id, "value", rate);
    made_up_number(st, id, "bytes_per_s", rate * 113e3);
    made_up_number(st, id, "decode_per_s", 650);
    made_up_number(st, id, "starved", 0);
}

/* Rates of a device with 1, 2, 4 and 8 threads. */
static void feed_all(struct wr_study *st, const char *device, const char *what,
                     const double rates[4])
{
    for (unsigned k = 0; k < 4; k++)
        feed(st, device, 1u << k, what, rates[k]);
}

static void fill_fig5(struct wr_study *st, double lustre8)
{
    made_up_study(st, "fig5", 2);
    feed_all(st, "hdd", "read", (double[]){100, 165, 195, 230});
    feed_all(st, "lustre", "read", (double[]){500, 1000, 2000, lustre8});
}

static void test_fig5(void **state)
{
    struct wr_study st;

    fill_fig5(&st, 3900);
    made_up_judge(&st, HOLDS, "lustre 7.80x with 8 threads (paper 7.80x)");
    fill_fig5(&st, 2000);
    made_up_judge(&st, FAILS, "lustre 4.00x");
    made_up_study(&st, "fig5", 2);
    made_up_judge(&st, UNSEEN, "hdd with 8 threads was not measured");
    fill_fig5(&st, 2000);
    for (size_t k = 0; k < st.cell_count; k++)
        made_up_number(&st, st.cells[k]->id, "starved", 1);
    made_up_judge(&st, UNSEEN, "other programs had the cores");
    fill_fig5(&st, 3900);
    made_up_number(&st, "feed-imagenet-disk-t8-read", "resident", 0.5);
    made_up_judge(&st, HOLDS, "could not be made cold");
    fill_fig5(&st, 3900);
    st.scale.images = 10;
    made_up_judge(&st, UNSEEN, "too few");
}

static void fill_fig4(struct wr_study *st, unsigned cores, double ssd2,
                      double hdd8)
{
    made_up_study(st, "fig4,fig5", cores);
    feed_all(st, "hdd", "all", (double[]){100, 165, 195, hdd8});
    feed_all(st, "ssd", "all", (double[]){500, ssd2, 1300, 1300});
    feed_all(st, "optane", "all", (double[]){600, 1150, 1300, 1300});
    feed_all(st, "lustre", "all", (double[]){400, 780, 1300, 1300});
    feed_all(st, "hdd", "read", (double[]){100, 165, 195, hdd8});
    feed_all(st, "ssd", "read", (double[]){1300, 2400, 2480, 2480});
    feed_all(st, "optane", "read", (double[]){7000, 14000, 14100, 14100});
    feed_all(st, "lustre", "read", (double[]){500, 1000, 2000, 3900});
}

static void test_fig4(void **state)
{
    struct wr_study st;

    fill_fig4(&st, 2, 980, 230);
    made_up_judge(&st, HOLDS, "reading alone, for here the cores limit it");
    /* Two of three still double: "most devices". */
    fill_fig4(&st, 2, 510, 230);
    made_up_judge(&st, HOLDS, "1.02x on SSD");
    fill_fig4(&st, 2, 980, 390);
    made_up_judge(&st, FAILS, "HDD gains 2.00x");
    made_up_study(&st, "fig4", 2);
    made_up_judge(&st, UNSEEN, "were not measured");
    fill_fig4(&st, 1, 500, 230);
    made_up_judge(&st, HOLDS, "one core cannot decode for two threads");
}

static void test_fig4_ceiling(void **state)
{
    const struct wr_point *p;
    struct wr_study st;

    fill_fig4(&st, 2, 980, 230);
    wr_figure_fig4.finish(&st, &wr_figure_fig4);
#define CEILING(device, threads)                                               \
    wr_study_value(&st, &wr_figure_fig4, WR_AT(device, "ceiling", threads))
    assert_true(CEILING("hdd", "8") == 230);
    assert_true(CEILING("ssd", "1") == 650);
    assert_true(CEILING("ssd", "8") == 1300);
    p = wr_study_point(&st, &wr_figure_fig4, WR_AT("hdd", "here", "8"));
    assert_string_equal(p->limit, "device");
    p = wr_study_point(&st, &wr_figure_fig4, WR_AT("ssd", "here", "2"));
    assert_string_equal(p->limit, "threads");
    p = wr_study_point(&st, &wr_figure_fig4, WR_AT("ssd", "here", "8"));
    assert_string_equal(p->limit, "cores");
    wr_study_done(&st);
}

/* --- Fig. 6 and 8 --- */

static const char *const devices[] = {"hdd", "ssd", "optane", "lustre"};

/* Runs of 10 steps of 375 ms; the input takes `input` of that on HDD. */
static void fill_fig6(struct wr_study *st, const char *only, double with,
                      double excess)
{
    const double compute = 3.75;

    made_up_study(st, only, 2);
    for (size_t d = 0; d < 4; d++)
        for (unsigned t = 1; t <= 8; t += 7) {
            double input = 1.4 / (double)(d + 1) / t;
            char id[96];

#define RUN(suffix, key, value)                                                \
    snprintf(id, sizeof(id), "train-caltech101-%s-t%u-b16-" suffix,            \
             devices[d], t);                                                   \
    made_up_number(st, id, key, value)
            RUN("p1-i10-ms=375", "value", compute * with);
            RUN("p1-i10-ms=375", "compute_s", compute);
            RUN("p1-i10-ms=375", "wait_s", 0);
            RUN("p1-i10-ms=375", "read_rate", 2.27 / compute);
            RUN("p0-i10-ms=375", "value", (compute + input) * excess);
            RUN("p0-i10-ms=375", "compute_s", compute);
            RUN("p0-i10-ms=375", "wait_s", input);
            RUN("p0-i10-ms=375", "read_rate", 2.27 / (compute + input));
            if (!strcmp(only, "fig6")) {
                RUN("p0-i10-none", "value", input);
            }
#undef RUN
        }
}

static void test_fig6(void **state)
{
    struct wr_study st;

    fill_fig6(&st, "fig6", 1.01, 1.01);
    made_up_judge(&st, HOLDS, "8 runs are within 1.0 % of computing alone");
    fill_fig6(&st, "fig6", 1.03, 1);
    made_up_judge(&st, FAILS, "within 3.0 %");
    fill_fig6(&st, "fig6", 1, 1.05);
    made_up_judge(&st, FAILS, "add up within 5.0 %");
    made_up_study(&st, "fig6", 2);
    made_up_judge(&st, UNSEEN, "were not measured");
    fill_fig6(&st, "fig6", 1.03, 1);
    for (size_t k = 0; k < st.cell_count; k++)
        made_up_number(&st, st.cells[k]->id, "starved", 1);
    made_up_judge(&st, UNSEEN, "other programs had the cores");
}

static void trace(struct wr_study *st, const char *id, double rate, double wait)
{
    char name[96];

    snprintf(name, sizeof(name), "train-caltech101-%s", id);
    made_up_number(st, name, "read_rate", rate);
    made_up_number(st, name, "value", 5);
    made_up_number(st, name, "wait_s", wait);
}

static void fill_fig8(struct wr_study *st, double hdd, double ssd, double wait)
{
    made_up_study(st, "fig8", 2);
    trace(st, "hdd-t1-b16-p0-i10-ms=375", 10, wait);
    trace(st, "hdd-t1-b16-p1-i10-ms=375", 10 * hdd, 0);
    trace(st, "ssd-t1-b16-p0-i10-ms=375", 10, 0.1);
    trace(st, "ssd-t1-b16-p1-i10-ms=375", 10 * ssd, 0);
}

static void test_fig8(void **state)
{
    struct wr_study st;

    fill_fig8(&st, 1.35, 1.04, 1.25);
    made_up_judge(&st, HOLDS, "75 % of the time nothing is read");
    fill_fig8(&st, 1.00, 1.00, 1.25);
    made_up_judge(&st, FAILS, "1.00x");
    fill_fig8(&st, 1.2, 1.5, 1.25);
    made_up_judge(&st, FAILS, "on SSD the gain is 1.50x");
    made_up_study(&st, "fig8", 2);
    made_up_judge(&st, UNSEEN, "were not traced");
}

/* --- Fig. 7 --- */

static void fill_fig7(struct wr_study *st, double largest)
{
    made_up_study(st, "fig7", 2);
    made_up_number(st, "train-caltech101-ssd-t8-b8-p1-i16-K4000", "value", 7.2);
    made_up_number(st, "train-caltech101-ssd-t8-b32-p1-i4-K4000", "value", 3.6);
    made_up_number(st, "train-caltech101-ssd-t8-b128-p1-i1-K4000", "value",
                   largest);
    made_up_number(st, "train-caltech101-ssd-t8-b8-p0-i16-K4000", "value", 7.3);
    made_up_number(st, "train-caltech101-ssd-t8-b32-p0-i4-K4000", "value", 3.7);
    made_up_number(st, "train-caltech101-ssd-t8-b128-p0-i1-K4000", "value",
                   2.8);
}

static void test_fig7(void **state)
{
    struct wr_study st;

    assert_true(wr_figure_fig7.calibration);
    fill_fig7(&st, 2.7);
    made_up_judge(&st, HOLDS, "is an assumption");
    fill_fig7(&st, 4);
    made_up_judge(&st, FAILS, "31.2 ms in batches of 128");
    made_up_study(&st, "fig7", 2);
    made_up_judge(&st, UNSEEN, "were not measured");
}

/* --- Fig. 9 and 10 --- */

static void save(struct wr_study *st, const char *to, double run, double each)
{
    char id[96];

    snprintf(id, sizeof(id),
             "train-caltech101-ssd-t8-b16-p1-i10-ms=375-save-%s", to);
    made_up_number(st, id, "value", run);
    made_up_number(st, id, "save_median_s", each);
}

static void fill_fig9(struct wr_study *st, double burst, double async)
{
    made_up_study(st, "fig9", 2);
    save(st, "none", 3.75, 0);
    save(st, "hdd", 3.75 + 8.6, 4.3);
    save(st, "ssd", 3.75 + 5.8, 2.9);
    save(st, "optane", 3.75 + 2.2, 1.1);
    save(st, "lustre", 3.75 + 1.2, 0.6);
    save(st, "burst", 3.75 + 2 * burst, burst);
    save(st, "async", 3.75 + 2 * async, async);
}

static void test_fig9(void **state)
{
    struct wr_study st;

    fill_fig9(&st, 1.15, 0.03);
    made_up_judge(&st, HOLDS, "3.7x as long as through the burst buffer");
    fill_fig9(&st, 2.0, 0.03);
    made_up_judge(&st, FAILS, "2.1x");
    fill_fig9(&st, 1.15, 0.5);
    made_up_judge(&st, FAILS, "9x as long as an asynchronous one");
    fill_fig9(&st, 1.15, 0.03);
    save(&st, "async", 6, 0.03); /* it saves in no time, but slows the run */
    made_up_judge(&st, FAILS, "1125 ms");
    fill_fig9(&st, 1.15, 0.03);
    save(&st, "ssd", 30, 2.9);
    made_up_judge(&st, FAILS, "30.0 s to SSD");
    made_up_study(&st, "fig9", 2);
    made_up_judge(&st, UNSEEN, "were not measured");
}

static void fill_fig10(struct wr_study *st, double after, double direct)
{
    made_up_study(st, "fig10", 2);
    made_up_number(st, "train-caltech101-ssd-t8-b16-p1-i10-ms=375-save-hdd",
                   "fast_mb", 1119);
    made_up_number(st, "train-caltech101-ssd-t8-b16-p1-i10-ms=375-save-hdd",
                   "fast_after_mb", direct);
    made_up_number(st, "train-caltech101-ssd-t8-b16-p1-i10-ms=375-save-burst",
                   "slow_mb", 1119);
    made_up_number(st, "train-caltech101-ssd-t8-b16-p1-i10-ms=375-save-burst",
                   "slow_after_mb", after);
    made_up_number(st, "train-caltech101-ssd-t8-b16-p1-i10-ms=375-save-burst",
                   "flush_s", 5.6);
}

static void test_fig10(void **state)
{
    struct wr_study st;

    fill_fig10(&st, 640, 0);
    made_up_judge(&st, HOLDS, "640 of 1119 MB reach the HDD after the end");
    fill_fig10(&st, 0, 0);
    made_up_judge(&st, FAILS, "0 of 1119 MB");
    fill_fig10(&st, 640, 500);
    made_up_judge(&st, FAILS, "of checkpoints to the HDD itself 45 % do");
    made_up_study(&st, "fig10", 2);
    made_up_judge(&st, UNSEEN, "were not traced");
}

/* --- formats --- */

static void fill_formats(struct wr_study *st, double png, double jpeg_large)
{
    made_up_study(st, "formats", 2);
    made_up_number(st, "feed-tensor-224-memory-t2-all", "value", 20000);
    made_up_number(st, "feed-tensor-768-memory-t2-all", "value", 2000);
    made_up_number(st, "feed-png-224-memory-t2-all", "value", png);
    made_up_number(st, "feed-png-768-memory-t2-all", "value", 100);
    made_up_number(st, "feed-jpeg-224-memory-t2-all", "value", 3000);
    made_up_number(st, "feed-jpeg-768-memory-t2-all", "value", jpeg_large);
}

static void test_formats(void **state)
{
    struct wr_study st;

    fill_formats(&st, 1000, 300);
    made_up_judge(&st, HOLDS, "png: 1000 images/s at 224, 100 at 768");
    fill_formats(&st, 90, 300);
    made_up_judge(&st, FAILS, "png: 90 images/s at 224, 100 at 768");
    fill_formats(&st, 1000, 2500);
    made_up_judge(&st, FAILS, "jpeg at 768 is faster than tensors");
    made_up_study(&st, "formats", 2);
    made_up_judge(&st, UNSEEN, "tensor was not measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table1), cmocka_unit_test(test_fig5),
        cmocka_unit_test(test_fig4),   cmocka_unit_test(test_fig4_ceiling),
        cmocka_unit_test(test_fig6),   cmocka_unit_test(test_fig7),
        cmocka_unit_test(test_fig8),   cmocka_unit_test(test_fig9),
        cmocka_unit_test(test_fig10),  cmocka_unit_test(test_formats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
