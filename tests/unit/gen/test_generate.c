/* test_generate.c - data sets: same bytes always, all or nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/dtype.h"
#include "base/hist.h"
#include "decode.h"
#include "scratch.h"
#include "gen/generate.h"

static struct wr_gen_config config(const char *kind, uint64_t samples)
{
    return (struct wr_gen_config){.kind = kind,
                                  .samples = samples,
                                  .classes = 3,
                                  .seed = 7,
                                  .threads = 2};
}

static void run_ok(struct scratch *s, struct wr_gen_config cfg,
                   const char *name, struct wr_gen_result *res)
{
    static struct wr_gen_result unused;
    char target[PATH_MAX];
    weir_err err = {0};
    int r;

    snprintf(target, sizeof(target), "%s", scratch_at(s, name));
    cfg.target = target;
    r = wr_gen_run(&cfg, res ? res : &unused, &err);
    if (r < 0)
        print_error("%s\n", err.msg);
    assert_int_equal(r, 0);
}

static void run_fails(struct scratch *s, struct wr_gen_config cfg, int code,
                      const char *why)
{
    static struct wr_gen_result res;
    char target[PATH_MAX];
    weir_err err = {0};

    snprintf(target, sizeof(target), "%s", scratch_at(s, "d"));
    cfg.target = target;
    res.samples = 12345;
    assert_int_equal(wr_gen_run(&cfg, &res, &err), code);
    assert_non_null(strstr(err.msg, why));
    assert_int_equal(res.samples, 12345);
    assert_int_equal(scratch_entries(s, ""), 0);
}

static void same_file(struct scratch *s, const char *a, const char *b)
{
    size_t na = 0, nb = 0;
    unsigned char *x = scratch_read(s, a, &na), *y = scratch_read(s, b, &nb);

    assert_non_null(x);
    assert_non_null(y);
    assert_int_equal(na, nb);
    assert_memory_equal(x, y, na);
    free(x);
    free(y);
}

/* One, two and five threads: the same files with the same bytes. */
static void test_same_bytes(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_config cfg = config("caltech101", 20);
    static const char *const sets[] = {"a", "b", "c"};
    static const unsigned threads[] = {1, 2, 5};
    static struct wr_gen_result res;

    for (unsigned k = 0; k < 3; k++) {
        cfg.threads = threads[k];
        run_ok(s, cfg, sets[k], &res);
        assert_int_equal(res.samples, 20);
        assert_int_equal(res.files, 20);
        assert_int_equal(res.classes, 3);
        assert_int_equal(res.sizes.count, 20);
        assert_int_equal(res.sizes.sum, res.bytes);
    }
    for (unsigned i = 0; i < 20; i++) {
        char name[3][64];

        for (unsigned k = 0; k < 3; k++)
            snprintf(name[k], sizeof(name[k]), "%s/class_%04u/%04u_%06u.jpg",
                     sets[k], i % 3, i % 3, i / 3);
        same_file(s, name[0], name[1]);
        same_file(s, name[0], name[2]);
    }
    assert_int_equal(scratch_entries(s, "a"), 4); /* and the job file */
    assert_int_equal(scratch_entries(s, "a/class_0000"), 7);
    assert_int_equal(scratch_entries(s, "a/class_0002"), 6);
}

/* The beginning of a larger data set is the smaller one. */
static void test_prefix(void **state)
{
    struct scratch *s = *state;

    run_ok(s, config("caltech101", 3), "a", NULL);
    run_ok(s, config("caltech101", 6), "b", NULL);
    same_file(s, "a/class_0002/0002_000000.jpg",
              "b/class_0002/0002_000000.jpg");
}

static void test_fewer_samples_than_classes(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_config cfg = config("caltech101", 2);
    static struct wr_gen_result res;

    cfg.threads = 0;
    run_ok(s, cfg, "a", &res);
    assert_int_equal(res.classes, 2);
    assert_int_equal(scratch_entries(s, "a"), 3);
}

