/* test_tar_write.c - samples as members of a tar archive.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/writer.h"
#include "tmpdir.h"
#include "weir/dataset.h"

static const uint8_t jpeg[] = {0xff, 0xd8, 0xff, 0xe0, 1, 2, 3};
static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static void add(struct wr_bytes *to, const char *key, uint32_t label,
                enum wr_picture_kind kind)
{
    struct wr_write_sample s = {.bytes = kind == WR_PICTURE_PNG ? png : jpeg,
                                .len = kind == WR_PICTURE_PNG ? sizeof(png)
                                                              : sizeof(jpeg),
                                .key = key,
                                .label = label,
                                .info = {.kind = kind}};
    weir_err err;

    if (wr_writer_tar.add(to, &s, &err) < 0)
        fail_msg("%s", err.msg);
}

/* The name of the member whose header starts at block k. */
static void check_name(const struct wr_bytes *b, unsigned k, const char *name)
{
    assert_string_equal((const char *)b->bytes + (size_t)k * 512, name);
}

static void test_members(void **state)
{
    struct wr_bytes b = {0};

    (void)state;
    assert_ptr_equal(wr_writer_find("tar"), &wr_writer_tar);
    add(&b, "cat/1", 12, WR_PICTURE_JPEG);
    add(&b, "dog/2", WEIR_NO_LABEL, WR_PICTURE_PNG);
    assert_int_equal(b.len, 6 * 512);
    check_name(&b, 0, "cat/1.jpg");
    assert_memory_equal(b.bytes + 512, jpeg, sizeof(jpeg));
    check_name(&b, 2, "cat/1.cls");
    assert_string_equal((char *)b.bytes + 3 * 512, "12");
    check_name(&b, 4, "dog/2.png");
    assert_memory_equal(b.bytes + 5 * 512, png, sizeof(png));
    /* mode, uid, gid, size, mtime: the same every time */
    assert_string_equal((char *)b.bytes + 100, "0000644");
    assert_string_equal((char *)b.bytes + 108, "0000000");
    assert_string_equal((char *)b.bytes + 116, "0000000");
    assert_string_equal((char *)b.bytes + 124, "00000000007");
    assert_string_equal((char *)b.bytes + 136, "00000000000");
    free(b.bytes);
}

static void test_kinds(void **state)
{
    struct wr_write_sample s = {
        .bytes = jpeg, .len = sizeof(jpeg), .key = "a", .label = WEIR_NO_LABEL};
    struct wr_bytes b = {0};

    (void)state;
    assert_int_equal(wr_writer_tar.add(&b, &s, NULL), 0); /* by its bytes */
    s.bytes = (const uint8_t *)"?";
    s.len = 1;
    assert_int_equal(wr_writer_tar.add(&b, &s, NULL), 0);
    s.bytes = NULL;
    s.len = 0;
    assert_int_equal(wr_writer_tar.add(&b, &s, NULL), 0);
    assert_int_equal(b.len, 5 * 512);
    check_name(&b, 0, "a.jpg");
    check_name(&b, 2, "a.bin");
    check_name(&b, 4, "a.bin");
    free(b.bytes);
}

static void test_keys(void **state)
{
    static const char *const keys[][2] = {
        {"a.b.c", "a_b_c.jpg"},
        {"v1.2/a.b", "v1.2/a_b.jpg"},
        {"/etc/passwd", "etc/passwd.jpg"},
        {"../../a", "__/__/a.jpg"},
        {"a/..", "a/__.jpg"},
        {"./a//b/./c", "a/b/c.jpg"},
        {".hidden", "_hidden.jpg"},
        {"a/...", "a/___.jpg"},
        {"", "_.jpg"},
        {"///", "_.jpg"},
        {"a/", "a.jpg"},
        {"a.b/", "a_b.jpg"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        struct wr_bytes b = {0};

        add(&b, keys[k][0], WEIR_NO_LABEL, WR_PICTURE_JPEG);
        check_name(&b, 0, keys[k][1]);
        free(b.bytes);
    }
}

static void test_finish(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 24; n++) {
        struct wr_bytes b = {0};
        size_t used;

        for (unsigned k = 0; k < n; k++)
            add(&b, "a", WEIR_NO_LABEL, WR_PICTURE_JPEG);
        used = b.len;
        assert_int_equal(wr_writer_tar.finish(&b, NULL), 0);
        assert_int_equal(b.len % 10240, 0);
        assert_in_range(b.len - used, 1024, 10240 + 1023);
        for (size_t k = used; k < b.len; k++)
            assert_int_equal(b.bytes[k], 0);
        free(b.bytes);
    }
}

static void test_too_long(void **state)
{
    struct wr_write_sample s = {.bytes = jpeg, .len = sizeof(jpeg)};
    struct wr_bytes b = {0};
    char *key = calloc(1, 5000);
    weir_err err;

    (void)state;
    memset(key, 'k', 4093);
    s.key = key;
    assert_int_equal(wr_writer_tar.add(&b, &s, &err), WEIR_ELIMIT);
    assert_int_equal(b.len, 0);
    key[4092] = '\0';
    assert_int_equal(wr_writer_tar.add(&b, &s, &err), 0);
    free(b.bytes);
    free(key);
}

/* What the reader makes of it: keys of all lengths, and the labels. */
static void test_read_again(void **state)
{
    struct wr_bytes b = {0};
    weir_dataset *ds = NULL;
    char key[512], got[512], name[256];
    weir_dataset_config cfg;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 300; k++) {
        snprintf(key, sizeof(key), "%s%0*u", k % 2 ? "folder/" : "", (int)k + 3,
                 k);
        add(&b, key, k, k % 3 ? WR_PICTURE_JPEG : WR_PICTURE_PNG);
    }
    assert_int_equal(wr_writer_tar.finish(&b, &err), 0);
    tmpdir_put(&t, "a.tar", b.bytes, b.len);
    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    if (weir_dataset_open(&ds, t.path, &cfg, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(weir_dataset_count(ds), 300);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    for (unsigned k = 0; k < 300; k++) {
        weir_sample s;

        snprintf(key, sizeof(key), "%s%0*u", k % 2 ? "folder/" : "", (int)k + 3,
                 k);
        weir_dataset_key(ds, k, got, sizeof(got));
        assert_string_equal(got, key);
        weir_dataset_sample(ds, k, name, sizeof(name), &s, NULL);
        assert_int_equal(s.label, k);
        assert_memory_equal(b.bytes + s.offset, k % 3 ? jpeg : png, s.length);
    }
    weir_dataset_close(&ds);
    free(b.bytes);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),  cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_keys),     cmocka_unit_test(test_finish),
        cmocka_unit_test(test_too_long), cmocka_unit_test(test_read_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
