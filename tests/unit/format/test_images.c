/* test_images.c - class folders: names, order, labels, loops, bad folders.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/format.h"
#include "indexes.h"
#include "tmpdir.h"

static weir_dataset *open_tree(const struct tmpdir *t)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (weir_dataset_open(&ds, t->path, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    return ds;
}

static void check_sample(const weir_dataset *ds, uint64_t i, const char *name,
                         uint64_t length, uint32_t label)
{
    weir_sample s;
    char buf[4096];

    assert_int_equal(weir_dataset_sample(ds, i, buf, sizeof(buf), &s, NULL), 0);
    assert_string_equal(s.name, name);
    assert_int_equal(s.offset, 0);
    assert_int_equal(s.length, length);
    assert_int_equal(s.label, label);
}

static void test_tree(void **state)
{
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    tmpdir_mkdir(&t, "dog");
    tmpdir_mkdir(&t, "cat");
    tmpdir_mkdir(&t, "Zebra");
    tmpdir_mkdir(&t, "empty");
    tmpdir_mkdir(&t, "cat/deep");
    tmpdir_mkdir(&t, "cat/deep/er");
    tmpdir_put_text(&t, "dog/2.JPG", "22");
    tmpdir_put_text(&t, "dog/10.png", "333");
    tmpdir_put_text(&t, "cat/deep/er/x.jpeg", "4444");
    tmpdir_put_text(&t, "cat/z.Png", "");
    tmpdir_put_text(&t, "cat/README.txt", "no picture");
    tmpdir_put_text(&t, "cat/.hidden.jpg", "no picture");
    tmpdir_put_text(&t, "top.jpg", "1");
    tmpdir_put_text(&t, "labels.json", "{}");
    ds = open_tree(&t);
    assert_string_equal(weir_dataset_format(ds), "images");
    assert_int_equal(weir_dataset_count(ds), 5);
    assert_int_equal(weir_dataset_bytes(ds), 10);
    assert_int_equal(weir_dataset_max_length(ds), 4);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    assert_int_equal(weir_dataset_class_count(ds), 4);
    assert_string_equal(weir_dataset_class_name(ds, 0), "Zebra");
    assert_string_equal(weir_dataset_class_name(ds, 3), "empty");
    check_sample(ds, 0, "cat/deep/er/x.jpeg", 4, 1);
    check_sample(ds, 1, "cat/z.Png", 0, 1); /* empty, and yet a sample */
    check_sample(ds, 2, "dog/10.png", 3, 2);
    check_sample(ds, 3, "dog/2.JPG", 2, 2);
    check_sample(ds, 4, "top.jpg", 1, WEIR_NO_LABEL);
    weir_dataset_close(&ds);
    assert_null(ds);
    tmpdir_done(&t);
}

