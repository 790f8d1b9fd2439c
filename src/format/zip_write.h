/* zip_write.h - what stands around the members of a ZIP file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * With sizes of 64 bits in every local header, as NumPy writes them: its length
 * is known before the member is. */
#ifndef WR_FORMAT_ZIP_WRITE_H
#define WR_FORMAT_ZIP_WRITE_H

#include "format/writer.h"
#include "format/zip.h"

/* Bytes of the local header of a member called so. */
size_t wr_zip_local_len(const char *name);

/* Appends the local header of `m`; its bytes come next. */
int wr_zip_put_local(struct wr_bytes *to, const struct wr_zip_member *m,
                     weir_err *err);

/* Appends the directory of all members, which stands at byte `at` of the
 * file, and the end of it. */
int wr_zip_put_directory(struct wr_bytes *to, const struct wr_zip_member *m,
                         size_t count, uint64_t at, weir_err *err);

#endif
