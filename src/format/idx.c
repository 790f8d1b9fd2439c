/* idx.c - IDX files, as MNIST and its kin come: an array each, plain or gzip.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A header of big-endian numbers, then the elements. The first dimension counts
 * the samples; labels are an array of their own, in a file beside the images. */
#include "format/format.h"

#include <endian.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/be.h"
#include "base/dtype.h"
#include "base/error.h"
#include "format/guess.h"
#include "format/shard_reader.h"
#include "format/tensor.h"

#define MAGIC      4u
#define MAX_DIMS   8u
#define MAX_LABELS UINT64_C(100000000)

/* 0, 0, the type of the elements and how many dimensions there are. */
static bool parse_magic(const uint8_t *at, enum weir_dtype *ret)
{
    static const struct {
        uint8_t code;
        enum weir_dtype dtype;
    } types[] = {{0x08, WEIR_U8},  {0x09, WEIR_I8},  {0x0b, WEIR_I16},
                 {0x0c, WEIR_I32}, {0x0d, WEIR_F32}, {0x0e, WEIR_F64}};

    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++)
        if (!at[0] && !at[1] && at[2] == types[k].code) {
            *ret = types[k].dtype;
            return at[3] >= 1 && at[3] <= MAX_DIMS;
        }
    return false;
}

/* The header; u8 of three dimensions are pictures of one channel. */
static int read_head(struct wr_shard_reader *rd, struct wr_tensor_file *ret,
                     weir_err *err)
{
    uint8_t head[MAGIC + 4 * MAX_DIMS];
    struct wr_tensor_file t = {.count = 0};
    weir_field *x = &t.shape;
    int64_t n = wr_shard_reader_read(rd, head, MAGIC, err);

    if (n < 0)
        return (int)n;
    if (n < MAGIC || !parse_magic(head, &x->dtype))
        return wr_fail(err, WEIR_EFORMAT,
                       "not an IDX file: it does not begin with 0, 0, a type "
                       "and 1 to %u dimensions",
                       MAX_DIMS);
    n = wr_shard_reader_read(rd, head + MAGIC, 4u * head[3], err);
    if (n < 0)
        return (int)n;
    if (n < 4 * head[3])
        return wr_fail(err, WEIR_EFORMAT, "the header is cut off");
    t.count = wr_be32(head + MAGIC);
    x->ndim = head[3] - 1u;
    for (uint32_t k = 0; k < x->ndim; k++)
        x->dims[k] = wr_be32(head + MAGIC + 4 + 4 * k);
    if (x->dtype == WEIR_U8 && x->ndim == 2)
        x->dims[x->ndim++] = 1;
    t.data_offset = wr_shard_reader_tell(rd);
    *ret = t;
    return 0;
}

/* --- labels --- */

/* "train-images-idx3-ubyte" -> "train-labels-idx1-ubyte", packed as the images are
 * or not. */
static bool labels_name(const char *name, unsigned k, char *buf, size_t cap)
{
    bool gzip = wr_name_has_ext(name, ".gz") != (k == 1);
    const char *at = NULL;

    for (const char *p = name; (p = strstr(p, "images")); p++)
        at = p;
    return k < WR_FILES_BESIDE && at && !fnmatch("images?idx[1-8]-*", at, 0) &&
           snprintf(buf, cap, "%.*slabels%cidx1-ubyte%s", (int)(at - name),
                    name, at[6], gzip ? ".gz" : "") < (int)cap;
}

static int64_t label_at(const uint8_t *at, enum weir_dtype type)
{
    return type == WEIR_U8    ? *at
           : type == WEIR_I8  ? (int8_t)*at
           : type == WEIR_I16 ? (int16_t)wr_be16(at)
                              : (int32_t)wr_be32(at);
}

/* Class numbers; -1 says that there is none. */
static int take_labels(struct wr_shard_reader *rd, enum weir_dtype type,
                       uint64_t count, uint32_t *labels, weir_err *err)
{
    size_t bytes = wr_dtype_bytes(type);
    uint8_t at[4];

    for (uint64_t k = 0; k < count; k++) {
        int64_t n = wr_shard_reader_read(rd, at, bytes, err), v;

        if (n < 0)
            return (int)n;
        if ((size_t)n < bytes)
            return wr_fail(err, WEIR_EFORMAT,
                           "truncated: label %" PRIu64 " is missing", k);
        v = label_at(at, type);
        if (!wr_label_of_number(v, &labels[k]))
            return wr_fail(err, WEIR_EFORMAT,
                           "label %" PRId64 " is out of range", v);
    }
    return 0;
}

static int read_labels(struct wr_shard_reader *rd, uint64_t count,
                       uint32_t **ret, weir_err *err)
{
    struct wr_tensor_file t;
    uint32_t *labels;
    int r = read_head(rd, &t, err);

    if (r < 0)
        return r;
    if (t.shape.ndim || t.shape.dtype == WEIR_F32 || t.shape.dtype == WEIR_F64)
        return wr_fail(err, WEIR_ENOTSUP,
                       "labels are not one dimension of whole numbers");
    if (t.count != count)
        return wr_fail(err, WEIR_EFORMAT,
                       "%" PRIu64 " labels of %" PRIu64 " samples", t.count,
                       count);
    if (count > MAX_LABELS)
        return wr_fail(err, WEIR_ELIMIT, "more than %" PRIu64 " labels",
                       MAX_LABELS);
    labels = malloc((size_t)count * sizeof(*labels) + 1);
    if (!labels)
        return wr_fail(err, WEIR_ENOMEM, "out of memory for labels");
    r = take_labels(rd, t.shape.dtype, count, labels, err);
    if (r == 0)
        *ret = labels;
    else
        free(labels);
    return r;
}

