/* test_chain.c - which steps a run has left: examples, and random histories.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "checkpoint/chain.h"

#define MOST 40

/* --- examples --- */

/* A turn; the nonce is one letter, '-' is that of a version before. */
struct at {
    uint64_t generation;
    char nonce;
    uint64_t seq, part, step;
};

struct save {
    struct at is, from; /* from.step 0: from nothing, or not known */
    bool left;          /* it is abandoned */
};

static struct wr_ordinal turn_of(const struct at *a)
{
    struct wr_ordinal t = {.generation = a->generation,
                           .seq = a->seq,
                           .part = a->part,
                           .step = a->step};

    if (a->nonce && a->nonce != '-')
        memset(t.nonce, a->nonce, WR_MANIFEST_ID - 1);
    return t;
}

static void check(const char *what, const struct save *saves, size_t count)
{
    struct wr_origin o[MOST] = {{0}};
    bool left[MOST];

    for (size_t i = 0; i < count; i++) {
        o[i] = (struct wr_origin){.own = true,
                                  .continues = saves[i].from.step > 0,
                                  .turn = turn_of(&saves[i].is),
                                  .from = turn_of(&saves[i].from)};
        if (i > 0 && wr_origin_compare(&o[i], &o[i - 1]) <= 0)
            fail_msg("%s: %zu is not in its place", what, i);
    }
    wr_chain_find(o, count, left);
    for (size_t i = 0; i < count; i++)
        if (left[i] != saves[i].left)
            fail_msg("%s: step %u is %s", what, (unsigned)saves[i].is.step,
                     left[i] ? "abandoned" : "of the chain");
}

#define CHECK(what, ...)                                                       \
    do {                                                                       \
        static const struct save saves[] = {__VA_ARGS__};                      \
                                                                               \
        check(what, saves, WR_ARRAY_LEN(saves));                               \
    } while (0)

static void in_one_store(void **state)
{
    (void)state;
    check("nothing", NULL, 0);
    CHECK("one", {{1, 'a', 1, 1, 10}, {0}, false});
    CHECK("straight on", {{1, 'a', 1, 1, 10}, {0}, false},
          {{1, 'a', 2, 1, 20}, {0}, false}, {{1, 'a', 3, 1, 30}, {0}, false});
    CHECK("went back", {{1, 'a', 1, 1, 10}, {0}, false},
          {{1, 'a', 2, 1, 20}, {0}, true}, {{1, 'a', 3, 1, 30}, {0}, true},
          {{1, 'a', 4, 4, 15}, {1, 'a', 1, 1, 10}, false},
          {{1, 'a', 5, 4, 25}, {1, 'a', 1, 1, 10}, false});
    CHECK("twice to the same", {{1, 'a', 1, 1, 10}, {0}, false},
          {{1, 'a', 2, 1, 20}, {0}, true},
          {{1, 'a', 3, 3, 15}, {1, 'a', 1, 1, 10}, true},
          {{1, 'a', 4, 3, 25}, {1, 'a', 1, 1, 10}, true},
          {{1, 'a', 5, 5, 12}, {1, 'a', 1, 1, 10}, false});
    CHECK("and forward again, to what was left",
          {{1, 'a', 1, 1, 10}, {0}, false}, {{1, 'a', 2, 1, 20}, {0}, false},
          {{1, 'a', 3, 1, 30}, {0}, true},
          {{1, 'a', 4, 4, 15}, {1, 'a', 1, 1, 10}, true},
          {{1, 'a', 5, 5, 22}, {1, 'a', 2, 1, 20}, false});
}

