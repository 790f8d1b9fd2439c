/* test_tfrecord_fields.c - features as fields: found, declared, unpacked.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "format/decode.h"
#include "format/remarks.h"
#include "format/tfrecord.h"
#include "tfrecords.h"
#include "tmpdir.h"

#define JPEG     "\xff\xd8\xff\xe0 some jpeg"
#define JPEG_LEN (sizeof(JPEG) - 1)

static int open_shard(const struct tmpdir *t, const struct buf *b,
                      const char *schema, weir_dataset **ret, weir_err *err)
{
    weir_dataset_config cfg;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    cfg.schema = schema;
    tmpdir_put(t, "a.tfrecord", b->at, b->len);
    return weir_dataset_open(ret, tmpdir_at(t, "a.tfrecord"), &cfg, err);
}

static weir_dataset *open_good(const struct tmpdir *t, const struct buf *b,
                               const char *schema)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (open_shard(t, b, schema, &ds, &err) < 0)
        fail_msg("%s", err.msg);
    return ds;
}

static void check_field(const weir_dataset *ds, uint32_t k, const char *name,
                        const char *text)
{
    uint32_t count;
    const weir_field *f = weir_dataset_fields(ds, &count);
    char buf[64];

    assert_true(k < count);
    assert_string_equal(f[k].name, name);
    assert_string_equal(wr_field_text(&f[k], buf, sizeof(buf)), text);
}

/* Unpacks sample i of the shard `b`, all of it. */
static int unpack_all(const weir_dataset *ds, const struct buf *b, uint64_t i,
                      struct wr_unpack *u, struct wr_sample *s, weir_err *err)
{
    struct wr_part p;

    wr_index_part(ds->index, 0, i, &p);
    *s = (struct wr_sample){.bytes = b->at + p.offset,
                            .len = (size_t)p.length,
                            .label = WEIR_NO_LABEL};
    if (!u->fields)
        assert_int_equal(wr_unpack_init(u, wr_index_schema(ds->index), err), 0);
    for (unsigned k = 0; k < wr_index_schema(ds->index)->count; k++)
        u->wanted[k] = true;
    return ds->format->unpack(ds->index, 0, s, u, err);
}

/* CosmoFlow: a volume as bytes and four floats. */
static void test_volume(void **state)
{
    const float target[4] = {1.5f, -2, 0, 1e9f};
    struct buf f = {.len = 0}, b = {.len = 0};
    struct wr_unpack u = {0};
    uint16_t volume[2 * 2 * 2 * 4];
    struct wr_sample s;
    weir_dataset *ds;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 32; k++)
        volume[k] = (uint16_t)(k * 1000);
    features_floats(&f, "y", target, 4, 1);
    features_bytes(&f, "x", volume, sizeof(volume));
    record_put_features(&b, &f);
    record_put_features(&b, &f);
    ds = open_good(&t, &b, NULL);
    check_field(ds, 0, "x", "bytes");
    check_field(ds, 1, "y", "4 f32");
    weir_dataset_close(&ds);
    ds = open_good(&t, &b, "x=tensor:u16:2x2x2x4");
    check_field(ds, 0, "x", "2x2x2x4 u16");
    assert_int_equal(unpack_all(ds, &b, 1, &u, &s, &err), 0);
    assert_int_equal(u.fields[0].len, sizeof(volume));
    assert_memory_equal(u.fields[0].bytes, volume, sizeof(volume));
    assert_int_equal(u.fields[1].len, sizeof(target));
    assert_memory_equal(u.fields[1].bytes, target, sizeof(target));
    assert_int_equal(s.label, WEIR_NO_LABEL);
    wr_unpack_done(&u);
    weir_dataset_close(&ds);
    assert_int_equal(open_shard(&t, &b, "z=tensor:u16:2", &ds, &err),
                     WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "there are x, y"));
    assert_int_equal(open_shard(&t, &b, "y=tensor:u16:8", &ds, &err),
                     WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "stays so"));
    assert_int_equal(open_shard(&t, &b, "x=tensor:u16:2x", &ds, &err), 0);
    weir_dataset_close(&ds);
    assert_int_equal(open_shard(&t, &b, "x=tensor:q16:2", &ds, &err),
                     WEIR_EINVAL);
    assert_int_equal(open_shard(&t, &b, "x", &ds, &err), WEIR_EINVAL);
    assert_int_equal(open_shard(&t, &b, "label=x", &ds, &err), WEIR_EINVAL);
    tmpdir_done(&t);
}

