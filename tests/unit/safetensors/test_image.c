/* test_image.c - images: where bytes land, when they are there, reuse.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/shares.h"
#include "safetensors/image.h"
#include "tensors.h"
#include "tier/manifest.h"

#define MIB ((uint64_t)1 << 20)

static const weir_pair pairs[] = {{"model", "alexnet"}, {"a", ""}};

/* Sizes around every edge that there is. */
static const uint64_t sizes[] = {
    0,       1,           4095,        4096,        4097,        MIB - 1,
    MIB,     MIB + 1,     4 * MIB - 1, 4 * MIB,     4 * MIB + 1, 8 * MIB - 1,
    8 * MIB, 8 * MIB + 1, 12 * MIB,    17 * MIB + 5};

/* The head as it was written tells where each tensor is. */
static void check(struct wr_image *img, const struct tensors *ts)
{
    const uint8_t *bytes = wr_image_bytes(img);
    uint64_t size = wr_image_size(img), offset = wr_image_data_offset(img);
    struct wr_st_head h;
    weir_err err = {0};

    assert_int_equal(wr_st_parse(bytes, (size_t)size, size, "x", &h, &err), 0);
    assert_int_equal(h.data_offset, offset);
    assert_int_equal(offset % 4096, 0);
    assert_int_equal((uintptr_t)bytes % 4096, 0);
    assert_int_equal(h.count, ts->count);
    assert_int_equal(h.metadata_count, 3);
    for (size_t i = 0; i < ts->count; i++) {
        const struct wr_st_tensor *t = wr_st_find(&h, ts->t[i].name);

        assert_non_null(t);
        assert_int_equal(t->end - t->begin,
                         ts->t[i].shape[0] *
                             (uint64_t)(ts->t[i].dtype == WEIR_U8    ? 1
                                        : ts->t[i].dtype == WEIR_F16 ? 2
                                        : ts->t[i].dtype == WEIR_F32 ? 4
                                                                     : 8));
        assert_memory_equal(bytes + offset + t->begin, ts->t[i].data,
                            (size_t)(t->end - t->begin));
    }
    for (uint64_t i = size; i % 4096; i++)
        assert_int_equal(bytes[i], 0);
    wr_st_done(&h);
}

static void finish(struct wr_image *img)
{
    uint64_t data = wr_image_size(img) - wr_image_data_offset(img);
    size_t chunks = (size_t)((data + WR_CHUNK - 1) / WR_CHUNK);
    uint32_t *crcs = calloc(chunks + 1, sizeof(*crcs));
    weir_err err = {0};

    assert_non_null(crcs);
    for (size_t i = 0; i < chunks; i++)
        crcs[i] = 0xabc00000u + (uint32_t)i;
    assert_int_equal(wr_image_finish(img, crcs, chunks + 1, &err), WEIR_ESTATE);
    assert_int_equal(wr_image_finish(img, crcs, chunks, &err), 0);
    free(crcs);
}

static void tensors_are_where_the_head_says(void **state)
{
    static const unsigned threads[] = {1, 2, 5};
    weir_err err = {0};

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        struct wr_image *img;

        assert_int_equal(wr_image_new(threads[k], &img, &err), 0);
        for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            struct tensors ts = {0};

            tensors_split(&ts, sizes[i], i + 1);
            assert_int_equal(wr_image_plan(img, ts.t, ts.count, pairs, 2, &err),
                             0);
            wr_image_fill(img, ts.t, /* eager= */ i % 2 == k % 2);
            wr_image_wait(img, wr_image_size(img) - wr_image_data_offset(img));
            finish(img);
            check(img, &ts);
            tensors_done(&ts);
        }
        wr_image_free(img);
    }
}

/* The file, put together from its parts; *ret_lent is how many of the bytes are
 * the tensors' own. */
