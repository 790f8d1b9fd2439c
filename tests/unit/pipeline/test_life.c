/* test_life.c - holding, releasing, closing, memory of the caller's own.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "pipeline/worker.h"

static struct fx fx; /* 50 tensors in files of 4 */
static weir_dataset *ds;

static int setup(void **state)
{
    (void)state;
    fx_make(&fx, FX_TENSORS, 50, 4);
    ds = fx_open(&fx, "");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    weir_dataset_close(&ds);
    fx_done(&fx);
    return 0;
}

/* As many batches as there are buffers may be out; one more is refused, and
 * nothing lost. */
static void hold_all(enum weir_dtype dtype, uint32_t prefetch, uint32_t most)
{
    const weir_batch *held[6], *more;
    weir_pipeline_config cfg;
    uint64_t ids[50];
    weir_pipeline *p;
    size_t n = 0;
    weir_err err;

    fx_config(&fx, &cfg);
    cfg.prefetch = prefetch;
    cfg.picture.dtype = dtype;
    p = fx_start(ds, &cfg);
    for (uint32_t i = 0; i < most; i++) {
        assert_int_equal(weir_pipeline_next(p, &held[i], &err), 1);
        memcpy(ids + n, held[i]->ids, 4 * sizeof(*ids));
        n += 4;
    }
    for (int again = 0; again < 2; again++) {
        assert_int_equal(weir_pipeline_next(p, &more, &err), WEIR_ESTATE);
        assert_non_null(strstr(err.msg, "release"));
    }
    for (uint32_t i = most; i-- > 0;) {
        assert_memory_equal(held[i]->ids, ids + 4 * i, 4 * sizeof(*ids));
        weir_batch_release(held[i]);
    }
    while (weir_pipeline_next(p, &more, &err) > 0) {
        memcpy(ids + n, more->ids, more->count * sizeof(*ids));
        n += more->count;
        weir_batch_release(more);
    }
    fx_assert_once(ids, n, NULL, fx.n);
    weir_pipeline_close(&p);
}

static void holding_all_batches(void **state)
{
    (void)state;
    for (uint32_t prefetch = 0; prefetch < 4; prefetch++) {
        hold_all(WEIR_U8, prefetch, prefetch + 1); /* read into the slot */
        hold_all(WEIR_F32, prefetch, prefetch ? prefetch + 2 : 1);
    }
}

/* One batch stays out from first to last while the others come and go. */
static void holding_one_for_long(void **state)
{
    const weir_batch *held;
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    weir_pipeline *p;
    weir_err err;
    uint8_t copy[4 * FX_BYTES];

    (void)state;
    fx_config(&fx, &cfg);
    cfg.prefetch = 1;
    cfg.epochs = 4;
    p = fx_start(ds, &cfg);
    assert_int_equal(weir_pipeline_next(p, &held, &err), 1);
    memcpy(copy, held->data, sizeof(copy));
    assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
    assert_memory_equal(copy, held->data, sizeof(copy));
    assert_int_equal(log.id_count, 4 * 50 - 4);
    weir_batch_release(held);
    weir_batch_release(NULL);
    weir_pipeline_close(&p);
    fx_log_done(&log);
}

static void *release_one(void *arg)
{
    weir_batch_release(arg);
    return NULL;
}

static void release_from_another_thread(void **state)
{
    weir_pipeline_config cfg;
    const weir_batch *b;
    weir_pipeline *p;
    size_t samples = 0;
    weir_err err;
    int r;

    (void)state;
    fx_config(&fx, &cfg);
    cfg.prefetch = 3;
    p = fx_start(ds, &cfg);
    while ((r = weir_pipeline_next(p, &b, &err)) > 0) {
        union {
            const weir_batch *b;
            void *p;
        } u = {.b = b};
        pthread_t t;

        samples += b->count;
        assert_int_equal(pthread_create(&t, NULL, release_one, u.p), 0);
        pthread_join(t, NULL);
    }
    assert_int_equal(r, 0);
    assert_int_equal(samples, fx.n);
    weir_pipeline_close(&p);
}

static void *look_around(void *arg)
{
    const weir_pipeline *p = arg;
    weir_stats st;

    for (int i = 0; i < 200; i++) {
        weir_pipeline_stats(p, &st);
        for (uint64_t k = 0; k < weir_pipeline_bad_count(p); k++)
            if (!weir_pipeline_bad(p, k))
                return arg;
    }
    return NULL;
}

/* Statistics and the list of bad samples may be looked at from anywhere. */
static void looking_from_another_thread(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    weir_dataset *bad;
    weir_pipeline *p;
    weir_err err;
    pthread_t t;
    void *wrong;
    struct fx blobs;

    (void)state;
    fx_make(&blobs, FX_BLOBS, 40, 1);
    bad = fx_open(&blobs, "fault:eio@%3:");
    fx_config(&blobs, &cfg);
    cfg.epochs = 10;
    p = fx_start(bad, &cfg);
    assert_int_equal(pthread_create(&t, NULL, look_around, p), 0);
    assert_int_equal(fx_take(&blobs, p, SIZE_MAX, &log, &err), 0);
    pthread_join(t, &wrong);
    assert_null(wrong);
    weir_pipeline_close(&p);
    weir_dataset_close(&bad);
    fx_log_done(&log);
    fx_done(&blobs);
}

