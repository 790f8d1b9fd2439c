/* test_collage.c - pictures put together from rows of others.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "decode.h"
#include "gen/collage.h"

static struct wr_collage *make(uint32_t count, unsigned threads, double mean)
{
    const struct wr_collage_config cfg = {.profile = &wr_photo_caltech,
                                          .seed = 3,
                                          .classes = 4,
                                          .count = count,
                                          .threads = threads,
                                          .mean_bytes = mean};
    struct wr_collage *c = NULL;

    assert_int_equal(wr_collage_new(&c, &cfg, NULL), 0);
    return c;
}

/* All are valid, of the size that was said, and none is like another. */
static void test_valid(void **state)
{
    struct wr_collage *c = make(24, 2, 0);
    struct wr_bytes b = {0}, before = {0}, swap;
    double sum = 0;

    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        struct wr_picture_info info;
        struct decoded d;

        b.len = 0;
        assert_int_equal(wr_collage_make(c, i, &b, &info, NULL), 0);
        assert_int_equal(decode(b.bytes, b.len, &d), 0);
        assert_int_equal(d.warnings, 0);
        assert_int_equal(d.width, info.width);
        assert_int_equal(d.height, info.height);
        assert_true(b.len != before.len ||
                    memcmp(b.bytes, before.bytes, b.len) != 0);
        sum += (double)b.len;
        free(d.pixels);
        swap = b;
        b = before;
        before = swap;
    }
    sum /= 200;
    assert_true(sum > 0.75 * wr_collage_mean(c));
    assert_true(sum < 1.25 * wr_collage_mean(c));
    free(b.bytes);
    free(before.bytes);
    wr_collage_free(c);
}

static void test_function_of_number(void **state)
{
    struct wr_collage *one = make(9, 1, 0), *three = make(9, 3, 0);
    struct wr_bytes a = {0}, b = {0};

    (void)state;
    for (uint64_t i = 0; i < 20; i++) {
        a.len = b.len = 0;
        assert_int_equal(wr_collage_make(one, i, &a, NULL, NULL), 0);
        assert_int_equal(wr_collage_make(three, i, &b, NULL, NULL), 0);
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.bytes, b.bytes, a.len);
    }
    for (uint32_t k = 0; k < 9; k++) {
        struct wr_slice s = wr_collage_drawn(one, k);
        struct wr_slice t = wr_collage_drawn(three, k);

        assert_int_equal(s.len, t.len);
        assert_memory_equal(s.bytes, t.bytes, s.len);
    }
    free(a.bytes);
    free(b.bytes);
    wr_collage_free(one);
    wr_collage_free(three);
}

/* Fewer pictures than classes: those of other classes stand in. */
static void test_few(void **state)
{
    struct wr_collage *c = make(2, 1, 0);
    struct wr_bytes b = {0};

    (void)state;
    assert_int_equal(wr_collage_make(c, 3, &b, NULL, NULL), 0);
    free(b.bytes);
    wr_collage_free(c);
    wr_collage_free(NULL);
}

/* Sides grow with the root of the bytes. */
static void test_scaled(void **state)
{
    struct wr_collage *usual = make(16, 2, 0), *large = make(16, 2, 4 * 115000);

    (void)state;
    assert_true(wr_collage_mean(large) > 3.3 * wr_collage_mean(usual));
    assert_true(wr_collage_mean(large) < 4.7 * wr_collage_mean(usual));
    wr_collage_free(usual);
    wr_collage_free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_function_of_number),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_scaled),
    };

    return cmocka_run_group_tests_name("collage", tests, NULL, NULL);
}
