/* threekit.c - samples of three fields: image, mask and weight (and a label).
 * SPDX-License-Identifier: Apache-2.0 */
#include "threekit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <xxhash.h>

#include "../codec/gzip.h"
#include "codec/filters.h"
#include "format/format.h"
#include "golden_pictures.h"
#include "storage/storage.h"

#define OTHER 600u /* pictures of the same sizes, with other pixels */

static const char *const columns[TK_COLUMNS] = {"image", "mask"};
static const struct wr_format_ops format = {.name = "three"};

uint32_t tk_label(uint64_t id)
{
    return (uint32_t)(id % 4);
}

float tk_weight(uint64_t id)
{
    return (float)id / 8 - 2;
}

/* --- files --- */

static size_t make_part(const struct tk *tk, unsigned column, uint32_t i,
                        uint8_t *out)
{
    static const enum gp_kind kinds[] = {GP_PPM, GP_BMP, GP_JPEG};

    if (column == TK_MASK && !tk->twins)
        return gp_make(GP_PGM, i + OTHER, out);
    return gp_make(kinds[i % 3], i, out);
}

/* Of a sample's file, or of the shard that it is in. */
static const char *name_of(const struct tk *tk, unsigned column, uint32_t i)
{
    static char name[64];

    if (tk->kind == TK_FILES)
        snprintf(name, sizeof(name), "%s/%05u.pic", columns[column], i);
    else
        snprintf(name, sizeof(name), "%s/%u%s", columns[column], i / TK_SHARD,
                 tk->kind == TK_GZIPPED ? ".gz" : ".bin");
    return name;
}

static void make_shard(struct tk *tk, unsigned column, uint32_t from)
{
    uint8_t *all = malloc(TK_SHARD * GP_CAP), *packed;
    size_t len = 0;

    if (!all)
        abort();
    for (uint32_t i = from; i < from + TK_SHARD; i++)
        len += tk->sizes[column][i] = make_part(tk, column, i, all + len);
    if (tk->kind == TK_GZIPPED) {
        packed = gzip_member(all, len, &len);
        free(all);
        all = packed;
    }
    tmpdir_put(&tk->tmp, name_of(tk, column, from), all, len);
    free(all);
}

void tk_mend(const struct tk *tk, enum tk_column column, uint32_t i)
{
    static uint8_t bytes[GP_CAP];

    tmpdir_put(&tk->tmp, name_of(tk, column, i), bytes,
               make_part(tk, column, i, bytes));
}

void tk_spoil(const struct tk *tk, enum tk_column column, uint32_t i)
{
    static const uint8_t zeros[GP_CAP];

    tmpdir_put(&tk->tmp, name_of(tk, column, i), zeros, tk->sizes[column][i]);
}

void tk_make(struct tk *tk, enum tk_kind kind, bool twins)
{
    static uint8_t bytes[GP_CAP];

    *tk = (struct tk){.kind = kind, .twins = twins};
    tmpdir_init(&tk->tmp);
    for (unsigned c = 0; c < TK_COLUMNS; c++) {
        tmpdir_mkdir(&tk->tmp, columns[c]);
        for (uint32_t i = 0; i < TK_N; i++)
            if (kind == TK_FILES) {
                tk->sizes[c][i] = make_part(tk, c, i, bytes);
                tk_mend(tk, c, i);
            } else if (i % TK_SHARD == 0) {
                make_shard(tk, c, i);
            }
    }
}

void tk_done(struct tk *tk)
{
    tmpdir_done(&tk->tmp);
}

/* --- the index --- */

static void add_fields(struct wr_index *ix)
{
    struct wr_field weight = {
        .name = "weight",
        .pub = {.kind = WEIR_FIELD_SCALAR, .dtype = WEIR_F32},
        .column = WR_NO_COLUMN,
    };

    for (unsigned c = 0; c < TK_COLUMNS; c++) {
        struct wr_field f = {
            .pub = {.kind = WEIR_FIELD_PICTURE,
                    .dtype = WEIR_U8,
                    .ndim = 1,
                    .dims = {WEIR_DIM_VARIES}},
            .column = c,
        };

        snprintf(f.name, sizeof(f.name), "%s", columns[c]);
        assert_int_equal(wr_index_add_field(ix, &f, NULL), 0);
    }
    assert_int_equal(wr_index_add_field(ix, &weight, NULL), 0);
}

static void add_object(const struct tk *tk, struct wr_index *ix,
                       unsigned column, uint32_t i)
{
    const char *name = name_of(tk, column, i);
    int64_t dir = wr_index_add_dir(ix, columns[column], NULL);
    struct stat sb;

    assert_true(dir >= 0);
    assert_int_equal(stat(tmpdir_at(&tk->tmp, name), &sb), 0);
    assert_true(wr_index_add_object(ix, dir, strchr(name, '/') + 1,
                                    (uint64_t)sb.st_size, NULL) >= 0);
}

