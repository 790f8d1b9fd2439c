/* completion.c - shell completion scripts from the tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion.h"

#include <string.h>

#include "cli/command.h"

/* The first of the list that is not hidden, or its end. */
static const struct wr_command *const *
shown_from(const struct wr_command *const *c)
{
    while (*c && (*c)->group == WR_GROUP_HIDDEN)
        c++;
    return c;
}

static void print_names(FILE *to, const struct wr_command *const *c)
{
    const char *before = "";

    for (c = shown_from(c); *c; c = shown_from(c + 1), before = " ")
        fprintf(to, "%s%s", before, (*c)->name);
}

static void print_choices(FILE *to, const struct wr_choice *c)
{
    for (bool any = false; c->name; c++, any = true)
        fprintf(to, "%s%s", any ? " " : "", c->name);
}

/* Only certain words can stand for the operand. */
static bool has_words(const struct wr_operand *o)
{
    return o && o->name &&
           (o->choices || o->flags & (WR_OPERAND_COMMAND | WR_OPERAND_ACTION));
}

static void print_words(FILE *to, const struct wr_command *cmd,
                        const struct wr_operand *o,
                        const struct wr_command *const *commands)
{
    struct wr_choice room[WR_ACTIONS_MAX + 1];

    if (o->flags & WR_OPERAND_COMMAND)
        print_names(to, commands);
    else
        print_choices(to, wr_operand_words(cmd, o, room));
}

/* bash: words after the command's name that are values of an operand. */
static void bash_operand(FILE *to, const struct wr_command *cmd,
                         const struct wr_command *const *commands)
{
    const struct wr_operand *o = cmd->operands;

    if (!has_words(o))
        return;
    fprintf(to, "    %s) words=\"", cmd->name);
    print_words(to, cmd, o, commands);
    fputs("\" ;;\n", to);
}

/* bash: the words that may follow an option. */
static void bash_values(FILE *to, const char *name, const struct wr_option *o)
{
    for (; o && o->name; o++) {
        if (o->type == WR_OPTION_FLAG || o->flags & WR_OPTION_HIDDEN)
            continue;
        fprintf(to, "    %s:--%s", name, o->name);
        if (o->letter)
            fprintf(to, "|%s:-%c", name, o->letter);
        fputs(") words=\"", to);
        if (o->choices)
            print_choices(to, o->choices);
        fputs("\"; value=1 ;;\n", to);
    }
}

static void bash_options(FILE *to, const struct wr_option *o)
{
    for (; o && o->name; o++) {
        if (o->flags & WR_OPTION_HIDDEN)
            continue;
        fprintf(to, " --%s", o->name);
        if (o->type == WR_OPTION_FLAG && o->def && !strcmp(o->def, "yes"))
            fprintf(to, " --no-%s", o->name);
    }
}

void wr_completion_bash(FILE *to, const struct wr_command *const *commands)
{
    const struct wr_command *const *c;

    fputs("# bash completion of weir, printed by 'weir completion bash'.\n"
          "_weir()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]}"
          " prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local cmd=${COMP_WORDS[1]} words=\"\" value=\"\"\n"
          "    COMPREPLY=()\n"
          "    if [ \"$cur\" = \"=\" ]; then cur=\"\"; fi\n"
          "    if [ \"$prev\" = \"=\" ]; then"
          " prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          to);
    print_names(to, commands);
    fputs(" --help --version\" -- \"$cur\"))\n        return\n    fi\n"
          "    case $cmd:$prev in\n",
          to);
    for (c = shown_from(commands); *c; c = shown_from(c + 1)) {
        bash_values(to, (*c)->name, (*c)->options);
        bash_values(to, (*c)->name, wr_common_options);
    }
    fputs("    esac\n"
          "    if [ -z \"$value\" ]; then\n"
          "    case $cur:$cmd in\n",
          to);
    for (c = shown_from(commands); *c; c = shown_from(c + 1)) {
        fprintf(to, "    -*:%s) words=\"", (*c)->name);
        bash_options(to, (*c)->options);
        bash_options(to, wr_common_options);
        fputs("\" ;;\n", to);
    }
    fputs("    esac\n    fi\n"
          "    if [ -z \"$value$words\" ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
          "    case $cmd in\n",
          to);
    for (c = shown_from(commands); *c; c = shown_from(c + 1))
        bash_operand(to, *c, commands);
    fputs("    esac\n    fi\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "    fi\n}\n"
          "complete -o default -F _weir weir\n",
          to);
}

/* Text inside single quotes, with what zsh's _arguments reads escaped. */
static void quoted(FILE *to, const char *s, const char *escape)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", to);
        else if (strchr(escape, *s))
            fprintf(to, "\\%c", *s);
        else
            fputc(*s, to);
    }
}

