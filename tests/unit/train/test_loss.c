/* test_loss.c - softmax cross entropy: values, gradients, large logits, NaN.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static struct wr_loss loss_of(const float *z, const uint32_t *labels,
                              uint32_t rows, uint32_t valid, float *dz)
{
    const struct wr_loss_batch batch = {z, labels, rows, valid, 3};
    struct wr_loss loss;

    assert_int_equal(wr_loss_of(&batch, dz, &loss, NULL), 0);
    return loss;
}

/* By hand: log(e + 2), and log(3) of equal ones, whose first counts as the
 * largest. */
static void values_are_known(void **state)
{
    const float z[] = {1, 0, 0, 5, 5, 5};
    const uint32_t labels[] = {0, 2};
    struct wr_loss both, one;
    float dz[6];

    (void)state;
    one = loss_of(z, labels, 1, 1, dz);
    assert_true(fabs(one.mean - (log(exp(1) + 2) - 1)) < 1e-12);
    assert_true(fabs(dz[0] - (exp(1) / (exp(1) + 2) - 1)) < 1e-7);
    assert_true(fabs(dz[1] - 1 / (exp(1) + 2)) < 1e-7);
    assert_int_equal(one.correct, 1);
    both = loss_of(z, labels, 2, 2, dz);
    assert_true(fabs(both.mean - (one.mean + log(3)) / 2) < 1e-12);
    assert_true(fabs(dz[5] - (1. / 3 - 1) / 2) < 1e-7);
    assert_int_equal(both.correct, 1);
    assert_true(both.is_finite);
}

/* Rows of padding: no loss, no gradient, and the mean is of the others. */
static void padding_does_not_count(void **state)
{
    const float z[] = {1, 2, 3, 400, NAN, -7};
    const uint32_t labels[] = {1, 77};
    float dz[6], alone[3];
    struct wr_loss loss = loss_of(z, labels, 2, 1, dz);

    (void)state;
    assert_true(loss.mean == loss_of(z, labels, 1, 1, alone).mean);
    assert_memory_equal(dz, alone, sizeof(alone));
    for (int i = 3; i < 6; i++)
        assert_true(dz[i] == 0);
    loss = loss_of(z, labels, 2, 0, dz);
    assert_true(loss.mean == 0 && loss.is_finite && loss.correct == 0);
    for (int i = 0; i < 6; i++)
        assert_true(dz[i] == 0);
}

static void gradients_are_finite_differences(void **state)
{
    float z[] = {.3f, -1.2f, 2.f, .5f, 1.5f, -.25f}, dz[6];
    const uint32_t labels[] = {1, 0};

    (void)state;
    loss_of(z, labels, 2, 2, dz);
    for (int i = 0; i < 6; i++) {
        float old = z[i], h = 1e-3f;
        double up, down;

        z[i] = old + h;
        up = loss_of(z, labels, 2, 2, NULL).mean;
        z[i] = old - h;
        down = loss_of(z, labels, 2, 2, NULL).mean;
        z[i] = old;
        assert_true(fabs((up - down) / (2 * h) - dz[i]) < 1e-4);
    }
}

static void large_logits_are_safe(void **state)
{
    const float z[] = {3e38f, 0, -3e38f}, low[] = {-3e38f, -3e38f, -3e38f};
    const uint32_t right = 0, wrong = 2;
    struct wr_loss loss;
    float dz[3];

    (void)state;
    loss = loss_of(z, &right, 1, 1, dz);
    assert_true(loss.is_finite && loss.mean == 0);
    assert_true(dz[0] == 0 && dz[1] == 0);
    loss = loss_of(z, &wrong, 1, 1, dz);
    assert_true(loss.is_finite && loss.mean > 5e38);
    assert_true(dz[0] == 1 && dz[2] == -1);
    loss = loss_of((const float[]){95, 0, 0}, &right, 1, 1, dz);
    assert_true(dz[1] == 0 && dz[0] == 0); /* e^-95 is subnormal */
    loss = loss_of(low, &wrong, 1, 1, dz);
    assert_true(loss.is_finite && fabs(dz[0] - 1. / 3) < 1e-6);
}

static void what_is_no_number_is_told(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    const uint32_t label = 1;

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int at = 0; at < 3; at++) {
            float z[] = {0, 1, 2};
            struct wr_loss loss;

            z[at] = bad[i];
            loss = loss_of(z, &label, 1, 1, NULL);
            /* of a class that is not the label, e^-infinity is just 0 */
            assert_int_equal(loss.is_finite, i == 2 && at != 1);
        }
}

static void labels_are_checked(void **state)
{
    const float z[6] = {0};
    const uint32_t labels[] = {2, 3};
    const struct wr_loss_batch batch = {z, labels, 2, 2, 3};
    struct wr_loss loss = {.correct = 99};
    weir_err err;

    (void)state;
    assert_int_equal(wr_loss_of(&batch, NULL, &loss, &err), WEIR_EINVAL);
    assert_int_equal(loss.correct, 99);
    assert_non_null(strstr(err.msg, "label 3 of sample 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_known),
        cmocka_unit_test(padding_does_not_count),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(large_logits_are_safe),
        cmocka_unit_test(what_is_no_number_is_told),
        cmocka_unit_test(labels_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
