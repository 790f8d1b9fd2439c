/* test_target.c - a folder appears whole or not at all.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "scratch.h"
#include "gen/target.h"

static void open_ok(struct scratch *s, const char *name, bool force,
                    struct wr_gen_target **ret)
{
    weir_err err = {0};
    int r = wr_gen_target_open(ret, scratch_at(s, name), force, &err);

    if (r < 0)
        print_error("%s\n", err.msg);
    assert_int_equal(r, 0);
}

static void open_fails(struct scratch *s, const char *name, bool force,
                       int code, const char *why)
{
    struct wr_gen_target *t = NULL;
    weir_err err = {0};

    assert_int_equal(wr_gen_target_open(&t, scratch_at(s, name), force, &err),
                     code);
    assert_null(t);
    if (!strstr(err.msg, why))
        print_error("'%s' does not say '%s'\n", err.msg, why);
    assert_non_null(strstr(err.msg, why));
}

static void test_commit(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_target *t;
    char path[PATH_MAX];

    open_ok(s, "d", false, &t);
    assert_int_equal(wr_gen_target_mkdir(t, "class_0000", NULL), 0);
    assert_int_equal(wr_gen_target_write(t, "class_0000/a.jpg", "xyz", 3, NULL),
                     0);
    assert_false(scratch_has(s, "d"));
    assert_int_equal(wr_gen_target_commit(t, NULL), 0);
    assert_true(wr_gen_target_local_path(t, path, sizeof(path)));
    assert_int_equal(path[0], '/');
    wr_gen_target_close(t);
    assert_true(scratch_has(s, "d/class_0000/a.jpg"));
    assert_int_equal(scratch_entries(s, ""), 1);
}

static void test_discard(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_target *t;

    open_ok(s, "d/", false, &t);
    assert_int_equal(wr_gen_target_mkdir(t, "class_0000", NULL), 0);
    assert_int_equal(wr_gen_target_write(t, "class_0000/a.jpg", "xyz", 3, NULL),
                     0);
    assert_int_equal(wr_gen_target_write(t, "part-0.wt", "xyz", 3, NULL), 0);
    assert_int_equal(scratch_entries(s, ""), 1);
    wr_gen_target_close(t);
    assert_int_equal(scratch_entries(s, ""), 0);
}

static void test_empty_target(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_target *t;

    mkdir(scratch_at(s, "d"), 0777);
    open_ok(s, "d", false, &t);
    assert_int_equal(wr_gen_target_write(t, "a.wt", "x", 1, NULL), 0);
    assert_int_equal(wr_gen_target_commit(t, NULL), 0);
    wr_gen_target_close(t);
    assert_true(scratch_has(s, "d/a.wt"));
}

static void test_refused(void **state)
{
    struct scratch *s = *state;

    mkdir(scratch_at(s, "d"), 0777);
    scratch_put(s, "d/part-00000.wt", "old");
    open_fails(s, "d", false, WEIR_EEXIST, "not empty");
    scratch_put(s, "f", "a file");
    open_fails(s, "f", true, WEIR_EEXIST, "no folder");
    open_fails(s, "f/d", false, WEIR_ENOENT, "no folder");
    open_fails(s, "none/d", false, WEIR_ENOENT, "none");
    mkdir(scratch_at(s, "empty"), 0777);
    assert_int_equal(symlink("empty", scratch_at(s, "link")), 0);
    open_fails(s, "link", true, WEIR_EINVAL, "link");
    open_fails(s, "empty/..", true, WEIR_EINVAL, "names no entry");
    assert_int_equal(scratch_entries(s, ""), 4);
}

static void test_force(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_target *t;

    mkdir(scratch_at(s, "d"), 0777);
    mkdir(scratch_at(s, "d/class_0001"), 0777);
    scratch_put(s, "d/class_0001/0001_000000.jpg", "old");
    open_ok(s, "d", true, &t);
    assert_int_equal(wr_gen_target_write(t, "part-00000.wt", "new", 3, NULL),
                     0);
    assert_true(scratch_has(s, "d/class_0001/0001_000000.jpg"));
    assert_int_equal(wr_gen_target_commit(t, NULL), 0);
    wr_gen_target_close(t);
    assert_false(scratch_has(s, "d/class_0001"));
    assert_true(scratch_has(s, "d/part-00000.wt"));
    assert_int_equal(scratch_entries(s, ""), 1);
}

/* What nobody generated is never removed. */
static void test_foreign(void **state)
{
    struct scratch *s = *state;

    mkdir(scratch_at(s, "d"), 0777);
    mkdir(scratch_at(s, "d/class_0001"), 0777);
    scratch_put(s, "d/class_0001/thesis.tex", "precious");
    open_fails(s, "d", true, WEIR_EEXIST, "thesis.tex");
    mkdir(scratch_at(s, "e"), 0777);
    mkdir(scratch_at(s, "e/mail"), 0777);
    open_fails(s, "e", true, WEIR_EEXIST, "mail");
    mkdir(scratch_at(s, "f"), 0777);
    mkdir(scratch_at(s, "f/class_0001"), 0777);
    scratch_put(s, "f/class_0001/holiday.jpg", "precious");
    open_fails(s, "f", true, WEIR_EEXIST, "holiday.jpg");
    assert_true(scratch_has(s, "d/class_0001/thesis.tex"));
    assert_true(scratch_has(s, "f/class_0001/holiday.jpg"));
    assert_int_equal(scratch_entries(s, ""), 3);
}

