/* test_index.c - the index against plain arrays, and its limits.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "format/index.h"
#include "format/index_private.h"
#include "format/intern.h"
#include "indexes.h"

#define MAX_NAIVE 20000

/* What the index must say, kept the simple way. */
struct naive {
    size_t count;
    struct wr_part places[MAX_NAIVE];
    uint64_t bytes, max_length;
    uint32_t classes;
};

static void naive_add(struct naive *n, struct wr_part p)
{
    assert_true(n->count < MAX_NAIVE);
    n->places[n->count++] = p;
    n->bytes += p.length;
    if (p.length > n->max_length)
        n->max_length = p.length;
    if (p.label != WEIR_NO_LABEL && p.label >= n->classes)
        n->classes = p.label + 1;
}

static uint32_t random_label(struct wr_rng *rng)
{
    return wr_rng_below(rng, 4) ? (uint32_t)wr_rng_below(rng, 50)
                                : WEIR_NO_LABEL;
}

static void add_random_run(struct wr_index *ix, struct naive *n,
                           struct wr_rng *rng, uint64_t object)
{
    uint64_t count = wr_rng_below(rng, 40), length = 1 + wr_rng_below(rng, 9);
    uint64_t offset = wr_rng_below(rng, 100);
    bool labelled = wr_rng_below(rng, 2);
    uint32_t labels[40];

    for (uint64_t k = 0; k < count; k++) {
        labels[k] = random_label(rng);
        naive_add(
            n, (struct wr_part){.object = object,
                                .offset = offset + k * length,
                                .length = length,
                                .label = labelled ? labels[k] : WEIR_NO_LABEL});
    }
    assert_int_equal(
        wr_index_add_run(ix,
                         &(struct wr_run){.offset = offset,
                                          .length = length,
                                          .count = count,
                                          .labels = labelled ? labels : NULL},
                         NULL),
        0);
}

static void add_random_object(struct wr_index *ix, struct naive *n,
                              struct wr_rng *rng)
{
    char dir[32], name[32];
    uint64_t size = 1000 + wr_rng_below(rng, 1000);
    unsigned what = (unsigned)wr_rng_below(rng, 8);
    int64_t d, o;

    snprintf(dir, sizeof(dir), "dir%d", (int)wr_rng_below(rng, 7));
    d = wr_index_add_dir(ix, dir, NULL);
    assert_true(d >= 0 && d < 7);
    snprintf(name, sizeof(name), "o%llu", (unsigned long long)rng->counter);
    o = wr_index_add_object(ix, d, name, size, NULL);
    assert_int_equal((uint64_t)o + 1, wr_index_object_count(ix));
    if (what < 5) {
        uint32_t label = random_label(rng);

        assert_int_equal(wr_index_add_whole(ix, 0, label, NULL), 0);
        naive_add(n, (struct wr_part){.object = (uint64_t)o,
                                      .length = size,
                                      .label = label,
                                      .whole = true});
    } else if (what < 7) {
        add_random_run(ix, n, rng, (uint64_t)o);
        add_random_run(ix, n, rng, (uint64_t)o);
    } /* else: an object without samples */
}

static void check_equal(const struct wr_index *ix, const struct naive *n)
{
    assert_int_equal(wr_index_count(ix), n->count);
    assert_int_equal(wr_index_bytes(ix), n->bytes);
    assert_int_equal(wr_index_max_length(ix), n->max_length);
    assert_int_equal(wr_index_class_count(ix), n->classes);
    for (size_t i = 0; i < n->count; i++) {
        struct wr_part p;

        wr_index_part(ix, 0, i, &p);
        assert_int_equal(p.object, n->places[i].object);
        assert_int_equal(p.offset, n->places[i].offset);
        assert_int_equal(p.length, n->places[i].length);
        assert_int_equal(p.label, n->places[i].label);
        assert_int_equal(p.whole, n->places[i].whole);
    }
}

static void test_random_shapes(void **state)
{
    struct naive *n = malloc(sizeof(*n));

    (void)state;
    for (unsigned seed = 0; seed < 60; seed++) {
        struct wr_rng rng = {.seed = seed};
        unsigned objects = (unsigned)wr_rng_below(&rng, 300);
        struct wr_index *ix = wr_index_new();

        memset(n, 0, sizeof(*n));
        for (unsigned k = 0; k < objects; k++)
            add_random_object(ix, n, &rng);
        check_equal(ix, n);
        assert_int_equal(wr_index_seal(ix, NULL), 0);
        check_equal(ix, n);
        wr_index_free(ix);
    }
    free(n);
}

