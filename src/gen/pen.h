/* pen.h - bytes and noise into an object, in large pieces.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is written comes in order, but for patches: headers whose contents are
 * known when what they describe has been written. */
#ifndef WR_GEN_PEN_H
#define WR_GEN_PEN_H

#include <stddef.h>
#include <stdint.h>

#include "gen/noise.h"
#include "storage/storage.h"

/* Small enough to stay in a cache of the second level with what made it. */
#define WR_PEN_BYTES ((size_t)128 << 10)

struct wr_pen {
    struct wr_object *object; /* borrowed */
    uint8_t *buf;             /* borrowed: WR_PEN_BYTES */
    size_t len;               /* in it */
    uint64_t at;              /* where buf begins in the object */
    /* Counted over whatever is put while `sum` is set; a patch is not. */
    uint32_t (*sum)(uint32_t crc, const void *bytes, size_t len);
    uint32_t crc;
};

/* Begins an object that is empty. */
void wr_pen_init(struct wr_pen *p, struct wr_object *o, uint8_t *buf);

/* The offset of the next byte. */
uint64_t wr_pen_tell(const struct wr_pen *p);

int wr_pen_put(struct wr_pen *p, const void *bytes, size_t len, weir_err *err);
int wr_pen_zeros(struct wr_pen *p, uint64_t len, weir_err *err);

/* Leaves room for a patch. */
int wr_pen_skip(struct wr_pen *p, uint64_t len, weir_err *err);

/* `len` bytes of `n` from its offset `from` on. */
int wr_pen_noise(struct wr_pen *p, const struct wr_noise *n, uint64_t from,
                 uint64_t len, weir_err *err);

/* Writes into room that was left. */
int wr_pen_patch(struct wr_pen *p, uint64_t at, const void *bytes, size_t len,
                 weir_err *err);

/* What is still in the buffer. */
int wr_pen_flush(struct wr_pen *p, weir_err *err);

#endif
