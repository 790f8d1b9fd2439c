/* test_arena.c - blocks never overlap, whoever frees them, and come back.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "pipeline/arena.h"

#define LIVE 24

struct live {
    struct wr_block block;
    size_t size;
    uint8_t mark;
};

static bool is_marked(const struct live *l)
{
    const uint8_t *p = l->block.mem;

    for (size_t i = 0; i < l->size; i += 511)
        if (p[i] != l->mark)
            return false;
    return p[l->size - 1] == l->mark;
}

/* A block's content stays until it is freed: nothing else is put there. */
static void random_blocks_in_one_thread(void **state)
{
    struct wr_rng rng = {.seed = 9};
    struct live live[LIVE] = {0};
    struct wr_arena a;
    unsigned refused = 0, given = 0;

    (void)state;
    assert_true(wr_arena_init(&a, 300000, LIVE, SIZE_MAX));
    for (unsigned k = 0; k < 20000; k++) {
        struct live *l = &live[wr_rng_below(&rng, LIVE)];

        if (l->block.mem) {
            assert_true(is_marked(l));
            wr_block_free(&l->block);
            assert_null(l->block.mem);
            continue;
        }
        l->size = 1 + wr_rng_below(&rng, k % 50 ? 30000 : 200000);
        if (!wr_arena_alloc(&a, l->size, &l->block)) {
            refused++;
            continue;
        }
        given++;
        assert_int_equal((uintptr_t)l->block.mem % 4096, 0);
        l->mark = (uint8_t)k;
        memset(l->block.mem, l->mark, l->size);
    }
    assert_true(refused > 100 && given > 5000);
    for (unsigned i = 0; i < LIVE; i++)
        if (live[i].block.mem)
            wr_block_free(&live[i].block);
    wr_arena_done(&a);
}

static void everything_comes_back(void **state)
{
    struct wr_block b[8];
    struct wr_arena a;

    (void)state;
    assert_true(wr_arena_init(&a, 8 * 4096, 8, SIZE_MAX));
    for (unsigned round = 0; round < 50; round++) {
        unsigned n = 0;

        while (n < 8 && wr_arena_alloc(&a, 4096, &b[n]))
            n++;
        assert_true(n >= 7); /* a byte stays free */
        for (unsigned i = 0; i < n; i++)
            wr_block_free(&b[round % 2 ? n - 1 - i : i]);
    }
    wr_arena_done(&a);
}

static void large_blocks_come_from_the_heap(void **state)
{
    struct wr_block b;
    struct wr_arena a;

    (void)state;
    assert_true(wr_arena_init(&a, 64 << 10, 4, SIZE_MAX));
    assert_true(wr_arena_alloc(&a, 40 << 10, &b));
    assert_null(b.piece);
    assert_int_equal((uintptr_t)b.mem % 4096, 0);
    memset(b.mem, 1, 40 << 10);
    wr_block_free(&b);
    assert_true(wr_arena_alloc_heap(&a, 5, &b));
    wr_block_free(&b);
    wr_arena_done(&a);
}

/* --- one thread allocates, others free --- */

struct shelf {
    pthread_mutex_t lock;
    struct live items[LIVE];
    unsigned count;
    bool over, wrong;
};

static bool pop(struct shelf *s, struct live *ret)
{
    bool got = false;

    pthread_mutex_lock(&s->lock);
    if (s->count) {
        *ret = s->items[--s->count];
        got = true;
    }
    pthread_mutex_unlock(&s->lock);
    return got;
}

static void *free_blocks(void *arg)
{
    struct shelf *s = arg;
    struct live l;
    bool over = false;

    while (!over) {
        pthread_mutex_lock(&s->lock);
        over = s->over && !s->count;
        pthread_mutex_unlock(&s->lock);
        while (pop(s, &l)) {
            if (!is_marked(&l)) {
                pthread_mutex_lock(&s->lock);
                s->wrong = true;
                pthread_mutex_unlock(&s->lock);
            }
            wr_block_free(&l.block);
        }
    }
    return NULL;
}

static bool shelve(struct shelf *s, const struct live *l)
{
    bool room;

    pthread_mutex_lock(&s->lock);
    room = s->count < LIVE;
    if (room)
        s->items[s->count++] = *l;
    pthread_mutex_unlock(&s->lock);
    return room;
}

static void other_threads_free(void **state)
{
    struct shelf shelf = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct wr_rng rng = {.seed = 10};
    struct wr_arena a;
    pthread_t threads[3];

    (void)state;
    assert_true(wr_arena_init(&a, 200000, LIVE, SIZE_MAX));
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, free_blocks, &shelf),
                         0);
    for (unsigned k = 0; k < 4000;) {
        struct live l = {.size = 1 + wr_rng_below(&rng, 20000),
                         .mark = (uint8_t)k};

        if (!wr_arena_alloc(&a, l.size, &l.block))
            continue;
        memset(l.block.mem, l.mark, l.size);
        while (!shelve(&shelf, &l))
            ;
        k++;
    }
    pthread_mutex_lock(&shelf.lock);
    shelf.over = true;
    pthread_mutex_unlock(&shelf.lock);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_false(shelf.wrong);
    wr_arena_done(&a);
}

/* What does not fit into the ring is limited too, but one is granted. */
static void the_heap_has_a_limit(void **state)
{
    struct wr_block first = {0}, second = {0}, fill = {0};
    struct wr_arena a;

    (void)state;
    assert_true(wr_arena_init(&a, 64 << 10, 4, 100 << 10));
    assert_true(wr_arena_alloc(&a, 200 << 10, &first));
    assert_false(wr_arena_alloc(&a, 40 << 10, &second));
    assert_true(wr_arena_alloc_heap(&a, 40 << 10, &fill));
    wr_block_free(&first);
    assert_true(wr_arena_alloc(&a, 40 << 10, &second));
    wr_block_free(&second);
    wr_block_free(&fill);
    assert_int_equal(a.heap_bytes, 0);
    wr_arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_heap_has_a_limit),
        cmocka_unit_test(random_blocks_in_one_thread),
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(large_blocks_come_from_the_heap),
        cmocka_unit_test(other_threads_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
