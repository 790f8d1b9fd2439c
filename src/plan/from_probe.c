/* from_probe.c - the storage that a record of weir probe has measured.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
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

static bool take_op(const char *word, enum wr_probe_op *ret)
{
    static const struct {
        const char *word;
        enum wr_probe_op op;
    } ops[] = {{"read", WR_PROBE_READ},
               {"write", WR_PROBE_WRITE},
               {"files", WR_PROBE_FILES},
               {"create", WR_PROBE_CREATE},
               {"sync", WR_PROBE_SYNC}};
    int k = wr_named_index(WR_NAMED(ops), word);

    if (k >= 0)
        *ret = ops[k].op;
    return k >= 0;
}

static void add_us(struct wr_hist *h, double us)
{
    if (us > 0 && us < 1e12)
        wr_hist_add(h, (uint64_t)(us * 1e3));
}

static unsigned small_count(double x)
{
    return x >= 1 && x <= 1 << 20 ? (unsigned)x : 1;
}

/* False if it was skipped or is none. */
static bool take_test(struct probe_tests *t,
                      const struct wr_probe_test_values *v)
{
    struct wr_probe_test *test = &t->tests[t->count];
    struct wr_probe_result *result = &t->results[t->count];
    struct wr_probe_run *run = &t->runs[t->count];
    double ops = v->result.ops_per_s, bytes = v->result.bytes_per_s;

    if (!take_op(v->op, &test->op) || !(ops > 0) || !(bytes >= 0) ||
        !(v->block >= 0 && v->block <= 0x1p40))
        return false;
    test->pattern = strcmp(v->pattern, "random") ? WR_PROBE_SEQUENTIAL
                                                 : WR_PROBE_RANDOM;
    test->block = (uint64_t)v->block;
    test->depth = small_count(v->depth);
    test->workers = small_count(v->workers);
    test->direct = v->direct;
    run->latency = &t->hists[2 * t->count];
    run->open = &t->hists[2 * t->count + 1];
    add_us(run->latency, v->result.latency_us.p50);
    add_us(run->open, v->result.open_us.p50);
    run->v.bytes_per_s = result->v.bytes_per_s = bytes;
    run->v.ops_per_s = result->v.ops_per_s = ops;
    result->runs = run;
    result->run_count = 1;
    t->count++;
    return true;
}

static int take_tests(const char *name, const struct wr_list *list,
                      struct probe_tests *ret, weir_err *err)
{
    size_t n = list->count;
    struct probe_tests t = {0};

    if (n > TESTS_MAX)
        return wr_fail(err, WEIR_ELIMIT, "'%s': over %d tests", name,
                       TESTS_MAX);
    t.tests = calloc(n + 1, sizeof(*t.tests));
    t.results = calloc(n + 1, sizeof(*t.results));
    t.runs = calloc(n + 1, sizeof(*t.runs));
    t.hists = calloc(2 * n + 1, sizeof(*t.hists));
    if (!t.tests || !t.results || !t.runs || !t.hists) {
        tests_done(&t);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    for (size_t k = 0; k < n; k++)
        take_test(&t, wr_list_at(list, k));
    *ret = t;
    return 0;
}

static int fit(const struct wr_plan_record *r, struct wr_device_profile *ret,
               weir_err *err)
{
    struct wr_view_record read = {.json = r->json};
    struct probe_tests t = {0};
    int res;

    if (!wr_view_record_read(&read))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    res = take_tests(r->name, &read.cases, &t, err);
    wr_view_record_done(&read);
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
