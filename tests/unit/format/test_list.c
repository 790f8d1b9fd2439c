/* test_list.c - lists of paths and labels.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "canceled.h"
#include "format/format.h"
#include "format/index.h"
#include "format/remarks.h"
#include "tmpdir.h"
#include "weir/dataset.h"

static void make_files(struct tmpdir *t)
{
    tmpdir_init(t);
    tmpdir_mkdir(t, "sub");
    tmpdir_put_text(t, "a.jpg", "1");
    tmpdir_put_text(t, "b.jpg", "22");
    tmpdir_put_text(t, "sub/c,d.jpg", "333");
}

static weir_dataset *open_list(const struct tmpdir *t, const char *text)
{
    weir_dataset *ds = NULL;
    weir_err err;

    tmpdir_put_text(t, "list.csv", text);
    if (weir_dataset_open(&ds, tmpdir_at(t, "list.csv"), NULL, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(weir_dataset_format(ds), "list");
    return ds;
}

static void check_sample(const weir_dataset *ds, uint64_t i, const char *name,
                         uint64_t length, uint32_t label)
{
    weir_sample s;
    char buf[4096];

    assert_int_equal(weir_dataset_sample(ds, i, buf, sizeof(buf), &s, NULL), 0);
    assert_string_equal(s.name, name);
    assert_int_equal(s.length, length);
    assert_int_equal(s.label, label);
}

static void test_numbers(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    make_files(&t);
    ds = open_list(&t, "path,label\nb.jpg,7\n./a.jpg, 2\n"
                       "\"sub/c,d.jpg\",-1\r\na.jpg\n");
    assert_int_equal(weir_dataset_count(ds), 4);
    check_sample(ds, 0, "b.jpg", 2, 7); /* in the list's order */
    check_sample(ds, 1, "a.jpg", 1, 2);
    check_sample(ds, 2, "sub/c,d.jpg", 3, WEIR_NO_LABEL);
    check_sample(ds, 3, "a.jpg", 1, WEIR_NO_LABEL);
    assert_int_equal(weir_dataset_class_count(ds), 8);
    assert_null(weir_dataset_class_name(ds, 7));
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Columns beside path and label are named: nobody asked for them. */
static void test_columns_left(void **state)
{
    char remark[WR_REMARK_BYTES];
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    make_files(&t);
    ds = open_list(&t, "split,path,weight,label\ntrain,b.jpg,0.5,7\n");
    assert_int_equal(weir_dataset_count(ds), 1);
    assert_true(wr_remark_at(ds, 0, remark, sizeof(remark)));
    assert_non_null(strstr(remark, "not used: 'split', 'weight'; --columns"));
    weir_dataset_close(&ds);
    ds = open_list(&t, "path,label\nb.jpg,7\n");
    assert_false(wr_remark_at(ds, 0, remark, sizeof(remark)));
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_names(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    make_files(&t);
    ds = open_list(&t, "b.jpg,dog\na.jpg,cat\na.jpg,10\n"
                       "missing.jpg,bird\na.jpg,dog");
    assert_int_equal(weir_dataset_count(ds), 4);
    assert_int_equal(weir_dataset_class_count(ds), 4);
    assert_string_equal(weir_dataset_class_name(ds, 0), "10");
    assert_string_equal(weir_dataset_class_name(ds, 1), "bird");
    check_sample(ds, 0, "b.jpg", 2, 3);
    check_sample(ds, 1, "a.jpg", 1, 2);
    check_sample(ds, 2, "a.jpg", 1, 0);
    check_sample(ds, 3, "a.jpg", 1, 3);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void check_issue(const weir_dataset *ds, uint64_t k, const char *name,
                        const char *line, int code)
{
    const weir_issue *issue = weir_dataset_issue(ds, k);

    assert_non_null(issue);
    assert_string_equal(issue->name, name);
    assert_non_null(strstr(issue->reason, line));
    assert_int_equal(issue->code, code);
}

static void test_issues(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    make_files(&t);
    ds = open_list(&t, "# head\na.jpg,1\nnope.jpg,2\nsub,3\nb.jpg,4294967295\n"
                       "b.jpg,x\nb.jpg,3,4\n,5\nb.jpg,6\n");
    assert_int_equal(weir_dataset_count(ds), 2);
    check_sample(ds, 1, "b.jpg", 2, 6);
    assert_int_equal(weir_dataset_issue_count(ds), 6);
    check_issue(ds, 0, "list.csv", "line 7: ", WEIR_EFORMAT);
    check_issue(ds, 1, "list.csv", "line 8: ", WEIR_EFORMAT);
    check_issue(ds, 2, "nope.jpg", "line 3: No such file", WEIR_ENOENT);
    check_issue(ds, 3, "sub", "line 4: a folder", WEIR_EFORMAT);
    check_issue(ds, 4, "b.jpg", "line 5: ", WEIR_EFORMAT);
    check_issue(ds, 5, "b.jpg", "line 6: ", WEIR_EFORMAT);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_absolute_and_root(void **state)
{
    weir_dataset_config cfg;
    weir_dataset *ds;
    struct tmpdir t;
    char text[1024];
    weir_err err;

    (void)state;
    make_files(&t);
    snprintf(text, sizeof(text), "%s,1\n", tmpdir_at(&t, "a.jpg"));
    ds = open_list(&t, text);
    check_sample(ds, 0, tmpdir_at(&t, "a.jpg"), 1, 1);
    weir_dataset_close(&ds);

    tmpdir_put_text(&t, "other.txt", "\"c,d.jpg\",1\n../b.jpg,1\n");
    weir_dataset_defaults(&cfg);
    cfg.root = tmpdir_at(&t, "sub");
    assert_int_equal(
        weir_dataset_open(&ds, tmpdir_at(&t, "other.txt"), &cfg, NULL), 0);
    check_sample(ds, 0, "c,d.jpg", 3, 1);
    check_sample(ds, 1, "../b.jpg", 2, 1);
    weir_dataset_close(&ds);

    cfg.root = tmpdir_at(&t, "a.jpg");
    assert_int_equal(
        weir_dataset_open(&ds, tmpdir_at(&t, "other.txt"), &cfg, &err),
        WEIR_EINVAL);
    cfg.root = tmpdir_at(&t, "sub");
    assert_int_equal(weir_dataset_open(&ds, t.path, &cfg, &err), WEIR_EINVAL);
    tmpdir_done(&t);
}

static void test_nothing_usable(void **state)
{
    weir_dataset *ds = NULL;
    struct tmpdir t;
    weir_err err;

    (void)state;
    make_files(&t);
    tmpdir_put_text(&t, "l.csv", "x.jpg,1\ny.jpg,2\n");
    assert_int_equal(weir_dataset_open(&ds, tmpdir_at(&t, "l.csv"), NULL, &err),
                     WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "'x.jpg': line 1"));
    tmpdir_put_text(&t, "l.csv", "path,label\n");
    assert_int_equal(weir_dataset_open(&ds, tmpdir_at(&t, "l.csv"), NULL, &err),
                     WEIR_EFORMAT);
    assert_null(ds);
    tmpdir_done(&t);
}

static void test_unreadable_list(void **state)
{
    weir_dataset *ds = NULL;
    struct tmpdir t;
    char url[512];
    weir_err err;

    (void)state;
    make_files(&t);
    tmpdir_put_text(&t, "l.csv", "a.jpg,1\nb.jpg,2\n");
    snprintf(url, sizeof(url), "fault:eio@~l.csv:%s", tmpdir_at(&t, "l.csv"));
    assert_int_equal(weir_dataset_open(&ds, url, NULL, &err), WEIR_EIO);
    assert_non_null(strstr(err.msg, "l.csv"));
    assert_null(ds);
    tmpdir_done(&t);
}

/* Also while lines are parsed, before any sample is looked for. */
static void test_canceled(void **state)
{
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "l.csv", ",1\n,2\n");
    check_canceled(tmpdir_at(&t, "l.csv"));
    tmpdir_done(&t);
}

/* Pictures, masks and numbers; a row that lacks one is no sample. */
static void test_columns(void **state)
{
    const struct wr_schema *f;
    union wr_scalar v;
    weir_dataset *ds;
    struct tmpdir t;
    struct wr_part p;

    (void)state;
    make_files(&t);
    tmpdir_put_text(&t, "m.png", "4444");
    tmpdir_put_text(&t, "n.txt", "55555");
    ds = open_list(&t, "image,mask,note,label,weight,turn\n"
                       "a.jpg,m.png,n.txt,cat,0.5,3\n"
                       "b.jpg,gone.png,n.txt,dog,0.5,3\n"
                       "b.jpg,m.png,n.txt,dog,many,3\n"
                       "b.jpg,,n.txt,dog,1,3\n"
                       "b.jpg,./m.png,n.txt,dog,2,-4\n");
    assert_int_equal(weir_dataset_count(ds), 2);
    assert_int_equal(weir_dataset_issue_count(ds), 3);
    assert_string_equal(weir_dataset_issue(ds, 0)->name, "gone.png");
    assert_non_null(strstr(weir_dataset_issue(ds, 1)->reason, "line 4"));
    check_sample(ds, 1, "b.jpg", 2, 1);
    f = wr_index_schema(ds->index);
    assert_int_equal(f->count, 6);
    assert_string_equal(f->fields[0].name, "image");
    assert_int_equal(f->fields[1].pub.kind, WEIR_FIELD_PICTURE);
    assert_int_equal(f->fields[2].pub.kind, WEIR_FIELD_BYTES);
    assert_int_equal(f->fields[3].pub.dtype, WEIR_F64);
    assert_int_equal(f->fields[4].pub.dtype, WEIR_I64);
    assert_string_equal(f->fields[5].name, "label");
    assert_int_equal(wr_index_columns(ds->index), 3);
    wr_index_part(ds->index, 1, 1, &p);
    assert_int_equal(p.length, 4);
    wr_index_part(ds->index, 2, 0, &p);
    assert_int_equal(p.length, 5);
    assert_true(wr_index_scalar(ds->index, 3, 1, &v) && v.f == 2);
    assert_true(wr_index_scalar(ds->index, 4, 1, &v) && v.i == -4);
    assert_null(wr_index_check(ds->index));
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* A path that no file can have is told in each column of files. */
static void test_long_path_of_column(void **state)
{
    char text[8192];
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    make_files(&t);
    snprintf(text, sizeof(text),
             "image,mask,label\na.jpg,b.jpg,1\n"
             "b.jpg,%05000d,1\n",
             1);
    ds = open_list(&t, text);
    assert_int_equal(weir_dataset_count(ds), 1);
    assert_int_equal(weir_dataset_issue_count(ds), 1);
    assert_int_equal(weir_dataset_issue(ds, 0)->code, WEIR_ELIMIT);
    assert_string_equal(weir_dataset_issue(ds, 0)->name, "b.jpg");
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_long_path_of_column),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_columns_left),
        cmocka_unit_test(test_issues),
        cmocka_unit_test(test_absolute_and_root),
        cmocka_unit_test(test_nothing_usable),
        cmocka_unit_test(test_unreadable_list),
        cmocka_unit_test(test_canceled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
