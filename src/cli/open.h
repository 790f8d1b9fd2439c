/* open.h - opening a data set as every command does, with a progress line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_OPEN_H
#define WR_CLI_OPEN_H

#include "cli/command.h"
#include "weir/dataset.h"

/* What the options below say; the args of a command have it as `open`. */
struct wr_open_args {
    const char *format, *root, *columns, *schema, *index_dir; /* NULL: not
                                                                given */
    bool index_cache, links;
};

/* The words of --format; whether it is one of them is said where the data set is
 * opened. */
extern const struct wr_choice wr_open_formats[];

/* The rows of an option table; `of` is whose format --format is. */
#define WR_OPEN_OPTIONS(args, of)                                              \
    {WR_OPT_STRING(args, open.format),                                         \
     .name = "format",                                                         \
     .arg = "FORMAT",                                                          \
     .choices = wr_open_formats,                                               \
     .def_note = "detected",                                                   \
     .help = "format of " of},                                                 \
        {WR_OPT_STRING(args, open.root),                                       \
         .name = "root",                                                       \
         .arg = "FOLDER",                                                      \
         .def_note = "the list's folder",                                      \
         .flags = WR_OPTION_PATH,                                              \
         .help = "folder that relative paths in a list file start from"},      \
        {WR_OPT_STRING(args, open.columns), .name = "columns",                 \
         .arg = "path=A,label=B",                                              \
         .def_note = "path and label, or the first two",                       \
         .help = "columns of a list file to use: names in its header, or "     \
                 "numbers from 1"},                                            \
        {WR_OPT_STRING(args, open.schema), .name = "schema",                   \
         .arg = "NAME=KIND[:DTYPE[:DIMS]],...", .def_note = "as detected",     \
         .help = "what a field is where the format cannot know: "              \
                 "x=tensor:u16:128x128x4, image=picture, text=bytes; "         \
                 "label=NAME: the field that is the label"},                   \
        {WR_OPT_STRING(args, open.index_dir),                                  \
         .name = "index-dir",                                                  \
         .arg = "FOLDER",                                                      \
         .def_note = "weir/index in the user's cache folder",                  \
         .flags = WR_OPTION_PATH,                                              \
         .help = "where indexes are kept and reopened"},                       \
        {WR_OPT_FLAG(args, open.links), .name = "links", .def = "yes",         \
         .help = "refuse a data set with symbolic links, which may lead "      \
                 "anywhere"},                                                  \
    {                                                                          \
        WR_OPT_FLAG(args, open.index_cache),                                   \
            .name = "index-cache", .def = "yes",                               \
            .help = "neither use nor write an index file"                      \
    }

/* Says why it could not be opened; returns the exit code, that of wrong usage
 * where the settings were to blame. */
int wr_cli_open_failed(const struct wr_cli *cli, const weir_err *err);

/* Ctrl-C ends it with WEIR_ECANCELED. */
int wr_cli_open(const struct wr_cli *cli, const char *url,
                const struct wr_open_args *a, weir_dataset **ret,
                weir_err *err);

#endif
