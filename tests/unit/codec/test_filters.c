/* test_filters.c - the packing of units undone: every list, whole, in pieces,
 * damaged.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/filters.h"
#include "codec/inflate.h"
#include "packed.h"

static uint8_t *pattern(size_t len)
{
    uint8_t *p = malloc(len + 1);
    uint32_t x = 12345;

    for (size_t k = 0; k < len; k++) {
        x = x * 1664525 + 1013904223;
        p[k] = k % 3 ? (uint8_t)(k / 50) : (uint8_t)(x >> 28);
    }
    return p;
}

/* Undoes it in pieces; the result, with a guard behind the bytes. */
static int undo(const struct wr_packing *p, const uint8_t *stored, size_t piece,
                uint8_t *out, weir_err *err)
{
    struct wr_unfilter *u = NULL;
    uint64_t at = 0;
    int r = wr_unfilter_new(p, out, &u, err);

    while (r == 0 && at < p->stored) {
        size_t n = (size_t)WR_MIN((uint64_t)piece, p->stored - at);
        uint8_t *copy = malloc(n); /* must not be used later */

        memcpy(copy, stored + at, n);
        r = wr_unfilter_feed(u, copy, n, err);
        free(copy);
        at += n;
    }
    wr_unfilter_free(u);
    return r == 0 ? -1 : r == 1 ? 0 : r;
}

static const uint32_t lists[] = {
    WR_FILTERS(WR_FILTER_NONE, 0, 0, 0),
    WR_FILTERS(WR_FILTER_GZIP, 0, 0, 0),
    WR_FILTERS(WR_FILTER_ZLIB, 0, 0, 0),
    WR_FILTERS(WR_FILTER_DEFLATE, 0, 0, 0),
    WR_FILTERS(WR_FILTER_SHUFFLE, 0, 0, 0),
    WR_FILTERS(WR_FILTER_FLETCHER32, 0, 0, 0),
    WR_FILTERS(WR_FILTER_ZLIB, WR_FILTER_SHUFFLE, 0, 0),
    WR_FILTERS(WR_FILTER_FLETCHER32, WR_FILTER_ZLIB, WR_FILTER_SHUFFLE, 0),
    WR_FILTERS(WR_FILTER_ZLIB, WR_FILTER_FLETCHER32, WR_FILTER_SHUFFLE, 0),
    WR_FILTERS(WR_FILTER_ZLIB, WR_FILTER_SHUFFLE, WR_FILTER_FLETCHER32, 0),
    WR_FILTERS(WR_FILTER_SHUFFLE, WR_FILTER_GZIP, WR_FILTER_FLETCHER32, 0),
    WR_FILTERS(WR_FILTER_FLETCHER32, WR_FILTER_SHUFFLE, WR_FILTER_SHUFFLE,
               WR_FILTER_FLETCHER32),
#ifdef WR_HAVE_ZSTD
    WR_FILTERS(WR_FILTER_ZSTD, 0, 0, 0),
    WR_FILTERS(WR_FILTER_FLETCHER32, WR_FILTER_ZSTD, WR_FILTER_SHUFFLE, 0),
#endif
};

static void test_every_list(void **state)
{
    static const size_t sizes[] = {0, 1, 3, 4, 721, 1441, 4096, 70001};
    static const size_t pieces[] = {1, 7, 4096, 1 << 20};
    uint8_t *plain = pattern(70001), *out = malloc(70001 + 1);
    struct wr_packing p;
    weir_err err;

    (void)state;
    for (size_t l = 0; l < WR_ARRAY_LEN(lists); l++)
        for (size_t s = 0; s < WR_ARRAY_LEN(sizes); s++) {
            uint8_t *stored = pack(lists[l], plain, sizes[s], &p);

            for (size_t k = 0; k < WR_ARRAY_LEN(pieces); k++) {
                if (!p.stored) /* nothing to feed */
                    continue;
                memset(out, 0xee, sizes[s] + 1);
                assert_int_equal(undo(&p, stored, pieces[k], out, &err), 0);
                assert_memory_equal(out, plain, sizes[s]);
                assert_int_equal(out[sizes[s]], 0xee);
            }
            memset(out, 0xee, sizes[s] + 1);
            assert_int_equal(wr_filters_undo(&p, stored, out, &err), 0);
            assert_memory_equal(out, plain, sizes[s]);
            assert_int_equal(out[sizes[s]], 0xee);
            assert_true(wr_unfilter_memory(&p) > 0);
            free(stored);
        }
    free(plain);
    free(out);
}

