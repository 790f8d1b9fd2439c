/* order.c - the order of saves outlives dot files, backups and other machines.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each test is one way in which it was lost once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cells_kit.h"

#define TEXT CELLS_TEXT

/* The next save keeps two: the one before it stays, whatever its number. */
static void check_next(const char *fast, const char *slow, const char *left)
{
    cells_live(fast, slow,
               (struct cells_life){.from = WEIR_LATEST,
                                   .first = 60,
                                   .last = 60,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .keep_last = 2});
    cells_must_find(fast, slow, 60);
    cells_must_find(slow, NULL, 60);
    assert_string_equal(cells_steps(slow), left);
}

/* The fast tier has nothing newer. */
static void make_drained(const struct cells *s)
{
    weir_err err;

    cells_history(s);
    if (cells_drain_code(s->fast, s->slow, &err) < 0)
        fail_msg("drain: %s", err.msg);
    cells_must_find(s->slow, NULL, 55);
}

/* --- 4: adopt forgets the order --- */

static void point_4_adopt_of_a_plain_copy(void **state)
{
    const struct cells *s = *state;
    const char *copy = cells_at(s->dir, "copy");

    cells_history(s);
    cells_copy(s->slow, copy, /* dots= */ false);
    cells_adopt(s->fast, copy);
    cells_must_find(s->fast, copy, 55);
    check_next(s->fast, copy, "55 60 100");
}

/* The steps are on the fast tier, and the slow one is new. */
static void point_4_adopt_of_an_empty_slow_tier(void **state)
{
    const struct cells *s = *state;
    char id[CELLS_ID], now[CELLS_ID];

    make_drained(s);
    cells_store_id(s->slow, id);
    cells_copy(s->slow, s->fast, /* dots= */ false);
    cells_remove(s->slow);
    cells_adopt(s->fast, s->slow);
    cells_store_id(s->slow, now);
    assert_string_equal(id, now);
    cells_must_find(s->fast, s->slow, 55);
    cells_must_find(s->slow, NULL, 55);
    cells_live(s->fast, s->slow,
               (struct cells_life){.from = WEIR_LATEST,
                                   .first = 60,
                                   .last = 60,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .keep_last = 2});
    cells_must_find(s->slow, NULL, 60);
    assert_non_null(strstr(cells_steps(s->slow), "55 60"));
}

/* Its link cannot be read: adopt writes the same one. */
static void point_4_adopt_of_a_damaged_link(void **state)
{
    const struct cells *s = *state;
    char id[CELLS_ID], now[CELLS_ID];
    FILE *f;

    cells_history(s);
    cells_store_id(s->slow, id);
    f = fopen(cells_at(s->slow, ".weir/store"), "we");
    assert_non_null(f);
    fputs("last of all\n", f);
    assert_int_equal(fclose(f), 0);
    cells_adopt(s->fast, s->slow);
    cells_store_id(s->slow, now);
    assert_string_equal(id, now);
    cells_must_find(s->fast, s->slow, 55);
    check_next(s->fast, s->slow, "55 60 100");
}

static void point_4_a_plain_copy_of_the_slow_tier(void **state)
{
    const struct cells *s = *state;
    const char *copy = cells_at(s->dir, "copy");

    make_drained(s);
    cells_copy(s->slow, copy, /* dots= */ false);
    cells_must_find(s->fast, copy, 55);
    check_next(s->fast, copy, "55 60 100");
}

static void point_4_a_new_fast_tier_beside_a_plain_copy(void **state)
{
    const struct cells *s = *state;
    const char *copy = cells_at(s->dir, "copy");
    char fresh[CELLS_PATH];

    snprintf(fresh, sizeof(fresh), "%s/fresh", s->dir);
    make_drained(s);
    cells_copy(s->slow, copy, /* dots= */ false);
    cells_must_find(copy, NULL, 55);
    check_next(fresh, copy, "55 60 100");
}

/* A single folder that was copied. */
static void point_4_a_plain_copy_of_the_only_tier(void **state)
{
    const struct cells *s = *state;
    const char *copy = cells_at(s->dir, "copy");

    make_drained(s);
    cells_copy(s->slow, copy, /* dots= */ false);
    cells_adopt(copy, NULL);
    cells_must_find(copy, NULL, 55);
    cells_live(copy, NULL,
               (struct cells_life){.from = WEIR_LATEST,
                                   .first = 60,
                                   .last = 60,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .keep_last = 2});
    assert_string_equal(cells_steps(copy), "55 60 100");
}

