/* shards.h - what formats of shards share: scanning them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A format of shards says which files are shards (files.h) and writes one function
 * that walks one shard and calls wr_shard_add for each sample. The rest is here:
 *
 *     wr_files_list(job, &wr_format_mine.files, &l, err);
 *     wr_shards_index(job, &l, &my_scan, err);
 *     wr_listing_done(&l); */
#ifndef WR_FORMAT_SHARDS_H
#define WR_FORMAT_SHARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/format.h"
#include "format/listing.h"
#include "format/shard_reader.h" /* a shard as one stream of bytes */

/* --- scanning --- */

struct wr_shard_out; /* where the results of a scan are gathered */

/* One shard as a scan sees it. */
struct wr_shard {
    struct wr_store *store;         /* borrowed */
    const char *path;               /* borrowed: below the store's root */
    struct wr_stat stat;            /* of the object; size as it is stored */
    struct wr_shard_reader *reader; /* borrowed: stands at the first byte */
    struct wr_shard_out *out;       /* borrowed */
    size_t number;                  /* in the listing */
    void *arg;                      /* borrowed: of the scan */
};

/* How shards are scanned. */
struct wr_shard_scan {
    /* Walks one shard from its first byte. Any thread; many at once. A failure
     * becomes an issue of the shard (the message without its name), and what
     * was added before it stays. */
    int (*fn)(struct wr_shard *s, weir_err *err);
    void *arg;        /* borrowed */
    unsigned columns; /* parts of each sample; 0: one */
    bool lines;       /* the line of a sample is its number in the index */
};

/* One more sample: its parts, one for each column in their order. Offsets count
 * in the stream; the name is copied. WEIR_ECANCELED says to stop: return it. */
int wr_shard_add(struct wr_shard *s, const struct wr_record *parts,
                 weir_err *err);

/* Books memory that a scan holds for the shard beside its samples. Fails when a
 * shard of that size may not take so much. */
int wr_shard_keep(struct wr_shard *s, size_t bytes, weir_err *err);

/* Remembers a problem that does not end the scan (`e` with code and message);
 * of many in one shard the first are kept and the others counted. */
void wr_shard_note(struct wr_shard *s, const char *name, const weir_err *e);

/* The result depends on this other file as well (an index beside the shard);
 * one per shard, the path is copied. */
int wr_shard_depends(struct wr_shard *s, const char *path,
                     const struct wr_stat *st, weir_err *err);

/* Scans all shards of `l` by several threads and fills job->index in the order
 * of `l`: objects, samples, gzip sizes, issues, and the stamps of the
 * shards. Reports progress; threads soon stop when that cancels. Fails
 * when memory is short or the user cancels, and when a shard that was named
 * itself has no sample for an error. */
int wr_shards_index(struct wr_index_job *job, const struct wr_listing *l,
                    const struct wr_shard_scan *scan, weir_err *err);

#endif
