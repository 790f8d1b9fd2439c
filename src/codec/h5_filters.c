/* h5_filters.c - how HDF5 packs chunks: shuffles, checksums, LZ4, LZF.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/h5_filters.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/be.h"
#include "base/le.h"
#include "base/mem.h"

/* Always inlined: with a size that is known, the loop is a few shuffles. */
static inline __attribute__((always_inline)) void
unshuffle(const uint8_t *restrict in, uint8_t *restrict out, size_t n,
          size_t size)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < size; k++)
            out[i * size + k] = in[k * n + i];
}

void wr_unshuffle(const void *in, void *out, size_t len, size_t size)
{
    size_t n = len / size;

    switch (size) {
    case 2:
        unshuffle(in, out, n, 2);
        break;
    case 4:
        unshuffle(in, out, n, 4);
        break;
    case 8:
        unshuffle(in, out, n, 8);
        break;
    default:
        unshuffle(in, out, n, size);
        break;
    }
    memcpy((uint8_t *)out + n * size, (const uint8_t *)in + n * size,
           len - n * size);
}

static uint32_t fold(uint32_t sum)
{
    return (sum & 0xffff) + (sum >> 16);
}

/* Sums of 16-bit words, the high byte first; 360 words do not overflow 32
 * bits. */
static uint32_t fletcher32(const uint8_t *p, size_t len)
{
    uint32_t a = 0, b = 0;
    size_t words = len / 2;

    while (words) {
        size_t n = WR_MIN(words, (size_t)360);

        for (words -= n; n; n--, p += 2) {
            a += wr_be16(p);
            b += a;
        }
        a = fold(a);
        b = fold(b);
    }
    if (len % 2) {
        a += (uint32_t)p[0] << 8;
        b += a;
        a = fold(a);
        b = fold(b);
    }
    return fold(b) << 16 | fold(a);
}

/* Rows and columns of 8 by 8 bits change places (Hacker's Delight 7-3). */
static uint64_t transpose_bits(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00aa00aa00aa00aa);

    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000cccc0000cccc);
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000f0f0f0f0);
    return x ^ t ^ t << 28;
}

/* Bit k of every element of `size` bytes lies together: `count` elements, a
 * multiple of 8. `out` does not overlap `in`. */
static void bitunshuffle(const void *in, void *out, size_t count, size_t size)
{
    const uint8_t *from = in;
    uint8_t *to = out;
    size_t row = count / 8;

    for (size_t byte = 0; byte < size; byte++, from += 8 * row)
        for (size_t k = 0; k < row; k++) {
            uint64_t x = 0;

            for (unsigned bit = 0; bit < 8; bit++)
                x |= (uint64_t)from[bit * row + k] << 8 * bit;
            x = transpose_bits(x);
            for (unsigned e = 0; e < 8; e++)
                to[(8 * k + e) * size + byte] = (uint8_t)(x >> 8 * e);
        }
}

/* Elements of such a block. */
static size_t bitshuffle_block(size_t size)
{
    size_t count = 8192 / size / 8 * 8;

    return count < 128 ? 128 : count;
}

void wr_bitunshuffle_blocks(const void *in, void *out, size_t len, size_t size)
{
    size_t left = len / size / 8 * 8, most = bitshuffle_block(size);
    size_t at = 0;

    for (size_t n; left; left -= n, at += n * size) {
        n = left < most ? left : most;
        bitunshuffle((const uint8_t *)in + at, (uint8_t *)out + at, n, size);
    }
    memcpy((uint8_t *)out + at, (const uint8_t *)in + at, len - at);
}

/* HDF5 before 1.6.3 exchanged the bytes of the halves on little-endian
 * machines; both are taken, as HDF5 does. */
bool wr_fletcher32_holds(const void *bytes, size_t len)
{
    uint32_t sum = fletcher32(bytes, len);
    uint32_t said = wr_le32((const uint8_t *)bytes + len);

    return said == sum ||
           said == ((sum & 0x00ff00ff) << 8 | (sum & 0xff00ff00) >> 8);
}

/* --- chunks that are packed as blocks of LZ4 --- */

/* Both filters write, in big-endian order, 8 bytes that say how many there are
 * unpacked, 4 how many of them a block has, then the blocks: 4 bytes that say how
 * many are stored, and those. */
#ifdef WR_HAVE_LZ4

#include <lz4.h>

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
            bitunshuffle(bits, (uint8_t *)out + done, n, size);
    }
    free(bits);
    if (!good || w.len - w.at < want - done)
        return false;
    memcpy((uint8_t *)out + done, w.in + w.at, want - done);
    return true;
}

#endif

/* --- LibLZF's format, as h5py packs chunks --- */

/* Bytes that may overlap those they are copied from. */
static void copy_back(uint8_t *to, size_t back, size_t n)
{
    const uint8_t *from = to - back;

    if (back >= n) {
        memcpy(to, from, n);
        return;
    }
    for (size_t k = 0; k < n; k++)
        to[k] = from[k];
}

/* A control byte below 32: so many bytes and one more follow as they are. Else
 * its upper three bits are a length (7: the next byte is added), and its lower
 * five with the byte behind them how far back the same bytes lie. */
bool wr_lzf_undo(const void *bytes, size_t len, void *to, size_t want,
                 size_t *ret_at)
{
    const uint8_t *in = bytes;
    uint8_t *out = to;
    size_t at = 0, made = 0;

    while (at < len) {
        size_t control = in[at], n = control >> 5, back;

        *ret_at = at++;
        if (control < 32) {
            n = control + 1;
            if (n > len - at || n > want - made)
                return false;
            memcpy(out + made, in + at, n);
            at += n;
        } else {
            if (n == 7)
                n += at < len ? in[at++] : 0;
            n += 2;
            if (at == len)
                return false;
            back = ((control & 31) << 8 | in[at++]) + 1;
            if (back > made || n > want - made)
                return false;
            copy_back(out + made, back, n);
        }
        made += n;
    }
    *ret_at = at;
    return made == want;
}
