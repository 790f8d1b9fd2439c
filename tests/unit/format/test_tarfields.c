/* test_tarfields.c - members of tar archives as fields, by their endings.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../codec/gzip.h"
#include "format/schema.h"
#include "tarset.h"

/* A .npy member of `descr` and `shape`, `len` bytes of `data` behind it. */
static void tar_npy(const char *name, const char *descr, const char *shape,
                    const void *data, size_t len)
{
    uint8_t bytes[4096] = "\x93NUMPY\x01";
    char dict[119];

    memset(dict, ' ', sizeof(dict));
    dict[snprintf(dict, sizeof(dict),
                  "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                  descr + (descr[0] == 'F'), descr[0] == 'F' ? "True" : "False",
                  shape)] = ' ';
    dict[117] = '\n';
    bytes[8] = 118;
    memcpy(bytes + 10, dict, 118);
    if (len)
        memcpy(bytes + 128, data, len);
    tar_head(&tar, '0', name, 128 + len);
    tar_data(&tar, bytes, 128 + len);
}

static const struct wr_field *field(const weir_dataset *ds, unsigned k)
{
    return &wr_index_schema(ds->index)->fields[k];
}

/* "image picture, npy 2x3 f32, json bytes+, label scalar i64": what is extra
 * has a plus. */
static void check_schema(const weir_dataset *ds, const char *want)
{
    const struct wr_schema *s = wr_index_schema(ds->index);
    char got[4096] = "", text[128];

    for (unsigned k = 0; k < s->count; k++)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s %s%s",
                 k ? ", " : "", s->fields[k].name,
                 wr_field_text(&s->fields[k].pub, text, sizeof(text)),
                 s->fields[k].pub.is_extra ? "+" : "");
    assert_string_equal(got, want);
}

/* The part of sample i in `column` is `bytes`; NULL: it has none. */
static void check_part(const weir_dataset *ds, uint64_t i, unsigned column,
                       const void *bytes, size_t len)
{
    struct wr_part p;

    wr_index_part(ds->index, column, i, &p);
    assert_int_equal(p.absent, bytes == NULL);
    if (!bytes)
        return;
    assert_int_equal(p.length, len);
    assert_memory_equal(tar.bytes + p.offset, bytes, len);
}

static void check_scalar(const weir_dataset *ds, const char *name, uint64_t i,
                         int64_t want)
{
    const struct wr_schema *s = wr_index_schema(ds->index);
    const struct wr_field *f = wr_schema_find(s, name);
    union wr_scalar v;

    assert_non_null(f);
    assert_true(wr_index_scalar(ds->index, (unsigned)(f - s->fields), i, &v));
    assert_int_equal(v.i, want);
}

static const float six[] = {1, 2, 3, 4, 5, 6};

/* Pictures first, then arrays, then bytes; those are extra. */
static void test_schema(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        char name[64];

        snprintf(name, sizeof(name), "%u.caption.TXT", k);
        tar_file(&tar, name, "words");
        snprintf(name, sizeof(name), "%u.emb.npy", k);
        tar_npy(name, "<f4", "(2, 3)", six, sizeof(six));
        snprintf(name, sizeof(name), "%u.json", k);
        tar_file(&tar, name, "{\"label\": 3, \"words\": 7}");
        snprintf(name, sizeof(name), "%u.%s", k, k == 1 ? "png" : "jpg");
        tar_file(&tar, name, "picture");
    }
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    assert_int_equal(weir_dataset_count(ds), 3);
    check_schema(ds, "image picture, emb.npy 2x3 f32, caption.txt bytes+, json "
                     "bytes+, label scalar i64");
    for (unsigned k = 0; k < 3; k++) {
        char key[] = {(char)('0' + k), '\0'};

        check(ds, k, key, "picture", 3);
        check_part(ds, k, 1, six, sizeof(six));
        check_part(ds, k, 2, "words", 5);
        check_part(ds, k, 3, "{\"label\": 3, \"words\": 7}", 24);
    }
    done(ds, &t);
}

