/* test_dlio_output.c - the files for DLIO's tools: shapes and formulas.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <ftw.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/dlio_output.h"
#include "run/dlio_summary.h"

#define S WR_NS_PER_SEC

static char dir[256];

static const char text[] = "model: {name: small}\n"
                           "framework: pytorch\n"
                           "workflow: {train: true, evaluation: true}\n"
                           "dataset:\n"
                           "  format: npz\n"
                           "  num_files_train: 64\n"
                           "  num_files_eval: 8\n"
                           "  num_samples_per_file: 2\n"
                           "  record_length_bytes: 1048576\n"
                           "reader: {batch_size: 4, batch_size_eval: 2}\n"
                           "train: {epochs: 2, computation_time: 0.5}\n"
                           "metric: {au: 0.8}\n";

/* Two ranks on two hosts, two accelerators each, and two epochs: 0.7 and 0.9 of
 * the time at work. */
static struct wr_run_step steps[] = {{0.1f, 0.5f, 0.6f},
                                     {0.2f, 0.5f, 0.7f},
                                     {0.3f, 0.5f, 0.8f},
                                     {0.4f, 0.5f, 0.9f},
                                     {0.25f, 0.75f, 1.0f}};
static struct wr_run_block blocks[] = {
    {1, 1, 0, 2, 100 * S, 102 * S, 0.75, 20},
    {1, 2, 2, 2, 103 * S, 104 * S, 0.5, 30},
    {1, 0, 4, 1, 104 * S, 106 * S, 0.25, 7},
};
static struct wr_run_epoch epochs[] = {
    {.au_dlio = 1.4,
     .dlio_per_s = 30,
     .steps = 4,
     .start_wall_ns = 100 * S,
     .end_wall_ns = 106 * S + 123456000},
    {.au_dlio = 1.8,
     .dlio_per_s = 40,
     .steps = 4,
     .start_wall_ns = 107 * S,
     .end_wall_ns = 109 * S},
    {.au_dlio = 1.4,
     .dlio_per_s = 50,
     .steps = 4,
     .start_wall_ns = 100 * S,
     .end_wall_ns = 106 * S},
    {.au_dlio = 1.8,
     .dlio_per_s = 60,
     .steps = 4,
     .start_wall_ns = 107 * S,
     .end_wall_ns = 110 * S},
};
static struct wr_saved saves[] = {
    {.epoch = 1,
     .block = 1,
     .step = 2,
     .bytes = 1 << 30,
     .stall_s = 1,
     .fast_s = 2,
     .slow_s = NAN,
     .start_wall_ns = 102 * S},
    {.epoch = 2,
     .block = 1,
     .step = 6,
     .bytes = 1 << 30,
     .stall_s = 4,
     .fast_s = NAN,
     .slow_s = NAN,
     .start_wall_ns = 108 * S},
};
static struct wr_saved restores[] = {
    {.step = 6,
     .bytes = 1 << 30,
     .stall_s = 0.5,
     .fast_s = NAN,
     .slow_s = NAN,
     .start_wall_ns = 110 * S},
};

struct made {
    struct wr_workload *w;
    struct wr_run_result res;
    struct wr_dlio_source src;
};

static struct made *make(void)
{
    static const char *const overrides[] = {"train.epochs=2",
                                            "++workload.metric.au=0.8"};
    struct made *m = calloc(1, sizeof(*m));
    weir_err err;

    if (wr_workload_parse("small.yaml", text, strlen(text), NULL, 0, NULL, NULL,
                          &m->w, &err) < 0)
        fail_msg("%s", err.msg);
    m->res = (struct wr_run_result){
        .ranks = calloc(2, sizeof(struct wr_run_rank)),
        .rank_count = 2,
        .epochs = epochs,
        .epoch_count = 2,
        .world = 4,
        .start_wall_ns = 100 * S,
        .saves = saves,
        .save_count = WR_ARRAY_LEN(saves),
        .restores = restores,
        .restore_count = 1,
        .state_bytes = 1 << 30,
        .step_times = steps,
        .step_time_count = WR_ARRAY_LEN(steps),
        .blocks = blocks,
        .block_count = WR_ARRAY_LEN(blocks)};
    strcpy(m->res.ranks[0].host, "a");
    strcpy(m->res.ranks[1].host, "b");
    m->src = (struct wr_dlio_source){.w = m->w,
                                     .res = &m->res,
                                     .name = "small",
                                     .overrides = overrides,
                                     .override_count = 2};
    return m;
}

