/* hdf5.c - HDF5 files: datasets whose first axis counts samples.
 * SPDX-License-Identifier: Apache-2.0
 *
 * libhdf5 parses the files, in another process (hdf5_helper.h): from here on a
 * dataset is byte ranges and packed chunks, like any other. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/shown.h"
#include "codec/filters.h"
#include "format/array_set.h"
#include "format/array_shape.h"
#include "format/hdf5_answer.h"
#include "format/hdf5_helper.h"
#include "format/index.h"
#include "format/intern.h"
#include "format/npz.h"

/* A dataset that is read. */
struct wr_h5_data {
    const struct wr_h5_array *array; /* borrowed */
    struct wr_h5_place *places; /* owned: of its chunks; NULL: not chunked */
};

/* --- where the elements of a dataset lie, and all of a short one --- */

static struct wr_unit fill_unit(const struct wr_h5_array *a, uint64_t bytes)
{
    struct wr_unit u = {.inflated = bytes,
                        .filters = WR_FILTERS(WR_FILTER_FILL, 0, 0, 0),
                        .argument = a->said.size};

    memcpy(&u.offset, a->said.fill, sizeof(u.offset));
    return u;
}

/* The unit that chunk `k` is. */
static struct wr_unit add_h5_unit(const struct wr_h5_data *d, uint64_t k)
{
    const struct wr_h5_array *a = d->array;
    const struct wr_h5_place *p = &d->places[k];

    if (p->address == WR_H5_UNALLOCATED)
        return fill_unit(a, a->chunk_bytes);
    return (struct wr_unit){.offset = p->address,
                            .stored = p->stored,
                            .inflated = a->chunk_bytes,
                            .filters = wr_h5_filters(a, p->mask),
                            .argument = a->said.element};
}

/* --- all elements --- */

/* Chunk `k` into `out`, which has room for it. */
static int read_chunk(const struct wr_h5_data *d, struct wr_object *o,
                      uint64_t k, uint8_t *out, weir_err *err)
{
    const struct wr_unit u = add_h5_unit(d, k);
    const struct wr_packing packing = wr_unit_packing(&u);
    uint8_t *stored;
    int r;

    if (!u.filters)
        return wr_object_read_fully(o, out, u.stored, u.offset, err);
    stored = malloc(u.stored + 1);
    r = stored ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0 && u.stored)
        r = wr_object_read_fully(o, stored, u.stored, u.offset, err);
    if (r == 0)
        r = wr_filters_undo(&packing, stored, out, err);
    free(stored);
    return r;
}

static int read_chunks(const struct wr_h5_data *d, struct wr_object *o,
                       uint8_t *out, weir_err *err)
{
    const struct wr_h5_array *a = d->array;
    uint64_t done = 0, n;
    uint8_t *chunk = malloc(a->chunk_bytes + 1);
    int r = chunk ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    for (uint64_t k = 0; k < a->chunks && r == 0; k++, done += n) {
        n = WR_MIN(a->chunk_bytes, a->bytes - done);
        r = read_chunk(d, o, k, chunk, err);
        if (r == 0)
            memcpy(out + done, chunk, n);
    }
    free(chunk);
    return r;
}

/* All elements of a dataset of one dimension, as they are stored, in fresh
 * memory. */
static int h5_values(const struct wr_h5_data *d, struct wr_object *o,
                     void **ret, weir_err *err)
{
    const struct wr_h5_array *a = d->array;
    const struct wr_unit fill = fill_unit(a, a->bytes);
    const struct wr_packing packing = wr_unit_packing(&fill);
    uint8_t *all;
    int r;

    if (a->bytes > WR_ARRAY_WHOLE || a->chunk_bytes > WR_ARRAY_WHOLE)
        return wr_fail(err, WEIR_ELIMIT,
                       "dataset '/%s': %" PRIu64
                       " bytes of numbers, over 2 GiB",
                       wr_show(a->said.name).text, a->bytes);
    all = malloc(a->bytes + 1);
    if (!all)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (a->said.layout == WR_H5_CONTIGUOUS)
        r = wr_object_read_fully(o, all, a->bytes, a->said.address, err);
    else if (a->said.layout == WR_H5_CHUNKED)
        r = read_chunks(d, o, all, err);
    else
        r = wr_filters_undo(&packing, NULL, all, err);
    if (r < 0) {
        free(all);
        return wr_fail_prefix(err, r, "dataset '/%s'",
                              wr_show(a->said.name).text);
    }
    *ret = all;
    return 0;
}

