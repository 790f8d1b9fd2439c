/* models.h - networks whose demands are known, and from where.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_MODELS_H
#define WR_PLAN_MODELS_H

#include "plan/from.h"

#define WR_PLAN_MODEL_STEPS 6

/* One step of one accelerator. */
struct wr_plan_model_step {
    const char *accelerator; /* NULL past the end */
    uint32_t batch;
    double seconds;
    const char *source;
};

struct wr_plan_model {
    const char *name, *title;
    uint64_t samples;    /* of the data set that it is trained on */
    double sample_bytes; /* mean, as stored */
    double sample_cv;    /* deviation over mean */
    uint64_t per_object; /* samples of a file */
    double tensor_bytes; /* of a sample in the batch, bytes of one channel */
    double cpu_s;        /* of a core per sample; 0: not known */
    const char *cpu_source;
    double state_bytes; /* of a checkpoint; 0: not known */
    const char *state_source;
    const char *source; /* of samples and bytes */
    struct wr_plan_model_step steps[WR_PLAN_MODEL_STEPS + 1];
};

/* The table: NULL past the end. */
const struct wr_plan_model *wr_plan_model_at(size_t k);
const struct wr_plan_model *wr_plan_model_find(const char *name, weir_err *err);

/* What the table says of the data and the state. */
int wr_plan_from_model(struct wr_plan_draft *d, const struct wr_plan_model *m,
                       weir_err *err);

/* The time of a step: of the model if there is one (NULL: none) and it has this
 * accelerator, else of the table of accelerators; "ms=40" for any. Messages list
 * the names. */
int wr_plan_from_accelerator(struct wr_plan_draft *d, const char *name,
                             const struct wr_plan_model *m, weir_err *err);

#endif
