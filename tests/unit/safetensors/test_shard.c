/* test_shard.c - shards written, read, copied; faults on the way.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/crc32c.h"
#include "safetensors/shard.h"
#include "tensors.h"

#define MIB ((uint64_t)1 << 20)
#define KIB ((uint64_t)1 << 10)

static char dir[256];

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    return !mkdtemp(dir) || chdir(dir);
}

static int clean(void **state)
{
    (void)state;
    unlink("a");
    unlink("b");
    return 0;
}

static int teardown(void **state)
{
    clean(state);
    return chdir("/") || rmdir(dir);
}

static struct wr_store *open_store(const char *prefix)
{
    char url[400];
    struct wr_store *st;
    char *leaf = NULL;
    weir_err err = {0};

    snprintf(url, sizeof(url), "%s%s", prefix, dir);
    assert_int_equal(wr_store_open(url, &st, &leaf, &err), 0);
    assert_null(leaf);
    return st;
}

static uint8_t *slurp(const char *path, uint64_t *ret_len)
{
    struct stat sb;
    uint8_t *bytes;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &sb), 0);
    bytes = malloc((size_t)sb.st_size + 1);
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, (size_t)sb.st_size), sb.st_size);
    close(fd);
    *ret_len = (uint64_t)sb.st_size;
    return bytes;
}

static void spill(const char *path, const void *bytes, uint64_t len)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, (size_t)len), (ssize_t)len);
    close(fd);
}

static void flip(const char *path, uint64_t at)
{
    int fd = open(path, O_RDWR);
    uint8_t b;

    assert_int_equal(pread(fd, &b, 1, (off_t)at), 1);
    b ^= 4;
    assert_int_equal(pwrite(fd, &b, 1, (off_t)at), 1);
    close(fd);
}

/* An image with tensors that is filled by a thread while it is used. */
struct scene {
    struct tensors ts;
    struct wr_image *img;
    pthread_t filler;
};

static void *fill_main(void *arg)
{
    struct scene *s = arg;

    wr_image_fill(s->img, s->ts.t, /* eager= */ true);
    return NULL;
}

/* `lent`: with tensors in whole pages, which are written from where they
 * are. */
static void scene_start_with(struct scene *s, uint64_t bytes, bool lent)
{
    uint64_t half = bytes / 2 & ~(uint64_t)4095;
    weir_err err = {0};

    memset(s, 0, sizeof(*s));
    s->ts.in_pages = lent;
    if (lent)
        tensors_add(&s->ts, WEIR_F32, 4, half);
    tensors_split(&s->ts, bytes - (lent ? half : 0), bytes + 1);
    assert_int_equal(wr_image_new(2, &s->img, &err), 0);
    assert_int_equal((lent ? wr_image_plan_lent : wr_image_plan)(
                         s->img, s->ts.t, s->ts.count, NULL, 0, &err),
                     0);
    assert_int_equal(wr_image_lends(s->img), lent && bytes >= MIB);
    assert_int_equal(pthread_create(&s->filler, NULL, fill_main, s), 0);
}

static void scene_start(struct scene *s, uint64_t bytes)
{
    scene_start_with(s, bytes, /* lent= */ false);
}

static void scene_end(struct scene *s)
{
    pthread_join(s->filler, NULL);
    tensors_done(&s->ts);
    wr_image_free(s->img);
}

/* The file is the image, and its checksums are those of the file. */
static void check_file(const char *path, struct wr_image *img,
                       const struct wr_st_shard *sh)
{
    uint64_t len, k = 0;
    uint8_t *bytes = slurp(path, &len);

    assert_int_equal(len, wr_image_size(img));
    assert_int_equal(sh->size, len);
    for (uint64_t at = 0, n; at < len; at += n) {
        const uint8_t *part;

        n = len - at;
        part = wr_image_part(img, at, &n);
        assert_memory_equal(bytes + at, part, (size_t)n);
    }
    assert_int_equal(sh->head_crc,
                     wr_crc32c(0, bytes, (size_t)sh->data_offset));
    for (uint64_t at = sh->data_offset; at < len; at += WR_CHUNK, k++)
        assert_int_equal(
            sh->crcs[k],
            wr_crc32c(0, bytes + at,
                      (size_t)(len - at < WR_CHUNK ? len - at : WR_CHUNK)));
    free(bytes);
}

