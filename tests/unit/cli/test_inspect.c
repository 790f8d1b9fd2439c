/* test_inspect.c - unit tests of inspect_stats.c, and of the tables of answers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../format/tmpdir.h"
#include "cli/answers.h"
#include "cli/inspect_stats.h"
#include "codec/picture.h"
#include "monitor/pagecache.h"
#include "monitor/pagecache.h"
#include "storage/device.h"
#include "weir/ckpt_manage.h"

/* --- counting --- */

static const struct wr_inspect_found found[] = {
    {.width = 30,
     .height = 20,
     .kind = WR_PICTURE_JPEG,
     .components = 3,
     .label = 7},
    {.width = 30,
     .height = 20,
     .kind = WR_PICTURE_JPEG,
     .components = 3,
     .turned = true,
     .label = 2},
    {.width = 10,
     .height = 50,
     .kind = WR_PICTURE_PNG,
     .components = 1,
     .label = 7},
    {.width = 0, .label = WEIR_NO_LABEL}, /* broken */
    {.width = 40,
     .height = 60,
     .kind = WR_PICTURE_PNG,
     .components = 4,
     .label = WEIR_NO_LABEL},
    {.width = 30,
     .height = 20,
     .kind = WR_PICTURE_GIF,
     .components = 2,
     .label = 7},
};

static void test_pictures(void **state)
{
    struct wr_inspect_pictures p;

    (void)state;
    wr_inspect_count_pictures(found, 6, &p);
    assert_int_equal(p.good, 5);
    assert_int_equal(p.of_kind[WR_PICTURE_JPEG], 2);
    assert_int_equal(p.of_kind[WR_PICTURE_PNG], 2);
    assert_int_equal(p.of_kind[WR_PICTURE_GIF], 1);
    assert_int_equal(p.gray, 2);
    assert_int_equal(p.colour, 2);
    assert_int_equal(p.four, 1);
    assert_int_equal(p.turned, 1);
    assert_true(p.width.min == 10 && p.width.max == 40);
    assert_true(p.height.min == 20 && p.height.max == 60);
    assert_true(p.distinct == 3 && p.others == 0);
    assert_int_equal(p.dims[0].width, 30);
    assert_int_equal(p.dims[0].height, 20);
    assert_int_equal(p.dims[0].count, 3);
    assert_int_equal(p.dims[2].count, 1);
    assert_int_equal(p.dims[3].count, 0);
    wr_inspect_count_pictures(&found[3], 1, &p); /* there is none */
    assert_int_equal(p.good, 0);
    assert_true(isnan(p.width.min) && isnan(p.height.max));
    assert_true(p.distinct == 0 && p.others == 0);
}

static void test_labels(void **state)
{
    struct wr_inspect_labels l;

    (void)state;
    assert_int_equal(wr_inspect_count_labels(found, 6, &l, NULL), 0);
    assert_int_equal(l.count, 2);
    assert_int_equal(l.list[0].label, 2);
    assert_int_equal(l.list[0].samples, 1);
    assert_int_equal(l.list[1].label, 7);
    assert_int_equal(l.list[1].samples, 3);
    assert_int_equal(l.smallest, 0);
    assert_int_equal(l.largest, 1);
    assert_int_equal(l.unlabelled, 1); /* what is broken counts as nothing */
    free(l.list);
}

/* Rows of one, two, ... bytes, of classes that have one, two and three samples. */
static void test_stats(void **state)
{
    struct tmpdir d;
    struct wr_inspect_stats s;
    weir_dataset_config cfg;
    weir_dataset *ds;
    uint64_t sum = 0, binned = 0;

    (void)state;
    tmpdir_init(&d);
    tmpdir_mkdir(&d, "a");
    tmpdir_mkdir(&d, "b");
    tmpdir_mkdir(&d, "c");
    for (unsigned k = 0; k < 6; k++) {
        static const char *const names[] = {"a/0.jpg", "b/1.jpg", "b/2.jpg",
                                            "c/3.jpg", "c/4.jpg", "c/5.jpg"};
        char bytes[1000];

        memset(bytes, 'x', sizeof(bytes));
        tmpdir_put(&d, names[k], bytes, 100 * (k + 1));
        sum += 100 * (k + 1);
    }
    weir_dataset_defaults(&cfg);
    cfg.format = "images";
    cfg.no_index_cache = 1;
    assert_int_equal(weir_dataset_open(&ds, d.path, &cfg, NULL), 0);
    assert_int_equal(wr_inspect_stats(ds, &s, NULL), 0);
    assert_int_equal(s.count, 6);
    assert_int_equal(s.bytes, sum);
    assert_int_equal(s.min, 100);
    assert_int_equal(s.max, 600);
    assert_true(s.median >= 297 && s.median <= 303);
    assert_true(s.p90 >= 594 && s.p99 >= s.p90 && s.p99 <= 600);
    assert_true(s.mean == 350);
    assert_int_equal(s.classes, 3);
    assert_int_equal(s.class_samples[0], 1);
    assert_int_equal(s.class_samples[1], 2);
    assert_int_equal(s.class_samples[2], 3);
    assert_int_equal(s.smallest, 0);
    assert_int_equal(s.largest, 2);
    assert_int_equal(s.unlabelled, 0);
    for (unsigned k = 0; k < s.bins; k++)
        binned += s.bin[k].count;
    assert_int_equal(binned, 6);
    assert_int_equal(s.bin[0].from, 100);
    assert_int_equal(s.bin[s.bins - 1].to, 0);
    wr_inspect_stats_done(&s);
    weir_dataset_close(&ds);
    tmpdir_done(&d);
}