/* --- samples --- */

static int add_contiguous(const struct wr_h5_array *a, struct wr_index *ix,
                          const struct wr_run *run, weir_err *err)
{
    struct wr_run at = *run;

    at.offset = a->said.address;
    wr_index_use_unit(ix, WR_NO_UNIT);
    return wr_index_add_run(ix, &at, err);
}

/* Samples of fill value are one unit. */
static int add_unwritten(const struct wr_h5_array *a, struct wr_index *ix,
                         const struct wr_run *run, weir_err *err)
{
    const struct wr_unit u = fill_unit(a, run->length);
    int64_t k = wr_index_add_unit(ix, &u, err);
    const struct wr_tile_run tiles = {.column = run->column,
                                      .unit = (uint64_t)k,
                                      .per = 1,
                                      .length = run->length,
                                      .count = run->count,
                                      .labels = run->labels};

    return k < 0 ? (int)k : wr_index_add_tiles(ix, &tiles, err);
}

/* Chunks lie in C order: those of one row of the first axis, which have the same
 * samples, follow each other. */
static int add_chunked(const struct wr_h5_data *d, struct wr_index *ix,
                       const struct wr_run *run, unsigned tiles, bool file,
                       weir_err *err)
{
    const struct wr_h5_array *a = d->array;
    uint64_t first = wr_index_unit_count(ix);
    int r = 0;

    for (uint64_t k = 0; k < a->chunks && r == 0; k++) {
        const struct wr_unit u = add_h5_unit(d, k);
        int64_t number = wr_index_add_unit(ix, &u, err);

        r = number < 0 ? (int)number : 0;
    }
    for (unsigned t = 0; t < tiles && r == 0; t++) {
        const struct wr_tile_run one = {.column = run->column + t,
                                        .unit = first + t,
                                        .step = tiles,
                                        .per = file ? 1 : a->said.chunk[0],
                                        .length = run->length,
                                        .count = run->count,
                                        .labels = t ? NULL : run->labels};

        r = wr_index_add_tiles(ix, &one, err);
    }
    return r;
}

/* Adds samples to `ix`, in the object added last: run->count of run->length
 * bytes, or as many from each of `tiles` tiles. With `file` all of it is one
 * sample. */
static int h5_add(const struct wr_h5_data *d, struct wr_index *ix,
                  const struct wr_run *run, unsigned tiles, bool file,
                  weir_err *err)
{
    switch (d->array->said.layout) {
    case WR_H5_CONTIGUOUS:
        return add_contiguous(d->array, ix, run, err);
    case WR_H5_CHUNKED:
        return add_chunked(d, ix, run, tiles, file, err);
    default:
        return add_unwritten(d->array, ix, run, err);
    }
}

/* What all files of a data set share. */
#define LAST_SIGNATURE ((size_t)64 << 10)

struct hdf5_job {
    struct wr_index_job *job;    /* borrowed */
    struct wr_h5_helper *helper; /* owned */
    struct wr_array_set *set;    /* owned */
    struct wr_h5_choice choice;
    bool told;              /* which datasets, by the user */
    bool chosen;            /* that, or by the first file */
    bool file;              /* each file is one sample */
    struct wr_intern named; /* owned: datasets that are not read, of any file */
};