/* Several pictures per sample are fields called by their endings. */
static void test_pictures(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tar_file(&tar, "a.mask.png", "am");
    tar_file(&tar, "a.jpg", "a");
    tar_file(&tar, "b.JPG", "b");
    tar_file(&tar, "b.cls", "1");
    tar_file(&tar, "b.Mask.png", "bm");
    tar_file(&tar, "c.jpg", "c1"); /* no mask */
    tar_file(&tar, "c.jpg", "c2");
    tar_file(&tar, "c.mask.png", "cm");
    tar_file(&tar, "c.mask.png", "again"); /* a sample without its picture */
    tar_file(&tar, "d.cls", "2");          /* nothing to learn from */
    tar_end(&tar);
    ds = open_tar(&t);
    check_schema(ds, "jpg picture, mask.png picture, label scalar i64");
    assert_int_equal(weir_dataset_count(ds), 5);
    check_issue(ds, "'d' has no picture", WEIR_EFORMAT);
    check(ds, 0, "a", "a", WEIR_NO_LABEL);
    check_part(ds, 0, 1, "am", 2);
    check(ds, 1, "b", "b", 1);
    check_part(ds, 1, 1, "bm", 2);
    check(ds, 2, "c", "c1", WEIR_NO_LABEL);
    check_part(ds, 2, 1, NULL, 0);
    check(ds, 3, "c", "c2", WEIR_NO_LABEL);
    check_part(ds, 3, 1, "cm", 2);
    check_part(ds, 4, 0, NULL, 0);
    check_part(ds, 4, 1, "again", 5);
    assert_string_equal(wr_index_sample_name(ds->index, 4), "c");
    done(ds, &t);
}

/* Nothing but bytes: all of them are samples. */
static void test_bytes(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tar_file(&tar, "a.txt", "one");
    tar_file(&tar, "a.cls", "0");
    tar_file(&tar, "b.cls", "1");
    tar_file(&tar, "b.bin", "two");
    tar_file(&tar, "c.txt", ""); /* empty is as good as none */
    tar_file(&tar, "d.txt", "four");
    tar_file(&tar, "d.odd,ending", "no field's");
    tar_file(&tar, "d.id", "not a number");
    tar_file(&tar, "e.cls", "1");
    tar_end(&tar);
    ds = open_tar(&t);
    check_schema(ds, "txt bytes, bin bytes, id bytes, label scalar i64");
    assert_int_equal(weir_dataset_count(ds), 4);
    check_issue(ds, "'e' has no member but a label", WEIR_EFORMAT);
    check(ds, 0, "a", "one", 0);
    check_part(ds, 0, 1, NULL, 0);
    check_part(ds, 1, 0, NULL, 0);
    check_part(ds, 1, 1, "two", 3);
    assert_string_equal(wr_index_sample_name(ds->index, 1), "b");
    check_part(ds, 2, 0, NULL, 0);
    check(ds, 3, "d", "four", WEIR_NO_LABEL);
    check_part(ds, 3, 2, "not a number", 12);
    done(ds, &t);
}

/* What only says a label is no field; ids are labels if nothing else is. */
static void test_labels(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tar_file(&tar, "a.jpg", "a");
    tar_file(&tar, "a.id", "17");
    tar_file(&tar, "b.jpg", "b");
    tar_file(&tar, "b.id", "18");
    tar_file(&tar, "b.json", "{\"cls\": 4}");
    tar_file(&tar, "c.jpg", "c");
    tar_file(&tar, "c.json", "5");
    tar_file(&tar, "c.cls", "6");
    tar_end(&tar);
    ds = open_tar(&t);
    check_schema(ds, "image picture, label scalar i64");
    check(ds, 0, "a", "a", 17);
    check(ds, 1, "b", "b", 4);
    check(ds, 2, "c", "c", 6);
    done(ds, &t);
}

/* Arrays of other dimensions, of no elements, and none at all. */
static void test_varying(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tar_npy("a.npy", "<f4", "(0, 3)", NULL, 0);
    tar_npy("b.npy", "<f4", "(2, 3)", six, 24);
    tar_file(&tar, "b.x.npy", "no array");
    tar_npy("c.npy", "<f4", "(1, 3)", six, 12);
    tar_npy("c.two.npy", "|u1", "(2,)", "\1\2", 2);
    tar_npy("d.two.npy", "|u1", "(2,)", "\3\4", 2);
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    check_schema(ds, "npy ?x3 f32, two.npy 2 u8, x.npy bytes+, npy.dim0 "
                     "scalar i64");
    assert_int_equal(weir_dataset_count(ds), 4);
    check_part(ds, 0, 0, NULL, 0);
    check_part(ds, 1, 0, six, 24);
    check_part(ds, 1, 2, "no array", 8);
    check_part(ds, 2, 0, six, 12);
    check_part(ds, 3, 0, NULL, 0);
    check_part(ds, 3, 1, "\3\4", 2);
    check_scalar(ds, "npy.dim0", 0, 0);
    check_scalar(ds, "npy.dim0", 1, 2);
    check_scalar(ds, "npy.dim0", 2, 1);
    check_scalar(ds, "npy.dim0", 3, 0);
    done(ds, &t);

    tar_npy("a.npy", "<f4", "(0,)", NULL, 0);
    tar_npy("b.npy", "<f4", "(0,)", NULL, 0);
    tar_end(&tar);
    ds = open_tar(&t);
    check_schema(ds, "npy ? f32, npy.dim0 scalar i64");
    done(ds, &t);
}

