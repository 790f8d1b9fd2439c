/* test_drain_beside.c - one process saves, one drains, one restores, all at the
 * same time: what was acknowledged can be restored at any moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "steps.h"

#define STEPS  200
#define FLOATS 20000

/* What the processes tell each other. */
struct board {
    atomic_uint_fast64_t acked; /* the newest step that was acknowledged */
    atomic_bool saved_all;
};

/* A process of its own must not return into the test: it ends here. */
static void give_up(const char *who, const weir_err *err)
{
    fprintf(stderr, "%s: %s\n", who, err->msg);
    _exit(1);
}

static void fill(float *data, uint64_t step)
{
    for (size_t i = 0; i < FLOATS; i++)
        data[i] = (float)(step * 1000 + i % 997);
}

static weir_tensor tensor_of(float *data)
{
    return (weir_tensor){.name = "w",
                         .dtype = WEIR_F32,
                         .ndim = 1,
                         .shape = {FLOATS},
                         .data = data};
}

static void save_all(const weir_ckpt_config *with, struct board *b)
{
    static float data[FLOATS];
    weir_tensor t = tensor_of(data);
    weir_ckpt_state st = {.tensors = &t, .count = 1};
    weir_ckpt_config cfg = *with;
    weir_ckpt *c = NULL;
    weir_err err;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that failed waits for none */
    cfg.role = WEIR_CKPT_SAVE;
    cfg.drain = 0;
    if (weir_ckpt_open(&c, &cfg, &err) < 0)
        give_up("save", &err);
    for (st.step = 1; st.step <= STEPS; st.step++) {
        fill(data, st.step);
        if (weir_ckpt_save(c, &st, WEIR_LEVEL_FAST, &err) != 0)
            give_up("save", &err);
        atomic_store(&b->acked, st.step);
    }
    if (weir_ckpt_close(&c, &err) < 0)
        give_up("save", &err);
    atomic_store(&b->saved_all, true);
    _exit(0);
}

static void drain_all(const weir_ckpt_config *with, struct board *b)
{
    weir_ckpt_config cfg = *with;
    weir_ckpt *c = NULL;
    weir_err err;
    bool last;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cfg.role = WEIR_CKPT_DRAIN;
    if (weir_ckpt_open(&c, &cfg, &err) < 0)
        give_up("drain", &err);
    do {
        last = atomic_load(&b->saved_all);
        if (weir_ckpt_drain(c, &err) < 0)
            give_up("drain", &err);
        sched_yield();
    } while (!last);
    if (weir_ckpt_close(&c, &err) < 0)
        give_up("drain", &err);
    _exit(0);
}

/* Restores once; returns the step. */
static uint64_t restore(weir_ckpt *c, struct board *b)
{
    static float data[FLOATS], expect[FLOATS];
    weir_tensor t = tensor_of(data);
    uint64_t acked = atomic_load(&b->acked), step;
    weir_ckpt_found *found = NULL;
    weir_err err;
    int r = weir_ckpt_restore(c, WEIR_LATEST, &t, 1, &found, &err);

    if (r < 0)
        fail_msg("%s", err.msg);
    assert_true(r == 1 || acked == 0);
    if (r == 0)
        return 0;
    if (found->passed_over_count > 0)
        fail_msg("passed over: %s", found->passed_over[0]);
    step = found->step;
    assert_true(step >= acked);
    weir_ckpt_found_free(&found);
    fill(expect, step);
    assert_memory_equal(data, expect, sizeof(data));
    return step;
}

static void check_beside(struct steps *s, uint32_t keep_fast)
{
    struct board *b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    weir_ckpt_config cfg;
    unsigned restores = 0, over = 0;
    pid_t saver, drainer;
    char fast[STEPS + 1], slow[STEPS + 1];
    weir_ckpt *c;
    int status;

    assert_true(b != MAP_FAILED);
    steps_config(s, WEIR_CKPT_READ, &cfg);
    cfg.keep_last = 3;
    cfg.keep_fast = keep_fast;
    saver = fork();
    if (saver == 0)
        save_all(&cfg, b);
    drainer = fork();
    if (drainer == 0)
        drain_all(&cfg, b);
    c = steps_open(&cfg);
    while (over < 2) {
        pid_t done = waitpid(-1, &status, WNOHANG);

        if (done > 0) {
            over++;
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        restores += restore(c, b) > 0;
    }
    assert_int_equal(restore(c, b), STEPS);
    assert_true(restores > 1);
    steps_shown(c, STEPS, fast, slow);
    for (unsigned i = 0; i < STEPS; i++) {
        assert_int_equal(fast[i], i >= STEPS - keep_fast ? 'c' : '-');
        assert_int_equal(slow[i], i >= STEPS - 3 ? 'v' : '-');
    }
    steps_close(c);
    munmap(b, sizeof(*b));
}

static void test_keep_none(void **state)
{
    check_beside(*state, 0);
}

static void test_keep_one(void **state)
{
    check_beside(*state, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_keep_none, steps_setup,
                                        steps_teardown),
        cmocka_unit_test_setup_teardown(test_keep_one, steps_setup,
                                        steps_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
