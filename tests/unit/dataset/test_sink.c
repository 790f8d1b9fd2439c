/* test_sink.c - a data set in the making.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../gen/scratch.h"
#include "dataset/sink.h"

static const char *const names[] = {"*.jpg", "*-of-*.tar", "a", NULL};

static const struct wr_sink_maker maker = {.command = "weir test",
                                           .job_file = ".weir-test",
                                           .comment = "",
                                           .replaces = "it",
                                           .other = "another; --restart drops",
                                           .files = names,
                                           .synced = true};

/* Any name, a job in YAML, and no sync. */
static const struct wr_sink_maker loose = {.command = "weir test",
                                           .job_file = ".weir-test.yaml",
                                           .comment = "# ",
                                           .replaces = "it",
                                           .other = "another; --force drops"};

static int open_sink(struct scratch *s, struct wr_sink **ret,
                     const struct wr_sink_config *how, weir_err *err)
{
    static char target[512]; /* lives until the sink is closed */
    struct wr_sink_config cfg = *how;

    snprintf(target, sizeof(target), "%s/t", s->dir);
    cfg.url = target;
    cfg.maker = cfg.maker ? cfg.maker : &maker;
    *ret = NULL;
    return wr_sink_open(ret, &cfg, err);
}

static void appears_by_commit(void **state)
{
    struct scratch *s = *state;
    struct wr_sink *st = NULL;

    assert_int_equal(
        open_sink(s, &st, &(struct wr_sink_config){.job = "j\n"}, NULL), 0);
    assert_true(scratch_has(s, ".t.part/.weir-test"));
    assert_int_equal(wr_sink_put(st, "a", "xyz", 3, NULL), 0);
    assert_int_equal(wr_sink_put(st, ".done-1", "1", 1, NULL), 0);
    assert_int_equal(wr_sink_size(st, "a", NULL), 3);
    assert_int_equal(wr_sink_size(st, "b", NULL), WEIR_ENOENT);
    assert_false(scratch_has(s, "t"));
    assert_int_equal(wr_sink_commit(st, NULL), 0);
    wr_sink_close(st, /* drop= */ true); /* committed: not dropped */
    assert_true(scratch_has(s, "t/a"));
    assert_false(scratch_has(s, "t/.done-1"));
    assert_false(scratch_has(s, ".t.part"));
}

static void goes_on_with_the_same_job_only(void **state)
{
    struct scratch *s = *state;
    struct wr_sink *st = NULL;
    weir_err err = {0};

    assert_int_equal(
        open_sink(s, &st, &(struct wr_sink_config){.job = "j\n"}, NULL), 0);
    assert_int_equal(wr_sink_put(st, "a", "xyz", 3, NULL), 0);
    wr_sink_close(st, /* drop= */ false);
    scratch_put(s, ".t.part/.tmp-00001", "half"); /* as it was named once */
    scratch_put(s, ".t.part/.b.tmp", "half");

    assert_int_equal(
        open_sink(s, &st, &(struct wr_sink_config){.job = "k\n"}, &err),
        WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "--restart"));
    assert_true(scratch_has(s, ".t.part/.tmp-00001")); /* not touched */

    assert_int_equal(
        open_sink(s, &st, &(struct wr_sink_config){.job = "j\n"}, &err), 0);
    assert_true(scratch_has(s, ".t.part/a"));
    assert_false(scratch_has(s, ".t.part/.tmp-00001"));
    assert_false(scratch_has(s, ".t.part/.b.tmp"));
    assert_true(wr_sink_resumes(st));
    wr_sink_close(st, /* drop= */ false);

    assert_int_equal(
        open_sink(s, &st,
                  &(struct wr_sink_config){.job = "k\n", .restart = true},
                  &err),
        0);
    assert_false(scratch_has(s, ".t.part/a"));
    wr_sink_close(st, /* drop= */ true);
    assert_false(scratch_has(s, ".t.part"));
}

static void two_at_once(void **state)
{
    struct wr_sink *st = NULL, *other = NULL;
    weir_err err = {0};

    assert_int_equal(
        open_sink(*state, &st, &(struct wr_sink_config){.job = "j\n"}, NULL),
        0);
    assert_int_equal(
        open_sink(*state, &other, &(struct wr_sink_config){.job = "j\n"}, &err),
        WEIR_EBUSY);
    assert_non_null(strstr(err.msg, "another run"));
    wr_sink_close(st, /* drop= */ true);
}

