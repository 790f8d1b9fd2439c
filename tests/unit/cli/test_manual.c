/* test_manual.c - the help and the man pages of all commands.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/manual.h"
#include "cli/plan_args.h"

#define NARROW 60
#define WIDE   200
#define WIDEST 96 /* longer lines are hard to read */

static char *help_text(const struct wr_command *cmd, const struct wr_action *a,
                       unsigned width)
{
    char *text = NULL;
    size_t len;
    struct wr_cli cli = {.cmd = cmd, .width = width, .utf8 = true};

    cli.out = open_memstream(&text, &len);
    wr_help_of(&cli, cmd, a);
    fclose(cli.out);
    return text;
}

static char *roff_text(const struct wr_command *cmd)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    wr_roff_command(to, cmd, "1.2.3");
    fclose(to);
    return text;
}

/* "--name" as a word of its own: in roff each '-' has a '\' in front. */
static bool has_option(const char *text, const char *dashes, const char *name)
{
    char want[64];
    size_t n = 0;

    n = (size_t)snprintf(want, sizeof(want), "%s", dashes);
    for (; *name && n + 3 < sizeof(want); name++) {
        if (*name == '-' && *dashes == '\\')
            want[n++] = '\\';
        want[n++] = *name;
    }
    want[n] = '\0';
    for (const char *at = text; (at = strstr(at, want)); at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz-\\", at[n]))
            return true;
    return false;
}

/* How an option appears: a flag that is on is the one that turns it off. */
static const char *shown_name(const struct wr_option *o, char buf[64])
{
    bool off = o->type == WR_OPTION_FLAG && o->def && !strcmp(o->def, "yes");

    snprintf(buf, 64, "%s%s", off ? "no-" : "", o->name);
    return buf;
}

static bool takes(const struct wr_action *a, const char *option)
{
    return !a || wr_action_has(a, option);
}

static void check_options(const struct wr_command *cmd,
                          const struct wr_action *a, const char *help)
{
    const struct wr_option *o = cmd->options;
    char name[64];

    for (; o && o->name; o++) {
        bool wanted = !(o->flags & WR_OPTION_HIDDEN) && takes(a, o->name);

        if (a || !cmd->actions)
            if (has_option(help, "--", shown_name(o, name)) != wanted)
                fail_msg("weir %s %s --help: --%s", cmd->name, a ? a->name : "",
                         name);
    }
    assert_true(has_option(help, "--", "quiet"));
}

static void check_width(const char *help, size_t width, const char *of)
{
    while (*help) {
        size_t len = strcspn(help, "\n");
        char line[1024];

        assert_true(len < sizeof(line));
        snprintf(line, sizeof(line), "%.*s", (int)len, help);
        /* A word is never cut, and an example's line is copied as it is. */
        if (wr_text_width(line) > width && strchr(line + width / 2, ' ') &&
            strncmp(line, "  weir ", 7) != 0)
            fail_msg("%s: more than %zu columns: %s", of, width, line);
        help += len + (help[len] != '\0');
    }
}

static void check_help(const struct wr_command *cmd, const struct wr_action *a)
{
    char *wide = help_text(cmd, a, WIDE);
    const struct wr_help_example *e = a ? a->examples : cmd->examples;

    check_options(cmd, a, wide);
    check_width(wide, WIDEST, cmd->name);
    for (; e && e->line; e++)
        if (!strstr(wide, e->what))
            fail_msg("weir %s --help: no example '%s'", cmd->name, e->what);
    free(wide);
}

/* Each option stands in the help of what takes it, and nowhere else. */
static void test_help(void **state)
{
    (void)state;
    for (size_t i = 0; wr_commands[i]; i++) {
        const struct wr_command *cmd = wr_commands[i];

        check_help(cmd, NULL);
        for (size_t k = 0; cmd->actions && cmd->actions[k]; k++)
            check_help(cmd, cmd->actions[k]);
    }
}

/* On a narrow terminal the same words come in more lines. */
static void test_narrow(void **state)
{
    (void)state;
    for (size_t i = 0; wr_commands[i]; i++) {
        char *narrow = help_text(wr_commands[i], NULL, NARROW);
        char *wide = help_text(wr_commands[i], NULL, WIDE);
        char *a_rest = NULL, *b_rest = NULL;
        const char *a = strtok_r(narrow, " \n\\", &a_rest);
        const char *b = strtok_r(wide, " \n\\", &b_rest);

        for (; a && b; a = strtok_r(NULL, " \n\\", &a_rest),
                       b = strtok_r(NULL, " \n\\", &b_rest))
            assert_string_equal(a, b);
        assert_true(!a && !b);
        free(narrow);
        free(wide);
    }
}

/* The man page has every option of the command, and all of its actions. */
static void test_pages(void **state)
{
    char name[64];

    (void)state;
    for (size_t i = 0; wr_commands[i]; i++) {
        const struct wr_command *cmd = wr_commands[i];
        char *page = roff_text(cmd);

        assert_int_equal(strncmp(page, ".\\\"", 3) == 0 || *page == '.', 1);
        for (const struct wr_option *o = cmd->options; o && o->name; o++)
            if (has_option(page, "\\-\\-", shown_name(o, name)) !=
                !(o->flags & WR_OPTION_HIDDEN))
                fail_msg("weir-%s(1): --%s", cmd->name, name);
        for (size_t k = 0; cmd->actions && cmd->actions[k]; k++) {
            char heading[96];

            snprintf(heading, sizeof(heading), ".SS \"weir %s %s [options]",
                     cmd->name, cmd->actions[k]->name);
            assert_non_null(strstr(page, heading));
        }
        free(page);
    }
}

/* A fact of a plan is a number, and one option gives it. */
static void test_facts(void **state)
{
    const struct wr_option *table = wr_plan_options;
    size_t facts = 0;

    (void)state;
    for (const struct wr_option *o = table; o->name; o++) {
        if (!o->unit)
            continue;
        facts++;
        assert_true(o->unit > 0);
        assert_true(o->type == WR_OPTION_DOUBLE || o->type == WR_OPTION_UINT ||
                    o->type == WR_OPTION_SIZE);
        for (const struct wr_option *other = table; other != o; other++)
            if (other->unit > 0 && other->key == o->key)
                fail_msg("--%s and --%s are one fact", o->name, other->name);
    }
    assert_true(facts > 20);
}

/* An option goes with one of the same table that can be given, and a value that
 * is asked for is one of its words. */
static void check_with(const struct wr_command *cmd, const struct wr_option *o)
{
    size_t len = strcspn(o->with, " ");
    const struct wr_option *other = cmd->options;
    int value;

    while (other->name &&
           (strncmp(other->name, o->with, len) || other->name[len]))
        other++;
    if (!other->name || other == o ||
        (o->with[len] &&
         wr_choice_find(other->choices, o->with + len + 1, &value, NULL) < 0))
        fail_msg("weir %s --%s goes with --%s", cmd->name, o->name, o->with);
}

static void test_with(void **state)
{
    size_t pairs = 0;

    (void)state;
    for (size_t i = 0; wr_commands[i]; i++)
        for (const struct wr_option *o = wr_commands[i]->options; o && o->name;
             o++)
            if (o->with) {
                check_with(wr_commands[i], o);
                pairs++;
            }
    assert_true(pairs > 20);
}

/* What a command does is said in one way. */
static void test_runs(void **state)
{
    (void)state;
    for (size_t i = 0; wr_commands[i]; i++) {
        const struct wr_command *cmd = wr_commands[i];

        assert_true(!cmd->run || !cmd->job);
        assert_true(cmd->run || cmd->job || cmd->actions);
        for (size_t k = 0; cmd->actions && cmd->actions[k]; k++)
            assert_true(!cmd->actions[k]->run != !cmd->actions[k]->job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),  cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_pages), cmocka_unit_test(test_facts),
        cmocka_unit_test(test_runs),  cmocka_unit_test(test_with),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