/* Wants of the whole data, in odd cuts, some left out. */
static size_t cut(struct wr_stretch *wants, size_t max, uint64_t bytes,
                  uint8_t *to, bool gaps)
{
    size_t n = 0;
    uint64_t at = 0, x = bytes + 3;

    while (at < bytes && n < max) {
        uint64_t len;

        x = x * UINT64_C(6364136223846793005) + 1;
        len = (x >> 30) % (bytes / (max - 2) * 2 + 2);
        if (len > bytes - at || n == max - 1)
            len = bytes - at;
        if (!gaps || n % 2 == 0)
            wants[n / (gaps ? 2u : 1u)] = (struct wr_stretch){at, at + len,
                                                              to + at};
        n++;
        at += len;
    }
    return gaps ? (n + 1) / 2 : n;
}

static int count_bytes(void *arg, uint64_t bytes)
{
    *(uint64_t *)arg += bytes;
    return 0;
}

/* Reads with and without gaps into memory that starts `shift` bytes behind a
 * page; memory that is not wanted is left alone. */
static void check_reads_at(struct wr_store *st, const char *path,
                           const struct wr_st_shard *sh, uint32_t chunk,
                           unsigned shift)
{
    struct wr_shard_at from = {st, path};
    uint64_t len, bytes = sh->size - sh->data_offset, told = 0;
    struct wr_byte_meter meter = {count_bytes, &told};
    uint8_t *memory = aligned_alloc(4096, (size_t)bytes / 4096 * 4096 + 8192);
    uint8_t *file = slurp(path, &len), *to = memory + shift;
    struct wr_stretch wants[64];
    weir_err err = {0};

    assert_non_null(memory);
    assert_int_equal(wr_shard_read(&from, sh, chunk, NULL, 0, &meter, &err), 0);
    assert_int_equal(told, sh->size);
    for (unsigned gaps = 0; gaps < 2; gaps++) {
        size_t n = wr_stretches_join(wants, cut(wants, 40, bytes, to, gaps));
        uint8_t *expected = malloc((size_t)bytes + 1);

        assert_non_null(expected);
        memset(to, 0x5a, (size_t)bytes + 1);
        memset(expected, 0x5a, (size_t)bytes + 1);
        for (size_t i = 0; i < n; i++)
            memcpy(expected + wants[i].begin,
                   file + sh->data_offset + wants[i].begin,
                   (size_t)(wants[i].end - wants[i].begin));
        assert_int_equal(wr_shard_read(&from, sh, chunk, wants, n, NULL, &err),
                         0);
        if (n)
            assert_memory_equal(to, expected, (size_t)bytes + 1);
        free(expected);
    }
    free(file);
    free(memory);
}

/* Where pages can go straight to their place, and where they cannot. */
static void check_reads(struct wr_store *st, const char *path,
                        const struct wr_st_shard *sh, uint32_t chunk)
{
    check_reads_at(st, path, sh, chunk, 0);
    check_reads_at(st, path, sh, chunk, 16);
}

static const uint64_t sizes[] = {
    0,           1,       100,         4096,    4097,    MIB,
    4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 8 * MIB, 9000001, 41 * MIB + 123};