/* A finished folder of two files and a folder. */
static void make_target(struct scratch *s, const struct wr_sink_config *how)
{
    struct wr_sink *st = NULL;

    assert_int_equal(open_sink(s, &st, how, NULL), 0);
    assert_int_equal(wr_sink_put(st, "a-00000-of-00001.tar", "x", 1, NULL), 0);
    assert_int_equal(wr_sink_mkdir(st, "c", NULL), 0);
    assert_int_equal(wr_sink_put(st, "c/p.jpg", "", 0, NULL), 0);
    assert_int_equal(wr_sink_commit(st, NULL), 0);
    wr_sink_close(st, /* drop= */ false);
}

static void only_its_own_is_replaced(void **state)
{
    struct scratch *s = *state;
    struct wr_sink_config force = {.job = "j\n", .force = true};
    struct wr_sink_config plain = {.job = "j\n"};
    struct wr_sink *st = NULL;
    weir_err err = {0};

    assert_int_equal(mkdir(scratch_at(s, "t"), 0777), 0);
    scratch_put(s, "t/mine", "precious");
    assert_int_equal(open_sink(s, &st, &plain, &err), WEIR_EEXIST);
    assert_int_equal(open_sink(s, &st, &force, &err), WEIR_EEXIST);
    assert_true(scratch_has(s, "t/mine"));
    assert_false(scratch_has(s, ".t.part"));
    unlink(scratch_at(s, "t/mine"));
    make_target(s, &plain);
    assert_int_equal(open_sink(s, &st, &plain, &err), WEIR_EEXIST);
    assert_int_equal(open_sink(s, &st, &force, &err), 0);
    assert_int_equal(wr_sink_put(st, "b-00000-of-00001.tar", "x", 1, NULL), 0);
    assert_true(scratch_has(s, "t/a-00000-of-00001.tar"));
    assert_int_equal(wr_sink_commit(st, NULL), 0);
    wr_sink_close(st, /* drop= */ false);
    assert_true(scratch_has(s, "t/b-00000-of-00001.tar"));
    assert_false(scratch_has(s, "t/a-00000-of-00001.tar"));
    assert_false(scratch_has(s, ".t.old"));
}

/* A folder of weir's with something else in it is not replaced, whenever that
 * came there. */
static void files_of_others_are_kept(void **state)
{
    static const char *const mine[] = {
        "t/notes.txt",      "t/c/mine.jpg", "t/c-00000-of-00009.tar",
        "t/c/d-1-of-2.tar", "t/.hidden",    "t/mine.jpg",
    };
    struct scratch *s = *state;
    struct wr_sink_config force = {.job = "j\n", .force = true};
    struct wr_sink *st = NULL;
    weir_err err = {0};

    make_target(s, &(struct wr_sink_config){.job = "j\n"});
    for (unsigned k = 0; k < sizeof(mine) / sizeof(mine[0]); k++) {
        scratch_put(s, mine[k], "precious");
        assert_int_equal(open_sink(s, &st, &force, &err), WEIR_EEXIST);
        assert_non_null(strstr(err.msg, "remove it yourself"));
        assert_true(scratch_has(s, mine[k]));
        assert_false(scratch_has(s, ".t.part"));
        unlink(scratch_at(s, mine[k]));
    }
    assert_int_equal(open_sink(s, &st, &force, &err), 0);
    scratch_put(s, "t/c/late.jpg", "precious");
    assert_int_equal(wr_sink_commit(st, &err), WEIR_EEXIST);
    wr_sink_close(st, /* drop= */ true);
    assert_true(scratch_has(s, "t/c/late.jpg"));
    assert_false(scratch_has(s, ".t.old"));
}

