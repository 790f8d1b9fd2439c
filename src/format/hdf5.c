/* hdf5.c - HDF5 files: datasets whose first axis counts samples.
 * SPDX-License-Identifier: Apache-2.0
 *
 * libhdf5 parses the files, in another process (hdf5_helper.h): from here on a
 * dataset is byte ranges and packed chunks, like any other. */
#include "format/hdf5.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/text.h"
#include "format/array_set.h"
#include "format/array_shape.h"
#include "format/format.h"
#include "format/hdf5_data.h"
#include "format/intern.h"

/* One more dataset, at a path that may begin with '/'. */
static int add(struct wr_h5_choice *c, const char *field, const char *path,
               weir_err *err)
{
    const char *name = path + strspn(path, "/");

    if (!*name || strlen(name) >= sizeof(c->list[0].path))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s=%s' is not NAME=/PATH of a dataset, of up to %d "
                       "bytes",
                       wr_show(field).text, wr_show(path).text, WR_H5_NAME - 1);
    if (c->count == WR_NPZ_MAX)
        return wr_fail(err, WEIR_ELIMIT, "more than %d datasets", WR_NPZ_MAX);
    snprintf(c->list[c->count].field, sizeof(c->list[0].field), "%s", field);
    strcpy(c->list[c->count++].path, name);
    return 0;
}

int wr_h5_choice_parse(const char *fragment, struct wr_h5_choice *ret,
                       weir_err *err)
{
    struct wr_fragment f;
    struct wr_h5_choice c = {0};
    int r = wr_fragment_parse(fragment, &f, err);

    for (unsigned k = 0; r == 0 && k < f.count; k++)
        r = add(&c, f.pairs[k].name, f.pairs[k].value, err);
    if (r == 0)
        *ret = c;
    return r;
}

/* --- without being told --- */

static bool is_record(const char *name)
{
    return !strncmp(name, "records_", 8) && name[8] &&
           strspn(name + 8, "0123456789") == strlen(name + 8);
}

/* Dimensions of elements: a complex number of two f64 is one. */
static uint32_t rank_of(const struct wr_h5_array *a)
{
    return a->said.ndim - !!a->said.inner;
}

static bool is_empty(const struct wr_h5_array *a)
{
    return a->code == 0 && a->bytes == 0;
}

static bool has_samples(const struct wr_h5_array *a)
{
    return a->code == 0 && rank_of(a) >= 2 && !a->said.text && !is_empty(a);
}

/* The first of several dimensions; NULL: none, or several that are not called
 * records_K. */
static const struct wr_h5_array *find_tensor(const struct wr_h5_array *list,
                                             size_t count)
{
    const struct wr_h5_array *first = NULL;

    for (size_t k = 0; k < count; k++) {
        if (!has_samples(&list[k]))
            continue;
        if (first &&
            !(is_record(first->said.name) && is_record(list[k].said.name)))
            return NULL;
        first = first ? first : &list[k];
    }
    return first;
}

static bool is_integer(const struct wr_h5_array *a)
{
    return a->said.ndim == 1 &&
           (a->said.type == WR_H5_SIGNED || a->said.type == WR_H5_UNSIGNED);
}

static bool is_beside(const struct wr_h5_array *a,
                      const struct wr_h5_array *tensor)
{
    return (rank_of(a) == 1 || a->said.text) &&
           a->said.dims[0] == tensor->said.dims[0];
}

/* Would it be a field if its bytes could be had? */
static bool is_missed(const struct wr_h5_array *a,
                      const struct wr_h5_array *tensor)
{
    return a->code &&
           (a->said.layout != WR_H5_REFUSED || a->said.unreachable) &&
           (is_beside(a, tensor) || (a->said.ndim != 1 && !a->said.text));
}

/* "/x 1000x28x28" */
struct array_text {
    char text[256];
};

static struct array_text show_array(const struct wr_h5_dataset *d)
{
    struct array_text t;
    char shown[64];
    int used = snprintf(
        t.text, sizeof(t.text), "/%s",
        wr_text_show(d->name, /* controls= */ true, shown, sizeof(shown)));

    for (uint32_t k = 0; k < d->ndim && k < WR_H5_DIMS; k++)
        used += snprintf(t.text + used, sizeof(t.text) - (size_t)used,
                         "%c%" PRIu64, k ? 'x' : ' ', d->dims[k]);
    return t;
}

/* What a user may choose from: as many as there is room for, and how many there
 * are beside. */
static void tell(const struct wr_h5_array *list, size_t count, char *buf,
                 size_t cap)
{
    const size_t more = sizeof(" and 1024 more");
    size_t used = 0;

    buf[0] = '\0';
    for (size_t k = 0; k < count; k++) {
        struct array_text t = show_array(&list[k].said);

        if (used + strlen(t.text) + 2 + more > cap) {
            snprintf(buf + used, cap - used, " and %zu more", count - k);
            return;
        }
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", k ? ", " : "",
                                 t.text);
    }
}

