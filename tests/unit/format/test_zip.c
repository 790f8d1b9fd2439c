/* test_zip.c - directories of ZIP files, read and written.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The archives are written by zip_write.c and then changed; those of other
 * programs are in tests/interop and in the fuzz corpus. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "../../fuzz/memory_object.h"
#include "base/le.h"
#include "format/zip.h"

#define GAP 100 /* bytes of a member */

static const char *const names[] = {"x.npy", "folder/", "folder/y.npy"};

/* An archive of three entries with `front` bytes in front of it and `comment`
 * behind. */
static struct wr_bytes make(size_t front, size_t comment)
{
    struct wr_zip_member m[3];
    struct wr_bytes b = {0};
    uint8_t *p;

    b.len += wr_bytes_room(&b, front + 1) ? front : 0;
    memset(b.bytes, 'f', front);
    for (int k = 0; k < 3; k++) {
        m[k] = (struct wr_zip_member){.name = names[k],
                                      .head = b.len - front,
                                      .stored = k == 1 ? 0 : GAP,
                                      .inflated = k == 1 ? 0
                                                  : k    ? GAP * 7
                                                         : GAP,
                                      .crc = 77u + (unsigned)k,
                                      .deflated = k == 2};
        assert_int_equal(wr_zip_put_local(&b, &m[k], NULL), 0);
        assert_int_equal(b.len - front - m[k].head, wr_zip_local_len(names[k]));
        p = wr_bytes_room(&b, GAP);
        memset(p, 'a' + k, GAP);
        b.len += m[k].stored;
    }
    assert_int_equal(wr_zip_put_directory(&b, m, 3, b.len - front, NULL), 0);
    wr_le_put(b.bytes + b.len - 2, comment, 2);
    p = wr_bytes_room(&b, comment + 1);
    memset(p, 'c', comment);
    b.len += comment;
    return b;
}

static int open_zip(const struct wr_bytes *b, struct wr_zip *z, weir_err *err)
{
    struct memory_object o = memory_object(b->bytes, b->len);

    return wr_zip_open(&o.base, b->len, z, err);
}

static void check_read(size_t front, size_t comment)
{
    struct wr_bytes b = make(front, comment);
    struct wr_zip z;
    uint64_t at;

    assert_int_equal(open_zip(&b, &z, NULL), 0);
    assert_int_equal(z.count, 2); /* no folder */
    assert_string_equal(z.members[0].name, "x.npy");
    assert_string_equal(z.members[1].name, "folder/y.npy");
    assert_false(z.members[0].deflated);
    assert_true(z.members[1].deflated);
    assert_int_equal(z.members[1].inflated, 7 * GAP);
    assert_int_equal(z.members[1].crc, 79);
    for (size_t k = 0; k < z.count; k++) {
        const struct wr_zip_member *m = &z.members[k];

        assert_int_equal(wr_zip_data(&z, m, b.bytes + m->head,
                                     (size_t)(z.end - m->head), &at, NULL),
                         0);
        assert_int_equal(b.bytes[at], k ? 'c' : 'a');
        assert_int_equal(b.bytes[at + GAP - 1], k ? 'c' : 'a');
        assert_int_equal(m->stored, GAP);
    }
    wr_zip_done(&z);
    free(b.bytes);
}

static void test_read(void **state)
{
    (void)state;
    check_read(0, 0);
    check_read(0, 65535);
    check_read(5000, 0);
    check_read(70000, 3000);
}

/* Where record `sig` lies, counted from the end. */
static uint8_t *record(struct wr_bytes *b, uint32_t sig)
{
    for (size_t k = b->len - 3; k-- > 0;)
        if (wr_le32(b->bytes + k) == sig)
            return b->bytes + k;
    fail();
    return NULL;
}

/* One change, and what is said of it. */
static void refuse(uint32_t sig, int offset, uint64_t value, unsigned bytes,
                   const char *want)
{
    struct wr_bytes b = make(0, 0);
    struct wr_zip z;
    weir_err err = {0};
    uint8_t *at = record(&b, sig) + offset;

    wr_le_put(at, value, bytes);
    assert_true(open_zip(&b, &z, &err) < 0);
    if (!strstr(err.msg, want))
        fail_msg("'%s', not '%s'", err.msg, want);
    free(b.bytes);
}

#define ENTRY 0x02014b50u
#define END64 0x06064b50u
#define END   0x06054b50u

static void test_refused(void **state)
{
    (void)state;
    refuse(ENTRY, 8, 1, 2, "'folder/y.npy' is encrypted");
    refuse(ENTRY, 8, 0x40, 2, "is encrypted");
    refuse(ENTRY, 10, 12, 2, "'folder/y.npy' is packed by method 12");
    refuse(ENTRY, 10, 0, 2, "its two sizes differ");
    refuse(ENTRY, 28, 0, 2, "has no name");
    refuse(ENTRY, 28, 60000, 2, "has no name");
    refuse(ENTRY, 0, 7, 4, "is no entry");
    refuse(ENTRY, 42, 0x7fffffff, 4, "reaches into the directory");
    refuse(ENTRY, 46 + 12 + 2, 8, 2, "sizes of 64 bits are missing");
    refuse(END64, 24, 4, 8, "several disks");
    refuse(END64, 40, UINT64_C(1) << 40, 8, "over 16 MiB");
    refuse(END64, 48, UINT64_MAX, 8, "reaches beyond its end");
    refuse(END64, 0, 0, 4, "no 64-bit end record");
    refuse(END, 0, 0, 4, "it has no directory");
    refuse(END, 20, 5, 2, "it has no directory");
}

static void test_too_many(void **state)
{
    struct wr_bytes b = make(0, 0);
    uint8_t *end = record(&b, END64);
    struct wr_zip z;
    weir_err err;

    (void)state;
    wr_le_put(end + 24, 65537, 8);
    wr_le_put(end + 32, 65537, 8);
    assert_int_equal(open_zip(&b, &z, &err), WEIR_ELIMIT);
    wr_le_put(end + 24, 65536, 8);
    wr_le_put(end + 32, 65536, 8);
    assert_int_equal(open_zip(&b, &z, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "too short"));
    free(b.bytes);
}

/* Cut anywhere, it is refused and nothing is read beyond it. */
static void test_cut(void **state)
{
    struct wr_bytes b = make(0, 0);
    struct wr_zip z;

    (void)state;
    for (size_t len = 0; len < b.len; len++) {
        uint8_t *cut = malloc(len + !len);
        struct wr_bytes part = {cut, len, len};

        memcpy(cut, b.bytes, len);
        assert_true(open_zip(&part, &z, NULL) < 0);
        free(cut);
    }
    free(b.bytes);
}

static void test_local(void **state)
{
    struct wr_bytes b = make(0, 0);
    uint8_t *head = b.bytes;
    struct wr_zip z;
    weir_err err;
    uint64_t at = 9;
    size_t len;

    (void)state;
    assert_int_equal(open_zip(&b, &z, NULL), 0);
    len = (size_t)z.end;
    assert_int_equal(wr_zip_data(&z, z.members, head, 30, &at, &err),
                     WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "not the header of member 'x.npy'"));
    assert_true(wr_zip_data(&z, z.members + 1, head, len, &at, &err) < 0);
    wr_le_put(head + 28, 65535, 2);
    assert_true(wr_zip_data(&z, z.members, head, len, &at, &err) < 0);
    assert_non_null(strstr(err.msg, "reaches into the directory"));
    assert_int_equal(at, 9);
    wr_zip_done(&z);
    free(b.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_many), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_local),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