/* Retention and a call that prunes, at the same time: they agree. */
static void point_4_pruned_while_older_ones_go(void **state)
{
    const struct cells *s = *state;
    char copy[CELLS_PATH];

    make_drained(s);
    for (unsigned i = 0; i < 20; i++) {
        snprintf(copy, sizeof(copy), "%s/copy-%u", s->dir, i);
        cells_copy(s->slow, copy, /* dots= */ false);
        cells_adopt(copy, NULL);
        cells_live(copy, NULL,
                   (struct cells_life){.from = WEIR_LATEST,
                                       .first = 60,
                                       .last = 60,
                                       .level = WEIR_LEVEL_FAST,
                                       .keep_last = 2});
        if (strncmp(cells_steps(copy), "55 60 ", 6) != 0)
            fail_msg("copy %u: %s", i, cells_steps(copy));
    }
}

/* --- 5: a fast tier without dot files --- */

static void check_not_stale(const char *fast, const char *slow)
{
    weir_ckpt_config cfg;
    weir_ckpt_entry *e;
    size_t count;
    weir_ckpt *c;
    weir_err err;

    cells_config(fast, slow, WEIR_CKPT_READ, &cfg);
    c = cells_open(&cfg);
    assert_int_equal(weir_ckpt_list(c, &e, &count, &err), 0);
    for (size_t i = 0; i < count; i++)
        if (e[i].fast == WEIR_COPY_STALE)
            fail_msg("step %u is called stale: %s", (unsigned)e[i].step,
                     e[i].problem);
    free(e);
    cells_close(c);
    assert_int_equal(cells_count(fast, ".stale-"), 0);
}

static void point_5_a_plain_copy_is_drained(void **state)
{
    const struct cells *s = *state;
    char copy[CELLS_PATH];
    weir_err err;

    snprintf(copy, sizeof(copy), "%s/copy", s->dir);
    cells_history(s);
    cells_copy(s->fast, copy, /* dots= */ false);
    cells_must_find(copy, s->slow, 55);
    check_not_stale(copy, s->slow);
    if (cells_drain_code(copy, s->slow, &err) < 0)
        fail_msg("drain: %s", err.msg);
    cells_must_find(s->slow, NULL, 55);
}

static void point_5_a_plain_copy_is_opened(void **state)
{
    const struct cells *s = *state;
    char copy[CELLS_PATH];

    snprintf(copy, sizeof(copy), "%s/copy", s->dir);
    cells_history(s);
    cells_copy(s->fast, copy, /* dots= */ false);
    cells_live(
        copy, s->slow,
        (struct cells_life){
            .from = 55, .first = 56, .last = 56, .level = WEIR_LEVEL_VERIFIED});
    check_not_stale(copy, s->slow);
    cells_must_find(s->slow, NULL, 56);
    assert_string_equal(cells_steps(s->slow),
                        "48 49 50 51 52 53 54 55 56 98 99 "
                        "100");
}

static void point_5_only_the_link_is_lost(void **state)
{
    const struct cells *s = *state;

    cells_history(s);
    assert_int_equal(unlink(cells_at(s->fast, ".weir/store")), 0);
    cells_must_find(s->fast, s->slow, 55);
    cells_live(
        s->fast, s->slow,
        (struct cells_life){
            .from = 55, .first = 56, .last = 56, .level = WEIR_LEVEL_VERIFIED});
    check_not_stale(s->fast, s->slow);
    cells_must_find(s->slow, NULL, 56);
}

static void check_generation(const char *fast, const char *is)
{
    char text[TEXT] = "", kind[8], id[40], generation[24] = "";
    FILE *f = fopen(cells_at(fast, ".weir/store"), "re");

    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    fclose(f);
    assert_int_equal(sscanf(text, "%7s %39s %23s", kind, id, generation), 3);
    assert_string_equal(kind, "fast");
    assert_string_equal(generation, is);
}

/* Who takes the newest step away leaves what its manifest knew: the steps below
 * are of a writer that this tier has had, and not of another machine. */
