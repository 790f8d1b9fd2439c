/* test_stage.c - the folder in the making.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../gen/scratch.h"
#include "convert/stage.h"

static int open_stage(struct scratch *s, struct wr_stage **ret,
                      const struct wr_stage_config *how, weir_err *err)
{
    static char target[512]; /* lives until the stage is closed */
    struct wr_stage_config cfg = *how;

    snprintf(target, sizeof(target), "%s/t", s->dir);
    cfg.target = target;
    return wr_stage_open(ret, &cfg, err);
}

static void appears_by_commit(void **state)
{
    struct scratch *s = *state;
    struct wr_stage *st = NULL;

    assert_int_equal(
        open_stage(s, &st, &(struct wr_stage_config){.job = "j\n"}, NULL), 0);
    assert_true(scratch_has(s, ".t.part/.weir-convert"));
    assert_int_equal(wr_stage_put(st, "a", "xyz", 3, NULL), 0);
    assert_int_equal(wr_stage_put(st, ".done-1", "1", 1, NULL), 0);
    assert_int_equal(wr_stage_size(st, "a"), 3);
    assert_int_equal(wr_stage_size(st, "b"), WEIR_ENOENT);
    assert_false(scratch_has(s, "t"));
    assert_int_equal(wr_stage_commit(st, NULL), 0);
    wr_stage_close(st, /* drop= */ true); /* committed: not dropped */
    assert_true(scratch_has(s, "t/a"));
    assert_false(scratch_has(s, "t/.done-1"));
    assert_false(scratch_has(s, ".t.part"));
}

static void goes_on_with_the_same_job_only(void **state)
{
    struct scratch *s = *state;
    struct wr_stage *st = NULL;
    weir_err err = {0};

    assert_int_equal(
        open_stage(s, &st, &(struct wr_stage_config){.job = "j\n"}, NULL), 0);
    assert_int_equal(wr_stage_put(st, "a", "xyz", 3, NULL), 0);
    wr_stage_close(st, /* drop= */ false);
    scratch_put(s, ".t.part/.tmp-00001", "half");

    assert_int_equal(
        open_stage(s, &st, &(struct wr_stage_config){.job = "k\n"}, &err),
        WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "--restart"));
    assert_true(scratch_has(s, ".t.part/.tmp-00001")); /* not touched */

    assert_int_equal(
        open_stage(s, &st, &(struct wr_stage_config){.job = "j\n"}, &err), 0);
    assert_true(scratch_has(s, ".t.part/a"));
    assert_false(scratch_has(s, ".t.part/.tmp-00001"));
    wr_stage_close(st, /* drop= */ false);

    assert_int_equal(
        open_stage(s, &st,
                   &(struct wr_stage_config){.job = "k\n", .restart = true},
                   &err),
        0);
    assert_false(scratch_has(s, ".t.part/a"));
    wr_stage_close(st, /* drop= */ true);
    assert_false(scratch_has(s, ".t.part"));
}

static void two_at_once(void **state)
{
    struct wr_stage *st = NULL, *other = NULL;
    weir_err err = {0};

    assert_int_equal(
        open_stage(*state, &st, &(struct wr_stage_config){.job = "j\n"}, NULL),
        0);
    assert_int_equal(open_stage(*state, &other,
                                &(struct wr_stage_config){.job = "j\n"}, &err),
                     WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "another run"));
    wr_stage_close(st, /* drop= */ true);
}

/* A finished folder of two files and a folder. */
static void make_target(struct scratch *s, const struct wr_stage_config *how)
{
    struct wr_stage *st = NULL;
    struct wr_object *o = NULL;

    assert_int_equal(open_stage(s, &st, how, NULL), 0);
    assert_int_equal(wr_stage_put(st, "a-00000-of-00001.tar", "x", 1, NULL), 0);
    assert_int_equal(wr_stage_mkdir(st, "c", NULL), 0);
    assert_int_equal(wr_stage_create(st, "c/p.jpg", &o, NULL), 0);
    assert_int_equal(wr_stage_sync(st, o, NULL), 0);
    assert_int_equal(wr_stage_commit(st, NULL), 0);
    wr_stage_close(st, /* drop= */ false);
}

static void only_its_own_is_replaced(void **state)
{
    struct scratch *s = *state;
    struct wr_stage_config force = {.job = "j\n", .force = true};
    struct wr_stage_config plain = {.job = "j\n"};
    struct wr_stage *st = NULL;
    weir_err err = {0};

    assert_int_equal(mkdir(scratch_at(s, "t"), 0777), 0);
    scratch_put(s, "t/mine", "precious");
    assert_int_equal(open_stage(s, &st, &plain, &err), WEIR_EEXIST);
    assert_int_equal(open_stage(s, &st, &force, &err), WEIR_EEXIST);
    assert_true(scratch_has(s, "t/mine"));
    assert_false(scratch_has(s, ".t.part"));
    unlink(scratch_at(s, "t/mine"));
    make_target(s, &plain);
    assert_int_equal(open_stage(s, &st, &plain, &err), WEIR_EEXIST);
    assert_int_equal(open_stage(s, &st, &force, &err), 0);
    assert_int_equal(wr_stage_put(st, "b-00000-of-00001.tar", "x", 1, NULL), 0);
    assert_true(scratch_has(s, "t/a-00000-of-00001.tar"));
    assert_int_equal(wr_stage_commit(st, NULL), 0);
    wr_stage_close(st, /* drop= */ false);
    assert_true(scratch_has(s, "t/b-00000-of-00001.tar"));
    assert_false(scratch_has(s, "t/a-00000-of-00001.tar"));
    assert_false(scratch_has(s, ".t.old"));
}

