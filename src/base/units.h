/* units.h - sizes, counts and durations, from text and to text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_UNITS_H
#define WR_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* The one rule for units: "K" and "KB" are powers of 1000, "KiB" is a power of
 * 1024; so are M, G and T. "" and "B" are bytes; "/s" may follow in a rate. 0: the
 * text is something else. */
double wr_unit_factor(const char *unit, bool is_rate);

/* "4096", "64K", "1.5GB", "2GiB"; in a rate also "2GB/s". The whole text must be
 * used up. */
int wr_parse_size(const char *text, uint64_t *ret_bytes, weir_err *err);
int wr_parse_rate(const char *text, uint64_t *ret_bytes_per_s, weir_err *err);

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
 * "112 KB" (powers of 1000), "1.12 GB" (the same, three digits), "1.5 MiB"
 * (powers of 1024), "1,234,567", "1.53 ms". */
char *wr_format_bytes(char *buf, size_t cap, double bytes);
char *wr_format_three(char *buf, size_t cap, double bytes);
char *wr_format_binary(char *buf, size_t cap, double bytes);
char *wr_format_count(char *buf, size_t cap, uint64_t count);
char *wr_format_ns(char *buf, size_t cap, double ns);

#endif
