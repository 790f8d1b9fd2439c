/* test_command.c - unit tests of command.c, manual.c, completion.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/manual.h"

struct toy_args {
    uint64_t number;
    bool cache;
    const char *file;
};

static int toy_run(struct wr_cli *cli)
{
    const struct toy_args *a = cli->args;

    fprintf(cli->out, "%u %d %s", (unsigned)a->number,
            wr_cli_given(cli, "number"), wr_cli_style(cli, WR_STYLE_BOLD));
    for (size_t i = 0; i < cli->operand_count; i++)
        fprintf(cli->out, " %s", cli->operands[i]);
    wr_cli_note(cli, "a note");
    return a->number == 9 ? wr_cli_fail(cli, "number %d", 9) : WR_EXIT_DONE;
}

/* Lines and styles are the command's, what else acts came with a name. */
static void test_put(void **state)
{
    static const struct wr_command cmd = {.name = "toy"};
    char *out = NULL, *said = NULL;
    size_t len, said_len;
    struct wr_cli cli = {.cmd = &cmd,
                         .color = true,
                         .out = open_memstream(&out, &len),
                         .err = open_memstream(&said, &said_len)};

    (void)state;
    wr_cli_put(&cli, "%sa%s\n%s\033[8m\033", wr_cli_style(&cli, WR_STYLE_BAD),
               wr_cli_style(&cli, WR_STYLE_END),
               "\033]0;t\a\r\xff\xe2\x80\xae");
    cli.color = false;
    wr_cli_put(&cli, "\033[1m\n\n");
    wr_cli_note(&cli, "%s", "a\n\033[1m");
    wr_cli_fail(&cli, "%s", "\xc2\x9b");
    wr_cli_usage(&cli, "%s", "\r");
    fclose(cli.out);
    fclose(cli.err);
    assert_string_equal(out, "\033[31ma\033[0m\n\\x1b]0;t\\x07\\x0d\\xff"
                             "\\xe2\\x80\\xae\\x1b[8m\\x1b\\x1b[1m\n\n");
    assert_string_equal(said, "weir toy: a\\x0a\\x1b[1m\nweir toy: \\xc2\\x9b\n"
                              "weir toy: \\x0d\nTry 'weir toy --help'.\n");
    free(out);
    free(said);
}

static const struct wr_choice kinds[] = {
    {"red", 1, "like a rose"}, {"blue", 2, NULL}, {NULL, 0, NULL}};
static const struct wr_operand toy_operands[] = {
    {.name = "KIND", .choices = kinds, .help = "a colour"},
    {.name = "PATH",
     .flags = WR_OPERAND_MANY | WR_OPERAND_PATH,
     .help = "some files"},
    {.name = NULL}};
static const struct wr_option toy_options[] = {
    {.name = "number",
     .letter = 'n',
     WR_OPT_UINT(struct toy_args, number),
     .arg = "N",
     .def = "4",
     .help = "it's a [number]: any"},
    {.name = "cache",
     WR_OPT_FLAG(struct toy_args, cache),
     .def = "yes",
     .group = "More options",
     .help = "without it, slow"},
    {.name = "file",
     WR_OPT_STRING(struct toy_args, file),
     .arg = "FILE",
     .flags = WR_OPTION_PATH,
     .help = ".hidden \\ path"},
    {.name = "secret",
     WR_OPT_FLAG(struct toy_args, cache),
     .flags = WR_OPTION_HIDDEN,
     .help = "hidden"},
    WR_OPTIONS_END};
static const struct wr_help_example toy_examples[] = {
    {"weir toy red x", "an x"}, {NULL, NULL}};
static const struct wr_command toy = {
    .name = "toy",
    .group = WR_GROUP_DATA,
    .summary = "plays",
    .description = "First.\n\nSecond.",
    .operands = toy_operands,
    .options = toy_options,
    .args_size = sizeof(struct toy_args),
    .examples = toy_examples,
    .run = toy_run,
};
static const struct wr_command *const commands[] = {&toy, NULL};

/* A command with actions. */
static int wind_run(struct wr_cli *cli)
{
    fprintf(cli->out, "%s %zu %s", cli->action->name, cli->operand_count,
            cli->operand_count ? cli->operands[0] : "");
    return WR_EXIT_DONE;
}

static const struct wr_column wind_columns[] = {
    {.head = "turns", .help = "how often it was wound", .side = '>'},
    {.head = "turns", .side = '>'},
    {.head = NULL}};
static const struct wr_columns wind_tables[] = {{NULL, wind_columns},
                                                {NULL, NULL}};
static const char *const wind_options[] = {"number", "cache", NULL};
static const char *const wind_needs[] = {"number", NULL};
static const struct wr_action wind = {.name = "wind",
                                      .summary = "winds it up",
                                      .operands = toy_operands + 1,
                                      .options = wind_options,
                                      .needs = wind_needs,
                                      .columns = wind_tables,
                                      .failed = "The spring broke.",
                                      .run = wind_run};
static const struct wr_action stop = {
    .name = "stop", .summary = "stops it", .run = wind_run};
