/* packed.h - bytes stored so that a list of filters undoes it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CODEC_PACKED_H
#define TEST_CODEC_PACKED_H

#include <isa-l/crc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codec/filters.h"
#include "gzip.h"

#ifdef WR_HAVE_ZSTD
#include <zstd.h>
#endif

/* Sums without folding: exact, then as ones' complement has them. */
static inline uint32_t fletcher32(const uint8_t *p, size_t len)
{
    uint64_t a = 0, b = 0;

    for (size_t k = 0; k < len; k += 2) {
        a += (uint64_t)p[k] << 8 | (k + 1 < len ? p[k + 1] : 0);
        a = a ? (a - 1) % 65535 + 1 : 0;
        b += a;
        b = b ? (b - 1) % 65535 + 1 : 0;
    }
    return (uint32_t)(b << 16 | a);
}

static inline uint8_t *pack_one(enum wr_filter f, uint32_t argument,
                                uint8_t *bytes, size_t *len)
{
    uint8_t *out = NULL;
    size_t n = *len, size = argument, count = size ? n / size : 0;
    uint32_t sum;

    switch (f) {
    case WR_FILTER_GZIP:
        out = deflated(IGZIP_GZIP, bytes, n, len);
        break;
    case WR_FILTER_ZLIB:
        out = deflated(IGZIP_ZLIB, bytes, n, len);
        break;
    case WR_FILTER_DEFLATE:
        out = deflated(IGZIP_DEFLATE, bytes, n, len);
        break;
    case WR_FILTER_SHUFFLE:
        out = malloc(n + 1);
        memcpy(out, bytes, n);
        for (size_t k = 0; k < count * size; k++)
            out[k % size * count + k / size] = bytes[k];
        break;
    case WR_FILTER_FLETCHER32:
        out = malloc(n + 4);
        sum = fletcher32(bytes, n);
        memcpy(out, bytes, n);
        for (unsigned k = 0; k < 4; k++)
            out[n + k] = (uint8_t)(sum >> 8 * k);
        *len = n + 4;
        break;
    case WR_FILTER_ZSTD:
#ifdef WR_HAVE_ZSTD
        out = malloc(ZSTD_compressBound(n));
        *len = ZSTD_compress(out, ZSTD_compressBound(n), bytes, n, 3);
        break;
#endif
    default:
        abort();
    }
    free(bytes);
    return out;
}

/* `plain` stored so that `list` undoes it. */
static inline uint8_t *pack(uint32_t list, const uint8_t *plain, size_t len,
                            struct wr_packing *ret)
{
    uint8_t *bytes = malloc(len + 1);
    size_t n = len;

    memcpy(bytes, plain, len);
    *ret = (struct wr_packing){.filters = list, .argument = 4, .inflated = len};
    if ((list & 0xff) == WR_FILTER_DEFLATE)
        ret->argument = crc32_gzip_refl(0, bytes, len);
    for (unsigned k = WR_FILTERS_MAX; k-- > 0;)
        if (list >> 8 * k & 0xff)
            bytes = pack_one(list >> 8 * k & 0xff, ret->argument, bytes, &n);
    ret->stored = n;
    return bytes;
}

#endif
