/* test_tarmember.c - members of tar archives: names, and each way to be wrong.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tarset.h"

static void test_long_names(void **state)
{
    static char name[5000], text[6000];
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    memset(name, 'n', 4092);
    memcpy(name + 4092, ".jpg", 5);
    tar_head(&tar, 'L', "././@LongLink", 4097);
    tar_data(&tar, name, 4097);
    tar_member(&tar, 'K', "././@LongLink", "the target of no link");
    tar_file(&tar, "cut", "gnu");
    tar_file(&tar, "short.jpg", "short"); /* the long name is used up */
    tar_member(&tar, 'g', "pax", "16 comment=none\n");
    tar_member(&tar, 'x', "pax", "19 path=p\xc3\xa4x/1.jpg\n");
    tar_file(&tar, "cut", "pax");
    tar_member(&tar, 'x', "pax", "10 size=5\n");
    tar_head(&tar, '0', "2.jpg", 0); /* its size stands in front */
    tar_data(&tar, "sized", 5);
    snprintf(text, sizeof(text), "4107 path=%s\n", name);
    tar_member(&tar, 'x', "pax", text);
    tar_file(&tar, "cut", "long");
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    assert_int_equal(weir_dataset_count(ds), 5);
    name[4092] = '\0';
    check(ds, 0, name, "gnu", WEIR_NO_LABEL);
    check(ds, 1, "short", "short", WEIR_NO_LABEL);
    check(ds, 2, "p\xc3\xa4x/1", "pax", 0);
    check(ds, 3, "2", "sized", WEIR_NO_LABEL);
    check(ds, 4, name, "long", WEIR_NO_LABEL);
    done(ds, &t);
}

/* A pax header for all names the members that have none of their own. */
static void test_global_pax(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tar_member(&tar, 'g', "pax", "16 path=all.jpg\n");
    tar_file(&tar, "cut", "all");
    tar_member(&tar, 'x', "pax", "16 path=one.jpg\n");
    tar_file(&tar, "cut", "one");
    tar_member(&tar, 'g', "pax", "8 path=\n");
    tar_file(&tar, "own.jpg", "own");
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_count(ds), 3);
    check(ds, 0, "all", "all", WEIR_NO_LABEL);
    check(ds, 1, "one", "one", WEIR_NO_LABEL);
    check(ds, 2, "own", "own", WEIR_NO_LABEL);
    done(ds, &t);
}

/* Members between others that are no files. */
static void test_other_members(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;
    uint8_t *b;

    (void)state;
    tar_file(&tar, "a.jpg", "a");
    for (const char *type = "123456"; *type; type++)
        tar_head(&tar, *type, "b.jpg", *type == '5' ? 0 : 100); /* no data */
    tar_member(&tar, 'D', "dumpdir", "of GNU, with data");
    tar_member(&tar, 'x', "pax", "10 size=5\n");
    tar_head(&tar, 'Z', "unknown", 0);
    tar_data(&tar, "five!", 5);
    b = tar_head(&tar, 'S', "c.jpg", 600);
    b[482] = 1;
    tar_sum(b);
    memset(tar.bytes + tar.len, 0, 2048); /* two blocks of holes, data */
    tar.bytes[tar.len + 504] = 1;
    tar.len += 2048;
    tar_file(&tar, "d.jpg", "d");
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_count(ds), 2);
    check(ds, 0, "a", "a", WEIR_NO_LABEL);
    check(ds, 1, "d", "d", WEIR_NO_LABEL);
    check_issue(ds, "member 'c.jpg' is sparse", WEIR_ENOTSUP);
    done(ds, &t);
}

static void check_flaw(const char *what, int code)
{
    weir_dataset *ds;
    struct tmpdir t;

    tar_file(&tar, "z.jpg", "z");
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_count(ds), 2);
    check(ds, 0, "a", "a", 1);
    check(ds, 1, "z", "z", WEIR_NO_LABEL);
    check_issue(ds, what, code);
    done(ds, &t);
    tar_file(&tar, "a.jpg", "a");
    tar_file(&tar, "a.cls", "1");
}

