/* test_tar.c - tar archives: samples, classes, shards.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "canceled.h"
#include "tarset.h"

static void test_groups(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tar_file(&tar, "x/0001.jpg", "one");
    tar_file(&tar, "x/0001.cls", "7");
    tar_file(&tar, "x/0001.txt", "a caption");
    tar_member(&tar, '5', "y/", "");
    tar_member(&tar, '\0', "y.jpg/", "");    /* V7 */
    tar_file(&tar, "./y/0001.cls", " 12\n"); /* the label comes first */
    tar_file(&tar, "README", "no sample's");
    tar_file(&tar, "y/._0001.jpg", "no sample's");
    tar_file(&tar, "y/0001.PNG", "two");
    tar_file(&tar, "z.jpeg", "three");
    tar_file(&tar, "z.cls", "-1");
    tar_file(&tar, "x/0001.jpg", "once more");
    tar_file(&tar, "x/0001.CLS.TXT", "8");
    tar_file(&tar, "v.1/n.o.JpG", "four"); /* dots in the folder's name */
    tar_file(&tar, "v.1/n.label", "9");
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_count(ds), 5);
    check(ds, 0, "x/0001", "one", 7);
    check(ds, 1, "y/0001", "two", 12);
    check(ds, 2, "z", "three", WEIR_NO_LABEL);
    check(ds, 3, "x/0001", "once more", 8);
    check(ds, 4, "v.1/n", "four", 9);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    assert_int_equal(weir_dataset_class_count(ds), 13);
    done(ds, &t);
}

/* Where most samples have one picture, plain ones go before views; an ending
 * that comes again is a new sample of the same key. */
static void test_pictures(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tar_file(&tar, "a.left.jpg", "left");
    tar_file(&tar, "a.right.jpg", "right");
    tar_file(&tar, "a.jpg", "plain");
    tar_file(&tar, "a.png", "mask");
    tar_file(&tar, "b.left.jpg", "only");
    tar_file(&tar, "c.jpg", "c1");
    tar_file(&tar, "c.cls", "1");
    tar_file(&tar, "c.jpg", "c2");
    tar_file(&tar, "c.cls", "2");
    tar_file(&tar, "ca.jpg", "ca");
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_count(ds), 5);
    check(ds, 0, "a", "plain", WEIR_NO_LABEL);
    check(ds, 1, "b", "only", WEIR_NO_LABEL);
    check(ds, 2, "c", "c1", 1);
    check(ds, 3, "c", "c2", 2);
    check(ds, 4, "ca", "ca", WEIR_NO_LABEL);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    done(ds, &t);

    tar_file(&tar, "a.1.jpg", "1");
    tar_file(&tar, "a.2.jpg", "2");
    for (char name[] = "b.jpg"; name[0] < 'f'; name[0]++)
        tar_file(&tar, name, "more");
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_count(ds), 5);
    check(ds, 0, "a", "1", WEIR_NO_LABEL);
    check_issue(ds, "offset 512: 'a' has 2 pictures", WEIR_EFORMAT);
    done(ds, &t);
}

static void test_no_picture(void **state)
{
    weir_dataset *ds = NULL;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tar_file(&tar, "a.cls", "1");
    tar_file(&tar, "b.txt", "1");
    tar_file(&tar, "c.jpg", "c");
    tar_end(&tar);
    ds = open_tar(&t);
    check(ds, 0, "c", "c", WEIR_NO_LABEL);
    assert_int_equal(weir_dataset_issue_count(ds), 2);
    assert_string_equal(weir_dataset_issue(ds, 0)->reason,
                        "offset 512: 'a' has no picture");
    assert_string_equal(weir_dataset_issue(ds, 1)->reason,
                        "offset 1536: 'b' has no picture");
    done(ds, &t);

    for (unsigned k = 0; k < 40; k++) {
        char name[16];

        snprintf(name, sizeof(name), "%u.txt", k);
        tar_file(&tar, name, "");
    }
    tar_file(&tar, "c.jpg", "c");
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_issue_count(ds), 17);
    assert_string_equal(weir_dataset_issue(ds, 16)->name, "a.tar");
    assert_string_equal(weir_dataset_issue(ds, 16)->reason, "24 more problems");
    done(ds, &t);

    tar_file(&tar, "a.cls", "1");
    tar_end(&tar);
    tmpdir_init(&t);
    tar_put(&t, "a.tar", &tar);
    ds = NULL;
    assert_int_equal(try_open(&t, "a.tar", &ds, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "no picture"));
    assert_null(ds);
    done(ds, &t);
}

