/* number.h - decimal text to numbers, and numbers to text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Floats are correctly rounded: bit by bit what strtof and strtod make of the
 * same text in the C locale, subnormals and ties included. There is no text
 * behind `end`, and no NUL is needed there. */
#ifndef WR_CODEC_NUMBER_H
#define WR_CODEC_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers in a row with `separator` between them; blanks (' ') around each. */
struct wr_number_list {
    const char *at, *end; /* borrowed */
    char separator;
    bool strict; /* as JSON writes them: no '+', no ".5", "5." or "05" */
};

/* Takes up to `count` numbers and returns how many. `at` then stands behind the
 * separator of the last one; at what else follows it; or at a text that is not
 * such a number, or too large for one. */
size_t wr_number_list_f32(struct wr_number_list *l, float *to, size_t count);
size_t wr_number_list_f64(struct wr_number_list *l, double *to, size_t count);

/* One number at `at`: [+-] digits [. digits] [e [+-] digits], no blanks. Returns
 * where it ends, or NULL: there is none. One that is too large is infinity. */
const char *wr_number_f32(const char *at, const char *end, float *ret);
const char *wr_number_f64(const char *at, const char *end, double *ret);

/* [+-] nan, inf or infinity, whatever their case; NULL: none of them. */
const char *wr_number_word(const char *at, const char *end, double *ret);

/* An integer at `at`: [+-] digits. Returns where it ends, or NULL: there is
 * none, or it is too large (*ret_large). */
const char *wr_number_i64(const char *at, const char *end, int64_t *ret,
                          bool *ret_large);
const char *wr_number_u64(const char *at, const char *end, uint64_t *ret,
                          bool *ret_large);

/* --- numbers to text --- */

#define WR_NUMBER_TEXT 32 /* bytes of the longest text; there is no NUL */

/* The fewest digits that are read as the same number; returns how many bytes.
 * What is not finite is "nan", "inf" or "-inf". */
size_t wr_number_write_f32(float value, char *buf);
size_t wr_number_write_f64(double value, char *buf);
size_t wr_number_write_i64(int64_t value, char *buf);
size_t wr_number_write_u64(uint64_t value, char *buf);

#endif
