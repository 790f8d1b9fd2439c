/* strided.h - an array whose elements lie apart -> one in C order.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_STRIDED_H
#define WR_CODEC_STRIDED_H

#include <stddef.h>
#include <stdint.h>

#define WR_STRIDED_DIMS 8

struct wr_strides {
    uint32_t ndim;                   /* 0: one element */
    uint32_t elem;                   /* bytes of an element */
    uint64_t dims[WR_STRIDED_DIMS];  /* outermost first, none is 0 */
    uint64_t bytes[WR_STRIDED_DIMS]; /* from one index to the next */
};

/* From the first byte of the first element to behind the last one. The caller
 * has checked that it does not overflow. */
uint64_t wr_strides_span(const struct wr_strides *s);

/* Every element of `in`, one after another. */
void wr_strides_gather(const struct wr_strides *s, const void *in, void *out);

#endif
