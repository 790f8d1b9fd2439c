/* test_log.c - errors of background work: told once, kept as long as asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "checkpoint/log.h"

#define FIRST_SAVE 1 /* that can be asked for, when all can */

static uint64_t put(struct wr_log *l, enum wr_log_kind kind, uint64_t seq,
                    uint64_t step, bool due)
{
    struct wr_log_entry e = {
        .kind = kind, .seq = seq, .step = step, .due = due};

    e.err.code = WEIR_EIO;
    snprintf(e.id, sizeof(e.id), "%d", (int)step);
    return wr_log_add(l, &e, FIRST_SAVE);
}

static int setup(void **state)
{
    static struct wr_log log;

    log = (struct wr_log){0};
    assert_true(wr_log_init(&log));
    *state = &log;
    return 0;
}

static int teardown(void **state)
{
    wr_log_done(*state);
    return 0;
}

/* The oldest first, each once, however it was delivered. */
static void told_once(void **state)
{
    struct wr_log *l = *state;
    uint64_t a = put(l, WR_LOG_NOTE, 0, WR_STEP_NONE, true);
    uint64_t b = put(l, WR_LOG_END, 1, WR_STEP_NONE, true);

    assert_true(a < b);
    assert_int_equal(wr_log_due(l)->number, a);
    wr_log_told(l, a);
    assert_int_equal(wr_log_due(l)->number, b);
    wr_log_told(l, b);
    assert_null(wr_log_due(l));
    assert_int_equal(wr_log_end(l, 1)->number, b); /* who asks hears it again */
}

/* The last error of a save counts; of another, or of none, there is none. */
static void by_save(void **state)
{
    struct wr_log *l = *state;
    uint64_t last;

    put(l, WR_LOG_END, 0, WR_STEP_NONE, false);
    put(l, WR_LOG_END, 7, WR_STEP_NONE, false);
    put(l, WR_LOG_ATTEMPT, 0, 7, false);
    last = put(l, WR_LOG_END, 7, WR_STEP_NONE, false);
    assert_null(wr_log_end(l, 0));
    assert_null(wr_log_end(l, 8));
    assert_int_equal(wr_log_end(l, 7)->number, last);
}

static void by_step(void **state)
{
    struct wr_log *l = *state;

    put(l, WR_LOG_END, 3, 30, false);
    assert_non_null(wr_log_given_up(l, 30, "30"));
    assert_non_null(wr_log_given_up(l, 30, NULL));
    assert_null(wr_log_given_up(l, 30, "31"));
    assert_null(wr_log_given_up(l, 31, NULL));
    wr_log_given_up(l, 30, NULL)->step = WR_STEP_NONE; /* it is gone */
    assert_null(wr_log_given_up(l, 30, NULL));
    assert_non_null(wr_log_end(l, 3));
}

/* Attempts at the step itself, or at all of them, since a number. */
static void attempts(void **state)
{
    struct wr_log *l = *state;
    uint64_t one = put(l, WR_LOG_ATTEMPT, 0, 1, false), all;

    assert_int_equal(wr_log_attempt(l, 1, 0)->number, one);
    assert_int_equal(wr_log_attempt(l, WEIR_LATEST, 0)->number, one);
    assert_null(wr_log_attempt(l, 2, 0));
    assert_null(wr_log_attempt(l, 1, one));
    assert_null(wr_log_attempt(l, 1, UINT64_MAX));
    put(l, WR_LOG_ATTEMPT, 0, WR_STEP_NONE, false);
    assert_int_equal(wr_log_attempt(l, 1, 0)->number, one);
    all = put(l, WR_LOG_ATTEMPT, 0, WEIR_LATEST, false);
    assert_int_equal(wr_log_attempt(l, 2, one)->number, all);
}

/* Thousands of errors take no more memory than can be asked for. */
static void does_not_grow(void **state)
{
    struct wr_log *l = *state;
    struct wr_log_entry e = {.kind = WR_LOG_END, .step = WR_STEP_NONE};

    put(l, WR_LOG_END, 1, 10, false); /* its step is there */
    for (uint64_t seq = 2; seq < 5000; seq++) {
        e.seq = seq;
        e.due = seq % 2;
        wr_log_add(l, &e, seq > 64 ? seq - 63 : 1);
        put(l, WR_LOG_ATTEMPT, 0, seq, false);
        put(l, WR_LOG_NOTE, 0, WR_STEP_NONE, false);
    }
    assert_in_range(l->count, 64, 256);
    assert_non_null(wr_log_given_up(l, 10, "10"));
    assert_non_null(wr_log_end(l, 4999));
    assert_non_null(wr_log_end(l, 4999 - 62));
    assert_null(wr_log_attempt(l, 4000, 0));
    assert_non_null(wr_log_attempt(l, 4999 - 30, 0));
    assert_non_null(wr_log_due(l));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(told_once), TEST(by_save),       TEST(by_step),
        TEST(attempts),  TEST(does_not_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
