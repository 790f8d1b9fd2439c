/* test_shares.c - accounts of the process, and things that are there once.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../fault/failmalloc.h"
#include "base/descriptors.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shares.h"
#include "base/thread.h"

#define THREADS 8

static void memory_is_a_quarter_at_most(void **state)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) *
                       (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t all = wr_share_all(WR_SHARE_MEMORY);

    (void)state;
    assert_true(all > 0 && all <= machine / 4);
    wr_share_raise(WR_SHARE_MEMORY, all + 10);
    assert_int_equal(wr_share_all(WR_SHARE_MEMORY), all + 10);
    wr_share_raise(WR_SHARE_MEMORY, all); /* never lower */
    assert_int_equal(wr_share_all(WR_SHARE_MEMORY), all + 10);
    assert_int_equal(wr_share_all(WR_SHARE_THREADS), 2 * wr_cpu_count());
}

static void takes_all_some_or_anyway(void **state)
{
    uint64_t all = wr_share_all(WR_SHARE_MEMORY);
    uint64_t refusals = wr_share_refusals(WR_SHARE_MEMORY);

    (void)state;
    assert_true(wr_share_take(WR_SHARE_MEMORY, all - 1));
    assert_false(wr_share_take(WR_SHARE_MEMORY, 2));
    assert_false(wr_share_take(WR_SHARE_MEMORY, UINT64_MAX));
    wr_share_refuse(WR_SHARE_MEMORY);
    assert_int_equal(wr_share_refusals(WR_SHARE_MEMORY), refusals + 3);
    assert_int_equal(wr_share_left(WR_SHARE_MEMORY), 1);
    assert_int_equal(wr_share_take_some(WR_SHARE_MEMORY, 7, 0), 1);
    assert_int_equal(wr_share_take_some(WR_SHARE_MEMORY, 7, 3), 3);
    assert_int_equal(wr_share_left(WR_SHARE_MEMORY), 0);
    wr_share_take_anyway(WR_SHARE_MEMORY, 5);
    assert_false(wr_share_take(WR_SHARE_MEMORY, 1));
    assert_int_equal(wr_shares_get()->accounts[WR_SHARE_MEMORY].most, all + 8);
    wr_share_give(WR_SHARE_MEMORY, all + 8);
    assert_int_equal(wr_share_left(WR_SHARE_MEMORY), all);
}

static void files_follow_the_limit(void **state)
{
    struct rlimit old, now;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    now = old;
    now.rlim_cur = 40;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    assert_int_equal(wr_share_all(WR_SHARE_FILES), wr_fd_share());
    assert_true(wr_share_all(WR_SHARE_FILES) < 20);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

static void *take_and_give(void *arg)
{
    uint64_t all = wr_share_all(WR_SHARE_MEMORY);
    atomic_uint *granted = arg;

    for (int i = 0; i < 2000; i++)
        if (wr_share_take(WR_SHARE_MEMORY, all / 3)) {
            atomic_fetch_add(granted, 1);
            wr_share_give(WR_SHARE_MEMORY, all / 3);
        }
    return NULL;
}

static void run_all(void *(*fn)(void *), void *arg)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fn, arg), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* However threads race, never more is out than there is. */
static void threads_never_overdraw(void **state)
{
    uint64_t all = wr_share_all(WR_SHARE_MEMORY);
    atomic_uint granted = 0;

    (void)state;
    atomic_store(&wr_shares_get()->accounts[WR_SHARE_MEMORY].most, 0);
    run_all(take_and_give, &granted);
    assert_true(granted > 0);
    assert_true(wr_shares_get()->accounts[WR_SHARE_MEMORY].most <= all);
    assert_int_equal(wr_share_left(WR_SHARE_MEMORY), all);
}

/* --- things by name --- */

static atomic_int made, freed;

static int make_thing(const void *arg, void **ret, weir_err *err)
{
    char *thing = strdup(arg ? arg : "");

    if (!thing)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (!strcmp(thing, "broken")) {
        free(thing);
        return wr_fail(err, WEIR_EIO, "cannot be made");
    }
    made++;
    *ret = thing;
    return 0;
}

static void free_thing(void *thing)
{
    freed++;
    free(thing);
}

static const struct wr_common_kind kind = {make_thing, free_thing};
static const struct wr_common_kind other_kind = {make_thing, free_thing};

static void one_by_kind_and_name(void **state)
{
    void *a, *b, *c, *d;

    (void)state;
    made = freed = 0;
    assert_int_equal(wr_common_ref(&kind, "x", "1", &a, NULL), 0);
    assert_int_equal(wr_common_ref(&kind, "x", "2", &b, NULL), 0);
    assert_int_equal(wr_common_ref(&kind, "y", "3", &c, NULL), 0);
    assert_int_equal(wr_common_ref(&other_kind, "x", "4", &d, NULL), 0);
    assert_ptr_equal(a, b);
    assert_string_equal(b, "1");
    assert_ptr_not_equal(a, c);
    assert_string_equal(d, "4");
    wr_common_unref(a);
    assert_int_equal(freed, 0);
    wr_common_unref(c);
    wr_common_unref(b);
    wr_common_unref(d);
    wr_common_unref(NULL);
    assert_int_equal(made, 3);
    assert_int_equal(freed, 3);
    assert_int_equal(wr_common_ref(&kind, "x", "5", &a, NULL), 0);
    assert_string_equal(a, "5"); /* the old one is gone */
    wr_common_unref(a);
}

static void failing_leaves_nothing(void **state)
{
    void *thing = NULL;
    weir_err err;

    (void)state;
    assert_int_equal(wr_common_ref(&kind, "x", "broken", &thing, &err),
                     WEIR_EIO);
    assert_null(thing);
    for (unsigned long i = 0; fm_can_fail() && i < 2; i++) {
        int r;

        fm_start(i, i + 1);
        r = wr_common_ref(&kind, "x", "1", &thing, &err);
        fm_stop();
        assert_int_equal(r, WEIR_ENOMEM);
    }
    assert_int_equal(wr_common_ref(&kind, "x", "1", &thing, &err), 0);
    wr_common_unref(thing);
}

static void *ref_and_unref(void *arg)
{
    (void)arg;
    for (int i = 0; i < 500; i++) {
        void *thing = NULL;

        if (wr_common_ref(&kind, i % 2 ? "odd" : "even", "1", &thing, NULL) ==
            0)
            wr_common_unref(thing);
    }
    return NULL;
}

static void threads_share_things(void **state)
{
    (void)state;
    made = freed = 0;
    run_all(ref_and_unref, NULL);
    assert_true(made > 0);
    assert_int_equal(made, freed);
    assert_null(wr_shares_get()->things.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_a_quarter_at_most),
        cmocka_unit_test(takes_all_some_or_anyway),
        cmocka_unit_test(files_follow_the_limit),
        cmocka_unit_test(threads_never_overdraw),
        cmocka_unit_test(one_by_kind_and_name),
        cmocka_unit_test(failing_leaves_nothing),
        cmocka_unit_test(threads_share_things),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
