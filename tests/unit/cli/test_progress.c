/* test_progress.c - unit tests of progress.c and interrupt.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

#define SEC UINT64_C(1000000000)

static void expect_line(const struct wr_progress_spec *spec,
                        struct wr_progress_view view, const char *want)
{
    char line[256];

    wr_progress_line(spec, &view, line, sizeof(line));
    assert_string_equal(line, want);
}

static void test_line(void **state)
{
    struct wr_progress_spec files = {.label = "drop", .unit = "files"};
    struct wr_progress_spec bytes = {.label = "read", .bytes = true};
    struct wr_progress_spec parts = {.label = "probe"};

    (void)state;
    expect_line(&files, (struct wr_progress_view){2000, 10000, 2 * SEC, 80},
                "drop   20%  2,000 of 10,000 files  ETA 0:08  1,000/s");
    expect_line(&files, (struct wr_progress_view){2000, 0, 2 * SEC, 80},
                "drop  2,000 files  1,000/s");
    expect_line(&bytes, (struct wr_progress_view){1000000, 8000000000, SEC, 80},
                "read    0%  1.0 MB of 8.0 GB  ETA 2:13:19  1.0 MB/s");
    expect_line(&files, (struct wr_progress_view){0, 10, 0, 80},
                "drop    0%  0 of 10 files  0/s");
    expect_line(&parts, (struct wr_progress_view){250, 1000, 2 * SEC, 80},
                "probe   25%  ETA 0:06");
}

static void test_line_fits(void **state)
{
    struct wr_progress_spec spec = {.label = "Überprüfung", .unit = "files"};
    char line[256];

    (void)state;
    for (size_t width = 0; width < 90; width++) {
        struct wr_progress_view v = {123456, 9999999, 3 * SEC, width};

        wr_progress_line(&spec, &v, line, sizeof(line));
        assert_true(wr_text_width(line) <= width);
    }
}

/* A terminal: what is written to the stream can be read from *ret_fd. */
static FILE *open_terminal(int *ret_fd)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct termios raw;
    FILE *f;

    if (master < 0 || grantpt(master) || unlockpt(master))
        return NULL;
    f = fopen(ptsname(master), "w");
    if (f && tcgetattr(fileno(f), &raw) == 0) {
        cfmakeraw(&raw);
        tcsetattr(fileno(f), TCSANOW, &raw);
    }
    *ret_fd = master;
    return f;
}

/* Reads until the line has been erased; a terminal delivers in pieces. False
 * when nothing comes any more. */
static bool read_erased(int fd, char *buf, size_t cap)
{
    static const char erase[] = "\r\033[K";
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    size_t used = 0;

    while (used + 1 < cap && poll(&wait, 1, 10000) == 1) {
        ssize_t n = read(fd, buf + used, cap - 1 - used);

        if (n <= 0)
            return false;
        used += (size_t)n;
        buf[used] = '\0';
        if (used > 4 && !strcmp(buf + used - 4, erase))
            return true;
    }
    return false;
}

static void *count(void *arg)
{
    for (int i = 0; i < 1000; i++)
        wr_progress_add(arg, 1);
    return NULL;
}

static void test_terminal(void **state)
{
    struct wr_progress_spec spec = {
        .label = "work", .unit = "items", .total = 4000};
    struct wr_cli cli = {0};
    struct wr_progress p;
    pthread_t thread[4];
    char got[8192];
    int fd;

    (void)state;
    cli.err = open_terminal(&fd);
    if (!cli.err)
        skip();
    wr_progress_start(&p, &cli, &spec);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, count, &p);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    atomic_store(&p.next_ns, 0); /* the half second is over */
    wr_progress_set(&p, atomic_load(&p.done));
    wr_progress_end(&p);
    assert_true(read_erased(fd, got, sizeof(got)));
    assert_non_null(strstr(got, "\rwork  100%  4,000 of 4,000 items"));
    fclose(cli.err);
    close(fd);
}

static void expect_silence(struct wr_cli *cli)
{
    struct wr_progress_spec spec = {
        .label = "work", .unit = "items", .total = 10};
    struct wr_progress p;

    wr_progress_start(&p, cli, &spec);
    assert_null(p.to);
    atomic_store(&p.next_ns, 0);
    wr_progress_callback(&p, 5, 20);
    assert_int_equal(atomic_load(&p.total), 20);
    wr_progress_hide(&p);
    wr_progress_end(&p);
}

static void test_silent(void **state)
{
    char *out = NULL;
    size_t len;
    struct wr_cli cli = {.err = open_memstream(&out, &len)};
    int fd;

    (void)state;
    expect_silence(&cli); /* not a terminal */
    fclose(cli.err);
    assert_int_equal(len, 0);
    free(out);
    cli.err = open_terminal(&fd);
    if (!cli.err)
        skip();
    cli.quiet = true;
    expect_silence(&cli);
    fclose(cli.err);
    close(fd);
}

/* In a child: the first signal sets the flag, the second one kills. */
static int child_status(int number)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        wr_interrupt_install();
        if (wr_interrupted() || wr_interrupt_exit_code())
            _exit(1);
        raise(number);
        if (!wr_interrupted() || wr_interrupt_exit_code() != 128 + number)
            _exit(2);
        raise(number);
        _exit(3);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void test_interrupt(void **state)
{
    int status = child_status(SIGINT);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
    status = child_status(SIGTERM);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),      cmocka_unit_test(test_line_fits),
        cmocka_unit_test(test_terminal),  cmocka_unit_test(test_silent),
        cmocka_unit_test(test_interrupt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
