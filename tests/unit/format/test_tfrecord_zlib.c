/* test_tfrecord_zlib.c - shards of records that are zlib, or only look so.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../codec/gzip.h"
#include "format/format.h"
#include "format/tfrecord.h"
#include "tfrecords.h"
#include "tmpdir.h"

static weir_dataset *open_path(const char *path)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    weir_err err;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    if (weir_dataset_open(&ds, path, &cfg, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(weir_dataset_format(ds), "tfrecord");
    return ds;
}

static void check_issue(const weir_dataset *ds, uint64_t k, const char *name,
                        const char *why)
{
    const weir_issue *is = weir_dataset_issue(ds, k);

    assert_non_null(is);
    assert_string_equal(is->name, name);
    if (!strstr(is->reason, why))
        fail_msg("'%s' does not say '%s'", is->reason, why);
}

/* As TFRecordOptions("ZLIB") makes them, under any name. */
static void test_zlib(void **state)
{
    static const char *const names[] = {"a.tfrecord", "some file",
                                        "b.tfrecord.zlib", "c-00000-of-00001"};
    struct buf b = {.len = 0};
    weir_dataset *ds;
    struct tmpdir t;
    uint8_t *z;
    size_t n;

    (void)state;
    tmpdir_init(&t);
    record_put(&b, "", 0);
    record_put(&b, "some data", 9);
    z = zlib_stream(b.at, b.len, &n);
    for (unsigned k = 0; k < 4; k++) {
        tmpdir_put(&t, names[k], z, n);
        ds = open_path(tmpdir_at(&t, names[k]));
        assert_int_equal(weir_dataset_count(ds), 2);
        assert_int_equal(weir_dataset_issue_count(ds), 0);
        assert_int_equal(wr_index_unit(ds->index, 0)->inflated, b.len);
        weir_dataset_close(&ds);
    }
    tmpdir_put(&t, "d.tfrecord", z, n - 3);
    z[n - 1] ^= 1;
    tmpdir_put(&t, "e.tfrecord", z, n);
    free(z);
    z = zlib_stream("", 0, &n); /* no record */
    tmpdir_put(&t, "f.tfrecord", z, n);
    free(z);
    ds = open_path(t.path);
    assert_int_equal(weir_dataset_issue_count(ds), 2);
    check_issue(ds, 0, "d.tfrecord", "zlib: truncated: cut off after ");
    check_issue(ds, 1, "e.tfrecord", "zlib: checksum mismatch");
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Records whose length has the bytes that zlib starts with. */
static void test_looks_like_zlib(void **state)
{
    static const uint16_t lengths[] = {0x0178, 0x5e78, 0x9c78, 0xda78};
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 4; k++) {
        size_t len = lengths[k] + WR_TFRECORD_EXTRA;
        uint8_t *all = calloc(1, len);
        struct buf head = {.len = 0};
        weir_dataset *ds;

        assert_non_null(all);
        buf_le(&head, lengths[k], 8);
        buf_le(&head, wr_crc32c_mask(wr_crc32c(0, head.at, 8)), 4);
        memcpy(all, head.at, head.len);
        tmpdir_put(&t, "a.tfrecord", all, len);
        ds = open_path(tmpdir_at(&t, "a.tfrecord"));
        assert_int_equal(weir_dataset_count(ds), 1);
        assert_int_equal(weir_dataset_issue_count(ds), 0);
        assert_int_equal(wr_index_unit_count(ds->index), 0);
        weir_dataset_close(&ds);
        free(all);
    }
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zlib),
        cmocka_unit_test(test_looks_like_zlib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