/* One file. */
struct hdf5_file {
    struct hdf5_job *all;     /* borrowed */
    const char *name;         /* borrowed */
    struct wr_object *object; /* owned */
    uint64_t size;
    struct wr_h5_array *arrays; /* owned: those of the choice, in its order */
    size_t number[WR_NPZ_MAX];  /* each in the list that was asked for */
    size_t count;
    struct wr_h5_data data[WR_NPZ_MAX]; /* places owned */
    struct wr_npz npz;                  /* owned: the same */
    void *values[WR_NPZ_MAX];           /* owned */
};

static void file_done(struct hdf5_file *f)
{
    for (size_t k = 0; k < WR_NPZ_MAX; k++) {
        free(f->data[k].places);
        free(f->values[k]);
    }
    wr_npz_done(&f->npz);
    free(f->arrays);
    if (f->object)
        f->object->ops->close(f->object, /* sync= */ false, NULL);
    free(f);
}

/* --- datasets --- */

/* Tells which datasets are not fields, each once: those of the first file with
 * the reason. */
static int tell_omitted(struct hdf5_file *f, const struct wr_h5_array *list,
                        size_t count, weir_err *err)
{
    struct hdf5_job *all = f->all;

    for (size_t k = 0; k < count; k++) {
        const char *name = list[k].said.name;
        size_t known = all->named.count;
        int64_t r;
        weir_err e;

        if (!wr_h5_choice_omits(&all->choice, &list[k], &e))
            continue;
        r = wr_intern_add(&all->named, name, strlen(name));
        if (r < 0)
            return wr_fail(err, (int)r, "out of memory");
        if (all->named.count == known)
            continue;
        if (all->chosen && !list[k].code)
            wr_fail(&e, WEIR_ENOTSUP,
                    "dataset '/%s' is not read: the files before do not have "
                    "it. FILE#data=/path names what is to be read",
                    wr_show(name).text);
        wr_index_job_issue(all->job, f->name, &e);
    }
    return 0;
}

/* The datasets that were chosen, of all that a file has; false: one of them is
 * not among those (it may have another name there). */
static bool take_chosen(struct hdf5_file *f, const struct wr_h5_array *list,
                        size_t count)
{
    const struct wr_h5_choice *c = &f->all->choice;

    for (f->count = 0; f->count < c->count; f->count++) {
        size_t k = 0;

        while (k < count && strcmp(list[k].said.name, c->list[f->count].path))
            k++;
        if (k == count)
            return false;
        f->number[f->count] = k;
        f->arrays[f->count] = list[k];
    }
    return true;
}

static int detect(struct hdf5_job *all, const struct wr_h5_array *list,
                  size_t count, weir_err *err)
{
    int r = wr_h5_choice_detect(list, count, &all->choice, err);

    if (r == 0 && all->choice.label[0])
        wr_array_set_label(all->set, all->choice.label);
    return r;
}

static int list_named(struct hdf5_file *f, weir_err *err)
{
    char paths[WR_NPZ_MAX * WR_H5_NAME];
    size_t len = wr_h5_choice_paths(&f->all->choice, paths, sizeof(paths));
    int r;

    free(f->arrays);
    f->arrays = NULL;
    r = wr_h5_list(f->all->helper, paths, len, &f->arrays, &f->count, err);
    if (r < 0)
        return r;
    if (f->count != f->all->choice.count)
        return wr_fail(err, WEIR_EFORMAT, "datasets are missing");
    for (size_t k = 0; k < f->count; k++)
        f->number[k] = k;
    return 0;
}

/* All datasets of a file, where nobody was told which: what is not read is
 * named. */
static int list_all(struct hdf5_file *f, weir_err *err)
{
    struct hdf5_job *all = f->all;
    struct wr_h5_array *list = NULL;
    bool taken = false;
    size_t count;
    int r = wr_h5_list(all->helper, NULL, 0, &list, &count, err);

    if (r == 0 && !all->chosen)
        r = detect(all, list, count, err);
    if (r == 0)
        r = tell_omitted(f, list, count, err);
    if (r == 0) {
        f->arrays = calloc(all->choice.count + 1, sizeof(*f->arrays));
        taken = f->arrays && take_chosen(f, list, count);
    }
    free(list);
    return r < 0 || taken ? r : list_named(f, err);
}

