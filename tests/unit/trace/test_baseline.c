/* test_baseline.c - unit tests of trace/baseline.c and facts.c: what the storage
 * and the machine of a trace are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/baseline.h"
#include "trace/facts.h"

static json_t *parsed(const char *text)
{
    json_t *j = json_loads(text, 0, NULL);

    assert_non_null(j);
    return j;
}

/* The baseline that an analysis has by a probe's record, or by its monitor. */
static const struct wr_trace_baseline *judged(struct result *r,
                                              const char *probe)
{
    json_t *j = probe ? parsed(probe) : NULL;
    weir_err err;

    wr_trace_findings_done(&r->found);
    assert_int_equal(wr_trace_judge(r->a, j, &r->found, &err), 0);
    json_decref(j);
    return &r->a->baseline;
}

struct probed {
    const char *op, *pattern;
    double block, bytes, ops;
};

/* The record of a probe with these tests, and one that was skipped. */
static char *probe_of(const struct probed *list, size_t count)
{
    json_t *tests = parsed("[7, {\"op\": \"read\", \"pattern\": \"random\","
                           " \"block\": 102400, \"skipped\": \"no\"}]");
    json_t *o = json_pack("{s:s, s:o}", "path", "/data\033[31m", "tests",
                          tests);
    char *text;

    for (size_t k = 0; k < count; k++)
        json_array_append_new(
            tests, json_pack("{s:s, s:s, s:f, s:{s:f, s:f}}", "op", list[k].op,
                             "pattern", list[k].pattern, "block", list[k].block,
                             "result", "bytes_per_s", list[k].bytes,
                             "ops_per_s", list[k].ops));
    text = json_dumps(o, 0);
    json_decref(o);
    assert_non_null(text);
    return text;
}

/* Of random reads counts the size that is nearest to the program's 100 KB. */
static void test_probe(void **state)
{
    static const struct probed list[] = {
        {"read", "sequential", 4096, 9e9, 1}, /* too small to show it */
        {"read", "sequential", 1 << 20, 2e9, 1},
        {"read", "sequential", 4 << 20, 3e9, 1},
        {"write", "sequential", 4 << 20, 8e9, 1},
        {"read", "random", 4096, 1e8, 1},
        {"read", "random", 128 << 10, 4e8, 1},
        {"read", "random", 128 << 10, 5e8, 1},
        {"read", "random", 1 << 20, 1e9, 1},
        {"files", "random", 0, 1, 700},
        {"files", "random", 0, 1, 600}};
    const struct wr_trace_baseline *b;
    char *probe = probe_of(list, WR_ARRAY_LEN(list));
    struct result r;

    result_run(&r, &script_plain);
    b = judged(&r, probe);
    free(probe);
    assert_true(b->sequential_rate == 3e9);
    assert_true(b->random_rate == 5e8);
    assert_true(b->files_rate == 700);
    assert_true(b->utilisation < 0);
    assert_string_equal(b->source, "weir probe of /data\\x1b[31m");
    b = judged(&r, "{\"tests\": 3}");
    assert_true(b->sequential_rate == 0 && b->random_rate == 0);
    b = judged(&r, NULL);
    assert_true(b->sequential_rate == 0 && b->utilisation < 0);
    assert_string_equal(b->source, "");
    result_done(&r);
}

/* The disk that was busiest while the data set was read. */
static void test_monitor(void **state)
{
    struct script s = script_plain;
    struct result r;
    const struct wr_trace_baseline *b;

    s.start_ns = 10000 * MS; /* and the reads are over 3 s later */
    result_begin(&r, &s);
    r.m.info.monitor =
        "{\"monitor\": {\"disks\": ["
        "{\"name\": \"sda\", \"t_s\": [1, 10.5, 11, 11.5, 99],"
        " \"busy\": [1, 0.5, null, 0.7, 1]},"
        "{\"name\": \"sdb\", \"t_s\": [10.5, 11], \"busy\": [0.9, 0.2]},"
        "{\"name\": \"sdc\", \"t_s\": [1, 2], \"busy\": [1, 1]},"
        "{\"name\": \"sdd\"}, 5]}}";
    result_finish(&r);
    r.a->set_counted = false; /* its device is not one of these */
    assert_true(judged(&r, NULL)->utilisation < 0);
    r.a->set_counted = true;
    b = judged(&r, NULL);
    assert_near(b->utilisation, 0.6, 1e-9);
    assert_string_equal(b->source, "how busy disk sda was");
    b = judged(&r, "{\"path\": \"x\", \"tests\": []}"); /* it counts alone */
    assert_true(b->utilisation < 0);
    result_done(&r);
}

static void expect_load(const char *text, int result)
{
    char path[] = "/tmp/weir-test-probe-XXXXXX";
    json_t *record = NULL;
    int fd = mkstemp(path);
    weir_err err;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    assert_int_equal(wr_trace_probe_load(path, &record, &err), result);
    assert_int_equal(record != NULL, result == 0);
    json_decref(record);
    unlink(path);
}

#define HEAD                                                                   \
    "{\"schema\": \"weir-record\", \"version\": 1, \"time\": \"\", "           \
    "\"weir\": \"0.1\", \"host\": {}, "

static void test_load(void **state)
{
    json_t *record = NULL;
    weir_err err;

    expect_load(HEAD "\"command\": \"probe\", \"tests\": []}", 0);
    expect_load(HEAD "\"command\": \"bench\", \"tests\": []}", WEIR_EFORMAT);
    expect_load(HEAD "\"command\": \"probe\"}", WEIR_EFORMAT);
    assert_int_equal(wr_trace_probe_load("/nosuch/file", &record, &err),
                     WEIR_ENOENT);
}

/* --- the machine --- */

static void test_facts(void **state)
{
    char program[] = "python3", script[] = "train.py", key[] = "--key=secret";
    char *const words[] = {program, script, key};
    struct wr_trace_facts f;

    wr_trace_facts_begin(&f, words, 3, /* anonymous= */ false);
    assert_string_equal(f.info.command, "python3 train.py --key=secret");
    assert_true(f.info.cores > 0);
    assert_true(f.info.memory_bytes > 0);
    assert_true(f.info.available_bytes > 0);
    assert_true(f.info.start_wall_ns > 0);
    assert_string_not_equal(f.info.kernel, "");
    assert_null(strstr(f.info.mounts, " /proc proc ")); /* holds no data */
    assert_false(f.info.complete);
    wr_trace_facts_end(&f, strdup("{}"), 7);
    assert_true(f.info.complete && f.info.end_ns == 7);
    assert_string_equal(f.info.monitor, "{}");
    wr_trace_facts_free(&f);
    wr_trace_facts_begin(&f, words, 1, /* anonymous= */ true);
    assert_string_equal(f.info.command, "python3");
    assert_string_equal(f.info.host, "");
    assert_string_equal(f.info.mounts, "");
    wr_trace_facts_end(&f, NULL, 1);
    assert_null(f.info.monitor);
    wr_trace_facts_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe), cmocka_unit_test(test_monitor),
        cmocka_unit_test(test_load), cmocka_unit_test(test_facts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
