/* test_fragment.c - what a user says behind '#' of a data set's URL.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/format.h"
#include "tmpdir.h"
#include "weir/dataset.h"

static void test_pairs(void **state)
{
    struct wr_fragment f;

    (void)state;
    assert_int_equal(wr_fragment_parse(NULL, &f, NULL), 0);
    assert_int_equal(f.count, 0);
    assert_int_equal(wr_fragment_parse("x=/data/pixels,label=/class", &f, NULL),
                     0);
    assert_int_equal(f.count, 2);
    assert_string_equal(wr_fragment_find(&f, "x"), "/data/pixels");
    assert_string_equal(wr_fragment_find(&f, "label"), "/class");
    assert_null(wr_fragment_find(&f, "lab"));
    assert_int_equal(wr_fragment_parse("x=a=b#c", &f, NULL), 0);
    assert_string_equal(f.pairs[0].value, "a=b#c");
}

static void test_bad_pairs(void **state)
{
    static const char *const bad[] = {"",     "x",    "x=",      "=x",
                                      "x=1,", ",x=1", "x=1,x=2", "x=1,,y=2"};
    char text[1024];
    struct wr_fragment f;
    weir_err err;

    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        assert_int_equal(wr_fragment_parse(bad[k], &f, &err), WEIR_EINVAL);
    assert_string_equal(err.msg, "'#': write NAME=VALUE");
    snprintf(text, sizeof(text), "x=%0300d", 1);
    assert_int_equal(wr_fragment_parse(text, &f, &err), WEIR_EINVAL);
    text[0] = '\0';
    for (int k = 0; k < 65; k++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sn%d=1",
                 k ? "," : "", k);
    assert_int_equal(wr_fragment_parse(text, &f, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "more than 64"));
}

static void test_known(void **state)
{
    static const char *const known[] = {"label", "header", NULL};
    struct wr_fragment f;
    weir_err err;

    (void)state;
    wr_fragment_parse("label=1,header=no", &f, NULL);
    assert_int_equal(wr_fragment_check(&f, known, NULL), 0);
    wr_fragment_parse("label=1,head=no", &f, NULL);
    assert_int_equal(wr_fragment_check(&f, known, &err), WEIR_EINVAL);
    assert_string_equal(err.msg,
                        "'#head=no': the name is none of label, header");
}

static int open_at(const char *url, char **ret_leaf, char **ret_fragment,
                   weir_err *err)
{
    struct wr_store *st = NULL;
    int r = wr_fragment_open(url, 0, &st, ret_leaf, ret_fragment, err);

    if (r == 0)
        wr_store_close(st);
    return r;
}

static void test_open(void **state)
{
    char *leaf = NULL, *fragment = NULL;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    tmpdir_mkdir(&t, "c#=");
    tmpdir_put_text(&t, "c#=/a.csv", "1,2\n");
    tmpdir_put_text(&t, "c#=/b.csv#x=1", "1,2\n");
    assert_int_equal(
        open_at(tmpdir_at(&t, "c#=/a.csv#x=/p,y=2"), &leaf, &fragment, &err),
        0);
    assert_string_equal(leaf, "a.csv");
    assert_string_equal(fragment, "x=/p,y=2");
    free(leaf);
    free(fragment);
    assert_int_equal(
        open_at(tmpdir_at(&t, "c#=/b.csv#x=1"), &leaf, &fragment, &err), 0);
    assert_string_equal(leaf, "b.csv#x=1");
    assert_null(fragment);
    free(leaf);
    assert_int_equal(
        open_at(tmpdir_at(&t, "c#=#label=1"), &leaf, &fragment, &err), 0);
    assert_null(leaf);
    assert_string_equal(fragment, "label=1");
    free(fragment);
    assert_int_equal(
        open_at(tmpdir_at(&t, "c#=/none.csv#x=1"), &leaf, &fragment, &err),
        WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "none.csv#x=1"));
    assert_int_equal(
        open_at(tmpdir_at(&t, "c#=/a.csv#nothing"), &leaf, &fragment, &err),
        WEIR_ENOENT);
    tmpdir_done(&t);
}

/* Formats that take none say so, and are not chosen. */
static void test_formats_without(void **state)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "a.lst", "b.jpg,1\n");
    weir_dataset_defaults(&cfg);
    assert_int_equal(
        weir_dataset_open(&ds, tmpdir_at(&t, "a.lst#x=1"), &cfg, &err),
        WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "no format reads this that takes '#x=1'"));
    cfg.format = "list";
    assert_int_equal(
        weir_dataset_open(&ds, tmpdir_at(&t, "a.lst#x=1"), &cfg, &err),
        WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "the format 'list' takes no '#x=1'"));
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_bad_pairs),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_formats_without),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
