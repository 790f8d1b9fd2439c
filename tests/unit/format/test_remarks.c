/* test_remarks.c - what is said of ignored files and of train/ beside val/.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/remarks.h"
#include "tmpdir.h"

static weir_dataset *open_url(const char *url)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (weir_dataset_open(&ds, url, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    return ds;
}

static void put(const struct tmpdir *t, const char *folder, const char *name)
{
    char path[256];

    mkdir(tmpdir_at(t, folder), 0777);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    tmpdir_put_text(t, path, "x");
}

static void test_ignored(void **state)
{
    char text[WR_REMARK_BYTES];
    uint64_t files = 0;
    struct tmpdir t;
    weir_dataset *ds;
    weir_err err = {0};

    tmpdir_init(&t);
    put(&t, "cat", "1.heic");
    put(&t, "cat", "2.HEIC");
    put(&t, "cat", "core");
    put(&t, "cat", "notes.txt");
    put(&t, "cat", ".hidden");
    put(&t, "dog", "movie.mp4");
    assert_int_equal(weir_dataset_open(&ds, t.path, NULL, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "no samples"));
    assert_non_null(strstr(err.msg, "4 files ignored: .heic 2"));
    put(&t, "dog", "1.webp");
    ds = open_url(t.path);
    assert_int_equal(weir_dataset_count(ds), 1);
    assert_true(wr_remark_at(ds, 0, text, sizeof(text)));
    assert_string_equal(
        text, "4 files ignored: .heic 2, without extension 1, .mp4 1");
    assert_false(wr_remark_at(ds, 1, text, sizeof(text)));
    assert_int_equal(weir_dataset_ignored_count(ds), 4);
    assert_string_equal(weir_dataset_ignored(ds, 0, &files), ".heic");
    assert_int_equal(files, 2);
    assert_null(weir_dataset_ignored(ds, 3, &files));
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_nothing_to_say(void **state)
{
    char text[WR_REMARK_BYTES];
    struct tmpdir t;
    weir_dataset *ds;

    tmpdir_init(&t);
    put(&t, "train", "1.jpg");
    put(&t, "plane", "1.jpg"); /* vehicles, one of them a train */
    put(&t, "trainer", "1.jpg");
    tmpdir_put_text(&t, "README", "x");
    ds = open_url(t.path);
    assert_false(wr_remark_at(ds, 0, text, sizeof(text)));
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void check_split(const char *a, const char *b, const char *c,
                        const char *want, const char *best)
{
    char text[WR_REMARK_BYTES], url[300], all[600];
    struct tmpdir t;
    weir_dataset *ds;

    tmpdir_init(&t);
    put(&t, a, "1.jpg");
    put(&t, b, "1.jpg");
    put(&t, c, "1.jpg");
    snprintf(url, sizeof(url), "%s//", t.path);
    ds = open_url(url);
    assert_true(wr_remark_at(ds, 0, text, sizeof(text)));
    snprintf(all, sizeof(all), "%s; did you mean %s/%s?", want, t.path, best);
    assert_string_equal(text, all);
    assert_false(wr_remark_at(ds, 1, text, sizeof(text)));
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_split(void **state)
{
    check_split("train", "val", "meta",
                "contains train/ and val/: their classes would be train and "
                "val",
                "train");
    check_split("validation", "Train", "test",
                "contains Train/, test/ and validation/: their classes would "
                "be Train, test and validation",
                "Train");
    check_split("val2017", "train2017", "annotations",
                "contains train2017/ and val2017/: their classes would be "
                "train2017 and val2017",
                "train2017");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ignored),
        cmocka_unit_test(test_nothing_to_say),
        cmocka_unit_test(test_split),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
