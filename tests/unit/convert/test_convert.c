/* test_convert.c - what comes out is the same data, whoever made it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/format.h"
#include "place.h"

static const char *const kinds[] = {"tfrecord", "tar", "jpeg", "tensor", "npy"};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t convert_hash(struct scratch *s,
                             const struct wr_convert_config *cfg)
{
    struct wr_convert_result res;
    uint64_t hash;

    place_convert(cfg, &res);
    assert_int_equal(res.samples, PLACE_SAMPLES);
    assert_int_equal(res.bad, 0);
    wr_convert_result_done(&res);
    hash = place_hash(s, cfg->to);
    nftw(cfg->target, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
    return hash;
}

static void threads_change_nothing(void **state)
{
    weir_dataset *ds;

    place_make(*state, "in");
    ds = place_open(*state, "", "in");
    for (unsigned k = 0; k < 2 * KINDS; k++) {
        struct wr_convert_config cfg;
        uint64_t first = 0;
        char path[512];

        place_config(*state, ds, kinds[k % KINDS], &cfg, path);
        cfg.shuffle = k >= KINDS;
        for (unsigned threads = 1; threads < 6; threads += 2) {
            uint64_t hash;

            cfg.threads = threads;
            hash = convert_hash(*state, &cfg);
            first = first ? first : hash;
            assert_true(hash == first);
        }
    }
    weir_dataset_close(&ds);
}

/* Every form delivers the same tensors with the same labels, and can be
 * converted again. */
static void the_data_stay_the_same(void **state)
{
    struct scratch *s = *state;
    weir_dataset *ds, *out;
    uint64_t want;

    place_make(s, "in");
    ds = place_open(s, "", "in");
    want = place_content(ds);
    for (unsigned k = 0; k < KINDS; k++) {
        struct wr_convert_result res;
        struct wr_convert_config cfg;
        char path[512];

        place_config(s, ds, kinds[k], &cfg, path);
        cfg.shuffle = k % 2;
        place_convert(&cfg, &res);
        wr_convert_result_done(&res);
        out = place_open(s, "", kinds[k]);
        assert_int_equal(weir_dataset_count(out), PLACE_SAMPLES);
        assert_true(place_content(out) == want);
        weir_dataset_close(&out);
    }
    weir_dataset_close(&ds);
}

