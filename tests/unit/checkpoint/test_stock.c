/* test_stock.c - what retention knows of steps, from save to save.
 * SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkpoint/stock.h"

/* A store that changes nothing by itself. */
static weir_ckpt *reader(const struct steps *s, bool two)
{
    weir_ckpt_config cfg;

    steps_config(s, WEIR_CKPT_READ, &cfg);
    if (!two)
        cfg.slow = NULL;
    return steps_open(&cfg);
}

static void bring(weir_ckpt *c)
{
    weir_err err;

    if (wr_stock_bring(c, &err) < 0)
        fail_msg("%s", err.msg);
}

/* The steps as they were saved: "1c- 3d- 2-v", fast copy and slow one; P and A
 * behind them when it is pinned or abandoned. */
static void expect(weir_ckpt *c, const char *want)
{
    static const char letters[] = "us-dcv"; /* from WEIR_COPY_UNKNOWN on */
    const struct wr_stock *s = &c->stock;
    char text[400] = "";
    size_t used = 0;

    for (size_t i = 0; i < s->count; i++)
        used += (size_t)snprintf(
            text + used, sizeof(text) - used, "%s%u%c%c%s%s", i ? " " : "",
            (unsigned)s->kept[i].step,
            letters[s->kept[i].fast - WEIR_COPY_UNKNOWN],
            letters[s->kept[i].slow - WEIR_COPY_UNKNOWN],
            s->kept[i].pinned ? "P" : "", s->kept[i].abandoned ? "A" : "");
    assert_string_equal(text, want);
}

static void pin(const char *dir, uint64_t step, bool set)
{
    struct wr_tier *t;
    weir_err err;
    int r;

    assert_int_equal(wr_tier_open(dir, "x", false, &t, &err), 0);
    r = set ? wr_tier_mark(t, WR_MARK_PIN, step, "", &err)
            : wr_tier_unmark(t, WR_MARK_PIN, step, &err);
    if (r < 0)
        fail_msg("%s", err.msg);
    wr_tier_close(t);
}

static void remove_step(const char *dir, uint64_t step)
{
    char command[STEPS_PATH];

    snprintf(command, sizeof(command), "rm -r '%s/step-%012u'", dir,
             (unsigned)step);
    assert_int_equal(system(command), 0);
}

static struct step_is plain(uint64_t step, uint64_t count)
{
    return (struct step_is){step, count, 1, step};
}

/* One tier: what was touched is looked at, and nothing else. */
static void touched_steps(void **state)
{
    struct steps *s = *state;
    weir_ckpt *c;

    steps_save_up_to(s, 3);
    c = reader(s, false);
    bring(c);
    expect(c, "1c- 2c- 3c-");
    steps_save(s, FAST, plain(4, 4));
    remove_step(s->fast, 1);
    bring(c);
    expect(c, "1c- 2c- 3c-");
    wr_stock_touch(c, 4);
    bring(c);
    expect(c, "1c- 2c- 3c- 4c-");
    wr_stock_touch(c, 1);
    wr_stock_touch(c, 1);
    wr_stock_touch(c, 77); /* there is none */
    bring(c);
    expect(c, "2c- 3c- 4c-");
    remove_step(s->fast, 3);
    wr_stock_forget(c);
    bring(c);
    expect(c, "2c- 4c-");
    for (unsigned i = 0; i < 3000; i++) /* more than are noted */
        wr_stock_touch(c, 4);
    remove_step(s->fast, 2);
    bring(c);
    expect(c, "4c-");
    c->stock.kept[0].fast = WEIR_COPY_NONE;
    wr_stock_sweep(&c->stock);
    expect(c, "");
    steps_close(c);
}

/* The order is that of saving, and a number that is saved again moves. */
static void saved_again(void **state)
{
    struct steps *s = *state;
    weir_ckpt *c;

    steps_save_up_to(s, 4);
    c = reader(s, false);
    bring(c);
    remove_step(s->fast, 2);
    steps_save(s, FAST, plain(2, 5));
    wr_stock_touch(c, 2);
    bring(c);
    expect(c, "1c- 3c-A 4c-A 2c-");
    steps_save(s, FAST, plain(5, 6));
    wr_stock_touch(c, 5);
    bring(c);
    expect(c, "1c- 3c-A 4c-A 2c- 5c-");
    remove_step(s->fast, 2);
    remove_step(s->fast, 5);
    wr_stock_touch(c, 2);
    wr_stock_touch(c, 5);
    bring(c); /* what was left is not, any more */
    expect(c, "1c- 3c- 4c-");
    wr_stock_forget(c);
    bring(c);
    expect(c, "1c- 3c- 4c-");
    steps_close(c);
}

