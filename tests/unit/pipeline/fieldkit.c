/* fieldkit.c - a data set whose samples have five fields, made by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fieldkit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "format/format.h"
#include "storage/storage.h"

#define PART_MAX 128u

static const char *const columns[FK_COLUMNS] = {"x", "mask", "text"};

static const struct wr_format_ops format = {.name = "by hand"};

size_t fk_text_len(uint64_t id)
{
    return 1 + id * 7 % (PART_MAX - 1);
}

static size_t part_len(unsigned column, uint64_t id)
{
    return column == FK_COLUMN_X      ? FK_X
           : column == FK_COLUMN_MASK ? FK_MASK
                                      : fk_text_len(id);
}

static uint8_t part_byte(unsigned column, uint64_t id, size_t at)
{
    return (uint8_t)wr_mix64((id * FK_COLUMNS + column) * 1000 + at);
}

static float weight_of(uint64_t id)
{
    return (float)id / 4 - 1;
}

static uint32_t label_of(uint64_t id)
{
    return (uint32_t)(id % 5);
}

/* --- files --- */

static void part_path(const struct fk *fk, unsigned column, uint32_t i,
                      char *buf, size_t cap)
{
    if (fk->whole)
        snprintf(buf, cap, "%s/%s/%05u", fk->dir, columns[column], i);
    else
        snprintf(buf, cap, "%s/%s.bin", fk->dir, columns[column]);
}

static void write_part(const struct fk *fk, unsigned column, uint32_t i,
                       size_t more)
{
    size_t len = part_len(column, i) + more;
    uint8_t bytes[2 * PART_MAX];
    char path[512];
    FILE *f;

    for (size_t k = 0; k < len; k++)
        bytes[k] = part_byte(column, i, k);
    part_path(fk, column, i, path, sizeof(path));
    f = fopen(path, fk->whole ? "wb" : "ab");
    if (!f || fwrite(bytes, 1, len, f) != len || fclose(f))
        abort();
}

