/* test_watch.c - questions to the slow tier: answered, late, never.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <semaphore.h>

#include "base/error.h"

/* A store with nothing in it but what messages need. */
struct scene {
    struct wr_tier far;
    char shown[sizeof("/slow")]; /* what `far` is called */
    weir_ckpt *c;
};

static void setup(struct scene *s)
{
    memset(s, 0, sizeof(*s));
    strcpy(s->shown, "/slow");
    s->far.shown = s->shown;
    s->c = calloc(1, sizeof(*s->c));
    assert_non_null(s->c);
    s->c->refs = 2; /* one more than there are: it is freed here */
    s->c->far = &s->far;
    assert_int_equal(wr_watch_new(s->c, &s->c->watch, NULL), 0);
}

static void teardown(struct scene *s)
{
    assert_true(wr_watch_halt(s->c->watch, UINT64_MAX));
    wr_watch_free(s->c->watch);
    assert_int_equal(s->c->refs, 2);
    free(s->c);
}

struct sum {
    uint64_t a, b;
};

static int add(weir_ckpt *c, void *what, weir_err *err)
{
    struct sum *s = what;

    (void)c;
    if (s->b == 0)
        return wr_fail(err, WEIR_EIO, "nothing to add");
    s->a += s->b;
    return 0;
}

static void answers(void **state)
{
    struct sum q = {1, 2};
    struct scene s;
    weir_err err;

    (void)state;
    setup(&s);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(
            wr_watch_ask(s.c, add, &q, sizeof(q), UINT64_MAX, &err), 0);
        assert_int_equal(q.a, 1 + 2 * (i + 1));
    }
    q.b = 0;
    assert_int_equal(wr_watch_ask(s.c, add, &q, sizeof(q), UINT64_MAX, &err),
                     WEIR_EIO);
    assert_string_equal(err.msg, "nothing to add");
    assert_int_equal(wr_watch_silent_ns(s.c->watch), 0);
    teardown(&s);
}

/* What hangs: until `go`, of which the question holds the address. */
struct slow {
    uintptr_t begun, go;
    uint64_t answer;
};

static int look_slowly(weir_ckpt *c, void *what, weir_err *err)
{
    struct slow *q = what;

    (void)c;
    (void)err;
    sem_post((sem_t *)q->begun);
    sem_wait((sem_t *)q->go);
    q->answer = 7;
    return 0;
}

static void patience(void **state)
{
    struct scene s;
    sem_t begun, go;
    struct slow q = {(uintptr_t)&begun, (uintptr_t)&go, 0}, same = q;
    struct sum other = {1, 1};
    weir_err err;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&go, 0, 0);
    setup(&s);
    assert_int_equal(wr_watch_ask(s.c, look_slowly, &q, sizeof(q), 1, &err),
                     WEIR_ETIMEDOUT);
    assert_non_null(strstr(err.msg, "'/slow'"));
    assert_int_equal(q.answer, 0);
    sem_wait(&begun);
    assert_true(wr_watch_silent_ns(s.c->watch) > 0);
    /* Nobody else gets an answer, and nobody waits for long. */
    assert_int_equal(wr_watch_ask(s.c, add, &other, sizeof(other), 1, &err),
                     WEIR_ETIMEDOUT);
    assert_int_equal(other.a, 1);
    /* Who asks the same gets the answer that was under way. */
    sem_post(&go);
    assert_int_equal(
        wr_watch_ask(s.c, look_slowly, &same, sizeof(same), UINT64_MAX, &err),
        0);
    assert_int_equal(same.answer, 7);
    assert_int_equal(
        wr_watch_ask(s.c, add, &other, sizeof(other), UINT64_MAX, &err), 0);
    assert_int_equal(other.a, 2);
    teardown(&s);
}

/* The store is freed by the thread, some time. */
static void left_behind(void **state)
{
    struct scene s;
    sem_t begun, go;
    struct slow q = {(uintptr_t)&begun, (uintptr_t)&go, 0};

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&go, 0, 0);
    setup(&s);
    wr_watch_ask(s.c, look_slowly, &q, sizeof(q), 1, NULL);
    sem_wait(&begun);
    assert_false(wr_watch_halt(s.c->watch, wr_clock_ns() + WR_NS_PER_MS));
    wr_watch_free(s.c->watch);
    assert_int_equal(s.c->refs, 3);
    sem_post(&go);
    while (s.c->refs > 2)
        ;
    free(s.c);
}

static void without_a_thread(void **state)
{
    weir_ckpt *c = calloc(1, sizeof(*c));
    struct sum q = {1, 2};

    (void)state;
    assert_non_null(c);
    assert_int_equal(wr_watch_ask(c, add, &q, sizeof(q), 0, NULL), 0);
    assert_int_equal(q.a, 3);
    assert_true(wr_watch_halt(NULL, 0));
    wr_watch_free(NULL);
    assert_int_equal(wr_watch_silent_ns(NULL), 0);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(patience),
        cmocka_unit_test(left_behind),
        cmocka_unit_test(without_a_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
