/* test_from.c - records and descriptions become plans, with their sources.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "plan/bounds.h"
#include "plan/from.h"
#include "plan/models.h"

#define HEAD(command)                                                          \
    "{\"schema\": \"weir-record\", \"version\": 1, \"command\": \"" command    \
    "\", \"time\": \"now\", \"host\": {\"cores\": 4}"

#define DATASET(url, samples)                                                  \
    ", \"dataset\": {\"url\": \"" url "\", \"samples\": " samples              \
    ", \"bytes\": 1000000, \"files\": 100, \"sizes\": ["                       \
    "{\"from\": 4096, \"to\": 8192, \"count\": 50, \"bytes\": 250000},"        \
    "{\"from\": 8192, \"to\": 16384, \"count\": 50, \"bytes\": 750000}]}"

#define CASE(decode, rate, cpu)                                                \
    "{\"settings\": {\"batch\": 16, \"order\": \"shuffle\", \"decode\": "      \
    "\"" decode "\", \"page_cache\": \"cold\", \"width\": 224, "               \
    "\"height\": 224, \"channels\": 3, \"dtype\": \"f32\"}, "                  \
    "\"result\": {\"samples_per_s\": " rate "}, \"warm_up_runs\": 1, "         \
    "\"runs\": [{\"samples_per_s\": 1, \"cpu_s_per_1000\": 99}, "              \
    "{\"samples_per_s\": " rate ", \"cpu_s_per_1000\": " cpu ", "              \
    "\"samples\": 100, \"requests\": 100, \"bytes\": 1000000, "                \
    "\"resident\": 0, \"read_limit_per_s\": 5000, "                            \
    "\"read_limit_threads\": 8, \"slot_limit_per_s\": 0, "                     \
    "\"in_force\": {\"threads\": 3, \"depth\": 7, \"prefetch\": 2}}]}"

#define STEP                                                                   \
    ", \"accelerator\": {\"name\": \"ms=10\", \"step_ms\": 10, \"fixed_ms\": " \
    "10, \"per_sample_ms\": 0}"

static int take(struct wr_plan_draft *d, const char *text, const char *name,
                size_t wanted, weir_err *err)
{
    json_t *json = json_loads(text, 0, NULL);
    struct wr_plan_record r = {name, json, wanted};
    int res;

    assert_non_null(json);
    res = wr_plan_from_record(d, &r, err);
    json_decref(json);
    return res;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

static void test_bench(void **state)
{
    const char *text = HEAD("bench") DATASET("emu:hdd:/d", "100") STEP
        ", \"cases\": [" CASE("exact", "100", "2") ", " CASE("fast", "90",
                                                             "0.5") "]}";
    struct wr_plan_draft d;
    weir_err err;

    (void)state;
    wr_plan_draft_init(&d);
    assert_int_equal(take(&d, text, "b.json", 0, &err), 0);
    assert_int_equal(wr_plan_draft_finish(&d, &err), 0);
    assert_string_equal(d.plan.storage.profile.name, "hdd");
    assert_int_equal(d.plan.data.samples, 100);
    assert_true(near(d.plan.data.bytes.mean, 10000));
    assert_true(d.plan.data.bytes.cv > 0.4 && d.plan.data.bytes.cv < 0.7);
    assert_int_equal(d.plan.loader.workers, 3);
    assert_int_equal(d.plan.loader.depth, 7);
    assert_int_equal(d.plan.loader.prefetch, 2);
    assert_int_equal(d.plan.loader.cores, 4);
    assert_int_equal(d.plan.compute.batch, 16);
    assert_true(near(d.plan.loader.cpu_s.mean, 0.002));
    assert_true(near(d.plan.loader.fast_cpu_s, 0.0005));
    assert_true(near(d.plan.compute.step_s.mean, 0.01));
    assert_true(near(d.plan.data.tensor_bytes, 150528));
    assert_non_null(strstr(d.facts[WR_PLAN_K_CPU].source, "case 1 of 2"));
    assert_int_equal(d.facts[WR_PLAN_K_NODES].rank, WR_PLAN_ASSUMED);
}

static void test_case(void **state)
{
    const char *text = HEAD("bench") DATASET("emu:hdd:/d", "100") STEP
        ", \"cases\": [" CASE("exact", "100", "2") ", " CASE("fast", "90",
                                                             "0.5") "]}";
    struct wr_plan_draft d;
    weir_err err;

    (void)state;
    wr_plan_draft_init(&d);
    assert_int_equal(take(&d, text, "b", 2, &err), 0);
    assert_true(near(d.plan.loader.cpu_s.mean, 0.0005));
    assert_int_equal(take(&d, text, "b", 3, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "it has 2 cases, not 3"));
}

/* Of two counted runs the first stands for both, whatever the rounding of the
 * median that was recorded: a report explains the same one. */
