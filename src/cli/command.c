/* command.c - parses a command's arguments and runs it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/text.h"
#include "cli/manual.h"
#include "cli/options.h"
#include "cli/screen.h"
#include "cli/session.h"
#include "comm/launch.h"
#include "storage/beside.h"

static const struct wr_choice color_choices[] = {
    {"auto", WR_COLOR_AUTO, "on a terminal, unless NO_COLOR is set"},
    {"always", WR_COLOR_ALWAYS, NULL},
    {"never", WR_COLOR_NEVER, NULL},
    {NULL, 0, NULL}};

const struct wr_option wr_common_options[] = {
    {WR_OPT_FLAG(struct wr_common_options, quiet), .name = "quiet",
     .letter = 'q', .group = "Common options",
     .help = "no progress line and no remarks on stderr"},
    {WR_OPT_ENUM(struct wr_common_options, color), .name = "color",
     .arg = "WHEN", .choices = color_choices, .def = "auto",
     .help = "colours in results"},
    {WR_OPT_FLAG(struct wr_common_options, help), .name = "help", .letter = 'h',
     .help = "this text"},
    WR_OPTIONS_END};

static const char *const style_codes[] = {
    [WR_STYLE_BOLD] = "\033[1m",  [WR_STYLE_DIM] = "\033[2m",
    [WR_STYLE_GOOD] = "\033[32m", [WR_STYLE_WARN] = "\033[33m",
    [WR_STYLE_BAD] = "\033[31m",  [WR_STYLE_END] = "\033[0m"};

/* --- actions --- */

static const struct wr_choice *
action_words(const struct wr_command *cmd,
             struct wr_choice room[WR_ACTIONS_MAX + 1])
{
    size_t n = 0;

    for (; cmd->actions[n] && n < WR_ACTIONS_MAX; n++)
        room[n] = (struct wr_choice){cmd->actions[n]->name, (int)n,
                                     cmd->actions[n]->summary};
    room[n] = (struct wr_choice){NULL, 0, NULL};
    return room;
}

const struct wr_choice *
wr_operand_words(const struct wr_command *cmd, const struct wr_operand *o,
                 struct wr_choice room[WR_ACTIONS_MAX + 1])
{
    return o->flags & WR_OPERAND_ACTION ? action_words(cmd, room) : o->choices;
}

/* Of a command that also runs without an action: the argument that names one,
 * unless it stands behind '--'; NULL: none. Before the arguments are parsed. */
static const char *action_named(const struct wr_command *cmd, int argc,
                                char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (cmd->actions && wr_named_ops(cmd->actions, SIZE_MAX, argv[i]))
            return argv[i];
    return NULL;
}

const struct wr_action *wr_action_find(const struct wr_command *cmd,
                                       const char *name, weir_err *err)
{
    struct wr_choice room[WR_ACTIONS_MAX + 1];
    int i;

    if (!cmd->actions) {
        wr_fail(err, WEIR_EINVAL, "weir %s has no actions", cmd->name);
        return NULL;
    }
    if (wr_choice_find(action_words(cmd, room), name, &i, err) < 0) {
        wr_fail_prefix(err, WEIR_EINVAL, "argument %s", cmd->operands->name);
        return NULL;
    }
    return cmd->actions[i];
}

/* Takes the first operand as the action's name: sets cli->action. */
static int action_take(struct wr_cli *cli, weir_err *err)
{
    if (!cli->operand_count)
        return wr_fail(err, WEIR_EINVAL, "argument %s is missing: %s",
                       cli->cmd->operands->name, cli->cmd->operands->help);
    cli->action = wr_action_find(cli->cmd, cli->operands[0], err);
    if (!cli->action)
        return WEIR_EINVAL;
    cli->operands++;
    cli->operand_count--;
    return 0;
}

bool wr_action_has(const struct wr_action *a, const char *option)
{
    const char *const *name = a->options;

    while (name && *name && strcmp(*name, option))
        name++;
    return name && *name;
}

/* Are all options that were given the action's, and those there that it
 * needs? */
