/* fieldkit.h - a data set whose samples have five fields, made by hand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * x (4x4x3 u8), mask (4x4 u8), text (bytes, of different lengths), weight (f32)
 * and label. x, mask and text lie in columns of their own. */
#ifndef TEST_PIPELINE_FIELDKIT_H
#define TEST_PIPELINE_FIELDKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/weir.h"

#define FK_X    48u
#define FK_MASK 16u

enum fk_column { FK_COLUMN_X, FK_COLUMN_MASK, FK_COLUMN_TEXT, FK_COLUMNS };

struct fk {
    char dir[256];
    uint32_t n;
    bool whole; /* each part is a file; else each column is one */
};

void fk_make(struct fk *fk, uint32_t n, bool whole);
void fk_done(struct fk *fk);

/* Opens it; `prefix` ("" or "fault:...:") stands in front of the path. */
weir_dataset *fk_open(const struct fk *fk, const char *prefix);

/* Batch 4, 2 threads, depth 4, all fields. */
void fk_config(weir_pipeline_config *cfg);

/* Removes the file of a part, or makes it longer (whole only). */
void fk_remove(const struct fk *fk, enum fk_column column, uint32_t i);
void fk_grow(const struct fk *fk, enum fk_column column, uint32_t i);

size_t fk_text_len(uint64_t id);

/* Fails unless each field of `b` is what its ids say. */
void fk_check(const weir_batch *b);
/* The field called so; NULL: the batch has none. */
const weir_batch_field *fk_field(const weir_batch *b, const char *name);

#endif
