/* indexes.h - one index of every kind, and whether two say the same.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_INDEXES_H
#define TEST_FORMAT_INDEXES_H

#include <stdio.h>

#include "codec/filters.h"
#include "format/listing.h"
#include "format/index.h"
#include "index_tiles.h"

enum index_kind {
    INDEX_WHOLE,   /* a tree of pictures, with problems */
    INDEX_RUNS,    /* tensors, with a shape, some with labels */
    INDEX_RECORDS, /* shards, one of them gzip, with names */
    INDEX_PLAIN,   /* records without names */
    INDEX_MIXED,   /* all of them one after another */
    INDEX_COLUMNS, /* three columns: files, files and records, and scalars */
    INDEX_TILES,   /* a field in two columns of tiles, packed, raw and fill */
    INDEX_KINDS
};

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
            wr_index_add_whole(ix, 0, k == 4 ? WEIR_NO_LABEL : k / 3, NULL), 0);
    }
    for (unsigned k = 0; k < 3; k++) {
        char name[16];

        snprintf(name, sizeof(name), "class%u", k);
        assert_int_equal(wr_index_add_class(ix, name, NULL), k);
    }
    wr_index_add_issue(ix, "class1/x", WEIR_EFORMAT, "a link back");
    wr_index_add_missing(ix, "gone.jpg", "not there");
}

static inline int index_run(struct wr_index *ix, uint64_t offset,
                            uint64_t count, const uint32_t *labels)
{
    return wr_index_add_run(
        ix,
        &(struct wr_run){
            .offset = offset, .length = 12, .count = count, .labels = labels},
        NULL);
}

static inline void index_add_runs(struct wr_index *ix)
{
    static const uint32_t labels[5] = {7, 0, WEIR_NO_LABEL, 2, 2};

    index_object(ix, "", "a.wt", 4096);
    assert_int_equal(index_run(ix, 128, 5, labels), 0);
    index_object(ix, "", "b.npy", 300);
    assert_int_equal(index_run(ix, 64, 3, NULL), 0);
    index_object(ix, "", "c.npy", 300);
    assert_int_equal(index_run(ix, 64, 5, labels), 0);
}

static inline void index_add_records(struct wr_index *ix, bool named)
{
    const struct wr_unit gzip = {
        .stored = 30, .inflated = 500, .filters = WR_FILTER_GZIP};

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
            assert_int_equal(wr_index_add_unit(ix, &gzip, NULL), 0);
        assert_int_equal(wr_index_add_record(ix, &r, NULL), 0);
    }
}

static inline void index_add_column_fields(struct wr_index *ix)
{
    const struct wr_field fields[] = {
        {.pub = {.kind = WEIR_FIELD_PICTURE, .dtype = WEIR_U8},
         .name = "image"},
        {.pub = {.kind = WEIR_FIELD_PICTURE, .dtype = WEIR_U8},
         .name = "mask",
         .column = 1},
        {.pub = {.kind = WEIR_FIELD_TENSOR,
                 .dtype = WEIR_U8,
                 .ndim = 1,
                 .dims = {5}},
         .name = "depth",
         .column = 2},
        {.pub = {.kind = WEIR_FIELD_SCALAR, .dtype = WEIR_F64},
         .name = "weight",
         .column = WR_NO_COLUMN},
        {.pub = {.kind = WEIR_FIELD_SCALAR, .dtype = WEIR_I64},
         .name = "turn",
         .column = WR_NO_COLUMN},
    };

    for (unsigned k = 0; k < 5; k++)
        assert_int_equal(wr_index_add_field(ix, &fields[k], NULL), 0);
}

