/* indexes.h - one index of every kind, and whether two say the same.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_INDEXES_H
#define TEST_FORMAT_INDEXES_H

#include <stdio.h>

#include "format/ignored.h"
#include "format/index.h"

enum index_kind {
    INDEX_WHOLE,   /* a tree of pictures, with problems */
    INDEX_RUNS,    /* tensors, with a shape, some with labels */
    INDEX_RECORDS, /* shards, one of them gzip, with names */
    INDEX_PLAIN,   /* records without names */
    INDEX_MIXED,   /* all of them one after another */
    INDEX_KINDS
};

static inline void index_object(struct wr_index *ix, const char *dir,
                                const char *name, uint64_t size)
{
    int64_t d = wr_index_add_dir(ix, dir, NULL);

    assert_true(d >= 0);
    assert_true(wr_index_add_object(ix, d, name, size, NULL) >= 0);
}

static inline void index_add_whole(struct wr_index *ix)
{
    struct wr_ignored ig = {0};

    assert_true(wr_ignored_add(&ig, "a.heic"));
    assert_true(wr_ignored_add(&ig, "b"));
    assert_true(wr_ignored_add(&ig, "c.heic"));
    assert_int_equal(wr_index_add_ignored(ix, &ig, NULL), 0);
    wr_ignored_done(&ig);
    for (unsigned k = 0; k < 9; k++) {
        char dir[16], name[16];

        snprintf(dir, sizeof(dir), "class%u", k / 3);
        snprintf(name, sizeof(name), "%u.jpg", k);
        index_object(ix, dir, name, 100 * k);
        assert_int_equal(
            wr_index_add_whole(ix, k == 4 ? WEIR_NO_LABEL : k / 3, NULL), 0);
    }
    for (unsigned k = 0; k < 3; k++) {
        char name[16];

        snprintf(name, sizeof(name), "class%u", k);
        assert_int_equal(wr_index_add_class(ix, name, NULL), k);
    }
    wr_index_add_issue(ix, "class1/x", WEIR_EFORMAT, "a link back");
    wr_index_add_missing(ix, "gone.jpg", "not there");
}

static inline void index_add_runs(struct wr_index *ix)
{
    static const uint32_t labels[5] = {7, 0, WEIR_NO_LABEL, 2, 2};

    index_object(ix, "", "a.wt", 4096);
    assert_int_equal(wr_index_add_run(ix, 128, 12, 5, labels, NULL), 0);
    index_object(ix, "", "b.npy", 300);
    assert_int_equal(wr_index_add_run(ix, 64, 12, 3, NULL, NULL), 0);
    index_object(ix, "", "c.npy", 300);
    assert_int_equal(wr_index_add_run(ix, 64, 12, 5, labels, NULL), 0);
}

static inline void index_add_records(struct wr_index *ix, bool named)
{
    for (unsigned k = 0; k < 12; k++) {
        char name[16];
        struct wr_record r = {.offset = k % 6 * 20,
                              .length = 3 + k,
                              .label = k == 3 ? WEIR_NO_LABEL : k,
                              .name = named ? name : NULL};

        snprintf(name, sizeof(name), "key%u", k);
        if (k % 6 == 0)
            index_object(ix, "shards", k ? "1.tar.gz" : "0.tar", k ? 30 : 400);
        if (k == 6)
            assert_int_equal(wr_index_set_packed(ix, 500, NULL), 0);
        assert_int_equal(wr_index_add_record(ix, &r, NULL), 0);
    }
}

static inline struct wr_index *index_make(enum index_kind kind)
{
    static const struct wr_stamp stamps[] = {{1, 2, 4096, 5}, {1, 3, 99, 6}};
    struct wr_index *ix = wr_index_new();

    assert_non_null(ix);
    if (kind == INDEX_WHOLE || kind == INDEX_MIXED)
        index_add_whole(ix);
    if (kind == INDEX_RUNS || kind == INDEX_MIXED)
        index_add_runs(ix);
    if (kind != INDEX_WHOLE && kind != INDEX_RUNS)
        index_add_records(ix, kind != INDEX_PLAIN);
    if (kind == INDEX_RUNS) {
        struct wr_sample_shape shape = {
            .known = true, .elem = WR_ELEM_F16, .ndim = 2, .dims = {2, 3}};

        wr_index_set_shape(ix, &shape);
    }
    assert_int_equal(wr_index_add_stamp(ix, "", &stamps[0], NULL), 0);
    assert_int_equal(wr_index_add_stamp(ix, "class0", &stamps[1], NULL), 0);
    wr_index_seal(ix);
    return ix;
}

