/* formats.c - what every format must do, asked of each in the registry.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A new format needs one line in makers[]: how a small data set of it is
 * made. A format without a line fails the test. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <jpeglib.h>

#include "../unit/format/tarfiles.h"
#include "../unit/format/tensorfiles.h"
#include "format/decode.h"
#include "format/format.h"
#include "format/writer.h"
#include "weir/dataset.h"

#define FAULTS  24 /* more requests than indexing makes of each kind */
#define SAMPLES 12

static void put_jpeg(const struct tmpdir *t, const char *name, unsigned seed)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr mgr;
    unsigned char row[20 * 3];
    JSAMPROW rows = row;
    FILE *f = fopen(tmpdir_at(t, name), "wb");

    if (!f)
        abort();
    c.err = jpeg_std_error(&mgr);
    jpeg_create_compress(&c);
    jpeg_stdio_dest(&c, f);
    c.image_width = 20;
    c.image_height = 10 + seed;
    c.input_components = 3;
    c.in_color_space = JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_start_compress(&c, TRUE);
    for (unsigned y = 0; y < c.image_height; y++) {
        for (unsigned x = 0; x < sizeof(row); x++)
            row[x] = (unsigned char)(x * 3 + y * 5 + seed * 40);
        jpeg_write_scanlines(&c, &rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    fclose(f);
}

/* Each makes SAMPLES samples and returns what to open. */

static const char *make_images(const struct tmpdir *t)
{
    static const char *const classes[] = {"ant", "bee", "cow"};
    char name[64];

    for (unsigned c = 0; c < 3; c++)
        tmpdir_mkdir(t, classes[c]);
    for (unsigned k = 0; k < SAMPLES; k++) {
        snprintf(name, sizeof(name), "%s/%u.jpg", classes[k % 3], k);
        put_jpeg(t, name, k);
    }
    return t->path;
}

static const char *make_list(const struct tmpdir *t)
{
    char name[64], text[1024] = "path,label\n";

    for (unsigned k = 0; k < SAMPLES; k++) {
        snprintf(name, sizeof(name), "%u.jpg", k);
        put_jpeg(t, name, k);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s,%s\n",
                 name, k % 2 ? "odd" : "even");
    }
    tmpdir_put_text(t, "list.csv", text);
    return tmpdir_at(t, "list.csv");
}

static const char *make_tensor(const struct tmpdir *t)
{
    uint8_t data[SAMPLES * 48];
    uint32_t labels[SAMPLES];

    for (unsigned k = 0; k < sizeof(data); k++)
        data[k] = (uint8_t)k;
    for (unsigned k = 0; k < SAMPLES; k++)
        labels[k] = k % 5;
    put_npy(t, "a.npy", "|u1", "(5, 4, 4, 3)", data, (size_t)5 * 48);
    put_npy(t, "a.labels.npy", "<u4", "(5,)", labels, 20);
    put_wt(t, "b.wt",
           &(struct wt_spec){.dtype = 2,
                             .ndim = 3,
                             .dims = {4, 4, 3},
                             .count = 7,
                             .labels = labels + 5,
                             .data = data,
                             .data_len = (size_t)7 * 48});
    return t->path;
}

/* Members that are byte ranges; those that are units have tests of their own. */
static const char *make_npz(const struct tmpdir *t)
{
    uint8_t data[SAMPLES * 48];
    uint32_t labels[SAMPLES];
    const struct npz_spec a[] = {
        {"x", "|u1", "(5, 4, 4, 3)", data, (size_t)5 * 48, false},
        {"y", "<u4", "(5,)", labels, 20, false},
        {0}};
    const struct npz_spec b[] = {
        {"y", "<u4", "(7,)", labels + 5, 28, false},
        {"x", "|u1", "(7, 4, 4, 3)", data, (size_t)7 * 48, false},
        {0}};

    for (unsigned k = 0; k < sizeof(data); k++)
        data[k] = (uint8_t)k;
    for (unsigned k = 0; k < SAMPLES; k++)
        labels[k] = k % 5;
    put_npz(t, "a.npz", a, /* deflate= */ false);
    put_npz(t, "b.npz", b, /* deflate= */ false);
    return t->path;
}

