/* test_given_up.c - copies that are damaged and that no drain tries again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK ".weir/damaged-000000000001"

static weir_ckpt_config config(const struct saves *s, enum weir_behind behind)
{
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});

    cfg.drain = 0;
    cfg.behind = behind;
    cfg.max_behind = 2;
    return cfg;
}

/* Changes a byte of a saved tensor, or changes it back. */
static void flip(const struct saves *s, uint64_t step)
{
    char path[SAVES_PATH];
    uint8_t b;
    int fd;

    snprintf(path, sizeof(path), "%s/step-%012u/r00000.safetensors", s->fast,
             (unsigned)step);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &b, 1, 100000), 1);
    b ^= 1;
    assert_int_equal(pwrite(fd, &b, 1, 100000), 1);
    close(fd);
}

static bool is_marked(const struct saves *s)
{
    char path[SAVES_PATH];

    snprintf(path, sizeof(path), "%s/" MARK, s->fast);
    return access(path, F_OK) == 0;
}

static weir_ckpt_entry entry(weir_ckpt *c, uint64_t step)
{
    weir_ckpt_entry *all, found = {0};
    weir_err err;
    size_t count;

    if (weir_ckpt_list(c, &all, &count, &err) < 0)
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < count; i++)
        if (all[i].step == step)
            found = all[i];
    free(all);
    return found;
}

/* Another process drains; both steps turn out damaged there. */
static weir_ckpt *give_up_two(struct saves *s, weir_ckpt *c)
{
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_BLOCK);
    weir_ckpt *d;
    weir_err err;

    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_must(s, c, 2, WEIR_LEVEL_FAST);
    flip(s, 1);
    flip(s, 2);
    cfg.role = WEIR_CKPT_DRAIN;
    d = saves_open(&cfg);
    assert_int_equal(weir_ckpt_drain(d, &err), WEIR_EDAMAGED);
    assert_true(strstr(err.msg, "step 1 on the fast tier is damaged: '") ==
                err.msg);
    assert_int_equal(weir_ckpt_drain(d, &err), 0); /* is told once */
    return d;
}

static bool names(const weir_err *err, unsigned step)
{
    char want[60];

    snprintf(want, sizeof(want), "step %u on the fast tier is damaged: '",
             step);
    return strstr(err->msg, want) != NULL;
}

/* What was given up does not count as behind, and the trainer is told of each
 * step, once. */
static void saves_go_on(void **state)
{
    static const enum weir_behind ways[] = {WEIR_BEHIND_BLOCK,
                                            WEIR_BEHIND_SKIP};
    struct saves *s = *state;

    for (int k = 0; k < 2; k++) {
        weir_ckpt_config cfg = config(s, ways[k]);
        weir_ckpt *c = saves_open(&cfg), *d = give_up_two(s, c);
        unsigned told[3] = {0};
        weir_err err;

        for (uint64_t step = 3; step <= 6; step++) {
            int r = saves_put(s, c, step, 9, WEIR_LEVEL_FAST, &err);

            assert_int_equal(r, 0); /* not skipped */
            while ((r = weir_ckpt_problem(c, &err)) < 0) {
                assert_int_equal(r, WEIR_EDAMAGED);
                told[1] += names(&err, 1);
                told[2] += names(&err, 2);
            }
            assert_int_equal(weir_ckpt_drain(d, &err), 0);
            assert_int_equal(saves_number(s->slow, step), 9);
        }
        assert_int_equal(told[1], 1);
        assert_int_equal(told[2], 1);
        saves_close(d);
        saves_close(c);
        snprintf(s->fast, sizeof(s->fast), "%s/fast2", s->root);
        snprintf(s->slow, sizeof(s->slow), "%s/slow2", s->root);
    }
}

static void waits_end(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_BLOCK);
    weir_ckpt *c = saves_open(&cfg), *d = give_up_two(s, c);
    weir_err err;

    assert_int_equal(weir_ckpt_wait(c, 2, WEIR_LEVEL_SLOW, -1, &err),
                     WEIR_EDAMAGED);
    assert_true(names(&err, 2));
    assert_int_equal(weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_SLOW, -1, &err),
                     WEIR_EDAMAGED);
    assert_true(names(&err, 1));
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_SLOW); /* both were told */
    saves_must(s, c, 3, WEIR_LEVEL_FAST);
    saves_close(d);
    saves_close(c);
}

