/* indexed_binary_make.c - an indexed binary file that weir writes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: indexed-binary-make FOLDER NAME SAMPLES VALUES
 * Sample i has the numbers i * VALUES, i * VALUES + 1 ... as f32. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "format/writer.h"

static int fail(const char *what, const weir_err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->msg);
    return 1;
}

static int put(const struct wr_array_writer_ops *ops, struct wr_array_out *w,
               uint64_t samples, size_t values, weir_err *err)
{
    float *v = malloc(values * sizeof(*v));
    const struct wr_slice x = {(const uint8_t *)v, values * sizeof(*v)};
    uint64_t size;
    int r = v ? 0 : WEIR_ENOMEM;

    for (uint64_t i = 0; i < samples && r == 0; i++) {
        for (size_t k = 0; k < values; k++)
            v[k] = (float)(i * values + k);
        r = ops->add(w, &x, err);
    }
    free(v);
    return r < 0 ? r : ops->finish(w, &size, err);
}

static int put_side(void *folder, const char *path, const void *bytes,
                    size_t len, weir_err *err)
{
    char name[4096];
    FILE *f;

    snprintf(name, sizeof(name), "%s/%s", (const char *)folder, path);
    f = fopen(name, "wb");
    if (!f || fwrite(bytes, 1, len, f) != len || fclose(f))
        return wr_fail(err, WEIR_EIO, "'%s': cannot be written", name);
    return 0;
}

int main(int argc, char **argv)
{
    const struct wr_array_writer_ops *ops = &wr_array_writer_indexed_binary;
    weir_field x = {.kind = WEIR_FIELD_TENSOR, .dtype = WEIR_F32, .ndim = 1};
    struct wr_array_layout l = {.fields = &x, .count = 1};
    struct wr_array_out *w = NULL;
    struct wr_store *st = NULL;
    struct wr_object *o = NULL;
    char *leaf = NULL;
    weir_err err;
    int r;

    if (argc != 5)
        return 2;
    l.samples = strtoull(argv[3], NULL, 10);
    x.dims[0] = strtoull(argv[4], NULL, 10);
    if (wr_store_open(argv[1], &st, &leaf, &err) < 0 ||
        st->ops->object_open(st, argv[2], WR_OPEN_CREATE, &o, &err) < 0)
        return fail("cannot write", &err);
    r = ops->open(o, &l, &w, &err);
    if (r == 0)
        r = put(ops, w, l.samples, (size_t)x.dims[0], &err);
    if (r == 0)
        r = wr_array_writer_sides(
            ops, w, &(struct wr_side_sink){argv[2], put_side, argv[1]}, &err);
    ops->free(w);
    o->ops->close(o, /* sync= */ false, NULL);
    wr_store_close(st);
    free(leaf);
    return r < 0 ? fail("cannot write", &err) : 0;
}