static void point_5_a_lost_link_outlives_its_newest_step(void **state)
{
    const struct cells *s = *state;
    const struct cells_life older = {.first = 1,
                                     .last = 2,
                                     .level = WEIR_LEVEL_FAST},
                            newer = {.from = 2,
                                     .first = 3,
                                     .last = 3,
                                     .level = WEIR_LEVEL_FAST};
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    cells_live(s->fast, s->slow, older);
    cells_live(s->fast, s->slow, newer);
    cells_remove(cells_at(s->fast, ".weir"));
    cells_config(s->fast, s->slow, WEIR_CKPT_MANAGE, &cfg);
    c = cells_open(&cfg);
    if (weir_ckpt_remove(c, 3, "fast", &err) < 0)
        fail_msg("remove: %s", err.msg);
    cells_close(c);
    check_generation(s->fast, "2");
    cells_remove(cells_at(s->fast, ".weir"));
    if (cells_drain_code(s->fast, s->slow, &err) < 0)
        fail_msg("drain: %s", err.msg);
    check_generation(s->fast, "1");
    cells_must_find(s->slow, NULL, 2);
}

/* Another machine went on: then they are stale, dot files or not. */
static void point_5_a_plain_copy_that_is_stale(void **state)
{
    const struct cells *s = *state;
    char copy[CELLS_PATH], other[CELLS_PATH];
    weir_err err;

    snprintf(copy, sizeof(copy), "%s/copy", s->dir);
    snprintf(other, sizeof(other), "%s/other", s->dir);
    cells_history(s);
    cells_copy(s->fast, copy, /* dots= */ false);
    cells_live(other, s->slow,
               (struct cells_life){.from = 53,
                                   .first = 54,
                                   .last = 54,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .salt = 7});
    cells_must_find(copy, s->slow, 54);
    assert_int_equal(cells_drain_code(copy, s->slow, &err), WEIR_ESTALE);
}

/* --- 6: a slow tier from a backup --- */

static void restore_backup(const struct cells *s)
{
    cells_remove(s->slow);
    cells_copy(cells_at(s->dir, "slow-then"), s->slow, /* dots= */ true);
}

/* The fast tier has nothing of its last generation: nobody goes on unasked. */
static void point_6_a_backup_is_noticed(void **state)
{
    static const enum weir_ckpt_role roles[] = {WEIR_CKPT_SAVE, WEIR_CKPT_DRAIN,
                                                WEIR_CKPT_MANAGE};
    const struct cells *s = *state;
    struct cells_copies in = {0};
    char told[TEXT] = "";
    weir_err err;

    cells_history(s);
    cells_remove(cells_at(s->fast, "step-000000000053"));
    cells_remove(cells_at(s->fast, "step-000000000054"));
    cells_remove(cells_at(s->fast, "step-000000000055"));
    restore_backup(s);
    for (size_t i = 0; i < WR_ARRAY_LEN(roles); i++) {
        assert_int_equal(cells_open_code(s->fast, s->slow, roles[i], &err),
                         WEIR_ESTATE);
        assert_non_null(strstr(err.msg, "weir ckpt adopt"));
    }
    assert_int_equal(cells_latest(s->fast, s->slow, told, sizeof(told)), 52);
    assert_string_not_equal(told, "");
    cells_adopt(s->fast, s->slow);
    cells_live(
        s->fast, s->slow,
        (struct cells_life){
            .from = 52, .first = 53, .last = 53, .level = WEIR_LEVEL_VERIFIED});
    cells_look(s->slow, &in);
    assert_true(cells_of(&in, 53)->generation > 4);
    cells_must_find(s->fast, s->slow, 53);
}

static void point_6_what_a_backup_lacks_is_drained_again(void **state)
{
    const struct cells *s = *state;
    char told[TEXT] = "", again[TEXT] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;

    cells_history(s);
    restore_backup(s);
    cells_config(s->fast, s->slow, WEIR_CKPT_SAVE, &cfg);
    c = cells_open(&cfg);
    assert_true(cells_problems(c, told, sizeof(told)) > 0);
    assert_int_equal(cells_restore(c, WEIR_LATEST, again, sizeof(again)), 55);
    cells_save(c, 56, WEIR_LEVEL_VERIFIED);
    cells_close(c);
    assert_string_equal(cells_steps(s->slow),
                        "48 49 50 51 52 53 54 55 56 98 99 "
                        "100");
    cells_must_find(s->slow, NULL, 56);
}

