/* test_plan_args.c - what the options of weir plan say of a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parsed.h"

#include <math.h>

#include "base/mem.h"
#include "cli/plan_args.h"

struct said {
    struct plan_args args;
    struct parsed p;
    struct wr_plan_draft d;
    const struct wr_plan_model *model;
    weir_err err;
};

/* What a line says: the first part, and if that is good the second one. */
static int say(struct said *s, const char *line)
{
    int r;

    memset(s, 0, sizeof(*s));
    parsed(&s->p, wr_plan_options, &s->args, line);
    wr_plan_draft_init(&s->d);
    r = wr_plan_args_say(&s->p.cli, &s->d, &s->model, &s->err);
    return r < 0 ? r : wr_plan_args_say_late(&s->p.cli, &s->d, &s->err);
}

static void expect_number(const struct said *s, const char *line,
                          enum wr_plan_key key, double number,
                          const char *source)
{
    const struct wr_plan_fact *f = &s->d.facts[key];

    if (!f->known || fabs(f->number - number) > 1e-9 * fabs(number))
        fail_msg("'%s': known %d, %.12g, not %.12g", line, f->known, f->number,
                 number);
    assert_string_equal(f->source, source);
    assert_int_equal(f->rank, WR_PLAN_GIVEN);
}

/* Each option that is a number, in the unit of the draft. */
static void test_numbers(void **state)
{
    static const struct {
        const char *line;
        enum wr_plan_key key;
        double number;
        const char *source;
    } cases[] = {
        {"--accelerators 8", WR_PLAN_K_GPUS, 8, "--accelerators"},
        {"--gpus 6", WR_PLAN_K_GPUS, 6, "--accelerators"},
        {"-g 4", WR_PLAN_K_GPUS, 4, "--accelerators"},
        {"--nodes 12", WR_PLAN_K_NODES, 12, "--nodes"},
        {"--batch 48", WR_PLAN_K_BATCH, 48, "--batch"},
        {"--step-cv 0.25", WR_PLAN_K_STEP_CV, 0.25, "--step-cv"},
        {"--reduce-ms 15", WR_PLAN_K_REDUCE, 0.015, "--reduce-ms"},
        {"--epochs 3", WR_PLAN_K_EPOCHS, 3, "--epochs"},
        {"--steps 77", WR_PLAN_K_STEPS, 77, "--steps"},
        {"--samples 1000", WR_PLAN_K_SAMPLES, 1000, "--samples"},
        {"--sample-bytes 2KiB", WR_PLAN_K_BYTES, 2048, "--sample-bytes"},
        {"--sample-cv 0.5", WR_PLAN_K_BYTES_CV, 0.5, "--sample-cv"},
        {"--samples-per-file 9", WR_PLAN_K_PER_OBJECT, 9, "--samples-per-file"},
        {"--client-limit 2GB/s", WR_PLAN_K_CLIENT, 2e9, "--client-limit"},
        {"--opens 250", WR_PLAN_K_OPENS, 250, "--opens"},
        {"--jitter 0.75", WR_PLAN_K_VARY, 0.75, "--jitter"},
        {"--threads 16", WR_PLAN_K_WORKERS, 16, "--threads"},
        {"--workers 5", WR_PLAN_K_WORKERS, 5, "--threads"},
        {"--depth 7", WR_PLAN_K_DEPTH, 7, "--depth"},
        {"--prefetch 0", WR_PLAN_K_PREFETCH, 0, "--prefetch"},
        {"--cores 24", WR_PLAN_K_CORES, 24, "--cores"},
        {"--cpu-ms 12", WR_PLAN_K_CPU, 0.012, "--cpu-ms"},
        {"--cpu-cv 2", WR_PLAN_K_CPU_CV, 2, "--cpu-cv"},
        {"--fast-cpu-ms 6", WR_PLAN_K_CPU_FAST, 0.006, "--fast-cpu-ms"},
        {"--batch-cpu-ms 1", WR_PLAN_K_BATCH_CPU, 0.001, "--batch-cpu-ms"},
        {"--save-every 500", WR_PLAN_K_EVERY, 500, "--save-every"},
        {"--state-bytes 3GiB", WR_PLAN_K_STATE, 3.0 * (1 << 30),
         "--state-bytes"},
        {"--copy 7GB/s", WR_PLAN_K_COPY, 7e9, "--copy"},
        {"--kept 2", WR_PLAN_K_KEPT, 2, "--kept"},
        {"--mtbf 10", WR_PLAN_K_MTBF, 36000, "--mtbf"},
        {"--mtbf 10 --recovery 90", WR_PLAN_K_RESTART, 90, "--recovery"},
        {"--seed 11", WR_PLAN_K_SEED, 11, "--seed"},
        {"--sequential", WR_PLAN_K_SEQUENTIAL, 1, "--sequential"},
        {"--no-sequential", WR_PLAN_K_SEQUENTIAL, 0, "--sequential"},
        {"--shared", WR_PLAN_K_SHARED, 1, "--shared"},
        {"--no-shared", WR_PLAN_K_SHARED, 0, "--shared"},
        {"--aggregate 4GB/s", WR_PLAN_K_SHARED, 1, "--aggregate"},
        {"--shared --aggregate 4GB/s", WR_PLAN_K_SHARED, 1, "--aggregate"},
        {"--cached 0.5 --cached-decoded", WR_PLAN_K_CACHE_DECODED, 1,
         "--cached-decoded"},
    };
    struct said s;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        if (say(&s, cases[k].line) < 0)
            fail_msg("'%s': %s", cases[k].line, s.err.msg);
        expect_number(&s, cases[k].line, cases[k].key, cases[k].number,
                      cases[k].source);
    }
}