/* A shard by weir's own writer; others' are read in tests/interop. */
static const char *make_shard(const struct tmpdir *t, const char *writer)
{
    const struct wr_writer_ops *w = wr_writer_find(writer);
    struct wr_bytes to = {0};
    char name[64], bytes[4096];

    for (unsigned k = 0; k < SAMPLES; k++) {
        struct wr_write_sample s = {
            .bytes = (uint8_t *)bytes, .key = name, .label = k % 4};
        FILE *f;

        snprintf(name, sizeof(name), "%u.jpg", k);
        put_jpeg(t, name, k);
        f = fopen(tmpdir_at(t, name), "rb");
        s.len = fread(bytes, 1, sizeof(bytes), f);
        fclose(f);
        unlink(tmpdir_at(t, name));
        assert_int_equal(w->add(&to, &s, NULL), 0);
    }
    if (w->finish)
        assert_int_equal(w->finish(&to, NULL), 0);
    snprintf(name, sizeof(name), "a%s", w->ext);
    tmpdir_put(t, name, to.bytes, to.len);
    free(to.bytes);
    return t->path;
}

static const char *make_tar(const struct tmpdir *t)
{
    return make_shard(t, "tar");
}

/* Members that are arrays. */
static const char *make_tar_arrays(const struct tmpdir *t)
{
    static struct tarfile tar;
    uint8_t npy[4096], data[48];
    char name[32], label[8];

    tar.len = 0;
    for (unsigned k = 0; k < SAMPLES; k++) {
        FILE *f;
        size_t len;

        memset(data, (int)k * 20, sizeof(data));
        put_npy(t, "one.npy", "|u1", "(4, 4, 3)", data, sizeof(data));
        f = fopen(tmpdir_at(t, "one.npy"), "rb");
        len = fread(npy, 1, sizeof(npy), f);
        fclose(f);
        unlink(tmpdir_at(t, "one.npy"));
        snprintf(name, sizeof(name), "%u.npy", k);
        tar_head(&tar, '0', name, len);
        tar_data(&tar, npy, len);
        snprintf(name, sizeof(name), "%u.cls", k);
        snprintf(label, sizeof(label), "%u", k % 4);
        tar_file(&tar, name, label);
    }
    tar_end(&tar);
    tar_put(t, "a.tar", &tar);
    return t->path;
}

static const char *make_tfrecord(const struct tmpdir *t)
{
    return make_shard(t, "tfrecord");
}

/* Of three bytes each: pixels, so that they can become all types. */
static const char *make_indexed_binary(const struct tmpdir *t)
{
    uint8_t data[SAMPLES * 3];
    uint64_t offsets[SAMPLES], sizes[SAMPLES];

    for (unsigned k = 0; k < SAMPLES; k++) {
        memset(data + (size_t)k * 3, (int)k * 20, 3);
        offsets[k] = htole64((uint64_t)k % 7 * 3);
        sizes[k] = htole64(3);
    }
    tmpdir_put(t, "img_0_of_2.indexed_binary", data, 21);
    tmpdir_put(t, "img_0_of_2.indexed_binary.off.idx", offsets, 56);
    tmpdir_put(t, "img_0_of_2.indexed_binary.sz.idx", sizes, 56);
    tmpdir_put(t, "img_1_of_2.indexed_binary", data + 21, 15);
    tmpdir_put(t, "img_1_of_2.indexed_binary.off.idx", offsets, 40);
    tmpdir_put(t, "img_1_of_2.indexed_binary.sz.idx", sizes, 40);
    return t->path;
}

