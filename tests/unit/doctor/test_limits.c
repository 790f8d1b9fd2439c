/* test_limits.c - what is found by a process that may do less: each in a child.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "patient.h"
#include "refuse.h"

/* Looks in a child that `limit` has limited; then `script` is its root (NULL:
 * this machine). */
struct look {
    void (*limit)(void);
    const char *script, *check;
    enum wr_health health;
    const char *found, *remedy;
};

static bool is_as(const struct look *l, const struct wr_finding *f)
{
    bool right = f && f->health == l->health && strstr(f->found, l->found) &&
                 strstr(f->remedy, l->remedy) && *f->means;

    if (f && !right)
        fprintf(stderr, "%s: %s: '%s' '%s'\n", l->check,
                wr_health_name(f->health), f->found, f->remedy);
    return right;
}

static void see(const struct look *l)
{
    struct patient p;
    int status;
    pid_t pid;

    patient_make(&p, l->script);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        const struct wr_doctor d = {.root = p.root};

        l->limit();
        if (wr_doctor_examine(&d, &p.list, &p.count, NULL) < 0)
            _exit(2);
        _exit(is_as(l, patient_finding(&p, l->check)) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    patient_done(&p);
}

static void limit_files(rlim_t n)
{
    const struct rlimit lim = {n, n};

    if (setrlimit(RLIMIT_NOFILE, &lim))
        _exit(3);
}

static void files_32(void)
{
    limit_files(32);
}

static void files_8(void)
{
    limit_files(8);
}

static void soft_files_64(void)
{
    struct rlimit lim;

    if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_max < 1024)
        _exit(3);
    lim.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &lim);
}

/* One system call fails; `e` is what it fails with. */
static void block(long call, unsigned e)
{
    if (!refuse_call(call, e))
        _exit(3);
}

static void no_uring(void)
{
    block(SYS_io_uring_setup, EPERM);
}

static void no_entering(void)
{
    block(SYS_io_uring_enter, EPERM);
}

static void unknown_uring(void)
{
    block(SYS_io_uring_setup, ENOSYS);
}

static void no_ring_memory(void)
{
    block(SYS_io_uring_setup, ENOMEM);
}

static void low_memlock(void)
{
    const struct rlimit lim = {65536, 65536};

    setrlimit(RLIMIT_MEMLOCK, &lim);
}

static void one_core(void)
{
    cpu_set_t set;
    int first = 0;

    if (sched_getaffinity(0, sizeof(set), &set))
        _exit(3);
    while (!CPU_ISSET(first, &set))
        first++;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    if (sched_setaffinity(0, sizeof(set), &set))
        _exit(3);
}

static void descriptors(void **state)
{
    (void)state;
    see(&(struct look){files_32, "true", "open files", WR_HEALTH_LIMITED, "32",
                       "prlimit --nofile"});
    see(&(struct look){files_8, "true", "open files", WR_HEALTH_MISSING, "8",
                       "prlimit --nofile"});
    see(&(struct look){soft_files_64, "true", "open files", WR_HEALTH_LIMITED,
                       "64", "ulimit -n"});
}

static void rings(void **state)
{
    (void)state;
    see(&(struct look){no_uring, NULL, "io_uring", WR_HEALTH_MISSING,
                       "seccomp filter", "seccomp=unconfined"});
    see(&(struct look){unknown_uring, NULL, "io_uring", WR_HEALTH_MISSING,
                       "seccomp filter", "seccomp=unconfined"});
    see(&(struct look){no_entering, NULL, "io_uring", WR_HEALTH_MISSING,
                       "seccomp filter", "seccomp=unconfined"});
    /* A kernel without it: there is no filter. */
    see(&(struct look){unknown_uring,
                       "printf 'Seccomp:\\t0\\n' "
                       ">proc/self/status",
                       "io_uring", WR_HEALTH_MISSING,
                       "Function not implemented", "linux-image"});
    see(&(struct look){no_uring, "echo 2 >proc/sys/kernel/io_uring_disabled",
                       "io_uring", WR_HEALTH_MISSING,
                       "kernel.io_uring_disabled = 2", "sysctl -w"});
    see(&(struct look){no_ring_memory, NULL, "io_uring", WR_HEALTH_MISSING,
                       "no memory for a ring", "ulimit -l"});
}

static void locked(void **state)
{
    (void)state;
    see(&(struct look){low_memlock, "echo 5.4.0 >proc/sys/kernel/osrelease",
                       "locked memory", WR_HEALTH_LIMITED, "65.5 KB",
                       "ulimit -l"});
}

static void bound(void **state)
{
    (void)state;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        skip();
    see(&(struct look){one_core, "true", "cores", WR_HEALTH_LIMITED, "1 of ",
                       "taskset"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors), cmocka_unit_test(rings),
        cmocka_unit_test(locked), cmocka_unit_test(bound)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
