/* tensor.c - files of arrays: .npy, .npz and .wt, one or a folder of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/tensor.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/le.h"
#include "base/mem.h"
#include "codec/cast.h"
#include "format/array_set.h"
#include "format/decode.h"
#include "format/npz.h"
#include "format/shard_reader.h"

/* --- the header of .wt files: docs/formats/wt.md --- */

/* Offsets of the fields. */
enum {
    AT_VERSION = 8,
    AT_DTYPE = 12,
    AT_NDIM = 16,
    AT_FLAGS = 20,
    AT_COUNT = 24,
    AT_DIMS = 64,
};

/* --- the headers of .wt and .npy files, read and written --- */

static int check_fields(const uint8_t *h, weir_err *err)
{
    uint32_t ndim = wr_le32(h + AT_NDIM);

    if (memcmp(h, WR_WT_MAGIC, 8) != 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "not a .wt file: it does not begin with " WR_WT_MAGIC);
    if (wr_le32(h + AT_VERSION) != WR_WT_VERSION)
        return wr_fail(err, WEIR_ENOTSUP, ".wt version %" PRIu32 ", not 1",
                       wr_le32(h + AT_VERSION));
    if (wr_le32(h + AT_DTYPE) > 2)
        return wr_fail(err, WEIR_EFORMAT, "unknown dtype %" PRIu32,
                       wr_le32(h + AT_DTYPE));
    if (ndim > 7)
        return wr_fail(err, WEIR_EFORMAT,
                       "%" PRIu32 " dimensions, at most 7 are allowed", ndim);
    if (wr_le32(h + AT_FLAGS) & ~WR_WT_LABELS)
        return wr_fail(err, WEIR_EFORMAT, "unknown flags 0x%" PRIx32,
                       wr_le32(h + AT_FLAGS));
    for (uint32_t k = 0; k < 7; k++)
        if ((wr_le64(h + AT_DIMS + 8 * k) != 0) != (k < ndim))
            return wr_fail(err, WEIR_EFORMAT, "dimension %" PRIu32 " is %s", k,
                           k < ndim ? "zero" : "not zero");
    return 0;
}

int wr_wt_parse(const uint8_t *bytes, size_t len, uint64_t file_size,
                struct wr_tensor_file *ret, weir_err *err)
{
    static const enum weir_dtype elems[] = {WEIR_F32, WEIR_F16, WEIR_U8};
    struct wr_tensor_file t = {.data_offset = WR_WT_HEADER};
    size_t labels = 0;
    int r;

    if (len < WR_WT_HEADER)
        return wr_fail(err, WEIR_EFORMAT,
                       "%zu bytes are too few for a .wt header", len);
    r = check_fields(bytes, err);
    if (r < 0)
        return r;
    t.shape.dtype = elems[wr_le32(bytes + AT_DTYPE)];
    t.shape.ndim = wr_le32(bytes + AT_NDIM);
    t.count = wr_le64(bytes + AT_COUNT);
    for (uint32_t k = 0; k < t.shape.ndim; k++)
        t.shape.dims[k] = wr_le64(bytes + AT_DIMS + 8 * k);
    if (wr_le32(bytes + AT_FLAGS) & WR_WT_LABELS) {
        if (!wr_mul_ok(t.count, 4, &labels) || labels > file_size)
            return wr_fail(err, WEIR_EFORMAT,
                           "%" PRIu64 " labels do not fit into the file",
                           t.count);
        t.labels_offset = WR_WT_HEADER;
    }
    /* No overflow: labels <= file_size, which is an offset. */
    if (file_size > INT64_MAX)
        return wr_fail(err, WEIR_ELIMIT, "larger than 2^63 bytes");
    t.data_offset = WR_ALIGN_UP(WR_WT_HEADER + (uint64_t)labels,
                                (uint64_t)WR_WT_ALIGN);
    r = wr_tensor_file_settle(&t, file_size, /* exact= */ true, err);
    if (r < 0)
        return r;
    *ret = t;
    return 0;
}

/* --- the headers of .wt and .npy tensor files --- */

#define NPY_ALIGN  64
#define NPY_PREFIX 10 /* magic, version, length */
#define DIM_MAX    (UINT64_C(1) << 30)

