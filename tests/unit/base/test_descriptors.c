/* test_descriptors.c - descriptors are shared, and waited for.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"

#define THREADS 12
#define LIMIT   16

static atomic_int inside, most;

/* Fails the test's count when more are inside than half of the limit. */
static void *enter_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++) {
        int now, seen;

        wr_fd_enter();
        now = atomic_fetch_add(&inside, 1) + 1;
        for (seen = atomic_load(&most);
             now > seen && !atomic_compare_exchange_weak(&most, &seen, now);)
            ;
        sched_yield();
        atomic_fetch_sub(&inside, 1);
        wr_fd_leave();
    }
    return NULL;
}

static struct rlimit limit_to(rlim_t value)
{
    struct rlimit old, now;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    now = old;
    now.rlim_cur = value;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    return old;
}

static void reads_take_half(void **state)
{
    struct rlimit old = limit_to(LIMIT);
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, enter_often, NULL),
                         0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_true(atomic_load(&most) > 1);
    assert_true(atomic_load(&most) <= LIMIT / 2);
}

static int open_patiently(void)
{
    struct wr_fd_wait wait = {0};
    int fd;

    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd < 0 && wr_fd_retry(&wait, errno));
    return fd;
}

static unsigned take_all(int *fds, unsigned cap)
{
    unsigned n = 0;

    while (n < cap && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    assert_true(n < cap);
    return n;
}

static void *opener(void *arg)
{
    int fd = open_patiently();

    (void)arg;
    return (void *)(intptr_t)fd;
}

/* One that finds none left gets the next that is closed. */
static void one_that_comes_back_is_taken(void **state)
{
    struct rlimit old = limit_to(64);
    int fds[64];
    unsigned n = take_all(fds, 64);
    pthread_t t;
    void *got;

    (void)state;
    assert_int_equal(pthread_create(&t, NULL, opener, NULL), 0);
    assert_int_equal(wr_fd_close(fds[--n]), 0);
    pthread_join(t, &got);
    assert_true((intptr_t)got >= 0);
    close((int)(intptr_t)got);
    while (n)
        close(fds[--n]);
    setrlimit(RLIMIT_NOFILE, &old);
}

static void none_comes_back(void **state)
{
    struct rlimit old = limit_to(64);
    int fds[64];
    unsigned n = take_all(fds, 64);

    (void)state;
    assert_int_equal(open_patiently(), -1);
    assert_int_equal(errno, EMFILE);
    while (n)
        close(fds[--n]);
    setrlimit(RLIMIT_NOFILE, &old);
}

/* Weir closes files all the time, also what a failed try had opened. That helps
 * nobody who is short of memory, or of files of the whole machine. */
static void own_closes_are_no_hope(void **state)
{
    static const int lacks[] = {ENOMEM, ENFILE, ENOBUFS};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct wr_fd_wait wait = {0};
        uint64_t begun_ns = wr_clock_ns();

        do
            wr_fd_closed();
        while (wr_fd_retry(&wait, lacks[i]) &&
               wr_clock_ns() - begun_ns < 5 * WR_NS_PER_SEC);
        assert_true(wr_clock_ns() - begun_ns < 5 * WR_NS_PER_SEC);
    }
}

static void other_errors_are_not_waited_for(void **state)
{
    struct wr_fd_wait wait = {0};

    (void)state;
    assert_false(wr_fd_retry(&wait, ENOENT));
    assert_false(wr_fd_retry(&wait, EACCES));
    assert_false(wr_fd_retry(&wait, EIO));
    assert_true(wr_fd_retry(&wait, EMFILE));
}

static void a_share_for_files_that_stay_open(void **state)
{
    struct rlimit old, few;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = old;
    few.rlim_cur = 16;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(wr_fd_share(), 2);
    few.rlim_cur = 4;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(wr_fd_share(), 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_true(wr_fd_share() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_take_half),
        cmocka_unit_test(one_that_comes_back_is_taken),
        cmocka_unit_test(none_comes_back),
        cmocka_unit_test(own_closes_are_no_hope),
        cmocka_unit_test(other_errors_are_not_waited_for),
        cmocka_unit_test(a_share_for_files_that_stay_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
