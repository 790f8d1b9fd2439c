/* test_json.c - JSON lines and arrays as data sets.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/text.h"
#include "codec/json.h"
#include "format/text_scan.h"
#include "textsets.h"

static int make(struct textset *t, const char *name, const char *text)
{
    return textset_make(t, name, text, strlen(text), NULL);
}

/* --- texts --- */

static bool skips(const char *text)
{
    struct wr_json j = {.at = text, .end = text + strlen(text)};

    return wr_json_skip(&j) && (wr_json_peek(&j), j.at == j.end);
}

static void test_skip(void **state)
{
    static const char *const good[] = {"1",
                                       "-1.5e3",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       "[1, [2], {\"a\": [true, null]}]",
                                       " {\"a\" : \"b\\\"\" , \"c\":[ ]} ",
                                       "[NaN,-Infinity]",
                                       "\"\xc3\xa9\""};
    static const char *const bad[] = {"",     "[",          "[1",       "[1,",
                                      "[1,]", "{\"a\"}",    "{\"a\":}", "{1:2}",
                                      "\"a",  "\"a\nb\"",   "[1 2]",    "tru",
                                      "[}",   "{\"a\":1,}", "nul",      "\"\\"};
    char deep[200];

    (void)state;
    for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++)
        if (!skips(good[k]))
            fail_msg("%s", good[k]);
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        if (skips(bad[k]))
            fail_msg("%s", bad[k]);
    for (int n = 64; n <= 65; n++) {
        memset(deep, '[', (size_t)n);
        deep[n] = '1';
        memset(deep + n + 1, ']', (size_t)n);
        deep[2 * n + 1] = '\0';
        assert_int_equal(skips(deep), n == 64);
    }
}

static void test_unescape(void **state)
{
    static const struct {
        const char *raw, *text;
    } texts[] = {
        {"a\\n\\t\\\"\\\\\\/b", "a\n\t\"\\/b"},
        {"\\u00e9\\u20AC\\ud83d\\ude00",
         "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\\ud800", NULL},
        {"\\udc00\\ud800", NULL},
        {"\\ud800\\u0041", NULL},
        {"\\x", NULL},
        {"\\u12g4", NULL},
        {"\\u12", NULL},
        {"\\", NULL},
    };
    char buf[64];

    (void)state;
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
        struct wr_json_string s = {
            .at = texts[k].raw, .len = strlen(texts[k].raw), .escaped = true};
        size_t len = 0;
        bool ok = wr_json_unescape(&s, buf, &len);

        assert_int_equal(ok, texts[k].text != NULL);
        if (ok) {
            assert_int_equal(len, strlen(texts[k].text));
            assert_memory_equal(buf, texts[k].text, len);
        }
    }
}

static void test_utf8(void **state)
{
    static const struct {
        const char *text;
        int bad; /* -1: none */
    } texts[] = {
        {"plain ascii, longer than eight bytes", -1},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", -1},
        {"12345678\xff", 8},
        {"\xc0\x80", 0},
        {"a\xed\xa0\x80", 1},
        {"\xe0\x80\x80", 0},
        {"\xf4\x90\x80\x80", 0},
        {"ab\xc3", 2},
        {"\x80", 0},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
        const char *t = texts[k].text, *at = wr_text_not_utf8(t, t + strlen(t));

        assert_int_equal(at ? at - t : -1, texts[k].bad);
    }
}

static void test_escape(void **state)
{
    static const char text[] = "a\"b\\c\n\x1f</\xc3\xa9";
    char buf[sizeof(text) * WR_TEXT_ESCAPED];
    size_t n = wr_text_escape(text, sizeof(text), /* html= */ false, buf);

    (void)state;
    buf[n] = '\0'; /* the one of `text` took six */
    assert_string_equal(buf, "a\\\"b\\\\c\\u000a\\u001f</\xc3\xa9\\u0000");
    n = wr_text_escape("a</&>", 5, /* html= */ true, buf);
    assert_int_equal(n, 1 + 6 + 1 + 6 + 6);
    assert_memory_equal(buf, "a\\u003c/\\u0026\\u003e", n);
}

