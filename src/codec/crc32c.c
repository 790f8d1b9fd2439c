/* crc32c.c - the checksum of records and cache entries, by ISA-L.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/crc32c.h"

#include <isa-l/crc.h>

#include "base/mem.h"

#define PIECE ((size_t)1 << 30) /* the library counts in int */

uint32_t wr_crc32c(uint32_t crc, const void *bytes, size_t len)
{
    union {
        const void *in;
        unsigned char *lib; /* the library's prototype lacks the const */
    } at = {.in = bytes};

    crc = ~crc;
    for (size_t n; len; len -= n, at.lib += n) {
        n = WR_MIN(len, PIECE);
        crc = crc32_iscsi(at.lib, (int)n, crc);
    }
    return ~crc;
}
