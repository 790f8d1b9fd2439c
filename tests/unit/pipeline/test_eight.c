/* test_eight.c - eight pipelines in one process share what it has.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/shares.h"
#include "fixture.h"
#include "golden_sets.h"
#include "pipeline/arena.h"
#include "storage/device.h"

#define EIGHT 8
#define MB    (UINT64_C(1) << 20)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* One pipeline and the thread that takes its batches. */
struct feed {
    const struct fx *fx;
    weir_pipeline *p;
    pthread_t thread;
    struct fx_log log;
    weir_stats stats;
    int result;
};

static void *take_all(void *arg)
{
    struct feed *f = arg;
    weir_err err;

    f->result = fx_take(f->fx, f->p, SIZE_MAX, &f->log, &err);
    weir_pipeline_stats(f->p, &f->stats);
    return NULL;
}

static void open_eight(struct feed *feeds, const struct fx *fx,
                       weir_dataset *const *ds, weir_pipeline_config *cfg)
{
    for (unsigned i = 0; i < EIGHT; i++) {
        cfg->seed = i;
        feeds[i] = (struct feed){.fx = fx, .p = fx_start(ds[i], cfg)};
    }
}

/* Takes all batches of all, at once, and checks that each sample came once. */
static void drain_eight(struct feed *feeds, uint32_t n)
{
    bool *bad = calloc(n, sizeof(*bad));

    alarm(300); /* rather than hang */
    for (unsigned i = 0; i < EIGHT; i++)
        assert_int_equal(
            pthread_create(&feeds[i].thread, NULL, take_all, &feeds[i]), 0);
    for (unsigned i = 0; i < EIGHT; i++)
        pthread_join(feeds[i].thread, NULL);
    alarm(0);
    for (unsigned i = 0; i < EIGHT; i++) {
        assert_int_equal(feeds[i].result, 0);
        fx_assert_once(feeds[i].log.ids, feeds[i].log.id_count, bad, n);
        fx_log_done(&feeds[i].log);
    }
    free(bad);
}

static void close_eight(struct feed *feeds)
{
    for (unsigned i = 0; i < EIGHT; i++)
        weir_pipeline_close(&feeds[i].p);
}

static struct wr_account *account(enum wr_share kind)
{
    return &wr_shares_get()->accounts[kind];
}

static uint64_t taken(enum wr_share kind)
{
    return account(kind)->taken;
}

static void assert_all_given_back(void)
{
    for (int k = 0; k < WR_SHARE_KINDS; k++)
        assert_int_equal(taken((enum wr_share)k), 0);
}

static void open_sets(const struct fx *fx, const char *prefix,
                      weir_dataset **ds)
{
    for (unsigned i = 0; i < EIGHT; i++)
        ds[i] = fx_open(fx, prefix);
}

static void close_sets(weir_dataset **ds)
{
    for (unsigned i = 0; i < EIGHT; i++)
        weir_dataset_close(&ds[i]);
}

static void set_auto(weir_pipeline_config *cfg)
{
    cfg->threads = WEIR_AUTO;
    cfg->depth = WEIR_AUTO;
    cfg->prefetch = WEIR_AUTO;
}

static uint64_t memory_line(const char *name)
{
    FILE *f = fopen("/proc/self/status", "r");
    unsigned long long kb = 0;
    char line[200];

    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, name, strlen(name)))
            kb = strtoull(line + strlen(name), NULL, 10);
    if (f)
        fclose(f);
    return kb * 1024;
}

/* From here on VmHWM is what is resident at most. */
static void forget_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");

    if (f) {
        fputs("5", f);
        fclose(f);
    }
}

/* A megabyte each, of which a ring wants 32 twice: eight pipelines of two
 * threads would want a gigabyte, and the process has 48 MB. */
static void memory_is_shared(void **state)
{
    const uint64_t room = 48 * MB;
    struct feed feeds[EIGHT];
    weir_dataset *ds[EIGHT];
    weir_pipeline_config cfg;
    uint64_t others, sum, before;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_BLOBS, 64, 1);
    for (uint32_t i = 0; i < 64; i++)
        fx_write(&fx, i, MB);
    open_sets(&fx, "", ds);
    fx_config(&fx, &cfg);
    cfg.depth = 32;
    cfg.batch = 2;
    others = wr_share_left(WR_SHARE_MEMORY) - room;
    wr_share_take_anyway(WR_SHARE_MEMORY, others);
    forget_peak();
    before = memory_line("VmRSS:");
    open_eight(feeds, &fx, ds, &cfg);
    sum = taken(WR_SHARE_MEMORY) - others;
    assert_true(sum > 0);
    /* Beyond the budget there is only what they cannot do without. */
    assert_true(sum <= room + EIGHT * (2 * 2 * MB + 3 * 2 * MB));
    drain_eight(feeds, 64);
    if (!SANITIZED)
        assert_true(memory_line("VmHWM:") <= before + sum + 64 * MB);
    close_eight(feeds);
    assert_int_equal(taken(WR_SHARE_MEMORY), others);
    wr_share_give(WR_SHARE_MEMORY, others);
    assert_all_given_back();
    close_sets(ds);
    fx_done(&fx);
}

