/* test_beside.c - what is made beside its place, and whole trees that go.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../format/tmpdir.h"
#include "storage/beside.h"

static const struct wr_tree_rule job_last = {"job", UINT_MAX};

static struct wr_store *open_folder(const struct tmpdir *t, const char *prefix)
{
    struct wr_store *st = NULL;
    char url[600], *leaf = NULL;

    snprintf(url, sizeof(url), "%s%s", prefix, tmpdir_at(t, "."));
    assert_int_equal(wr_store_open(url, &st, &leaf, NULL), 0);
    assert_null(leaf);
    return st;
}

static bool is_there(const struct tmpdir *t, const char *name)
{
    struct stat sb;

    return lstat(tmpdir_at(t, name), &sb) == 0;
}

static void names_and_paths(void **state)
{
    struct wr_beside b = {0};
    char url[600], path[PATH_MAX];
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    snprintf(url, sizeof(url), "%s", tmpdir_at(&t, "new/"));
    assert_int_equal(wr_beside_init(&b, url, &err), 0);
    assert_string_equal(b.name, "new");
    assert_string_equal(b.part, ".new.part");
    assert_string_equal(b.old, ".new.old");
    assert_true(wr_beside_local_path(&b, "x", path, sizeof(path)));
    assert_string_equal(path, tmpdir_at(&t, "x"));
    wr_beside_done(&b);
    snprintf(url, sizeof(url), "%s", tmpdir_at(&t, "none/new"));
    assert_int_equal(wr_beside_init(&b, url, &err), WEIR_ENOENT);
    wr_beside_done(&b);
    tmpdir_done(&t);
}

static mode_t mode_of(const struct tmpdir *t, const char *name)
{
    struct stat sb;

    assert_int_equal(stat(tmpdir_at(t, name), &sb), 0);
    return sb.st_mode & 07777;
}

static void init_new(struct wr_beside *b, const struct tmpdir *t)
{
    char url[600];

    snprintf(url, sizeof(url), "%s", tmpdir_at(t, "new"));
    assert_int_equal(wr_beside_init(b, url, NULL), 0);
}

/* For this user alone while it is made, by the umask when it is complete. */
static void a_part_is_private_at_first(void **state)
{
    mode_t umask_was = umask(0027);
    struct wr_beside b = {0};
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    init_new(&b, &t);
    assert_int_equal(wr_beside_enter(&b, NULL), WEIR_ENOENT);
    umask(0);
    assert_int_equal(wr_beside_make(&b, NULL), 0);
    assert_int_equal(wr_beside_make(&b, NULL), WEIR_EEXIST);
    assert_int_equal(mode_of(&t, ".new.part"), 0700);
    assert_int_equal(wr_beside_enter(&b, NULL), 0);
    assert_int_equal(wr_store_change(b.inside, WR_MKDIR, "x", NULL, NULL), 0);
    umask(0027);
    assert_int_equal(wr_beside_share(&b, NULL), 0);
    assert_int_equal(mode_of(&t, ".new.part"), 0750);
    assert_int_equal(wr_tree_remove(b.inside, "x", WR_TREE_ALL, NULL), 0);
    assert_int_equal(rmdir(tmpdir_at(&t, ".new.part")), 0); /* nothing left */
    umask(umask_was);
    wr_beside_done(&b);
    tmpdir_done(&t);
}

/* A part that others can write to, or a link, is not taken. */
static void a_part_must_be_ours(void **state)
{
    struct wr_beside b = {0};
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    init_new(&b, &t);
    tmpdir_mkdir(&t, ".new.part");
    assert_int_equal(chmod(tmpdir_at(&t, ".new.part"), 0777), 0);
    assert_int_equal(wr_beside_enter(&b, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "everybody can write to it"));
    assert_null(b.inside);
    assert_int_equal(rmdir(tmpdir_at(&t, ".new.part")), 0);
    assert_int_equal(symlink(".", tmpdir_at(&t, ".new.part")), 0);
    assert_int_equal(wr_beside_enter(&b, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "is a link"));
    assert_int_equal(wr_beside_check_owner(&b, ".new.part", &err), 0);
    assert_int_equal(wr_beside_check_owner(&b, ".new.old", &err), 0);
    if (geteuid() == 0) {
        assert_int_equal(lchown(tmpdir_at(&t, ".new.part"), 65533, 65533), 0);
        assert_int_equal(wr_beside_check_owner(&b, ".new.part", &err),
                         WEIR_EACCES);
        assert_non_null(strstr(err.msg, "belongs to user 65533"));
    }
    wr_beside_done(&b);
    tmpdir_done(&t);
}

