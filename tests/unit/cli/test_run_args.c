/* test_run_args.c - the settings of weir run, and those of pipelines as options.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parsed.h"

#include "base/mem.h"
#include "cli/feed_args.h"
#include "cli/run_args.h"

static const struct wr_cli *parse_run(struct parsed *p, struct run_args *a,
                                      const char *line)
{
    *a = (struct run_args){0};
    wr_run_args_defaults(a);
    return parsed(p, wr_run_options, a, line);
}

/* What is data, and what is an override. */
static void test_operands(void **state)
{
    static const struct {
        const char *line, *overrides, *data, *why;
    } cases[] = {
        {"resnet50", "", NULL, NULL},
        {"resnet50 /data", "", "/data", NULL},
        {"resnet50 train.epochs=2", "train.epochs=2|", NULL, NULL},
        {"resnet50 a.b=1 /data +x c.d=2", "a.b=1|+x|c.d=2|", "/data", NULL},
        {"resnet50 +workload.x=1", "+workload.x=1|", NULL, NULL},
        {"resnet50 a=b/c", "a=b/c|", NULL, NULL},
        {"resnet50 /run=3/data", "", "/run=3/data", NULL},
        {"resnet50 ./x=1", "", "./x=1", NULL},
        {"resnet50 /data more", "", "/data",
         "'more': the data is '/data' already, and an override is "
         "section.key=value"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        const char *list[PARSED_WORDS], *data = "not set";
        char joined[200] = "";
        struct run_args args;
        struct parsed p;
        weir_err err = {0};
        int code = 7;
        size_t n;

        parse_run(&p, &args, cases[k].line);
        n = wr_run_operands(&p.cli, list, &data, &err, &code);
        for (size_t i = 0; i < n; i++) {
            strcat(joined, list[i]);
            strcat(joined, "|");
        }
        assert_string_equal(joined, cases[k].overrides);
        if (cases[k].data)
            assert_string_equal(data, cases[k].data);
        else
            assert_null(data);
        assert_int_equal(code, cases[k].why ? WEIR_EINVAL : 0);
        if (cases[k].why)
            assert_string_equal(err.msg, cases[k].why);
    }
}

static int plan_of(const char *line, struct wr_run_plan *plan, weir_err *err)
{
    static struct wr_workload w;
    static char folder[] = "/described";
    static struct run_args args;
    static struct parsed p; /* the plan's texts point into it */

    w.checkpoint.folder = folder;
    w.weir.consume = WR_WL_DECODE;
    parse_run(&p, &args, line);
    memset(plan, 0xff, sizeof(*plan));
    return wr_run_plan_of(&p.cli, &w, plan, err);
}

static void must_plan(const char *line, struct wr_run_plan *plan)
{
    weir_err err;

    if (plan_of(line, plan, &err) < 0)
        fail_msg("'%s': %s", line, err.msg);
}

/* What the description says holds where no option says otherwise. */
static void test_plan(void **state)
{
    struct wr_run_plan p;

    (void)state;
    must_plan("", &p);
    assert_non_null(p.w);
    assert_false(p.has_order || p.has_prefetch || p.compat_dlio);
    assert_false(p.keep_steps || p.no_ckpt || p.no_io || p.digest);
    assert_int_equal(p.consume, WR_WL_DECODE);
    assert_string_equal(p.ckpt.fast, "/described");
    assert_null(p.ckpt.slow);
    assert_int_equal(p.level, WEIR_LEVEL_FAST);
    assert_int_equal(p.access, WR_WL_ACCESS_AUTO);
    assert_true(p.scale == 1 && !p.max_steps && !p.max_epochs);

    must_plan("--order shuffle --prefetch 3 --compat dlio --consume drop", &p);
    assert_true(p.has_order && p.has_prefetch && p.compat_dlio);
    assert_int_equal(p.feed.prefetch, 3);
    assert_int_equal(p.consume, WR_WL_DROP);

    must_plan("--consume read --dlio-output x --no-checkpoints --digest", &p);
    assert_int_equal(p.consume, WR_WL_READ);
    assert_true(p.keep_steps && p.no_ckpt && p.digest);

    must_plan("--ckpt /fast --slow /slow --store abc --level verified", &p);
    assert_string_equal(p.ckpt.fast, "/fast");
    assert_string_equal(p.ckpt.slow, "/slow");
    assert_string_equal(p.ckpt.store, "abc");
    assert_int_equal(p.level, WEIR_LEVEL_VERIFIED);

    must_plan("--steps 4 --epochs 2 --scale 0.5 --file-access collective "
              "--page-cache cold --no-io",
              &p);
    assert_true(p.max_steps == 4 && p.max_epochs == 2 && p.scale == 0.5);
    assert_int_equal(p.access, WR_WL_ACCESS_COLLECTIVE);
    assert_int_equal(p.cache, WR_CACHE_COLD);
    assert_true(p.no_io);
    must_plan("--search accelerators --search-max 8", &p);
}

static void test_refused(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"--search-max 8", "option --search-max goes with --search"},
        {"--search accelerators -g 2",
         "option --search finds the number of accelerators: --search-max "
         "limits it"},
        {"--search accelerators --dlio-output x",
         "option --dlio-output does not go with --search"},
        {"--scale 0", "option --scale: must be over 0"},
    };
    struct wr_run_plan plan;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        weir_err err;

        assert_int_equal(plan_of(cases[k].line, &plan, &err), WEIR_EINVAL);
        assert_string_equal(err.msg, cases[k].why);
    }
}

/* --- the pipeline's settings --- */

struct feed_args {
    weir_pipeline_config feed;
};

static const struct wr_option feed_options[] = {
    {WR_FEED(struct feed_args, threads)},
    {WR_FEED(struct feed_args, resize)},
    {WR_FEED(struct feed_args, crop)},
    {WR_FEED(struct feed_args, crop_area)},
    {WR_FEED(struct feed_args, order)},
    WR_OPTIONS_END};

static void test_pixels(void **state)
{
    static const struct {
        const char *line, *option;
    } cases[] = {
        {"", NULL},
        {"--threads 4 --order shuffle", NULL},
        {"--resize bilinear", "resize"},
        {"--threads 4 --crop random", "crop"},
        {"--crop-area 0.1,0.9 --resize bilinear", "resize"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct feed_args args = {0};
        const char *given;
        struct parsed p;

        weir_pipeline_defaults(&args.feed);
        given = wr_feed_given_pixels(
            parsed(&p, feed_options, &args, cases[k].line));
        if (cases[k].option)
            assert_string_equal(given, cases[k].option);
        else
            assert_null(given);
    }
}

/* A message about a setting names the option, if the command has it. */
static void test_check(void **state)
{
    static const struct wr_option none[] = {WR_OPTIONS_END};
    weir_pipeline_config cfg;
    weir_err err;

    (void)state;
    weir_pipeline_defaults(&cfg);
    assert_int_equal(wr_feed_check(feed_options, &cfg, &err), 0);
    cfg.picture.crop = WEIR_CROP_RANDOM;
    cfg.picture.crop_area[0] = 0.9f;
    cfg.picture.crop_area[1] = 0.1f;
    assert_int_equal(wr_feed_check(feed_options, &cfg, &err), WEIR_EINVAL);
    if (strstr(err.msg, "option --crop-area: ") != err.msg ||
        strstr(err.msg, "crop_area:"))
        fail_msg("%s", err.msg);
    assert_int_equal(wr_feed_check(none, &cfg, &err), WEIR_EINVAL);
    if (strstr(err.msg, "crop_area") != err.msg)
        fail_msg("%s", err.msg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands), cmocka_unit_test(test_plan),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
