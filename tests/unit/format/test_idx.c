/* test_idx.c - IDX files: types, labels beside them, gzip, damage.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../codec/gzip.h"
#include "codec/cast.h"
#include "format/decode.h"
#include "format/format.h"
#include "tmpdir.h"
#include "weir/dataset.h"

#define IMAGES "t-images-idx3-ubyte"
#define LABELS "t-labels-idx1-ubyte"

static const uint8_t pictures[] = {0, 0, 8, 3, 0, 0,  0,  3,  0,  0,  0,
                                   1, 0, 0, 0, 2, 10, 11, 20, 21, 30, 31};
static const uint8_t classes[] = {0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 7};

static int try_open(const struct tmpdir *t, const char *name, weir_dataset **ds,
                    weir_err *err)
{
    weir_dataset_config cfg;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    return weir_dataset_open(ds, name ? tmpdir_at(t, name) : t->path, &cfg,
                             err);
}

static weir_dataset *open_at(const struct tmpdir *t, const char *name)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (try_open(t, name, &ds, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(weir_dataset_format(ds), "idx");
    return ds;
}

static void put_gzip(const struct tmpdir *t, const char *name,
                     const void *bytes, size_t len)
{
    size_t n;
    uint8_t *gz = gzip_member(bytes, len, &n);

    tmpdir_put(t, name, gz, n);
    free(gz);
}

static void check_labels(const weir_dataset *ds, const uint32_t expected[3])
{
    weir_sample s;
    char name[64];

    assert_int_equal(weir_dataset_count(ds), 3);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    assert_int_equal(weir_dataset_ignored_count(ds), 0);
    for (uint64_t k = 0; k < 3; k++) {
        assert_int_equal(
            weir_dataset_sample(ds, k, name, sizeof(name), &s, NULL), 0);
        assert_int_equal(s.length, 2);
        assert_int_equal(s.offset, 16 + 2 * k);
        assert_int_equal(s.label, expected[k]);
    }
}

/* Images and labels, each plain or gzip. */
static void test_pairs(void **state)
{
    static const uint32_t with[] = {7, 0, 7};
    static const uint32_t none[] = {WEIR_NO_LABEL, WEIR_NO_LABEL,
                                    WEIR_NO_LABEL};
    const weir_field *x;
    unsigned fields;
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put(&t, IMAGES, pictures, sizeof(pictures));
    ds = open_at(&t, NULL);
    check_labels(ds, none);
    x = weir_dataset_fields(ds, &fields);
    assert_int_equal(fields, 1);
    assert_int_equal(x->ndim, 3); /* one channel */
    assert_int_equal(x->dims[0], 1);
    assert_int_equal(x->dims[1], 2);
    assert_int_equal(x->dims[2], 1);
    weir_dataset_close(&ds);
    put_gzip(&t, LABELS ".gz", classes, sizeof(classes));
    ds = open_at(&t, NULL);
    check_labels(ds, with);
    weir_dataset_close(&ds);
    unlink(tmpdir_at(&t, LABELS ".gz"));
    unlink(tmpdir_at(&t, IMAGES));
    tmpdir_put(&t, LABELS, classes, sizeof(classes));
    put_gzip(&t, IMAGES ".gz", pictures, sizeof(pictures));
    ds = open_at(&t, NULL);
    check_labels(ds, with);
    assert_int_equal(wr_index_unit_count(ds->index), 1);
    assert_int_equal(wr_index_unit(ds->index, 0)->inflated, sizeof(pictures));
    weir_dataset_close(&ds);
    ds = open_at(&t, IMAGES ".gz");
    check_labels(ds, with);
    weir_dataset_close(&ds);
    ds = open_at(&t, LABELS); /* alone they are samples */
    assert_int_equal(weir_dataset_count(ds), 3);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Elements as they come out: 1 and -2 of each type (u8: 254). */
static void test_types(void **state)
{
    static const struct {
        uint8_t code;
        enum weir_dtype dtype;
        uint8_t bytes[16];
        size_t len;
    } types[] = {
        {0x08, WEIR_U8, {1, 254}, 2},
        {0x09, WEIR_I8, {1, 254}, 2},
        {0x0b, WEIR_I16, {0, 1, 255, 254}, 4},
        {0x0c, WEIR_I32, {0, 0, 0, 1, 255, 255, 255, 254}, 8},
        {0x0d, WEIR_F32, {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}, 8},
        {0x0e, WEIR_F64, {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0}, 16},
    };
    weir_pipeline_config cfg = {.picture.dtype = WEIR_U8};
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
        uint8_t file[12 + 16] = {0, 0, types[k].code, 2, 0, 0, 0, 1, 0, 0,
                                 0, 2};
        struct wr_sample s = {.bytes = types[k].bytes, .len = types[k].len};
        double out[2], wanted[2] = {1, k ? -2 : 254};
        uint8_t stored[16];
        struct wr_decoder *d;
        weir_dataset *ds;
        weir_err err;

        memcpy(file + 12, types[k].bytes, types[k].len);
        tmpdir_put(&t, "any", file, 12 + types[k].len); /* by its first bytes */
        ds = open_at(&t, "any");
        assert_int_equal(wr_index_tensor(ds->index)->dtype, types[k].dtype);
        cfg.picture.dtype = k == 4 ? WEIR_F32 : WEIR_U8;
        assert_int_equal(wr_first_decoder(ds->index, &cfg, &d, &err), 0);
        assert_int_equal(d->ops->decode(d, &s, stored, NULL, &err), 0);
        wr_cast(types[k].dtype, WEIR_F64, stored, 2, out);
        assert_memory_equal(out, wanted, sizeof(out));
        d->ops->free(d);
        weir_dataset_close(&ds);
    }
    tmpdir_done(&t);
}