static void test_flaws(void **state)
{
    static char text[8192], big[(1 << 17)];

    (void)state;
    tar_file(&tar, "a.jpg", "a");
    tar_file(&tar, "a.cls", "1");
    tar_file(&tar, "../b.jpg", "b");
    check_flaw("offset 2048: member '../b.jpg'", WEIR_EFORMAT);
    tar_file(&tar, "b/../../b.jpg", "b");
    check_flaw("offset 2048: member 'b/../../b.jpg'", WEIR_EFORMAT);
    tar_file(&tar, "./../b.jpg", "b");
    check_flaw("'..'", WEIR_EFORMAT);
    tar_file(&tar, "/etc/b.jpg", "b");
    check_flaw("member '/etc/b.jpg': an absolute name", WEIR_EFORMAT);
    tar_file(&tar, "", "b");
    check_flaw("without a name", WEIR_EFORMAT);
    tar_member(&tar, 'x', "pax", "18 path=/../b.jpg\n");
    tar_file(&tar, "b.jpg", "b");
    check_flaw("offset 3072: member '/../b.jpg'", WEIR_EFORMAT);
    tar_member(&tar, 'L', "long", "../b.jpg");
    tar_file(&tar, "b.jpg", "b");
    check_flaw("offset 3072: member '../b.jpg'", WEIR_EFORMAT);

    tar_member(&tar, 'x', "pax", "99 path=b.jpg\n");
    tar_file(&tar, "b.jpg", "b");
    check_flaw("offset 2048: a pax record with a wrong length", WEIR_EFORMAT);
    tar_head(&tar, 'x', "pax", 16);
    tar_data(&tar, "16 path=b\0c.jpg\n", 16);
    tar_file(&tar, "b.jpg", "b");
    check_flaw("offset 2048: a name with a zero byte", WEIR_EFORMAT);
    snprintf(text, sizeof(text), "4108 path=%0*d\n", 4097, 0);
    tar_member(&tar, 'x', "pax", text);
    tar_file(&tar, "b.jpg", "b");
    check_flaw("a name of 4097 bytes (limit 4096)", WEIR_ELIMIT);
    tar_head(&tar, 'L', "long", 4098);
    tar_data(&tar, text, 4098);
    tar_file(&tar, "b.jpg", "b");
    check_flaw("a name of 4098 bytes (limit 4096)", WEIR_ELIMIT);
    memset(big, 'x', sizeof(big));
    tar_head(&tar, 'x', "pax", sizeof(big));
    tar_data(&tar, big, sizeof(big));
    tar_file(&tar, "b.jpg", "b");
    check_flaw("a pax record with a wrong length", WEIR_EFORMAT);
    tar_member(&tar, 'x', "pax", "22 GNU.sparse.major=1\n");
    tar_file(&tar, "b.jpg", "b");
    check_flaw("is sparse", WEIR_ENOTSUP);
    tar.len = 0;
}

/* What is in `tar`, a hole, and two samples "b" and "c" as archive a.tar. */
static void put_with_hole(const struct tmpdir *t, off_t hole)
{
    FILE *f = fopen(tmpdir_at(t, "a.tar"), "wb");

    assert_non_null(f);
    fwrite(tar.bytes, 1, tar.len, f);
    fseeko(f, hole, SEEK_CUR);
    tar.len = 0;
    tar_file(&tar, "b.jpg", "b");
    tar_file(&tar, "c.jpg", "c");
    tar_end(&tar);
    fwrite(tar.bytes, 1, tar.len, f);
    fclose(f);
}

static void test_long_pax(void **state)
{
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    tar_head(&tar, 'x', "pax", (1 << 20) + 1);
    put_with_hole(&t, (1 << 20) + 512);
    ds = open_at(&t, "a.tar");
    assert_int_equal(weir_dataset_count(ds), 1);
    check(ds, 0, "c", "c", WEIR_NO_LABEL);
    check_issue(ds, "a pax header of 1048577 bytes (limit 1048576)",
                WEIR_ELIMIT);
    done(ds, &t);
}

/* 4 GiB of a hole: what an index cannot hold is passed over. */
static void test_huge_member(void **state)
{
    const uint64_t size = UINT64_C(1) << 32;
    weir_dataset *ds;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    tar_head(&tar, '0', "a.jpg", size);
    put_with_hole(&t, (off_t)size);
    ds = open_at(&t, "a.tar");
    assert_int_equal(weir_dataset_count(ds), 2);
    check(ds, 0, "b", "b", WEIR_NO_LABEL);
    check(ds, 1, "c", "c", WEIR_NO_LABEL);
    check_issue(ds, "member 'a.jpg': 4294967296 bytes (limit 4294967295)",
                WEIR_ELIMIT);
    done(ds, &t);
}

