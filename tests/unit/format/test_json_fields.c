/* test_json_fields.c - what the samples of a JSON data set have becomes fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "format/remarks.h"
#include "textsets.h"

static int make(struct textset *t, const char *name, const char *text)
{
    return textset_make(t, name, text, strlen(text), NULL);
}

/* What only later samples have is named to who asks. */
static void test_left_out_late(void **state)
{
    struct wr_left_out left = {.lock = PTHREAD_MUTEX_INITIALIZER};
    char text[2048] = "";
    struct textset t;

    (void)state;
    for (unsigned k = 0; k < 16; k++)
        strcat(text, "{\"x\":[1],\"label\":\"a\",\"m\":{\"a\":1}}\n");
    strcat(text, "{\"x\":[1],\"label\":\"b\",\"l\\u0061te\":{\"x\":[1]}, "
                 "\"caf\xc3\xa9\": 2}\n{}\n");
    assert_int_equal(make(&t, "a.jsonl", text), 0);
    t.u.left = &left;
    for (uint64_t i = 0; i < 18; i++)
        assert_int_equal(textset_take(&t, i, NULL) == 0, i < 17);
    assert_int_equal(left.names.count, 3);
    assert_string_equal(wr_intern_text(&left.names, 0), "m");
    assert_string_equal(wr_intern_text(&left.names, 1), "late");
    assert_string_equal(wr_intern_text(&left.names, 2), "caf\xc3\xa9");
    textset_done(&t);
    wr_intern_done(&left.names);
}

/* A first sample that is odd decides nothing: what most of them have does. */
static void test_odd_first(void **state)
{
    static const char *const odd[] = {
        "{\"x\":[1,\"oops\"],\"y\":\"a\"}",
        "{\"x\":[[1],[2,3]],\"y\":\"a\"}",
        "{\"x\":{\"a\":1},\"y\":\"a\"}",
        "{\"x\":\"N/A\",\"y\":\"a\"}",
        "{\"x\":7,\"y\":\"a\"}",
        "{\"x\":[[1,2]],\"y\":\"a\"}",
        "[5,6,7]",
    };
    char text[512];
    struct textset t;
    uint32_t label;

    (void)state;
    for (size_t k = 0; k < sizeof(odd) / sizeof(odd[0]); k++) {
        snprintf(text, sizeof(text),
                 "%s\n{\"x\":[1,2],\"y\":\"b\",\"t\":0.5}\n"
                 "{\"x\":[3,4],\"y\":\"c\",\"t\":2}\n",
                 odd[k]);
        assert_int_equal(make(&t, "a.jsonl", text), 0);
        assert_int_equal(t.ds->fields[0].ndim, 1);
        assert_int_equal(t.ds->fields[0].dims[0], 2);
        assert_int_equal(textset_take(&t, 0, NULL), WEIR_EFORMAT);
        assert_int_equal(textset_take(&t, 2, &label), 0);
        assert_string_equal(weir_dataset_class_name(t.ds, label), "c");
        assert_true(textset_f32(&t, "x", 1) == 4);
        assert_true(textset_f32(&t, "t", 0) == 2);
        textset_done(&t);
    }
}

/* Numbers of which the first is a word; a label that the first lacks. */
static void test_late_members(void **state)
{
    static const char text[] =
        "{\"x\":[1],\"t\":\"N/A\"}\n"
        "{\"x\":[2],\"t\":1.5,\"label\":\"bee\",\"s\":\"more\"}\n"
        "{\"x\":[3],\"t\":2,\"label\":\"ant\",\"rare\":[1],\"n\":4}\n"
        "{\"x\":[3],\"t\":2,\"label\":\"\"}\n";
    char remark[WR_REMARK_BYTES];
    struct textset t;
    uint32_t label;

    (void)state;
    assert_int_equal(make(&t, "a.jsonl", text), 0);
    assert_int_equal(weir_dataset_class_count(t.ds), 2);
    assert_int_equal(textset_take(&t, 0, NULL), WEIR_EFORMAT); /* its t */
    assert_int_equal(textset_take(&t, 1, &label), 0);
    assert_int_equal(label, 1);
    assert_true(textset_f32(&t, "t", 0) == 1.5f);
    assert_true(textset_is(&t, "s", "more"));
    assert_int_equal(textset_take(&t, 2, &label), 0);
    assert_int_equal(label, 0);
    assert_true(wr_remark_at(t.ds, 0, remark, sizeof(remark)));
    assert_string_equal(remark, "values that are not used: 'rare', 'n'");
    textset_done(&t);
}

