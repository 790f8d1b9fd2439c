/* writer.h - samples -> bytes of a shard, one table per format (formats.def).
 * SPDX-License-Identifier: Apache-2.0
 *
 * A writer is pure: it appends to a buffer and keeps nothing. The same samples
 * in the same order make the same bytes, whoever writes them. */
#ifndef WR_FORMAT_WRITER_H
#define WR_FORMAT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/picture.h"
#include "format/format.h"
#include "weir/dataset.h"

/* A buffer that grows; zeroed memory is an empty one, free(bytes) ends it. */
struct wr_bytes {
    uint8_t *bytes; /* owned */
    size_t len, cap;
};

/* Room for `n` more bytes behind len; NULL when memory is short. The caller
 * fills it and adds to len. */
uint8_t *wr_bytes_room(struct wr_bytes *b, size_t n);

/* What is written of a sample. */
struct wr_write_sample {
    const uint8_t *bytes; /* the encoded picture */
    size_t len;
    const char *key;             /* "n01440764/n01440764_10026"; never NULL */
    uint32_t label;              /* or WEIR_NO_LABEL */
    const char *class_name;      /* NULL: none */
    struct wr_picture_info info; /* kind and size; kind UNKNOWN: not known */
    const weir_field
        *fields; /* of a writer with `fields`: these instead of a */
    const struct wr_slice *values; /* picture, in C order, of the processor's */
    unsigned field_count;          /* byte order; the label is one of them */
};

struct wr_writer_ops {
    const char *name; /* "tfrecord" */
    const char *ext;  /* ".tfrecord" */
    bool fields;      /* it writes fields of numbers, not encoded pictures */
    bool paths;       /* keys are paths: no two may be the same, and the first
                         folder of one may be its class */
    /* optional: appends what stands at the beginning of a shard. */
    int (*begin)(struct wr_bytes *to, const weir_field *fields, unsigned count,
                 weir_err *err);
    /* required: appends one sample. */
    int (*add)(struct wr_bytes *to, const struct wr_write_sample *s,
               weir_err *err);
    /* optional: appends what stands at the end of a shard. */
    int (*finish)(struct wr_bytes *to, weir_err *err);
};

/* The registry: by name, NULL if unknown. */
const struct wr_writer_ops *wr_writer_find(const char *name);

#define WRITER(name, help)       extern const struct wr_writer_ops wr_writer_##name;
#define FIELD_WRITER(name, help) WRITER(name, help)
#include "format/formats.def"

#endif