static inline void index_same_samples(const struct wr_index *a,
                                      const struct wr_index *b)
{
    assert_int_equal(wr_index_count(a), wr_index_count(b));
    for (uint64_t i = 0; i < wr_index_count(a); i++) {
        const char *m = wr_index_sample_name(a, i);
        const char *n = wr_index_sample_name(b, i);
        struct wr_place p, q;

        wr_index_place(a, i, &p);
        wr_index_place(b, i, &q);
        assert_int_equal(p.object, q.object);
        assert_int_equal(p.offset, q.offset);
        assert_int_equal(p.length, q.length);
        assert_int_equal(p.label, q.label);
        assert_int_equal(p.whole, q.whole);
        assert_int_equal(p.packed, q.packed);
        assert_int_equal(!m, !n);
        if (m)
            assert_string_equal(m, n);
    }
    assert_int_equal(wr_index_object_count(a), wr_index_object_count(b));
    for (uint64_t k = 0; k < wr_index_object_count(a); k++) {
        char m[64], n[64];

        wr_index_object_path(a, k, m, sizeof(m));
        wr_index_object_path(b, k, n, sizeof(n));
        assert_string_equal(m, n);
        assert_int_equal(wr_index_object_size(a, k),
                         wr_index_object_size(b, k));
        assert_int_equal(wr_index_object_packed(a, k),
                         wr_index_object_packed(b, k));
    }
}

static inline void index_same_rest(const struct wr_index *a,
                                   const struct wr_index *b)
{
    const struct wr_sample_shape *s = wr_index_shape(a), *t = wr_index_shape(b);
    const struct wr_ignored *x = wr_index_ignored(a), *y = wr_index_ignored(b);

    assert_int_equal(x->count, y->count);
    for (size_t k = 0; k < x->count; k++)
        assert_memory_equal(&x->list[k], &y->list[k], sizeof(x->list[k]));
    assert_int_equal(wr_index_bytes(a), wr_index_bytes(b));
    assert_int_equal(wr_index_max_length(a), wr_index_max_length(b));
    assert_int_equal(wr_index_fingerprint(a), wr_index_fingerprint(b));
    assert_int_equal(wr_index_class_count(a), wr_index_class_count(b));
    for (uint32_t k = 0; k < wr_index_class_count(a); k++) {
        const char *m = wr_index_class_name(a, k),
                   *n = wr_index_class_name(b, k);

        assert_int_equal(!m, !n);
        if (m)
            assert_string_equal(m, n);
    }
    assert_int_equal(wr_index_stamp_count(a), wr_index_stamp_count(b));
    for (uint64_t k = 0; k < wr_index_stamp_count(a); k++) {
        struct wr_stamp m, n;
        const char *p, *q;

        wr_index_stamp(a, k, &m, &p);
        wr_index_stamp(b, k, &n, &q);
        assert_string_equal(p, q);
        assert_memory_equal(&m, &n, sizeof(m));
    }
    assert_int_equal(wr_index_issue_count(a), wr_index_issue_count(b));
    for (uint64_t k = 0; wr_index_issue(a, k); k++) {
        const weir_issue *m = wr_index_issue(a, k), *n = wr_index_issue(b, k);

        assert_string_equal(m->name, n->name);
        assert_string_equal(m->reason, n->reason);
        assert_int_equal(m->code, n->code);
    }
    assert_int_equal(s->known, t->known);
    if (!s->known)
        return;
    assert_int_equal(s->elem, t->elem);
    assert_int_equal(s->ndim, t->ndim);
    assert_memory_equal(s->dims, t->dims, s->ndim * sizeof(s->dims[0]));
}

/* Asks every question that an index answers. */
static inline void index_same(const struct wr_index *a,
                              const struct wr_index *b)
{
    index_same_samples(a, b);
    index_same_rest(a, b);
}

#endif
