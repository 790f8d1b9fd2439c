/* test_index_check.c - each lie that an index may tell is found out.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "format/index.h"
#include "format/index_private.h"
#include "indexes.h"

static void test_truth(void **state)
{
    (void)state;
    for (enum index_kind kind = 0; kind < INDEX_KINDS; kind++) {
        struct wr_index *ix = index_make(kind);

        assert_null(wr_index_check(ix));
        wr_index_free(ix);
    }
}

/* Tells one lie, asks, and takes it back. */
#define LIE(ix, field, value, word)                                            \
    do {                                                                       \
        __typeof__((ix)->field) was = (ix)->field;                             \
        const char *why;                                                       \
                                                                               \
        (ix)->field = (value);                                                 \
        why = wr_index_check(ix);                                              \
        (ix)->field = was;                                                     \
        assert_non_null(why);                                                  \
        if (!strstr(why, word))                                                \
            fail_msg("%s", why);                                               \
    } while (0)

static void test_totals(void **state)
{
    struct wr_index *ix = index_make(INDEX_MIXED);

    (void)state;
    LIE(ix, totals.count, 1000, "totals");
    LIE(ix, totals.bytes, 1, "totals");
    LIE(ix, totals.max_length, 1, "totals");
    LIE(ix, totals.max_label_plus_1, 1, "totals");
    LIE(ix, issue_count, 0, "problems");
    LIE(ix, stamp_count, 1, "stamps");
    LIE(ix, label_count, 100, "no segment has");
    LIE(ix, entry_name_count, 1, "names");
    LIE(ix, ignored.count, WR_IGNORED_KINDS + 1, "ignored");
    LIE(ix, ignored.list[0].files, UINT64_MAX, "ignored");
    memset(ix->ignored.list[0].ext, 'x', sizeof(ix->ignored.list[0].ext));
    assert_string_equal(wr_index_check(ix), "ignored files that cannot be");
    wr_index_free(ix);
}

/* Paths of formats that find their files themselves stay in the data set. */
static void test_below(void **state)
{
    static const struct {
        const char *dir, *name;
        bool out;
    } cases[] = {
        {"a", "b", false},    {"a/b", "c/d", false}, {"a..", "..b", false},
        {"", "...", false},   {"..", "b", true},     {"a/../..", "b", true},
        {"/etc", "b", true},  {"a", "../b", true},   {"a", "b/..", true},
        {"", "/etc/b", true}, {"", "..", true},      {"a/..", "b", true},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_index *ix = wr_index_new();

        index_object(ix, cases[k].dir, cases[k].name, 1);
        assert_int_equal(wr_index_add_whole(ix, 0, WEIR_NO_LABEL, NULL), 0);
        assert_int_equal(wr_index_seal(ix, NULL), 0);
        assert_null(wr_index_check(ix));
        assert_int_equal(wr_index_check_below(ix) != NULL, cases[k].out);
        wr_index_free(ix);
    }
}

static void test_objects(void **state)
{
    struct wr_index *ix = index_make(INDEX_WHOLE);

    (void)state;
    LIE(ix, objects[3].name, ix->names_len, "out of range");
    LIE(ix, objects[3].name, UINT64_MAX, "out of range");
    LIE(ix, objects[8].dir, (uint32_t)ix->dirs.count, "out of range");
    LIE(ix, objects[2].size, UINT64_MAX, "sizes");
    LIE(ix, objects[2].size, 1, "totals");
    LIE(ix, objects[2].label, 77, "totals");
    LIE(ix, names[ix->names_len - 1], 'x', "do not end");
    LIE(ix, names_len, 0, "out of range");
    LIE(ix, dirs.pool[ix->dirs.pool_len - 1], 'x', "does not end");
    LIE(ix, dirs.at[1], ix->dirs.pool_len, "out of place");
    LIE(ix, dirs.at[1], 1, "out of place");
    LIE(ix, dirs.at[0], 3, "out of place");
    LIE(ix, classes.count, 0, "incomplete");
    LIE(ix, stamped.pool_len, 0, "incomplete");
    wr_index_free(ix);
}

