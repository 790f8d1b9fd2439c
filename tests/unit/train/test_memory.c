/* test_memory.c - what computing takes is counted, and refused beforehand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/learn.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <string.h>

static struct wr_net net_of(double width)
{
    struct wr_net_spec spec = {width, 102, 224, 224, 3};
    struct wr_net net;

    assert_int_equal(wr_net_init(&net, &spec, NULL), 0);
    return net;
}

/* AlexNet at 224x224: the shapes of test_net.c, added by hand. */
static void layers_are_counted(void **state)
{
    struct wr_net net = net_of(1);
    uint64_t outs = 54 * 54 * 64 + 26 * 26 * 64 + 26 * 26 * 192 +
                    12 * 12 * 192 + 2 * 12 * 12 * 384 + 12 * 12 * 256 +
                    5 * 5 * 256 + 2 * 4096 + 102;

    (void)state;
    assert_int_equal(wr_memory_needed(&net, 0), net.param_count * 4);
    assert_int_equal(wr_memory_needed(&net, 64),
                     net.param_count * 4 + 64 * outs * 4);
}

static void what_cannot_fit_is_refused(void **state)
{
    struct wr_net small = net_of(.05), large = net_of(4);
    weir_err err = {0};

    (void)state;
    assert_int_equal(wr_memory_check(&small, 1, &err), 0);
    assert_int_equal(err.code, 0);
    assert_int_equal(wr_memory_check(&large, UINT32_MAX, &err), WEIR_ENOMEM);
    assert_non_null(strstr(err.msg, "a batch of 4294967295 at width 4"));
    assert_non_null(strstr(err.msg, "are free"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_counted),
        cmocka_unit_test(what_cannot_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
