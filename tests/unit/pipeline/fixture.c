/* fixture.c - small data sets to feed from, and a record of what came out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>
#include <ftw.h>
#include <jpeglib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/mem.h"
#include "base/rng.h"

#define WT_DATA 4096

uint8_t fx_byte(uint64_t id, size_t at)
{
    return (uint8_t)wr_mix64(id * 1000 + at);
}

uint32_t fx_label(const struct fx *fx, uint64_t id)
{
    return fx->kind == FX_TENSORS ? (uint32_t)(id % 7)
                                  : (id >= fx->n / 2 ? 1 : 0);
}

/* --- files --- */

static void path_of(const struct fx *fx, uint32_t i, char *buf, size_t cap)
{
    if (fx->kind == FX_TENSORS)
        snprintf(buf, cap, "%s/%05u.wt", fx->dir, i / fx->per_file);
    else
        snprintf(buf, cap, "%s/%c/%05u.jpg", fx->dir,
                 fx_label(fx, i) ? 'b' : 'a', i);
}

static void put(const char *path, const void *data, size_t len)
{
    FILE *f;

    unlink(path); /* file systems may flush a file that is written anew */
    f = fopen(path, "wb");
    if (!f || fwrite(data, 1, len, f) != len || fclose(f))
        abort();
}

static size_t make_tensors(const struct fx *fx, uint32_t file, uint8_t *buf)
{
    uint32_t from = file * fx->per_file;
    uint64_t count = WR_MIN(fx->per_file, fx->n - from);
    uint32_t head[4] = {1, 2 /* u8 */, 3, 1 /* labels */};
    uint64_t dims[3] = {FX_SIDE, FX_SIDE, 3};

    memset(buf, 0, WT_DATA);
    memcpy(buf, "WEIRTNS1", 8);
    memcpy(buf + 8, head, sizeof(head));
    memcpy(buf + 24, &count, sizeof(count));
    memcpy(buf + 64, dims, sizeof(dims));
    for (uint32_t k = 0; k < count; k++) {
        uint32_t label = fx_label(fx, from + k);

        memcpy(buf + 128 + 4 * k, &label, sizeof(label));
        for (size_t j = 0; j < FX_BYTES; j++)
            buf[WT_DATA + k * FX_BYTES + j] = fx_byte(from + k, j);
    }
    return WT_DATA + count * FX_BYTES;
}