uint64_t wr_gen_shape_elements(const struct wr_gen_shape *s)
{
    uint64_t n = 1;

    for (uint32_t k = 0; k < s->ndim; k++)
        n *= s->dims[k];
    return n;
}

int wr_gen_shape_parse(const char *text, struct wr_gen_shape *ret,
                       weir_err *err)
{
    struct wr_gen_shape s = {.dtype = ret->dtype};
    uint64_t bytes = 4; /* of the widest type that pictures have */
    const char *p = text;

    for (;;) {
        char *end;
        uint64_t dim;

        if (*p < '0' || *p > '9')
            return wr_fail(err, WEIR_EINVAL,
                           "shape '%s' is not of the form 224x224x3", text);
        dim = strtoull(p, &end, 10);
        if (s.ndim == WR_TENSOR_DIMS_MAX || dim < 1 || dim > DIM_MAX ||
            bytes * dim > WR_TENSOR_MAX_SAMPLE)
            return wr_fail(err, WEIR_ELIMIT,
                           "shape '%s': at most %d dimensions of at least 1 "
                           "and 1 GiB per sample",
                           text, WR_TENSOR_DIMS_MAX);
        bytes *= dim;
        s.dims[s.ndim++] = dim;
        if (!*end)
            break;
        if (*end != 'x' && *end != ',')
            return wr_fail(err, WEIR_EINVAL,
                           "shape '%s' is not of the form 224x224x3", text);
        p = end + 1;
    }
    *ret = s;
    return 0;
}

int wr_tensor_wt_header(const struct wr_gen_shape *s, uint64_t count,
                        const uint32_t *labels, struct wr_tensor_bytes *ret,
                        weir_err *err)
{
    size_t len = WR_ALIGN_UP(WR_WT_HEADER + (labels ? (size_t)count * 4 : 0),
                             (size_t)WR_WT_ALIGN);
    uint8_t *head = calloc(1, len);

    if (!head)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes of header",
                       len);
    memcpy(head, WR_WT_MAGIC, 8);
    wr_le_put(head + 8, WR_WT_VERSION, 4);
    wr_le_put(head + 12, (uint64_t)s->dtype, 4);
    wr_le_put(head + 16, s->ndim, 4);
    wr_le_put(head + 20, labels ? WR_WT_LABELS : 0, 4);
    wr_le_put(head + 24, count, 8);
    for (uint32_t k = 0; k < s->ndim; k++)
        wr_le_put(head + 64 + 8 * k, s->dims[k], 8);
    for (uint64_t k = 0; labels && k < count; k++)
        wr_le_put(head + WR_WT_HEADER + 4 * k, labels[k], 4);
    *ret = (struct wr_tensor_bytes){head, len};
    return 0;
}

/* Header for `descr` and the text inside shape's brackets, and room behind it
 * for `extra` bytes. */
static int npy_header(const char *descr, const char *shape, size_t extra,
                      struct wr_tensor_bytes *ret, weir_err *err)
{
    char dict[512];
    int n = snprintf(dict, sizeof(dict),
                     "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                     descr, shape);
    size_t len = WR_ALIGN_UP(NPY_PREFIX + (size_t)n + 1, (size_t)NPY_ALIGN);
    uint8_t *head = malloc(len + extra);

    if (!head)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a header");
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    wr_le_put(head + 8, len - NPY_PREFIX, 2);
    memset(head + NPY_PREFIX, ' ', len - NPY_PREFIX);
    memcpy(head + NPY_PREFIX, dict, (size_t)n);
    head[len - 1] = '\n';
    *ret = (struct wr_tensor_bytes){head, len};
    return 0;
}

int wr_tensor_npy_header(const struct wr_gen_shape *s, uint64_t count,
                         struct wr_tensor_bytes *ret, weir_err *err)
{
    const char *type = wr_npy_type(s->dtype);
    char descr[8];
    char shape[256];
    size_t n = (size_t)snprintf(shape, sizeof(shape), "%" PRIu64 ",", count);