static void add_shard(const struct tk *tk, struct wr_index *ix, unsigned column,
                      uint32_t from)
{
    uint64_t at = 0, all = 0;

    add_object(tk, ix, column, from);
    for (uint32_t i = from; i < from + TK_SHARD; i++)
        all += tk->sizes[column][i];
    if (tk->kind == TK_GZIPPED) {
        struct wr_unit u = {.inflated = all, .filters = WR_FILTER_GZIP};
        struct stat sb;

        stat(tmpdir_at(&tk->tmp, name_of(tk, column, from)), &sb);
        u.stored = (uint64_t)sb.st_size;
        assert_true(wr_index_add_unit(ix, &u, NULL) >= 0);
    }
    for (uint32_t i = from; i < from + TK_SHARD; i++) {
        struct wr_record r = {.column = column,
                              .offset = at,
                              .length = tk->sizes[column][i],
                              .label = column ? WEIR_NO_LABEL : tk_label(i)};

        assert_int_equal(wr_index_add_record(ix, &r, NULL), 0);
        at += r.length;
    }
}

static void add_parts(const struct tk *tk, struct wr_index *ix)
{
    for (uint32_t i = 0; i < TK_N; i++)
        for (unsigned c = 0; c < TK_COLUMNS; c++)
            if (tk->kind == TK_FILES) {
                uint32_t label = c ? WEIR_NO_LABEL : tk_label(i);

                add_object(tk, ix, c, i);
                assert_int_equal(wr_index_add_whole(ix, c, label, NULL), 0);
            } else if (i % TK_SHARD == 0) {
                add_shard(tk, ix, c, i);
            }
    for (uint32_t i = 0; i < TK_N; i++) {
        union wr_scalar weight = {.f = (double)tk_weight(i)};

        assert_int_equal(wr_index_add_scalars(ix, &weight, NULL), 0);
    }
}

weir_dataset *tk_open(const struct tk *tk, const char *prefix)
{
    weir_dataset *ds = calloc(1, sizeof(*ds));
    char *leaf = NULL;
    weir_err err;

    assert_non_null(ds);
    if (asprintf(&ds->url, "%s%s", prefix, tk->tmp.path) < 0)
        abort();
    if (wr_store_open(ds->url, &ds->store, &leaf, &err) < 0)
        fail_msg("%s", err.msg);
    free(leaf);
    ds->format = &format;
    ds->index = wr_index_new();
    assert_non_null(ds->index);
    add_fields(ds->index);
    add_parts(tk, ds->index);
    if (wr_index_seal(ds->index, &err) < 0)
        fail_msg("%s", err.msg);
    return ds;
}

/* --- batches --- */

void tk_config(weir_pipeline_config *cfg)
{
    weir_pipeline_defaults(cfg);
    cfg->batch = 4;
    cfg->threads = 2;
    cfg->depth = 4;
    cfg->picture.width = cfg->picture.height = 8;
    cfg->picture.dtype = WEIR_U8;
}

const weir_batch_field *tk_field(const weir_batch *b, const char *name)
{
    for (uint32_t k = 0; k < b->field_count; k++)
        if (!strcmp(b->fields[k].name, name))
            return &b->fields[k];
    fail_msg("the batch has no '%s'", name);
    return NULL;
}

uint64_t tk_hash(const weir_batch *b, uint32_t slot)
{
    uint64_t h = 0;

    for (uint32_t k = 0; k < b->field_count; k++) {
        const weir_batch_field *f = &b->fields[k];
        size_t each = f->bytes / b->count;

        assert_null(f->offsets);
        assert_int_equal((uintptr_t)f->data % 64, 0);
        if (strcmp(f->name, "label") != 0)
            h = XXH64((const uint8_t *)f->data + slot * each, each, h);
    }
    return h;
}

void tk_learn(struct tk *tk)
{
    weir_dataset *ds = tk_open(tk, "");
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    weir_err err;

    tk_config(&cfg);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    cfg.batch = cfg.threads = cfg.depth = 1;
    cfg.block_samples = 1; /* nothing is joined */
    if (weir_pipeline_open(&p, ds, &cfg, &err) < 0)
        fail_msg("%s", err.msg);
    for (uint32_t i = 0; i < TK_N; i++) {
        if (weir_pipeline_next(p, &b, &err) <= 0)
            fail_msg("%s", err.msg);
        assert_int_equal(b->ids[0], i);
        assert_int_equal(b->field_count, 4);
        assert_int_equal(tk_field(b, "image")->bytes, 8 * 8 * 3);
        assert_true(*(const float *)tk_field(b, "weight")->data ==
                    tk_weight(i));
        tk->hash[i] = tk_hash(b, 0);
        weir_batch_release(b);
    }
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
}
