/* form_jpeg.c - JPEG files of noise, of the size that the description says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/form.h"

#include "base/error.h"
#include "gen/jpeg_noise.h"

static int jpeg_check(const struct wr_workload *w, weir_err *err)
{
    const struct wr_wl_dims *d = &w->dataset.record_dims;

    if (d->count > 2)
        return wr_fail(err, WEIR_EINVAL,
                       "record_dims: a JPEG of noise is gray, HxW");
    if (w->dataset.samples_per_file > 1)
        return wr_fail(err, WEIR_EINVAL,
                       "num_samples_per_file: a JPEG is one sample");
    return 0;
}

static uint64_t jpeg_size(const struct wr_gen_spec *s)
{
    return s->sample_bytes;
}

static int jpeg_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                     weir_err *err)
{
    const struct wr_wl_dims *d = &s->dims;
    struct wr_jpeg_noise_picture pic = {
        .seed = s->seed, .number = s->file, .bytes = s->sample_bytes};

    for (unsigned k = 0; k < d->count; k++)
        if (d->dim[k] > WR_JPEG_SIDE_MAX)
            return wr_fail(err, WEIR_ELIMIT, "a JPEG has sides of 1 to %u",
                           WR_JPEG_SIDE_MAX);
    pic.height = d->count > 1 ? (uint32_t)d->dim[0] : 1;
    pic.width = (uint32_t)d->dim[d->count - 1];
    return wr_jpeg_noise_put(m->stock->jpegs, &pic, &m->pen, err);
}

const struct wr_gen_form wr_gen_form_jpeg = {
    .size = jpeg_size, .check = jpeg_check, .make = jpeg_make};
