/* test_list_layout.c - which columns hold what: separators, headers, wishes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "format/list_layout.h"

#define NONE WR_LIST_NONE

static void test_found(void **state)
{
    static const struct {
        const char *text, *spec;
        struct {
            char separator;
            bool header;
            unsigned path, label, columns;
        } want;
    } cases[] = {
        {"a.jpg,1\n", NULL, {',', false, 0, 1, 2}},
        {"a.jpg\n", NULL, {',', false, 0, 1, 2}},
        {"", NULL, {',', false, 0, 1, 2}},
        {"# x\n\n", NULL, {',', false, 0, 1, 2}},
        {"Path,LABEL\na,1", NULL, {',', true, 0, 1, 2}},
        {"path\na", NULL, {',', true, 0, NONE, 2}},
        {"\xef\xbb\xbf# x\nid,label,path\n", NULL, {',', true, 2, 1, 3}},
        {"a.jpg\t1\n", NULL, {'\t', false, 0, 1, 2}},
        {"path\tlabel\n", NULL, {'\t', true, 0, 1, 2}},
        {"a\tb.jpg,1\n", NULL, {',', false, 0, 1, 2}},
        {"a,b.jpg,1\nc.jpg,2\n", NULL, {',', false, 0, 1, 2}},
        {"file,class\n", "path=file,label=class", {',', true, 0, 1, 2}},
        {"n\tclass\tfile\n", "label=CLASS,path=file", {'\t', true, 2, 1, 3}},
        {"n,class,file\n", "path=file", {',', true, 2, NONE, 3}},
        {"7,a.jpg,x\n", "path=2,label=1", {',', false, 1, 0, 3}},
        {"a.jpg,1\n", "path=1,label=2", {',', false, 0, 1, 2}},
        {"1,2\n", "path=2,label=1", {',', false, 1, 0, 2}},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct wr_list_layout l = {0};
        weir_err err = {0};

        if (wr_list_layout_find(cases[k].text, strlen(cases[k].text),
                                cases[k].spec, &l, &err) < 0)
            fail_msg("case %zu: %s", k, err.msg);
        assert_int_equal(l.separator, cases[k].want.separator);
        assert_int_equal(l.header, cases[k].want.header);
        assert_int_equal(l.path, cases[k].want.path);
        assert_int_equal(l.label, cases[k].want.label);
        assert_int_equal(l.columns, cases[k].want.columns);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *spec;
        int code;
        const char *reason;
    } cases[] = {
        {"file,class,split\na,1,x\n", NULL, WEIR_EFORMAT,
         "3 columns: file, class, split; say which"},
        {"path,class\na,1\n", NULL, WEIR_EFORMAT, "2 columns: path, class"},
        {"image,label,label\na,1,2\n", NULL, WEIR_EFORMAT,
         "3 columns: image, label, label; say which"},
        {"image,mask,Mask\na,b,c\n", NULL, WEIR_EFORMAT, "say which"},
        {"a,1\n", "path=file", WEIR_EINVAL, "no column 'file'; there are a, 1"},
        {"a,1\n", "path=3", WEIR_EINVAL, "no column 3; there are a, 1"},
        {"a,1\n", "path=0", WEIR_EINVAL, "no column 0"},
        {"a,1\n", "label=1", WEIR_EINVAL, "write path=NAME"},
        {"a,1\n", "path", WEIR_EINVAL, "write path=NAME"},
        {"a,1\n", "path=", WEIR_EINVAL, "write path=NAME"},
        {"a,1\n", "path=a,", WEIR_EINVAL, "write path=NAME"},
        {"a,1\n", "path=a,path=1", WEIR_EINVAL, "write path=NAME"},
        {"a,1\n", "path=a,=1", WEIR_EINVAL, "write path=NAME"},
        {"a,1\n", "path=1,key=3", WEIR_EINVAL, "no column 3"},
        {"a,1\n", "", WEIR_EINVAL, "write path=NAME"},
        {"a\033[1m,b,c\nd,e,f\n", NULL, WEIR_EFORMAT, "a\\x1b[1m, b, c"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct wr_list_layout l = {0};
        weir_err err = {0};

        assert_int_equal(wr_list_layout_find(cases[k].text,
                                             strlen(cases[k].text),
                                             cases[k].spec, &l, &err),
                         cases[k].code);
        if (!strstr(err.msg, cases[k].reason))
            fail_msg("case %zu: '%s' is not in '%s'", k, cases[k].reason,
                     err.msg);
    }
}

static void test_more(void **state)
{
    static const struct {
        const char *text, *spec;
    } cases[] = {
        {"image,mask,label,weight\na.jpg,b.png,1,0.5\n", NULL},
        {"mask,x,image,w,label\n",
         "image=image,mask=mask,weight=w,label=label"},
        {"a.jpg,b.png,1,0.5\n", "path=1,mask=2,label=3,weight=4"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct wr_list_layout l = {0};
        weir_err err = {0};

        if (wr_list_layout_find(cases[k].text, strlen(cases[k].text),
                                cases[k].spec, &l, &err) < 0)
            fail_msg("case %zu: %s", k, err.msg);
        assert_string_equal(l.field, "image");
        assert_int_equal(l.more, 2);
        assert_string_equal(l.names[0], "mask");
        assert_string_equal(l.names[1], "weight");
        assert_int_equal(l.path, k == 1 ? 2 : 0);
        assert_int_equal(l.more_at[0], k == 1 ? 0 : 1);
        assert_int_equal(l.more_at[1], 3);
        assert_int_equal(l.label, k == 1 ? 4 : 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
