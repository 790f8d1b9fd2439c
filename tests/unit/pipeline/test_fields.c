/* test_fields.c - samples of several fields, in every order, tier and policy.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fieldkit.h"
#include "format/format.h"

#define N 41u

static struct fk files, runs;

static int make(void **state)
{
    (void)state;
    fk_make(&files, N, /* whole= */ true);
    fk_make(&runs, N, /* whole= */ false);
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    fk_done(&files);
    fk_done(&runs);
    return 0;
}

/* What a run delivered. */
struct tally {
    unsigned seen[N];
    uint64_t bad, bytes_read, ram_hits, dir_hits;
    char text[512]; /* of the first bad sample */
    uint64_t bad_id;
};

static int run(const weir_dataset *ds, const weir_pipeline_config *cfg,
               uint32_t fields, struct tally *ret)
{
    struct tally t = {0};
    weir_pipeline *p = NULL;
    const weir_batch *b;
    weir_stats stats;
    weir_err err;
    int r;

    if (weir_pipeline_open(&p, ds, cfg, &err) < 0)
        fail_msg("%s", err.msg);
    while ((r = weir_pipeline_next(p, &b, &err)) > 0) {
        assert_int_equal(b->field_count, fields);
        fk_check(b);
        for (uint32_t i = 0; i < b->unique; i++)
            t.seen[b->ids[i]]++;
        weir_batch_release(b);
    }
    if (r < 0)
        snprintf(t.text, sizeof(t.text), "%s", err.msg);
    weir_pipeline_stats(p, &stats);
    t.bad = stats.bad;
    t.bytes_read = stats.bytes_read;
    t.ram_hits = stats.cache_ram_hits;
    t.dir_hits = stats.cache_dir_hits;
    if (t.bad) {
        snprintf(t.text, sizeof(t.text), "%s", weir_pipeline_bad(p, 0)->text);
        t.bad_id = weir_pipeline_bad(p, 0)->id;
    }
    weir_pipeline_close(&p);
    *ret = t;
    return r;
}

static void assert_each(const struct tally *t, unsigned times, uint64_t but)
{
    for (uint32_t i = 0; i < N; i++)
        if (t->seen[i] != (i == but ? 0 : times))
            fail_msg("sample %u came %u times", i, t->seen[i]);
}

/* --- what comes out --- */

static void every_order_and_way_of_reading(void **state)
{
    const struct fk *kits[] = {&files, &runs};

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        weir_dataset *ds = fk_open(kits[k], "");

        for (unsigned how = 0; how < 3 * 2 * 2; how++) {
            weir_pipeline_config cfg;
            struct tally t;

            fk_config(&cfg);
            cfg.order = (enum weir_order)(how % 3);
            cfg.block_samples = 8;
            cfg.io = how / 3 % 2 ? WEIR_IO_BLOCKING : WEIR_IO_AUTO;
            cfg.direct = (int)(how / 6);
            cfg.epochs = 2;
            cfg.seed = how;
            assert_int_equal(run(ds, &cfg, 5, &t), 0);
            assert_int_equal(t.bad, 0);
            assert_each(&t, 2, UINT64_MAX);
        }
        weir_dataset_close(&ds);
    }
}

static void ranks_share_the_samples(void **state)
{
    weir_dataset *ds = fk_open(&runs, "");

    (void)state;
    for (unsigned order = 0; order < 3; order++) {
        struct tally all = {0}, t;
        weir_pipeline_config cfg;

        fk_config(&cfg);
        cfg.order = (enum weir_order)order;
        cfg.block_samples = 4;
        cfg.world = 3;
        for (cfg.rank = 0; cfg.rank < cfg.world; cfg.rank++) {
            assert_int_equal(run(ds, &cfg, 5, &t), 0);
            for (uint32_t i = 0; i < N; i++)
                all.seen[i] += t.seen[i];
        }
        assert_each(&all, 1, UINT64_MAX);
    }
    weir_dataset_close(&ds);
}

/* --- which --- */