static void there_and_back_on(const char *prefix)
{
    struct wr_store *st = open_store(prefix);
    struct wr_shard_at a = {st, "a"}, b = {st, "b"};
    weir_err err = {0};

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct wr_st_shard sh = {0};
        struct scene s;
        uint64_t told = 0, retried = 0;
        struct wr_byte_meter meter = {count_bytes, &told};

        scene_start_with(&s, sizes[i], /* lent= */ i % 2 == 1);
        assert_int_equal(wr_shard_write(&a, s.img, &sh, &retried, &err), 0);
        assert_int_equal(retried, 0);
        check_file("a", s.img, &sh);
        check_reads(st, "a", &sh, WR_CHUNK);
        /* The next size finds the files of the last one. */
        assert_int_equal(wr_shard_copy(&(struct wr_way){a, b, false}, &sh,
                                       WR_CHUNK, &meter, &err),
                         0);
        assert_int_equal(told, sh.size);
        check_file("b", s.img, &sh);
        free(sh.crcs);
        scene_end(&s);
    }
    wr_store_close(st);
}

static void there_and_back(void **state)
{
    (void)state;
    there_and_back_on("");
}

static void there_and_back_emulated(void **state)
{
    (void)state;
    there_and_back_on("emu:null:");
}

static int open_blocking(struct wr_store *st, const struct wr_queue_config *cfg,
                         struct wr_queue **ret, weir_err *err)
{
    struct wr_queue_config mine = *cfg;

    mine.io = WEIR_IO_BLOCKING;
    return wr_storage_file.queue_open(st, &mine, ret, err);
}

/* Without io_uring; a long file becomes a short one. */
static void there_and_back_blocking(void **state)
{
    struct wr_storage_ops ops = wr_storage_file;
    struct wr_store *st = open_store("");
    struct wr_shard_at a = {st, "a"}, b = {st, "b"};
    weir_err err = {0};

    (void)state;
    ops.queue_open = open_blocking;
    st->ops = &ops;
    for (unsigned i = sizeof(sizes) / sizeof(sizes[0]); i-- > 0;) {
        struct wr_st_shard sh = {0};
        struct scene s;

        scene_start_with(&s, sizes[i], /* lent= */ i % 2 == 0);
        assert_int_equal(wr_shard_write(&a, s.img, &sh, NULL, &err), 0);
        check_file("a", s.img, &sh);
        check_reads(st, "a", &sh, WR_CHUNK);
        assert_int_equal(wr_shard_copy(&(struct wr_way){a, b, false}, &sh,
                                       WR_CHUNK, NULL, &err),
                         0);
        check_file("b", s.img, &sh);
        free(sh.crcs);
        scene_end(&s);
    }
    st->ops = &wr_storage_file;
    wr_store_close(st);
}

/* --- files of others: any chunk, any start of the data --- */

static void make_foreign(uint64_t data_offset, uint64_t bytes, uint32_t chunk,
                         struct wr_st_shard *ret)
{
    uint64_t size = data_offset + bytes;
    uint8_t *file = malloc((size_t)size + 1);
    size_t k = 0;

    assert_non_null(file);
    fill_random(file, (size_t)size, size);
    *ret = (struct wr_st_shard){.size = size, .data_offset = data_offset};
    ret->head_crc = wr_crc32c(0, file, (size_t)data_offset);
    ret->crcs = calloc((size_t)(bytes / chunk + 1), sizeof(uint32_t));
    for (uint64_t at = data_offset; at < size; at += chunk, k++)
        ret->crcs[k] = wr_crc32c(
            0, file + at, (size_t)(size - at < chunk ? size - at : chunk));
    spill("a", file, size);
    free(file);
}

static void files_of_others(void **state)
{
    static const struct {
        uint64_t data_offset, bytes;
        uint32_t chunk;
    } cases[] = {
        {8, 0, 64 * KIB},           {9, 1, 64 * KIB},
        {4096, 1000000, 64 * KIB},  {1001, 5000001, 64 * KIB},
        {1001, 5000001, 64 * MIB},  {5 * MIB + 7, 40 * MIB, 1 * MIB},
        {4096, 70 * MIB, 64 * MIB}, {12288, 34 * MIB, 128 * KIB},
    };
    struct wr_store *st = open_store("");
    struct wr_shard_at a = {st, "a"}, b = {st, "b"};
    weir_err err = {0};

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_st_shard sh;
        uint64_t la, lb;
        uint8_t *fa, *fb;

        make_foreign(cases[i].data_offset, cases[i].bytes, cases[i].chunk, &sh);
        check_reads(st, "a", &sh, cases[i].chunk);
        assert_int_equal(wr_shard_copy(&(struct wr_way){a, b, false}, &sh,
                                       cases[i].chunk, NULL, &err),
                         0);
        fa = slurp("a", &la);
        fb = slurp("b", &lb);
        assert_int_equal(la, lb);
        assert_memory_equal(fa, fb, (size_t)la);
        free(fa);
        free(fb);
        free(sh.crcs);
    }
    wr_store_close(st);
}