/* Another machine goes on from the backup, and counts to the same number. */
static void point_6_the_same_number_is_another_generation(void **state)
{
    const struct cells *s = *state;
    struct cells_copies a = {0}, b = {0};
    char other[CELLS_PATH];
    weir_err err;

    snprintf(other, sizeof(other), "%s/other", s->dir);
    cells_history(s);
    restore_backup(s);
    cells_live(other, s->slow,
               (struct cells_life){.from = 52,
                                   .first = 53,
                                   .last = 53,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .salt = 7});
    cells_look(s->fast, &a);
    cells_look(s->slow, &b);
    assert_string_not_equal(cells_of(&a, 54)->nonce, "");
    assert_string_not_equal(cells_of(&a, 54)->nonce, cells_of(&b, 53)->nonce);
    assert_int_equal(cells_drain_code(s->fast, s->slow, &err), WEIR_ESTALE);
    cells_must_find(s->fast, s->slow, 53);
    cells_live(s->fast, s->slow,
               (struct cells_life){.from = 53,
                                   .first = 54,
                                   .last = 54,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .salt = 8});
    cells_must_find(other, s->slow, 54);
    assert_string_equal(cells_steps(s->slow), "48 49 50 51 52 53 54 98 99 100");
    assert_int_equal(cells_count(s->fast, ".stale-"), 3);
}

/* Nothing of the last writer was drained, and its number is lost: the tier still
 * says that there was one. */
static void point_6_lost_numbers_are_not_handed_out_again(void **state)
{
    const struct cells *s = *state;
    struct cells_copies a = {0}, b = {0};
    char other[CELLS_PATH];

    snprintf(other, sizeof(other), "%s/other", s->dir);
    for (uint64_t i = 1; i <= 2; i++)
        cells_live(s->fast, s->slow,
                   (struct cells_life){.from = i > 1 ? WEIR_LATEST : 0,
                                       .first = i,
                                       .last = i,
                                       .level = i < 2 ? WEIR_LEVEL_VERIFIED
                                                      : WEIR_LEVEL_FAST});
    cells_remove(cells_at(s->slow, ".weir/generations"));
    cells_live(
        other, s->slow,
        (struct cells_life){
            .from = 1, .first = 2, .last = 2, .level = WEIR_LEVEL_VERIFIED});
    cells_look(s->fast, &a);
    cells_look(s->slow, &b);
    assert_true(cells_of(&b, 2)->generation > cells_of(&a, 2)->generation);
    cells_must_find(s->fast, s->slow, 2);
}

/* It is further back, so their numbers are below. */
static void point_6_others_go_on_from_an_older_backup(void **state)
{
    const struct cells *s = *state;
    char then[CELLS_PATH], other[CELLS_PATH], told[TEXT] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    snprintf(then, sizeof(then), "%s/then", s->dir);
    snprintf(other, sizeof(other), "%s/other", s->dir);
    for (uint64_t i = 1; i <= 4; i++) {
        cells_live(s->fast, s->slow,
                   (struct cells_life){.from = i > 1 ? WEIR_LATEST : 0,
                                       .first = i,
                                       .last = i,
                                       .level = i < 4 ? WEIR_LEVEL_VERIFIED
                                                      : WEIR_LEVEL_FAST});
        if (i == 2)
            cells_copy(s->slow, then, /* dots= */ true);
    }
    cells_remove(s->slow);
    cells_copy(then, s->slow, /* dots= */ true);
    cells_live(other, s->slow,
               (struct cells_life){.from = WEIR_LATEST,
                                   .first = 10,
                                   .last = 20,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .salt = 7});
    assert_int_equal(cells_latest(s->fast, s->slow, told, sizeof(told)), 20);
    assert_non_null(strstr(told, "older"));
    assert_int_equal(cells_drain_code(s->fast, s->slow, &err), WEIR_ESTALE);
    cells_config(s->fast, s->slow, WEIR_CKPT_SAVE, &cfg);
    c = cells_open(&cfg);
    assert_true(cells_problems(c, told, sizeof(told)) > 0);
    assert_int_equal(cells_restore(c, WEIR_LATEST, NULL, 0), 20);
    cells_save(c, 21, WEIR_LEVEL_VERIFIED);
    cells_close(c);
    assert_string_equal(cells_steps(s->slow),
                        "1 2 10 11 12 13 14 15 16 17 18 19 20 21");
    assert_true(cells_count(s->fast, ".stale-") > 0);
    cells_must_find(other, s->slow, 21);
}

