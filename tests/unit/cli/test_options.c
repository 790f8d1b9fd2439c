/* test_options.c - unit tests of src/cli/options.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/options.h"

struct args {
    bool fast, keep;
    uint64_t number, size, seed;
    double ratio;
    const char *name;
    int mode;
    struct wr_uint_list threads, blocks;
    struct wr_enum_list modes;
    struct wr_string_list tags;
};

static const struct wr_choice modes[] = {{"read", 10, NULL},
                                         {"decode", 20, NULL},
                                         {"all", 30, NULL},
                                         {NULL, 0, NULL}};

static const struct wr_option table[] = {
    {.name = "fast", .letter = 'f', WR_OPT_FLAG(struct args, fast)},
    {.name = "keep", WR_OPT_FLAG(struct args, keep), .def = "yes"},
    {.name = "number",
     .letter = 'n',
     WR_OPT_UINT(struct args, number),
     .arg = "N",
     .min = 1,
     .max = 100,
     .def = "7"},
    {.name = "size",
     WR_OPT_SIZE(struct args, size),
     .min = 512,
     .max = 1 << 20},
    {.name = "seed", .old = "random", WR_OPT_UINT(struct args, seed)},
    {.name = "ratio", WR_OPT_DOUBLE(struct args, ratio), .max = 1},
    {.name = "name", WR_OPT_STRING(struct args, name)},
    {.name = "mode",
     WR_OPT_ENUM(struct args, mode),
     .choices = modes,
     .def = "all"},
    {.name = "threads",
     .letter = 't',
     WR_OPT_UINT_LIST(struct args, threads),
     .min = 1,
     .max = 64,
     .def = "1,2"},
    {.name = "modes", WR_OPT_ENUM_LIST(struct args, modes), .choices = modes},
    {.name = "tag", WR_OPT_STRINGS(struct args, tags)},
    {.name = "block",
     WR_OPT_UINT_LIST(struct args, blocks),
     .min = 512,
     .flags = WR_OPTION_BYTES},
    WR_OPTIONS_END};

/* Parses `line`, split at blanks, into *a; the operands joined by '|'. */
static int parse(const char *line, struct args *a, char *operands,
                 weir_err *err)
{
    static char copy[4096]; /* values point into it */
    struct wr_option_set set = {table, a, 0};
    char *argv[128], *save, *word;
    size_t n = 0;
    int argc = 0, r;

    memset(a, 0, sizeof(*a));
    snprintf(copy, sizeof(copy), "%s", line);
    for (word = strtok_r(copy, " ", &save); word;
         word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    assert_int_equal(wr_options_defaults(&set, err), 0);
    r = wr_options_parse(&set, 1, argc, argv, &n, err);
    operands[0] = '\0';
    for (size_t i = 0; r == 0 && i < n; i++) {
        strcat(operands, i ? "|" : "");
        strcat(operands, argv[i]);
    }
    return r;
}

static void expect_ok(const char *line, struct args *a)
{
    char operands[256];
    weir_err err = {0};

    if (parse(line, a, operands, &err) < 0)
        fail_msg("'%s' failed: %s", line, err.msg);
}

static void expect_fail(const char *line, const char *message)
{
    char operands[256];
    struct args a;
    weir_err err = {0};

    assert_int_equal(parse(line, &a, operands, &err), WEIR_EINVAL);
    if (!strstr(err.msg, message))
        fail_msg("'%s' said '%s', not '%s'", line, err.msg, message);
}

static void test_defaults(void **state)
{
    struct args a;

    (void)state;
    expect_ok("", &a);
    assert_false(a.fast);
    assert_true(a.keep);
    assert_int_equal(a.number, 7);
    assert_int_equal(a.mode, 30);
    assert_int_equal(a.threads.count, 2);
    assert_int_equal(a.threads.v[1], 2);
    assert_null(a.name);
}

static void test_every_type(void **state)
{
    struct args a;

    (void)state;
    expect_ok("-f --no-keep -n 100 --size 64KiB --ratio=0.25 --name=a=b "
              "--mode decode --threads 1,2,4,8 --modes all,read --tag x "
              "--tag y --seed 18446744073709551615",
              &a);
    assert_true(a.fast);
    assert_false(a.keep);
    assert_int_equal(a.number, 100);
    assert_int_equal(a.size, 65536);
    assert_true(a.ratio == 0.25);
    assert_string_equal(a.name, "a=b");
    assert_int_equal(a.mode, 20);
    assert_int_equal(a.threads.count, 4);
    assert_int_equal(a.threads.v[3], 8);
    assert_int_equal(a.modes.count, 2);
    assert_int_equal(a.modes.v[0], 30);
    assert_int_equal(a.tags.count, 2);
    assert_string_equal(a.tags.v[1], "y");
    assert_true(a.seed == UINT64_MAX);
}

static void test_spellings(void **state)
{
    static const char *const lines[] = {"--number 5", "--number=5", "-n 5",
                                        "-n5",        "-fn5",       "-fn 5",
                                        "--num 5",    "--nu=5"};
    struct args a;

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(lines); i++) {
        expect_ok(lines[i], &a);
        assert_int_equal(a.number, 5);
    }
    expect_ok("--mode read --mode=all", &a); /* whole name before prefix */
    assert_int_equal(a.mode, 30);
    expect_ok("--fast --no-f", &a);
    assert_false(a.fast);
}

