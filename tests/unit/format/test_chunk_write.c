/* test_chunk_write.c - arrays in chunks, and HDF5 files of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "../gen/grown.h"
#include "base/dtype.h"
#include "format/chunks.h"
#include "format/hdf5_helper.h"
#include "format/writer.h"

#define AT 1000 /* where the chunks begin */

/* --- chunks alone --- */

/* Every byte at the place that an element has by the definition of chunks. */
static void check_bytes(const uint64_t *dims, const uint64_t *chunk,
                        const struct grown *g)
{
    const uint64_t across[3] = {(dims[0] + chunk[0] - 1) / chunk[0],
                                (dims[1] + chunk[1] - 1) / chunk[1],
                                (dims[2] + chunk[2] - 1) / chunk[2]};

    for (uint64_t v = 0; v < dims[0] * dims[1] * dims[2]; v++) {
        uint64_t i = v / dims[2] / dims[1], y = v / dims[2] % dims[1],
                 x = v % dims[2];
        uint64_t c = (i / chunk[0] * across[1] + y / chunk[1]) * across[2] +
                     x / chunk[2];
        uint64_t in = (i % chunk[0] * chunk[1] + y % chunk[1]) * chunk[2] +
                      x % chunk[2];
        uint64_t at = AT + c * chunk[0] * chunk[1] * chunk[2] + in;

        assert_true(at < g->len);
        assert_int_equal(g->bytes[at], (uint8_t)(v * 7 + 1));
    }
}

static void check_chunks(const uint64_t *dims, const uint64_t *chunk)
{
    const struct wr_tiles t = {.ndim = 2,
                               .elem = 1,
                               .dims = {dims[1], dims[2]},
                               .tile = {chunk[1], chunk[2]}};
    const uint64_t each = dims[1] * dims[2];
    uint8_t *sample = malloc(each);
    struct wr_chunk_write w;
    struct grown g;

    grown_init(&g);
    assert_non_null(sample);
    assert_int_equal(wr_chunk_write_init(&w, &t, chunk[0], NULL), 0);
    for (uint64_t i = 0; i < dims[0]; i++) {
        for (uint64_t k = 0; k < each; k++)
            sample[k] = (uint8_t)((i * each + k) * 7 + 1);
        assert_int_equal(wr_chunk_write_add(&w, sample, &g.base, AT, NULL), 0);
    }
    assert_int_equal(wr_chunk_write_flush(&w, &g.base, AT, NULL), 0);
    check_bytes(dims, chunk, &g);
    wr_chunk_write_done(&w);
    grown_done(&g);
    free(sample);
}

static void test_places(void **state)
{
    static const uint64_t cases[][6] = {
        {1, 1, 1, 1, 1, 1},           {7, 6, 8, 1, 6, 8},
        {7, 6, 8, 3, 6, 8},           {7, 6, 8, 7, 6, 8},
        {7, 6, 8, 3, 4, 3},           {7, 6, 8, 1, 1, 8},
        {50, 5, 7, 64, 2, 2},         {3, 700, 900, 2, 99, 100},
        {9, 1, 500000, 4, 1, 300000}, /* parts of chunks at a time */
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++)
        check_chunks(cases[k], cases[k] + 3);
}

static void test_full(void **state)
{
    const struct wr_tiles t = {.ndim = 1, .elem = 1, .dims = {4}, .tile = {4}};
    struct wr_chunk_write w;
    struct grown g;

    (void)state;
    grown_init(&g);
    g.full = true;
    assert_int_equal(wr_chunk_write_init(&w, &t, 2, NULL), 0);
    assert_int_equal(wr_chunk_write_add(&w, "abcd", &g.base, 0, NULL), 0);
    assert_int_equal(wr_chunk_write_add(&w, "abcd", &g.base, 0, NULL),
                     WEIR_ENOSPC);
    wr_chunk_write_done(&w);
    wr_chunk_write_done(&w);
    grown_done(&g);
}

/* --- HDF5 files --- */

#if WEIR_TEST_HDF5

