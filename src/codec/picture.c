/* picture.c - bytes of an encoded picture -> a tensor in its place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/picture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "codec/codec.h"
#include "codec/kernel.h"
#include "codec/layout.h"
#include "codec/resample.h"
#include "codec/turn.h"

/* Planes of one picture wait for each other: for the next strip, and for the
 * few rows that halved colour planes look further. */
#define AHEAD_ROWS 16u

struct wr_picture_decoder {
    weir_picture_config spec;
    const struct wr_kernels *kernels; /* borrowed, static */
    void *state[WR_CODEC_COUNT];      /* owned by codec i; made when needed */
    struct wr_filter_cache filters;
    struct wr_plane plane[WR_CODEC_PLANES];
    struct wr_layout layout;
    float *quads;                    /* owned: one row that comes out */
    float *ycc[WR_CODEC_PLANES];     /* owned: the same, plane by plane */
    uint8_t **rows[WR_CODEC_PLANES]; /* owned: [WR_CODEC_ROWS] */
    uint8_t *whole;                  /* owned: decode_only's picture */
    size_t whole_cap;
    /* for pictures that are to be turned: */
    struct wr_picture_decoder *swapped; /* owned: width and height exchanged */
    uint8_t *turned;                    /* owned: pixels before or behind */
    size_t turned_cap;
};

/* Libraries tell which step failed; when memory was short, errno alone has kept
 * that. It is 0 before the library is called. */
static int blame(int r, weir_err *err)
{
    if (r == WEIR_EFORMAT && errno == ENOMEM)
        return wr_fail(err, WEIR_ENOMEM, "no memory to decode a picture");
    return r;
}

int wr_picture_info(const void *bytes, size_t len, struct wr_picture_info *ret,
                    weir_err *err)
{
    static const struct wr_picture_crop no_crop;
    struct wr_picture_info info;
    int i = wr_codec_find(bytes, len, err), r;

    errno = 0;
    r = i < 0 ? i : wr_codec_at((size_t)i)->info(bytes, len, &info, err);
    if (r < 0)
        return blame(r, err);
    r = wr_codec_check_size(&info, &no_crop, err);
    if (r < 0)
        return r;
    *ret = info;
    ret->orientation = wr_codec_orientation(bytes, len);
    return 0;
}

void wr_picture_turn_size(unsigned orientation, uint32_t *width,
                          uint32_t *height)
{
    uint32_t was = *width;

    if (!wr_turn_of(orientation).swap)
        return;
    *width = *height;
    *height = was;
}

static int check_spec(const weir_picture_config *s, weir_err *err)
{
    if (s->channels != 1 && s->channels != 3)
        return wr_fail(err, WEIR_EINVAL, "%u channels: 1 or 3 are possible",
                       s->channels);
    if (!s->width != !s->height || s->width > WR_PICTURE_MAX_SIDE ||
        s->height > WR_PICTURE_MAX_SIDE ||
        (uint64_t)s->width * s->height > WR_PICTURE_MAX_PIXELS)
        return wr_fail(err, WEIR_EINVAL, "cannot resize to %ux%u pixels",
                       s->width, s->height);
    if (s->dtype > WEIR_U8 || s->layout > WEIR_NCHW ||
        s->resize > WEIR_RESIZE_AREA || s->decode > WEIR_DECODE_FAST ||
        s->orient > WEIR_ORIENT_EXIF)
        return wr_fail(err, WEIR_EINVAL, "picture: unknown type or mode");
    for (uint32_t c = 0; c < s->channels && s->dtype != WEIR_U8; c++)
        if (!isfinite(s->mean[c]) || !isfinite(s->std[c]) || !s->std[c])
            return wr_fail(err, WEIR_EINVAL,
                           "cannot normalize with mean %g and std %g",
                           (double)s->mean[c], (double)s->std[c]);
    return 0;
}

