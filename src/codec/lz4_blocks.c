/* lz4_blocks.c - chunks of HDF5 that are packed as blocks of LZ4.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both filters write, in big-endian order, 8 bytes that say how many there are
 * unpacked, 4 how many of them a block has, then the blocks: 4 bytes that say how
 * many are stored, and those. */
#include "codec/lz4_blocks.h"

#include <limits.h>
#include <lz4.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/be.h"
#include "base/mem.h"
#include "codec/unshuffle.h"

#define HEAD 12u

struct lz4_walk {
    const uint8_t *in;
    size_t len, at;
};

/* The block's bytes; 0: `len` does not say `want`. */
static size_t take_head(struct lz4_walk *w, size_t want)
{
    if (w->len < HEAD || wr_be64(w->in) != want)
        return 0;
    w->at = HEAD;
    return wr_be32(w->in + 8);
}

/* The next block, which makes `n` bytes; with `plain` one that is stored in as
 * many is not packed. */
static bool take_block(struct lz4_walk *w, uint8_t *out, size_t n, bool plain)
{
    size_t stored;

    if (w->len - w->at < 4 || n > INT_MAX)
        return false;
    stored = wr_be32(w->in + w->at);
    w->at += 4;
    if (stored > w->len - w->at || stored > INT_MAX)
        return false;
    if (plain && stored == n)
        memcpy(out, w->in + w->at, n);
    else if (LZ4_decompress_safe((const char *)w->in + w->at, (char *)out,
                                 (int)stored, (int)n) != (int)n)
        return false;
    w->at += stored;
    return true;
}

bool wr_lz4_undo(const void *in, size_t len, void *out, size_t want,
                 size_t *ret_at)
{
    struct lz4_walk w = {.in = in, .len = len};
    size_t block = take_head(&w, want);
    bool good = block > 0;

    for (size_t done = 0, n; good && done < want; done += n) {
        n = WR_MIN(block, want - done);
        *ret_at = w.at;
        good = take_block(&w, (uint8_t *)out + done, n, /* plain= */ true);
    }
    return good;
}

/* Elements behind the last 8 are stored as they are. */
bool wr_bitshuffle_lz4_undo(const void *in, size_t len, void *out, size_t want,
                            size_t size, size_t *ret_at)
{
    struct lz4_walk w = {.in = in, .len = len};
    size_t block = take_head(&w, want) / size / 8 * 8;
    size_t left = want / size / 8 * 8, done = 0, n;
    uint8_t *bits = block && block <= INT_MAX / size
                        ? malloc(WR_MIN(block, left) * size + 1)
                        : NULL;
    bool good = bits != NULL;

    for (; good && left; left -= n, done += n * size) {
        n = WR_MIN(block, left);
        *ret_at = w.at;
        good = take_block(&w, bits, n * size, /* plain= */ false);
        if (good)
            wr_bitunshuffle(bits, (uint8_t *)out + done, n, size);
    }
    free(bits);
    if (!good || w.len - w.at < want - done)
        return false;
    memcpy((uint8_t *)out + done, w.in + w.at, want - done);
    return true;
}