/* Before a slow tier the fast one's are looked at each time. */
static void steps_of_the_fast_tier(void **state)
{
    struct steps *s = *state;
    weir_ckpt *c;

    steps_save_up_to(s, 2);
    steps_save(s, SLOW, plain(9, 9));
    c = reader(s, true);
    bring(c);
    expect(c, "1c- 2c- 9-c");
    steps_save(s, FAST, plain(3, 3));
    remove_step(s->fast, 1);
    bring(c);
    expect(c, "2c- 3c- 9-c");
    remove_step(s->slow, 9); /* not by whoever has claimed it */
    bring(c);
    expect(c, "2c- 3c- 9-c");
    wr_stock_touch(c, 9);
    bring(c);
    expect(c, "2c- 3c-");
    steps_close(c);
}

/* Any process may set a pin or remove it: removed ones are seen in turn, those
 * that are set when their step is looked at. */
static void pins(void **state)
{
    struct steps *s = *state;
    unsigned left = 0;
    weir_ckpt *c;

    for (uint64_t i = 1; i <= 20; i++) {
        steps_save(s, SLOW, plain(i, i));
        pin(s->slow, i, true);
    }
    c = reader(s, true);
    bring(c);
    for (size_t i = 0; i < 20; i++)
        assert_true(c->stock.kept[i].pinned);
    for (uint64_t i = 1; i <= 20; i++)
        pin(s->slow, i, false);
    for (unsigned k = 0; k < 5; k++)
        bring(c);
    for (size_t i = 0; i < 20; i++)
        left += c->stock.kept[i].pinned;
    assert_int_equal(left, 0);
    pin(s->slow, 7, true);
    wr_stock_touch(c, 7);
    bring(c);
    assert_true(c->stock.kept[6].pinned);
    pin(s->fast, 8, true); /* of either tier */
    wr_stock_touch(c, 8);
    bring(c);
    assert_true(c->stock.kept[7].pinned);
    steps_close(c);
}

/* A pin that another process sets between saves holds, and one that it removes
 * does not hold any longer. */
static void pins_of_others(void **state)
{
    struct steps *s = *state;
    float w[4] = {1, 2, 3, 4};
    weir_tensor tensor = {
        .name = "w", .dtype = WEIR_F32, .ndim = 1, .shape = {4}, .data = w};
    weir_ckpt_state is = {.tensors = &tensor, .count = 1};
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    steps_unlink(s);
    steps_config(s, WEIR_CKPT_SAVE, &cfg);
    cfg.slow = NULL;
    cfg.keep_last = 2;
    cfg.verify = 0;
    c = steps_open(&cfg);
    for (is.step = 1; is.step <= 12; is.step++) {
        if (weir_ckpt_save(c, &is, WEIR_LEVEL_FAST, &err) < 0)
            fail_msg("%s", err.msg);
        if (is.step == 2)
            pin(s->fast, 1, true);
        if (is.step == 6) {
            assert_true(wr_tier_has(c->near, 1));
            pin(s->fast, 1, false);
        }
    }
    steps_close(c);
    assert_int_equal(steps_count(s, FAST, "step-"), 2);
}

/* A damaged step has its place by its number, and does not go before others. */
static void damaged_steps(void **state)
{
    struct steps *s = *state;
    weir_ckpt *c;

    steps_save_up_to(s, 5);
    c = reader(s, false);
    bring(c);
    steps_flip(s, FAST, 3, "MANIFEST", 15);
    steps_remove(s, FAST, 5, "r00000.safetensors");
    wr_stock_touch(c, 3);
    wr_stock_touch(c, 5);
    bring(c);
    expect(c, "1c- 2c- 3d- 4c- 5d-");
    wr_stock_forget(c);
    bring(c);
    expect(c, "1c- 2c- 3d- 4c- 5d-");
    steps_flip(s, FAST, 1, "MANIFEST", 15);
    steps_flip(s, FAST, 3, "MANIFEST", 15); /* it is good again */
    wr_stock_touch(c, 1);
    wr_stock_touch(c, 3);
    bring(c);
    expect(c, "1d- 2c- 3c- 4c- 5d-");
    steps_close(c);
}

#define STEP_TEST(f)                                                           \
    cmocka_unit_test_setup_teardown(f, steps_setup, steps_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(touched_steps),          STEP_TEST(saved_again),
        STEP_TEST(steps_of_the_fast_tier), STEP_TEST(pins),
        STEP_TEST(pins_of_others),         STEP_TEST(damaged_steps),
    };

    return cmocka_run_group_tests_name("stock", tests, NULL, NULL);
}
