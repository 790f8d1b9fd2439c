/* model.h - what a pipeline has to deliver, worked out the slow way.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PIPELINE_MODEL_H
#define TEST_PIPELINE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "fixture.h"

struct model {
    const weir_pipeline_config *cfg; /* borrowed */
    uint64_t n, epoch;
    const bool *bad; /* borrowed: by sample */

    struct fx_log out; /* hash stays 0 */
    uint64_t *named;   /* owned: bad samples in the order they are reported */
    size_t named_count;
    bool fails; /* nothing could be delivered */
};

/* Plays one epoch of cfg->rank. */
void model_play(struct model *m);
void model_done(struct model *m);

#endif