void fk_make(struct fk *fk, uint32_t n, bool whole)
{
    char path[512];

    *fk = (struct fk){.n = n, .whole = whole};
    snprintf(fk->dir, sizeof(fk->dir), "/tmp/weir-test-XXXXXX");
    if (!mkdtemp(fk->dir))
        abort();
    for (unsigned c = 0; c < FK_COLUMNS; c++) {
        snprintf(path, sizeof(path), "%s/%s", fk->dir, columns[c]);
        if (mkdir(path, 0755))
            abort();
        for (uint32_t i = 0; i < n; i++)
            write_part(fk, c, i, 0);
    }
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void fk_done(struct fk *fk)
{
    nftw(fk->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void fk_remove(const struct fk *fk, enum fk_column column, uint32_t i)
{
    char path[512];

    part_path(fk, column, i, path, sizeof(path));
    if (unlink(path))
        abort();
}

void fk_grow(const struct fk *fk, enum fk_column column, uint32_t i)
{
    write_part(fk, column, i, 1);
}

/* --- the index --- */

static void add_fields(struct wr_index *ix)
{
    const struct wr_field fields[] = {
        {.name = "x",
         .pub = {.dtype = WEIR_U8, .ndim = 3, .dims = {4, 4, 3}},
         .column = FK_COLUMN_X},
        {.name = "mask",
         .pub = {.dtype = WEIR_U8, .ndim = 2, .dims = {4, 4}},
         .column = FK_COLUMN_MASK},
        {.name = "text",
         .pub = {.kind = WEIR_FIELD_BYTES,
                 .dtype = WEIR_U8,
                 .ndim = 1,
                 .dims = {WEIR_DIM_VARIES}},
         .column = FK_COLUMN_TEXT},
        {.name = "weight",
         .pub = {.kind = WEIR_FIELD_SCALAR, .dtype = WEIR_F32},
         .column = WR_NO_COLUMN},
    };

    for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
        assert_int_equal(wr_index_add_field(ix, &fields[k], NULL), 0);
}

static void add_object(struct wr_index *ix, const char *folder,
                       const char *name, uint64_t size)
{
    int64_t dir = wr_index_add_dir(ix, folder, NULL);

    assert_true(dir >= 0);
    assert_true(wr_index_add_object(ix, dir, name, size, NULL) >= 0);
}

/* The columns by turns, as a list of files has them. */
static void add_files(const struct fk *fk, struct wr_index *ix)
{
    for (uint32_t i = 0; i < fk->n; i++)
        for (unsigned c = 0; c < FK_COLUMNS; c++) {
            char name[16];

            snprintf(name, sizeof(name), "%05u", i);
            add_object(ix, columns[c], name, part_len(c, i));
            assert_int_equal(wr_index_add_whole(
                                 ix, c, c ? WEIR_NO_LABEL : label_of(i), NULL),
                             0);
        }
}

static void add_runs(const struct fk *fk, struct wr_index *ix)
{
    uint32_t *labels = calloc(fk->n, sizeof(*labels));
    uint64_t at = 0;

    assert_non_null(labels);
    for (uint32_t i = 0; i < fk->n; i++)
        labels[i] = label_of(i);
    for (unsigned c = 0; c < FK_COLUMN_TEXT; c++) {
        char name[16];

        snprintf(name, sizeof(name), "%s.bin", columns[c]);
        add_object(ix, "", name, part_len(c, 0) * fk->n);
        assert_int_equal(
            wr_index_add_run(ix,
                             &(struct wr_run){.column = c,
                                              .length = part_len(c, 0),
                                              .count = fk->n,
                                              .labels = c ? NULL : labels},
                             NULL),
            0);
    }
    free(labels);
    add_object(ix, "", "text.bin", (uint64_t)PART_MAX * fk->n);
    for (uint32_t i = 0; i < fk->n; at += fk_text_len(i++))
        assert_int_equal(
            wr_index_add_record(ix,
                                &(struct wr_record){.column = FK_COLUMN_TEXT,
                                                    .offset = at,
                                                    .length = fk_text_len(i),
                                                    .label = WEIR_NO_LABEL},
                                NULL),
            0);
}

weir_dataset *fk_open(const struct fk *fk, const char *prefix)
{
    weir_dataset *ds = calloc(1, sizeof(*ds));
    char *leaf = NULL;
    weir_err err;

    assert_non_null(ds);
    if (asprintf(&ds->url, "%s%s", prefix, fk->dir) < 0)
        abort();
    if (wr_store_open(ds->url, &ds->store, &leaf, &err) < 0)
        fail_msg("%s", err.msg);
    free(leaf);
    ds->format = &format;
    ds->index = wr_index_new();
    assert_non_null(ds->index);
    add_fields(ds->index);
    if (fk->whole)
        add_files(fk, ds->index);
    else
        add_runs(fk, ds->index);
    for (uint32_t i = 0; i < fk->n; i++)
        assert_int_equal(
            wr_index_add_scalars(
                ds->index, &(union wr_scalar){.f = (double)weight_of(i)}, NULL),
            0);
    if (wr_index_seal(ds->index, &err) < 0)
        fail_msg("%s", err.msg);
    return ds;
}

void fk_config(weir_pipeline_config *cfg)
{
    weir_pipeline_defaults(cfg);
    cfg->batch = 4;
    cfg->threads = 2;
    cfg->depth = 4;
    cfg->picture.dtype = WEIR_U8;
    cfg->fields = "*";
}

/* --- batches --- */

const weir_batch_field *fk_field(const weir_batch *b, const char *name)
{
    for (uint32_t k = 0; k < b->field_count; k++)
        if (!strcmp(b->fields[k].name, name))
            return &b->fields[k];
    return NULL;
}

static void check_part(const weir_batch *b, const weir_batch_field *f,
                       unsigned column)
{
    size_t at = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        const uint8_t *bytes = (const uint8_t *)f->data + at;
        size_t len = part_len(column, b->ids[i]);

        if (f->offsets) {
            assert_int_equal(f->offsets[i], at);
            assert_int_equal(f->offsets[i + 1] - f->offsets[i], len);
        }
        for (size_t k = 0; k < len; k++)
            if (bytes[k] != part_byte(column, b->ids[i], k))
                fail_msg("sample %lu: %s: byte %zu is wrong",
                         (unsigned long)b->ids[i], f->name, k);
        at += len;
    }
    assert_int_equal(f->bytes, at);
}

void fk_check(const weir_batch *b)
{
    for (uint32_t k = 0; k < b->field_count; k++) {
        const weir_batch_field *f = &b->fields[k];

        assert_int_equal((uintptr_t)f->data % 64, 0);
        assert_int_equal(f->shape[0], b->count);
        for (unsigned c = 0; c < FK_COLUMNS; c++)
            if (!strcmp(f->name, columns[c]))
                check_part(b, f, c);
        for (uint32_t i = 0; i < b->count; i++)
            if (!strcmp(f->name, "weight"))
                assert_true(((const float *)f->data)[i] ==
                            weight_of(b->ids[i]));
            else if (!strcmp(f->name, "label"))
                assert_int_equal(((const int64_t *)f->data)[i],
                                 label_of(b->ids[i]));
    }
    for (uint32_t i = 0; i < b->count; i++)
        assert_int_equal(b->labels[i], label_of(b->ids[i]));
}
