/* indexed_binary.c - DLIO's indexed binary files, one or a folder of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The index files say where samples lie; the file itself is not read. Threads
 * fetch the index files of some data files at once, and the caller's thread
 * makes samples of them, in the order of the names. */
#include "format/indexed_binary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/thread.h"
#include "format/format.h"
#include "format/schema.h"
#include "format/writer.h"

#define PIECE (256u << 10) /* bytes written at once */

/* --- writes DLIO's indexed binary files --- */

/* Samples are all of one size, so that the index files follow from their
 * number. */

/* A file that is written: what a wr_array_out is here. */
struct ib_out {
    struct wr_object *object; /* borrowed */
    uint64_t sample;          /* bytes of each */
    uint64_t samples, announced;
    uint64_t at;           /* where the next bytes go */
    struct wr_bytes ahead; /* bytes that are not written yet */
};

static const char *const sides[] = {WR_INDEXED_BINARY_OFFSETS,
                                    WR_INDEXED_BINARY_SIZES, NULL};

static int ib_open(struct wr_object *o, const struct wr_array_layout *l,
                   struct wr_array_out **ret, weir_err *err)
{
    struct ib_out *w;

    if (l->packed)
        return wr_fail(err, WEIR_ENOTSUP, "indexed_binary does not deflate");
    if (l->chunks)
        return wr_fail(err, WEIR_ENOTSUP, "indexed_binary has no chunks");
    if (l->count != 1)
        return wr_fail(err, WEIR_ENOTSUP,
                       "indexed_binary holds one field and no labels, not %u "
                       "fields: name the one to be written",
                       l->count);
    w = calloc(1, sizeof(*w));
    if (!w)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->object = o;
    w->announced = l->samples;
    w->sample = wr_field_bytes(&l->fields[0]);
    *ret = (struct wr_array_out *)w;
    return 0;
}

static int flush_parts(struct ib_out *w, weir_err *err)
{
    int r = w->ahead.len ? wr_object_write(w->object, w->ahead.bytes,
                                           w->ahead.len, w->at, err)
                         : 0;

    if (r < 0)
        return r;
    w->at += w->ahead.len;
    w->ahead.len = 0;
    return 0;
}

/* Large samples are not copied first. */
static int append(struct ib_out *w, const struct wr_slice *s, weir_err *err)
{
    uint8_t *room;
    int r = 0;

    if (w->ahead.len + s->len > PIECE)
        r = flush_parts(w, err);
    if (r == 0 && s->len > PIECE) {
        r = wr_object_write(w->object, s->bytes, s->len, w->at, err);
        w->at += s->len;
        return r;
    }
    room = r == 0 ? wr_bytes_room(&w->ahead, s->len) : NULL;
    if (!room)
        return r < 0 ? r : wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(room, s->bytes, s->len);
    w->ahead.len += s->len;
    return 0;
}

static int ib_add(struct wr_array_out *out, const struct wr_slice *fields,
                  weir_err *err)
{
    struct ib_out *w = (struct ib_out *)out;

    if (fields[0].len != w->sample || w->samples == w->announced)
        return wr_fail(err, WEIR_EINVAL,
                       "a sample of %zu bytes that was not announced",
                       fields[0].len);
    w->samples++;
    return append(w, &fields[0], err);
}

static int ib_finish(struct wr_array_out *out, uint64_t *ret_size,
                     weir_err *err)
{
    struct ib_out *w = (struct ib_out *)out;
    int r = flush_parts(w, err);

    if (r == 0)
        *ret_size = w->at;
    return r;
}

/* Offsets count from the beginning of the file: DLIO's own begin at 0 again
 * after each buffer that it writes, and are wrong then. */
static int ib_side(const struct wr_array_out *out, unsigned k,
                   struct wr_bytes *to, weir_err *err)
{
    const struct ib_out *w = (const struct ib_out *)out;
    size_t bytes = 0;
    uint8_t *p;

    p = wr_mul_ok(w->samples, 8, &bytes) ? wr_bytes_room(to, bytes) : NULL;
    if (!p && w->samples)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint64_t i = 0; i < w->samples; i++)
        wr_le_put(p + 8 * i, k ? w->sample : i * w->sample, 8);
    to->len += bytes;
    return 0;
}

static void ib_free(struct wr_array_out *out)
{
    struct ib_out *w = (struct ib_out *)out;

    if (w)
        free(w->ahead.bytes);
    free(w);
}

const struct wr_array_writer_ops wr_array_writer_indexed_binary = {
    .name = "indexed_binary",
    .single = true,
    .ext = WR_INDEXED_BINARY_EXT,
    .open = ib_open,
    .add = ib_add,
    .finish = ib_finish,
    .sides = sides,
    .side = ib_side,
    .free = ib_free,
};

