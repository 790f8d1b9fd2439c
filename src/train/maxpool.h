/* maxpool.h - the maximum of each window, and who it was.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_MAXPOOL_H
#define WR_TRAIN_MAXPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "train/compute.h"
#include "train/net.h"

/* `choice` gets the place in the window of every y: of equal ones the first. */
void wr_maxpool_forward(const struct wr_compute *c, const struct wr_layer *l,
                        const float *x, float *y, uint8_t *choice);

/* dx: all of dy goes to the places that were chosen, 0 to the others. */
void wr_maxpool_backward(const struct wr_compute *c, const struct wr_layer *l,
                         const float *dy, const uint8_t *choice, float *dx);

#endif