/* Order and byte order are those of the field. */
static void test_orders(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tar_npy("a.f.npy", "F>f4", "(2, 3)", six, 24);
    tar_npy("a.one.npy", "F<i8", "(3,)", six, 24);
    tar_npy("b.f.npy", "F>f4", "(2, 3)", six, 24);
    tar_npy("b.one.npy", "<i8", "(3,)", six, 24);
    tar_npy("c.n.npy", "<f8", "()", six, 8);
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    check_schema(ds, "f.npy 2x3 f32, one.npy 3 i64, n.npy scalar f64+");
    assert_true(field(ds, 0)->strided && field(ds, 0)->swap);
    assert_int_equal(field(ds, 0)->strides[0], 4);
    assert_int_equal(field(ds, 0)->strides[1], 8);
    assert_true(!field(ds, 1)->strided && !field(ds, 1)->swap);
    done(ds, &t);
}

/* A member that is of no use is named, and its sample left out, once. */
static void test_bad_arrays(void **state)
{
    static const struct {
        const char *descr, *shape;
        size_t len;
        const char *why;
    } bad[] = {
        {"<f8", "(3,)", 24, "3 f64, where the first one is 2x3 f32"},
        {"<f4", "(6,)", 24, "6 f32, where the first one is 2x3 f32"},
        {">f4", "(2, 3)", 24, "its byte order is not that of the first one"},
        {"F<f4", "(2, 3)", 24, "it is in another order than the first one"},
        {"F<f4", "(3, 2)", 24, "different dimensions in Fortran order"},
        {"<f4", "(2, 3)", 23, "truncated: 151 bytes, the header says 152"},
        {"<f4", "(2, 99999999999)", 24, "truncated"},
        {"<f4", "(99999999999, 99999999999)", 24, "overflows"},
        {"|O", "(2, 3)", 24, "objects"},
        {"<f4", "(2, ", 24, ""},
    };
    weir_dataset *ds;
    struct tmpdir t;
    char what[256];

    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        tar_npy("a.npy", "<f4", "(2, 3)", six, 24);
        tar_file(&tar, "a.jpg", "a");
        snprintf(what, sizeof(what),
                 "offset %zu: member 'b.npy': ", tar.len + 512);
        tar_npy("b.npy", bad[k].descr, bad[k].shape, six, bad[k].len);
        tar_file(&tar, "b.jpg", "b");
        tar_npy("c.npy", "<f4", "(2, 3)", six, 24);
        tar_file(&tar, "c.jpg", "c");
        tar_end(&tar);
        ds = open_tar(&t);
        assert_int_equal(weir_dataset_count(ds), 2);
        check_issue(ds, what, weir_dataset_issue(ds, 0)->code);
        check_issue(ds, bad[k].why, weir_dataset_issue(ds, 0)->code);
        check_schema(ds, "image picture, npy 2x3 f32");
        check(ds, 1, "c", "c", WEIR_NO_LABEL);
        check_part(ds, 1, 1, six, 24);
        done(ds, &t);
    }
    tar_npy("a.npy", "<f4", "(2, 3)", six, 24);
    tar_file(&tar, "b.npy", "\x93NUM"); /* too short to be one */
    tar_npy("c.npy", "<f4", "(2, 3)", six, 24);
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_count(ds), 2);
    check_issue(ds, "member 'b.npy': not a .npy file", WEIR_EFORMAT);
    done(ds, &t);
}

/* Archives that are cut: a sample that lacks something is not kept. */
static void test_cut(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        for (char key[] = "a.npy"; key[0] < 'd'; key[0]++) {
            char name[8];

            snprintf(name, sizeof(name), "%c.jpg", key[0]);
            tar_file(&tar, name, "picture");
            tar_npy(key, "<f4", "(2, 3)", six, 24);
        }
        tar.len -= k ? 512 : 0; /* no end, or in the last one's data */
        ds = open_tar(&t);
        assert_int_equal(weir_dataset_count(ds), 3 - k);
        assert_int_equal(weir_dataset_issue_count(ds), 1);
        done(ds, &t);
    }
}