static void test_two_runs(void **state)
{
    static const char *const medians[] = {"0.2", "0.1999999", "0.2000001"};

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(medians); i++) {
        struct wr_plan_draft d;
        weir_err err;
        char text[1000];

        snprintf(text, sizeof(text),
                 HEAD("bench") DATASET("emu:hdd:/d", "100") STEP
                 ", \"cases\": [{\"settings\": {\"batch\": 4}, \"result\": "
                 "{\"samples_per_s\": %s}, \"warm_up_runs\": 1, \"runs\": [{}, "
                 "{\"samples_per_s\": 0.3, \"cpu_s_per_1000\": 1}, "
                 "{\"samples_per_s\": 0.1, \"cpu_s_per_1000\": 2}]}]}",
                 medians[i]);
        wr_plan_draft_init(&d);
        assert_int_equal(take(&d, text, "b", 0, &err), 0);
        assert_true(near(d.facts[WR_PLAN_K_CPU].number, 0.001));
    }
}

/* A real disk: what plain reads reached, marked as assumed; a probe of it
 * knows more, before or behind. */
static void test_real_disk(void **state)
{
    const char *bench = HEAD("bench") DATASET("/d", "100") STEP
        ", \"cases\": [" CASE("exact", "100", "2") "]}";
    const char *probe = HEAD(
        "probe") ", \"path\": \"/d\", \"tests\": ["
                 "{\"op\": \"read\", \"pattern\": \"sequential\", \"block\": "
                 "1048576, "
                 "\"depth\": 8, \"workers\": 1, \"direct\": true, \"result\": "
                 "{\"bytes_per_s\": 2e8, \"ops_per_s\": 190, \"latency_us\": "
                 "{\"p50\": "
                 "40000}}}, "
                 "{\"op\": \"read\", \"pattern\": \"random\", \"block\": 4096, "
                 "\"depth\": 1, \"workers\": 1, \"direct\": true, \"result\": "
                 "{\"bytes_per_s\": 4e6, \"ops_per_s\": 1000, \"latency_us\": "
                 "{\"p50\": 1000}}}]}";
    struct wr_plan_draft d;
    weir_err err;

    (void)state;
    wr_plan_draft_init(&d);
    assert_int_equal(take(&d, bench, "b", 0, &err), 0);
    assert_string_equal(d.plan.storage.profile.name, "read limit");
    assert_int_equal(d.facts[WR_PLAN_K_STORAGE].rank, WR_PLAN_ASSUMED);
    assert_true(near(d.plan.storage.profile.read_bytes_per_s, 5000 * 10000.0));
    assert_int_equal(take(&d, probe, "p", 0, &err), 0);
    assert_string_equal(d.plan.storage.profile.name, "probed");
    assert_true(near(d.plan.storage.profile.read_bytes_per_s, 2e8));
    assert_true(fabs(d.plan.storage.profile.read_latency_us - 980) < 15);
    wr_plan_draft_init(&d);
    assert_int_equal(take(&d, probe, "p", 0, &err), 0);
    assert_int_equal(take(&d, bench, "b", 0, &err), 0);
    assert_string_equal(d.plan.storage.profile.name, "probed");
}

static void test_contradictions(void **state)
{
    const char *a = HEAD("bench")
        DATASET("/d", "100") ", \"cases\": [" CASE("exact", "100", "2") "]}";
    const char *b = HEAD("bench")
        DATASET("/e", "200") ", \"cases\": [" CASE("exact", "100", "2") "]}";
    struct wr_plan_draft d;
    weir_err err;

    (void)state;
    wr_plan_draft_init(&d);
    assert_int_equal(take(&d, a, "a", 0, &err), 0);
    assert_int_equal(take(&d, b, "b", 0, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "samples: 200 of 'b', but 100 of 'a'"));
}

