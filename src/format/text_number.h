/* text_number.h - numbers of a text as elements of a tensor.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A number that its type cannot hold is refused: 1e309 is not infinity, 300 is
 * not a u8. Infinity and NaN are what says so: "inf", "nan". */
#ifndef WR_FORMAT_TEXT_NUMBER_H
#define WR_FORMAT_TEXT_NUMBER_H

#include "codec/number.h"
#include "weir/dtype.h"
#include "weir/error.h"

/* f32, f64 and integers. */
bool wr_text_holds(enum weir_dtype t);

/* As wr_number_list_f32, for any of these types. */
size_t wr_text_numbers(struct wr_number_list *l, enum weir_dtype t, void *to,
                       size_t count);

/* All of the text as one number, or a word for none: NULL, or (static) why
 * not. */
const char *wr_text_number(const char *at, size_t len, enum weir_dtype t,
                           void *to);

/* NaN; false: there is none of this type. */
bool wr_text_nan(enum weir_dtype t, void *to);

/* The type that `schema` (NULL: none) declares for field `name`, else
 * `usual`. */
int wr_text_declared(const char *schema, const char *name,
                     enum weir_dtype usual, enum weir_dtype *ret,
                     weir_err *err);

#endif
