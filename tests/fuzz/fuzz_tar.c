/* fuzz_tar.c - tar archives, plain and gzip, from bytes to index.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte of the input says whether the headers' checksums are put
 * right: chance alone seldom does. The rest is the archive. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/format.h"
#include "format/tarmember.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A store whose only file is the archive. */
struct tar_store {
    struct wr_store store;
    struct wr_object object;
    uint8_t *data; /* owned */
    size_t size;
};

static int tar_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                    weir_err *err)
{
    (void)path;
    (void)err;
    *ret = (struct wr_stat){.kind = WR_KIND_FILE,
                            .size = ((struct tar_store *)st)->size};
    return 0;
}

static int64_t tar_read(struct wr_object *o, void *buf, size_t len,
                        uint64_t offset, weir_err *err)
{
    struct tar_store *ts =
        (struct tar_store *)((char *)o - offsetof(struct tar_store, object));
    size_t n;

    (void)err;
    if (offset >= ts->size)
        return 0;
    n = WR_MIN(len, ts->size - (size_t)offset);
    memcpy(buf, ts->data + offset, n);
    return (int64_t)n;
}

static int tar_close(struct wr_object *o, bool sync, weir_err *err)
{
    (void)o;
    (void)sync;
    (void)err;
    return 0;
}

static const struct wr_object_ops object_ops = {.read = tar_read,
                                                .close = tar_close};

static int tar_open(struct wr_store *st, const char *path,
                    enum wr_open_mode mode, struct wr_object **ret,
                    weir_err *err)
{
    (void)path;
    (void)mode;
    (void)err;
    *ret = &((struct tar_store *)st)->object;
    return 0;
}

static const struct wr_storage_ops store_ops = {
    .name = "tar", .stat = tar_stat, .object_open = tar_open};

static void fix_checksum(uint8_t *block)
{
    unsigned sum = 0;

    memset(block + 148, ' ', 8);
    for (unsigned k = 0; k < WR_TAR_BLOCK; k++)
        sum += block[k];
    if (sum > 8 * ' ') /* zeros stay the end */
        snprintf((char *)block + 148, 8, "%06o", sum & 0777777);
    else
        memset(block + 148, 0, 8);
}

/* A part lies in its archive; an array of fixed size is as long as that. */
static void check_part(const struct wr_index *ix, unsigned column, uint64_t i,
                       size_t size)
{
    const struct wr_field *f = &wr_index_schema(ix)->fields[column];
    uint64_t end = size, span = wr_field_span(f);
    struct wr_part p;

    wr_index_part(ix, column, i, &p);
    if (wr_part_is_packed(&p))
        end = wr_index_unit(ix, p.unit)->inflated;
    if (f->column != column || p.offset > end || p.length > end - p.offset ||
        (p.label != WEIR_NO_LABEL && p.label >= wr_index_class_count(ix)) ||
        (span && !p.absent && p.length != span))
        abort();
}

static void check_sample(const struct wr_index *ix, uint64_t i, size_t size)
{
    const char *key = wr_index_sample_name(ix, i);

    for (unsigned c = 0; c < wr_index_columns(ix); c++)
        check_part(ix, c, i, size);
    if (!key || strlen(key) > WR_TAR_MAX_NAME ||
        wr_tar_name_check(key, NULL) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tar_store ts = {.store.ops = &store_ops, .object.ops = &object_ops};
    weir_dataset_config cfg = {0};
    struct wr_index_job job = {.store = &ts.store,
                               .leaf_store = &ts.store,
                               .leaf = "a.tar",
                               .cfg = &cfg,
                               .index = wr_index_new()};
    weir_err err;

    if (size < 1 || !job.index || !(ts.data = malloc(size)))
        goto out;
    ts.size = size - 1;
    memcpy(ts.data, data + 1, ts.size);
    for (size_t k = 0; data[0] & 1 && k + WR_TAR_BLOCK <= ts.size;
         k += WR_TAR_BLOCK)
        fix_checksum(ts.data + k);
    if (wr_format_tar.index(&job, &err) == 0 &&
        wr_index_seal(job.index, &err) == 0) {
        if (wr_schema_check(wr_index_schema(job.index),
                            wr_index_columns(job.index)) != NULL)
            abort();
        for (uint64_t i = 0; i < wr_index_count(job.index); i++)
            check_sample(job.index, i, ts.size);
    }
out:
    free(ts.data);
    wr_index_free(job.index);
    return 0;
}