/* What was not given is not said, though it has a default. */
static void test_defaults(void **state)
{
    struct said s;

    (void)state;
    assert_int_equal(say(&s, ""), 0);
    for (unsigned k = 0; k < WR_PLAN_KEYS; k++)
        if (s.d.facts[k].known)
            fail_msg("'%s' is known", wr_plan_key_name((enum wr_plan_key)k));
    assert_null(s.model);
    assert_true(s.args.target == 0.9 && s.args.what_if && s.args.most == 128);
}

static void test_models(void **state)
{
    struct said s;

    (void)state;
    assert_int_equal(say(&s, "--model resnet50 --accelerator a100"), 0);
    assert_string_equal(s.model->name, "resnet50");
    assert_true(s.d.facts[WR_PLAN_K_SAMPLES].number == 1281167);
    assert_int_equal(s.d.facts[WR_PLAN_K_SAMPLES].rank, WR_PLAN_TABLED);
    assert_true(s.d.facts[WR_PLAN_K_BATCH].number == 400);
    assert_true(fabs(s.d.facts[WR_PLAN_K_STEP].number - 0.435) < 1e-12);
    assert_int_equal(say(&s, "--step-ms 40"), 0);
    assert_null(s.model);
    assert_true(fabs(s.d.facts[WR_PLAN_K_STEP].number - 0.040) < 1e-12);
    assert_int_equal(say(&s, "--model resnet50 --accelerator ms=2.5"), 0);
    assert_true(fabs(s.d.facts[WR_PLAN_K_STEP].number - 0.0025) < 1e-12);
    /* An option beats the table, whatever comes first. */
    assert_int_equal(say(&s, "--samples 10 --model resnet50"), 0);
    assert_true(s.d.facts[WR_PLAN_K_SAMPLES].number == 10);
}