static void test_paths(void **state)
{
    struct wr_index *ix = wr_index_new();
    int64_t top = wr_index_add_dir(ix, "", NULL);
    int64_t deep = wr_index_add_dir(ix, "a/b c", NULL);
    int64_t root = wr_index_add_dir(ix, "/", NULL);
    char buf[64];

    (void)state;
    assert_int_equal(wr_index_add_dir(ix, "a/b c", NULL), deep);
    wr_index_add_object(ix, top, "x.jpg", 1, NULL);
    wr_index_add_object(ix, deep, "new\nline", 2, NULL);
    wr_index_add_object(ix, root, "r", 3, NULL);
    assert_int_equal(wr_index_object_path(ix, 0, buf, sizeof(buf)), 5);
    assert_string_equal(buf, "x.jpg");
    assert_int_equal(wr_index_object_path(ix, 1, buf, sizeof(buf)), 14);
    assert_string_equal(buf, "a/b c/new\nline");
    wr_index_object_path(ix, 2, buf, sizeof(buf));
    assert_string_equal(buf, "/r");
    assert_int_equal(wr_index_object_path(ix, 1, buf, 6), 14);
    assert_string_equal(buf, "a/b c");
    assert_int_equal(wr_index_object_path(ix, 1, NULL, 0), 14);
    assert_int_equal(wr_index_object_size(ix, 1), 2);
    wr_index_free(ix);
}

static void test_refused(void **state)
{
    struct wr_index *ix = wr_index_new();
    weir_err err;

    (void)state;
    assert_int_equal(wr_index_add_object(ix, 0, "x", 1, &err), WEIR_EINVAL);
    assert_int_equal(wr_index_add_whole(ix, 0, 0, &err), WEIR_EINVAL);
    wr_index_add_dir(ix, "", NULL);
    wr_index_add_object(ix, 0, "x", 100, NULL);
    assert_int_equal(wr_index_add_run(ix,
                                      &(struct wr_run){.offset = 0,
                                                       .length = 10,
                                                       .count = 11,
                                                       .labels = NULL},
                                      &err),
                     WEIR_EINVAL);
    assert_int_equal(wr_index_add_run(ix,
                                      &(struct wr_run){.offset = 0,
                                                       .length = 0,
                                                       .count = 1,
                                                       .labels = NULL},
                                      &err),
                     WEIR_EINVAL);
    assert_int_equal(wr_index_add_run(ix,
                                      &(struct wr_run){.offset = UINT64_MAX,
                                                       .length = 2,
                                                       .count = 1,
                                                       .labels = NULL},
                                      &err),
                     WEIR_EINVAL);
    assert_int_equal(wr_index_add_run(ix,
                                      &(struct wr_run){.offset = 0,
                                                       .length = UINT64_MAX / 2,
                                                       .count = 3,
                                                       .labels = NULL},
                                      &err),
                     WEIR_EINVAL);
    assert_int_equal(wr_index_count(ix), 0);
    assert_int_equal(wr_index_add_run(ix,
                                      &(struct wr_run){.offset = 0,
                                                       .length = 10,
                                                       .count = 10,
                                                       .labels = NULL},
                                      &err),
                     0);
    assert_int_equal(wr_index_add_whole(ix, 0, 0, &err), WEIR_EINVAL);
    wr_index_add_object(ix, 0, "huge", UINT64_MAX, NULL);
    assert_int_equal(wr_index_add_whole(ix, 0, 0, &err), WEIR_ELIMIT);
    assert_int_equal(wr_index_bytes(ix), 100);
    wr_index_free(ix);
}

static void test_memory_per_sample(void **state)
{
    const unsigned count = 100000;
    struct wr_index *ix = wr_index_new();
    char name[32];

    (void)state;
    for (unsigned k = 0; k < count; k++) {
        char dir[16];

        snprintf(dir, sizeof(dir), "n%08u", k / 100);
        snprintf(name, sizeof(name), "n%08u_%010u", k / 100, k); /* 20 */
        assert_true(wr_index_add_object(ix, wr_index_add_dir(ix, dir, NULL),
                                        name, k, NULL) >= 0);
        assert_int_equal(wr_index_add_whole(ix, 0, k / 100, NULL), 0);
    }
    assert_int_equal(wr_index_seal(ix, NULL), 0);
    assert_true(wr_index_memory(ix) < (size_t)count * 64);
    wr_index_free(ix);
}

