/* cast.h - elements of one type -> another; bytes in the other order.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Values that the wanted type can hold become what NumPy's astype makes of
 * them: floats are rounded to the nearest, ties to even (once, whatever the
 * types: f64 -> f16 is not rounded to f32 on the way), and cut off behind the
 * point for integers. What it cannot hold is defined here, where C and NumPy
 * leave it to the processor: integers stop at the ends of their range, NaN
 * becomes 0, floats become infinite; bool is "not 0", NaN included. */
#ifndef WR_CODEC_CAST_H
#define WR_CODEC_CAST_H

#include <stdbool.h>
#include <stddef.h>

#include "weir/dtype.h"

/* Between f64, f32, f16, bf16, bool and the integers, and from every type of
 * whole bytes to itself. */
bool wr_cast_can(enum weir_dtype from, enum weir_dtype to);

/* `n` elements; neither array need be aligned. wr_cast_can() said yes. */
void wr_cast(enum weir_dtype from, enum weir_dtype to, const void *in, size_t n,
             void *out);

/* The same by one general path: what tests hold wr_cast against. */
void wr_cast_plain(enum weir_dtype from, enum weir_dtype to, const void *in,
                   size_t n, void *out);

/* Bytes that change places among each other: of an element, or of one half of
 * a complex one; 1: the order does not matter. */
size_t wr_swap_width(enum weir_dtype t);

/* `bytes` of elements of `width` (1, 2, 4, 8) with their bytes turned round;
 * `in` may be `out`. */
void wr_swap(const void *in, size_t bytes, size_t width, void *out);

#endif