/* Nor where a killed run would have left its own. */
static void test_foreign_leftovers(void **state)
{
    struct scratch *s = *state;

    mkdir(scratch_at(s, ".d.part"), 0777);
    scratch_put(s, ".d.part/thesis.tex", "precious");
    open_fails(s, "d", true, WEIR_EEXIST, "thesis.tex");
    scratch_put(s, ".e.part", "precious");
    open_fails(s, "e", true, WEIR_EEXIST, "no folder");
    mkdir(scratch_at(s, "f"), 0777);
    scratch_put(s, "f/part-00000.wt", "old");
    mkdir(scratch_at(s, ".f.old"), 0777);
    scratch_put(s, ".f.old/notes.txt", "precious");
    open_fails(s, "f", true, WEIR_EEXIST, "notes.txt");
    assert_true(scratch_has(s, ".d.part/thesis.tex"));
    assert_true(scratch_has(s, ".e.part"));
    assert_true(scratch_has(s, ".f.old/notes.txt"));
    assert_int_equal(scratch_entries(s, ""), 4);
}

/* What was put there while the data were made stays too. */
static void test_foreign_at_commit(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_target *t;
    weir_err err;

    mkdir(scratch_at(s, "d"), 0777);
    scratch_put(s, "d/part-00000.wt", "old");
    open_ok(s, "d", true, &t);
    mkdir(scratch_at(s, ".d.old"), 0777);
    scratch_put(s, ".d.old/notes.txt", "precious");
    assert_int_equal(wr_gen_target_commit(t, &err), WEIR_EEXIST);
    wr_gen_target_close(t);
    assert_true(scratch_has(s, ".d.old/notes.txt"));
    assert_true(scratch_has(s, "d/part-00000.wt"));
    assert_int_equal(scratch_entries(s, ""), 2);
}

/* A link in what would be removed is not followed: no generator made it. */
static void test_link_inside(void **state)
{
    struct scratch *s = *state;

    mkdir(scratch_at(s, "other"), 0777);
    scratch_put(s, "other/0001_000000.jpg", "precious");
    mkdir(scratch_at(s, "d"), 0777);
    assert_int_equal(symlink("../other", scratch_at(s, "d/class_0001")), 0);
    open_fails(s, "d", true, WEIR_EEXIST, "class_0001");
    assert_true(scratch_has(s, "other/0001_000000.jpg"));
    assert_int_equal(scratch_entries(s, "d"), 1);
}

static void test_leftover(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_target *t;

    mkdir(scratch_at(s, ".d.part"), 0777);
    scratch_put(s, ".d.part/part-00000.wt", "half");
    open_fails(s, "d", false, WEIR_EEXIST, "killed");
    assert_true(scratch_has(s, ".d.part/part-00000.wt"));
    open_ok(s, "d", true, &t);
    assert_int_equal(wr_gen_target_commit(t, NULL), 0);
    wr_gen_target_close(t);
    assert_int_equal(scratch_entries(s, "d"), 0);
    assert_int_equal(scratch_entries(s, ""), 1);
}

#define WITH_SCRATCH(f)                                                        \
    cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCRATCH(test_commit),
        WITH_SCRATCH(test_discard),
        WITH_SCRATCH(test_empty_target),
        WITH_SCRATCH(test_refused),
        WITH_SCRATCH(test_force),
        WITH_SCRATCH(test_foreign),
        WITH_SCRATCH(test_link_inside),
        WITH_SCRATCH(test_leftover),
        WITH_SCRATCH(test_foreign_leftovers),
        WITH_SCRATCH(test_foreign_at_commit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