    for (uint32_t k = 0; k < s->ndim; k++)
        n += (size_t)snprintf(shape + n, sizeof(shape) - n, " %" PRIu64 "%s",
                              s->dims[k], k + 1 < s->ndim ? "," : "");
    if (!type)
        return wr_fail(err, WEIR_ENOTSUP, "NumPy has no type %s",
                       wr_dtype_text(s->dtype));
    snprintf(descr, sizeof(descr), "%s%s",
             wr_dtype_bytes(s->dtype) > 1 ? "<" : "|", type);
    return npy_header(descr, shape, 0, ret, err);
}

int wr_tensor_npy_labels(const uint32_t *labels, uint64_t count,
                         struct wr_tensor_bytes *ret, weir_err *err)
{
    char shape[32];
    struct wr_tensor_bytes file;
    int r;

    snprintf(shape, sizeof(shape), "%" PRIu64 ",", count);
    r = npy_header("<u4", shape, (size_t)count * 4, &file, err);
    if (r < 0)
        return r;
    for (uint64_t k = 0; k < count; k++)
        wr_le_put(file.bytes + file.len + 4 * k, labels[k], 4);
    file.len += (size_t)count * 4;
    *ret = file;
    return 0;
}

#define MAX_LABELS UINT64_C(100000000)
#define LABELS     ".labels.npy" /* of the file whose name is in front */

int wr_tensor_file_settle(struct wr_tensor_file *t, uint64_t file_size,
                          bool exact, weir_err *err)
{
    size_t bytes = wr_dtype_bytes(t->shape.dtype);
    size_t total;

    for (uint32_t k = 0; k < t->shape.ndim; k++)
        if (!wr_mul_ok(bytes, t->shape.dims[k], &bytes))
            return wr_fail(err, WEIR_EFORMAT,
                           "the dimensions' product overflows 64 bits");
    if (!bytes)
        return wr_fail(err, WEIR_EFORMAT, "samples of zero bytes");
    if (bytes > WR_TENSOR_MAX_SAMPLE)
        return wr_fail(err, WEIR_ELIMIT,
                       "samples of %zu bytes, over the limit of 1 GiB", bytes);
    if (!wr_mul_ok(bytes, t->count, &total) ||
        !wr_add_ok(total, t->data_offset, &total))
        return wr_fail(err, WEIR_EFORMAT,
                       "%" PRIu64 " samples of %zu bytes overflow 64 bits",
                       t->count, bytes);
    if (file_size < total)
        return wr_fail(err, WEIR_EFORMAT,
                       "truncated: %" PRIu64 " bytes, the header says %zu",
                       file_size, total);
    if (exact && file_size > total)
        return wr_fail(err, WEIR_EFORMAT,
                       "%" PRIu64 " bytes, the header says %zu", file_size,
                       total);
    t->sample_bytes = bytes;
    return 0;
}

/* One file while its header is read. */
struct open_file {
    struct wr_object *object; /* owned */
    uint64_t size;
};

static int file_open(struct open_file *f, struct wr_index_job *job,
                     const char *path, weir_err *err)
{
    return wr_index_job_open(job, path, &f->object, &f->size, err);
}

static void file_close(struct open_file *f)
{
    f->object->ops->close(f->object, /* sync= */ false, NULL);
}

/* A .wt file is one array, and the labels another. */
static int read_wt(struct open_file *f, const uint8_t *head, size_t len,
                   struct wr_npz *ret, struct wr_npz_array *ret_labels,
                   weir_err *err)
{
    struct wr_tensor_file t = {0};
    struct wr_npz_array x = {.name = "x"};
    int r = wr_wt_parse(head, len, f->size, &t, err);

    if (r < 0)
        return r;
    ret->list = malloc(sizeof(x));
    if (!ret->list)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    x.npy = (struct wr_npy){.dtype = t.shape.dtype,
                            .ndim = t.shape.ndim + 1,
                            .swap = htole16(1) != 1 && t.shape.dtype != WEIR_U8,
                            .shape = {t.count}};
    memcpy(x.npy.shape + 1, t.shape.dims, t.shape.ndim * sizeof(uint64_t));
    x.offset = t.data_offset;
    x.bytes = x.stored = x.inflated = t.sample_bytes * t.count;
    x.elements = x.bytes / wr_dtype_bytes(t.shape.dtype);
    ret->list[0] = x;
    ret->count = 1;
    if (t.labels_offset)
        *ret_labels = (struct wr_npz_array){
            .npy = {.dtype = WEIR_U32, .swap = htole16(1) != 1},
            .elements = t.count,
            .bytes = t.count * 4,
            .offset = t.labels_offset};
    return 0;
}

/* NPZ files have something in front of the archive at times: then their name
 * tells. */
static bool is_npz(const char *name, const uint8_t *first, size_t have)
{
    return wr_is_zip(first, have) ||
           (wr_name_has_ext(name, ".npz") &&
            (have < 6 || memcmp(first, "\x93NUMPY", 6) != 0));
}

/* *ret_labels has elements where a file has labels inside that are no array of
 * its own. */
static int read_file(struct open_file *f, const char *name, struct wr_npz *ret,
                     struct wr_npz_array *ret_labels, weir_err *err)
{
    uint8_t first[WR_WT_HEADER];
    size_t have = (size_t)WR_MIN(f->size, (uint64_t)sizeof(first));
    int r = wr_object_read_fully(f->object, first, have, 0, err);
    bool zip = r == 0 && is_npz(name, first, have);

