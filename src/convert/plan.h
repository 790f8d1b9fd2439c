/* plan.h - which sample goes into which shard: known before the work.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_PLAN_H
#define WR_CONVERT_PLAN_H

#include "base/perm.h"
#include "convert/classes.h"
#include "convert/convert.h"
#include "convert/names.h"
#include "dataset/sink_file.h"
#include "format/format.h"
#include "pipeline/split.h"

/* The tree of pictures has no shards; this much of it is one piece of work. */
#define WR_CONVERT_RANGE_BYTES (UINT64_C(64) << 20)

struct wr_convert_kind;

struct wr_convert_plan {
    const struct wr_convert_config *cfg; /* borrowed */
    const weir_dataset *ds;              /* borrowed */
    const struct wr_convert_kind *kind;  /* borrowed, static */
    struct wr_split split;               /* the part that is converted */
    struct wr_perm perm;
    uint64_t count, bytes; /* samples, and bytes of them */
    uint64_t *first;       /* owned: [shards + 1] positions */
    uint64_t shards;
    weir_pipeline_config feed; /* how they are read */
    struct wr_file_form form;  /* of shards' files */
    weir_field *fields; /* owned: as they are delivered; of kinds with fields */
    uint32_t field_count;
    weir_field_config *own;       /* owned: of `feed` */
    struct wr_tensor_shape shape; /* tensors; bytes: also of all fields */
    struct wr_gen_shape tensor;   /* the same, for heads of files */
    bool labels;                  /* some sample may have one */
    struct wr_classes classes;
    char *name; /* owned: of the shards' files */
    char *job;  /* owned: all that decides on the result */
    struct wr_convert_names names;
};

/* Everything but the names that need a look at the samples. */
int wr_convert_plan_init(struct wr_convert_plan *p,
                         const struct wr_convert_config *cfg, weir_err *err);
void wr_convert_plan_done(struct wr_convert_plan *p);

/* The sample at a position. */
uint64_t wr_convert_plan_sample(const struct wr_convert_plan *p, uint64_t pos);

/* The name under which a shard counts as complete, into buf. */
#define WR_CONVERT_NAME_MAX WR_SINK_PATH_MAX
void wr_convert_plan_shard_name(const struct wr_convert_plan *p, uint64_t shard,
                                char buf[WR_CONVERT_NAME_MAX]);

#endif