static int action_check(const struct wr_cli *cli, weir_err *err)
{
    const struct wr_action *a = cli->action;
    const struct wr_option *o = cli->cmd->options;
    const char *const *need = a->needs;

    for (; o && o->name; o++)
        if (wr_options_given(&cli->own, o->name) && !wr_action_has(a, o->name))
            return wr_fail(err, WEIR_EINVAL, "%s does not take --%s", a->name,
                           o->name);
    for (; need && *need; need++)
        if (!wr_options_given(&cli->own, *need))
            return wr_fail(err, WEIR_EINVAL, "%s: give --%s", a->name, *need);
    return 0;
}

/* --- two outputs --- */

/* The path that was given for an output; NULL: none, or stdout. */
static const char *path_of(const struct wr_cli *cli, const struct wr_option *o)
{
    const char *path;

    if (!(o->flags & WR_OPTION_OUTPUT))
        return NULL;
    memcpy(&path, (const char *)cli->own.args + o->offset, sizeof(path));
    return path && strcmp(path, "-") ? path : NULL;
}

static bool stat_folder(const char *path, struct stat *ret)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%.*s/.", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    return stat(folder, ret) == 0;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Files that are there, or will be. Devices may be written to twice. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;

    if (has_a && has_b)
        return S_ISREG(x.st_mode) && is_one(&x, &y);
    return !has_a && !has_b && !strcmp(name_of(a), name_of(b)) &&
           stat_folder(a, &x) && stat_folder(b, &y) && is_one(&x, &y);
}

static int check_apart(const struct wr_cli *cli, const struct wr_option *o,
                       const char *path, weir_err *err)
{
    for (const struct wr_option *other = cli->own.table; other != o; other++) {
        const char *theirs = path_of(cli, other);

        if (theirs && is_same_file(path, theirs))
            return wr_fail(err, WEIR_EINVAL,
                           "--%s and --%s are the same file '%s'", other->name,
                           o->name, path);
    }
    for (size_t i = 0; i < cli->operand_count; i++)
        if (is_same_file(path, cli->operands[i]))
            return wr_fail(err, WEIR_EINVAL,
                           "--%s '%s' would replace a file that is read",
                           o->name, path);
    return 0;
}

/* Whether the files of all options with WR_OPTION_OUTPUT that were given can be
 * written, so that nothing is measured in vain. WEIR_EINVAL when two of them
 * are one file, or one is a file that is read. Leaves nothing behind. */