/* Shards that lack an ending, and gzip. */
static void test_shards(void **state)
{
    static const char *const masks[] = {"0.mask.png", NULL, "2.mask.png"};
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 3; k++) {
        char name[64];
        size_t len;
        uint8_t *gz;

        tar.len = 0;
        snprintf(name, sizeof(name), "%u.jpg", k);
        tar_file(&tar, name, name);
        snprintf(name, sizeof(name), "%u.npy", k);
        tar_npy(name, "<f4", k == 1 ? "(3, 2)" : "(2, 3)", six, 24);
        if (masks[k])
            tar_file(&tar, masks[k], masks[k]);
        tar_end(&tar);
        gz = gzip_member(tar.bytes, tar.len, &len);
        snprintf(name, sizeof(name), k == 2 ? "%u.tar.gz" : "%u.tar", k);
        tmpdir_put(&t, name, k == 2 ? gz : tar.bytes, k == 2 ? len : tar.len);
        free(gz);
    }
    ds = open_at(&t, NULL);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    check_schema(ds, "jpg picture, mask.png picture, npy ?x? f32, npy.dim0 "
                     "scalar i64, npy.dim1 scalar i64");
    assert_int_equal(weir_dataset_count(ds), 3);
    for (unsigned k = 0; k < 3; k++)
        for (unsigned c = 0; c < 3; c++) {
            struct wr_part p;

            wr_index_part(ds->index, c, k, &p);
            assert_int_equal(p.absent, k == 1 && c == 1);
            assert_int_equal(wr_part_is_packed(&p), k == 2);
            if (!p.absent)
                assert_int_equal(p.object, k);
        }
    check_scalar(ds, "npy.dim0", 1, 3);
    check_scalar(ds, "npy.dim0", 2, 2);
    done(ds, &t);
}

/* Endings that come late, and too many of them. */
static void test_late(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;
    char name[32];

    (void)state;
    for (unsigned k = 0; k < 70; k++) {
        snprintf(name, sizeof(name), "%u.jpg", k);
        tar_file(&tar, name, "a");
    }
    tar_file(&tar, "69.txt", "late");
    tar_file(&tar, "70.txt", "late");
    tar_file(&tar, "70.jpg", "late");
    tar_end(&tar);
    ds = open_tar(&t);
    check_schema(ds, "image picture");
    assert_int_equal(weir_dataset_count(ds), 71);
    check_issue(ds, "member '69.txt': no sample that was looked at first",
                WEIR_EFORMAT);
    done(ds, &t);

    for (unsigned k = 0; k < 40; k++) {
        snprintf(name, sizeof(name), "a.%u.jpg", k);
        tar_file(&tar, name, "a");
    }
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_count(ds), 1);
    assert_int_equal(wr_index_schema(ds->index)->count, 32);
    assert_non_null(
        strstr(weir_dataset_issue(ds, 0)->reason, "more than 32 endings"));
    done(ds, &t);
}

/* What an ending may be called. */
static void test_names(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tar_file(&tar, "a.jpg", "a");
    tar_file(&tar, "a.image", "taken");
    tar_file(&tar, "a.b=c", "no name");
    tar_file(&tar, "a.\x01", "no name");
    tar_file(&tar, "a.", "no name");
    tar_file(&tar, "a.ok-name_1", "a name");
    tar_end(&tar);
    ds = open_tar(&t);
    check_schema(ds, "image picture, ok-name_1 bytes+");
    check(ds, 0, "a", "a", WEIR_NO_LABEL);
    check_part(ds, 0, 1, "a name", 6);
    done(ds, &t);
}

/* The same data set makes the same index, however threads meet. */
static void test_same(void **state)
{
    uint64_t first = 0;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    for (unsigned s = 0; s < 3; s++) {
        char name[32];

        tar.len = 0;
        for (unsigned k = 0; k < 90; k++) {
            snprintf(name, sizeof(name), "%u.jpg", k);
            tar_file(&tar, name, "a");
            snprintf(name, sizeof(name), "%u.txt", k);
            tar_file(&tar, name, "b");
        }
        tar_end(&tar);
        snprintf(name, sizeof(name), "%u.tar", s);
        tar_put(&t, name, &tar);
    }
    for (unsigned k = 0; k < 20; k++) {
        weir_dataset *ds = open_at(&t, NULL);
        uint64_t now = wr_index_fingerprint(ds->index);

        assert_true(!k || now == first);
        first = now;
        weir_dataset_close(&ds);
    }
    done(NULL, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema),     cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_bytes),      cmocka_unit_test(test_labels),
        cmocka_unit_test(test_varying),    cmocka_unit_test(test_orders),
        cmocka_unit_test(test_bad_arrays), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_shards),     cmocka_unit_test(test_late),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
