/* feed_args.h - settings of the pipeline as options of commands.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The args of such a command have a `weir_pipeline_config feed`, which its
 * options are parsed into; wr_feed_defaults is the command's `defaults`. Rows
 * come from the table of settings:
 *
 *     {WR_FEED(struct bench_args, resize)},
 *     {WR_FEED_NAME(struct convert_args, dtype), .choices = dtype_choices,
 *      .def = "u8", WR_FEED_HELP(dtype)},
 */
#ifndef WR_CLI_FEED_ARGS_H
#define WR_CLI_FEED_ARGS_H

#include "cli/command.h"
#include "cli/options.h"
#include "pipeline/settings.h"

#define WR_FEED_TYPE_U32    WR_OPTION_UINT
#define WR_FEED_TYPE_U64    WR_OPTION_UINT
#define WR_FEED_TYPE_BYTES  WR_OPTION_SIZE
#define WR_FEED_TYPE_YES    WR_OPTION_FLAG
#define WR_FEED_TYPE_CHOICE WR_OPTION_ENUM
#define WR_FEED_TYPE_TEXT   WR_OPTION_STRING
#define WR_FEED_TYPE_SIDES  WR_OPTION_STRING
#define WR_FEED_TYPE_FLOATS WR_OPTION_DOUBLE

/* One column of a row of the table each. */
#define WR_PICK_NAME(id, option, ...) option
#define WR_PICK_OFFSET(id, option, kind, member, ...)                          \
    offsetof(weir_pipeline_config, member)
#define WR_PICK_RANGE(id, option, kind, member, least, most, list, ...)        \
    .min = (least), .max = (most), .choices = (list)
#define WR_PICK_DEF(id, o, k, m, least, most, list, text, note, ...)           \
    .def = (text), .def_note = (note)
#define WR_PICK_NOTE(id, o, k, m, least, most, list, text, note, ...)          \
    .def_note = (note)
#define WR_PICK_ARG(id, o, k, m, least, most, list, text, note, word, ...) word
#define WR_PICK_HELP(id, o, k, m, least, most, list, text, note, word, about,  \
                     ...)                                                      \
    .help = (about)
#define WR_PICK_FIELD(id, o, kind, member, least, most, list, text, note,      \
                      word, about, at, marks)                                  \
    .type = WR_FEED_TYPE_##kind, .store = WR_VALUE_##kind,                     \
    .count = sizeof(((weir_pipeline_config *)0)->member) / sizeof(float),      \
    .odd = ((marks)&WR_SET_ODD) != 0

/* What a row may take over; WR_FEED_NAME and _LIST begin it. */
#define WR_FEED_RANGE(id) WR_SETTING_##id(WR_PICK_RANGE)
#define WR_FEED_DEF(id)   WR_SETTING_##id(WR_PICK_DEF)
#define WR_FEED_NOTE(id)  WR_SETTING_##id(WR_PICK_NOTE)
#define WR_FEED_HELP(id)  WR_SETTING_##id(WR_PICK_HELP)
#define WR_FEED_NAME(args, id)                                                 \
    .name = WR_SETTING_##id(WR_PICK_NAME),                                     \
    .arg = WR_SETTING_##id(WR_PICK_ARG), WR_SETTING_##id(WR_PICK_FIELD),       \
    .offset = offsetof(args, feed) + WR_SETTING_##id(WR_PICK_OFFSET)

/* A whole row. */
#define WR_FEED(args, id)                                                      \
    WR_FEED_NAME(args, id), WR_FEED_RANGE(id), WR_FEED_DEF(id), WR_FEED_HELP(id)

/* The same for a field of its own: `arg` is what is behind its placeholder. */
#define WR_FEED_OWN(id, behind)                                                \
    .name = WR_SETTING_##id(WR_PICK_NAME),                                     \
    .arg = WR_SETTING_##id(WR_PICK_ARG) behind

/* The names of accelerators that are emulated (test_vocabulary compares them
 * with the table). */
#define WR_HELP_ACCELERATORS                                                   \
    "K4000, K80, P100, V100, A100, H100, or ms=MS for a step of MS "           \
    "milliseconds"

/* --normalize, whose field `normalize` is an int: wr_settings_normalize. */
#define WR_NORMALIZE_OPTION(args)                                              \
    {                                                                          \
        WR_FEED_OWN(normalize, ""), WR_OPT_ENUM(args, normalize),              \
            WR_FEED_RANGE(normalize), WR_FEED_DEF(normalize),                  \
            WR_FEED_HELP(normalize)                                            \
    }

/* The first option on the command line that decides what is made of a picture;
 * NULL: none. */
const char *wr_feed_given_pixels(const struct wr_cli *cli);

/* Whether the library will take these settings, before anything is opened. A
 * message about a setting that is an option of `table` names that. */
int wr_feed_check(const struct wr_option *table,
                  const weir_pipeline_config *cfg, weir_err *err);

#endif
