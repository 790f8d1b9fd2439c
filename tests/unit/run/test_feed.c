/* test_feed.c - the batches of one accelerator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/feed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "runkit.h"

static void make_spec(struct runkit *k, struct wr_run_feed_spec *ret)
{
    *ret = (struct wr_run_feed_spec){.ds = k->ds, .readers = 2};
    weir_pipeline_defaults(&ret->cfg);
    ret->cfg.batch = 8;
    ret->cfg.threads = 1;
}

/* Whether the samples themselves are in it, not only their numbers. */
static bool has_bytes(const weir_batch *b)
{
    for (uint32_t k = 0; k < b->field_count; k++)
        if (b->fields[k].data && b->fields[k].kind != WEIR_FIELD_SCALAR)
            return true;
    return false;
}

static void what_is_delivered(void **state)
{
    static const enum wr_wl_consume ways[] = {WR_WL_DROP, WR_WL_READ,
                                              WR_WL_DECODE};

    for (size_t i = 0; i < 3; i++) {
        struct wr_run_feed_spec spec;
        struct wr_run_feed f;
        struct wr_meter *m;
        struct wr_meter_counts *c = malloc(sizeof(*c));
        const weir_batch *b;
        uint64_t batches = 0;
        weir_err why;

        make_spec(*state, &spec);
        spec.consume = ways[i];
        assert_int_equal(wr_meter_new(&m, NULL), 0);
        if (wr_run_feed_open(&f, &spec, &spec.cfg, m, &why) < 0)
            fail_msg("%s", why.msg);
        while (wr_run_feed_next(&f, &b, NULL) > 0) {
            assert_int_equal(b->count, 8);
            assert_int_equal(has_bytes(b), ways[i] != WR_WL_DROP);
            weir_batch_release(b);
            batches++;
        }
        assert_int_equal(batches, KIT_SAMPLES / 8);
        wr_run_feed_close(&f);
        wr_meter_take(m, c);
        assert_true(c->bytes >= KIT_SAMPLES * 300);
        wr_meter_free(m);
        free(c);
    }
}

/* Readers that take a time for each sample hold batches up, and start ahead. */
static void preprocessing_takes_its_time(void **state)
{
    struct wr_run_feed_spec spec;
    struct wr_run_feed f;
    const weir_batch *b;
    uint64_t start;

    make_spec(*state, &spec);
    spec.ds = NULL; /* nothing is read */
    spec.preprocess = (struct wr_wl_time){.law = WR_WL_FIXED, .a = 0.001};
    assert_int_equal(wr_run_feed_open(&f, &spec, &spec.cfg, NULL, NULL), 0);
    start = wr_clock_ns();
    for (int k = 0; k < 5; k++)
        assert_int_equal(wr_run_feed_next(&f, &b, NULL), 1);
    /* five batches of eight samples by two readers: never sooner */
    assert_true(wr_clock_ns() - start >= 5 * 4 * WR_NS_PER_MS);
    wr_run_feed_close(&f);
}

/* The samples of two epochs, in their order. */
static void take_two(struct runkit *k, bool same_order, enum weir_order order,
                     uint64_t ids[2][KIT_SAMPLES])
{
    struct wr_run_feed_spec spec;
    struct wr_run_feed f;
    struct wr_meter *m;
    const weir_batch *b;
    size_t n = 0;

    make_spec(k, &spec);
    spec.consume = WR_WL_DROP;
    spec.same_order = same_order;
    spec.cfg.epochs = 2;
    spec.cfg.order = order;
    assert_int_equal(wr_meter_new(&m, NULL), 0);
    assert_int_equal(wr_run_feed_open(&f, &spec, &spec.cfg, m, NULL), 0);
    while (wr_run_feed_next(&f, &b, NULL) > 0) {
        assert_int_equal(b->epoch, n / KIT_SAMPLES);
        memcpy((uint64_t *)ids + n, b->ids, b->count * sizeof(*b->ids));
        n += b->count;
        weir_batch_release(b);
    }
    assert_int_equal(n, 2 * KIT_SAMPLES);
    wr_run_feed_close(&f);
    wr_meter_free(m);
}

static void epochs_may_have_one_order(void **state)
{
    static const enum weir_order orders[] = {WEIR_ORDER_SHUFFLE,
                                             WEIR_ORDER_BLOCK};
    uint64_t same[2][KIT_SAMPLES], anew[2][KIT_SAMPLES];

    for (size_t k = 0; k < 2; k++) {
        take_two(*state, /* same_order= */ true, orders[k], same);
        take_two(*state, /* same_order= */ false, orders[k], anew);
        assert_memory_equal(same[0], same[1], sizeof(same[0]));
        assert_memory_equal(same[0], anew[0], sizeof(same[0]));
        assert_memory_not_equal(anew[0], anew[1], sizeof(anew[0]));
    }
}

static uint64_t digest(uint64_t first, uint64_t step, uint64_t number,
                       uint64_t world)
{
    uint8_t bytes[6] = {(uint8_t)first, 1, 2, (uint8_t)(first + 1), 4, 5};
    uint64_t ids[2] = {first, first + 1};
    weir_batch_field f = {.data = bytes, .bytes = sizeof(bytes)};
    weir_batch b = {.count = 2, .ids = ids, .fields = &f, .field_count = 1};

    return wr_run_digest(&b, step, number, world);
}

static void digests_tell_position_and_bytes(void **state)
{
    (void)state;
    assert_true(digest(4, 0, 0, 1) == digest(4, 0, 0, 1));
    assert_false(digest(4, 0, 0, 1) == digest(5, 0, 0, 1));
    assert_false(digest(4, 0, 0, 1) == digest(4, 1, 0, 1));
    assert_false(digest(4, 0, 0, 2) == digest(4, 0, 1, 2));
    assert_int_equal(wr_run_digest(NULL, 0, 0, 1), 0);
}

int main(void)
{
#define CASE(f)                                                                \
    cmocka_unit_test_setup_teardown(f, runkit_setup, runkit_teardown)
    const struct CMUnitTest tests[] = {
        CASE(what_is_delivered),
        CASE(preprocessing_takes_its_time),
        CASE(epochs_may_have_one_order),
        CASE(digests_tell_position_and_bytes),
    };
#undef CASE

    return cmocka_run_group_tests(tests, NULL, NULL);
}
