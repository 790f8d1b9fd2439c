/* test_trace_program.c - the program that is traced: how it begins and ends.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../format/tmpdir.h"
#include "base/mem.h"
#include "cli/trace_program.h"

struct place {
    struct tmpdir t;
    sigset_t mask; /* of before */
    char preload[200];
    bool has_preload;
};

static int setup(void **state)
{
    static struct place p;
    const char *preload = getenv("LD_PRELOAD");

    tmpdir_init(&p.t);
    pthread_sigmask(SIG_SETMASK, NULL, &p.mask);
    p.has_preload = preload != NULL;
    snprintf(p.preload, sizeof(p.preload), "%s", preload ? preload : "");
    *state = &p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;

    if (p->has_preload)
        setenv("LD_PRELOAD", p->preload, 1);
    else
        unsetenv("LD_PRELOAD");
    unsetenv("WEIR_TRACE");
    unsetenv("WEIR_TRACE_LIBRARY");
    pthread_sigmask(SIG_SETMASK, &p->mask, NULL);
    tmpdir_done(&p->t);
    return 0;
}

static void start(struct wr_program *p, char *const *argv)
{
    weir_err err;

    unsetenv("LD_PRELOAD");
    if (wr_program_start(p, argv, "/folder", "", &err) < 0)
        fail_msg("%s", err.msg);
    unsetenv("LD_PRELOAD");
}

/* Runs a line of a shell to its end; returns what it comes to. */
static int run(struct place *at, const char *line)
{
    char sh[] = "/bin/sh", c[] = "-c", copy[300];
    char *argv[] = {sh, c, copy, NULL};
    struct wr_program p;
    int status;

    snprintf(copy, sizeof(copy), "%s", line);
    start(&p, argv);
    assert_int_equal(wr_program_go(&p), 0);
    while (!wr_program_wait(&p, 60000))
        continue;
    assert_true(wr_program_wait(&p, 0)); /* not reaped yet */
    status = wr_program_reap(&p);
    pthread_sigmask(SIG_SETMASK, &at->mask, NULL);
    return wr_program_code(status);
}

static void test_codes(void **state)
{
    static const struct {
        const char *line;
        int code;
    } cases[] = {
        {"exit 0", 0},
        {"exit 3", 3},
        {"exit 255", 255},
        {"kill -TERM $$", 128 + SIGTERM},
        {"kill -KILL $$", 128 + SIGKILL},
        {"kill -PIPE $$", 128 + SIGPIPE}, /* not ignored by the parent's way */
        {"kill -INT $$", 128 + SIGINT},   /* nor blocked as in the parent */
        {"test \"$WEIR_TRACE\" = /folder", 0},
    };

    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++)
        assert_int_equal(run(*state, cases[k].line), cases[k].code);
}

static void test_not_executed(void **state)
{
    static const struct {
        const char *name; /* of the folder of the test */
        int os_errno, code;
    } cases[] = {
        {"none", ENOENT, 127},
        {"plain", EACCES, 126},
        {"plain/below", ENOTDIR, 127},
    };
    struct place *at = *state;

    tmpdir_put_text(&at->t, "plain", "no program");
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        char path[300], *argv[] = {path, NULL};
        struct wr_program p;
        int e, status;

        snprintf(path, sizeof(path), "%s", tmpdir_at(&at->t, cases[k].name));
        start(&p, argv);
        e = wr_program_go(&p);
        status = wr_program_reap(&p);
        pthread_sigmask(SIG_SETMASK, &at->mask, NULL);
        assert_int_equal(e, cases[k].os_errno);
        assert_int_equal(wr_program_exec_code(e), cases[k].code);
        assert_int_equal(wr_program_code(status), 127);
    }
    assert_int_equal(wr_program_exec_code(ENOEXEC), 126);
    assert_int_equal(wr_program_exec_code(EPERM), 126);
}

/* It waits until it is let go, and may be ended before. */
static void test_cancel(void **state)
{
    char sh[] = "/bin/sh", c[] = "-c", line[400];
    char *argv[] = {sh, c, line, NULL};
    struct place *at = *state;
    struct wr_program p;

    snprintf(line, sizeof(line), ": >%s", tmpdir_at(&at->t, "begun"));
    start(&p, argv);
    assert_false(wr_program_wait(&p, 50));
    wr_program_cancel(&p);
    assert_int_equal(waitpid(p.child.pid, NULL, 0), -1);
    pthread_sigmask(SIG_SETMASK, &at->mask, NULL);
    assert_int_equal(access(tmpdir_at(&at->t, "begun"), F_OK), -1);
    assert_int_equal(run(at, line), 0);
    assert_int_equal(access(tmpdir_at(&at->t, "begun"), F_OK), 0);
}

/* What another process sends to weir is meant for the program. */
static void test_signals(void **state)
{
    char sh[] = "/bin/sh", c[] = "-c";
    char line[] = "trap 'exit 7' USR1; while :; do sleep 0.05; done";
    char *argv[] = {sh, c, line, NULL};
    struct place *at = *state;
    struct wr_program p;
    int status;

    start(&p, argv);
    assert_int_equal(wr_program_go(&p), 0);
    /* Before the trap is set it would be killed by it: that is told, too. */
    kill(getpid(), SIGUSR1);
    while (!wr_program_wait(&p, 1000))
        kill(getpid(), SIGUSR1);
    status = wr_program_reap(&p);
    pthread_sigmask(SIG_SETMASK, &at->mask, NULL);
    if (wr_program_code(status) != 7)
        assert_int_equal(wr_program_code(status), 128 + SIGUSR1);
}

/* Its own library first, then those that were there. */
static void test_preload(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {NULL, "/l/trace.so"},
        {"", "/l/trace.so"},
        {"/l/other.so", "/l/trace.so:/l/other.so"},
        {"/a.so:/b.so", "/l/trace.so:/a.so:/b.so"},
    };
    char none[] = "none", *argv[] = {none, NULL};
    struct place *at = *state;

    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_program p;
        weir_err err;

        if (cases[k].before)
            setenv("LD_PRELOAD", cases[k].before, 1);
        else
            unsetenv("LD_PRELOAD");
        assert_int_equal(wr_program_start(&p, argv, "/at", "/l/trace.so", &err),
                         0);
        wr_program_cancel(&p);
        pthread_sigmask(SIG_SETMASK, &at->mask, NULL);
        assert_string_equal(getenv("LD_PRELOAD"), cases[k].after);
        assert_string_equal(getenv("WEIR_TRACE"), "/at");
    }
}

static void test_library(void **state)
{
    struct place *at = *state;
    char found[PATH_MAX] = "as it was", path[300];
    weir_err err;

    snprintf(path, sizeof(path), "%s", tmpdir_at(&at->t, "mine.so"));
    setenv("WEIR_TRACE_LIBRARY", path, 1);
    assert_int_equal(wr_program_library(found, &err), WEIR_ENOENT);
    assert_true(strstr(err.msg, "WEIR_TRACE_LIBRARY: '") == err.msg);
    assert_non_null(strstr(err.msg, "/mine.so' cannot be read"));
    assert_string_equal(found, "as it was");
    tmpdir_put_text(&at->t, "mine.so", "");
    assert_int_equal(wr_program_library(found, &err), 0);
    assert_string_equal(found, path);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_codes),   TEST(test_not_executed), TEST(test_cancel),
        TEST(test_signals), TEST(test_preload),      TEST(test_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
