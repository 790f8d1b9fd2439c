/* test_set_target.c - a folder that grows over several runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "gen/set_job.h"
#include "gen/set_target.h"
#include "scratch.h"

static int open_at(struct scratch *s, const char *job, bool force,
                   struct wr_set_target **ret, weir_err *err)
{
    const struct wr_set_target_config cfg = {
        .url = scratch_at(s, "d"), .job = job, .force = force, .lead = true};

    *ret = NULL;
    return wr_set_target_open(ret, &cfg, err);
}

static void put(struct wr_set_target *t, const char *path, bool ok)
{
    struct wr_object *o;

    assert_int_equal(wr_set_target_begin(t, path, &o, NULL), 0);
    assert_int_equal(wr_object_write(o, "xyz", 3, 0, NULL), 0);
    assert_int_equal(wr_set_target_done(t, path, o, ok, NULL), 0);
}

static void test_continues(void **state)
{
    struct scratch *s = *state;
    struct wr_set_target *t;
    struct wr_object *o;
    uint64_t size;

    assert_int_equal(open_at(s, "job", false, &t, NULL), 0);
    assert_false(wr_set_target_continues(t));
    assert_int_equal(wr_set_target_mkdir(t, "train", NULL), 0);
    put(t, "train/a", true);
    put(t, "train/b", false);
    /* One that is being written when the process dies. */
    assert_int_equal(wr_set_target_begin(t, "train/c", &o, NULL), 0);
    assert_int_equal(wr_object_write(o, "x", 1, 0, NULL), 0);
    o->ops->close(o, false, NULL);
    wr_set_target_close(t);
    assert_false(scratch_has(s, "d"));
    assert_true(scratch_has(s, ".d.part/train/a"));
    assert_false(scratch_has(s, ".d.part/train/b"));
    assert_false(scratch_has(s, ".d.part/train/c"));

    assert_int_equal(open_at(s, "job", false, &t, NULL), 0);
    assert_true(wr_set_target_continues(t));
    assert_int_equal(wr_set_target_mkdir(t, "train", NULL), 0);
    assert_int_equal(wr_set_target_has(t, "train/a", &size, NULL), 0);
    assert_int_equal(size, 3);
    assert_int_equal(wr_set_target_has(t, "train/c", &size, NULL), 0);
    assert_int_equal(size, 0);
    put(t, "train/c", true); /* over what was left of it */
    assert_int_equal(wr_set_target_commit(t, NULL), 0);
    wr_set_target_close(t);
    assert_true(scratch_has(s, "d/train/c"));
    assert_true(scratch_has(s, "d/" WR_GEN_JOB_FILE));
    assert_int_equal(scratch_entries(s, "d/train"), 2);
    assert_int_equal(scratch_entries(s, ""), 1);
}

static void fails(struct scratch *s, const char *job, bool force, int code,
                  const char *why)
{
    struct wr_set_target *t;
    weir_err err = {0};

    assert_int_equal(open_at(s, job, force, &t, &err), code);
    assert_null(t);
    if (!strstr(err.msg, why))
        print_error("'%s' does not say '%s'\n", err.msg, why);
    assert_non_null(strstr(err.msg, why));
}

static void test_another_job(void **state)
{
    struct scratch *s = *state;
    struct wr_set_target *t;

    assert_int_equal(open_at(s, "job", false, &t, NULL), 0);
    fails(s, "job", false, WEIR_EBUSY, "another run");
    put(t, "a", true);
    wr_set_target_close(t);
    fails(s, "other", false, WEIR_EEXIST, "--force");
    assert_true(scratch_has(s, ".d.part/a"));
    assert_int_equal(open_at(s, "other", true, &t, NULL), 0);
    assert_false(wr_set_target_continues(t));
    assert_false(scratch_has(s, ".d.part/a"));
    wr_set_target_close(t);
}

static void test_in_the_way(void **state)
{
    struct scratch *s = *state;
    struct wr_set_target *t;

    mkdir(scratch_at(s, "d"), 0777);
    scratch_put(s, "d/thesis", "precious");
    fails(s, "job", false, WEIR_EEXIST, "not empty");
    fails(s, "job", true, WEIR_EEXIST, "remove it yourself");
    unlink(scratch_at(s, "d/thesis"));
    mkdir(scratch_at(s, ".d.part"), 0777);
    scratch_put(s, ".d.part/thesis", "precious");
    fails(s, "job", true, WEIR_EEXIST, "remove it yourself");
    unlink(scratch_at(s, ".d.part/thesis"));
    assert_int_equal(open_at(s, "job", false, &t, NULL), 0); /* empty is fine */
    assert_int_equal(wr_set_target_commit(t, NULL), 0);
    wr_set_target_close(t);

    fails(s, "job", false, WEIR_EEXIST, "--force");
    assert_int_equal(open_at(s, "new", true, &t, NULL), 0);
    put(t, "n", true);
    assert_int_equal(wr_set_target_commit(t, NULL), 0);
    wr_set_target_close(t);
    assert_true(scratch_has(s, "d/n"));
    assert_int_equal(scratch_entries(s, ""), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_continues, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_another_job, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_in_the_way, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests_name("set_target", tests, NULL, NULL);
}