static void test_odd_names(void **state)
{
    static const char *const names[] = {"a b/\xc3\xa4\xc3\xb6.jpg",
                                        "a b/-rf.jpg", "a b/new\nline.jpg",
                                        "a b/q\"'q.jpg", "a b/\xff\xfe.jpg"};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    tmpdir_mkdir(&t, "a b");
    for (size_t k = 0; k < 5; k++)
        tmpdir_put_text(&t, names[k], "x");
    tmpdir_mkdir(&t, "pic.jpg"); /* a folder, whatever it is called */
    tmpdir_put_text(&t, "pic.jpg/in.jpg", "x");
    ds = open_tree(&t);
    assert_int_equal(weir_dataset_count(ds), 6);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    check_sample(ds, 0, names[1], 1, 0);
    check_sample(ds, 1, names[2], 1, 0);
    check_sample(ds, 2, names[3], 1, 0);
    check_sample(ds, 3, names[0], 1, 0);
    check_sample(ds, 4, names[4], 1, 0);
    check_sample(ds, 5, "pic.jpg/in.jpg", 1, 1);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_loops(void **state)
{
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    tmpdir_mkdir(&t, "a");
    tmpdir_mkdir(&t, "a/b");
    tmpdir_put_text(&t, "a/b/1.jpg", "x");
    assert_int_equal(symlink("..", tmpdir_at(&t, "a/b/up")), 0);
    assert_int_equal(symlink(".", tmpdir_at(&t, "self")), 0);
    assert_int_equal(symlink("a", tmpdir_at(&t, "again")), 0);
    assert_int_equal(symlink("nowhere", tmpdir_at(&t, "a/gone.jpg")), 0);
    ds = open_tree(&t);
    /* 'again' is no loop: its pictures come a second time. */
    assert_int_equal(weir_dataset_count(ds), 2);
    check_sample(ds, 1, "again/b/1.jpg", 1, 1);
    assert_int_equal(weir_dataset_class_count(ds), 2);
    assert_int_equal(weir_dataset_issue_count(ds), 5);
    assert_string_equal(weir_dataset_issue(ds, 0)->name, "a/b/up");
    assert_string_equal(weir_dataset_issue(ds, 1)->name, "a/gone.jpg");
    assert_string_equal(weir_dataset_issue(ds, 4)->name, "self");
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_unreadable_folder(void **state)
{
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    if (geteuid() == 0)
        skip(); /* root reads everything */
    tmpdir_init(&t);
    tmpdir_mkdir(&t, "a");
    tmpdir_mkdir(&t, "b");
    tmpdir_put_text(&t, "a/1.jpg", "x");
    chmod(tmpdir_at(&t, "b"), 0);
    ds = open_tree(&t);
    assert_int_equal(weir_dataset_count(ds), 1);
    assert_int_equal(weir_dataset_class_count(ds), 2);
    assert_int_equal(weir_dataset_issue_count(ds), 1);
    assert_string_equal(weir_dataset_issue(ds, 0)->name, "b");
    assert_int_equal(weir_dataset_issue(ds, 0)->code, WEIR_EACCES);
    weir_dataset_close(&ds);
    chmod(tmpdir_at(&t, "b"), 0700);
    tmpdir_done(&t);
}

static void test_deep(void **state)
{
    char path[512] = "d";
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "1.jpg", "x");
    for (unsigned k = 0; k < 100; k++) {
        tmpdir_mkdir(&t, path);
        strcat(path, "/d");
    }
    ds = open_tree(&t);
    assert_int_equal(weir_dataset_count(ds), 1);
    assert_int_equal(weir_dataset_issue_count(ds), 1);
    assert_int_equal(weir_dataset_issue(ds, 0)->code, WEIR_ELIMIT);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_nothing_there(void **state)
{
    weir_dataset *ds = NULL;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    tmpdir_mkdir(&t, "a");
    assert_int_equal(weir_dataset_open(&ds, t.path, NULL, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, t.path));
    assert_int_equal(
        weir_dataset_open(&ds, tmpdir_at(&t, "missing"), NULL, &err),
        WEIR_ENOENT);
    assert_null(ds);
    tmpdir_done(&t);
}

static void test_one_picture(void **state)
{
    weir_dataset *ds = NULL;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "one.jpg", "12345");
    assert_int_equal(
        weir_dataset_open(&ds, tmpdir_at(&t, "one.jpg"), NULL, NULL), 0);
    assert_int_equal(weir_dataset_count(ds), 1);
    check_sample(ds, 0, "one.jpg", 5, WEIR_NO_LABEL);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Many names with a long common beginning: the order is that of strcmp. */
static void test_order(void **state)
{
    char name[64], last[4096] = "", buf[4096];
    weir_dataset *ds;
    struct tmpdir t;
    weir_sample s;

    (void)state;
    tmpdir_init(&t);
    tmpdir_mkdir(&t, "c");
    for (unsigned k = 0; k < 3000; k++) {
        snprintf(name, sizeof(name), "c/ILSVRC2012_val_%u%s.jpg",
                 (k * 7919) % 3000, k % 3 ? "" : "\xc3\xa9");
        tmpdir_put_text(&t, name, "x");
    }
    ds = open_tree(&t);
    assert_int_equal(weir_dataset_count(ds), 3000);
    for (uint64_t i = 0; i < 3000; i++) {
        weir_dataset_sample(ds, i, buf, sizeof(buf), &s, NULL);
        assert_true(strcmp(last, s.name) < 0);
        strcpy(last, s.name);
    }
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static int refuse(void *arg, uint64_t samples)
{
    unsigned *left = arg;

    (void)samples;
    return *left == 0 || --*left == 0;
}

/* Many folders at many depths, some of them bad: what threads list ahead and
 * what is listed one after another (through a wrapping store) is the same. */
static void test_threads(void **state)
{
    weir_dataset_config cfg = {
        .size = sizeof(cfg), .no_index_cache = 1, .progress = refuse};
    weir_dataset *alone = NULL, *ahead;
    char name[256], url[512];
    struct tmpdir t;
    unsigned left;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 60; k++) {
        snprintf(name, sizeof(name), "c%02u", k);
        for (unsigned depth = 0; depth <= k % 4; depth++) {
            size_t len = strlen(name);

            tmpdir_mkdir(&t, name);
            snprintf(name + len, sizeof(name) - len, "/%u.jpg", k);
            tmpdir_put_text(&t, name, "xyz");
            snprintf(name + len, sizeof(name) - len, "/d%u", depth);
        }
    }
    assert_int_equal(symlink("..", tmpdir_at(&t, "c03/up")), 0);
    assert_int_equal(symlink("none", tmpdir_at(&t, "c07/none.jpg")), 0);
    ahead = open_tree(&t);
    snprintf(url, sizeof(url), "fault:delay=0:%s", t.path);
    assert_int_equal(weir_dataset_open(&alone, url, NULL, NULL), 0);
    assert_int_equal(weir_dataset_count(ahead), 150);
    assert_int_equal(weir_dataset_issue_count(ahead), 2);
    index_same(alone->index, ahead->index);
    weir_dataset_close(&alone);
    weir_dataset_close(&ahead);
    cfg.progress_arg = &left;
    left = 1; /* canceled: the threads end, nothing leaks */
    assert_int_equal(weir_dataset_open(&ahead, t.path, &cfg, NULL),
                     WEIR_ECANCELED);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_unreadable_folder),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_one_picture),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
