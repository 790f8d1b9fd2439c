/* test_times.c - logs of trainings as they are printed, and what they are not.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/times.h"

/* A text, and the batches that it has: "917=1040 918=43". */
struct good {
    const char *text, *pairs;
    size_t skipped;
};

static const struct good good[] = {
    {"0,10\n1,20\n", "0=10 1=20", 0},
    {"batch,ms\n5,10\n6,20.5\n", "5=10 6=20.5", 0},
    {"\"batch\",\"ms\"\n\"5\",\"10\"\n\"6\",\"1,040\"\n", "5=10 6=1040", 0},
    {"5\t10\r\n6\t20\r\n", "5=10 6=20", 0},
    {"batch;ms\n5;10,5\n6;20,25\n", "5=10.5 6=20.25", 0},
    {"\xef\xbb\xbf"
     "batch,ms\n1,2\n",
     "1=2", 0},
    {"1 2", "1=2", 0},
    {"  1   2  \n\n   \n 2\t 3\n", "1=2 2=3", 0},
    {"1:2\n2:3\n", "1=2 2=3", 0},
    /* units */
    {"batch,seconds\n5,0.01\n6,1.5\n", "5=10 6=1500", 0},
    {"step;time_s\n5;0,25\n", "5=250", 0},
    {"batch,duration (us)\n5,2500\n", "5=2.5", 0},
    {"batch seconds\n5 0.5\n", "5=500", 0},
    {"batch 5: 10 ms\nbatch 6: 1.5 s\nbatch 7: 20ms\n", "5=10 6=1500 7=20", 0},
    /* columns by name */
    {"epoch,batch,loss,ms\n0,5,0.1,10\n0,6,0.2,20\n", "5=10 6=20", 0},
    {"ms,batch\n10,5\n20,6\n", "5=10 6=20", 0},
    {"time,batch,ms\n12:00:01,5,10\n12:00:02,6,20\n", "5=10 6=20", 0},
    {"batch,data_time,ms\n5,3,10\n", "5=10", 0},
    {"batch,batch_size,ms\n5,64,10\n", "5=10", 0},
    {"batch,ms\n5,\n6,nan\n7,30\n8,null\n9,20\n10,1\n", "7=30 9=20 10=1", 3},
    /* comments, and what is in between */
    {"# weir\n// x\n5,10\n#6,1\n7,20\n", "5=10 7=20", 0},
    {"start\n5,10\nWarning: slow\n6,20\n7,30\n", "5=10 6=20 7=30", 2},
    /* logs */
    {"training logs:\tbatch,\tms\nbatch_results: 917 ,\t1040\n"
     "batch results\t: 918,\t<mark>43</mark>\n",
     "917=1040 918=43", 0},
    {"Epoch: [0][  10/5005]\tTime  0.193 ( 0.451)\tData  0.001 ( 0.2)\t"
     "Loss 6.9 (6.9)\nEpoch: [0][  20/5005]\tTime  0.250 ( 0.451)\n",
     "10=193 20=250", 0},
    {"2026-11-17 09:04:11,123 INFO step 5 loss 2.31 took 43 ms\n"
     "2026-11-17T09:04:12.5Z [rank 0] step=6 loss=2.30 took 1.5 s\n",
     "5=43 6=1500", 0},
    {"gpu0 resnet50 batch5 10\ngpu0 resnet50 batch6 20\n", "5=10 6=20", 0},
    {"batch 5 (45%): 10\n", "5=10", 0},
    {"step 100 | loss 2.1e-01 | 7.5e1 ms\n", "100=75", 0},
    /* epochs: numbers go on */
    {"0,1\n1,2\n2,3\n0,4\n1,5\n2,6\n", "0=1 1=2 2=3 3=4 4=5 5=6", 0},
    {"1,1\n2,2\n1,4\n2,5\n", "1=1 2=2 3=4 4=5", 0},
    {"7,1\n8,2\n0,4\n1,5\n", "7=1 8=2 9=4 10=5", 0},
    {"0,1\n10,2\n20,3\n0,4\n10,5\n", "0=1 10=2 20=3 30=4 40=5", 0},
    {"3,1\n9,0\n", "3=1 9=0", 0},
};

static void expect(const struct good *g)
{
    struct wr_plan_times t;
    weir_err err = {0};
    char pairs[200] = "";
    int r = wr_plan_times_parse(g->text, strlen(g->text), "log", &t, &err);

    if (r < 0)
        fail_msg("%s: %s", g->text, err.msg);
    for (size_t i = 0; i < t.count; i++) {
        char pair[40];

        snprintf(pair, sizeof(pair), "%s%llu=%.10g", i ? " " : "",
                 (unsigned long long)t.batch[i], t.ms[i]);
        strncat(pairs, pair, sizeof(pairs) - strlen(pairs) - 1);
    }
    if (strcmp(pairs, g->pairs) != 0 || t.skipped != g->skipped)
        fail_msg("%s: %s, %zu skipped", g->text, pairs, t.skipped);
    wr_plan_times_done(&t);
}

