/* split.h - the training part and the held-out part of a data set.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which samples are held out is a function of the fraction, a seed and the
 * sample's number alone: the same for every process and order, and without a
 * list. They are evenly spread, one of every 1 / holdout samples: a sample
 * stays in its part when samples are appended, and classes that lie together
 * give equal shares. */
#ifndef WEIR_SPLIT_H
#define WEIR_SPLIT_H

#include <stdint.h>

#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which samples of a data set. */
enum weir_part {
    WEIR_PART_ALL = 0,
    WEIR_PART_TRAIN,
    WEIR_PART_HELD_OUT, /* the others: for validation */
};

/* Which part sample number `sample` of a data set belongs to, for these values
 * of weir_pipeline_config: WEIR_PART_TRAIN or WEIR_PART_HELD_OUT, or
 * WEIR_PART_ALL if `holdout` is not above 0 and at most 0.5. */
WEIR_API enum weir_part weir_split_part(float holdout, uint64_t split_seed,
                                        uint64_t sample);

#ifdef __cplusplus
}
#endif
#endif
