/* test_restore_ranks.c - ranks that restore: all the same step, or none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "weir/ckpt_manage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../comm/ranks.h"
#include "base/mem.h"
#include "restore_kit.h"

#define WORLD 3

struct job {
    struct kit k;
    uint64_t step; /* that is expected */
    const char *tier;
    size_t passed;
    const char *text; /* of what was passed over first */
    uint32_t odd;     /* the rank that does something else */
    int code;         /* that all ranks get */
};

static void restore_all(uint32_t rank, void *arg)
{
    struct job *j = arg;
    weir_ckpt_found *f = NULL;
    struct kit_state s;
    weir_ckpt c;
    weir_err err;

    kit_open(&j->k, &c, rank, WORLD, true);
    kit_state_init(&j->k, &s, 0, rank, true);
    if (weir_ckpt_restore(&c, WEIR_LATEST, s.t, KIT_TENSORS, &f, &err) != 1) {
        fprintf(stderr, "rank %u: %s\n", rank, err.msg);
        _exit(1);
    }
    CHECK(f->step == j->step && !strcmp(f->tier, j->tier));
    CHECK(f->count == KIT_TENSORS && f->pipeline_count == 2);
    CHECK(kit_state_is(&j->k, &s, j->step, rank));
    CHECK(f->passed_over_count == j->passed);
    if (j->passed)
        CHECK_TEXT(f->passed_over[0], j->text);
    weir_ckpt_found_free(&f);
    CHECK(weir_ckpt_look(&c, 10, &f, NULL) == 1 && f->step == 10);
    weir_ckpt_found_free(&f);
    kit_state_done(&s);
    kit_close(&c);
}

static void build(struct job *j)
{
    kit_init(&j->k);
    kit_save(&j->k, j->k.slow, 10, WORLD);
    kit_save(&j->k, j->k.fast, 20, WORLD);
    kit_save(&j->k, j->k.slow, 20, WORLD);
}

static void whole(void **state)
{
    struct job j = {.step = 20, .tier = "fast"};

    (void)state;
    build(&j);
    assert_int_equal(run_ranks(WORLD, restore_all, &j), 0);
    kit_done(&j.k);
}

/* One file of one rank is damaged: all take the other tier, then an older
 * step. */
static void one_is_damaged(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < WORLD; rank++)
        for (int d = 0; d < KIT_DAMAGES; d++) {
            struct job j = {.step = 20, .tier = "slow", .passed = 1};
            char text[40];

            build(&j);
            kit_damage(&j.k, "fast", 20, rank, (enum kit_damage)d);
            snprintf(text, sizeof(text), "r%05u.safetensors", rank);
            j.text = d >= FLIP_MANIFEST ? "MANIFEST" : text;
            assert_int_equal(run_ranks(WORLD, restore_all, &j), 0);
            kit_damage(&j.k, "slow", 20, (rank + 1) % WORLD,
                       (enum kit_damage)d);
            j.step = 10;
            j.passed = 2;
            assert_int_equal(run_ranks(WORLD, restore_all, &j), 0);
            kit_done(&j.k);
        }
}

/* --- all fail together --- */

static int cancel(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    (void)done;
    (void)total;
    return 1;
}

enum { MISSING, CANCELED, OTHER_STEP, NO_MEMORY, DIES, ODDITIES };

static int restore_oddly(struct job *j, weir_ckpt *c, struct kit_state *s,
                         int odd, weir_err *err)
{
    weir_tensor t[KIT_TENSORS];
    uint64_t step = WEIR_LATEST;

    (void)j;
    memcpy(t, s->t, sizeof(t));
    switch (odd) {
    case MISSING:
        t[2].name = "unknown";
        break;
    case CANCELED:
        c->cfg.progress = cancel;
        break;
    case OTHER_STEP:
        step = 10;
        break;
    case NO_MEMORY:
        t[0].data = NULL;
        break;
    case DIES:
        die_now();
        break;
    default:
        break;
    }
    return weir_ckpt_restore(c, step, t, KIT_TENSORS, NULL, err);
}

static const struct {
    int code;
    const char *text; /* behind the rank */
} oddities[ODDITIES] = {
    [MISSING] = {WEIR_ENOENT, "'unknown': rank "},
    [CANCELED] = {WEIR_ECANCELED, ""},
    [OTHER_STEP] = {WEIR_EINVAL, "do not ask for the same step"},
    [NO_MEMORY] = {WEIR_EINVAL, "no memory"},
    [DIES] = {WEIR_EIO, "is gone"},
};

static void one_is_odd(uint32_t rank, void *arg)
{
    struct job *j = arg;
    struct kit_state s;
    weir_ckpt c;
    weir_err err;
    int r;

    kit_open(&j->k, &c, rank, WORLD, true);
    kit_state_init(&j->k, &s, 0, rank, true);
    r = restore_oddly(j, &c, &s, rank == j->odd ? j->code : ODDITIES, &err);
    CHECK(r == oddities[j->code].code && err.code == r);
    CHECK_TEXT(err.msg, oddities[j->code].text);
    if (j->code != DIES) {
        /* and the next one goes well */
        c.cfg.progress = NULL;
        CHECK(weir_ckpt_restore(&c, WEIR_LATEST, s.t, KIT_TENSORS, NULL,
                                NULL) == 1);
        CHECK(kit_state_is(&j->k, &s, 20, rank));
    } else {
        CHECK(weir_ckpt_look(&c, WEIR_LATEST, NULL, NULL) == r);
    }
    kit_state_done(&s);
    kit_close(&c);
}

static void fail_together(void **state)
{
    struct job j = {0};

    (void)state;
    build(&j);
    for (j.code = 0; j.code < ODDITIES; j.code++)
        for (j.odd = 0; j.odd < WORLD; j.odd++)
            assert_int_equal(run_ranks(WORLD, one_is_odd, &j), 0);
    kit_done(&j.k);
}

/* A wrong wish counts more than damage on a lower rank: no other step. */
static void wish_beats_damage(void **state)
{
    struct job j = {.code = MISSING, .odd = 2};

    (void)state;
    build(&j);
    kit_damage(&j.k, "fast", 20, 0, FLIP_DATA);
    assert_int_equal(run_ranks(WORLD, one_is_odd, &j), 0);
    kit_done(&j.k);
}

/* --- another number of ranks, several of them --- */

static void two_read(uint32_t rank, void *arg)
{
    struct job *j = arg;
    struct kit_state s;
    weir_ckpt_found *f;
    weir_ckpt c;

    kit_open(&j->k, &c, rank, 2, true);
    kit_state_init(&j->k, &s, 0, rank + 1, true);
    CHECK(weir_ckpt_restore(&c, WEIR_LATEST, s.t, KIT_TENSORS, &f, NULL) == 1);
    CHECK(f->world == WORLD && f->count == WORLD * KIT_TENSORS);
    CHECK(kit_state_is(&j->k, &s, 20, rank + 1));
    weir_ckpt_found_free(&f);
    kit_state_done(&s);
    kit_close(&c);
}

static void fewer(void **state)
{
    struct job j = {0};

    (void)state;
    build(&j);
    assert_int_equal(run_ranks(2, two_read, &j), 0);
    kit_done(&j.k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),         cmocka_unit_test(one_is_damaged),
        cmocka_unit_test(fail_together), cmocka_unit_test(wish_beats_damage),
        cmocka_unit_test(fewer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