/* Those that lie beside the file, if any: *ret is then set. */
static int find_labels(struct wr_index_job *job, const char *name,
                       uint64_t count, uint32_t **ret, weir_err *err)
{
    struct wr_shard_reader *rd = NULL;
    struct wr_stat st;
    char path[4096];
    int r = WEIR_ENOENT;

    for (unsigned k = 0; r == WEIR_ENOENT; k++) {
        if (!labels_name(name, k, path, sizeof(path)))
            return 0;
        r = job->store->ops->stat(job->store, path, &st, err);
    }
    if (r == 0)
        r = wr_index_job_stamp(job, path, &st, err);
    if (r == 0)
        r = wr_shard_reader_open(&rd, job->store, path, err);
    if (r == 0)
        r = read_labels(rd, count, ret, err);
    wr_shard_reader_close(rd);
    return r < 0 ? wr_fail_prefix(err, r, "'%s'", path) : 0;
}

/* --- samples --- */

static bool is_same_shape(const weir_field *a, const weir_field *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           !memcmp(a->dims, b->dims, a->ndim * sizeof(a->dims[0]));
}

/* The first file says what a sample is. */
static int settle_field(struct wr_index_job *job, const weir_field *shape,
                        weir_err *err)
{
    const struct wr_schema *schema = wr_index_fields(job->index);
    struct wr_field x = {.pub = *shape,
                         .name = "x",
                         .swap = wr_dtype_bytes(shape->dtype) > 1 &&
                                 htobe16(1) != 1};

    x.pub.kind = WEIR_FIELD_TENSOR;
    if (!schema->count)
        return wr_index_add_field(job->index, &x, err);
    return is_same_shape(shape, &schema->fields[0].pub)
               ? 0
               : wr_fail(err, WEIR_EFORMAT,
                         "its samples have another type or other dimensions "
                         "than those of the first file");
}

/* All of a gzip file is one unit, whose inflated bytes the samples lie in. */
static int add_samples(struct wr_index_job *job, const char *name,
                       struct wr_shard_reader *rd,
                       const struct wr_tensor_file *t, const uint32_t *labels,
                       weir_err *err)
{
    uint64_t stored = wr_shard_reader_stat(rd)->size;
    const struct wr_unit unit = {.stored = stored,
                                 .inflated = wr_shard_reader_tell(rd),
                                 .filters = WR_FILTER_GZIP};
    const struct wr_run run = {.offset = t->data_offset,
                               .length = t->sample_bytes,
                               .count = t->count,
                               .labels = labels};
    int64_t n = wr_index_add_dir(job->index, "", err);

    if (n >= 0)
        n = wr_index_add_object(job->index, n, name, stored, err);
    if (n < 0)
        return (int)n;
    wr_index_set_stamped(job->index, name);
    if (wr_shard_reader_is_packed(rd))
        n = wr_index_add_unit(job->index, &unit, err);
    return n < 0 ? (int)n : wr_index_add_run(job->index, &run, err);
}

/* Adds the samples of one file; memory alone is not its own fault. */
static int add_file(void *arg, const char *name, bool *ret_skip, weir_err *err)
{
    struct wr_index_job *job = arg;
    struct wr_shard_reader *rd = NULL;
    struct wr_tensor_file t;
    uint32_t *labels = NULL;
    int64_t rest = 0;
    int r = wr_shard_reader_open(&rd, job->store, name, err);

    if (r == 0)
        r = wr_index_job_stamp(job, name, wr_shard_reader_stat(rd), err);
    if (r == 0)
        r = read_head(rd, &t, err);
    if (r == 0)
        rest = wr_shard_reader_skip(rd, UINT64_MAX, err);
    if (r == 0 && rest < 0)
        r = (int)rest;
    if (r == 0)
        r = wr_tensor_file_settle(&t, wr_shard_reader_tell(rd),
                                  /* exact= */ true, err);
    if (r == 0)
        r = find_labels(job, name, t.count, &labels, err);
    if (r == 0)
        r = settle_field(job, &t.shape, err);
    *ret_skip = r < 0;
    if (r == 0 && t.count)
        r = add_samples(job, name, rd, &t, labels, err);
    free(labels);
    wr_shard_reader_close(rd);
    return r;
}

static int idx_index(struct wr_index_job *job, weir_err *err)
{
    int r = wr_files_stamp_folder(job, err);

    return r < 0 ? r
                 : wr_files_each(job, &wr_format_idx.files, add_file, job, err);
}

/* --- is it one? --- */

static bool is_idx_name(const char *name)
{
    return !fnmatch("*idx[1-8]-*", name, 0);
}

static int check_magic(struct wr_store *st, const char *path)
{
    uint8_t head[MAGIC];
    enum weir_dtype type;
    int64_t n = wr_shard_head(st, path, head, sizeof(head));

    return n < 0 ? (int)n : n == MAGIC && parse_magic(head, &type);
}

const struct wr_format_ops wr_format_idx = {
    .name = "idx",
    .help = "IDX files (MNIST's, plain or gzip), or a folder of them",
    .tensors = true,
    .files = {.endings = "idx1-ubyte idx3-ubyte idx1-ubyte.gz idx3-ubyte.gz",
              .but = "labels-idx1-ubyte labels-idx1-ubyte.gz "
                     "labels.idx1-ubyte labels.idx1-ubyte.gz",
              .named = 100,
              .is_name = is_idx_name,
              .check = check_magic,
              .checked = 50,
              .folder = 90,
              .beside = labels_name,
              .yields = true},
    .index = idx_index,
};
