/* batch.h - what a pipeline delivers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_BATCH_H
#define WEIR_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "weir/dataset.h"
#include "weir/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One field of a batch. */
typedef struct weir_batch_field {
    const char *name; /* as in weir_dataset_fields */
    enum weir_field_kind kind;
    enum weir_dtype dtype;
    uint32_t ndim;     /* batch dimension included */
    uint64_t shape[8]; /* shape[0] == count; WEIR_DIM_VARIES where samples
                          differ */
    const void *data;  /* 64-byte aligned, samples behind each other */
    size_t bytes;      /* of data */
    /* [count + 1] where samples differ: sample i has the bytes from offsets[i]
     * up to offsets[i + 1]. Otherwise NULL. */
    const uint64_t *offsets;
    const uint64_t *lengths; /* [count] bytes of each sample where they were
                                padded (weir_field_config.pad), else NULL */
    uint64_t reserved[3];    /* 0 */
} weir_batch_field;

/* A batch: its fields, each one array of 64-byte-aligned memory, and ids; data
 * and labels lead to what most programs use. All of it belongs to the pipeline
 * and stays valid until weir_batch_release. */
typedef struct weir_batch {
    /* The first field that is a tensor or pictures; NULL and 0 with
     * WEIR_STAGES_READ and _DECODE, and if there is no such field. */
    const void *data;
    size_t bytes;      /* of data: count * bytes of one sample */
    uint32_t count;    /* samples, <= cfg.batch */
    uint32_t unique;   /* < count when padded (WEIR_REMAINDER_PAD): the
                               first `unique` samples are new in this epoch */
    uint32_t ndim;     /* of data, batch dimension included */
    uint64_t shape[8]; /* shape[0] == count */
    enum weir_dtype dtype;
    const uint32_t *labels;  /* [count] class numbers, or WEIR_NO_LABEL */
    const uint64_t *ids;     /* [count] sample numbers in the data set */
    const uint64_t *lengths; /* [count] encoded bytes of each sample */
    uint64_t epoch;          /* counted from 0 */
    uint64_t index; /* of this batch among those of its rank in the epoch, from
                       0. A resumed run goes on counting, with any number of
                       ranks and any batch size: none comes twice. */
    const weir_batch_field *fields; /* [field_count]; with WEIR_STAGES_READ and
                                       _DECODE only what the index knows */
    uint32_t field_count;
} weir_batch;

#ifdef __cplusplus
}
#endif
#endif
