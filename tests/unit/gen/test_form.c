/* test_form.c - every form makes files that weir's own readers understand.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "described.h"
#include "gen/form.h"
#include "grown.h"
#include "scratch.h"
#include "weir/dataset.h"

/* Makes file `i` in memory. */
static int make(const struct wr_workload *w, uint64_t seed, uint64_t i,
                struct grown *g, weir_err *err)
{
    const struct wr_gen_form *f = wr_gen_form_of(w, err);
    struct wr_gen_stock stock;
    struct wr_gen_maker m;
    struct wr_gen_spec s;
    int r;

    grown_init(g);
    if (!f)
        return err->code;
    r = wr_gen_stock_init(&stock, w, seed, 1, err);
    assert_int_equal(r, 0);
    assert_int_equal(wr_gen_maker_init(&m, &stock, err), 0);
    r = wr_gen_spec_init(&s, w, seed, i, err);
    if (r == 0) {
        wr_pen_init(&m.pen, &g->base, m.buf);
        r = f->make(&m, &s, err);
    }
    if (r == 0)
        r = wr_pen_flush(&m.pen, err);
    if (r == 0 && w->weir.content == WR_WL_NOISE) {
        double about = (double)f->size(&s);

        assert_true((double)g->len < about * 1.1 + 3000);
        assert_true((double)g->len > about * 0.9 - 11000);
    }
    wr_gen_maker_done(&m);
    wr_gen_stock_done(&stock);
    return r;
}

static void save(struct scratch *s, const char *name, const struct grown *g)
{
    FILE *f = fopen(scratch_at(s, name), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(g->bytes, 1, g->len, f), g->len);
    fclose(f);
}

static uint64_t samples_in(struct scratch *s, const char *name,
                           const char *schema)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    weir_err err = {0};
    uint64_t count;

    weir_dataset_defaults(&cfg);
    cfg.schema = schema;
    cfg.no_index_cache = true;
    if (weir_dataset_open(&ds, scratch_at(s, name), &cfg, &err) < 0) {
        print_error("%s: %s\n", name, err.msg);
        return 0;
    }
    count = weir_dataset_count(ds);
    weir_dataset_close(&ds);
    return count;
}

static void check(struct scratch *s, const char *format, const char *ext,
                  const char *schema)
{
    struct wr_workload *w = described(format, NULL);
    struct grown a, b, c;
    char name[32];
    weir_err err;

    assert_non_null(w);
    assert_int_equal(make(w, 1, 2, &a, &err), 0);
    assert_int_equal(make(w, 1, 2, &b, &err), 0);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.bytes, b.bytes, a.len);
    assert_int_equal(make(w, 1, 3, &c, &err), 0);
    assert_true(a.len != c.len || memcmp(a.bytes, c.bytes, a.len) != 0);
    snprintf(name, sizeof(name), "a.%s", ext);
    save(s, name, &a);
    assert_int_equal(samples_in(s, name, schema), 3);
    grown_done(&a);
    grown_done(&b);
    grown_done(&c);
    wr_workload_free(w);
}

static void test_many_samples(void **state)
{
    check(*state, "npz", "npz", NULL);
    check(*state, "npy", "npy", "axis=last");
    check(*state, "tensor", "wt", NULL);
    check(*state, "tfrecord", "tfrecord", NULL);
    check(*state, "tar", "tar", NULL);
    check(*state, "csv", "csv", NULL);
    check(*state, "jsonl", "jsonl", NULL);
}

static void check_picture(struct scratch *s, const char *format,
                          const char *more)
{
    const char *const changes[] = {"dataset.num_samples_per_file=1",
                                   "dataset.record_length_bytes=40000", more,
                                   NULL};
    struct wr_workload *w = described(format, changes);
    struct grown a;
    char name[32];
    weir_err err = {0};

    assert_non_null(w);
    assert_int_equal(make(w, 1, 2, &a, &err), 0);
    snprintf(name, sizeof(name), "a.%s", format);
    save(s, name, &a);
    mkdir(scratch_at(s, format), 0777);
    snprintf(name, sizeof(name), "%s/a.%s", format, format);
    save(s, name, &a);
    assert_int_equal(samples_in(s, format, NULL), 1);
    grown_done(&a);
    wr_workload_free(w);
}