/* --- damage --- */

static void expect_damage(struct wr_store *st, const struct wr_st_shard *sh,
                          const char *text)
{
    uint64_t bytes = sh->size - sh->data_offset;
    struct wr_shard_at a = {st, "a"}, b = {st, "b"};
    uint8_t *to = malloc((size_t)bytes);
    struct wr_stretch all = {0, bytes, to};
    weir_err err = {0};

    assert_int_equal(wr_shard_read(&a, sh, 1 * MIB, NULL, 0, NULL, &err),
                     WEIR_EDAMAGED);
    assert_string_equal(err.msg, text);
    err.msg[0] = '\0';
    assert_int_equal(wr_shard_read(&a, sh, 1 * MIB, &all, 1, NULL, &err),
                     WEIR_EDAMAGED);
    assert_string_equal(err.msg, text);
    err.msg[0] = '\0';
    assert_int_equal(
        wr_shard_copy(&(struct wr_way){a, b, false}, sh, 1 * MIB, NULL, &err),
        WEIR_EDAMAGED);
    assert_string_equal(err.msg, text);
    free(to);
}

static void damage_is_named(void **state)
{
    static const struct {
        uint64_t at;
        const char *text;
    } cases[] = {
        {0, "'a': checksum mismatch in bytes 0 to 5000"},
        {4999, "'a': checksum mismatch in bytes 0 to 5000"},
        {5000, "'a': checksum mismatch in bytes 5000 to 1053576"},
        {1053575, "'a': checksum mismatch in bytes 5000 to 1053576"},
        {1053576, "'a': checksum mismatch in bytes 1053576 to 2102152"},
        {6005000, "'a': checksum mismatch in bytes 5247880 to 6005001"},
    };
    struct wr_store *st = open_store("");
    struct wr_shard_at a = {st, "a"};
    struct wr_st_shard sh;
    uint8_t byte;
    struct wr_stretch first = {1000, 1001, &byte};
    weir_err err = {0};

    (void)state;
    make_foreign(5000, 6000001, 1 * MIB, &sh);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        flip("a", cases[i].at);
        expect_damage(st, &sh, cases[i].text);
        /* What is not wanted is not looked at; the head always is. */
        assert_int_equal(wr_shard_read(&a, &sh, 1 * MIB, &first, 1, NULL, &err),
                         cases[i].at < 1053576 ? WEIR_EDAMAGED : 0);
        flip("a", cases[i].at);
    }
    assert_int_equal(truncate("a", 6000000), 0);
    expect_damage(st, &sh, "'a': ends at byte 6000000, should have 6005001");
    sh.data_offset = sh.size + 1;
    assert_int_equal(wr_shard_read(&a, &sh, 1 * MIB, NULL, 0, NULL, &err),
                     WEIR_EFORMAT);
    free(sh.crcs);
    wr_store_close(st);
}