static void test_good(void **state)
{
    for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++)
        expect(&good[k]);
}

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "'log': empty"},
    {"\n\n# nothing\n", "'log': empty"},
    {"batch,ms\n", "'log': empty"},
    {"hello\n",
     "'log': line 1: no batch and its time in 'hello', nor in 1 of 1"},
    {"\nx\ny\n1,2\n",
     "'log': line 2: no batch and its time in 'x', nor in 2 of 3"},
    {"5\n6\n7\n", "'log': line 1: no batch and its time in '5'"},
    {"1,nan\n2,inf\n", "'log': line 1: no batch and its time in '1,nan'"},
    {"1,2\n2,-5\n", "'log': line 2: a batch cannot take -5 ms"},
    {"1,2\n2,1e300\n", "'log': line 2: a time of 1e+300 ms"},
    {"1,2\n2,1e999\n", "'log': line 2: a time of inf ms"},
    {"batch,seconds\n2,1e8\n", "'log': line 2: a time of 1e+11 ms"},
    {"1,2\n1.5,3\n", "'log': line 2: batch 1.5: a whole number"},
    {"-1,2\n", "'log': line 1: batch -1: a whole number"},
    {"1e13,2\n", "'log': line 1: batch 10000000000000: a whole number"},
    {"99999999999999999999999999999999999999999999999999999999999999999999999,"
     "2",
     "'log': line 1: batch inf: a whole number"},
    {"5,1\n6,1\n7,1\n6,1\n",
     "'log': line 4: batch 6 comes after batch 7: the log of one process"},
    {"5,1\n6,1\n6,2\n", "'log': line 3: batch 6 comes after batch 6"},
};

static void test_bad(void **state)
{
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        struct wr_plan_times t = {.count = 77};
        weir_err err = {0};
        int r = wr_plan_times_parse(bad[k].text, strlen(bad[k].text), "log", &t,
                                    &err);

        if (r != WEIR_EFORMAT ||
            strncmp(err.msg, bad[k].message, strlen(bad[k].message)) != 0)
            fail_msg("%s: %d: %s", bad[k].text, r, err.msg);
        assert_int_equal(t.count, 77); /* untouched */
        assert_int_equal(err.code, r);
    }
}

static void test_epochs(void **state)
{
    static const struct {
        const char *text;
        uint64_t length;
    } cases[] = {
        {"0,1\n1,1\n2,1\n0,1\n1,1\n2,1\n0,1\n", 3},
        {"5,1\n6,1\n7,1\n0,1\n1,1\n", 8},
        {"1,1\n2,1\n3,1\n1,1\n2,1\n", 3},
        {"0,1\n1,1\n2,1\n", 0},
        {"0,1\n1,1\n0,1\n1,1\n2,1\n0,1\n", 0}, /* of different lengths */
        {"0,1\n0,1\n0,1\n", 0},                /* a column that is no number */
        {"0,1\n10,1\n20,1\n0,1\n10,1\n", 30},
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct wr_plan_times t;

        assert_int_equal(wr_plan_times_parse(cases[k].text,
                                             strlen(cases[k].text), "log", &t,
                                             NULL),
                         0);
        assert_int_equal(t.epoch_batches, cases[k].length);
        wr_plan_times_done(&t);
    }
}

/* Bytes that are not text, names that a terminal cannot show, and no end of
 * line: nothing beyond `len` is looked at. */
static void test_bytes(void **state)
{
    static const char text[] = "\0\xff\xfe 12";
    struct wr_plan_times t;
    weir_err err = {0};
    char *exact = malloc(7);

    memcpy(exact, "5,10\n6,", 7);
    assert_int_equal(
        wr_plan_times_parse(text, sizeof(text) - 1, "a\x1b[31m", &t, &err),
        WEIR_EFORMAT);
    assert_null(strchr(err.msg, '\x1b'));
    assert_int_equal(wr_plan_times_parse(exact, 7, "log", &t, &err), 0);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.skipped, 1);
    wr_plan_times_done(&t);
    free(exact);
}

/* A row of numbers that is longer than any line has. */
static void test_long_line(void **state)
{
    size_t n = 20000;
    char *text = malloc(2 * n + 1);
    struct wr_plan_times t;

    for (size_t i = 0; i < n; i++)
        memcpy(text + 2 * i, "7 ", 2);
    assert_int_equal(wr_plan_times_parse(text, 2 * n, "log", &t, NULL), 0);
    assert_int_equal(t.count, 1);
    wr_plan_times_done(&t);
    free(text);
}

static void test_too_many(void **state)
{
    size_t n = WR_PLAN_TIMES_MAX + 1;
    char *text = malloc(4 * n);
    struct wr_plan_times t;
    weir_err err = {0};

    for (size_t i = 0; i < n; i++)
        memcpy(text + 4 * i, i % 2 ? "1 2\n" : "0 2\n", 4);
    assert_int_equal(wr_plan_times_parse(text, 4 * n, "log", &t, &err),
                     WEIR_EFORMAT);
    assert_string_equal(err.msg,
                        "'log': line 10000001: more than 10000000 batches");
    assert_int_equal(wr_plan_times_parse(text, 4 * (n - 1), "log", &t, &err),
                     0);
    assert_int_equal(t.count, WR_PLAN_TIMES_MAX);
    assert_int_equal(t.epoch_batches, 2);
    wr_plan_times_done(&t);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),      cmocka_unit_test(test_bad),
        cmocka_unit_test(test_epochs),    cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_long_line), cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