static void test_pictures(void **state)
{
    check_picture(*state, "jpeg", NULL);
    check_picture(*state, "png", NULL);
    check_picture(*state, "jpeg", "weir.content=photos");
}

static void check_refused(const char *format, const char *change, int code,
                          const char *why)
{
    const char *const changes[] = {change, NULL};
    struct wr_workload *w = described(format, changes);
    weir_err err = {0};

    assert_non_null(w);
    assert_null(wr_gen_form_of(w, &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.msg, why))
        print_error("'%s' does not say '%s'\n", err.msg, why);
    assert_non_null(strstr(err.msg, why));
    wr_workload_free(w);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused("parquet", NULL, WEIR_ENOTSUP, "parquet");
    check_refused("hdf5_opt", NULL, WEIR_ENOTSUP, "hdf5_opt");
    check_refused("synthetic", NULL, WEIR_EINVAL, "synthetic");
    check_refused("jpeg", NULL, WEIR_EINVAL, "one sample");
    check_refused("png", NULL, WEIR_EINVAL, "one sample");
    check_refused("hdf5", "dataset.hdf5.chunk_dims=[1,20]", WEIR_EINVAL,
                  "2 sides, not 3");
    check_refused("hdf5", "dataset.hdf5.chunk_dims=[1,20,21]", WEIR_EINVAL,
                  "side 3");
    check_refused("hdf5", "dataset.compression=gzip", WEIR_ENOTSUP, "gzip");
    check_refused("npz", "weir.content=photos", WEIR_ENOTSUP, "photos");
    check_refused("tensor", "dataset.record_element_type=int64", WEIR_ENOTSUP,
                  "int64");
    check_refused("npz", "dataset.compression=gzip", WEIR_ENOTSUP, "gzip");
}

/* Files of a type that is not bytes, and of other dimensions. */
static void test_dims(void **state)
{
    const char *const changes[] = {"dataset.record_dims=[3,5,7]",
                                   "dataset.record_element_type=float32", NULL};
    struct wr_workload *w = described("npz", changes);
    struct wr_gen_spec s;
    struct grown g;

    assert_non_null(w);
    assert_int_equal(wr_gen_spec_init(&s, w, 1, 6, NULL), 0);
    assert_int_equal(s.sample_bytes, 3 * 5 * 7 * 4);
    assert_int_equal(s.first, 18);
    assert_int_equal(make(w, 1, 6, &g, NULL), 0);
    save(*state, "d.npz", &g);
    assert_int_equal(samples_in(*state, "d.npz", "axis=last"), 3);
    grown_done(&g);
    wr_workload_free(w);
}

#if WEIR_TEST_HDF5

/* Chunks are another order of the same values, so samples stay as they are. */
static void check_hdf5(struct scratch *sc, const char *chunk, const char *more)
{
    const char *const changes[] = {chunk, more, NULL};
    struct wr_workload *w = described("hdf5", changes);
    struct grown a, b;

    assert_non_null(w);
    assert_int_equal(make(w, 1, 2, &a, NULL), 0);
    assert_int_equal(make(w, 1, 2, &b, NULL), 0);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.bytes, b.bytes, a.len);
    save(sc, "a.h5", &a);
    assert_int_equal(samples_in(sc, "a.h5", NULL), 3);
    grown_done(&a);
    grown_done(&b);
    wr_workload_free(w);
}

static void test_chunks(void **state)
{
    check_hdf5(*state, "dataset.hdf5.chunk_dims=[1,20,20]", NULL);
    check_hdf5(*state, "dataset.hdf5.chunk_dims=[2,7,9]", NULL);
    check_hdf5(*state, "dataset.hdf5.chunk_dims=[64,1,20]", NULL);
    check_hdf5(*state, "dataset.hdf5.chunk_dims=[2,4,5]",
               "dataset.hdf5.num_dset_per_record=2");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_many_samples, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_pictures, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(test_refused),
#if WEIR_TEST_HDF5
        cmocka_unit_test_setup_teardown(test_chunks, scratch_setup,
                                        scratch_teardown),
#endif
        cmocka_unit_test_setup_teardown(test_dims, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests_name("form", tests, NULL, NULL);
}
