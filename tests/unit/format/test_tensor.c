/* test_tensor.c - files of tensors, alone and in a folder.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/format.h"
#include "tensorfiles.h"
#include "weir/dataset.h"

static weir_dataset *open_path(const char *path)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (weir_dataset_open(&ds, path, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(weir_dataset_format(ds), "tensor");
    return ds;
}

static void check_fails(const char *path, int code, const char *why)
{
    weir_dataset *ds = NULL;
    weir_err err = {0};

    assert_int_equal(weir_dataset_open(&ds, path, NULL, &err), code);
    if (!strstr(err.msg, why))
        fail_msg("'%s' does not say '%s'", err.msg, why);
    assert_null(ds);
}

static void check_sample(const weir_dataset *ds, uint64_t i, const char *name,
                         uint64_t offset, uint32_t label)
{
    weir_sample s;
    char buf[256];

    assert_int_equal(weir_dataset_sample(ds, i, buf, sizeof(buf), &s, NULL), 0);
    assert_string_equal(s.name, name);
    assert_int_equal(s.offset, offset);
    assert_int_equal(s.label, label);
}

static void test_npy_file(void **state)
{
    const uint32_t labels[] = {3, 1, 2};
    const int64_t wide[] = {4, -1, 0}, wrong[] = {0, 1, -2};
    const char data[12] = "abcdefghijkl";
    const weir_field *shape;
    weir_dataset *ds;
    struct tmpdir t;
    weir_sample s;

    (void)state;
    tmpdir_init(&t);
    put_npy(&t, "x.npy", "|u1", "(3, 4)", data, 12);
    ds = open_path(tmpdir_at(&t, "x.npy"));
    assert_int_equal(weir_dataset_count(ds), 3);
    assert_int_equal(weir_dataset_bytes(ds), 12);
    assert_int_equal(weir_dataset_max_length(ds), 4);
    assert_int_equal(weir_dataset_class_count(ds), 0);
    shape = wr_index_tensor(ds->index);
    assert_non_null(shape);
    assert_string_equal(shape->name, "x");
    assert_int_equal(shape->ndim, 1);
    assert_int_equal(shape->dims[0], 4);
    assert_int_equal(weir_dataset_sample(ds, 3, NULL, 0, &s, NULL),
                     WEIR_EINVAL);
    weir_dataset_close(&ds);

    put_npy(&t, "x.labels.npy", "<u4", "(3,)", labels, sizeof(labels));
    ds = open_path(tmpdir_at(&t, "x.npy"));
    assert_int_equal(weir_dataset_class_count(ds), 4);
    weir_dataset_sample(ds, 2, NULL, 0, &s, NULL);
    assert_int_equal(s.label, 2);
    assert_int_equal(s.length, 4);
    weir_dataset_close(&ds);

    put_npy(&t, "x.labels.npy", "<i8", "(3,)", wide, sizeof(wide));
    ds = open_path(tmpdir_at(&t, "x.npy"));
    weir_dataset_sample(ds, 0, NULL, 0, &s, NULL);
    assert_int_equal(s.label, 4);
    weir_dataset_sample(ds, 1, NULL, 0, &s, NULL);
    assert_int_equal(s.label, WEIR_NO_LABEL);
    weir_dataset_close(&ds);

    put_npy(&t, "x.labels.npy", "<i8", "(3,)", wrong, sizeof(wrong));
    check_fails(tmpdir_at(&t, "x.npy"), WEIR_EFORMAT, "label -2");
    put_npy(&t, "x.labels.npy", "<i8", "(2,)", wide, 16);
    check_fails(tmpdir_at(&t, "x.npy"), WEIR_EFORMAT, "x.labels.npy");
    tmpdir_done(&t);
}

/* Labels of four bytes have a sign if their type says so. */
static void test_narrow_labels(void **state)
{
    const int32_t labels[] = {7, -1}, wrong[] = {0, -2};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npy(&t, "x.npy", "|u1", "(2, 3)", "abcdef", 6);
    put_npy(&t, "x.labels.npy", "<i4", "(2,)", labels, sizeof(labels));
    ds = open_path(tmpdir_at(&t, "x.npy"));
    assert_int_equal(weir_dataset_class_count(ds), 8);
    weir_dataset_close(&ds);
    put_npy(&t, "x.labels.npy", "<i4", "(2,)", wrong, sizeof(wrong));
    check_fails(tmpdir_at(&t, "x.npy"), WEIR_EFORMAT, "label -2");
    put_npy(&t, "x.labels.npy", "<u4", "(2,)", wrong, sizeof(wrong));
    ds = open_path(tmpdir_at(&t, "x.npy"));
    assert_int_equal(weir_dataset_class_count(ds), UINT32_MAX);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Refused before memory is taken for them. */
static void test_too_many_labels(void **state)
{
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    put_npy(&t, "x.npy", "|u1", "(100000001,)", "", 0);
    put_npy(&t, "x.labels.npy", "<u4", "(100000001,)", "", 0);
    assert_int_equal(truncate(tmpdir_at(&t, "x.npy"), 101000000), 0);
    assert_int_equal(truncate(tmpdir_at(&t, "x.labels.npy"), 401000000), 0);
    check_fails(tmpdir_at(&t, "x.npy"), WEIR_ELIMIT, "100000001 labels");
    tmpdir_done(&t);
}

static void test_wt_file(void **state)
{
    const uint32_t labels[] = {5, WEIR_NO_LABEL};
    const struct wt_spec spec = {.dtype = 2,
                                 .ndim = 2,
                                 .dims = {2, 3},
                                 .count = 2,
                                 .labels = labels,
                                 .data = "abcdefghijkl",
                                 .data_len = 12};
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    put_wt(&t, "x.wt", &spec);
    ds = open_path(tmpdir_at(&t, "x.wt"));
    assert_int_equal(weir_dataset_count(ds), 2);
    check_sample(ds, 0, "x.wt", 4096, 5);
    check_sample(ds, 1, "x.wt", 4102, WEIR_NO_LABEL);
    assert_int_equal(weir_dataset_class_count(ds), 6);
    weir_dataset_close(&ds);
    put_wt(&t, "plain", &spec); /* known by its first bytes */
    ds = open_path(tmpdir_at(&t, "plain"));
    assert_int_equal(weir_dataset_count(ds), 2);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_folder(void **state)
{
    const uint32_t labels[] = {8, 9};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npy(&t, "b.npy", "|u1", "(2, 3)", "abcdef", 6);
    put_npy(&t, "b.labels.npy", "<i4", "(2,)", labels, sizeof(labels));
    put_wt(&t, "a.wt",
           &(struct wt_spec){.dtype = 2,
                             .ndim = 1,
                             .dims = {3},
                             .count = 1,
                             .data = "xyz",
                             .data_len = 3});
    put_npy(&t, "c.npy", "|u1", "(2, 4)", "abcdefgh", 8);
    put_npy(&t, "d.npy", "|u1", "(2, 3)", "abcde", 5);
    put_npy(&t, "e.npy", "<f4", "(1, 3)", "0123456789ab", 12);
    tmpdir_put_text(&t, "f.npy", "");
    tmpdir_put_text(&t, "notes.txt", "no tensor");
    put_npy(&t, "g.npy", "|u1", "(0, 3)", "", 0);
    ds = open_path(t.path);
    assert_int_equal(weir_dataset_count(ds), 3);
    check_sample(ds, 0, "a.wt", 4096, WEIR_NO_LABEL);
    assert_int_equal(weir_dataset_issue_count(ds), 4);
    assert_string_equal(weir_dataset_issue(ds, 0)->name, "c.npy");
    assert_string_equal(weir_dataset_issue(ds, 1)->name, "d.npy");
    assert_non_null(strstr(weir_dataset_issue(ds, 1)->reason, "truncated"));
    assert_string_equal(weir_dataset_issue(ds, 2)->name, "e.npy");
    assert_string_equal(weir_dataset_issue(ds, 3)->name, "f.npy");
    assert_int_equal(weir_dataset_class_count(ds), 10);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_long_header(void **state)
{
    char shape[20000];
    weir_dataset *ds;
    struct tmpdir t;
    FILE *f;
    int n;

    (void)state;
    tmpdir_init(&t);
    memset(shape, ' ', sizeof(shape));
    n = snprintf(shape, sizeof(shape),
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}");
    shape[n] = ' ';
    f = fopen(tmpdir_at(&t, "x.npy"), "wb");
    fwrite("\x93NUMPY\x02\x00\x20\x4e\x00\x00", 1, 12, f);
    fwrite(shape, 1, sizeof(shape), f);
    fwrite("ab", 1, 2, f);
    fclose(f);
    ds = open_path(tmpdir_at(&t, "x.npy"));
    assert_int_equal(weir_dataset_count(ds), 2);
    check_sample(ds, 1, "x.npy", 12 + 20000 + 1, WEIR_NO_LABEL);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_bad_file(void **state)
{
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "x.npy", "this is no array at all");
    check_fails(tmpdir_at(&t, "x.npy"), WEIR_EFORMAT, "'x.npy': not a .npy");
    tmpdir_put_text(&t, "x.wt", "WEIRTNS1");
    check_fails(tmpdir_at(&t, "x.wt"), WEIR_EFORMAT, "too few");
    put_npy(&t, "o.npy", "|O", "(2,)", "xxxxxxxxxxxxxxxx", 16);
    check_fails(tmpdir_at(&t, "o.npy"), WEIR_ENOTSUP, "objects");
    tmpdir_done(&t);
}

/* Labels belong to the file that they are named after; those of none are counted
 * as ignored. */
static void test_labels_beside(void **state)
{
    const uint32_t labels[] = {8, 9};
    const struct wt_spec wt = {.dtype = 2,
                               .ndim = 1,
                               .dims = {3},
                               .count = 2,
                               .data = "abcdef",
                               .data_len = 6};
    uint64_t files = 0;
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npy(&t, "a.npy", "|u1", "(2, 3)", "abcdef", 6);
    put_npy(&t, "a.labels.npy", "<u4", "(2,)", labels, sizeof(labels));
    put_wt(&t, "long.wt", &wt);
    put_npy(&t, "long.labels.npy", "<u4", "(2,)", labels, sizeof(labels));
    ds = open_path(t.path);
    assert_int_equal(weir_dataset_count(ds), 4);
    check_sample(ds, 2, "long.wt", 4096, 8);
    assert_int_equal(weir_dataset_ignored_count(ds), 0);
    weir_dataset_close(&ds);
    put_npy(&t, "along.labels.npy", "<u4", "(2,)", labels, sizeof(labels));
    ds = open_path(t.path);
    assert_int_equal(weir_dataset_count(ds), 4);
    assert_int_equal(weir_dataset_ignored_count(ds), 1);
    assert_string_equal(weir_dataset_ignored(ds, 0, &files), ".npy");
    assert_int_equal(files, 1);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* A file that may not be read is named, and the others are there; storage that
 * fails ends it. */
static void test_faults(void **state)
{
    char url[512];
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    put_npy(&t, "a.npy", "|u1", "(2, 3)", "abcdef", 6);
    put_npy(&t, "b.npy", "|u1", "(2, 3)", "abcdef", 6);
    put_npy(&t, "c.npy", "|u1", "(2, 3)", "abcdef", 6);
    put_npy(&t, "c.labels.npy", "<u4", "(2,)", "00000000", 8);
    snprintf(url, sizeof(url), "fault:eacces@~b.npy,eacces@~c.labels:%s",
             t.path);
    ds = open_path(url);
    assert_int_equal(weir_dataset_count(ds), 2);
    assert_int_equal(weir_dataset_issue_count(ds), 2);
    assert_string_equal(weir_dataset_issue(ds, 0)->name, "b.npy");
    assert_int_equal(weir_dataset_issue(ds, 0)->code, WEIR_EACCES);
    assert_string_equal(weir_dataset_issue(ds, 1)->name, "c.npy");
    assert_non_null(strstr(weir_dataset_issue(ds, 1)->reason, "c.labels.npy"));
    weir_dataset_close(&ds);
    /* Reads that give a few bytes at a time are only slow. */
    snprintf(url, sizeof(url), "fault:short=9:%s", t.path);
    ds = open_path(url);
    assert_int_equal(weir_dataset_count(ds), 6);
    assert_int_equal(weir_dataset_class_count(ds), 0x30303031);
    weir_dataset_close(&ds);
    snprintf(url, sizeof(url), "fault:eio@~b.npy:%s", t.path);
    check_fails(url, WEIR_EIO, "b.npy");
    snprintf(url, sizeof(url), "fault:eio:%s", tmpdir_at(&t, "a.npy"));
    check_fails(url, WEIR_EIO, "a.npy");
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_file),
        cmocka_unit_test(test_narrow_labels),
        cmocka_unit_test(test_too_many_labels),
        cmocka_unit_test(test_wt_file),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_labels_beside),
        cmocka_unit_test(test_long_header),
        cmocka_unit_test(test_bad_file),
        cmocka_unit_test(test_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