static uint64_t le(const unsigned char *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned k = bytes; k-- > 0;)
        v = v << 8 | p[k];
    return v;
}

static void test_wt(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_config cfg = config("tensors", 10);
    static struct wr_gen_result res;
    unsigned char *bytes;
    size_t len;

    cfg.samples_per_file = 4;
    cfg.shape = (struct wr_gen_shape){
        .dtype = WEIR_U8, .ndim = 3, .dims = {16, 24, 3}};
    run_ok(s, cfg, "a", &res);
    cfg.threads = 1;
    run_ok(s, cfg, "b", NULL);
    assert_int_equal(res.files, 3);
    assert_int_equal(res.samples, 10);
    assert_int_equal(res.bytes, 3 * 4096 + 10 * 16 * 24 * 3);
    assert_int_equal(scratch_entries(s, "a"), 4);
    same_file(s, "a/part-00000.wt", "b/part-00000.wt");
    same_file(s, "a/part-00002.wt", "b/part-00002.wt");
    bytes = scratch_read(s, "a/part-00002.wt", &len);
    assert_non_null(bytes);
    assert_int_equal(len, 4096 + 2 * 16 * 24 * 3);
    assert_int_equal(le(bytes + 24, 8), 2);
    assert_int_equal(le(bytes + 128, 4), 8 % 3);
    assert_int_equal(le(bytes + 132, 4), 9 % 3);
    assert_memory_not_equal(bytes + 4096, bytes + 4096 + 16 * 24 * 3,
                            16 * 24 * 3);
    free(bytes);
}

/* The bytes of the samples in `name`, behind a header of `skip` bytes. */
static unsigned char *samples_of(struct scratch *s, struct wr_gen_config cfg,
                                 const char *name)
{
    char path[64];
    unsigned char *bytes;
    size_t len = 0, skip;

    run_ok(s, cfg, name, NULL);
    snprintf(path, sizeof(path), "%s/part-00000%s", name,
             !cfg.to ? ".wt" : ".npy");
    bytes = scratch_read(s, path, &len);
    assert_non_null(bytes);
    skip = !cfg.to ? 4096 : 10 + le(bytes + 8, 2);
    memmove(bytes, bytes + skip, len - skip);
    return bytes;
}

/* The same pictures in every format, type and layout. */
static void test_same_samples(void **state)
{
    enum { H = 8, W = 12, N = 3, ALL = N * H * W * 3 };
    struct scratch *s = *state;
    struct wr_gen_config cfg = config("tensors", N);
    struct wr_gen_shape hwc = {WEIR_U8, 3, {H, W, 3}};
    struct wr_gen_shape chw = {WEIR_U8, 3, {3, H, W}};
    unsigned char *u8, *f32, *f16, *planar;

    cfg.shape = hwc;
    u8 = samples_of(s, cfg, "u8");
    cfg.to = "npy";
    cfg.shape.dtype = WEIR_F32;
    f32 = samples_of(s, cfg, "f32");
    cfg.shape.dtype = WEIR_F16;
    f16 = samples_of(s, cfg, "f16");
    cfg.shape = chw;
    planar = samples_of(s, cfg, "planar");
    assert_true(scratch_has(s, "planar/part-00000.labels.npy"));
    for (unsigned i = 0; i < ALL; i++) {
        uint32_t bits = (uint32_t)le(f32 + 4 * i, 4);
        uint32_t half = (uint32_t)le(f16 + 2 * i, 2);
        unsigned at = i / (H * W * 3), p = i % (H * W * 3);
        float value, wide;

        memcpy(&value, &bits, 4);
        assert_true(value * 255.0f > u8[i] - 0.01f);
        assert_true(value * 255.0f < u8[i] + 0.01f);
        wide = half ? (float)(1024 + (half & 1023)) / 1024.0f : 0.0f;
        for (uint32_t e = half >> 10; half && e < 15; e++)
            wide *= 0.5f;
        assert_true(wide - value < 0.0005f && value - wide < 0.0005f);
        assert_int_equal(planar[at * H * W * 3 + p % 3 * H * W + p / 3], u8[i]);
    }
    free(u8);
    free(f32);
    free(f16);
    free(planar);
}

