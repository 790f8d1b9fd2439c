/* help.c - help texts from the tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/action.h"
#include "cli/optvalue.h"

#define HELP_WIDTH  96 /* longer lines are hard to read */
#define NAME_COLUMN 26 /* where the texts of options begin */
#define HANG        4  /* blanks in front of the rest of a long line */

const struct wr_exit_text wr_help_exits[] = {
    {"0", "Done."},
    {"1", "Failed; a message on stderr says what and why."},
    {"2", "Wrong usage."},
    {"3", "Ran, but missed a threshold that was asked for."},
    {"130, 143", "Stopped by Ctrl-C or by SIGTERM."},
    {NULL, NULL}};

const char *wr_help_group(enum wr_command_group group)
{
    static const char *const headings[] = {
        [WR_GROUP_DATA] = "Data sets",  [WR_GROUP_MEASURE] = "Measuring",
        [WR_GROUP_SAVE] = "Saving",     [WR_GROUP_HELP] = "About weir",
        [WR_GROUP_HIDDEN] = "Internal",
    };

    return headings[group];
}

static size_t help_width(const struct wr_cli *cli)
{
    return WR_MAX(40u, WR_MIN(cli->width, HELP_WIDTH)) - 1;
}

/* " KIND PATH..." behind what stands in buf. */
static void append_operands(const struct wr_operand *o, char *buf, size_t cap)
{
    size_t used = strlen(buf);

    for (; o && o->name && used < cap; o++) {
        bool opt = o->flags & WR_OPERAND_OPTIONAL;

        used += (size_t)snprintf(
            buf + used, cap - used, " %s%s%s%s", opt ? "[" : "", o->name,
            o->flags & WR_OPERAND_MANY ? "..." : "", opt ? "]" : "");
    }
}

char *wr_help_usage(const struct wr_command *cmd, char *buf, size_t cap)
{
    snprintf(buf, cap, "weir %s [options]", cmd->name);
    append_operands(cmd->operands, buf, cap);
    return buf;
}

char *wr_help_action_usage(const struct wr_command *cmd,
                           const struct wr_action *action, char *buf,
                           size_t cap)
{
    snprintf(buf, cap, "weir %s %s [options]", cmd->name, action->name);
    append_operands(action->operands, buf, cap);
    return buf;
}

char *wr_help_option(const struct wr_option *opt, char *buf, size_t cap)
{
    bool on = opt->type == WR_OPTION_FLAG && opt->def &&
              !strcmp(opt->def, "yes");
    char letter[8] = "    ";

    if (opt->letter)
        snprintf(letter, sizeof(letter), "-%c, ", opt->letter);
    snprintf(buf, cap, "%s--%s%s%s%s", letter, on ? "no-" : "", opt->name,
             opt->type == WR_OPTION_FLAG ? "" : " ",
             opt->type == WR_OPTION_FLAG ? ""
             : opt->arg                  ? opt->arg
                                         : "VALUE");
    return buf;
}

char *wr_help_notes(const struct wr_option *opt, char *buf, size_t cap)
{
    const char *def = opt->def_note ? opt->def_note : opt->def;
    char all[256];
    size_t used = 0;

    buf[0] = '\0';
    if (opt->choices)
        used = (size_t)snprintf(buf, cap, "%s",
                                wr_choice_join(opt->choices, all, sizeof(all)));
    if (def && opt->type != WR_OPTION_FLAG && used < cap)
        snprintf(buf + used, cap - used, "%sdefault: %s", used ? "; " : "",
                 def);
    return buf;
}

/* "  NAME      text", wrapped below the text. */
static void print_entry(const struct wr_cli *cli, FILE *to, const char *name,
                        const char *text, size_t column)
{
    size_t at = 2 + strlen(name);

    fprintf(to, "  %s", name);
    if (at + 2 > column) {
        fputc('\n', to);
        at = 0;
    }
    fprintf(to, "%*s", (int)(column - at), "");
    wr_text_print(to, text,
                  (struct wr_text_wrap){column, column, help_width(cli)});
}