/* Without any label, the first folder is the class. */
/* Archives behind each other: the second is not read, and that is said. */
static void test_more_follows(void **state)
{
    static const size_t zeros[] = {512, 1024, 10240, 100 * 1024};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        char what[100];

        tar_member(&tar, '0', "a.jpg", "A");
        memset(tar.bytes + tar.len, 0, zeros[k]);
        tar.len += zeros[k];
        snprintf(what, sizeof(what), "offset %zu: another archive follows",
                 tar.len);
        tar_member(&tar, '0', "b.jpg", "B");
        memset(tar.bytes + tar.len, 0, 1024);
        tar.len += 1024;
        ds = open_tar(&t);
        assert_int_equal(weir_dataset_count(ds), 1);
        check(ds, 0, "a", "A", WEIR_NO_LABEL);
        check_issue(ds, what, WEIR_EFORMAT);
        done(ds, &t);
    }
}

/* Zeros alone, and bytes that are no archive, are not worth a word. */
static void test_nothing_follows(void **state)
{
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        tar_member(&tar, '0', "a.jpg", "A");
        memset(tar.bytes + tar.len, 0, 20480);
        tar.len += 20480;
        if (k)
            memset(tar.bytes + tar.len - (k == 1 ? 512 : 100), 'x', 100);
        ds = open_tar(&t);
        assert_int_equal(weir_dataset_count(ds), 1);
        assert_int_equal(weir_dataset_issue_count(ds), 0);
        done(ds, &t);
    }
}

static void test_folders(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    tar_file(&tar, "dog/1.jpg", "d1");
    tar_file(&tar, "./cat/1.jpg", "c1");
    tar_end(&tar);
    tar_put(&t, "a.tar", &tar);
    tar.len = 0;
    tar_file(&tar, "cat/sub/2.jpg", "c2");
    tar_file(&tar, "3.jpg", "none");
    tar_file(&tar, "ant/4.json", "{}");
    tar_file(&tar, "ant/4.jpg", "a4");
    tar_end(&tar);
    tar_put(&t, "b.tar", &tar);
    ds = open_at(&t, NULL);
    assert_int_equal(weir_dataset_class_count(ds), 3);
    assert_string_equal(weir_dataset_class_name(ds, 0), "ant");
    assert_string_equal(weir_dataset_class_name(ds, 1), "cat");
    check(ds, 0, "dog/1", "d1", 2);
    check(ds, 1, "cat/1", "c1", 1);
    check(ds, 2, "cat/sub/2", "c2", 1);
    check(ds, 3, "3", "none", WEIR_NO_LABEL);
    check(ds, 4, "ant/4", "a4", 0);
    weir_dataset_close(&ds);

    tar.len = 0; /* one label anywhere: folders mean nothing */
    tar_file(&tar, "5.cls", "5");
    tar_file(&tar, "5.jpg", "5");
    tar_end(&tar);
    tar_put(&t, "c.tar", &tar);
    ds = open_at(&t, NULL);
    assert_int_equal(weir_dataset_class_count(ds), 6);
    assert_null(weir_dataset_class_name(ds, 0));
    check(ds, 0, "dog/1", "d1", WEIR_NO_LABEL);
    check(ds, 5, "5", "5", 5);
    done(ds, &t);
}

