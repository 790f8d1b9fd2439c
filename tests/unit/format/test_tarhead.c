/* test_tarhead.c - headers of tar archives, read and written.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/tarmember.h"
#include "format/writer.h"
#include "tarfiles.h"

static struct tarfile tar; /* too large for the stack */

static uint8_t *head(char type, const char *name, uint64_t size)
{
    tar.len = 0;
    return tar_head(&tar, type, name, size);
}

static struct wr_tar_head parse(const uint8_t *block)
{
    struct wr_tar_head h;
    weir_err err;

    if (wr_tar_head_parse(block, &h, &err) < 0)
        fail_msg("%s", err.msg);
    return h;
}

static void check_bad(const uint8_t *block, const char *why)
{
    struct wr_tar_head h = {.size = 7};
    weir_err err;

    assert_int_equal(wr_tar_head_parse(block, &h, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, why));
    assert_int_equal(h.size, 7); /* untouched */
}

static void test_ustar(void **state)
{
    uint8_t *b = head('0', "b.jpg", 1234);
    struct wr_tar_head h = parse(b);
    char longest[256];

    (void)state;
    assert_int_equal(h.kind, WR_TAR_FILE);
    assert_string_equal(h.name, "b.jpg");
    assert_int_equal(h.size, 1234);
    memcpy(b + 345, "some/folder", 11);
    tar_sum(b);
    assert_string_equal(parse(b).name, "some/folder/b.jpg");
    memset(b, 'n', 100); /* fields without a NUL */
    memset(b + 345, 'p', 155);
    tar_sum(b);
    memset(longest, 'p', 155);
    longest[155] = '/';
    memset(longest + 156, 'n', 100);
    assert_memory_equal(parse(b).name, longest, 256);
    assert_int_equal(strlen(parse(b).name), 256);
}

/* GNU has other things where ustar has its prefix, and V7 has no magic. */
static void test_no_prefix(void **state)
{
    uint8_t *b = head('0', "b.jpg", 3);

    (void)state;
    memcpy(b + 345, "00001234567", 12);
    memcpy(b + 257, "ustar  ", 8);
    tar_sum(b);
    assert_string_equal(parse(b).name, "b.jpg");
    memset(b + 257, 0, 8);
    b[156] = 0;
    tar_sum(b);
    assert_string_equal(parse(b).name, "b.jpg");
    assert_int_equal(parse(b).kind, WR_TAR_FILE);
}

