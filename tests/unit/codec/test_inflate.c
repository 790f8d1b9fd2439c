/* test_inflate.c - gzip and zlib in pieces, damaged, endless, one behind
 * another.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/inflate.h"
#include "gzip.h"

#define BYTES 70000 /* more than the window of deflate, twice */

static uint8_t *pattern(size_t len)
{
    uint8_t *p = malloc(len);
    uint32_t x = 12345;

    for (size_t k = 0; k < len; k++) {
        x = x * 1664525 + 1013904223;
        p[k] = k % 3 ? (uint8_t)(k / 50) : (uint8_t)(x >> 28);
    }
    return p;
}

/* Inflates in pieces of `in` bytes into pieces of `out` bytes. Returns the
 * length, or the failure. */
static int64_t inflate_all(const uint8_t *gz, size_t gz_len, size_t in,
                           uint8_t *to, size_t out, weir_err *err)
{
    struct wr_inflate *z = NULL;
    int64_t total = 0, n;

    assert_int_equal(wr_inflate_new(&z, NULL), 0);
    assert_false(wr_inflate_is_done(z));
    for (;;) {
        n = wr_inflate_read(z, to + total, out, err);
        if (n < 0)
            break;
        total += n;
        if (n)
            continue;
        if (!gz_len)
            break;
        if (in > gz_len)
            in = gz_len;
        wr_inflate_feed(z, gz, in);
        gz += in;
        gz_len -= in;
    }
    if (n == 0 && !wr_inflate_is_done(z))
        total = -1;
    if (n < 0) { /* and it stays so */
        assert_int_equal(wr_inflate_read(z, to + total, out, NULL), n);
        assert_false(wr_inflate_is_done(z));
        total = n;
    }
    wr_inflate_free(z);
    return total;
}

typedef uint8_t *(*pack_fn)(const void *bytes, size_t len, size_t *ret_len);

static void check_pieces(pack_fn pack)
{
    static const size_t pieces[] = {1, 7, 100, 4096, 1 << 20};
    uint8_t *plain = pattern(BYTES), *got = malloc(3 * BYTES + (1 << 20));
    size_t gz_len;
    uint8_t *gz = pack(plain, BYTES, &gz_len);
    uint8_t *two = malloc(2 * gz_len + 600);

    memcpy(two, gz, gz_len);
    memcpy(two + gz_len, gz, gz_len);
    memset(two + 2 * gz_len, 0, 600);
    for (unsigned i = 0; i < 5; i++)
        for (unsigned o = 0; o < 5; o++) {
            weir_err err;

            assert_int_equal(
                inflate_all(gz, gz_len, pieces[i], got, pieces[o], &err),
                BYTES);
            assert_memory_equal(got, plain, BYTES);
            for (size_t pad = 0; pad <= 600; pad += 300) {
                assert_int_equal(inflate_all(two, 2 * gz_len + pad, pieces[i],
                                             got, pieces[o], &err),
                                 2 * BYTES);
                assert_memory_equal(got, plain, BYTES);
                assert_memory_equal(got + BYTES, plain, BYTES);
            }
        }
    free(two);
    free(gz);
    free(got);
    free(plain);
}

static void test_pieces(void **state)
{
    (void)state;
    check_pieces(gzip_member);
    check_pieces(zlib_stream);
}

static void test_small_and_empty(void **state)
{
    uint8_t got[64];
    weir_err err;

    (void)state;
    for (size_t k = 0; k < 80; k++) {
        size_t n, len = k / 2;
        uint8_t *gz = (k % 2 ? zlib_stream : gzip_member)(
            "0123456789012345678901234567890123456789", len, &n);

        assert_int_equal(wr_is_gzip(gz, n), k % 2 == 0);
        assert_int_equal(wr_is_zlib(gz, n), k % 2 == 1);
        assert_int_equal(inflate_all(gz, n, 5, got, 9, &err), len);
        assert_memory_equal(got, "0123456789012345678901234567890123456789",
                            len);
        free(gz);
    }
    assert_true(wr_is_zlib("\x78\x9c", 2)); /* the levels of zlib */
    assert_true(wr_is_zlib("\x78\x01", 2));
    assert_true(wr_is_zlib("\x78\x5e", 2));
    assert_true(wr_is_zlib("\x78\xda", 2));
    assert_false(wr_is_zlib("\x78", 1));
    assert_false(wr_is_zlib("\x78\x9d", 2));
    assert_false(wr_is_zlib("\x78\xbb", 2)); /* wants a dictionary */
    assert_false(wr_is_zlib("\x88\x1c", 2)); /* a window of 64 KiB */
    assert_false(wr_is_gzip("\x1f\x8b", 2));
    assert_false(wr_is_gzip("\x1f\x8b\x07", 3));
    assert_int_equal(inflate_all(got, 0, 1, got, 1, &err), -1);
}

/* A header with every optional part. */
static void test_header(void **state)
{
    static const uint8_t head[] = "\x1f\x8b\x08\x1c\0\0\0\0\0\xff"
                                  "\x04\0abcdname\0a comment";
    uint8_t all[512], got[64];
    weir_err err;
    size_t n;
    uint8_t *gz = gzip_member("hello", 5, &n);

    (void)state;
    memcpy(all, head, sizeof(head));
    memcpy(all + sizeof(head), gz + 10, n - 10);
    for (size_t in = 1; in < 40; in++)
        assert_int_equal(
            inflate_all(all, sizeof(head) + n - 10, in, got, 64, &err), 5);
    assert_memory_equal(got, "hello", 5);
    free(gz);
}

