/* test_arrays.c - where the fields of a batch lie, and the keys of caches.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "fieldkit.h"
#include "pipeline/arrays.h"
#include "pipeline/settings.h"

#define N     7u
#define BATCH 5u

static struct fk fk;
static weir_dataset *ds;

static int make(void **state)
{
    (void)state;
    fk_make(&fk, N, /* whole= */ false);
    ds = fk_open(&fk, "");
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    weir_dataset_close(&ds);
    fk_done(&fk);
    return 0;
}

static struct wr_arrays open_arrays(weir_pipeline_config *cfg,
                                    const char *fields)
{
    struct wr_arrays a;
    weir_err err;

    fk_config(cfg);
    cfg->batch = BATCH;
    cfg->fields = fields;
    if (wr_arrays_init(&a, ds, cfg, &err) < 0)
        fail_msg("%s", err.msg);
    return a;
}

static void arrays_lie_behind_each_other(void **state)
{
    weir_pipeline_config cfg;
    struct wr_arrays a = open_arrays(&cfg, "mask,text,label,x");
    size_t end = 0;

    (void)state;
    assert_int_equal(a.count, 4);
    assert_int_equal(a.delivered, 4);
    assert_int_equal(a.varying, 1);
    assert_int_equal(a.data, 0);
    assert_int_equal(a.label, 2);
    assert_int_equal(a.sample_bytes, FK_MASK + FK_X);
    assert_null(a.only);
    for (unsigned k = 0; k < a.count; k++) {
        bool varies = a.of[k].varying != WR_NO_ARRAY;

        assert_int_equal(a.of[k].offset % 64, 0);
        assert_true(a.of[k].offset >= end && a.of[k].offset < end + 64);
        end = a.of[k].offset + (varies ? (BATCH + 1) * sizeof(uint64_t)
                                       : BATCH * a.of[k].shape.bytes);
    }
    assert_int_equal(a.bytes, end);
    wr_arrays_done(&a);
}

/* Parts are numbered by columns, whatever the order of the fields. */
static void parts_are_columns_in_order(void **state)
{
    weir_pipeline_config cfg;
    struct wr_arrays a = open_arrays(&cfg, "text,weight,x");

    (void)state;
    assert_int_equal(a.parts, 2);
    assert_int_equal(a.columns[0], FK_COLUMN_X);
    assert_int_equal(a.columns[1], FK_COLUMN_TEXT);
    assert_ptr_equal(wr_arrays_in(&a, FK_COLUMN_TEXT), &a.of[0]);
    assert_null(wr_arrays_in(&a, FK_COLUMN_MASK));
    wr_arrays_done(&a);
}

static void samples_move_and_are_gathered(void **state)
{
    weir_pipeline_config cfg;
    struct wr_arrays a = open_arrays(&cfg, "x,label,mask");
    uint8_t *buffer = calloc(1, a.bytes), entry[FK_X + FK_MASK];

    (void)state;
    assert_non_null(buffer);
    for (size_t i = 0; i < sizeof(entry); i++)
        entry[i] = (uint8_t)(i + 1);
    wr_arrays_scatter(&a, buffer, 3, entry);
    wr_arrays_set_indexed(&a, buffer, 3, 2, 77);
    wr_arrays_move(&a, buffer, 3, 1);
    assert_memory_equal(wr_array_at(&a.of[0], buffer, 1), entry, FK_X);
    assert_memory_equal(wr_array_at(&a.of[2], buffer, 1), entry + FK_X,
                        FK_MASK);
    assert_int_equal(*(int64_t *)wr_array_at(&a.of[1], buffer, 1), 77);
    memset(entry, 0, sizeof(entry));
    wr_arrays_gather(&a, buffer, 1, entry);
    for (size_t i = 0; i < sizeof(entry); i++)
        assert_int_equal(entry[i], i + 1);
    wr_arrays_set_label(&a, buffer, 1, WEIR_NO_LABEL);
    assert_int_equal(*(int64_t *)wr_array_at(&a.of[1], buffer, 1), -1);
    free(buffer);
    wr_arrays_done(&a);
}

