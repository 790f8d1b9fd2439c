/* test_hdf5.c - HDF5 files, good and bad, through the helper and a fake one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "format/chunks.h"
#include "format/format.h"
#include "tmpdir.h"

#define DATA    WEIR_TEST_DATA "/hdf5/"
#define MUTANTS 60u

static weir_dataset *open_url(const char *url)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (weir_dataset_open(&ds, url, NULL, &err) < 0)
        fail_msg("%s: %s", url, err.msg);
    return ds;
}

static void open_fails(const char *url, int code, const char *why)
{
    weir_dataset *ds = NULL;
    weir_err err;

    assert_int_equal(weir_dataset_open(&ds, url, NULL, &err), code);
    if (!strstr(err.msg, why))
        fail_msg("'%s' is not in: %s", why, err.msg);
}

/* --- units --- */

static int read_stored(const weir_dataset *ds, const struct wr_unit *u,
                       uint8_t *buf, weir_err *err)
{
    struct wr_store *st = ds->store;
    struct wr_object *o;
    char path[PATH_MAX];
    int r;

    if (wr_index_object_path(ds->index, u->object, path, sizeof(path)) >=
        sizeof(path))
        return wr_fail(err, WEIR_ELIMIT, "path too long");
    r = st->ops->object_open(st, path, WR_OPEN_READ, &o, err);
    if (r < 0)
        return r;
    r = wr_object_read_fully(o, buf, u->stored, u->offset, err);
    o->ops->close(o, /* sync= */ false, NULL);
    return r;
}

static int read_unit(const weir_dataset *ds, uint64_t k, uint8_t **ret,
                     weir_err *err)
{
    const struct wr_unit *u = wr_index_unit(ds->index, k);
    const struct wr_packing packing = wr_unit_packing(u);
    uint8_t *stored = malloc(u->stored + 1);
    uint8_t *out = u->filters ? malloc(u->inflated + 1) : stored;
    int r = 0;

    if (!stored || !out)
        r = wr_fail(err, WEIR_ENOMEM, "no memory for %" PRIu64 " bytes",
                    u->inflated);
    if (r == 0 && u->stored)
        r = read_stored(ds, u, stored, err);
    if (r == 0 && u->filters)
        r = wr_filters_undo(&packing, stored, out, err);
    if (out != stored)
        free(stored);
    if (r < 0) {
        free(out);
        return r;
    }
    *ret = out;
    return 0;
}

/* --- a fake helper --- */

/* A file whose first word tells the fake what to do. */
static void put_word(const struct tmpdir *t, const char *name, const char *word)
{
    char bytes[96] = "";

    snprintf(bytes, 16, "%s", word);
    for (unsigned k = 64; k < 96; k++)
        bytes[k] = (char)k;
    tmpdir_put(t, name, bytes, sizeof(bytes));
}

static int use_fake(void **state)
{
    (void)state;
    setenv("WEIR_HDF5_HELPER", WEIR_HDF5_FAKE, 1);
    setenv("WEIR_HDF5_PATIENCE", "1", 1);
    return 0;
}