/* Features that only later records have are named to who asks. */
static void test_left_out_late(void **state)
{
    struct wr_left_out left = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct buf f = {.len = 0}, b = {.len = 0};
    struct wr_unpack u = {0};
    struct wr_sample s;
    weir_dataset *ds;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 18; k++) {
        f.len = 0;
        features_bytes(&f, "picture", JPEG, JPEG_LEN);
        features_int(&f, "label", 7 + k, 1);
        if (k == 17)
            features_bytes(&f, "late", "words", 5);
        record_put_features(&b, &f);
    }
    ds = open_good(&t, &b, NULL);
    assert_int_equal(unpack_all(ds, &b, 0, &u, &s, &err), 0);
    u.left = &left;
    for (unsigned k = 0; k < 18; k++)
        assert_int_equal(unpack_all(ds, &b, k, &u, &s, &err), 0);
    assert_int_equal(left.names.count, 1);
    assert_string_equal(wr_intern_text(&left.names, 0), "late");
    wr_unpack_done(&u);
    wr_intern_done(&left.names);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Numbers: one, several, as many as there are; packed or not. */
static void test_numbers(void **state)
{
    const int64_t ids[3] = {-1, 300, INT64_MIN};
    const float weight = 0.25f;
    struct buf f = {.len = 0}, b = {.len = 0};
    struct wr_unpack u = {0};
    struct wr_sample s;
    weir_dataset *ds;
    struct tmpdir t;
    weir_err err;
    int64_t label;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 3; k++) {
        f.len = 0;
        features_int(&f, "label", 7 + k, k % 2);
        features_ints(&f, "ids", ids, 3);
        features_ints(&f, "tokens", ids, k);
        features_floats(&f, "weight", &weight, 1, k % 2);
        features_bytes(&f, "text", "words", k);
        record_put_features(&b, &f);
    }
    ds = open_good(&t, &b, NULL);
    check_field(ds, 0, "ids", "3 i64");
    check_field(ds, 1, "label", "scalar i64");
    check_field(ds, 2, "text", "bytes");
    check_field(ds, 3, "tokens", "? i64");
    check_field(ds, 4, "weight", "scalar f32");
    for (unsigned k = 0; k < 3; k++) {
        assert_int_equal(unpack_all(ds, &b, k, &u, &s, &err), 0);
        assert_int_equal(s.label, 7 + k);
        memcpy(&label, u.fields[1].bytes, 8);
        assert_int_equal(label, 7 + k);
        assert_memory_equal(u.fields[0].bytes, ids, sizeof(ids));
        assert_int_equal(u.fields[2].len, k);
        assert_int_equal(u.fields[3].len, 8 * k);
        assert_memory_equal(u.fields[3].bytes, ids, 8 * k);
        assert_memory_equal(u.fields[4].bytes, &weight, 4);
    }
    wr_unpack_done(&u);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* A list of no numbers is there, also where it is the only one. */
static void test_empty_list(void **state)
{
    const int64_t ids[2] = {1, 2};
    struct buf f = {.len = 0}, b = {.len = 0};
    struct wr_unpack u = {0};
    struct wr_sample s;
    weir_dataset *ds;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 3; k++) {
        f.len = 0;
        features_ints(&f, "tokens", ids, k);
        record_put_features(&b, &f);
    }
    ds = open_good(&t, &b, NULL);
    check_field(ds, 0, "tokens", "? i64");
    assert_int_equal(unpack_all(ds, &b, 0, &u, &s, &err), 0);
    assert_non_null(u.fields[0].bytes);
    assert_int_equal(u.fields[0].len, 0);
    wr_unpack_done(&u);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* With a picture nothing changes but that the others can be asked for. */