/* Nor is a link in it followed, when it is looked at or removed. */
static void links_are_not_followed(void **state)
{
    struct scratch *s = *state;
    struct wr_sink_config force = {.job = "j\n", .force = true};
    struct wr_sink *st = NULL;
    weir_err err = {0};

    make_target(s, &(struct wr_sink_config){.job = "j\n"});
    mkdir(scratch_at(s, "other"), 0777);
    scratch_put(s, "other/p.jpg", "");
    unlink(scratch_at(s, "t/c/p.jpg"));
    rmdir(scratch_at(s, "t/c"));
    assert_int_equal(symlink("../other", scratch_at(s, "t/c")), 0);
    assert_int_equal(open_sink(s, &st, &force, &err), WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "'c', which"));
    assert_true(scratch_has(s, "other/p.jpg"));
    assert_false(scratch_has(s, ".t.part"));
}

/* A file that was changed is the user's by now. */
static void changed_files_are_kept(void **state)
{
    struct scratch *s = *state;
    struct wr_sink_config force = {.job = "j\n", .force = true};
    struct wr_sink *st = NULL;
    weir_err err = {0};

    make_target(s, &(struct wr_sink_config){.job = "j\n"});
    scratch_put(s, "t/c/p.jpg", "retouched");
    assert_int_equal(open_sink(s, &st, &force, &err), WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "3 files and folders"));
}

/* Of versions that did not note what they made. */
static void a_target_without_a_note(void **state)
{
    struct scratch *s = *state;
    struct wr_sink_config force = {.job = "j\n", .force = true};
    struct wr_sink *st = NULL;
    weir_err err = {0};

    make_target(s, &(struct wr_sink_config){.job = "j\n"});
    scratch_put(s, "t/.weir-test", "j\n");
    assert_int_equal(open_sink(s, &st, &force, &err), WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "earlier version"));
}

/* Killed between the two renames, or while it removed what it replaced. */
static void what_a_killed_run_left(void **state)
{
    struct scratch *s = *state;
    struct wr_sink_config plain = {.job = "j\n"};
    struct wr_sink *st = NULL;
    weir_err err = {0};
    char from[PATH_MAX];

    make_target(s, &plain);
    snprintf(from, sizeof(from), "%s", scratch_at(s, "t"));
    assert_int_equal(rename(from, scratch_at(s, ".t.old")), 0);
    unlink(scratch_at(s, ".t.old/c/p.jpg"));
    scratch_put(s, ".t.old/mine", "precious");
    assert_int_equal(open_sink(s, &st, &plain, &err), 0);
    assert_int_equal(wr_sink_commit(st, &err), WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "'mine'"));
    wr_sink_close(st, /* drop= */ false);
    assert_true(scratch_has(s, ".t.old/mine"));
    unlink(scratch_at(s, ".t.old/mine"));
    assert_int_equal(open_sink(s, &st, &plain, &err), 0); /* noted already */
    assert_int_equal(wr_sink_commit(st, &err), 0);
    wr_sink_close(st, /* drop= */ false);
    assert_false(scratch_has(s, ".t.old"));
    assert_true(scratch_has(s, "t"));
}

static void others_folders_are_left_alone(void **state)
{
    struct scratch *s = *state;
    struct wr_sink_config cfg = {.job = "j\n", .force = true, .restart = true};
    struct wr_sink *st = NULL;
    weir_err err = {0};

    assert_int_equal(mkdir(scratch_at(s, ".t.part"), 0777), 0);
    scratch_put(s, ".t.part/mine", "precious");
    assert_int_equal(open_sink(s, &st, &cfg, &err), WEIR_EEXIST);
    assert_true(scratch_has(s, ".t.part/mine"));
    scratch_put(s, "t", "a file");
    assert_int_equal(open_sink(s, &st, &cfg, &err), WEIR_EEXIST);
}

