/* reading.h - what one rank reads of one copy of a step.
 * SPDX-License-Identifier: Apache-2.0
 *
 * With as many ranks as there were when it was saved, a rank has to do with its
 * own file only; else tensors are looked for in all of them, from rank 0 on. */
#ifndef WR_CHECKPOINT_READING_H
#define WR_CHECKPOINT_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "safetensors/shard.h"
#include "tier/manifest.h"
#include "tier/tier.h"
#include "weir/checkpoint.h"

struct wr_reading_want; /* reading.c */

struct wr_reading {
    struct wr_tier *tier;          /* borrowed */
    const struct wr_manifest *m;   /* borrowed */
    uint32_t first, count;         /* files that this rank has to do with */
    struct wr_st_head *heads;      /* owned: `count` */
    struct wr_reading_want *wants; /* owned; by file and offset */
    size_t want_count;
    uint64_t bytes;     /* that have to be read */
    uint64_t differing; /* wanted ones of which ranks have different copies, as
                           far as checksums tell */
};

/* Reads and checks the heads. `rank` of `world` is who reads. *p is filled
 * also on failure, for wr_reading_done. */
int wr_reading_open(struct wr_reading *p, struct wr_tier *t,
                    const struct wr_manifest *m, const weir_ckpt_config *reader,
                    weir_err *err);

/* Finds what is wanted; of what several ranks have alike, the lowest rank's. A
 * tensor that is not there (WEIR_ENOENT), has another type or shape, or in
 * several files different ones (WEIR_EINVAL), is the caller's error, not
 * damage. */
int wr_reading_match(struct wr_reading *p, const weir_tensor *into,
                     size_t count, weir_err *err);
/* Reads what was found. Nothing wanted: nothing is read. */
int wr_reading_read(const struct wr_reading *p,
                    const struct wr_byte_meter *meter, weir_err *err);
void wr_reading_done(struct wr_reading *p);

/* Takes the manifest and the heads of the part, and leaves both empty, also on
 * failure. `passed`: texts one behind the other, each with its NUL. */
int wr_found_new(struct wr_manifest *m, struct wr_reading *p,
                 const char *passed, size_t passed_len, weir_ckpt_found **ret);

#endif
