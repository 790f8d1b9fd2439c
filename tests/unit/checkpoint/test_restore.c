/* test_restore.c - which copy a restore takes, and what it says of the others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "weir/ckpt_manage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/mem.h"
#include "restore_kit.h"

static int setup(void **state)
{
    struct kit *k = malloc(sizeof(*k));

    if (!k)
        return -1;
    kit_init(k);
    *state = k;
    return 0;
}

static int teardown(void **state)
{
    kit_done(*state);
    free(*state);
    return 0;
}

/* Restores as the only rank and expects step and tier; the found one is the
 * caller's. */
static weir_ckpt_found *must_restore(struct kit *k, uint64_t wanted,
                                     uint64_t step, const char *tier)
{
    weir_ckpt_found *found = NULL;
    struct kit_state s;
    weir_ckpt c;
    weir_err err;

    kit_open(k, &c, 0, 1, true);
    kit_state_init(k, &s, 0, 0, /* empty= */ true);
    if (weir_ckpt_restore(&c, wanted, s.t, KIT_TENSORS, &found, &err) != 1)
        fail_msg("%s", err.msg);
    assert_true(kit_state_is(k, &s, step, 0));
    assert_int_equal(found->step, step);
    assert_string_equal(found->tier, tier);
    kit_state_done(&s);
    kit_close(&c);
    return found;
}

static void must_fail(struct kit *k, uint64_t wanted, int code,
                      const char *text)
{
    weir_ckpt_found *found = NULL;
    struct kit_state s;
    weir_ckpt c;
    weir_err err;

    kit_open(k, &c, 0, 1, true);
    kit_state_init(k, &s, 0, 0, /* empty= */ true);
    assert_int_equal(
        weir_ckpt_restore(&c, wanted, s.t, KIT_TENSORS, &found, &err), code);
    assert_int_equal(err.code, code);
    if (!strstr(err.msg, text))
        fail_msg("'%s' is not in '%s'", text, err.msg);
    assert_null(found);
    assert_int_equal(weir_ckpt_look(&c, wanted, &found, NULL), code);
    kit_state_done(&s);
    kit_close(&c);
}

/* --- which one --- */

static void nothing(void **state)
{
    struct kit *k = *state;
    weir_ckpt_found *found = NULL;
    weir_ckpt c;

    kit_open(k, &c, 0, 1, true);
    assert_int_equal(weir_ckpt_restore(&c, WEIR_LATEST, NULL, 0, &found, NULL),
                     0);
    assert_int_equal(weir_ckpt_look(&c, WEIR_LATEST, &found, NULL), 0);
    assert_null(found);
    kit_close(&c);
    must_fail(k, 5, WEIR_ENOENT, "step 5 is not there; there are no steps");
    weir_ckpt_found_free(NULL);
    weir_ckpt_found_free(&found);
}

static void newest_and_nearest(void **state)
{
    struct kit *k = *state;
    weir_ckpt_found *found;

    kit_save(k, k->slow, 10, 1);
    kit_save(k, k->slow, 20, 1);
    kit_save(k, k->fast, 20, 1);
    found = must_restore(k, WEIR_LATEST, 20, "fast");
    assert_int_equal(found->passed_over_count, 0);
    assert_int_equal(found->world, 1);
    assert_int_equal(found->time_ns, 140);
    assert_int_equal(found->count, KIT_TENSORS);
    for (size_t n = 0; n < found->count; n++) {
        assert_null(found->tensors[n].data);
        assert_memory_equal(found->tensors[n].name, "r0.", 3);
    }
    assert_int_equal(found->metadata_count, 1);
    assert_string_equal(found->metadata[0].key, "epoch");
    assert_string_equal(found->metadata[0].value, "three");
    assert_int_equal(found->pipeline_count, 1);
    assert_int_equal(found->pipeline_len[0], 13);
    assert_memory_equal(found->pipeline[0], "state 0 of 20", 13);
    weir_ckpt_found_free(&found);
    assert_null(found);

    found = must_restore(k, 10, 10, "slow");
    assert_int_equal(found->passed_over_count, 0);
    weir_ckpt_found_free(&found);
    /* newer beats nearer */
    kit_save(k, k->slow, 30, 1);
    found = must_restore(k, WEIR_LATEST, 30, "slow");
    weir_ckpt_found_free(&found);
}

