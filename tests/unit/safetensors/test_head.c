/* test_head.c - heads of safetensors files, good and bad.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "safetensors/head.h"

#define F32(shape, begin, end)                                                 \
    "{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" begin "," end  \
    "]}"

/* Bytes of a head: length and JSON; free(). Exactly as large, so that reading
 * behind it is seen. */
static uint8_t *head_of(const char *json, size_t len)
{
    uint8_t *bytes = malloc(8 + len);

    assert_non_null(bytes);
    for (int k = 0; k < 8; k++)
        bytes[k] = (uint8_t)((uint64_t)len >> (8 * k));
    memcpy(bytes + 8, json, len);
    return bytes;
}

/* Parses `json` as the head of a file with `data` bytes behind it. */
static int parse(const char *json, uint64_t data, struct wr_st_head *ret,
                 weir_err *err)
{
    size_t len = strlen(json);
    uint8_t *bytes = head_of(json, len);
    int r = wr_st_parse(bytes, 8 + len, 8 + len + data, "f", ret, err);

    free(bytes);
    return r;
}

static void check_refused(int r, int code, const weir_err *err,
                          const char *reason)
{
    assert_int_equal(r, code);
    assert_int_equal(err->code, code);
    assert_int_equal(strncmp(err->msg, "'f': ", 5), 0);
    if (!strstr(err->msg, reason))
        fail_msg("'%s' is not in '%s'", reason, err->msg);
}

static void refuse_code(const char *json, uint64_t data, int code,
                        const char *reason)
{
    struct wr_st_head h = {.count = 42};
    weir_err err = {0};

    check_refused(parse(json, data, &h, &err), code, &err, reason);
    assert_int_equal(h.count, 42);
}

static void refuse(const char *json, uint64_t data, const char *reason)
{
    refuse_code(json, data, WEIR_EFORMAT, reason);
}

static void accept(const char *json, uint64_t data, size_t count)
{
    struct wr_st_head h;
    weir_err err = {0};

    if (parse(json, data, &h, &err) < 0)
        fail_msg("%s: %s", json, err.msg);
    assert_int_equal(h.count, count);
    assert_int_equal(h.data_offset, 8 + strlen(json));
    assert_int_equal(h.data_bytes, data);
    wr_st_done(&h);
    assert_null(h.tensors);
}

static void test_fields(void **state)
{
    static const char json[] = "{\"b\":" F32(
        "[2,3]", "8",
        "32") ",\"__metadata__\":{\"k\":\"v\","
              "\"\\u00e9\":\"\"},\"a\":{\"data_offsets\":[0,8],\"shape\":[],"
              "\"dtype\":\"I64\"}}";
    const struct wr_st_tensor *t;
    struct wr_st_head h;

    (void)state;
    assert_int_equal(parse(json, 32, &h, NULL), 0);
    assert_int_equal(h.count, 2);
    assert_int_equal(h.metadata_count, 2);
    assert_string_equal(h.metadata[0].key, "k");
    assert_string_equal(h.metadata[0].value, "v");
    assert_string_equal(h.metadata[1].key, "\xc3\xa9");
    assert_string_equal(h.tensors[0].t.name, "a"); /* by data, not by file */
    assert_int_equal(h.tensors[0].t.dtype, WEIR_I64);
    assert_int_equal(h.tensors[0].t.ndim, 0);
    assert_null(h.tensors[0].t.data);
    t = wr_st_find(&h, "b");
    assert_ptr_equal(t, &h.tensors[1]);
    assert_int_equal(t->begin, 8);
    assert_int_equal(t->end, 32);
    assert_int_equal(t->t.ndim, 2);
    assert_int_equal(t->t.shape[1], 3);
    assert_null(wr_st_find(&h, ""));
    assert_null(wr_st_find(&h, "ab"));
    assert_null(wr_st_find(&h, "c"));
    wr_st_done(&h);
}

