/* test_gate.c - all accelerators reach the end of a step together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/gate.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"

#define MEMBERS 7
#define ROUNDS  2000

struct member {
    struct wr_gate *g;
    unsigned number;
    unsigned wrong;
    int failed;
};

static void *meet_often(void *arg)
{
    struct member *m = arg;

    for (uint64_t k = 0; k < ROUNDS; k++) {
        /* Another one is the largest in each round. */
        uint64_t mine = k * 100 + (m->number + k) % MEMBERS, all = 0;

        if (wr_gate_max(m->g, mine, &all, NULL) < 0 ||
            all != k * 100 + MEMBERS - 1)
            m->wrong++;
    }
    return NULL;
}

static void everyone_gets_the_largest(void **state)
{
    struct member m[MEMBERS];
    pthread_t t[MEMBERS];
    struct wr_gate *g;

    (void)state;
    assert_int_equal(wr_gate_new(&g, MEMBERS, NULL, NULL, NULL), 0);
    for (unsigned k = 0; k < MEMBERS; k++) {
        m[k] = (struct member){.g = g, .number = k};
        assert_int_equal(pthread_create(&t[k], NULL, meet_often, &m[k]), 0);
    }
    for (unsigned k = 0; k < MEMBERS; k++) {
        pthread_join(t[k], NULL);
        assert_int_equal(m[k].wrong, 0);
    }
    wr_gate_free(g);
}

/* Other ranks: add a thousand, and fail in the third round. */
static int other_ranks(void *arg, uint64_t value, uint64_t *ret, weir_err *err)
{
    unsigned *calls = arg;

    if (++*calls == 3)
        return wr_fail(err, WEIR_EIO, "rank 5 is gone");
    *ret = value + 1000;
    return 0;
}

static void ranks_are_asked_once(void **state)
{
    struct wr_gate *g;
    unsigned calls = 0;
    uint64_t all;
    weir_err err;

    (void)state;
    assert_int_equal(wr_gate_new(&g, 1, other_ranks, &calls, NULL), 0);
    assert_int_equal(wr_gate_max(g, 1, &all, NULL), 0);
    assert_int_equal(all, 1001);
    assert_int_equal(wr_gate_max(g, 5, &all, NULL), 0);
    assert_int_equal(all, 1005);
    assert_int_equal(wr_gate_max(g, 1, &all, &err), WEIR_EIO);
    assert_string_equal(err.msg, "rank 5 is gone");
    assert_int_equal(wr_gate_max(g, 1, &all, &err), WEIR_EIO); /* for good */
    assert_int_equal(calls, 3);
    wr_gate_free(g);
}

static void *wait_there(void *arg)
{
    struct member *m = arg;
    uint64_t all;

    m->failed = wr_gate_max(m->g, 0, &all, NULL);
    return NULL;
}

static void a_failure_frees_those_who_wait(void **state)
{
    struct member m[2];
    struct wr_gate *g;
    pthread_t t[2];
    weir_err why;

    (void)state;
    wr_fail(&why, WEIR_ENOENT, "no such file");
    assert_int_equal(wr_gate_new(&g, 3, NULL, NULL, NULL), 0);
    for (unsigned k = 0; k < 2; k++) {
        m[k] = (struct member){.g = g};
        assert_int_equal(pthread_create(&t[k], NULL, wait_there, &m[k]), 0);
    }
    wr_gate_fail(g, &why);
    for (unsigned k = 0; k < 2; k++) {
        pthread_join(t[k], NULL);
        assert_int_equal(m[k].failed, WEIR_ENOENT);
    }
    wr_gate_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyone_gets_the_largest),
        cmocka_unit_test(ranks_are_asked_once),
        cmocka_unit_test(a_failure_frees_those_who_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
