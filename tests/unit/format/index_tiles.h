/* index_tiles.h - an index of samples that are cut into tiles.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_INDEX_TILES_H
#define TEST_FORMAT_INDEX_TILES_H

#include "codec/filters.h"
#include "format/index.h"

static inline void index_object(struct wr_index *ix, const char *dir,
                                const char *name, uint64_t size)
{
    int64_t d = wr_index_add_dir(ix, dir, NULL);

    assert_true(d >= 0);
    assert_true(wr_index_add_object(ix, d, name, size, NULL) >= 0);
}

/* Seven samples of 6 bytes, cut into two tiles of 4; three in a unit. */
static inline void index_add_tiles(struct wr_index *ix)
{
    static const uint32_t labels[7] = {1, 0, 2, 2, 1, 0, 0};
    const struct wr_field x = {
        .pub = {.dtype = WEIR_U8, .ndim = 1, .dims = {6}},
        .name = "x",
        .tiled = true,
        .tile = {4}};

    index_object(ix, "", "a.h5", 1000);
    for (unsigned k = 0; k < 6; k++) {
        struct wr_unit u = {.offset = 100 * k, .stored = 12, .inflated = 12};

        if (k == 1)
            u.filters = WR_FILTER_ZLIB;
        if (k == 4)
            u = (struct wr_unit){.offset = UINT64_MAX,
                                 .inflated = 12,
                                 .filters = WR_FILTER_FILL,
                                 .argument = 1};
        assert_int_equal(wr_index_add_unit(ix, &u, NULL), k);
    }
    for (unsigned t = 0; t < 2; t++) {
        const struct wr_tile_run run = {.column = t,
                                        .unit = t,
                                        .step = 2,
                                        .per = 3,
                                        .length = 4,
                                        .count = 7,
                                        .labels = t ? NULL : labels};

        assert_int_equal(wr_index_add_tiles(ix, &run, NULL), 0);
    }
    assert_int_equal(wr_index_add_field(ix, &x, NULL), 0);
}

#endif
