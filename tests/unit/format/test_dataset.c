/* test_dataset.c - opening data sets: choice of format, progress, failures.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "canceled.h"
#include "format/format.h"
#include "format/writer.h"
#include "tmpdir.h"
#include "weir/dataset.h"

static void test_registry(void **state)
{
    (void)state;
#define FORMAT(name) assert_ptr_equal(wr_format_find(#name), &wr_format_##name);
#define WRITER(name, help)                                                     \
    assert_ptr_equal(wr_writer_find(#name), &wr_writer_##name);
#define FIELD_WRITER(name, help)                                               \
    WRITER(name, help) assert_true(wr_writer_##name.fields);
#define ARRAY_WRITER(name, help)                                               \
    assert_ptr_equal(wr_array_writer_find(#name), &wr_array_writer_##name);
#include "format/formats.def"
    assert_null(wr_format_find("nothing"));
}

static void test_extensions(void **state)
{
    (void)state;
    assert_true(wr_name_has_ext("a.JPG", ".jpg"));
    assert_false(wr_name_has_ext(".jpg", ".jpg"));
    assert_false(wr_name_has_ext("a.jpg.txt", ".jpg"));
    assert_false(wr_name_has_ext("", ".jpg"));
    assert_true(wr_name_has_ext("a.TGZ", ".tar .tar.gz .tgz"));
    assert_true(wr_name_has_ext("a.tar", ".tar .tar.gz .tgz"));
    assert_false(wr_name_has_ext("a.gz", ".tar .tar.gz .tgz"));
    assert_false(wr_name_has_ext("a.tar ", ".tar .tgz"));
}

static void test_format_by_name(void **state)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "a.jpg", "x");
    tmpdir_put_text(&t, "names", "a.jpg,1\n");
    weir_dataset_defaults(&cfg);
    cfg.format = "zip";
    assert_int_equal(weir_dataset_open(&ds, t.path, &cfg, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "images, list, tensor"));
    cfg.format = "list";
    assert_int_equal(weir_dataset_open(&ds, t.path, &cfg, &err), WEIR_EINVAL);
    assert_int_equal(weir_dataset_open(&ds, tmpdir_at(&t, "names"), &cfg, &err),
                     0);
    weir_dataset_close(&ds);
    cfg.format = "tensor";
    assert_int_equal(weir_dataset_open(&ds, t.path, &cfg, &err), WEIR_EFORMAT);
    assert_null(ds);
    weir_dataset_close(&ds);
    weir_dataset_close(NULL);
    tmpdir_done(&t);
}

static int count_calls(void *arg, uint64_t samples)
{
    unsigned *calls = arg;

    (void)samples;
    ++*calls;
    return 0;
}

static void test_progress(void **state)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    unsigned calls = 0;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    tmpdir_mkdir(&t, "c");
    tmpdir_put_text(&t, "c/a.jpg", "x");
    tmpdir_put_text(&t, "l.csv", "c/a.jpg,1\n");
    weir_dataset_defaults(&cfg);
    cfg.progress = count_calls;
    cfg.progress_arg = &calls;
    assert_int_equal(weir_dataset_open(&ds, t.path, &cfg, &err), 0);
    assert_true(calls > 0);
    weir_dataset_close(&ds);
    check_canceled(t.path);
    check_canceled(tmpdir_at(&t, "l.csv"));
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_format_by_name),
        cmocka_unit_test(test_progress),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
