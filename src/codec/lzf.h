/* lzf.h - LibLZF's format, as h5py packs chunks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_LZF_H
#define WR_CODEC_LZF_H

#include <stdbool.h>
#include <stddef.h>

/* Undoes `len` bytes into exactly `want`; false: they are no such stream, at
 * *ret_at. */
bool wr_lzf_undo(const void *in, size_t len, void *out, size_t want,
                 size_t *ret_at);

#endif
