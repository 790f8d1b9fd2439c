/* test_cache_dir.c - a tier in a folder: budget, sharing, damage.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cachekit.h"

#define MB (UINT64_C(1) << 20)

static _Thread_local uint64_t du_bytes;

static int add_blocks(const char *path, const struct stat *sb, int flag,
                      struct FTW *ftw)
{
    (void)path;
    (void)flag;
    (void)ftw;
    du_bytes += (uint64_t)sb->st_blocks * 512;
    return 0;
}

static uint64_t du(const struct kit *k)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/weir-cache-%u", k->dir,
             (unsigned)geteuid());
    du_bytes = 0;
    nftw(path, add_blocks, 16, FTW_PHYS);
    return du_bytes;
}

static void put_all(const struct kit *k, struct wr_cache *c)
{
    for (uint64_t id = 0; id < k->cfg.samples; id++)
        kit_put(k, c, id);
}

static uint64_t damaged(struct wr_cache *c)
{
    struct wr_cache_stats s;

    wr_cache_tier_stats(c, 0, &s);
    return s.damaged;
}

static uint64_t entries(struct wr_cache *c)
{
    struct wr_cache_stats s;

    wr_cache_tier_stats(c, 0, &s);
    return s.entries;
}

/* --- what it holds --- */

static void test_outlives_the_process(void **state)
{
    struct wr_cache *c;
    struct kit k;

    (void)state;
    kit_init(&k, "8MiB", 500, 0);
    c = kit_open(&k);
    put_all(&k, c);
    assert_int_equal(kit_count(&k, c, NULL), 500);
    wr_cache_close(c);
    c = kit_open(&k);
    assert_int_equal(entries(c), 500);
    assert_int_equal(kit_count(&k, c, NULL), 500);
    assert_false(wr_cache_wants(c, 3, kit_len(&k, 3)));
    assert_int_equal(damaged(c), 0);
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

static void fill_to_budget(const char *size, uint64_t budget,
                           size_t sample_bytes)
{
    struct wr_cache_stats s;
    struct wr_cache *c;
    struct kit k;
    uint64_t found;

    kit_init(&k, size, 12000, sample_bytes);
    for (unsigned round = 0; round < 3; round++) { /* again on what is there */
        c = kit_open(&k);
        put_all(&k, c);
        found = kit_count(&k, c, NULL);
        assert_true(found > 50 && found < 12000);
        wr_cache_tier_stats(c, 0, &s);
        assert_int_equal(s.entries, found);
        assert_true(s.bytes <= budget);
        assert_true(du(&k) <= budget + budget / 100);
        if (!sample_bytes) /* the last sample leaves less than 150 KB */
            assert_true(du(&k) >= budget - budget / 100);
        wr_cache_close(c);
    }
    kit_wipe(&k, /* self= */ true);
}

static void test_budget(void **state)
{
    (void)state;
    fill_to_budget("16MiB", 16 * MB, 0);
    fill_to_budget("16MiB", 16 * MB, 150528);
    fill_to_budget("5000KiB", 5000 << 10, 3072);
}

/* --- other data sets --- */

static void test_others_are_counted(void **state)
{
    struct wr_cache *a, *b;
    struct kit k, other;

    (void)state;
    kit_init(&k, "4MiB", 2000, 0);
    a = kit_open(&k);
    for (uint64_t id = 0; id < 1000; id++)
        kit_put(&k, a, id);
    assert_int_equal(entries(a), 1000); /* about 3 MB */
    other = k;
    other.cfg.spec = other.spec;
    other.cfg.fingerprint++;
    other.cfg.name = "another";
    other.seed = 77;
    b = kit_open(&other);
    assert_int_equal(kit_count(&other, b, NULL), 0);
    put_all(&other, b);
    assert_true(entries(b) > 200 && entries(b) < 500);
    assert_true(du(&k) <= 4 * MB + 4 * MB / 100);
    wr_cache_close(b);
    wr_cache_close(a);
    a = kit_open(&k); /* nothing was taken away */
    b = kit_open(&other);
    assert_int_equal(kit_count(&k, a, NULL), 1000);
    assert_true(kit_count(&other, b, NULL) > 200);
    wr_cache_close(a);
    wr_cache_close(b);
    kit_wipe(&k, /* self= */ true);
}

static void test_stale_ones_go(void **state)
{
    struct wr_cache *a, *b;
    struct kit k, newer, nameless;

    (void)state;
    kit_init(&k, "4MiB", 1000, 0);
    a = kit_open(&k);
    put_all(&k, a);
    newer = k;
    newer.cfg.spec = newer.spec;
    newer.cfg.fingerprint++;
    b = kit_open(&newer); /* `a` holds the old one */
    wr_cache_close(b);
    assert_int_equal(kit_count(&k, a, NULL), 1000);
    wr_cache_close(a);
    nameless = newer;
    nameless.cfg.spec = nameless.spec;
    nameless.cfg.name = NULL;
    nameless.cfg.fingerprint++;
    a = kit_open(&nameless);
    wr_cache_close(a);
    assert_true(du(&k) > 2 * MB);
    b = kit_open(&newer);
    assert_true(du(&k) < MB / 4);
    wr_cache_close(b);
    a = kit_open(&k);
    assert_int_equal(kit_count(&k, a, NULL), 0);
    put_all(&k, a);
    assert_int_equal(kit_count(&k, a, NULL), 1000);
    wr_cache_close(a);
    kit_wipe(&k, /* self= */ true);
}

/* --- damage --- */

static void test_damaged_data(void **state)
{
    struct wr_cache_hit hit;
    struct wr_cache *c;
    char data[512];
    struct kit k;

    (void)state;
    kit_init(&k, "8MiB", 100, 1000);
    c = kit_open(&k);
    put_all(&k, c);
    assert_true(kit_file(&k, "data-0000", data, sizeof(data)));
    for (uint64_t id = 0; id < 100; id += 10) {
        assert_true(wr_cache_find(c, id, &hit));
        kit_flip(data, hit.offset + id * 10, 1);
        assert_int_equal(kit_get(&k, c, id), KIT_DAMAGED);
        assert_int_equal(kit_get(&k, c, id), KIT_MISS);
        assert_int_equal(damaged(c), id / 10 + 1);
        assert_int_equal(entries(c), 99);
        assert_true(wr_cache_wants(c, id, 1000));
        kit_put(&k, c, id);
        assert_int_equal(kit_get(&k, c, id), KIT_GOOD);
    }
    assert_int_equal(kit_count(&k, c, NULL), 100);
    /* A read that failed, and two who saw the same damage. */
    assert_true(wr_cache_find(c, 5, &hit));
    assert_false(wr_cache_check(c, 5, &hit, NULL));
    assert_false(wr_cache_check(c, 5, &hit, NULL));
    assert_int_equal(damaged(c), 11);
    wr_cache_close(c);
    /* Cut: what lay behind the end is not found. */
    assert_int_equal(truncate(data, 50 * 1024), 0);
    c = kit_open(&k);
    assert_int_equal(kit_count(&k, c, NULL), entries(c));
    assert_true(entries(c) > 40 && entries(c) < 60);
    assert_int_equal(truncate(data, 20 * 1024), 0); /* and while it is open */
    assert_true(kit_count(&k, c, NULL) < 25);
    wr_cache_close(c);
    assert_int_equal(unlink(data), 0);
    c = kit_open(&k);
    assert_int_equal(kit_count(&k, c, NULL), 0);
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

struct blob {
    char path[512];
    uint8_t bytes[16384];
    size_t len;
};

static void load(struct blob *b)
{
    FILE *f = fopen(b->path, "rb");

    assert_non_null(f);
    b->len = fread(b->bytes, 1, sizeof(b->bytes), f);
    fclose(f);
}

/* Written over, not cut first: file systems sync what was cut. */
static void save(const struct blob *b)
{
    int fd = open(b->path, O_WRONLY | O_CREAT, 0666);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, b->bytes, b->len, 0), b->len);
    assert_int_equal(ftruncate(fd, (off_t)b->len), 0);
    close(fd);
}

