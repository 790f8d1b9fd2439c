/* array_writer.h - samples of several fields -> one file of arrays.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For formats in which each field is an array of its own (.npz, HDF5): the
 * number of samples is known when a file is begun, and each array has its
 * place. Formats whose samples follow each other are writers (writer.h). */
#ifndef WR_FORMAT_ARRAY_WRITER_H
#define WR_FORMAT_ARRAY_WRITER_H

#include "format/format.h"
#include "format/writer.h"
#include "storage/storage.h"

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

#define ARRAY_WRITER(name, help)                                               \
    extern const struct wr_array_writer_ops wr_array_writer_##name;
#include "format/formats.def"

#endif
