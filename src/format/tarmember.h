/* tarmember.h - the members of a tar archive, one after the other.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     while ((r = wr_tar_next(w, &m, err)) > 0) {
 *         ... wr_tar_read(w, buf, len, err) what is wanted of its data ...
 *         r = wr_tar_finish(w, err);   all of its data are there
 *     } */
#ifndef WR_FORMAT_TARMEMBER_H
#define WR_FORMAT_TARMEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/shards.h"
#include "weir/error.h"

/* A file in the archive; folders, links and devices are passed over. */
struct wr_tar_member {
    const char *name;     /* borrowed until the next call; no "./" in front */
    uint64_t offset;      /* where its data start in the stream */
    uint64_t size;        /* of its data */
    const weir_err *flaw; /* borrowed until the next call; NULL: none. Else
                             why the member is of no use, with its place; its
                             name is not to be trusted */
};

struct wr_tar_walk;

/* `in` and `stored_size` (of a plain archive; 0: not known) are the shard's. */
int wr_tar_walk_new(struct wr_tar_walk **ret, struct wr_shard_reader *in,
                    uint64_t stored_size, weir_err *err);
void wr_tar_walk_free(struct wr_tar_walk *w); /* takes NULL */

/* The next file: 1, or 0 at the archive's end. A failure means that nothing
 * behind it can be found; the message gives the offset, not the archive. */
int wr_tar_next(struct wr_tar_walk *w, struct wr_tar_member *ret,
                weir_err *err);

/* Reads `len` bytes (not more than are left) of the member's data. */
int wr_tar_read(struct wr_tar_walk *w, void *buf, size_t len, weir_err *err);

/* Passes over the rest of the member's data. */
int wr_tar_finish(struct wr_tar_walk *w, weir_err *err);

struct wr_bytes;

#define WR_TAR_BLOCK    512u
#define WR_TAR_MAX_NAME 4096u /* bytes of a name */
#define WR_TAR_MAX_PAX  (1u << 20)

/* --- headers of tar archives: V7, ustar, GNU and pax --- */

/* Memory to values and back: no reading here, and nothing is ever extracted.
 * POSIX.1-2017 (pax), GNU tar's manual ("Tar Internals"). */

/* What a header stands in front of. */
enum wr_tar_kind {
    WR_TAR_END,       /* a block of zeros: no header, the archive's end */
    WR_TAR_FILE,      /* a member with data */
    WR_TAR_EMPTY,     /* a folder, link, device: nothing follows */
    WR_TAR_OTHER,     /* unknown, with data */
    WR_TAR_SPARSE,    /* GNU: data with holes */
    WR_TAR_LONG_NAME, /* GNU: the data are the next member's name */
    WR_TAR_LONG_LINK, /* GNU: the same for the target of a link */
    WR_TAR_PAX,       /* the data are records on the next member */
    WR_TAR_PAX_ALL,   /* the same on all members from here on */
};

struct wr_tar_head {
    enum wr_tar_kind kind;
    bool more;      /* sparse: blocks of holes follow (wr_tar_sparse_more) */
    uint64_t size;  /* bytes of data behind the header */
    char name[257]; /* prefix and name */
};

/* What headers in front of a member's own say of it. Zeroed: nothing. */
struct wr_tar_extra {
    bool has_path, has_size;
    bool sparse; /* GNU.sparse.*: the data are not the file's bytes */
    uint64_t size;
    char path[WR_TAR_MAX_NAME + 1];
};

/* Does the block of WR_TAR_BLOCK bytes have a header's checksum? */
bool wr_tar_is_head(const uint8_t *block);

/* Reads a block of WR_TAR_BLOCK bytes. On failure the message says what is
 * wrong, the caller names the place. */
int wr_tar_head_parse(const uint8_t *block, struct wr_tar_head *ret,
                      weir_err *err);

/* Does another block of holes follow this one? */
bool wr_tar_sparse_more(const uint8_t *block);

/* Reads the data of a pax header ("30 path=a/b.jpg\n"...) into *io; an empty
 * value takes back what was said before. On failure *io has what stood in
 * front of the bad record. */
int wr_tar_pax_parse(const char *bytes, size_t len, struct wr_tar_extra *io,
                     weir_err *err);

/* Is the name fit to be a key: relative, without ".." parts, not empty? */
int wr_tar_name_check(const char *name, weir_err *err);

/* Appends the header of a file: ustar, with a pax header in front when the
 * name or the size does not fit. Owner, time and the rest are the same for
 * all. On failure `to` is as it was. */
int wr_tar_put_head(struct wr_bytes *to, const char *name, uint64_t size,
                    weir_err *err);

#endif
