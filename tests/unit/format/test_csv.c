/* test_csv.c - CSV files as data sets.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "format/csv.h"
#include "format/remarks.h"
#include "format/text_scan.h"
#include "textsets.h"

static int make(struct textset *t, const char *name, const char *text)
{
    int r = textset_make(t, name, text, strlen(text), NULL);

    if (r < 0)
        print_message("%s\n", t->err.msg);
    return r;
}

static const weir_field *field(const struct textset *t, const char *name)
{
    const struct wr_field *f = wr_schema_find(wr_index_schema(t->ds->index),
                                              name);

    assert_non_null(f);
    return &f->pub;
}

/* --- rows --- */

static void test_row_end(void **state)
{
    static const struct {
        const char *text;
        int end; /* -1: a quote is open */
    } rows[] = {
        {"a,b\nc", 3},
        {"a,b", 3},
        {"", 0},
        {"\"a\nb\",c\n", 7},
        {"\"a\"\"\nb\"\n", 7},
        {"a\"b\nc\"\n", 3},
        {"\"a\n", -1},
        {"a,\"b\"\"\n", -1},
        {"\"a\"b\"\n", 5},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        const char *at = rows[k].text;
        const char *end = wr_csv_row_end(at, at + strlen(at), ',');

        assert_int_equal(end ? end - at : -1, rows[k].end);
    }
}

static void test_fields(void **state)
{
    static const char text[] = " a ,\"b,\"\"c\"\"\",,\"\"";
    struct wr_csv_row row = wr_csv_row(text, text + strlen(text), ',');
    struct wr_csv_field f;
    char buf[32];

    (void)state;
    assert_true(wr_csv_row_field(&row, &f));
    assert_int_equal(f.len, 3);
    wr_csv_field_trim(&f);
    assert_int_equal(f.len, 1);
    assert_true(wr_csv_row_field(&row, &f));
    assert_true(f.quoted && f.doubled);
    assert_int_equal(wr_csv_field_copy(&f, buf), 5);
    assert_memory_equal(buf, "b,\"c\"", 5);
    assert_true(wr_csv_row_field(&row, &f));
    assert_true(f.len == 0 && wr_csv_field_is_missing(&f));
    assert_true(wr_csv_row_field(&row, &f));
    assert_true(f.len == 0 && f.quoted);
    assert_false(wr_csv_row_field(&row, &f));
    assert_int_equal(row.column, 5);
}

/* --- layouts --- */

static void test_header_and_words(void **state)
{
    struct textset t;
    uint32_t label;

    (void)state;
    assert_int_equal(make(&t, "a.csv#label=species",
                          "len,width,species,note\r\n"
                          "1.5,2,bee,\"a, \"\"b\"\"\"\r\n"
                          "\r\n"
                          "3,,ant,\n"
                          "4,1e-3,bee,plain"),
                     0);
    assert_string_equal(t.ds->format->name, "csv");
    assert_int_equal(weir_dataset_count(t.ds), 3);
    assert_int_equal(field(&t, "x")->dims[0], 2);
    assert_int_equal(field(&t, "x")->dtype, WEIR_F32);
    assert_true(field(&t, "species")->is_label);
    assert_true(field(&t, "note")->is_extra);
    assert_string_equal(weir_dataset_class_name(t.ds, 0), "ant");
    assert_int_equal(textset_take(&t, 0, &label), 0);
    assert_int_equal(label, 1);
    assert_true(textset_f32(&t, "x", 0) == 1.5f);
    assert_true(textset_f32(&t, "x", 1) == 2);
    assert_true(textset_is(&t, "note", "a, \"b\""));
    assert_int_equal(textset_take(&t, 1, &label), 0);
    assert_int_equal(label, 0);
    assert_true(isnan(textset_f32(&t, "x", 1)));
    assert_true(textset_is(&t, "note", ""));
    assert_int_equal(wr_text_line(t.ds->index, 1), 4);
    assert_int_equal(textset_take(&t, 2, &label), 0);
    assert_true(textset_f32(&t, "x", 1) == 1e-3f);
    textset_done(&t);
}

