/* test_plan.c - heads of safetensors files to be, and printed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/rng.h"
#include "safetensors/head.h"

static weir_tensor tensor(const char *name, enum weir_dtype dtype, uint64_t n)
{
    return (weir_tensor){.name = name, .dtype = dtype, .ndim = 1, .shape = {n}};
}

static void test_plan(void **state)
{
    const weir_tensor tensors[] = {
        tensor("u8", WEIR_U8, 3),    tensor("f4", WEIR_F4, 2),
        tensor("f32", WEIR_F32, 2),  tensor("i64", WEIR_I64, 1),
        tensor("u16", WEIR_U16, 1),  tensor("i32", WEIR_I32, 1),
        tensor("c64", WEIR_C64, 1),  tensor("f6", WEIR_F6_E2M3, 4),
        tensor("none", WEIR_F64, 0),
    };
    static const char json[] =
        "{\"__metadata__\":{\"a\":\"1\\\"\\\\\\u000a\\u001f/\xc3\xa9\"},"
        "\"i64\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"c64\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[8,16]},"
        "\"none\":{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[16,16]},"
        "\"f32\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]},"
        "\"i32\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[24,28]},"
        "\"u16\":{\"dtype\":\"U16\",\"shape\":[1],\"data_offsets\":[28,30]},"
        "\"u8\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[30,33]},"
        "\"f6\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[33,36]},"
        "\"f4\":{\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[36,37]}}";
    static const size_t expected[] = {3, 6, 8, 2, 5, 4, 0, 7, 1};
    const weir_pair pair = {"a", "1\"\\\n\x1f/\xc3\xa9"};
    struct wr_st_head h;
    uint8_t *buf;
    size_t *order;

    (void)state;
    assert_int_equal(wr_st_plan(tensors, 9, &pair, 1, &h, NULL), 0);
    assert_int_equal(h.data_offset, 4096);
    assert_int_equal(h.data_bytes, 37);
    order = wr_st_order(tensors, 9);
    assert_memory_equal(order, expected, sizeof(expected));
    free(order);
    buf = malloc(h.data_offset);
    assert_int_equal(wr_st_print(&h, buf, NULL), 0);
    assert_memory_equal(buf, "\xf8\x0f\0\0\0\0\0\0", 8);
    assert_memory_equal(buf + 8, json, sizeof(json) - 1);
    for (size_t k = 8 + sizeof(json) - 1; k < h.data_offset; k++)
        assert_int_equal(buf[k], ' ');
    assert_ptr_equal(wr_st_find(&h, "f32"), &h.tensors[3]);
    free(buf);
    wr_st_done(&h);
}

/* Whole pages come first, and what adjoins in memory stays together. */
static void test_plan_pages(void **state)
{
    static uint8_t m[65536];
    weir_tensor tensors[] = {
        {.name = "u8", .dtype = WEIR_U8, .ndim = 1, .shape = {10}, .data = m},
        {.name = "page", .dtype = WEIR_U8, .ndim = 1, .shape = {8192}},
        /* one behind the other: a page together */
        {.name = "a", .dtype = WEIR_F32, .ndim = 1, .shape = {1000}},
        {.name = "b", .dtype = WEIR_I32, .ndim = 1, .shape = {24}},
        /* adjoins too, but has another width */
        {.name = "c", .dtype = WEIR_F16, .ndim = 1, .shape = {3}},
        {.name = "f64", .dtype = WEIR_F64, .ndim = 1, .shape = {1}},
        {.name = "none", .dtype = WEIR_U8, .ndim = 1, .shape = {0}},
        /* a page each, and not one behind the other */
        {.name = "d", .dtype = WEIR_F32, .ndim = 1, .shape = {1024}},
        {.name = "e", .dtype = WEIR_F32, .ndim = 1, .shape = {1024}},
        {.name = "half", .dtype = WEIR_F32, .ndim = 1, .shape = {512}},
    };
    static const size_t expected[] = {1, 2, 3, 7, 8, 5, 9, 4, 0, 6};
    static const size_t at[] = {0,     100,   10000, 14000, 14096,
                                20000, 30000, 40000, 50000, 60000};
    struct wr_st_head h;
    size_t *order;

    (void)state;
    for (size_t k = 0; k < 10; k++)
        tensors[k].data = m + at[k];
    order = wr_st_order(tensors, 10);
    assert_non_null(order);
    assert_memory_equal(order, expected, sizeof(expected));
    free(order);
    assert_int_equal(wr_st_plan(tensors, 10, NULL, 0, &h, NULL), 0);
    assert_int_equal(wr_st_find(&h, "d")->begin, 8192 + 4096);
    assert_int_equal(wr_st_find(&h, "f64")->begin, 8192 + 3 * 4096);
    wr_st_done(&h);
}

