/* le.h - numbers in little-endian byte order, at any address.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_LE_H
#define WR_BASE_LE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t wr_le16(const void *at)
{
    uint16_t v;

    memcpy(&v, at, sizeof(v));
    return le16toh(v);
}

static inline uint32_t wr_le32(const void *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof(v));
    return le32toh(v);
}

static inline uint64_t wr_le64(const void *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof(v));
    return le64toh(v);
}

/* The lowest `bytes` of `value`. */
static inline void wr_le_put(void *to, uint64_t value, unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++)
        ((uint8_t *)to)[k] = (uint8_t)(value >> (8 * k));
}

#endif
