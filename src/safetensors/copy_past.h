/* copy_past.h - copies that leave the caches alone.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_SAFETENSORS_COPY_PAST_H
#define WR_SAFETENSORS_COPY_PAST_H

#include <stddef.h>

/* Copies past the caches, for what is not read again soon: `to` is not fetched
 * before it is overwritten. */
void wr_copy_past(void *to, const void *from, size_t len);

#endif