static void not_there(void **state)
{
    struct kit *k = *state;

    k->floats = 10;
    for (uint64_t step = 10; step <= 60; step += 10)
        kit_save(k, step % 20 ? k->fast : k->slow, step, 1);
    kit_save(k, k->slow, 30, 1);
    must_fail(
        k, 35, WEIR_ENOENT,
        "step 35 is not there; there are steps 20, 30, 40 and 50 (nearest of "
        "6)");
    must_fail(k, 5, WEIR_ENOENT, "there are steps 10 and 20 (nearest of 6)");
    must_fail(k, 99, WEIR_ENOENT, "there are steps 50 and 60 (nearest of 6)");
    must_fail(k, WEIR_STEP_MAX, WEIR_EINVAL, "no such step");
}

/* --- damage --- */

static const char *const damage_texts[KIT_DAMAGES] = {
    [FLIP_SIZE] = "r00000.safetensors'",
    [FLIP_HEAD] = "r00000.safetensors': checksum mismatch in bytes 0 to 4096",
    [FLIP_DATA] = "r00000.safetensors': checksum mismatch in bytes 4096 to ",
    [NO_FILE] = "r00000.safetensors': missing",
    [SHORT_FILE] = "r00000.safetensors': has ",
    [LONG_FILE] = "r00000.safetensors': has ",
    [FLIP_MANIFEST] = "MANIFEST': ",
    [NO_MANIFEST] = "MANIFEST': missing",
    [EMPTY_MANIFEST] = "MANIFEST': ",
};

static void expect_passed(const weir_ckpt_found *f, size_t at, const char *head,
                          enum kit_damage d)
{
    assert_true(at < f->passed_over_count);
    assert_memory_equal(f->passed_over[at], head, strlen(head));
    if (!strstr(f->passed_over[at], damage_texts[d]))
        fail_msg("'%s' is not in '%s'", damage_texts[d], f->passed_over[at]);
}

/* By tier, then by step, then not at all. */
static void damaged(void **state)
{
    for (int d = 0; d < KIT_DAMAGES; d++) {
        struct kit *k = *state;
        weir_ckpt_found *f;

        kit_save(k, k->fast, 20, 1);
        kit_save(k, k->fast, 30, 1);
        kit_save(k, k->slow, 30, 1);
        kit_damage(k, "fast", 30, 0, (enum kit_damage)d);
        f = must_restore(k, WEIR_LATEST, 30, "slow");
        assert_int_equal(f->passed_over_count, 1);
        expect_passed(f, 0, "step 30 on the fast tier: ", (enum kit_damage)d);
        weir_ckpt_found_free(&f);
        f = must_restore(k, 30, 30, "slow");
        assert_int_equal(f->passed_over_count, 1);
        weir_ckpt_found_free(&f);

        kit_damage(k, "slow", 30, 0, (enum kit_damage)d);
        f = must_restore(k, WEIR_LATEST, 20, "fast");
        assert_int_equal(f->passed_over_count, 2);
        expect_passed(f, 0, "step 30 on the fast tier: ", (enum kit_damage)d);
        expect_passed(f, 1, "step 30 on the slow tier: ", (enum kit_damage)d);
        weir_ckpt_found_free(&f);
        if (d != FLIP_DATA) { /* heads alone do not tell that */
            must_fail(k, 30, WEIR_EDAMAGED,
                      "nothing can be restored: 2 damaged copies; step 30 on "
                      "the fast tier: ");
            kit_damage(k, "fast", 20, 0, (enum kit_damage)d);
            must_fail(k, WEIR_LATEST, WEIR_EDAMAGED, damage_texts[d]);
            must_fail(k, WEIR_LATEST, WEIR_EDAMAGED, "3 damaged copies");
        }
        teardown(state);
        setup(state);
    }
}

