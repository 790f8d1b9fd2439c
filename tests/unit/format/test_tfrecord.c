/* test_tfrecord.c - shards of records: whole, damaged, packed, with an index.
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
#include "unpacks.h"

#define JPEG "\xff\xd8\xff\xe0 some jpeg"

/* Opens without the index files of other runs. */
static int try_open(const char *path, weir_dataset **ret, weir_err *err)
{
    weir_dataset_config cfg;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    return weir_dataset_open(ret, path, &cfg, err);
}

static weir_dataset *open_path(const char *path)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (try_open(path, &ds, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(weir_dataset_format(ds), "tfrecord");
    return ds;
}

static void check_fails(const char *path, int code, const char *why)
{
    weir_dataset *ds = NULL;
    weir_err err = {0};

    assert_int_equal(try_open(path, &ds, &err), code);
    if (!strstr(err.msg, why))
        fail_msg("'%s' does not say '%s'", err.msg, why);
    assert_null(ds);
}

static void check_sample(const weir_dataset *ds, uint64_t i, const char *name,
                         uint64_t offset, uint64_t length)
{
    weir_sample s;
    char buf[256];

    assert_int_equal(weir_dataset_sample(ds, i, buf, sizeof(buf), &s, NULL), 0);
    assert_string_equal(s.name, name);
    assert_int_equal(s.offset, offset);
    assert_int_equal(s.length, length);
    assert_int_equal(s.label, WEIR_NO_LABEL);
}

static void check_issue(const weir_dataset *ds, uint64_t k, const char *name,
                        const char *reason)
{
    const weir_issue *issue = weir_dataset_issue(ds, k);

    assert_non_null(issue);
    assert_string_equal(issue->name, name);
    if (!strstr(issue->reason, reason))
        fail_msg("'%s' does not say '%s'", issue->reason, reason);
}

/* Three records of 10, 0 and 300 bytes: at 0, 26 and 42; 358 in all. */
static const struct buf *three(void)
{
    static struct buf b;
    char data[300];

    b.len = 0;
    memset(data, 'x', sizeof(data));
    record_put(&b, data, 10);
    record_put(&b, data, 0);
    record_put(&b, data, 300);
    return &b;
}

static void check_three(const char *path, const char *name)
{
    weir_dataset *ds = open_path(path);

    assert_int_equal(weir_dataset_count(ds), 3);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    check_sample(ds, 0, name, 0, 26);
    check_sample(ds, 1, name, 26, 16);
    check_sample(ds, 2, name, 42, 316);
    weir_dataset_close(&ds);
}

static void test_names(void **state)
{
    static const char *const names[] = {
        "a.tfrecord", "a.TFRECORDS",  "train-00003-of-01024",
        "plain",      "a-0-of-1.gz",  "mnist.tfrecord-00000-of-00001",
        "a.bin.gz",   "a.tfrecord.gz"};
    static const char *const no_names[] = {"-of-1",  "a-of-2",  "a-1-of-",
                                           "1-of-1", "a1-of-2", "x.idx"};
    const struct buf *b = three();
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 8; k++) {
        tmpdir_put(&t, names[k], b->at, b->len);
        check_three(tmpdir_at(&t, names[k]), names[k]);
    }
    for (unsigned k = 0; k < 6; k++) /* not in the folder's data set */
        tmpdir_put(&t, no_names[k], b->at, b->len);
    tmpdir_put(&t, ".hidden.tfrecord", b->at, b->len);
    {
        weir_dataset *ds = open_path(t.path);

        assert_int_equal(weir_dataset_count(ds), 3 * 6);
        check_sample(ds, 0, "a-0-of-1.gz", 0, 26);
        check_sample(ds, 3, "a.TFRECORDS", 0, 26);
        check_sample(ds, 17, "train-00003-of-01024", 42, 316);
        weir_dataset_close(&ds);
    }
    tmpdir_done(&t);
}

