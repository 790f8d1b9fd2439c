/* test_jail.c - what a process in the jail can do, and what it cannot.
 * SPDX-License-Identifier: Apache-2.0 */
#include "hdf5/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* How a child ended that did `what` in the jail. */
static int status_of(int (*what)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(h5_jail(1) ? what() : 99);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static int map_memory(void)
{
    void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p != MAP_FAILED && munmap(p, 65536) == 0 ? 0 : errno;
}

static int map_code(void)
{
    void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? errno : 0;
}

static int make_code(void)
{
    void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return mprotect(p, 65536, PROT_READ | PROT_EXEC) < 0 ? errno : 0;
}

static int map_too_much(void)
{
    void *p = mmap(NULL, (size_t)1 << 30, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? errno : 0;
}

static int open_file(void)
{
    return open("/dev/null", O_RDONLY) < 0 ? errno : 0;
}

static int compute_for_ever(void)
{
    for (volatile uint64_t k = 1; k; k++)
        ;
    return 0;
}

static void calls(void **state)
{
    static const struct {
        int (*what)(void);
        int e;
    } cases[] = {
        {map_memory, 0},
        {map_code, EPERM},
        {open_file, EPERM},
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        {make_code, EPERM},
        {map_too_much, ENOMEM},
#endif
    };

    (void)state;
    (void)make_code, (void)map_too_much;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        int status = status_of(cases[k].what);

        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[k].e);
    }
}

static void time_ends(void **state)
{
    int status = status_of(compute_for_ever);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGXCPU);
}

/* The grandchild waits for ever; its pipe tells whether it lives. */
static void ends_with_parent(void **state)
{
    int fds[2], status;
    char any;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
        int ready[2];

        if (pipe(ready) < 0)
            _exit(1);
        if (fork() == 0) {
            close(fds[0]);
            if (h5_end_with_weir() && write(ready[1], "x", 1) == 1)
                for (;;)
                    pause();
            _exit(1);
        }
        _exit(read(ready[0], &any, 1) == 1 ? 0 : 1);
    }
    close(fds[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(fds[0], &any, 1), 0); /* nobody has the other end */
    close(fds[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls),
        cmocka_unit_test(time_ends),
        cmocka_unit_test(ends_with_parent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