/* Whatever byte of the map is wrong: what is found is right. */
static void test_damaged_map(void **state)
{
    static struct blob map, data;
    const char *tmp = getenv("TMPDIR");
    struct wr_cache *c;
    struct kit k;

    (void)state;
    if (!tmp && access("/dev/shm", W_OK) == 0) /* 4,000 maps made anew */
        setenv("TMPDIR", "/dev/shm", 1);
    kit_init(&k, "1MiB", 8, 100);
    if (!tmp)
        unsetenv("TMPDIR");
    c = kit_open(&k);
    put_all(&k, c);
    wr_cache_close(c);
    assert_true(kit_file(&k, "map", map.path, sizeof(map.path)));
    assert_true(kit_file(&k, "data-0000", data.path, sizeof(data.path)));
    load(&map);
    load(&data);
    assert_int_equal(map.len, 4096 + 8 * 24);
    for (size_t at = 0; at < map.len; at++) {
        uint64_t found;

        save(&map);
        save(&data);
        kit_flip(map.path, at, at % 2 ? 0xff : 0x10);
        c = kit_open(&k);
        found = kit_count(&k, c, NULL);
        /* The header proper, counters that are counted anew, entries. */
        assert_int_equal(found, at < 4032 ? 0 : at < 4096 ? 8 : 7);
        assert_int_equal(entries(c), found);
        put_all(&k, c);
        assert_int_equal(kit_count(&k, c, NULL), 8);
        wr_cache_close(c);
    }
    kit_wipe(&k, /* self= */ true);
}