static void test_segments(void **state)
{
    struct wr_index *ix = index_make(INDEX_MIXED);
    size_t runs = 1, records = 4;

    (void)state;
    assert_int_equal(ix->segments[runs].kind, WR_SEGMENT_RUN);
    assert_int_equal(ix->segments[records].kind, WR_SEGMENT_RECORDS);
    LIE(ix, segments[0].first, 1, "in order");
    LIE(ix, segments[1].first, 8, "in order");
    LIE(ix, segments[2].object, 2, "in order");
    LIE(ix, segments[0].count, 0, "in order");
    LIE(ix, segments[0].count, UINT64_MAX, "not there");
    LIE(ix, segments[0].object, UINT64_MAX, "not there");
    LIE(ix, segments[0].kind, 9, "unknown kind");
    LIE(ix, segments[runs].length, 0, "outside");
    LIE(ix, segments[runs].length, UINT64_MAX, "outside");
    LIE(ix, segments[runs].offset, UINT64_MAX, "outside");
    LIE(ix, segments[runs].offset, 4090, "outside");
    LIE(ix, segments[runs].labels, 1, "labels");
    LIE(ix, segments[runs].object, 1000, "outside");
    LIE(ix, segments[records].labels, 1, "out of range");
    LIE(ix, segments[records].count, 100, "out of range");
    LIE(ix, segments[records].object, 1000, "outside");
    LIE(ix, entries[1].offset, 399, "outside");
    LIE(ix, entries[1].offset, UINT64_MAX, "outside");
    LIE(ix, entries[1].length, 401, "outside");
    LIE(ix, entries[7].length, 501, "outside"); /* of what it inflates to */
    LIE(ix, entry_names[2], ix->names_len, "out of range");
    LIE(ix, units[0].object, ix->object_count, "units");
    LIE(ix, units[0].inflated, 0, "units");
    LIE(ix, units[0].inflated, UINT64_C(1) << 40, "units");
    LIE(ix, units[0].stored, 31, "units");
    LIE(ix, units[0].offset, 1, "units");
    LIE(ix, units[0].filters, 0, "units");
    LIE(ix, units[0].filters, 0xff, "units");
    LIE(ix, units[0].filters, 0x100, "units");
    LIE(ix, segments[records + 1].unit, 1, "units");
    LIE(ix, segments[records].unit, 0, "units"); /* of another file */
    LIE(ix, segments[0].unit, 0, "whole files");
    LIE(ix, segments[0].unit, UINT64_MAX / 2, "whole files");
    LIE(ix, segments[records].stride, 1, "out of range");
    LIE(ix, segments[runs].stride, 0, "outside");
    LIE(ix, segments[runs].stride, UINT64_MAX, "outside");
    LIE(ix, segments[0].stride, 0, "not there");
    LIE(ix, segments[0].stride, UINT64_MAX, "not there");
    wr_index_free(ix);
}

static void test_tiles(void **state)
{
    struct wr_index *ix = index_make(INDEX_TILES);
    struct wr_part p;

    (void)state;
    assert_int_equal(ix->segment_count, 2);
    wr_index_part(ix, 0, 4, &p); /* raw: in place */
    assert_int_equal(p.offset, 204);
    assert_int_equal(p.unit, WR_NO_UNIT);
    wr_index_part(ix, 1, 2, &p); /* packed */
    assert_int_equal(p.offset, 8);
    assert_int_equal(p.unit, 1);
    wr_index_part(ix, 0, 6, &p); /* fill */
    assert_int_equal(p.unit, 4);
    LIE(ix, segments[0].offset, 0, "outside of units");
    LIE(ix, segments[0].offset, 4, "outside of their unit");
    LIE(ix, segments[0].offset, UINT64_MAX, "outside of units");
    LIE(ix, segments[0].offset, 1, "outside of units");
    LIE(ix, segments[0].length, 0, "outside of units");
    LIE(ix, segments[0].length, 5, "outside of their unit");
    LIE(ix, segments[0].length, 3, "fit together");
    LIE(ix, segments[0].stride, 3, "outside of units");
    LIE(ix, segments[0].stride, UINT64_MAX, "outside of units");
    LIE(ix, segments[1].unit, WR_NO_UNIT, "outside of units");
    LIE(ix, segments[1].unit, 2, "outside of units");
    LIE(ix, segments[1].labels, 0, "labels");
    LIE(ix, segments[0].count, UINT64_MAX, "outside of units");
    LIE(ix, units[4].stored, 1, "units");
    LIE(ix, units[5].inflated, 13, "units");
    LIE(ix, schema.fields[0].tile[0], 0, "no columns");
    LIE(ix, schema.fields[0].tile[0], 2, "no columns");
    LIE(ix, schema.fields[0].tile[0], 5, "fit together");
    LIE(ix, schema.fields[0].column, 1, "no columns");
    LIE(ix, schema.fields[0].strided, true, "no tensor");
    wr_index_free(ix);
}

