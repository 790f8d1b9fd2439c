/* feed_args.h - settings of the pipeline as commands spell them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_FEED_ARGS_H
#define WR_CLI_FEED_ARGS_H

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

/* Whether the library will take these settings, before anything is opened. A
 * message about a field that is an option of `table` names that. */
int wr_feed_check(const struct wr_option *table,
                  const weir_pipeline_config *cfg, weir_err *err);

#endif
