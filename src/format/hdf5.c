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
#include "format/array_files.h"
#include "format/array_set.h"
#include "format/array_shape.h"
#include "format/hdf5_choose.h"
#include "format/hdf5_data.h"
#include "format/shard_reader.h"

/* What all files of a data set share. */
struct hdf5_job {
    struct wr_index_job *job;    /* borrowed */
    struct wr_h5_helper *helper; /* owned */
    struct wr_array_set *set;    /* owned */
    struct wr_h5_choice choice;
    bool chosen; /* told, or by the first file */
    bool file;   /* each file is one sample */
};

/* One file. */
struct hdf5_file {
    struct hdf5_job *all;     /* borrowed */
    struct wr_object *object; /* owned */
    uint64_t size;
    struct wr_h5_array *arrays; /* owned: those of the choice, in its order */
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

/* All of them, for the first file of a data set that was not told which. */
static int detect(struct hdf5_file *f, weir_err *err)
{
    struct hdf5_job *all = f->all;
    struct wr_h5_array *list = NULL;
    size_t count;
    int r = wr_h5_list(all->helper, NULL, 0, &list, &count, err);

    if (r == 0)
        r = wr_h5_choice_detect(list, count, &all->choice, err);
    free(list);
    if (r < 0)
        return r;
    if (all->choice.label[0])
        wr_array_set_label(all->set, all->choice.label);
    return 0;
}

static int list_chosen(struct hdf5_file *f, weir_err *err)
{
    char paths[WR_NPZ_MAX * WR_H5_NAME];
    size_t len = wr_h5_choice_paths(&f->all->choice, paths, sizeof(paths));
    int r = wr_h5_list(f->all->helper, paths, len, &f->arrays, &f->count, err);

    if (r < 0)
        return r;
    if (f->count != f->all->choice.count)
        return wr_fail(err, WEIR_EFORMAT, "datasets are missing");
    for (size_t k = 0; k < f->count; k++) {
        const struct wr_h5_array *a = &f->arrays[k];

        if (a->code)
            return wr_fail(err, a->code, "dataset '/%s': %s",
                           wr_show(a->said.name).text,
                           wr_show(a->said.why).text);
    }
    return 0;
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

/* What is to be known of each dataset before anything is added. */
static int prepare(struct hdf5_file *f, size_t k, weir_err *err)
{
    const struct wr_h5_array *a = &f->arrays[k];
    int r = 0;

    f->data[k].array = a;
    if (a->said.layout == WR_H5_CHUNKED)
        r = wr_h5_places(f->all->helper, k, a, &f->data[k].places, err);
    if (r == 0 && a->said.ndim == 1 && !f->all->file)
        r = wr_h5_values(&f->data[k], f->object, &f->values[k], err);
    describe(a, f->all->choice.list[k].field, &f->npz.list[k]);
    f->npz.list[k].values = f->values[k];
    f->npz.count = k + 1;
    return r;
}

static int read_file(struct hdf5_file *f, weir_err *err)
{
    int r = wr_h5_open(f->all->helper, f->object, f->size, err);

    if (r == 0 && !f->all->chosen)
        r = detect(f, err);
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

    return wr_h5_add(&f->data[array], f->all->job->index, run, tiles,
                     f->all->file, err);
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

static bool is_hdf5_name(const char *name)
{
    static const char *const exts[] = {".h5", ".hdf5", ".hdf", ".he5"};

    for (size_t k = 0; k < WR_ARRAY_LEN(exts); k++)
        if (wr_name_has_ext(name, exts[k]))
            return true;
    return false;
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
    int r = wr_axis_parse(all->job->cfg->schema, &axis, err);

    if (r < 0)
        return r;
    if (axis == WR_AXIS_LAST)
        return wr_fail(
            err, WEIR_ENOTSUP,
            "schema: axis=last is not for HDF5, whose chunks are cut "
            "along all axes: axis=first or axis=file");
    all->file = axis == WR_AXIS_FILE;
    all->chosen = all->job->fragment != NULL;
    if (all->chosen)
        r = wr_h5_choice_parse(all->job->fragment, &all->choice, err);
    if (r == 0)
        r = wr_array_set_new(all->job, &all->set, err);
    return r < 0 ? r : wr_h5_helper_new(&all->helper, err);
}

static int hdf5_index(struct wr_index_job *job, weir_err *err)
{
    struct hdf5_job all = {.job = job};
    const struct wr_array_files files = {is_hdf5_name, add_named, &all};
    int r = settle(&all, err);

    if (r == 0)
        r = wr_array_files_add(job, &files, err);
    if (r == 0)
        r = wr_array_set_finish(all.set, err);
    wr_array_set_free(all.set);
    wr_h5_helper_free(all.helper);
    return r;
}

static int hdf5_probe(struct wr_store *st, const char *leaf)
{
    char first[8];
    int64_t n;

    if (!leaf)
        return wr_array_files_probe(st, is_hdf5_name);
    if (is_hdf5_name(leaf))
        return 100;
    n = wr_shard_head(st, leaf, first, sizeof(first));
    if (n < 0)
        return (int)n;
    return n == 8 && !memcmp(first, "\211HDF\r\n\032\n", 8) ? 60 : 0;
}

const struct wr_format_ops wr_format_hdf5 = {
    .name = "hdf5",
    .help = "HDF5 files (FILE#data=/x,label=/y names datasets), or a folder of "
            "them",
    .tensors = true,
    .takes_fragment = true,
    .probe = hdf5_probe,
    .index = hdf5_index,
};
