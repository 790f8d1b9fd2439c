/* test_plan.c - which sample goes into which shard.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "convert/kind.h"
#include "place.h"

static const struct wr_convert_kind *find(const char *name)
{
    struct wr_file_form form;

    return wr_convert_kind_find(name, &form);
}

static void each_writer_has_a_kind(void **state)
{
    (void)state;
#define WRITER(name, help)                                                     \
    assert_ptr_equal(find(#name), wr_writer_##name.paths                       \
                                      ? &wr_convert_archives                   \
                                      : &wr_convert_records);
#define ARRAY_WRITER(name, help)                                               \
    assert_ptr_equal(find(#name), &wr_convert_arrays);
#define FIELD_WRITER(name, help)                                               \
    assert_ptr_equal(find(#name), &wr_convert_rows);
#include "format/formats.def"
    assert_null(find("nothing"));
}

static void shards_cover_all(void **state)
{
    static const uint64_t sizes[] = {0, 1, 3000, 8000, 1 << 30};
    weir_dataset *ds;
    struct wr_convert_config cfg;
    char path[512];

    place_make(*state, "in");
    ds = place_open(*state, "", "in");
    place_config(*state, ds, "tfrecord", &cfg, path);
    for (int k = 0; k < 10; k++) {
        struct wr_convert_plan p;
        bool seen[PLACE_SAMPLES] = {0};

        cfg.shard_bytes = sizes[k % 5];
        cfg.shuffle = k >= 5;
        assert_int_equal(wr_convert_plan_init(&p, &cfg, NULL), 0);
        assert_int_equal(p.first[0], 0);
        assert_int_equal(p.first[p.shards], PLACE_SAMPLES);
        for (uint64_t s = 0; s < p.shards; s++) {
            uint64_t sum = 0, n = p.first[s + 1] - p.first[s];

            assert_true(n > 0);
            for (uint64_t i = p.first[s]; i < p.first[s + 1]; i++) {
                uint64_t id = wr_convert_plan_sample(&p, i);
                struct wr_part place;

                assert_false(seen[id]);
                seen[id] = true;
                wr_index_part(ds->index, 0, id, &place);
                sum += place.length;
            }
            assert_true(!cfg.shard_bytes || n == 1 || sum <= cfg.shard_bytes);
        }
        if (!cfg.shard_bytes)
            assert_int_equal(p.shards, 1);
        if (cfg.shard_bytes == 1)
            assert_int_equal(p.shards, PLACE_SAMPLES);
        wr_convert_plan_done(&p);
    }
    weir_dataset_close(&ds);
}

static void names_of_shards(void **state)
{
    struct wr_convert_plan p;
    struct wr_convert_config cfg;
    weir_dataset *ds;
    char path[512], name[WR_CONVERT_NAME_MAX];

    place_make(*state, "in.data");
    ds = place_open(*state, "", "in.data");
    place_config(*state, ds, "tar", &cfg, path);
    cfg.shard_bytes = 1;
    assert_int_equal(wr_convert_plan_init(&p, &cfg, NULL), 0);
    wr_convert_plan_shard_name(&p, 7, name);
    assert_string_equal(name, "in-00007-of-00024.tar");
    wr_convert_plan_done(&p);
    cfg.name = "v1.2";
    assert_int_equal(wr_convert_plan_init(&p, &cfg, NULL), 0);
    wr_convert_plan_shard_name(&p, 0, name);
    assert_string_equal(name, "v1.2-00000-of-00024.tar");
    wr_convert_plan_done(&p);
    cfg.name = "a/b";
    assert_int_equal(wr_convert_plan_init(&p, &cfg, NULL), WEIR_EINVAL);
    weir_dataset_close(&ds);
}

/* What decides on the result is in the job, what does not is not. */
static void the_job_says_what_matters(void **state)
{
    struct wr_convert_plan p, q;
    struct wr_convert_config cfg, other;
    weir_dataset *ds;
    char path[512];

    place_make(*state, "in");
    ds = place_open(*state, "", "in");
    place_config(*state, ds, "tensor", &cfg, path);
    assert_int_equal(wr_convert_plan_init(&p, &cfg, NULL), 0);
    for (int k = 0; k < 12; k++) {
        other = cfg;
        other.threads += k == 0;
        other.fail_on_bad = k == 1;
        other.force = k == 2;
        other.shuffle = k == 3;
        other.shard_bytes += k == 4;
        other.tensor.picture.width += k == 5;
        other.tensor.picture.dtype = k == 6 ? WEIR_F16 : WEIR_U8;
        other.tensor.holdout = k >= 9 ? 0.2f : 0;
        other.tensor.part = k == 10   ? WEIR_PART_TRAIN
                            : k == 11 ? WEIR_PART_HELD_OUT
                                      : WEIR_PART_ALL;
        other.to = k == 7 ? "npy" : "tensor";
        other.tensor.picture.crop = k == 8 ? WEIR_CROP_CENTER : WEIR_CROP_NONE;
        assert_int_equal(wr_convert_plan_init(&q, &other, NULL), 0);
        assert_int_equal(strcmp(p.job, q.job) == 0, k < 3 || k == 9);
        wr_convert_plan_done(&q);
    }
    wr_convert_plan_done(&p);
    other.tensor.split_seed = 1; /* as many samples, but others */
    assert_int_equal(wr_convert_plan_init(&p, &other, NULL), 0);
    other.tensor.split_seed = 2;
    assert_int_equal(wr_convert_plan_init(&q, &other, NULL), 0);
    assert_string_not_equal(p.job, q.job);
    wr_convert_plan_done(&p);
    wr_convert_plan_done(&q);
    weir_dataset_close(&ds);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_writer_has_a_kind),
        TEST(shards_cover_all),
        TEST(names_of_shards),
        TEST(the_job_says_what_matters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
