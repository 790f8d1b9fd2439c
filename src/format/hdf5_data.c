/* hdf5_data.c - where the elements of a dataset lie, and all of a short one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/hdf5_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "codec/filters.h"
#include "format/npz.h"

static struct wr_unit fill_unit(const struct wr_h5_array *a, uint64_t bytes)
{
    struct wr_unit u = {.inflated = bytes,
                        .filters = WR_FILTERS(WR_FILTER_FILL, 0, 0, 0),
                        .argument = a->said.size};

    memcpy(&u.offset, a->said.fill, sizeof(u.offset));
    return u;
}

/* The unit that chunk `k` is. */
static struct wr_unit add_h5_unit(const struct wr_h5_data *d, uint64_t k)
{
    const struct wr_h5_array *a = d->array;
    const struct wr_h5_place *p = &d->places[k];

    if (p->address == WR_H5_UNALLOCATED)
        return fill_unit(a, a->chunk_bytes);
    return (struct wr_unit){.offset = p->address,
                            .stored = p->stored,
                            .inflated = a->chunk_bytes,
                            .filters = wr_h5_filters(a, p->mask),
                            .argument = a->said.element};
}

/* --- all elements --- */

/* Chunk `k` into `out`, which has room for it. */
static int read_chunk(const struct wr_h5_data *d, struct wr_object *o,
                      uint64_t k, uint8_t *out, weir_err *err)
{
    const struct wr_unit u = add_h5_unit(d, k);
    const struct wr_packing packing = wr_unit_packing(&u);
    uint8_t *stored;
    int r;

    if (!u.filters)
        return wr_object_read_fully(o, out, u.stored, u.offset, err);
    stored = malloc(u.stored + 1);
    r = stored ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0 && u.stored)
        r = wr_object_read_fully(o, stored, u.stored, u.offset, err);
    if (r == 0)
        r = wr_filters_undo(&packing, stored, out, err);
    free(stored);
    return r;
}

static int read_chunks(const struct wr_h5_data *d, struct wr_object *o,
                       uint8_t *out, weir_err *err)
{
    const struct wr_h5_array *a = d->array;
    uint64_t done = 0, n;
    uint8_t *chunk = malloc(a->chunk_bytes + 1);
    int r = chunk ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    for (uint64_t k = 0; k < a->chunks && r == 0; k++, done += n) {
        n = WR_MIN(a->chunk_bytes, a->bytes - done);
        r = read_chunk(d, o, k, chunk, err);
        if (r == 0)
            memcpy(out + done, chunk, n);
    }
    free(chunk);
    return r;
}

int wr_h5_values(const struct wr_h5_data *d, struct wr_object *o, void **ret,
                 weir_err *err)
{
    const struct wr_h5_array *a = d->array;
    const struct wr_unit fill = fill_unit(a, a->bytes);
    const struct wr_packing packing = wr_unit_packing(&fill);
    uint8_t *all;
    int r;

    if (a->bytes > WR_ARRAY_WHOLE || a->chunk_bytes > WR_ARRAY_WHOLE)
        return wr_fail(err, WEIR_ELIMIT,
                       "dataset '/%s': %" PRIu64
                       " bytes of numbers, over 2 GiB",
                       wr_show(a->said.name).text, a->bytes);
    all = malloc(a->bytes + 1);
    if (!all)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (a->said.layout == WR_H5_CONTIGUOUS)
        r = wr_object_read_fully(o, all, a->bytes, a->said.address, err);
    else if (a->said.layout == WR_H5_CHUNKED)
        r = read_chunks(d, o, all, err);
    else
        r = wr_filters_undo(&packing, NULL, all, err);
    if (r < 0) {
        free(all);
        return wr_fail_prefix(err, r, "dataset '/%s'",
                              wr_show(a->said.name).text);
    }
    *ret = all;
    return 0;
}

/* --- samples --- */

static int add_contiguous(const struct wr_h5_array *a, struct wr_index *ix,
                          const struct wr_run *run, weir_err *err)
{
    struct wr_run at = *run;

    at.offset = a->said.address;
    wr_index_use_unit(ix, WR_NO_UNIT);
    return wr_index_add_run(ix, &at, err);
}

/* Samples of fill value are one unit. */
static int add_unwritten(const struct wr_h5_array *a, struct wr_index *ix,
                         const struct wr_run *run, weir_err *err)
{
    const struct wr_unit u = fill_unit(a, run->length);
    int64_t k = wr_index_add_unit(ix, &u, err);
    const struct wr_tile_run tiles = {.column = run->column,
                                      .unit = (uint64_t)k,
                                      .per = 1,
                                      .length = run->length,
                                      .count = run->count,
                                      .labels = run->labels};

    return k < 0 ? (int)k : wr_index_add_tiles(ix, &tiles, err);
}

/* Chunks lie in C order: those of one row of the first axis, which have the same
 * samples, follow each other. */
static int add_chunked(const struct wr_h5_data *d, struct wr_index *ix,
                       const struct wr_run *run, unsigned tiles, bool file,
                       weir_err *err)
{
    const struct wr_h5_array *a = d->array;
    uint64_t first = wr_index_unit_count(ix);
    int r = 0;

    for (uint64_t k = 0; k < a->chunks && r == 0; k++) {
        const struct wr_unit u = add_h5_unit(d, k);
        int64_t number = wr_index_add_unit(ix, &u, err);

        r = number < 0 ? (int)number : 0;
    }
    for (unsigned t = 0; t < tiles && r == 0; t++) {
        const struct wr_tile_run one = {.column = run->column + t,
                                        .unit = first + t,
                                        .step = tiles,
                                        .per = file ? 1 : a->said.chunk[0],
                                        .length = run->length,
                                        .count = run->count,
                                        .labels = t ? NULL : run->labels};

        r = wr_index_add_tiles(ix, &one, err);
    }
    return r;
}

int wr_h5_add(const struct wr_h5_data *d, struct wr_index *ix,
              const struct wr_run *run, unsigned tiles, bool file,
              weir_err *err)
{
    switch (d->array->said.layout) {
    case WR_H5_CONTIGUOUS:
        return add_contiguous(d->array, ix, run, err);
    case WR_H5_CHUNKED:
        return add_chunked(d, ix, run, tiles, file, err);
    default:
        return add_unwritten(d->array, ix, run, err);
    }
}
