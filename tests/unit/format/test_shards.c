/* test_shards.c - shards as streams, and scans of many.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <unistd.h>

#include "../codec/gzip.h"
#include "base/error.h"
#include "format/shards.h"
#include "tmpdir.h"

#define BYTES 300000

static uint8_t *pattern(size_t len)
{
    uint8_t *p = malloc(len);

    for (size_t k = 0; k < len; k++)
        p[k] = (uint8_t)(k * 7 + k / 256);
    return p;
}

static struct wr_store *open_store(const char *prefix, const struct tmpdir *t)
{
    struct wr_store *st = NULL;
    char url[512], *leaf = NULL;
    weir_err err;

    snprintf(url, sizeof(url), "%s%s", prefix, t->path);
    if (wr_store_open(url, &st, &leaf, &err) < 0)
        fail_msg("%s", err.msg);
    assert_null(leaf);
    return st;
}

/* Reads and skips in turn, and compares. */
static void walk(struct wr_store *st, const char *name, const uint8_t *want,
                 size_t read, size_t skip)
{
    struct wr_shard_reader *r = NULL;
    uint8_t *got = malloc(read);
    uint64_t pos = 0;
    weir_err err;
    int64_t n;

    if (wr_shard_reader_open(&r, st, name, &err) < 0)
        fail_msg("%s", err.msg);
    for (;;) {
        assert_int_equal(wr_shard_reader_tell(r), pos);
        n = wr_shard_reader_read(r, got, read, &err);
        assert_int_equal(n, read < BYTES - pos ? read : BYTES - pos);
        assert_memory_equal(got, want + pos, n);
        pos += (uint64_t)n;
        n = wr_shard_reader_skip(r, skip, &err);
        assert_int_equal(n, skip < BYTES - pos ? skip : BYTES - pos);
        pos += (uint64_t)n;
        if (pos == BYTES)
            break;
    }
    assert_int_equal(wr_shard_reader_read(r, got, read, &err), 0);
    assert_int_equal(wr_shard_reader_skip(r, UINT64_MAX, &err), 0);
    assert_int_equal(wr_shard_reader_tell(r), BYTES);
    wr_shard_reader_close(r);
    free(got);
}

static void test_streams(void **state)
{
    static const size_t steps[][2] = {{12, 100},   {12, 20000},  {12, 65536},
                                      {512, 512},  {1000, 4000}, {70000, 0},
                                      {100000, 1}, {BYTES, 1},   {4096, 61440}};
    uint8_t *plain = pattern(BYTES);
    size_t gz_len;
    uint8_t *gz = gzip_member(plain, BYTES, &gz_len);
    static const char *const prefixes[] = {"", "fault:short=777:"};
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put(&t, "plain", plain, BYTES);
    tmpdir_put(&t, "packed", gz, gz_len);
    for (unsigned p = 0; p < 2; p++) {
        struct wr_store *st = open_store(prefixes[p], &t);

        for (unsigned k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
            walk(st, "plain", plain, steps[k][0], steps[k][1]);
            walk(st, "packed", plain, steps[k][0], steps[k][1]);
        }
        wr_store_close(st);
    }
    tmpdir_done(&t);
    free(gz);
    free(plain);
}

static void test_head(void **state)
{
    struct tmpdir t;
    struct wr_store *st;
    char buf[16];
    size_t n;
    uint8_t *gz = gzip_member("hello", 5, &n);

    (void)state;
    tmpdir_init(&t);
    tmpdir_put(&t, "z", gz, n);
    tmpdir_put(&t, "cut", gz, n - 1);
    tmpdir_put_text(&t, "p", "0123456789");
    tmpdir_put_text(&t, "empty", "");
    tmpdir_mkdir(&t, "dir");
    st = open_store("", &t);
    assert_int_equal(wr_shard_head(st, "z", buf, 4), 4);
    assert_memory_equal(buf, "hell", 4);
    assert_int_equal(wr_shard_head(st, "z", buf, 16), 5);
    assert_int_equal(wr_shard_head(st, "cut", buf, 4), 4);
    assert_int_equal(wr_shard_head(st, "cut", buf, 16), 0);
    assert_int_equal(wr_shard_head(st, "p", buf, 16), 10);
    assert_int_equal(wr_shard_head(st, "empty", buf, 16), 0);
    assert_int_equal(wr_shard_head(st, "dir", buf, 16), 0);
    assert_int_equal(wr_shard_head(st, "nothing", buf, 16), 0);
    wr_store_close(st);
    tmpdir_done(&t);
    free(gz);
}

static bool is_shard(const char *name)
{
    return wr_name_has_ext(name, ".shard");
}