static void zsh_options(FILE *to, const struct wr_option *o)
{
    for (; o && o->name; o++) {
        bool flag = o->type == WR_OPTION_FLAG;

        if (o->flags & WR_OPTION_HIDDEN)
            continue;
        fputs(" \\\n            ", to);
        if (o->letter)
            fprintf(to, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name,
                    o->letter, flag ? "" : "+", o->name, flag ? "" : "=");
        else
            fprintf(to, "'--%s%s[", o->name, flag ? "" : "=");
        quoted(to, o->help, "[]:");
        fputc(']', to);
        if (!flag) {
            fputc(':', to);
            quoted(to, o->arg ? o->arg : "VALUE", "[]:");
            fputc(':', to);
        }
        if (o->choices) {
            fputc('(', to);
            print_choices(to, o->choices);
            fputc(')', to);
        } else if (o->flags & WR_OPTION_PATH) {
            fputs("_files", to);
        }
        fputc('\'', to);
    }
}

static void zsh_operands(FILE *to, const struct wr_command *cmd,
                         const struct wr_command *const *commands)
{
    const struct wr_operand *o = cmd->operands;

    for (int i = 1; o && o->name; o++, i++) {
        bool many = o->flags & WR_OPERAND_MANY;
        bool optional = o->flags & WR_OPERAND_OPTIONAL;

        if (many) /* "*::" would mean something else */
            fprintf(to, " \\\n            '*:%s:", o->name);
        else
            fprintf(to, " \\\n            '%d%s%s:", i, optional ? "::" : ":",
                    o->name);
        if (has_words(o)) {
            fputc('(', to);
            print_words(to, cmd, o, commands);
            fputc(')', to);
        } else if (o->flags & WR_OPERAND_PATH) {
            fputs("_files", to);
        }
        fputc('\'', to);
    }
}

void wr_completion_zsh(FILE *to, const struct wr_command *const *commands)
{
    const struct wr_command *const *c;

    fputs("#compdef weir\n"
          "# zsh completion of weir, printed by 'weir completion zsh'.\n"
          "_weir()\n{\n"
          "    local -a commands\n"
          "    commands=(\n",
          to);
    for (c = shown_from(commands); *c; c = shown_from(c + 1)) {
        fprintf(to, "        '%s:", (*c)->name);
        quoted(to, (*c)->summary, ":");
        fputs("'\n", to);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n    fi\n"
          "    shift words\n    (( CURRENT-- ))\n"
          "    case $words[1] in\n",
          to);
    for (c = shown_from(commands); *c; c = shown_from(c + 1)) {
        fprintf(to, "    %s)\n        _arguments", (*c)->name);
        zsh_options(to, (*c)->options);
        zsh_options(to, wr_common_options);
        zsh_operands(to, *c, commands);
        fputs("\n        ;;\n", to);
    }
    fputs("    esac\n}\n"
          "if [ \"$funcstack[1]\" = _weir ]; then\n"
          "    _weir \"$@\"\nelse\n    compdef _weir weir\nfi\n",
          to);
}

/* Text that single quotes end, and its line. */
static void fish_end(FILE *to, const char *s)
{
    for (; *s; s++)
        fprintf(to, "%s%c", *s == '\'' || *s == '\\' ? "\\" : "", *s);
    fputs("'\n", to);
}

static void fish_options(FILE *to, const char *name, const struct wr_option *o)
{
    for (; o && o->name; o++) {
        if (o->flags & WR_OPTION_HIDDEN)
            continue;
        fprintf(to,
                "complete -c weir -n '__fish_seen_subcommand_from %s' -l %s",
                name, o->name);
        if (o->letter)
            fprintf(to, " -s %c", o->letter);
        if (o->choices) {
            fputs(" -x -a '", to);
            print_choices(to, o->choices);
            fputc('\'', to);
        } else if (o->type != WR_OPTION_FLAG) {
            fputs(o->flags & WR_OPTION_PATH ? " -r -F" : " -x", to);
        }
        fputs(" -d '", to);
        fish_end(to, o->help);
    }
}

static void fish_operand(FILE *to, const struct wr_command *cmd,
                         const struct wr_command *const *commands)
{
    const struct wr_operand *o = cmd->operands;

    if (!has_words(o))
        return;
    fprintf(to, "complete -c weir -n '__fish_prev_arg_in %s' -f -a '",
            cmd->name);
    print_words(to, cmd, o, commands);
    fputs("'\n", to);
}

void wr_completion_fish(FILE *to, const struct wr_command *const *commands)
{
    const struct wr_command *const *c;

    fputs("# fish completion of weir, printed by 'weir completion fish'.\n",
          to);
    for (c = shown_from(commands); *c; c = shown_from(c + 1)) {
        fprintf(to, "complete -c weir -n __fish_use_subcommand -f -a %s -d '",
                (*c)->name);
        fish_end(to, (*c)->summary);
        fish_operand(to, *c, commands);
        fish_options(to, (*c)->name, (*c)->options);
        fish_options(to, (*c)->name, wr_common_options);
    }
}
