/* command.h - what a command is, and what it may use while it runs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A command is one file cmd_x.c with one const table, wr_cmd_x, and one line
 * in commands.c (docs/howto/add-a-command.md). Results go to cli->out
 * through wr_cli_put, everything else to stderr through wr_cli_note and
 * wr_cli_fail. What these print never acts on a terminal. */
#ifndef WR_CLI_COMMAND_H
#define WR_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"

/* What a run function returns, and the process with it. After Ctrl-C the
 * process exits with 130 (SIGTERM: 143) whatever the command returned. */
enum wr_exit {
    WR_EXIT_DONE = 0,
    WR_EXIT_FAILED = 1,
    WR_EXIT_USAGE = 2,
    WR_EXIT_MISSED = 3, /* ran, but missed a threshold that was asked for */
};

/* What a command does in processes that mpirun, srun or torchrun started
 * together. */
enum wr_command_ranks {
    WR_RANKS_ONE,   /* an error: n of them would write the same files */
    WR_RANKS_FIRST, /* it only reads: rank 0 runs it, the others do nothing */
    WR_RANKS_ALL,   /* they run it together (cli/ranks.h) */
};

struct wr_columns;     /* record/columns.h */
struct wr_session_job; /* cli/session.h */

enum wr_color { WR_COLOR_AUTO, WR_COLOR_ALWAYS, WR_COLOR_NEVER };

/* Text of what all commands on data sets have. */
#define WR_HELP_DATASET                                                        \
    "folder of class folders, list file (path,label), a file of another "      \
    "format (--format names them), or a folder of these"

/* Settings that every command has. */
struct wr_common_options {
    bool help;
    bool quiet;
    int color; /* enum wr_color */
};

struct wr_cli {
    const struct wr_command *cmd;   /* borrowed: static table */
    const struct wr_action *action; /* borrowed; NULL: it has none */
    const void *args;               /* borrowed: the command's settings */
    char *const *operands;          /* borrowed from argv; an action is none */
    size_t operand_count;
    FILE *out;      /* borrowed: results */
    FILE *err;      /* borrowed: messages and progress */
    bool quiet;     /* no notes, no progress */
    bool hushed;    /* rank 0 says what is wrong with the arguments */
    bool color;     /* results may be coloured */
    bool utf8;      /* results may have characters outside ASCII */
    unsigned width; /* columns of the terminal; 80 when there is none */
    struct wr_option_set own, common; /* tables with what was given */
};

enum {
    WR_OPERAND_OPTIONAL = 1,
    WR_OPERAND_MANY = 2,    /* this one and all that follow */
    WR_OPERAND_PATH = 4,    /* completion offers files */
    WR_OPERAND_COMMAND = 8, /* completion offers weir's commands */
    WR_OPERAND_ACTION = 16, /* the first one: one of the command's actions */
    WR_OPERAND_OTHERS = 32, /* other words than its choices are fine, too */
};

/* An argument that is not an option. */
struct wr_operand {
    const char *name; /* "DATASET"; NULL ends the list */
    const char *help;
    const struct wr_choice *choices; /* if only some words are allowed */
    unsigned flags;
};

/* The beginning of its row: {WR_ARGUMENT("DATASET", WR_OPERAND_PATH), .help =
 * ...}. */
#define WR_ARGUMENT(text, bits) .name = (text), .flags = (bits)

struct wr_help_example {
    const char *line; /* "weir bench photos --threads 1,2,4"; NULL ends */
    const char *what; /* what it does, no full stop */
};

/* One of the things that a command does: `weir ckpt ls`. An action is one such
 * table, and one line in the command's list of them. */
struct wr_action {
    const char *name;
    const char *summary;               /* one line, no capital, no full stop */
    const char *description;           /* paragraphs; NULL: nothing to add */
    const struct wr_operand *operands; /* what follows its name; NULL: none */
    const char *const *options; /* names in the command's table, NULL-ended;
                                   NULL: the common ones only */
    const char *const *needs;   /* those that must be given; NULL: none */
    const struct wr_columns *columns;       /* of its tables; NULL: none */
    const struct wr_help_example *examples; /* NULL: none */
    const char *failed; /* what exit code 1 says; NULL: failed */
    enum wr_command_ranks ranks;
    int (*run)(struct wr_cli *cli);   /* returns enum wr_exit */
    const struct wr_session_job *job; /* instead of `run` (session.h) */
};