static const struct wr_format_files shards = {.is_name = is_shard};

/* A format of lines: each is a sample, named by its first byte. A line "!"
 * fails, "?" is a problem that does not end it. */
static int scan_lines(struct wr_shard *s, weir_err *err)
{
    for (;;) {
        struct wr_record rec = {.offset = wr_shard_reader_tell(s->reader),
                                .label = 5};
        char name[2] = "", c;
        weir_err e;
        int r;

        while (wr_shard_reader_read(s->reader, &c, 1, err) == 1 && c != '\n') {
            rec.length++;
            name[0] = c;
        }
        if (!rec.length)
            return 0;
        if (name[0] == '!')
            return wr_fail(err, WEIR_EFORMAT, "a bad line");
        if (name[0] == '?') {
            wr_fail(&e, WEIR_ELIMIT, "an odd line");
            wr_shard_note(s, s->path, &e);
            r = wr_shard_depends(s, "beside", &s->stat, err);
            if (r < 0)
                return r;
            continue;
        }
        rec.name = name;
        r = wr_shard_add(s, &rec, err);
        if (r < 0)
            return r;
    }
}

static int run_scan(struct wr_index_job *job, weir_err *err)
{
    struct wr_listing l = {0};
    int r = wr_files_list(job, &shards, &l, err);

    if (r == 0)
        r = wr_shards_index(job, &l, &(struct wr_shard_scan){.fn = scan_lines},
                            err);
    wr_listing_done(&l);
    return r;
}

static void check_order(const struct wr_index *ix)
{
    uint64_t i = 0;

    for (unsigned s = 0; s < 40; s++)
        for (unsigned k = 0; k < (s % 7) * 500; k++, i++) {
            struct wr_part p;
            char path[64], want[64];

            wr_index_part(ix, 0, i, &p);
            wr_index_object_path(ix, p.object, path, sizeof(path));
            snprintf(want, sizeof(want), "%02u.shard", s);
            assert_string_equal(path, want);
            assert_int_equal(p.offset, 3 * (uint64_t)k);
            assert_int_equal(p.length, 2);
            assert_int_equal(p.label, 5);
            assert_int_equal(wr_part_is_packed(&p), s % 2);
            assert_int_equal(wr_index_sample_name(ix, i)[0], 'a' + s % 20);
        }
    assert_int_equal(wr_index_count(ix), i);
}

/* Many shards, plain and gzip, empty ones among them: in their order. */
static void test_scan_order(void **state)
{
    const weir_dataset_config cfg = {.format = NULL};
    struct wr_index_job job = {.cfg = &cfg, .index = wr_index_new()};
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    for (unsigned s = 0; s < 40; s++) {
        char text[3 * 3000 + 1], name[32];
        size_t len = 0, n;

        for (unsigned k = 0; k < (s % 7) * 500; k++, len += 3)
            snprintf(text + len, 4, "-%c\n", 'a' + s % 20);
        snprintf(name, sizeof(name), "%02u.shard", s);
        if (s % 2) {
            uint8_t *gz = gzip_member(text, len, &n);

            tmpdir_put(&t, name, gz, n);
            free(gz);
        } else {
            tmpdir_put(&t, name, text, len);
        }
    }
    job.store = open_store("", &t);
    if (run_scan(&job, &err) < 0)
        fail_msg("%s", err.msg);
    check_order(job.index);
    assert_int_equal(wr_index_stamp_count(job.index), 41);
    assert_int_equal(wr_index_issue_count(job.index), 0);
    wr_index_free(job.index);
    wr_store_close(job.store);
    tmpdir_done(&t);
}

static void check_issue(const struct wr_index *ix, uint64_t k, const char *name,
                        const char *reason)
{
    assert_string_equal(wr_index_issue(ix, k)->name, name);
    if (!strstr(wr_index_issue(ix, k)->reason, reason))
        fail_msg("'%s' does not say '%s'", wr_index_issue(ix, k)->reason,
                 reason);
}