static int list_chosen(struct hdf5_file *f, weir_err *err)
{
    int r = f->all->told ? list_named(f, err) : list_all(f, err);

    for (size_t k = 0; r == 0 && k < f->count; k++) {
        const struct wr_h5_array *a = &f->arrays[k];

        if (a->code)
            r = wr_fail(err, a->code, "dataset '/%s': %s",
                        wr_show(a->said.name).text, wr_show(a->said.why).text);
    }
    return r;
}

/* As arrays of a file are known to array_set.h. */
static void describe(const struct wr_h5_array *a, const char *field,
                     struct wr_npz_array *ret)
{
    *ret = (struct wr_npz_array){
        .npy = {.dtype = a->dtype, .swap = a->swap, .ndim = a->said.ndim},
        .elements = a->bytes / a->said.size,
        .bytes = a->bytes,
        .stored = a->bytes,
        .inflated = a->bytes,
        .placed = true};
    snprintf(ret->name, sizeof(ret->name), "%s", field);
    memcpy(ret->npy.shape, a->said.dims, sizeof(ret->npy.shape));
    if (a->said.layout == WR_H5_CHUNKED)
        memcpy(ret->tile, a->said.chunk, sizeof(ret->tile));
}

/* Numbers that a small file may unpack to, or never have written, are held in
 * memory whole. */
static int check_values(const struct hdf5_file *f, const struct wr_h5_array *a,
                        weir_err *err)
{
    const uint64_t few = (uint64_t)64 << 20;

    if (a->bytes <= few || a->bytes / 16 <= f->size)
        return 0;
    return wr_fail(err, WEIR_ELIMIT,
                   "dataset '/%s': %" PRIu64 " bytes of numbers, in a file of "
                   "%" PRIu64 " bytes",
                   wr_show(a->said.name).text, a->bytes, f->size);
}

/* What is to be known of each dataset before anything is added. */
static int prepare(struct hdf5_file *f, size_t k, weir_err *err)
{
    const struct wr_h5_array *a = &f->arrays[k];
    int r = 0;

    f->data[k].array = a;
    if (a->said.layout == WR_H5_CHUNKED)
        r = wr_h5_places(f->all->helper, f->number[k], a, &f->data[k].places,
                         err);
    if (r == 0 && a->said.ndim == 1 && !f->all->file)
        r = check_values(f, a, err);
    if (r == 0 && a->said.ndim == 1 && !f->all->file)
        r = h5_values(&f->data[k], f->object, &f->values[k], err);
    describe(a, f->all->choice.list[k].field, &f->npz.list[k]);
    f->npz.list[k].values = f->values[k];
    f->npz.count = k + 1;
    return r;
}

static int read_file(struct hdf5_file *f, weir_err *err)
{
    int r = wr_h5_open(f->all->helper, f->object, f->size, err);

    if (r == 0)
        r = list_chosen(f, err);
    if (r < 0)
        return r;
    f->npz.list = calloc(f->count + 1, sizeof(*f->npz.list));
    if (!f->npz.list)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < f->count && r == 0; k++)
        r = prepare(f, k, err);
    return r;
}

/* --- samples --- */

static int place(void *arg, size_t array, const struct wr_run *run,
                 unsigned tiles, weir_err *err)
{
    struct hdf5_file *f = arg;

    return h5_add(&f->data[array], f->all->job->index, run, tiles, f->all->file,
                  err);
}

/* Adds the samples of one file; *ret_skip tells whether a failure is the
 * file's own, so that others may still be added. */