static void test_accepted(void **state)
{
    (void)state;
    accept("{}", 0, 0);
    accept("\t\n{}\r ", 0, 0);
    accept("{\"__metadata__\":null}", 0, 0);
    accept("{\"__metadata__\":{}}", 0, 0);
    accept("{\"__metadata__\":{\"a\":\"b\"}}", 0, 0);
    accept("{\"s\":" F32("[]", "0", "4") "}", 4, 1);
    accept("{\"z\":" F32("[0]", "0", "0") "}", 0, 1);
    /* Empty ones at every seam. */
    accept(
        "{\"d\":" F32("[0]", "8", "8") ",\"b\":" F32(
            "[1]", "4",
            "8") ",\"a\":" F32("[1]", "0",
                               "4") ",\"c\":" F32("[2,0]", "4",
                                                  "4") ",\"e\":" F32("[0]", "0",
                                                                     "0") "}",
        8, 5);
    accept("{\"t\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1],"
           "\"data_offsets\":[0,1],\"more\":[{\"x\":1.5}]}}",
           1, 1);
    accept("{\"\":" F32("[1]", "0", "4") "}", 4, 1);
    accept("{\"big\":{\"dtype\":\"U8\",\"shape\":[281474976710655],"
           "\"data_offsets\":[0,281474976710655]}}",
           (UINT64_C(1) << 48) - 1, 1);
    accept("{\"t\":{\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[0,1]}}", 1,
           1);
}

static void test_lengths(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        uint64_t size;
        int code;
        const char *reason;
    } cases[] = {
        {"", 0, 0, WEIR_EFORMAT, "too small: 0 bytes"},
        {"\2\0\0\0\0\0\0", 7, 7, WEIR_EFORMAT, "too small: 7 bytes"},
        {"\2\0\0\0\0\0\0\0", 8, 8, WEIR_EFORMAT, "length is invalid: 2 bytes"},
        {"\2\0\0\0\0\0\0\0{", 9, 9, WEIR_EFORMAT, "length is invalid"},
        {"\0\0\0\0\0\0\0\0{}", 10, 10, WEIR_EFORMAT, "never finished"},
        {"\1\xe1\xf5\5\0\0\0\0{}", 10, UINT64_C(1) << 40, WEIR_ELIMIT,
         "too large: 100000001 bytes, at most 100000000"},
        {"\0\xe1\xf5\5\0\0\0\0{}", 10, 10, WEIR_EFORMAT, "length is invalid"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, 10, WEIR_EFORMAT,
         "not a safetensors file"},
        {"\xf8\xff\xff\xff\xff\xff\xff\xff{}", 10, 10, WEIR_EFORMAT,
         "not a safetensors file"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct wr_st_head h;
        weir_err err = {0};
        uint8_t *exact = malloc(cases[k].len + !cases[k].len);

        memcpy(exact, cases[k].bytes, cases[k].len);
        check_refused(
            wr_st_parse(exact, cases[k].len, cases[k].size, "f", &h, &err),
            cases[k].code, &err, cases[k].reason);
        free(exact);
    }
}

