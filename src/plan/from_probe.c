/* from_probe.c - the storage that a record of weir probe has measured.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "measure/probe_fit.h"
#include "plan/from.h"
#include "result/get.h"

#define TESTS_MAX 4096

/* The tests of a record as the fit wants them: one pass each, whose requests all
 * took the median. What a single number cannot tell (a write cache) is left at
 * "none". */
struct probe_tests {
    struct wr_probe_test *tests;     /* owned */
    struct wr_probe_result *results; /* owned */
    struct wr_probe_run *runs;       /* owned: one a test */
    struct wr_hist *hists;           /* owned: two a test */
    size_t count;
};

static void tests_done(struct probe_tests *t)
{
    free(t->tests);
    free(t->results);
    free(t->runs);
    free(t->hists);
}

static bool is_word(const json_t *o, const char *key, const char *word)
{
    return !strcmp(wr_get_text(o, key), word);
}

static bool take_op(const json_t *o, enum wr_probe_op *ret)
{
    static const struct {
        const char *word;
        enum wr_probe_op op;
    } ops[] = {{"read", WR_PROBE_READ},
               {"write", WR_PROBE_WRITE},
               {"files", WR_PROBE_FILES},
               {"create", WR_PROBE_CREATE},
               {"sync", WR_PROBE_SYNC}};

    for (size_t k = 0; k < WR_ARRAY_LEN(ops); k++)
        if (is_word(o, "op", ops[k].word)) {
            *ret = ops[k].op;
            return true;
        }
    return false;
}

static void add_us(struct wr_hist *h, double us)
{
    if (us > 0 && us < 1e12)
        wr_hist_add(h, (uint64_t)(us * 1e3));
}

static unsigned small_count(const json_t *o, const char *key)
{
    double x = wr_get_number(o, key);

    return x >= 1 && x <= 1 << 20 ? (unsigned)x : 1;
}

/* Test `k`: false if it was skipped or is none. */
static bool take_test(struct probe_tests *t, const json_t *o)
{
    struct wr_probe_test *test = &t->tests[t->count];
    struct wr_probe_result *result = &t->results[t->count];
    struct wr_probe_run *run = &t->runs[t->count];
    double ops = wr_get_number(o, "result.ops_per_s");
    double bytes = wr_get_number(o, "result.bytes_per_s");
    double block = wr_get_number(o, "block");

    if (!take_op(o, &test->op) || !(ops > 0) || !(bytes >= 0) ||
        !(block >= 0 && block <= 0x1p40))
        return false;
    test->pattern = is_word(o, "pattern", "random") ? WR_PROBE_RANDOM
                                                    : WR_PROBE_SEQUENTIAL;
    test->block = (uint64_t)block;
    test->depth = small_count(o, "depth");
    test->workers = small_count(o, "workers");
    test->direct = wr_get_true(o, "direct");
    run->latency = &t->hists[2 * t->count];
    run->open = &t->hists[2 * t->count + 1];
    add_us(run->latency, wr_get_number(o, "result.latency_us.p50"));
    add_us(run->open, wr_get_number(o, "result.open_us.p50"));
    run->bytes_per_s = result->bytes_per_s = bytes;
    run->ops_per_s = result->ops_per_s = ops;
    result->runs = run;
    result->run_count = 1;
    t->count++;
    return true;
}

static int take_tests(const struct wr_plan_record *r, struct probe_tests *ret,
                      weir_err *err)
{
    const json_t *list = wr_get_list(r->json, "tests"), *o;
    size_t n = json_array_size(list), k;
    struct probe_tests t = {0};

    if (n > TESTS_MAX)
        return wr_fail(err, WEIR_ELIMIT, "'%s': over %d tests", r->name,
                       TESTS_MAX);
    t.tests = calloc(n + 1, sizeof(*t.tests));
    t.results = calloc(n + 1, sizeof(*t.results));
    t.runs = calloc(n + 1, sizeof(*t.runs));
    t.hists = calloc(2 * n + 1, sizeof(*t.hists));
    if (!t.tests || !t.results || !t.runs || !t.hists) {
        tests_done(&t);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    json_array_foreach(list, k, o) take_test(&t, o);
    *ret = t;
    return 0;
}

static int fit(const struct wr_plan_record *r, struct wr_device_profile *ret,
               weir_err *err)
{
    struct probe_tests t = {0};
    int res = take_tests(r, &t, err);

    if (res < 0)
        return res;
    res = wr_probe_fit(
        &(struct wr_probe_plan){.tests = t.tests, .test_count = t.count},
        &(struct wr_probe_report){.results = t.results, .count = t.count}, ret,
        err);
    tests_done(&t);
    return res < 0 ? wr_fail_prefix(err, res, "'%s'", r->name) : 0;
}

int wr_plan_from_probe(struct wr_plan_draft *d, const struct wr_plan_record *r,
                       weir_err *err)
{
    struct wr_device_profile p;
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int res = wr_plan_emulated(wr_get_text(r->json, "path"), &p, err);

    if (res == 0) {
        res = fit(r, &p, err);
        snprintf(source, sizeof(source), "fitted to '%.120s'", r->name);
    } else {
        snprintf(source, sizeof(source), "'%.120s'", r->name);
    }
    if (res < 0)
        return res;
    return wr_plan_say_profile(d, &who, WR_PLAN_K_STORAGE, &p, err);
}