static int add_file(struct hdf5_job *all, const char *name, bool *ret_skip,
                    weir_err *err)
{
    struct hdf5_file *f = calloc(1, sizeof(*f));
    int r;

    *ret_skip = true;
    if (!f)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    f->all = all;
    f->name = name;
    r = wr_index_job_open(all->job, name, &f->object, &f->size, err);
    if (r == 0)
        r = read_file(f, err);
    if (r == 0) {
        const struct wr_array_file file = {.name = name,
                                           .size = f->size,
                                           .object = f->object,
                                           .arrays = &f->npz,
                                           .place = place,
                                           .arg = f};

        r = wr_array_set_add(all->set, &file, ret_skip, err);
    }
    all->chosen |= r == 0;
    file_done(f);
    return r;
}

/* --- files --- */

/* MATLAB's files from version 7.3 on, and NetCDF-4. */
static bool is_other_name(const char *name)
{
    return wr_name_has_ext(name, ".mat .nc .nc4");
}

/* Settings that are wrong are no file's own fault. */
static int add_named(void *arg, const char *name, bool *ret_skip, weir_err *err)
{
    int r = add_file(arg, name, ret_skip, err);

    *ret_skip &= r != WEIR_EINVAL;
    return r;
}

static int settle(struct hdf5_job *all, weir_err *err)
{
    enum wr_axis axis;
    uint64_t each;
    int r = wr_axis_parse(all->job->cfg->schema, &axis, &each, err);

    if (r < 0)
        return r;
    if (axis == WR_AXIS_LAST)
        return wr_fail(
            err, WEIR_ENOTSUP,
            "schema: axis=last is not for HDF5, whose chunks are cut "
            "along all axes: axis=first or axis=file");
    all->file = axis == WR_AXIS_FILE;
    all->told = all->chosen = all->job->fragment != NULL;
    if (all->told)
        r = wr_h5_choice_parse(all->job->fragment, &all->choice, err);
    if (r == 0)
        r = wr_array_set_new(all->job, &all->set, err);
    return r < 0 ? r : wr_h5_helper_new(&all->helper, err);
}

static int hdf5_index(struct wr_index_job *job, weir_err *err)
{
    struct hdf5_job all = {.job = job};
    int r = settle(&all, err);

    if (r == 0)
        r = wr_files_each(job, &wr_format_hdf5.files, add_named, &all, err);
    if (r == 0)
        r = wr_array_set_finish(all.set, err);
    wr_array_set_free(all.set);
    wr_h5_helper_free(all.helper);
    wr_intern_done(&all.named);
    return r;
}

/* The signature is at byte 0, 512, 1024, 2048 and so on: there may be a block of
 * the user's before it, as MATLAB has one. One read looks at all places up to 64
 * KiB: this is asked of files of every format, on slow devices, too. 1, 0 or
 * WEIR_E... */
static int has_signature(struct wr_store *st, const char *name)
{
    static const char magic[8] = "\211HDF\r\n\032\n";
    struct wr_object *o = NULL;
    char *head = malloc(LAST_SIGNATURE + sizeof(magic));
    bool found = false;
    int64_t len = head ? st->ops->object_open(st, name, WR_OPEN_READ, &o, NULL)
                       : WEIR_ENOMEM;

    if (len == 0) {
        len = wr_object_read_all(o, head, LAST_SIGNATURE + sizeof(magic), 0,
                                 NULL);
        o->ops->close(o, /* sync= */ false, NULL);
    }
    for (size_t at = 0; !found && (int64_t)(at + sizeof(magic)) <= len;
         at = at ? 2 * at : 512)
        found = !memcmp(head + at, magic, sizeof(magic));
    free(head);
    return len < 0 && wr_index_fails((int)len) ? (int)len : found;
}

const struct wr_format_ops wr_format_hdf5 = {
    .name = "hdf5",
    .help = "HDF5 files (FILE#data=/x,label=/y names datasets), or a folder of "
            "them",
    .tensors = true,
    .takes_fragment = true,
    .files = {.endings = ".h5 .hdf5 .hdf .he5",
              .named = 100,
              .is_name = is_other_name,
              .check = has_signature,
              .checked = 60,
              .folder = 90,
              .yields = true},
    .index = hdf5_index,
};
