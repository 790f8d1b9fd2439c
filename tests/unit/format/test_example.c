/* test_example.c - tf.train.Example: pictures, labels and keys in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "format/example.h"
#include "tfrecords.h"

/* The shortest that looks like a picture. */
#define JPEG     "\xff\xd8\xff\xe0 some jpeg"
#define JPEG_LEN (sizeof(JPEG) - 1)

static int parse(const struct buf *features, struct wr_example *ret,
                 weir_err *err)
{
    static struct buf example; /* what is found points into it */

    example.len = 0;
    buf_field(&example, 1, features->at, features->len);
    return wr_example_parse(example.at, example.len, ret, err);
}

static void check_picture(const struct buf *features, const char *bytes)
{
    struct wr_example ex;
    weir_err err;

    if (parse(features, &ex, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(ex.picture_len, strlen(bytes));
    assert_memory_equal(ex.picture, bytes, strlen(bytes));
}

static void test_usual(void **state)
{
    struct buf f = {.len = 0};
    struct wr_example ex;

    (void)state;
    features_int(&f, "image/height", 100, 1);
    features_bytes(&f, "image/filename", "n01/n01_5.JPEG", 14);
    features_int(&f, "image/class/label", 417, 1);
    features_bytes(&f, "image/encoded", JPEG, JPEG_LEN);
    features_bytes(&f, "image/class/text", "cat", 3);
    check_picture(&f, JPEG);
    assert_int_equal(parse(&f, &ex, NULL), 0);
    assert_int_equal(ex.label, 417);
    assert_int_equal(ex.key_len, 9);
    assert_memory_equal(ex.key, "n01/n01_5", 9);
}

static void test_picture_names(void **state)
{
    static const char *const names[] = {"encoded",   "png",   "jpeg",
                                        "image_raw", "image", "image/encoded"};
    struct buf f = {.len = 0};
    struct wr_example ex;
    weir_err err;

    (void)state;
    /* Each is better than all before it, in any order. */
    for (unsigned k = 0; k < 6; k++) {
        char bytes[32];

        snprintf(bytes, sizeof(bytes), JPEG "%u", k);
        features_bytes(&f, names[k], bytes, strlen(bytes));
        check_picture(&f, bytes);
    }
    /* One name twice: the last counts. */
    features_bytes(&f, "image/encoded", "\xff\xd8\xff last", 8);
    check_picture(&f, "\xff\xd8\xff last");
    /* Pixels under a better name do not hide a picture. */
    f.len = 0;
    features_bytes(&f, "image", "pixels", 6);
    check_picture(&f, "pixels");
    features_bytes(&f, "jpeg", JPEG, JPEG_LEN);
    check_picture(&f, JPEG);
    /* The only one that looks like a picture, whatever its name. */
    f.len = 0;
    features_bytes(&f, "text", "hello", 5);
    features_bytes(&f, "foto", JPEG "1", JPEG_LEN + 1);
    check_picture(&f, JPEG "1");
    features_bytes(&f, "foto", JPEG "2", JPEG_LEN + 1);
    check_picture(&f, JPEG "2");
    features_bytes(&f, "other", JPEG, JPEG_LEN); /* which of the two? */
    assert_int_equal(parse(&f, &ex, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg, "no picture in the Example (features: text, "
                                 "foto, foto, other)");
}

static uint32_t label_of(const struct buf *more)
{
    struct buf f = {.len = 0};
    struct wr_example ex;
    weir_err err;

    features_bytes(&f, "image/encoded", JPEG, JPEG_LEN);
    buf_put(&f, more->at, more->len);
    if (parse(&f, &ex, &err) < 0)
        fail_msg("%s", err.msg);
    return ex.label;
}

static void test_labels(void **state)
{
    static const char *const names[] = {"image/label", "cls", "class", "label",
                                        "image/class/label"};
    struct buf f = {.len = 0}, list = {.len = 0}, feature = {.len = 0};

    (void)state;
    assert_int_equal(label_of(&f), WEIR_NO_LABEL);
    for (unsigned k = 0; k < 5; k++) {
        features_int(&f, names[k], 1000 + k, k % 2);
        assert_int_equal(label_of(&f), 1000 + k);
    }
    f.len = 0;
    for (int packed = 0; packed < 2; packed++) {
        features_int(&f, "label", 0, packed);
        assert_int_equal(label_of(&f), 0);
        features_int(&f, "label", -1, packed);
        assert_int_equal(label_of(&f), WEIR_NO_LABEL);
        features_int(&f, "label", INT64_MIN, packed);
        assert_int_equal(label_of(&f), WEIR_NO_LABEL);
        features_int(&f, "label", UINT32_MAX, packed);
        assert_int_equal(label_of(&f), WEIR_NO_LABEL);
        features_int(&f, "label", UINT32_MAX - 1, packed);
        assert_int_equal(label_of(&f), UINT32_MAX - 1);
    }
    /* Of a list the first; a list without values is none. */
    f.len = 0;
    buf_field(&list, 1, "\x05\x06\x07", 3);
    buf_put(&list, "\x08\x09", 2); /* one more, not packed */
    buf_field(&feature, 3, list.at, list.len);
    features_add(&f, "label", &feature);
    assert_int_equal(label_of(&f), 5);
    feature.len = 0;
    buf_field(&feature, 3, "", 0);
    features_add(&f, "label", &feature);
    assert_int_equal(label_of(&f), WEIR_NO_LABEL);
    /* Floats and texts are no labels. */
    feature.len = 0;
    buf_field(&feature, 2, "\x0a\x04\0\0\x80\x3f", 6);
    features_add(&f, "label", &feature);
    features_bytes(&f, "class", "3", 1);
    assert_int_equal(label_of(&f), WEIR_NO_LABEL);
    features_int(&f, "cls", 3, 1);
    assert_int_equal(label_of(&f), 3);
}

static void test_keys(void **state)
{
    static const char *const cases[][2] = {
        {"a/b.jpg", "a/b"}, {"a.b.PNG", "a.b"}, {"a.Jpeg", "a"},
        {"a.txt", "a.txt"}, {".jpg", ".jpg"},   {"x", "x"}};
    struct wr_example ex;

    (void)state;
    for (unsigned k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct buf f = {.len = 0};

        features_bytes(&f, "image/encoded", JPEG, JPEG_LEN);
        features_bytes(&f, k % 2 ? "filename" : "__key__", cases[k][0],
                       strlen(cases[k][0]));
        assert_int_equal(parse(&f, &ex, NULL), 0);
        assert_int_equal(ex.key_len, strlen(cases[k][1]));
        assert_memory_equal(ex.key, cases[k][1], ex.key_len);
        features_bytes(&f, "image/filename", "best.png", 8);
        assert_int_equal(parse(&f, &ex, NULL), 0);
        assert_memory_equal(ex.key, "best", 4);
    }
}

/* Fields nobody knows, features in two parts, a Feature with two lists. */
static void test_odd_messages(void **state)
{
    struct buf f = {.len = 0}, g = {.len = 0}, feature = {.len = 0};
    struct buf all = {.len = 0}, entry = {.len = 0};
    struct wr_example ex;
    weir_err err;

    (void)state;
    buf_field(&feature, 1, "\x0a\x01x", 3);
    buf_field(&feature, 3, "\x08\x2a", 2);
    buf_field(&feature, 9, "new", 3);
    buf_put(&feature,
            "\x51"
            "12345678"
            "\x5d"
            "1234"
            "\x60\xff\x01",
            17);
    buf_field(&entry, 2, feature.at, feature.len); /* value before key */
    buf_field(&entry, 1, "no", 2);
    buf_field(&entry, 1, "label", 5);
    buf_field(&g, 1, entry.at, entry.len);
    buf_field(&g, 7, "unknown", 7);
    buf_field(&g, 1, "", 0); /* an entry without key and value */
    features_bytes(&f, "image/encoded", JPEG, JPEG_LEN);
    buf_field(&all, 2, "unknown", 7);
    buf_field(&all, 1, g.at, g.len);
    buf_put(&all, "\x18\x01", 2);
    buf_field(&all, 1, f.at, f.len);
    if (wr_example_parse(all.at, all.len, &ex, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(ex.label, 42);
    assert_int_equal(ex.picture_len, JPEG_LEN);
}

static void test_bad(void **state)
{
    struct buf f = {.len = 0}, all = {.len = 0};
    struct wr_example ex = {.label = 77};
    char key[600];
    weir_err err;

    (void)state;
    assert_int_equal(wr_example_parse("", 0, &ex, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg, "no picture in the Example (features: none)");
    assert_int_equal(wr_example_parse("hello", 5, &ex, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg, "not a tf.train.Example");
    /* A varint without an end, a tag of 0, a group. */
    assert_int_equal(wr_example_parse("\xff\xff\xff\xff\xff\xff\xff\xff\xff"
                                      "\xff\xff\x01",
                                      12, &ex, &err),
                     WEIR_EFORMAT);
    assert_int_equal(wr_example_parse("\0\0", 2, &ex, &err), WEIR_EFORMAT);
    assert_int_equal(wr_example_parse("\x0b\x0c", 2, &ex, &err), WEIR_EFORMAT);
    memset(key, 'k', sizeof(key));
    key[3] = '\n';
    key[sizeof(key) - 1] = '\0';
    features_int(&f, key, 1, 1);
    features_int(&f, key, 1, 1);
    assert_int_equal(parse(&f, &ex, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "(features: kkk?kkk"));
    assert_non_null(strstr(err.msg, "k...)"));
    /* Cut anywhere: an error, or what is left has a picture still. */
    f.len = 0;
    features_int(&f, "label", 1, 1);
    features_bytes(&f, "image/encoded", JPEG, JPEG_LEN);
    buf_field(&all, 1, f.at, f.len);
    for (size_t n = 0; n < all.len; n++) {
        uint8_t *exact = malloc(n + 1); /* so that reading behind shows */

        memcpy(exact, all.at, n);
        assert_int_equal(wr_example_parse(exact, n, &ex, &err), WEIR_EFORMAT);
        free(exact);
    }
    assert_int_equal(ex.label, 77); /* untouched */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual),
        cmocka_unit_test(test_picture_names),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_odd_messages),
        cmocka_unit_test(test_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