static void test_scan_problems(void **state)
{
    const weir_dataset_config cfg = {.format = NULL};
    struct wr_index_job job = {.cfg = &cfg, .index = wr_index_new()};
    struct wr_stamp stamp;
    const char *path;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "a.shard", "1\n2\n!\n3\n");
    tmpdir_put_text(&t, "b.shard", "4\n");
    tmpdir_put_text(&t, "c.shard", "5\n?\n6\n");
    tmpdir_put_text(&t, "d.shard", "!\n");
    job.store = open_store("fault:eio@~b.shard:", &t);
    assert_int_equal(run_scan(&job, &err), WEIR_EIO);
    assert_non_null(strstr(err.msg, "b.shard"));
    wr_store_close(job.store);
    wr_index_free(job.index);
    job.index = wr_index_new();
    job.store = open_store("", &t);
    assert_int_equal(run_scan(&job, &err), 0);
    assert_int_equal(wr_index_count(job.index), 5);
    assert_int_equal(wr_index_issue_count(job.index), 3);
    check_issue(job.index, 0, "a.shard", "a bad line");
    check_issue(job.index, 1, "c.shard", "an odd line");
    check_issue(job.index, 2, "d.shard", "a bad line");
    /* The folder, the shards that could be looked at, and what is beside. */
    assert_int_equal(wr_index_stamp_count(job.index), 6);
    wr_index_stamp(job.index, 0, &stamp, &path);
    assert_string_equal(path, "");
    assert_true(stamp.mtime_ns > 0 && stamp.ino > 0);
    wr_index_stamp(job.index, 4, &stamp, &path);
    assert_string_equal(path, "beside");
    wr_index_free(job.index);
    /* What was named itself has to give something. */
    job.index = wr_index_new();
    job.leaf = "d.shard";
    assert_int_equal(run_scan(&job, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg, "'d.shard': a bad line");
    job.leaf = "a.shard";
    assert_int_equal(run_scan(&job, &err), 0);
    assert_int_equal(wr_index_count(job.index), 2);
    job.leaf = "nothing";
    assert_int_equal(run_scan(&job, &err), WEIR_ENOENT);
    wr_index_free(job.index);
    wr_store_close(job.store);
    tmpdir_done(&t);
}

static int cancel(void *arg, uint64_t count)
{
    unsigned *calls = arg;

    (void)count;
    return ++*calls == 1;
}

static void test_cancel(void **state)
{
    unsigned calls = 0;
    const weir_dataset_config cfg = {.progress = cancel,
                                     .progress_arg = &calls};
    struct wr_index_job job = {.cfg = &cfg, .index = wr_index_new()};
    char text[60001] = "";
    struct tmpdir t;
    weir_err err;

    (void)state;
    for (size_t k = 0; k < sizeof(text) - 1; k++)
        text[k] = k % 3 == 2 ? '\n' : 'x';
    tmpdir_init(&t);
    for (unsigned s = 0; s < 30; s++) {
        char name[32];

        snprintf(name, sizeof(name), "%02u.shard", s);
        tmpdir_put_text(&t, name, text);
    }
    job.store = open_store("", &t);
    assert_int_equal(run_scan(&job, &err), WEIR_ECANCELED);
    assert_int_equal(calls, 1);
    wr_index_free(job.index);
    wr_store_close(job.store);
    tmpdir_done(&t);
}

/* A scan that finds nothing in a long shard, slowly. */
static atomic_int scan_result;

static int scan_nothing(struct wr_shard *s, weir_err *err)
{
    int64_t n;

    do {
        n = wr_shard_reader_skip(s->reader, 65536, err);
        usleep(5000);
    } while (n > 0);
    atomic_store(&scan_result, (int)n);
    return (int)n;
}

/* It is told to stop although it never adds anything. */
static void test_cancel_inside(void **state)
{
    const size_t len = (size_t)64 << 20;
    unsigned calls = 0;
    const weir_dataset_config cfg = {.progress = cancel,
                                     .progress_arg = &calls};
    struct wr_index_job job = {
        .cfg = &cfg, .index = wr_index_new(), .leaf = "a.shard"};
    struct wr_listing l = {0};
    uint8_t *zeros = calloc(1, len), *gz;
    struct tmpdir t;
    weir_err err;
    size_t n;

    (void)state;
    assert_non_null(zeros);
    tmpdir_init(&t);
    gz = gzip_member(zeros, len, &n);
    tmpdir_put(&t, "a.shard", gz, n);
    job.store = open_store("", &t);
    assert_int_equal(wr_files_list(&job, &shards, &l, NULL), 0);
    assert_int_equal(
        wr_shards_index(&job, &l, &(struct wr_shard_scan){.fn = scan_nothing},
                        &err),
        WEIR_ECANCELED);
    assert_int_equal(calls, 1);
    assert_int_equal(atomic_load(&scan_result), WEIR_ECANCELED);
    wr_listing_done(&l);
    wr_index_free(job.index);
    wr_store_close(job.store);
    tmpdir_done(&t);
    free(zeros);
    free(gz);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),    cmocka_unit_test(test_head),
        cmocka_unit_test(test_scan_order), cmocka_unit_test(test_scan_problems),
        cmocka_unit_test(test_cancel),     cmocka_unit_test(test_cancel_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