/* The same backup, from which nobody went on, and the fast tier has saved
 * nothing that is left of the writers in between. */
static void point_6_an_older_backup_alone(void **state)
{
    const struct cells *s = *state;
    char then[CELLS_PATH], told[TEXT] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;

    snprintf(then, sizeof(then), "%s/then", s->dir);
    for (uint64_t i = 1; i <= 5; i++) {
        cells_live(s->fast, s->slow,
                   (struct cells_life){.from = i > 1 ? WEIR_LATEST : 0,
                                       .first = i,
                                       .last = i,
                                       .level = i < 5 ? WEIR_LEVEL_VERIFIED
                                                      : WEIR_LEVEL_FAST,
                                       .keeps_none = true});
        if (i == 2)
            cells_copy(s->slow, then, /* dots= */ true);
    }
    cells_remove(s->slow);
    cells_copy(then, s->slow, /* dots= */ true);
    assert_int_equal(cells_latest(s->fast, s->slow, told, sizeof(told)), 5);
    cells_config(s->fast, s->slow, WEIR_CKPT_SAVE, &cfg);
    c = cells_open(&cfg);
    assert_true(cells_problems(c, told, sizeof(told)) > 0);
    assert_int_equal(cells_restore(c, WEIR_LATEST, NULL, 0), 5);
    cells_save(c, 6, WEIR_LEVEL_VERIFIED);
    cells_close(c);
    assert_string_equal(cells_steps(s->slow), "1 2 5 6");
}

/* --- 10: copies that were set aside before --- */

static void point_10_set_aside_twice(void **state)
{
    const struct cells *s = *state;
    char other[CELLS_PATH], then[CELLS_PATH];
    weir_err err;

    snprintf(other, sizeof(other), "%s/other", s->dir);
    snprintf(then, sizeof(then), "%s/then", s->dir);
    cells_live(s->fast, s->slow,
               (struct cells_life){
                   .first = 1, .last = 1, .level = WEIR_LEVEL_VERIFIED});
    cells_live(s->fast, s->slow,
               (struct cells_life){
                   .from = 1, .first = 2, .last = 3, .level = WEIR_LEVEL_FAST});
    cells_copy(s->fast, then, /* dots= */ true);
    cells_live(other, s->slow,
               (struct cells_life){.from = 1,
                                   .first = 2,
                                   .last = 2,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .salt = 7});
    assert_int_equal(cells_open_code(s->fast, s->slow, WEIR_CKPT_SAVE, &err),
                     0);
    assert_int_equal(cells_count(s->fast, ".stale-"), 2);
    cells_copy(then, s->fast, /* dots= */ true); /* over what is there */
    if (cells_open_code(s->fast, s->slow, WEIR_CKPT_SAVE, &err) != 0)
        fail_msg("open: %s", err.msg);
    assert_true(cells_count(s->fast, ".stale-") >= 2);
    cells_must_find(s->fast, s->slow, 2);
    cells_live(
        s->fast, s->slow,
        (struct cells_life){
            .from = 2, .first = 3, .last = 3, .level = WEIR_LEVEL_VERIFIED});
    cells_must_find(s->slow, NULL, 3);
}

/* --- cells of the table in docs/formats/checkpoint.md, with what follows --- */

/* Of a fast tier and a copy of it with its dot files, the one that is used
 * second is stale. */
static void table_a_copy_of_the_fast_tier_is_used_first(void **state)
{
    const struct cells *s = *state;
    char copy[CELLS_PATH];
    weir_err err;

    snprintf(copy, sizeof(copy), "%s/copy", s->dir);
    cells_history(s);
    cells_copy(s->fast, copy, /* dots= */ true);
    cells_live(s->fast, s->slow,
               (struct cells_life){.from = 55,
                                   .first = 57,
                                   .last = 57,
                                   .level = WEIR_LEVEL_FAST,
                                   .salt = 7});
    cells_live(
        copy, s->slow,
        (struct cells_life){
            .from = 53, .first = 56, .last = 56, .level = WEIR_LEVEL_VERIFIED});
    cells_must_find(s->fast, s->slow, 56);
    assert_int_equal(cells_drain_code(s->fast, s->slow, &err), WEIR_ESTALE);
    assert_int_equal(cells_open_code(s->fast, s->slow, WEIR_CKPT_SAVE, &err),
                     0);
    assert_int_equal(cells_count(s->fast, ".stale-"), 1);
    assert_string_equal(cells_steps(s->slow),
                        "48 49 50 51 52 53 54 55 56 98 99 "
                        "100");
    cells_must_find(s->fast, s->slow, 56);
}