static int outputs_check(const struct wr_cli *cli, weir_err *err)
{
    for (const struct wr_option *o = cli->own.table; o && o->name; o++) {
        const char *path = path_of(cli, o);
        int r;

        if (!path)
            continue;
        r = check_apart(cli, o, path, err);
        if (r == 0)
            r = wr_whole_check(path, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Bytes of the style at s, 0 if there is none that wr_cli_style gives. */
static size_t style_len(const struct wr_cli *cli, const char *s)
{
    for (size_t k = 0; cli->color && k < WR_ARRAY_LEN(style_codes); k++)
        if (!strncmp(s, style_codes[k], strlen(style_codes[k])))
            return strlen(style_codes[k]);
    return 0;
}

/* Lines and styles are the command's own; whatever else a terminal would obey
 * came with a name. */
static void put_lines(const struct wr_cli *cli, const char *s)
{
    while (*s) {
        size_t len = strcspn(s, "\n\033");

        wr_text_put(cli->out, s, len);
        s += len;
        len = *s == '\n' ? 1 : style_len(cli, s);
        if (len)
            fwrite(s, 1, len, cli->out);
        else if (*s)
            wr_text_put(cli->out, s, len = 1);
        s += len;
    }
}

/* In memory, or cut into `room` if there is none: that there is no memory left
 * is a message, too. */
__attribute__((format(printf, 3, 0))) static char *
format_text(char *room, size_t cap, const char *fmt, va_list ap)
{
    char *text = NULL;
    va_list again;

    va_copy(again, ap);
    if (vasprintf(&text, fmt, ap) < 0) {
        vsnprintf(room, cap, fmt, again);
        text = NULL;
    }
    va_end(again);
    return text;
}

void wr_cli_put(const struct wr_cli *cli, const char *fmt, ...)
{
    char room[512], *text;
    va_list ap;

    va_start(ap, fmt);
    text = format_text(room, sizeof(room), fmt, ap);
    va_end(ap);
    put_lines(cli, text ? text : room);
    free(text);
}

__attribute__((format(printf, 2, 0))) static void
message(const struct wr_cli *cli, const char *fmt, va_list ap)
{
    char room[512], *text = format_text(room, sizeof(room), fmt, ap);
    const char *s = text ? text : room;
    char *clean = wr_text_clean(s), *line = NULL;

    if (clean && asprintf(&line, "weir %s: %s\n", cli->cmd->name, clean) >= 0) {
        wr_screen_put(cli->err, line);
        free(line);
    } else {
        fprintf(cli->err, "weir %s: ", cli->cmd->name);
        wr_text_put(cli->err, s, strlen(s));
        fputc('\n', cli->err);
    }
    free(clean);
    free(text);
}

int wr_cli_fail(const struct wr_cli *cli, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    message(cli, fmt, ap);
    va_end(ap);
    return WR_EXIT_FAILED;
}

int wr_cli_usage(const struct wr_cli *cli, const char *fmt, ...)
{
    va_list ap;

    if (cli->hushed)
        return WR_EXIT_USAGE;
    va_start(ap, fmt);
    message(cli, fmt, ap);
    va_end(ap);
    fprintf(cli->err, "Try 'weir %s%s%s --help'.\n", cli->cmd->name,
            cli->action ? " " : "", cli->action ? cli->action->name : "");
    return WR_EXIT_USAGE;
}

void wr_cli_note(const struct wr_cli *cli, const char *fmt, ...)
{
    va_list ap;

    if (cli->quiet)
        return;
    va_start(ap, fmt);
    message(cli, fmt, ap);
    va_end(ap);
}

void *wr_new(const struct wr_cli *cli, size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        exit(wr_cli_fail(cli, "out of memory"));
    return memory;
}

char *wr_new_text(const struct wr_cli *cli, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        exit(wr_cli_fail(cli, "out of memory"));
    return text;
}

bool wr_cli_given(const struct wr_cli *cli, const char *option)
{
    return wr_options_given(&cli->own, option) ||
           wr_options_given(&cli->common, option);
}

const char *wr_cli_style(const struct wr_cli *cli, enum wr_style style)
{
    return cli->color ? style_codes[style] : "";
}

static bool want_color(const struct wr_cli *cli, int mode)
{
    const char *no = getenv("NO_COLOR");

    if (mode != WR_COLOR_AUTO)
        return mode == WR_COLOR_ALWAYS;
    return !(no && *no) && isatty(fileno(cli->out));
}

/* The operand table entry of argument number i; the last one that takes many
 * answers for all that follow. NULL when there are too many. */
static const struct wr_operand *operand_at(const struct wr_operand *o, size_t i)
{
    for (; o && o->name && i; o++, i--)
        if (o->flags & WR_OPERAND_MANY)
            return o;
    return o && o->name ? o : NULL;
}

static int check_operands(const struct wr_cli *cli, weir_err *err)
{
    const struct wr_operand *table = cli->action ? cli->action->operands
                                                 : cli->cmd->operands;
    const struct wr_operand *o;
    int value;

    for (size_t i = 0; i < cli->operand_count; i++) {
        o = operand_at(table, i);
        if (!o)
            return wr_fail(err, WEIR_EINVAL, "unexpected argument '%s'",
                           cli->operands[i]);
        if (!*cli->operands[i])
            return wr_fail(err, WEIR_EINVAL, "argument %s: is empty", o->name);
        if (o->choices && !(o->flags & WR_OPERAND_OTHERS) &&
            wr_choice_find(o->choices, cli->operands[i], &value, err) < 0)
            return wr_fail_prefix(err, WEIR_EINVAL, "argument %s", o->name);
    }
    o = operand_at(table, cli->operand_count);
    if (!o || o->flags & WR_OPERAND_OPTIONAL)
        return 0;
    if (o->flags & WR_OPERAND_MANY && cli->operand_count > (size_t)(o - table))
        return 0;
    return wr_fail(err, WEIR_EINVAL, "argument %s is missing: %s", o->name,
                   o->help);
}

static int parse(struct wr_cli *cli, struct wr_common_options *common, int argc,
                 char **argv)
{
    struct wr_option_set sets[2] = {{cli->cmd->options, cli->own.args, 0},
                                    {wr_common_options, common, 0}};
    const char *named = action_named(cli->cmd, argc, argv);
    bool has_action = cli->cmd->actions && !cli->cmd->run;
    weir_err err;

    if (cli->cmd->defaults)
        cli->cmd->defaults(cli->own.args);
    for (size_t i = 0; i < 2; i++)
        if (wr_options_defaults(&sets[i], &err) < 0)
            return wr_cli_fail(cli, "in the option table: %s", err.msg);
    if (wr_options_parse(sets, 2, argc, argv, &cli->operand_count, &err) < 0)
        return wr_cli_usage(cli, "%s", err.msg);
    cli->own = sets[0];
    cli->common = sets[1];
    cli->quiet = common->quiet;
    cli->color = want_color(cli, common->color);
    cli->operands = argv;
    if (cli->cmd->run && cli->operand_count)
        has_action = named && cli->operands[0] == named;
    if (has_action && action_take(cli, &err) < 0 && !common->help)
        return wr_cli_usage(cli, "%s", err.msg);
    return WR_EXIT_DONE;
}

static int check(struct wr_cli *cli)
{
    weir_err err;
    int r;

    if (check_operands(cli, &err) < 0 ||
        (cli->action && action_check(cli, &err) < 0) ||
        wr_options_check(&cli->own, &err) < 0)
        return wr_cli_usage(cli, "%s", err.msg);
    r = outputs_check(cli, &err);
    if (r < 0)
        return r == WEIR_EINVAL ? wr_cli_usage(cli, "%s", err.msg)
                                : wr_cli_fail(cli, "%s", err.msg);
    return WR_EXIT_DONE;
}

/* Whether the command may run in so many processes. */
static int check_ranks(const struct wr_cli *cli, const struct wr_launch *launch)
{
    enum wr_command_ranks how = cli->action ? cli->action->ranks
                                            : cli->cmd->ranks;

    if (launch->world == 1 || how != WR_RANKS_ONE)
        return WR_EXIT_DONE;
    return wr_cli_usage(cli,
                        "%s%sruns in one process, and %u were started (%s): "
                        "start it without mpirun, srun or torchrun",
                        cli->action ? cli->action->name : "",
                        cli->action ? " " : "", launch->world, launch->by);
}

/* What is wrong with the arguments is wrong on every rank, and help is the same:
 * the first one prints it. The others succeed: a launcher ends all ranks when one
 * fails, and so could end the first before it has said why. */
static int prepare(struct wr_cli *cli, struct wr_common_options *common,
                   const struct wr_launch *launch, int argc, char **argv)
{
    struct wr_cli heard = *cli;
    FILE *nowhere = launch->rank ? fopen("/dev/null", "we") : NULL;
    int code;

    if (nowhere)
        cli->out = cli->err = nowhere;
    code = parse(cli, common, argc, argv);
    if (code == WR_EXIT_DONE && common->help)
        wr_help_of(cli, cli->cmd, cli->action);
    else if (code == WR_EXIT_DONE)
        code = check_ranks(cli, launch);
    if (code == WR_EXIT_DONE && !common->help)
        code = check(cli);
    if (nowhere)
        fclose(nowhere);
    cli->out = heard.out;
    cli->err = heard.err;
    return code;
}

static int run_with(struct wr_cli *cli, int argc, char **argv)
{
    struct wr_common_options common = {0};
    enum wr_command_ranks how;
    struct wr_launch launch;
    int code;

    /* Commands that run together say what is wrong with the environment. */
    if (wr_launch_find(&launch, NULL) < 0)
        launch = (struct wr_launch){.world = 1};
    code = prepare(cli, &common, &launch, argc, argv);
    if (code == WR_EXIT_USAGE && launch.rank > 0)
        return WR_EXIT_DONE;
    if (code != WR_EXIT_DONE || common.help)
        return code;
    how = cli->action ? cli->action->ranks : cli->cmd->ranks;
    if (how == WR_RANKS_FIRST && launch.rank > 0)
        return WR_EXIT_DONE;
    if (cli->action)
        return cli->action->job ? wr_session(cli, cli->action->job)
                                : cli->action->run(cli);
    return cli->cmd->job ? wr_session(cli, cli->cmd->job) : cli->cmd->run(cli);
}

int wr_command_run(const struct wr_command *cmd, struct wr_cli *cli, int argc,
                   char **argv)
{
    void *args;
    int code;

    cli->cmd = cmd;
    args = wr_new(cli, 1, cmd->args_size ? cmd->args_size : 1);
    cli->args = args;
    cli->own.args = args;
    code = run_with(cli, argc, argv);
    free(args);
    return code;
}
