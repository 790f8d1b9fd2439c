/* verify.h - makes every file of a data set again, and compares.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_GEN_VERIFY_H
#define WR_GEN_VERIFY_H

#include "storage/storage.h"

struct wr_compare {
    struct wr_object object; /* first: to be written to */
    struct wr_object *file;  /* borrowed: open for reading */
    uint8_t *buf;            /* borrowed: WR_COMPARE_BYTES */
    uint64_t end;            /* of all that was written */
    uint64_t bytes;          /* compared */
    uint64_t wrong;          /* the first byte that differs; UINT64_MAX: none */
};

#define WR_COMPARE_BYTES ((size_t)256 << 10)

/* Bytes that are missing in the file differ. Reads that fail are errors of the
 * write. */
void wr_compare_init(struct wr_compare *c, struct wr_object *file,
                     uint8_t *buf);

#endif
