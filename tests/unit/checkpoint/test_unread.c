/* test_unread.c - copies that cannot be read, which says nothing about them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "checkpoint/store.h"

/* Steps 1 and 2, on both tiers where there are two. */
static void save_two(struct saves *s, bool two)
{
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = two});
    weir_ckpt *c;

    cfg.keep_fast = 9;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_VERIFIED);
    saves_must(s, c, 2, WEIR_LEVEL_VERIFIED);
    saves_close(c);
}

static weir_ckpt *open_reading(const struct saves *s, struct saves_tiers t)
{
    weir_ckpt_config cfg = saves_config(s, t);
    weir_ckpt *c;

    cfg.role = WEIR_CKPT_READ;
    c = saves_open(&cfg);
    c->retry_ns = 0;
    return c;
}

static int restore(struct saves *s, weir_ckpt *c, uint64_t step, weir_err *err)
{
    s->w[7] = 0;
    return weir_ckpt_restore(c, step, &s->tensor, 1, NULL, err);
}

/* Only damage makes an older step do. */
static void no_older_step_is_taken(void **state)
{
    static const struct {
        const char *rules;
        int code;
    } cases[] = {
        {"open-emfile@~000000000002/MANIFEST", WEIR_EMFILE},
        {"open-eio@~000000000002/MANIFEST", WEIR_EIO},
        {"eio@~000000000002/MANIFEST", WEIR_EIO},
        {"stat-eio@~000000000002/r00000", WEIR_EIO},
        {"open-emfile@~000000000002/r00000", WEIR_EMFILE},
        {"eacces@~000000000002/r00000", WEIR_EACCES},
        {"eio@~000000000002/r00000", WEIR_EIO},
    };
    struct saves *s = *state;

    save_two(s, /* two= */ false);
    for (size_t i = 0; i < WR_ARRAY_LEN(cases); i++) {
        weir_ckpt *c = open_reading(
            s, (struct saves_tiers){.fast_rules = cases[i].rules});
        bool lack = cases[i].code == WEIR_EMFILE;
        weir_err err;

        assert_int_equal(restore(s, c, WEIR_LATEST, &err), cases[i].code);
        if (!strstr(err.msg, "step 2 cannot be read: '") ||
            lack == !!strstr(err.msg, "(--step)"))
            fail_msg("%s: %s", cases[i].rules, err.msg);
        assert_int_equal(weir_ckpt_look(c, WEIR_LATEST, NULL, &err),
                         cases[i].code);
        assert_int_equal(restore(s, c, 2, &err), cases[i].code);
        assert_int_equal(restore(s, c, 1, &err), 1);
        assert_int_equal(s->w[7], 2);
        saves_close(c);
    }
}

/* What goes wrong once goes well the next time. */
static void it_is_tried_again(void **state)
{
    static const char *const rules[] = {"open-emfile", "eio", "eacces",
                                        "stat-eio"};
    struct saves *s = *state;

    save_two(s, /* two= */ false);
    for (size_t i = 0; i < WR_ARRAY_LEN(rules); i++) {
        for (unsigned n = 1; n < 12; n++) {
            char text[40];
            weir_ckpt *c;
            weir_err err;

            snprintf(text, sizeof(text), "%s@%u", rules[i], n);
            c = open_reading(s, (struct saves_tiers){.fast_rules = text});
            if (restore(s, c, WEIR_LATEST, &err) != 1)
                fail_msg("%s: %s", text, err.msg);
            assert_int_equal(s->w[7], 3);
            saves_close(c);
        }
    }
}

/* A copy of the same save is as good. */
static void the_same_save_is_taken(void **state)
{
    struct saves *s = *state;
    weir_ckpt_found *found = NULL;
    weir_ckpt *c;
    weir_err err;

    save_two(s, /* two= */ true);
    c = open_reading(
        s, (struct saves_tiers){.two = true,
                                .fast_rules = "eio@~000000000002/r00000"});
    if (weir_ckpt_restore(c, WEIR_LATEST, &s->tensor, 1, &found, &err) != 1)
        fail_msg("%s", err.msg);
    assert_int_equal(found->step, 2);
    assert_string_equal(found->tier, "slow");
    assert_int_equal(found->passed_over_count, 1);
    assert_non_null(
        strstr(found->passed_over[0], "step 2 on the fast tier: '"));
    weir_ckpt_found_free(&found);
    saves_close(c);
    /* It is damaged there: still no older one. */
    saves_damage(s->slow, 2);
    c = open_reading(
        s, (struct saves_tiers){.two = true,
                                .fast_rules = "eio@~000000000002/r00000"});
    assert_int_equal(restore(s, c, WEIR_LATEST, &err), WEIR_EIO);
    assert_non_null(strstr(err.msg, "step 2 on the fast tier cannot be read"));
    saves_close(c);
    /* Which save it is is not known: nothing else will do. */
    c = open_reading(
        s, (struct saves_tiers){
               .two = true, .fast_rules = "open-eio@~000000000001/MANIFEST"});
    assert_int_equal(restore(s, c, 1, &err), WEIR_EIO);
    saves_close(c);
}

struct codes {
    int good, damaged, unread;
};

static void on_checked(void *arg, const weir_ckpt_checked *k)
{
    struct codes *n = arg;

    n->good += k->code == 0;
    n->damaged += k->code == WEIR_EDAMAGED || k->code == WEIR_EFORMAT;
    n->unread += k->code == WEIR_EACCES;
    assert_true(k->code == 0 || *k->text);
}

/* Verify tells the two apart. */
static void unreadable_is_not_damaged(void **state)
{
    struct saves *s = *state;
    struct codes n = {0};
    weir_ckpt *c;
    weir_err err;

    save_two(s, /* two= */ false);
    c = open_reading(
        s, (struct saves_tiers){.fast_rules = "eacces@~000000000002/r00000"});
    assert_int_equal(weir_ckpt_verify(c, WEIR_LATEST, on_checked, &n, &err),
                     WEIR_EACCES);
    assert_non_null(strstr(err.msg, "step-000000000002/r00000"));
    assert_true(n.good == 1 && n.damaged == 0 && n.unread == 1);
    saves_damage(s->fast, 1);
    n = (struct codes){0};
    assert_int_equal(weir_ckpt_verify(c, WEIR_LATEST, on_checked, &n, &err), 1);
    assert_true(n.good == 0 && n.damaged == 1 && n.unread == 1);
    saves_close(c);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_older_step_is_taken),
        TEST(it_is_tried_again),
        TEST(the_same_save_is_taken),
        TEST(unreadable_is_not_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
