/* test_tiles.c - arrays that were cut are whole again.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "codec/tiles.h"

#define ROUNDS 300

/* The place of an element in the tile of its own, as slowly as can be. */
static void cut(const struct wr_tiles *t, const uint8_t *all, uint8_t *out)
{
    uint64_t values = 1, bytes = wr_tiles_bytes(t);

    for (uint32_t k = 0; k < t->ndim; k++)
        values *= t->dims[k];
    for (uint64_t v = 0; v < values; v++) {
        uint64_t rest = v, tile = 0, inside = 0, tile_step = 1, in_step = 1;

        for (uint32_t k = t->ndim; k-- > 0;) {
            uint64_t at = rest % t->dims[k];

            rest /= t->dims[k];
            tile += at / t->tile[k] * tile_step;
            inside += at % t->tile[k] * in_step;
            tile_step *= (t->dims[k] + t->tile[k] - 1) / t->tile[k];
            in_step *= t->tile[k];
        }
        memcpy(out + tile * bytes + inside * t->elem, all + v * t->elem,
               t->elem);
    }
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t r = 0; r < ROUNDS; r++) {
        struct wr_tiles t = {.ndim = 1 + (uint32_t)(wr_rng_at(1, r, 0) % 5),
                             .elem = 1u << wr_rng_at(1, r, 1) % 4};
        uint64_t bytes = t.elem, count;
        uint8_t *all, *pieces, *again, *out;

        for (uint32_t k = 0; k < t.ndim; k++) {
            t.dims[k] = 1 + wr_rng_at(2, r, k) % 9;
            t.tile[k] = 1 + wr_rng_at(3, r, k) % 11;
            bytes *= t.dims[k];
        }
        count = wr_tiles_count(&t);
        all = malloc(bytes);
        out = calloc(1, bytes);
        pieces = malloc(count * wr_tiles_bytes(&t));
        memset(pieces, 0xee, count * wr_tiles_bytes(&t));
        for (uint64_t k = 0; k < bytes; k++)
            all[k] = (uint8_t)wr_rng_at(4, r, k);
        cut(&t, all, pieces);
        for (uint64_t k = 0; k < count; k++)
            wr_tiles_place(&t, k, pieces + k * wr_tiles_bytes(&t), out);
        assert_memory_equal(out, all, bytes);
        again = malloc(count * wr_tiles_bytes(&t));
        memset(again, 0xee, count * wr_tiles_bytes(&t));
        for (uint64_t k = 0; k < count; k++)
            wr_tiles_take(&t, k, all, again + k * wr_tiles_bytes(&t));
        assert_memory_equal(again, pieces, count * wr_tiles_bytes(&t));
        free(again);
        free(all);
        free(out);
        free(pieces);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