static void over_several(void **state)
{
    (void)state;
    CHECK("goes on", {{1, 'a', 1, 1, 10}, {0}, false},
          {{1, 'a', 2, 1, 20}, {0}, false},
          {{2, 'b', 1, 1, 30}, {1, 'a', 2, 1, 20}, false},
          {{3, 'c', 1, 1, 40}, {2, 'b', 1, 1, 30}, false});
    CHECK("from an older one", {{1, 'a', 1, 1, 10}, {0}, false},
          {{1, 'a', 2, 1, 20}, {0}, true},
          {{2, 'b', 1, 1, 15}, {1, 'a', 1, 1, 10}, false});
    CHECK("past a run that was left", {{1, 'a', 1, 1, 10}, {0}, false},
          {{2, 'b', 1, 1, 20}, {1, 'a', 1, 1, 10}, true},
          {{2, 'b', 2, 1, 30}, {1, 'a', 1, 1, 10}, true},
          {{3, 'c', 1, 1, 15}, {1, 'a', 1, 1, 10}, false},
          {{4, 'd', 1, 1, 25}, {3, 'c', 1, 1, 15}, false});
    CHECK("from nothing", {{1, 'a', 1, 1, 10}, {0}, true},
          {{1, 'a', 2, 1, 20}, {0}, true}, {{2, 'b', 1, 1, 5}, {0}, false});
    CHECK("a number that was handed out twice",
          {{1, 'a', 1, 1, 10}, {0}, false},
          {{2, 'x', 1, 1, 30}, {1, 'a', 1, 1, 10}, true},
          {{2, 'b', 2, 1, 20}, {1, 'a', 1, 1, 10}, false});
    CHECK("past the other run of that number", {{1, 'a', 1, 1, 10}, {0}, false},
          {{2, 'b', 1, 1, 50}, {1, 'a', 1, 1, 10}, false},
          {{2, 'x', 2, 1, 40}, {1, 'a', 1, 1, 10}, true},
          {{3, 'c', 1, 1, 60}, {2, 'b', 1, 1, 50}, false});
    CHECK("past one of an earlier version", {{1, '-', 0, 0, 10}, {0}, false},
          {{1, '-', 0, 0, 20}, {0}, false},
          {{2, 'b', 1, 1, 15}, {1, 'a', 1, 1, 30}, false});
}

/* Retention took away what the chain passed through. */
static void links_that_are_gone(void **state)
{
    (void)state;
    CHECK("the save itself", {{1, 'a', 1, 1, 10}, {0}, false},
          {{1, 'a', 3, 1, 30}, {0}, true},
          {{2, 'b', 1, 1, 25}, {1, 'a', 2, 1, 20}, false});
    CHECK("a whole run", {{1, 'a', 1, 1, 10}, {0}, false},
          {{1, 'a', 2, 1, 20}, {0}, false}, {{1, 'a', 3, 1, 60}, {0}, true},
          {{3, 'c', 1, 1, 55}, {2, 'b', 5, 1, 50}, false});
    CHECK("a run, and a part before it", {{1, 'a', 1, 1, 10}, {0}, false},
          {{1, 'a', 2, 1, 20}, {0}, true},
          {{1, 'a', 4, 3, 18}, {1, 'a', 1, 1, 10}, true},
          {{2, 'b', 1, 1, 30}, {1, 'a', 1, 1, 10}, false});
    CHECK("what a part went back to",
          {{1, 'a', 3, 1, 30}, {0}, true}, /* 10 was there */
          {{1, 'a', 4, 4, 15}, {1, 'a', 1, 1, 10}, false});
}

/* Versions before wrote neither a nonce nor what a run continued from: numbers
 * tell. */
static void of_versions_before(void **state)
{
    (void)state;
    CHECK("rising", {{0, '-', 0, 0, 10}, {0}, false},
          {{0, '-', 0, 0, 20}, {0}, false});
    CHECK("counted", {{1, '-', 1, 0, 10}, {0}, false},
          {{1, '-', 2, 0, 20}, {0}, false}, {{2, '-', 1, 0, 30}, {0}, false});
    CHECK("went back", {{1, '-', 1, 0, 10}, {0}, false},
          {{1, '-', 2, 0, 20}, {0}, true}, {{1, '-', 3, 0, 30}, {0}, true},
          {{2, '-', 1, 0, 15}, {0}, false});
    CHECK("a run of this version after them", {{1, '-', 1, 0, 10}, {0}, false},
          {{1, '-', 2, 0, 20}, {0}, false}, {{1, '-', 3, 0, 30}, {0}, true},
          {{2, 'b', 1, 1, 25}, {1, '-', 2, 0, 20}, false},
          {{2, 'b', 2, 1, 35}, {1, '-', 2, 0, 20}, false});
    CHECK("and one that was then left", {{1, '-', 1, 0, 10}, {0}, false},
          {{2, 'b', 1, 1, 20}, {1, '-', 1, 0, 10}, true},
          {{3, 'c', 1, 1, 15}, {1, '-', 1, 0, 10}, false});
}

