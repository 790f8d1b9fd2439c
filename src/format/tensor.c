/* tensor.c - files of equal samples: .npy and .wt, one or a folder of them.
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
#include "format/listing.h"
#include "format/npy.h"
#include "format/pictures.h"
#include "format/tensor_decode.h"
#include "format/wt.h"

#define FIRST_READ  4096u  /* nearly every header fits */
#define PROBE_LIMIT 4096u  /* entries of a folder looked at */
#define LABEL_CHUNK 65536u /* bytes */
#define MAX_LABELS  UINT64_C(100000000)

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

/* Opens a file, and lets the index depend on it. */
static int file_open(struct open_file *f, struct wr_index_job *job,
                     const char *path, weir_err *err)
{
    struct wr_store *store = job->store;
    struct wr_stat st;
    int r;

    r = store->ops->stat(store, path, &st, err);
    if (r < 0)
        return r;
    if (st.kind != WR_KIND_FILE)
        return wr_fail(err, WEIR_EFORMAT, "not a regular file");
    r = wr_index_job_stamp(job, path, &st, err);
    if (r < 0)
        return r;
    f->size = st.size;
    return store->ops->object_open(store, path, WR_OPEN_READ, &f->object, err);
}

static void file_close(struct open_file *f)
{
    f->object->ops->close(f->object, /* sync= */ false, NULL);
}