/* Each costs its file, and nothing else. */
static void test_bad_helpers(void **state)
{
    static const struct {
        const char *word, *why;
    } bad[] = {
        {"crash", "ended by signal 6"},
        {"exit", "ended with status 7"},
        {"hang", "did not answer for 1 s"},
        {"reads", "did not answer for 1 s"},
        {"garbage", "another version"},
        {"long", "too long"},
        {"outside", "outside of the file"},
        {"error", "because\\x1b[2J"},
        {"far", "truncated"},
        {"huge", "overflows"},
        {"dims", "99 dimensions"},
        {"type", "no known type"},
        {"noname", "without a name"},
        {"latin", "without a name"},
        {"many", "no list of datasets"},
        {"chunk0", "without elements"},
        {"chunkfilter", "filter 4242"},
        {"chunkfilters", "4000 filters"},
        {"chunkfar", "truncated: a chunk"},
        {"chunksize", "a chunk of 7 bytes"},
        {"chunkmore", "no list of chunks"},
        {"chunkless", "chunks are missing"},
        {"numbers", "68157440 bytes of numbers, in a file of 96 bytes"},
    };
    const size_t count = sizeof(bad) / sizeof(bad[0]);
    struct tmpdir t;
    weir_dataset *ds;
    char name[32];

    (void)state;
    tmpdir_init(&t);
    put_word(&t, "a0.h5", "good");
    for (size_t k = 0; k < count; k++) {
        snprintf(name, sizeof(name), "b%02zu.h5", k);
        put_word(&t, name, bad[k].word);
    }
    put_word(&t, "c0.h5", "good");
    put_word(&t, "c1.h5", "chunkgood");
    ds = open_url(t.path);
    assert_int_equal(weir_dataset_count(ds), 12);
    assert_int_equal(weir_dataset_issue_count(ds), count);
    for (size_t k = 0; k < count; k++) {
        const weir_issue *issue = weir_dataset_issue(ds, k);

        snprintf(name, sizeof(name), "b%02zu.h5", k);
        assert_string_equal(issue->name, name);
        if (!strstr(issue->reason, bad[k].why))
            fail_msg("%s: %s", bad[k].word, issue->reason);
    }
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Chunks that were never written cost a file nothing, and weir memory: there
 * are not many more than the files could hold. */
static void test_holes(void **state)
{
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    put_word(&t, "a.h5", "chunkgood");
    put_word(&t, "b.h5", "chunkholes");
    put_word(&t, "c.h5", "chunkhole");
    put_word(&t, "d.h5", "chunkhole");
    put_word(&t, "e.h5", "chunkgood");
    ds = open_url(t.path);
    assert_int_equal(weir_dataset_count(ds), 600008);
    assert_int_equal(weir_dataset_issue_count(ds), 2);
    assert_string_equal(weir_dataset_issue(ds, 0)->name, "b.h5");
    assert_non_null(strstr(weir_dataset_issue(ds, 0)->reason,
                           "more than 1048588 chunks, in a file of 96 bytes"));
    assert_string_equal(weir_dataset_issue(ds, 1)->name, "d.h5");
    assert_non_null(strstr(weir_dataset_issue(ds, 1)->reason,
                           "1200004 with those before, of files of 384 bytes"));
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_no_helper(void **state)
{
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    put_word(&t, "a.h5", "good");
    setenv("WEIR_HDF5_HELPER", "/nonexistent/weir-hdf5", 1);
    open_fails(tmpdir_at(&t, "a.h5"), WEIR_ENOTSUP, "/nonexistent/weir-hdf5");
    use_fake(NULL);
    tmpdir_done(&t);
}

/* --- the helper itself --- */

static int use_real(void **state)
{
    (void)state;
    setenv("WEIR_HDF5_HELPER", WEIR_HDF5_REAL, 1);
    setenv("WEIR_HDF5_PATIENCE", "10", 1);
    return 0;
}

static void test_units(void **state)
{
    weir_dataset *ds = open_url(DATA "tiles.h5");
    struct wr_chunks c;
    char text[64];

    (void)state;
    assert_int_equal(weir_dataset_count(ds), 12);
    assert_int_equal(wr_index_columns(ds->index), 6);
    assert_int_equal(wr_index_unit_count(ds->index), 18);
    assert_true(wr_chunks_of(ds->index, 0, &c));
    assert_string_equal(wr_chunks_text(&c, text, sizeof(text)),
                        "5x4x3, shuffle+zlib");
    assert_int_equal(c.touched, 6);
    assert_int_equal(c.unpacked, 6 * 5 * 4 * 3 * 2);
    for (uint64_t k = 0; k < 18; k++) {
        uint8_t *bytes;

        assert_int_equal(read_unit(ds, k, &bytes, NULL), 0);
        free(bytes);
    }
    weir_dataset_close(&ds);
}

/* Chunks without filters are read in place, those that are not there cost no
 * read. */
static void test_places(void **state)
{
    weir_dataset *ds = open_url(DATA "raw-tiles.h5");
    const struct wr_unit *u;
    struct wr_part p, q;
    uint8_t *bytes;
    double first;

    (void)state;
    wr_index_part(ds->index, 2, 0, &p);
    wr_index_part(ds->index, 2, 1, &q);
    assert_false(wr_part_is_packed(&p));
    assert_int_equal(p.length, 4 * 3 * 2);
    assert_int_equal(q.offset, p.offset + p.length);
    weir_dataset_close(&ds);
    ds = open_url(DATA "fill.h5");
    wr_index_part(ds->index, 0, 0, &p);
    assert_true(wr_part_is_packed(&p));
    u = wr_index_unit(ds->index, p.unit);
    assert_int_equal(u->stored, 0);
    assert_int_equal(read_unit(ds, p.unit, &bytes, NULL), 0);
    memcpy(&first, bytes, sizeof(first));
    assert_true(first == 0.1);
    free(bytes);
    weir_dataset_close(&ds);
}

/* What plugins of HDF5 packed: element k is k * 7 % 251. A filter whose library
 * weir was built without is refused by name. */
static void test_packed(void **state)
{
    static const char *const names[] = {"lz4", "blosc", "bits", "bits-lz4"};

    (void)state;
    for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
        weir_dataset *ds = NULL;
        weir_err err;
        char url[256];

        snprintf(url, sizeof(url), DATA "%s.h5", names[n]);
        if (weir_dataset_open(&ds, url, NULL, &err) < 0) {
            if (!strstr(err.msg, "weir was built without lib"))
                fail_msg("%s", err.msg);
            continue;
        }
        assert_int_equal(wr_index_unit_count(ds->index), 3);
        for (uint64_t u = 0; u < 3; u++) {
            uint8_t *bytes = NULL;

            assert_int_equal(read_unit(ds, u, &bytes, &err), 0);
            for (uint64_t k = 0; k < (u < 2 ? 925 : 370); k++)
                if (bytes[2 * k] != (u * 925 + k) * 7 % 251 || bytes[2 * k + 1])
                    fail_msg("%s: element %" PRIu64, names[n], u * 925 + k);
            free(bytes);
        }
        weir_dataset_close(&ds);
    }
    open_fails(DATA "bits-zstd.h5", WEIR_ENOTSUP, "bitshuffle with zstd");
}

static void test_fragments(void **state)
{
    weir_dataset *ds = open_url(DATA "plain.h5#image=/x,label=/y");
    uint32_t count;

    (void)state;
    assert_string_equal(weir_dataset_fields(ds, &count)[0].name, "image");
    assert_int_equal(count, 2);
    assert_int_equal(weir_dataset_class_count(ds), 3);
    weir_dataset_close(&ds);
    open_fails(DATA "plain.h5#data=/none", WEIR_EFORMAT, "no dataset 'none'");
    open_fails(DATA "plain.h5#=/x", WEIR_ENOENT, "plain.h5#=/x");
    open_fails(DATA "plain.h5#data=/", WEIR_EINVAL, "NAME=/PATH");
    open_fails(DATA "plain.h5#data=/x,y", WEIR_EINVAL, "NAME=VALUE");
    open_fails(DATA "plain.h5#data=", WEIR_EINVAL, "NAME=VALUE");
    open_fails(DATA "none.h5#data=/x", WEIR_ENOENT, "none.h5");
    open_fails(DATA "make.py#data=/x", WEIR_ENOTSUP, "no format reads");
}

/* What is there and cannot be had is refused by name, and named where it is
 * left out. */
static void test_absent(void **state)
{
    static const struct {
        const char *url, *why;
    } bad[] = {
        {DATA "links.h5",
         "'/far' cannot be read: an external link to plain.h5"},
        {DATA "links.h5#a=/far",
         "'/far': an external link to plain.h5#data=/x"},
        {DATA "links.h5#a=/group/far/x", "external link to plain.h5"},
        {DATA "links.h5#a=/none", "a link to '/gone', which does not exist"},
        {DATA "links.h5#a=/group", "a group or a type, not a dataset"},
        {DATA "virtual.h5", "'/y' cannot be read: a virtual dataset"},
        {DATA "virtual.h5#data=/x,label=/y", "'/y': a virtual dataset"},
        {DATA "newer.h5", "'/mask' cannot be read: libhdf5 "},
        {DATA "newer.h5#m=/mask", "'/mask': libhdf5 "},
    };
    weir_dataset *ds;

    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        open_fails(bad[k].url, WEIR_ENOTSUP, bad[k].why);
    ds = open_url(DATA "links.h5#data=/alias");
    assert_int_equal(weir_dataset_count(ds), 12);
    weir_dataset_close(&ds);
    ds = open_url(DATA "left-out.h5");
    assert_int_equal(weir_dataset_issue_count(ds), 3);
    assert_string_equal(weir_dataset_issue(ds, 0)->reason,
                        "dataset '/few' is not read: it has 5 numbers, which "
                        "is not the number of samples");
    assert_string_equal(weir_dataset_issue(ds, 1)->reason,
                        "dataset '/one' is not read: no dimensions");
    assert_string_equal(weir_dataset_issue(ds, 2)->reason,
                        "dataset '/refs' is not read: references");
    weir_dataset_close(&ds);
}

/* Datasets are what they are called, and those without elements are not what
 * the samples are. */
static void test_kinds(void **state)
{
    static const struct {
        const char *name;
        enum weir_dtype dtype;
    } want[] = {{"x", WEIR_U8}, {"phase", WEIR_C64}, {"animal", WEIR_I64}};
    static const char *const why[] = {
        "dataset '/hollow' is not read: it is empty",
        "dataset '/null' is not read: it is empty",
        "dataset '/polar' is not read: a compound type that is not complex "
        "numbers",
        "dataset '/rows' is not read: it is empty",
    };
    weir_dataset *ds = open_url(DATA "kinds.h5");
    unsigned count;
    const weir_field *fields = weir_dataset_fields(ds, &count);

    (void)state;
    assert_int_equal(count, 3);
    for (size_t k = 0; k < count; k++) {
        assert_string_equal(fields[k].name, want[k].name);
        assert_int_equal(fields[k].dtype, want[k].dtype);
    }
    assert_int_equal(weir_dataset_issue_count(ds), 4);
    for (uint64_t k = 0; k < 4; k++)
        assert_string_equal(weir_dataset_issue(ds, k)->reason, why[k]);
    weir_dataset_close(&ds);
    open_fails(DATA "crowd.h5", WEIR_EFORMAT, " camera 09 3x2 and 30 more");
}

static void copy_data(const char *from, const struct tmpdir *t, const char *to)
{
    char *bytes = NULL, path[PATH_MAX];
    size_t len;
    FILE *f;

    snprintf(path, sizeof(path), DATA "%s", from);
    f = fopen(path, "r");
    assert_non_null(f);
    bytes = malloc(65536);
    assert_non_null(bytes);
    len = fread(bytes, 1, 65536, f);
    tmpdir_put(t, to, bytes, len);
    fclose(f);
    free(bytes);
}

/* What only a later file has is named, once. */
static void test_later(void **state)
{
    struct tmpdir t;
    weir_dataset *ds;

    (void)state;
    tmpdir_init(&t);
    copy_data("only.h5", &t, "a.h5");
    copy_data("later.h5", &t, "b.h5");
    copy_data("later.h5", &t, "c.h5");
    ds = open_url(t.path);
    assert_int_equal(weir_dataset_count(ds), 36);
    assert_int_equal(weir_dataset_issue_count(ds), 2);
    for (uint64_t k = 0; k < 2; k++) {
        const weir_issue *i = weir_dataset_issue(ds, k);

        assert_string_equal(i->name, "b.h5");
        assert_non_null(strstr(i->reason, k ? "'/late'" : "'/a/few'"));
        assert_non_null(strstr(i->reason, "the files before do not have it"));
    }
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

/* Whatever is flipped: an error, or samples; never a crash, never for ever. */
static void test_mutants(void **state)
{
    static const char *const names[] = {
        "plain", "tiles",     "rows",    "raw-tiles", "latest", "btree2",
        "fill",  "userblock", "compact", "lz4",       "blosc",  "bits-lz4"};
    struct tmpdir t;

    (void)state;
    for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
        struct tmpdir from = {0};
        weir_dataset *ds = NULL;
        char name[64];
        size_t len;
        char *bytes;

        tmpdir_init(&t);
        snprintf(from.path, sizeof(from.path), "%s", WEIR_TEST_DATA "/hdf5");
        snprintf(name, sizeof(name), "%s.h5", names[n]);
        bytes = tmpdir_get(&from, name, &len);
        for (unsigned m = 0; m < MUTANTS; m++) {
            char *copy = malloc(len);
            unsigned flips = 1 + m % 5;

            memcpy(copy, bytes, len);
            for (unsigned f = 0; f < flips; f++) {
                uint64_t r = wr_rng_at(n, m, f);

                copy[r % (m % 2 ? len : 1024)] = (char)(r >> 32);
            }
            snprintf(name, sizeof(name), "%03u.h5", m);
            tmpdir_put(&t, name, copy, m % 7 ? len : len * (m % 13) / 13);
            free(copy);
        }
        free(bytes);
        if (weir_dataset_open(&ds, t.path, NULL, NULL) == 0)
            for (uint64_t k = 0; k < wr_index_unit_count(ds->index); k++) {
                uint8_t *unit;

                if (wr_index_unit(ds->index, k)->inflated < 1 << 20 &&
                    read_unit(ds, k, &unit, NULL) == 0)
                    free(unit);
            }
        weir_dataset_close(&ds);
        tmpdir_done(&t);
    }
}

int main(void)
{
    const struct CMUnitTest fake[] = {
        cmocka_unit_test(test_bad_helpers),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_no_helper),
    };
    const struct CMUnitTest real[] = {
        cmocka_unit_test(test_units),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_packed), cmocka_unit_test(test_fragments),
        cmocka_unit_test(test_absent), cmocka_unit_test(test_mutants),
        cmocka_unit_test(test_kinds),  cmocka_unit_test(test_later),
    };
    int failed = cmocka_run_group_tests_name("fake", fake, use_fake, NULL);

    if (WEIR_TEST_HDF5)
        failed |= cmocka_run_group_tests_name("real", real, use_real, NULL);
    return failed;
}
