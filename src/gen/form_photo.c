/* form_photo.c - photographs (weir.content: photos): files, TFRecord, tar.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "gen/collage.h"

#define RECORD_EXTRA 256u /* what is around a picture in a record */
#define FLUSH        ((size_t)4 << 20)

static int files_check(const struct wr_workload *w, weir_err *err)
{
    if (w->dataset.samples_per_file > 1)
        return wr_fail(err, WEIR_EINVAL,
                       "num_samples_per_file: a JPEG is one sample; TFRecord "
                       "and tar hold many");
    return 0;
}

/* On average; what is drawn differs a little. */
static uint64_t photos_size(const struct wr_gen_spec *s)
{
    double mean = s->w->dataset.record_bytes;

    return (uint64_t)((double)s->samples * (mean + RECORD_EXTRA));
}

static int photos_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                       weir_err *err)
{
    int r;

    m->scratch.len = 0;
    r = wr_collage_make(m->stock->photos, s->first, &m->scratch, NULL, err);
    return r < 0 ? r
                 : wr_pen_put(&m->pen, m->scratch.bytes, m->scratch.len, err);
}

/* The next sample, through a writer. */
static int add_record(struct wr_gen_maker *m, const struct wr_writer_ops *ops,
                      uint64_t i, struct wr_bytes *picture, weir_err *err)
{
    struct wr_write_sample w = {.label = wr_gen_photo_label(i)};
    char key[32];
    int r;

    snprintf(key, sizeof(key), "%09" PRIu64, i);
    picture->len = 0;
    r = wr_collage_make(m->stock->photos, i, picture, &w.info, err);
    if (r < 0)
        return r;
    w.key = key;
    w.bytes = picture->bytes;
    w.len = picture->len;
    return ops->add(&m->scratch, &w, err);
}

static int flush(struct wr_gen_maker *m, size_t most, weir_err *err)
{
    int r = 0;

    if (m->scratch.len > most) {
        r = wr_pen_put(&m->pen, m->scratch.bytes, m->scratch.len, err);
        m->scratch.len = 0;
    }
    return r;
}

static int records_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                        const struct wr_writer_ops *ops, weir_err *err)
{
    struct wr_bytes picture = {0};
    int r = 0;

    m->scratch.len = 0;
    for (uint64_t i = 0; i < s->samples && r == 0; i++) {
        r = add_record(m, ops, s->first + i, &picture, err);
        if (r == 0)
            r = flush(m, FLUSH, err);
    }
    free(picture.bytes);
    return r;
}

static int tfrecord_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                         weir_err *err)
{
    int r = records_make(m, s, &wr_writer_tfrecord, err);

    return r < 0 ? r : flush(m, 0, err);
}

/* The end of an archive is two blocks of zeros; tar's own padding to records
 * would need the length of all. */
static int tar_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                    weir_err *err)
{
    int r = records_make(m, s, &wr_writer_tar, err);

    if (r == 0)
        r = flush(m, 0, err);
    return r < 0 ? r : wr_pen_zeros(&m->pen, 1024, err);
}

const struct wr_gen_form wr_gen_form_photos = {
    .size = photos_size, .check = files_check, .make = photos_make};
const struct wr_gen_form wr_gen_form_photo_tfrecord = {.size = photos_size,
                                                       .make = tfrecord_make};
const struct wr_gen_form wr_gen_form_photo_tar = {.size = photos_size,
                                                  .make = tar_make};
