/* test_strand.c - threads that may be left behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/strand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <semaphore.h>

#include "base/clock.h"

struct work {
    struct wr_strand strand;
    sem_t *go, *gone;
};

static void run(void *arg)
{
    struct work *w = arg;

    sem_wait(w->go);
}

static void release(void *arg)
{
    struct work *w = arg;
    sem_t *gone = w->gone;

    wr_strand_done(&w->strand);
    free(w);
    sem_post(gone);
}

static struct work *start(sem_t *go, sem_t *gone)
{
    struct work *w = calloc(1, sizeof(*w));

    assert_non_null(w);
    w->go = go;
    w->gone = gone;
    assert_int_equal(wr_strand_start(&w->strand, "test", run, release, w, NULL),
                     0);
    return w;
}

static void one_that_ends(void **state)
{
    sem_t go;
    struct work *w;

    (void)state;
    sem_init(&go, 0, 1);
    w = start(&go, NULL);
    assert_true(wr_strand_join(&w->strand, UINT64_MAX));
    assert_true(wr_strand_join(&w->strand, 0)); /* still so */
    assert_false(wr_strand_leave(&w->strand));
    wr_strand_done(&w->strand);
    free(w);
}

/* It gives back what it was left with. */
static void one_that_is_left_behind(void **state)
{
    sem_t go, gone;
    struct work *w;

    (void)state;
    sem_init(&go, 0, 0);
    sem_init(&gone, 0, 0);
    w = start(&go, &gone);
    assert_false(wr_strand_join(&w->strand, 0));
    assert_false(wr_strand_join(&w->strand, wr_clock_ns() + WR_NS_PER_MS));
    assert_true(wr_strand_leave(&w->strand));
    sem_post(&go);
    sem_wait(&gone);
}

/* It ends between the last look and being left: the caller gives back. */
static void one_that_ends_at_last(void **state)
{
    sem_t go;
    struct work *w;
    bool ended = false;

    (void)state;
    sem_init(&go, 0, 0);
    w = start(&go, NULL);
    assert_false(wr_strand_join(&w->strand, 0));
    sem_post(&go);
    while (!ended) {
        pthread_mutex_lock(&w->strand.lock);
        ended = w->strand.ended;
        pthread_mutex_unlock(&w->strand.lock);
    }
    assert_false(wr_strand_leave(&w->strand));
    wr_strand_done(&w->strand);
    free(w);
}

static void one_that_never_began(void **state)
{
    struct wr_strand s = {0};

    (void)state;
    assert_true(wr_strand_join(&s, 0));
    assert_false(wr_strand_leave(&s));
    wr_strand_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_ends),
        cmocka_unit_test(one_that_is_left_behind),
        cmocka_unit_test(one_that_ends_at_last),
        cmocka_unit_test(one_that_never_began),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
