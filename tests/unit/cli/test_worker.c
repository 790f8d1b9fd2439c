/* test_worker.c - unit tests of worker.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/worker.h"

/* Whole messages in order, then the end and the exit code. */
static void test_messages(void **state)
{
    struct wr_child a;
    char text[WR_WORK_MESSAGE];
    int r = wr_cli_work_start(&a, NULL), n;

    (void)state;
    assert_true(r >= 0);
    if (r == 0) {
        wr_cli_work_tell(&a, "first", 5);
        wr_cli_work_tell(&a, "second", 6);
        _exit(7);
    }
    while ((n = wr_cli_work_wait(&a, text, sizeof(text), 1000)) == 0)
        ;
    assert_int_equal(n, 5);
    assert_memory_equal(text, "first", 5);
    while ((n = wr_cli_work_wait(&a, text, sizeof(text), 1000)) == 0)
        ;
    assert_int_equal(n, 6);
    while ((n = wr_cli_work_wait(&a, text, sizeof(text), 1000)) == 0)
        ;
    assert_int_equal(n, -1);
    assert_int_equal(wr_cli_work_end(&a, /* now= */ false), 7);
}

/* A child that would not end by itself, nor by Ctrl-C. */
static void test_ended(void **state)
{
    struct wr_child a;
    char byte;
    int r = wr_cli_work_start(&a, NULL);

    (void)state;
    assert_true(r >= 0);
    if (r == 0) {
        wr_cli_work_tell(&a, "x", 1);
        for (;;)
            pause();
    }
    while (wr_cli_work_wait(&a, &byte, 1, 1000) == 0)
        ;
    assert_int_equal(kill(a.pid, SIGINT), 0);
    assert_int_equal(kill(a.pid, SIGTERM), 0);
    assert_int_equal(wr_cli_work_wait(&a, &byte, 1, 0), 0); /* it is there */
    assert_int_equal(wr_cli_work_end(&a, /* now= */ true), -SIGKILL);
}

/* The child prints only after the parent was done with its line. */
static void test_terminal(void **state)
{
    struct wr_child a;
    char byte;
    int order[2], r;

    (void)state;
    assert_int_equal(pipe(order), 0);
    r = wr_cli_work_start(&a, NULL);
    assert_true(r >= 0);
    if (r == 0) {
        wr_cli_work_tell(&a, "x", 1);
        wr_cli_work_take_terminal(&a);
        wr_cli_work_take_terminal(&a); /* does not wait twice */
        _exit(write(order[1], "c", 1) == 1 ? 0 : 1);
    }
    while (wr_cli_work_wait(&a, &byte, 1, 1000) >= 0)
        ;
    assert_int_equal(byte, 'x');
    assert_int_equal(write(order[1], "p", 1), 1);
    wr_cli_work_give_terminal(&a);
    assert_int_equal(wr_cli_work_end(&a, /* now= */ false), 0);
    assert_int_equal(read(order[0], &byte, 1), 1);
    assert_int_equal(byte, 'p');
    close(order[0]);
    close(order[1]);
}

/* What a whole run of it tells, and shows. */
struct sum {
    struct wr_child child;
    int told, shown, until;
};

static int tell_numbers(void *arg)
{
    struct sum *s = arg;

    for (int k = 1; k <= 3; k++)
        wr_cli_work_tell(&s->child, &k, sizeof(k));
    return 40 + s->told; /* the child has a copy from before */
}

static bool add_number(void *arg, struct wr_progress *line, const void *news)
{
    struct sum *s = arg;

    assert_non_null(line);
    s->shown++;
    if (news) {
        s->told += *(const int *)news;
        wr_progress_set(line, (uint64_t)s->told);
    }
    return s->told < s->until;
}

static int run_sum(struct sum *s)
{
    FILE *null = fopen("/dev/null", "w");
    const struct wr_cli cli = {.out = null, .err = null};
    const struct wr_work work = {.line = {.label = "adding"},
                                 .news = sizeof(int),
                                 .work = tell_numbers,
                                 .show = add_number};
    int code, r = wr_cli_work_run(&s->child, &cli, &work, s, &code, NULL);

    if (r == WR_WORK_CHILD)
        _exit(code);
    assert_int_equal(r, WR_WORK_ENDED);
    fclose(null);
    return code;
}

static void test_run(void **state)
{
    struct sum all = {.until = 100}, first = {.until = 1};

    (void)state;
    assert_int_equal(run_sum(&all), 40);
    assert_int_equal(all.told, 6);
    assert_true(all.shown >= 4);           /* once before anything was told */
    assert_int_equal(run_sum(&first), 40); /* it ends by itself all the same */
    assert_int_equal(first.told, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_ended),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