static void test_operands(void **state)
{
    char operands[256];
    struct args a;
    weir_err err;

    (void)state;
    assert_int_equal(parse("x -f y - --number 3 -- -f --z", &a, operands, &err),
                     0);
    assert_string_equal(operands, "x|y|-|-f|--z");
    assert_int_equal(a.number, 3);
}

static void test_errors(void **state)
{
    (void)state;
    expect_fail("--number x", "option --number: 'x' is not a whole number");
    expect_fail("-n 0", "option --number: '0' is not between 1 and 100");
    expect_fail("--number 101", "not between");
    expect_fail("--number", "option --number: needs a value: N");
    expect_fail("-n", "needs a value");
    expect_fail("--nubmer 5", "unknown option '--nubmer' (did you mean "
                              "--number?)");
    expect_fail("--n 5", "could mean several");
    expect_fail("--=5", "unknown option");
    expect_fail("-x", "unknown option '-x'");
    expect_fail("--fast=yes", "option --fast: takes no value");
    expect_fail("--no-number", "unknown option");
    expect_fail("--size 1", "option --size: '1' is less than 512 bytes");
    expect_fail("--size 2MiB", "more than 1048576 bytes");
    expect_fail("--size big", "'big' is not a size");
    expect_fail("--ratio 2", "option --ratio: '2' is not between 0 and 1");
    expect_fail("--mode red", "'red' is not one of read, decode or all (did "
                              "you mean read?)");
    expect_fail("--threads 1,,2", "a value is missing");
    expect_fail("--threads 1,2,", "a value is missing");
    expect_fail("--threads 1,65", "'65' is not between 1 and 64");
    expect_fail("--modes read,what", "'what' is not one of");
}

static void test_size_list(void **state)
{
    struct args a;

    (void)state;
    expect_ok("--block 4KiB,1MiB,512", &a);
    assert_int_equal(a.blocks.count, 3);
    assert_int_equal(a.blocks.v[0], 4096);
    assert_int_equal(a.blocks.v[1], 1 << 20);
    assert_int_equal(a.blocks.v[2], 512);
    expect_fail("--block 4KiB,100", "'100' is less than 512 bytes");
    expect_fail("--block 4Q", "'4Q' is not a size");
}