/* Options win, whatever comes first; the later one of two is named. */
static void test_ranks(void **state)
{
    const struct wr_plan_saying given = {"--threads", WR_PLAN_GIVEN};
    const struct wr_plan_saying one = {"'a'", WR_PLAN_MEASURED};
    const struct wr_plan_saying two = {"'b'", WR_PLAN_MEASURED};
    struct wr_plan_draft d;
    weir_err err;

    (void)state;
    wr_plan_draft_init(&d);
    assert_int_equal(wr_plan_say(&d, &given, WR_PLAN_K_WORKERS, 9, &err), 0);
    assert_int_equal(wr_plan_say(&d, &one, WR_PLAN_K_WORKERS, 3, &err), 0);
    assert_int_equal(d.plan.loader.workers, 9);
    assert_int_equal(wr_plan_say(&d, &one, WR_PLAN_K_CORES, 3, &err), 0);
    assert_int_equal(wr_plan_say(&d, &two, WR_PLAN_K_CORES, 5, &err), 0);
    assert_int_equal(d.plan.loader.cores, 5);
    assert_string_equal(d.facts[WR_PLAN_K_CORES].source, "'b' (instead of 3)");
    assert_int_equal(wr_plan_say(&d, &one, WR_PLAN_K_BATCH, -1, &err),
                     WEIR_EINVAL);
    assert_int_equal(wr_plan_say(&d, &one, WR_PLAN_K_BATCH, 1.5, &err),
                     WEIR_EINVAL);
    assert_int_equal(wr_plan_say(&d, &one, WR_PLAN_K_BATCH, NAN, &err), 0);
    assert_false(d.facts[WR_PLAN_K_BATCH].known);
    assert_int_equal(wr_plan_say(&d, &given, WR_PLAN_K_BATCH, NAN, &err),
                     WEIR_EINVAL);
}

static void test_others(void **state)
{
    struct wr_plan_draft d;
    weir_err err;

    (void)state;
    wr_plan_draft_init(&d);
    assert_int_equal(
        take(&d,
             HEAD("ckpt") ", \"fast\": \"/f\", \"slow\": \"emu:hdd:/s\", "
                          "\"bytes\": 1000000, \"memcpy_s\": 0.001, "
                          "\"cases\": [{\"way\": \"fast\", \"result\": "
                          "{\"stall_s\": 0.5, \"restore_bytes_per_s\": 4e6}}]}",
             "c", 0, &err),
        0);
    assert_string_equal(d.plan.save.slow.name, "hdd");
    assert_true(near(d.plan.save.fast.write_bytes_per_s, 2e6));
    assert_true(near(d.plan.save.fast.read_bytes_per_s, 4e6));
    assert_true(near(d.plan.save.bytes, 1e6));
    assert_true(near(d.plan.save.copy_bytes_per_s, 1e9));
    assert_int_equal(take(&d, HEAD("study") "}", "s", 0, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "weir study"));
    assert_int_equal(take(&d, HEAD("bench") "}", "s", 0, &err), WEIR_EINVAL);
    assert_int_equal(take(&d, HEAD("probe") "}", "s", 0, &err), WEIR_EINVAL);
}

static void test_run(void **state)
{
    struct wr_plan_draft d;
    weir_err err;

    (void)state;
    wr_plan_draft_init(&d);
    assert_int_equal(take(&d,
                          HEAD("run") DATASET(
                              "/d", "100") ", \"config\": {\"batch\": 8, "
                                           "\"threads\": 2, \"prefetch\": 1, "
                                           "\"depth\": 4, \"epochs\": "
                                           "3, \"step_s\": 0.25, "
                                           "\"accelerators\": 4, \"ranks\": 2, "
                                           "\"order\": \"sequential\", "
                                           "\"data\": \"/d\"}, \"result\": "
                                           "{\"cpu_s_per_gb\": 1, \"bytes\": "
                                           "1000000, \"samples\": 100, "
                                           "\"resident\": 1}}",
                          "r", 0, &err),
                     0);
    assert_int_equal(wr_plan_draft_finish(&d, &err), 0);
    assert_int_equal(d.plan.compute.accelerators, 2);
    assert_int_equal(d.plan.loader.workers, 4); /* two for each */
    assert_true(near(d.plan.loader.cpu_s.mean, 1e-5));
    assert_true(d.plan.data.sequential);
    assert_string_equal(d.plan.storage.profile.name, "page cache");
    assert_int_equal(d.plan.epochs, 3);
}