static const struct wr_action *const clock_actions[] = {&wind, &stop, NULL};
static const struct wr_operand clock_operands[] = {
    {.name = "ACTION", .flags = WR_OPERAND_ACTION, .help = "what to do"},
    {.name = "PATH",
     .flags = WR_OPERAND_MANY | WR_OPERAND_OPTIONAL | WR_OPERAND_PATH,
     .help = "some files"},
    {.name = NULL}};
static const struct wr_command clockwork = {
    .name = "clock",
    .group = WR_GROUP_DATA,
    .summary = "ticks",
    .description = "Third.",
    .operands = clock_operands,
    .options = toy_options,
    .args_size = sizeof(struct toy_args),
    .actions = clock_actions,
};

struct output {
    char *out, *err;
    size_t out_len, err_len;
    int code;
};

static struct output run_command(const struct wr_command *cmd, const char *line)
{
    struct output o = {0};
    struct wr_cli cli = {.out = open_memstream(&o.out, &o.out_len),
                         .err = open_memstream(&o.err, &o.err_len),
                         .width = 80};
    char copy[256], *argv[32], *save, *word;
    int argc = 0;

    snprintf(copy, sizeof(copy), "%s", line);
    for (word = strtok_r(copy, " ", &save); word;
         word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    o.code = wr_command_run(cmd, &cli, argc, argv);
    fclose(cli.out);
    fclose(cli.err);
    return o;
}

static struct output run(const char *line)
{
    return run_command(&toy, line);
}

static void check(struct output o, int code, const char *out, const char *err)
{
    assert_int_equal(o.code, code);
    assert_string_equal(o.out, out);
    assert_string_equal(o.err, err);
    free(o.out);
    free(o.err);
}

static void expect(const char *line, int code, const char *out, const char *err)
{
    check(run(line), code, out, err);
}

static void expect_clock(const char *line, int code, const char *out,
                         const char *err)
{
    check(run_command(&clockwork, line), code, out, err);
}

static void test_actions(void **state)
{
    (void)state;
    expect_clock("wind a b --number 3", 0, "wind 2 a", "");
    expect_clock("stop", 0, "stop 0 ", "");
    expect_clock("", 2, "",
                 "weir clock: argument ACTION is missing: what to do\n"
                 "Try 'weir clock --help'.\n");
    expect_clock("wint a", 2, "",
                 "weir clock: argument ACTION: 'wint' is not one of wind or "
                 "stop (did you mean wind?)\nTry 'weir clock --help'.\n");
    expect_clock("wind -n 1", 2, "",
                 "weir clock: argument PATH is missing: some files\n"
                 "Try 'weir clock wind --help'.\n");
    expect_clock("wind a", 2, "",
                 "weir clock: wind: give --number\n"
                 "Try 'weir clock wind --help'.\n");
    expect_clock("wind a -n 1 --file x", 2, "",
                 "weir clock: wind does not take --file\n"
                 "Try 'weir clock wind --help'.\n");
    expect_clock("stop a", 2, "",
                 "weir clock: unexpected argument 'a'\n"
                 "Try 'weir clock stop --help'.\n");
}

static void test_action_help(void **state)
{
    struct output o = run_command(&clockwork, "wind --help");
    struct output all = run_command(&clockwork, "--help");

    (void)state;
    assert_non_null(strstr(o.out, "weir clock wind - winds it up\n\n"
                                  "Usage: weir clock wind [options] PATH..."));
    assert_non_null(strstr(o.out, "-n, --number N"));
    assert_null(strstr(o.out, "--file"));
    assert_non_null(strstr(o.out, "\nColumns:\n  turns         how often"));
    assert_non_null(strstr(o.out, "\n  1             The spring broke.\n"));
    assert_non_null(strstr(all.out, "        wind              winds it up\n"));
    assert_non_null(strstr(all.out, "--file"));
    free(o.out);
    free(o.err);
    free(all.out);
    free(all.err);
}

static void test_run(void **state)
{
    (void)state;
    expect("red a b", 0, "4 0  red a b", "weir toy: a note\n");
    expect("-n 4 red -q a", 0, "4 1  red a", "");
    expect("blue x --color always -q", 0, "4 0 \033[1m blue x", "");
    expect("red a -q -n9", 1, "9 1  red a", "weir toy: number 9\n");
}

static void test_usage_errors(void **state)
{
    (void)state;
    expect("", 2, "",
           "weir toy: argument KIND is missing: a colour\n"
           "Try 'weir toy --help'.\n");
    expect("red", 2, "",
           "weir toy: argument PATH is missing: some files\n"
           "Try 'weir toy --help'.\n");
    expect("pink a", 2, "",
           "weir toy: argument KIND: 'pink' is not one of red or blue\n"
           "Try 'weir toy --help'.\n");
    expect("red a --number b", 2, "",
           "weir toy: option --number: 'b' is not a whole number\n"
           "Try 'weir toy --help'.\n");
}

static void test_help(void **state)
{
    struct output o = run("--help");

    (void)state;
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "Usage: weir toy [options] KIND PATH...\n"));
    assert_non_null(strstr(o.out, "First.\n\nSecond.\n"));
    assert_non_null(strstr(o.out, "  -n, --number N          it's a [number]: "
                                  "any (default: 4)\n"));
    assert_non_null(strstr(o.out, "\nMore options:\n      --no-cache   "));
    assert_non_null(strstr(o.out, "like a rose"));
    assert_non_null(strstr(o.out, "  weir toy red x\n      an x\n"));
    assert_null(strstr(o.out, "secret"));
    free(o.out);
    free(o.err);
}