static void unmake(struct made *m)
{
    wr_workload_free(m->w);
    free(m->res.ranks);
    free(m);
}

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    setenv("TZ", "UTC", 1);
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *sb, int flag,
                      struct FTW *ftw)
{
    (void)sb;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int teardown(void **state)
{
    (void)state;
    return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* "metric.train_au_percentage": what lies there. */
static const json_t *at(const json_t *o, const char *path)
{
    char part[100];
    size_t len = strcspn(path, ".");

    snprintf(part, sizeof(part), "%.*s", (int)len, path);
    o = json_object_get(o, part);
    if (!o)
        fail_msg("there is no '%s'", path);
    return path[len] ? at(o, path + len + 1) : o;
}

static void is_number(const json_t *o, const char *path, double want)
{
    const json_t *v = at(o, path);

    if (!json_is_number(v) || fabs(json_number_value(v) - want) > 1e-6)
        fail_msg("%s is %g, not %g", path, json_number_value(v), want);
}

static void is_item(const json_t *o, const char *path, size_t k, double want)
{
    const json_t *v = json_array_get(at(o, path), k);

    if (!json_is_number(v) || fabs(json_number_value(v) - want) > 1e-6)
        fail_msg("%s[%zu] is %g, not %g", path, k, json_number_value(v), want);
}

static void is_text(const json_t *o, const char *path, const char *want)
{
    assert_true(json_is_string(at(o, path)));
    assert_string_equal(json_string_value(at(o, path)), want);
}

static void test_summary(void **state)
{
    struct made *m = make();
    json_t *j = wr_dlio_summary_json(&m->src);

    (void)state;
    is_text(j, "start", "1970-01-01T00:01:40.000000");
    is_text(j, "end", "1970-01-01T00:01:52.000000"); /* of the last save */
    is_number(j, "num_accelerators", 4);
    is_number(j, "num_hosts", 2);
    is_number(j, "epochs", 2);
    is_number(j, "num_files_train", 64);
    is_number(j, "num_files_eval", 8);
    is_number(j, "num_samples_per_file", 2);
    is_number(j, "data_size_per_host_GB", 64.0 * 2 / 1024 / 2);
    assert_int_equal(json_array_size(at(j, "host_cpu_count")), 2);
    assert_int_equal(json_array_size(at(j, "host_memory_GB")), 2);
    is_item(j, "potential_caching", 1, 1); /* 64 MiB fit into any memory */
    assert_true(json_is_string(at(j, "host_processor_name")));
    assert_true(json_is_string(at(j, "host_meminfo.MemTotal")));
    assert_true(json_is_object(at(j, "host_cpuinfo")));
    is_item(j, "metric.train_au_percentage", 0, 70);
    is_item(j, "metric.train_au_percentage", 1, 90);
    is_number(j, "metric.train_au_mean_percentage", 80);
    is_number(j, "metric.train_au_stdev_percentage", 10);
    is_text(j, "metric.train_au_meet_expectation", "success");
    is_item(j, "metric.train_throughput_samples_per_second", 1, 100);
    is_number(j, "metric.train_throughput_mean_samples_per_second", 90);
    is_number(j, "metric.train_throughput_stdev_samples_per_second", 10);
    is_number(j, "metric.train_io_mean_MB_per_second", 90);
    is_number(j, "metric.train_io_stdev_MB_per_second", 10);
    is_number(j, "metric.eval_au_mean_percentage", 25);
    is_text(j, "metric.eval_au_meet_expectation", "fail");
    is_item(j, "metric.eval_throughput_samples_per_second", 0, 1 * 2 * 4 / 2.0);
    is_number(j, "metric.checkpoint_size_GB", 2);
    is_number(j, "metric.save_checkpoint_duration_mean_seconds", 3);
    is_number(j, "metric.save_checkpoint_duration_stdev_seconds", 1);
    is_number(j, "metric.save_checkpoint_io_mean_GB_per_second", 0.75);
    is_number(j, "metric.load_checkpoint_io_mean_GB_per_second", 4);
    json_decref(j);
    unmake(m);
}

static void test_rank(void **state)
{
    struct made *m = make();
    json_t *j = wr_dlio_rank_json(&m->src);

    (void)state;
    is_item(j, "1.load.block1", 1, 0.2);
    is_item(j, "1.compute.block2", 0, 0.5);
    is_item(j, "1.proc.block2", 1, 0.9);
    is_item(j, "1.load.eval", 0, 0.25);
    assert_int_equal(json_array_size(at(j, "1.load.block1")), 2);
    is_number(j, "1.throughput.block2", 30);
    is_number(j, "1.au.block1", 75);
    is_text(j, "1.end", "1970-01-01T00:01:46.123456");
    assert_true(json_is_string(at(j, "2.host_meminfo.MemTotal")));
    assert_int_equal(json_object_size(at(j, "2.load")), 0);
    assert_true(json_is_integer(at(j, "host_cpu_count")));
    assert_true(json_is_integer(at(j, "potential_caching")));
    assert_true(json_is_string(at(j, "hostname")));
    json_decref(j);
    m->res.step_time_count = 3; /* blocks beyond: what there is */
    j = wr_dlio_rank_json(&m->src);
    assert_int_equal(json_array_size(at(j, "1.load.block2")), 1);
    json_decref(j);
    unmake(m);
}

static void test_epochs(void **state)
{
    struct made *m = make();
    json_t *j = wr_dlio_epochs_json(&m->src);

    (void)state;
    is_text(j, "1.start", "1970-01-01T00:01:40.000000");
    is_text(j, "1.duration", "6.12");
    is_text(j, "1.block2.start", "1970-01-01T00:01:43.000000");
    is_text(j, "1.block2.duration", "1.00");
    is_text(j, "1.eval.end", "1970-01-01T00:01:46.000000");
    is_number(j, "1.save_ckpt1.duration", 2); /* on storage, not the stall */
    is_number(j, "1.save_ckpt1.throughput", 0.5);
    is_text(j, "1.save_ckpt1.end", "1970-01-01T00:01:44.000000");
    is_number(j, "2.save_ckpt1.duration", 4);
    is_number(j, "1.load_ckpt1.throughput", 2);
    json_decref(j);
    m->res.epoch_count = 0; /* a description that only saves */
    m->res.block_count = 0;
    j = wr_dlio_epochs_json(&m->src);
    is_number(j, "1.save_ckpt1.duration", 2);
    json_decref(j);
    j = wr_dlio_summary_json(&m->src);
    assert_null(json_object_get(at(j, "metric"), "train_au_percentage"));
    is_number(j, "metric.save_checkpoint_duration_mean_seconds", 3);
    json_decref(j);
    unmake(m);
}

static char *slurp(const char *name)
{
    char path[400], *all = calloc(1, 1 << 20);
    FILE *f;

    snprintf(path, sizeof(path), "%s/out/%s", dir, name);
    f = fopen(path, "rb");
    if (!f)
        fail_msg("there is no %s", name);
    assert_true(fread(all, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return all;
}

static void has(const char *name, const char *part)
{
    char *all = slurp(name);

    if (!strstr(all, part))
        fail_msg("no '%s' in %s:\n%s", part, name, all);
    free(all);
}

/* What stands below "workload:" is the description again. */
static void check_config(void)
{
    char *all = slurp("dlio_config/config.yaml"), *rest = all, *line;
    char *plain = calloc(1, strlen(all) + 1), *to = plain;
    struct wr_workload *w = NULL;
    weir_err err;

    assert_string_equal(strsep(&rest, "\n"), "workload:");
    while ((line = strsep(&rest, "\n")))
        if (*line)
            to += sprintf(to, "%s\n", line + 2);
    if (wr_workload_parse("config.yaml", plain, strlen(plain), NULL, 0, NULL,
                          NULL, &w, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(w->dataset.files_train, 64);
    assert_true(w->metric.au == 0.8);
    wr_workload_free(w);
    free(plain);
    free(all);
}

static void test_files(void **state)
{
    struct made *m = make();
    char folder[300], path[400];
    json_t *j;
    weir_err err;

    (void)state;
    snprintf(folder, sizeof(folder), "%s/out", dir);
    if (wr_dlio_output(folder, &m->src, &err) < 0)
        fail_msg("%s", err.msg);
    snprintf(path, sizeof(path), "%s/summary.json", folder);
    j = json_load_file(path, 0, NULL);
    assert_non_null(j);
    is_number(j, "metric.train_au_mean_percentage", 80);
    json_decref(j);
    has("0_output.json", "\"block1\"");
    has("0_per_epoch_stats.json", "\"save_ckpt1\"");
    has("dlio.log", "[METRIC] train_au_mean_percentage: 80.0000 (10.0000)\n");
    has("dlio.log", "[METRIC] train_au_meet_expectation: success\n");
    has("dlio.log", "[OUTPUT] 1970-01-01T00:01:47.000000 epoch 2 begins\n");
    has("dlio_config/overrides.yaml", "- \"workload=small\"\n"
                                      "- \"++workload.train.epochs=2\"\n"
                                      "- \"++workload.metric.au=0.8\"\n");
    has("dlio_config/hydra.yaml", "\"output_subdir\": \"dlio_config\"");
    check_config();
    m->src.rank = 1; /* writes its own files alone */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(wr_dlio_output(folder, &m->src, &err), 0);
    has("1_output.json", "\"block1\"");
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof(path), "%s/out/dlio.log/no", dir);
    assert_true(wr_dlio_output(path, &m->src, &err) < 0);
    assert_non_null(strstr(err.msg, "dlio.log/no"));
    unmake(m);
}

static void test_fields(void **state)
{
    json_t *j = wr_dlio_fields("processor\t: 0\nmodel name : old\n\n"
                               "processor\t: 1\nmodel name\t: A CPU: fast\n"
                               "no value\nflags\t:\n\n");

    (void)state;
    assert_int_equal(json_object_size(j), 3);
    is_text(j, "processor", "1");
    is_text(j, "model name", "A CPU: fast");
    is_text(j, "flags", "");
    json_decref(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary), cmocka_unit_test(test_rank),
        cmocka_unit_test(test_epochs),  cmocka_unit_test(test_files),
        cmocka_unit_test(test_fields),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
