/* webp.c - WebP through libwebp; the first frame of animations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"

#include <string.h>

static bool webp_sniff(const uint8_t *bytes, size_t len)
{
    return len >= 12 && !memcmp(bytes, "RIFF", 4) &&
           !memcmp(bytes + 8, "WEBP", 4);
}

#ifdef WR_HAVE_WEBP

#include <webp/decode.h>
#include <webp/demux.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "codec/turn.h"

static int fail_webp(VP8StatusCode status, const char *where, weir_err *err)
{
    switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
        return wr_fail(err, WEIR_ENOMEM, "no memory to decode a WebP");
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
        return wr_fail(err, WEIR_EFORMAT, "truncated WebP: data end %s", where);
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return wr_fail(err, WEIR_ENOTSUP,
                       "WebP of a kind that libwebp does not read");
    default:
        return wr_fail(err, WEIR_EFORMAT, "damaged WebP: error %d %s",
                       (int)status, where);
    }
}

static int webp_info(const uint8_t *bytes, size_t len,
                     struct wr_picture_info *ret, weir_err *err)
{
    WebPBitstreamFeatures f;
    VP8StatusCode status = WebPGetFeatures(bytes, len, &f);

    if (status != VP8_STATUS_OK)
        return fail_webp(status, "in the header", err);
    *ret = wr_picture_info_of(WR_PICTURE_WEBP, (uint32_t)f.width,
                              (uint32_t)f.height, f.has_alpha ? 4 : 3);
    return 0;
}

/* The chunk of EXIF, which lies behind the pixels. */
static unsigned webp_orientation(const uint8_t *bytes, size_t len)
{
    size_t at = 12;

    while (len - at >= 8) {
        const uint8_t *p = bytes + at;
        size_t size = wr_le32(p + 4);

        if (size > len - at - 8)
            break;
        if (!memcmp(p, "EXIF", 4))
            return size >= 6 && !memcmp(p + 8, "Exif\0\0", 6)
                       ? wr_exif_orientation_named(p + 8, size)
                       : wr_exif_orientation(p + 8, size);
        at += WR_MIN(8 + size + size % 2, len - at);
    }
    return WR_PICTURE_UPRIGHT;
}

/* Decodes one bitstream to `rgb`, rows of f's width apart; what is left of f
 * from there has room for width x height pixels. */
static int decode(const struct wr_frame *f, const WebPData *in, uint8_t *rgb,
                  uint32_t width, uint32_t height, weir_err *err)
{
    WebPDecoderConfig c;
    VP8StatusCode status;

    if (!WebPInitDecoderConfig(&c))
        return wr_fail(err, WEIR_ENOTSUP, "libwebp of another version");
    status = WebPGetFeatures(in->bytes, in->size, &c.input);
    if (status != VP8_STATUS_OK)
        return fail_webp(status, "in the header", err);
    if ((uint32_t)c.input.width != width || (uint32_t)c.input.height != height)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged WebP: a frame of %dx%d pixels, said to be "
                       "%ux%u",
                       c.input.width, c.input.height, width, height);
    c.output.colorspace = MODE_RGB;
    c.output.is_external_memory = 1;
    c.output.u.RGBA.rgba = rgb;
    c.output.u.RGBA.stride = (int)(f->width * 3);
    c.output.u.RGBA.size = (size_t)f->width * 3 * (height - 1) +
                           (size_t)width * 3;
    status = WebPDecode(in->bytes, in->size, &c);
    WebPFreeDecBuffer(&c.output);
    return status == VP8_STATUS_OK ? 0
                                   : fail_webp(status, "among the pixels", err);
}

/* The first frame lies somewhere on a canvas that is black at first. */
static int paint_frame(const struct wr_frame *f, const WebPIterator *it,
                       weir_err *err)
{
    uint64_t right = (uint64_t)it->x_offset + (uint64_t)it->width;
    uint64_t below = (uint64_t)it->y_offset + (uint64_t)it->height;

    if (it->x_offset < 0 || it->y_offset < 0 || right > f->width ||
        below > f->height)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged WebP: a frame outside of the picture");
    memset(f->rgb, 0, (size_t)f->width * f->height * 3);
    return decode(
        f, &it->fragment,
        f->rgb + ((size_t)it->y_offset * f->width + (size_t)it->x_offset) * 3,
        (uint32_t)it->width, (uint32_t)it->height, err);
}

static int paint_animation(const struct wr_frame *f, const WebPData *in,
                           weir_err *err)
{
    WebPDemuxer *d = WebPDemux(in);
    WebPIterator it;
    int r;

    if (!d)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged or truncated WebP: no frames");
    if (WebPDemuxGetFrame(d, 1, &it)) {
        r = paint_frame(f, &it, err);
        WebPDemuxReleaseIterator(&it);
    } else {
        r = wr_fail(err, WEIR_EFORMAT, "damaged WebP: an animation of nothing");
    }
    WebPDemuxDelete(d);
    return r;
}

static int webp_paint(const struct wr_frame *f, weir_err *err)
{
    const WebPData in = {f->bytes, f->len};
    WebPBitstreamFeatures features;
    VP8StatusCode status = WebPGetFeatures(f->bytes, f->len, &features);

    if (status != VP8_STATUS_OK)
        return fail_webp(status, "in the header", err);
    if (features.has_animation)
        return paint_animation(f, &in, err);
    return decode(f, &in, f->rgb, f->width, f->height, err);
}

#endif

const struct wr_codec wr_codec_webp = {
    .name = "WebP",
    .kind = WR_PICTURE_WEBP,
    .exts = {".webp"},
    .sniff = webp_sniff,
#ifdef WR_HAVE_WEBP
    .state_bytes = sizeof(struct wr_frame_state),
    .state_done = wr_frame_done,
    .info = webp_info,
    .orientation = webp_orientation,
    .start = wr_frame_start,
    .read = wr_frame_read,
    .finish = wr_frame_finish,
    .paint = webp_paint,
#else
    .missing = "weir was built without libwebp (meson option 'webp')",
#endif
};