/* A folder of something else that is numbered alike is not taken. */
static void test_not_records(void **state)
{
    struct tmpdir t;
    weir_dataset *ds = NULL;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "ckpt.data-00000-of-00001", "weights, not records");
    assert_true(try_open(t.path, &ds, &err) < 0);
    assert_non_null(strstr(err.msg, "format images"));
    tmpdir_put_text(&t, "x.tfrecord", "");
    check_fails(tmpdir_at(&t, "x.tfrecord"), WEIR_EFORMAT, "no samples");
    tmpdir_put_text(&t, "y.tfrecord", "some text, no record");
    check_fails(tmpdir_at(&t, "y.tfrecord"), WEIR_EFORMAT,
                "'y.tfrecord': record 0 at offset 0: length checksum mismatch");
    tmpdir_done(&t);
}

static void test_folder(void **state)
{
    struct buf b = *three();
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put(&t, "a.tfrecord", b.at, b.len);
    tmpdir_put(&t, "d.tfrecord", b.at, b.len);
    tmpdir_put(&t, "e.tfrecord", b.at, 0);
    tmpdir_put(&t, "c.tfrecord", b.at, 50);
    b.at[26] ^= 1; /* the length of the second record */
    tmpdir_put(&t, "b.tfrecord", b.at, b.len);
    ds = open_path(t.path);
    assert_int_equal(weir_dataset_count(ds), 3 + 1 + 2 + 3);
    check_sample(ds, 3, "b.tfrecord", 0, 26);
    check_sample(ds, 5, "c.tfrecord", 26, 16);
    check_sample(ds, 6, "d.tfrecord", 0, 26);
    assert_int_equal(weir_dataset_issue_count(ds), 2);
    check_issue(ds, 0, "b.tfrecord",
                "record 1 at offset 26: length checksum mismatch");
    check_issue(ds, 1, "c.tfrecord",
                "record 2 at offset 42: truncated: 8 of 12 bytes are present");
    assert_int_equal(wr_index_stamp_count(ds->index), 6);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Wherever a shard is cut, the records before are there, and it is said. */
static void test_cut_everywhere(void **state)
{
    const struct buf *b = three();
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    for (size_t n = 1; n < b->len; n++) {
        const unsigned count = n >= 42 ? 2 : n >= 26 ? 1 : 0;
        const char *path = tmpdir_at(&t, "a.tfrecord");
        weir_dataset *ds;

        tmpdir_put(&t, "a.tfrecord", b->at, n);
        if (!count) {
            check_fails(path, WEIR_EFORMAT,
                        "'a.tfrecord': record 0 at offset 0: truncated");
            continue;
        }
        ds = open_path(path);
        assert_int_equal(weir_dataset_count(ds), count);
        assert_int_equal(weir_dataset_issue_count(ds), n != 26 && n != 42);
        weir_dataset_close(&ds);
    }
    tmpdir_done(&t);
}

static void test_absurd_lengths(void **state)
{
    static const uint64_t lengths[] = {
        UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 15, INT64_MAX,
        INT64_MAX - 16,    1000,       UINT32_MAX};
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 7; k++) {
        struct buf b = {.len = 0};
        weir_dataset *ds;
        uint8_t *gz;
        size_t n;

        record_put(&b, "first", 5);
        buf_le(&b, lengths[k], 8);
        buf_le(&b, wr_crc32c_mask(wr_crc32c(0, b.at + 21, 8)), 4);
        buf_put(&b, "some data", 9);
        gz = gzip_member(b.at, b.len, &n);
        tmpdir_put(&t, "a.tfrecord", b.at, b.len);
        tmpdir_put(&t, "b.tfrecord", gz, n);
        ds = open_path(t.path);
        assert_int_equal(weir_dataset_count(ds), 2);
        assert_int_equal(weir_dataset_issue_count(ds), 2);
        check_issue(ds, 0, "a.tfrecord", "record 1 at offset 21: ");
        check_issue(ds, 1, "b.tfrecord", "record 1 at offset 21: ");
        weir_dataset_close(&ds);
        free(gz);
    }
    tmpdir_done(&t);
}