/* --- data sets --- */

static const char lines[] =
    "{\"pixels\": [[1, 2.5], [3, 4e-1]], \"label\": 2, \"text\": "
    "\"a\\u00e9\"}\n"
    "\n"
    "{\"text\": null, \"label\": 0, \"more\": {\"pixels\": 1}, "
    "\"pixels\":[[5,NaN],[null,true]]}\r\n"
    "{\"pixels\":[[\t1,\t2],[3,4]],\"text\":\"plain\"}";

static void test_lines(void **state)
{
    struct textset t;
    uint32_t label;

    (void)state;
    assert_int_equal(make(&t, "a.jsonl", lines), 0);
    assert_int_equal(weir_dataset_count(t.ds), 3);
    assert_string_equal(t.ds->fields[0].name, "x");
    assert_int_equal(t.ds->fields[0].ndim, 2);
    assert_int_equal(t.ds->fields[0].dims[1], 2);
    assert_int_equal(textset_take(&t, 0, &label), 0);
    assert_int_equal(label, 2);
    assert_true(textset_f32(&t, "x", 3) == 0.4f);
    assert_true(textset_is(&t, "text", "a\xc3\xa9"));
    assert_int_equal(textset_take(&t, 1, &label), 0);
    assert_int_equal(label, 0);
    assert_true(isnan(textset_f32(&t, "x", 1)));
    assert_true(isnan(textset_f32(&t, "x", 2)));
    assert_true(textset_f32(&t, "x", 3) == 1);
    assert_null(textset_field(&t, "text").bytes);
    assert_int_equal(wr_text_line(t.ds->index, 1), 3);
    assert_int_equal(textset_take(&t, 2, &label), 0);
    assert_int_equal(label, WEIR_NO_LABEL);
    assert_true(textset_is(&t, "text", "plain"));
    textset_done(&t);
}

static void test_pointers(void **state)
{
    static const char text[] =
        "{\"a/b\":{\"~c\":[{\"v\":[7,8]}]},\"cl\\u0061ss\":\"ant\",\"s\":5}\n"
        "{\"s\":6,\"class\":\"\\u0061nt\",\"a/b\":{\"~c\":[{\"v\":[9,8]}]}}\n"
        "{\"s\":7,\"class\":\"bee\",\"a/b\":{\"~c\":[{\"v\":[9,8]}]}}\n"
        "{\"s\":7,\"class\":3,\"a/b\":{\"~c\":[{\"v\":[9,8]}]}}\n";
    struct textset t;

    (void)state;
    assert_int_equal(
        make(&t, "a.jsonl#x=/a~1b/~0c/0/v,label=/class,s=/s,c=/a~1b/~0c/0/v/1",
             text),
        0);
    assert_int_equal(weir_dataset_count(t.ds), 3);
    assert_int_equal(weir_dataset_class_count(t.ds), 2);
    assert_string_equal(weir_dataset_class_name(t.ds, 1), "bee");
    assert_string_equal(weir_dataset_issue(t.ds, 0)->reason,
                        "line 4: the label is not a string, as the others are");
    assert_int_equal(textset_take(&t, 1, NULL), 0);
    assert_true(textset_f32(&t, "x", 0) == 9);
    assert_int_equal(textset_field(&t, "s").bytes[0], 6);
    assert_int_equal(textset_field(&t, "c").bytes[0], 8);
    assert_int_equal(textset_open(&t, "a.jsonl#x=/none", NULL, NULL),
                     WEIR_EFORMAT);
    assert_int_equal(textset_open(&t, "a.jsonl#x=none", NULL, NULL),
                     WEIR_EINVAL);
    textset_done(&t);
}