static void what_nobody_wants_is_not_read(void **state)
{
    weir_dataset *ds = fk_open(&files, "");
    weir_pipeline_config cfg;
    struct tally t;

    (void)state;
    fk_config(&cfg);
    cfg.fields = "mask";
    assert_int_equal(run(ds, &cfg, 1, &t), 0);
    assert_int_equal(t.bytes_read, N * FK_MASK);
    cfg.fields = "mask,x";
    assert_int_equal(run(ds, &cfg, 2, &t), 0);
    assert_int_equal(t.bytes_read, N * (FK_MASK + FK_X));
    cfg.fields = NULL; /* all but bytes */
    assert_int_equal(run(ds, &cfg, 4, &t), 0);
    assert_int_equal(t.bytes_read, N * (FK_MASK + FK_X));
    cfg.fields = "label,weight"; /* the index has them */
    assert_int_equal(run(ds, &cfg, 2, &t), 0);
    assert_int_equal(t.bytes_read, 0);
    assert_each(&t, 1, UINT64_MAX);
    weir_dataset_close(&ds);
}

static void names_that_are_none(void **state)
{
    const char *const wrong[][2] = {
        {"image", "fields: 'image' is not one of x, mask, text, weight, label"},
        {"x,x", "fields: 'x' is there twice"},
        {"x,", "fields: '' is not one of x, mask, text, weight, label"},
    };
    weir_dataset *ds = fk_open(&files, "");

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        weir_pipeline_config cfg;
        weir_pipeline *p = NULL;
        weir_err err;

        fk_config(&cfg);
        cfg.fields = wrong[i][0];
        assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), WEIR_EINVAL);
        assert_string_equal(err.msg, wrong[i][1]);
        assert_null(p);
    }
    weir_dataset_close(&ds);
}

/* The first tensor that is asked for is the batch's data. */
static void shortcuts_follow_the_fields(void **state)
{
    weir_dataset *ds = fk_open(&files, "");
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    const weir_batch *b;

    (void)state;
    fk_config(&cfg);
    cfg.fields = "text,mask,x";
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, NULL), 0);
    assert_int_equal(weir_pipeline_next(p, &b, NULL), 1);
    assert_ptr_equal(b->data, b->fields[1].data);
    assert_int_equal(b->bytes, b->count * FK_MASK);
    assert_int_equal(b->ndim, 3);
    assert_int_equal(b->shape[0], b->count);
    assert_int_equal(b->shape[2], 4);
    assert_int_equal(b->fields[0].shape[1], WEIR_DIM_VARIES);
    assert_non_null(b->fields[0].offsets);
    weir_batch_release(b);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
}

/* --- fields in another form --- */

static void stored_bytes_of_a_tensor(void **state)
{
    const weir_field_config own = {.name = "x", .as_bytes = 1};
    const struct fk *kits[] = {&files, &runs};

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        weir_dataset *ds = fk_open(kits[k], "");
        weir_pipeline_config cfg;
        struct tally t;

        fk_config(&cfg);
        cfg.field = &own;
        cfg.field_count = 1;
        assert_int_equal(run(ds, &cfg, 5, &t), 0);
        assert_each(&t, 1, UINT64_MAX);
        weir_dataset_close(&ds);
    }
}

/* Shorter samples have zeros behind them, longer ones are bad. */
static void padded_samples(void **state)
{
    const weir_field_config own = {.name = "text", .pad = 100};
    weir_dataset *ds = fk_open(&files, "");
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    uint64_t longer = 0, seen = 0;

    (void)state;
    for (uint32_t i = 0; i < N; i++)
        longer += fk_text_len(i) > own.pad;
    fk_config(&cfg);
    cfg.field = &own;
    cfg.field_count = 1;
    cfg.fields = "text,x";
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, NULL), 0);
    while (weir_pipeline_next(p, &b, NULL) > 0) {
        const weir_batch_field *f = &b->fields[0];

        assert_null(f->offsets);
        assert_int_equal(f->shape[1], own.pad);
        assert_int_equal(f->bytes, b->count * own.pad);
        for (uint32_t i = 0; i < b->count; i++) {
            const uint8_t *bytes = (const uint8_t *)f->data + i * own.pad;

            assert_int_equal(f->lengths[i], fk_text_len(b->ids[i]));
            for (size_t k = f->lengths[i]; k < own.pad; k++)
                assert_int_equal(bytes[k], 0);
            seen++;
        }
        weir_batch_release(b);
    }
    assert_true(longer > 0);
    assert_int_equal(weir_pipeline_bad_count(p), longer);
    assert_int_equal(seen + longer, N);
    assert_non_null(strstr(weir_pipeline_bad(p, 0)->text, "field 'text'"));
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
}

