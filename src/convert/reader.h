/* reader.h - the samples of a chunk, read ahead of the work on them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A reader belongs to one thread and has one queue. A load is the samples of
 * one chunk: ranges that follow each other are read as one. Two loads may be
 * open, so that the next chunk is read while this one is worked on. */
#ifndef WR_CONVERT_READER_H
#define WR_CONVERT_READER_H

#include "convert/inflated.h"
#include "convert/plan.h"
#include "pipeline/objects.h"

#define WR_CONVERT_DEPTH 32u /* reads in flight of one thread */

/* One sample of a load. */
struct wr_load_item {
    uint64_t id;
    struct wr_part place;
    uint32_t extent;  /* that it is read with */
    const char *path; /* borrowed from the load */
};

struct wr_load;
struct wr_reader;

struct wr_reader_config {
    const struct wr_convert_plan *plan; /* borrowed */
    struct wr_objects *objects;         /* borrowed: shared by all */
    struct wr_inflated *inflated;       /* borrowed: shared by all */
};

int wr_reader_open(struct wr_reader **ret, const struct wr_reader_config *cfg,
                   weir_err *err);
/* What is in flight comes as soon as it can; any thread. */
void wr_reader_hurry(struct wr_reader *rd);
/* Waits for what is in flight. Takes NULL. */
void wr_reader_close(struct wr_reader *rd);

/* Starts to read `count` samples from position `first` on; at most two loads
 * are open at a time. The load is the reader's; it is ended in any case. */
int wr_load_begin(struct wr_reader *rd, uint64_t first, uint32_t count,
                  struct wr_load **ret, weir_err *err);
void wr_load_end(struct wr_load *l);

/* What its samples are unpacked into, one at a time. */
struct wr_unpack *wr_load_unpack(struct wr_load *l);
/* Sample k of the load, whether it can be read or not. */
const struct wr_load_item *wr_load_item(const struct wr_load *l, uint32_t k);

/* Waits for sample k; its bytes are lent until the load ends. A failure is
 * named with the file. */
int wr_load_bytes(struct wr_load *l, uint32_t k, const uint8_t **ret,
                  weir_err *err);

#endif
