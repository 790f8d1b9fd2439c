/* patches.h - the windows of a convolution as rows of a matrix.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Row r belongs to output pixel r of the batch (picture, row, column); its
 * columns are the kernel's rows, columns and channels, with zeros outside the
 * picture. The whole matrix would be many times larger than the pictures:
 * blocks of it are made where they are used. */
#ifndef WR_TRAIN_PATCHES_H
#define WR_TRAIN_PATCHES_H

#include <stddef.h>
#include <stdint.h>

struct wr_patches {
    const float *x; /* [picture][in_h][in_w][channels] */
    uint32_t in_h, in_w, channels;
    uint32_t kernel, stride, pad;
    uint32_t out_h, out_w;
};

struct wr_patch_block {
    size_t row, rows, col, cols;
    float *dst; /* [rows][dst_row] */
    size_t dst_row;
};

void wr_patches_copy(const struct wr_patches *p,
                     const struct wr_patch_block *block);

#endif
