/* tarmember.h - the members of a tar archive, one after the other.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     while ((r = wr_tar_next(w, &m, err)) > 0) {
 *         ... wr_tar_read(w, buf, len, err) what is wanted of its data ...
 *         r = wr_tar_finish(w, err);   all of its data are there
 *     } */
#ifndef WR_FORMAT_TARMEMBER_H
#define WR_FORMAT_TARMEMBER_H

#include "format/shards.h"
#include "format/tarhead.h"

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

/* What stands behind the first dot of a name's basename; NULL: the member is no
 * sample's (README, .hidden). What is in front of the dot is its key. */
const char *wr_tar_ending(const char *name);

#endif
