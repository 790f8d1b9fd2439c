/* test_signals.c - a storm of signals fails nothing.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Profilers and timers of a program interrupt every system call that can be
 * interrupted, of the threads that do not block the signal: the caller's. */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/mem.h"

#define STORM_NS (300 * WR_NS_PER_MS) /* per interval */
#define BIG      ((size_t)8 << 20)

static void ignore(int sig)
{
    (void)sig;
}

static void storm(unsigned us)
{
    struct itimerval t = {.it_interval = {.tv_usec = us},
                          .it_value = {.tv_usec = us}};
    struct sigaction a = {.sa_handler = ignore}; /* without SA_RESTART */

    assert_int_equal(sigaction(SIGALRM, &a, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &t, NULL), 0);
}

static void check(int r, int want, const weir_err *err, const char *what)
{
    if (r != want)
        fail_msg("%s: %d, %s", what, r, r < 0 ? err->msg : "");
}

/* All that a program does with a store, once. */
static void do_all(struct saves *s, const weir_ckpt_config *cfg,
                   const weir_tensor *big, uint64_t step)
{
    weir_ckpt_state state = {.step = step, .tensors = big, .count = 1};
    weir_ckpt_prune_plan plan = {.keep_last = 2};
    weir_ckpt_entry *list;
    weir_ckpt *c = NULL;
    char to[SAVES_PATH];
    size_t count;
    weir_err err;

    check(weir_ckpt_open(&c, cfg, &err), 0, &err, "open");
    check(weir_ckpt_save(c, &state, WEIR_LEVEL_FAST, &err), 0, &err, "save");
    check(weir_ckpt_wait(c, step, WEIR_LEVEL_VERIFIED, -1, &err), 0, &err,
          "wait");
    check(weir_ckpt_drain(c, &err), 0, &err, "drain");
    for (int i = 0; i < 4; i++)
        check(weir_ckpt_restore(c, WEIR_LATEST, big, 1, NULL, &err), 1, &err,
              "restore");
    check(weir_ckpt_look(c, step, NULL, &err), 1, &err, "look");
    check(weir_ckpt_list(c, &list, &count, &err), 0, &err, "list");
    free(list);
    check(weir_ckpt_verify(c, WEIR_LATEST, NULL, NULL, &err), 0, &err,
          "verify");
    check(weir_ckpt_pin(c, step, 1, &err), 0, &err, "pin");
    check(weir_ckpt_pin(c, step, 0, &err), 0, &err, "unpin");
    snprintf(to, sizeof(to), "%s/to-%u", s->root, (unsigned)step);
    check(weir_ckpt_export(c, step, to, NULL, &err), 1, &err, "export");
    check(weir_ckpt_prune(c, &plan, &err), 0, &err, "prune");
    check(weir_ckpt_close(&c, &err), 0, &err, "close");
}

struct turn {
    struct saves *s;
    const weir_ckpt_config *cfg;
    const weir_tensor *big;
    uint64_t step;
};

static void *run_turn(void *arg)
{
    const struct turn *t = arg;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    do_all(t->s, t->cfg, t->big, t->step);
    return NULL;
}

/* In a thread of its own, which the kernel has not helped before: what it hands
 * requests to is started anew, under signals. */
static void take_turn(struct saves *s, const weir_ckpt_config *cfg,
                      const weir_tensor *big, uint64_t step)
{
    struct turn t = {s, cfg, big, step};
    pthread_t thread;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    assert_int_equal(pthread_create(&thread, NULL, run_turn, &t), 0);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void a_storm_fails_nothing(void **state)
{
    static const unsigned intervals[] = {50, 100, 300};
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});
    weir_tensor big = {.name = "big",
                       .dtype = WEIR_U8,
                       .ndim = 1,
                       .shape = {BIG},
                       .data = aligned_alloc(4096, BIG)};
    uint64_t step = 1;

    assert_non_null(big.data);
    memset(big.data, 7, BIG);
    for (size_t i = 0; i < WR_ARRAY_LEN(intervals); i++) {
        uint64_t until_ns = wr_clock_ns() + STORM_NS;

        storm(intervals[i]);
        do
            take_turn(s, &cfg, &big, step++);
        while (wr_clock_ns() < until_ns);
        storm(0);
    }
    free(big.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_storm_fails_nothing, saves_setup,
                                        saves_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