static uint8_t *put_together(struct wr_image *img, uint64_t *ret_lent)
{
    uint64_t size = wr_image_size(img), n;
    uint8_t *file = malloc((size_t)size);

    assert_non_null(file);
    *ret_lent = 0;
    for (uint64_t at = 0; at < size; at += n) {
        const uint8_t *part;

        n = size - at < 5 * MIB + 4096 ? size - at : 5 * MIB + 4096;
        part = wr_image_part(img, at, &n);
        assert_int_not_equal(n, 0);
        memcpy(file + at, part, (size_t)n);
        if (part < wr_image_bytes(img) ||
            part >= wr_image_bytes(img) + wr_image_memory(img)) {
            assert_int_equal((uintptr_t)part % 4096, 0);
            assert_int_equal((at | n) % 4096, 0);
            *ret_lent += n;
        }
    }
    return file;
}

static void check_lent(struct tensors *ts, uint64_t expected)
{
    weir_err err = {0};
    struct wr_image *img;
    uint64_t lent[2];
    uint8_t *file[2];

    assert_int_equal(wr_image_new(2, &img, &err), 0);
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal((k ? wr_image_plan_lent : wr_image_plan)(
                             img, ts->t, ts->count, pairs, 2, &err),
                         0);
        assert_int_equal(wr_image_lends(img), k && expected > 0);
        memset(wr_image_bytes(img), 0, (size_t)wr_image_memory(img));
        wr_image_fill(img, ts->t, /* eager= */ k);
        wr_image_wait(img, wr_image_size(img) - wr_image_data_offset(img));
        finish(img);
        file[k] = put_together(img, &lent[k]);
    }
    assert_memory_equal(file[0], file[1], (size_t)wr_image_size(img));
    assert_int_equal(lent[0], 0);
    assert_int_equal(lent[1], expected);
    free(file[0]);
    free(file[1]);
    wr_image_free(img);
}

/* Whole pages are the tensors' own, and the file is the same. */
static void pages_are_lent(void **state)
{
    struct tensors ts = {.in_pages = true};
    weir_tensor *t = ts.t;
    uint8_t *arena;

    (void)state;
    tensors_add(&ts, WEIR_U8, 1, 3 * MIB + 5); /* behind, in part pages */
    tensors_add(&ts, WEIR_F32, 4, 9 * MIB);
    tensors_add(&ts, WEIR_F16, 2, 8192); /* too little */
    tensors_add(&ts, WEIR_F64, 8, 2 * MIB);
    tensors_add(&ts, WEIR_F64, 8, 808);
    check_lent(&ts, 11 * MIB);
    tensors_done(&ts);

    /* One memory for all: its pages are lent, whosever they are. */
    arena = aligned_alloc(4096, 6 * MIB);
    assert_non_null(arena);
    fill_random(arena, 6 * MIB, 3);
    tensors_add(&ts, WEIR_F32, 4, 2 * MIB + 4);
    tensors_add(&ts, WEIR_F32, 4, 12);
    tensors_add(&ts, WEIR_F32, 4, 3 * MIB + 400);
    for (size_t i = 0, at = 0; i < 3; i++) {
        free(t[i].data);
        t[i].data = arena + at;
        at += 4 * (size_t)t[i].shape[0];
    }
    check_lent(&ts, 5 * MIB);
    for (size_t i = 0; i < 3; i++)
        t[i].data = (uint8_t *)t[i].data + 16; /* in the middle of pages */
    check_lent(&ts, 0);
    free(arena);
}

/* Bytes of this process that are in memory. */
static uint64_t resident(void)
{
    unsigned long all, in_memory;
    FILE *f = fopen("/proc/self/statm", "r");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu", &all, &in_memory), 2);
    fclose(f);
    return (uint64_t)in_memory * 4096;
}

