/* unshuffle.c - what HDF5 does to a chunk besides deflating it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/unshuffle.h"

#include <string.h>

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
            a += (uint32_t)p[0] << 8 | p[1];
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

/* HDF5 before 1.6.3 exchanged the bytes of the halves on little-endian
 * machines; both are taken, as HDF5 does. */
bool wr_fletcher32_holds(const void *bytes, size_t len)
{
    uint32_t sum = fletcher32(bytes, len);
    uint32_t said = wr_le32((const uint8_t *)bytes + len);

    return said == sum ||
           said == ((sum & 0x00ff00ff) << 8 | (sum & 0xff00ff00) >> 8);
}