/* What is detected: header, separator, label. */
static void test_detected(void **state)
{
    static const struct {
        const char *name, *text;
        unsigned samples, numbers;
        bool label;
    } sets[] = {
        {"a.csv", "1,2\n3,4\n", 2, 2, false},
        {"a.csv", "a,b\n3,4\n", 1, 2, false},
        {"a.csv", "a,label\n3,4\n", 1, 1, true},
        {"a.csv", "Y;b\n3;4,5\n3;4,5\n", 2, 0, true},
        {"a.tsv", "1\t2\t3\n", 1, 3, false},
        {"a.csv", "1\t2\t3\n1\t2\t3\n", 2, 3, false},
        {"a.csv", "1;2;3\n", 1, 3, false},
        {"a.csv",
         "\xef\xbb\xbf"
         "1,2\n",
         1, 2, false},
        {"a.csv", "7\n8\n9\n", 3, 1, false},
        {"a.csv#header=yes", "1,2\n3,4\n", 1, 2, false},
        {"a.csv#header=no,label=1", "1,2\n3,4\n", 2, 1, true},
        {"a.csv#separator=pipe", "1|2\n", 1, 2, false},
        {"a.csv#label=2", "a,b\n3,4\n", 1, 1, true},
        {"a.csv#label=none", "a,label\n3,4\n", 1, 2, false},
        {"a.csv", "nan,inf,-Infinity, 5 ,\"6\"\n", 1, 5, false},
        {"a.csv", "x,NA\n1,NA\n", 1, 2, false},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
        const struct wr_schema *s;
        struct textset t;

        assert_int_equal(make(&t, sets[k].name, sets[k].text), 0);
        s = wr_index_schema(t.ds->index);
        assert_int_equal(weir_dataset_count(t.ds), sets[k].samples);
        assert_int_equal(wr_schema_label(s) != NULL, sets[k].label);
        if (sets[k].numbers)
            assert_int_equal(field(&t, "x")->dims[0], sets[k].numbers);
        else
            assert_null(wr_schema_find(s, "x"));
        for (unsigned i = 0; i < sets[k].samples; i++)
            assert_int_equal(textset_take(&t, i, NULL), 0);
        textset_done(&t);
    }
}

static void test_declared(void **state)
{
    static const char text[] = "1,2,3,200\n4,5,6,7\n4,5,6,256\n4,,6,7\n"
                               "4,5,6,1.5\n";
    struct wr_slice s;
    struct textset t;
    double wide;

    (void)state;
    assert_int_equal(
        textset_make(&t, "a.csv", text, strlen(text), "x=tensor:u8:2x2"), 0);
    assert_int_equal(textset_take(&t, 0, NULL), 0);
    s = textset_field(&t, "x");
    assert_int_equal(s.len, 4);
    assert_memory_equal(s.bytes, "\1\2\3\310", 4);
    assert_true(textset_take(&t, 2, NULL) < 0);
    assert_string_equal(t.err.msg,
                        "line 3, column 4: '256': too large for its type");
    assert_true(textset_take(&t, 3, NULL) < 0);
    assert_string_equal(t.err.msg, "line 4, column 2: '': a value is missing");
    assert_true(textset_take(&t, 4, NULL) < 0);
    assert_string_equal(t.err.msg, "line 5, column 4: '1.5': not an integer");
    assert_int_equal(textset_open(&t, "a.csv#label=4", "csv", "x=tensor:f64"),
                     0);
    assert_int_equal(textset_take(&t, 4, NULL), 0);
    memcpy(&wide, textset_field(&t, "x").bytes + 16, 8);
    assert_true(wide == 6);
    assert_true(textset_f32(&t, "4", 0) == 1.5f); /* not a class: a value */
    assert_int_equal(textset_open(&t, "a.csv", "csv", "label=4"), 0);
    assert_int_equal(textset_open(&t, "a.csv", "csv", "x=tensor:f16"),
                     WEIR_ENOTSUP);
    textset_done(&t);
}

/* --- what is wrong --- */