/* A loader brings its depth and prefetch, unless they are given. */
static void test_loaders(void **state)
{
    static const struct {
        const char *line, *loader;
        double depth, prefetch; /* NaN: not said */
        bool in_turns;
    } cases[] = {
        {"--loader weir", "weir", NAN, NAN, false},
        {"--loader tf.data", "tf.data", 1, NAN, false},
        {"--loader pytorch", "pytorch", 1, 2, true},
        {"--loader pytorch --depth 3", "pytorch", 3, 2, true},
        {"--loader pytorch --prefetch 5", "pytorch", 1, 5, true},
        {"--loader tf.data --depth 8 --prefetch 4", "tf.data", 8, 4, false},
    };
    struct said s;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        const struct wr_plan_fact *depth = &s.d.facts[WR_PLAN_K_DEPTH];
        const struct wr_plan_fact *prefetch = &s.d.facts[WR_PLAN_K_PREFETCH];

        assert_int_equal(say(&s, cases[k].line), 0);
        assert_string_equal(s.d.facts[WR_PLAN_K_LOADER].value, cases[k].loader);
        assert_int_equal(depth->known, !isnan(cases[k].depth));
        assert_true(!depth->known || depth->number == cases[k].depth);
        assert_int_equal(prefetch->known, !isnan(cases[k].prefetch));
        assert_true(!prefetch->known || prefetch->number == cases[k].prefetch);
        assert_int_equal(s.d.plan.loader.style == WR_PLAN_IN_TURNS,
                         cases[k].in_turns);
        assert_int_equal(s.d.plan.loader.apart, cases[k].in_turns);
    }
}

static void test_saves(void **state)
{
    static const struct {
        const char *name;
        enum wr_plan_way way;
    } ways[] = {{"none", WR_PLAN_NO_SAVES},
                {"direct", WR_PLAN_DIRECT},
                {"burst", WR_PLAN_BURST},
                {"async", WR_PLAN_ASYNC}};
    struct said s;
    char line[40];

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(ways); k++) {
        snprintf(line, sizeof(line), "--save %s", ways[k].name);
        assert_int_equal(say(&s, line), 0);
        assert_int_equal(s.d.plan.save.way, ways[k].way);
        assert_string_equal(s.d.facts[WR_PLAN_K_SAVES].value, ways[k].name);
        assert_string_equal(s.d.facts[WR_PLAN_K_SAVES].source, "--save");
    }
}

static void test_places(void **state)
{
    struct said s;

    (void)state;
    assert_int_equal(
        say(&s, "--storage hdd --slow-device lustre --fast-device nvme"), 0);
    assert_string_equal(s.d.plan.storage.profile.name, "hdd");
    assert_string_equal(s.d.facts[WR_PLAN_K_STORAGE].source, "--storage");
    assert_string_equal(s.d.facts[WR_PLAN_K_SLOW].source, "--slow-device");
    assert_string_equal(s.d.facts[WR_PLAN_K_FAST].source, "--fast-device");
    assert_int_equal(say(&s, "--storage nothing-like-it"), WEIR_EINVAL);
    assert_true(strstr(s.err.msg, "option --storage: ") == s.err.msg);
    assert_int_equal(say(&s, "--fast-device nothing-like-it"), WEIR_EINVAL);
    assert_true(strstr(s.err.msg, "option --fast-device: ") == s.err.msg);
}

/* A rate for all nodes: the latencies are those of the profile, or of Lustre. */
static void test_aggregate(void **state)
{
    struct said s;

    (void)state;
    assert_int_equal(say(&s, "--aggregate 4GB/s"), 0);
    assert_string_equal(s.d.plan.storage.profile.name, "lustre");
    assert_int_equal(s.d.facts[WR_PLAN_K_STORAGE].rank, WR_PLAN_ASSUMED);
    assert_string_equal(s.d.facts[WR_PLAN_K_STORAGE].value,
                        "lustre, 4.0 GB/s for all");
    assert_int_equal(say(&s, "--aggregate 4GB/s --storage nfs"), 0);
    assert_string_equal(s.d.plan.storage.profile.name, "nfs");
    assert_true(s.d.plan.storage.profile.read_bytes_per_s == 4e9);
    assert_true(s.d.plan.storage.profile.write_bytes_per_s == 4e9);
    assert_int_equal(s.d.plan.storage.profile.channels, 0);
    assert_int_equal(s.d.facts[WR_PLAN_K_STORAGE].rank, WR_PLAN_GIVEN);
}

