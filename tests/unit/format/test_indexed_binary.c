/* test_indexed_binary.c - DLIO's indexed binary files, read and written.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "canceled.h"
#include "format/format.h"
#include "format/writer.h"
#include "tmpdir.h"
#include "weir/dataset.h"

#define NAME "img_0_of_1.indexed_binary"

struct entry {
    uint64_t offset, size;
};

/* A file of `bytes` zeros, and its index. */
static void put(const struct tmpdir *t, const char *name, size_t bytes,
                const struct entry *e, size_t count)
{
    uint64_t numbers[2][1024];
    char path[256];
    char *data = calloc(bytes + 1, 1);

    for (size_t k = 0; k < count; k++) {
        numbers[0][k] = htole64(e[k].offset);
        numbers[1][k] = htole64(e[k].size);
    }
    tmpdir_put(t, name, data, bytes);
    free(data);
    snprintf(path, sizeof(path), "%s.off.idx", name);
    tmpdir_put(t, path, numbers[0], count * 8);
    snprintf(path, sizeof(path), "%s.sz.idx", name);
    tmpdir_put(t, path, numbers[1], count * 8);
}

static int try_open(const struct tmpdir *t, const char *name,
                    const char *schema, weir_dataset **ds, weir_err *err)
{
    weir_dataset_config cfg;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    cfg.schema = schema;
    return weir_dataset_open(ds, name ? tmpdir_at(t, name) : t->path, &cfg,
                             err);
}

