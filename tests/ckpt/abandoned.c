/* abandoned.c - retention of a run that went back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Point 8: steps that the run has left do not count among keep_last, and go only
 * once a later step of the run was read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cells_kit.h"

/* Saves 48 to 50 and 98 to 100; on one tier or on both. */
static void make_past(const char *fast, const char *slow)
{
    cells_live(fast, slow,
               (struct cells_life){
                   .first = 48, .last = 50, .level = WEIR_LEVEL_VERIFIED});
    cells_live(fast, slow,
               (struct cells_life){.from = WEIR_LATEST,
                                   .first = 98,
                                   .last = 100,
                                   .level = WEIR_LEVEL_VERIFIED});
}

/* Steps that are listed as abandoned, "98 99 100"; each has a size. */
static const char *abandoned(const char *fast, const char *slow)
{
    static char text[CELLS_TEXT];
    weir_ckpt_config cfg;
    weir_ckpt_entry *e;
    size_t count, n = 0;
    weir_ckpt *c;
    weir_err err;

    cells_config(fast, slow, WEIR_CKPT_READ, &cfg);
    c = cells_open(&cfg);
    assert_int_equal(weir_ckpt_list(c, &e, &count, &err), 0);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        assert_true(e[i].bytes > 0);
        if (e[i].abandoned)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u",
                                  n ? " " : "", (unsigned)e[i].step);
    }
    free(e);
    cells_close(c);
    return text;
}

/* The run goes back to 50 and keeps two steps from then on. */
static weir_ckpt *go_back(const char *fast, const char *slow,
                          uint32_t keep_abandoned, bool drains)
{
    char told[CELLS_TEXT] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;

    cells_config(fast, slow, WEIR_CKPT_SAVE, &cfg);
    cfg.keep_last = 2;
    cfg.keep_abandoned = keep_abandoned;
    cfg.drain = drains;
    c = cells_open(&cfg);
    assert_int_equal(cells_restore(c, 50, told, sizeof(told)), 50);
    assert_string_equal(told, "");
    return c;
}

static void prune(weir_ckpt *c)
{
    weir_ckpt_prune_plan plan = {.keep_last = 2};
    weir_err err;

    if (weir_ckpt_prune(c, &plan, &err) < 0)
        fail_msg("prune: %s", err.msg);
}

/* Only opened and restored: nothing is left yet. */
static void point_8_nothing_is_abandoned_before_a_save(void **state)
{
    const struct cells *s = *state;

    make_past(s->fast, s->slow);
    cells_close(go_back(s->fast, s->slow, 1, /* drains= */ true));
    assert_string_equal(abandoned(s->fast, s->slow), "");
    cells_must_find(s->fast, s->slow, 100);
}

static void point_8_abandoned_steps_are_listed(void **state)
{
    const struct cells *s = *state;

    make_past(s->fast, s->slow);
    cells_live(
        s->fast, s->slow,
        (struct cells_life){
            .from = 50, .first = 51, .last = 53, .level = WEIR_LEVEL_VERIFIED});
    assert_string_equal(abandoned(s->fast, s->slow), "98 99 100");
    assert_string_equal(abandoned(s->slow, NULL), "98 99 100");
    cells_must_find(s->fast, s->slow, 53);
}

/* Nothing of the new branch was read back yet. */
static void point_8_they_stay_until_a_step_is_verified(void **state)
{
    const struct cells *s = *state;
    weir_ckpt *c;

    make_past(s->fast, s->slow);
    c = go_back(s->fast, s->slow, 1, /* drains= */ false);
    for (uint64_t step = 51; step <= 53; step++)
        cells_save(c, step, WEIR_LEVEL_FAST);
    cells_close(c);
    assert_string_equal(abandoned(s->fast, s->slow), "98 99 100");
    assert_non_null(strstr(cells_steps(s->slow), "98 99 100"));
    cells_must_find(s->fast, s->slow, 53);
}

static void check_kept(const struct cells *s, const char *slow, uint32_t keep,
                       const char *left)
{
    weir_ckpt *c;

    make_past(s->fast, slow);
    c = go_back(s->fast, slow, keep, /* drains= */ true);
    for (uint64_t step = 51; step <= 53; step++)
        cells_save(c, step, WEIR_LEVEL_VERIFIED);
    prune(c);
    cells_close(c);
    assert_string_equal(cells_steps(slow ? slow : s->fast), left);
    cells_must_find(s->fast, slow, 53);
}

static void point_8_the_newest_abandoned_one_stays(void **state)
{
    const struct cells *s = *state;

    check_kept(s, s->slow, 1, "52 53 100");
}

static void point_8_three_stay(void **state)
{
    const struct cells *s = *state;

    check_kept(s, s->slow, 3, "52 53 98 99 100");
}

static void point_8_none_stays(void **state)
{
    const struct cells *s = *state;

    check_kept(s, s->slow, 0, "52 53");
}

static void point_8_of_one_folder(void **state)
{
    const struct cells *s = *state;

    check_kept(s, NULL, 1, "52 53 100");
}