/* A run costs the same however many samples it has. */
static void test_memory_of_runs(void **state)
{
    struct wr_index *ix = wr_index_new();
    struct wr_part p;

    (void)state;
    wr_index_add_dir(ix, "", NULL);
    wr_index_add_object(ix, 0, "a.wt", UINT64_C(1) << 50, NULL);
    assert_int_equal(
        wr_index_add_run(ix,
                         &(struct wr_run){.offset = 4096,
                                          .length = 64,
                                          .count = UINT64_C(1) << 40,
                                          .labels = NULL},
                         NULL),
        0);
    assert_int_equal(wr_index_seal(ix, NULL), 0);
    assert_true(wr_index_memory(ix) < 4096);
    wr_index_part(ix, 0, (UINT64_C(1) << 40) - 1, &p);
    assert_int_equal(p.offset, 4096 + ((UINT64_C(1) << 40) - 1) * 64);
    wr_index_free(ix);
}

static void test_issues(void **state)
{
    struct wr_index *ix = wr_index_new();
    char name[32];

    (void)state;
    for (unsigned k = 0; k < 1234; k++) {
        snprintf(name, sizeof(name), "f%u", k);
        wr_index_add_issue(ix, name, WEIR_EIO, "because");
    }
    assert_int_equal(wr_index_issue_count(ix), 1234);
    assert_string_equal(wr_index_issue(ix, 999)->name, "f999");
    assert_string_equal(wr_index_issue(ix, 0)->reason, "because");
    assert_int_equal(wr_index_issue(ix, 0)->code, WEIR_EIO);
    assert_null(wr_index_issue(ix, 1000));
    wr_index_free(ix);
}

static void test_classes(void **state)
{
    struct wr_index *ix = wr_index_new();

    (void)state;
    assert_int_equal(wr_index_class_count(ix), 0);
    assert_int_equal(wr_index_add_class(ix, "cat", NULL), 0);
    assert_int_equal(wr_index_add_class(ix, "dog", NULL), 1);
    assert_int_equal(wr_index_class_count(ix), 2);
    assert_string_equal(wr_index_class_name(ix, 1), "dog");
    assert_null(wr_index_class_name(ix, 2));
    assert_null(wr_index_class_name(ix, WEIR_NO_LABEL));
    wr_index_add_dir(ix, "", NULL);
    wr_index_add_object(ix, 0, "x", 1, NULL);
    wr_index_add_whole(ix, 0, 9, NULL); /* a label without a name */
    assert_int_equal(wr_index_class_count(ix), 10);
    assert_null(wr_index_class_name(ix, 9));
    wr_index_free(ix);
}

static void test_classes_by_name(void **state)
{
    static const char *const names[] = {"dog", "ant", "cat", "Dog", "a"};
    static const uint32_t ranks[] = {4, 2, 3, 0, 1};
    struct wr_index *ix = wr_index_new();
    struct wr_intern in = {0};
    uint32_t *rank = NULL;
    struct wr_part p;

    (void)state;
    assert_int_equal(wr_index_add_classes(ix, &in, &rank, NULL), 0);
    free(rank);
    for (unsigned k = 0; k < 5; k++)
        wr_intern_add(&in, names[k], strlen(names[k]));
    assert_int_equal(wr_index_add_classes(ix, &in, &rank, NULL), 0);
    assert_memory_equal(rank, ranks, sizeof(ranks));
    for (unsigned k = 0; k < 5; k++)
        assert_string_equal(wr_index_class_name(ix, rank[k]), names[k]);
    wr_index_add_dir(ix, "", NULL);
    for (unsigned k = 0; k < 6; k++) {
        struct wr_record r = {.length = 1, .label = WEIR_NO_LABEL};

        if (k % 3 == 0)
            wr_index_add_object(ix, 0, "x", 1, NULL);
        assert_int_equal(wr_index_add_record(ix, &r, NULL), 0);
    }
    wr_index_set_label(ix, 4, 7);
    for (unsigned k = 0; k < 6; k++) {
        wr_index_part(ix, 0, k, &p);
        assert_int_equal(p.label, k == 4 ? 7 : WEIR_NO_LABEL);
    }
    assert_int_equal(wr_index_class_count(ix), 8);
    wr_intern_done(&in);
    free(rank);
    wr_index_free(ix);
}

