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
#include "storage/storage.h"
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

/* --- samples of several fields -> one file of arrays --- */

/* For formats in which each field is an array of its own (.npz, HDF5): the
 * number of samples is known when a file is begun, and each array has its
 * place. */

/* How an array is cut into chunks, samples first; ndim 0: it is not. */
struct wr_chunk_dims {
    uint32_t ndim; /* one more than the field has */
    uint64_t dims[8];
};

/* What a file will hold: the fields of each sample, all of fixed size. */
struct wr_array_layout {
    const weir_field *fields; /* borrowed; dims are those of one sample, ndim 0:
                                 a number */
    unsigned count;
    uint64_t samples;
    bool packed; /* deflated, where the format can (ops.packs) */
    const struct wr_chunk_dims *chunks; /* borrowed: one per field, where the
                                           format can (ops.chunks); NULL: no
                                           field has any */
};

struct wr_array_out; /* a file that is written; of one thread at a time */

struct wr_array_writer_ops {
    const char *name; /* "npz" */
    const char *ext;  /* ".npz" */
    bool single;      /* it has room for one field, not for a label beside it */
    bool packs;       /* it can deflate */
    bool chunks;      /* it can cut arrays into chunks */
    /* required: begins a file in the empty object `o`, which is borrowed. */
    int (*open)(struct wr_object *o, const struct wr_array_layout *l,
                struct wr_array_out **ret, weir_err *err);
    /* required: the next sample, in the order of the layout's fields; elements
     * in the processor's byte order, C order. */
    int (*add)(struct wr_array_out *w, const struct wr_slice *fields,
               weir_err *err);
    /* required: completes the file. Fewer samples than the layout says may have
     * come: the arrays then are as short. *ret_size: its bytes. */
    int (*finish)(struct wr_array_out *w, uint64_t *ret_size, weir_err *err);
    /* optional: files that belong beside it, at the path of the file with
     * `sides[k]` behind it (the last is NULL). Appends the bytes of one, once
     * the file is complete; it must be there before the file is. */
    const char *const *sides;
    int (*side)(const struct wr_array_out *w, unsigned k, struct wr_bytes *to,
                weir_err *err);
    void (*free)(struct wr_array_out *w); /* required; takes NULL */
};

/* Where the files beside a file go. */
struct wr_side_sink {
    const char *path; /* of the complete file */
    /* Writes a whole small file. */
    int (*put)(void *arg, const char *path, const void *bytes, size_t len,
               weir_err *err);
    void *arg;
};

/* Writes the files that belong beside it; none where the format has none. */
int wr_array_writer_sides(const struct wr_array_writer_ops *ops,
                          const struct wr_array_out *w,
                          const struct wr_side_sink *to, weir_err *err);

/* The registry: table k, NULL past the end; by name, NULL if unknown. */
const struct wr_array_writer_ops *wr_array_writer_at(unsigned k);
const struct wr_array_writer_ops *wr_array_writer_find(const char *name);

#define WRITER(name, help)       extern const struct wr_writer_ops wr_writer_##name;
#define FIELD_WRITER(name, help) WRITER(name, help)
#define ARRAY_WRITER(name, help)                                               \
    extern const struct wr_array_writer_ops wr_array_writer_##name;
#include "format/formats.def"

#endif
