/* test_reader.c - samples are read ahead, merged, and bad ones told apart.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "convert/reader.h"
#include "place.h"

/* One .wt file of all samples, and what is needed to read it. */
struct fixture {
    weir_dataset *ds;
    struct wr_convert_config cfg;
    struct wr_convert_plan plan;
    struct wr_objects objects;
    struct wr_inflated inflated;
    struct wr_reader *reader;
    char path[512];
};

static void make_tensors(struct scratch *s)
{
    struct wr_convert_config cfg;
    struct wr_convert_result res;
    char path[512];
    weir_dataset *ds;

    place_make(s, "in");
    ds = place_open(s, "", "in");
    place_config(s, ds, "tensor", &cfg, path);
    cfg.shard_bytes = 0;
    place_convert(&cfg, &res);
    wr_convert_result_done(&res);
    weir_dataset_close(&ds);
}

static void open_fixture(struct fixture *f, struct scratch *s,
                         const char *prefix)
{
    f->ds = place_open(s, prefix, "tensor");
    place_config(s, f->ds, "npy", &f->cfg, f->path);
    assert_int_equal(wr_convert_plan_init(&f->plan, &f->cfg, NULL), 0);
    assert_int_equal(wr_objects_init(&f->objects, f->ds, NULL), 0);
    assert_int_equal(wr_inflated_init(&f->inflated, f->ds, NULL), 0);
    assert_int_equal(wr_reader_open(&f->reader,
                                    &(struct wr_reader_config){
                                        &f->plan, &f->objects, &f->inflated},
                                    NULL),
                     0);
}

static void close_fixture(struct fixture *f)
{
    wr_reader_close(f->reader);
    wr_inflated_done(&f->inflated);
    wr_objects_done(&f->objects);
    wr_convert_plan_done(&f->plan);
    weir_dataset_close(&f->ds);
}

static const char shard[] = "tensor/in-00000-of-00001.wt";

static void two_loads_at_once(void **state)
{
    struct scratch *s = *state;
    struct wr_load *a, *b;
    struct fixture f;
    uint8_t *file;
    size_t len;

    make_tensors(s);
    file = scratch_read(s, shard, &len);
    assert_non_null(file);
    open_fixture(&f, s, "");
    assert_int_equal(wr_load_begin(f.reader, 0, 10, &a, NULL), 0);
    assert_int_equal(wr_load_begin(f.reader, 10, 14, &b, NULL), 0);
    for (uint32_t k = 0; k < PLACE_SAMPLES; k++) {
        struct wr_load *l = k < 10 ? a : b;
        const uint8_t *bytes;
        struct wr_part p;

        assert_int_equal(wr_load_bytes(l, k < 10 ? k : k - 10, &bytes, NULL),
                         0);
        wr_index_part(f.ds->index, 0, k, &p);
        assert_memory_equal(bytes, file + p.offset, p.length);
    }
    wr_load_end(a);
    assert_int_equal(wr_load_begin(f.reader, 3, 1, &a, NULL), 0);
    assert_int_equal(wr_load_item(a, 0)->id, 3);
    close_fixture(&f); /* ends what is open */
    free(file);
}

/* A read of many samples meets the end of a file that was cut: only those
 * behind it are bad, and each is named with its place. */
static void only_what_is_missing_is_bad(void **state)
{
    struct scratch *s = *state;
    const uint8_t *bytes;
    struct wr_load *l;
    struct fixture f;
    struct stat sb;
    weir_err err;

    make_tensors(s);
    open_fixture(&f, s, "");
    assert_int_equal(stat(scratch_at(s, shard), &sb), 0);
    assert_int_equal(truncate(s->path, sb.st_size - 16 * 16 * 3 * 3 - 1), 0);
    assert_int_equal(wr_load_begin(f.reader, 0, PLACE_SAMPLES, &l, NULL), 0);
    for (uint32_t k = 0; k < PLACE_SAMPLES; k++) {
        int r = wr_load_bytes(l, k, &bytes, &err);

        assert_int_equal(r, k < PLACE_SAMPLES - 4 ? 0 : WEIR_ECHANGED);
        if (r < 0)
            assert_non_null(strstr(err.msg, "in-00000-of-00001.wt"));
    }
    wr_load_end(l);
    close_fixture(&f);
}

/* Answers that come late and in another order. */
static void delays(void **state)
{
    struct scratch *s = *state;
    const uint8_t *bytes;
    struct wr_load *l;
    struct fixture f;

    make_tensors(s);
    open_fixture(&f, s, "fault:delay=3@%2:");
    f.plan.cfg = &f.cfg;
    f.cfg.shuffle = true; /* nothing to merge */
    assert_int_equal(wr_load_begin(f.reader, 0, PLACE_SAMPLES, &l, NULL), 0);
    for (uint32_t k = PLACE_SAMPLES; k-- > 0;)
        assert_int_equal(wr_load_bytes(l, k, &bytes, NULL), 0);
    close_fixture(&f);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_loads_at_once),
        TEST(only_what_is_missing_is_bad),
        TEST(delays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