static void test_array(void **state)
{
    struct textset t;
    uint32_t label;

    (void)state;
    assert_int_equal(
        make(&t, "a.json",
             " [ {\"x\":[1,2],\"y\":1} ,\n{\"y\":0,\n\"x\":[3,4]}\n"
             ",{\"x\":[\"],\",2],\"y\":1}]\n"),
        0);
    assert_int_equal(weir_dataset_count(t.ds), 3);
    assert_int_equal(weir_dataset_issue_count(t.ds), 0);
    assert_int_equal(textset_take(&t, 1, &label), 0);
    assert_int_equal(label, 0);
    assert_true(textset_f32(&t, "x", 1) == 4);
    assert_int_equal(textset_take(&t, 2, NULL), WEIR_EFORMAT);
    assert_string_equal(t.err.msg, "line 4, column 7 of the sample: a string "
                                   "where a number was to come");
    textset_done(&t);
    assert_int_equal(make(&t, "b.json", "[[1,2,3],\n[4,5,6]]"), 0);
    assert_int_equal(textset_take(&t, 1, NULL), 0);
    assert_true(textset_f32(&t, "x", 2) == 6);
    textset_done(&t);
}

static void test_bad_arrays(void **state)
{
    static const struct {
        const char *text, *reason;
    } sets[] = {
        {"[[1],[2]", "line 1: the text ends before the array does"},
        {"[[1],[2]\n] x", "line 2: text behind the array"},
        {"[[1],,[2]]", "line 1: an element was to come here"},
        {"[[1],[2]}", "line 1: an element was to come here"},
        {"[[1],[2],\n]", "line 1: an element was to come here"},
        {"[[1],[2], \"abc", "line 1: the text ends before the array does"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
        struct textset t;

        assert_int_equal(make(&t, "a.json", sets[k].text), 0);
        assert_true(weir_dataset_count(t.ds) >= 1);
        assert_int_equal(weir_dataset_issue_count(t.ds), 1);
        assert_string_equal(weir_dataset_issue(t.ds, 0)->reason,
                            sets[k].reason);
        textset_done(&t);
    }
}

static void test_bad_samples(void **state)
{
    static const struct {
        const char *line, *message;
    } bad[] = {
        {"{\"x\":[1,2}", ", column 10: a comma or the end was to come here"},
        {"{\"x\":[1,02]}", ", column 9: not a number"},
        {"{\"x\":[1,.5]}", ", column 9: not a number"},
        {"{\"x\":[1,+5]}", ", column 9: not a number"},
        {"{\"x\":[1,5.]}", ", column 9: not a number"},
        {"{\"x\":[1,1e39]}", ", column 9: too large for its type"},
        {"{\"x\":[1,nan]}", ", column 9: not a number"},
        {"{\"x\":[1]}", ": '/x' is 1 f32, not 2 f32"},
        {"{\"x\":[[1],[2,3]]}",
         ", column 11: an array that is not rectangular"},
        {"{\"x\":7}", ", column 6: an array was to come here"},
        {"{\"y\":[1,2]}", ": there is no '/x' in the sample"},
        {"{\"x\":[1,2]} 5", ", column 13: text behind the end of the value"},
        {"{\"x\":[1,2],\"s\":\"\\q\"}",
         ", column 17: an escape in this string is none, or half of a "
         "surrogate pair"},
        {"{\"x\":[1,2],\"s\":\"\xff\"}",
         ", column 17: a byte that is not UTF-8"},
        {"{\"x\":[1,2],\"s\":5}", ", column 16: a string was to come here"},
        {"{\"x\":[1,", ", column 9: the text ends in the middle of a value"},
        {"[1,2]", ": there is no '/x' in the sample"},
    };
    char text[4096] = "", want[200];
    struct textset t;

    (void)state;
    for (unsigned k = 0; k < 16; k++)
        strcat(text, "{\"x\":[1,2],\"s\":\"t\"}\n");
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        sprintf(text + strlen(text), "%s\n", bad[k].line);
    assert_int_equal(make(&t, "a.jsonl", text), 0);
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        if (textset_take(&t, 16 + k, NULL) != WEIR_EFORMAT)
            fail_msg("%s", bad[k].line);
        snprintf(want, sizeof(want), "line %zu%s", 17 + k, bad[k].message);
        assert_string_equal(t.err.msg, want);
    }
    textset_done(&t);
}

