/* test_save_odd.c - saves of what is too large or not there, beside what
 * cannot be read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/mem.h"

static const struct saves_tiers one;

/* What cannot be saved is refused, and the next save is as good as any. */
static void check_refused(struct saves *s, weir_ckpt *c, int code,
                          const char *says)
{
    weir_err err;

    s->state.step = 1;
    assert_int_equal(weir_ckpt_save(c, &s->state, WEIR_LEVEL_FAST, &err), code);
    if (!strstr(err.msg, says))
        fail_msg("'%s' does not say '%s'", err.msg, says);
}

static void tensors_without_memory(void **state)
{
    static const enum weir_behind kinds[] = {WEIR_BEHIND_BLOCK,
                                             WEIR_BEHIND_LATEST};
    struct saves *s = *state;

    for (size_t i = 0; i < WR_ARRAY_LEN(kinds); i++) {
        weir_ckpt_config cfg = saves_config(s, one);
        weir_ckpt *c;

        cfg.behind = kinds[i];
        c = saves_open(&cfg);
        s->tensor.data = NULL;
        check_refused(s, c, WEIR_EINVAL, "'w': no memory to save from");
        s->tensor.shape[0] = 0; /* of nothing there need not be any */
        s->state.step = 10 + i;
        assert_int_equal(weir_ckpt_save(c, &s->state, WEIR_LEVEL_FAST, NULL),
                         0);
        s->tensor.shape[0] = SAVES_COUNT;
        s->tensor.data = s->w;
        saves_must(s, c, 20 + i, WEIR_LEVEL_FAST);
        saves_close(c);
    }
}

/* No memory is taken for what no head could describe. */
static void shapes_that_are_huge(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    weir_ckpt *c = saves_open(&cfg);

    for (unsigned bits = 46; bits < 62; bits += 3) {
        s->tensor.shape[0] = UINT64_C(1) << bits;
        check_refused(s, c, bits < 60 ? WEIR_ELIMIT : WEIR_EINVAL, "'w': ");
    }
    s->tensor.name = NULL;
    s->tensor.shape[0] = UINT64_C(1) << 50;
    check_refused(s, c, WEIR_ELIMIT, "too many bytes");
    s->tensor.name = "w";
    s->tensor.shape[0] = SAVES_COUNT;
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_close(c);
}

/* A manifest that nobody could read back is not published. */
static void states_that_are_huge(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    weir_ckpt *c = saves_open(&cfg);

    s->state.pipeline = s->w; /* is not read */
    s->state.pipeline_len = ((size_t)64 << 20) + 1;
    check_refused(s, c, WEIR_ELIMIT, "pipeline");
    s->state.pipeline_len = 8;
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_close(c);
}

/* An old step of which nothing can be known is told once, and holds up no
 * save. */
static void a_neighbour_that_cannot_be_read(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    weir_ckpt_config faulty = saves_config(
        s, (struct saves_tiers){
               .fast_rules = "open-eio@~step-000000000001/MANIFEST"});
    unsigned told = 0;
    weir_ckpt *c;
    weir_err err;

    cfg.verify = 0; /* the newest verified one would stay, and which is that? */
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_close(c);
    cfg.fast = faulty.fast;
    c = saves_open(&cfg);
    for (uint64_t step = 2; step < 12; step++) {
        saves_must(s, c, step, WEIR_LEVEL_FAST);
        while (weir_ckpt_problem(c, &err) < 0) {
            if (!strstr(err.msg, "step-000000000001/MANIFEST"))
                fail_msg("%s", err.msg);
            told++;
        }
    }
    assert_int_equal(told, 1);
    weir_ckpt_close(&c, NULL);
    /* When it can be read again what was left undone is done. */
    cfg = saves_config(s, one);
    cfg.verify = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 20, WEIR_LEVEL_FAST);
    saves_must(s, c, 21, WEIR_LEVEL_FAST);
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 2), -1);
    assert_int_equal(saves_number(s->fast, 21), 22);
}

/* Whatever fails, the message has the file's whole name: there are two tiers,
 * and several stores on a machine. */
