/* dtype.h - names and sizes of element types, and of what they make up.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_DTYPE_H
#define WR_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/checkpoint.h"

/* "F32", as safetensors says it, and "f32", as options do; NULL for a number
 * that is no type. */
const char *wr_dtype_name(enum weir_dtype t);
const char *wr_dtype_text(enum weir_dtype t);
unsigned wr_dtype_bits(enum weir_dtype t); /* 0 for no type */
/* Of one element; 0 for no type and for one that is not whole bytes. */
size_t wr_dtype_bytes(enum weir_dtype t);
/* By the name, and by the text. */
bool wr_dtype_find(const char *name, enum weir_dtype *ret);
bool wr_dtype_parse(const char *text, enum weir_dtype *ret);

/* Bytes of a tensor. Fails when they overflow or are not whole; messages start
 * with the tensor's name: "'w': ...". */
int wr_tensor_bytes(const weir_tensor *t, uint64_t *ret, weir_err *err);

#endif
