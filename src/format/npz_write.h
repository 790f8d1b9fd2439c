/* npz_write.h - writes a .npz file, array by array.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_NPZ_WRITE_H
#define WR_FORMAT_NPZ_WRITE_H

#include "format/zip_write.h"
#include "storage/storage.h"

struct wr_npz_out;

/* `o` is borrowed, and empty. */
int wr_npz_out_new(struct wr_object *o, bool deflate, struct wr_npz_out **ret,
                   weir_err *err);
void wr_npz_out_free(struct wr_npz_out *w); /* takes NULL */

/* Begins the member `name` ("x.npy"), the one before is complete. */
int wr_npz_out_member(struct wr_npz_out *w, const char *name, weir_err *err);
/* More bytes of it: the .npy header, then the elements. */
int wr_npz_out_put(struct wr_npz_out *w, const void *bytes, size_t len,
                   weir_err *err);
/* Completes the file; *ret_size: its bytes. */
int wr_npz_out_finish(struct wr_npz_out *w, uint64_t *ret_size, weir_err *err);

#endif