static void test_plan_empty(void **state)
{
    struct wr_st_head h, got;
    uint8_t buf[4096];

    (void)state;
    assert_int_equal(wr_st_plan(NULL, 0, NULL, 0, &h, NULL), 0);
    assert_int_equal(h.data_offset, 4096);
    assert_int_equal(wr_st_print(&h, buf, NULL), 0);
    assert_memory_equal(buf + 8, "{} ", 3);
    assert_int_equal(wr_st_parse(buf, 4096, 4096, "f", &got, NULL), 0);
    assert_int_equal(got.count, 0);
    wr_st_done(&got);
    wr_st_done(&h);
}

/* The checksums are put in when the data are written; the head stays as long. */
static void test_overwrite(void **state)
{
    const weir_tensor t = tensor("w", WEIR_U8, 5);
    struct wr_st_head h, got;
    uint8_t *buf;
    weir_err err;

    (void)state;
    /* All lengths around a page: with and without blanks. */
    for (size_t n = 3900; n < 4100; n++) {
        char *zeros = malloc(n + 1);
        const weir_pair pairs[] = {{"k", "v"}, {"weir.crc32c", zeros}};

        memset(zeros, '0', n);
        zeros[n] = '\0';
        assert_int_equal(wr_st_plan(&t, 1, pairs, 2, &h, NULL), 0);
        assert_int_equal(h.data_offset % 4096, 0);
        memset(h.metadata[1].value, 'f', n);
        buf = malloc(h.data_offset);
        assert_int_equal(wr_st_print(&h, buf, NULL), 0);
        assert_int_equal(
            wr_st_parse(buf, h.data_offset, h.data_offset + 5, "f", &got, NULL),
            0);
        assert_string_equal(got.metadata[1].value, h.metadata[1].value);
        wr_st_done(&got);
        h.metadata[1].value[0] = '\x01'; /* breaks the promise */
        if (wr_st_print(&h, buf, &err) < 0)
            assert_non_null(strstr(err.msg, "were planned"));
        free(buf);
        free(zeros);
        wr_st_done(&h);
    }
}

static void refuse_plan(const weir_tensor *t, size_t count, int code,
                        const char *reason)
{
    struct wr_st_head h = {.count = 42};
    weir_err err = {0};

    assert_int_equal(wr_st_plan(t, count, NULL, 0, &h, &err), code);
    if (!strstr(err.msg, reason))
        fail_msg("'%s' is not in '%s'", reason, err.msg);
    assert_int_equal(h.count, 42);
}