static void test_json(void **state)
{
    struct wr_st_head h;
    weir_err err = {0};
    uint8_t *bytes;

    (void)state;
    refuse("{\"\xff\":1}", 0, "not UTF-8");
    refuse("{} \xc3", 0, "not UTF-8");
    refuse("{\"a\":\"\xed\xa0\x80\"}", 0, "not UTF-8");
    refuse("{", 0, "not JSON");
    refuse("hello", 0, "not JSON");
    refuse("{}{}", 0, "not JSON");
    refuse("{},", 0, "not JSON");
    refuse("{\"__metadata__\":{},}", 0, "not JSON");
    refuse("{\"__metadata__\":{\"a\":\"b\" \"c\":\"\"}}", 0,
           "not JSON: no ',' at");
    refuse("{\"a\" 1}", 0, "not JSON: no ':' at byte 5");
    refuse("{\"__metadata__\":nul}", 0, "not JSON");
    refuse("   ", 0, "not JSON");
    refuse("{\"a\\u0000b\":1}", 0, "not JSON: a NUL in a text");
    refuse("{\"\\ud800\":{}}", 0, "not JSON: half a character");
    refuse("[]", 0, "the head is no object");
    refuse("7", 0, "the head is no object");
    bytes = head_of("{}\0", 3);
    check_refused(wr_st_parse(bytes, 11, 11, "f", &h, &err), WEIR_EFORMAT, &err,
                  "not JSON");
    free(bytes);
    /* Escapes do not get into a terminal. */
    assert_int_equal(parse("{\"a\x1b[31m\":1}", 0, &h, &err), WEIR_EFORMAT);
    assert_null(strchr(err.msg, '\x1b'));
    assert_int_equal(parse("{\"a\\u001b[31m\":1}", 0, &h, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg, "'f': 'a\\x1b[31m': the entry is no object");
}

static void test_nesting(void **state)
{
    enum { DEPTH = 100000 };
    char *deep = malloc(DEPTH + 1);

    (void)state;
    memset(deep, '[', DEPTH);
    deep[DEPTH] = '\0';
    refuse(deep, 0, "not JSON");
    free(deep);
}

static void test_duplicates(void **state)
{
    (void)state;
    refuse("{\"a\":" F32("[1]", "0", "4") ",\"a\":" F32("[1]", "0", "4") "}", 4,
           "'a': two tensors have this name");
    refuse(
        "{\"z\":" F32("[0]", "0", "0") ",\"\\u007a\":" F32("[0]", "0", "0") "}",
        0, "'z': two tensors have this name");
    refuse("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],"
           "\"data_offsets\":[0,1]}}",
           1, "'a': the key 'dtype' is there twice");
    refuse("{\"__metadata__\":{},\"__metadata__\":{}}", 0,
           "'__metadata__' is there twice");
    refuse("{\"__metadata__\":null,\"__metadata__\":{}}", 0,
           "'__metadata__' is there twice");
    refuse("{\"a\":{\"x\":1,\"x\":1}}", 1, "'a': the key 'x' is there twice");
    refuse("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0,
           "'__metadata__': the key 'k' is there twice");
}

static void test_entries(void **state)
{
    (void)state;
    refuse("{\"w\":null}", 0, "'w': the entry is no object");
    refuse("{\"w\":[\"F32\",[1],[0,4]]}", 4, "'w': the entry is no object");
    refuse("{\"w\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
           "'w': 'dtype' is missing");
    refuse("{\"w\":{\"dtype\":1,\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
           "'w': 'dtype' is no text");
    refuse("{\"w\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}",
           4, "'w': the type 'F31' is unknown");
    refuse("{\"w\":{\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
           4, "'w': the type 'f32' is unknown");
    refuse("{\"w\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4,
           "'w': 'shape' is missing");
    refuse("{\"w\":" F32("4", "0", "4") "}", 4, "'w': 'shape' is no list");
    refuse("{\"w\":" F32("[-1]", "0", "4") "}", 4,
           "'w': 'shape' has something");
    refuse("{\"w\":" F32("[1.0]", "0", "4") "}", 4,
           "'w': 'shape' has something else than whole numbers from 0");
    refuse("{\"w\":" F32("[\"1\"]", "0", "4") "}", 4, "'w': 'shape' has");
    refuse("{\"w\":" F32("[281474976710656,0]", "0", "0") "}", 0,
           "'w': 'shape' has a number above 2^48 - 1");
    refuse("{\"w\":" F32("[99999999999999999999]", "0", "4") "}", 4,
           "'w': 'shape' has a number above 2^48 - 1");
    refuse_code("{\"w\":" F32("[1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4,
                WEIR_ELIMIT, "'w': has 9 dimensions, at most 8 are supported");
    refuse("{\"w\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4,
           "'w': 'data_offsets' is missing");
    refuse("{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1]}}", 1,
           "'w': 'data_offsets' has 1 numbers instead of two");
    refuse("{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}}",
           1, "'w': 'data_offsets' has 3 numbers instead of two");
    refuse("{\"w\":" F32("[1]", "-4", "0") "}", 4, "'w': 'data_offsets' has");
    refuse("{\"w\":" F32("[1]", "0", "4.0") "}", 4, "'w': 'data_offsets' has");
    refuse("{\"w\":" F32("[0]", "281474976710656", "281474976710656") "}", 4,
           "'w': 'data_offsets' has a number above 2^48 - 1");
    refuse("{\"w\":" F32("[1]", "4", "0") "}", 4,
           "'w': its data end (0) before they begin (4)");
}

static void test_sizes(void **state)
{
    (void)state;
    refuse("{\"w\":" F32("[2]", "0", "4") "}", 4,
           "'w': type and shape need 8 bytes, 'data_offsets' hold 4");
    refuse("{\"w\":" F32("[]", "0", "0") "}", 0, "'w': type and shape need 4");
    refuse("{\"w\":" F32("[281474976710655,281474976710655]", "0", "4") "}", 4,
           "'w': the shape overflows");
    refuse("{\"w\":" F32("[281474976710655,281474976710655,0]", "0", "0") "}",
           0, "'w': the shape overflows");
    refuse("{\"w\":{\"dtype\":\"F64\",\"shape\":[1073741824,1073741824],"
           "\"data_offsets\":[0,0]}}",
           0, "'w': the shape overflows");
    refuse("{\"w\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2,
           "'w': 12 bits of F4 are no whole bytes");
    refuse("{\"w\":{\"dtype\":\"F6_E3M2\",\"shape\":[2],"
           "\"data_offsets\":[0,1]}}",
           1, "'w': 12 bits of F6_E3M2 are no whole bytes");
}

static void test_chain(void **state)
{
    (void)state;
    refuse("{\"a\":" F32("[1]", "4", "8") "}", 8,
           "'a': a hole of 4 bytes lies before it");
    refuse("{\"b\":" F32("[1]", "8", "12") ",\"a\":" F32("[1]", "0", "4") "}",
           12, "'b': a hole of 4 bytes lies before it");
    refuse("{\"a\":" F32("[2]", "0", "8") ",\"b\":" F32("[1]", "4", "8") "}", 8,
           "'b': its data overlap those of 'a'");
    refuse("{\"a\":" F32("[1]", "0", "4") ",\"b\":" F32("[1]", "0", "4") "}", 4,
           "'b': its data overlap those of 'a'");
    refuse("{\"a\":" F32("[2]", "0", "8") ",\"z\":" F32("[0]", "4", "4") "}", 8,
           "'z': its data overlap those of 'a'");
    refuse("{\"a\":" F32("[1]", "0", "4") "}", 5,
           "the file goes on for 1 bytes behind the last tensor");
    refuse("{}", 1, "the file goes on for 1 bytes");
    refuse("{\"a\":" F32("[1]", "0", "4") "}", 3,
           "cut off: 1 bytes of data are missing");
    refuse("{\"a\":" F32("[1]", "0", "4") "}", 0, "4 bytes of data are");
}

static void test_metadata(void **state)
{
    (void)state;
    refuse("{\"__metadata__\":{\"n\":1}}", 0,
           "'__metadata__': the value of 'n' is no text");
    refuse("{\"__metadata__\":{\"n\":null}}", 0, "'n' is no text");
    refuse("{\"__metadata__\":{\"n\":{}}}", 0, "'n' is no text");
    refuse("{\"__metadata__\":[]}", 0, "'__metadata__' is no object");
    refuse("{\"__metadata__\":\"x\"}", 0, "'__metadata__' is no object");
    /* A tensor of that name is metadata that is no text. */
    refuse("{\"__metadata__\":" F32("[1]", "0", "4") "}", 4, "is no text");
    refuse("{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0, "not JSON");
}

static void write_file(const char *dir, const void *bytes, size_t len,
                       uint64_t size)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "%s/f", dir);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    close(fd);
}

static void check_read_refused(struct wr_store *st, int code,
                               const char *reason)
{
    struct wr_st_head h;
    uint8_t *bytes = NULL;
    weir_err err = {0};

    check_refused(wr_st_read(st, "f", &h, &bytes, &err), code, &err, reason);
    assert_null(bytes);
}

static void test_read(void **state)
{
    static const char json[] = "{\"w\":" F32("[3]", "0", "12") "}";
    char dir[] = "/tmp/weir-st-XXXXXX", path[64];
    uint8_t *head = head_of(json, sizeof(json) - 1), *bytes = NULL;
    size_t len = 8 + sizeof(json) - 1;
    struct wr_store *st = NULL;
    struct wr_st_head h;
    weir_err err = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(wr_store_open_own(dir, &st, &err), 0);
    assert_int_equal(wr_st_read(st, "f", &h, NULL, &err), WEIR_ENOENT);
    write_file(dir, head, len, len + 12);
    assert_int_equal(wr_st_read(st, "f", &h, &bytes, &err), 0);
    assert_int_equal(h.data_bytes, 12);
    assert_int_equal(h.data_offset, len);
    assert_memory_equal(bytes, head, len);
    free(bytes);
    wr_st_done(&h);
    assert_int_equal(wr_st_read(st, "f", &h, NULL, &err), 0);
    wr_st_done(&h);

    write_file(dir, head, len, len + 11);
    check_read_refused(st, WEIR_EFORMAT, "1 bytes of data are missing");
    write_file(dir, head, len - 1, len - 1);
    check_read_refused(st, WEIR_EFORMAT, "length is invalid");
    write_file(dir, head, 7, 7);
    check_read_refused(st, WEIR_EFORMAT, "too small: 7 bytes");
    write_file(dir, head, 0, 0);
    check_read_refused(st, WEIR_EFORMAT, "too small: 0 bytes");
    write_file(dir, "", 0, 1 << 20);
    check_read_refused(st, WEIR_EFORMAT, "never finished");
    head[7] = 0x7f; /* no memory is asked for that */
    write_file(dir, head, len, len);
    check_read_refused(st, WEIR_EFORMAT, "not a safetensors file");
    snprintf(path, sizeof(path), "%s/f", dir);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    check_read_refused(st, WEIR_EFORMAT, "not a file");
    rmdir(path);
    wr_store_close(st);
    rmdir(dir);
    free(head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),  cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_json),
        cmocka_unit_test(test_nesting), cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_entries), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_chain),   cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