static void test_bad_rows(void **state)
{
    static const struct {
        const char *row, *message;
    } rows[] = {
        {"1,2", "2 columns where the first row has 3"},
        {"1,2,3,4", "4 columns where the first row has 3"},
        {"1,2,3,", "4 columns where the first row has 3"},
        {"1,zwei,3", "column 2: 'zwei': not a number"},
        {"1,2,3x", "column 3: '3x': not a number"},
        {"1, 2 2,3", "column 2: '2 2': not a number"},
        {"1,0x10,3", "column 2: '0x10': not a number"},
        {"1,2,1e39", "column 3: '1e39': too large for its type"},
        {"1,-1e999,3", "column 2: '-1e999': too large for its type"},
        {"1,\"2\"2,3", "column 2: '2': text after its closing quote"},
        {"1,\"\"\"\",3", "column 2: '\"\"': not a number"},
        {"1,nanx,3", "column 2: 'nanx': not a number"},
        {"1,2\r,3", "column 2: '2\\x0d': not a number"},
        {"1,1e,3", "column 2: '1e': not a number"},
    };
    char text[4096] = "1,2,3\n", want[128];
    struct textset t;

    (void)state;
    for (unsigned k = 0; k < 70; k++)
        strcat(text, "1,2,3\n");
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        sprintf(text + strlen(text), "%s\n", rows[k].row);
    assert_int_equal(make(&t, "a.csv", text), 0);
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        assert_int_equal(textset_take(&t, 71 + k, NULL), WEIR_EFORMAT);
        snprintf(want, sizeof(want), "line %zu%s%s", 72 + k,
                 rows[k].message[0] == 'c' ? ", " : ": ", rows[k].message);
        assert_string_equal(t.err.msg, want);
    }
    textset_done(&t);
}

static void test_zero_bytes(void **state)
{
    static const char text[] = "1,2\n3,\0"
                               "4\n";
    struct textset t;

    (void)state;
    assert_int_equal(
        textset_make(&t, "a.csv#header=no", text, sizeof(text) - 1, NULL), 0);
    assert_int_equal(textset_take(&t, 0, NULL), 0); /* column 2: bytes */
    assert_int_equal(textset_take(&t, 1, NULL), 0);
    assert_int_equal(textset_field(&t, "2").len, 2);
    textset_done(&t);
}

static void test_open_quote(void **state)
{
    struct textset t;

    (void)state;
    assert_int_equal(make(&t, "a.csv", "a,b\n1,2\n3,\"4\n5,6\n"), 0);
    assert_int_equal(weir_dataset_count(t.ds), 1);
    assert_int_equal(weir_dataset_issue_count(t.ds), 1);
    assert_string_equal(weir_dataset_issue(t.ds, 0)->reason,
                        "line 3: a quote that is never closed begins in this "
                        "row");
    textset_done(&t);
}

static void test_bad_labels(void **state)
{
    char text[2048] = "";
    struct textset t;

    (void)state;
    for (unsigned k = 0; k < 65; k++)
        strcat(text, "1.5,3\n");
    strcat(text, "1.5,x\n1.5\n1.5,\n");
    assert_int_equal(make(&t, "a.csv#label=2", text), 0);
    assert_int_equal(weir_dataset_count(t.ds), 66);
    assert_int_equal(weir_dataset_issue_count(t.ds), 2);
    assert_string_equal(weir_dataset_issue(t.ds, 0)->reason,
                        "line 66, column 2: the label is not a class number, "
                        "as the others are");
    assert_string_equal(weir_dataset_issue(t.ds, 1)->reason,
                        "line 67, column 2: the row has no label: it ends "
                        "before");
    textset_done(&t);
}

static void test_bad_options(void **state)
{
    static const char *const names[] = {"a.csv#label=9", "a.csv#label=none2",
                                        "a.csv#header=perhaps",
                                        "a.csv#separator=dash", "a.csv#x=1"};
    struct textset t;

    (void)state;
    assert_int_equal(make(&t, "a.csv", "1,2\n"), 0);
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        assert_int_equal(textset_open(&t, names[k], NULL, NULL), WEIR_EINVAL);
    tmpdir_put_text(&t.dir, "empty.csv", "\n\n");
    assert_int_equal(textset_open(&t, "empty.csv", "csv", NULL), WEIR_EFORMAT);
    assert_non_null(strstr(t.err.msg, "there is no row in it"));
    textset_done(&t);
}

/* --- several files --- */

static void test_folder(void **state)
{
    struct textset t = {0};

    (void)state;
    tmpdir_init(&t.dir);
    tmpdir_put_text(&t.dir, "a.csv", "a,b,c\n1,2,3\n");
    tmpdir_put_text(&t.dir, "b.csv", "a,b,c\n4,5,6\n7,8,9\n");
    tmpdir_put_text(&t.dir, "c.csv", "a,b,d\n4,5,6\n");
    tmpdir_put_text(&t.dir, "d.csv", "a,b\n4,5\n");
    assert_int_equal(textset_open(&t, "", NULL, NULL), 0);
    assert_string_equal(weir_dataset_format(t.ds), "csv");
    assert_int_equal(weir_dataset_count(t.ds), 3);
    assert_int_equal(weir_dataset_issue_count(t.ds), 2);
    assert_string_equal(weir_dataset_issue(t.ds, 0)->reason,
                        "the header differs from that of 'a.csv'");
    assert_int_equal(textset_take(&t, 2, NULL), 0);
    assert_true(textset_f32(&t, "x", 2) == 9);
    textset_done(&t);
}