/* Reads `len` bytes, all of them. */
static int read_fully(struct open_file *f, void *buf, size_t len,
                      uint64_t offset, weir_err *err)
{
    uint8_t *p = buf;

    while (len) {
        int64_t n = f->object->ops->read(f->object, p, len, offset, err);

        if (n < 0)
            return (int)n;
        if (n == 0)
            return wr_fail(err, WEIR_EFORMAT, "truncated at byte %" PRIu64,
                           offset);
        p += n;
        offset += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

static int read_npy_header(struct open_file *f, struct wr_npy *ret,
                           weir_err *err)
{
    size_t have = (size_t)WR_MIN(f->size, (uint64_t)FIRST_READ);
    uint8_t first[FIRST_READ];
    uint8_t *all;
    uint64_t need;
    int r;

    r = read_fully(f, first, have, 0, err);
    if (r == 0)
        r = wr_npy_data_offset(first, have, &need, err);
    if (r < 0)
        return r;
    if (need <= have || f->size <= have)
        return wr_npy_parse(first, have, ret, err);
    have = (size_t)WR_MIN(need, f->size); /* need is limited */
    all = malloc(have);
    if (!all)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = read_fully(f, all, have, 0, err);
    if (r == 0)
        r = wr_npy_parse(all, have, ret, err);
    free(all);
    return r;
}

static int read_header(struct open_file *f, struct wr_tensor_file *ret,
                       weir_err *err)
{
    uint8_t first[WR_WT_HEADER];
    size_t have = (size_t)WR_MIN(f->size, (uint64_t)sizeof(first));
    struct wr_npy npy;
    int r;

    r = read_fully(f, first, have, 0, err);
    if (r < 0)
        return r;
    if (have >= 8 && !memcmp(first, WR_WT_MAGIC, 8))
        return wr_wt_parse(first, have, f->size, ret, err);
    r = read_npy_header(f, &npy, err);
    if (r < 0)
        return r;
    return wr_npy_tensor(&npy, f->size, ret, err);
}

/* Where labels lie in a file. */
struct label_range {
    uint64_t offset, count;
    int bytes;      /* of one: 4 or 8 */
    bool is_signed; /* as all of 8 bytes are */
};

/* One label; -1 says that there is none. */
static int label_at(const uint8_t *p, const struct label_range *range,
                    uint32_t *ret, weir_err *err)
{
    uint64_t wide;
    uint32_t narrow;
    int64_t value;

    if (range->bytes == 8) {
        memcpy(&wide, p, sizeof(wide));
        value = (int64_t)le64toh(wide);
    } else {
        memcpy(&narrow, p, sizeof(narrow));
        narrow = le32toh(narrow);
        value = range->is_signed ? (int64_t)(int32_t)narrow : (int64_t)narrow;
    }
    if (value < -1 || value > UINT32_MAX)
        return wr_fail(err, WEIR_EFORMAT, "label %" PRId64 " is out of range",
                       value);
    *ret = value < 0 ? WEIR_NO_LABEL : (uint32_t)value;
    return 0;
}

static int read_labels(struct open_file *f, const struct label_range *range,
                       uint32_t **ret, weir_err *err)
{
    size_t per_chunk = LABEL_CHUNK / (size_t)range->bytes;
    uint8_t chunk[LABEL_CHUNK];
    uint32_t *labels;
    int r = 0;

    if (range->count > MAX_LABELS)
        return wr_fail(err, WEIR_ELIMIT,
                       "%" PRIu64 " labels, over the limit of %" PRIu64,
                       range->count, MAX_LABELS);
    labels = malloc(range->count * sizeof(*labels) + 1);
    if (!labels)
        return wr_fail(err, WEIR_ENOMEM, "out of memory for labels");
    for (uint64_t done = 0; done < range->count && r == 0;) {
        size_t n = (size_t)WR_MIN(range->count - done, (uint64_t)per_chunk);
        size_t width = (size_t)range->bytes;

        r = read_fully(f, chunk, n * width, range->offset + done * width, err);
        for (size_t k = 0; k < n && r == 0; k++)
            r = label_at(chunk + k * width, range, &labels[done + k], err);
        done += n;
    }
    if (r < 0) {
        free(labels);
        return r;
    }
    *ret = labels;
    return 0;
}

/* "a.npy" -> "a.labels.npy"; false when it does not fit. */
static bool sibling_name(const char *name, char *buf, size_t cap)
{
    int stem = (int)strlen(name) - 4;
    int n;

    if (stem < 0)
        return false;
    n = snprintf(buf, cap, "%.*s.labels.npy", stem, name);
    return n > 0 && (size_t)n < cap;
}

/* The labels that lie beside a .npy file, if any: *ret is then set. */
static int read_sibling(struct wr_index_job *job, const char *name,
                        uint64_t count, uint32_t **ret, weir_err *err)
{
    struct wr_store *store = job->store;
    struct label_range range = {.count = count};
    struct open_file f;
    struct wr_npy npy;
    struct wr_stat st;
    char path[4096];
    weir_err e;
    int r;

    if (!sibling_name(name, path, sizeof(path)))
        return 0;
    r = store->ops->stat(store, path, &st, &e);
    if (r == WEIR_ENOENT)
        return 0;
    r = file_open(&f, job, path, err);
    if (r < 0)
        return r;
    r = read_npy_header(&f, &npy, err);
    if (r == 0)
        r = range.bytes = wr_npy_labels(&npy, f.size, count, err);
    if (r > 0) {
        range.offset = npy.data_offset;
        range.is_signed = npy.descr[1] == 'i';
        r = read_labels(&f, &range, ret, err);
    }
    file_close(&f);
    return r < 0 ? wr_fail_prefix(err, r, "'%s'", path) : 0;
}

static int check_same(const struct wr_index *ix, const weir_field *s,
                      weir_err *err)
{
    const weir_field *first = wr_index_tensor(ix);

    if (!first)
        return 0;
    if (first->dtype != s->dtype || first->ndim != s->ndim ||
        memcmp(first->dims, s->dims, s->ndim * sizeof(s->dims[0])) != 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "its samples have another type or other dimensions "
                       "than those of the first file");
    return 0;
}

static int add_samples(struct wr_index *ix, const char *name, uint64_t size,
                       const struct wr_tensor_file *t, const uint32_t *labels)
{
    const struct wr_run run = {.offset = t->data_offset,
                               .length = t->sample_bytes,
                               .count = t->count,
                               .labels = labels};
    const struct wr_field x = {.pub = t->shape, .name = "x"};
    weir_err *err = NULL; /* what can fail here is memory alone */
    int64_t k = wr_index_add_dir(ix, "", err);

    if (k >= 0)
        k = wr_index_add_object(ix, k, name, size, err);
    if (k < 0)
        return (int)k;
    if (!wr_index_tensor(ix))
        k = wr_index_add_field(ix, &x, err);
    if (k < 0)
        return (int)k;
    return wr_index_add_run(ix, &run, err);
}

/* Adds the samples of one file; *ret_skip tells whether a failure is the
 * file's own, so that others may still be added. */
static int add_file(struct wr_index_job *job, const char *name, bool *ret_skip,
                    weir_err *err)
{
    struct wr_tensor_file t = {0};
    uint32_t *labels = NULL;
    struct open_file f;
    int r;

    *ret_skip = true;
    r = file_open(&f, job, name, err);
    if (r < 0)
        return r;
    r = read_header(&f, &t, err);
    if (r == 0)
        r = check_same(job->index, &t.shape, err);
    if (r == 0 && t.labels_offset) {
        struct label_range range = {t.labels_offset, t.count, 4, false};

        r = read_labels(&f, &range, &labels, err);
    } else if (r == 0) {
        r = read_sibling(job, name, t.count, &labels, err);
    }
    file_close(&f);
    if (r == 0) {
        r = add_samples(job->index, name, f.size, &t, labels);
        if (r < 0) {
            *ret_skip = false;
            wr_fail(err, r, "index: %s", weir_strerror(r));
        }
    }
    free(labels);
    return r;
}

static bool is_labels_name(const char *name)
{
    return wr_name_has_ext(name, ".labels.npy");
}

static bool is_tensor_name(const char *name)
{
    return wr_name_has_ext(name, ".wt") ||
           (wr_name_has_ext(name, ".npy") && !is_labels_name(name));
}

static bool is_wanted(const struct wr_entry *e)
{
    return e->kind == WR_KIND_FILE && e->name[0] != '.' &&
           is_tensor_name(e->name);
}

static int add_folder(struct wr_index_job *job, const struct wr_listing *l,
                      weir_err *err)
{
    for (size_t k = 0; k < l->count; k++) {
        const char *name = wr_listing_name(l, k);
        bool skip;
        weir_err e;
        int r;

        r = add_file(job, name, &skip, &e);
        if (r < 0 && !skip)
            return wr_fail(err, r, "%s", e.msg);
        if (r < 0)
            wr_index_job_issue(job, name, &e);
        r = wr_index_job_progress(job, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int tensor_index(struct wr_index_job *job, weir_err *err)
{
    const struct wr_listing_filter filter = {.wanted = is_wanted,
                                             .ignored = wr_listing_is_ignored};
    struct wr_listing l = {0};
    struct wr_stat folder;
    bool skip;
    int r;

    /* The folder too where a file was named: labels may come to lie in it. */
    r = job->store->ops->stat(job->store, "", &folder, err);
    if (r == 0)
        r = wr_index_job_stamp(job, "", &folder, err);
    if (r < 0)
        return r;
    if (job->leaf) {
        weir_err e;

        r = add_file(job, job->leaf, &skip, &e);
        if (r < 0 && e.msg[0] != '\'')
            return wr_fail(err, r, "'%s': %s", job->leaf, e.msg);
        return r < 0 ? wr_fail(err, r, "%s", e.msg) : 0;
    }
    r = wr_listing_read(&l, job->store, "", &filter, &skip, err);
    if (r == 0)
        r = wr_index_add_ignored(job->index, &l.ignored, err);
    if (r == 0)
        r = add_folder(job, &l, err);
    wr_listing_done(&l);
    return r;
}

struct tensor_look {
    unsigned seen;
    bool found;
};

/* Stops at the first file whose kind tells what the folder holds. */
static int look_at(void *arg, const struct wr_entry *e)
{
    struct tensor_look *look = arg;

    look->found = is_wanted(e);
    return look->found || wr_is_picture_name(e->name) ||
           ++look->seen == PROBE_LIMIT;
}

static int probe_magic(struct wr_store *st, const char *leaf)
{
    struct wr_object *o;
    struct wr_stat sb;
    char first[8];
    int64_t n;
    int r = st->ops->stat(st, leaf, &sb, NULL);

    /* A pipe would be eaten by looking at it. */
    if (r == 0 && sb.kind != WR_KIND_FILE)
        return 0;
    if (r == 0)
        r = st->ops->object_open(st, leaf, WR_OPEN_READ, &o, NULL);
    if (r < 0)
        return wr_err_is_lack(r) ? r : 0;
    n = o->ops->read(o, first, sizeof(first), 0, NULL);
    o->ops->close(o, /* sync= */ false, NULL);
    return n == 8 && (!memcmp(first, WR_WT_MAGIC, 8) ||
                      !memcmp(first, "\x93NUMPY", 6))
               ? 60
               : 0;
}

static int tensor_probe(struct wr_store *st, const char *leaf)
{
    struct tensor_look look = {0};
    int r;

    if (leaf)
        return is_tensor_name(leaf) || is_labels_name(leaf)
                   ? 100
                   : probe_magic(st, leaf);
    r = st->ops->list(st, "", look_at, &look, NULL);
    if (wr_err_is_lack(r))
        return r;
    return look.found ? 90 : 0;
}

const struct wr_format_ops wr_format_tensor = {
    .name = "tensor",
    .help = "raw samples: .npy and .wt files, or a folder of them",
    .tensors = true,
    .probe = tensor_probe,
    .index = tensor_index,
};