/* Elements of any size, and a rest. */
static void test_shuffle_sizes(void **state)
{
    uint8_t *plain = pattern(999), out[999];
    struct wr_packing p;

    (void)state;
    for (uint32_t size = 1; size < 40; size++) {
        size_t n = 999;
        uint8_t *bytes = malloc(n);

        memcpy(bytes, plain, n);
        bytes = pack_one(WR_FILTER_SHUFFLE, size, bytes, &n);
        p = (struct wr_packing){WR_FILTER_SHUFFLE, size, n, n, 0};
        assert_int_equal(wr_filters_undo(&p, bytes, out, NULL), 0);
        assert_memory_equal(out, plain, n);
        free(bytes);
    }
    free(plain);
}

/* HDF5 itself takes sums whose halves have their bytes exchanged. */
static void test_old_sums(void **state)
{
    uint8_t bytes[9] = "weird", out[5], keep;
    uint32_t sum = fletcher32(bytes, 5);
    struct wr_packing p = {WR_FILTER_FLETCHER32, 0, 9, 5, 0};

    (void)state;
    bytes[5] = (uint8_t)(sum >> 8);
    bytes[6] = (uint8_t)sum;
    bytes[7] = (uint8_t)(sum >> 24);
    bytes[8] = (uint8_t)(sum >> 16);
    assert_int_equal(wr_filters_undo(&p, bytes, out, NULL), 0);
    keep = bytes[5];
    bytes[5] = bytes[8];
    bytes[8] = keep;
    assert_int_equal(wr_filters_undo(&p, bytes, out, NULL), WEIR_EFORMAT);
}

/* Is there a checksum that notices every change? */
static bool has_sum(uint32_t list)
{
    for (; list; list >>= 8)
        if ((list & 0xff) == WR_FILTER_FLETCHER32 ||
            (list & 0xff) == WR_FILTER_ZLIB ||
            (list & 0xff) == WR_FILTER_DEFLATE)
            return true;
    return false;
}

/* Whatever byte is changed: an error that names an offset, or the same bytes.
 * Without a checksum there is none to notice, but never bytes beyond. */
static void test_damaged(void **state)
{
    uint8_t *plain = pattern(3001), *out = malloc(3002);
    struct wr_packing p;

    (void)state;
    for (size_t l = 1; l < WR_ARRAY_LEN(lists); l++) {
        uint8_t *stored = pack(lists[l], plain, 3001, &p);
        bool sum = has_sum(lists[l]);
        unsigned failed = 0;

        out[3001] = 0xee;
        for (size_t k = 0; k < p.stored; k++) {
            weir_err err = {0};
            int r;

            stored[k] ^= 0x55;
            r = undo(&p, stored, 1000, out, &err);
            stored[k] ^= 0x55;
            assert_int_equal(out[3001], 0xee);
            failed += r < 0;
            if (r == 0 && sum)
                assert_memory_equal(out, plain, 3001);
            if (r == WEIR_EFORMAT)
                assert_non_null(strstr(err.msg, "offset "));
            else if (r)
                assert_true(r == WEIR_ELIMIT || r == WEIR_ECHANGED);
        }
        if (sum)
            assert_true(failed > p.stored / 2);
        free(stored);
    }
    free(plain);
    free(out);
}