enum wr_command_group {
    WR_GROUP_DATA,    /* data sets */
    WR_GROUP_MEASURE, /* measuring */
    WR_GROUP_SAVE,    /* checkpoints */
    WR_GROUP_HELP,    /* about weir itself */
    WR_GROUP_HIDDEN,  /* for the build and for shells */
};

struct wr_command {
    const char *name;
    enum wr_command_group group;
    const char *summary;     /* one line, no capital, no full stop */
    const char *description; /* paragraphs with a blank line between */
    const struct wr_operand *operands; /* NULL: none */
    const struct wr_option *options;   /* NULL: none but the common ones */
    size_t args_size;                  /* of the struct behind `options` */
    void (*defaults)(void *args); /* NULL: zeros, before those of `options` */
    const struct wr_action *const *actions; /* NULL-ended; NULL: none */
    const struct wr_columns *columns;       /* of its tables; NULL: none */
    const struct wr_help_example *examples; /* NULL: none */
    enum wr_command_ranks ranks;            /* unused with actions */
    int (*run)(struct wr_cli *cli); /* returns enum wr_exit; NULL with actions,
                                       which have their own, unless they may be
                                       left out: then it runs */
    const struct wr_session_job *job; /* instead of `run` (session.h) */
};

/* The options of every command: --help, --quiet, --color. */
extern const struct wr_option wr_common_options[];

/* Prints a part of the result. Its lines and its styles (wr_cli_style) are kept;
 * what else a terminal would obey is shown as \xNN. A name from a file or the
 * command line goes through base/shown.h first: a line end in it would begin a
 * line of its own. */
void wr_cli_put(const struct wr_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "weir cache: MESSAGE" and returns WR_EXIT_FAILED, so that a command
 * can write `return wr_cli_fail(cli, "%s", err.msg);`. */
int wr_cli_fail(const struct wr_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

/* The same for wrong usage: adds where help is, returns WR_EXIT_USAGE. */
int wr_cli_usage(const struct wr_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

/* A remark on stderr, unless --quiet: "weir cache: MESSAGE". */
void wr_cli_note(const struct wr_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Zeroed memory. When there is none left the process says so and exits with 1:
 * for the small things of a command whose output appears by a rename anyway, and
 * never while data of users is half written. */
void *wr_new(const struct wr_cli *cli, size_t count, size_t size)
    __attribute__((malloc, returns_nonnull));

/* A text of its own, in the same way. */
char *wr_new_text(const struct wr_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), malloc, returns_nonnull));

/* Whether the option was on the command line (not only its default). */
bool wr_cli_given(const struct wr_cli *cli, const char *option);

/* Escape sequences around coloured text in results; "" without colour. */
enum wr_style {
    WR_STYLE_BOLD,
    WR_STYLE_DIM,
    WR_STYLE_GOOD,
    WR_STYLE_WARN,
    WR_STYLE_BAD,
    WR_STYLE_END
};
const char *wr_cli_style(const struct wr_cli *cli, enum wr_style style);

/* Parses argv (what follows the command's name) and runs `cmd`. `cli` comes
 * with out, err, utf8 and width set. Returns the exit code. */
int wr_command_run(const struct wr_command *cmd, struct wr_cli *cli, int argc,
                   char **argv);

#define WR_ACTIONS_MAX 32

/* The words that operand `o` of `cmd` may be: its choices, or the names of the
 * command's actions, put into `room`. NULL: any. */
const struct wr_choice *
wr_operand_words(const struct wr_command *cmd, const struct wr_operand *o,
                 struct wr_choice room[WR_ACTIONS_MAX + 1]);

/* NULL when there is none of that name. */
const struct wr_action *wr_action_find(const struct wr_command *cmd,
                                       const char *name, weir_err *err);

/* Whether the action has an option of that name. */
bool wr_action_has(const struct wr_action *a, const char *option);

#endif