/* --- tables --- */

/* The table of the group or list `key` of an answer. */
static const struct wr_vals *table_of(const struct wr_answer *a,
                                      const char *key)
{
    for (const struct wr_val *v = a->of->rows; v->key; v++)
        if (!strcmp(v->key, key))
            return v->of;
    fail_msg("%s has no %s", a->name, key);
    return NULL;
}

static void expect_json(const struct wr_vals *of, const void *values,
                        const char *want)
{
    json_t *j = wr_vals_json(of, values, WR_FOR_RECORD);
    char *text = json_dumps(j, JSON_COMPACT);

    assert_string_equal(text, want);
    free(text);
    json_decref(j);
}

static void test_step(void **state)
{
    const struct wr_vals *of = table_of(&wr_answer_ckpt_ls, "steps");
    const weir_ckpt_entry e = {.step = 1,
                               .bytes = 2,
                               .time_ns = UINT64_C(1790000000123456789),
                               .world = 4,
                               .fast = WEIR_COPY_VERIFIED,
                               .slow = WEIR_COPY_STALE,
                               .pinned = 1,
                               .problem = "why",
                               .generation = 5};

    (void)state;
    expect_json(of, &e,
                "{\"step\":1,\"bytes\":2,\"time_ns\":1790000000123456789,"
                "\"world\":4,\"fast\":\"verified\",\"pinned\":true,"
                "\"generation\":5,\"abandoned\":false,\"slow\":\"stale\","
                "\"problem\":\"why\"}");
}

static void test_profile(void **state)
{
    const struct wr_device_profile p = {
        .name = "n",
        .title = "t",
        .read_latency_us = 1.5,
        .write_latency_us = 2.5,
        .meta_latency_us = 3.5,
        .sync_latency_us = 4.5,
        .read_bytes_per_s = 5.5,
        .write_bytes_per_s = 6.5,
        .channels = 7,
        .seek_us = 8.5,
        .near_bytes = 9,
        .seek_law = {{.depth = 10, .factor = 11.5}, {.depth = 12}},
        .seek_points = 1,
        .write_cache_bytes = 13,
        .readahead_bytes = 14,
    };

    (void)state;
    expect_json(
        table_of(&wr_answer_mount_list, "profiles"), &p,
        "{\"name\":\"n\",\"title\":\"t\",\"read_latency_us\":1.5,"
        "\"write_latency_us\":2.5,\"meta_latency_us\":3.5,"
        "\"sync_latency_us\":4.5,\"read_bytes_per_s\":5.5,"
        "\"write_bytes_per_s\":6.5,\"channels\":7,\"seek_us\":8.5,"
        "\"near_bytes\":9,\"seek_law\":[{\"depth\":10,\"factor\":11.5}],"
        "\"write_cache_bytes\":13,\"readahead_bytes\":14}");
}

static void test_cached(void **state)
{
    const struct wr_vals *of = table_of(&wr_answer_cache, "now");
    struct wr_pagecache_report r = {.files = 2,
                                    .bytes = 400,
                                    .resident_bytes = 100,
                                    .dirty_bytes = 30,
                                    .unknown_files = 1,
                                    .means = WR_RESIDENCY_MINCORE |
                                             WR_RESIDENCY_UNKNOWN};

    (void)state;
    expect_json(of, &r,
                "{\"files\":2,\"bytes\":400,\"resident_bytes\":100,"
                "\"resident_percent\":25.0,\"dirty_bytes\":30,"
                "\"unknown_files\":1,\"checked_by\":\"mincore\"}");
    r.unknown_files = 2; /* the kernel told nothing */
    r.means = WR_RESIDENCY_UNKNOWN;
    expect_json(of, &r,
                "{\"files\":2,\"bytes\":400,\"resident_bytes\":null,"
                "\"resident_percent\":null,\"dirty_bytes\":null,"
                "\"unknown_files\":2,\"checked_by\":\"nothing\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures), cmocka_unit_test(test_labels),
        cmocka_unit_test(test_stats),    cmocka_unit_test(test_step),
        cmocka_unit_test(test_profile),  cmocka_unit_test(test_cached),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
