/* zip.h - ZIP files: where the bytes of members lie; what one is written with.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Only the directory is read, through the storage; members are byte ranges
 * (stored) or units (deflated). PKWARE's APPNOTE.TXT 6.3 says what the bytes
 * mean. */
#ifndef WR_FORMAT_ZIP_H
#define WR_FORMAT_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/writer.h"
#include "storage/storage.h"

#define WR_ZIP_MAX_MEMBERS   65536u
#define WR_ZIP_MAX_DIRECTORY (UINT64_C(16) << 20) /* bytes */

struct wr_zip_member {
    const char *name;          /* borrowed from the zip */
    uint64_t head;             /* where its local header lies */
    uint64_t stored, inflated; /* bytes */
    uint32_t crc;              /* CRC-32 of the inflated ones */
    bool deflated;
};

struct wr_zip {
    struct wr_zip_member *members; /* owned; folders are left out */
    size_t count;
    uint8_t *directory; /* owned: the names lie here */
    uint64_t end;       /* of the members: where the directory begins */
};

/* Reads the directory of an object of `size` bytes. Refused are encrypted
 * members, methods other than stored and deflate, archives over several disks,
 * and what is over the limits. */
int wr_zip_open(struct wr_object *o, uint64_t size, struct wr_zip *ret,
                weir_err *err);
void wr_zip_done(struct wr_zip *z); /* takes what zeroed memory is, too */

/* Where the bytes of `m` begin: `head` are the `len` bytes at m->head, as many
 * of WR_ZIP_HEAD as there are up to z->end. Checks that the local header is one
 * of this member, and that its bytes lie in front of the directory. */
#define WR_ZIP_HEAD (30u + 2 * 65535u)
int wr_zip_data(const struct wr_zip *z, const struct wr_zip_member *m,
                const uint8_t *head, size_t len, uint64_t *ret, weir_err *err);

/* --- what stands around the members of a ZIP file --- */

/* With sizes of 64 bits in every local header, as NumPy writes them: its
 * length is known before the member is. */

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