static void check_message(const weir_err *err, const char *dir,
                          const char *says)
{
    char whole[SAVES_PATH];

    snprintf(whole, sizeof(whole), "%s/", dir);
    if (!strstr(err->msg, whole) || !strstr(err->msg, "/r00000.safetensors'") ||
        !strstr(err->msg, says))
        fail_msg("'%s' does not name '%s' and '%s'", err->msg, dir, says);
}

static void messages_name_the_whole_path(void **state)
{
    static const struct {
        const char *rules, *says;
    } writing[] = {
        {"write-eio@~safetensors", "cannot write"},
        {"sync-eio@~safetensors", "cannot sync"},
        {"resize-enospc@~safetensors", "cannot resize"},
        {"create-eio@~safetensors", "cannot create"},
    };
    struct saves *s = *state;
    char command[SAVES_PATH];
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    for (size_t i = 0; i < WR_ARRAY_LEN(writing); i++) {
        cfg = saves_config(
            s, (struct saves_tiers){.fast_rules = writing[i].rules});
        c = saves_open(&cfg);
        assert_true(saves_put(s, c, 1, 1, WEIR_LEVEL_FAST, &err) < 0);
        check_message(&err, s->fast, writing[i].says);
        saves_close(c);
    }
    snprintf(command, sizeof(command), "rm -r '%s'", s->fast);
    assert_int_equal(system(command), 0); /* it gets a slow tier */
    for (size_t i = 0; i < WR_ARRAY_LEN(writing); i++) {
        cfg = saves_config(s,
                           (struct saves_tiers){true, NULL, writing[i].rules});
        c = saves_open(&cfg);
        assert_true(saves_put(s, c, 10 + i, 1, WEIR_LEVEL_SLOW, &err) < 0);
        check_message(&err, s->slow, writing[i].says);
        weir_ckpt_close(&c, NULL); /* or the error of one more attempt */
    }
    cfg = saves_config(s,
                       (struct saves_tiers){.fast_rules = "flip@~safetensors"});
    cfg.role = WEIR_CKPT_READ;
    c = saves_open(&cfg);
    assert_int_equal(weir_ckpt_restore(c, 13, NULL, 0, NULL, &err),
                     WEIR_EDAMAGED);
    check_message(&err, s->fast, "checksum mismatch in bytes 0 to");
    saves_close(c);
}

/* A save that waits writes whole pages from where they are; a snapshot of the
 * same state has to have room for them. */
static void states_that_lie_in_pages(void **state)
{
    const size_t bytes = (size_t)32 << 20;
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    uint8_t *pages = aligned_alloc(4096, bytes), *back = malloc(bytes);
    weir_tensor into;
    weir_ckpt *c;

    assert_true(pages && back);
    for (size_t i = 0; i < bytes; i++)
        pages[i] = (uint8_t)(i / 4096 * 7 + i);
    s->tensor.data = pages;
    s->tensor.shape[0] = bytes / 4;
    into = s->tensor;
    into.data = back;
    c = saves_open(&cfg);
    for (unsigned step = 1; step <= 3; step++) {
        bool waits = step != 2;

        s->state.step = step;
        assert_int_equal(
            weir_ckpt_save(c, &s->state,
                           waits ? WEIR_LEVEL_FAST : WEIR_LEVEL_SNAPSHOT, NULL),
            0);
        if (step == 1)
            assert_true(saves_stats(c).memory <= (uint64_t)4 << 20);
        else
            assert_true(saves_stats(c).memory >= bytes);
        saves_wait(c, step, WEIR_LEVEL_FAST);
        memset(back, 0, bytes);
        assert_int_equal(weir_ckpt_restore(c, step, &into, 1, NULL, NULL), 1);
        assert_memory_equal(back, pages, bytes);
    }
    saves_close(c);
    s->tensor.data = s->w;
    s->tensor.shape[0] = SAVES_COUNT;
    free(pages);
    free(back);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tensors_without_memory),
        TEST(shapes_that_are_huge),
        TEST(states_that_are_huge),
        TEST(states_that_lie_in_pages),
        TEST(a_neighbour_that_cannot_be_read),
        TEST(messages_name_the_whole_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