static void test_list_limit(void **state)
{
    char line[1024] = "--threads 1";
    struct args a;

    (void)state;
    for (int i = 1; i < WR_LIST_MAX; i++)
        strcat(line, ",1");
    expect_ok(line, &a);
    assert_int_equal(a.threads.count, WR_LIST_MAX);
    strcat(line, ",1");
    expect_fail(line, "more than 64 values");
}

static void test_string_limit(void **state)
{
    char line[1024] = "";
    struct args a;

    (void)state;
    for (int i = 0; i < WR_LIST_MAX; i++)
        strcat(line, " --tag=a");
    expect_ok(line, &a);
    strcat(line, " --tag=a");
    expect_fail(line, "option --tag: given more than 64 times");
}

/* A wrong value leaves the field as it was. */
static void test_untouched(void **state)
{
    struct args a = {.number = 3, .mode = 4, .threads = {1, {9}}};
    weir_err err;

    (void)state;
    assert_true(wr_option_set_value(&table[2], "200", &a, &err) < 0);
    assert_true(wr_option_set_value(&table[7], "none", &a, &err) < 0);
    assert_true(wr_option_set_value(&table[8], "1,x", &a, NULL) < 0);
    assert_int_equal(a.number, 3);
    assert_int_equal(a.mode, 4);
    assert_int_equal(a.threads.count, 1);
    assert_int_equal(a.threads.v[0], 9);
}

static void test_given(void **state)
{
    struct args a = {0};
    struct wr_option_set set = {table, &a, 0};
    char option[] = "--number", value[] = "7";
    char *argv[] = {option, value};
    size_t n;

    (void)state;
    assert_int_equal(wr_options_parse(&set, 1, 2, argv, &n, NULL), 0);
    assert_int_equal(n, 0);
    assert_true(wr_options_given(&set, "number"));
    assert_false(wr_options_given(&set, "mode"));
    assert_false(wr_options_given(&set, "no such"));
}

/* An earlier name is the same option, as a whole only. */
static void test_old_name(void **state)
{
    struct args a = {0};
    struct wr_option_set set = {table, &a, 0};
    char name[] = "--random", value[] = "3", begin[] = "--rando=4";
    char *whole[] = {name, value}, *part[] = {begin};
    size_t operands;
    weir_err err;

    (void)state;
    assert_int_equal(wr_options_parse(&set, 1, 2, whole, &operands, &err), 0);
    assert_int_equal(a.seed, 3);
    assert_true(wr_options_given(&set, "seed"));
    assert_int_equal(wr_options_parse(&set, 1, 1, part, &operands, &err),
                     WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "unknown option '--rando'"));
}

static void test_choices(void **state)
{
    char buf[64], tiny[6];

    (void)state;
    assert_string_equal(wr_choice_join(modes, buf, sizeof(buf)),
                        "read, decode or all");
    assert_string_equal(wr_choice_join(modes, tiny, sizeof(tiny)), "read,");
    assert_string_equal(wr_choice_name(modes, 20), "decode");
    assert_string_equal(wr_choice_name(modes, 21), "?");
}

/* Rows that point into a struct of another room, inside the args. */
struct plan {
    char before;
    unsigned count;
    int yes;
    enum { SMALL, LARGE = 7 } size;
    uint64_t after;
};

struct nested {
    struct plan plan;
    uint64_t own;
};

static const struct wr_choice sizes[] = {
    {"small", SMALL, NULL}, {"large", LARGE, NULL}, {NULL, 0, NULL}};

static const struct wr_option nested_table[] = {
    {WR_OPT_U32(struct nested, plan.count), .name = "count", .max = 1000,
     .def = "5"},
    {WR_OPT_YES(struct nested, plan.yes), .name = "yes", .def = "yes"},
    {WR_OPT_CHOICE(struct nested, plan.size), .name = "size", .choices = sizes,
     .def = "large"},
    {WR_OPT_UINT(struct nested, own), .name = "own", .key = 3, .unit = 0.5},
    WR_OPTIONS_END};

