/* gzip.h - gzip members and zlib streams for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CODEC_GZIP_H
#define TEST_CODEC_GZIP_H

#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>

/* `bytes` in the wrapper `flag` in fresh memory; free() ends it. */
static inline uint8_t *deflated(uint16_t flag, const void *bytes, size_t len,
                                size_t *ret_len)
{
    struct isal_zstream *z = malloc(sizeof(*z));
    size_t cap = 2 * len + 1000; /* noise grows */
    uint8_t *copy = malloc(len + 1), *out = malloc(cap);

    if (!z || !copy || !out)
        abort();
    for (size_t k = 0; k < len; k++)
        copy[k] = ((const uint8_t *)bytes)[k];
    isal_deflate_init(z);
    z->gzip_flag = flag;
    z->end_of_stream = 1;
    z->next_in = copy;
    z->avail_in = (uint32_t)len;
    z->next_out = out;
    z->avail_out = (uint32_t)cap;
    if (isal_deflate(z) != COMP_OK || z->avail_in)
        abort();
    *ret_len = cap - z->avail_out;
    free(copy);
    free(z);
    return out;
}

/* One member of gzip; one stream of zlib. */
static inline uint8_t *gzip_member(const void *bytes, size_t len,
                                   size_t *ret_len)
{
    return deflated(IGZIP_GZIP, bytes, len, ret_len);
}

static inline uint8_t *zlib_stream(const void *bytes, size_t len,
                                   size_t *ret_len)
{
    return deflated(IGZIP_ZLIB, bytes, len, ret_len);
}

#endif