/* In the second chunk, and in one that is not wanted. */
static void damaged_later(void **state)
{
    struct kit *k = *state;
    weir_ckpt_found *f;
    struct kit_state s;
    weir_ckpt c;

    k->floats = 1200000;
    kit_save(k, k->fast, 7, 1);
    kit_save(k, k->slow, 7, 1);
    f = must_restore(k, WEIR_LATEST, 7, "fast");
    weir_ckpt_found_free(&f);
    kit_damage(k, "fast", 7, 0, FLIP_DATA);
    f = must_restore(k, WEIR_LATEST, 7, "slow");
    assert_int_equal(f->passed_over_count, 1);
    assert_non_null(
        strstr(f->passed_over[0], "checksum mismatch in bytes 4198400 to 480"));
    weir_ckpt_found_free(&f);

    kit_open(k, &c, 0, 1, true);
    kit_state_init(k, &s, 0, 0, true);
    assert_int_equal(weir_ckpt_restore(&c, WEIR_LATEST, &s.t[3], 1, &f, NULL),
                     1); /* the scalar comes first in the file */
    assert_string_equal(f->tier, "fast");
    weir_ckpt_found_free(&f);
    /* nothing wanted: heads alone are read */
    assert_int_equal(weir_ckpt_restore(&c, WEIR_LATEST, NULL, 0, &f, NULL), 1);
    assert_string_equal(f->tier, "fast");
    weir_ckpt_found_free(&f);
    assert_int_equal(weir_ckpt_look(&c, WEIR_LATEST, &f, NULL), 1);
    assert_string_equal(f->tier, "fast");
    assert_int_equal(f->count, KIT_TENSORS);
    weir_ckpt_found_free(&f);
    kit_damage(k, "fast", 7, 0, FLIP_HEAD);
    assert_int_equal(weir_ckpt_look(&c, WEIR_LATEST, &f, NULL), 1);
    assert_string_equal(f->tier, "slow");
    assert_int_equal(f->passed_over_count, 1);
    weir_ckpt_found_free(&f);
    /* without asking what was found */
    assert_int_equal(weir_ckpt_restore(&c, 7, s.t, KIT_TENSORS, NULL, NULL), 1);
    assert_true(kit_state_is(k, &s, 7, 0));
    kit_state_done(&s);
    kit_close(&c);
}

/* --- the caller's errors --- */

static void expect_refused(weir_ckpt *c, const weir_tensor *into, size_t count,
                           int code, const char *text)
{
    weir_err err;

    assert_int_equal(weir_ckpt_restore(c, WEIR_LATEST, into, count, NULL, &err),
                     code);
    if (!strstr(err.msg, text))
        fail_msg("'%s' is not in '%s'", text, err.msg);
}

static void wrong_wishes(void **state)
{
    struct kit *k = *state;
    weir_tensor pair[2], t;
    struct kit_state s;
    weir_ckpt c;

    kit_save(k, k->fast, 20, 1);
    kit_save(k, k->slow, 10, 1);
    kit_open(k, &c, 0, 1, true);
    kit_state_init(k, &s, 0, 0, true);
    t = s.t[1];
    t.name = "other";
    expect_refused(&c, &t, 1, WEIR_ENOENT,
                   "'other': step 20 has no such tensor");
    t = s.t[1];
    t.dtype = WEIR_I32;
    expect_refused(&c, &t, 1, WEIR_EINVAL,
                   "'r0.b': is F32 [3, 5] in step 20, I32 [3, 5] is wanted");
    t = s.t[1];
    t.shape[0] = 5, t.shape[1] = 3;
    expect_refused(&c, &t, 1, WEIR_EINVAL,
                   "'r0.b': is F32 [3, 5] in step 20, F32 [5, 3] is wanted");
    t = s.t[1];
    t.ndim = 1, t.shape[0] = 15;
    expect_refused(&c, &t, 1, WEIR_EINVAL, "F32 [15] is wanted");
    t = s.t[1];
    t.data = NULL;
    expect_refused(&c, &t, 1, WEIR_EINVAL, "'r0.b': no memory");
    t.name = NULL;
    expect_refused(&c, &t, 1, WEIR_EINVAL, "no name");
    t = s.t[1];
    t.shape[0] = UINT64_MAX;
    assert_true(weir_ckpt_restore(&c, WEIR_LATEST, &t, 1, NULL, NULL) < 0);
    pair[0] = pair[1] = s.t[1];
    expect_refused(&c, pair, 2, WEIR_EINVAL, "'r0.b': is wanted twice");
    kit_state_done(&s);
    kit_close(&c);
}

