/* tfrecords.h - Examples and records for tests, made byte by byte.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_TFRECORDS_H
#define TEST_FORMAT_TFRECORDS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codec/crc32c.h"

/* Bytes that grow, up to a fixed size. */
struct buf {
    uint8_t at[16384];
    size_t len;
};

static inline void buf_put(struct buf *b, const void *bytes, size_t len)
{
    if (len > sizeof(b->at) - b->len)
        abort();
    if (len)
        memcpy(b->at + b->len, bytes, len);
    b->len += len;
}

static inline void buf_le(struct buf *b, uint64_t v, unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++) {
        uint8_t byte = (uint8_t)(v >> (8 * k));

        buf_put(b, &byte, 1);
    }
}

static inline void buf_varint(struct buf *b, uint64_t v)
{
    do {
        buf_le(b, (v & 0x7f) | (v > 0x7f ? 0x80 : 0), 1);
        v >>= 7;
    } while (v);
}

/* A field of bytes. */
static inline void buf_field(struct buf *b, unsigned number, const void *bytes,
                             size_t len)
{
    buf_varint(b, number << 3 | 2);
    buf_varint(b, len);
    buf_put(b, bytes, len);
}

/* One entry of Features.feature, with this Feature. */
static inline void features_add(struct buf *features, const char *key,
                                const struct buf *feature)
{
    struct buf entry = {.len = 0};

    buf_field(&entry, 1, key, strlen(key));
    buf_field(&entry, 2, feature->at, feature->len);
    buf_field(features, 1, entry.at, entry.len);
}

static inline void features_bytes(struct buf *features, const char *key,
                                  const void *bytes, size_t len)
{
    struct buf list = {.len = 0}, feature = {.len = 0};

    buf_field(&list, 1, bytes, len);
    buf_field(&feature, 1, list.at, list.len);
    features_add(features, key, &feature);
}

static inline void features_int(struct buf *features, const char *key,
                                int64_t value, int packed)
{
    struct buf list = {.len = 0}, feature = {.len = 0}, number = {.len = 0};

    buf_varint(&number, (uint64_t)value);
    if (packed) {
        buf_field(&list, 1, number.at, number.len);
    } else {
        buf_varint(&list, 1 << 3);
        buf_put(&list, number.at, number.len);
    }
    buf_field(&feature, 3, list.at, list.len);
    features_add(features, key, &feature);
}

/* Several values, packed. */
static inline void features_ints(struct buf *features, const char *key,
                                 const int64_t *values, unsigned count)
{
    struct buf list = {.len = 0}, feature = {.len = 0}, numbers = {.len = 0};

    for (unsigned k = 0; k < count; k++)
        buf_varint(&numbers, (uint64_t)values[k]);
    buf_field(&list, 1, numbers.at, numbers.len);
    buf_field(&feature, 3, list.at, list.len);
    features_add(features, key, &feature);
}

static inline void features_floats(struct buf *features, const char *key,
                                   const float *values, unsigned count,
                                   int packed)
{
    struct buf list = {.len = 0}, feature = {.len = 0};

    if (packed)
        buf_field(&list, 1, values, count * sizeof(*values));
    for (unsigned k = 0; k < count && !packed; k++) {
        buf_varint(&list, 1 << 3 | 5);
        buf_put(&list, &values[k], sizeof(values[k]));
    }
    buf_field(&feature, 2, list.at, list.len);
    features_add(features, key, &feature);
}

/* Appends a record with these data. */
static inline void record_put(struct buf *b, const void *data, size_t len)
{
    size_t start = b->len;

    buf_le(b, len, 8);
    buf_le(b, wr_crc32c_mask(wr_crc32c(0, b->at + start, 8)), 4);
    buf_put(b, data, len);
    buf_le(b, wr_crc32c_mask(wr_crc32c(0, data, len)), 4);
}

/* Appends a record of an Example with these features. */
static inline void record_put_features(struct buf *b,
                                       const struct buf *features)
{
    struct buf example = {.len = 0};

    buf_field(&example, 1, features->at, features->len);
    record_put(b, example.at, example.len);
}

#endif