static int check(const struct tmpdir *t, const char *name, bool *ret_full,
                 weir_err *err)
{
    struct wr_beside b = {0};
    char url[600];
    int r;

    snprintf(url, sizeof(url), "%s", tmpdir_at(t, name));
    assert_int_equal(wr_beside_init(&b, url, err), 0);
    r = wr_beside_check(&b, "NAME", ret_full, err);
    wr_beside_done(&b);
    return r;
}

static void what_may_be_replaced(void **state)
{
    char to[600];
    struct tmpdir t;
    weir_err err;
    bool full;

    (void)state;
    tmpdir_init(&t);
    tmpdir_mkdir(&t, "empty");
    tmpdir_mkdir(&t, "full");
    tmpdir_put_text(&t, "full/x", "x");
    snprintf(to, sizeof(to), "%s", tmpdir_at(&t, "empty"));
    assert_int_equal(symlink(to, tmpdir_at(&t, "link")), 0);
    assert_int_equal(check(&t, "none", &full, &err), 0);
    assert_false(full);
    assert_int_equal(check(&t, "empty", &full, &err), 0);
    assert_false(full);
    assert_int_equal(check(&t, "full", &full, &err), 0);
    assert_true(full);
    assert_int_equal(check(&t, "full/x", &full, &err), WEIR_EEXIST);
    assert_string_equal(err.msg, "'NAME': exists and is no folder");
    assert_int_equal(check(&t, "link", &full, &err), WEIR_EINVAL);
    assert_string_equal(err.msg, "'NAME': is a link: name the folder itself");
    tmpdir_done(&t);
}

static void make_tree(const struct tmpdir *t)
{
    char to[600];

    tmpdir_mkdir(t, "keep");
    tmpdir_put_text(t, "keep/x", "x");
    tmpdir_mkdir(t, "tree");
    tmpdir_mkdir(t, "tree/a");
    tmpdir_mkdir(t, "tree/a/b");
    tmpdir_put_text(t, "tree/a/b/c", "c");
    tmpdir_put_text(t, "tree/job", "job");
    tmpdir_put_text(t, "tree/z", "z");
    snprintf(to, sizeof(to), "%s", tmpdir_at(t, "keep"));
    assert_int_equal(symlink(to, tmpdir_at(t, "tree/link")), 0);
}

static void a_tree_goes_and_links_stay_unfollowed(void **state)
{
    struct wr_store *st;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    make_tree(&t);
    st = open_folder(&t, "");
    assert_int_equal(wr_tree_remove(st, "tree", &job_last, NULL), 0);
    assert_false(is_there(&t, "tree"));
    assert_true(is_there(&t, "keep/x"));
    assert_int_equal(wr_tree_remove(st, "tree", WR_TREE_ALL, NULL), 0);
    assert_int_equal(wr_tree_remove(st, "keep/x", WR_TREE_ALL, NULL), 0);
    assert_false(is_there(&t, "keep/x"));
    wr_store_close(st);
    tmpdir_done(&t);
}

/* What lies deeper than we ever put anything stays. */
static void what_lies_deep_stays(void **state)
{
    struct wr_store *st;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    make_tree(&t);
    st = open_folder(&t, "");
    assert_int_equal(
        wr_tree_remove(st, "tree", &(struct wr_tree_rule){"job", 2}, &err),
        WEIR_ELIMIT);
    assert_string_equal(err.msg, "'tree/a/b': not what it was");
    assert_true(is_there(&t, "tree/a/b/c"));
    assert_true(is_there(&t, "tree/job"));
    assert_false(is_there(&t, "tree/z"));
    wr_store_close(st);
    tmpdir_done(&t);
}

/* What cannot be removed is said, the rest goes, and the mark stays. */
static void a_failure_keeps_the_last(void **state)
{
    struct wr_store *st;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    make_tree(&t);
    st = open_folder(&t, "fault:remove-eio@~b/c:");
    assert_int_equal(wr_tree_remove(st, "tree", &job_last, &err), WEIR_EIO);
    assert_non_null(strstr(err.msg, "tree/a/b/c"));
    assert_true(is_there(&t, "tree/a/b/c"));
    assert_true(is_there(&t, "tree/job"));
    assert_false(is_there(&t, "tree/z"));
    assert_false(is_there(&t, "tree/link"));
    wr_store_close(st);
    st = open_folder(&t, "");
    assert_int_equal(wr_tree_remove(st, "tree", &job_last, &err), 0);
    assert_false(is_there(&t, "tree"));
    wr_store_close(st);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_paths),
        cmocka_unit_test(a_part_is_private_at_first),
        cmocka_unit_test(a_part_must_be_ours),
        cmocka_unit_test(what_may_be_replaced),
        cmocka_unit_test(a_tree_goes_and_links_stay_unfollowed),
        cmocka_unit_test(what_lies_deep_stays),
        cmocka_unit_test(a_failure_keeps_the_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