struct h5_case {
    uint64_t planned, samples;
    uint64_t dims[2], chunk[3], want[3]; /* want: of the file's chunks */
};

static int open_file(struct grown *g, const weir_field *x,
                     const struct wr_chunk_dims *chunks, uint64_t planned,
                     struct wr_array_out **ret, weir_err *err)
{
    const weir_field fields[] = {*x, {.name = "y", .dtype = WEIR_I64}, *x};
    weir_field named[3];
    const struct wr_array_layout l = {
        .fields = named, .count = 3, .samples = planned, .chunks = chunks};

    memcpy(named, fields, sizeof(named));
    named[2].name = "z";
    grown_init(g);
    return wr_array_writer_hdf5.open(&g->base, &l, ret, err);
}

/* Dataset `k` of the file has its bytes where the helper says its chunks are. */
static void check_dataset(struct wr_h5_helper *h, const struct grown *g,
                          const struct h5_case *c, struct wr_h5_array *list,
                          size_t k)
{
    const struct wr_h5_array *a = &list[k];
    struct wr_h5_place *places = NULL;
    uint64_t wide = (c->dims[1] + c->want[2] - 1) / c->want[2];
    uint64_t high = (c->dims[0] + c->want[1] - 1) / c->want[1];

    assert_int_equal(a->said.layout, WR_H5_CHUNKED);
    assert_int_equal(a->said.dims[0], c->samples);
    assert_memory_equal(a->said.chunk, c->want, sizeof(c->want));
    assert_int_equal(wr_h5_places(h, k, a, &places, NULL), 0);
    for (uint64_t v = 0; v < c->samples * c->dims[0] * c->dims[1]; v++) {
        uint64_t x = v % c->dims[1], y = v / c->dims[1] % c->dims[0];
        uint64_t i = v / c->dims[1] / c->dims[0];
        uint64_t n = (i / c->want[0] * high + y / c->want[1]) * wide +
                     x / c->want[2];
        uint64_t in = (i % c->want[0] * c->want[1] + y % c->want[1]) *
                          c->want[2] +
                      x % c->want[2];

        if (g->bytes[places[n].address + in] != (uint8_t)(v * 7 + 1))
            fail_msg("element %" PRIu64 " is wrong", v);
    }
    for (uint64_t n = 1; n < a->chunks; n++)
        assert_int_equal(places[n].address,
                         places[n - 1].address + a->chunk_bytes);
    free(places);
}

static void check_file(struct grown *g, const struct h5_case *c)
{
    struct wr_h5_helper *h = NULL;
    struct wr_h5_array *list = NULL;
    size_t count;

    assert_int_equal(wr_h5_helper_new(&h, NULL), 0);
    assert_int_equal(wr_h5_open(h, &g->base, g->len, NULL), 0);
    assert_int_equal(wr_h5_list(h, NULL, 0, &list, &count, NULL), 0);
    assert_int_equal(count, 3);
    check_dataset(h, g, c, list, 0);
    assert_int_equal(list[1].said.layout, WR_H5_CONTIGUOUS);
    for (uint64_t i = 0; i < c->samples; i++) {
        int64_t y;

        memcpy(&y, g->bytes + list[1].said.address + i * sizeof(y), sizeof(y));
        assert_int_equal(y, i);
    }
    check_dataset(h, g, c, list, 2);
    free(list);
    wr_h5_helper_free(h);
}