static void check_bad(const void *bytes, size_t len, const char *why)
{
    weir_dataset *ds = NULL;
    struct tmpdir t;
    weir_err err;

    tmpdir_init(&t);
    tmpdir_put(&t, IMAGES, bytes, len);
    assert_true(try_open(&t, IMAGES, &ds, &err) < 0);
    if (!strstr(err.msg, why) || !strstr(err.msg, IMAGES))
        fail_msg("'%s' is not in: %s", why, err.msg);
    tmpdir_done(&t);
}

static void test_bad_files(void **state)
{
    uint8_t file[4 + 9 * 4 + 1] = {0, 0, 8, 9};

    (void)state;
    check_bad("", 0, "not an IDX file");
    check_bad("\0\0\10", 3, "not an IDX file");
    check_bad("\1\0\10\1\0\0\0\1x", 9, "not an IDX file");
    check_bad("\0\0\12\1\0\0\0\1x", 9, "not an IDX file");
    check_bad("\0\0\10\0x", 5, "not an IDX file");
    check_bad(file, sizeof(file), "1 to 8 dimensions");
    check_bad(pictures, 15, "the header is cut off");
    check_bad(pictures, sizeof(pictures) - 1, "truncated: 21 bytes");
    memcpy(file, pictures, sizeof(pictures));
    check_bad(file, sizeof(pictures) + 1, "23 bytes, the header says 22");
    memset(file + 8, 0, 4);
    check_bad(file, sizeof(pictures), "samples of zero bytes");
    memset(file + 8, 255, 8);
    check_bad(file, sizeof(pictures), "over the limit of 1 GiB");
    file[2] = 14;
    check_bad(file, sizeof(pictures), "overflow");
}

/* Labels that do not fit are named with their file; so are files that differ. */
static void test_bad_pairs(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *why;
    } bad[] = {
        {"\0\0\10\1\0\0\0\2ab", 10, "2 labels of 3 samples"},
        {"\0\0\10\1\0\0\0\3ab", 10, "label 2 is missing"},
        {"\0\0\15\1\0\0\0\3aaaabbbbcccc", 20, "whole numbers"},
        {"\0\0\10\2\0\0\0\3\0\0\0\1abc", 15, "whole numbers"},
        {"\0\0\11\1\0\0\0\3\1\2\376", 11, "label -2 is out of range"},
        {"", 0, "not an IDX file"},
    };
    static const uint32_t some[] = {1, WEIR_NO_LABEL, 2};
    weir_dataset *ds = NULL;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put(&t, IMAGES, pictures, sizeof(pictures));
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        tmpdir_put(&t, LABELS, bad[k].bytes, bad[k].len);
        assert_true(try_open(&t, NULL, &ds, &err) < 0);
        if (!strstr(err.msg, bad[k].why) || !strstr(err.msg, LABELS))
            fail_msg("'%s' is not in: %s", bad[k].why, err.msg);
    }
    tmpdir_put(&t, LABELS, "\0\0\13\1\0\0\0\3\0\1\377\377\0\2", 14);
    ds = open_at(&t, NULL);
    check_labels(ds, some);
    weir_dataset_close(&ds);
    tmpdir_put(&t, "u-idx2-ubyte", "\0\0\10\2\0\0\0\1\0\0\0\2ab", 14);
    ds = open_at(&t, NULL);
    assert_int_equal(weir_dataset_count(ds), 3);
    assert_int_equal(weir_dataset_issue_count(ds), 1);
    assert_string_equal(weir_dataset_issue(ds, 0)->name, "u-idx2-ubyte");
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_bad_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