static void test_plan_refused(void **state)
{
    weir_tensor t[3] = {tensor("a", WEIR_U8, 1), tensor("b", WEIR_F64, 1),
                        tensor("c", WEIR_U8, 1)};

    (void)state;
    t[2].name = "__metadata__";
    refuse_plan(t, 3, WEIR_EINVAL, "'__metadata__': the format keeps this");
    t[2].name = "";
    refuse_plan(t, 3, WEIR_EINVAL, "tensor 2 has no name");
    t[2].name = NULL;
    refuse_plan(t, 3, WEIR_EINVAL, "tensor 2 has no name");
    t[2].name = "b";
    refuse_plan(t, 3, WEIR_EINVAL, "'b': two tensors have this name");
    t[2].name = "w\xff";
    refuse_plan(t, 3, WEIR_EINVAL, "'w\\xff': the name is not UTF-8");
    t[2].name = "w";
    t[2].dtype = (enum weir_dtype)77;
    refuse_plan(t, 3, WEIR_EINVAL, "'w': type 77 is unknown");
    t[2].dtype = WEIR_F4;
    refuse_plan(t, 3, WEIR_EINVAL, "'w': 4 bits of F4 are no whole bytes");
    t[2].dtype = WEIR_U8;
    t[2].ndim = 9;
    refuse_plan(t, 3, WEIR_ELIMIT, "'w': has 9 dimensions");
    t[2].ndim = 2;
    t[2].shape[0] = UINT64_C(1) << 48;
    t[2].shape[1] = 0;
    refuse_plan(t, 3, WEIR_ELIMIT, "'w': the shape has a number above 2^48");
    t[2].ndim = 1;
    t[2].shape[0]--;
    refuse_plan(t, 3, WEIR_ELIMIT, "more than 2^48 - 1 bytes");
}

static void test_plan_metadata_refused(void **state)
{
    static const weir_pair twice[] = {{"b", "1"}, {"a", "2"}, {"b", "3"}};
    static const weir_pair latin[] = {{"b", "\xe9"}};
    static const weir_pair none[] = {{"b", NULL}};
    struct wr_st_head h;
    weir_err err;

    (void)state;
    assert_int_equal(wr_st_plan(NULL, 0, twice, 3, &h, &err), WEIR_EINVAL);
    assert_string_equal(err.msg, "metadata: the key 'b' is there twice");
    assert_int_equal(wr_st_plan(NULL, 0, latin, 1, &h, &err), WEIR_EINVAL);
    assert_string_equal(err.msg, "metadata: 'b' or its value is not UTF-8");
    assert_int_equal(wr_st_plan(NULL, 0, none, 1, &h, &err), WEIR_EINVAL);
}

static void test_plan_limit(void **state)
{
    size_t n = WR_ST_MAX_JSON;
    char *value = malloc(n + 1);
    const weir_pair pair = {"k", value};
    struct wr_st_head h;
    weir_err err;

    (void)state;
    memset(value, 'x', n);
    value[n] = '\0';
    assert_int_equal(wr_st_plan(NULL, 0, &pair, 1, &h, &err), WEIR_ELIMIT);
    assert_non_null(strstr(err.msg, "at most 100000000 are allowed"));
    value[n - 200] = '\0'; /* fits, but not when filled up to the page */
    assert_int_equal(wr_st_plan(NULL, 0, &pair, 1, &h, &err), WEIR_ELIMIT);
    value[n - 8192] = '\0';
    assert_int_equal(wr_st_plan(NULL, 0, &pair, 1, &h, &err), 0);
    assert_true(h.data_offset - 8 <= WR_ST_MAX_JSON);
    wr_st_done(&h);
    free(value);
}

static const char *random_name(struct wr_rng *rng, unsigned k, char *buf)
{
    static const char *const parts[] = {"w",  "\"",       "\\",
                                        "\n", "\xc3\xa9", "\xf0\x9f\x99\x82",
                                        "/",  "\x7f",     "."};
    size_t used = (size_t)sprintf(buf, "%u", k);

    for (uint64_t n = wr_rng_below(rng, 6); n; n--)
        used += (size_t)sprintf(buf + used, "%s", parts[wr_rng_below(rng, 9)]);
    return buf;
}

static void random_tensor(struct wr_rng *rng, weir_tensor *t)
{
    t->dtype = (enum weir_dtype)wr_rng_below(rng, 22);
    t->ndim = (uint32_t)wr_rng_below(rng, 9);
    for (uint32_t d = 0; d < t->ndim; d++)
        t->shape[d] = wr_rng_below(rng, 5);
    if (wr_dtype_bits(t->dtype) < 8) {
        t->ndim += !t->ndim;
        t->shape[0] *= 4;
    }
}