static int parse_nested(struct nested *n, const char *const *words, int argc,
                        weir_err *err)
{
    struct wr_option_set set = {nested_table, n, 0};
    char *argv[4];
    size_t operands;

    memset(n, 0xff, sizeof(*n)); /* what a row writes beyond its field shows */
    for (int k = 0; k < argc; k++)
        argv[k] = (char *)(uintptr_t)words[k];
    assert_int_equal(wr_options_defaults(&set, err), 0);
    return wr_options_parse(&set, 1, argc, argv, &operands, err);
}

static void test_nested(void **state)
{
    static const char *const words[] = {"--count=999", "--no-yes",
                                        "--size=small"};
    static const char *const many[] = {"--count", "1001"};
    struct nested n;
    weir_err err;

    (void)state;
    assert_int_equal(parse_nested(&n, NULL, 0, &err), 0);
    assert_int_equal(n.plan.count, 5);
    assert_int_equal(n.plan.yes, 1);
    assert_int_equal(n.plan.size, LARGE);
    assert_int_equal(parse_nested(&n, words, 3, &err), 0);
    assert_int_equal(n.plan.count, 999);
    assert_int_equal(n.plan.yes, 0);
    assert_int_equal(n.plan.size, SMALL);
    assert_true(n.plan.after == UINT64_MAX && n.own == UINT64_MAX);
    assert_int_equal(parse_nested(&n, many, 2, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "option --count:"));
    assert_int_equal(n.plan.count, 5);
}

/* Options that change nothing without another one. */
struct paired {
    const char *folder;
    uint64_t keep, number;
    bool compare, fast;
    int size;
};

static const struct wr_option paired_table[] = {
    {WR_OPT_STRING(struct paired, folder), .name = "folder"},
    {WR_OPT_UINT(struct paired, keep), .name = "keep", .with = "folder"},
    {WR_OPT_FLAG(struct paired, compare), .name = "compare"},
    {WR_OPT_FLAG(struct paired, fast), .name = "fast", .with = "compare"},
    {WR_OPT_ENUM(struct paired, size), .name = "size", .choices = sizes,
     .def = "small"},
    {WR_OPT_UINT(struct paired, number), .name = "number",
     .with = "size large"},
    WR_OPTIONS_END};

static void expect_pair(const char *line, const char *message)
{
    struct paired args = {0};
    struct wr_option_set set = {paired_table, &args, 0};
    char copy[128], *argv[8], *save = NULL, *word;
    size_t operands;
    weir_err err = {0};
    int argc = 0, r;

    snprintf(copy, sizeof(copy), "%s", line);
    for (word = strtok_r(copy, " ", &save); word;
         word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    assert_int_equal(wr_options_defaults(&set, NULL), 0);
    assert_int_equal(wr_options_parse(&set, 1, argc, argv, &operands, NULL), 0);
    r = wr_options_check(&set, &err);
    assert_int_equal(r, message ? WEIR_EINVAL : 0);
    if (message)
        assert_string_equal(err.msg, message);
}

static void test_pairs(void **state)
{
    (void)state;
    expect_pair("", NULL);
    expect_pair("--keep 3", "option --keep goes with --folder");
    expect_pair("--keep 3 --folder x", NULL);
    expect_pair("--fast", "option --fast goes with --compare");
    expect_pair("--fast --no-compare", "option --fast goes with --compare");
    expect_pair("--compare --fast", NULL);
    expect_pair("--number 1", "option --number goes with --size large");
    expect_pair("--number 1 --size small",
                "option --number goes with --size large");
    expect_pair("--number 1 --size large", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),     cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_spellings),    cmocka_unit_test(test_operands),
        cmocka_unit_test(test_errors),       cmocka_unit_test(test_list_limit),
        cmocka_unit_test(test_string_limit), cmocka_unit_test(test_untouched),
        cmocka_unit_test(test_given),        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_nested),       cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_size_list),    cmocka_unit_test(test_old_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
