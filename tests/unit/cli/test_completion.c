/* test_completion.c - what shells offer, from the tables of commands.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../format/tmpdir.h"
#include "base/mem.h"
#include "cli/completion.h"

struct cook_args {
    bool salt, pepper;
    uint64_t minutes;
    const char *recipe;
    int heat;
};

static const struct wr_choice heats[] = {
    {"low", 1, "it's gentle"}, {"high", 2, NULL}, {NULL, 0, NULL}};
static const struct wr_choice dishes[] = {
    {"soup", 1, NULL}, {"stew", 2, NULL}, {NULL, 0, NULL}};

static const struct wr_option cook_options[] = {
    {.name = "salt",
     .letter = 's',
     WR_OPT_FLAG(struct cook_args, salt),
     .help = "with salt"},
    {.name = "pepper",
     WR_OPT_FLAG(struct cook_args, pepper),
     .def = "yes",
     .help = "no pepper: it's mild"},
    {.name = "minutes",
     .letter = 'm',
     .old = "time",
     WR_OPT_UINT(struct cook_args, minutes),
     .help = "how long [min]"},
    {.name = "recipe",
     WR_OPT_STRING(struct cook_args, recipe),
     .arg = "FILE:PART",
     .flags = WR_OPTION_PATH,
     .help = "what to \\do"},
    {.name = "heat",
     .letter = 't',
     WR_OPT_ENUM(struct cook_args, heat),
     .choices = heats,
     .arg = "HEAT",
     .help = "how hot"},
    {.name = "magic",
     WR_OPT_FLAG(struct cook_args, salt),
     .flags = WR_OPTION_HIDDEN,
     .help = "hidden"},
    WR_OPTIONS_END};

static const struct wr_operand cook_operands[] = {
    {.name = "DISH", .choices = dishes},
    {WR_ARGUMENT("POT", WR_OPERAND_PATH | WR_OPERAND_OPTIONAL)},
    {WR_ARGUMENT("SPICE", WR_OPERAND_MANY | WR_OPERAND_OPTIONAL)},
    {.name = NULL}};
static const struct wr_operand serve_operands[] = {
    {WR_ARGUMENT("WHAT", WR_OPERAND_ACTION)},
    {WR_ARGUMENT("TABLE", WR_OPERAND_MANY | WR_OPERAND_PATH)},
    {.name = NULL}};
static const struct wr_operand help_operands[] = {
    {WR_ARGUMENT("COMMAND", WR_OPERAND_COMMAND | WR_OPERAND_OPTIONAL)},
    {.name = NULL}};

static const struct wr_action warm = {.name = "warm"}, cold = {.name = "cold"};
static const struct wr_action *const serve_actions[] = {&warm, &cold, NULL};

static const struct wr_command cook = {.name = "cook",
                                       .group = WR_GROUP_DATA,
                                       .summary = "cooks: it's hot",
                                       .operands = cook_operands,
                                       .options = cook_options,
                                       .args_size = sizeof(struct cook_args)};
static const struct wr_command serve = {.name = "serve",
                                        .group = WR_GROUP_DATA,
                                        .summary = "serves",
                                        .operands = serve_operands,
                                        .actions = serve_actions};
static const struct wr_command secret = {.name = "secret",
                                         .group = WR_GROUP_HIDDEN,
                                         .summary = "hidden",
                                         .options = cook_options};
static const struct wr_command help = {.name = "help",
                                       .group = WR_GROUP_HELP,
                                       .summary = "helps",
                                       .operands = help_operands};
/* Hidden ones at both ends and in the middle. */
static const struct wr_command *const commands[] = {
    &secret, &cook, &secret, &serve, &help, &secret, NULL};

static char *script(void (*print)(FILE *to,
                                  const struct wr_command *const *list))
{
    char *out = NULL;
    size_t len;
    FILE *f = open_memstream(&out, &len);

    print(f, commands);
    fclose(f);
    assert_null(strstr(out, "secret"));
    assert_null(strstr(out, "magic"));
    assert_null(strstr(out, "hidden"));
    return out;
}

/* --- bash, which says itself what it offers --- */

/* One line for each case: "weir cook -m: low high". */
static char *ask_bash(const char *const *lines, size_t count)
{
    char *text = script(wr_completion_bash), *answer;
    struct tmpdir t;
    char command[400];
    size_t len;
    FILE *f;

    tmpdir_init(&t);
    tmpdir_put_text(&t, "weir.bash", text);
    free(text);
    f = fopen(tmpdir_at(&t, "ask"), "w");
    assert_non_null(f);
    fprintf(f,
            ". %s\n"
            "ask() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _weir;\n"
            "    echo \"${COMPREPLY[*]}\"; }\n",
            tmpdir_at(&t, "weir.bash"));
    for (size_t k = 0; k < count; k++)
        fprintf(f, "ask %s\n", lines[k]);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof(command), "bash --norc %s >%s 2>&1",
             tmpdir_at(&t, "ask"), tmpdir_at(&t, "said"));
    assert_int_equal(system(command), 0);
    answer = tmpdir_get(&t, "said", &len);
    answer[len] = '\0';
    tmpdir_done(&t);
    return answer;
}

