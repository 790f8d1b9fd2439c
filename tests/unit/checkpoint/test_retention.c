/* test_retention.c - which steps may go: examples, and random lists against a
 * model that asks each question by itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "checkpoint/retention.h"

#define MOST  14
#define CASES 300000

struct list {
    struct wr_retention r;
    struct wr_stock_step e[MOST];
    size_t n;
};

/* --- examples --- */

/* One letter a copy: '-' none, 'd' damaged, 'c' complete, 'v' verified. */
static enum weir_copy copy_of(char c)
{
    return c == 'd'   ? WEIR_COPY_DAMAGED
           : c == 'c' ? WEIR_COPY_COMPLETE
           : c == 'v' ? WEIR_COPY_VERIFIED
                      : WEIR_COPY_NONE;
}

/* Steps 1, 2, ...; `pins` has a 'p' where one is pinned, an 'a' where one is
 * abandoned (or is NULL); what stays is compared as texts of the same kind. */
struct example {
    struct wr_retention r;
    const char *fast, *slow, *pins;
    const char *fast_after, *slow_after;
};

static void check_example(const struct example *x)
{
    struct wr_fate v[MOST];
    struct wr_stock_step e[MOST];
    char fast[MOST + 1], slow[MOST + 1];
    size_t n = strlen(x->fast), told;

    memset(e, 0, sizeof(e));
    for (size_t i = 0; i < n; i++) {
        e[i].step = i + 1;
        e[i].fast = copy_of(x->fast[i]);
        e[i].slow = copy_of(x->slow[i]);
        e[i].pinned = x->pins && x->pins[i] == 'p';
        e[i].abandoned = x->pins && x->pins[i] == 'a';
    }
    told = wr_retention_judge(&x->r, e, n, v);
    for (size_t i = 0; i < n; i++) {
        told -= v[i].fast_goes || v[i].slow_goes;
        fast[i] = v[i].fast_goes ? '-' : x->fast[i];
        slow[i] = v[i].slow_goes ? '-' : x->slow[i];
    }
    assert_int_equal(told, 0);
    fast[n] = slow[n] = '\0';
    assert_string_equal(fast, x->fast_after);
    assert_string_equal(slow, x->slow_after);
}

#define TWO(last, every, fast)                                                 \
    {                                                                          \
        last, every, fast, 1, WEIR_LATEST, true, true                          \
    }
#define ONE(last, every)                                                       \
    {                                                                          \
        last, every, 0, 1, WEIR_LATEST, false, true                            \
    }

