/* test_array_shape.c - where the samples of one array lie in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/dtype.h"
#include "base/mem.h"
#include "format/array_shape.h"

static struct wr_npz_array array(enum weir_dtype dtype, bool fortran,
                                 uint32_t ndim, const uint64_t *shape)
{
    struct wr_npz_array a = {
        .name = "x", .npy = {.dtype = dtype, .fortran = fortran, .ndim = ndim}};

    a.elements = 1;
    for (uint32_t k = 0; k < ndim; k++) {
        a.npy.shape[k] = shape[k];
        a.elements *= shape[k];
    }
    a.bytes = a.elements * wr_dtype_bytes(dtype);
    return a;
}

/* Where element `index` of the whole array lies. */
static uint64_t place(const struct wr_npy *npy, const uint64_t *index)
{
    uint64_t at = 0;

    for (uint32_t k = 0; k < npy->ndim; k++) {
        uint32_t axis = npy->fortran ? npy->ndim - 1 - k : k;

        at = at * npy->shape[axis] + index[axis];
    }
    return at * wr_dtype_bytes(npy->dtype);
}

/* Where the shape says that it lies: sample, then strides. */
static uint64_t said(const struct wr_array_shape *s, uint64_t sample,
                     const uint64_t *index)
{
    uint64_t at = sample * s->step, step = wr_dtype_bytes(s->field.pub.dtype);
    uint64_t alone = step;

    for (uint32_t k = 0; k < s->field.pub.ndim; k++)
        alone *= s->field.pub.dims[k];
    for (uint32_t k = s->field.pub.ndim; k-- > 0;) {
        uint64_t scale = s->field.scaled ? (s->length - step) / (alone - step)
                                         : 1;
        uint64_t c = 1;

        for (uint32_t j = k + 1; j < s->field.pub.ndim; j++)
            c *= s->field.pub.dims[j];
        at += index[k] *
              (s->field.strided ? s->field.strides[k] * scale : c * step);
    }
    return at;
}

static void check(const struct wr_npz_array *a, enum wr_axis axis)
{
    uint32_t skip = axis == WR_AXIS_FIRST  ? 0
                    : axis == WR_AXIS_LAST ? a->npy.ndim - 1
                                           : UINT32_MAX;
    struct wr_array_shape s;

    assert_int_equal(wr_array_shape(a, axis, &s, NULL), 0);
    for (uint64_t i = 0; i < a->elements; i++) {
        uint64_t index[8], inner[8], sample = 0, rest = i;
        uint32_t n = 0;

        for (uint32_t k = a->npy.ndim; k-- > 0; rest /= a->npy.shape[k])
            index[k] = rest % a->npy.shape[k];
        for (uint32_t k = 0; k < a->npy.ndim; k++)
            if (k == skip)
                sample = index[k];
            else
                inner[n++] = index[k];
        assert_int_equal(s.field.pub.ndim, n);
        assert_int_equal(said(&s, sample, inner), place(&a->npy, index));
    }
    assert_true((s.count - 1) * s.step + s.length <= a->bytes);
}

static void test_places(void **state)
{
    static const uint64_t shapes[][4] = {
        {5, 3, 4, 2}, {1, 3, 4, 2}, {5, 3, 4, 1}, {1, 1, 1, 1},
        {7, 1, 1, 1}, {1, 1, 1, 7}, {2, 1, 3, 1}, {3, 2, 1, 1}};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(shapes); k++)
        for (uint32_t ndim = 1; ndim <= 4; ndim++)
            for (int order = 0; order < 2; order++) {
                struct wr_npz_array a = array(WEIR_I16, order, ndim, shapes[k]);

                check(&a, WR_AXIS_FIRST);
                check(&a, WR_AXIS_LAST);
                check(&a, WR_AXIS_FILE);
            }
}