static void compares(void **state)
{
    struct wr_origin a = {.own = true, .turn = {.generation = 2, .seq = 1}}, b;

    (void)state;
    b = a;
    assert_int_equal(wr_origin_compare(&a, &b), 0);
    b.own = false; /* adopted: older than all of this store */
    b.turn.generation = 9;
    assert_true(wr_origin_compare(&a, &b) > 0);
    b = a;
    b.turn.generation = 1;
    b.turn.seq = 99;
    b.turn.step = 99;
    assert_true(wr_origin_compare(&a, &b) > 0);
    b = a;
    b.turn.seq = 2;
    assert_true(wr_origin_compare(&a, &b) < 0);
    b = a;
    b.turn.step = 1;
    assert_true(wr_origin_compare(&a, &b) < 0);
}

/* --- random histories --- */

/* A store as it is written: each save and the one that it followed. */
struct history {
    struct wr_origin o[MOST];
    int before[MOST]; /* the save that it goes on from; -1: nothing */
    size_t count;
    struct wr_ordinal now; /* of the writer */
    struct wr_ordinal from;
    bool continues, settled;
    int at; /* the save that the run is behind; -1 */
};

static void reopen(struct history *h)
{
    h->now.generation++;
    h->now.seq = h->now.part = 0;
    memset(h->now.nonce, 'a' + (int)(h->now.generation % 6),
           WR_MANIFEST_ID - 1);
    h->continues = h->settled = false;
    h->from = (struct wr_ordinal){0};
    h->at = -1;
}

static void go_back(struct history *h, int to)
{
    const struct wr_ordinal *t = &h->o[to].turn;

    if (h->now.generation == t->generation && h->now.seq == t->seq)
        return; /* it is where it was */
    h->from = *t;
    h->continues = h->settled = true;
    h->now.part = 0;
    h->at = to;
}

static bool has_step(const struct history *h, uint64_t step)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->o[i].turn.step == step)
            return true;
    return false;
}

static void save(struct history *h, uint64_t far)
{
    uint64_t step = (h->at < 0 ? 0 : h->o[h->at].turn.step) + far;

    while (has_step(h, step))
        step++;
    if (!h->settled) /* the newest save below it */
        for (int i = (int)h->count; i-- > 0 && !h->continues;)
            if (h->o[i].turn.step < step) {
                h->from = h->o[i].turn;
                h->continues = true;
                h->at = i;
            }
    h->settled = true;
    h->now.seq++;
    if (!h->now.part)
        h->now.part = h->now.seq;
    h->now.step = step;
    h->before[h->count] = h->at;
    h->o[h->count] = (struct wr_origin){.own = true,
                                        .continues = h->continues,
                                        .turn = h->now,
                                        .from = h->from};
    h->at = (int)h->count++;
}

static void random_histories(void **state)
{
    struct wr_rng rng = {.seed = 7, .stream = 3};
    size_t abandoned = 0;

    (void)state;
    for (unsigned n = 0; n < 20000; n++) {
        struct history h = {.at = -1};
        bool chain[MOST] = {false}, left[MOST];
        size_t most = 1 + wr_rng_below(&rng, MOST - 1);

        reopen(&h);
        while (h.count < most) {
            uint64_t what = wr_rng_below(&rng, 8);

            if (what == 0)
                reopen(&h);
            else if (what == 1 && h.count)
                go_back(&h, (int)wr_rng_below(&rng, h.count));
            else
                save(&h, 1 + wr_rng_below(&rng, 40));
        }
        for (int i = (int)h.count - 1; i >= 0; i = h.before[i])
            chain[i] = true;
        wr_chain_find(h.o, h.count, left);
        for (size_t i = 0; i < h.count; i++) {
            if (left[i] == chain[i])
                fail_msg("history %u: save %zu of %zu is %s", n, i, h.count,
                         left[i] ? "abandoned" : "of the chain");
            abandoned += left[i];
        }
    }
    assert_true(abandoned > 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_one_store),
        cmocka_unit_test(over_several),
        cmocka_unit_test(links_that_are_gone),
        cmocka_unit_test(of_versions_before),
        cmocka_unit_test(compares),
        cmocka_unit_test(random_histories),
    };

    return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