static void test_bash(void **state)
{
    static const struct {
        const char *line, *offered;
    } cases[] = {
        /* Commands. */
        {"weir ''", "cook serve help --help --version"},
        {"weir co", "cook"},
        {"weir --v", "--version"},
        {"weir nothing", ""},
        /* Operands of which only some words can be: the first one. */
        {"weir cook ''", "soup stew"},
        {"weir cook st", "stew"},
        {"weir cook soup ''", ""}, /* files */
        {"weir serve ''", "warm cold"},
        {"weir serve warm ''", ""},
        {"weir help s", "serve"},
        {"weir help ''", "cook serve help"},
        /* Options, the common ones included. */
        {"weir cook --", "--salt --pepper --no-pepper --minutes --recipe "
                         "--heat --quiet --color --help"},
        {"weir cook soup --m", "--minutes"},
        {"weir serve --", "--quiet --color --help"},
        /* Values. */
        {"weir cook --heat ''", "low high"},
        {"weir cook --heat h", "high"},
        {"weir cook -t l", "low"},
        {"weir cook --heat =", "low high"},
        {"weir cook --heat = hi", "high"},
        {"weir cook --minutes ''", ""}, /* and no dish */
        {"weir cook --recipe ''", ""},
        {"weir cook --salt ''", ""},
        {"weir cook --color a", "auto always"},
        {"weir serve --heat ''", ""}, /* not an option of it */
    };
    const char *lines[WR_ARRAY_LEN(cases)];
    char *answer, *at;

    (void)state;
    if (system("command -v bash >/dev/null 2>&1") != 0)
        skip();
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++)
        lines[k] = cases[k].line;
    answer = at = ask_bash(lines, WR_ARRAY_LEN(cases));
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        const char *said = strsep(&at, "\n");

        if (!said || strcmp(said, cases[k].offered) != 0)
            fail_msg("%s: '%s', not '%s'", cases[k].line, said ? said : "?",
                     cases[k].offered);
    }
    free(answer);
}

/* --- zsh and fish, as they are written --- */

static void expect_lines(const char *text, const char *const *lines,
                         size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!strstr(text, lines[k]))
            fail_msg("'%s' is not in\n%s", lines[k], text);
}

static void test_zsh(void **state)
{
    static const char *const lines[] = {
        "\n        'cook:cooks\\: it'\\''s hot'\n        'serve:serves'\n"
        "        'help:helps'\n    )\n",
        "\n    cook)\n        _arguments \\\n"
        "            '(-s --salt)'{-s,--salt}'[with salt]' \\\n"
        "            '--pepper[no pepper\\: it'\\''s mild]' \\\n"
        "            '(-m --minutes)'{-m+,--minutes=}'[how long \\[min\\]]"
        ":VALUE:' \\\n"
        "            '--recipe=[what to \\do]:FILE\\:PART:_files' \\\n"
        "            '(-t --heat)'{-t+,--heat=}'[how hot]:HEAT:(low high)' "
        "\\\n",
        "            '1:DISH:(soup stew)' \\\n"
        "            '2::POT:_files' \\\n"
        "            '*:SPICE:'\n        ;;\n",
        "            '1:WHAT:(warm cold)' \\\n"
        "            '*:TABLE:_files'\n        ;;\n",
        "            '1::COMMAND:(cook serve help)'\n        ;;\n    esac\n",
    };
    char *zsh = script(wr_completion_zsh);

    (void)state;
    assert_memory_equal(zsh, "#compdef weir\n", 14);
    expect_lines(zsh, lines, WR_ARRAY_LEN(lines));
    free(zsh);
}

#define FISH_OF "\ncomplete -c weir -n '__fish_seen_subcommand_from "

static void test_fish(void **state)
{
    static const char *const lines[] = {
        "\ncomplete -c weir -n __fish_use_subcommand -f -a cook -d "
        "'cooks: it\\'s hot'\n"
        "complete -c weir -n '__fish_prev_arg_in cook' -f -a 'soup stew'\n",
        FISH_OF "cook' -l salt -s s -d 'with salt'\n",
        FISH_OF "cook' -l pepper -d 'no pepper: it\\'s mild'\n",
        FISH_OF "cook' -l minutes -s m -x -d 'how long [min]'\n",
        FISH_OF "cook' -l recipe -r -F -d 'what to \\\\do'\n",
        FISH_OF "cook' -l heat -s t -x -a 'low high' -d 'how hot'\n",
        FISH_OF "serve' -l quiet -s q -d ",
        "'__fish_prev_arg_in serve' -f -a 'warm cold'\n",
        "'__fish_prev_arg_in help' -f -a 'cook serve help'\n",
    };
    char *fish = script(wr_completion_fish);

    (void)state;
    expect_lines(fish, lines, WR_ARRAY_LEN(lines));
    free(fish);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bash),
        cmocka_unit_test(test_zsh),
        cmocka_unit_test(test_fish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