/* Files that two segments claim are also work that multiplies. */
static void test_shared(void **state)
{
    struct wr_index *ix = index_make(INDEX_MIXED);
    struct wr_index_segment *s = ix->segments;

    (void)state;
    assert_int_equal(s[0].kind, WR_SEGMENT_WHOLE);
    assert_int_equal(s[0].count, 9);
    LIE(ix, segments[1].object, 8, "in order"); /* one of the nine */
    s[1] = s[0];
    s[1].first = 9;
    assert_string_equal(wr_index_check(ix), "the segments are not in order");
    s[1].object = 8;
    s[1].count = 1;
    assert_string_equal(wr_index_check(ix), "the segments are not in order");
    wr_index_free(ix);

    ix = index_make(INDEX_RUNS); /* whole behind a run of the same file */
    s = ix->segments;
    ix->schema.count = 0;
    assert_null(wr_index_check(ix));
    s[1].kind = WR_SEGMENT_WHOLE;
    s[1].count = 1;
    LIE(ix, segments[1].object, 0, "share files");
    wr_index_free(ix);
}

static void test_shape(void **state)
{
    struct wr_index *ix = index_make(INDEX_RUNS);

    (void)state;
    LIE(ix, schema.fields[0].pub.ndim, 8, "shape");
    LIE(ix, schema.fields[0].pub.dtype, 99, "shape");
    LIE(ix, schema.fields[0].pub.dtype, WEIR_F4, "shape");
    LIE(ix, schema.fields[0].pub.dims[0], UINT64_MAX - 1, "overflow");
    LIE(ix, schema.fields[0].pub.dims[0], 0, "zero");
    LIE(ix, schema.fields[0].pub.dims[0], UINT64_C(1) << 30, "limit");
    LIE(ix, schema.fields[0].pub.dims[0], 4, "sizes"); /* more than there is */
    LIE(ix, schema.fields[0].pub.kind, 4, "kind");
    LIE(ix, schema.fields[0].column, 1, "column");
    LIE(ix, schema.fields[0].column, WR_NO_COLUMN, "column");
    LIE(ix, schema.fields[0].name[0], '\0', "name");
    LIE(ix, schema.fields[0].pub.is_label, 1, "label");
    LIE(ix, schema.fields[1].pub.ndim, 1, "scalar");
    LIE(ix, schema.fields[1].pub.dtype, WEIR_U8, "type");
    LIE(ix, schema.scalars, 1, "scalars");
    LIE(ix, segments[0].length, 6, "sizes");
    wr_index_free(ix);
}

static void test_columns(void **state)
{
    struct wr_index *ix = index_make(INDEX_COLUMNS);

    (void)state;
    LIE(ix, segments[1].object, 0, "totals"); /* the pictures' own */
    LIE(ix, segments[1].object, 100, "not there");
    LIE(ix, segments[1].count, 5, "totals");
    LIE(ix, segments[1].stride, 3, "not there");
    LIE(ix, columns[1].count, 0, "totals");
    LIE(ix, entries[1].length, 4, "sizes");
    LIE(ix, entries[4].length, 1, "outside"); /* the one that is not there */
    LIE(ix, schema.fields[1].column, 3, "column");
    LIE(ix, schema.fields[2].pub.dims[0], 6, "sizes");
    LIE(ix, schema.fields[3].unpacked, true, "column");
    LIE(ix, scalar_count, 11, "scalars");
    LIE(ix, schema.fields[3].pub.is_label, 1, "label");
    memcpy(ix->schema.fields[1].name, "image", 6);
    assert_string_equal(wr_index_check(ix), "two fields have the same name");
    wr_index_free(ix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truth),    cmocka_unit_test(test_totals),
        cmocka_unit_test(test_below),    cmocka_unit_test(test_objects),
        cmocka_unit_test(test_segments), cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_shared),   cmocka_unit_test(test_shape),
        cmocka_unit_test(test_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