/* Whatever the pipeline is doing, close ends it. */
static void closing_in_the_middle(void **state)
{
    static const char *const stores[] = {"", "fault:delay=2@%3:"};
    struct fx jpegs;

    (void)state;
    fx_make(&jpegs, FX_JPEGS, 40, 1);
    for (unsigned k = 0; k < 48; k++) {
        const struct fx *kind = k & 1 ? &fx : &jpegs;
        weir_dataset *set = fx_open(kind, stores[k / 2 % 2]);
        weir_pipeline_config cfg;
        const weir_batch *b;
        weir_pipeline *p;
        weir_err err;

        fx_config(kind, &cfg);
        cfg.threads = 1 + k % 3;
        cfg.depth = 1 + k % 11;
        cfg.prefetch = k % 4;
        cfg.io = k % 5 ? WEIR_IO_AUTO : WEIR_IO_BLOCKING;
        p = fx_start(set, &cfg);
        for (unsigned i = 0; i < k % 4; i++) { /* these stay out */
            assert_int_equal(weir_pipeline_next(p, &b, &err), 1);
            if (i % 2)
                weir_batch_release(b);
            else if (cfg.prefetch < 2)
                break;
        }
        weir_pipeline_close(&p);
        assert_null(p);
        weir_dataset_close(&set);
    }
    fx_done(&jpegs);
    weir_pipeline_close(NULL);
    weir_pipeline_close(&(weir_pipeline *){NULL});
}

/* --- memory of the caller's own --- */

struct heap {
    size_t out, calls, fail_at, bytes;
};

static void *heap_alloc(void *arg, size_t bytes)
{
    struct heap *h = arg;
    void *p = NULL;

    h->calls++;
    if (h->calls == h->fail_at || posix_memalign(&p, 64, bytes))
        return NULL;
    h->out++;
    h->bytes += bytes;
    memset(p, 0xa5, bytes); /* not zeroed, unlike the library's own */
    return p;
}

static void heap_free(void *arg, void *p, size_t bytes)
{
    struct heap *h = arg;

    h->out--;
    h->bytes -= bytes;
    free(p);
}

static void allocator_of_the_caller(void **state)
{
    struct heap heap = {0};
    weir_pipeline_config cfg;
    struct fx_log own = {0}, log = {0};

    (void)state;
    fx_config(&fx, &cfg);
    cfg.prefetch = 2;
    assert_int_equal(fx_run(&fx, ds, &cfg, &own), 0);
    cfg.alloc = heap_alloc;
    cfg.free = heap_free;
    cfg.alloc_arg = &heap;
    assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
    assert_int_equal(log.hash, own.hash);
    assert_int_equal(heap.calls, 3); /* a pool, not one per batch */
    assert_int_equal(heap.out, 0);
    assert_int_equal(heap.bytes, 0);
    fx_log_done(&log);
    fx_log_done(&own);
}

static void allocator_that_fails(void **state)
{
    (void)state;
    for (size_t at = 1; at <= 3; at++) {
        struct heap heap = {.fail_at = at};
        weir_pipeline_config cfg;
        weir_pipeline *p = NULL;
        weir_err err;

        fx_config(&fx, &cfg);
        cfg.prefetch = 2;
        cfg.alloc = heap_alloc;
        cfg.free = heap_free;
        cfg.alloc_arg = &heap;
        assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), WEIR_ENOMEM);
        assert_null(p);
        assert_int_equal(heap.out, 0);
    }
}

static int stop_soon(void *asked)
{
    return ++*(int *)asked == 3;
}

/* A consumer that waits for storage that does not answer can give up. */
static void giving_up(void **state)
{
    static const enum weir_io engines[] = {WEIR_IO_AUTO, WEIR_IO_BLOCKING};
    struct fx blobs;
    weir_dataset *set;

    (void)state;
    fx_make(&blobs, FX_BLOBS, 40, 1);
    set = fx_open(&blobs, "fault:delay=3600000:");
    for (int k = 0; k < 2; k++) {
        weir_pipeline_config cfg;
        const weir_batch *b = NULL;
        weir_pipeline *p;
        weir_err err;
        int asked = 0;

        fx_config(&blobs, &cfg);
        cfg.io = engines[k];
        cfg.stopped = stop_soon;
        cfg.stopped_arg = &asked;
        p = fx_start(set, &cfg);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(weir_pipeline_next(p, &b, &err), WEIR_ECANCELED);
            assert_int_equal(asked, 3);
            assert_null(b);
        }
        weir_pipeline_close(&p);
    }
    weir_dataset_close(&set);
    fx_done(&blobs);
}

/* Then no worker waits for what is in flight: storage may be slow, and the
 * queues look after it. */
static void closing_waits_for_no_storage(void **state)
{
    struct wr_sched s = {0};
    struct wr_worker w = {.sched = &s};
    struct wr_picked picked = {.count = 1, .parked = true};

    (void)state;
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.work, NULL);
    wr_sched_pick(&s, &w, &picked);
    assert_int_equal(picked.count, 0);
    assert_false(picked.parked);
    wr_sched_close(&s);
    wr_sched_pick(&s, &w, &picked);
    assert_int_equal(picked.count, 0);
    assert_true(picked.parked);
    assert_false(wr_sched_wait(&s, &w, 0));
    pthread_cond_destroy(&s.work);
    pthread_mutex_destroy(&s.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holding_all_batches),
        cmocka_unit_test(holding_one_for_long),
        cmocka_unit_test(release_from_another_thread),
        cmocka_unit_test(looking_from_another_thread),
        cmocka_unit_test(closing_in_the_middle),
        cmocka_unit_test(giving_up),
        cmocka_unit_test(closing_waits_for_no_storage),
        cmocka_unit_test(allocator_of_the_caller),
        cmocka_unit_test(allocator_that_fails),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