static void check_same(const struct wr_st_head *a, const struct wr_st_head *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->data_offset, b->data_offset);
    assert_int_equal(a->data_bytes, b->data_bytes);
    for (size_t k = 0; k < a->count; k++) {
        const struct wr_st_tensor *x = &a->tensors[k], *y = &b->tensors[k];

        assert_string_equal(x->t.name, y->t.name);
        assert_int_equal(x->t.dtype, y->t.dtype);
        assert_int_equal(x->t.ndim, y->t.ndim);
        assert_memory_equal(x->t.shape, y->t.shape, sizeof(x->t.shape));
        assert_int_equal(x->begin, y->begin);
        assert_int_equal(x->end, y->end);
        assert_ptr_equal(wr_st_find(a, x->t.name), x);
        assert_ptr_equal(wr_st_find(b, x->t.name), y);
    }
}

static void check_planned(const struct wr_st_head *h, const weir_tensor *t)
{
    size_t *order = wr_st_order(t, h->count);
    uint64_t at = 0;

    for (size_t k = 0; k < h->count; k++) {
        unsigned bits = wr_dtype_bits(h->tensors[k].t.dtype);
        uint64_t bytes = 0;

        assert_string_equal(h->tensors[k].t.name, t[order[k]].name);
        assert_int_equal(wr_tensor_bytes(&t[order[k]], &bytes, NULL), 0);
        assert_int_equal(h->tensors[k].begin, at);
        at += bytes;
        assert_int_equal(h->tensors[k].end, at);
        if (bits >= 8)
            assert_int_equal(h->tensors[k].begin % (bits / 8), 0);
    }
    free(order);
}

static void test_random(void **state)
{
    struct wr_rng rng = {.seed = 11};

    (void)state;
    for (int round = 0; round < 300; round++) {
        weir_tensor t[40] = {0};
        char names[40][64];
        size_t count = wr_rng_below(&rng, 41);
        struct wr_st_head h, got;
        weir_err err = {0};
        uint8_t *buf;

        for (size_t k = 0; k < count; k++) {
            t[k].name = random_name(&rng, (unsigned)k, names[k]);
            random_tensor(&rng, &t[k]);
        }
        assert_int_equal(wr_st_plan(t, count, NULL, 0, &h, NULL), 0);
        check_planned(&h, t);
        buf = malloc(h.data_offset);
        assert_int_equal(wr_st_print(&h, buf, NULL), 0);
        if (wr_st_parse(buf, h.data_offset, h.data_offset + h.data_bytes, "f",
                        &got, &err) < 0)
            fail_msg("%s", err.msg);
        check_same(&h, &got);
        free(buf);
        wr_st_done(&got);
        wr_st_done(&h);
    }
}

/* As many as large models have; a quadratic loop would not end in time. */
static void test_many(void **state)
{
    enum { COUNT = 100000 };
    weir_tensor *t = calloc(COUNT, sizeof(*t));
    char(*names)[32] = malloc(COUNT * sizeof(*names));
    struct wr_st_head h, got;
    uint8_t *buf;

    (void)state;
    for (size_t k = 0; k < COUNT; k++) {
        sprintf(names[k], "layer.%zu.weight", COUNT - k);
        t[k] = tensor(names[k], k % 2 ? WEIR_F32 : WEIR_BF16, k % 100);
    }
    assert_int_equal(wr_st_plan(t, COUNT, NULL, 0, &h, NULL), 0);
    buf = malloc(h.data_offset);
    assert_int_equal(wr_st_print(&h, buf, NULL), 0);
    assert_int_equal(wr_st_parse(buf, h.data_offset,
                                 h.data_offset + h.data_bytes, "f", &got, NULL),
                     0);
    check_same(&h, &got);
    free(buf);
    wr_st_done(&got);
    wr_st_done(&h);
    free(names);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_plan_pages),
        cmocka_unit_test(test_plan_empty),
        cmocka_unit_test(test_overwrite),
        cmocka_unit_test(test_plan_refused),
        cmocka_unit_test(test_plan_metadata_refused),
        cmocka_unit_test(test_plan_limit),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