/* Caches and conversions of earlier versions go by these. */
static void test_fingerprints(void **state)
{
    static const uint64_t known[INDEX_KINDS] = {
        [INDEX_WHOLE] = 0x305b0f0f0072d392,
        [INDEX_RUNS] = 0xef52f501166a13c2,
        [INDEX_RECORDS] = 0x3b45335aaff01c60,
        [INDEX_PLAIN] = 0xbe6af2a2be3aaa4d,
        [INDEX_MIXED] = 0x3ae043856e74b121,
    };

    (void)state;
    for (enum index_kind k = 0; k < INDEX_KINDS && k < INDEX_COLUMNS; k++) {
        struct wr_index *ix = index_make(k);

        assert_true(wr_index_fingerprint(ix) == known[k]);
        wr_index_free(ix);
    }
}

/* Pictures, masks and records of two shards, filled by turns. */
static void test_columns(void **state)
{
    struct wr_index *ix = index_make(INDEX_COLUMNS);
    const struct wr_schema *s = wr_index_schema(ix);
    union wr_scalar v;
    struct wr_part p;

    (void)state;
    assert_int_equal(wr_index_columns(ix), 3);
    assert_int_equal(wr_index_count(ix), 6);
    assert_int_equal(ix->columns[0].count, 1); /* one segment of files */
    assert_int_equal(ix->columns[1].count, 1);
    for (uint64_t i = 0; i < 6; i++) {
        wr_index_part(ix, 0, i, &p);
        assert_int_equal(p.object, 2 * i);
        assert_true(p.whole);
        assert_int_equal(p.label, i % 2);
        wr_index_part(ix, 1, i, &p);
        assert_int_equal(p.object, 2 * i + 1);
        assert_int_equal(p.length, 10 + i);
        wr_index_part(ix, 2, i, &p);
        assert_int_equal(p.object, 12 + i / 3);
        assert_int_equal(p.absent, i == 4);
        assert_int_equal(p.length, i == 4 ? 0 : 5);
        assert_int_equal(p.offset, i == 4 ? 0 : i % 3 * 5);
        assert_true(wr_index_scalar(ix, 3, i, &v));
        assert_true(v.f == 0.5 * (double)i);
        assert_true(wr_index_scalar(ix, 4, i, &v));
        assert_int_equal(v.i, -(int64_t)i);
        assert_true(wr_index_scalar(ix, 5, i, &v));
        assert_int_equal(v.i, i % 2);
        assert_false(wr_index_scalar(ix, 0, i, &v));
    }
    assert_int_equal(s->count, 6);
    assert_string_equal(s->fields[5].pub.name, "label");
    assert_ptr_equal(wr_schema_label(s), &s->fields[5]);
    wr_index_free(ix);
}

/* Samples that lie across each other: along the last axis of an array. */
static void test_strides(void **state)
{
    const struct wr_field x = {
        .pub = {.dtype = WEIR_F32, .ndim = 1, .dims = {3}},
        .name = "x",
        .strided = true,
        .strides = {20},
    };
    struct wr_index *ix = wr_index_new();
    struct wr_part p;

    (void)state;
    index_object(ix, "", "a.npy", 128 + 60);
    assert_int_equal(wr_index_add_field(ix, &x, NULL), 0);
    assert_int_equal(wr_index_add_run(ix,
                                      &(struct wr_run){.offset = 128,
                                                       .length = 44,
                                                       .stride = 4,
                                                       .count = 6},
                                      NULL),
                     WEIR_EINVAL); /* one more than there is room for */
    assert_int_equal(wr_index_add_run(ix,
                                      &(struct wr_run){.offset = 128,
                                                       .length = 44,
                                                       .stride = 4,
                                                       .count = 5},
                                      NULL),
                     0);
    assert_int_equal(wr_index_seal(ix, NULL), 0);
    assert_null(wr_index_check(ix));
    wr_index_part(ix, 0, 4, &p);
    assert_int_equal(p.offset, 128 + 16);
    assert_int_equal(p.length, 44);
    wr_index_free(ix);
}

static void test_unequal_columns(void **state)
{
    struct wr_index *ix = wr_index_new();
    weir_err err;

    (void)state;
    index_object(ix, "", "a.jpg", 1);
    assert_int_equal(wr_index_add_whole(ix, 0, 0, NULL), 0);
    index_object(ix, "", "b.jpg", 1);
    assert_int_equal(wr_index_add_whole(ix, 0, 0, NULL), 0);
    index_object(ix, "", "b.png", 1);
    assert_int_equal(wr_index_add_whole(ix, 1, WEIR_NO_LABEL, NULL), 0);
    assert_int_equal(wr_index_seal(ix, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "column 1"));
    wr_index_free(ix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingerprints),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_unequal_columns),
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory_per_sample),
        cmocka_unit_test(test_memory_of_runs),
        cmocka_unit_test(test_issues),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_classes_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