/* Nothing is left at all: one sample and one batch at a time is always
 * possible, and what is left to the library begins small. */
static void none_left_is_no_failure(void **state)
{
    struct feed feeds[EIGHT];
    weir_dataset *ds[EIGHT];
    weir_pipeline_config cfg;
    uint64_t others = wr_share_left(WR_SHARE_MEMORY);
    unsigned workers = 0;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_JPEGS, 100, 1);
    for (uint32_t i = 0; i < 100; i += 9)
        fx_write(&fx, i, 3 * MB); /* larger than the smallest ring */
    open_sets(&fx, "", ds);
    fx_config(&fx, &cfg);
    set_auto(&cfg);
    wr_share_take_anyway(WR_SHARE_MEMORY, others);
    open_eight(feeds, &fx, ds, &cfg);
    for (unsigned i = 0; i < EIGHT; i++) {
        weir_pipeline_stats(feeds[i].p, &feeds[i].stats);
        workers += feeds[i].stats.workers;
    }
    assert_true(workers <= wr_share_all(WR_SHARE_THREADS) + EIGHT);
    drain_eight(feeds, 100);
    close_eight(feeds);
    wr_share_give(WR_SHARE_MEMORY, others);
    assert_all_given_back();
    close_sets(ds);
    fx_done(&fx);
}

/* What others leave is taken: the ring of a pipeline that began with little
 * grows. */
static void what_comes_back_is_taken(void **state)
{
    uint64_t others = wr_share_left(WR_SHARE_MEMORY), little;
    const weir_batch *batch;
    weir_pipeline_config cfg;
    weir_dataset *ds;
    weir_pipeline *p;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_BLOBS, 64, 1);
    for (uint32_t i = 0; i < 64; i++)
        fx_write(&fx, i, MB);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    cfg.depth = 16;
    wr_share_take_anyway(WR_SHARE_MEMORY, others);
    p = fx_start(ds, &cfg);
    little = taken(WR_SHARE_MEMORY) - others;
    wr_share_give(WR_SHARE_MEMORY, others);
    assert_int_equal(weir_pipeline_next(p, &batch, NULL), 1);
    weir_batch_release(batch);
    assert_true(taken(WR_SHARE_MEMORY) > little + 16 * MB);
    weir_pipeline_close(&p);
    assert_all_given_back();
    weir_dataset_close(&ds);
    fx_done(&fx);
}

static unsigned open_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* 150 objects that hold two samples each, and 96 descriptors for all. */
static void descriptors_are_shared(void **state)
{
    struct rlimit old, few;
    struct feed feeds[EIGHT];
    weir_dataset *ds[EIGHT];
    weir_pipeline_config cfg;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_TENSORS, 300, 2);
    open_sets(&fx, "", ds);
    fx_config(&fx, &cfg);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = old;
    few.rlim_cur = 96;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    atomic_store(&account(WR_SHARE_FILES)->most, 0);
    open_eight(feeds, &fx, ds, &cfg);
    drain_eight(feeds, 300);
    assert_true(account(WR_SHARE_FILES)->most > 0);
    assert_true(account(WR_SHARE_FILES)->most <= wr_share_all(WR_SHARE_FILES));
    assert_true(open_descriptors() < 96);
    close_eight(feeds);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_all_given_back();
    close_sets(ds);
    fx_done(&fx);
}

/* Each has a store of its own. What they read is what the one disk served, in
 * no less time than it needs for it; eight disks would need an eighth. */
