/* frame.c - pictures that are decoded at once, then delivered row by row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

#define STRIP_ROWS 8u

/* Of what is larger than this, the pixels take at most so many times as many
 * bytes as the file has: each thread holds such a picture. */
#define FRAME_FREE  ((size_t)256 << 20)
#define FRAME_RATIO 64u

void wr_frame_done(void *state)
{
    free(((struct wr_frame_state *)state)->rgb);
}

static int reserve(struct wr_frame_state *s, const struct wr_picture_info *info,
                   size_t stored, weir_err *err)
{
    size_t need = (size_t)info->width * info->height * 3;

    if (need > FRAME_FREE && need / FRAME_RATIO > stored)
        return wr_fail(err, WEIR_ELIMIT,
                       "%ux%u pixels from %zu bytes: more than %zu MiB of them "
                       "may be %u times as many bytes at most",
                       info->width, info->height, stored, FRAME_FREE >> 20,
                       FRAME_RATIO);
    wr_codec_drop_large(&s->rgb, &s->cap, 0); /* of one that failed */
    if (!wr_grow(&s->rgb, &s->cap, need, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %ux%u pixels",
                       info->width, info->height);
    return 0;
}

int wr_frame_start(const struct wr_codec *self, void *state,
                   const struct wr_codec_job *job, struct wr_codec_shape *ret,
                   weir_err *err)
{
    struct wr_frame_state *s = state;
    struct wr_codec_shape shape = {.planes = 1, .rows = STRIP_ROWS};
    struct wr_frame f = {.bytes = job->bytes, .len = job->len};
    int r = self->info(job->bytes, job->len, &shape.info, err);

    if (r >= 0)
        r = wr_codec_check_size(&shape.info, &job->crop, err);
    if (r >= 0 && self->check)
        r = self->check(job->bytes, job->len, err);
    if (r >= 0)
        r = reserve(s, &shape.info, job->len, err);
    if (r < 0)
        return r;
    f.width = shape.info.width;
    f.height = shape.info.height;
    f.rgb = s->rgb;
    r = self->paint(&f, err);
    if (r < 0)
        return r;
    wr_codec_whole_plane(job, &shape.info, &shape.plane[0]);
    shape.plane[0].row_bytes = f.width * 3;
    s->channels = job->channels;
    s->width = f.width;
    s->row = job->crop.width ? job->crop.y : 0;
    s->end = s->row + shape.plane[0].height;
    *ret = shape;
    return 0;
}

int wr_frame_read(void *state, struct wr_codec_rows *rows, weir_err *err)
{
    struct wr_frame_state *s = state;
    size_t bytes = (size_t)s->width * 3;
    uint32_t got = 0;

    (void)err; /* all pixels are there */
    for (; got < STRIP_ROWS && s->row < s->end; got++, s->row++) {
        uint8_t *row = rows->row[0][got];

        memcpy(row, s->rgb + s->row * bytes, bytes);
        if (s->channels == 1)
            wr_codec_gray_row(row, s->width);
    }
    rows->count[0] = got;
    return 0;
}

int wr_frame_finish(void *state, weir_err *err)
{
    struct wr_frame_state *s = state;

    wr_codec_drop_large(&s->rgb, &s->cap, 0);
    return 0;
}
