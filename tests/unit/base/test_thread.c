/* test_thread.c - waiting for a condition with a limit.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/thread.h"

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
};

static void *open_gate(void *arg)
{
    struct gate *g = arg;

    pthread_mutex_lock(&g->lock);
    g->open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

/* Whether the gate was open by then. */
static bool wait_open(struct gate *g, uint64_t until_ns)
{
    while (!g->open)
        if (!wr_cond_wait_until(&g->changed, &g->lock, until_ns))
            return false;
    return true;
}

/* A time that is over, or is soon, ends the wait, and the lock is held again. */
static void time_over(void **state)
{
    struct gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                     false};
    uint64_t soon;

    (void)state;
    pthread_mutex_lock(&g.lock);
    assert_false(wait_open(&g, 0));
    soon = wr_clock_ns() + WR_NS_PER_MS;
    assert_false(wait_open(&g, soon));
    assert_true(wr_clock_ns() >= soon);
    assert_int_not_equal(pthread_mutex_trylock(&g.lock), 0);
    pthread_mutex_unlock(&g.lock);
}

static void woken(void **state)
{
    static const uint64_t waits_ns[] = {3600 * WR_NS_PER_SEC, UINT64_MAX};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                         false};
        pthread_t thread;

        pthread_mutex_lock(&g.lock);
        assert_int_equal(
            wr_thread_start(&thread, "opener", open_gate, &g, NULL), 0);
        assert_true(
            wait_open(&g, i ? waits_ns[i] : wr_clock_ns() + waits_ns[i]));
        pthread_mutex_unlock(&g.lock);
        pthread_join(thread, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_over),
        cmocka_unit_test(woken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
