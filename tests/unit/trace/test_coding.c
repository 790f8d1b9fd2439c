/* test_coding.c - numbers and texts in few bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "trace/event.h"
#include "trace/coding.h"

static const uint64_t numbers[] = {
    0,         1,       127,        128,        16383,
    16384,     1 << 20, UINT32_MAX, UINT64_MAX, UINT64_MAX / 2,
    INT64_MAX, 300};

static void test_numbers(void **state)
{
    struct wr_pack p = {0};
    struct wr_packed q;

    for (size_t k = 0; k < WR_ARRAY_LEN(numbers); k++) {
        wr_pack_number(&p, numbers[k]);
        wr_pack_number(&p, wr_zigzag((int64_t)numbers[k]));
    }
    q = (struct wr_packed){.at = p.bytes, .end = p.bytes + p.len};
    for (size_t k = 0; k < WR_ARRAY_LEN(numbers); k++) {
        assert_true(wr_packed_number(&q) == numbers[k]);
        assert_true(wr_unzigzag(wr_packed_number(&q)) == (int64_t)numbers[k]);
    }
    assert_false(q.bad);
    assert_ptr_equal(q.at, q.end);
    assert_int_equal(wr_packed_number(&q), 0);
    assert_true(q.bad);
    free(p.bytes);
}

static void test_too_long(void **state)
{
    static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0x02, 0x00};
    struct wr_packed q = {.at = bytes, .end = bytes + sizeof(bytes)};

    assert_int_equal(wr_packed_number(&q), 0);
    assert_true(q.bad);
}

static void test_texts(void **state)
{
    struct wr_pack p = {0};
    struct wr_packed q;
    const char *s;
    size_t len = 9;

    wr_pack_text(&p, NULL);
    wr_pack_text(&p, "");
    wr_pack_text(&p, "abc");
    q = (struct wr_packed){.at = p.bytes, .end = p.bytes + p.len};
    assert_null(wr_packed_text(&q, 10, &len));
    assert_false(q.bad);
    assert_non_null(wr_packed_text(&q, 10, &len));
    assert_int_equal(len, 0);
    s = wr_packed_text(&q, 3, &len);
    assert_int_equal(len, 3);
    assert_memory_equal(s, "abc", 3);
    q = (struct wr_packed){.at = p.bytes + 2, .end = p.bytes + p.len - 1};
    assert_null(wr_packed_text(&q, 10, &len)); /* cut off */
    assert_true(q.bad);
    q = (struct wr_packed){.at = p.bytes + 2, .end = p.bytes + p.len};
    assert_null(wr_packed_text(&q, 2, &len)); /* over the limit */
    assert_true(q.bad);
    free(p.bytes);
}

static void test_words(void **state)
{
    assert_string_equal(wr_trace_op_name(WR_TRACE_SYNC), "fsync");
    assert_string_equal(wr_trace_op_name(WR_TRACE_OPS), "?");
    assert_int_equal(wr_trace_op_class(WR_TRACE_COPY_OUT),
                     WR_TRACE_CLASS_WRITE);
    assert_string_equal(wr_trace_class_name(WR_TRACE_CLASS_META), "metadata");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_texts), cmocka_unit_test(test_words)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