/* A line of text; what is too long for it stands below, further to the right. */
__attribute__((format(printf, 2, 3))) static void
print_line(const struct wr_cli *cli, const char *fmt, ...)
{
    char line[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    wr_text_print(cli->out, line,
                  (struct wr_text_wrap){0, HANG, help_width(cli)});
}

static void print_heading(const struct wr_cli *cli, const char *heading)
{
    wr_cli_put(cli, "\n%s", wr_cli_style(cli, WR_STYLE_BOLD));
    wr_text_fold(cli->out, heading, strlen(heading),
                 (struct wr_text_wrap){0, 0, help_width(cli) - 1});
    wr_cli_put(cli, ":%s\n", wr_cli_style(cli, WR_STYLE_END));
}

static void print_choices(const struct wr_cli *cli,
                          const struct wr_choice *choices)
{
    for (; choices && choices->name; choices++) {
        char name[64];

        if (!choices->help)
            continue;
        snprintf(name, sizeof(name), "      %s", choices->name);
        print_entry(cli, cli->out, name, choices->help, NAME_COLUMN);
    }
}

static void print_option(const struct wr_cli *cli, const struct wr_option *o)
{
    char name[96], notes[320], text[1024];

    if (o->flags & WR_OPTION_HIDDEN)
        return;
    wr_help_notes(o, notes, sizeof(notes));
    snprintf(text, sizeof(text), "%s%s%s%s", o->help, *notes ? " (" : "", notes,
             *notes ? ")" : "");
    print_entry(cli, cli->out, wr_help_option(o, name, sizeof(name)), text,
                NAME_COLUMN);
    print_choices(cli, o->choices);
}

static void print_options(const struct wr_cli *cli,
                          const struct wr_option *table)
{
    if (table && table->name && !table->group)
        print_heading(cli, "Options");
    for (; table && table->name; table++) {
        if (table->group)
            print_heading(cli, table->group);
        print_option(cli, table);
    }
}

/* Those of the command's that the action has. */
static void print_action_options(const struct wr_cli *cli,
                                 const struct wr_action *a,
                                 const struct wr_option *o)
{
    if (a->options)
        print_heading(cli, "Options");
    for (; o && o->name; o++)
        if (wr_action_has(a, o->name))
            print_option(cli, o);
}

static void print_operands(const struct wr_cli *cli,
                           const struct wr_command *cmd,
                           const struct wr_operand *o)
{
    struct wr_choice room[WR_ACTIONS_MAX + 1];

    if (!o || !o->name)
        return;
    print_heading(cli, "Arguments");
    for (; o->name; o++) {
        print_entry(cli, cli->out, o->name, o->help, NAME_COLUMN);
        print_choices(cli, wr_operand_words(cmd, o, room));
    }
}

static void print_columns(const struct wr_cli *cli, const struct wr_columns *c)
{
    for (; c && c->list; c++) {
        char heading[128];

        snprintf(heading, sizeof(heading), "Columns%s%s", c->title ? ", " : "",
                 c->title ? c->title : "");
        print_heading(cli, heading);
        for (const struct wr_column *col = c->list; wr_column_is(col); col++)
            if (wr_column_help(col))
                print_entry(cli, cli->out, wr_column_head(col),
                            wr_column_help(col), 16);
    }
}

static void print_exits(const struct wr_cli *cli, const struct wr_action *a)
{
    print_heading(cli, "Exit status");
    for (const struct wr_exit_text *e = wr_help_exits; e->code; e++) {
        if (!strcmp(e->code, "3")) /* no action has thresholds */
            continue;
        print_entry(cli, cli->out, e->code,
                    a->failed && !strcmp(e->code, "1") ? a->failed : e->text,
                    16);
    }
}

/* Bytes of the shell's word at s, with quoted blanks. */
static size_t word_len(const char *s)
{
    char quote = '\0';
    size_t len = 0;

    for (; s[len] && (quote || s[len] != ' '); len++) {
        if (s[len] == quote)
            quote = '\0';
        else if (!quote && (s[len] == '\'' || s[len] == '"'))
            quote = s[len];
    }
    return len;
}

/* A command that is too long goes on after a backslash: it can still be copied. */
static void print_command(const struct wr_cli *cli, const char *s)
{
    const char *before = "  ";
    size_t at = 1; /* with a blank in front of the next word */

    while (*s) {
        size_t len = word_len(s);
        size_t backslash = s[len] ? 2 : 0;

        if (at > 1 + HANG &&
            at + 1 + wr_text_columns(s, len) + backslash > help_width(cli)) {
            before = " \\\n      ";
            at = 2 + HANG - 1;
        }
        wr_cli_put(cli, "%s%.*s", before, (int)len, s);
        at += 1 + wr_text_columns(s, len);
        before = " ";
        s += len + strspn(s + len, " ");
    }
}

static void print_examples(const struct wr_cli *cli,
                           const struct wr_help_example *e)
{
    if (e && e->line)
        print_heading(cli, "Examples");
    for (; e && e->line; e++) {
        print_command(cli, e->line);
        wr_cli_put(cli, "\n      ");
        wr_text_print(cli->out, e->what,
                      (struct wr_text_wrap){6, 6, help_width(cli)});
    }
}

void wr_help_command(const struct wr_cli *cli, const struct wr_command *cmd)
{
    struct wr_text_wrap plain = {0, 0, help_width(cli)};
    char usage[256];

    print_line(cli, "weir %s - %s", cmd->name, cmd->summary);
    wr_cli_put(cli, "\n");
    print_line(cli, "Usage: %s", wr_help_usage(cmd, usage, sizeof(usage)));
    wr_cli_put(cli, "\n");
    wr_text_print(cli->out, cmd->description, plain);
    print_operands(cli, cmd, cmd->operands);
    print_options(cli, cmd->options);
    print_options(cli, wr_common_options);
    print_columns(cli, cmd->columns);
    print_examples(cli, cmd->examples);
    if (!cmd->actions)
        return;
    wr_cli_put(cli, "\n");
    print_line(
        cli,
        "'weir %s %s --help' explains an action: options, columns, exit codes.",
        cmd->name, cmd->run ? cmd->actions[0]->name : cmd->operands->name);
}

static void help_action(const struct wr_cli *cli, const struct wr_command *cmd,
                        const struct wr_action *a)
{
    struct wr_text_wrap plain = {0, 0, help_width(cli)};
    char usage[256];

    print_line(cli, "weir %s %s - %s", cmd->name, a->name, a->summary);
    wr_cli_put(cli, "\n");
    print_line(cli, "Usage: %s",
               wr_help_action_usage(cmd, a, usage, sizeof(usage)));
    if (a->description) {
        wr_cli_put(cli, "\n");
        wr_text_print(cli->out, a->description, plain);
    }
    print_operands(cli, cmd, a->operands);
    print_action_options(cli, a, cmd->options);
    print_options(cli, wr_common_options);
    print_columns(cli, a->columns);
    print_examples(cli, a->examples);
    print_exits(cli, a);
}

void wr_help_of(const struct wr_cli *cli, const struct wr_command *cmd,
                const struct wr_action *action)
{
    if (action)
        help_action(cli, cmd, action);
    else
        wr_help_command(cli, cmd);
}

void wr_help_overview(const struct wr_cli *cli,
                      const struct wr_command *const *commands, FILE *to)
{
    fputs("weir measures and feeds the input of deep-learning training.\n\n"
          "Usage: weir COMMAND [options] [arguments]\n",
          to);
    for (int g = 0; g < WR_GROUP_HIDDEN; g++) {
        bool any = false;

        for (size_t i = 0; commands[i]; i++) {
            if ((int)commands[i]->group != g)
                continue;
            if (!any)
                fprintf(to, "\n%s:\n", wr_help_group(commands[i]->group));
            any = true;
            print_entry(cli, to, commands[i]->name, commands[i]->summary, 16);
        }
    }
    fputs("\n'weir COMMAND --help' explains a command and shows examples;\n"
          "'weir --version' prints the version.\n",
          to);
}