static void test_kinds(void **state)
{
    static const struct {
        char type;
        enum wr_tar_kind kind;
    } kinds[] = {
        {'0', WR_TAR_FILE},      {'\0', WR_TAR_FILE},     {'7', WR_TAR_FILE},
        {'1', WR_TAR_EMPTY},     {'2', WR_TAR_EMPTY},     {'3', WR_TAR_EMPTY},
        {'4', WR_TAR_EMPTY},     {'5', WR_TAR_EMPTY},     {'6', WR_TAR_EMPTY},
        {'L', WR_TAR_LONG_NAME}, {'K', WR_TAR_LONG_LINK}, {'S', WR_TAR_SPARSE},
        {'x', WR_TAR_PAX},       {'g', WR_TAR_PAX_ALL},   {'D', WR_TAR_OTHER},
        {'\xff', WR_TAR_OTHER},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        assert_int_equal(parse(head(kinds[k].type, "a", 0)).kind,
                         kinds[k].kind);
    memset(tar.bytes, 0, 512);
    assert_int_equal(parse(tar.bytes).kind, WR_TAR_END);
}

static void put_size(uint8_t *b, const void *field)
{
    memcpy(b + 124, field, 12);
    tar_sum(b);
}

static void test_sizes(void **state)
{
    uint8_t *b = head('0', "a", 0);

    (void)state;
    put_size(b, "     17     "); /* blanks before and behind */
    assert_int_equal(parse(b).size, 15);
    put_size(b, "777777777777"); /* no end */
    assert_int_equal(parse(b).size, UINT64_C(0777777777777));
    put_size(b, "\0\0\0\0\0\0\0\0\0\0\0"); /* nothing */
    assert_int_equal(parse(b).size, 0);
    put_size(b, "\x80\0\0\0\0\0\0\2\0\0\0\1"); /* base 256 */
    assert_int_equal(parse(b).size, UINT64_C(0x200000001));
    put_size(b, "\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff");
    assert_int_equal(parse(b).size, UINT64_MAX);

    put_size(b, "\x80\0\0\1\0\0\0\0\0\0\0\0"); /* 2^64 */
    check_bad(b, "size");
    put_size(b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"); /* -1 */
    check_bad(b, "size");
    put_size(b, "\xc0\0\0\0\0\0\0\0\0\0\0\1");
    check_bad(b, "size");
    put_size(b, "-0000000001");
    check_bad(b, "size");
    put_size(b, "00000000018");
    check_bad(b, "size");
    put_size(b, "0x000000001");
    check_bad(b, "size");
}

/* No byte of a header may change without being noticed. */
static void test_checksum(void **state)
{
    uint8_t *b = head('0', "picture.jpg", 100);
    uint8_t flipped[512];

    (void)state;
    assert_true(wr_tar_is_head(b));
    for (unsigned k = 0; k < 512; k++) {
        if (k >= 148 && k < 156)
            continue; /* the sum itself: blanks and NULs are all one */
        memcpy(flipped, b, 512);
        flipped[k] ^= 0x41;
        assert_false(wr_tar_is_head(flipped));
        check_bad(flipped, "checksum");
    }
    memcpy(flipped, b, 512);
    flipped[150] ^= 1;
    check_bad(flipped, "checksum");
    memset(flipped + 148, 'x', 8);
    check_bad(flipped, "checksum");
    memset(flipped, 0, 512);
    assert_false(wr_tar_is_head(flipped));
}

/* Some summed bytes as signed ones. */
static void test_signed_checksum(void **state)
{
    uint8_t *b = head('0', "gr\xc3\xbc\xc3\x9f.jpg", 1);
    int sum = 0;

    (void)state;
    memset(b + 148, ' ', 8);
    for (unsigned k = 0; k < 512; k++)
        sum += (int8_t)b[k];
    snprintf((char *)b + 148, 8, "%06o", (unsigned)sum);
    assert_true(wr_tar_is_head(b));
    assert_string_equal(parse(b).name, "gr\xc3\xbc\xc3\x9f.jpg");
}

static void test_sparse(void **state)
{
    uint8_t *b = head('S', "a", 512);

    (void)state;
    assert_false(parse(b).more);
    b[482] = 1;
    tar_sum(b);
    assert_true(parse(b).more);
    assert_false(wr_tar_sparse_more(b));
    b[504] = 1;
    assert_true(wr_tar_sparse_more(b));
}

static int pax(const char *text, size_t len, struct wr_tar_extra *io,
               weir_err *err)
{
    char *copy = malloc(len + 1); /* so that a reader too far is seen */
    int r;

    memcpy(copy, text, len);
    copy = realloc(copy, len ? len : 1);
    r = wr_tar_pax_parse(copy, len, io, err);
    free(copy);
    return r;
}

static void test_pax(void **state)
{
    struct wr_tar_extra x = {0};
    weir_err err;

    (void)state;
    assert_int_equal(pax("", 0, &x, &err), 0);
    assert_int_equal(pax("15 path=a b=c\n\n20 mtime=1234567.25\n12 size=567\n",
                         47, &x, &err),
                     0); /* values hold anything */
    assert_true(x.has_path);
    assert_string_equal(x.path, "a b=c\n");
    assert_true(x.has_size);
    assert_int_equal(x.size, 567);
    assert_false(x.sparse);
    assert_int_equal(pax("8 path=\n8 size=\n", 16, &x, &err), 0);
    assert_false(x.has_path); /* taken back */
    assert_false(x.has_size);
    assert_int_equal(pax("10 path=x\n\0\0\0", 13, &x, &err), 0); /* padded */
    assert_string_equal(x.path, "x");
    assert_int_equal(pax("22 GNU.sparse.major=1\n", 22, &x, &err), 0);
    assert_true(x.sparse);
    assert_int_equal(pax("29 size=18446744073709551615\n", 29, &x, &err), 0);
    assert_int_equal(x.size, UINT64_MAX);
}

static void test_bad_pax(void **state)
{
    static const struct {
        const char *text;
        size_t len;
    } bad[] = {
        {"11 path=x\n", 10},                    /* one too many */
        {"9 path=x\n\n", 10},                   /* something behind it */
        {"10 path=xy", 10},                     /* none at all */
        {"999999999999999999999 path=x\n", 29}, /* over 64 bits */
        {"18446744073709551615 path=x\n", 28},  /* wraps around */
        {"0 path=x\n", 9},
        {"2 \n", 3},
        {"3 \n", 3}, /* no key */
        {"5 =x\n", 5},
        {"8 pathx\n", 8}, /* no '=' */
        {"-10 path=x\n", 11},
        {" path=x\n", 8},
        {"x", 1},
        {"10", 2},
        {"10 ", 3},
        {"10 size=x\n", 10},
        {"11 size=-1\n", 11},
        {"30 size=18446744073709551616\n", 29},
        {"29 size=18446744073709551616\n", 29},
        {"12 path=a\0b\n", 12}, /* a NUL in the name */
    };
    struct wr_tar_extra x = {0};
    weir_err err;

    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        if (pax(bad[k].text, bad[k].len, &x, &err) != WEIR_EFORMAT)
            fail_msg("taken: %s", bad[k].text);
}

static void test_long_pax_path(void **state)
{
    struct wr_tar_extra x = {0};
    char text[8192];
    weir_err err;
    int n;

    (void)state;
    n = snprintf(text, sizeof(text), "4107 path=%0*d\n", 4096, 0);
    assert_int_equal(n, 4107);
    assert_int_equal(pax(text, (size_t)n, &x, &err), 0);
    assert_int_equal(strlen(x.path), 4096);
    n = snprintf(text, sizeof(text), "4108 path=%0*d\n", 4097, 0);
    assert_int_equal(pax(text, (size_t)n, &x, &err), WEIR_ELIMIT);
}

static void test_names(void **state)
{
    static const char *const good[] = {"a",     "a/b..c", "...",
                                       "a/...", "..a/b",  "a../b"};
    static const char *const bad[] = {"",     "/",      "/a",     "..",
                                      "../a", "a/../b", "a/b/..", "a//../b"};
    weir_err err;

    (void)state;
    for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++)
        assert_int_equal(wr_tar_name_check(good[k], &err), 0);
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        assert_int_equal(wr_tar_name_check(bad[k], &err), WEIR_EFORMAT);
}

/* What is written reads as what was meant; returns the bytes written. */
static size_t check_put(const char *name, uint64_t size)
{
    struct wr_tar_extra x = {0};
    struct wr_bytes to = {0};
    struct wr_tar_head h;
    size_t len, at = 0;
    weir_err err;

    assert_int_equal(wr_tar_put_head(&to, name, size, &err), 0);
    h = parse(to.bytes);
    if (h.kind == WR_TAR_PAX) {
        assert_int_equal(pax((char *)to.bytes + 512, h.size, &x, &err), 0);
        at = 512 + (h.size + 511) / 512 * 512;
        h = parse(to.bytes + at);
    }
    assert_int_equal(h.kind, WR_TAR_FILE);
    assert_string_equal(x.has_path ? x.path : h.name, name);
    assert_int_equal(x.has_size ? x.size : h.size, size);
    len = to.len;
    assert_int_equal(len, at + 512);
    free(to.bytes);
    return len;
}

static void test_put(void **state)
{
    char name[WR_TAR_MAX_NAME + 2];
    struct wr_bytes to = {0};
    weir_err err;

    (void)state;
    assert_int_equal(check_put("a.jpg", 5), 512);
    assert_int_equal(check_put("gr\xc3\xbc\xc3\x9f/a.jpg", 0), 512);
    assert_int_equal(check_put("a.jpg", UINT64_C(077777777777)), 512);
    assert_int_equal(check_put("a.jpg", UINT64_C(0100000000000)), 1536);
    memset(name, 'n', sizeof(name));
    for (size_t len = 95; len <= WR_TAR_MAX_NAME; len += len < 1100 ? 1 : 500) {
        name[len] = '\0';
        check_put(name, len); /* one part */
        name[len] = 'n';
    }
    for (size_t slash = 1; slash < 255; slash++) { /* two */
        name[slash] = '/';
        name[256] = '\0';
        assert_int_equal(check_put(name, 1), slash == 155 ? 512 : 1536);
        name[slash] = 'n';
        name[256] = 'n';
    }
    name[WR_TAR_MAX_NAME + 1] = '\0';
    assert_int_equal(wr_tar_put_head(&to, name, 1, &err), WEIR_ELIMIT);
    assert_int_equal(to.len, 0);
    free(to.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ustar),    cmocka_unit_test(test_no_prefix),
        cmocka_unit_test(test_kinds),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_checksum), cmocka_unit_test(test_signed_checksum),
        cmocka_unit_test(test_sparse),   cmocka_unit_test(test_pax),
        cmocka_unit_test(test_bad_pax),  cmocka_unit_test(test_long_pax_path),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_put),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