static void check_end(const char *what)
{
    weir_dataset *ds;
    struct tmpdir t;

    tar_file(&tar, "z.jpg", "not found any more");
    tar_end(&tar);
    ds = open_tar(&t);
    assert_int_equal(weir_dataset_count(ds), 1);
    check(ds, 0, "a", "a", WEIR_NO_LABEL);
    check_issue(ds, what, WEIR_EFORMAT);
    done(ds, &t);
    tar_file(&tar, "a.jpg", "a");
}

static void test_lost(void **state)
{
    uint8_t *b;

    (void)state;
    tar_file(&tar, "a.jpg", "a");
    tar_head(&tar, '0', "b.jpg", 077777777777);
    check_end("offset 1024: member 'b.jpg' of 8589934591 bytes ends beyond");
    b = tar_head(&tar, '0', "b.jpg", 0);
    memcpy(b + 124, "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12);
    tar_sum(b);
    check_end("offset 1024: member 'b.jpg' of 9223372036854775807 bytes");
    b = tar_head(&tar, '0', "b.jpg", 0);
    memcpy(b + 124, "\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 12);
    tar_sum(b);
    check_end("offset 1024: member 'b.jpg' of 18446744073709551615 bytes");
    b = tar_head(&tar, '0', "b.jpg", 0);
    memset(b + 124, 0xff, 12); /* -1 */
    tar_sum(b);
    check_end("offset 1024: 'b.jpg': its size is no number");
    tar_member(&tar, 'x', "pax", "29 size=18446744073709551615\n");
    tar_file(&tar, "b.jpg", "b");
    check_end("offset 2048: member 'b.jpg' of 18446744073709551615 bytes");
    tar_head(&tar, 'L', "long", 1 << 30);
    check_end("offset 1024: member 'long' of 1073741824 bytes");
    b = tar_head(&tar, '0', "b.jpg", 1);
    b[0] ^= 1;
    tar_data(&tar, "b", 1);
    check_end("offset 1024: header checksum mismatch");
    tar.len = 0;
}

/* Cut at each byte: never a crash, never a sample that is not all there. */
static void test_truncation(void **state)
{
    struct tarfile whole;
    struct tmpdir t;
    size_t a_end, label_end;

    (void)state;
    tmpdir_init(&t);
    tar_file(&tar, "a.jpg", "the first one");
    a_end = 512 + 13;
    tar_file(&tar, "a.cls", "1");
    tar_member(&tar, 'x', "pax", "14 path=b.jpg\n");
    tar_file(&tar, "cut", "the second one");
    tar_file(&tar, "b.cls", "2");
    label_end = tar.len - 512 + 1;
    tar_end(&tar);
    whole = tar;
    for (size_t len = 0; len < whole.len; len++) {
        weir_dataset *ds = NULL;
        weir_err err;
        int r;

        tmpdir_put(&t, "a.tar", whole.bytes, len);
        r = try_open(&t, "a.tar", &ds, &err);
        assert_int_equal(r, len < a_end ? WEIR_EFORMAT : 0);
        if (r < 0) {
            assert_non_null(strstr(err.msg, "a.tar"));
            continue;
        }
        /* b is kept only with its label: a has one */
        assert_int_equal(weir_dataset_count(ds), len < label_end ? 1 : 2);
        check(ds, 0, "a", "the first one",
              len < 1024 + 512 + 1 ? WEIR_NO_LABEL : 1);
        if (len >= label_end)
            check(ds, 1, "b", "the second one", 2);
        if (len < whole.len - 512)
            check_issue(ds, "offset ", WEIR_EFORMAT);
        weir_dataset_close(&ds);
    }
    tmpdir_done(&t);
    tar.len = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_global_pax),
        cmocka_unit_test(test_other_members),
        cmocka_unit_test(test_flaws),
        cmocka_unit_test(test_long_pax),
        cmocka_unit_test(test_huge_member),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_truncation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
