/* open.h - opening a data set as every command does, with a progress line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_OPEN_H
#define WR_CLI_OPEN_H

#include "cli/command.h"
#include "weir/dataset.h"

/* What the options --format, --root, --columns, --schema, --index-dir and --index-cache
 * say. */
struct wr_open_args {
    const char *format, *root, *columns, *schema, *index_dir; /* NULL: not
                                                                given */
    bool index_cache;
};

/* The row of an option table; the struct has a `const char *columns`. */
#define WR_COLUMNS_OPTION(args)                                                \
    {                                                                          \
        .name = "columns", WR_OPT_STRING(args, columns),                       \
        .arg = "path=A,label=B",                                               \
        .def_note = "path and label, or the first "                            \
                    "two",                                                     \
        .help = "columns of a list file to use: names in its header, or "      \
                "numbers from 1"                                               \
    }

/* The same; the struct has a `const char *schema`. */
#define WR_SCHEMA_OPTION(args)                                                 \
    {                                                                          \
        .name = "schema", WR_OPT_STRING(args, schema),                         \
        .arg = "NAME=KIND[:DTYPE[:DIMS]],...", .def_note = "as detected",      \
        .help = "what a field is where the format cannot know: "               \
                "x=tensor:u16:128x128x4, image=picture, text=bytes; "          \
                "label=NAME: the field that is the label"                      \
    }

/* Says why it could not be opened; returns the exit code, that of wrong usage
 * where the settings were to blame. */
int wr_cli_open_failed(const struct wr_cli *cli, const weir_err *err);

/* Ctrl-C ends it with WEIR_ECANCELED. */
int wr_cli_open(const struct wr_cli *cli, const char *url,
                const struct wr_open_args *a, weir_dataset **ret,
                weir_err *err);

#endif