static void bad_reads_are_noticed(void **state)
{
    struct wr_store *st = open_store("fault:flip@5:");
    struct wr_shard_at a = {st, "a"}, b = {st, "b"};
    struct wr_st_shard sh;
    weir_err err = {0};

    (void)state;
    make_foreign(4096, 12 * MIB, 1 * MIB, &sh);
    assert_int_equal(wr_shard_read(&a, &sh, 1 * MIB, NULL, 0, NULL, &err),
                     WEIR_EDAMAGED);
    wr_store_close(st);
    st = open_store("fault:eio@3:");
    a.store = b.store = st;
    assert_int_equal(wr_shard_read(&a, &sh, 1 * MIB, NULL, 0, NULL, &err),
                     WEIR_EIO);
    assert_non_null(strstr(err.msg, "'a': cannot read"));
    wr_store_close(st);
    st = open_store("fault:eio@2:");
    a.store = b.store = st;
    assert_int_equal(
        wr_shard_copy(&(struct wr_way){a, b, false}, &sh, 1 * MIB, NULL, &err),
        WEIR_EIO);
    wr_store_close(st);
    free(sh.crcs);
}

/* --- writes and syncs that fail --- */

static int write_with(const char *prefix, uint64_t bytes, uint64_t *retried,
                      weir_err *err)
{
    struct wr_store *st = open_store(prefix);
    struct wr_shard_at a = {st, "a"};
    struct wr_st_shard sh = {0};
    struct scene s;
    int r;

    scene_start(&s, bytes);
    r = wr_shard_write(&a, s.img, &sh, retried, err);
    if (r == 0) {
        check_file("a", s.img, &sh);
        free(sh.crcs);
    } else {
        assert_null(sh.crcs); /* untouched */
        assert_int_equal(sh.size, 0);
    }
    scene_end(&s);
    wr_store_close(st);
    return r;
}

/* 20 MiB + 1: five whole chunks, a byte, the head: 7 writes. */
static void every_write_may_fail(void **state)
{
    char prefix[64], wanted[64];
    weir_err err = {0};

    (void)state;
    for (unsigned n = 1; n <= 7; n++) {
        snprintf(prefix, sizeof(prefix), "fault:write-eio@%u:", n);
        assert_int_equal(write_with(prefix, 20 * MIB + 1, NULL, &err),
                         WEIR_EIO);
        snprintf(wanted, sizeof(wanted), "at offset %" PRIu64,
                 n == 7 ? 0 : 4096 + (n - 1) * 4 * MIB);
        assert_non_null(strstr(err.msg, wanted));
        assert_non_null(strstr(err.msg, "'a': cannot write"));
        snprintf(prefix, sizeof(prefix), "fault:write-enospc@%u:", n);
        assert_int_equal(write_with(prefix, 20 * MIB + 1, NULL, &err),
                         WEIR_ENOSPC);
        snprintf(prefix, sizeof(prefix), "fault:write-short@%u:", n);
        assert_int_equal(write_with(prefix, 20 * MIB + 1, NULL, &err),
                         WEIR_EIO);
    }
    assert_int_equal(write_with("fault:write-eio@8:", 20 * MIB + 1, NULL, &err),
                     0);
}

static void a_failed_sync_means_a_new_file(void **state)
{
    uint64_t retried = 0;
    weir_err err = {0};
    struct stat before, after;
    int old;

    (void)state;
    spill("a", "old", 3);
    old = open("a", O_RDONLY); /* keeps its number */
    assert_int_equal(fstat(old, &before), 0);
    assert_int_equal(write_with("fault:sync-eio@1:", 9 * MIB, &retried, &err),
                     0);
    assert_int_equal(retried, 1);
    assert_int_equal(stat("a", &after), 0);
    assert_int_not_equal(before.st_ino, after.st_ino);
    close(old);
    retried = 0;
    assert_int_equal(write_with("fault:sync-eio:", 9 * MIB, &retried, &err),
                     WEIR_EIO);
    assert_int_equal(retried, 1);
    assert_non_null(strstr(err.msg, "'a': cannot sync"));
}

