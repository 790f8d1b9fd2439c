/* ckpt_state.h - a training state to save: tensors of given shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_CKPT_STATE_H
#define WR_MEASURE_CKPT_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "weir/checkpoint.h"

/* A network whose shapes are known here; a list ends with a NULL name. */
struct wr_ckpt_model {
    const char *name;
    const char *help;
    const struct wr_ckpt_shape *shapes; /* ends with a NULL name */
};

struct wr_ckpt_shape {
    const char *name;
    uint64_t dims[4]; /* 0 ends them */
};

extern const struct wr_ckpt_model wr_ckpt_models[];

struct wr_ckpt_load {
    weir_tensor *tensors; /* owned, names too */
    size_t count;
    uint64_t bytes;
    uint8_t *memory; /* owned: all their data */
};

/* `like` is the name of a model, a safetensors file, or a text file with lines
 * "NAME DTYPE SHAPE" ("fc1.weight F32 4096x9216", "step I64 scalar"). Each
 * tensor is there 1 + `moments` times, as an optimizer has it; without data. */
int wr_ckpt_load_shapes(const char *like, unsigned moments,
                        struct wr_ckpt_load *ret, weir_err *err);

/* Gives the tensors memory and random data, which takes a while. */
int wr_ckpt_load_fill(struct wr_ckpt_load *l, weir_err *err);

/* Parses the lines of such a text file. Messages say "'NAME': line 3: ...". */
int wr_ckpt_load_parse(const char *text, size_t len, const char *name,
                       struct wr_ckpt_load *ret, weir_err *err);
void wr_ckpt_load_done(struct wr_ckpt_load *l);

/* Changes a little in every tensor, as a step of training would. */
void wr_ckpt_load_step(struct wr_ckpt_load *l, uint64_t step);

#endif