/* A tree of pictures stays one, whatever lies beside its folders. */
static void test_beside_pictures(void **state)
{
    const weir_dataset_config cfg = {0};
    struct wr_index_job job = {.cfg = &cfg};
    const struct wr_format_ops *f = NULL;
    struct tmpdir t;
    char *leaf = NULL;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "sizes.csv", "1,2,3\n4,5,6\n");
    tmpdir_put_text(&t, "sizes.jsonl", "[1,2]\n");
    tmpdir_mkdir(&t, "cats");
    assert_int_equal(wr_store_open(t.path, &job.leaf_store, &leaf, NULL), 0);
    assert_int_equal(wr_format_choose(&job, &f, NULL), 0);
    assert_string_equal(f->name, "images");
    wr_store_close(job.leaf_store);
    tmpdir_done(&t);
}

/* Lists of files stay lists. */
static void test_lists(void **state)
{
    static const char *const lists[] = {"path,label\na.jpg,1\n", "a/b,1,2,3\n",
                                        "cat,1\ndog,2\n", "here,1,2,3\n",
                                        "x.png,0.5,0.6\n"};
    struct textset t = {0};

    (void)state;
    tmpdir_init(&t.dir);
    tmpdir_put_text(&t.dir, "here", "");
    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
        const struct wr_format_ops *f = NULL;
        const weir_dataset_config cfg = {0};
        struct wr_index_job job = {.leaf = "l.csv", .cfg = &cfg};
        char *leaf = NULL;

        tmpdir_put_text(&t.dir, "l.csv", lists[k]);
        assert_int_equal(wr_store_open(tmpdir_at(&t.dir, "l.csv"),
                                       &job.leaf_store, &leaf, NULL),
                         0);
        assert_int_equal(wr_format_choose(&job, &f, NULL), 0);
        assert_string_equal(f->name, "list");
        wr_store_close(job.leaf_store);
        free(leaf);
    }
    textset_done(&t);
}

/* --- big files --- */

/* A file of several chunks is scanned by several threads; the rows are those
 * that one thread finds. */
static void check_big(bool quoted)
{
    size_t rows = 700000, at = 0, lines = 0;
    char *text = malloc(rows * 64);
    size_t *line = malloc(rows * sizeof(*line));
    struct textset t;

    assert_true(text && line);
    for (size_t k = 0; k < rows; k++) {
        line[k] = lines + 1;
        at += (size_t)sprintf(text + at, "%zu,%zu.5,\"%s%s\"\n", k, k % 1000,
                              quoted ? "a\n1,2,\"\"\"\"b" : "text, and more",
                              k % 3 ? "" : "\n\n,");
        lines += 1 + quoted + (k % 3 ? 0u : 2u);
    }
    assert_true(at > ((size_t)17 << 20));
    assert_int_equal(textset_make(&t, "a.csv#header=no", text, at, NULL), 0);
    assert_int_equal(weir_dataset_count(t.ds), rows);
    assert_int_equal(weir_dataset_issue_count(t.ds), 0);
    for (size_t k = 0; k < rows; k++)
        if (wr_text_line(t.ds->index, k) != (int64_t)line[k])
            fail_msg("row %zu: line %zu, not %zu", k,
                     (size_t)wr_text_line(t.ds->index, k), line[k]);
    for (size_t k = 0; k < rows; k += 999) {
        assert_int_equal(textset_take(&t, k, NULL), 0);
        assert_true(textset_f32(&t, "x", 0) == (float)k);
    }
    textset_done(&t);
    free(text);
    free(line);
}

static void test_big(void **state)
{
    (void)state;
    check_big(/* quoted= */ false);
    check_big(/* quoted= */ true);
}

/* -1 is no label; a column of nothing but -1 and 1 is one of numbers. */
static void test_no_label(void **state)
{
    struct textset t;
    uint32_t label;

    (void)state;
    assert_int_equal(make(&t, "a.csv", "a,label\n1,2\n2,-1\n3,0\n4,-2\n"), 0);
    assert_int_equal(field(&t, "label")->dtype, WEIR_F32);
    textset_done(&t);
    assert_int_equal(make(&t, "a.csv", "a,label\n1,1\n2,-1\n3,1\n"), 0);
    assert_int_equal(field(&t, "label")->dtype, WEIR_F32);
    textset_done(&t);
    assert_int_equal(make(&t, "a.csv", "a,label\n1,2\n2,-1\n3,0\n"), 0);
    assert_int_equal(field(&t, "label")->dtype, WEIR_I64);
    assert_int_equal(weir_dataset_issue_count(t.ds), 0);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(textset_take(&t, i, &label), 0);
        assert_int_equal(label, i == 1 ? WEIR_NO_LABEL : 2 - i);
    }
    textset_done(&t);
}