/* --- another number of ranks --- */

static void other_world(void **state)
{
    struct kit *k = *state;
    weir_ckpt_found *f;
    struct kit_state s[3];
    weir_tensor all[3 * KIT_TENSORS];
    weir_ckpt c;
    weir_err err;

    kit_save(k, k->fast, 8, 3);
    kit_open(k, &c, 0, 1, false);
    for (uint32_t r = 0; r < 3; r++) {
        kit_state_init(k, &s[r], 0, r, true);
        for (size_t n = 0; n < KIT_TENSORS; n++)
            all[n * 3 + r] = s[r].t[n]; /* not in the order of the files */
    }
    assert_int_equal(
        weir_ckpt_restore(&c, WEIR_LATEST, all, WR_ARRAY_LEN(all), &f, NULL),
        1);
    assert_int_equal(f->world, 3);
    assert_int_equal(f->count, 3 * KIT_TENSORS);
    /* the second rank had none */
    assert_int_equal(f->pipeline_count, 2);
    assert_memory_equal(f->pipeline[1], "state 2 of 8", 12);
    assert_int_equal(f->pipeline_len[1], 12);
    for (uint32_t r = 0; r < 3; r++) {
        assert_true(kit_state_is(k, &s[r], 8, r));
        kit_state_done(&s[r]);
    }
    weir_ckpt_found_free(&f);

    /* any of the files may be the damaged one */
    kit_damage(k, "fast", 8, 2, FLIP_HEAD);
    assert_int_equal(weir_ckpt_restore(&c, WEIR_LATEST, NULL, 0, &f, &err),
                     WEIR_EDAMAGED);
    assert_non_null(strstr(err.msg, "r00002.safetensors"));

    kit_close(&c);
}

/* Ranks that train the same model have the same tensors. */
static void replicas(void **state)
{
    struct kit *k = *state;
    struct kit_state want, is;
    weir_ckpt_found *f;
    weir_ckpt c;
    weir_err err;

    k->shared = true;
    k->floats = 2500000; /* more than two chunks: checksums can tell */
    kit_save(k, k->fast, 9, 3);
    kit_open(k, &c, 0, 1, false);
    kit_state_init(k, &is, 0, 0, true);
    kit_state_init(k, &want, 9, 0, false);
    if (weir_ckpt_restore(&c, WEIR_LATEST, is.t, 4, &f, &err) != 1)
        fail_msg("%s", err.msg);
    for (size_t n = 0; n < 4; n++)
        assert_memory_equal(is.t[n].data, want.t[n].data,
                            n == 0   ? k->floats * 4
                            : n == 1 ? 60
                            : n == 3 ? 8
                                     : 0);
    assert_int_equal(f->differing, 1); /* "w": these are not the same */
    /* Each is shown once; "bytes" has another shape on each rank. */
    assert_int_equal(f->count, KIT_TENSORS - 1 + 3);
    weir_ckpt_found_free(&f);
    expect_refused(&c, is.t, KIT_TENSORS, WEIR_EINVAL,
                   "'bytes': ranks 0 and 1 of step 9 both have it, with other "
                   "types or shapes; there were 3 ranks");
    kit_state_done(&want);
    kit_state_done(&is);
    kit_close(&c);
}

/* --- while others are at work --- */

struct meanwhile {
    struct kit *k;
    int calls, what;
    uint64_t done, total;
};

