/* be.h - numbers in big-endian byte order, at any address.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_BE_H
#define WR_BASE_BE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t wr_be16(const void *at)
{
    uint16_t v;

    memcpy(&v, at, sizeof(v));
    return be16toh(v);
}

static inline uint32_t wr_be32(const void *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof(v));
    return be32toh(v);
}

static inline uint64_t wr_be64(const void *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof(v));
    return be64toh(v);
}

#endif
