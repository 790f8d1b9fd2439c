/* test_npz.c - NPZ files as data sets: fields, labels, what is refused.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What comes out of every type and order is compared with NumPy in
 * tests/interop. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codec/filters.h"
#include "format/format.h"
#include "tensorfiles.h"
#include "weir/dataset.h"

static int open_with(const char *path, const char *schema, weir_dataset **ret,
                     weir_err *err)
{
    weir_dataset_config cfg;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    cfg.schema = schema;
    return weir_dataset_open(ret, path, &cfg, err);
}

static weir_dataset *open_set(const char *path, const char *schema)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (open_with(path, schema, &ds, &err) < 0)
        fail_msg("%s", err.msg);
    return ds;
}

static void refuse(const char *path, const char *schema, const char *why)
{
    weir_dataset *ds = NULL;
    weir_err err = {0};

    assert_true(open_with(path, schema, &ds, &err) < 0);
    if (!strstr(err.msg, why))
        fail_msg("'%s' does not say '%s'", err.msg, why);
}

static const weir_field *field(const weir_dataset *ds, const char *name)
{
    uint32_t count;
    const weir_field *f = weir_dataset_fields(ds, &count);

    for (uint32_t k = 0; k < count; k++)
        if (!strcmp(f[k].name, name))
            return &f[k];
    return NULL;
}

static union wr_scalar scalar(const weir_dataset *ds, const char *name,
                              uint64_t i)
{
    const struct wr_schema *s = wr_index_schema(ds->index);
    union wr_scalar v;

    assert_true(wr_index_scalar(
        ds->index, (unsigned)(wr_schema_find(s, name) - s->fields), i, &v));
    return v;
}

static const uint8_t bytes[256] = {1, 2, 3, 4, 5, 6, 7, 8};

static void test_fields(void **state)
{
    const int64_t y[] = {3, -1}, wide[] = {3, INT64_C(1) << 40};
    const float weight[] = {0.5f, -2};
    const struct npz_spec narrow[] = {
        {"y", "<i8", "(2,)", y, 16, false},
        {"image", "|u1", "(2, 2, 3)", bytes, 12, false},
        {"mask", "<i2", "(2, 2)", bytes, 8, false},
        {"weight", "<f4", "(2,)", weight, 8, false},
        {0}};
    const struct npz_spec beyond[] = {
        {"x", "|u1", "(2, 2)", bytes, 4, false},
        {"hash", "<u8", "(2,)", y, 16, false}, /* 3 and 2^64 - 1 */
        {0}};
    const struct npz_spec large[] = {{"x", "|u1", "(2, 2)", bytes, 4, false},
                                     {"label", "<i8", "(2,)", wide, 16, false},
                                     {0}};
    struct wr_part p;
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npz(&t, "a.npz", narrow, false);
    ds = open_set(tmpdir_at(&t, "a.npz"), NULL);
    assert_int_equal(weir_dataset_count(ds), 2);
    assert_int_equal(wr_index_columns(ds->index), 2);
    assert_int_equal(field(ds, "mask")->dtype, WEIR_I16);
    assert_int_equal(field(ds, "weight")->kind, WEIR_FIELD_SCALAR);
    assert_true(scalar(ds, "weight", 1).f == -2);
    assert_true(field(ds, "y")->is_label);
    wr_index_part(ds->index, 0, 0, &p);
    assert_int_equal(p.label, 3);
    wr_index_part(ds->index, 0, 1, &p);
    assert_int_equal(p.label, WEIR_NO_LABEL);
    weir_dataset_close(&ds);
    ds = open_set(tmpdir_at(&t, "a.npz"), "label=weight");
    assert_true(field(ds, "weight")->is_label && !field(ds, "y")->is_label);
    assert_true(scalar(ds, "y", 0).i == 3);
    weir_dataset_close(&ds);
    put_npz(&t, "b.npz", large, false);
    ds = open_set(tmpdir_at(&t, "b.npz"), NULL);
    assert_true(field(ds, "label")->is_label);
    assert_true(scalar(ds, "label", 1).i == INT64_C(1) << 40);
    weir_dataset_close(&ds);
    put_npz(&t, "c.npz", beyond, false);
    refuse(tmpdir_at(&t, "c.npz"), NULL, "'hash' has 18446744073709551615");
    tmpdir_done(&t);
}

/* What a unit inflates to. */
static int undo_unit(const char *path, const struct wr_unit *u, uint8_t *ret)
{
    const struct wr_packing packing = {.filters = u->filters,
                                       .argument = u->argument,
                                       .stored = u->stored,
                                       .inflated = u->inflated};
    uint8_t stored[4096];
    FILE *f = fopen(path, "rb");

    assert_true(f && u->stored <= sizeof(stored));
    fseek(f, (long)u->offset, SEEK_SET);
    assert_int_equal(fread(stored, 1, u->stored, f), u->stored);
    fclose(f);
    return wr_filters_undo(&packing, stored, ret, NULL);
}

