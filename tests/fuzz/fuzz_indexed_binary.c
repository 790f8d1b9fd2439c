/* fuzz_indexed_binary.c - the index files of indexed binary files.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte of the input is the number of bytes (in units of 16) of the
 * data file, the second that of the offsets; then come offsets and sizes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "memory_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DATA, OFFSETS, SIZES };

struct ib_store {
    struct wr_store store;
    struct memory_object of[3];
};

static unsigned file_of(const char *path)
{
    return strstr(path, ".off.idx")  ? OFFSETS
           : strstr(path, ".sz.idx") ? SIZES
                                     : DATA;
}

static int ib_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                   weir_err *err)
{
    (void)err;
    *ret = (struct wr_stat){
        .kind = WR_KIND_FILE,
        .size = ((struct ib_store *)st)->of[file_of(path)].len};
    return 0;
}

static int ib_close(struct wr_object *o, bool sync, weir_err *err)
{
    (void)o;
    (void)sync;
    (void)err;
    return 0;
}

static const struct wr_object_ops object_ops = {.read = memory_read,
                                                .close = ib_close};

static int ib_open(struct wr_store *st, const char *path,
                   enum wr_open_mode mode, struct wr_object **ret,
                   weir_err *err)
{
    (void)mode;
    (void)err;
    *ret = &((struct ib_store *)st)->of[file_of(path)].base;
    return 0;
}

static const struct wr_storage_ops store_ops = {
    .name = "ib", .stat = ib_stat, .object_open = ib_open};

static void check(struct wr_index *ix, size_t size)
{
    weir_err err;
    struct wr_part p;

    if (wr_index_seal(ix, &err) < 0 || wr_schema_check(wr_index_schema(ix), 1))
        abort();
    for (uint64_t i = 0; i < wr_index_count(ix); i++) {
        wr_index_part(ix, 0, i, &p);
        if (p.offset > size || p.length > size - p.offset)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ib_store s = {.store.ops = &store_ops};
    weir_dataset_config cfg = {0};
    struct wr_index_job job = {.store = &s.store,
                               .leaf_store = &s.store,
                               .leaf = "a.indexed_binary",
                               .cfg = &cfg,
                               .index = wr_index_new()};
    size_t offsets;
    weir_err err;

    if (size >= 2 && job.index) {
        offsets = WR_MIN((size_t)data[1], size - 2);
        s.of[DATA] = memory_object(NULL, (size_t)data[0] * 16);
        s.of[OFFSETS] = memory_object(data + 2, offsets);
        s.of[SIZES] = memory_object(data + 2 + offsets, size - 2 - offsets);
        for (unsigned k = 0; k < 3; k++)
            s.of[k].base.ops = &object_ops;
        if (wr_format_indexed_binary.index(&job, &err) == 0)
            check(job.index, s.of[DATA].len);
    }
    wr_index_free(job.index);
    return 0;
}
