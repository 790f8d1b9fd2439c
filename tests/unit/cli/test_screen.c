/* test_screen.c - lines of a terminal, and a progress line on narrow ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/environment.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/screen.h"

#define SEC UINT64_C(1000000000)

/* --- a terminal of so many columns --- */

struct terminal {
    FILE *to;
    int master;
};

static bool open_terminal(struct terminal *t, unsigned short columns)
{
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    struct termios raw;

    t->master = posix_openpt(O_RDWR | O_NOCTTY);
    if (t->master < 0 || grantpt(t->master) || unlockpt(t->master))
        return false;
    t->to = fopen(ptsname(t->master), "w");
    if (!t->to || tcgetattr(fileno(t->to), &raw) < 0)
        return false;
    cfmakeraw(&raw);
    tcsetattr(fileno(t->to), TCSANOW, &raw);
    return ioctl(fileno(t->to), TIOCSWINSZ, &size) == 0;
}

/* All that was written up to `end`, which is its last line. */
static void read_up_to(struct terminal *t, const char *end, char *buf,
                       size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    while (used + 1 < cap && !strstr(buf, end)) {
        ssize_t n = read(t->master, buf + used, cap - 1 - used);

        assert_true(n > 0);
        used += (size_t)n;
        buf[used] = '\0';
    }
    *strstr(buf, end) = '\0';
}

static void close_terminal(struct terminal *t)
{
    fclose(t->to);
    close(t->master);
}

static void test_width(void **state)
{
    static const struct {
        unsigned short columns;
        unsigned width;
    } cases[] = {{0, 0}, {1, 0}, {19, 0}, {20, 20}, {80, 80}, {300, 300}};
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    assert_int_equal(wr_screen_width(file), 0);
    fclose(file);
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct terminal t;

        if (!open_terminal(&t, cases[k].columns))
            skip();
        assert_int_equal(wr_screen_width(t.to), cases[k].width);
        close_terminal(&t);
    }
}