/* What is lent takes no memory, and a copy of the same state still works. */
static void lent_pages_take_no_memory(void **state)
{
    struct tensors ts = {.in_pages = true};
    weir_err err = {0};
    struct wr_image *img;
    uint64_t before;

    (void)state;
    tensors_add(&ts, WEIR_F32, 4, 200 * MIB);
    tensors_add(&ts, WEIR_U8, 1, 56 * MIB + 77);
    assert_int_equal(wr_image_new(2, &img, &err), 0);
    before = resident();
    assert_int_equal(wr_image_plan_lent(img, ts.t, ts.count, pairs, 2, &err),
                     0);
    wr_image_fill(img, ts.t, /* eager= */ true);
    wr_image_wait(img, wr_image_size(img) - wr_image_data_offset(img));
    finish(img);
    assert_true(wr_image_memory(img) <= 2 * MIB);
    assert_true(resident() < before + 64 * MIB);

    assert_int_equal(wr_image_plan(img, ts.t, ts.count, pairs, 2, &err), 0);
    assert_true(wr_image_memory(img) >= 256 * MIB);
    wr_image_fill(img, ts.t, /* eager= */ false);
    finish(img);
    check(img, &ts);
    tensors_done(&ts);
    wr_image_free(img);
}

static void checksums_are_in_the_metadata(void **state)
{
    struct tensors ts = {0};
    struct wr_image *img;
    struct wr_st_head h;
    weir_err err = {0};

    (void)state;
    assert_int_equal(wr_image_new(1, &img, &err), 0);
    tensors_add(&ts, WEIR_U8, 1, 4 * MIB + 1);
    assert_int_equal(wr_image_plan(img, ts.t, ts.count, NULL, 0, &err), 0);
    wr_image_fill(img, ts.t, false);
    finish(img);
    assert_int_equal(wr_st_parse(wr_image_bytes(img),
                                 (size_t)wr_image_data_offset(img),
                                 wr_image_size(img), "x", &h, &err),
                     0);
    assert_int_equal(h.metadata_count, 1);
    assert_string_equal(h.metadata[0].key, "weir.crc32c");
    assert_string_equal(h.metadata[0].value, "abc00000abc00001");
    wr_st_done(&h);
    tensors_done(&ts);
    wr_image_free(img);
}

static void nothing_at_all(void **state)
{
    struct wr_image *img;
    weir_err err = {0};

    (void)state;
    assert_int_equal(wr_image_new(0, &img, &err), 0);
    assert_int_equal(wr_image_memory(img), 0);
    assert_int_equal(wr_image_plan(img, NULL, 0, NULL, 0, &err), 0);
    wr_image_fill(img, NULL, true);
    wr_image_wait(img, 0);
    assert_int_equal(wr_image_finish(img, NULL, 0, &err), 0);
    assert_int_equal(wr_image_size(img), 4096);
    wr_image_free(img);
    wr_image_free(NULL);
}

static void a_bad_plan_fails_and_the_next_works(void **state)
{
    weir_tensor twice[2] = {{.name = "a", .dtype = WEIR_U8, .ndim = 1},
                            {.name = "a", .dtype = WEIR_U8, .ndim = 1}};
    weir_tensor huge = {.name = "h",
                        .dtype = WEIR_F32,
                        .ndim = 2,
                        .shape = {UINT64_C(1) << 40, UINT64_C(1) << 40}};
    weir_pair mine = {"weir.crc32c", ""};
    struct tensors ts = {0};
    struct wr_image *img;
    weir_err err = {0};

    (void)state;
    assert_int_equal(wr_image_new(2, &img, &err), 0);
    assert_true(wr_image_plan(img, twice, 2, NULL, 0, &err) < 0);
    assert_true(wr_image_plan(img, &huge, 1, NULL, 0, &err) < 0);
    huge.shape[1] = 1;
    assert_true(wr_image_plan(img, &huge, 1, &mine, 1, &err) < 0);
    assert_int_equal(wr_image_finish(img, NULL, 0, &err), WEIR_ESTATE);
    tensors_split(&ts, MIB, 3);
    assert_int_equal(wr_image_plan(img, ts.t, ts.count, pairs, 2, &err), 0);
    wr_image_fill(img, ts.t, true);
    finish(img);
    check(img, &ts);
    tensors_done(&ts);
    wr_image_free(img);
}

