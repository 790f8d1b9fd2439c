/* roff.c - man pages from the tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/roff.h"

#include <string.h>

#include "base/ascii.h"
#include "cli/action.h"
#include "cli/environment.h"
#include "cli/help.h"

/* Text that roff shall print as it is: no requests, no escapes, real minus
 * signs. A blank line becomes a new paragraph. */
static void print_text(FILE *to, const char *s)
{
    bool line_start = true;

    for (; *s; s++) {
        if (line_start && (*s == '.' || *s == '\''))
            fputs("\\&", to);
        line_start = *s == '\n';
        if (!strncmp(s, "\n\n", 2)) {
            fputs("\n.PP\n", to);
            s++;
        } else if (*s == '\\') {
            fputs("\\e", to);
        } else if (*s == '-') {
            fputs("\\-", to);
        } else if (*s == '\'') {
            fputs("\\(aq", to);
        } else {
            fputc(*s, to);
        }
    }
}

static void print_line(FILE *to, const char *s)
{
    print_text(to, s);
    fputc('\n', to);
}

static void print_title(FILE *to, const char *name, const char *version)
{
    fputs(".\\\" Made from the option tables; do not edit.\n.TH \"WEIR", to);
    if (name)
        fputc('-', to);
    for (; name && *name; name++)
        fputc(wr_upper(*name), to);
    fprintf(to, "\" 1 \"\" \"weir %s\" \"weir manual\"\n.nh\n.ad l\n", version);
}

/* A tagged paragraph: the tag in bold, then the text. */
static void print_tagged(FILE *to, const char *tag, const char *text)
{
    fputs(".TP\n.B \"", to);
    print_text(to, tag);
    fputs("\"\n", to);
    print_line(to, text);
}

static void print_choices(FILE *to, const struct wr_choice *choices)
{
    bool any = false;

    for (; choices && choices->name; choices++) {
        if (!choices->help)
            continue;
        if (!any)
            fputs(".RS\n", to);
        any = true;
        print_tagged(to, choices->name, choices->help);
    }
    if (any)
        fputs(".RE\n", to);
}

static void print_options(FILE *to, const struct wr_option *o)
{
    for (; o && o->name; o++) {
        char tag[96], notes[320], text[1024];
        const char *name;

        if (o->group) {
            fputs(".SS \"", to);
            print_text(to, o->group);
            fputs("\"\n", to);
        }
        if (o->flags & WR_OPTION_HIDDEN)
            continue;
        wr_help_notes(o, notes, sizeof(notes));
        snprintf(text, sizeof(text), "%s%s%s%s", o->help, *notes ? " (" : "",
                 notes, *notes ? ")" : "");
        name = wr_help_option(o, tag, sizeof(tag));
        print_tagged(to, name + strspn(name, " "), text);
        print_choices(to, o->choices);
    }
}

static void print_operands(FILE *to, const struct wr_command *cmd)
{
    const struct wr_operand *o = cmd->operands;
    struct wr_choice room[WR_ACTIONS_MAX + 1];

    if (!o || !o->name)
        return;
    fputs(".SH ARGUMENTS\n", to);
    for (; o->name; o++) {
        print_tagged(to, o->name, o->help);
        print_choices(to, wr_operand_words(cmd, o, room));
    }
}

static void print_examples(FILE *to, const struct wr_help_example *e)
{
    if (!e || !e->line)
        return;
    fputs(".SH EXAMPLES\n", to);
    for (; e->line; e++)
        print_tagged(to, e->line, e->what);
}

static void print_exit_status(FILE *to)
{
    fputs(".SH \"EXIT STATUS\"\n", to);
    for (const struct wr_exit_text *e = wr_help_exits; e->code; e++)
        print_tagged(to, e->code, e->text);
}

/* Each table's under a title, if it has one. */
static void print_columns(FILE *to, const struct wr_columns *c,
                          const char *macro)
{
    for (; c && c->list; c++) {
        if (c->title) {
            fprintf(to, "%s \"", macro);
            print_text(to, c->title);
            fputs("\"\n", to);
        }
        for (const struct wr_column *col = c->list; wr_column_is(col); col++)
            if (wr_column_help(col))
                print_tagged(to, wr_column_head(col), wr_column_help(col));
    }
}