/* Shapes that are no pictures. */
static void test_any_shape(void **state)
{
    static const struct wr_gen_shape shapes[] = {
        {WEIR_F32, 1, {1}},          {WEIR_U8, 1, {100000}},
        {WEIR_F32, 2, {1, 1}},       {WEIR_F16, 4, {2, 3, 4, 5}},
        {WEIR_U8, 3, {1, 1, 1}},     {WEIR_F32, 3, {5, 6, 7}},
        {WEIR_U8, 3, {1, 50000, 3}}, {WEIR_U8, 7, {1, 2, 1, 2, 1, 2, 9}}};
    struct scratch *s = *state;
    struct wr_gen_config cfg = config("tensors", 5);
    static struct wr_gen_result res;

    cfg.force = true;
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
        cfg.shape = shapes[k];
        run_ok(s, cfg, "a", &res);
        assert_int_equal(res.bytes,
                         4096 + 5 * wr_gen_shape_elements(&shapes[k]) *
                                    wr_dtype_bytes(shapes[k].dtype));
    }
}

static void test_list(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_config cfg = config("caltech101", 4);
    char list[PATH_MAX], want[PATH_MAX + 64];
    unsigned char *text;
    size_t len;

    snprintf(list, sizeof(list), "%s", scratch_at(s, "list.csv"));
    cfg.list = list;
    run_ok(s, cfg, "a,b", NULL);
    text = scratch_read(s, "list.csv", &len);
    assert_string_equal((char *)text, "\"a,b/class_0000/0000_000000.jpg\",0\n"
                                      "\"a,b/class_0001/0001_000000.jpg\",1\n"
                                      "\"a,b/class_0002/0002_000000.jpg\",2\n"
                                      "\"a,b/class_0000/0000_000001.jpg\",0\n");
    free(text);
    /* Elsewhere: absolute; and the old list is replaced. */
    mkdir(scratch_at(s, "sub"), 0777);
    run_ok(s, cfg, "sub/c", NULL);
    snprintf(list, sizeof(list), "%s", scratch_at(s, "sub/list.csv"));
    run_ok(s, cfg, "d", NULL);
    text = scratch_read(s, "sub/list.csv", &len);
    scratch_at(s, "d/class_0000/0000_000000.jpg,0\n");
    snprintf(want, sizeof(want), "%s", s->path);
    assert_memory_equal(text, want, strlen(want));
    free(text);
    assert_int_equal(scratch_entries(s, ""), 4);
}

static void test_wrong_settings(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_config cfg = config("nonsense", 4);
    char list[PATH_MAX];

    run_fails(s, cfg, WEIR_EINVAL, "nonsense");
    cfg = config("tensors", WR_GEN_SAMPLES_MAX + 1);
    run_fails(s, cfg, WEIR_ELIMIT, "samples");
    cfg = config("tensors", 1);
    cfg.classes = WR_GEN_CLASSES_MAX + 1;
    run_fails(s, cfg, WEIR_ELIMIT, "classes");
    cfg = config("tensors", 1);
    cfg.list = "x.csv";
    run_fails(s, cfg, WEIR_EINVAL, "list");
    cfg = config("caltech101", 1);
    snprintf(list, sizeof(list), "%s/d/list.csv", s->dir);
    cfg.list = list;
    run_fails(s, cfg, WEIR_EINVAL, "outside");
    snprintf(list, sizeof(list), "%s/none/list.csv", s->dir);
    run_fails(s, cfg, WEIR_ENOENT, "none");
}

static int cancel(void *arg, uint64_t done, uint64_t total)
{
    unsigned *calls = arg;

    (void)total;
    (*calls)++;
    return done > 0;
}