/* Whoever lists, prunes or drains later knows it too. */
static void it_shows(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_BLOCK);
    weir_ckpt_prune_plan plan = {.keep_last = 1};
    weir_ckpt *c = saves_open(&cfg);
    weir_ckpt_entry e;
    weir_err err;

    saves_close(give_up_two(s, c));
    e = entry(c, 1);
    assert_int_equal(e.fast, WEIR_COPY_DAMAGED);
    assert_non_null(strstr(e.problem, "checksum mismatch"));
    weir_ckpt_close(&c, NULL);
    cfg.role = WEIR_CKPT_DRAIN;
    c = saves_open(&cfg);
    assert_int_equal(weir_ckpt_drain(c, &err), WEIR_EDAMAGED);
    assert_true(names(&err, 1));
    saves_close(c);
    cfg.role = WEIR_CKPT_SAVE;
    cfg.drain = 1;
    c = saves_open(&cfg);
    (void)saves_put(s, c, 3, 9, WEIR_LEVEL_VERIFIED, NULL);
    assert_int_equal(weir_ckpt_prune(c, &plan, &err), 0);
    assert_int_equal(entry(c, 1).fast, WEIR_COPY_NONE);
    assert_int_equal(entry(c, 2).fast, WEIR_COPY_NONE);
    assert_false(is_marked(s));
    weir_ckpt_close(&c, NULL);
}

/* The mark is of one save: a new one of that step is another. */
static void a_new_save_takes_its_place(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_BLOCK);
    weir_ckpt *c = saves_open(&cfg), *d = give_up_two(s, c);
    weir_err err;

    assert_true(is_marked(s));
    (void)saves_put(s, c, 1, 7, WEIR_LEVEL_FAST, &err);
    assert_int_equal(saves_number(s->fast, 1), 7);
    assert_false(is_marked(s));
    assert_int_equal(weir_ckpt_drain(d, &err), 0);
    assert_int_equal(saves_number(s->slow, 1), 7);
    saves_close(d);
    weir_ckpt_close(&c, NULL);
}

/* A copy that can be read after all is drained after all. */
static void verify_takes_the_mark_away(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_BLOCK);
    weir_ckpt *c = saves_open(&cfg), *d = give_up_two(s, c), *r;
    weir_err err;

    cfg.role = WEIR_CKPT_READ;
    r = saves_open(&cfg);
    assert_int_equal(weir_ckpt_verify(r, 1, NULL, NULL, &err), 1);
    assert_true(is_marked(s));
    flip(s, 1);
    assert_int_equal(weir_ckpt_verify(r, 1, NULL, NULL, &err), 0);
    assert_false(is_marked(s));
    assert_int_equal(weir_ckpt_drain(d, &err), 0);
    assert_int_equal(saves_number(s->slow, 1), 2);
    saves_close(r);
    saves_close(d);
    weir_ckpt_close(&c, NULL);
}

/* A mark that cannot be set is set by the next pass. */
static void a_mark_is_set_in_the_end(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_BLOCK);
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_close(c);
    flip(s, 1);
    cfg = saves_config(
        s, (struct saves_tiers){.two = true,
                                .fast_rules = "create-eio@1,create-eio@2"});
    cfg.role = WEIR_CKPT_DRAIN;
    c = saves_open(&cfg);
    assert_int_equal(weir_ckpt_drain(c, &err), WEIR_EDAMAGED);
    assert_false(is_marked(s));
    assert_int_equal(weir_ckpt_drain(c, &err), 0);
    assert_true(is_marked(s));
    saves_close(c);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(saves_go_on),
        TEST(waits_end),
        TEST(it_shows),
        TEST(a_new_save_takes_its_place),
        TEST(verify_takes_the_mark_away),
        TEST(a_mark_is_set_in_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