/* A record over 4 GiB in a sparse file is left out; the next one is there. */
static void test_huge_record(void **state)
{
    const uint64_t huge = UINT64_C(5) << 30;
    struct buf head = {.len = 0}, next = {.len = 0};
    struct tmpdir t;
    weir_dataset *ds;
    FILE *f;

    (void)state;
    tmpdir_init(&t);
    buf_le(&head, huge, 8);
    buf_le(&head, wr_crc32c_mask(wr_crc32c(0, head.at, 8)), 4);
    record_put(&next, "next", 4);
    tmpdir_put(&t, "a.tfrecord", head.at, head.len);
    f = fopen(tmpdir_at(&t, "a.tfrecord"), "r+b");
    assert_non_null(f);
    assert_int_equal(fseeko(f, (off_t)huge + 16, SEEK_SET), 0);
    assert_int_equal(fwrite(next.at, 1, next.len, f), next.len);
    assert_int_equal(fclose(f), 0);
    ds = open_path(tmpdir_at(&t, "a.tfrecord"));
    assert_int_equal(weir_dataset_count(ds), 1);
    check_sample(ds, 0, "a.tfrecord", huge + 16, 20);
    check_issue(ds, 0, "a.tfrecord", "record 0 at offset 0: 5368709136 bytes");
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void check_packed(const char *path, uint64_t count, uint64_t inflated)
{
    weir_dataset *ds = open_path(path);
    struct wr_part p;

    assert_int_equal(weir_dataset_count(ds), count);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    assert_int_equal(wr_index_unit(ds->index, 0)->inflated, inflated);
    for (uint64_t i = 0; i < count; i++) {
        wr_index_part(ds->index, 0, i, &p);
        assert_true(wr_part_is_packed(&p));
        assert_int_equal(p.offset, i / 3 * 358 + (i % 3 == 0   ? 0
                                                  : i % 3 == 1 ? 26
                                                               : 42));
    }
    weir_dataset_close(&ds);
}

static void test_gzip(void **state)
{
    const struct buf *b = three();
    uint8_t two[2048];
    struct tmpdir t;
    size_t n;
    uint8_t *gz = gzip_member(b->at, b->len, &n);

    (void)state;
    tmpdir_init(&t);
    tmpdir_put(&t, "a.tfrecord.gz", gz, n);
    check_packed(tmpdir_at(&t, "a.tfrecord.gz"), 3, 358);
    tmpdir_put(&t, "a.tfrecord", gz, n); /* its name does not say so */
    check_packed(tmpdir_at(&t, "a.tfrecord"), 3, 358);
    tmpdir_put(&t, "some file", gz, n);
    check_packed(tmpdir_at(&t, "some file"), 3, 358);
    memcpy(two, gz, n);
    memcpy(two + n, gz, n);
    tmpdir_put(&t, "two", two, 2 * n);
    check_packed(tmpdir_at(&t, "two"), 6, 716);
    free(gz);
    tmpdir_done(&t);
}

static void test_bad_gzip(void **state)
{
    const struct buf *b = three();
    struct buf cut = {.len = 0};
    struct tmpdir t;
    weir_dataset *ds;
    uint8_t *gz, *end;
    size_t n, end_len;

    (void)state;
    tmpdir_init(&t);
    gz = gzip_member(b->at, b->len, &n);
    buf_put(&cut, gz, n);
    buf_put(&cut, gz, n - 5);
    tmpdir_put(&t, "a.tfrecord", cut.at, cut.len); /* the second is cut off */
    cut.at[n - 6] ^= 1;
    tmpdir_put(&t, "b.tfrecord", cut.at, n); /* its checksum is wrong */
    free(gz);
    gz = gzip_member(b->at, 50, &n); /* sound, but the records are cut */
    tmpdir_put(&t, "c.tfrecord", gz, n);
    end = gzip_member("", 0, &end_len);
    tmpdir_put(&t, "d.tfrecord", end, end_len);
    ds = open_path(t.path);
    assert_int_equal(weir_dataset_issue_count(ds), 3);
    check_issue(ds, 0, "a.tfrecord", "gzip: truncated: cut off after ");
    check_issue(ds, 1, "b.tfrecord", "gzip: checksum mismatch");
    check_issue(ds, 2, "c.tfrecord", "record 2 at offset 42: truncated");
    assert_int_equal(weir_dataset_count(ds), 6 + 3 + 2);
    /* As far as it is good for samples; all of it where the gzip is sound. */
    assert_int_equal(wr_index_unit(ds->index, 0)->inflated, 2 * 358);
    assert_int_equal(wr_index_unit(ds->index, 2)->inflated, 50);
    weir_dataset_close(&ds);
    free(end);
    free(gz);
    tmpdir_done(&t);
}

/* One record of many zeros, as often as it takes to be over the limit. */
static void test_bomb(void **state)
{
    const size_t part = (size_t)256 << 20;
    struct buf head = {.len = 0};
    struct tmpdir t;
    weir_dataset *ds;
    uint8_t *zeros = calloc(1, part), *first, *gz;
    size_t first_len, n;
    FILE *f;

    (void)state;
    tmpdir_init(&t);
    record_put(&head, "fine", 4);
    buf_le(&head, UINT64_C(1) << 40, 8);
    buf_le(&head, wr_crc32c_mask(wr_crc32c(0, head.at + 20, 8)), 4);
    first = gzip_member(head.at, head.len, &first_len);
    gz = gzip_member(zeros, part, &n);
    free(zeros);
    f = fopen(tmpdir_at(&t, "a.tfrecord"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(first, 1, first_len, f), first_len);
    for (unsigned k = 0; k < 17; k++)
        assert_int_equal(fwrite(gz, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    ds = open_path(tmpdir_at(&t, "a.tfrecord"));
    assert_int_equal(weir_dataset_count(ds), 1);
    check_issue(ds, 0, "a.tfrecord", "gzip: inflates to more than");
    assert_int_equal(weir_dataset_issue(ds, 0)->code, WEIR_ELIMIT);
    weir_dataset_close(&ds);
    free(first);
    free(gz);
    tmpdir_done(&t);
}

/* An index file is believed when it accounts for every byte. */
static void test_idx(void **state)
{
    static const char *const good[] = {"0 26\n26 16\n42 316\n",
                                       "0 26\n26 16\n42 316",
                                       "0\t26 \r\n26  16\r\n42 316\r\n"};
    static const char *const lies[] = {"",
                                       "0 26\n26 16\n",
                                       "0 26\n26 16\n42 317\n",
                                       "1 26\n",
                                       "0 26\n27 16\n43 315\n",
                                       "0 26\n26 15\n41 317\n",
                                       "hello\n",
                                       "0 26 7\n26 16\n42 316\n",
                                       "0 26\n\n26 16\n42 316\n",
                                       "0\n26\n",
                                       "0 18446744073709551615",
                                       "0 18446744073709551642",
                                       "-1 26\n",
                                       "0 358",
                                       "0 26\n26 16\n42 316\nx"};
    static const char *const names[] = {"a.tfrecord.idx", "a.idx"};
    const struct buf *b = three();
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put(&t, "a.tfrecord", b->at, b->len);
    for (unsigned n = 0; n < 2; n++) {
        for (unsigned k = 0; k < 3; k++) {
            tmpdir_put_text(&t, names[n], good[k]);
            check_three(tmpdir_at(&t, "a.tfrecord"), "a.tfrecord");
            check_three(t.path, "a.tfrecord");
        }
        for (unsigned k = 0; k < 15; k++) {
            if (!strcmp(lies[k], "0 358"))
                continue; /* see below */
            tmpdir_put_text(&t, names[n], lies[k]);
            ds = open_path(tmpdir_at(&t, "a.tfrecord"));
            assert_int_equal(weir_dataset_count(ds), 3);
            assert_int_equal(weir_dataset_issue_count(ds), 1);
            check_issue(ds, 0, names[n], "index file not used: ");
            check_sample(ds, 2, "a.tfrecord", 42, 316);
            assert_int_equal(wr_index_stamp_count(ds->index), 2);
            weir_dataset_close(&ds);
        }
        assert_int_equal(remove(tmpdir_at(&t, names[n])), 0);
    }
    /* That it is used at all: it says something else than the shard. */
    tmpdir_put_text(&t, "a.idx", "0 358\n");
    ds = open_path(t.path);
    assert_int_equal(weir_dataset_count(ds), 1);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Shards of one name share no index. */
static void test_idx_of_numbered(void **state)
{
    const struct buf *b = three();
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put(&t, "a.tfrecord-00000-of-00002", b->at, b->len);
    tmpdir_put(&t, "a.tfrecord-00001-of-00002", b->at, 26);
    tmpdir_put_text(&t, "a.idx", "0 26\n26 16\n42 316\n");
    tmpdir_put_text(&t, "a.tfrecord-00000-of-00002.idx", "0 42\n42 316\n");
    ds = open_path(t.path);
    assert_int_equal(weir_dataset_count(ds), 3);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* The length of its first record has the bytes that gzip starts with. */
static void test_looks_like_gzip(void **state)
{
    const size_t len = 0x88b1f;
    struct buf head = {.len = 0};
    uint8_t *shard = calloc(1, len + WR_TFRECORD_EXTRA);
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    assert_non_null(shard);
    tmpdir_init(&t);
    buf_le(&head, len, 8);
    buf_le(&head, wr_crc32c_mask(wr_crc32c(0, head.at, 8)), 4);
    memcpy(shard, head.at, head.len);
    tmpdir_put(&t, "a", shard, len + WR_TFRECORD_EXTRA);
    ds = open_path(tmpdir_at(&t, "a"));
    assert_int_equal(weir_dataset_count(ds), 1);
    check_sample(ds, 0, "a", 0, len + WR_TFRECORD_EXTRA);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    weir_dataset_close(&ds);
    free(shard);
    tmpdir_done(&t);
}

/* Four million records without data in little gzip would take more memory than
 * a file of that size is worth. */
static void test_many_empty(void **state)
{
    const size_t count = (size_t)4 << 20;
    struct buf one = {.len = 0};
    struct tmpdir t;
    weir_dataset *ds;
    uint8_t *all, *gz;
    size_t n;

    (void)state;
    record_put(&one, "", 0);
    all = malloc(count * one.len);
    assert_non_null(all);
    for (size_t k = 0; k < count; k++)
        memcpy(all + k * one.len, one.at, one.len);
    gz = gzip_member(all, count * one.len, &n);
    assert_true(n < ((size_t)1 << 20));
    tmpdir_init(&t);
    tmpdir_put(&t, "a.tfrecord.gz", gz, n);
    ds = open_path(tmpdir_at(&t, "a.tfrecord.gz"));
    assert_in_range(weir_dataset_count(ds), 2000000, 3000000);
    assert_int_equal(weir_dataset_issue_count(ds), 1);
    check_issue(ds, 0, "a.tfrecord.gz", "more samples than");
    check_issue(ds, 0, "a.tfrecord.gz", "offset 44739");
    weir_dataset_close(&ds);
    free(gz);
    free(all);
    tmpdir_done(&t);
}

static int unpack(const void *bytes, size_t len, bool payload,
                  struct wr_sample *ret, weir_err *err)
{
    uint8_t *exact = malloc(len + 1); /* so that reading behind shows */
    int r;

    memcpy(exact, bytes, len);
    *ret = (struct wr_sample){
        .bytes = exact, .len = len, .label = WEIR_NO_LABEL};
    r = unpack_at(payload, ret, err);
    free(exact);
    return r;
}

static void test_unpack(void **state)
{
    struct buf f = {.len = 0}, b = {.len = 0};
    struct wr_sample s;
    weir_err err;

    (void)state;
    features_bytes(&f, "image/encoded", JPEG, sizeof(JPEG) - 1);
    features_int(&f, "image/class/label", 9, 1);
    features_bytes(&f, "image/filename", "a/b.png", 7);
    record_put_features(&b, &f);
    s = (struct wr_sample){.bytes = b.at, .len = b.len, .label = 3};
    assert_int_equal(unpack_at(false, &s, &err), 0);
    assert_int_equal(s.len, b.len); /* only checked */
    assert_int_equal(s.label, 3);
    assert_int_equal(unpack_at(true, &s, &err), 0);
    assert_int_equal(s.len, sizeof(JPEG) - 1);
    assert_memory_equal(s.bytes, JPEG, sizeof(JPEG) - 1);
    assert_int_equal(s.label, 9);
    assert_int_equal(s.key_len, 3);
    assert_memory_equal(s.key, "a/b", 3);
    /* No byte can change unnoticed, and none can be missing. */
    for (size_t k = 0; k < b.len; k++) {
        b.at[k] ^= 0x10;
        assert_int_equal(unpack(b.at, b.len, false, &s, &err), WEIR_EFORMAT);
        assert_non_null(strstr(err.msg, "checksum mismatch"));
        assert_non_null(strstr(err.msg, k < 12 ? "length" : "data"));
        b.at[k] ^= 0x10;
        assert_int_equal(unpack(b.at, k, false, &s, &err), WEIR_EFORMAT);
    }
    assert_int_equal(unpack(b.at, 15, true, &s, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg, "15 bytes are no record");
    assert_int_equal(unpack(b.at, 20, true, &s, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "in a record of 20 bytes"));
}

static void test_no_picture(void **state)
{
    struct buf f = {.len = 0}, b = {.len = 0};
    struct wr_sample s;
    weir_err err;

    (void)state;
    features_bytes(&f, "text", "hello", 5);
    features_int(&f, "label", 9, 1);
    record_put_features(&b, &f);
    assert_int_equal(unpack(b.at, b.len, false, &s, &err), 0);
    assert_int_equal(unpack(b.at, b.len, true, &s, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg,
                        "no picture in the Example (features: text, label)");
    b.len = 0;
    record_put(&b, "no Example", 10);
    assert_int_equal(unpack(b.at, b.len, true, &s, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg, "not a tf.train.Example");
}

/* A shard that may not be read is named, and the others are there. */
static void test_faults(void **state)
{
    const struct buf *b = three();
    weir_dataset *ds;
    struct tmpdir t;
    char url[512];

    (void)state;
    tmpdir_init(&t);
    tmpdir_put(&t, "a.tfrecord", b->at, b->len);
    tmpdir_put(&t, "b.tfrecord", b->at, b->len);
    tmpdir_put_text(&t, "a.idx", "0 26\n26 16\n42 316\n");
    snprintf(url, sizeof(url), "fault:eacces@~b.tfrecord,eacces@~a.idx:%s",
             t.path);
    ds = open_path(url);
    assert_int_equal(weir_dataset_count(ds), 3);
    assert_int_equal(weir_dataset_issue_count(ds), 2);
    check_issue(ds, 0, "a.idx", "index file not used");
    check_issue(ds, 1, "b.tfrecord", "Permission denied");
    weir_dataset_close(&ds);
    snprintf(url, sizeof(url), "fault:short=5:%s", t.path);
    ds = open_path(url);
    assert_int_equal(weir_dataset_count(ds), 6);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_not_records),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_cut_everywhere),
        cmocka_unit_test(test_absurd_lengths),
        cmocka_unit_test(test_huge_record),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_bad_gzip),
        cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_idx),
        cmocka_unit_test(test_idx_of_numbered),
        cmocka_unit_test(test_looks_like_gzip),
        cmocka_unit_test(test_many_empty),
        cmocka_unit_test(test_unpack),
        cmocka_unit_test(test_no_picture),
        cmocka_unit_test(test_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
