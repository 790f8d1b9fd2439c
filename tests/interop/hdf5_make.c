/* hdf5_make.c - writes an HDF5 file of every type, for other programs to read.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: hdf5_make FOLDER NAME PLANNED SAMPLES
 * Byte k of sample i of field number f is (i * 31 + k * 7 + f) % 64; of type bool
 * its lowest bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "format/writer.h"

#define DIM 600

static const weir_field fields[] = {
    {.name = "x", .dtype = WEIR_F32, .ndim = 2, .dims = {DIM, 3}},
    {.name = "half", .dtype = WEIR_F16, .ndim = 1, .dims = {5}},
    {.name = "group/double", .dtype = WEIR_F64, .ndim = 1, .dims = {5}},
    {.name = "u8", .dtype = WEIR_U8, .ndim = 1, .dims = {DIM}},
    {.name = "i8", .dtype = WEIR_I8, .ndim = 1, .dims = {7}},
    {.name = "i16", .dtype = WEIR_I16, .ndim = 1, .dims = {7}},
    {.name = "u16", .dtype = WEIR_U16, .ndim = 1, .dims = {7}},
    {.name = "i32", .dtype = WEIR_I32, .ndim = 1, .dims = {7}},
    {.name = "u32", .dtype = WEIR_U32, .ndim = 1, .dims = {7}},
    {.name = "i64", .dtype = WEIR_I64, .ndim = 1, .dims = {7}},
    {.name = "u64", .dtype = WEIR_U64, .ndim = 1, .dims = {7}},
    {.name = "bool", .dtype = WEIR_BOOL, .ndim = 1, .dims = {7}},
    {.name = "labels", .dtype = WEIR_I64},
};

#define COUNT (sizeof(fields) / sizeof(fields[0]))

static struct wr_chunk_dims chunks[COUNT];

/* Each side about two thirds, so that chunks stick out; the last is contiguous. */
static void set_chunks(uint64_t samples)
{
    for (size_t f = 0; f + 1 < COUNT; f++) {
        chunks[f] = (struct wr_chunk_dims){fields[f].ndim + 1, {samples}};
        for (uint32_t d = 0; d < fields[f].ndim; d++)
            chunks[f].dims[d + 1] = fields[f].dims[d] * 2 / 3;
    }
}

static int fail(const weir_err *err)
{
    printf("hdf5_make: %s\n", err->msg);
    return 1;
}

static int add(struct wr_array_out *w, uint64_t i, weir_err *err)
{
    struct wr_slice slices[COUNT];
    static uint8_t bytes[COUNT][DIM * 12];

    for (size_t f = 0; f < COUNT; f++) {
        size_t len = wr_dtype_bytes(fields[f].dtype);

        for (uint32_t d = 0; d < fields[f].ndim; d++)
            len *= fields[f].dims[d];
        for (size_t k = 0; k < len; k++) {
            bytes[f][k] = (uint8_t)((i * 31 + k * 7 + f) % 64);
            if (fields[f].dtype == WEIR_BOOL)
                bytes[f][k] &= 1;
        }
        slices[f] = (struct wr_slice){bytes[f], len};
    }
    return wr_array_writer_hdf5.add(w, slices, err);
}

int main(int argc, char **argv)
{
    struct wr_array_layout l = {.fields = fields, .count = COUNT};
    struct wr_array_out *w = NULL;
    struct wr_store *st = NULL;
    struct wr_object *o = NULL;
    uint64_t size, samples;
    char *leaf = NULL;
    weir_err err;

    if (argc != 5 && argc != 6)
        return 2;
    if (argc == 6) { /* chunks of so many samples */
        set_chunks(strtoull(argv[5], NULL, 10));
        l.chunks = chunks;
    }
    l.samples = strtoull(argv[3], NULL, 10);
    samples = strtoull(argv[4], NULL, 10);
    if (wr_store_open(argv[1], &st, &leaf, &err) < 0 ||
        st->ops->object_open(st, argv[2], WR_OPEN_CREATE, &o, &err) < 0 ||
        wr_array_writer_hdf5.open(o, &l, &w, &err) < 0)
        return fail(&err);
    for (uint64_t i = 0; i < samples; i++)
        if (add(w, i, &err) < 0)
            return fail(&err);
    if (wr_array_writer_hdf5.finish(w, &size, &err) < 0)
        return fail(&err);
    wr_array_writer_hdf5.free(w);
    if (o->ops->close(o, /* sync= */ false, &err) < 0)
        return fail(&err);
    wr_store_close(st);
    free(leaf);
    printf("%llu\n", (unsigned long long)size);
    return 0;
}