/* A folder of weir's with something else in it is not replaced, whenever that
 * came there. */
static void files_of_others_are_kept(void **state)
{
    static const char *const names[] = {
        "t/notes.txt",           "t/c/mine.jpg", "t/c-00000-of-00009.tar",
        "t/c/d-1-of-2.tfrecord", "t/.hidden",    "t/mine.jpg",
    };
    struct scratch *s = *state;
    struct wr_stage_config force = {.job = "j\n", .force = true};
    struct wr_stage *st = NULL;
    weir_err err = {0};

    make_target(s, &(struct wr_stage_config){.job = "j\n"});
    for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        scratch_put(s, names[k], "precious");
        assert_int_equal(open_stage(s, &st, &force, &err), WEIR_EEXIST);
        assert_non_null(strstr(err.msg, "remove it yourself"));
        assert_true(scratch_has(s, names[k]));
        assert_false(scratch_has(s, ".t.part"));
        unlink(scratch_at(s, names[k]));
    }
    assert_int_equal(open_stage(s, &st, &force, &err), 0);
    scratch_put(s, "t/c/late.jpg", "precious");
    assert_int_equal(wr_stage_commit(st, &err), WEIR_EEXIST);
    wr_stage_close(st, /* drop= */ true);
    assert_true(scratch_has(s, "t/c/late.jpg"));
    assert_false(scratch_has(s, ".t.old"));
}

/* A file that was changed is the user's by now. */
static void changed_files_are_kept(void **state)
{
    struct scratch *s = *state;
    struct wr_stage_config force = {.job = "j\n", .force = true};
    struct wr_stage *st = NULL;
    weir_err err = {0};

    make_target(s, &(struct wr_stage_config){.job = "j\n"});
    scratch_put(s, "t/c/p.jpg", "retouched");
    assert_int_equal(open_stage(s, &st, &force, &err), WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "3 files and folders"));
}

/* Of versions that did not note what they made. */
static void a_target_without_a_note(void **state)
{
    struct scratch *s = *state;
    struct wr_stage_config force = {.job = "j\n", .force = true};
    struct wr_stage *st = NULL;
    weir_err err = {0};

    make_target(s, &(struct wr_stage_config){.job = "j\n"});
    scratch_put(s, "t/.weir-convert", "j\n");
    assert_int_equal(open_stage(s, &st, &force, &err), WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "earlier version"));
}

/* Killed between the two renames, or while it removed what it replaced. */
static void what_a_killed_run_left(void **state)
{
    struct scratch *s = *state;
    struct wr_stage_config plain = {.job = "j\n"};
    struct wr_stage *st = NULL;
    weir_err err = {0};
    char from[PATH_MAX];

    make_target(s, &plain);
    snprintf(from, sizeof(from), "%s", scratch_at(s, "t"));
    assert_int_equal(rename(from, scratch_at(s, ".t.old")), 0);
    unlink(scratch_at(s, ".t.old/c/p.jpg"));
    scratch_put(s, ".t.old/mine", "precious");
    assert_int_equal(open_stage(s, &st, &plain, &err), 0);
    assert_int_equal(wr_stage_commit(st, &err), WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "'mine'"));
    wr_stage_close(st, /* drop= */ false);
    assert_true(scratch_has(s, ".t.old/mine"));
    unlink(scratch_at(s, ".t.old/mine"));
    assert_int_equal(open_stage(s, &st, &plain, &err), 0); /* noted already */
    assert_int_equal(wr_stage_commit(st, &err), 0);
    wr_stage_close(st, /* drop= */ false);
    assert_false(scratch_has(s, ".t.old"));
    assert_true(scratch_has(s, "t"));
}

static void others_folders_are_left_alone(void **state)
{
    struct scratch *s = *state;
    struct wr_stage_config cfg = {.job = "j\n", .force = true, .restart = true};
    struct wr_stage *st = NULL;
    weir_err err = {0};

    assert_int_equal(mkdir(scratch_at(s, ".t.part"), 0777), 0);
    scratch_put(s, ".t.part/mine", "precious");
    assert_int_equal(open_stage(s, &st, &cfg, &err), WEIR_EEXIST);
    assert_true(scratch_has(s, ".t.part/mine"));
    scratch_put(s, "t", "a file");
    assert_int_equal(open_stage(s, &st, &cfg, &err), WEIR_EEXIST);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(appears_by_commit),
        TEST(goes_on_with_the_same_job_only),
        TEST(two_at_once),
        TEST(only_its_own_is_replaced),
        TEST(files_of_others_are_kept),
        TEST(changed_files_are_kept),
        TEST(a_target_without_a_note),
        TEST(what_a_killed_run_left),
        TEST(others_folders_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
