/* test_strided.c - an array whose elements lie apart -> one in C order.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/tiles.h"

static uint64_t elements(const struct wr_strides *s)
{
    uint64_t n = 1;

    for (uint32_t k = 0; k < s->ndim; k++)
        n *= s->dims[k];
    return n;
}

/* One element after the other, by division. */
static void check(const struct wr_strides *s)
{
    uint64_t span = wr_strides_span(s), n = elements(s);
    uint8_t *in = malloc(span), *out = malloc(n * s->elem);

    assert_non_null(in);
    assert_non_null(out);
    for (uint64_t k = 0; k < span; k++)
        in[k] = (uint8_t)(k * 31 + (k >> 8));
    wr_strides_gather(s, in, out);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t rest = i, from = 0;

        for (uint32_t k = s->ndim; k-- > 0; rest /= s->dims[k])
            from += rest % s->dims[k] * s->bytes[k];
        assert_true(from + s->elem <= span);
        assert_memory_equal(out + i * s->elem, in + from, s->elem);
    }
    free(in);
    free(out);
}

/* Strides of an array whose axes lie in the order `axes`, nearest first, with
 * `gap` elements between. */
static struct wr_strides laid(uint32_t elem, uint32_t ndim,
                              const uint64_t *dims, const uint32_t *axes,
                              uint64_t gap)
{
    struct wr_strides s = {.ndim = ndim, .elem = elem};
    uint64_t step = elem * (gap + 1);

    for (uint32_t k = 0; k < ndim; k++)
        s.dims[k] = dims[k];
    for (uint32_t k = 0; k < ndim; k++) {
        s.bytes[axes[k]] = step;
        step *= dims[axes[k]];
    }
    return s;
}

static void test_orders(void **state)
{
    static const uint32_t axes[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const uint64_t dims[][3] = {{5, 70, 33}, {64, 1, 32}, {1, 1, 9},
                                       {40, 3, 1},  {1, 1, 1},   {2, 35, 67}};

    (void)state;
    for (size_t a = 0; a < WR_ARRAY_LEN(axes); a++)
        for (size_t d = 0; d < WR_ARRAY_LEN(dims); d++)
            for (uint32_t elem = 1; elem <= 8; elem *= 2)
                for (uint64_t gap = 0; gap < 3; gap += 2) {
                    struct wr_strides s = laid(elem, 3, dims[d], axes[a], gap);

                    check(&s);
                }
}

static void test_few_dims(void **state)
{
    const struct wr_strides none = {.elem = 4};
    const struct wr_strides one = {
        .ndim = 1, .elem = 2, .dims = {77}, .bytes = {6}};

    (void)state;
    assert_int_equal(wr_strides_span(&none), 4);
    assert_int_equal(wr_strides_span(&one), 76 * 6 + 2);
    check(&none);
    check(&one);
}

static void test_eight_dims(void **state)
{
    static const uint64_t dims[] = {2, 3, 1, 4, 2, 3, 2, 5};
    static const uint32_t fortran[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct wr_strides s = laid(4, 8, dims, fortran, 0);

    (void)state;
    assert_int_equal(wr_strides_span(&s), elements(&s) * 4);
    check(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_few_dims),
        cmocka_unit_test(test_eight_dims),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