/* It was restored from a backup: what was drained since is there again. */
static void table_a_backup_of_the_fast_tier(void **state)
{
    const struct cells *s = *state;
    char then[CELLS_PATH];
    weir_ckpt_stats stats;
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    snprintf(then, sizeof(then), "%s/then", s->dir);
    cells_live(
        s->fast, s->slow,
        (struct cells_life){.first = 1, .last = 3, .level = WEIR_LEVEL_FAST});
    cells_copy(s->fast, then, /* dots= */ true);
    if (cells_drain_code(s->fast, s->slow, &err) < 0)
        fail_msg("drain: %s", err.msg);
    cells_remove(s->fast);
    cells_copy(then, s->fast, /* dots= */ true);
    cells_config(s->fast, s->slow, WEIR_CKPT_SAVE, &cfg);
    c = cells_open(&cfg);
    assert_int_equal(cells_restore(c, WEIR_LATEST, NULL, 0), 3);
    if (weir_ckpt_drain(c, &err) < 0)
        fail_msg("drain: %s", err.msg);
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.drained, 0);
    assert_int_equal(stats.bytes_drained, 0);
    cells_save(c, 4, WEIR_LEVEL_VERIFIED);
    cells_close(c);
    assert_int_equal(cells_count(s->fast, ".stale-"), 0);
    assert_string_equal(cells_steps(s->slow), "1 2 3 4");
}

/* An empty folder was in its place for a while. */
static void table_the_fast_tier_is_mounted_again(void **state)
{
    const struct cells *s = *state;
    char away[CELLS_PATH];

    snprintf(away, sizeof(away), "%s/away", s->dir);
    cells_live(s->fast, s->slow,
               (struct cells_life){
                   .first = 1, .last = 1, .level = WEIR_LEVEL_VERIFIED});
    cells_live(s->fast, s->slow,
               (struct cells_life){
                   .from = 1, .first = 2, .last = 3, .level = WEIR_LEVEL_FAST});
    assert_int_equal(rename(s->fast, away), 0);
    assert_int_equal(mkdir(s->fast, 0777), 0);
    cells_live(s->fast, s->slow,
               (struct cells_life){.from = 1,
                                   .first = 2,
                                   .last = 2,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .salt = 7});
    cells_remove(s->fast);
    assert_int_equal(rename(away, s->fast), 0);
    cells_must_find(s->fast, s->slow, 2);
    cells_live(s->fast, s->slow,
               (struct cells_life){.from = WEIR_LATEST,
                                   .first = 3,
                                   .last = 3,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .salt = 8});
    assert_int_equal(cells_count(s->fast, ".stale-"), 2);
    assert_string_equal(cells_steps(s->slow), "1 2 3");
    cells_must_find(s->slow, NULL, 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cells_setup, cells_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(point_4_adopt_of_a_plain_copy),
        TEST(point_4_adopt_of_an_empty_slow_tier),
        TEST(point_4_adopt_of_a_damaged_link),
        TEST(point_4_a_plain_copy_of_the_slow_tier),
        TEST(point_4_a_new_fast_tier_beside_a_plain_copy),
        TEST(point_4_a_plain_copy_of_the_only_tier),
        TEST(point_4_pruned_while_older_ones_go),
        TEST(point_5_a_plain_copy_is_drained),
        TEST(point_5_a_plain_copy_is_opened),
        TEST(point_5_only_the_link_is_lost),
        TEST(point_5_a_lost_link_outlives_its_newest_step),
        TEST(point_5_a_plain_copy_that_is_stale),
        TEST(point_6_a_backup_is_noticed),
        TEST(point_6_what_a_backup_lacks_is_drained_again),
        TEST(point_6_the_same_number_is_another_generation),
        TEST(point_6_lost_numbers_are_not_handed_out_again),
        TEST(point_6_others_go_on_from_an_older_backup),
        TEST(point_6_an_older_backup_alone),
        TEST(point_10_set_aside_twice),
        TEST(table_a_copy_of_the_fast_tier_is_used_first),
        TEST(table_a_backup_of_the_fast_tier),
        TEST(table_the_fast_tier_is_mounted_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