/* A sample that ends within a row is bad. */
static void samples_are_whole_rows(void **state)
{
    weir_dataset *ds = fk_open(&files, "");
    struct wr_field *f = wr_schema_find(wr_index_fields(ds->index), "text");
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    uint64_t broken = 0;

    (void)state;
    f->pub.kind = WEIR_FIELD_TENSOR;
    f->pub.dtype = WEIR_U16;
    f->pub.ndim = 2;
    f->pub.dims[0] = WEIR_DIM_VARIES;
    f->pub.dims[1] = 3;
    for (uint32_t i = 0; i < N; i++)
        broken += fk_text_len(i) % 6 != 0;
    fk_config(&cfg);
    cfg.fields = "text";
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, NULL), 0);
    while (weir_pipeline_next(p, &b, NULL) > 0) {
        for (uint32_t i = 0; i < b->count; i++)
            assert_int_equal(fk_text_len(b->ids[i]) % 6, 0);
        weir_batch_release(b);
    }
    assert_true(broken > 0 && broken < N);
    assert_int_equal(weir_pipeline_bad_count(p), broken);
    assert_non_null(strstr(weir_pipeline_bad(p, 0)->text, "rows of 6"));
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
}

static void put_file(const char *dir, const char *name, const char *text)
{
    char path[300];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* A text may be empty. */
static void empty_texts_are_samples(void **state)
{
    char dir[] = "/tmp/weir-empty-XXXXXX", path[300], remove[300];
    weir_dataset *ds = NULL;
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    const weir_batch *b;

    (void)state;
    assert_non_null(mkdtemp(dir));
    put_file(dir, "a.jpg", "no picture, but not read either");
    put_file(dir, "a.txt", "");
    put_file(dir, "b.txt", "words");
    put_file(dir, "list.csv",
             "image,text,label\na.jpg,a.txt,0\na.jpg,b.txt,1\n");
    snprintf(path, sizeof(path), "%s/list.csv", dir);
    assert_int_equal(weir_dataset_open(&ds, path, NULL, NULL), 0);
    fk_config(&cfg);
    cfg.fields = "text";
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, NULL), 0);
    assert_int_equal(weir_pipeline_next(p, &b, NULL), 1);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->fields[0].offsets[1], 0);
    assert_int_equal(b->fields[0].offsets[2], 5);
    assert_memory_equal(b->fields[0].data, "words", 5);
    weir_batch_release(b);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    snprintf(remove, sizeof(remove), "rm -rf %s", dir);
    assert_int_equal(system(remove), 0);
}

static void settings_of_a_field_that_is_not_wanted(void **state)
{
    const weir_field_config own = {.name = "mask", .as_bytes = 1};
    weir_dataset *ds = fk_open(&files, "");
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    weir_err err;

    (void)state;
    fk_config(&cfg);
    cfg.fields = "x";
    cfg.field = &own;
    cfg.field_count = 1;
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), WEIR_EINVAL);
    assert_string_equal(err.msg, "field 'mask': not among the fields");
    weir_dataset_close(&ds);
}

static void settings_of_no_field(void **state)
{
    weir_field_config own = {.name = NULL};
    weir_dataset *ds = fk_open(&files, "");
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    weir_err err;

    (void)state;
    fk_config(&cfg);
    cfg.field_count = 1;
    for (unsigned k = 0; k < 2; k++, cfg.field = &own) {
        assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), WEIR_EINVAL);
        assert_string_equal(err.msg, "field: entry 0 has no name");
    }
    assert_int_equal(weir_config_set(&cfg, "x.resize", "area", &err),
                     WEIR_ENOENT);
    weir_dataset_close(&ds);
}

/* A mask has no channels to normalize, if it is asked for. */
static void settings_that_one_field_does_not_take(void **state)
{
    weir_dataset *ds = fk_open(&files, "");
    weir_pipeline_config cfg;
    weir_field_config own = {.name = "mask"};
    weir_pipeline *p = NULL;
    weir_err err;

    (void)state;
    fk_config(&cfg);
    cfg.picture.dtype = WEIR_F32;
    own.picture = cfg.picture;
    cfg.field = &own;
    cfg.field_count = 1;
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "field 'mask': the samples are u8"));
    weir_dataset_close(&ds);
}