/* A map of a wrong length, and one that is damaged while others hold it. */
static void test_lying_map(void **state)
{
    struct wr_cache *a, *b;
    char map[512];
    struct kit k;
    weir_err err;

    (void)state;
    kit_init(&k, "1MiB", 20, 0);
    a = kit_open(&k);
    put_all(&k, a);
    assert_true(kit_file(&k, "map", map, sizeof(map)));
    kit_flip(map, 17, 1);
    b = kit_open(&k);
    assert_int_equal(kit_count(&k, b, NULL), 0);
    assert_false(wr_cache_wants(b, 1, 10));
    kit_put(&k, b, 1);
    assert_int_equal(wr_cache_error(b, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "the map"));
    assert_non_null(strstr(err.msg, k.dir));
    wr_cache_close(b);
    assert_int_equal(kit_count(&k, a, NULL), 20); /* it knows better */
    kit_flip(map, 4096 + 3 * 24 + 9, 1);
    assert_int_equal(kit_get(&k, a, 3), KIT_MISS);
    assert_int_equal(damaged(a), 1);
    wr_cache_close(a);
    for (off_t len = 0; len < 5000; len += 1000) {
        assert_int_equal(truncate(map, len), 0);
        a = kit_open(&k);
        assert_int_equal(kit_count(&k, a, NULL), 0);
        assert_int_equal(wr_cache_error(a, NULL), 0);
        put_all(&k, a);
        wr_cache_close(a);
    }
    k.cfg.samples = 21; /* the same place, but not the same data set */
    a = kit_open(&k);
    assert_int_equal(kit_count(&k, a, NULL), 0);
    wr_cache_close(a);
    kit_wipe(&k, /* self= */ true);
}

/* --- places that cannot be written --- */

#define UNREACHABLE 77

/* As a user who may not write; root has no such places. */
static int read_only_child(const struct kit *k, bool exists)
{
    struct wr_cache *c = NULL;
    weir_err err;
    int r;

    if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
        return UNREACHABLE;
    if (exists && access(k->dir, R_OK | X_OK))
        return UNREACHABLE; /* a root folder for root alone, say */
    r = wr_cache_open(&c, &k->cfg, &err);
    if (!exists)
        return r == WEIR_EACCES && strstr(err.msg, k->dir) ? 0 : 1;
    if (r < 0)
        return 2;
    if (kit_count(k, c, NULL) != 50 || wr_cache_wants(c, 60, 10))
        return 3;
    kit_put(k, c, 60);
    if (wr_cache_error(c, &err) != WEIR_EACCES)
        return 4;
    /* What is damaged is not found again, though it cannot be mended. */
    struct wr_cache_hit hit;
    if (!wr_cache_find(c, 7, &hit) || wr_cache_check(c, 7, &hit, NULL) ||
        wr_cache_find(c, 7, &hit))
        return 5;
    wr_cache_close(c);
    return 0;
}