/* Samples of their own lengths. */
static void test_varying(void **state)
{
    struct textset t;

    (void)state;
    assert_int_equal(make(&t, "a.jsonl",
                          "{\"x\":[1,2]}\n{\"x\":[1,2,3]}\n"
                          "{\"x\":[]}\n"),
                     0);
    assert_true(t.ds->fields[0].dims[0] == WEIR_DIM_VARIES);
    assert_int_equal(textset_take(&t, 1, NULL), 0);
    assert_int_equal(textset_field(&t, "x").len, 12);
    assert_int_equal(textset_take(&t, 2, NULL), 0);
    assert_int_equal(textset_field(&t, "x").len, 0);
    assert_non_null(textset_field(&t, "x").bytes);
    textset_done(&t);
}

static void test_declared(void **state)
{
    static const char text[] = "{\"a\":[[1,2],[3,-4]],\"b\":2.5,\"c\":1}\n";
    struct textset t;

    (void)state;
    assert_int_equal(textset_make(&t, "a.jsonl#x=/a,y=/b,label=/c", text,
                                  strlen(text), "x=tensor:i16:4,y=scalar:f64"),
                     0);
    assert_int_equal(textset_take(&t, 0, NULL), 0);
    assert_memory_equal(textset_field(&t, "x").bytes, "\1\0\2\0\3\0\374\377",
                        8);
    assert_int_equal(textset_field(&t, "y").len, 8);
    textset_done(&t);
}

/* --- shapes --- */

static int64_t dim(const struct textset *t, const char *name)
{
    struct wr_slice s = textset_field(t, name);
    int64_t v = -1;

    if (s.bytes && s.len == sizeof(v))
        memcpy(&v, s.bytes, sizeof(v));
    return v;
}

/* As many numbers of another shape are not the sample. */
static void test_other_shapes(void **state)
{
    static const struct {
        const char *text, *message;
    } sets[] = {
        {"[[1,2,3],[4,5,6]]\n[1,2,3,4,5,6]\n",
         "line 2: '.' is 6 f32, not 2x3 f32"},
        {"[5,6]\n[[[5],[6]]]\n", "line 2: '.' is 1x2x1 f32, not 2 f32"},
        {"{\"x\":[[1],[2]]}\n{\"x\":[7,8]}\n",
         "line 2: '/x' is 2 f32, not 2x1 f32"},
    };
    struct textset t;

    (void)state;
    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
        assert_int_equal(make(&t, "a.jsonl", sets[k].text), 0);
        assert_int_equal(textset_take(&t, 0, NULL), 0);
        assert_int_equal(textset_take(&t, 1, NULL), WEIR_EFORMAT);
        assert_string_equal(t.err.msg, sets[k].message);
        textset_done(&t);
    }
}

/* 3x2 after 16 samples of 2x3 is not 2x3 either. */
static void test_late_shape(void **state)
{
    char text[1024] = "";
    struct textset t;

    (void)state;
    for (unsigned k = 0; k < 16; k++)
        strcat(text, "[[1,2,3],[4,5,6]]\n");
    strcat(text, "[[1,2],[3,4],[5,6]]\n");
    assert_int_equal(make(&t, "a.jsonl", text), 0);
    assert_int_equal(textset_take(&t, 16, NULL), WEIR_EFORMAT);
    assert_string_equal(t.err.msg, "line 17: '.' is 3x2 f32, not 2x3 f32");
    textset_done(&t);
}