/* Cut off, or with something behind it. */
static void test_wrong_length(void **state)
{
    uint8_t *plain = pattern(5000), *out = malloc(6000);
    struct wr_packing p;
    weir_err err;

    (void)state;
    for (size_t l = 0; l < WR_ARRAY_LEN(lists); l++) {
        uint8_t *stored = pack(lists[l], plain, 5000, &p);
        bool inflates = (lists[l] & 0xff) >= WR_FILTER_GZIP &&
                        (lists[l] & 0xff) <= WR_FILTER_ZSTD;
        bool gzip = (lists[l] & 0xff) == WR_FILTER_GZIP;
        struct wr_packing q = p;
        uint8_t *more = malloc(p.stored + 3);

        q.stored = p.stored - 2000 * !inflates - 9 * inflates;
        assert_true(gzip || undo(&q, stored, 300, out, &err) < 0);
        q = p;
        q.inflated = 4990; /* gzip's rest is not looked at */
        assert_int_equal(undo(&q, stored, 300, out, &err) < 0, !gzip);
        q.inflated = 5010;
        assert_true(undo(&q, stored, 300, out, &err) < 0);
        if (gzip)
            assert_int_equal(err.code, WEIR_ECHANGED);
        q = p;
        memcpy(more, stored, p.stored);
        memcpy(more + p.stored, "xyz", 3);
        q.stored += 3;
        if (lists[l] >> 8 != (WR_FILTER_GZIP | WR_FILTER_FLETCHER32 << 8))
            assert_int_equal(undo(&q, more, 300, out, &err) < 0, !gzip);
        free(more);
        free(stored);
    }
    free(plain);
    free(out);
}

/* What may stand in an index and cannot be. */
static void test_refused(void **state)
{
    static const struct {
        struct wr_packing p;
        int code;
        const char *why;
    } bad[] = {
        {{99, 0, 5, 5, 0}, WEIR_ENOTSUP, "filter 99"},
        {{WR_FILTERS(WR_FILTER_ZLIB, WR_FILTER_GZIP, 0, 0), 0, 5, 5, 0},
         WEIR_ENOTSUP,
         "packed twice"},
        {{WR_FILTERS(WR_FILTER_ZLIB, 0, WR_FILTER_SHUFFLE, 0), 4, 5, 5, 0},
         WEIR_EFORMAT,
         "gap"},
        {{WR_FILTER_SHUFFLE, 0, 5, 5, 0}, WEIR_EFORMAT, "0 bytes"},
        {{WR_FILTER_SHUFFLE, 4, 5, 6, 0}, WEIR_EFORMAT, "cannot be"},
        {{WR_FILTER_FLETCHER32, 0, 5, 5, 0}, WEIR_EFORMAT, "cannot be"},
        {{WR_FILTER_FLETCHER32, 0, 3, UINT64_MAX, 0}, WEIR_ELIMIT, "more than"},
        {{WR_FILTERS(WR_FILTER_FLETCHER32, WR_FILTER_ZLIB, 0, 0), 0, 3, 6, 0},
         WEIR_EFORMAT,
         "cannot be"},
        {{WR_FILTER_ZLIB, 0, 5, WR_INFLATE_MAX + 1, 0},
         WEIR_ELIMIT,
         "more than"},
#ifndef WR_HAVE_ZSTD
        {{WR_FILTER_ZSTD, 0, 5, 5}, WEIR_ENOTSUP, "without libzstd"},
#endif
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(bad); k++) {
        struct wr_unfilter *u = NULL;
        weir_err err;

        assert_int_equal(wr_unfilter_new(&bad[k].p, &err, &u, &err),
                         bad[k].code);
        assert_non_null(strstr(err.msg, bad[k].why));
        assert_null(u);
    }
    wr_unfilter_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_list),
        cmocka_unit_test(test_shuffle_sizes),
        cmocka_unit_test(test_old_sums),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_wrong_length),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
