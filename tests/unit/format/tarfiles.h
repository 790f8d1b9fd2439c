/* tarfiles.h - tar archives made by hand, right and wrong ones.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_TARFILES_H
#define TEST_FORMAT_TARFILES_H

#include <stdint.h>

#include "tmpdir.h"

struct tarfile {
    uint8_t bytes[1 << 18];
    size_t len;
};

/* Sums a header anew, after it was changed. */
static inline void tar_sum(uint8_t *block)
{
    unsigned sum = 0;

    memset(block + 148, ' ', 8);
    for (unsigned k = 0; k < 512; k++)
        sum += block[k];
    snprintf((char *)block + 148, 8, "%06o", sum & 0777777);
}

/* A ustar header; returns it, to be changed and summed anew. */
static inline uint8_t *tar_head(struct tarfile *t, char type, const char *name,
                                uint64_t size)
{
    uint8_t *b = t->bytes + t->len;

    memset(b, 0, 512);
    memcpy(b, name, strlen(name) < 100 ? strlen(name) : 100);
    memcpy(b + 100, "0000644", 8);
    memcpy(b + 108, "0000000", 8);
    memcpy(b + 116, "0000000", 8);
    snprintf((char *)b + 124, 12, "%011llo",
             (unsigned long long)size & 077777777777);
    memcpy(b + 136, "00000000000", 12);
    b[156] = (uint8_t)type;
    memcpy(b + 257, "ustar\00000", 8);
    tar_sum(b);
    t->len += 512;
    return b;
}

static inline void tar_data(struct tarfile *t, const void *data, size_t len)
{
    memset(t->bytes + t->len, 0, (len + 511) / 512 * 512);
    memcpy(t->bytes + t->len, data, len);
    t->len += (len + 511) / 512 * 512;
}

static inline void tar_member(struct tarfile *t, char type, const char *name,
                              const char *data)
{
    tar_head(t, type, name, strlen(data));
    tar_data(t, data, strlen(data));
}

static inline void tar_file(struct tarfile *t, const char *name,
                            const char *data)
{
    tar_member(t, '0', name, data);
}

static inline void tar_end(struct tarfile *t)
{
    memset(t->bytes + t->len, 0, 1024);
    t->len += 1024;
}

static inline void tar_put(const struct tmpdir *d, const char *name,
                           const struct tarfile *t)
{
    tmpdir_put(d, name, t->bytes, t->len);
}

#endif