static int fail_choice(const struct wr_h5_array *list, size_t count,
                       weir_err *err)
{
    char known[300], why[WR_H5_WHY];

    if (!count)
        return wr_fail(err, WEIR_EFORMAT, "it has no datasets");
    tell(list, count, known, sizeof(known));
    for (size_t k = 0; k < count; k++)
        if (list[k].code)
            return wr_fail(err, list[k].code,
                           "which dataset holds the samples? Name it: "
                           "FILE#data=/path. It has %s; '/%s' cannot be read: "
                           "%s",
                           known, wr_show(list[k].said.name).text,
                           wr_text_show(list[k].said.why, /* controls= */ true,
                                        why, sizeof(why)));
    return wr_fail(err, WEIR_EFORMAT,
                   "which dataset holds the samples? Name it: "
                   "FILE#data=/path,label=/path. It has %s",
                   known);
}

/* A field that is not there would not be seen: it is refused. */
static int check_missed(const struct wr_h5_array *list, size_t count,
                        const struct wr_h5_array *tensor, weir_err *err)
{
    for (size_t k = 0; k < count; k++)
        if (is_missed(&list[k], tensor))
            return wr_fail(err, list[k].code,
                           "dataset '/%s' cannot be read: %s. Name the others "
                           "to do without it: FILE#data=/%s",
                           wr_show(list[k].said.name).text,
                           wr_show(list[k].said.why).text,
                           wr_show(tensor->said.name).text);
    return 0;
}

/* Strings, and complex numbers beside the samples, come last: the first tensor is
 * what the samples are. */
static int add_found(const struct wr_h5_array *list, size_t count,
                     const struct wr_h5_array *tensor, struct wr_h5_choice *c,
                     weir_err *err)
{
    int r = 0;

    for (size_t k = 0; k < 2 * count && r == 0; k++) {
        const struct wr_h5_array *a = &list[k % count];

        bool complex = a->said.inner || a->said.type == WR_H5_COMPLEX;
        bool last = a->said.text || (complex && rank_of(a) == 1);

        if ((k >= count) == last && !a->code &&
            (has_samples(a) || is_beside(a, tensor)))
            r = add(c, a->said.name, a->said.name, err);
    }
    return r;
}

int wr_h5_choice_detect(const struct wr_h5_array *list, size_t count,
                        struct wr_h5_choice *ret, weir_err *err)
{
    const struct wr_h5_array *tensor = find_tensor(list, count);
    const struct wr_h5_array *label = NULL;
    struct wr_h5_choice c = {0};
    unsigned integers = 0;
    int r = tensor ? check_missed(list, count, tensor, err)
                   : fail_choice(list, count, err);

    if (r == 0)
        r = add_found(list, count, tensor, &c, err);
    if (r < 0)
        return r;
    for (size_t k = 0; k < count; k++)
        if (!list[k].code && is_beside(&list[k], tensor) &&
            is_integer(&list[k])) {
            integers++;
            label = &list[k];
        }
    if (integers == 1)
        snprintf(c.label, sizeof(c.label), "%s", label->said.name);
    *ret = c;
    return 0;
}

/* Whether a dataset of the file that `c` was detected in is none of its fields;
 * then *err says why. */
static bool h5_choice_omits(const struct wr_h5_choice *c,
                            const struct wr_h5_array *a, weir_err *err)
{
    for (size_t k = 0; k < c->count; k++)
        if (!strcmp(c->list[k].path, a->said.name))
            return false;
    if (a->code)
        wr_fail(err, a->code, "dataset '/%s' is not read: %s",
                wr_show(a->said.name).text, wr_show(a->said.why).text);
    else if (is_empty(a))
        wr_fail(err, WEIR_ENOTSUP, "dataset '/%s' is not read: it is empty",
                wr_show(a->said.name).text);
    else
        wr_fail(err, WEIR_ENOTSUP,
                "dataset '/%s' is not read: it has %" PRIu64
                " numbers, which is not the number of samples",
                wr_show(a->said.name).text, a->said.dims[0]);
    return true;
}

/* The paths, each with its NUL, into `buf`; returns their bytes. */
static size_t h5_choice_paths(const struct wr_h5_choice *c, char *buf,
                              size_t cap)
{
    size_t used = 0;

    for (size_t k = 0; k < c->count; k++) {
        size_t len = strlen(c->list[k].path) + 1;

        if (used + len > cap)
            break;
        memcpy(buf + used, c->list[k].path, len);
        used += len;
    }
    return used;
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

        if (!h5_choice_omits(&all->choice, &list[k], &e))
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
    size_t len = h5_choice_paths(&f->all->choice, paths, sizeof(paths));
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
        r = wr_h5_values(&f->data[k], f->object, &f->values[k], err);
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
