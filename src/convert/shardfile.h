/* shardfile.h - the file of one shard: hidden, then complete.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_SHARDFILE_H
#define WR_CONVERT_SHARDFILE_H

#include "convert/kind.h"

/* Few bytes are brought together first, up to so many. */
#define WR_SHARDFILE_AHEAD ((size_t)256 << 10)

/* The names of a shard's hidden file, and of the list of what it lacks. */
void wr_shardfile_hidden(uint64_t shard, char buf[WR_CONVERT_NAME_MAX]);
void wr_shardfile_bad(uint64_t shard, char buf[WR_CONVERT_NAME_MAX]);

/* Creates it, if the kind has files of shards; samples begin at s->end. */
int wr_shardfile_open(const struct wr_convert_plan *p, struct wr_stage *st,
                      struct wr_convert_shard *s, weir_err *err);

/* Notes the bad samples, syncs, and gives it its final name. */
int wr_shardfile_finish(const struct wr_convert_plan *p, struct wr_stage *st,
                        struct wr_convert_shard *s, weir_err *err);

/* Appends bytes; few are written together with others. */
int wr_shardfile_append(struct wr_stage *st, struct wr_convert_shard *s,
                        const void *bytes, size_t len, weir_err *err);
/* Writes s->ahead, if it is more than `most` bytes. */
int wr_shardfile_flush(struct wr_stage *st, struct wr_convert_shard *s,
                       size_t most, weir_err *err);

/* Closes and frees it; the hidden file stays. Takes NULL. */
void wr_shardfile_free(const struct wr_convert_plan *p,
                       struct wr_convert_shard *s);

/* Notes what the shard lacks, before it counts as complete. */
int wr_shardfile_note_bad(struct wr_stage *st, const struct wr_convert_shard *s,
                          weir_err *err);

#endif