static size_t make_jpeg(uint32_t i, uint8_t *buf, size_t cap)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned long len = cap;
    unsigned char *out = buf;
    JSAMPLE row[8 * 3];
    JSAMPROW rows[1] = {row};

    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out, &len);
    c.image_width = c.image_height = 8;
    c.input_components = 3;
    c.in_color_space = JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_start_compress(&c, TRUE);
    for (unsigned y = 0; y < 8; y++) {
        for (unsigned x = 0; x < sizeof(row); x++)
            row[x] = (JSAMPLE)(i * 37 + x * 5 + y * 11);
        jpeg_write_scanlines(&c, rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    if (out != buf)
        abort();
    return len;
}

void fx_write(const struct fx *fx, uint32_t i, size_t size)
{
    size_t cap = WR_MAX(size, (size_t)(WT_DATA + fx->per_file * FX_BYTES));
    uint8_t *buf = calloc(1, cap);
    char path[512];
    size_t len = 0;

    if (!buf)
        abort();
    if (fx->kind == FX_TENSORS)
        len = make_tensors(fx, i / fx->per_file, buf);
    else if (fx->kind == FX_JPEGS)
        len = make_jpeg(i, buf, cap);
    else
        for (len = 0; len < 10 + i % 13; len++)
            buf[len] = fx_byte(i, len);
    path_of(fx, i, path, sizeof(path));
    put(path, buf, size ? size : len);
    free(buf);
}

void fx_mend(const struct fx *fx, uint32_t i)
{
    fx_write(fx, i, 0);
}

void fx_spoil(const struct fx *fx, uint32_t i, enum fx_harm how)
{
    char path[512];
    struct stat sb;
    uint8_t *junk;

    path_of(fx, i, path, sizeof(path));
    if (stat(path, &sb))
        abort();
    if (how == FX_REMOVE && unlink(path))
        abort();
    if (how == FX_PIPE && (unlink(path) || mkfifo(path, 0666)))
        abort();
    if (how == FX_CUT && truncate(path, sb.st_size - 1))
        abort();
    if (how == FX_GROW && truncate(path, sb.st_size + 1))
        abort();
    if (how == FX_GARBAGE) {
        junk = calloc(1, (size_t)sb.st_size);
        if (!junk)
            abort();
        put(path, junk, (size_t)sb.st_size);
        free(junk);
    }
}

void fx_make(struct fx *fx, enum fx_kind kind, uint32_t n, uint32_t per_file)
{
    const char *base = getenv("TMPDIR");
    char path[512];

    *fx = (struct fx){.kind = kind, .n = n, .per_file = per_file};
    snprintf(fx->dir, sizeof(fx->dir), "%s/weir-test-XXXXXX",
             base ? base : "/tmp");
    if (!mkdtemp(fx->dir))
        abort();
    for (const char *c = "ab"; kind != FX_TENSORS && *c; c++) {
        snprintf(path, sizeof(path), "%s/%c", fx->dir, *c);
        if (mkdir(path, 0777))
            abort();
    }
    for (uint32_t i = 0; i < n; i += kind == FX_TENSORS ? per_file : 1)
        fx_mend(fx, i);
}

static int remove_one(const char *path, const struct stat *sb, int flag,
                      struct FTW *ftw)
{
    (void)sb;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void fx_done(struct fx *fx)
{
    nftw(fx->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- feeding --- */

weir_dataset *fx_open(const struct fx *fx, const char *prefix)
{
    weir_dataset *ds = NULL;
    weir_err err;
    char url[512];

    snprintf(url, sizeof(url), "%s%s", prefix, fx->dir);
    if (weir_dataset_open(&ds, url, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(weir_dataset_count(ds), fx->n);
    return ds;
}

void fx_config(const struct fx *fx, weir_pipeline_config *cfg)
{
    weir_pipeline_defaults(cfg);
    cfg->batch = 4;
    cfg->threads = 2;
    cfg->depth = 4;
    cfg->picture.dtype = WEIR_U8;
    cfg->picture.width = cfg->picture.height = 8;
    if (fx->kind == FX_BLOBS)
        cfg->stages = WEIR_STAGES_READ;
}

weir_pipeline *fx_start(const weir_dataset *ds, const weir_pipeline_config *cfg)
{
    weir_pipeline_config usable = *cfg;
    weir_pipeline *p = NULL;
    weir_err err;
    int r = weir_pipeline_open(&p, ds, cfg, &err);

    if (r == WEIR_ENOTSUP && cfg->io == WEIR_IO_URING) {
        usable.io = WEIR_IO_AUTO; /* no io_uring here */
        r = weir_pipeline_open(&p, ds, &usable, &err);
    }
    if (r < 0)
        fail_msg("%s", err.msg);
    return p;
}

void fx_log_done(struct fx_log *log)
{
    free(log->batches);
    free(log->ids);
    *log = (struct fx_log){0};
}

/* Tensors must be what their ids say, in rows of pixels or in planes. */
static void check_data(const struct fx *fx, const weir_batch *b)
{
    const uint8_t *data = b->data;
    bool planes = b->shape[1] == 3;

    if (fx->kind != FX_TENSORS || !data || b->dtype != WEIR_U8)
        return;
    assert_int_equal(b->bytes, b->count * FX_BYTES);
    assert_int_equal((uintptr_t)data % 64, 0);
    for (uint32_t i = 0; i < b->count; i++)
        for (size_t j = 0; j < FX_BYTES; j++) {
            size_t at = planes ? j % 16 * 3 + j / 16 : j;

            if (data[i * FX_BYTES + j] != fx_byte(b->ids[i], at))
                fail_msg("sample %lu: byte %zu is wrong",
                         (unsigned long)b->ids[i], j);
        }
}

/* The shortcuts are what the fields say, whichever way a sample came. */
static void check_fields(const weir_batch *b)
{
    bool data = false, labels = false;

    for (uint32_t k = 0; k < b->field_count; k++) {
        const weir_batch_field *f = &b->fields[k];
        const int64_t *values = f->data;

        assert_int_equal((uintptr_t)f->data % 64, 0);
        assert_int_equal(f->shape[0], b->count);
        if (f->kind != WEIR_FIELD_SCALAR) {
            assert_ptr_equal(f->data, b->data);
            assert_int_equal(f->bytes, b->bytes);
            assert_int_equal(f->ndim, b->ndim);
            data = true;
            continue;
        }
        assert_string_equal(f->name, "label");
        assert_int_equal(f->dtype, WEIR_I64);
        assert_int_equal(f->bytes, b->count * sizeof(*values));
        for (uint32_t i = 0; i < b->count; i++)
            assert_int_equal(values[i], b->labels[i]);
        labels = true;
    }
    assert_int_equal(data, b->data != NULL);
    assert_true(labels);
}

static void log_batch(const struct fx *fx, const weir_batch *b,
                      struct fx_log *log)
{
    assert_true(b->count > 0 && b->unique <= b->count);
    assert_int_equal(b->shape[0], b->count);
    check_data(fx, b);
    check_fields(b);
    for (uint32_t i = 0; i < b->count; i++) {
        assert_true(b->ids[i] < fx->n);
        assert_int_equal(b->labels[i], fx_label(fx, b->ids[i]));
    }
    if (b->data)
        log->hash = XXH64(b->data, b->bytes, log->hash);
    log->hash = XXH64(b->ids, b->count * sizeof(*b->ids), log->hash);
    log->hash = XXH64(b->labels, b->count * sizeof(*b->labels), log->hash);
    log->hash = XXH64(b->lengths, b->count * sizeof(*b->lengths), log->hash);
    if (!wr_grow(&log->batches, &log->batch_cap, log->batch_count + 1,
                 sizeof(*log->batches)) ||
        !wr_grow(&log->ids, &log->id_cap, log->id_count + b->count,
                 sizeof(*log->ids)))
        abort();
    log->batches[log->batch_count++] = (struct fx_batch){
        b->epoch, b->index, b->count, b->unique, log->id_count};
    memcpy(log->ids + log->id_count, b->ids, b->count * sizeof(*b->ids));
    log->id_count += b->count;
}

int fx_take(const struct fx *fx, weir_pipeline *p, size_t max,
            struct fx_log *log, weir_err *err)
{
    const weir_batch *b;
    int r = 1;

    while (max-- && (r = weir_pipeline_next(p, &b, err)) > 0) {
        log_batch(fx, b, log);
        weir_batch_release(b);
    }
    return r;
}

int fx_run(const struct fx *fx, const weir_dataset *ds,
           const weir_pipeline_config *cfg, struct fx_log *log)
{
    weir_pipeline *p = fx_start(ds, cfg);
    weir_err err;
    int r = fx_take(fx, p, SIZE_MAX, log, &err);

    weir_pipeline_close(&p);
    assert_null(p);
    return r;
}

void fx_assert_once(const uint64_t *ids, size_t count, const bool *bad,
                    uint32_t n)
{
    unsigned *seen = calloc(n, sizeof(*seen));

    assert_non_null(seen);
    for (size_t i = 0; i < count; i++)
        seen[ids[i]]++;
    for (uint32_t i = 0; i < n; i++)
        if (seen[i] != (bad && bad[i] ? 0 : 1))
            fail_msg("sample %u came %u times", i, seen[i]);
    free(seen);
}

void fx_lengthen(const char *dir)
{
    static const uint8_t head[] = {0x1f, 0x8b, 8, 4,    0,    0,
                                   0,    0,    0, 0xff, 0xff, 0xff};
    static const uint8_t foot[10] = {3};
    uint8_t extra[65535];
    char path[700], cmd[1000];
    FILE *f;

    for (size_t k = 0; k < sizeof(extra); k++)
        extra[k] = (uint8_t)(k * k / 7);
    snprintf(path, sizeof(path), "%s/front", dir);
    f = fopen(path, "wb");
    assert_non_null(f);
    for (int k = 0; k < 40; k++) {
        assert_int_equal(fwrite(head, 1, sizeof(head), f), sizeof(head));
        assert_int_equal(fwrite(extra, 1, sizeof(extra), f), sizeof(extra));
        assert_int_equal(fwrite(foot, 1, sizeof(foot), f), sizeof(foot));
    }
    fclose(f);
    snprintf(cmd, sizeof(cmd),
             "cd '%s' && for f in *.gz; do cat front \"$f\" >new && "
             "mv new \"$f\"; done; rm front",
             dir);
    assert_int_equal(system(cmd), 0);
}