static void test_examples(void **state)
{
    static const struct example examples[] = {
        /* one tier */
        {ONE(2, 0), "ccccc", "-----", NULL, "---cc", "-----"},
        {ONE(0, 0), "ccccc", "-----", NULL, "ccccc", "-----"},
        {ONE(1, 2), "ccccc", "-----", NULL, "-c-cc", "-----"},
        {ONE(1, 0), "ccccc", "-----", "p----", "c---c", "-----"},
        {ONE(1, 0), "cvvcc", "-----", NULL, "--v-c", "-----"},
        /* damaged ones take no place, and go in their turn */
        {ONE(2, 0), "ccdcd", "-----", NULL, "-cdcd", "-----"},
        {ONE(2, 0), "ddccc", "-----", NULL, "---cc", "-----"},
        {ONE(2, 0), "dddc", "----", NULL, "dddc", "----"},
        {ONE(1, 0), "dddd", "----", NULL, "dddd", "----"},
        /* two tiers: drained ones leave the fast one */
        {TWO(2, 0, 1), "cccc", "vvvv", NULL, "---c", "--vv"},
        {TWO(2, 0, 0), "cccc", "vvvv", NULL, "----", "--vv"},
        {TWO(2, 0, 0), "cccc", "vvv-", "p---", "---c", "v-v-"},
        {TWO(2, 0, 0), "cccv", "vvvc", NULL, "---v", "--vc"},
        {TWO(0, 0, 2), "cccc", "vvvv", NULL, "--cc", "vvvv"},
        {TWO(2, 0, 1), "cccc", "vvv-", NULL, "--cc", "--v-"},
        /* what is not verified there is not drained */
        {TWO(1, 0, 0), "cccc", "vccv", NULL, "-cc-", "-ccv"},
        {TWO(1, 0, 0), "cccc", "--dv", NULL, "ccc-", "--dv"},
        /* a damaged fast copy goes once the slow one is safe */
        {TWO(5, 0, 9), "cdc", "vvv", NULL, "c-c", "vvv"},
        {TWO(5, 0, 9), "cdc", "vcv", NULL, "cdc", "vcv"},
        {TWO(5, 0, 9), "cdc", "v-v", NULL, "cdc", "v-v"},
        /* a verified fast copy is given up for a verified slow one only */
        {TWO(5, 0, 1), "vccc", "vvvv", NULL, "---c", "vvvv"},
        /* the newest of the slow tier, and its newest verified one */
        {TWO(1, 0, 1), "---c", "vvc-", NULL, "---c", "-vc-"},
        /* abandoned ones take no place; the newest of them stays, and all do
         * until a later step of the chain is verified */
        {ONE(2, 0), "vvvvv", "-----", "--aa-", "-v-vv", "-----"},
        {ONE(2, 0), "vvvvc", "-----", "-aaa-", "vvvvc", "-----"},
        {ONE(2, 0), "vvvcv", "-----", "-aaa-", "v--cv", "-----"},
        {ONE(1, 2), "vvvvv", "-----", "-a-a-", "---vv", "-----"},
        {ONE(0, 0), "vvvvv", "-----", "-aaa-", "vvvvv", "-----"},
        {ONE(1, 0), "vvvvv", "-----", "aaaav", "---vv", "-----"},
        {ONE(1, 0), "dcvv", "----", "aaa-", "--vv", "----"},
        {TWO(1, 0, 0), "cccc", "vvvv", "-aa-", "----", "--vv"},
        {TWO(1, 0, 0), "cccc", "-vvc", "-aa-", "c--c", "-vvc"},
        {TWO(1, 0, 0), "cccc", "v-vv", "-aa-", "-c--", "--vv"},
    };
    struct example x = {
        {1, 0, 1, 1, 2, true, true}, "cccc", "vvvv", "pppp", "-c--", "vv--"};

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        check_example(&examples[i]);
    check_example(&x); /* going back to 2 takes 3 and 4, pinned or not */
    x = (struct example){{1, 0, 0, 1, WEIR_LATEST, true, false},
                         "vccc",
                         "cccc",
                         NULL,
                         "v---",
                         "c--c"};
    check_example(&x); /* without verify the last verified copy stays too */
}

/* A run that went back saves lower numbers than there are: they are in the order
 * of saving, and what it left is abandoned (chain.c). */
