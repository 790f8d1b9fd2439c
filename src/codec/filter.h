/* filter.h - the taps of one axis of a resampling, made once per size.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A filter says for each output sample which input samples it is the weighted
 * mean of. Weights are fixed-point and sum up to exactly one, so a constant
 * picture stays constant, and the result is the same on every machine. */
#ifndef WR_CODEC_FILTER_H
#define WR_CODEC_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/error.h"
#include "weir/picture.h"

#define WR_WEIGHT_BITS 14
#define WR_WEIGHT_ONE  (1 << WR_WEIGHT_BITS)

/* Weights of an output sample are padded with zeros to a multiple of this. */
#define WR_TAPS_ALIGN 8u

/* The pass that uses a filter, and how its weights are packed for that. */
enum wr_filter_use {
    /* Vertical. Each pair of taps is four int8: the upper halves of both
     * weights and the lower ones, weight = upper * 128 + lower. [out][padded
     * / 2]. A single tap counts as a pair of halves of the same row. */
    WR_FILTER_ROWS = 0,
    /* Horizontal, three interleaved components: two outputs o, o + 1 side by
     * side, pair of taps by pair, each pair four times (r g b x). */
    WR_FILTER_RGB,
    /* Horizontal, one component. By windows, where four outputs fit into
     * eight inputs, those from window[o / 4] on: struct wr_window[out / 8]
     * [pairs]. By blocks otherwise: eight outputs by blocks of eight taps,
     * outputs o and o + 4 side by side. */
    WR_FILTER_ONE,
};

#define WR_WINDOW_OUTPUTS 4u
#define WR_WINDOW_INPUTS  8u

/* One pair of taps of eight outputs: which bytes of the two windows they are,
 * and their weights. */
struct wr_window {
    uint8_t order[2 * 16];
    int16_t weight[2 * 8];
};

struct wr_filter_key {
    uint32_t in, out;  /* samples of the axis */
    double lo, hi;     /* the part [lo, hi) of the input that is resampled;
                          in upsampled samples when upsample is 2 */
    uint32_t upsample; /* 1; 2: the input is first doubled as libjpeg's fancy
                          upsampling does it, inside the same taps */
    bool mirror;       /* outputs in the opposite order */
    enum weir_resize resize;
    enum wr_filter_use use;
};

struct wr_taps {
    struct wr_filter_key key;
    uint32_t padded;  /* weights per output: most taps, rounded up */
    uint32_t *first;  /* owned; [out rounded up to 8] first input sample */
    uint32_t *count;  /* owned; same length: taps that count */
    uint32_t *window; /* owned; [out rounded up to 8, over 4], see above */
    int16_t *weight;  /* owned; [out rounded up to 8][padded] */
    void *packed;     /* owned; the weights again, as the kernels want them */
    uint32_t pairs;   /* pairs of taps per output, see `packed` */
    bool is_windowed; /* WR_FILTER_ONE: packed by windows, not by blocks */
    uint64_t used_at; /* the cache's clock */
};

#define WR_FILTER_CACHE 32

/* The filters of one decoder; zero it to start. */
struct wr_filter_cache {
    struct wr_taps *filter[WR_FILTER_CACHE]; /* owned */
    uint64_t clock;
};

/* The filter for `key`, made if it is not there; borrowed, valid until
 * WR_FILTER_CACHE others were asked for. */
int wr_filter_find(struct wr_filter_cache *c, const struct wr_filter_key *key,
                   const struct wr_taps **ret, weir_err *err);

void wr_filter_cache_done(struct wr_filter_cache *c);

#endif