/* What lies in C order, and alone, is read as it lies. */
static void test_plain(void **state)
{
    const uint64_t shape[] = {5, 3, 4}, one[] = {3, 4, 1};
    struct wr_npz_array a = array(WEIR_F32, false, 3, shape);
    struct wr_array_shape s;

    (void)state;
    assert_int_equal(wr_array_shape(&a, WR_AXIS_FIRST, &s, NULL), 0);
    assert_false(s.field.strided || s.mixed);
    assert_int_equal(s.count, 5);
    assert_int_equal(s.length, 48);
    assert_int_equal(wr_array_shape(&a, WR_AXIS_LAST, &s, NULL), 0);
    assert_true(s.field.strided && s.field.scaled && s.mixed);
    assert_int_equal(s.count, 4);
    assert_int_equal(s.step, 4);
    assert_int_equal(s.length, 4 + 14 * 16);
    a = array(WEIR_F32, false, 3, one);
    assert_int_equal(wr_array_shape(&a, WR_AXIS_LAST, &s, NULL), 0);
    assert_false(s.field.strided || s.mixed);
    a = array(WEIR_F32, true, 3, shape);
    assert_int_equal(wr_array_shape(&a, WR_AXIS_LAST, &s, NULL), 0);
    assert_true(s.field.strided);
    assert_false(s.field.scaled || s.mixed); /* a sample is one piece */
}

static void test_limits(void **state)
{
    static const uint64_t none[] = {3, 0}, empty[] = {0, 4};
    static const uint64_t large[] = {2, UINT64_C(1) << 28};
    static const uint64_t many[] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const uint64_t wide[] = {1000, 5000000};
    struct wr_npz_array a = array(WEIR_U8, false, 2, none);
    struct wr_array_shape s;
    weir_err err;

    (void)state;
    assert_int_equal(wr_array_shape(&a, WR_AXIS_FIRST, &s, &err), WEIR_EFORMAT);
    a = array(WEIR_U8, false, 2, empty);
    assert_int_equal(wr_array_shape(&a, WR_AXIS_FIRST, &s, &err), 0);
    assert_int_equal(s.count, 0);
    a = array(WEIR_F64, false, 2, large);
    assert_int_equal(wr_array_shape(&a, WR_AXIS_FIRST, &s, &err), WEIR_ELIMIT);
    a = array(WEIR_U8, false, 8, many);
    assert_int_equal(wr_array_shape(&a, WR_AXIS_FIRST, &s, &err), 0);
    assert_int_equal(wr_array_shape(&a, WR_AXIS_FILE, &s, &err), WEIR_ENOTSUP);
    a = array(WEIR_U8, false, 2, wide);
    assert_int_equal(wr_array_shape(&a, WR_AXIS_FIRST, &s, &err), 0);
    assert_int_equal(wr_array_shape(&a, WR_AXIS_LAST, &s, &err), WEIR_ELIMIT);
    assert_non_null(strstr(err.msg, "one piece"));
}

static void test_axis(void **state)
{
    enum wr_axis axis;
    uint64_t each;
    weir_err err;

    (void)state;
    assert_int_equal(wr_axis_parse(NULL, &axis, &each, &err), 0);
    assert_int_equal(axis, WR_AXIS_AUTO);
    assert_int_equal(wr_axis_parse("label=t,axis=last", &axis, &each, &err), 0);
    assert_int_equal(axis, WR_AXIS_LAST);
    assert_int_equal(
        wr_axis_parse("axis=file,x=tensor:u8:4", &axis, &each, &err), 0);
    assert_int_equal(axis, WR_AXIS_FILE);
    assert_int_equal(wr_axis_parse("taxis=2", &axis, &each, &err), 0);
    assert_int_equal(axis, WR_AXIS_AUTO);
    assert_int_equal(wr_axis_parse("axis=2", &axis, &each, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "first, last"));
    assert_int_equal(each, 0);
    assert_int_equal(wr_axis_parse("axis=auto:4", &axis, &each, &err), 0);
    assert_int_equal(axis, WR_AXIS_AUTO);
    assert_int_equal(each, 4);
    assert_int_equal(wr_axis_parse("axis=auto:", &axis, &each, &err),
                     WEIR_EINVAL);
    assert_int_equal(wr_axis_parse("axis=auto:1x", &axis, &each, &err),
                     WEIR_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_axis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