static void test_picture(void **state)
{
    struct buf f = {.len = 0}, b = {.len = 0};
    struct wr_unpack u = {0};
    struct wr_sample s;
    weir_dataset *ds;
    struct tmpdir t;
    uint32_t count;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    features_bytes(&f, "image/encoded", JPEG, JPEG_LEN);
    features_int(&f, "image/class/label", 9, 1);
    features_int(&f, "image/height", 100, 1);
    features_bytes(&f, "image/class/text", "cat", 3);
    record_put_features(&b, &f);
    f.len = 0; /* another one has its own names, and not all */
    features_bytes(&f, "jpeg", JPEG "2", JPEG_LEN + 1);
    features_int(&f, "label", 3, 1);
    record_put_features(&b, &f);
    ds = open_good(&t, &b, NULL);
    check_field(ds, 0, "image", "picture");
    check_field(ds, 1, "label", "scalar i64");
    check_field(ds, 2, "image/class/label", "? i64");
    check_field(ds, 3, "image/class/text", "bytes");
    check_field(ds, 4, "image/height", "? i64");
    assert_false(weir_dataset_fields(ds, &count)[1].is_extra);
    assert_true(weir_dataset_fields(ds, &count)[1].is_label);
    assert_true(weir_dataset_fields(ds, &count)[2].is_extra);
    assert_int_equal(count, 5);
    assert_int_equal(unpack_all(ds, &b, 0, &u, &s, &err), 0);
    assert_memory_equal(u.fields[0].bytes, JPEG, JPEG_LEN);
    assert_memory_equal(u.fields[3].bytes, "cat", 3);
    assert_int_equal(s.label, 9);
    assert_int_equal(unpack_all(ds, &b, 1, &u, &s, &err), 0);
    assert_int_equal(u.fields[2].len, 0);
    assert_int_equal(s.label, 3);
    wr_unpack_done(&u);
    assert_int_equal(wr_first_unpack(ds, &u, &s, &err), 0);
    assert_memory_equal(s.bytes, JPEG "2", JPEG_LEN + 1);
    assert_int_equal(s.label, 3);
    wr_unpack_done(&u);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_odd(void **state)
{
    struct buf f = {.len = 0}, g = {.len = 0}, b = {.len = 0}, e = {.len = 0};
    struct wr_unpack u = {0};
    struct wr_sample s;
    weir_dataset *ds;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    /* A record of another kind is bad; damaged ones are not looked at. */
    record_put(&b, "no Example", 10);
    features_int(&f, "n", 5, 1);
    for (unsigned k = 0; k < 20; k++)
        record_put_features(&b, &f);
    features_bytes(&g, "n", "five", 4);
    record_put_features(&b, &g);
    ds = open_good(&t, &b, "label=n");
    check_field(ds, 0, "n", "scalar i64");
    assert_int_equal(unpack_all(ds, &b, 0, &u, &s, &err), WEIR_EFORMAT);
    assert_int_equal(unpack_all(ds, &b, 1, &u, &s, &err), 0);
    assert_int_equal(s.label, 5);
    assert_int_equal(unpack_all(ds, &b, 21, &u, &s, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg,
                        "feature 'n' is not what the first records have there");
    wr_unpack_done(&u);
    weir_dataset_close(&ds);
    /* A SequenceExample is named. */
    buf_field(&e, 1, f.at, f.len);
    buf_field(&e, 2, "\x0a\x00", 2);
    b.len = 0;
    record_put(&b, e.at, e.len);
    assert_int_equal(open_shard(&t, &b, NULL, &ds, &err), WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "SequenceExample"));
    tmpdir_done(&t);
}

/* What changed just now is not believed. */
static void age(const char *path)
{
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* The index file keeps the schema, and another one for what is declared. */
static void test_kept(void **state)
{
    struct buf f = {.len = 0}, b = {.len = 0};
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    struct tmpdir t, other;
    char index[512];
    uint64_t plain = 0;

    (void)state;
    tmpdir_init(&t);
    features_bytes(&f, "x", "12345678", 8);
    record_put_features(&b, &f);
    tmpdir_put(&t, "a.tfrecord", b.at, b.len);
    age(tmpdir_at(&t, "a.tfrecord"));
    age(t.path);
    tmpdir_init(&other);
    snprintf(index, sizeof(index), "%s", other.path);
    weir_dataset_defaults(&cfg);
    cfg.index_dir = index;
    for (unsigned k = 0; k < 4; k++) {
        cfg.schema = k < 2 ? NULL : "x=tensor:i16:4";
        assert_int_equal(
            weir_dataset_open(&ds, tmpdir_at(&t, "a.tfrecord"), &cfg, NULL), 0);
        check_field(ds, 0, "x", k < 2 ? "bytes" : "4 i16");
        assert_int_equal(weir_dataset_index_reused(ds), k % 2);
        if (k < 2)
            plain = wr_index_fingerprint(ds->index);
        else
            assert_true(wr_index_fingerprint(ds->index) != plain);
        weir_dataset_close(&ds);
    }
    tmpdir_done(&other);
    tmpdir_done(&t);
}

/* A feature that a record does not have is empty, as in TensorFlow: numbers are
 * a list that varies, a label is none. */
static void test_absent(void **state)
{
    const int64_t ids[2] = {1, 2};
    struct buf f = {.len = 0}, b = {.len = 0}, none = {.len = 0};
    struct wr_unpack u = {0};
    struct wr_sample s;
    weir_dataset *ds;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 3; k++) {
        f.len = 0;
        features_ints(&f, "all", ids, 2);
        if (k == 0) {
            features_int(&f, "label", 7, 1);
            features_int(&f, "one", 5, 1);
            features_bytes(&f, "text", "abc", 3);
        } else if (k == 1) { /* there, but of no kind, or of no value */
            features_add(&f, "one", &none);
            features_add(&f, "text", &none);
        }
        record_put_features(&b, &f);
    }
    ds = open_good(&t, &b, NULL);
    check_field(ds, 0, "all", "2 i64");
    check_field(ds, 1, "label", "scalar i64");
    check_field(ds, 2, "one", "? i64");
    check_field(ds, 3, "text", "bytes");
    for (uint64_t i = 0; i < 3; i++) {
        if (unpack_all(ds, &b, i, &u, &s, &err) < 0)
            fail_msg("%s", err.msg);
        assert_int_equal(u.fields[0].len, 16);
        assert_int_equal(s.label, i ? WEIR_NO_LABEL : 7);
        assert_non_null(u.fields[2].bytes);
        assert_int_equal(u.fields[2].len, i ? 0 : 8);
        assert_int_equal(u.fields[3].len, i ? 0 : 3);
    }
    wr_unpack_done(&u);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Features that are not read are named. */
static void test_left_out(void **state)
{
    struct buf f = {.len = 0}, b = {.len = 0}, list = {.len = 0};
    struct buf feature = {.len = 0};
    char remark[WR_REMARK_BYTES];
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    buf_field(&list, 1, "a", 1);
    buf_field(&list, 1, "bc", 2);
    buf_field(&feature, 1, list.at, list.len);
    for (int k = 0; k < 2; k++) {
        f.len = 0;
        features_int(&f, "n", k, 1);
        features_add(&f, "words", &feature);
        if (k)
            features_int(&f, "odd", k, 1);
        else
            features_bytes(&f, "odd", "x", 1);
        record_put_features(&b, &f);
    }
    ds = open_good(&t, &b, NULL);
    assert_true(wr_remark_at(ds, 0, remark, sizeof(remark)));
    assert_string_equal(remark, "features that are not read: 'odd' (of several "
                                "kinds), 'words' (several values of bytes)");
    assert_int_equal(wr_index_schema(ds->index)->count, 1);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_volume),   cmocka_unit_test(test_left_out_late),
        cmocka_unit_test(test_left_out), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_picture),  cmocka_unit_test(test_odd),
        cmocka_unit_test(test_kept),     cmocka_unit_test(test_empty_list),
        cmocka_unit_test(test_absent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