static void test_going_back(void **state)
{
    struct wr_retention r = ONE(2, 0);
    struct wr_stock_step e[4] = {{.step = 50},
                                 {.step = 90, .abandoned = true},
                                 {.step = 100, .abandoned = true},
                                 {.step = 60}};
    struct wr_fate v[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        e[i].fast = WEIR_COPY_VERIFIED;
    assert_int_equal(wr_retention_judge(&r, e, 4, v), 1);
    assert_true(v[1].fast_goes);    /* of what was left one stays */
    e[3].fast = WEIR_COPY_COMPLETE; /* not verified: all of it */
    assert_int_equal(wr_retention_judge(&r, e, 4, v), 0);
    r.verify = false;
    assert_int_equal(wr_retention_judge(&r, e, 4, v), 1);
    r.keep_abandoned = 0;
    e[3].fast = WEIR_COPY_VERIFIED;
    assert_int_equal(wr_retention_judge(&r, e, 4, v), 2);
    assert_true(v[1].fast_goes && v[2].fast_goes);
    e[2].pinned = true;
    assert_int_equal(wr_retention_judge(&r, e, 4, v), 1);
    e[2].pinned = false;
    r.keep_last = 1;
    assert_int_equal(wr_retention_judge(&r, e, 4, v), 3);
    assert_false(v[3].fast_goes); /* the newest, whatever its number */
    r.after = 50;                 /* what has to go does */
    assert_int_equal(wr_retention_judge(&r, e, 4, v), 3);
    assert_false(v[0].fast_goes);
}

/* What nobody decided about stays. */
static void test_stale(void **state)
{
    struct wr_retention r = ONE(1, 0);
    struct wr_stock_step e[4] = {
        {.step = 100}, {.step = 110}, {.step = 120}, {.step = 105}};
    struct wr_fate v[4];

    (void)state;
    e[1].fast = e[3].fast = WEIR_COPY_COMPLETE;
    e[0].fast = e[2].fast = WEIR_COPY_STALE;
    assert_int_equal(wr_retention_judge(&r, e, 4, v), 1);
    assert_true(v[1].fast_goes);
}

/* --- the model: every question asked by itself, from the words --- */

static bool whole(enum weir_copy c)
{
    return c == WEIR_COPY_COMPLETE || c == WEIR_COPY_VERIFIED;
}

static bool counts(const struct list *l, size_t i)
{
    return l->e[i].step <= l->r.after;
}

static bool drained(const struct list *l, size_t i)
{
    return l->e[i].slow == WEIR_COPY_VERIFIED ||
           (!l->r.verify && l->e[i].slow == WEIR_COPY_COMPLETE);
}

static bool is_whole(const struct list *l, size_t i)
{
    return whole(l->e[i].fast) || whole(l->e[i].slow);
}

/* Good ones above it, of the chain or abandoned. */
static size_t count_above(const struct list *l, size_t i, bool abandoned)
{
    size_t n = 0;

    for (size_t k = i + 1; k < l->n; k++)
        n += counts(l, k) && is_whole(l, k) && l->e[k].abandoned == abandoned;
    return n;
}

/* A step of the chain that was saved later is verified where it lasts. */
static bool is_superseded(const struct list *l, size_t i)
{
    for (size_t k = i + 1; k < l->n; k++) {
        enum weir_copy last = l->r.two_tiers ? l->e[k].slow : l->e[k].fast;

        if (counts(l, k) && !l->e[k].abandoned &&
            (last == WEIR_COPY_VERIFIED ||
             (!l->r.verify && last == WEIR_COPY_COMPLETE)))
            return true;
    }
    return false;
}

static bool wanted(const struct list *l, size_t i)
{
    if (l->r.keep_last == 0 || l->e[i].pinned)
        return true;
    if (l->e[i].abandoned)
        return !is_superseded(l, i) ||
               count_above(l, i, true) < l->r.keep_abandoned;
    if (l->r.keep_every != 0 && l->e[i].step % l->r.keep_every == 0)
        return true;
    return count_above(l, i, false) < l->r.keep_last;
}

/* The copy on that tier is at least `least`, and no newer one is. */
static bool is_newest(const struct list *l, size_t i, bool fast,
                      enum weir_copy least)
{
    if ((fast ? l->e[i].fast : l->e[i].slow) < least)
        return false;
    for (size_t k = 0; k < l->n; k++)
        if (k > i && counts(l, k) &&
            (fast ? l->e[k].fast : l->e[k].slow) >= least)
            return false;
    return true;
}

static bool model_fast_stays(const struct list *l, size_t i)
{
    const struct wr_stock_step *e = &l->e[i];
    size_t above = 0;

    if (e->fast == WEIR_COPY_NONE || !counts(l, i))
        return false;
    if (!l->r.two_tiers)
        return wanted(l, i) || is_newest(l, i, true, WEIR_COPY_COMPLETE) ||
               is_newest(l, i, true, WEIR_COPY_VERIFIED);
    if (e->fast == WEIR_COPY_DAMAGED)
        return wanted(l, i) && !drained(l, i);
    for (size_t k = 0; k < l->n; k++)
        if (k > i && counts(l, k) && whole(l->e[k].fast) && drained(l, k))
            above++;
    return !drained(l, i) || above < l->r.keep_fast ||
           (is_newest(l, i, true, WEIR_COPY_VERIFIED) &&
            e->slow != WEIR_COPY_VERIFIED);
}

static bool model_slow_stays(const struct list *l, size_t i)
{
    const struct wr_stock_step *e = &l->e[i];

    if (e->slow == WEIR_COPY_NONE || !counts(l, i))
        return false;
    return wanted(l, i) || is_newest(l, i, false, WEIR_COPY_COMPLETE) ||
           is_newest(l, i, false, WEIR_COPY_VERIFIED) ||
           (whole(e->fast) && model_fast_stays(l, i));
}

static void draw(struct wr_rng *rng, struct list *l)
{
    uint64_t step = 0;
    bool rising = wr_rng_below(rng, 2), left = wr_rng_below(rng, 2);

    memset(l, 0, sizeof(*l));
    l->r.keep_last = (uint32_t)wr_rng_below(rng, 5);
    l->r.keep_every = wr_rng_below(rng, 4);
    l->r.keep_fast = (uint32_t)wr_rng_below(rng, 4);
    l->r.keep_abandoned = (uint32_t)wr_rng_below(rng, 3);
    l->r.two_tiers = wr_rng_below(rng, 3) > 0;
    l->r.verify = wr_rng_below(rng, 2);
    l->r.after = wr_rng_below(rng, 4) == 0 ? wr_rng_below(rng, 20)
                                           : WEIR_LATEST;
    l->n = (size_t)wr_rng_below(rng, MOST + 1);
    for (size_t i = 0; i < l->n; i++) {
        struct wr_stock_step *e = &l->e[i];

        step += wr_rng_below(rng, 3) + (i > 0);
        e->step = rising ? step : wr_rng_below(rng, 30);
        e->pinned = wr_rng_below(rng, 8) == 0;
        e->abandoned = left && wr_rng_below(rng, 3) == 0;
        e->fast = (enum weir_copy)wr_rng_below(rng, 4);
        if (l->r.two_tiers)
            e->slow = (enum weir_copy)wr_rng_below(rng, 4);
        if (e->fast == WEIR_COPY_NONE && e->slow == WEIR_COPY_NONE)
            e->fast = WEIR_COPY_COMPLETE;
    }
}

/* What must hold whatever the rules are. */
static void check_safe(const struct list *l, const struct wr_fate *v)
{
    bool had_verified = false, has_verified = false;
    size_t had_good = 0, has_good = 0, had_chain = 0, has_chain = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct wr_stock_step *e = &l->e[i];
        bool fast = whole(e->fast), slow = whole(e->slow);
        bool fast_left = fast && !v[i].fast_goes;
        bool slow_left = slow && !v[i].slow_goes;

        assert_false(e->fast == WEIR_COPY_NONE && v[i].fast_goes);
        assert_false(e->slow == WEIR_COPY_NONE && v[i].slow_goes);
        if (!counts(l, i)) {
            assert_false(fast_left || slow_left);
            continue;
        }
        if (l->r.two_tiers && fast && !drained(l, i))
            assert_true(fast_left);
        if (wanted(l, i) && (fast || slow))
            assert_true(fast_left || slow_left);
        /* a whole fast copy that is left alone would be drained again */
        if (l->r.two_tiers && fast_left && slow)
            assert_true(slow_left);
        had_good += fast || slow;
        has_good += fast_left || slow_left;
        had_chain += (fast || slow) && !e->abandoned;
        has_chain += (fast_left || slow_left) && !e->abandoned;
        had_verified |= e->fast == WEIR_COPY_VERIFIED ||
                        e->slow == WEIR_COPY_VERIFIED;
        has_verified |= (e->fast == WEIR_COPY_VERIFIED && fast_left) ||
                        (e->slow == WEIR_COPY_VERIFIED && slow_left);
    }
    assert_true(has_verified || !had_verified);
    assert_true(had_good == 0 || has_good > 0);
    if (l->r.keep_last > 0)
        assert_true(has_chain >= had_chain || has_chain >= l->r.keep_last);
    else
        assert_true(has_good == had_good);
}