static int run_child(const struct kit *k, bool exists)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(read_only_child(k, exists));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void test_read_only(void **state)
{
    char cmd[600];
    struct wr_cache *c;
    struct kit k;
    int r;

    (void)state;
    kit_init(&k, "1MiB:share=all", 100, 0);
    chmod(k.dir, 0555);
    assert_int_equal(run_child(&k, /* exists= */ false), 0);
    chmod(k.dir, 0755);
    c = kit_open(&k);
    for (uint64_t id = 0; id < 50; id++)
        kit_put(&k, c, id);
    wr_cache_close(c);
    snprintf(cmd, sizeof(cmd), "chmod -R a-w,a+rX '%s'", k.dir);
    assert_int_equal(system(cmd), 0);
    r = run_child(&k, /* exists= */ true);
    if (r == UNREACHABLE)
        print_message("another user cannot look into '%s': left out\n", k.dir);
    else
        assert_int_equal(r, 0);
    snprintf(cmd, sizeof(cmd), "chmod -R u+w '%s'", k.dir);
    assert_int_equal(system(cmd), 0);
    c = kit_open(&k); /* nothing of that was written */
    assert_int_equal(kit_count(&k, c, NULL), 50);
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

/* Who owns a shared map may cut it while others look at it: they have a copy,
 * and a mapping would end them by SIGBUS. */
static void test_cut_while_it_is_read(void **state)
{
    char path[512];
    struct wr_cache *c;
    struct kit k;
    int status;
    pid_t pid;

    (void)state;
    kit_init(&k, "1M:share=all", 100, 0);
    chmod(k.dir, 0755);
    c = kit_open(&k);
    put_all(&k, c);
    wr_cache_close(c);
    assert_true(kit_file(&k, "map", path, sizeof(path)));
    pid = fork();
    if (pid == 0) {
        int fd = open(path, O_WRONLY); /* what its owner could do */
        if (geteuid() != 0 || setgid(65534) || setuid(65534) ||
            access(path, R_OK))
            _exit(UNREACHABLE);
        c = kit_open(&k);
        _exit(fd < 0 || ftruncate(fd, 0) || kit_count(&k, c, NULL) != 100);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    kit_wipe(&k, /* self= */ true);
    if (WIFEXITED(status) && WEXITSTATUS(status) == UNREACHABLE)
        skip();
    assert_int_equal(status, 0);
}

static void expect_stopped(const struct kit *k, struct wr_cache *c, int code)
{
    uint64_t before;
    weir_err err;

    put_all(k, c);
    assert_int_equal(wr_cache_error(c, &err), code);
    assert_non_null(strstr(err.msg, "data-0000"));
    assert_non_null(strstr(err.msg, k->dir));
    before = kit_count(k, c, NULL); /* reads go on */
    assert_true(before > 20 && before < k->cfg.samples);
    assert_false(wr_cache_wants(c, k->cfg.samples - 1, 10));
    assert_int_equal(entries(c), before);
}

/* A tmpfs of 2 MB; it goes with the process that has it. */
static void test_full_disk(void **state)
{
    struct wr_cache *c;
    struct kit k;

    (void)state;
    kit_init(&k, "64MiB", 5000, 0);
    if (geteuid() != 0 || unshare(CLONE_NEWNS) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("weir-test", k.dir, "tmpfs", 0, "size=2m")) {
        kit_wipe(&k, /* self= */ true);
        print_message("a small tmpfs cannot be mounted here: it takes root\n");
        skip();
    }
    c = kit_open(&k);
    expect_stopped(&k, c, WEIR_ENOSPC);
    wr_cache_close(c);
    c = kit_open(&k); /* and those that are there stay good */
    assert_true(kit_count(&k, c, NULL) > 20);
    wr_cache_close(c);
    /* Not even room for the map. */
    kit_wipe(&k, /* self= */ false);
    k.cfg.samples = 200000;
    c = NULL;
    assert_int_equal(wr_cache_open(&c, &k.cfg, NULL), WEIR_ENOSPC);
    assert_int_equal(umount(k.dir), 0);
    kit_wipe(&k, /* self= */ true);
}

/* Files may not grow beyond 1 MB: writing fails in another way. */
static void test_write_error(void **state)
{
    struct rlimit old, few;
    struct wr_cache *c;
    struct kit k;

    (void)state;
    kit_init(&k, "64MiB", 5000, 0);
    c = kit_open(&k);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    few = old;
    few.rlim_cur = MB;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    expect_stopped(&k, c, WEIR_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

/* Faults of the storage reach the reader, and the checksum sees them. */
static void test_fault_storage(void **state)
{
    struct wr_cache *c;
    char spec[600];
    uint64_t bad;
    struct kit k;

    (void)state;
    kit_init(&k, "4MiB", 200, 1000);
    c = kit_open(&k);
    put_all(&k, c);
    wr_cache_close(c);
    snprintf(spec, sizeof(spec), "fault:flip@%%10:%s:4MiB", k.dir);
    k.cfg.spec = spec;
    c = kit_open(&k);
    assert_int_equal(kit_count(&k, c, &bad), 180);
    assert_int_equal(bad, 20);
    assert_int_equal(damaged(c), 20);
    wr_cache_close(c);
    snprintf(spec, sizeof(spec), "fault:eio@~data-0000:%s:4MiB", k.dir);
    c = kit_open(&k);
    put_all(&k, c); /* the 20, into data-0001 */
    assert_int_equal(kit_count(&k, c, &bad), 20);
    assert_int_equal(bad, 180);
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

/* --- threads --- */

struct crew {
    struct wr_cache *c;
    struct kit k;
    atomic_uint_fast64_t good, lies;
    atomic_uint turn;
};

static void *put_and_find(void *arg)
{
    struct crew *w = arg;
    uint64_t n = w->k.cfg.samples, step = 2 * atomic_fetch_add(&w->turn, 1) + 1;
    struct wr_rng rng = {.seed = step};

    for (uint64_t i = 0, id = step; i < n; i++, id = (id + step) % n) {
        enum kit_found f;

        if (wr_cache_wants(w->c, id, kit_len(&w->k, id)))
            kit_put(&w->k, w->c, id);
        f = kit_get(&w->k, w->c, wr_rng_below(&rng, n));
        if (f == KIT_GOOD)
            atomic_fetch_add(&w->good, 1);
        else if (f != KIT_MISS)
            atomic_fetch_add(&w->lies, 1);
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct wr_cache_stats s;
    pthread_t threads[4];
    struct crew w = {0};

    (void)state;
    kit_init(&w.k, "4MiB", 2048, 0);
    w.k.cfg.spec = w.k.spec;
    w.c = kit_open(&w.k);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_and_find, &w),
                         0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(w.lies, 0);
    wr_cache_tier_stats(w.c, 0, &s);
    assert_int_equal(s.hits, w.good);
    assert_int_equal(s.damaged, 0);
    assert_true(s.bytes <= 4 * MB && s.bytes >= 4 * MB - 4 * MB / 20);
    assert_int_equal(kit_count(&w.k, w.c, NULL), s.entries);
    wr_cache_close(w.c);
    kit_wipe(&w.k, /* self= */ true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outlives_the_process),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_others_are_counted),
        cmocka_unit_test(test_stale_ones_go),
        cmocka_unit_test(test_damaged_data),
        cmocka_unit_test(test_damaged_map),
        cmocka_unit_test(test_lying_map),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_cut_while_it_is_read),
        cmocka_unit_test(test_write_error),
        cmocka_unit_test(test_fault_storage),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_full_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
