/* convert.c - a conversion that is killed, fails, or meets bad samples.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "../unit/convert/place.h"

#define TRIES 12 /* moments at which each kind is killed */

static const char *const kinds[] = {"tfrecord", "tar", "jpeg", "tensor", "npy"};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Something happens at the step of this number. */
struct trap {
    atomic_long steps;
    long at;  /* counted from 1; 0: never */
    int code; /* that it fails with; 0: the process is killed */
};

static int on_step(void *arg)
{
    struct trap *t = arg;
    long n = atomic_fetch_add(&t->steps, 1) + 1;

    if (n != t->at)
        return 0;
    if (!t->code)
        kill(getpid(), SIGKILL);
    return t->code;
}

struct job {
    struct scratch *s;
    weir_dataset *ds;
    struct wr_convert_config cfg;
    char target[512], part[64];
    uint64_t whole; /* hash of an uninterrupted run */
    struct trap trap;
};

static void remove_target(struct job *j)
{
    nftw(j->target, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* Converts once without trouble: what all later results must equal. */
static void start_job(struct job *j, struct scratch *s, const char *to)
{
    struct wr_convert_result res;

    j->s = s;
    j->ds = place_open(s, "", "in");
    place_config(s, j->ds, to, &j->cfg, j->target);
    snprintf(j->part, sizeof(j->part), ".%s.part", to);
    j->trap = (struct trap){0};
    j->cfg.step = on_step;
    j->cfg.step_arg = &j->trap;
    if (!strcmp(to, "jpeg"))
        j->cfg.max_side = 20;
    place_convert(&j->cfg, &res);
    assert_int_equal(res.samples, PLACE_SAMPLES);
    wr_convert_result_done(&res);
    j->whole = place_hash(s, to);
    assert_true(j->whole != 0);
    assert_false(scratch_has(s, j->part));
    remove_target(j);
}

static void end_job(struct job *j)
{
    remove_target(j);
    weir_dataset_close(&j->ds);
}

/* Goes on, and looks at the result. */
static void go_on(struct job *j)
{
    struct wr_convert_result res;

    j->trap = (struct trap){0};
    place_convert(&j->cfg, &res);
    wr_convert_result_done(&res);
    assert_true(place_hash(j->s, j->cfg.to) == j->whole);
    assert_false(scratch_has(j->s, j->part));
    remove_target(j);
}

/* Runs it in a process of its own that is killed at step `at`; true when it
 * came that far. */
static bool run_killed(struct job *j, long at)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        struct wr_convert_result res;

        j->trap = (struct trap){.at = at};
        _exit(wr_convert_run(&j->cfg, &res, NULL) < 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

static void killed_at_any_step(void **state)
{
    place_make(*state, "in");
    for (unsigned k = 0; k < KINDS; k++) {
        struct job j;
        long steps, stride;

        start_job(&j, *state, kinds[k]);
        steps = j.trap.steps;
        stride = steps / TRIES + 1;
        for (long at = 1 + (long)k % stride; at <= steps; at += stride) {
            bool killed = run_killed(&j, at);

            /* What is under the final name is whole, whenever it appears. */
            if (scratch_has(j.s, kinds[k]))
                assert_true(place_hash(j.s, kinds[k]) == j.whole);
            else
                assert_true(killed);
            remove_target(&j);
            go_on(&j);
        }
        end_job(&j);
    }
}

/* Killed again and again, each time a little later. */
static void killed_many_times(void **state)
{
    place_make(*state, "in");
    for (unsigned k = 0; k < KINDS; k++) {
        struct job j;
        unsigned times = 0;

        start_job(&j, *state, kinds[k]);
        for (long at = 3; run_killed(&j, at); at += 2)
            times++;
        assert_true(times > 2);
        assert_true(place_hash(j.s, kinds[k]) == j.whole);
        assert_false(scratch_has(j.s, j.part));
        end_job(&j);
    }
}

/* --- failures --- */

static int find_hidden(struct scratch *s, const char *part)
{
    DIR *dir = opendir(scratch_at(s, part));
    struct dirent *d;
    int n = 0;

    while (dir && (d = readdir(dir)))
        n += strlen(d->d_name) > 4 &&
             !strcmp(d->d_name + strlen(d->d_name) - 4, ".tmp");
    if (dir)
        closedir(dir);
    return n;
}

static void failed_at_any_step(void **state)
{
    place_make(*state, "in");
    for (unsigned k = 0; k < KINDS; k++) {
        struct job j;
        long steps, stride;

        start_job(&j, *state, kinds[k]);
        steps = j.trap.steps;
        stride = steps / TRIES + 1;
        for (long at = 1 + (long)k % stride; at <= steps; at += stride) {
            struct wr_convert_result res;
            weir_err err = {0};
            int r;

            j.trap = (struct trap){.at = at, .code = WEIR_ENOSPC};
            r = wr_convert_run(&j.cfg, &res, &err);
            wr_convert_result_done(&res);
            if (r < 0) {
                assert_int_equal(r, WEIR_ENOSPC);
                assert_true(err.msg[0] != '\0');
                assert_int_equal(find_hidden(j.s, j.part), 0);
            }
            remove_target(&j);
            go_on(&j);
        }
        end_job(&j);
    }
}

static int cancel_late(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    return total && done * 2 > total;
}

static void canceled(void **state)
{
    place_make(*state, "in");
    for (unsigned k = 0; k < KINDS; k++) {
        struct wr_convert_result res;
        struct job j;
        weir_err err = {0};
        int r;

        start_job(&j, *state, kinds[k]);
        j.cfg.progress = cancel_late;
        r = wr_convert_run(&j.cfg, &res, &err);
        assert_true(r == 0 || r == WEIR_ECANCELED);
        assert_int_equal(find_hidden(j.s, j.part), 0);
        if (r < 0) /* kept only where there is something to keep */
            assert_int_equal(scratch_has(j.s, j.part), res.kept > 0);
        wr_convert_result_done(&res);
        j.cfg.progress = NULL;
        remove_target(&j);
        go_on(&j);
        end_job(&j);
    }
}

/* --- bad samples --- */

static void spoil(struct scratch *s, uint32_t i, const char *text)
{
    char name[128];

    snprintf(name, sizeof(name), "in/%s", place_file(i));
    scratch_put(s, name, text);
}

/* Left out, named, counted; the same after a kill. */
static void bad_samples(void **state)
{
    struct scratch *s = *state;

    place_make(s, "in");
    spoil(s, 3, "");
    spoil(s, 11, "no picture at all");
    for (unsigned k = 0; k < KINDS; k++) {
        struct wr_convert_result res;
        struct wr_convert_config cfg;
        weir_dataset *ds = place_open(s, "", "in"), *out;
        struct trap trap = {0};
        char target[512];
        weir_err err = {0};
        uint64_t first = 0;

        place_config(s, ds, kinds[k], &cfg, target);
        cfg.step = on_step;
        cfg.step_arg = &trap;
        for (int round = 0; round < 2; round++) {
            if (round) { /* go on after a failure late in the work */
                struct wr_convert_result part;
                long steps = trap.steps;

                nftw(target, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
                trap = (struct trap){.at = steps * 3 / 4, .code = WEIR_EIO};
                assert_int_equal(wr_convert_run(&cfg, &part, NULL), WEIR_EIO);
                wr_convert_result_done(&part);
                trap = (struct trap){0};
            }
            place_convert(&cfg, &res);
            assert_int_equal(res.bad, 2);
            assert_int_equal(res.samples, PLACE_SAMPLES - 2);
            assert_non_null(strstr(res.bad_text[0], place_file(3)));
            assert_non_null(strstr(res.bad_text[1], place_file(11)));
            wr_convert_result_done(&res);
            if (!round)
                first = place_hash(s, kinds[k]);
        }
        assert_true(place_hash(s, kinds[k]) == first);
        out = place_open(s, "", kinds[k]);
        assert_int_equal(weir_dataset_count(out), PLACE_SAMPLES - 2);
        weir_dataset_close(&out);

        cfg.force = cfg.fail_on_bad = true;
        assert_int_equal(wr_convert_run(&cfg, &res, &err), WEIR_EFORMAT);
        assert_true(strstr(err.msg, place_file(3)) ||
                    strstr(err.msg, place_file(11)));
        wr_convert_result_done(&res);
        assert_true(place_hash(s, kinds[k]) == first); /* not touched */
        weir_dataset_close(&ds);
    }
}

/* Nothing is left: a failure, not an empty folder. */
static void all_bad(void **state)
{
    struct scratch *s = *state;
    struct wr_convert_result res;
    struct wr_convert_config cfg;
    weir_dataset *ds;
    char target[512];
    weir_err err = {0};

    place_make(s, "in");
    ds = place_open(s, "fault:eio:", "in");
    place_config(s, ds, "tfrecord", &cfg, target);
    assert_int_equal(wr_convert_run(&cfg, &res, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "Input/output error"));
    assert_int_equal(res.bad, PLACE_SAMPLES);
    assert_false(scratch_has(s, "tfrecord"));
    wr_convert_result_done(&res);
    weir_dataset_close(&ds);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(killed_at_any_step), TEST(killed_many_times),
        TEST(failed_at_any_step), TEST(canceled),
        TEST(bad_samples),        TEST(all_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
