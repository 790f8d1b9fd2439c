/* test_membership.c - which store a tier belongs to, with and without its file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkpoint/membership.h"

#define OTHER "ffffffffffffffffffffffffffffffff"
#define A     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B     "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static int look_code(const char *dir, bool fast, bool reads,
                     struct wr_membership *ret, weir_err *err)
{
    struct wr_tier *t;
    int r;

    assert_int_equal(wr_tier_open(dir, "x", false, &t, NULL), 0);
    r = wr_membership_look(t, fast, reads, ret, err);
    wr_tier_close(t);
    return r;
}

static struct wr_membership look(const char *dir, bool fast)
{
    struct wr_membership m;
    weir_err err;

    if (look_code(dir, fast, false, &m, &err) < 0)
        fail_msg("%s", err.msg);
    return m;
}

/* The same with what the manifests know. */
static struct wr_membership asked(const char *dir, bool fast)
{
    struct wr_membership m = look(dir, fast);
    struct wr_tier *t;
    weir_err err;

    assert_int_equal(wr_tier_open(dir, "x", false, &t, NULL), 0);
    if (wr_membership_ask(t, &m, &err) < 0)
        fail_msg("%s", err.msg);
    wr_tier_close(t);
    return m;
}

/* As who copies the steps alone. */
static void lose(const char *dir, const char *what)
{
    char command[STEPS_PATH];

    snprintf(command, sizeof(command), "rm -rf '%s'/%s", dir, what);
    assert_int_equal(system(command), 0);
}

static void put(const struct steps *s, int tier, uint64_t step,
                struct step_by by)
{
    steps_save_by(s, tier, (struct step_is){step, step, 1, step}, by);
}

static void with_a_file(void **state)
{
    struct steps *s = *state;
    struct wr_membership m = look(s->fast, true);

    assert_int_equal(m.is, WR_MEMBER_FAST);
    assert_false(m.derived);
    assert_string_equal(m.link.store, STEPS_STORE);
    assert_int_equal(m.highest.number, 1);
    assert_int_equal(m.saved.number, 0);
    assert_int_equal(m.steps, 0);
    m = look(s->slow, false);
    assert_int_equal(m.is, WR_MEMBER_LAST);
    assert_int_equal(m.highest.number, 1); /* it was handed out */
    assert_int_equal(strlen(m.highest.nonce), WR_MANIFEST_ID - 1);
    put(s, SLOW, 1,
        (struct step_by){STEPS_STORE, 7, A}); /* restored from a backup */
    put(s, SLOW, 2, (struct step_by){OTHER, 9, B});
    m = look(s->slow, false);
    assert_int_equal(m.highest.number, 1); /* nobody has asked them */
    m = asked(s->slow, false);
    assert_int_equal(m.highest.number, 7);
    assert_string_equal(m.highest.nonce, A);
    assert_int_equal(m.saved.number, 7); /* the other's count for nothing */
    assert_int_equal(m.steps, 2);
    assert_int_equal(wr_membership_look(NULL, true, false, &m, NULL), 0);
    assert_int_equal(m.is, WR_MEMBER_NEW);
}

static void without_one(void **state)
{
    struct steps *s = *state;
    struct wr_membership m;

    lose(s->fast, ".weir");
    assert_int_equal(look(s->fast, true).is, WR_MEMBER_NEW);
    put(s, FAST, 1, (struct step_by){"", 0, ""});
    m = look(s->fast, true);
    assert_int_equal(m.is, WR_MEMBER_OLD); /* nothing tells */
    assert_false(m.derived);
    put(s, FAST, 2, (struct step_by){STEPS_STORE, 3, A});
    put(s, FAST, 3, (struct step_by){STEPS_STORE, 4, B});
    m = look(s->fast, true);
    assert_int_equal(m.is, WR_MEMBER_FAST);
    assert_true(m.derived);
    assert_string_equal(m.link.store, STEPS_STORE);
    assert_int_equal(m.link.generation, 4);
    assert_string_equal(m.link.nonce, B);
    assert_int_equal(m.saved.number, 4);
    m = look(s->fast, false); /* the position says what it is */
    assert_int_equal(m.is, WR_MEMBER_LAST);
    assert_int_equal(m.highest.number, 4);
    /* Adopted ones do not make it another's, until they are most. */
    put(s, FAST, 4, (struct step_by){OTHER, 8, A});
    assert_string_equal(look(s->fast, true).link.store, STEPS_STORE);
    put(s, FAST, 5, (struct step_by){OTHER, 9, A});
    put(s, FAST, 6, (struct step_by){OTHER, 9, A});
    assert_string_equal(look(s->fast, true).link.store, OTHER);
    /* Damaged ones say nothing. */
    steps_flip(s, FAST, 5, "MANIFEST", 15);
    steps_flip(s, FAST, 6, "MANIFEST", 15);
    m = look(s->fast, true);
    assert_string_equal(m.link.store, STEPS_STORE);
    assert_int_equal(m.steps, 6);
}

