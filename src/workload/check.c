/* check.c - what values of a description must be to each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/check.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "workload/derive.h"

#define MAX_SAMPLES 4e18 /* fits a signed 64-bit number */
#define MAX_RECORD  1e15

static int check_model(const struct wr_workload *w, const char **ret_path,
                       weir_err *err)
{
    bool layers = w->model.num_layers > 0;

    *ret_path = "model.parallelism.pipeline";
    if (layers && w->model.pipeline > (uint64_t)w->model.num_layers)
        return wr_fail(err, WEIR_EINVAL,
                       "%" PRIu64 " stages for %" PRId64 " layers",
                       w->model.pipeline, w->model.num_layers);
    if (w->model.zero_stage == 3 && w->model.pipeline > 1)
        return wr_fail(err, WEIR_EINVAL,
                       "stage 3 of ZeRO works with one stage of layers only");
    *ret_path = "model.parallelism.data";
    if (w->checkpoint.subset && w->model.data < 1)
        return wr_fail(err, WEIR_EINVAL, "is required in mode subset");
    *ret_path = "model.transformer.num_attention_heads";
    if (w->model.heads > w->model.hidden)
        return wr_fail(err, WEIR_EINVAL,
                       "more heads than hidden_size (%" PRIu64 ")",
                       w->model.hidden);
    return 0;
}

static bool is_picture(enum wr_wl_format f)
{
    return f == WR_WL_JPEG || f == WR_WL_PNG;
}

static int check_dims(const struct wr_workload *w, weir_err *err)
{
    const struct wr_wl_dims *d = &w->dataset.record_dims;
    double elements = 1;

    for (unsigned i = 0; i < d->count; i++)
        elements *= (double)d->dim[i];
    if (elements * wr_wl_element_bytes(w->dataset.element_type) > MAX_RECORD)
        return wr_fail(err, WEIR_EINVAL, "a sample of %.3g elements", elements);
    if (d->count && w->dataset.record_stdev > 0)
        return wr_fail(err, WEIR_EINVAL,
                       "cannot be combined with record_length_bytes_stdev");
    if (d->count > 2 && is_picture(w->dataset.format) &&
        w->weir.content != WR_WL_PHOTOS)
        return wr_fail(err, WEIR_EINVAL, "pictures have two sides, not %u",
                       d->count);
    if (d->count && d->dim[0] % w->dataset.datasets)
        return wr_fail(err, WEIR_EINVAL,
                       "the first side is no multiple of "
                       "hdf5.num_dset_per_record (%" PRIu64 ")",
                       w->dataset.datasets);
    return 0;
}

static int check_dataset(const struct wr_workload *w, const char **ret_path,
                         weir_err *err)
{
    double files = (double)w->dataset.files_train +
                   (double)w->dataset.files_eval;

    *ret_path = "dataset.num_files_train";
    if (w->workflow.train && !w->dataset.files_train)
        return wr_fail(err, WEIR_EINVAL, "no files to train with");
    *ret_path = "dataset.num_samples_per_file";
    if (files * (double)w->dataset.samples_per_file > MAX_SAMPLES)
        return wr_fail(err, WEIR_EINVAL, "too many samples in all files");
    *ret_path = "dataset.file_prefix";
    if (!*w->dataset.file_prefix || strchr(w->dataset.file_prefix, '/') ||
        strlen(w->dataset.file_prefix) > 128)
        return wr_fail(err, WEIR_EINVAL,
                       "must be 1 to 128 characters without a slash");
    *ret_path = "dataset.record_dims";
    return check_dims(w, err);
}

int wr_workload_check(const struct wr_workload *w, const char **ret_path,
                      weir_err *err)
{
    int r = check_model(w, ret_path, err);

    if (r == 0)
        r = check_dataset(w, ret_path, err);
    if (r < 0)
        return r;
    *ret_path = "checkpoint.num_checkpoints_read";
    if (w->checkpoint.writes > 0 && w->checkpoint.reads > w->checkpoint.writes)
        return wr_fail(err, WEIR_EINVAL,
                       "more than num_checkpoints_write (%" PRId64 ")",
                       w->checkpoint.writes);
    return 0;
}