/* By weir's own writer of fields; shards of seven and five samples. */
static const char *make_fields(const struct tmpdir *t, const char *writer)
{
    const struct wr_writer_ops *w = wr_writer_find(writer);
    const weir_field fields[] = {
        {.name = "x", .dtype = WEIR_U8, .ndim = 3, .dims = {4, 4, 3}},
        {.name = "label",
         .kind = WEIR_FIELD_SCALAR,
         .dtype = WEIR_I64,
         .is_label = 1}};
    struct wr_bytes to = {0};
    char name[64];
    uint8_t x[48];
    int64_t label;

    for (unsigned k = 0; k < SAMPLES; k++) {
        const struct wr_slice values[] = {{x, sizeof(x)},
                                          {(uint8_t *)&label, sizeof(label)}};
        const struct wr_write_sample s = {
            .fields = fields, .values = values, .field_count = 2};

        for (unsigned i = 0; i < sizeof(x); i++)
            x[i] = (uint8_t)(k * 48 + i);
        label = k % 4;
        if (!to.len && w->begin)
            assert_int_equal(w->begin(&to, fields, 2, NULL), 0);
        assert_int_equal(w->add(&to, &s, NULL), 0);
        if (k != 6 && k != SAMPLES - 1)
            continue;
        snprintf(name, sizeof(name), "%u%s", k, w->ext);
        tmpdir_put(t, name, to.bytes, to.len);
        to.len = 0;
    }
    free(to.bytes);
    return t->path;
}

static const char *make_csv(const struct tmpdir *t)
{
    return make_fields(t, "csv");
}

static const char *make_jsonl(const struct tmpdir *t)
{
    return make_fields(t, "jsonl");
}

static const char *make_json(const struct tmpdir *t)
{
    char text[8192] = "[";

    for (unsigned k = 0; k < SAMPLES; k++) {
        strcat(text, k ? ",\n[" : "\n[");
        for (unsigned i = 0; i < 48; i++)
            sprintf(text + strlen(text), "%s%u", i ? ", " : "", k + i);
        strcat(text, "]");
    }
    strcat(text, "\n]\n");
    tmpdir_put_text(t, "a.json", text);
    return tmpdir_at(t, "a.json");
}

/* Two files, each with labels beside it. */
static const char *make_idx(const struct tmpdir *t)
{
    uint8_t images[20 + 7 * 48] = {0, 0, 8, 4, 0, 0, 0, 7, 0, 0,
                                   0, 4, 0, 0, 0, 4, 0, 0, 0, 3};
    uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 7, 0, 1, 2, 3, 4, 0, 1};

    for (unsigned k = 20; k < sizeof(images); k++)
        images[k] = (uint8_t)k;
    tmpdir_put(t, "a-images-idx4-ubyte", images, sizeof(images));
    tmpdir_put(t, "a-labels-idx1-ubyte", labels, sizeof(labels));
    images[7] = labels[7] = 5;
    tmpdir_put(t, "b-images-idx4-ubyte", images, 20 + 5 * 48);
    tmpdir_put(t, "b-labels-idx1-ubyte", labels, 8 + 5);
    return t->path;
}

/* Nothing here writes HDF5: the file is one of the tests' own. */
static const char *make_hdf5(const struct tmpdir *t)
{
    (void)t;
    return WEIR_TEST_DATA "/hdf5/plain.h5";
}

static const struct maker {
    const char *format;
    const char *(*make)(const struct tmpdir *t);
    const char *schema;
} makers[] = {
    {"images", make_images, NULL},
    {"list", make_list, NULL},
    {"tensor", make_tensor, NULL},
    {"tensor", make_npz, NULL},
    {"tfrecord", make_tfrecord, NULL},
    {"tar", make_tar, NULL},
    {"tar", make_tar_arrays, NULL},
    {"indexed_binary", make_indexed_binary, NULL},
    {"csv", make_csv, "x=tensor:u8:4x4x3"},
    {"json", make_jsonl, "x=tensor:u8:4x4x3"},
    {"json", make_json, "x=tensor:u8:4x4x3"},
    {"hdf5", make_hdf5, NULL},
    {"idx", make_idx, NULL},
};

