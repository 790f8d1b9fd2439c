/* memory.h - whether the machine has the memory that computing takes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_MEMORY_H
#define WR_TRAIN_MEMORY_H

#include <stdint.h>

#include "train/net.h"
#include "weir/error.h"

/* Bytes that every engine needs at least for a batch, besides the weights:
 * their gradients, and what each layer gives. */
uint64_t wr_memory_needed(const struct wr_net *net, uint32_t batch);

/* Fails with WEIR_ENOMEM if that is more than is free here. Big buffers are
 * taken without asking (the kernel gives pages as they are touched), so that
 * a run which cannot fit would be killed in mid-step, without a word. */
int wr_memory_check(const struct wr_net *net, uint32_t batch, weir_err *err);

#endif