/* Some samples have a label, some none: each keeps what it has. */
static void some_without_a_label(void **state)
{
    static const char *const lists[] = {
        "class_0/0000.jpg,dog\nclass_1/0008.jpg\nclass_2/0016.jpg,cat\n",
        "class_0/0000.jpg,-1\nclass_1/0008.jpg,3\nclass_2/0016.jpg,0\n",
        "class_0/0000.jpg\nclass_1/0008.jpg\nclass_2/0016.jpg\n",
    };
    struct scratch *s = *state;

    place_make(s, "in");
    for (unsigned k = 0; k < 3 * KINDS; k++) {
        struct wr_convert_result res;
        struct wr_convert_config cfg;
        weir_dataset *ds, *out;
        char path[512];

        scratch_put(s, "in/l.csv", lists[k / KINDS]);
        ds = place_open(s, "", "in/l.csv");
        place_config(s, ds, kinds[k % KINDS], &cfg, path);
        place_convert(&cfg, &res);
        wr_convert_result_done(&res);
        out = place_open(s, "", kinds[k % KINDS]);
        assert_int_equal(weir_dataset_count(out), 3);
        if (place_content(out) != place_content(ds))
            fail_msg("%s of list %u", kinds[k % KINDS], k / (unsigned)KINDS);
        weir_dataset_close(&out);
        weir_dataset_close(&ds);
        nftw(path, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
    }
}

/* Pictures, names and classes come back from records byte by byte. */
static void there_and_back(void **state)
{
    struct scratch *s = *state;
    weir_dataset *ds;
    uint64_t tree;

    place_make(s, "in");
    ds = place_open(s, "", "in");
    for (unsigned k = 0; k < 2; k++) {
        struct wr_convert_result res;
        struct wr_convert_config cfg;
        weir_dataset *records;
        char path[512];

        place_config(s, ds, kinds[k], &cfg, path);
        cfg.shuffle = true;
        place_convert(&cfg, &res);
        wr_convert_result_done(&res);
        records = place_open(s, "", kinds[k]);
        place_config(s, records, "jpeg", &cfg, path);
        place_convert(&cfg, &res);
        wr_convert_result_done(&res);
        weir_dataset_close(&records);
        unlink(scratch_at(s, "jpeg/classes.txt"));
        unlink(scratch_at(s, "jpeg/.weir-convert"));
        tree = place_hash(s, "jpeg");
        assert_true(tree == place_hash(s, "in"));
        nftw(path, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
    }
    weir_dataset_close(&ds);
}

/* One path twice in a list: two samples, two names. */
static void twins(void **state)
{
    static const char *const to[] = {"tar", "jpeg"};
    struct scratch *s = *state;
    weir_dataset *ds, *out;

    place_make(s, "in");
    scratch_put(s, "in/all.csv",
                "class_0/0001.jpg,0\nclass_0/0001.jpg,0\n"
                "class_1/0009.jpg,2\nclass_0/0001.jpg,1\n");
    ds = place_open(s, "", "in/all.csv");
    for (unsigned k = 0; k < 2; k++) {
        struct wr_convert_result res;
        struct wr_convert_config cfg;
        char path[512];

        place_config(s, ds, to[k], &cfg, path);
        place_convert(&cfg, &res);
        assert_int_equal(res.samples, 4);
        wr_convert_result_done(&res);
        out = place_open(s, "", to[k]);
        assert_int_equal(weir_dataset_count(out), 4);
        weir_dataset_close(&out);
    }
    /* labels without names: folders by number, none left out */
    assert_true(scratch_has(s, "jpeg/00000/class_0/0001.jpg"));
    assert_true(scratch_has(s, "jpeg/00000/class_0/0001_2.jpg"));
    assert_true(scratch_has(s, "jpeg/00001/class_0/0001.jpg"));
    weir_dataset_close(&ds);
}

static void what_is_refused(void **state)
{
    struct scratch *s = *state;
    weir_dataset *ds, *tensors;
    struct wr_convert_config cfg;
    struct wr_convert_result res;
    char path[512];
    weir_err err;

    place_make(s, "in");
    ds = place_open(s, "", "in");
    place_config(s, ds, "gif", &cfg, path);
    assert_int_equal(wr_convert_run(&cfg, &res, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "gif"));
    place_config(s, ds, "npy", &cfg, path);
    cfg.max_side = 10;
    assert_int_equal(wr_convert_run(&cfg, &res, &err), WEIR_EINVAL);
    cfg.max_side = 0;
    cfg.tensor.picture.crop = WEIR_CROP_RANDOM;
    assert_int_equal(wr_convert_run(&cfg, &res, &err), WEIR_EINVAL);
    cfg.tensor.picture.crop = WEIR_CROP_NONE;
    cfg.tensor.picture.dtype = WEIR_F32; /* no pictures any more */
    place_convert(&cfg, &res);
    wr_convert_result_done(&res);
    tensors = place_open(s, "", "npy");
    for (unsigned k = 0; k < 3; k++) {
        place_config(s, tensors, kinds[k], &cfg, path);
        assert_int_equal(wr_convert_run(&cfg, &res, &err), WEIR_ENOTSUP);
        assert_false(scratch_has(s, kinds[k]));
    }
    weir_dataset_close(&tensors);
    weir_dataset_close(&ds);
}

/* More samples than labels fit in front of the first page, and bad ones: the
 * head becomes smaller than was thought. */
static void a_head_that_shrinks(void **state)
{
    struct scratch *s = *state;
    struct wr_convert_result res;
    struct wr_convert_config cfg;
    weir_dataset *ds, *out;
    FILE *list;
    char path[512];

    place_make(s, "in");
    scratch_put(s, "in/none.jpg", "no picture");
    list = fopen(scratch_at(s, "in/all.csv"), "w");
    assert_non_null(list);
    for (int k = 0; k < 1000; k++)
        fprintf(list, "%s,%d\n",
                k % 100 == 99 ? "none.jpg" : "class_0/0001.jpg", k % 7);
    fclose(list);
    ds = place_open(s, "", "in/all.csv");
    place_config(s, ds, "tensor", &cfg, path);
    cfg.shard_bytes = 0;
    cfg.tensor.picture.width = cfg.tensor.picture.height = 2;
    place_convert(&cfg, &res);
    assert_int_equal(res.bad, 10);
    assert_int_equal(res.samples, 990);
    wr_convert_result_done(&res);
    out = place_open(s, "", "tensor");
    assert_int_equal(weir_dataset_count(out), 990);
    assert_int_equal(res.bad_count, 0);
    weir_dataset_close(&out);
    weir_dataset_close(&ds);
}

struct progress {
    unsigned calls;
    uint64_t done;
};

static int note_progress(void *arg, uint64_t done, uint64_t total)
{
    struct progress *p = arg;

    assert_true(done >= p->done && done <= total);
    p->done = done;
    p->calls++;
    return 0;
}

/* The user is told how far it is while a worker writes. */
static void progress_while_it_writes(void **state)
{
    struct scratch *s = *state;
    struct wr_convert_result res;
    struct wr_convert_config cfg;
    struct progress p = {0};
    char path[512], slow[600];
    weir_dataset *ds;

    place_make(s, "in");
    ds = place_open(s, "", "in");
    place_config(s, ds, "tensor", &cfg, path);
    snprintf(slow, sizeof(slow), "fault:write-delay=30:%s", path);
    cfg.target = slow;
    cfg.tensor.picture.width = cfg.tensor.picture.height = 256;
    cfg.progress = note_progress;
    cfg.progress_arg = &p;
    place_convert(&cfg, &res);
    assert_int_equal(res.samples, PLACE_SAMPLES);
    assert_true(p.calls > 0);
    wr_convert_result_done(&res);
    weir_dataset_close(&ds);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_change_nothing), TEST(the_data_stay_the_same),
        TEST(there_and_back),         TEST(twins),
        TEST(what_is_refused),        TEST(a_head_that_shrinks),
        TEST(some_without_a_label),   TEST(progress_while_it_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
