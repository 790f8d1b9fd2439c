/* test_pool.c - every part runs once, and the threads are named and joined.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "../../fault/failmalloc.h"

#define PARTS 1000

struct seen {
    atomic_uint parts[PARTS], threads[8];
};

static void note(void *arg, size_t part, unsigned thread)
{
    struct seen *s = arg;

    atomic_fetch_add(&s->parts[part], 1);
    atomic_fetch_add(&s->threads[thread], 1);
}

static void every_part_runs_once(void **state)
{
    static const size_t counts[] = {0, 1, 2, 7, PARTS};

    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++) {
        struct wr_pool *pool;
        weir_err err;

        assert_int_equal(wr_pool_new(&pool, threads, "test", &err), 0);
        assert_int_equal(wr_pool_threads(pool), threads);
        for (unsigned k = 0; k < 5; k++) {
            static struct seen s;
            unsigned sum = 0;

            memset(&s, 0, sizeof(s));
            wr_pool_run(pool, counts[k], note, &s);
            for (size_t i = 0; i < PARTS; i++)
                assert_int_equal(s.parts[i], i < counts[k]);
            for (unsigned t = 0; t < 8; t++)
                sum += s.threads[t];
            assert_int_equal(sum, counts[k]);
            for (unsigned t = threads; t < 8; t++)
                assert_int_equal(s.threads[t], 0);
        }
        wr_pool_free(pool);
    }
}

/* Tasks end before the next one begins, so a sum over many has no gap. */
static void add_one(void *arg, size_t part, unsigned thread)
{
    uint64_t *cells = arg;

    (void)thread;
    cells[part]++;
}

static void tasks_do_not_overlap(void **state)
{
    uint64_t cells[3] = {0};
    struct wr_pool *pool;

    (void)state;
    assert_int_equal(wr_pool_new(&pool, 3, "test", NULL), 0);
    for (int i = 0; i < 3000; i++)
        wr_pool_run(pool, 3, add_one, cells);
    wr_pool_free(pool);
    for (int i = 0; i < 3; i++)
        assert_int_equal(cells[i], 3000);
}

/* Both threads must be inside at once, so each is seen. */
struct meeting {
    pthread_barrier_t both;
    char names[2][16];
};

static void meet(void *arg, size_t part, unsigned thread)
{
    struct meeting *m = arg;

    (void)part;
    pthread_getname_np(pthread_self(), m->names[thread], 16);
    pthread_barrier_wait(&m->both);
}

static void threads_have_names(void **state)
{
    struct meeting m = {.names = {""}};
    struct wr_pool *pool;

    (void)state;
    pthread_barrier_init(&m.both, NULL, 2);
    assert_int_equal(wr_pool_new(&pool, 2, "compute", NULL), 0);
    wr_pool_run(pool, 2, meet, &m);
    wr_pool_free(pool);
    pthread_barrier_destroy(&m.both);
    assert_string_equal(m.names[1], "compute-1");
}

static void memory_that_is_short_is_said(void **state)
{
    struct wr_pool *pool = NULL;
    weir_err err;

    (void)state;
    wr_pool_free(NULL);
    if (!fm_can_fail())
        skip();
    for (unsigned long n = 0; n < 2; n++) {
        int r;

        fm_start(n, ULONG_MAX);
        r = wr_pool_new(&pool, 3, "test", &err);
        fm_stop();
        assert_int_equal(r, WEIR_ENOMEM);
        assert_null(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_runs_once),
        cmocka_unit_test(tasks_do_not_overlap),
        cmocka_unit_test(threads_have_names),
        cmocka_unit_test(memory_that_is_short_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