/* Everything whose size the spec decides. */
static int decoder_init(struct wr_picture_decoder *d, weir_err *err)
{
    size_t width = WR_ALIGN_UP((size_t)d->spec.width, 8u);
    bool ok = true;

    d->quads = calloc(width ? width : 8, 4 * sizeof(*d->quads));
    ok = d->quads != NULL;
    for (int p = 0; p < WR_CODEC_PLANES; p++) {
        d->ycc[p] = calloc(width ? width : 8, sizeof(*d->ycc[p]));
        d->rows[p] = calloc(WR_CODEC_ROWS, sizeof(*d->rows[p]));
        ok = ok && d->ycc[p] && d->rows[p];
    }
    if (!ok)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a picture decoder");
    return d->spec.width ? wr_layout_init(&d->layout, &d->spec, d->kernels, err)
                         : 0;
}

int wr_picture_new(struct wr_picture_decoder **ret,
                   const weir_picture_config *spec, weir_err *err)
{
    struct wr_picture_decoder *d;
    int r = check_spec(spec, err);

    if (r < 0)
        return r;
    d = calloc(1, sizeof(*d));
    if (!d)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a picture decoder");
    d->spec = *spec;
    d->kernels = wr_kernels_best();
    r = decoder_init(d, err);
    if (r < 0) {
        wr_picture_free(d);
        return r;
    }
    *ret = d;
    return 0;
}

void wr_picture_free(struct wr_picture_decoder *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < WR_CODEC_COUNT; i++)
        if (d->state[i]) {
            wr_codec_at((size_t)i)->state_done(d->state[i]);
            free(d->state[i]);
        }
    for (int p = 0; p < WR_CODEC_PLANES; p++) {
        wr_plane_done(&d->plane[p]);
        free(d->ycc[p]);
        free(d->rows[p]);
    }
    wr_filter_cache_done(&d->filters);
    wr_layout_done(&d->layout);
    wr_picture_free(d->swapped);
    free(d->turned);
    free(d->quads);
    free(d->whole);
    free(d);
}

size_t wr_picture_slot_bytes(const weir_picture_config *spec)
{
    return (size_t)spec->width * spec->height * spec->channels *
           wr_dtype_bytes(spec->dtype);
}

/* Finds the codec and reads the header: what will come, in which shape. */
static int start(struct wr_picture_decoder *d, const struct wr_codec_job *job,
                 struct wr_codec_shape *ret, weir_err *err)
{
    int i = wr_codec_find(job->bytes, job->len, err), r;
    const struct wr_codec *c;

    if (i < 0)
        return i;
    c = wr_codec_at((size_t)i);
    if (!d->state[i])
        d->state[i] = calloc(1, c->state_bytes);
    if (!d->state[i])
        return wr_fail(err, WEIR_ENOMEM, "no memory for a %s decoder", c->name);
    r = c->start(c, d->state[i], job, ret, err);
    return r < 0 ? r : i;
}