/* What is asked of x, which has channels, is not asked of a mask. */
static void masks_come_as_they_are_stored(void **state)
{
    const weir_field_config own = {
        .name = "mask", .convert = true, .dtype = WEIR_F32};
    weir_pipeline_config cfg;
    struct wr_arrays a;
    weir_err err;

    (void)state;
    fk_config(&cfg);
    cfg.picture.dtype = WEIR_F32;
    cfg.fields = "x,mask";
    assert_int_equal(wr_arrays_init(&a, ds, &cfg, &err), 0);
    assert_int_equal(a.of[0].shape.dtype, WEIR_F32);
    assert_int_equal(a.of[1].shape.dtype, WEIR_U8);
    assert_int_equal(a.of[1].shape.bytes, FK_MASK);
    assert_true(a.of[1].shape.direct);
    wr_arrays_done(&a);
    /* With settings of its own, what these say. */
    cfg.field = &own;
    cfg.field_count = 1;
    assert_int_equal(wr_arrays_init(&a, ds, &cfg, &err), 0);
    assert_int_equal(a.of[1].shape.bytes, 4 * FK_MASK);
    wr_arrays_done(&a);
}

static uint64_t key(const char *fields, enum weir_cache_what what,
                    const weir_field_config *own)
{
    weir_pipeline_config cfg;
    struct wr_arrays a;
    uint64_t k;

    fk_config(&cfg);
    cfg.fields = fields;
    cfg.cache_what = what;
    cfg.field = own;
    cfg.field_count = own != NULL;
    assert_int_equal(wr_arrays_init(&a, ds, &cfg, NULL), 0);
    k = wr_arrays_key(&a, &cfg);
    wr_arrays_done(&a);
    return k;
}

/* Users' caches keep their names: of the first tensor alone, and of whole
 * samples, the key is that of the settings. */
static void keys_tell_what_is_kept(void **state)
{
    weir_pipeline_config cfg;
    weir_field_config own = {.name = "x"};

    (void)state;
    fk_config(&cfg);
    own.picture = cfg.picture;
    assert_int_equal(key("*", WEIR_CACHE_ENCODED, NULL), wr_settings_key(&cfg));
    assert_int_equal(key("text,mask,x", WEIR_CACHE_ENCODED, NULL),
                     key("x,mask,text", WEIR_CACHE_ENCODED, NULL));
    assert_int_not_equal(key("x", WEIR_CACHE_ENCODED, NULL),
                         key("mask", WEIR_CACHE_ENCODED, NULL));
    cfg.cache_what = WEIR_CACHE_DECODED;
    assert_int_equal(key("x", WEIR_CACHE_DECODED, NULL), wr_settings_key(&cfg));
    assert_int_equal(key("label,x", WEIR_CACHE_DECODED, NULL),
                     wr_settings_key(&cfg));
    assert_int_not_equal(key("mask", WEIR_CACHE_DECODED, NULL),
                         wr_settings_key(&cfg));
    assert_int_not_equal(key("x,mask", WEIR_CACHE_DECODED, NULL),
                         key("mask,x", WEIR_CACHE_DECODED, NULL));
    assert_int_equal(key("x", WEIR_CACHE_DECODED, &own), wr_settings_key(&cfg));
    /* A mask as it is stored is not one that was converted. */
    own.name = "mask";
    own.convert = true;
    own.dtype = WEIR_F32;
    assert_int_not_equal(key("x,mask", WEIR_CACHE_DECODED, &own),
                         key("x,mask", WEIR_CACHE_DECODED, NULL));
    own = (weir_field_config){.name = "x", .picture = cfg.picture};
    own.picture.layout = WEIR_NCHW;
    assert_int_not_equal(key("x", WEIR_CACHE_DECODED, &own),
                         wr_settings_key(&cfg));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_lie_behind_each_other),
        cmocka_unit_test(parts_are_columns_in_order),
        cmocka_unit_test(samples_move_and_are_gathered),
        cmocka_unit_test(masks_come_as_they_are_stored),
        cmocka_unit_test(keys_tell_what_is_kept),
    };

    return cmocka_run_group_tests(tests, make, unmake);
}
