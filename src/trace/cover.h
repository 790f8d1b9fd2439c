/* cover.h - time that is covered by intervals which overlap.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Intervals come nearly in order of their ends. The last few stretches are kept
 * apart; what begins before the oldest of them is counted from there. */
#ifndef WR_TRACE_COVER_H
#define WR_TRACE_COVER_H

#include <stdint.h>

#define WR_COVER_DEPTH 32

struct wr_covered {
    uint64_t from, to;
};

struct wr_cover {
    struct wr_covered last[WR_COVER_DEPTH]; /* in order, apart */
    unsigned count;
    uint64_t floor, total;
};

void wr_cover_add(struct wr_cover *c, uint64_t from, uint64_t to);

#endif
