/* shardfile.h - the file of one shard: hidden, then complete.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_SHARDFILE_H
#define WR_CONVERT_SHARDFILE_H

#include "convert/kind.h"

/* The names of a shard's hidden file, and of the list of what it lacks. */
void wr_shardfile_hidden(uint64_t shard, char buf[WR_CONVERT_NAME_MAX]);
void wr_shardfile_bad(uint64_t shard, char buf[WR_CONVERT_NAME_MAX]);

/* Opens it; samples begin at s->end. */
int wr_shardfile_open(const struct wr_convert_plan *p, struct wr_stage *st,
                      struct wr_convert_shard *s, weir_err *err);

/* Notes the bad samples, syncs, and gives it its final name. */
int wr_shardfile_finish(const struct wr_convert_plan *p, struct wr_stage *st,
                        struct wr_convert_shard *s, weir_err *err);

/* Closes and frees what it holds; the hidden file stays. */
void wr_shardfile_done(struct wr_convert_shard *s);

/* Notes what the shard lacks, before it counts as complete. */
int wr_shardfile_note_bad(struct wr_stage *st, const struct wr_convert_shard *s,
                          weir_err *err);

#endif
