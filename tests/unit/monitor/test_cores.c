/* test_cores.c - unit tests of cores.c: who had the cores.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "monitor/cores.h"

#define S WR_NS_PER_SEC

static const struct wr_cores begin = {.known = true,
                                      .count = 2,
                                      .at_ns = 100 * S,
                                      .busy_ns = 50 * S,
                                      .idle_ns = 40 * S,
                                      .own_ns = 1 * S};

/* After ten seconds on two cores, in tenths of a core. */
static struct wr_cores after(uint64_t own, uint64_t others, uint64_t idle)
{
    struct wr_cores c = begin;

    c.at_ns += 10 * S;
    c.own_ns += own * S;
    c.busy_ns += (own + others) * S;
    c.idle_ns += idle * S;
    return c;
}

static bool is_starved(struct wr_cores to, unsigned wanted)
{
    struct wr_cores_use u;

    wr_cores_between(&begin, &to, &u);
    assert_true(u.known);
    return wr_cores_is_starved(&u, wanted);
}

static void others_had_them(void **state)
{
    struct wr_cores to = after(8, 12, 0);
    struct wr_cores_use u;

    (void)state;
    wr_cores_between(&begin, &to, &u);
    assert_true(u.known);
    assert_float_equal(u.own, 0.8, 1e-9);
    assert_float_equal(u.others, 1.2, 1e-9);
    assert_true(wr_cores_is_starved(&u, 2));
    assert_true(wr_cores_is_starved(&u, 0));
    assert_true(wr_cores_is_starved(&u, 8));
}

static void others_left_enough(void **state)
{
    (void)state;
    assert_false(is_starved(after(19, 1, 0), 2));  /* the usual noise */
    assert_false(is_starved(after(4, 8, 8), 2));   /* a core was idle */
    assert_false(is_starved(after(10, 10, 0), 1)); /* one thread, one core */
    assert_true(is_starved(after(10, 10, 0), 2));
    assert_false(is_starved(after(0, 0, 20), 2)); /* nothing to do */
}

static void a_hypervisor_had_them(void **state)
{
    struct wr_cores to = after(12, 0, 1);
    struct wr_cores_use u;

    (void)state;
    to.stolen_ns += 7 * S;
    wr_cores_between(&begin, &to, &u);
    assert_true(wr_cores_is_starved(&u, 2));
    assert_float_equal(u.stolen, 0.7, 1e-9);
}

/* Throttled cores are idle. */
static void a_limit_was_reached(void **state)
{
    struct wr_cores to = after(5, 0, 15);
    struct wr_cores_use u;

    (void)state;
    to.throttled_ns += 12 * S;
    wr_cores_between(&begin, &to, &u);
    assert_true(wr_cores_is_starved(&u, 2));
    assert_float_equal(u.throttled, 1.2, 1e-9);
}

static void nothing_is_known(void **state)
{
    struct wr_cores to = after(2, 18, 0), soon = to, moved = to;
    struct wr_cores_use u;

    (void)state;
    to.known = false;
    soon.at_ns = begin.at_ns + S / 100; /* below the kernel's steps */
    moved.count = 1;                    /* to other cores meanwhile */
    wr_cores_between(&begin, &to, &u);
    assert_false(u.known || wr_cores_is_starved(&u, 2));
    wr_cores_between(&begin, &soon, &u);
    assert_false(u.known || wr_cores_is_starved(&u, 2));
    wr_cores_between(&begin, &moved, &u);
    assert_false(u.known || wr_cores_is_starved(&u, 2));
}

/* This machine: what is counted does not go back. */
static void now(void **state)
{
    struct wr_cores a, b;

    (void)state;
    wr_cores_now(&a);
    if (!a.known)
        skip(); /* no /proc/stat here */
    assert_true(a.count >= 1 && a.busy_ns > 0);
    do
        wr_cores_now(&b);
    while (b.busy_ns + b.idle_ns == a.busy_ns + a.idle_ns);
    assert_true(b.at_ns > a.at_ns && b.own_ns > a.own_ns);
    assert_true(b.busy_ns >= a.busy_ns);
    assert_int_equal(b.count, a.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_had_them),
        cmocka_unit_test(others_left_enough),
        cmocka_unit_test(a_hypervisor_had_them),
        cmocka_unit_test(a_limit_was_reached),
        cmocka_unit_test(nothing_is_known),
        cmocka_unit_test(now),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
