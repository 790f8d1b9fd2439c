/* chunks.h - how the samples of a field are cut, and what reading one costs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_CHUNKS_H
#define WR_FORMAT_CHUNKS_H

#include "format/format.h"

#define WR_CHUNKS_MUCH 4.0 /* above this, another order or format pays */

struct wr_chunks {
    uint32_t ndim; /* of a chunk, samples first */
    uint64_t dims[8];
    uint32_t filters;     /* of the first one that is stored; 0: none */
    unsigned touched;     /* chunks that a sample lies in */
    uint64_t unpacked;    /* bytes of these; of those without filters, the part
                           that is read */
    double amplification; /* the same, times the bytes of a sample */
};

/* Of the first sample of field `k`; false: it is not in chunks. */
bool wr_chunks_of(const struct wr_index *ix, unsigned k, struct wr_chunks *ret);

/* "5x4x3, shuffle+zlib" into buf, which is returned. */
const char *wr_chunks_text(const struct wr_chunks *c, char *buf, size_t cap);

#endif
