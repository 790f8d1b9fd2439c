/* feed_args.h - settings of the pipeline as commands spell them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_FEED_ARGS_H
#define WR_CLI_FEED_ARGS_H

#include "cli/command.h"
#include "cli/options.h"
#include "weir/pipeline.h"

enum wr_feed_norm { WR_FEED_IMAGENET, WR_FEED_NO_NORM };

extern const struct wr_choice wr_feed_decode[];
extern const struct wr_choice wr_feed_dtype[];
extern const struct wr_choice wr_feed_layout[];
extern const struct wr_choice wr_feed_resize[];
extern const struct wr_choice wr_feed_normalize[]; /* enum wr_feed_norm */
extern const struct wr_choice wr_feed_order[];
extern const struct wr_choice wr_feed_orient[];
extern const struct wr_choice wr_feed_io[];
extern const struct wr_choice wr_feed_cache_what[];
extern const struct wr_choice wr_feed_auto[]; /* a word beside numbers */
extern const struct wr_choice wr_feed_part[];

/* Which part of the data set: fields `holdout` (double), `split_seed` (uint64_t)
 * and `part` (int) of the command's settings. */
#define WR_HOLDOUT_OPTIONS(args)                                               \
    {.name = "holdout",                                                        \
     WR_OPT_DOUBLE(args, holdout),                                             \
     .arg = "F",                                                               \
     .max = 0.5,                                                               \
     .def = "0",                                                               \
     .help = "hold out this fraction of the samples, evenly spread, for "      \
             "validation"},                                                    \
    {                                                                          \
        .name = "split-seed", WR_OPT_UINT(args, split_seed), .arg = "N",       \
        .def = "0", .help = "seed of the choice of samples to hold out"        \
    }
#define WR_PART_OPTION(args)                                                   \
    {                                                                          \
        .name = "part", WR_OPT_ENUM(args, part), .arg = "PART",                \
        .choices = wr_feed_part, .def = "all",                                 \
        .help = "with --holdout: which part of the data set to use"            \
    }

/* The names of accelerators that are emulated (test_vocabulary compares them
 * with the table). */
#define WR_HELP_ACCELERATORS                                                   \
    "K4000, K80, P100, V100, A100, H100, or ms=MS for a step of MS "           \
    "milliseconds"

/* The settings that decide the pixels. */
struct wr_feed_pixels {
    const char *size; /* "224", "320x240" */
    uint64_t channels;
    int dtype, layout, resize, normalize, orient;
};

/* Into `cfg`; a message names the option. */
int wr_feed_set_pixels(const struct wr_feed_pixels *p,
                       weir_pipeline_config *cfg, weir_err *err);

/* Options of a split that change nothing without another one: a message, or 0.
 */
int wr_feed_check_split(const struct wr_cli *cli, weir_err *err);

/* Whether the library will take these settings, before anything is opened. A
 * message about a field that is an option of `table` names that. */
int wr_feed_check(const struct wr_option *table,
                  const weir_pipeline_config *cfg, weir_err *err);

#endif