static void one_disk_is_shared(void **state)
{
    static const char text[] = "like = null\n"
                               "read_latency = 100 us\n"
                               "read_bandwidth = 20 MB/s\n"
                               "channels = 8\n";
    struct wr_device_profile profile;
    struct wr_device_use before, after;
    struct feed feeds[EIGHT];
    weir_dataset *ds[EIGHT];
    weir_pipeline_config cfg;
    struct wr_device *disk;
    char path[300], prefix[400], *place;
    uint64_t bytes = 0, requests = 0, start;
    struct fx fx;
    FILE *f;

    (void)state;
    fx_make(&fx, FX_BLOBS, 40, 1);
    for (uint32_t i = 0; i < 40; i++)
        fx_write(&fx, i, 16 << 10);
    snprintf(path, sizeof(path), "%s.profile", fx.dir);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fputs(text, f) < 0, 0);
    assert_int_equal(fclose(f), 0);
    snprintf(prefix, sizeof(prefix), "emu:%s:", path);
    open_sets(&fx, prefix, ds);
    assert_int_equal(wr_device_profile_find(path, &profile, NULL), 0);
    place = realpath(fx.dir, NULL);
    assert_int_equal(wr_device_ref(&profile, place, &disk, NULL), 0);
    free(place);

    wr_device_use(disk, &before);
    assert_true(before.requests > 0); /* the sets were looked through */
    fx_config(&fx, &cfg);
    start = wr_clock_ns();
    open_eight(feeds, &fx, ds, &cfg);
    drain_eight(feeds, 40);
    wr_device_use(disk, &after);
    for (unsigned i = 0; i < EIGHT; i++) {
        bytes += feeds[i].stats.bytes_read;
        requests += feeds[i].stats.requests;
    }
    assert_int_equal(bytes, EIGHT * 40 * (16 << 10));
    assert_int_equal(after.read_bytes - before.read_bytes, bytes);
    assert_true(after.requests - before.requests >= requests);
    /* By the disk's own time, and by ours, which is never ahead of it. */
    assert_true(after.last_ns - start >= bytes * 1000 / 20);
    assert_true(after.read_ns - before.read_ns <= after.last_ns - start);
    assert_true(wr_clock_ns() >= after.last_ns);
    close_eight(feeds);
    wr_device_unref(disk);
    close_sets(ds);
    unlink(path);
    fx_done(&fx);
}

/* Inflated shards are kept for later epochs, but not while others are short of
 * memory. */
static void kept_units_give_way(void **state)
{
    weir_pipeline_config cfg;
    const weir_batch *batch;
    uint64_t kept = 0, batches, idle;
    weir_dataset *ds = NULL;
    weir_pipeline *p = NULL;
    struct tmpdir tmp;
    char path[300];

    (void)state;
    tmpdir_init(&tmp);
    gs_make(&tmp);
    snprintf(path, sizeof(path), "%s", tmpdir_at(&tmp, "tfrecord-gz"));
    assert_int_equal(weir_dataset_open(&ds, path, NULL, NULL), 0);
    weir_pipeline_defaults(&cfg);
    cfg.stages = WEIR_STAGES_READ;
    cfg.threads = 1;
    cfg.prefetch = 0; /* so that nothing is under way between two batches */
    cfg.batch = 1;
    cfg.depth = 1;
    cfg.epochs = 3;
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, NULL), 0);
    idle = taken(WR_SHARE_MEMORY);
    batches = weir_pipeline_batches_per_epoch(p);
    for (uint64_t i = 0; i < 2 * batches; i++) {
        assert_int_equal(weir_pipeline_next(p, &batch, NULL), 1);
        weir_batch_release(batch);
        if (i < batches)
            kept = taken(WR_SHARE_MEMORY) - idle; /* by the end: all shards */
        else
            wr_share_refuse(WR_SHARE_MEMORY);
    }
    assert_true(taken(WR_SHARE_MEMORY) - idle < kept);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    tmpdir_done(&tmp);
    assert_all_given_back();
}

/* Blocks beside the ring: the only one is granted, more only if there is
 * memory. */
static void blocks_beside_the_ring_are_counted(void **state)
{
    uint64_t others = wr_share_left(WR_SHARE_MEMORY);
    struct wr_block a, b, c;
    struct wr_arena arena;

    (void)state;
    assert_true(wr_arena_init(&arena, MB, 4, 100 * MB));
    wr_share_take_anyway(WR_SHARE_MEMORY, others);
    assert_true(wr_arena_alloc(&arena, 4 * MB, &a));
    assert_false(wr_arena_alloc(&arena, 4 * MB, &b));
    assert_true(wr_arena_alloc_heap(&arena, 4 * MB, &b));
    assert_int_equal(taken(WR_SHARE_MEMORY), others + 8 * MB);
    wr_share_give(WR_SHARE_MEMORY, others);
    assert_true(wr_arena_alloc(&arena, 4 * MB, &c));
    wr_block_free(&a);
    wr_block_free(&b);
    wr_block_free(&c);
    wr_arena_done(&arena);
    assert_all_given_back();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_shared),
        cmocka_unit_test(none_left_is_no_failure),
        cmocka_unit_test(what_comes_back_is_taken),
        cmocka_unit_test(descriptors_are_shared),
        cmocka_unit_test(one_disk_is_shared),
        cmocka_unit_test(kept_units_give_way),
        cmocka_unit_test(blocks_beside_the_ring_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