static void a_failed_sync_of_a_copy(void **state)
{
    struct wr_store *st = open_store("fault:sync-eio@1:");
    struct wr_shard_at a = {st, "a"}, b = {st, "b"};
    uint64_t told = 0, la, lb;
    struct wr_byte_meter meter = {count_bytes, &told};
    struct wr_st_shard sh;
    weir_err err = {0};
    uint8_t *fa, *fb;

    (void)state;
    make_foreign(4096, 12 * MIB + 5, 4 * MIB, &sh);
    assert_int_equal(wr_shard_copy(&(struct wr_way){a, b, false}, &sh, 4 * MIB,
                                   &meter, &err),
                     0);
    assert_int_equal(told, sh.size);
    fa = slurp("a", &la);
    fb = slurp("b", &lb);
    assert_int_equal(la, lb);
    assert_memory_equal(fa, fb, (size_t)la);
    free(fa);
    free(fb);
    wr_store_close(st);
    for (unsigned i = 0; i < 2; i++) {
        st = open_store(i ? "fault:sync-eio:" : "fault:write-eio@3:");
        a.store = b.store = st;
        assert_int_equal(wr_shard_copy(&(struct wr_way){a, b, false}, &sh,
                                       4 * MIB, NULL, &err),
                         WEIR_EIO);
        assert_non_null(strstr(err.msg, "'b': cannot"));
        wr_store_close(st);
    }
    free(sh.crcs);
}

static int end_it(void *arg, uint64_t bytes)
{
    (void)bytes;
    return ++*(int *)arg == 2;
}

static void the_meter_may_end_it(void **state)
{
    struct wr_store *st = open_store("");
    struct wr_shard_at a = {st, "a"}, b = {st, "b"};
    int calls = 0;
    struct wr_byte_meter meter = {end_it, &calls};
    struct wr_st_shard sh;
    weir_err err = {0};

    (void)state;
    make_foreign(4096, 40 * MIB, 4 * MIB, &sh);
    assert_int_equal(wr_shard_read(&a, &sh, 4 * MIB, NULL, 0, &meter, &err),
                     WEIR_ECANCELED);
    calls = 0;
    assert_int_equal(wr_shard_copy(&(struct wr_way){a, b, false}, &sh, 4 * MIB,
                                   &meter, &err),
                     WEIR_ECANCELED);
    free(sh.crcs);
    wr_store_close(st);
}

static void missing_files_and_folders(void **state)
{
    struct wr_store *st = open_store("");
    struct wr_shard_at none = {st, "none"}, deep = {st, "none/a"},
                       a = {st, "a"};
    struct wr_st_shard sh, got = {0};
    weir_err err = {0};
    struct scene s;

    (void)state;
    make_foreign(4096, 1000, 64 * KIB, &sh);
    assert_int_equal(wr_shard_read(&none, &sh, 64 * KIB, NULL, 0, NULL, &err),
                     WEIR_ENOENT);
    assert_int_equal(wr_shard_copy(&(struct wr_way){none, a, false}, &sh,
                                   64 * KIB, NULL, &err),
                     WEIR_ENOENT);
    assert_int_equal(wr_shard_copy(&(struct wr_way){a, deep, false}, &sh,
                                   64 * KIB, NULL, &err),
                     WEIR_ENOENT);
    scene_start(&s, 10);
    assert_int_equal(wr_shard_write(&deep, s.img, &got, NULL, &err),
                     WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "none/a"));
    scene_end(&s);
    free(sh.crcs);
    wr_store_close(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(there_and_back, clean),
        cmocka_unit_test_teardown(there_and_back_emulated, clean),
        cmocka_unit_test_teardown(there_and_back_blocking, clean),
        cmocka_unit_test_teardown(files_of_others, clean),
        cmocka_unit_test_teardown(damage_is_named, clean),
        cmocka_unit_test_teardown(bad_reads_are_noticed, clean),
        cmocka_unit_test_teardown(every_write_may_fail, clean),
        cmocka_unit_test_teardown(a_failed_sync_means_a_new_file, clean),
        cmocka_unit_test_teardown(a_failed_sync_of_a_copy, clean),
        cmocka_unit_test_teardown(the_meter_may_end_it, clean),
        cmocka_unit_test_teardown(missing_files_and_folders, clean),
    };

    return cmocka_run_group_tests_name("shard", tests, setup, teardown);
}