static void test_cancel(void **state)
{
    struct wr_gen_config cfg = config("imagenet", 1000000);
    unsigned calls = 0;

    cfg.progress = cancel;
    cfg.progress_arg = &calls;
    run_fails(*state, cfg, WEIR_ECANCELED, "canceled");
    assert_true(calls > 0);
    cfg.kind = "tensors";
    cfg.samples_per_file = 1000000;
    cfg.shape = (struct wr_gen_shape){WEIR_U8, 3, {64, 64, 3}};
    run_fails(*state, cfg, WEIR_ECANCELED, "canceled");
}

static void test_refused_target(void **state)
{
    struct scratch *s = *state;
    struct wr_gen_config cfg = config("caltech101", 2);
    static struct wr_gen_result res;
    char target[PATH_MAX];
    weir_err err;

    run_ok(s, cfg, "a", NULL);
    snprintf(target, sizeof(target), "%s", scratch_at(s, "a"));
    cfg.target = target;
    assert_int_equal(wr_gen_run(&cfg, &res, &err), WEIR_EEXIST);
    cfg.seed = 8;
    cfg.force = true;
    assert_int_equal(wr_gen_run(&cfg, &res, &err), 0);
    assert_int_equal(scratch_entries(s, ""), 1);
    assert_int_equal(scratch_entries(s, "a"), 3);
}

/* Killed before all was made: only what is missing is made, and the numbers are
 * those of the whole. */
static void continues(struct scratch *s, struct wr_gen_config cfg,
                      const char *lost)
{
    static struct wr_gen_result whole, rest;
    char from[PATH_MAX], again[64], first[64];

    run_ok(s, cfg, "whole", &whole);
    run_ok(s, cfg, "d", NULL);
    snprintf(from, sizeof(from), "%s", scratch_at(s, "d"));
    assert_int_equal(rename(from, scratch_at(s, ".d.part")), 0);
    snprintf(again, sizeof(again), ".d.part/%s", lost);
    unlink(scratch_at(s, again));
    run_ok(s, cfg, "d", &rest);
    snprintf(first, sizeof(first), "whole/%s", lost);
    snprintf(again, sizeof(again), "d/%s", lost);
    same_file(s, first, again);
    assert_int_equal(rest.samples, whole.samples);
    assert_int_equal(rest.files, whole.files);
    assert_int_equal(rest.bytes, whole.bytes);
    assert_int_equal(rest.sizes.sum, whole.sizes.sum);
    assert_int_equal(scratch_entries(s, ""), 2);
    cfg.seed++; /* of another job it is not continued */
    assert_int_equal(rename(from, scratch_at(s, ".d.part")), 0);
    snprintf(from, sizeof(from), "%s", scratch_at(s, "d"));
    cfg.target = from;
    assert_int_equal(wr_gen_run(&cfg, &rest, NULL), WEIR_ESTATE);
    cfg.force = true;
    assert_int_equal(wr_gen_run(&cfg, &rest, NULL), 0);
}

static void test_continues(void **state)
{
    struct wr_gen_config cfg = config("tensors", 10);

    continues(*state, config("caltech101", 5), "class_0001/0001_000000.jpg");
    scratch_teardown(state);
    scratch_setup(state);
    cfg.samples_per_file = 4;
    cfg.to = "npy";
    cfg.shape = (struct wr_gen_shape){WEIR_F32, 2, {5, 7}};
    continues(*state, cfg, "part-00001.npy");
}

#define WITH_SCRATCH(f)                                                        \
    cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCRATCH(test_same_bytes),
        WITH_SCRATCH(test_prefix),
        WITH_SCRATCH(test_fewer_samples_than_classes),
        WITH_SCRATCH(test_wt),
        WITH_SCRATCH(test_same_samples),
        WITH_SCRATCH(test_any_shape),
        WITH_SCRATCH(test_list),
        WITH_SCRATCH(test_wrong_settings),
        WITH_SCRATCH(test_cancel),
        WITH_SCRATCH(test_refused_target),
        WITH_SCRATCH(test_continues),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