/* A dimension that varies is a field of its own, also without the array. */
static void test_varying_dims(void **state)
{
    struct textset t;

    (void)state;
    assert_int_equal(make(&t, "a.jsonl",
                          "{\"b\":[],\"y\":0}\n"
                          "{\"b\":[[1,2,3],[4,5,6]],\"y\":1}\n"
                          "{\"b\":[[1,2],[3,4],[5,6]],\"y\":1}\n"
                          "{\"b\":[1],\"y\":1}\n"),
                     0);
    assert_int_equal(t.ds->fields[0].ndim, 2);
    assert_true(t.ds->fields[0].dims[0] == WEIR_DIM_VARIES);
    assert_true(t.ds->fields[0].dims[1] == WEIR_DIM_VARIES);
    assert_int_equal(textset_take(&t, 0, NULL), 0);
    assert_int_equal(dim(&t, "x.dim0"), 0);
    assert_int_equal(dim(&t, "x.dim1"), 0);
    assert_int_equal(textset_take(&t, 1, NULL), 0);
    assert_int_equal(dim(&t, "x.dim0"), 2);
    assert_int_equal(dim(&t, "x.dim1"), 3);
    assert_int_equal(textset_take(&t, 2, NULL), 0);
    assert_int_equal(dim(&t, "x.dim0"), 3);
    assert_int_equal(dim(&t, "x.dim1"), 2);
    assert_int_equal(textset_field(&t, "x").len, 24);
    assert_int_equal(textset_take(&t, 3, NULL), WEIR_EFORMAT);
    assert_string_equal(t.err.msg, "line 4: '/b' is 1 f32, not ?x? f32");
    textset_done(&t);
}

/* --- values that are missing, too large or there twice --- */

static void test_large_first(void **state)
{
    struct textset t;

    (void)state;
    assert_int_equal(make(&t, "a.jsonl",
                          "{\"x\":[1e400,2],\"s\":1e400,\"y\":1}\n"
                          "{\"x\":[1,2],\"s\":0.5,\"y\":1}\n"),
                     0);
    assert_int_equal(textset_take(&t, 0, NULL), WEIR_EFORMAT);
    assert_string_equal(t.err.msg, "line 1, column 7: too large for its type");
    assert_int_equal(textset_take(&t, 1, NULL), 0);
    assert_true(textset_f32(&t, "x", 1) == 2);
    assert_true(textset_f32(&t, "s", 0) == 0.5f);
    textset_done(&t);
}

/* Of several names the first of guess.h counts, wherever it stands. */
static void test_label_names(void **state)
{
    static const char text[] = "{\"x\":[1],\"target\":7,\"Class\":2}\n"
                               "{\"x\":[2],\"target\":8,\"Class\":3}\n";
    struct textset t;
    uint32_t label;

    (void)state;
    assert_int_equal(make(&t, "a.jsonl", text), 0);
    assert_int_equal(textset_take(&t, 1, &label), 0);
    assert_int_equal(label, 3);
    textset_done(&t);
}

static void test_no_label(void **state)
{
    static const char words[] = "{\"x\":[1],\"label\":\"bee\"}\n{\"x\":[2]}\n"
                                "{\"x\":[3],\"label\":null}\n"
                                "{\"x\":[4],\"label\":\"\"}\n"
                                "{\"x\":[5],\"label\":\"ant\"}\n";
    static const char numbers[] = "{\"x\":[1],\"y\":null}\n"
                                  "{\"x\":[1],\"y\":3}\n{\"x\":[1]}\n";
    struct textset t;
    uint32_t label;

    (void)state;
    assert_int_equal(make(&t, "a.jsonl", words), 0);
    assert_int_equal(weir_dataset_issue_count(t.ds), 0);
    assert_int_equal(weir_dataset_count(t.ds), 5);
    assert_int_equal(weir_dataset_class_count(t.ds), 2);
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(textset_take(&t, i, &label), 0);
        assert_int_equal(label, i == 0 ? 1 : i == 4 ? 0 : WEIR_NO_LABEL);
    }
    textset_done(&t);
    assert_int_equal(make(&t, "a.jsonl", numbers), 0);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(textset_take(&t, i, &label), 0);
        assert_int_equal(label, i == 1 ? 3 : WEIR_NO_LABEL);
    }
    textset_done(&t);
}

