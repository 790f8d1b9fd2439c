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
#include "base/mem.h"
#include "codec/cast.h"
#include "format/array_set.h"
#include "format/shard_reader.h"
#include "format/decode.h"
#include "format/tensorfile.h"

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
    struct wr_stat folder;
    int r = 0;

    /* The folder too where a file was named: labels may come to lie in it. */
    if (job->leaf)
        r = job->store->ops->stat(job->store, "", &folder, err);
    if (r == 0 && job->leaf)
        r = wr_index_job_stamp(job, "", &folder, err);
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
