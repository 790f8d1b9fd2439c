/* filters.h - undoes the packing of a unit: a short list of filters.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a unit's bytes went through when they were stored is undone one filter
 * after another. The stored bytes come in pieces, in their order; the list
 * may have one filter that inflates, and others around it. */
#ifndef WR_CODEC_FILTERS_H
#define WR_CODEC_FILTERS_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* The numbers stand in index files. */
enum wr_filter {
    WR_FILTER_NONE = 0,
    WR_FILTER_GZIP = 1,       /* gzip or zlib, several members; what lies behind
                              the bytes that are wanted is not looked at */
    WR_FILTER_ZLIB = 2,       /* one whole stream of zlib (HDF5's deflate) */
    WR_FILTER_DEFLATE = 3,    /* one whole stream without a wrapper (ZIP);
                              `argument`: the CRC-32 of what it inflates to */
    WR_FILTER_ZSTD = 4,       /* whole frames */
    WR_FILTER_SHUFFLE = 5,    /* HDF5's: byte k of every element together;
                              `argument`: bytes of an element */
    WR_FILTER_FLETCHER32 = 6, /* HDF5's: a checksum behind the bytes */
    WR_FILTER_LZF = 7,        /* h5py's: LibLZF */
    WR_FILTER_FILL = 8,       /* nothing is stored: `fill`, again and again;
                              `argument`: bytes of an element, a divisor of 8 */
    WR_FILTER_LZ4 = 9,        /* HDF5's 32004 */
    WR_FILTER_BLOSC = 10,
    WR_FILTER_BITSHUFFLE = 11, /* in its own blocks; `argument`: as above */
    WR_FILTER_BITSHUFFLE_LZ4 = 12,
    WR_FILTER_COUNT
};

#define WR_FILTERS_MAX 4

/* Of what is larger than this, what is made of it is at most so many times as
 * large as what is stored. */
#define WR_FILTERS_FREE  (UINT64_C(256) << 20)
#define WR_FILTERS_RATIO 64u

/* How a unit is stored. One byte of `filters` each, the lowest is undone
 * first. */
struct wr_packing {
    uint32_t filters;
    uint32_t argument;
    uint64_t stored, inflated; /* bytes; inflated <= WR_INFLATE_MAX */
    uint64_t fill; /* WR_FILTER_FILL: one element, as it lies in memory */
};

/* WR_FILTERS(WR_FILTER_ZLIB, WR_FILTER_SHUFFLE, 0, 0) */
#define WR_FILTERS(a, b, c, d)                                                 \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 |                \
     (uint32_t)(d) << 24)

/* "zlib"; "unknown" for a number that is none. */
const char *wr_filter_name(unsigned filter);

/* Why it was not built; NULL: it was. */
const char *wr_filter_missing(enum wr_filter filter);

/* Can this list be undone? WEIR_ENOTSUP and why: not in this build, or not
 * such a list; WEIR_ELIMIT, WEIR_EFORMAT: sizes that cannot be. */
int wr_filters_check(const struct wr_packing *p, weir_err *err);

struct wr_unfilter;

/* Bytes that undoing takes besides the inflated ones. */
size_t wr_unfilter_memory(const struct wr_packing *p);
/* `out` has room for p->inflated bytes; borrowed. */
int wr_unfilter_new(const struct wr_packing *p, void *out,
                    struct wr_unfilter **ret, weir_err *err);
void wr_unfilter_free(struct wr_unfilter *u); /* takes NULL */

/* The next `len` of the stored bytes, which are used up when it returns. 1: all
 * is in `out`, what is left of the stored bytes is not needed; 0: more is;
 * WEIR_EFORMAT: damaged, and where; WEIR_ECHANGED: gzip that ends early. */
int wr_unfilter_feed(struct wr_unfilter *u, const void *bytes, size_t len,
                     weir_err *err);

/* All at once. */
int wr_filters_undo(const struct wr_packing *p, const void *stored, void *out,
                    weir_err *err);

#endif