static void with_a_damaged_one(void **state)
{
    struct steps *s = *state;
    struct wr_membership m;
    char path[STEPS_PATH];
    weir_err err;
    FILE *f;

    snprintf(path, sizeof(path), "%s/.weir/store", s->slow);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs("last " STEPS_STORE " 00000000\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(look_code(s->slow, false, false, &m, &err), WEIR_EDAMAGED);
    assert_int_equal(look_code(s->slow, false, true, &m, &err), 0);
    assert_int_equal(m.is, WR_MEMBER_NEW);
    put(s, SLOW, 1, (struct step_by){STEPS_STORE, 1, A});
    m = look(s->slow, false);
    assert_int_equal(m.is, WR_MEMBER_LAST);
    assert_true(m.derived);
}

/* --- which belong together --- */

static int open_code(const struct steps *s, enum weir_ckpt_role role,
                     const char *store, weir_err *err)
{
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    int r;

    steps_config(s, role, &cfg);
    cfg.store = store;
    r = weir_ckpt_open(&c, &cfg, err);
    /* What is odd about the tiers is told once. */
    if (r == 0 && role == WEIR_CKPT_SAVE && weir_ckpt_drain(c, err) < 0 &&
        weir_ckpt_drain(c, err) < 0)
        fail_msg("%s", err->msg);
    weir_ckpt_close(&c, NULL); /* what it has to tell is of no interest here */
    return r;
}

/* Tiers that were copied without dot files are what they were. */
static void copied_without_files(void **state)
{
    struct steps *s = *state;
    weir_err err;

    put(s, SLOW, 1, (struct step_by){STEPS_STORE, 1, A});
    put(s, FAST, 2, (struct step_by){STEPS_STORE, 1, A});
    lose(s->fast, ".weir");
    lose(s->slow, ".weir");
    assert_int_equal(open_code(s, WEIR_CKPT_SAVE, OTHER, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "not store " OTHER));
    if (open_code(s, WEIR_CKPT_SAVE, STEPS_STORE, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(look(s->slow, false).is, WR_MEMBER_LAST);
    assert_false(look(s->slow, false).derived);
    assert_false(look(s->fast, true).derived);
    assert_int_equal(look(s->fast, true).link.generation, 2);
}

/* A slow tier that is older than the fast one remembers. */
static void a_slow_tier_of_before(void **state)
{
    struct steps *s = *state;
    weir_err err;

    put(s, SLOW, 1, (struct step_by){STEPS_STORE, 1, A});
    put(s, FAST, 2,
        (struct step_by){STEPS_STORE, 3, B}); /* of a writer it does not know */
    if (open_code(s, WEIR_CKPT_SAVE, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(look(s->fast, true).link.generation, 4);
    assert_int_equal(steps_count(s, SLOW, "step-"), 2); /* drained again */
    lose(s->slow, ".weir/generations");
    lose(s->slow, "step-000000000002");
    lose(s->fast, "step-000000000002"); /* nothing of it is left */
    assert_int_equal(open_code(s, WEIR_CKPT_SAVE, NULL, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "was it restored from a backup?"));
    assert_non_null(strstr(err.msg, "weir ckpt adopt"));
    assert_int_equal(open_code(s, WEIR_CKPT_DRAIN, NULL, &err), WEIR_ESTATE);
    assert_int_equal(open_code(s, WEIR_CKPT_READ, NULL, &err), 0);
}

/* A store is never made where one was asked for by its id. */
static void a_store_that_is_missing(void **state)
{
    struct steps *s = *state;
    weir_err err;

    lose(s->fast, ".w*");
    lose(s->slow, ".w*");
    assert_int_equal(open_code(s, WEIR_CKPT_SAVE, STEPS_STORE, &err),
                     WEIR_ENOENT);
    assert_int_equal(steps_count(s, SLOW, ".w"), 0);
    assert_int_equal(steps_count(s, FAST, ".w"), 0);
    assert_int_equal(open_code(s, WEIR_CKPT_SAVE, NULL, &err), 0);
    assert_int_equal(open_code(s, WEIR_CKPT_SAVE, STEPS_STORE, &err),
                     WEIR_ESTATE);
}

#define STEP_TEST(f)                                                           \
    cmocka_unit_test_setup_teardown(f, steps_setup, steps_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(with_a_file),           STEP_TEST(without_one),
        STEP_TEST(with_a_damaged_one),    STEP_TEST(copied_without_files),
        STEP_TEST(a_slow_tier_of_before), STEP_TEST(a_store_that_is_missing),
    };

    return cmocka_run_group_tests_name("membership", tests, NULL, NULL);
}