static void test_shards(void **state)
{
    static const char *const names[] = {"s-10.tar", "s-2.TAR", "s-1.tgz"};
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 3; k++) { /* plain, whatever it is called */
        tar.len = 0;
        tar_file(&tar, "a.jpg", names[k]);
        tar_file(&tar, "a.cls", "1");
        tar_end(&tar);
        tar_put(&t, names[k], &tar);
    }
    tmpdir_put_text(&t, "s-3.tar", "no archive");
    tmpdir_put_text(&t, "notes.txt", "no archive");
    tmpdir_put_text(&t, ".s-0.tar", "hidden");
    ds = open_at(&t, NULL);
    assert_int_equal(weir_dataset_count(ds), 3);
    check(ds, 0, "a", "s-1.tgz", 1);
    check(ds, 1, "a", "s-10.tar", 1);
    check(ds, 2, "a", "s-2.TAR", 1);
    assert_int_equal(weir_dataset_issue_count(ds), 1);
    assert_string_equal(weir_dataset_issue(ds, 0)->name, "s-3.tar");
    done(ds, &t);
}

static void test_stamps(void **state)
{
    struct wr_stamp stamp;
    struct wr_stat st;
    weir_dataset *ds;
    struct tmpdir t;
    const char *path;

    (void)state;
    tmpdir_init(&t);
    tar_file(&tar, "a.jpg", "a");
    tar_end(&tar);
    tar_put(&t, "a.tar", &tar);
    ds = open_at(&t, NULL);
    assert_int_equal(wr_index_stamp_count(ds->index), 2);
    for (uint64_t k = 0; k < 2; k++) {
        wr_index_stamp(ds->index, k, &stamp, &path);
        assert_int_equal(ds->store->ops->stat(ds->store, path, &st, NULL), 0);
        assert_int_equal(stamp.mtime_ns, st.mtime_ns);
        assert_int_equal(stamp.ino, st.ino);
        assert_string_equal(path, k ? "a.tar" : "");
    }
    done(ds, &t);
}

static void test_probe(void **state)
{
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    tar_file(&tar, "a.jpg", "a");
    tar_end(&tar);
    tar_put(&t, "without-an-ending", &tar);
    tar_put(&t, "a.tar", &tar);
    ds = open_at(&t, "without-an-ending");
    assert_int_equal(weir_dataset_count(ds), 1);
    weir_dataset_close(&ds);
    ds = open_at(&t, NULL); /* only what is called so */
    assert_int_equal(weir_dataset_count(ds), 1);
    weir_dataset_close(&ds);
    tmpdir_mkdir(&t, "cat");
    tmpdir_put_text(&t, "cat/1.jpg", "1");
    assert_int_equal(try_open(&t, NULL, &ds, NULL), 0);
    assert_string_equal(weir_dataset_format(ds), "images");
    done(ds, &t);
}

static void test_faults(void **state)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    struct tmpdir t;
    char url[512];
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    tar_file(&tar, "a.jpg", "a");
    tar_end(&tar);
    tar_put(&t, "a.tar", &tar);
    tar_put(&t, "b.tar", &tar);
    snprintf(url, sizeof(url), "fault:eio@~a.tar:%s", t.path);
    assert_int_equal(weir_dataset_open(&ds, url, &cfg, &err), WEIR_EIO);
    assert_null(ds); /* not a shorter data set */
    snprintf(url, sizeof(url), "fault:eio@~a.tar:%s", tmpdir_at(&t, "a.tar"));
    assert_int_equal(weir_dataset_open(&ds, url, &cfg, &err), WEIR_EIO);
    assert_null(ds);
    done(ds, &t);
}

static void test_canceled(void **state)
{
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    tar_file(&tar, "a.jpg", "a");
    tar_end(&tar);
    tar_put(&t, "a.tar", &tar);
    check_canceled(t.path);
    done(NULL, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_no_picture),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_more_follows),
        cmocka_unit_test(test_nothing_follows),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_stamps),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_canceled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
