/* test_loop.c - batches are taken, worked on, given back and noted, in order.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/error.h"
#include "measure/loop.h"

struct script {
    weir_batch batch;
    unsigned batches; /* that there are */
    char fails;       /* the call that fails, by its letter */
    unsigned at;      /* from this batch on */
    unsigned given, asked;
    bool stops;
    char seen[64]; /* n(ext), b(egin), t(ake), e(nd), d (note: done) */
    struct wr_step last;
};

static struct script *current; /* of `stopped` */

static int see(struct script *s, char what, weir_err *err)
{
    s->seen[strlen(s->seen)] = what;
    return s->fails == what && s->given > s->at
               ? wr_fail(err, WEIR_EIO, "%c", what)
               : 0;
}

static int on_next(void *arg, const weir_batch **ret, weir_err *err)
{
    struct script *s = arg;
    int r;

    if (s->given == s->batches)
        return 0;
    s->given++;
    r = see(s, 'n', err);
    *ret = &s->batch;
    return r < 0 ? r : 1;
}

static void on_begin(void *arg, struct wr_step *step)
{
    assert_true(step->got_ns >= step->asked_ns && step->asked_ns);
    assert_int_equal(step->count, 7);
    see(arg, 'b', NULL);
}

static int on_end(void *arg, struct wr_step *step, weir_err *err)
{
    return see(arg, 'e', err);
}

static int on_take(void *arg, const struct wr_step *step, weir_err *err)
{
    assert_ptr_equal(step->batch, &((struct script *)arg)->batch);
    return see(arg, 't', err);
}

static int on_note(void *arg, const struct wr_step *step, weir_err *err)
{
    struct script *s = arg;

    assert_null(step->batch);
    assert_true(step->done_ns >= step->got_ns &&
                step->free_ns >= step->done_ns);
    assert_true(step->asked_ns >= s->last.free_ns);
    s->last = *step;
    return see(s, 'd', err);
}

static bool on_stopped(void)
{
    current->asked++;
    return current->stops;
}

static const struct wr_step_ops ops = {.begin = on_begin, .end = on_end};

static int run(struct script *s, uint64_t steps, weir_err *err)
{
    current = s;
    s->batch.count = 7;
    return wr_loop(&(struct wr_loop){.next = on_next,
                                     .feed = s,
                                     .keeps = true,
                                     .ops = &ops,
                                     .machine = s,
                                     .take = on_take,
                                     .note = on_note,
                                     .arg = s,
                                     .stopped = on_stopped,
                                     .steps = steps},
                   err);
}

static void test_order(void **state)
{
    struct script s = {.batches = 2};

    assert_int_equal(run(&s, UINT64_MAX, NULL), 0);
    assert_string_equal(s.seen, "nbtednbted");
    assert_int_equal(s.asked, 2);
}

static void test_steps(void **state)
{
    struct script s = {.batches = 9}, none = {.batches = 9};

    assert_int_equal(run(&s, 3, NULL), 0);
    assert_string_equal(s.seen, "nbtednbtednbted");
    assert_int_equal(run(&none, 0, NULL), 0);
    assert_string_equal(none.seen, "");
}

static void test_failures(void **state)
{
    static const char *const seen[] = {"nbtedn", "nbtednbt", "nbtednbte",
                                       "nbtednbted"};

    for (unsigned k = 0; k < 4; k++) {
        struct script s = {.batches = 9, .at = 1, .fails = "nted"[k]};
        weir_err err;

        assert_int_equal(run(&s, UINT64_MAX, &err), WEIR_EIO);
        assert_string_equal(s.seen, seen[k]);
        assert_int_equal(err.msg[0], s.fails);
    }
}

static void test_stopped(void **state)
{
    struct script s = {.batches = 9, .stops = true};
    weir_err err;

    assert_int_equal(run(&s, UINT64_MAX, &err), WEIR_ECANCELED);
    assert_string_equal(s.seen, "nbted");
    assert_string_equal(err.msg, "stopped");
}

/* What is not needed may be left out, and a step may have no batch. */
static int no_batch(void *arg, const weir_batch **ret, weir_err *err)
{
    *ret = NULL;
    return ++*(unsigned *)arg < 5;
}

static void test_nothing(void **state)
{
    unsigned count = 0;

    assert_int_equal(wr_loop(&(struct wr_loop){.next = no_batch,
                                               .feed = &count,
                                               .ops = &wr_step_nothing,
                                               .steps = UINT64_MAX},
                             NULL),
                     0);
    assert_int_equal(count, 5);
}

/* An emulated accelerator that is stopped ends the loop in its step. */
static void test_emulated(void **state)
{
    const struct wr_accelerator slow = {.kind = WR_ACCELERATOR_EMULATED,
                                        .fixed_ms = 1e6},
                                none = {.kind = WR_ACCELERATOR_NONE};
    struct script s = {.batches = 3, .stops = true};
    struct wr_emulated machine = {.of = &slow, .stopped = on_stopped};
    struct wr_loop loop = {.next = on_next,
                           .feed = &s,
                           .keeps = true,
                           .ops = &wr_step_emulated,
                           .machine = &machine,
                           .note = on_note,
                           .arg = &s,
                           .steps = UINT64_MAX};

    current = &s;
    assert_int_equal(wr_loop(&loop, NULL), WEIR_ECANCELED);
    assert_string_equal(s.seen, "n");
    machine = (struct wr_emulated){.of = &none, .stopped = on_stopped};
    assert_int_equal(wr_loop(&loop, NULL), 0);
    assert_string_equal(s.seen, "nndnd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),    cmocka_unit_test(test_steps),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_nothing),  cmocka_unit_test(test_emulated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