/* The options that an action has, in one line. */
static void print_action_options(FILE *to, const struct wr_action *a)
{
    const char *const *name = a->options;

    fputs(".PP\nOptions:", to);
    for (; *name; name++) {
        fputs(" \\-\\-", to);
        print_text(to, *name);
        fputs(name[1] ? "," : ".\n", to);
    }
}

static void print_actions(FILE *to, const struct wr_command *cmd)
{
    char usage[256];

    if (!cmd->actions)
        return;
    fputs(".SH ACTIONS\n", to);
    for (const struct wr_action *const *a = cmd->actions; *a; a++) {
        fputs(".SS \"", to);
        print_text(to, wr_help_action_usage(cmd, *a, usage, sizeof(usage)));
        fputs("\"\n", to);
        print_line(to, (*a)->description ? (*a)->description : (*a)->summary);
        if ((*a)->options)
            print_action_options(to, *a);
        if ((*a)->columns)
            fputs(".PP\nColumns:\n", to);
        print_columns(to, (*a)->columns, ".PP\n.I");
        if ((*a)->failed) {
            fputs(".PP\nExit status 1: ", to);
            print_line(to, (*a)->failed);
        }
    }
}

void wr_roff_command(FILE *to, const struct wr_command *cmd,
                     const char *version)
{
    char usage[256];

    print_title(to, cmd->name, version);
    fputs(".SH NAME\nweir\\-", to);
    print_text(to, cmd->name);
    fputs(" \\- ", to);
    print_line(to, cmd->summary);
    fputs(".SH SYNOPSIS\n.B \"", to);
    print_text(to, wr_help_usage(cmd, usage, sizeof(usage)));
    fputs("\"\n.SH DESCRIPTION\n", to);
    print_line(to, cmd->description);
    print_operands(to, cmd);
    print_actions(to, cmd);
    fputs(".SH OPTIONS\n", to);
    print_options(to, cmd->options);
    print_options(to, wr_common_options);
    if (cmd->columns)
        fputs(".SH COLUMNS\n", to);
    print_columns(to, cmd->columns, ".SS");
    print_examples(to, cmd->examples);
    print_exit_status(to);
    fputs(".SH \"SEE ALSO\"\n.BR weir (1)\n", to);
}

static void print_groups(FILE *to, const struct wr_command *const *commands)
{
    for (int g = 0; g < WR_GROUP_HIDDEN; g++) {
        bool any = false;

        for (size_t i = 0; commands[i]; i++) {
            if ((int)commands[i]->group != g)
                continue;
            if (!any)
                fprintf(to, ".SH \"%s\"\n", wr_help_group(commands[i]->group));
            any = true;
            print_tagged(to, commands[i]->name, commands[i]->summary);
        }
    }
}

static void print_see_also(FILE *to, const struct wr_command *const *commands)
{
    bool any = false;

    fputs(".SH \"SEE ALSO\"\n", to);
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->group == WR_GROUP_HIDDEN)
            continue;
        fprintf(to, "%s.BR weir\\-%s (1)", any ? ",\n" : "", commands[i]->name);
        any = true;
    }
    fputs(",\n.BR weir (3)\n", to);
}

void wr_roff_overview(FILE *to, const struct wr_command *const *commands,
                      const char *version)
{
    print_title(to, NULL, version);
    fputs(".SH NAME\nweir \\- measures and feeds the input of deep\\-learning "
          "training\n"
          ".SH SYNOPSIS\n.B \"weir COMMAND [options] [arguments]\"\n"
          ".br\n.B \"weir \\-\\-help\"\n.br\n.B \"weir \\-\\-version\"\n"
          ".SH DESCRIPTION\n",
          to);
    print_line(to, "weir stands between storage and accelerators: it measures "
                   "how fast a data set can be fed to training, says what "
                   "limits it, and is the library that feeds it.\n\n"
                   "Results go to stdout, everything else to stderr. Each "
                   "command explains itself with --help.");
    print_groups(to, commands);
    fputs(".SH ENVIRONMENT\n", to);
    for (const struct wr_variable *v = wr_environment; v->name; v++)
        print_tagged(to, v->name, v->help);
    print_exit_status(to);
    print_see_also(to, commands);
}