/* An empty string is no label among numbers, either. */
static void test_empty_label(void **state)
{
    static const char *const sets[] = {
        "{\"x\":[1],\"label\":\"\"}\n{\"x\":[2],\"label\":3}\n",
        "{\"x\":[1],\"label\":\"\"}\n{\"x\":[2],\"label\":3.5}\n"};
    struct textset t;
    uint32_t label;

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(make(&t, "a.jsonl", sets[k]), 0);
        assert_int_equal(textset_take(&t, 0, &label), 0);
        assert_int_equal(label, WEIR_NO_LABEL);
        if (k)
            assert_true(isnan(textset_f32(&t, "label", 0)));
        assert_int_equal(textset_take(&t, 1, &label), 0);
        assert_int_equal(label, k ? WEIR_NO_LABEL : 3);
        textset_done(&t);
    }
}

/* Names as json.dumps writes them. */
static void test_escaped_names(void **state)
{
    static const char text[] =
        "{\"caf\\u00e9\":[1,2],\"l\\u0061bel\":\"bee\",\"a\\/b\":\"t\"}\n"
        "{\"caf\xc3\xa9\":[3,4],\"label\":\"ant\",\"a/b\":\"u\"}\n";
    char long_name[800] = "{\"x\":[1],\"", remark[WR_REMARK_BYTES];
    struct textset t;
    uint32_t label;

    (void)state;
    assert_int_equal(make(&t, "a.jsonl", text), 0);
    assert_int_equal(textset_take(&t, 0, &label), 0);
    assert_int_equal(label, 1);
    assert_true(textset_f32(&t, "x", 1) == 2);
    assert_true(textset_is(&t, "a/b", "t"));
    assert_int_equal(textset_take(&t, 1, &label), 0);
    assert_int_equal(label, 0);
    assert_true(textset_f32(&t, "x", 1) == 4);
    assert_false(wr_remark_at(t.ds, 0, remark, sizeof(remark)));
    textset_done(&t);
    for (unsigned k = 0; k < 60; k++)
        strcat(long_name, "\\u00e9");
    strcat(long_name, "\":\"t\"}\n");
    assert_int_equal(make(&t, "a.jsonl", long_name), 0);
    assert_int_equal(textset_take(&t, 0, NULL), 0);
    for (unsigned k = 0; k < wr_index_schema(t.ds->index)->count; k++)
        if (t.ds->fields[k].kind == WEIR_FIELD_BYTES)
            assert_true(textset_is(&t, t.ds->fields[k].name, "t"));
    assert_int_equal(wr_index_schema(t.ds->index)->count, 3);
    textset_done(&t);
}

/* Arrays of the declared shape, or their numbers alone. */
static void test_declared_shape(void **state)
{
    static const char text[] = "{\"x\":[[1,2],[3,4],[5,6]]}\n"
                               "{\"x\":[1,2,3,4,5,6]}\n"
                               "{\"x\":[[1,2,3],[4,5,6]]}\n"
                               "{\"x\":[[[1,2]],[[3,4]],[[5,6]]]}\n";
    struct textset t;

    (void)state;
    assert_int_equal(
        textset_make(&t, "a.jsonl", text, strlen(text), "x=tensor:f32:3x2"), 0);
    assert_int_equal(textset_take(&t, 0, NULL), 0);
    assert_int_equal(textset_take(&t, 1, NULL), 0);
    assert_true(textset_f32(&t, "x", 5) == 6);
    assert_int_equal(textset_take(&t, 2, NULL), WEIR_EFORMAT);
    assert_string_equal(t.err.msg, "line 3: '/x' is 2x3 f32, not 3x2 f32");
    assert_int_equal(textset_take(&t, 3, NULL), WEIR_EFORMAT);
    textset_done(&t);
}

/* What is in the samples and no field is named. */
static void test_left_out(void **state)
{
    char remark[WR_REMARK_BYTES];
    struct textset t;

    (void)state;
    assert_int_equal(make(&t, "a.jsonl",
                          "{\"x\":[1],\"more\":{\"a\":1},\"w\":[\"s\"]}\n"
                          "{\"x\":[1],\"late\":3}\n"),
                     0);
    assert_int_equal(weir_dataset_issue_count(t.ds), 0);
    assert_true(wr_remark_at(t.ds, 0, remark, sizeof(remark)));
    assert_string_equal(remark,
                        "values that are not used: 'more', 'w', 'late'");
    assert_false(wr_remark_at(t.ds, 1, remark, sizeof(remark)));
    textset_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left_out_late),
        cmocka_unit_test(test_odd_first),
        cmocka_unit_test(test_late_members),
        cmocka_unit_test(test_empty_label),
        cmocka_unit_test(test_escaped_names),
        cmocka_unit_test(test_declared_shape),
        cmocka_unit_test(test_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