static void test_roff(void **state)
{
    char *out = NULL;
    size_t len;
    FILE *f = open_memstream(&out, &len);

    (void)state;
    wr_roff_command(f, &toy, "1.2.3");
    wr_roff_overview(f, commands, "1.2.3");
    wr_roff_command(f, &clockwork, "1.2.3");
    fclose(f);
    assert_non_null(strstr(out, ".TH \"WEIR-TOY\" 1 \"\" \"weir 1.2.3\""));
    assert_non_null(strstr(out, "First.\n.PP\nSecond.\n"));
    assert_non_null(strstr(out, ".B \"\\-n, \\-\\-number N\"\n"
                                "it\\(aqs a [number]: any (default: 4)\n"));
    assert_non_null(strstr(out, "\n\\&.hidden \\e path\n"));
    assert_non_null(strstr(out, ".SH \"SEE ALSO\"\n.BR weir\\-toy (1)"));
    assert_non_null(strstr(out, ".SH ACTIONS\n.SS \"weir clock wind [options] "
                                "PATH...\"\nwinds it up\n"));
    assert_non_null(strstr(out, "Options: \\-\\-number, \\-\\-cache.\n"));
    assert_null(strstr(out, "secret"));
    free(out);
}

static char *script(void (*print)(FILE *to,
                                  const struct wr_command *const *list))
{
    char *out = NULL;
    size_t len;
    FILE *f = open_memstream(&out, &len);

    print(f, commands);
    fclose(f);
    assert_null(strstr(out, "secret"));
    return out;
}

static void test_completion(void **state)
{
    char *bash = script(wr_completion_bash), *zsh = script(wr_completion_zsh);
    char *fish = script(wr_completion_fish);

    (void)state;
    assert_non_null(strstr(bash, "-*:toy) words=\" --number --cache "
                                 "--no-cache --file --quiet"));
    assert_non_null(strstr(bash, "toy:--number|toy:-n) words=\"\"; value=1"));
    assert_non_null(strstr(bash, "toy) words=\"red blue\""));
    assert_non_null(strstr(zsh, "'(-n --number)'{-n+,--number=}"
                                "'[it'\\''s a \\[number\\]\\: any]:N:'"));
    assert_non_null(strstr(zsh, "'1:KIND:(red blue)'"));
    assert_non_null(strstr(zsh, "'*:PATH:_files'"));
    assert_non_null(strstr(fish, "-l number -s n -x -d 'it\\'s a [number]"));
    assert_non_null(strstr(fish, "-l file -r -F -d '.hidden \\\\ path'"));
    free(bash);
    free(zsh);
    free(fish);
}

/* As one of two processes that torchrun started. */
static void expect_rank(const char *rank, enum wr_command_ranks how, int code,
                        const char *out)
{
    struct wr_command cmd = toy;
    struct output o;

    cmd.ranks = how;
    setenv("RANK", rank, 1);
    o = run_command(&cmd, "red x --quiet");
    assert_int_equal(o.code, code);
    assert_string_equal(o.out, out);
    assert_int_equal(!!*o.err, code && *rank == '0');
    if (*o.err)
        assert_non_null(strstr(o.err, "weir toy: runs in one process, and 2 "
                                      "were started (torchrun)"));
    free(o.out);
    free(o.err);
}

static void test_ranks(void **state)
{
    struct output o;

    (void)state;
    setenv("WORLD_SIZE", "2", 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", "29500", 1);
    expect_rank("0", WR_RANKS_ONE, WR_EXIT_USAGE, "");
    expect_rank("1", WR_RANKS_ONE, WR_EXIT_DONE, "");
    expect_rank("0", WR_RANKS_FIRST, WR_EXIT_DONE, "4 0  red x");
    expect_rank("1", WR_RANKS_FIRST, WR_EXIT_DONE, "");
    expect_rank("0", WR_RANKS_ALL, WR_EXIT_DONE, "4 0  red x");
    expect_rank("1", WR_RANKS_ALL, WR_EXIT_DONE, "4 0  red x");
    o = run("--help"); /* rank 0 prints it */
    check(o, WR_EXIT_DONE, "", "");
    expect("green x", WR_EXIT_DONE, "", ""); /* rank 0 fails, and says why */
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    unsetenv("MASTER_ADDR");
    unsetenv("MASTER_PORT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put),          cmocka_unit_test(test_run),
        cmocka_unit_test(test_usage_errors), cmocka_unit_test(test_help),
        cmocka_unit_test(test_roff),         cmocka_unit_test(test_completion),
        cmocka_unit_test(test_actions),      cmocka_unit_test(test_action_help),
        cmocka_unit_test(test_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