/* Deflated members are units; their checksum is looked at. */
static void test_units(void **state)
{
    const struct npz_spec a[] = {{"x", "<f8", "(4, 8)", bytes, 256, false},
                                 {0}};
    const struct wr_unit *u;
    uint8_t got[4096];
    struct wr_part p;
    struct tmpdir t;
    weir_dataset *ds;
    FILE *f;

    (void)state;
    tmpdir_init(&t);
    put_npz(&t, "a.npz", a, true);
    ds = open_set(tmpdir_at(&t, "a.npz"), NULL);
    assert_int_equal(wr_index_unit_count(ds->index), 1);
    wr_index_part(ds->index, 0, 3, &p);
    assert_int_equal(p.unit, 0);
    u = wr_index_unit(ds->index, 0);
    assert_int_equal(undo_unit(tmpdir_at(&t, "a.npz"), u, got), 0);
    assert_memory_equal(got + p.offset - 192, bytes, 256);
    f = fopen(tmpdir_at(&t, "a.npz"), "r+b");
    fseek(f, (long)u->offset + 20, SEEK_SET);
    fputc(0x55, f);
    fclose(f);
    assert_int_equal(undo_unit(tmpdir_at(&t, "a.npz"), u, got), WEIR_EFORMAT);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_axis(void **state)
{
    const uint8_t y[] = {1, 2, 3, 4};
    const struct npz_spec a[] = {{"x", "|u1", "(2, 3, 4)", bytes, 24, false},
                                 {"y", "|u1", "(4,)", y, 4, false},
                                 {0}};
    const struct npz_spec b[] = {{"x", "|u1", "(3, 3)", bytes, 9, false},
                                 {"z", "|u1", "(4, 3)", bytes, 12, false},
                                 {0}};
    struct wr_part p;
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npz(&t, "a.npz", a, false);
    ds = open_set(tmpdir_at(&t, "a.npz"), NULL);
    assert_int_equal(weir_dataset_count(ds), 4);
    assert_int_equal(field(ds, "x")->ndim, 2);
    assert_int_equal(field(ds, "x")->dims[1], 3);
    wr_index_part(ds->index, 0, 2, &p);
    assert_true(wr_part_is_packed(&p)); /* one unit for all */
    assert_int_equal(p.offset, 2);
    assert_int_equal(p.length, 1 + 5 * 4);
    assert_int_equal(weir_dataset_bytes(ds), 24); /* each byte once */
    weir_dataset_close(&ds);
    refuse(tmpdir_at(&t, "a.npz"), "axis=first", "samples along its first");
    refuse(tmpdir_at(&t, "a.npz"), "axis=third", "axis=third is not one of");
    put_npz(&t, "b.npz", b, false);
    refuse(tmpdir_at(&t, "b.npz"), NULL, "axis=file");
    ds = open_set(tmpdir_at(&t, "b.npz"), "axis=file");
    assert_int_equal(weir_dataset_count(ds), 1);
    assert_int_equal(field(ds, "z")->dims[0], 4);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* One sample per file: sizes may differ. */
static void test_varies(void **state)
{
    const struct npz_spec a[] = {{"x", "<f4", "(1, 2, 3)", bytes, 24, false},
                                 {0}};
    const struct npz_spec b[] = {{"x", "<f4", "(1, 4, 3)", bytes, 48, false},
                                 {0}};
    const struct npz_spec c[] = {{"x", "<f4", "(1, 4, 5)", bytes, 80, true},
                                 {0}};
    const struct npz_spec d[] = {{"x", "<f4", "(2, 4, 3)", bytes, 96, false},
                                 {0}};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npz(&t, "a.npz", a, false);
    put_npz(&t, "b.npz", b, true);
    put_npz(&t, "c.npz", c, false); /* Fortran order: left out */
    put_npz(&t, "d.npz", d, false); /* two samples: of another size */
    ds = open_set(t.path, NULL);
    assert_int_equal(weir_dataset_count(ds), 2);
    assert_int_equal(weir_dataset_issue_count(ds), 2);
    assert_non_null(strstr(weir_dataset_issue(ds, 0)->reason, "Fortran"));
    assert_true(field(ds, "x")->dims[0] == WEIR_DIM_VARIES);
    assert_int_equal(field(ds, "x")->dims[1], 3);
    assert_int_equal(scalar(ds, "x.dim0", 0).i, 2);
    assert_int_equal(scalar(ds, "x.dim0", 1).i, 4);
    assert_null(field(ds, "x.dim1"));
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Files of one sample of the same size, of which one lies in Fortran order. */
static void test_other_order(void **state)
{
    const struct npz_spec c[] = {{"x", "<f4", "(2, 3)", bytes, 24, false}, {0}};
    const struct npz_spec f[] = {{"x", "<f4", "(2, 3)", bytes, 24, true}, {0}};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npz(&t, "a.npz", c, false);
    put_npz(&t, "b.npz", f, false);
    ds = open_set(t.path, "axis=file");
    assert_int_equal(weir_dataset_count(ds), 1);
    assert_non_null(strstr(weir_dataset_issue(ds, 0)->reason, "its order"));
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* What lies in another order keeps its shape, whatever is declared. */
static void test_declared(void **state)
{
    const struct npz_spec a[] = {{"f", "<f4", "(2, 1, 3)", bytes, 24, false},
                                 {"g", "<u1", "(2, 2, 3)", bytes, 12, true},
                                 {"h", ">f4", "(2, 1)", bytes, 8, false},
                                 {0}};
    struct tmpdir t;
    weir_dataset *ds;
    char *path;

    (void)state;
    tmpdir_init(&t);
    put_npz(&t, "a.npz", a, false);
    path = strdup(tmpdir_at(&t, "a.npz"));
    refuse(path, "g=tensor:u8:3x2", "stays so");
    refuse(path, "h=tensor:f32:?", "stays so");
    refuse(path, "h=scalar:f32", "stays so");
    ds = open_set(path, "f=tensor:f32:3,g=tensor:u8:2x3,h=tensor:f32:1x1");
    assert_int_equal(field(ds, "f")->ndim, 1);
    assert_int_equal(field(ds, "h")->ndim, 2);
    weir_dataset_close(&ds);
    free(path);
    tmpdir_done(&t);
}

/* Bytes in front of an archive, and an archive of nothing. */
static void test_begins_otherwise(void **state)
{
    const struct npz_spec a[] = {{"x", "<f4", "(2, 3)", bytes, 24, false}, {0}};
    const uint8_t nothing[22] = "PK\x05\x06";
    uint8_t all[4096] = "#!/bin/sh\n";
    struct tmpdir t;
    weir_dataset *ds;
    struct wr_part p;
    size_t len;
    FILE *f;

    (void)state;
    tmpdir_init(&t);
    put_npz(&t, "a.npz", a, false);
    f = fopen(tmpdir_at(&t, "a.npz"), "rb");
    len = fread(all + 10, 1, sizeof(all) - 10, f);
    fclose(f);
    tmpdir_put(&t, "b.npz", all, len + 10);
    ds = open_set(tmpdir_at(&t, "b.npz"), NULL);
    wr_index_part(ds->index, 0, 1, &p);
    assert_memory_equal(all + p.offset - 12, bytes, 24);
    weir_dataset_close(&ds);
    tmpdir_put(&t, "c.npz", nothing, sizeof(nothing));
    refuse(tmpdir_at(&t, "c.npz"), NULL, "no arrays");
    tmpdir_done(&t);
}

static void test_issues(void **state)
{
    const struct npz_spec good[] = {{"x", "<f4", "(2, 3)", bytes, 24, false},
                                    {"y", "|u1", "(2,)", bytes, 2, false},
                                    {0}};
    const struct npz_spec no_y[] = {{"x", "<f4", "(2, 3)", bytes, 24, false},
                                    {0}};
    const struct npz_spec other[] = {{"x", "<f8", "(2, 3)", bytes, 48, false},
                                     {"y", "|u1", "(2,)", bytes, 2, false},
                                     {0}};
    const struct npz_spec big[] = {{"x", ">f4", "(2, 3)", bytes, 24, false},
                                   {"y", "|u1", "(2,)", bytes, 2, false},
                                   {0}};
    const struct npz_spec objects[] = {{"x", "|O", "(2,)", bytes, 2, false},
                                       {0}};
    const struct npz_spec cut[] = {{"x", "<f4", "(200, 3)", bytes, 24, false},
                                   {0}};
    const struct npz_spec twice[] = {{"x", "<f4", "(2, 3)", bytes, 24, false},
                                     {"x", "<f4", "(2, 3)", bytes, 24, false},
                                     {0}};
    static const char *const why[] = {
        "two arrays",     "has no array 'y'", "another type", "byte order",
        "Python objects", "truncated",        "no directory"};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npz(&t, "_.npz", twice, false);
    put_npz(&t, "a.npz", good, false);
    put_npz(&t, "b.npz", no_y, false);
    put_npz(&t, "c.npz", other, false);
    put_npz(&t, "d.npz", big, false);
    put_npz(&t, "e.npz", objects, true);
    put_npz(&t, "f.npz", cut, false);
    tmpdir_put(&t, "g.npz", "PK\x03\x04", 4);
    ds = open_set(t.path, NULL);
    assert_int_equal(weir_dataset_count(ds), 2);
    assert_int_equal(weir_dataset_issue_count(ds), 7);
    for (size_t k = 0; k < 7; k++)
        if (!strstr(weir_dataset_issue(ds, k)->reason, why[k]))
            fail_msg("'%s', not '%s'", weir_dataset_issue(ds, k)->reason,
                     why[k]);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Where a description says how many samples a file has: DLIO's files have them
 * along the last axis, and those of others along the first. */
static void test_said(void **state)
{
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npy(&t, "dlio.npy", "|u1", "(4, 4, 1)", bytes, 16);
    put_npy(&t, "other.npy", "|u1", "(1, 4, 4)", bytes, 16);
    put_npy(&t, "cube.npy", "|u1", "(3, 3, 3)", bytes, 27);
    ds = open_set(tmpdir_at(&t, "dlio.npy"), "axis=auto:1");
    assert_int_equal(weir_dataset_count(ds), 1);
    assert_int_equal(weir_dataset_bytes(ds), 16);
    weir_dataset_close(&ds);
    ds = open_set(tmpdir_at(&t, "dlio.npy"), NULL);
    assert_int_equal(weir_dataset_count(ds), 4);
    weir_dataset_close(&ds);
    ds = open_set(tmpdir_at(&t, "other.npy"), "axis=auto:1");
    assert_int_equal(weir_dataset_count(ds), 1);
    assert_int_equal(weir_dataset_bytes(ds), 16);
    weir_dataset_close(&ds);
    ds = open_set(tmpdir_at(&t, "cube.npy"), "axis=auto:3");
    assert_int_equal(wr_index_unit_count(ds->index), 1); /* among each other */
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* As Keras has it: two sets in a file, and what are not numbers. */
static void test_chosen(void **state)
{
    const struct npz_spec keras[] = {
        {"x_train", "|u1", "(4, 2, 3)", bytes, 24, false},
        {"y_train", "|u1", "(4,)", bytes, 4, false},
        {"x_test", "|u1", "(2, 2, 3)", bytes, 12, false},
        {"y_test", "|u1", "(2,)", bytes, 2, false},
        {"info", "|O", "()", bytes, 1, false},
        {0}};
    struct tmpdir t;
    char url[512];
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npz(&t, "k.npz", keras, true);
    put_npz(&t, "n.npz", (const struct npz_spec[]){keras[0], keras[2], {0}},
            false);
    refuse(tmpdir_at(&t, "k.npz"), NULL, "FILE#x=MEMBER,y=MEMBER");
    refuse(tmpdir_at(&t, "n.npz"), NULL, "FILE#x=NAME,y=NAME chooses");
    snprintf(url, sizeof(url), "%s#x=x_test,y=/y_test.npy",
             tmpdir_at(&t, "k.npz"));
    ds = open_set(url, NULL);
    assert_int_equal(weir_dataset_count(ds), 2);
    assert_int_equal(weir_dataset_class_count(ds), 3);
    assert_int_equal(field(ds, "x")->dims[0], 2);
    assert_non_null(field(ds, "y"));
    weir_dataset_close(&ds);
    snprintf(url, sizeof(url), "%s#x=none", tmpdir_at(&t, "k.npz"));
    refuse(url, NULL, "no member 'none'");
    snprintf(url, sizeof(url), "%s#x=info", tmpdir_at(&t, "k.npz"));
    refuse(url, NULL, "Python objects");
    put_npy(&t, "a.npy", "<f4", "(2, 3)", bytes, 24);
    snprintf(url, sizeof(url), "%s#y=x", tmpdir_at(&t, "a.npy"));
    refuse(url, NULL, "of .npz files");
    tmpdir_done(&t);
}

/* Whatever is not delivered is named. */
static void test_left_out(void **state)
{
    const struct npz_spec one[] = {{"x", "<f4", "(2, 3)", bytes, 24, false},
                                   {"read.txt", "<f4", "(2,)", bytes, 8, false},
                                   {0}};
    const struct npz_spec two[] = {{"x", "<f4", "(2, 3)", bytes, 24, false},
                                   {"z", "<f4", "(2, 3)", bytes, 24, false},
                                   {0}};
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_npz(&t, "a.npz", one, false);
    put_npz(&t, "b.npz", two, false);
    ds = open_set(t.path, NULL);
    assert_int_equal(weir_dataset_count(ds), 4);
    assert_int_equal(weir_dataset_issue_count(ds), 2);
    assert_string_equal(weir_dataset_issue(ds, 0)->reason,
                        "not read, as they are not called .npy: 'read.txt'");
    assert_string_equal(weir_dataset_issue(ds, 1)->reason,
                        "array 'z' is not read: the first file does not have "
                        "it");
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_axis),
        cmocka_unit_test(test_varies),
        cmocka_unit_test(test_issues),
        cmocka_unit_test(test_other_order),
        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_begins_otherwise),
        cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_said),
        cmocka_unit_test(test_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
