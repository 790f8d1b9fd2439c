/* unshuffle.c - what HDF5 does to a chunk besides deflating it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/unshuffle.h"

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

void wr_bitunshuffle(const void *in, void *out, size_t count, size_t size)
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
        wr_bitunshuffle((const uint8_t *)in + at, (uint8_t *)out + at, n, size);
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