static void memory_grows_and_never_shrinks(void **state)
{
    struct wr_image *img;
    weir_err err = {0};
    uint64_t had;

    (void)state;
    assert_int_equal(wr_image_new(2, &img, &err), 0);
    assert_int_equal(wr_image_reserve(img, 33 * MIB, &err), 0);
    had = wr_image_memory(img);
    assert_true(had >= 33 * MIB);
    assert_int_equal(wr_shares_get()->accounts[WR_SHARE_MEMORY].taken, had);
    for (uint64_t i = 0; i < had; i += 4096)
        assert_int_equal(wr_image_bytes(img)[i], 0);
    assert_int_equal(wr_image_reserve(img, 1, &err), 0);
    assert_int_equal(wr_image_memory(img), had);
    assert_int_equal(wr_image_reserve(img, UINT64_C(1) << 62, &err),
                     WEIR_ENOMEM);
    assert_int_equal(wr_image_memory(img), 0);
    assert_int_equal(wr_shares_get()->accounts[WR_SHARE_MEMORY].taken, 0);
    assert_int_equal(wr_image_reserve(img, 1, &err), 0);
    wr_image_free(img);
    assert_int_equal(wr_shares_get()->accounts[WR_SHARE_MEMORY].taken, 0);
}

struct follower {
    struct wr_image *img;
    uint64_t step;
    uint8_t *copy;
};

static void *follow(void *arg)
{
    struct follower *f = arg;
    uint64_t offset = wr_image_data_offset(f->img), at = 0;
    uint64_t bytes = wr_image_size(f->img) - offset;

    while (at < bytes) {
        uint64_t end = at + f->step < bytes ? at + f->step : bytes;

        wr_image_wait(f->img, end);
        memcpy(f->copy + at, wr_image_bytes(f->img) + offset + at,
               (size_t)(end - at));
        at = end;
    }
    return NULL;
}

/* What was waited for is there, in order; several may wait. */
static void followers_see_what_is_there(void **state)
{
    uint64_t bytes = 37 * MIB + 11;
    struct tensors ts = {0};
    struct wr_image *img;
    weir_err err = {0};

    (void)state;
    assert_int_equal(wr_image_new(3, &img, &err), 0);
    tensors_split(&ts, bytes, 9);
    for (unsigned round = 0; round < 6; round++) {
        struct follower f[2] = {{img, 4 * MIB, malloc((size_t)bytes)},
                                {img, 777777, malloc((size_t)bytes)}};
        pthread_t t[2];

        assert_int_equal(wr_image_plan(img, ts.t, ts.count, pairs, 2, &err), 0);
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&t[i], NULL, follow, &f[i]), 0);
        wr_image_fill(img, ts.t, /* eager= */ round % 2);
        for (unsigned i = 0; i < 2; i++) {
            pthread_join(t[i], NULL);
            assert_memory_equal(f[i].copy,
                                wr_image_bytes(img) + wr_image_data_offset(img),
                                (size_t)bytes);
            free(f[i].copy);
        }
        finish(img);
        check(img, &ts);
    }
    tensors_done(&ts);
    wr_image_free(img);
}

static void copies_of_any_alignment(void **state)
{
    uint8_t from[600], to[600], wanted[600];

    (void)state;
    fill_random(from, sizeof(from), 5);
    for (unsigned a = 0; a < 70; a++)
        for (unsigned len = 0; len < 260; len++) {
            unsigned b = (a * 7 + len) % 67;

            memset(to, 0xee, sizeof(to));
            memcpy(wanted, to, sizeof(to));
            memcpy(wanted + a, from + b, len);
            wr_copy_past(to + a, from + b, len);
            assert_memory_equal(to, wanted, sizeof(to));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_where_the_head_says),
        cmocka_unit_test(pages_are_lent),
        cmocka_unit_test(lent_pages_take_no_memory),
        cmocka_unit_test(checksums_are_in_the_metadata),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(a_bad_plan_fails_and_the_next_works),
        cmocka_unit_test(memory_grows_and_never_shrinks),
        cmocka_unit_test(followers_see_what_is_there),
        cmocka_unit_test(copies_of_any_alignment),
    };

    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