#define IDX_MAX     ((size_t)256 << 20) /* bytes of an index file */
#define IDX_SMALL   ((uint64_t)1 << 20) /* fetched ahead */
#define AHEAD       64u                 /* files whose index is fetched ahead */
#define MAX_THREADS 32u
#define MAX_NOTES   16u /* problems of a file that are told one by one */
#define RUN_LEAST   6u  /* samples: a segment costs as much as 5 records */
#define MAX_PATH    4096

enum { OFFSETS, SIZES, INDEXES };

static const char *const endings[INDEXES] = {WR_INDEXED_BINARY_OFFSETS,
                                             WR_INDEXED_BINARY_SIZES};

/* False: it does not fit. */
static bool index_name(const char *name, unsigned which, char *buf, size_t cap)
{
    return which < INDEXES &&
           snprintf(buf, cap, "%s%s", name, endings[which]) < (int)cap;
}

/* --- files that are fetched (any thread) --- */

/* A data file and its index; zeroed memory is nothing. */
struct ib_file {
    struct wr_stat stat;
    struct wr_stat index_stat[INDEXES];
    char *index[INDEXES]; /* owned */
    size_t len[INDEXES];
    weir_err failure; /* code: why there is none of it */
};

struct ib_job {
    struct wr_index_job *job;   /* borrowed */
    const struct wr_listing *l; /* borrowed */
    size_t first;               /* file of ahead[0] */
    struct ib_file ahead[AHEAD];
    /* of all files so far: */
    uint64_t size; /* of their samples, 0: there are none */
    bool differ;   /* in size */
};

static void file_done(struct ib_file *f)
{
    for (unsigned k = 0; k < INDEXES; k++)
        free(f->index[k]);
    *f = (struct ib_file){0};
}

static int stat_file(struct wr_store *st, const char *path, struct wr_stat *ret,
                     weir_err *err)
{
    int r = st->ops->stat(st, path, ret, err);

    if (r == 0 && ret->kind != WR_KIND_FILE)
        r = wr_fail(err, WEIR_EFORMAT, "'%s': not a regular file", path);
    return r;
}

static int fetch_index(struct wr_store *st, const char *name, struct ib_file *f,
                       unsigned which, weir_err *err)
{
    char path[MAX_PATH];

    if (!index_name(name, which, path, sizeof(path)))
        return wr_fail(err, WEIR_ELIMIT, "a path of %d bytes or more",
                       MAX_PATH);
    return wr_store_slurp(st, path, IDX_MAX, &f->index[which], &f->len[which],
                          err);
}

static int look_at_file(struct wr_store *st, const char *name,
                        struct ib_file *f, weir_err *err)
{
    char path[MAX_PATH];
    int r = stat_file(st, name, &f->stat, err);

    for (unsigned k = 0; k < INDEXES && r == 0; k++) {
        if (!index_name(name, k, path, sizeof(path)))
            return wr_fail(err, WEIR_ELIMIT, "a path of %d bytes or more",
                           MAX_PATH);
        r = stat_file(st, path, &f->index_stat[k], err);
        if (r == 0 && f->index_stat[k].size <= IDX_SMALL)
            r = fetch_index(st, name, f, k, err);
    }
    return r;
}

static void fetch_part(void *arg, size_t part, unsigned thread)
{
    struct ib_job *ij = arg;
    struct ib_file *f = &ij->ahead[part];

    (void)thread;
    f->failure.code = look_at_file(ij->job->store,
                                   wr_listing_name(ij->l, ij->first + part), f,
                                   &f->failure);
}

/* --- samples (the caller's thread) --- */

/* The samples of one file. */
struct ib_scan {
    struct ib_job *ij; /* borrowed */
    struct ib_file *f; /* borrowed */
    const char *name;  /* borrowed */
    bool added;        /* the object is in the index */
    struct wr_run run; /* samples that follow each other, not added yet */
    uint64_t end;      /* of the sample before */
    bool restarted;    /* samples that overlap were named */
    uint64_t notes;
};

static void note(struct ib_scan *s, const weir_err *e)
{
    if (s->notes++ < MAX_NOTES)
        wr_index_job_issue(s->ij->job, s->name, e);
}

static void note_rest(struct ib_scan *s)
{
    weir_err e;

    if (s->notes <= MAX_NOTES)
        return;
    wr_fail(&e, WEIR_EFORMAT, "%" PRIu64 " more problems",
            s->notes - MAX_NOTES);
    wr_index_job_issue(s->ij->job, s->name, &e);
}