/* Leaves something else where a caller's locals were. */
static __attribute__((noinline)) void scribble(void)
{
    volatile uint8_t was[16384];

    for (size_t k = 0; k < sizeof(was); k++)
        was[k] = (uint8_t)(k * 37);
}

/* A header in two pieces, whatever happens on the stack in between: another
 * thread may go on. */
static void test_header_in_two(void **state)
{
    static const uint8_t head[] = "\x1f\x8b\x08\x1c\0\0\0\0\0\xff"
                                  "\x04\0abcdname\0a comment";
    uint8_t all[512], got[64];
    weir_err err;
    size_t n;
    uint8_t *gz = gzip_member("hello", 5, &n);

    (void)state;
    memcpy(all, head, sizeof(head));
    memcpy(all + sizeof(head), gz + 10, n - 10);
    n += sizeof(head) - 10;
    for (size_t cut = 1; cut < n; cut++) {
        struct wr_inflate *z = NULL;
        int64_t made;

        assert_int_equal(wr_inflate_new(&z, NULL), 0);
        wr_inflate_feed(z, all, cut);
        made = wr_inflate_read(z, got, 64, &err);
        assert_true(made >= 0);
        scribble();
        wr_inflate_feed(z, all + cut, n - cut);
        made += wr_inflate_read(z, got + made, 64, &err);
        assert_int_equal(made, 5);
        assert_memory_equal(got, "hello", 5);
        assert_true(wr_inflate_is_done(z));
        wr_inflate_free(z);
    }
    free(gz);
}

static void check_cut_off(pack_fn pack)
{
    uint8_t *plain = pattern(3000), *got = malloc(8000);
    size_t gz_len;
    uint8_t *gz = pack(plain, 3000, &gz_len);

    for (size_t n = 0; n < gz_len; n++) {
        weir_err err;

        assert_true(inflate_all(gz, n, 64, got, 4000, &err) < 0);
    }
    free(gz);
    free(got);
    free(plain);
}

static void test_cut_off(void **state)
{
    (void)state;
    check_cut_off(gzip_member);
    check_cut_off(zlib_stream);
}

/* Whatever byte is changed: an error, or (where it means nothing, as the code
 * of a symbol that does not occur) the same bytes. */
static void check_damaged(pack_fn pack, const char *name)
{
    uint8_t *plain = pattern(3000), *got = malloc(1 << 20);
    size_t gz_len;
    uint8_t *gz = pack(plain, 3000, &gz_len);
    unsigned named = 0;

    for (size_t k = 0; k < gz_len; k++) {
        weir_err err = {0};
        int64_t n;

        gz[k] ^= 0x55;
        n = inflate_all(gz, gz_len, 100, got, 500, &err);
        gz[k] ^= 0x55;
        if (n >= 0) {
            assert_int_equal(n, 3000);
            assert_memory_equal(got, plain, 3000);
            continue;
        }
        if (n == WEIR_EFORMAT) {
            if (k) /* of the first byte it is known what it is */
                assert_non_null(strstr(err.msg, name));
            named += strstr(err.msg, "checksum mismatch") != NULL;
        }
    }
    assert_true(named > 0);
    free(gz);
    free(got);
    free(plain);
}

static void test_damaged(void **state)
{
    (void)state;
    check_damaged(gzip_member, "gzip: ");
    check_damaged(zlib_stream, "zlib: ");
}

static void test_rubbish_behind(void **state)
{
    uint8_t all[256], got[64];
    weir_err err;
    size_t n;
    uint8_t *gz = gzip_member("hello", 5, &n);

    (void)state;
    memcpy(all, gz, n);
    memcpy(all + n, "rubbish, and more of it", 23);
    assert_int_equal(inflate_all(all, n + 23, 300, got, 64, &err),
                     WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "gzip: not the header of a member"));
    memcpy(all + n, "\0\0rubbish", 9);
    assert_int_equal(inflate_all(all, n + 9, 300, got, 64, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "bytes after the end"));
    /* What came before the failure is handed out. */
    {
        struct wr_inflate *z = NULL;

        assert_int_equal(wr_inflate_new(&z, NULL), 0);
        wr_inflate_feed(z, all, n + 9);
        assert_int_equal(wr_inflate_read(z, got, 64, &err), 5);
        assert_int_equal(wr_inflate_read(z, got, 64, &err), WEIR_EFORMAT);
        wr_inflate_free(z);
    }
    wr_inflate_free(NULL);
    free(gz);
}

/* Members of zeros without an end: refused at the limit. */
static void test_bomb(void **state)
{
    const size_t part = (size_t)64 << 20;
    uint8_t *zeros = calloc(1, part), *got = malloc(1 << 20);
    struct wr_inflate *z = NULL;
    uint64_t total = 0;
    size_t gz_len;
    uint8_t *gz = gzip_member(zeros, part, &gz_len);
    int64_t n = 0;
    weir_err err;

    (void)state;
    free(zeros);
    assert_int_equal(wr_inflate_new(&z, NULL), 0);
    for (unsigned k = 0; k < 100 && n >= 0; k++) {
        wr_inflate_feed(z, gz, gz_len);
        while ((n = wr_inflate_read(z, got, 1 << 16, &err)) > 0)
            total += (uint64_t)n;
    }
    assert_int_equal(n, WEIR_ELIMIT);
    assert_non_null(strstr(err.msg, "inflates to more than"));
    assert_true(total <= WR_INFLATE_MAX);
    assert_true(total > WR_INFLATE_MAX - (2 << 20));
    wr_inflate_free(z);
    free(gz);
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_small_and_empty),
        cmocka_unit_test(test_header_in_two),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_rubbish_behind),
        cmocka_unit_test(test_bomb),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