/* A share, a percentage, or bytes of each node. */
static void test_cached(void **state)
{
    static const struct {
        const char *text;
        double share; /* NaN: refused */
        const char *why;
    } cases[] = {
        {"0.5", 0.5, NULL},
        {"0", 0, NULL},
        {"1", 1, NULL},
        {"50%", 0.5, NULL},
        {"100%", 1, NULL},
        {"12.5%", 0.125, NULL},
        {"101%", NAN, "option --cached: '101' is not between 0 and 100"},
        {"%", NAN, "option --cached: "},
        {"250KiB", 0.5, NULL}, /* of two nodes, of 1000 KiB */
        {"200GiB", 1, NULL},
        {"much", NAN, "option --cached: 'much' is not a size"},
    };
    struct said s;
    char line[100];

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        int r;

        snprintf(line, sizeof(line),
                 "--samples 1000 --sample-bytes 1KiB --nodes 2 --cached %s",
                 cases[k].text);
        r = say(&s, line);
        assert_int_equal(r, isnan(cases[k].share) ? WEIR_EINVAL : 0);
        if (r == 0)
            expect_number(&s, line, WR_PLAN_K_CACHE, cases[k].share,
                          "--cached");
        else if (strstr(s.err.msg, cases[k].why) != s.err.msg)
            fail_msg("'%s': %s", line, s.err.msg);
    }
    assert_int_equal(say(&s, "--cached 200GiB"), WEIR_EINVAL);
    assert_string_equal(s.err.msg,
                        "option --cached: '200GiB': a size needs the samples "
                        "and their bytes");
}

static void test_wrong(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"--model vgg", "option --model: "},
        {"--model bert --accelerator K80", "option --accelerator: 'K80'"},
        {"--accelerator ms=", "option --accelerator: "},
        {"--accelerator cpu", "option --accelerator: "},
    };
    struct said s;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        assert_int_equal(say(&s, cases[k].line), WEIR_EINVAL);
        if (strstr(s.err.msg, cases[k].why) != s.err.msg)
            fail_msg("'%s': %s", cases[k].line, s.err.msg);
    }
}

static void test_together(void **state)
{
    static const struct {
        const char *line, *why; /* NULL: good */
    } cases[] = {
        {"", NULL},
        {"--save none", NULL},
        {"--save direct --save-every 3 --kept 2", NULL},
        {"--save-every 3", NULL},
        {"--save none --save-every 3",
         "option --save-every: with --save none nothing is saved"},
        {"--save none --kept 1",
         "option --kept: with --save none nothing is saved"},
        {"--save none --fast-device nvme",
         "option --fast-device: with --save none nothing is saved"},
        {"--save none --copy 5GB/s",
         "option --copy: with --save none nothing is saved"},
        {"--accelerator A100", NULL},
        {"--accelerator A100 --step-ms 3",
         "options --accelerator and --step-ms say the same"},
        {"--shared --aggregate 5GB/s", NULL},
        {"--no-shared", NULL},
        {"--no-shared --aggregate 5GB/s",
         "option --aggregate is about storage that is shared"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct plan_args args = {0};
        struct parsed p;
        weir_err err;
        int r;

        parsed(&p, wr_plan_options, &args, cases[k].line);
        r = wr_plan_args_check(&p.cli, &err);
        assert_int_equal(r, cases[k].why ? WEIR_EINVAL : 0);
        if (r < 0)
            assert_string_equal(err.msg, cases[k].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_models),    cmocka_unit_test(test_loaders),
        cmocka_unit_test(test_saves),     cmocka_unit_test(test_places),
        cmocka_unit_test(test_aggregate), cmocka_unit_test(test_cached),
        cmocka_unit_test(test_wrong),     cmocka_unit_test(test_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
