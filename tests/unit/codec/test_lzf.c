/* test_lzf.c - what LibLZF packs, and what is none; fill values.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "codec/filters.h"
#include "codec/h5_filters.h"

static void test_good(void **state)
{
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } good[] = {
        {"\003abcd", 5, "abcd"},
        {"\003abcd\300\003", 7, "abcdabcdabcd"},     /* 6 + 2 from 4 back */
        {"\000a\340\005\000", 5, "aaaaaaaaaaaaaaa"}, /* 7 + 5 + 2 from 1 back */
        {"\001ab\040\001\000c", 7, "ababac"}         /* 1 + 2 from 2 back */
    };
    uint8_t out[64];
    size_t at;

    (void)state;
    for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++) {
        size_t want = strlen(good[k].out);

        assert_int_equal(wr_lzf_undo(good[k].in, good[k].len, out, want, &at),
                         true);
        assert_int_equal(at, good[k].len);
        assert_memory_equal(out, good[k].out, want);
        /* Any other size is wrong. */
        assert_false(wr_lzf_undo(good[k].in, good[k].len, out, want - 1, &at));
        assert_false(wr_lzf_undo(good[k].in, good[k].len, out, want + 1, &at));
    }
}

static void test_bad(void **state)
{
    static const struct {
        const char *in;
        size_t len;
    } bad[] = {
        {"\003abc", 4},           /* literals that end early */
        {"\040", 1},              /* no distance */
        {"\040\000", 2},          /* back before the beginning */
        {"\000a\040\001", 4},     /* the same, by one */
        {"\000a\340", 3},         /* no length */
        {"\000a\340\377\000", 5}, /* longer than what is wanted */
    };
    uint8_t out[16];
    size_t at;

    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        assert_false(wr_lzf_undo(bad[k].in, bad[k].len, out, 4, &at));
}

static void test_fill(void **state)
{
    const float value = 2.5f;
    struct wr_packing p = {.filters = WR_FILTER_FILL,
                           .argument = sizeof(value),
                           .inflated = 7 * sizeof(value)};
    float out[7];
    weir_err err;

    (void)state;
    memcpy(&p.fill, &value, sizeof(value));
    assert_int_equal(wr_filters_undo(&p, NULL, out, NULL), 0);
    for (unsigned k = 0; k < 7; k++)
        assert_true(out[k] == value);
    p.argument = 3;
    assert_int_equal(wr_filters_check(&p, &err), WEIR_EFORMAT);
    p.argument = 4;
    p.stored = 1;
    assert_int_equal(wr_filters_check(&p, &err), WEIR_EFORMAT);
    p.stored = 0;
    p.filters = WR_FILTERS(WR_FILTER_FILL, WR_FILTER_SHUFFLE, 0, 0);
    assert_int_equal(wr_filters_check(&p, &err), WEIR_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_fill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
