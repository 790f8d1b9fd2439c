/* deflate.c - bytes -> deflate without a wrapper, piece by piece.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/deflate.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "base/error.h"

struct wr_deflate {
    struct isal_zstream z;
    uint8_t level[ISAL_DEF_LVL1_DEFAULT];
};

int wr_deflate_new(struct wr_deflate **ret, weir_err *err)
{
    struct wr_deflate *d = calloc(1, sizeof(*d));

    if (!d)
        return wr_fail(err, WEIR_ENOMEM, "no memory to deflate");
    isal_deflate_init(&d->z);
    d->z.level = 1;
    d->z.level_buf = d->level;
    d->z.level_buf_size = sizeof(d->level);
    d->z.gzip_flag = IGZIP_DEFLATE;
    *ret = d;
    return 0;
}

void wr_deflate_free(struct wr_deflate *d)
{
    free(d);
}

void wr_deflate_feed(struct wr_deflate *d, const void *bytes, size_t len,
                     bool last)
{
    d->z.next_in = (uint8_t *)(uintptr_t)bytes; /* ISA-L does not write */
    d->z.avail_in = (uint32_t)len;
    d->z.end_of_stream = last;
}

size_t wr_deflate_read(struct wr_deflate *d, void *buf, size_t cap)
{
    if (d->z.internal_state.state == ZSTATE_END)
        return 0;
    d->z.next_out = buf;
    d->z.avail_out = (uint32_t)cap;
    isal_deflate(&d->z); /* fails for settings alone */
    return cap - d->z.avail_out;
}

uint32_t wr_crc32(uint32_t crc, const void *bytes, size_t len)
{
    return crc32_gzip_refl(crc, bytes, len);
}

uint32_t wr_adler32(uint32_t sum, const void *bytes, size_t len)
{
    return isal_adler32(sum, bytes, len);
}
