/* one_file.h - a store of one file in memory (or two), and all samples of it unpacked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_ONE_FILE_H
#define FUZZ_ONE_FILE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/decode.h"
#include "format/format.h"
#include "format/index.h"

struct one_file {
    struct wr_store store;
    struct wr_object object;
    const char *name; /* borrowed */
    uint8_t *data;    /* owned */
    size_t size;
    struct one_file *beside; /* borrowed: another one; NULL: there is none */
};

static struct one_file *one_find(struct wr_store *st, const char *path)
{
    struct one_file *f = (struct one_file *)st;

    while (f && strcmp(path, f->name) != 0)
        f = f->beside;
    return f;
}

static int one_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                    weir_err *err)
{
    const struct one_file *f = one_find(st, path);

    if (!*path) {
        *ret = (struct wr_stat){.kind = WR_KIND_DIR};
        return 0;
    }
    if (!f)
        return wr_fail(err, WEIR_ENOENT, "not there");
    *ret = (struct wr_stat){.kind = WR_KIND_FILE, .size = f->size};
    return 0;
}

static int64_t one_read(struct wr_object *o, void *buf, size_t len,
                        uint64_t offset, weir_err *err)
{
    const struct one_file *f =
        (const struct one_file *)((char *)o -
                                  offsetof(struct one_file, object));
    size_t n;

    (void)err;
    if (offset >= f->size)
        return 0;
    n = WR_MIN(len, f->size - (size_t)offset);
    memcpy(buf, f->data + offset, n);
    return (int64_t)n;
}

static int one_close(struct wr_object *o, bool sync, weir_err *err)
{
    (void)o;
    (void)sync;
    (void)err;
    return 0;
}

static const struct wr_object_ops one_object_ops = {.read = one_read,
                                                    .close = one_close};

static int one_open(struct wr_store *st, const char *path,
                    enum wr_open_mode mode, struct wr_object **ret,
                    weir_err *err)
{
    struct one_file *f = one_find(st, path);

    (void)mode;
    if (!f)
        return wr_fail(err, WEIR_ENOENT, "not there");
    f->object.ops = &one_object_ops;
    *ret = &f->object;
    return 0;
}

static const struct wr_storage_ops one_store_ops = {
    .name = "one", .stat = one_stat, .object_open = one_open};

/* A slice lies in the sample or in the scratch. */
static void one_check(const struct wr_slice *x, const struct wr_unpack *u,
                      const struct wr_sample *s)
{
    bool in, made;

    if (!x->bytes)
        return;
    in = x->bytes >= s->bytes && x->bytes + x->len <= s->bytes + s->len;
    made = u->scratch && x->bytes >= u->scratch &&
           x->bytes + x->len <= u->scratch + u->cap;
    if (!in && !made)
        abort();
}

static void one_unpack(const struct wr_format_ops *f, const struct wr_index *ix,
                       const struct one_file *file, struct wr_unpack *u)
{
    const struct wr_schema *schema = wr_index_schema(ix);

    for (uint64_t i = 0; i < wr_index_count(ix); i++) {
        struct wr_part p;
        struct wr_sample s;
        uint8_t *copy;
        weir_err err;
        int r;

        wr_index_part(ix, 0, i, &p);
        if (wr_part_is_packed(&p))
            continue;
        if (p.offset > file->size || p.length > file->size - p.offset)
            abort();
        if (!f->unpack)
            continue;
        copy = malloc((size_t)p.length + !p.length); /* an end of its own */
        if (!copy)
            return;
        memcpy(copy, file->data + p.offset, (size_t)p.length);
        s = (struct wr_sample){
            .bytes = copy, .len = (size_t)p.length, .id = i, .label = p.label};
        for (unsigned k = 0; k < schema->count; k++)
            u->wanted[k] = i % 3 || k % 2;
        f->unpack(ix, 0, &s, NULL, &err);
        r = f->unpack(ix, 0, &s, u, &err);
        for (unsigned k = 0; r == 0 && k < schema->count; k++)
            one_check(&u->fields[k], u, &s);
        free(copy);
    }
}

/* Indexes the file as `f` does, and unpacks what it finds. */
static void one_file_run(const struct wr_format_ops *f, struct one_file *file,
                         const char *fragment, const char *schema)
{
    const weir_dataset_config cfg = {.schema = schema};
    struct wr_index *ix = wr_index_new();
    struct wr_index_job job = {.store = &file->store,
                               .leaf_store = &file->store,
                               .leaf = file->name,
                               .fragment = fragment,
                               .cfg = &cfg,
                               .index = ix};
    struct wr_unpack u = {0};
    weir_err err;

    file->store.ops = &one_store_ops;
    wr_format_probe(f, &file->store, file->name);
    if (ix && f->index(&job, &err) == 0 && wr_index_seal(ix, &err) == 0 &&
        wr_unpack_init(&u, wr_index_schema(ix), NULL) == 0)
        one_unpack(f, ix, file, &u);
    wr_unpack_done(&u);
    wr_index_free(ix);
}

#endif