/* Files in folders; one that is being written when the process dies. */
static void files_are_whole(void **state)
{
    struct scratch *s = *state;
    struct wr_sink_config job = {.job = "j\n", .maker = &loose};
    struct wr_sink *st = NULL;
    struct wr_object *o;

    assert_int_equal(open_sink(s, &st, &job, NULL), 0);
    assert_false(wr_sink_resumes(st));
    assert_int_equal(wr_sink_mkdir(st, "train", NULL), 0);
    assert_int_equal(wr_sink_mkdir(st, "train", NULL), 0);
    assert_int_equal(wr_sink_put(st, "train/a", "xyz", 3, NULL), 0);
    assert_int_equal(wr_sink_begin(st, "train/b", &o, NULL), 0);
    assert_int_equal(wr_sink_write(st, o, "xyz", 3, 0, NULL), 0);
    assert_int_equal(wr_sink_end(st, "train/b", o, /* ok= */ false, NULL), 0);
    assert_int_equal(wr_sink_begin(st, "train/c", &o, NULL), 0);
    assert_int_equal(wr_sink_write(st, o, "x", 1, 0, NULL), 0);
    o->ops->close(o, /* sync= */ false, NULL);
    wr_sink_close(st, /* drop= */ false);
    assert_int_equal(scratch_entries(s, ".t.part/train"), 2);

    assert_int_equal(open_sink(s, &st, &job, NULL), 0);
    assert_true(wr_sink_resumes(st));
    assert_int_equal(wr_sink_size(st, "train/a", NULL), 3);
    assert_int_equal(wr_sink_size(st, "train/c", NULL), WEIR_ENOENT);
    assert_int_equal(wr_sink_put(st, "train/c", "xyz", 3, NULL), 0);
    assert_int_equal(wr_sink_commit(st, NULL), 0);
    wr_sink_close(st, /* drop= */ false);
    assert_int_equal(scratch_entries(s, "t/train"), 2);
    assert_int_equal(scratch_entries(s, "t"), 2); /* and the job file */
    assert_int_equal(scratch_entries(s, ""), 1);

    scratch_put(s, "t/train/d", "precious");
    job.force = true;
    assert_int_equal(open_sink(s, &st, &job, NULL), WEIR_EEXIST);
    unlink(scratch_at(s, "t/train/d"));
    assert_int_equal(open_sink(s, &st, &job, NULL), 0);
    wr_sink_close(st, /* drop= */ true);
}

/* Ranks that come later see what the first one has made. */
static void another_process_follows(void **state)
{
    struct scratch *s = *state;
    struct wr_sink_config job = {.job = "j\n", .maker = &loose};
    struct wr_sink *st = NULL, *rank = NULL;

    assert_int_equal(open_sink(s, &st, &job, NULL), 0);
    job.follows = true;
    assert_int_equal(open_sink(s, &rank, &job, NULL), 0);
    assert_int_equal(wr_sink_put(rank, "b", "xyz", 3, NULL), 0);
    wr_sink_close(rank, /* drop= */ false);
    assert_int_equal(wr_sink_commit(st, NULL), 0);
    wr_sink_close(st, /* drop= */ false);
    assert_true(scratch_has(s, "t/b"));
}

/* Things that no folder can be renamed over. */
static void refused_targets(void **state)
{
    struct scratch *s = *state;
    struct wr_sink_config force = {.job = "j\n", .force = true};
    struct wr_sink *st = NULL;
    weir_err err = {0};

    mkdir(scratch_at(s, "e"), 0777);
    assert_int_equal(symlink("e", scratch_at(s, "t")), 0);
    assert_int_equal(open_sink(s, &st, &force, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "link"));
    unlink(scratch_at(s, "t"));
    scratch_put(s, ".t.part", "precious");
    assert_true(open_sink(s, &st, &force, &err) < 0);
    unlink(scratch_at(s, ".t.part"));
    mkdir(scratch_at(s, "t"), 0777); /* an empty one is replaced */
    assert_int_equal(open_sink(s, &st, &force, &err), 0);
    mkdir(scratch_at(s, ".t.old"), 0777);
    scratch_put(s, ".t.old/notes", "precious");
    scratch_put(s, "t/late", "precious"); /* one that appears meanwhile */
    assert_int_equal(wr_sink_commit(st, &err), WEIR_EEXIST);
    wr_sink_close(st, /* drop= */ true);
    assert_true(scratch_has(s, "t/late"));
    assert_true(scratch_has(s, ".t.old/notes"));
    assert_int_equal(scratch_entries(s, ""), 3);
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
        TEST(links_are_not_followed),
        TEST(changed_files_are_kept),
        TEST(a_target_without_a_note),
        TEST(what_a_killed_run_left),
        TEST(others_folders_are_left_alone),
        TEST(files_are_whole),
        TEST(another_process_follows),
        TEST(refused_targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
