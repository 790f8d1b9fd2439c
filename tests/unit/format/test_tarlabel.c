/* test_tarlabel.c - labels in tar archives: text, JSON, and wrong ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/tarfields.h"
#include "tarset.h"

static void test_parts(void **state)
{
    static const struct {
        const char *ext;
        enum wr_tar_part part;
    } exts[] = {
        {"jpg", WR_TAR_PICTURE},      {"JPEG", WR_TAR_PICTURE},
        {"Png", WR_TAR_PICTURE},      {"left.jpg", WR_TAR_VIEW},
        {"a.b.PNG", WR_TAR_VIEW},     {".jpg", WR_TAR_VIEW},
        {"cls", WR_TAR_LABEL_TEXT},   {"CLS.txt", WR_TAR_LABEL_TEXT},
        {"label", WR_TAR_LABEL_TEXT}, {"json", WR_TAR_JSON},
        {"a.json", WR_TAR_NO_PART},   {"a.cls", WR_TAR_NO_PART},
        {"jpg.txt", WR_TAR_NO_PART},  {"", WR_TAR_NO_PART},
        {"jpgx", WR_TAR_NO_PART},     {"xjpg", WR_TAR_NO_PART},
    };
    unsigned bits = 0, bit;

    (void)state;
    for (size_t k = 0; k < sizeof(exts) / sizeof(exts[0]); k++) {
        assert_int_equal(wr_tar_part_of(exts[k].ext, &bit), exts[k].part);
        assert_int_equal(bits & bit, 0); /* each has its own */
        assert_int_equal(bit != 0, exts[k].part >= WR_TAR_PICTURE);
        bits |= bit;
    }
}

/* Bytes without a NUL behind them. */
static void test_text(void **state)
{
    static const char text[] = {' ', '4', '2', '\r', '\n'};
    uint32_t label = 7;
    weir_err err;

    (void)state;
    assert_int_equal(
        wr_tar_label_parse(WR_TAR_LABEL_TEXT, text, 5, &label, &err), 0);
    assert_int_equal(label, 42);
    assert_int_equal(
        wr_tar_label_parse(WR_TAR_LABEL_TEXT, text, 2, &label, &err), 0);
    assert_int_equal(label, 4);
    assert_int_equal(
        wr_tar_label_parse(WR_TAR_LABEL_TEXT, text, 1, &label, &err),
        WEIR_EFORMAT);
    assert_int_equal(wr_tar_label_parse(WR_TAR_JSON, text, 5, &label, &err), 0);
    assert_int_equal(label, 42);
    assert_int_equal(
        wr_tar_label_parse(WR_TAR_LABEL_TEXT, "4294967294", 10, &label, &err),
        0);
    assert_int_equal(label, 4294967294);
    assert_int_equal(
        wr_tar_label_parse(WR_TAR_LABEL_TEXT, "5\0", 2, &label, &err),
        WEIR_EFORMAT);
    assert_int_equal(label, 4294967294); /* untouched */
}

static void test_json(void **state)
{
    static const struct {
        const char *text;
        uint32_t label;
    } docs[] = {
        {"{\"label\": 3}", 3},
        {"{\"cls\": 4, \"class_name\": \"cat\"}", 4},
        {"{\"class\": 5}", 5},
        {"{\"class_id\": 6, \"class\": \"cat\"}", 6},
        {"7\n", 7},
        {"{\"label\": -1}", WEIR_NO_LABEL},
        {"{\"label\": \"cat\"}", WEIR_NO_LABEL},
        {"[1]", WEIR_NO_LABEL},
        {"{}", WEIR_NO_LABEL},
    };
    const unsigned n = sizeof(docs) / sizeof(docs[0]);
    weir_dataset *ds;
    struct tmpdir t;
    char name[32];

    (void)state;
    for (unsigned k = 0; k < n; k++) {
        snprintf(name, sizeof(name), "%u.jpg", k);
        tar_file(&tar, name, name);
        snprintf(name, sizeof(name), "%u.json", k);
        tar_file(&tar, name, docs[k].text);
    }
    tar_file(&tar, "x.jpg", "x");
    tar_file(&tar, "x.json", "{\"label\": 1}");
    tar_file(&tar, "x.cls", "2"); /* goes before JSON */
    tar_file(&tar, "y.cls", "2");
    tar_file(&tar, "y.json", "no JSON, and not looked at");
    tar_file(&tar, "y.jpg", "y");
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_count(ds), n + 2);
    for (unsigned k = 0; k < n; k++) {
        char key[32];

        snprintf(name, sizeof(name), "%u.jpg", k);
        snprintf(key, sizeof(key), "%u", k);
        check(ds, k, key, name, docs[k].label);
    }
    check(ds, n, "x", "x", 2);
    check(ds, n + 1, "y", "y", 2);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    done(ds, &t);
}

/* A label of no use leaves the sample, without one. */
static void test_bad_labels(void **state)
{
    static const char *const bad[][2] = {
        {"a.cls", ""},
        {"a.cls", "cat"},
        {"a.cls", "1 2"},
        {"a.cls", "4294967295"},
        {"a.cls", "-2"},
        {"a.cls", "1.5"},
        {"a.json", ""},
        {"a.json", "{"},
        {"a.json", "{\"label\": 4294967295}"},
        {"a.json", "{\"label\": -5}"},
        {"a.json", "99999999999999999999999"},
    };
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        tar_file(&tar, "a.jpg", "a");
        tar_file(&tar, bad[k][0], bad[k][1]);
        tar_end(&tar);
        ds = open_tar(&t);
        check(ds, 0, "a", "a", WEIR_NO_LABEL);
        check_issue(ds, "offset 1536: member 'a.", WEIR_EFORMAT);
        done(ds, &t);
    }
}

static void test_long_label(void **state)
{
    static char deep[65537];
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    memset(deep, '[', sizeof(deep) - 1);
    tar_file(&tar, "a.jpg", "a");
    tar_file(&tar, "a.json", deep); /* nested too deep, and not too long */
    tar_end(&tar);
    ds = open_tar(&t);
    check_issue(ds, "member 'a.json': not JSON", WEIR_EFORMAT);
    done(ds, &t);
    tar_file(&tar, "a.jpg", "a");
    tar_head(&tar, '0', "a.json", 65537);
    tar_data(&tar, deep, 65537);
    tar_file(&tar, "b.jpg", "b");
    tar_end(&tar);
    ds = open_tar(&t);
    check_issue(ds, "65537 bytes for a label (limit 65536)", WEIR_ELIMIT);
    check(ds, 1, "b", "b", WEIR_NO_LABEL);
    done(ds, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),       cmocka_unit_test(test_bad_labels),
        cmocka_unit_test(test_long_label),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
