/* sized.h - public structs of programs that were built with another header.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Such a struct grows at its end only. What is given in begins with its size, or
 * comes with it; what is filled comes with it. */
#ifndef WR_BASE_SIZED_H
#define WR_BASE_SIZED_H

#include <stddef.h>

#include "weir/error.h"

/* Copies `given` over `own`, of own_size bytes with the defaults in it, as far
 * as both know the members. Fails when `given` has no size (`fill` names the
 * function that sets it), or sets members that this library does not know. */
int wr_sized_take(void *own, size_t own_size, const void *given,
                  const char *fill, weir_err *err);

/* The same where the size of `given` comes beside it; `own` is zeroed behind. */
int wr_sized_copy(void *own, size_t own_size, const void *given, size_t size,
                  weir_err *err);

/* Fills `ret`, of `size` bytes, from `own`; zeros behind. */
void wr_sized_give(void *ret, size_t size, const void *own, size_t own_size);

#endif