    if (r < 0)
        return r;
    if (!zip && ret->chosen)
        return wr_fail(err, WEIR_EINVAL,
                       "it has one array: members are chosen of .npz files");
    if (have >= 8 && !memcmp(first, WR_WT_MAGIC, 8))
        return read_wt(f, first, have, ret, ret_labels, err);
    return wr_npz_read(f->object, f->size, zip, ret, err);
}

/* Class numbers; -1 says that there is none. */
static int read_labels(struct open_file *f, const struct wr_npz_array *a,
                       uint32_t **ret, weir_err *err)
{
    uint64_t n = a->elements;
    int64_t *wide = NULL;
    uint32_t *labels;
    void *values;
    int r;

    if (n > MAX_LABELS)
        return wr_fail(err, WEIR_ELIMIT,
                       "%" PRIu64 " labels, over the limit of %" PRIu64, n,
                       MAX_LABELS);
    r = wr_npz_values(f->object, a, &values, err);
    if (r < 0)
        return r;
    wide = malloc(n * sizeof(*wide) + 1);
    labels = malloc(n * sizeof(*labels) + 1);
    if (!wide || !labels)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory for labels");
    else
        wr_cast(a->npy.dtype, WEIR_I64, values, n, wide);
    for (uint64_t k = 0; k < n && r == 0; k++) {
        if (wide[k] < -1 || wide[k] > UINT32_MAX)
            r = wr_fail(err, WEIR_EFORMAT, "label %" PRId64 " is out of range",
                        wide[k]);
        labels[k] = wide[k] < 0 ? WEIR_NO_LABEL : (uint32_t)wide[k];
    }
    free(wide);
    free(values);
    if (r < 0)
        free(labels);
    else
        *ret = labels;
    return r;
}

/* "a.npy" -> "a.labels.npy". */
static bool labels_name(const char *name, unsigned k, char *buf, size_t cap)
{
    int stem = (int)strlen(name) - (wr_name_has_ext(name, ".wt") ? 3 : 4);
    int n;

    if (k || stem < 0 || wr_name_has_ext(name, ".npz"))
        return false;
    n = snprintf(buf, cap, "%.*s" LABELS, stem, name);
    return n > 0 && (size_t)n < cap;
}

/* Are these labels of `count` samples? */
static int check_labels(const struct wr_npz_array *a, uint64_t count,
                        weir_err *err)
{
    const char *type = wr_npy_type(a->npy.dtype);

    if (type[0] != 'i' && type[0] != 'u')
        return wr_fail(err, WEIR_ENOTSUP,
                       "labels of type '%s', not of whole numbers",
                       a->npy.descr);
    if (a->npy.ndim != 1 || a->npy.shape[0] != count)
        return wr_fail(err, WEIR_EFORMAT,
                       "labels are not one dimension of %" PRIu64, count);
    return 0;
}

/* The labels that lie beside a .npy file, if any: *ret is then set. */
static int read_sibling(struct wr_index_job *job, const char *name,
                        uint64_t count, uint32_t **ret, weir_err *err)
{
    struct wr_store *store = job->store;
    struct wr_npz arrays = {0};
    struct open_file f;
    struct wr_stat st;
    char path[4096];
    weir_err e;
    int r;

    if (!labels_name(name, 0, path, sizeof(path)))
        return 0;
    r = store->ops->stat(store, path, &st, &e);
    if (r == WEIR_ENOENT)
        return 0;
    r = file_open(&f, job, path, err);
    if (r < 0)
        return r;
    r = wr_npz_read(f.object, f.size, /* zip= */ false, &arrays, err);
    if (r == 0)
        r = check_labels(arrays.list, count, err);
    if (r == 0)
        r = read_labels(&f, arrays.list, ret, err);
    file_close(&f);
    wr_npz_done(&arrays);
    return r < 0 ? wr_fail_prefix(err, r, "'%s'", path) : 0;
}

struct tensor_job {
    struct wr_index_job *job;  /* borrowed */
    struct wr_array_set *set;  /* owned */
    struct wr_fragment chosen; /* members of NPZ files; none: all */
};

static void tell_others(struct wr_index_job *job, const char *name,
                        const struct wr_npz *arrays)
{
    weir_err e;

    if (!arrays->others[0])
        return;
    wr_fail(&e, WEIR_ENOTSUP, "not read, as they are not called .npy: %s",
            arrays->others);
    wr_index_job_issue(job, name, &e);
}

/* Adds the samples of one file; *ret_skip tells whether a failure is the
 * file's own, so that others may still be added. */
static int add_file(struct tensor_job *t, const char *name, bool *ret_skip,
                    weir_err *err)
{
    struct wr_index_job *job = t->job;
    struct wr_array_set *set = t->set;
    struct wr_npz arrays = {.chosen = t->chosen.count ? &t->chosen : NULL};
    struct wr_npz_array inside = {0};
    uint32_t *labels = NULL;
    struct open_file f;
    uint64_t count = 0;
    int r;

    *ret_skip = true;
    r = file_open(&f, job, name, err);
    if (r < 0)
        return r;
    r = read_file(&f, name, &arrays, &inside, err);
    if (r == 0)
        r = wr_array_set_count(set, &arrays, &count, err);
    if (r == 0 && inside.elements)
        r = read_labels(&f, &inside, &labels, err);
    else if (r == 0)
        r = read_sibling(job, name, count, &labels, err);
    if (r == 0) {
        const struct wr_array_file file = {.name = name,
                                           .size = f.size,
                                           .object = f.object,
                                           .arrays = &arrays,
                                           .labels = labels};

        r = wr_array_set_add(set, &file, ret_skip, err);
        tell_others(job, name, &arrays);
    }
    file_close(&f);
    wr_npz_done(&arrays);
    free(labels);
    return r;
}

static int add_named(void *arg, const char *name, bool *ret_skip, weir_err *err)
{
    return add_file(arg, name, ret_skip, err);
}

static int tensor_index(struct wr_index_job *job, weir_err *err)
{
    struct tensor_job t = {.job = job};
    int r = wr_files_stamp_folder(job, err);

    if (r == 0)
        r = wr_fragment_parse(job->fragment, &t.chosen, err);
    if (r == 0)
        r = wr_array_set_new(job, &t.set, err);
    if (r == 0)
        r = wr_files_each(job, &wr_format_tensor.files, add_named, &t, err);
    if (r == 0)
        r = wr_array_set_finish(t.set, err);
    wr_array_set_free(t.set);
    return r;
}

static int check_magic(struct wr_store *st, const char *path)
{
    char first[8];
    int64_t n = wr_shard_head(st, path, first, sizeof(first));

    if (n < 0)
        return (int)n;
    return n == 8 &&
           (!memcmp(first, WR_WT_MAGIC, 8) || !memcmp(first, "\x93NUMPY", 6));
}

const struct wr_format_ops wr_format_tensor = {
    .name = "tensor",
    .help = "raw samples: .npy, .npz (FILE#x=MEMBER,y=MEMBER chooses) and .wt "
            "files, or a folder of them",
    .tensors = true,
    .takes_fragment = true,
    .files = {.endings = ".wt .npz .npy",
              .but = LABELS,
              .named = 100,
              .check = check_magic,
              .checked = 60,
              .folder = 90,
              .beside = labels_name,
              .yields = true},
    .index = tensor_index,
};