/* Without data only what the index knows is delivered, but all is read. */
static void stages_read_all_parts(void **state)
{
    weir_dataset *ds = fk_open(&files, "");
    weir_pipeline_config cfg;
    uint64_t bytes = 0;
    struct tally t;

    (void)state;
    for (uint32_t i = 0; i < N; i++)
        bytes += FK_X + FK_MASK + fk_text_len(i);
    fk_config(&cfg);
    cfg.stages = WEIR_STAGES_READ;
    assert_int_equal(run(ds, &cfg, 2, &t), 0);
    assert_int_equal(t.bytes_read, bytes);
    cfg.stages = WEIR_STAGES_DECODE;
    assert_int_equal(run(ds, &cfg, 2, &t), 0);
    assert_int_equal(t.bytes_read, bytes);
    assert_each(&t, 1, UINT64_MAX);
    weir_dataset_close(&ds);
}

/* --- bad ones --- */

static void a_bad_part_makes_the_sample_bad_once(void **state)
{
    const char *const names[] = {"x", "mask", "text"};

    (void)state;
    for (unsigned how = 0; how < FK_COLUMNS * 2; how++) {
        unsigned column = how % FK_COLUMNS;
        weir_pipeline_config cfg;
        weir_dataset *ds;
        struct fk fk;
        struct tally t;
        char field[32];

        fk_make(&fk, N, /* whole= */ true);
        ds = fk_open(&fk, "");
        if (how < FK_COLUMNS)
            fk_remove(&fk, column, 17);
        else
            fk_grow(&fk, column, 17);
        snprintf(field, sizeof(field), "field '%s'", names[column]);
        fk_config(&cfg);
        assert_int_equal(run(ds, &cfg, 5, &t), 0);
        assert_each(&t, 1, 17);
        assert_int_equal(t.bad, 1);
        assert_int_equal(t.bad_id, 17);
        assert_non_null(strstr(t.text, field));
        assert_non_null(strstr(t.text, "00017"));

        cfg.remainder = WEIR_REMAINDER_PAD;
        assert_int_equal(run(ds, &cfg, 5, &t), 0);
        assert_each(&t, 1, 17);
        cfg.on_error = WEIR_ON_ERROR_FAIL;
        assert_true(run(ds, &cfg, 5, &t) < 0);
        assert_non_null(strstr(t.text, field));
        weir_dataset_close(&ds);
        fk_done(&fk);
    }
}

/* Several parts of one sample that are bad are one bad sample. */
static void several_bad_parts_are_one(void **state)
{
    weir_pipeline_config cfg;
    weir_dataset *ds;
    struct fk fk;
    struct tally t;

    (void)state;
    fk_make(&fk, N, /* whole= */ true);
    ds = fk_open(&fk, "");
    for (unsigned c = 0; c < FK_COLUMNS; c++)
        fk_remove(&fk, c, 5);
    fk_config(&cfg);
    assert_int_equal(run(ds, &cfg, 5, &t), 0);
    assert_each(&t, 1, 5);
    assert_int_equal(t.bad, 1);
    assert_non_null(strstr(t.text, "field 'x'")); /* the first, always */
    weir_dataset_close(&ds);
    fk_done(&fk);
}

/* The end says why, of the first one. */
static void none_that_is_good(void **state)
{
    weir_pipeline_config cfg;
    weir_dataset *ds;
    weir_pipeline *p;
    const weir_batch *b;
    weir_err err;
    struct fk fk;

    (void)state;
    fk_make(&fk, N, /* whole= */ true);
    ds = fk_open(&fk, "");
    for (uint32_t i = 0; i < N; i++)
        fk_remove(&fk, FK_COLUMN_MASK, i);
    fk_config(&cfg);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), 0);
    assert_int_equal(weir_pipeline_next(p, &b, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "could not be read; the first: "));
    assert_non_null(strstr(err.msg, "field 'mask'"));
    assert_non_null(strstr(err.msg, "00000"));
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    fk_done(&fk);
}

/* Reads that fail now and then. What lacked is read again, part by part; what
 * could not be read makes its sample bad. */
static void faults_in_single_parts(void **state)
{
    static const char *const rules[] = {
        "fault:emfile@%7:", "fault:eio@%11:", "fault:short=5@%13:"};
    const struct fk *kits[] = {&files, &runs};

    (void)state;
    for (unsigned how = 0; how < 2 * 3 * 3; how++) {
        weir_dataset *ds = fk_open(kits[how % 2], rules[how / 2 % 3]);
        weir_pipeline_config cfg;
        struct tally t;
        uint64_t seen = 0;

        fk_config(&cfg);
        cfg.order = (enum weir_order)(how / 6);
        cfg.block_samples = 8;
        assert_int_equal(run(ds, &cfg, 5, &t), 0);
        for (uint32_t i = 0; i < N; i++) {
            assert_true(t.seen[i] <= 1);
            seen += t.seen[i];
        }
        assert_int_equal(seen + t.bad, N);
        if (how / 2 % 3 == 0)
            assert_int_equal(t.bad, 0);
        weir_dataset_close(&ds);
    }
}

