/* fuzz_tfrecord.c - shards and their index files, from bytes to samples.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte of the input holds flags: 1: the checksums are put right
 * (chance alone never does); 2: an index file lies beside the shard, whose
 * length is the second byte and which comes before the shard. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/crc32c.h"
#include "format/decode.h"
#include "format/format.h"
#include "format/tfrecord.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct file {
    struct wr_object object;
    const char *name;
    uint8_t *data; /* owned; NULL: there is no such file */
    size_t size;
};

/* A store of two files. */
struct two_store {
    struct wr_store store;
    struct file shard, idx;
};

static struct file *find(struct wr_store *st, const char *path)
{
    struct two_store *ts = (struct two_store *)st;

    if (!strcmp(path, ts->shard.name))
        return &ts->shard;
    return ts->idx.data && !strcmp(path, ts->idx.name) ? &ts->idx : NULL;
}

static int two_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                    weir_err *err)
{
    const struct file *f = find(st, path);

    if (!f)
        return wr_fail(err, WEIR_ENOENT, "not there");
    *ret = (struct wr_stat){.kind = WR_KIND_FILE, .size = f->size};
    return 0;
}

static int64_t two_read(struct wr_object *o, void *buf, size_t len,
                        uint64_t offset, weir_err *err)
{
    const struct file *f = (const struct file *)o;
    size_t n;

    (void)err;
    if (offset >= f->size)
        return 0;
    n = WR_MIN(len, f->size - (size_t)offset);
    memcpy(buf, f->data + offset, n);
    return (int64_t)n;
}

static int two_close(struct wr_object *o, bool sync, weir_err *err)
{
    (void)o;
    (void)sync;
    (void)err;
    return 0;
}

static const struct wr_object_ops object_ops = {.read = two_read,
                                                .close = two_close};

static int two_open(struct wr_store *st, const char *path,
                    enum wr_open_mode mode, struct wr_object **ret,
                    weir_err *err)
{
    struct file *f = find(st, path);

    (void)mode;
    if (!f)
        return wr_fail(err, WEIR_ENOENT, "not there");
    f->object.ops = &object_ops;
    *ret = &f->object;
    return 0;
}

static const struct wr_storage_ops store_ops = {
    .name = "two", .stat = two_stat, .object_open = two_open};

static void put_crc(uint8_t *to, const uint8_t *bytes, size_t len)
{
    uint32_t crc = wr_crc32c_mask(wr_crc32c(0, bytes, len));

    for (unsigned k = 0; k < 4; k++)
        to[k] = (uint8_t)(crc >> (8 * k));
}

static void mend(struct file *f)
{
    size_t at = 0;

    while (f->size - at >= WR_TFRECORD_EXTRA) {
        uint64_t len = 0;

        put_crc(f->data + at + 8, f->data + at, 8);
        if (!wr_tfrecord_header(f->data + at, &len))
            abort();
        if (len > f->size - at - WR_TFRECORD_EXTRA)
            return;
        at += WR_TFRECORD_HEADER;
        put_crc(f->data + at + len, f->data + at, (size_t)len);
        at += (size_t)len + 4;
    }
}

/* Bytes of the sample, or of the scratch. */
static void check_fields(const struct wr_index *ix, const struct wr_unpack *u,
                         const struct wr_sample *s)
{
    for (unsigned k = 0; k < wr_index_schema(ix)->count; k++) {
        const struct wr_slice *x = &u->fields[k];
        bool in = x->bytes >= s->bytes && x->len <= s->len &&
                  x->bytes + x->len <= s->bytes + s->len;
        bool made = x->bytes >= u->scratch && x->len <= u->cap &&
                    x->bytes + x->len <= u->scratch + u->cap;

        if (x->bytes && !in && !made)
            abort();
    }
}

static void check_samples(const struct wr_index *ix, const struct file *f,
                          struct wr_unpack *u)
{
    for (uint64_t i = 0; i < wr_index_count(ix); i++) {
        struct wr_part p;
        struct wr_sample s;
        weir_err err;

        wr_index_part(ix, 0, i, &p);
        if (wr_part_is_packed(&p))
            continue;
        if (p.offset > f->size || p.length > f->size - p.offset)
            abort();
        s = (struct wr_sample){.bytes = f->data + p.offset,
                               .len = (size_t)p.length};
        if (wr_format_tfrecord.unpack(ix, 0, &s, u, &err) == 0)
            check_fields(ix, u, &s);
    }
}

static void take(struct file *f, const uint8_t *data, size_t size)
{
    f->data = malloc(size ? size : 1);
    if (!f->data)
        abort();
    if (size)
        memcpy(f->data, data, size);
    f->size = size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const weir_dataset_config cfg = {.format = NULL};
    struct two_store ts = {.store = {.ops = &store_ops},
                           .shard = {.name = "a.tfrecord"},
                           .idx = {.name = "a.idx"}};
    struct wr_index_job job = {
        .store = &ts.store, .leaf = "a.tfrecord", .cfg = &cfg};
    size_t used = 1;
    weir_err err;

    if (size < 2)
        return 0;
    if (data[0] & 2) {
        size_t len = WR_MIN((size_t)data[1], size - 2);

        take(&ts.idx, data + 2, len);
        used = 2 + len;
    }
    take(&ts.shard, data + used, size - used);
    if (data[0] & 1)
        mend(&ts.shard);
    job.index = wr_index_new();
    if (job.index && wr_format_tfrecord.index(&job, &err) == 0) {
        const struct wr_schema *s = wr_index_schema(job.index);
        struct wr_unpack u;

        if (wr_schema_check(s, 1) || wr_unpack_init(&u, s, &err) < 0)
            abort();
        for (unsigned k = 0; k < s->count; k++)
            u.wanted[k] = true;
        check_samples(job.index, &ts.shard, &u);
        wr_unpack_done(&u);
    }
    wr_format_probe(&wr_format_tfrecord, &ts.store, "a.tfrecord");
    wr_index_free(job.index);
    free(ts.shard.data);
    free(ts.idx.data);
    return 0;
}