static weir_dataset *open_at(const struct tmpdir *t, const char *name,
                             const char *schema)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (try_open(t, name, schema, &ds, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(weir_dataset_format(ds), "indexed_binary");
    return ds;
}

static void check(const weir_dataset *ds, uint64_t i, uint64_t offset,
                  uint64_t length)
{
    struct wr_part p;

    wr_index_part(ds->index, 0, i, &p);
    assert_int_equal(p.label, WEIR_NO_LABEL);
    assert_int_equal(p.absent, length == 0);
    assert_int_equal(p.length, length);
    if (length)
        assert_int_equal(p.offset, offset);
}

static void check_field(const weir_dataset *ds, const char *want)
{
    const struct wr_schema *s = wr_index_schema(ds->index);
    char text[128];

    assert_int_equal(s->count, 1);
    assert_string_equal(s->fields[0].name, "x");
    assert_string_equal(wr_field_text(&s->fields[0].pub, text, sizeof(text)),
                        want);
}

static void check_issue(const weir_dataset *ds, uint64_t k, const char *name,
                        const char *what)
{
    const weir_issue *issue = weir_dataset_issue(ds, k);

    assert_non_null(issue);
    assert_string_equal(issue->name, name);
    if (!strstr(issue->reason, what))
        fail_msg("'%s' is not in '%s'", what, issue->reason);
}

static void done(weir_dataset *ds, const struct tmpdir *t)
{
    weir_dataset_close(&ds);
    tmpdir_done(t);
}

/* Equal samples that follow each other are one run, and a tensor. */
static void test_equal(void **state)
{
    struct entry e[1000];
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    for (unsigned k = 0; k < 1000; k++)
        e[k] = (struct entry){(uint64_t)k * 12, 12};
    tmpdir_init(&t);
    put(&t, NAME, 12000, e, 1000);
    put(&t, "z.mmap_indexed_binary", 24, e, 2);
    tmpdir_put_text(&t, "notes.txt", "");
    ds = open_at(&t, NULL, NULL);
    assert_int_equal(weir_dataset_count(ds), 1002);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    check_field(ds, "12 u8");
    check(ds, 0, 0, 12);
    check(ds, 999, 999 * 12, 12);
    check(ds, 1001, 12, 12);
    assert_int_equal(wr_index_object_count(ds->index), 2);
    assert_int_equal(wr_index_stamp_count(ds->index), 7);
    assert_true(wr_index_memory(ds->index) < 20000); /* no records */
    weir_dataset_close(&ds);

    ds = open_at(&t, NAME, "x=tensor:f32:3");
    check_field(ds, "3 f32");
    weir_dataset_close(&ds);
    ds = open_at(&t, NAME, "x=picture");
    check_field(ds, "picture");
    done(ds, &t);
}

static void test_differ(void **state)
{
    static const struct entry e[] = {{0, 5},  {5, 5},  {10, 7}, {20, 7},
                                     {27, 0}, {27, 3}, {30, 3}, {33, 3},
                                     {36, 3}, {39, 3}, {42, 3}, {45, 3}};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put(&t, NAME, 100, e, 12);
    ds = open_at(&t, NAME, NULL);
    assert_int_equal(weir_dataset_count(ds), 12);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    check_field(ds, "bytes");
    for (unsigned k = 0; k < 12; k++)
        check(ds, k, e[k].offset, e[k].size);
    done(ds, &t);
}

/* Entries that are wrong are named by their numbers. */
static void test_entries(void **state)
{
    static const struct entry e[] = {{0, 10},         {10, 10}, {95, 10},
                                     {UINT64_MAX, 2}, {100, 1}, {101, 0},
                                     {0, 10},         {10, 10}, {90, 10}};
    struct entry many[100];
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put(&t, NAME, 100, e, 9);
    ds = open_at(&t, NULL, NULL);
    assert_int_equal(weir_dataset_count(ds), 5);
    check(ds, 2, 0, 10);
    check(ds, 4, 90, 10);
    assert_int_equal(weir_dataset_issue_count(ds), 5);
    check_issue(ds, 0, NAME,
                "entry 2: 10 bytes at 95, outside of a file of 100 bytes");
    check_issue(ds, 1, NAME, "entry 3: 2 bytes at 18446744073709551615");
    check_issue(ds, 2, NAME, "entry 4: 1 bytes at 100");
    check_issue(ds, 3, NAME, "entry 5: 0 bytes at 101");
    check_issue(ds, 4, NAME, "entry 6 starts at byte 0, inside of");
    weir_dataset_close(&ds);

    for (unsigned k = 0; k < 100; k++)
        many[k] = (struct entry){k < 50 ? k : 1000, 1};
    put(&t, NAME, 100, many, 100);
    ds = open_at(&t, NULL, NULL);
    assert_int_equal(weir_dataset_count(ds), 50);
    assert_int_equal(weir_dataset_issue_count(ds), 17);
    check_issue(ds, 16, NAME, "34 more problems");
    done(ds, &t);
}

/* Index files that are none, or not there. */
static void test_indexes(void **state)
{
    static const struct entry e[] = {{0, 5}, {5, 5}};
    struct tmpdir t;
    weir_dataset *ds = NULL;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    for (char name[] = "a.indexed_binary"; name[0] < 'f'; name[0]++)
        put(&t, name, 10, e, 2);
    tmpdir_put(&t, "a.indexed_binary.off.idx", "1234567", 7);
    tmpdir_put(&t, "b.indexed_binary.sz.idx", "12345678", 8);
    unlink(tmpdir_at(&t, "c.indexed_binary.sz.idx"));
    unlink(tmpdir_at(&t, "d.indexed_binary.off.idx"));
    tmpdir_mkdir(&t, "d.indexed_binary.off.idx");
    ds = open_at(&t, NULL, NULL);
    assert_int_equal(weir_dataset_count(ds), 2);
    assert_int_equal(weir_dataset_issue_count(ds), 4);
    check_issue(ds, 0, "a.indexed_binary", ".off.idx has 7 bytes");
    check_issue(ds, 1, "b.indexed_binary", "2 offsets and 1 sizes");
    check_issue(ds, 2, "c.indexed_binary", "c.indexed_binary.sz.idx'");
    check_issue(ds, 3, "d.indexed_binary", "not a regular file");
    weir_dataset_close(&ds);

    assert_int_equal(try_open(&t, "a.indexed_binary", NULL, &ds, &err),
                     WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "a.indexed_binary': .off.idx has 7"));
    assert_int_equal(try_open(&t, "c.indexed_binary", NULL, &ds, &err),
                     WEIR_ENOENT);
    assert_null(ds);
    tmpdir_done(&t);
}

/* Files of other names, if their index lies beside them; many files. */
static void test_names(void **state)
{
    static const struct entry e[] = {{0, 5}, {5, 5}};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put(&t, "data", 10, e, 2);
    ds = open_at(&t, "data", NULL);
    assert_int_equal(weir_dataset_count(ds), 2);
    weir_dataset_close(&ds);
    for (unsigned k = 0; k < 150; k++) {
        char name[64];

        snprintf(name, sizeof(name), "img_%03u_of_150.indexed_binary", k);
        put(&t, name, 10 + k, e, 1 + k % 2);
    }
    ds = open_at(&t, NULL, NULL);
    assert_int_equal(weir_dataset_count(ds), 225);
    assert_int_equal(wr_index_object_size(ds->index, 149), 159);
    weir_dataset_close(&ds);
    check_canceled(t.path);
    tmpdir_done(&t);
}