static int add_object(struct ib_scan *s, weir_err *err)
{
    struct wr_index *ix = s->ij->job->index;
    int64_t n = 0;

    if (!s->added)
        n = wr_index_add_dir(ix, "", err);
    if (n >= 0 && !s->added)
        n = wr_index_add_object(ix, n, s->name, s->f->stat.size, err);
    if (n >= 0 && !s->added)
        wr_index_set_identity(ix, s->f->stat.identity);
    s->added = true;
    return n < 0 ? (int)n : 0;
}

/* Adds the samples that follow each other; few of them are smaller one by
 * one. */
static int flush(struct ib_scan *s, weir_err *err)
{
    struct wr_index *ix = s->ij->job->index;
    struct wr_run run = s->run;
    int r = 0;

    s->run.count = 0;
    if (run.count)
        r = add_object(s, err);
    if (run.count >= RUN_LEAST && run.length)
        return r < 0 ? r : wr_index_add_run(ix, &run, err);
    for (uint64_t k = 0; k < run.count && r == 0; k++)
        r = wr_index_add_record(
            ix,
            &(struct wr_record){
                .offset = run.length ? run.offset + k * run.length : WR_ABSENT,
                .length = run.length,
                .label = WEIR_NO_LABEL},
            err);
    return r;
}

/* DLIO begins at 0 again after each buffer that it writes. */
static void check_overlap(struct ib_scan *s, uint64_t entry, uint64_t offset)
{
    weir_err e;

    if (offset >= s->end || s->restarted)
        return;
    s->restarted = true;
    wr_fail(&e, WEIR_EFORMAT,
            "entry %" PRIu64 " starts at byte %" PRIu64
            ", inside of the entries before it: samples may share bytes",
            entry, offset);
    note(s, &e);
}

/* False: there is no such sample, and that was said. */
static bool check_entry(struct ib_scan *s, uint64_t entry, uint64_t offset,
                        uint64_t size)
{
    uint64_t file = s->f->stat.size;
    weir_err e;

    if (offset > file || size > file - offset)
        wr_fail(&e, WEIR_EFORMAT,
                "entry %" PRIu64 ": %" PRIu64 " bytes at %" PRIu64
                ", outside of a file of %" PRIu64 " bytes",
                entry, size, offset, file);
    else if (size > WR_FIELD_MAX_BYTES)
        wr_fail(&e, WEIR_ELIMIT,
                "entry %" PRIu64 ": a sample of %" PRIu64
                " bytes, over the limit of 1 GiB",
                entry, size);
    else
        return true;
    note(s, &e);
    return false;
}

static int take_entry(struct ib_scan *s, uint64_t entry, uint64_t offset,
                      uint64_t size, weir_err *err)
{
    struct ib_job *ij = s->ij;
    struct wr_run *run = &s->run;
    int r = 0;

    if (!check_entry(s, entry, offset, size))
        return 0;
    check_overlap(s, entry, offset);
    s->end = offset + size;
    ij->differ |= !size || (ij->size && ij->size != size);
    ij->size = size;
    if (run->count && (size != run->length ||
                       offset != run->offset + run->count * run->length))
        r = flush(s, err);
    if (!run->count)
        *run = (struct wr_run){.offset = offset, .length = size};
    run->count++;
    return r;
}

static int check_index(const struct ib_file *f, weir_err *err)
{
    for (unsigned k = 0; k < INDEXES; k++)
        if (f->len[k] % 8)
            return wr_fail(err, WEIR_EFORMAT,
                           "%s has %zu bytes: no numbers of 8 bytes each",
                           endings[k], f->len[k]);
    if (f->len[OFFSETS] != f->len[SIZES])
        return wr_fail(err, WEIR_EFORMAT,
                       "%zu offsets and %zu sizes: one each per sample",
                       f->len[OFFSETS] / 8, f->len[SIZES] / 8);
    return 0;
}

static int take_entries(struct ib_scan *s, weir_err *err)
{
    const struct ib_file *f = s->f;
    int r = 0;

    for (size_t k = 0; k < f->len[OFFSETS] / 8 && r == 0; k++) {
        r = take_entry(s, k, wr_le64(f->index[OFFSETS] + 8 * k),
                       wr_le64(f->index[SIZES] + 8 * k), err);
        if (r == 0 && k % 65536 == 65535)
            r = wr_index_job_progress(s->ij->job, err);
    }
    return r < 0 ? r : flush(s, err);
}

/* The index of the data set is true as long as the files are what they are. */
static int add_stamps(struct ib_scan *s, weir_err *err)
{
    struct wr_index_job *job = s->ij->job;
    char path[MAX_PATH];
    int r = wr_index_job_stamp(job, s->name, &s->f->stat, err);

    for (unsigned k = 0; k < INDEXES && r == 0; k++)
        if (index_name(s->name, k, path, sizeof(path)))
            r = wr_index_job_stamp(job, path, &s->f->index_stat[k], err);
    return r;
}