static int begin_planes(struct wr_picture_decoder *d,
                        const struct wr_codec_shape *shape, bool flip,
                        weir_err *err)
{
    d->layout.affine.lift = shape->lift * WR_LEVEL;
    for (uint32_t p = 0; p < shape->planes; p++) {
        const struct wr_codec_plane *from = &shape->plane[p];
        struct wr_plane_setup s = {
            .width = from->width,
            .height = from->height,
            .comps = shape->planes == 1 ? d->spec.channels : 1,
            .skip = from->skip,
            .row_bytes = from->row_bytes,
            .rows_at_once = shape->rows,
            .rows_ahead = shape->planes > 1 ? shape->rows + AHEAD_ROWS : 0,
            .upsample_x = from->upsample_x,
            .upsample_y = from->upsample_y,
            .box_x = {from->box_x[0], from->box_x[1]},
            .box_y = {from->box_y[0], from->box_y[1]},
            .out_w = d->spec.width,
            .out_h = d->spec.height,
            .mirror = flip,
            .resize = d->spec.resize,
        };
        int r = wr_plane_begin(&d->plane[p], &d->filters, &s, err);

        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_ready(const struct wr_picture_decoder *d, uint32_t planes,
                     uint32_t o)
{
    for (uint32_t p = 0; p < planes; p++)
        if (!wr_plane_is_ready(&d->plane[p], o))
            return false;
    return true;
}

static void emit_row(struct wr_picture_decoder *d, uint32_t planes, uint32_t o,
                     void *slot)
{
    if (planes == 1) {
        wr_plane_emit(&d->plane[0], d->kernels, o, d->quads);
        wr_layout_put(&d->layout, d->quads, o, slot);
        return;
    }
    for (uint32_t p = 0; p < planes; p++)
        wr_plane_emit(&d->plane[p], d->kernels, o, d->ycc[p]);
    wr_layout_put_ycc(&d->layout, d->ycc, o, slot);
}

/* Reads a strip of rows into the planes' rings. */
static int read_strip(struct wr_picture_decoder *d, int codec,
                      const struct wr_codec_shape *shape, weir_err *err)
{
    struct wr_codec_rows rows = {0};
    int r;

    for (uint32_t p = 0; p < shape->planes; p++) {
        rows.row[p] = d->rows[p];
        for (uint32_t k = 0; k < shape->rows; k++)
            d->rows[p][k] = wr_plane_row(&d->plane[p], k);
    }
    r = wr_codec_at((size_t)codec)->read(d->state[codec], &rows, err);
    if (r < 0)
        return r;
    for (uint32_t p = 0; p < shape->planes; p++)
        wr_plane_advance(&d->plane[p], rows.count[p]);
    return 0;
}

/* A picture on its way into a slot. */
struct run {
    struct wr_codec_job job;
    struct wr_codec_shape shape;
    int codec;
    void *slot;                     /* borrowed from the caller */
    struct wr_picture_times *times; /* borrowed from the caller */
};

/* Strip by strip: decoded, and resampled while it is in the cache. */
static int stream(struct wr_picture_decoder *d, struct run *run, weir_err *err)
{
    uint32_t planes = run->shape.planes, o = 0;
    uint64_t at = wr_clock_ns(), now;

    while (d->plane[0].have < d->plane[0].height) {
        int r = read_strip(d, run->codec, &run->shape, err);

        now = wr_clock_ns();
        run->times->decode_ns += now - at;
        at = now;
        if (r < 0)
            return r;
        for (; o < d->spec.height && is_ready(d, planes, o); o++)
            emit_row(d, planes, o, run->slot);
        now = wr_clock_ns();
        run->times->resample_ns += now - at;
        at = now;
    }
    if (o < d->spec.height)
        return wr_fail(err, WEIR_EFORMAT, "picture ended at row %u of %u", o,
                       d->spec.height);
    return wr_codec_at((size_t)run->codec)->finish(d->state[run->codec], err);
}

/* The picture as it is stored. */
static int decode_stored(struct wr_picture_decoder *d, const void *bytes,
                         size_t len, const struct wr_picture_crop *crop,
                         void *slot, struct wr_picture_times *times,
                         weir_err *err)
{
    struct run run = {
        .job = {.bytes = bytes,
                .len = len,
                .channels = d->spec.channels,
                .out_w = d->spec.width,
                .out_h = d->spec.height,
                .fast = d->spec.decode == WEIR_DECODE_FAST},
        .slot = slot,
        .times = times,
    };
    uint64_t begin = wr_clock_ns();
    int r;

    if (crop)
        run.job.crop = *crop;
    errno = 0;
    run.codec = start(d, &run.job, &run.shape, err);
    r = run.codec < 0 ? run.codec
                      : begin_planes(d, &run.shape, run.job.crop.flip, err);
    run.times->decode_ns += wr_clock_ns() - begin;
    return blame(r < 0 ? r : stream(d, &run, err), err);
}

/* --- pictures that are not stored upright --- */

static unsigned orientation_of(const struct wr_picture_decoder *d,
                               const void *bytes, size_t len)
{
    return d->spec.orient == WEIR_ORIENT_EXIF ? wr_codec_orientation(bytes, len)
                                              : WR_PICTURE_UPRIGHT;
}

/* Where a region of the upright picture is stored; not mirrored. */
static int find_stored(unsigned orientation, const void *bytes, size_t len,
                       const struct wr_picture_crop *crop,
                       struct wr_picture_crop *ret, weir_err *err)
{
    struct wr_picture_info info;
    int r;

    *ret = (struct wr_picture_crop){0};
    if (!crop || !crop->width)
        return 0;
    r = wr_picture_info(bytes, len, &info, err);
    if (r < 0)
        return r;
    wr_picture_turn_size(orientation, &info.width, &info.height);
    r = wr_codec_check_size(&info, crop, err);
    if (r < 0)
        return r;
    *ret = wr_turn_crop(wr_turn_of(orientation), info.width, info.height, crop);
    ret->flip = false;
    return 0;
}

/* The decoder whose tensor becomes d's when it is turned. */
static int stored_decoder(struct wr_picture_decoder *d, struct wr_turn turn,
                          struct wr_picture_decoder **ret, weir_err *err)
{
    weir_picture_config spec = d->spec;
    int r = 0;

    if (turn.swap && !d->swapped) {
        spec.width = d->spec.height;
        spec.height = d->spec.width;
        r = wr_picture_new(&d->swapped, &spec, err);
    }
    *ret = turn.swap ? d->swapped : d;
    return r;
}

static struct wr_turn_pixels pixels_of(const weir_picture_config *s)
{
    bool is_planar = s->layout == WEIR_NCHW;

    return (struct wr_turn_pixels){
        .width = s->width,
        .height = s->height,
        .planes = is_planar ? s->channels : 1,
        .pixel = wr_dtype_bytes(s->dtype) * (is_planar ? 1 : s->channels),
    };
}

static int reserve_turned(struct wr_picture_decoder *d, size_t need,
                          weir_err *err)
{
    wr_codec_drop_large(&d->turned, &d->turned_cap, need);
    if (!wr_grow(&d->turned, &d->turned_cap, need, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory to turn a picture");
    return 0;
}

/* Decodes beside the slot, then turns into it. */
static int decode_turned(struct wr_picture_decoder *d, unsigned orientation,
                         struct run *run, weir_err *err)
{
    struct wr_turn turn = wr_turn_of(orientation);
    struct wr_turn_pixels pixels = pixels_of(&d->spec);
    const struct wr_codec_job *job = &run->job;
    struct wr_picture_decoder *from = NULL;
    struct wr_picture_crop stored;
    uint64_t begin;
    int r = find_stored(orientation, job->bytes, job->len, &job->crop, &stored,
                        err);

    if (r >= 0)
        r = stored_decoder(d, turn, &from, err);
    if (r >= 0)
        r = reserve_turned(d, wr_picture_slot_bytes(&d->spec), err);
    if (r >= 0)
        r = decode_stored(from, job->bytes, job->len, &stored, d->turned,
                          run->times, err);
    if (r < 0)
        return r;
    begin = wr_clock_ns();
    turn.flip_x ^= job->crop.flip;
    wr_turn_copy(&pixels, turn, d->turned, run->slot);
    run->times->resample_ns += wr_clock_ns() - begin;
    return 0;
}

int wr_picture_decode(struct wr_picture_decoder *d, const void *bytes,
                      size_t len, const struct wr_picture_crop *crop,
                      void *slot, struct wr_picture_times *times, weir_err *err)
{
    struct wr_picture_times unused = {0};
    struct run run = {.job = {.bytes = bytes, .len = len},
                      .slot = slot,
                      .times = times ? times : &unused};
    unsigned orientation = orientation_of(d, bytes, len);

    if (!d->spec.width)
        return wr_fail(err, WEIR_EINVAL, "no size to resize to");
    if (orientation == WR_PICTURE_UPRIGHT)
        return decode_stored(d, bytes, len, crop, slot, run.times, err);
    if (crop)
        run.job.crop = *crop;
    return decode_turned(d, orientation, &run, err);
}

/* --- whole pictures --- */

/* Room for a whole picture; a row on its way may be wider than it stays. */
static int reserve_whole(struct wr_picture_decoder *d,
                         const struct wr_codec_shape *shape, weir_err *err)
{
    const struct wr_codec_plane *p = &shape->plane[0];
    size_t need = (size_t)p->width * d->spec.channels * p->height +
                  (size_t)p->row_bytes * shape->rows + WR_ROW_SLACK;

    wr_codec_drop_large(&d->whole, &d->whole_cap, need);
    if (!wr_grow(&d->whole, &d->whole_cap, need, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %ux%u pixels", p->width,
                       p->height);
    return 0;
}

static int read_whole(struct wr_picture_decoder *d, int codec,
                      const struct wr_codec_shape *shape, weir_err *err)
{
    size_t stride = (size_t)shape->plane[0].width * d->spec.channels;

    for (uint32_t y = 0; y < shape->plane[0].height;) {
        struct wr_codec_rows rows = {.row = {d->rows[0]}};
        int r;

        for (uint32_t k = 0; k < shape->rows; k++)
            d->rows[0][k] = d->whole + (y + k) * stride;
        r = wr_codec_at((size_t)codec)->read(d->state[codec], &rows, err);
        if (r < 0)
            return r;
        y += rows.count[0];
    }
    return wr_codec_at((size_t)codec)->finish(d->state[codec], err);
}

/* Decodes what `job` says to d->whole. What is left of a crop comes with each
 * row, so the rows of a crop lie over each other's ends. */
static int decode_whole(struct wr_picture_decoder *d,
                        const struct wr_codec_job *job,
                        struct wr_picture_info *ret, weir_err *err)
{
    struct wr_codec_shape shape;
    int codec, r;

    errno = 0;
    codec = start(d, job, &shape, err);
    r = codec < 0 ? codec : reserve_whole(d, &shape, err);
    if (r >= 0)
        r = read_whole(d, codec, &shape, err);
    if (r < 0)
        return blame(r, err);
    *ret = shape.info;
    return 0;
}

/* What decode_whole made, upright if that is asked for. */
static int turn_whole(struct wr_picture_decoder *d,
                      struct wr_picture_info *info, const void *bytes,
                      size_t len, const uint8_t **ret, weir_err *err)
{
    unsigned orientation = orientation_of(d, bytes, len);
    struct wr_turn_pixels p = {.planes = 1, .pixel = d->spec.channels};
    int r;

    *ret = d->whole;
    info->orientation = wr_codec_orientation(bytes, len);
    if (orientation == WR_PICTURE_UPRIGHT)
        return 0;
    wr_picture_turn_size(orientation, &info->width, &info->height);
    p.width = info->width;
    p.height = info->height;
    r = reserve_turned(d, (size_t)p.width * p.height * p.pixel, err);
    if (r < 0)
        return r;
    wr_turn_copy(&p, wr_turn_of(orientation), d->whole, d->turned);
    *ret = d->turned;
    return 0;
}

int wr_picture_decode_only(struct wr_picture_decoder *d, const void *bytes,
                           size_t len, struct wr_picture_info *ret_info,
                           const uint8_t **ret_pixels, weir_err *err)
{
    struct wr_codec_job job = {
        .bytes = bytes, .len = len, .channels = d->spec.channels};
    const uint8_t *pixels = NULL;
    struct wr_picture_info info;
    int r = decode_whole(d, &job, &info, err);

    if (r >= 0)
        r = turn_whole(d, &info, bytes, len, &pixels, err);
    if (r < 0)
        return r;
    if (ret_info)
        *ret_info = info;
    if (ret_pixels)
        *ret_pixels = pixels;
    return 0;
}

int wr_picture_decode_drop(struct wr_picture_decoder *d, const void *bytes,
                           size_t len, const struct wr_picture_crop *crop,
                           weir_err *err)
{
    struct wr_codec_job job = {
        .bytes = bytes, .len = len, .channels = d->spec.channels};
    unsigned orientation = orientation_of(d, bytes, len);
    struct wr_picture_info info;
    int r = 0;

    if (orientation != WR_PICTURE_UPRIGHT)
        r = find_stored(orientation, bytes, len, crop, &job.crop, err);
    else if (crop)
        job.crop = *crop;
    return r < 0 ? r : decode_whole(d, &job, &info, err);
}