static void test_faults(void **state)
{
    static const struct entry e[] = {{0, 5}, {5, 5}};
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    struct tmpdir t;
    char url[512];
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    put(&t, "a.indexed_binary", 10, e, 2);
    put(&t, "b.indexed_binary", 10, e, 2);
    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    snprintf(url, sizeof(url), "fault:eacces@~a.indexed_binary.sz:%s", t.path);
    assert_int_equal(weir_dataset_open(&ds, url, &cfg, &err), 0);
    assert_int_equal(weir_dataset_count(ds), 2);
    assert_int_equal(weir_dataset_issue(ds, 0)->code, WEIR_EACCES);
    done(ds, &t);
}

/* --- what is written --- */

static struct wr_store *open_store(const struct tmpdir *t)
{
    struct wr_store *st = NULL;
    char *leaf = NULL;

    assert_int_equal(wr_store_open(t->path, &st, &leaf, NULL), 0);
    free(leaf);
    return st;
}

static int put_side(void *folder, const char *path, const void *bytes,
                    size_t len, weir_err *err)
{
    tmpdir_put(folder, path, bytes, len);
    return 0;
}

/* `count` samples of `announced`, each of `bytes`, as a file and its index. */
static void write_file(const struct tmpdir *t, uint64_t announced,
                       uint64_t count, size_t bytes)
{
    const struct wr_array_writer_ops *ops = &wr_array_writer_indexed_binary;
    const weir_field x = {.kind = WEIR_FIELD_TENSOR,
                          .dtype = WEIR_F32,
                          .ndim = 1,
                          .dims = {bytes / 4}};
    const struct wr_array_layout l = {
        .fields = &x, .count = 1, .samples = announced};
    struct wr_store *st = open_store(t);
    struct tmpdir dir = *t;
    uint8_t *sample = malloc(bytes);
    struct wr_array_out *w = NULL;
    struct wr_object *o = NULL;
    uint64_t size = 0;
    weir_err err;

    assert_int_equal(st->ops->object_open(st, NAME, WR_OPEN_CREATE, &o, &err),
                     0);
    assert_int_equal(ops->open(o, &l, &w, &err), 0);
    for (uint64_t k = 0; k < count; k++) {
        memset(sample, (int)k, bytes);
        assert_int_equal(ops->add(w, &(struct wr_slice){sample, bytes}, &err),
                         0);
    }
    assert_int_equal(ops->add(w, &(struct wr_slice){sample, bytes - 1}, &err),
                     WEIR_EINVAL);
    if (count == announced)
        assert_int_equal(ops->add(w, &(struct wr_slice){sample, bytes}, &err),
                         WEIR_EINVAL);
    assert_int_equal(ops->finish(w, &size, &err), 0);
    assert_int_equal(size, count * bytes);
    if (wr_array_writer_sides(
            ops, w, &(struct wr_side_sink){NAME, put_side, &dir}, &err) < 0)
        fail_msg("%s", err.msg);
    ops->free(w);
    o->ops->close(o, /* sync= */ false, NULL);
    wr_store_close(st);
    free(sample);
}

static void test_write(void **state)
{
    static const size_t sizes[] = {4, 1000, 300000};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        char text[32];

        tmpdir_init(&t);
        write_file(&t, 10, k == 1 ? 7 : 10, sizes[k]);
        ds = open_at(&t, NAME, NULL);
        assert_int_equal(weir_dataset_count(ds), k == 1 ? 7 : 10);
        assert_int_equal(weir_dataset_issue_count(ds), 0);
        snprintf(text, sizeof(text), "%zu u8", sizes[k]);
        check_field(ds, text);
        check(ds, 6, 6 * sizes[k], sizes[k]);
        done(ds, &t);
    }
}

static void test_write_refused(void **state)
{
    const weir_field two[] = {
        {.kind = WEIR_FIELD_TENSOR, .dtype = WEIR_U8, .ndim = 1, .dims = {4}},
        {.kind = WEIR_FIELD_SCALAR, .dtype = WEIR_I64}};
    struct wr_array_layout l = {.fields = two, .count = 2, .samples = 1};
    struct wr_array_out *w = NULL;
    weir_err err;

    (void)state;
    assert_int_equal(wr_array_writer_indexed_binary.open(NULL, &l, &w, &err),
                     WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "one field and no labels"));
    l.count = 1;
    l.packed = true;
    assert_int_equal(wr_array_writer_indexed_binary.open(NULL, &l, &w, &err),
                     WEIR_ENOTSUP);
    assert_null(w);
    wr_array_writer_indexed_binary.free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),   cmocka_unit_test(test_differ),
        cmocka_unit_test(test_entries), cmocka_unit_test(test_indexes),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_faults),
        cmocka_unit_test(test_write),   cmocka_unit_test(test_write_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