/* Without opening the store again. */
static void point_8_back_inside_one_open_store(void **state)
{
    const struct cells *s = *state;
    char told[CELLS_TEXT] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;

    make_past(s->fast, s->slow);
    cells_config(s->fast, s->slow, WEIR_CKPT_SAVE, &cfg);
    cfg.keep_last = 2;
    c = cells_open(&cfg);
    assert_int_equal(cells_restore(c, 100, told, sizeof(told)), 100);
    cells_save(c, 101, WEIR_LEVEL_VERIFIED);
    assert_int_equal(cells_restore(c, 100, told, sizeof(told)), 100);
    cells_save(c, 30, WEIR_LEVEL_VERIFIED); /* numbers may fall */
    assert_int_equal(cells_restore(c, WEIR_LATEST, told, sizeof(told)), 30);
    prune(c);
    cells_close(c);
    assert_string_equal(abandoned(s->fast, s->slow), "101");
    assert_string_equal(cells_steps(s->slow), "30 100 101");
    cells_must_find(s->slow, NULL, 30);
}

/* A look at an older step, and back to the newest: nothing was left. */
static void point_8_there_and_back(void **state)
{
    const struct cells *s = *state;
    char told[CELLS_TEXT] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;

    make_past(s->fast, s->slow);
    cells_config(s->fast, s->slow, WEIR_CKPT_SAVE, &cfg);
    cfg.keep_last = 9;
    c = cells_open(&cfg);
    assert_int_equal(cells_restore(c, 100, told, sizeof(told)), 100);
    cells_save(c, 101, WEIR_LEVEL_VERIFIED);
    assert_int_equal(cells_restore(c, 48, told, sizeof(told)), 48);
    assert_int_equal(cells_restore(c, WEIR_LATEST, told, sizeof(told)), 101);
    cells_save(c, 102, WEIR_LEVEL_VERIFIED);
    cells_close(c);
    assert_string_equal(abandoned(s->fast, s->slow), "");
    assert_string_equal(cells_steps(s->slow), "48 49 50 98 99 100 101 102");
    cells_must_find(s->slow, NULL, 102);
}

/* A step of the branch that is left has the number: the run goes past it. */
static void point_8_past_a_number_that_is_taken(void **state)
{
    const struct cells *s = *state;
    char told[CELLS_TEXT] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    cells_live(
        s->fast, s->slow,
        (struct cells_life){.first = 2, .last = 4, .level = WEIR_LEVEL_FAST});
    cells_config(s->fast, s->slow, WEIR_CKPT_SAVE, &cfg);
    cfg.drain = 0;
    c = cells_open(&cfg);
    assert_int_equal(cells_restore(c, 3, told, sizeof(told)), 3);
    assert_int_equal(cells_put(c, 4, 0, WEIR_LEVEL_FAST, &err), WEIR_EEXIST);
    cells_save(c, 5, WEIR_LEVEL_FAST);
    cells_close(c);
    cells_config(s->fast, s->slow, WEIR_CKPT_DRAIN, &cfg);
    cfg.keep_last = 2;
    c = cells_open(&cfg);
    if (weir_ckpt_drain(c, &err) < 0)
        fail_msg("drain: %s", err.msg);
    cells_close(c);
    cells_live(s->fast, s->slow,
               (struct cells_life){.from = WEIR_LATEST,
                                   .first = 6,
                                   .last = 6,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .keep_last = 2});
    assert_string_equal(abandoned(s->fast, s->slow), "4");
    assert_string_equal(cells_steps(s->slow), "4 5 6");
}

/* To a step of another branch than before. */
static void point_8_back_to_another_branch(void **state)
{
    const struct cells *s = *state;
    char told[CELLS_TEXT] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;

    make_past(s->fast, s->slow);
    cells_config(s->fast, s->slow, WEIR_CKPT_SAVE, &cfg);
    c = cells_open(&cfg);
    assert_int_equal(cells_restore(c, 100, told, sizeof(told)), 100);
    cells_save(c, 101, WEIR_LEVEL_VERIFIED);
    assert_int_equal(cells_restore(c, 50, told, sizeof(told)), 50);
    cells_save(c, 51, WEIR_LEVEL_VERIFIED);
    cells_close(c);
    assert_string_equal(abandoned(s->fast, s->slow), "98 99 100 101");
    cells_must_find(s->fast, s->slow, 51);
}

/* A pin holds what the run has left, too; keep_last 0 keeps all. */
static void point_8_pinned_and_kept(void **state)
{
    const struct cells *s = *state;
    weir_ckpt *c;
    weir_err err;

    make_past(s->fast, s->slow);
    cells_live(
        s->fast, s->slow,
        (struct cells_life){
            .from = 50, .first = 51, .last = 51, .level = WEIR_LEVEL_VERIFIED});
    assert_string_equal(cells_steps(s->slow), "48 49 50 51 98 99 100");
    c = go_back(s->fast, s->slow, 1, /* drains= */ true);
    assert_int_equal(weir_ckpt_pin(c, 98, 1, &err), 0);
    cells_save(c, 60, WEIR_LEVEL_VERIFIED);
    prune(c);
    cells_close(c);
    /* 50 is what 60 continued from; 51 is the newest that was left. */
    assert_string_equal(cells_steps(s->slow), "50 51 60 98");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cells_setup, cells_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(point_8_nothing_is_abandoned_before_a_save),
        TEST(point_8_abandoned_steps_are_listed),
        TEST(point_8_they_stay_until_a_step_is_verified),
        TEST(point_8_the_newest_abandoned_one_stays),
        TEST(point_8_three_stay),
        TEST(point_8_none_stays),
        TEST(point_8_of_one_folder),
        TEST(point_8_back_inside_one_open_store),
        TEST(point_8_there_and_back),
        TEST(point_8_past_a_number_that_is_taken),
        TEST(point_8_back_to_another_branch),
        TEST(point_8_pinned_and_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