static void check_again(const struct list *l, const struct wr_fate *v)
{
    struct wr_fate again[MOST];
    struct list left = {.r = l->r};

    for (size_t i = 0; i < l->n; i++) {
        struct wr_stock_step e = l->e[i];

        if (v[i].fast_goes)
            e.fast = WEIR_COPY_NONE;
        if (v[i].slow_goes)
            e.slow = WEIR_COPY_NONE;
        if (e.fast != WEIR_COPY_NONE || e.slow != WEIR_COPY_NONE)
            left.e[left.n++] = e;
    }
    wr_retention_judge(&left.r, left.e, left.n, again);
    for (size_t i = 0; i < left.n; i++) {
        assert_false(again[i].fast_goes);
        assert_false(again[i].slow_goes);
    }
}

static void test_random(void **state)
{
    struct wr_rng rng = {.seed = 5, .stream = 14};
    size_t gone = 0;

    (void)state;
    for (unsigned n = 0; n < CASES; n++) {
        struct wr_fate v[MOST];
        struct list l;

        draw(&rng, &l);
        wr_retention_judge(&l.r, l.e, l.n, v);
        for (size_t i = 0; i < l.n; i++) {
            assert_int_equal(v[i].fast_goes, l.e[i].fast != WEIR_COPY_NONE &&
                                                 !model_fast_stays(&l, i));
            assert_int_equal(v[i].slow_goes, l.e[i].slow != WEIR_COPY_NONE &&
                                                 !model_slow_stays(&l, i));
            gone += v[i].fast_goes + v[i].slow_goes;
        }
        check_safe(&l, v);
        check_again(&l, v);
    }
    assert_true(gone > CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_going_back),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
