/* test_tfrecord_write.c - the bytes of a record, and reading them again.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/example.h"
#include "format/format.h"
#include "format/writer.h"
#include "tfrecords.h"
#include "unpacks.h"

#define JPEG "\xff\xd8\xff\xe0 some jpeg"

static void add(struct wr_bytes *to, const struct wr_write_sample *s)
{
    weir_err err;

    if (wr_writer_tfrecord.add(to, s, &err) < 0)
        fail_msg("%s", err.msg);
}

/* All features in their order, as an encoder written apart makes them. */
static void test_bytes(void **state)
{
    const struct wr_write_sample s = {
        .bytes = (const uint8_t *)JPEG,
        .len = sizeof(JPEG) - 1,
        .key = "cat/1",
        .label = 300,
        .class_name = "cat",
        .info = {.kind = WR_PICTURE_JPEG, .width = 640, .height = 48},
    };
    struct buf f = {.len = 0}, expected = {.len = 0};
    struct wr_bytes got = {0};

    (void)state;
    features_int(&f, "image/class/label", 300, 1);
    features_bytes(&f, "image/class/text", "cat", 3);
    features_bytes(&f, "image/encoded", JPEG, sizeof(JPEG) - 1);
    features_bytes(&f, "image/filename", "cat/1.jpg", 9);
    features_bytes(&f, "image/format", "JPEG", 4);
    features_int(&f, "image/height", 48, 1);
    features_int(&f, "image/width", 640, 1);
    record_put_features(&expected, &f);
    add(&got, &s);
    assert_int_equal(got.len, expected.len);
    assert_memory_equal(got.bytes, expected.at, got.len);
    add(&got, &s); /* appended, and the same */
    assert_int_equal(got.len, 2 * expected.len);
    assert_memory_equal(got.bytes + expected.len, expected.at, expected.len);
    free(got.bytes);
}

static void test_least(void **state)
{
    const struct wr_write_sample s = {.bytes = (const uint8_t *)"abc",
                                      .len = 3,
                                      .key = "k",
                                      .label = WEIR_NO_LABEL};
    struct buf f = {.len = 0}, expected = {.len = 0};
    struct wr_bytes got = {0};

    (void)state;
    features_bytes(&f, "image/encoded", "abc", 3);
    features_bytes(&f, "image/filename", "k", 1);
    record_put_features(&expected, &f);
    add(&got, &s);
    assert_int_equal(got.len, expected.len);
    assert_memory_equal(got.bytes, expected.at, got.len);
    free(got.bytes);
}

/* Lengths on both sides of each step of a varint. */
static void test_read_again(void **state)
{
    uint8_t *picture = calloc(1, 70000);

    (void)state;
    memcpy(picture, JPEG, sizeof(JPEG));
    for (size_t len = 20; len < 70000; len = len < 400 ? len + 1 : len * 2) {
        const struct wr_write_sample s = {
            .bytes = picture,
            .len = len,
            .key = "a/b",
            .label = (uint32_t)(len * len),
            .info = {.kind = WR_PICTURE_PNG, .width = 1, .height = 1},
        };
        struct wr_bytes got = {0};
        struct wr_sample io;
        weir_err err;

        add(&got, &s);
        io = (struct wr_sample){
            .bytes = got.bytes, .len = got.len, .label = WEIR_NO_LABEL};
        if (unpack_at(true, &io, &err) < 0)
            fail_msg("%zu: %s", len, err.msg);
        assert_int_equal(io.len, len);
        assert_memory_equal(io.bytes, picture, len);
        assert_int_equal(io.label, s.label);
        assert_int_equal(io.key_len, 3);
        assert_memory_equal(io.key, "a/b", 3);
        free(got.bytes);
    }
    free(picture);
}

static void test_too_long(void **state)
{
    struct wr_write_sample s = {.bytes = (const uint8_t *)"x",
                                .len = (size_t)INT32_MAX + 1,
                                .key = "big",
                                .label = WEIR_NO_LABEL};
    struct wr_bytes got = {0};
    weir_err err;

    (void)state;
    assert_int_equal(wr_writer_tfrecord.add(&got, &s, &err), WEIR_ELIMIT);
    assert_non_null(strstr(err.msg, "'big'"));
    s.len = INT32_MAX - 10;
    assert_int_equal(wr_writer_tfrecord.add(&got, &s, &err), WEIR_ELIMIT);
    s.len = SIZE_MAX;
    assert_int_equal(wr_writer_tfrecord.add(&got, &s, &err), WEIR_ELIMIT);
    assert_null(got.bytes);
    assert_ptr_equal(wr_writer_find("tfrecord"), &wr_writer_tfrecord);
    assert_string_equal(wr_writer_tfrecord.ext, ".tfrecord");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_read_again),
        cmocka_unit_test(test_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
