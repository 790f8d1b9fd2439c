/* test_load.c - reading a record, refusing what is none, and its fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "result/get.h"
#include "result/record.h"

#define HEAD "{\"schema\":\"weir-record\",\"version\":1,"

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *says;
    } cases[] = {
        {"", WEIR_EFORMAT, "'f': empty"},
        {"{\n\n\"a\": x}", WEIR_EFORMAT, "'f': line 3: not JSON: "},
        {"{\"a\": 1} trailing", WEIR_EFORMAT, "not JSON"},
        {HEAD "\"time\":\"", WEIR_EFORMAT, "not JSON"},
        {"[]", WEIR_EFORMAT, "not a weir record"},
        {"{}", WEIR_EFORMAT, "not a weir record"},
        {"{\"schema\":1}", WEIR_EFORMAT, "not a weir record"},
        {"{\"schema\":\"other\"}", WEIR_EFORMAT, "not a weir record"},
        {"{\"schema\":\"weir-record\"}", WEIR_EFORMAT, "'version' is missing"},
        {"{\"schema\":\"weir-record\",\"version\":\"1\"}", WEIR_EFORMAT,
         "'version' is missing or no whole number"},
        {"{\"schema\":\"weir-record\",\"version\":7}", WEIR_ENOTSUP,
         "version 7 is newer than this weir knows (1)"},
        {"{\"schema\":\"weir-record\",\"version\":0}", WEIR_EFORMAT,
         "version 0"},
        {HEAD "\"time\":\"t\"}", WEIR_EFORMAT, "'command' is missing"},
        {HEAD "\"command\":\"bench\"}", WEIR_EFORMAT, "'time' is missing"},
        {HEAD "\"command\":3,\"time\":\"t\"}", WEIR_EFORMAT,
         "'command' is not a text"},
        {HEAD "\"command\":\"b\",\"time\":\"t\",\"host\":[]}", WEIR_EFORMAT,
         "'host' is not an object"},
        {"\033[31m", WEIR_EFORMAT, "\\x1b"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *record = NULL;
        weir_err err = {0};

        assert_int_equal(wr_record_parse(cases[i].text, strlen(cases[i].text),
                                         "f", &record, &err),
                         cases[i].code);
        assert_null(record);
        if (!strstr(err.msg, cases[i].says))
            fail_msg("%s: %s", cases[i].text, err.msg);
    }
}

static void test_files(void **state)
{
    char dir[] = "/tmp/weir-load-XXXXXX", path[64];
    json_t *made = wr_record_new("bench"), *record = NULL;
    weir_err err;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/run.json", dir);
    assert_int_equal(wr_record_load(path, &record, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, path));
    assert_true(wr_record_load(dir, &record, &err) < 0);
    assert_non_null(strstr(err.msg, dir));
    assert_null(record);
    assert_int_equal(wr_record_write(made, path, &err), 0);
    assert_int_equal(wr_record_load(path, &record, &err), 0);
    assert_true(json_equal(made, record));
    json_decref(record);
    json_decref(made);
    unlink(path);
    rmdir(dir);
}

static void test_get(void **state)
{
    json_t *o = json_pack("{s:{s:i, s:s, s:n, s:b, s:[f, s]}, s:b}", "a", "n",
                          3, "s", "text", "null", "t", 1, "l", 0.5, "x", "f",
                          0);
    char buf[16];

    assert_true(wr_get_number(o, "a.n") == 3);
    assert_true(isnan(wr_get_number(o, "a.s")));
    assert_true(isnan(wr_get_number(o, "a.null")));
    assert_true(isnan(wr_get_number(o, "a.n.x")));
    assert_true(isnan(wr_get_number(NULL, "a")));
    assert_string_equal(wr_get_text(o, "a.s"), "text");
    assert_string_equal(wr_get_text(o, "a.n"), "");
    assert_string_equal(wr_get_text(o, ""), "");
    assert_true(wr_get_true(o, "a.t"));
    assert_false(wr_get_true(o, "f"));
    assert_false(wr_get_true(o, "a.n"));
    assert_non_null(wr_get_object(o, "a"));
    assert_null(wr_get_object(o, "a.l"));
    assert_null(wr_get_list(o, "a"));
    assert_true(wr_get_at(wr_get_list(o, "a.l"), 0) == 0.5);
    assert_true(isnan(wr_get_at(wr_get_list(o, "a.l"), 1)));
    assert_true(isnan(wr_get_at(wr_get_list(o, "a.l"), 2)));
    assert_true(isnan(wr_get_at(NULL, 0)));
    assert_string_equal(wr_get_shown(wr_get(o, "a.n"), buf, sizeof(buf)), "3");
    assert_string_equal(wr_get_shown(wr_get(o, "a.s"), buf, 3), "te");
    assert_string_equal(wr_get_shown(wr_get(o, "f"), buf, sizeof(buf)), "no");
    assert_string_equal(wr_get_shown(wr_get(o, "a.l"), buf, sizeof(buf)), "");
    assert_string_equal(wr_get_shown(NULL, buf, sizeof(buf)), "");
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_get),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
