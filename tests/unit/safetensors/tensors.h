/* tensors.h - tensors of random bytes for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CHECKPOINT_TENSORS_H
#define TEST_CHECKPOINT_TENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/ckpt_manage.h"

#define TENSORS_MAX 32

struct tensors {
    weir_tensor t[TENSORS_MAX];
    char names[TENSORS_MAX][16];
    size_t count;
    bool in_pages; /* each starts at a page */
};

/* Random bytes, the same for a seed. */
void fill_random(void *to, size_t len, uint64_t seed);

/* Adds a tensor of so many bytes of a type (bytes must be whole elements). */
void tensors_add(struct tensors *ts, enum weir_dtype type, unsigned width,
                 uint64_t bytes);
void tensors_done(struct tensors *ts);

/* Several, of all widths, `bytes` in all. */
void tensors_split(struct tensors *ts, uint64_t bytes, uint64_t seed);

#endif
