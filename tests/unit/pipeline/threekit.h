/* threekit.h - samples of three fields: image, mask and weight (and a label).
 * SPDX-License-Identifier: Apache-2.0
 *
 * Images and masks are pictures that lie in columns of their own: a file each,
 * or in shards, or in gzip shards. The index is made by hand, so that no format
 * stands between. */
#ifndef TEST_PIPELINE_THREEKIT_H
#define TEST_PIPELINE_THREEKIT_H

#include <stdbool.h>
#include <stdint.h>

#include "../format/tmpdir.h"
#include "weir/weir.h"

#define TK_N     45u
#define TK_SHARD 15u

enum tk_kind { TK_FILES, TK_SHARDS, TK_GZIPPED, TK_KINDS };
enum tk_column { TK_IMAGE, TK_MASK, TK_COLUMNS };

struct tk {
    struct tmpdir tmp;
    enum tk_kind kind;
    bool twins;          /* the mask is the image again */
    uint64_t hash[TK_N]; /* of all fields of a sample, see tk_learn */
    uint64_t sizes[TK_COLUMNS][TK_N];
};

void tk_make(struct tk *tk, enum tk_kind kind, bool twins);
void tk_done(struct tk *tk);

/* Opens it; `prefix` ("" or "fault:...:") stands in front of the path. */
weir_dataset *tk_open(const struct tk *tk, const char *prefix);

/* Files only: zeros instead of the picture, of the same length; and back. */
void tk_spoil(const struct tk *tk, enum tk_column column, uint32_t i);
void tk_mend(const struct tk *tk, enum tk_column column, uint32_t i);

/* Batch 4, 2 threads, depth 4, pictures of 8x8 u8. */
void tk_config(weir_pipeline_config *cfg);

/* Sets tk->hash by reading the samples one after another. */
void tk_learn(struct tk *tk);

/* All fields of sample `slot` of a batch but the label, in their order. */
uint64_t tk_hash(const weir_batch *b, uint32_t slot);

/* The field called so; fails if the batch has none. */
const weir_batch_field *tk_field(const weir_batch *b, const char *name);

uint32_t tk_label(uint64_t id);
float tk_weight(uint64_t id);

#endif
