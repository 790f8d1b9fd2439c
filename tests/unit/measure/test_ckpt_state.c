/* test_ckpt_state.c - the states that weir ckpt bench saves.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "measure/ckpt_state.h"

static int parse(const char *text, struct wr_ckpt_load *l, weir_err *err)
{
    return wr_ckpt_load_parse(text, strlen(text), "shapes.txt", l, err);
}

static void test_good(void **state)
{
    struct wr_ckpt_load l;

    assert_int_equal(parse("# a list\r\n\n fc.weight\tF32  10x20 \r\n"
                           "half BF16 3\nstep I64 scalar\nnone F32 0x4",
                           &l, NULL),
                     0);
    assert_int_equal(l.count, 4);
    assert_int_equal(l.bytes, 800 + 6 + 8);
    assert_string_equal(l.tensors[0].name, "fc.weight");
    assert_int_equal(l.tensors[0].dtype, WEIR_F32);
    assert_int_equal(l.tensors[0].ndim, 2);
    assert_int_equal(l.tensors[0].shape[0], 10);
    assert_int_equal(l.tensors[0].shape[1], 20);
    assert_int_equal(l.tensors[1].ndim, 1);
    assert_string_equal(l.tensors[2].name, "step");
    assert_int_equal(l.tensors[2].ndim, 0);
    wr_ckpt_load_done(&l);
}

static void test_bad(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "'shapes.txt': no tensors in it"},
        {"# nothing\n\n", "'shapes.txt': no tensors in it"},
        {"a", "line 1: write NAME DTYPE SHAPE"},
        {"a F32", "line 1: write NAME DTYPE SHAPE"},
        {"a F32 1 2", "line 1: write NAME DTYPE SHAPE"},
        {"a F32 1\nb F31 1", "line 2: 'F31' is no type"},
        {"a F32 x", "'x' is no shape"},
        {"a F32 1x", "'1x' is no shape"},
        {"a F32 1xx2", "'1xx2' is no shape"},
        {"a F32 -1", "'-1' is no shape"},
        {"a F32 1,2", "'1,2' is no shape"},
        {"a F32 1x1x1x1x1x1x1x1x1", "is no shape"},
        {"a F32 99999999999999999999", "line 1: 'a': the shape overflows"},
        {"a F32 4294967296x4294967296x8", "line 1: "},
        {"a F32 2305843009213693951\nb F32 2305843009213693951", "line "},
    };

    for (size_t i = 0; i < WR_ARRAY_LEN(bad); i++) {
        struct wr_ckpt_load l = {0};
        weir_err err = {0};

        assert_true(parse(bad[i].text, &l, &err) < 0);
        if (!strstr(err.msg, bad[i].why))
            fail_msg("'%s': %s", bad[i].text, err.msg);
        assert_null(l.tensors);
    }
}

static void test_models(void **state)
{
    for (const struct wr_ckpt_model *m = wr_ckpt_models; m->name; m++) {
        struct wr_ckpt_load l;
        uint64_t before;

        if (strcmp(m->name, "vgg16") == 0)
            continue; /* 1.6 GB are too much for a test */
        assert_int_equal(wr_ckpt_load_shapes(m->name, 0, &l, NULL), 0);
        assert_null(l.memory);
        assert_int_equal(wr_ckpt_load_fill(&l, NULL), 0);
        assert_non_null(l.memory);
        memcpy(&before, l.tensors[l.count - 1].data, sizeof(before));
        wr_ckpt_load_step(&l, 7);
        assert_memory_not_equal(l.tensors[l.count - 1].data, &before,
                                sizeof(before));
        wr_ckpt_load_done(&l);
    }
}

static void test_moments(void **state)
{
    struct wr_ckpt_load one, three;

    assert_int_equal(wr_ckpt_load_shapes("small", 0, &one, NULL), 0);
    assert_int_equal(wr_ckpt_load_shapes("small", 2, &three, NULL), 0);
    assert_int_equal(one.bytes, 4 * (1024 * 784 + 1024 + 10 * 1024 + 10));
    assert_int_equal(three.bytes, 3 * one.bytes);
    assert_int_equal(three.count, 3 * one.count);
    assert_string_equal(three.tensors[one.count].name, "hidden.weight.moment1");
    wr_ckpt_load_done(&one);
    wr_ckpt_load_done(&three);
}

static void test_no_file(void **state)
{
    struct wr_ckpt_load l;
    weir_err err;

    assert_int_equal(wr_ckpt_load_shapes("/nowhere/x", 0, &l, &err),
                     WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "no model is called so"));
    assert_true(wr_ckpt_load_shapes("/", 0, &l, &err) < 0);
    assert_non_null(strstr(err.msg, "a folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_bad),
        cmocka_unit_test(test_models),  cmocka_unit_test(test_moments),
        cmocka_unit_test(test_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
