/* test_foreign.c - files of other software are named, and not taken for lists.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/format.h"
#include "tmpdir.h"
#include "weir/dataset.h"

static int open_as(const struct tmpdir *t, const char *name, const char *format,
                   weir_err *err)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    int r;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    cfg.format = format;
    r = weir_dataset_open(&ds, tmpdir_at(t, name), &cfg, err);
    weir_dataset_close(&ds);
    return r;
}

static void test_names(void **state)
{
    static const struct {
        const char *file, *head;
        size_t len;
        const char *name;
    } files[] = {
#define FILE_OF(file, head, name) {file, head, sizeof(head) - 1, name}
        FILE_OF("a.parquet", "PAR1\x15\4\x15\0", ": a Parquet file; "),
        FILE_OF("a.feather", "ARROW1\0\0\xff\xff", ": an Arrow or Feather "),
        FILE_OF("a.pkl", "\x80\4\x95\x0a\0\0\0\0\0\0\0]", "a Python pickle"),
        FILE_OF("a.safetensors", "\x40\0\0\0\0\0\0\0{\"a\":", "weir ckpt show"),
        FILE_OF("a.nc", "CDF\1\0\0\0\0", "nccopy -k nc4"),
        FILE_OF("a.mat", "MATLAB 5.0 MAT-file, Platform", "by -v7.3"),
        FILE_OF("a.tar.zst", "\x28\xb5\x2f\xfd\4\0", "compressed by zstd"),
        FILE_OF("a.tar.xz",
                "\xfd"
                "7zXZ\0\0",
                "compressed by xz"),
        FILE_OF("a.tar.bz2", "BZh91AY&SY", "compressed by bzip2"),
        FILE_OF("a.pt", "PK\3\4\0\0\0\0", "a zip archive"),
        FILE_OF("a.json", " {\"images\": []}", "one JSON object; "),
        FILE_OF("b.json", "[1, 2, 3]", "(.jsonl) weir reads it"),
        FILE_OF("a.dat", "\xff\xd8\xff\xe0\0\x10JFIF", "a picture whose name"),
        FILE_OF("a.bin", "abc\0\1\2\3", "a binary file of a kind"),
#undef FILE_OF
    };
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
        tmpdir_put(&t, files[k].file, files[k].head, files[k].len);
        assert_int_equal(open_as(&t, files[k].file, NULL, &err), WEIR_ENOTSUP);
        if (!strstr(err.msg, files[k].name) || !strstr(err.msg, files[k].file))
            fail_msg("%s", err.msg);
    }
    tmpdir_done(&t);
}

/* MATLAB's files of version 7.3 are HDF5 behind a block of its own. */
static void test_matlab(void **state)
{
    char head[1024] = "MATLAB 7.3 MAT-file, Platform: GLNXA64";
    const weir_dataset_config cfg = {0};
    struct wr_index_job job = {.leaf = "a.mat", .cfg = &cfg};
    const struct wr_format_ops *f = NULL;
    struct tmpdir t;
    char *leaf = NULL;

    (void)state;
    tmpdir_init(&t);
    memcpy(head + 512, "\211HDF\r\n\032\n", 8);
    tmpdir_put(&t, "a.mat", head, sizeof(head));
    assert_int_equal(
        wr_store_open(tmpdir_at(&t, "a.mat"), &job.leaf_store, &leaf, NULL), 0);
    assert_int_equal(wr_format_choose(&job, &f, NULL), 0);
    assert_string_equal(f->name, "hdf5");
    wr_store_close(job.leaf_store);
    free(leaf);
    tmpdir_done(&t);
}

static void hdf5_at(const struct tmpdir *t, const char *name, size_t at)
{
    char *head = calloc(1, at + 512);

    assert_non_null(head);
    memcpy(head, "MATLAB 7.3 MAT-file", at ? 19 : 0);
    memcpy(head + at, "\211HDF\r\n\032\n", 8);
    tmpdir_put(t, name, head, at + 512);
    free(head);
}

/* The block before the signature may be of any power of two. */
static void test_user_block(void **state)
{
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    for (size_t at = 512; at <= 65536; at *= 2) {
        hdf5_at(&t, "a.bin", at);
        assert_true(open_as(&t, "a.bin", NULL, &err) < 0);
        if (strstr(err.msg, "weir does not know"))
            fail_msg("%zu: %s", at, err.msg);
    }
    tmpdir_done(&t);
}

/* A folder of them is named like one file; those that are HDF5 are read so. */
static void test_folders(void **state)
{
    static const struct {
        const char *file, *head;
        size_t len;
        const char *name;
    } folders[] = {
#define FILE_OF(file, head, name) {file, head, sizeof(head) - 1, name}
        FILE_OF("a.parquet", "PAR1\x15\4\x15\0", "'a.parquet': a Parquet file"),
        FILE_OF("a.pkl", "\x80\4\x95\x0a\0\0\0\0\0\0\0]", "a Python pickle"),
        FILE_OF("a.nc", "CDF\1\0\0\0\0", "nccopy -k nc4"),
        FILE_OF("a.mat", "MATLAB 5.0 MAT-file, Platform", "by -v7.3"),
        FILE_OF("a.tar.zst", "\x28\xb5\x2f\xfd\4\0", "compressed by zstd"),
#undef FILE_OF
    };
    static const char *const hdf5[] = {"a.mat", "a.nc"};
    struct tmpdir t;
    weir_err err;

    (void)state;
    for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]); k++) {
        tmpdir_init(&t);
        tmpdir_put(&t, folders[k].file, folders[k].head, folders[k].len);
        tmpdir_put_text(&t, "README.md", "text");
        assert_true(open_as(&t, "", NULL, &err) < 0);
        if (!strstr(err.msg, folders[k].name))
            fail_msg("%s", err.msg);
        tmpdir_done(&t);
    }
    for (size_t k = 0; k < 2; k++) {
        tmpdir_init(&t);
        hdf5_at(&t, hdf5[k], k ? 0 : 512);
        assert_true(open_as(&t, "", NULL, &err) < 0);
        if (!strstr(err.msg, "format hdf5"))
            fail_msg("%s", err.msg);
        tmpdir_done(&t);
    }
}

/* Text of any name may be a list, and what a user says counts. */
static void test_lists(void **state)
{
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "a.jpg", "");
    tmpdir_put_text(&t, "names", "a.jpg 0\n");
    tmpdir_put_text(&t, "{odd", "{x},0\n");
    tmpdir_put_text(&t, "{x}", "");
    assert_int_not_equal(open_as(&t, "names", NULL, &err), WEIR_ENOTSUP);
    assert_int_equal(open_as(&t, "{odd", NULL, &err), WEIR_ENOTSUP);
    assert_int_not_equal(open_as(&t, "{odd", "list", &err), WEIR_ENOTSUP);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_matlab),
        cmocka_unit_test(test_user_block), cmocka_unit_test(test_folders),
        cmocka_unit_test(test_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