/* More rows than are looked at at first have no class, or -1 and 1: what follows
 * tells; where nothing follows a remark does. */
static void test_late_classes(void **state)
{
    static const struct {
        const char *first[2], *after;
        bool class, sign;
    } sets[] = {
        {{"5,-1\n", "6,-1\n"}, "7,0\n7,1\n7,2\n", true, false},
        {{"5,-1\n", "6,-1\n"}, "", true, false},
        {{"5,-1\n", "6,1\n"}, "7,0\n7,1\n7,4\n", true, false},
        {{"5,-1\n", "6,1\n"}, "7,0.5\n", false, false},
        {{"5,-1\n", "6,1\n"}, "7,word\n", false, true},
    };
    char remark[WR_REMARK_BYTES];
    struct textset t;
    uint32_t label;

    (void)state;
    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
        char text[1024] = "a,label\n";

        for (unsigned n = 0; n < 70; n++)
            strcat(text, sets[k].first[n % 2]);
        strcat(text, sets[k].after);
        assert_int_equal(make(&t, "a.csv", text), 0);
        assert_int_equal(field(&t, "label")->dtype,
                         sets[k].class ? WEIR_I64 : WEIR_F32);
        assert_int_equal(wr_remark_at(t.ds, 1, remark, sizeof(remark)),
                         sets[k].sign);
        if (sets[k].sign)
            assert_non_null(strstr(remark, "nothing but -1 and 1"));
        if (sets[k].class && sets[k].after[0]) {
            assert_int_equal(textset_take(&t, 71, &label), 0);
            assert_int_equal(label, 1);
        }
        textset_done(&t);
    }
}

/* --- detection --- */

static const char *format_of(struct textset *t, const char *text)
{
    assert_int_equal(textset_make(t, "a.csv", text, strlen(text), NULL), 0);
    return textset_open(t, "a.csv", NULL, NULL) == 0
               ? weir_dataset_format(t->ds)
               : "none";
}

/* A row may be longer than what is looked at first. */
static void test_wide(void **state)
{
    enum { COLUMNS = 10000, ROWS = 3 };
    char *text = malloc(COLUMNS * 16 * (ROWS + 1)), *p = text;
    struct textset t;

    (void)state;
    assert_non_null(text);
    for (int r = 0; r <= ROWS; r++)
        for (int k = 0; k < COLUMNS; k++)
            p += sprintf(p, r ? "%d.25%c" : "feature%d%c", k,
                         k + 1 < COLUMNS ? ',' : '\n');
    assert_string_equal(format_of(&t, text), "csv");
    assert_int_equal(weir_dataset_count(t.ds), ROWS);
    assert_int_equal(field(&t, "x")->dims[0], COLUMNS);
    textset_done(&t);
    free(text);
}

static void test_mixed_columns(void **state)
{
    char remark[WR_REMARK_BYTES];
    struct textset t;

    (void)state;
    assert_string_equal(format_of(&t, "id,name,temp,when,label\n"
                                      "1,bob,20.5,1/2/2024,0\n"
                                      "2,eve,21.5,1/3/2024,1\n"),
                        "csv");
    assert_true(wr_remark_at(t.ds, 0, remark, sizeof(remark)));
    assert_string_equal(remark, "x has the columns 'id', 'temp'");
    textset_done(&t);
    assert_string_equal(format_of(&t, "a/b.jpg,1,2\nc.jpg,2,3\n"), "none");
    assert_non_null(strstr(t.err.msg, "--format csv"));
    textset_done(&t);
    assert_string_equal(format_of(&t, "name,score\nbob,1\neve,2\n"), "none");
    assert_non_null(strstr(t.err.msg, "--format csv"));
    textset_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row_end),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_header_and_words),
        cmocka_unit_test(test_detected),
        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_open_quote),
        cmocka_unit_test(test_bad_labels),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_beside_pictures),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_big),
        cmocka_unit_test(test_no_label),
        cmocka_unit_test(test_late_classes),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_mixed_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