enum { RETIRE_AND_NEWER, SAVE_AGAIN, RETIRE_ALL, CANCEL };

static int meddle(void *arg, uint64_t done, uint64_t total)
{
    struct meanwhile *m = arg;

    assert_true(done <= total);
    m->done = done;
    m->total = total;
    if (m->what == CANCEL)
        return 1;
    if (m->calls++ > 0)
        return 0;
    assert_int_equal(wr_tier_retire(m->k->fast, 30, NULL), 0);
    if (m->what == RETIRE_AND_NEWER)
        kit_save(m->k, m->k->fast, 40, 1);
    if (m->what == SAVE_AGAIN)
        kit_save(m->k, m->k->fast, 30, 1);
    return 0;
}

/* What is read cannot be read, because it is being replaced: no damage. */
static void taken_away(void **state)
{
    static const struct {
        int what;
        uint64_t step;
    } rows[] = {{RETIRE_AND_NEWER, 40}, {SAVE_AGAIN, 30}, {RETIRE_ALL, 20}};

    for (size_t n = 0; n < WR_ARRAY_LEN(rows); n++) {
        struct kit *k = *state;
        struct meanwhile m = {.k = k, .what = rows[n].what};
        weir_ckpt_found *f;
        struct kit_state s;
        weir_ckpt c;

        k->floats = 3000000;
        kit_save(k, k->slow, 20, 1);
        kit_save(k, k->fast, 30, 1);
        kit_damage(k, "fast", 30, 0, FLIP_DATA);
        kit_open(k, &c, 0, 1, true);
        c.cfg.progress = meddle;
        c.cfg.progress_arg = &m;
        kit_state_init(k, &s, 0, 0, true);
        assert_int_equal(
            weir_ckpt_restore(&c, WEIR_LATEST, s.t, KIT_TENSORS, &f, NULL), 1);
        assert_true(m.calls > 1);
        assert_true(m.total > 12000000 && m.done == m.total);
        assert_int_equal(f->step, rows[n].step);
        assert_int_equal(f->passed_over_count, 0);
        assert_true(kit_state_is(k, &s, rows[n].step, 0));
        weir_ckpt_found_free(&f);
        kit_state_done(&s);
        kit_close(&c);
        teardown(state);
        setup(state);
    }
}

static void canceled(void **state)
{
    struct kit *k = *state;
    struct meanwhile m = {.k = k, .what = CANCEL};
    struct kit_state s;
    weir_ckpt c;

    kit_save(k, k->fast, 30, 1);
    kit_open(k, &c, 0, 1, true);
    c.cfg.progress = meddle;
    c.cfg.progress_arg = &m;
    kit_state_init(k, &s, 0, 0, true);
    assert_int_equal(
        weir_ckpt_restore(&c, WEIR_LATEST, s.t, KIT_TENSORS, NULL, NULL),
        WEIR_ECANCELED);
    kit_state_done(&s);
    kit_close(&c);
}

/* What went wrong in the background says nothing about what can be read. */
static void trouble(void **state)
{
    struct kit *k = *state;
    weir_err why, err;
    weir_ckpt c;

    kit_open(k, &c, 0, 1, true);
    wr_fail(&why, WEIR_ENOSPC, "'x': cannot write");
    wr_ckpt_trouble(&c, WR_LOG_NOTE, WR_STEP_NONE, &why, /* tell= */ true);
    assert_int_equal(weir_ckpt_restore(&c, WEIR_LATEST, NULL, 0, NULL, &err),
                     0);
    assert_int_equal(weir_ckpt_look(&c, WEIR_LATEST, NULL, &err), 0);
    assert_int_equal(wr_ckpt_take_trouble(&c, NULL, &err), WEIR_ENOSPC);
    assert_string_equal(err.msg, why.msg);
    kit_close(&c);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing),       TEST(newest_and_nearest),
        TEST(not_there),     TEST(damaged),
        TEST(damaged_later), TEST(wrong_wishes),
        TEST(other_world),   TEST(replicas),
        TEST(taken_away),    TEST(canceled),
        TEST(trouble),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