static void read_sample(const weir_dataset *ds, const weir_sample *s,
                        uint8_t *buf)
{
    struct wr_object *o;
    weir_err err;

    if (ds->store->ops->object_open(ds->store, s->name, WR_OPEN_READ, &o,
                                    &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(o->ops->read(o, buf, s->length, s->offset, &err),
                     s->length);
    o->ops->close(o, /* sync= */ false, NULL);
}

/* Every sample lies inside its object, and none is counted wrong. */
static void check_places(const weir_dataset *ds)
{
    uint64_t bytes = 0, longest = 0;

    for (uint64_t i = 0; i < SAMPLES; i++) {
        struct wr_part p;
        struct wr_stat st;
        weir_sample s;
        char name[256];

        assert_int_equal(
            weir_dataset_sample(ds, i, name, sizeof(name), &s, NULL), 0);
        wr_index_part(ds->index, 0, i, &p);
        assert_int_equal(ds->store->ops->stat(ds->store, s.name, &st, NULL), 0);
        assert_int_equal(st.size, wr_index_object_size(ds->index, p.object));
        assert_true(s.offset + s.length <= st.size);
        assert_int_equal(p.whole, s.offset == 0 && s.length == st.size);
        /* Else it is in the sample, or there are none. */
        if ((!ds->format->unpack && weir_dataset_class_count(ds)) ||
            s.label != WEIR_NO_LABEL)
            assert_true(s.label < weir_dataset_class_count(ds));
        bytes += s.length;
        longest = s.length > longest ? s.length : longest;
    }
    assert_int_equal(bytes, weir_dataset_bytes(ds));
    assert_int_equal(longest, weir_dataset_max_length(ds));
}

static int decode(const weir_dataset *ds, struct wr_decoder *d,
                  struct wr_sample s, void *slot, weir_err *err)
{
    struct wr_unpack u = {0};
    int r = wr_first_unpack(ds, &u, &s, err);

    r = r < 0 ? r : d->ops->decode(d, &s, slot, NULL, err);
    wr_unpack_done(&u);
    return r;
}

/* All of it decodes, half of it does not. */
static void check_decode(const weir_dataset *ds, struct wr_decoder *d,
                         const weir_sample *at, const void *bytes, void *slot)
{
    struct wr_sample s = {.bytes = bytes, .len = at->length};
    weir_err err;

    if (decode(ds, d, s, slot, &err) < 0)
        fail_msg("'%s': %s", at->name, err.msg);
    assert_int_equal(decode(ds, d, s, NULL, &err), 0);
    s.len /= 2;
    assert_true(decode(ds, d, s, slot, &err) < 0);
}

static void check_decoding(const weir_dataset *ds,
                           const weir_pipeline_config *cfg)
{
    uint8_t *bytes = malloc(weir_dataset_max_length(ds));
    struct wr_tensor_shape shape;
    struct wr_decoder *d;
    size_t product;
    weir_err err;
    void *slot;

    assert_int_equal(wr_first_shape(ds->index, cfg, &shape, &err), 0);
    product = cfg->picture.dtype == WEIR_F32   ? 4
              : cfg->picture.dtype == WEIR_F16 ? 2
                                               : 1;
    for (uint32_t k = 0; k < shape.ndim; k++)
        product *= shape.dims[k];
    assert_int_equal(shape.bytes, product);
    assert_int_equal(shape.dtype, cfg->picture.dtype);
    slot = malloc(shape.bytes);
    assert_int_equal(wr_first_decoder(ds->index, cfg, &d, &err), 0);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        weir_sample s;
        char name[256];

        weir_dataset_sample(ds, i, name, sizeof(name), &s, NULL);
        read_sample(ds, &s, bytes);
        check_decode(ds, d, &s, bytes, slot);
        if (shape.direct && !ds->format->unpack)
            assert_memory_equal(slot, bytes, shape.bytes);
    }
    d->ops->free(d);
    free(slot);
    free(bytes);
}

static void check_format(const struct maker *m)
{
    const char *format = m->format;
    weir_dataset_config open_cfg;
    weir_dataset *ds = NULL;
    struct tmpdir t;
    weir_err err;

    tmpdir_init(&t);
    weir_dataset_defaults(&open_cfg);
    open_cfg.schema = m->schema;
    if (weir_dataset_open(&ds, m->make(&t), &open_cfg, &err) < 0)
        fail_msg("%s: %s", format, err.msg);
    assert_string_equal(weir_dataset_format(ds), format); /* found out */
    assert_int_equal(weir_dataset_count(ds), SAMPLES);
    assert_int_equal(weir_dataset_issue_count(ds), 0);
    check_places(ds);
    for (int dtype = WEIR_F32; dtype <= WEIR_U8; dtype++)
        for (int layout = WEIR_NHWC; layout <= WEIR_NCHW; layout++) {
            weir_pipeline_config cfg = {.picture.width = 8,
                                        .picture.height = 6,
                                        .picture.channels = 3,
                                        .picture.dtype = dtype,
                                        .picture.layout = layout,
                                        .picture.std = {1, 1, 1}};

            check_decoding(ds, &cfg);
        }
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_every_format(void **state)
{
    (void)state;
    for (unsigned k = 0; wr_format_at(k); k++) {
        const char *format = wr_format_at(k)->name;
        bool found = false;

        for (size_t m = 0; m < sizeof(makers) / sizeof(makers[0]); m++)
            if (!strcmp(makers[m].format, format)) {
                if (strcmp(format, "hdf5") != 0 || WEIR_TEST_HDF5)
                    check_format(&makers[m]);
                found = true;
            }
        if (!found)
            fail_msg("no data set is made for format '%s'", format);
    }
}

/* Is it the same data set as far as indexing tells? */
static bool is_same(const weir_dataset *a, const weir_dataset *b)
{
    return !strcmp(weir_dataset_format(a), weir_dataset_format(b)) &&
           weir_dataset_issue_count(b) == 0 &&
           wr_index_fingerprint(a->index) == wr_index_fingerprint(b->index);
}

/* Storage that fails once, at any request, ends indexing, or does no harm: it
 * never gives fewer samples, other fields or another format. */
static void check_faults(const struct maker *m)
{
    static const char *const faults[] = {"eio", "open-eio", "stat-eio",
                                         "list-eio"};
    weir_dataset *good = NULL, *ds = NULL;
    unsigned failed = 0;
    weir_dataset_config cfg;
    const char *path;
    struct tmpdir t;
    char url[1200];
    weir_err err;

    tmpdir_init(&t);
    weir_dataset_defaults(&cfg);
    cfg.schema = m->schema;
    cfg.no_index_cache = 1;
    path = m->make(&t);
    assert_int_equal(weir_dataset_open(&good, path, &cfg, &err), 0);
    for (unsigned k = 0; k < 4 * FAULTS; k++) {
        snprintf(url, sizeof(url), "fault:%s@%u:%s", faults[k / FAULTS],
                 k % FAULTS + 1, path);
        if (weir_dataset_open(&ds, url, &cfg, &err) < 0) {
            if (err.code != WEIR_EIO)
                fail_msg("%s: %s: %s", m->format, url, err.msg);
            failed++;
            continue;
        }
        if (!is_same(good, ds))
            fail_msg("%s: another data set at %s: %" PRIu64 " samples as %s",
                     m->format, url, weir_dataset_count(ds),
                     weir_dataset_format(ds));
        weir_dataset_close(&ds);
    }
    assert_true(failed > 0);
    weir_dataset_close(&good);
    tmpdir_done(&t);
}

static void test_faults(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof(makers) / sizeof(makers[0]); m++)
        if (strcmp(makers[m].format, "hdf5") != 0 || WEIR_TEST_HDF5)
            check_faults(&makers[m]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_format),
                                       cmocka_unit_test(test_faults)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