/* Of members of one name the last one counts, whatever the others are. */
static void test_twice(void **state)
{
    static const char text[] =
        "{\"x\":\"a\",\"x\":[1,2],\"y\":1,\"y\":2,\"s\":5,\"s\":\"t\"}\n"
        "{\"x\":[1,2,3],\"x\":[3,4],\"y\":\"no\",\"y\":3,\"s\":\"u\"}\n"
        "{\"x\":[1,2],\"x\":[3,oops],\"y\":3,\"s\":\"u\"}\n"
        "{\"x\":[1,2],\"x\":5,\"y\":3,\"s\":\"u\"}\n";
    static const char deep[] = "{\"a\":{\"l\":\"bee\",\"v\":[1]}}\n"
                               "{\"a\":{\"l\":\"ant\",\"v\":[1]},"
                               "\"a\":{\"v\":[2]}}\n"
                               "{\"a\":{\"v\":[1]},\"a\":{\"l\":\"ant\"}}\n";
    struct textset t;
    uint32_t label;

    (void)state;
    assert_int_equal(make(&t, "a.jsonl", text), 0);
    assert_int_equal(textset_take(&t, 0, &label), 0);
    assert_int_equal(label, 2);
    assert_true(textset_f32(&t, "x", 1) == 2);
    assert_true(textset_is(&t, "s", "t"));
    assert_int_equal(textset_take(&t, 1, &label), 0);
    assert_int_equal(label, 3);
    assert_true(textset_f32(&t, "x", 1) == 4);
    assert_int_equal(textset_take(&t, 2, NULL), WEIR_EFORMAT);
    assert_int_equal(textset_take(&t, 3, NULL), WEIR_EFORMAT);
    assert_string_equal(t.err.msg,
                        "line 4, column 16: an array was to come here");
    textset_done(&t);
    assert_int_equal(make(&t, "a.jsonl#x=/a/v,label=/a/l", deep), 0);
    assert_int_equal(textset_take(&t, 1, &label), 0);
    assert_int_equal(label, WEIR_NO_LABEL);
    assert_true(textset_f32(&t, "x", 0) == 2);
    assert_int_equal(textset_take(&t, 2, NULL), WEIR_EFORMAT);
    assert_string_equal(t.err.msg, "line 3: there is no '/a/v' in the sample");
    textset_done(&t);
}

/* Where no field can be found the first samples say why, if they are broken;
 * those that are not decide. */
static void test_bad_first(void **state)
{
    static const struct {
        const char *text, *message;
    } sets[] = {
        {"{\"x\":02}\n", "line 1, column 6: not a number"},
        {"\n{\"x\":[1,2}\n",
         "line 2, column 10: a comma or the end was to come here"},
        {"{\"x\":{\"a\":1}}\n",
         "the first samples have no numbers and no strings; name some by "
         "#x=/POINTER"},
    };
    struct textset t;

    (void)state;
    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
        assert_int_equal(make(&t, "a.jsonl", sets[k].text), WEIR_EFORMAT);
        assert_non_null(strstr(t.err.msg, sets[k].message));
        textset_done(&t);
    }
    assert_int_equal(make(&t, "a.jsonl",
                          "{\"x\":[1,2],\"s\" 1}\n"
                          "{\"x\":[1,02],\"s\":\"t\"}\n"
                          "{\"x\":[1,2],\"s\":\"t\"}\n"),
                     0);
    assert_int_equal(textset_take(&t, 0, NULL), WEIR_EFORMAT);
    assert_int_equal(textset_take(&t, 1, NULL), WEIR_EFORMAT);
    assert_int_equal(textset_take(&t, 2, NULL), 0);
    assert_true(textset_is(&t, "s", "t"));
    textset_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skip),        cmocka_unit_test(test_unescape),
        cmocka_unit_test(test_utf8),        cmocka_unit_test(test_escape),
        cmocka_unit_test(test_lines),       cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_array),       cmocka_unit_test(test_bad_arrays),
        cmocka_unit_test(test_bad_samples), cmocka_unit_test(test_varying),
        cmocka_unit_test(test_declared),    cmocka_unit_test(test_other_shapes),
        cmocka_unit_test(test_late_shape),  cmocka_unit_test(test_varying_dims),
        cmocka_unit_test(test_large_first), cmocka_unit_test(test_no_label),
        cmocka_unit_test(test_label_names), cmocka_unit_test(test_twice),
        cmocka_unit_test(test_bad_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