static inline void index_add_columns(struct wr_index *ix)
{
    index_add_column_fields(ix);
    for (unsigned i = 0; i < 6; i++) {
        const union wr_scalar row[2] = {{.f = 0.5 * i}, {.i = -(int64_t)i}};

        index_object(ix, "images", "a.jpg", 100 + i);
        assert_int_equal(wr_index_add_whole(ix, 0, i % 2, NULL), 0);
        index_object(ix, "masks", "a.png", 10 + i);
        assert_int_equal(wr_index_add_whole(ix, 1, WEIR_NO_LABEL, NULL), 0);
        assert_int_equal(wr_index_add_scalars(ix, row, NULL), 0);
    }
    for (unsigned i = 0; i < 6; i++) {
        struct wr_record r = {.column = 2,
                              .offset = i == 4 ? WR_ABSENT : i % 3 * 5,
                              .length = i == 4 ? 0 : 5,
                              .label = WEIR_NO_LABEL};

        if (i % 3 == 0)
            index_object(ix, "", i ? "1.bin" : "0.bin", 15);
        assert_int_equal(wr_index_add_record(ix, &r, NULL), 0);
    }
}

static inline struct wr_index *index_make(enum index_kind kind)
{
    static const struct wr_stamp stamps[] = {{1, 2, 4096, 5, 7},
                                             {1, 3, 99, 6, 8}};
    struct wr_index *ix = wr_index_new();

    assert_non_null(ix);
    if (kind == INDEX_WHOLE || kind == INDEX_MIXED)
        index_add_whole(ix);
    if (kind == INDEX_RUNS || kind == INDEX_MIXED)
        index_add_runs(ix);
    if (kind == INDEX_COLUMNS)
        index_add_columns(ix);
    else if (kind == INDEX_TILES)
        index_add_tiles(ix);
    else if (kind != INDEX_WHOLE && kind != INDEX_RUNS)
        index_add_records(ix, kind != INDEX_PLAIN);
    if (kind == INDEX_RUNS) {
        const struct wr_field x = {
            .pub = {.dtype = WEIR_F16, .ndim = 2, .dims = {2, 3}}, .name = "x"};

        assert_int_equal(wr_index_add_field(ix, &x, NULL), 0);
    }
    assert_int_equal(wr_index_add_stamp(ix, "", &stamps[0], NULL), 0);
    assert_int_equal(wr_index_add_stamp(ix, "class0", &stamps[1], NULL), 0);
    assert_int_equal(wr_index_seal(ix, NULL), 0);
    return ix;
}

static inline void index_same_samples(const struct wr_index *a,
                                      const struct wr_index *b)
{
    assert_int_equal(wr_index_count(a), wr_index_count(b));
    for (uint64_t i = 0; i < wr_index_count(a); i++) {
        const char *m = wr_index_sample_name(a, i);
        const char *n = wr_index_sample_name(b, i);
        struct wr_part p, q;

        assert_int_equal(wr_index_columns(a), wr_index_columns(b));
        for (unsigned c = 1; c < wr_index_columns(a); c++) {
            wr_index_part(a, c, i, &p);
            wr_index_part(b, c, i, &q);
            assert_memory_equal(&p, &q, sizeof(p));
        }
        wr_index_part(a, 0, i, &p);
        wr_index_part(b, 0, i, &q);
        assert_int_equal(p.object, q.object);
        assert_int_equal(p.offset, q.offset);
        assert_int_equal(p.length, q.length);
        assert_int_equal(p.label, q.label);
        assert_int_equal(p.whole, q.whole);
        assert_int_equal(p.unit, q.unit);
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
    }
}

static inline void index_same_rest(const struct wr_index *a,
                                   const struct wr_index *b)
{
    const struct wr_schema *s = wr_index_schema(a), *t = wr_index_schema(b);
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
    assert_int_equal(s->count, t->count);
    for (unsigned k = 0; k < s->count; k++) {
        struct wr_field m = s->fields[k], n = t->fields[k];

        m.pub.name = n.pub.name = NULL;
        assert_memory_equal(&m, &n, sizeof(m));
    }
    assert_int_equal(wr_index_unit_count(a), wr_index_unit_count(b));
    for (uint64_t k = 0; k < wr_index_unit_count(a); k++)
        assert_memory_equal(wr_index_unit(a, k), wr_index_unit(b, k),
                            sizeof(struct wr_unit));
}

/* Asks every question that an index answers. */
static inline void index_same(const struct wr_index *a,
                              const struct wr_index *b)
{
    index_same_samples(a, b);
    index_same_rest(a, b);
}

#endif
