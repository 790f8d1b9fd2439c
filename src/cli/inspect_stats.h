/* inspect_stats.h - sizes and classes of a data set, counted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_INSPECT_STATS_H
#define WR_CLI_INSPECT_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/picture.h"
#include "format/format.h"

#define WR_INSPECT_BINS 40

struct wr_inspect_bin {
    uint64_t from, to; /* from <= size < to; the last one has no end: 0 */
    uint64_t count;
};

struct wr_inspect_stats {
    uint64_t count, bytes, min, median, p90, p99, max;
    double mean;
    unsigned bins; /* 0: all samples have one size */
    struct wr_inspect_bin bin[WR_INSPECT_BINS];
    uint32_t classes;
    uint64_t *class_samples;    /* owned: [classes]; NULL: none, or too many */
    uint32_t smallest, largest; /* labels, when class_samples is there */
    uint64_t unlabelled;        /* samples without a label */
};

/* WEIR_ECANCELED after Ctrl-C. End with wr_inspect_stats_done. */
int wr_inspect_stats(const weir_dataset *ds, struct wr_inspect_stats *ret,
                     weir_err *err);
void wr_inspect_stats_done(struct wr_inspect_stats *s);

/* --- of samples that were looked at --- */

struct wr_inspect_found {
    uint32_t width, height; /* 0: not a picture, or broken */
    uint8_t kind;           /* enum wr_picture_kind */
    uint8_t components;
    bool misnamed;  /* the name says another kind than the bytes */
    bool turned;    /* EXIF says that it is not upright */
    uint32_t label; /* or WEIR_NO_LABEL */
};

#define WR_INSPECT_TOP_DIMS 5

struct wr_inspect_dim {
    uint32_t width, height;
    uint64_t count;
};

struct wr_inspect_range {
    double min, max; /* NaN: there is none */
};

/* How many pictures are what; dimensions. */
struct wr_inspect_pictures {
    uint64_t of_kind[WR_PICTURE_KINDS];
    uint64_t gray, colour, four; /* four: CMYK or RGBA */
    uint64_t good, turned;       /* turned: not upright, as EXIF says */
    struct wr_inspect_range width, height;
    struct wr_inspect_dim dims[WR_INSPECT_TOP_DIMS]; /* most common first */
    double distinct; /* dimensions; NaN: memory was short for them */
    double others;   /* that are not in `dims` */
};
void wr_inspect_count_pictures(const struct wr_inspect_found *found,
                               uint64_t count, struct wr_inspect_pictures *ret);

struct wr_inspect_class {
    uint32_t label;
    uint64_t samples;
};

/* Labels that were met. */
struct wr_inspect_labels {
    struct wr_inspect_class *list; /* owned: by label */
    size_t count;
    size_t smallest, largest; /* places in the list */
    uint64_t unlabelled;      /* samples */
};

/* What labels the samples have; ret->list is to be freed. */
int wr_inspect_count_labels(const struct wr_inspect_found *found,
                            uint64_t count, struct wr_inspect_labels *ret,
                            weir_err *err);

#endif