/* --- caches --- */

static void caches_keep_all_fields(void **state)
{
    weir_dataset *ds = fk_open(&files, "");
    char dir[] = "/tmp/weir-test-XXXXXX", folder[64], remove[64];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(folder, sizeof(folder), "%s:1GiB", dir);
    for (unsigned what = 0; what < 2; what++)
        for (unsigned tier = 0; tier < 2; tier++) {
            weir_pipeline_config cfg;
            struct tally t;

            fk_config(&cfg);
            cfg.cache = tier ? folder : "ram:1MiB";
            cfg.cache_what = (enum weir_cache_what)what;
            if (what) /* those of different lengths are not kept decoded */
                cfg.fields = "x,weight,mask,label";
            /* Shuffled, the last of an epoch may be asked for again by the
             * next one, which is begun before they are kept. */
            cfg.order = WEIR_ORDER_SEQUENTIAL;
            cfg.epochs = 3;
            assert_int_equal(run(ds, &cfg, what ? 4 : 5, &t), 0);
            assert_each(&t, 3, UINT64_MAX);
            assert_int_equal(tier ? t.dir_hits : t.ram_hits, 2 * N);
            if (tier) { /* and in another process */
                assert_int_equal(run(ds, &cfg, what ? 4 : 5, &t), 0);
                assert_int_equal(t.dir_hits, 3 * N);
                assert_int_equal(t.bytes_read, 0);
            }
            cfg.fields = "mask,label"; /* is not what lies there */
            assert_int_equal(run(ds, &cfg, 2, &t), 0);
            assert_each(&t, 3, UINT64_MAX);
        }
    snprintf(remove, sizeof(remove), "rm -rf %s", dir);
    assert_int_equal(system(remove), 0);
    weir_dataset_close(&ds);
}

static void what_varies_is_not_cached_decoded(void **state)
{
    weir_dataset *ds = fk_open(&files, "");
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    weir_err err;

    (void)state;
    fk_config(&cfg);
    cfg.cache = "ram:1MiB";
    cfg.cache_what = WEIR_CACHE_DECODED;
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "'text'"));
    weir_dataset_close(&ds);
}

/* Else one picture would be made again and again. */
static void pictures_made_by_chance_are_not_cached_decoded(void **state)
{
    weir_field_config own = {.name = "x"};
    weir_dataset *ds = fk_open(&files, "");
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    weir_err err;

    (void)state;
    fk_config(&cfg);
    own.picture = cfg.picture;
    own.picture.flip = 1;
    cfg.fields = "x,mask";
    cfg.field = &own;
    cfg.field_count = 1;
    cfg.cache = "ram:1MiB";
    cfg.cache_what = WEIR_CACHE_DECODED;
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "random"));
    weir_dataset_close(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_and_way_of_reading),
        cmocka_unit_test(ranks_share_the_samples),
        cmocka_unit_test(what_nobody_wants_is_not_read),
        cmocka_unit_test(names_that_are_none),
        cmocka_unit_test(shortcuts_follow_the_fields),
        cmocka_unit_test(stored_bytes_of_a_tensor),
        cmocka_unit_test(padded_samples),
        cmocka_unit_test(samples_are_whole_rows),
        cmocka_unit_test(empty_texts_are_samples),
        cmocka_unit_test(settings_of_a_field_that_is_not_wanted),
        cmocka_unit_test(settings_of_no_field),
        cmocka_unit_test(settings_that_one_field_does_not_take),
        cmocka_unit_test(stages_read_all_parts),
        cmocka_unit_test(a_bad_part_makes_the_sample_bad_once),
        cmocka_unit_test(several_bad_parts_are_one),
        cmocka_unit_test(none_that_is_good),
        cmocka_unit_test(faults_in_single_parts),
        cmocka_unit_test(caches_keep_all_fields),
        cmocka_unit_test(what_varies_is_not_cached_decoded),
        cmocka_unit_test(pictures_made_by_chance_are_not_cached_decoded),
    };

    return cmocka_run_group_tests(tests, make, unmake);
}