/* Large index files are not fetched ahead. */
static int fetch_rest(struct ib_scan *s, weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; k < INDEXES && r == 0; k++)
        if (!s->f->index[k])
            r = fetch_index(s->ij->job->store, s->name, s->f, k, err);
    return r;
}

/* What is wrong with one file of several is a problem to be named. */
static int fail_file(struct ib_scan *s, const weir_err *e, weir_err *err)
{
    if (s->ij->job->leaf || wr_index_fails(e->code)) {
        wr_fail(err, e->code, "%s", e->msg);
        return e->msg[0] == '\''
                   ? e->code
                   : wr_fail_prefix(err, e->code, "'%s'", s->name);
    }
    wr_index_job_issue(s->ij->job, s->name, e);
    return 0;
}

static int add_file(struct ib_job *ij, size_t k, weir_err *err)
{
    struct ib_scan s = {.ij = ij,
                        .f = &ij->ahead[k],
                        .name = wr_listing_name(ij->l, ij->first + k)};
    weir_err e = s.f->failure;
    int r;

    if (e.code == 0)
        e.code = fetch_rest(&s, &e);
    if (e.code == 0)
        e.code = check_index(s.f, &e);
    if (e.code < 0)
        return fail_file(&s, &e, err);
    r = add_stamps(&s, err);
    if (r == 0)
        r = take_entries(&s, err);
    note_rest(&s);
    return r < 0 ? r : wr_index_job_progress(ij->job, err);
}

static int add_files(struct ib_job *ij, weir_err *err)
{
    unsigned threads = WR_MIN(4 * wr_cpu_count(), MAX_THREADS);
    struct wr_pool *pool = NULL;
    int r;

    threads = (unsigned)WR_MIN((size_t)threads, WR_MAX(ij->l->count, 1u));
    r = wr_pool_new(&pool, threads, "weir-scan", err);
    for (; ij->first < ij->l->count && r == 0; ij->first += AHEAD) {
        size_t n = WR_MIN(ij->l->count - ij->first, (size_t)AHEAD);

        wr_pool_run(pool, n, fetch_part, ij);
        for (size_t k = 0; k < n; k++) {
            r = r < 0 ? r : add_file(ij, k, err);
            file_done(&ij->ahead[k]);
        }
    }
    wr_pool_free(pool);
    return r;
}

/* Bytes, where samples differ or the user says what they are; else a tensor of
 * bytes, which can be read straight into the batch. */
static int add_field(const struct ib_job *ij, weir_err *err)
{
    const char *schema = ij->job->cfg->schema;
    bool declared = schema && wr_schema_option(schema, "x", (char[64]){0}, 64);
    struct wr_field x = {
        .pub = {.kind = WEIR_FIELD_BYTES,
                .dtype = WEIR_U8,
                .ndim = 1,
                .dims = {WEIR_DIM_VARIES}},
        .name = "x",
    };

    if (ij->size && !ij->differ && !declared) {
        x.pub.kind = WEIR_FIELD_TENSOR;
        x.pub.dims[0] = ij->size;
    }
    return wr_index_add_field(ij->job->index, &x, err);
}

static int ib_index(struct wr_index_job *job, weir_err *err)
{
    struct ib_job *ij = calloc(1, sizeof(*ij));
    struct wr_listing l = {0};
    int r;

    if (!ij)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    ij->job = job;
    ij->l = &l;
    r = wr_files_list(job, &wr_format_indexed_binary.files, &l, err);
    if (r == 0)
        r = add_files(ij, err);
    if (r == 0)
        r = add_field(ij, err);
    wr_listing_done(&l);
    free(ij);
    return r;
}

/* --- is it one? --- */

/* A file of any name that has both index files beside it. */
static int check_beside(struct wr_store *st, const char *leaf)
{
    for (unsigned k = 0; k < INDEXES; k++) {
        char path[MAX_PATH];
        struct wr_stat s;
        int r = index_name(leaf, k, path, sizeof(path))
                    ? st->ops->stat(st, path, &s, NULL)
                    : WEIR_ENOENT;

        if (r < 0 || s.kind != WR_KIND_FILE)
            return wr_index_fails(r) ? r : 0;
    }
    return 1;
}

const struct wr_format_ops wr_format_indexed_binary = {
    .name = "indexed_binary",
    .help = "DLIO's indexed binary files (.off.idx, .sz.idx), or a folder",
    .tensors = true,
    .files = {.endings = WR_INDEXED_BINARY_EXT " .mmap_indexed_binary",
              .named = 100,
              .check = check_beside,
              .checked = 90,
              .folder = 85,
              .beside = index_name},
    .index = ib_index,
};