/* Long lines are broken at blanks, and go on below their second column. */
static void test_put(void **state)
{
    static const struct {
        const char *text, *shown; /* on 30 columns */
    } cases[] = {
        {"short\n", "short\n"},
        {"", ""},
        {"exactly thirty columns of text\n",
         "exactly thirty columns of text\n"},
        {"one column of words that do not fit\n",
         "one column of words that do\n    not fit\n"},
        {"  name    words that do not fit here\n",
         "  name    words that do not\n          fit here\n"},
        {"  name    words that do not fit, nor\nnext\n",
         "  name    words that do not\n          fit, nor\nnext\n"},
        /* A first column that is too wide is none. */
        {"a first column of words  and more\n",
         "a first column of words  and\n    more\n"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct terminal t;
        char got[400];

        if (!open_terminal(&t, 30))
            skip();
        wr_screen_put(t.to, cases[k].text);
        fputs("#END", t.to);
        fflush(t.to);
        read_up_to(&t, "#END", got, sizeof(got));
        close_terminal(&t);
        assert_string_equal(got, cases[k].shown);
    }
}

/* A pipe gets each line as it is, at once. */
static void test_no_terminal(void **state)
{
    static const char text[] = "a line of words that is longer than any "
                               "terminal of thirty columns could show\n";
    FILE *file = tmpfile();
    const struct wr_cli cli = {.out = file};
    struct wr_screen s;
    char got[200] = "";

    (void)state;
    assert_non_null(file);
    assert_ptr_equal(wr_screen_start(&s, &cli), &cli);
    wr_screen_end(&s);
    wr_screen_put(file, text);
    rewind(file);
    assert_int_equal(fread(got, 1, sizeof(got) - 1, file), strlen(text));
    assert_string_equal(got, text);
    fclose(file);
}

static void test_collected(void **state)
{
    struct terminal t;
    struct wr_screen s;
    struct wr_cli cli = {0};
    const struct wr_cli *to;
    char got[200];

    (void)state;
    if (!open_terminal(&t, 30))
        skip();
    cli.out = t.to;
    to = wr_screen_start(&s, &cli);
    assert_ptr_not_equal(to, &cli);
    wr_cli_put(to, "  name    words that ");
    wr_cli_put(to, "do not fit, nor\n");
    wr_screen_end(&s);
    fputs("#END", t.to);
    fflush(t.to);
    read_up_to(&t, "#END", got, sizeof(got));
    assert_string_equal(got, "  name    words that do not\n"
                             "          fit, nor\n");
    close_terminal(&t);
}

/* --- the progress line --- */

static const struct wr_progress_spec spec_files = {.label = "index",
                                                   .unit = "files"};
static const struct wr_progress_spec spec_bytes = {.label = "copy",
                                                   .bytes = true};

static void test_line(void **state)
{
    static const struct {
        const struct wr_progress_spec *spec;
        struct wr_progress_view view; /* done, total, ns, width */
        const char *line;
    } cases[] = {
        /* What does not fit is left out, and the next part is tried. */
        {&spec_files,
         {2000, 10000, 2 * SEC, 80},
         "index   20%  2,000 of 10,000 files  ETA 0:08  1,000/s"},
        {&spec_files,
         {2000, 10000, 2 * SEC, 53},
         "index   20%  2,000 of 10,000 files  ETA 0:08  1,000/s"},
        {&spec_files,
         {2000, 10000, 2 * SEC, 52},
         "index   20%  2,000 of 10,000 files  ETA 0:08"},
        {&spec_files,
         {2000, 10000, 2 * SEC, 40},
         "index   20%  2,000 of 10,000 files"},
        {&spec_files,
         {2000, 10000, 2 * SEC, 33},
         "index   20%  ETA 0:08  1,000/s"},
        {&spec_files, {2000, 10000, 2 * SEC, 12}, "index   20%"},
        {&spec_files, {2000, 10000, 2 * SEC, 10}, "index"},
        {&spec_files, {2000, 10000, 2 * SEC, 3}, "ind"},
        /* Times. */
        {&spec_files,
         {1, 60, SEC, 80},
         "index    2%  1 of 60 files  ETA 0:59  1/s"},
        {&spec_files,
         {1, 61, SEC, 80},
         "index    2%  1 of 61 files  ETA 1:00  1/s"},
        {&spec_files,
         {1, 3600, SEC, 80},
         "index    0%  1 of 3,600 files  ETA 59:59  1/s"},
        {&spec_files,
         {1, 3601, SEC, 80},
         "index    0%  1 of 3,601 files  ETA 1:00:00  1/s"},
        {&spec_files,
         {1, 90000, SEC, 80},
         "index    0%  1 of 90,000 files  ETA 24:59:59  1/s"},
        {&spec_files,
         {10, 10, SEC, 80},
         "index  100%  10 of 10 files  ETA 0:00  10/s"},
        /* More than was expected: no time is left to be told. */
        {&spec_files, {12, 10, SEC, 80}, "index  120%  12 of 10 files  12/s"},
        {&spec_files, {0, 0, 0, 80}, "index  0 files  0/s"},
        {&spec_bytes, {1500000, 0, SEC, 80}, "copy  1.5 MB  1.5 MB/s"},
        {&spec_bytes,
         {500, 1000, SEC / 2, 80},
         "copy   50%  500 B of 1.0 KB  ETA 0:01  1.0 KB/s"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        char line[256];

        wr_progress_line(cases[k].spec, &cases[k].view, line, sizeof(line));
        assert_string_equal(line, cases[k].line);
    }
}

/* What a label has of control characters shows; a small buffer is not left. */
static void test_label(void **state)
{
    const struct wr_progress_spec spec = {.label = "a\033[1m\nb"};
    const struct wr_progress_view view = {1, 2, SEC, 80};
    char line[256], guarded[24];

    (void)state;
    wr_progress_line(&spec, &view, line, sizeof(line));
    assert_string_equal(line, "a\\x1b[1m\\x0ab   50%  ETA 0:01");
    memset(guarded, '#', sizeof(guarded));
    wr_progress_line(&spec_files, &view, guarded, 12);
    assert_string_equal(guarded, "index   50%");
    assert_int_equal(guarded[12], '#');
    wr_progress_line(&spec_files, &view, guarded, 11);
    assert_string_equal(guarded, "index  1/s");
}

static void test_live(void **state)
{
    char *out = NULL;
    size_t len;
    const struct wr_cli cli = {.err = open_memstream(&out, &len)};

    (void)state;
    wr_progress_live(&cli, "one", /* is_terminal= */ false);
    wr_progress_live(&cli, "two", /* is_terminal= */ true);
    wr_progress_live(&cli, "", /* is_terminal= */ true);
    fclose(cli.err);
    assert_string_equal(out, "one\n\r\033[Ktwo\r\033[K");
    free(out);
}

/* --- signals --- */

/* In a child: the number of the step that failed, or 0. */
static int ignored_hangup(void)
{
    signal(SIGHUP, SIG_IGN); /* as nohup does */
    wr_interrupt_install();
    if (!wr_signal_is_ignored(SIGHUP) || wr_signal_is_ignored(SIGINT))
        return 1;
    raise(SIGHUP);
    if (wr_interrupted())
        return 2;
    raise(SIGPIPE);
    return wr_interrupted() ? 3 : 0;
}

static int taken_hangup(void)
{
    signal(SIGHUP, SIG_DFL);
    wr_interrupt_install();
    if (wr_signal_is_ignored(SIGHUP) || wr_signal_is_ignored(SIGPIPE))
        return 1;
    raise(SIGHUP);
    return wr_interrupted() && wr_interrupt_exit_code() == 129 ? 0 : 2;
}

/* Without a signal the exit code stays the command's; a signal that came first
 * is not forgotten. */
static int stopped(void)
{
    wr_interrupt_stop();
    if (!wr_interrupted() || wr_interrupt_exit_code() != 0)
        return 1;
    wr_interrupt_stop();
    return wr_interrupt_exit_code() == 0 ? 0 : 2;
}

static int signal_first(void)
{
    wr_interrupt_install();
    raise(SIGTERM);
    wr_interrupt_stop();
    return wr_interrupt_exit_code() == 143 ? 0 : 1;
}

static int signal_later(void)
{
    wr_interrupt_install();
    wr_interrupt_stop();
    raise(SIGINT);
    return wr_interrupt_exit_code() == 130 ? 0 : 1;
}

static void test_signals(void **state)
{
    static int (*const steps[])(void) = {ignored_hangup, taken_hangup, stopped,
                                         signal_first, signal_later};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(steps); k++) {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0)
            _exit(steps[k]());
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail_msg("number %zu: status %#x", k, (unsigned)status);
    }
}

/* --- the table of variables --- */

static const struct wr_variable *find_variable(const char *name, size_t len)
{
    const struct wr_variable *v = wr_environment;

    while (v->name && (strlen(v->name) != len || strncmp(v->name, name, len)))
        v++;
    return v->name ? v : NULL;
}

/* Each once, with a sentence; "See X." leads to one that has a text. */
static void test_environment(void **state)
{
    (void)state;
    for (const struct wr_variable *v = wr_environment; v->name; v++) {
        const struct wr_variable *other;
        size_t len = strlen(v->help);

        assert_ptr_equal(find_variable(v->name, strlen(v->name)), v);
        if (len < 5 || v->help[len - 1] != '.')
            fail_msg("%s: '%s'", v->name, v->help);
        if (strncmp(v->help, "See ", 4) != 0)
            continue;
        other = find_variable(v->help + 4, len - 5);
        if (!other || other == v || !strncmp(other->help, "See ", 4))
            fail_msg("%s: '%s'", v->name, v->help);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_width),       cmocka_unit_test(test_put),
        cmocka_unit_test(test_no_terminal), cmocka_unit_test(test_collected),
        cmocka_unit_test(test_line),        cmocka_unit_test(test_label),
        cmocka_unit_test(test_live),        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