static void write_file(const struct h5_case *c)
{
    const struct wr_array_writer_ops *ops = &wr_array_writer_hdf5;
    const weir_field x = {.name = "x",
                          .dtype = WEIR_U8,
                          .ndim = 2,
                          .dims = {c->dims[0], c->dims[1]}};
    const struct wr_chunk_dims cut = {3,
                                      {c->chunk[0], c->chunk[1], c->chunk[2]}};
    const struct wr_chunk_dims chunks[] = {cut, {0}, cut};
    const size_t each = c->dims[0] * c->dims[1];
    uint8_t *sample = malloc(each);
    struct wr_array_out *w = NULL;
    struct grown g;
    uint64_t size;
    weir_err err;

    assert_non_null(sample);
    if (open_file(&g, &x, chunks, c->planned, &w, &err) < 0)
        fail_msg("%s", err.msg);
    for (uint64_t i = 0; i < c->samples; i++) {
        const int64_t y = (int64_t)i;
        const struct wr_slice v[] = {
            {sample, each}, {(const uint8_t *)&y, sizeof(y)}, {sample, each}};

        for (size_t k = 0; k < each; k++)
            sample[k] = (uint8_t)((i * each + k) * 7 + 1);
        assert_int_equal(ops->add(w, v, NULL), 0);
    }
    if (ops->finish(w, &size, &err) < 0)
        fail_msg("%s", err.msg);
    ops->free(w);
    assert_int_equal(size, g.len);
    check_file(&g, c);
    grown_done(&g);
    free(sample);
}

static void test_files(void **state)
{
    static const struct h5_case cases[] = {
        {1, 1, {1, 1}, {1, 1, 1}, {1, 1, 1}},
        {11, 11, {6, 8}, {1, 6, 8}, {1, 6, 8}},
        {11, 11, {6, 8}, {11, 6, 8}, {11, 6, 8}}, /* one chunk */
        {11, 11, {6, 8}, {4, 4, 3}, {4, 4, 3}},   /* edges on all axes */
        {11, 11, {6, 8}, {99, 4, 8}, {11, 4, 8}},
        {40, 11, {6, 8}, {4, 4, 3}, {4, 4, 3}}, /* fewer than planned */
        {40, 11, {6, 8}, {20, 4, 3}, {11, 4, 3}},
        {12500, 12500, {8, 4}, {1, 1, 4}, {1, 1, 4}}, /* 100,000 chunks */
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++)
        write_file(&cases[k]);
}

static void refused(const struct wr_chunk_dims *cut, int code, const char *why)
{
    const struct wr_chunk_dims chunks[] = {*cut, {0}, {0}};
    const weir_field x = {
        .name = "x", .dtype = WEIR_U8, .ndim = 2, .dims = {70000, 70000}};
    struct wr_array_out *w = NULL;
    struct grown g;
    weir_err err = {0};

    assert_int_equal(open_file(&g, &x, chunks, 5, &w, &err), code);
    assert_null(w);
    if (!strstr(err.msg, why))
        fail_msg("'%s' is not in: %s", why, err.msg);
    grown_done(&g);
}

static void test_refused(void **state)
{
    (void)state;
    refused(&(struct wr_chunk_dims){2, {1, 1}}, WEIR_EINVAL, "2 dimensions");
    refused(&(struct wr_chunk_dims){3, {1, 0, 1}}, WEIR_EINVAL, "side 2");
    refused(&(struct wr_chunk_dims){3, {1, 1, 70001}}, WEIR_EINVAL, "side 3");
    refused(&(struct wr_chunk_dims){3, {1, 70000, 70000}}, WEIR_ELIMIT,
            "4 GiB");
}

#endif

/* Formats that have no chunks say so. */
static void test_others(void **state)
{
    const weir_field x = {.name = "x",
                          .kind = WEIR_FIELD_TENSOR,
                          .dtype = WEIR_U8,
                          .ndim = 1,
                          .dims = {4}};
    const struct wr_chunk_dims chunk = {2, {1, 2}};
    const struct wr_array_layout l = {
        .fields = &x, .count = 1, .samples = 2, .chunks = &chunk};

    (void)state;
    for (unsigned k = 0; wr_array_writer_at(k); k++) {
        const struct wr_array_writer_ops *ops = wr_array_writer_at(k);
        struct wr_array_out *w = NULL;
        struct grown g;

        if (ops->chunks)
            continue;
        grown_init(&g);
        assert_int_equal(ops->open(&g.base, &l, &w, NULL), WEIR_ENOTSUP);
        assert_null(w);
        grown_done(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_full),
#if WEIR_TEST_HDF5
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_refused),
#endif
        cmocka_unit_test(test_others),
    };

    return cmocka_run_group_tests_name("chunk-write", tests, NULL, NULL);
}
