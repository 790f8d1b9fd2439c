/* units.h - sizes, counts and durations, from text and to text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_UNITS_H
#define WR_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* "4096", "64K", "1.5G", "10M", "2GiB": K, M, G, T are powers of 1024 (an
 * "iB" or "B" may follow). The whole text must be used up. */
int wr_parse_size(const char *text, uint64_t *ret_bytes, weir_err *err);

/* A plain unsigned decimal in [min, max]. */
int wr_parse_uint(const char *text, uint64_t min, uint64_t max, uint64_t *ret,
                  weir_err *err);

/* A finite decimal number in [min, max]. */
int wr_parse_double(const char *text, double min, double max, double *ret,
                    weir_err *err);

/* Takes the decimal digits at *at, none at or behind `end` (NULL: to the first
 * character that is none). False: there are none, or the number has over 64
 * bits; *at stays then. */
bool wr_take_digits(const char **at, const char *end, uint64_t *ret);

/* Text into `buf` (32 bytes are enough), which is returned:
 * "112.4 KB" (powers of 1000), "1,234,567", "1.53 ms". */
char *wr_format_bytes(char *buf, size_t cap, double bytes);
char *wr_format_count(char *buf, size_t cap, uint64_t count);
char *wr_format_ns(char *buf, size_t cap, double ns);

#endif