static void test_workload(void **state)
{
    struct wr_workload *w = NULL;
    struct wr_plan_draft d;
    weir_err err;

    (void)state;
    wr_plan_draft_init(&d);
    assert_int_equal(
        wr_workload_load("bert_v100", NULL, 0, NULL, NULL, &w, &err), 0);
    assert_int_equal(wr_plan_from_workload(&d, w, "bert_v100", &err), 0);
    wr_workload_free(w);
    assert_int_equal(d.plan.compute.batch, 48);
    assert_true(near(d.plan.compute.step_s.mean, 0.968));
    assert_int_equal(d.plan.data.samples_per_object, 313532);
    assert_int_equal(d.plan.max_steps, 1000);
    assert_int_equal(d.plan.save.way, WR_PLAN_DIRECT);
    assert_int_equal(d.plan.save.every, 250);
    assert_int_equal(wr_plan_draft_finish(&d, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "storage"));
}

/* What eight V100 at fp16 need: 1 to 1.3 GB/s, as Nelson 2022 found. */
static void test_eight_v100(void **state)
{
    const struct wr_plan_saying given = {"test", WR_PLAN_GIVEN};
    struct wr_plan_draft d;
    struct wr_plan_bounds b;
    const struct wr_plan_model *m;
    weir_err err;

    (void)state;
    wr_plan_draft_init(&d);
    m = wr_plan_model_find("ResNet50", &err);
    assert_non_null(m);
    assert_int_equal(wr_plan_from_model(&d, m, &err), 0);
    assert_int_equal(wr_plan_from_accelerator(&d, "v100-FP16", m, &err), 0);
    assert_int_equal(wr_plan_say(&d, &given, WR_PLAN_K_GPUS, 8, &err), 0);
    assert_int_equal(wr_plan_say(&d, &given, WR_PLAN_K_CORES, 64, &err), 0);
    assert_int_equal(
        wr_device_profile_find("nvme", &d.plan.storage.profile, &err), 0);
    assert_int_equal(wr_plan_say_profile(&d, &given, WR_PLAN_K_STORAGE,
                                         &d.plan.storage.profile, &err),
                     0);
    assert_int_equal(wr_plan_draft_finish(&d, &err), 0);
    wr_plan_bounds(&d.plan, false, &b);
    assert_true(b.need_bytes_per_s > 1e9 && b.need_bytes_per_s < 1.3e9);
    assert_true(near(b.need_samples_per_s, 10526));
}

static void test_accelerators(void **state)
{
    const struct wr_plan_saying given = {"test", WR_PLAN_GIVEN};
    struct wr_plan_draft d;
    weir_err err;

    (void)state;
    for (size_t k = 0; wr_plan_model_at(k); k++)
        for (const struct wr_plan_model_step *s = wr_plan_model_at(k)->steps;
             s->accelerator; s++) {
            assert_true(s->seconds > 0 && s->batch > 0);
            assert_true(*s->source != '\0');
        }
    wr_plan_draft_init(&d);
    assert_null(wr_plan_model_find("nope", &err));
    assert_non_null(strstr(err.msg, "resnet50"));
    assert_int_equal(
        wr_plan_from_accelerator(&d, "K80", wr_plan_model_at(0), &err),
        WEIR_EINVAL);
    assert_int_equal(wr_plan_from_accelerator(&d, "cpu", NULL, &err),
                     WEIR_EINVAL);
    assert_int_equal(wr_plan_from_accelerator(&d, "nope", NULL, &err),
                     WEIR_EINVAL);
    /* Without a model the table of accelerators says it, for any batch. */
    assert_int_equal(wr_plan_from_accelerator(&d, "K4000", NULL, &err), 0);
    assert_int_equal(wr_plan_say(&d, &given, WR_PLAN_K_BATCH, 32, &err), 0);
    assert_int_equal(wr_plan_say(&d, &given, WR_PLAN_K_BYTES, 1000, &err), 0);
    assert_int_equal(wr_plan_draft_finish(&d, &err), WEIR_EINVAL);
    assert_true(near(d.plan.compute.step_s.mean, 0.3 + 32 * 0.01875));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench),
        cmocka_unit_test(test_case),
        cmocka_unit_test(test_two_runs),
        cmocka_unit_test(test_real_disk),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_workload),
        cmocka_unit_test(test_eight_v100),
        cmocka_unit_test(test_accelerators),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
