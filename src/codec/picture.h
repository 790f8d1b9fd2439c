/* picture.h - bytes of an encoded picture -> a tensor in its place.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The top of the codec room: format, size and layout in, pixels out. A
 * decoder belongs to one thread and keeps its scratch memory. */
#ifndef WR_CODEC_PICTURE_H
#define WR_CODEC_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"
#include "weir/picture.h"

/* Pictures of more pixels than this are refused before memory is spent. */
#define WR_PICTURE_MAX_PIXELS (UINT64_C(1) << 28)
#define WR_PICTURE_MAX_SIDE   65500u

#define WR_PICTURE_UPRIGHT 1u /* of EXIF's orientations, 1 to 8 */

enum wr_picture_kind {
    WR_PICTURE_UNKNOWN = 0,
    WR_PICTURE_JPEG,
    WR_PICTURE_PNG,
    WR_PICTURE_WEBP,
    WR_PICTURE_TIFF,
    WR_PICTURE_GIF,
    WR_PICTURE_BMP,
    WR_PICTURE_PNM,
    WR_PICTURE_KINDS /* number of them, unknown included */
};

struct wr_picture_info {
    enum wr_picture_kind kind;
    uint32_t width, height;
    uint32_t components;  /* as stored: 1 gray, 3 colour, 4 CMYK or RGBA */
    uint32_t orientation; /* EXIF's: 1 upright, 2 to 8 to be turned */
};

static inline struct wr_picture_info
wr_picture_info_of(enum wr_picture_kind kind, uint32_t width, uint32_t height,
                   uint32_t components)
{
    return (struct wr_picture_info){.kind = kind,
                                    .width = width,
                                    .height = height,
                                    .components = components};
}

/* A rectangle of the source picture; width 0 means all of it. */
struct wr_picture_crop {
    uint32_t x, y, width, height;
    bool flip; /* what comes out is mirrored, left to right */
};

/* Nanoseconds, added to. */
struct wr_picture_times {
    uint64_t decode_ns, resample_ns;
};

struct wr_picture_decoder;

/* Kind by the first bytes, whatever the file's name says. */
enum wr_picture_kind wr_picture_probe(const void *bytes, size_t len);

/* "JPEG", "PNG", "unknown". */
const char *wr_picture_kind_name(enum wr_picture_kind kind);

/* ".jpg": how names of such files end; "" for the unknown kind. */
const char *wr_picture_kind_ext(enum wr_picture_kind kind);

/* The kind that a file's name of `len` bytes promises, by its ending. */
enum wr_picture_kind wr_picture_kind_of_name(const char *name, size_t len);

/* All endings of all kinds, ".jpg" first; NULL behind the last. At most
 * WR_PICTURE_EXT_BYTES, with the NUL. */
#define WR_PICTURE_EXT_BYTES 8u
const char *wr_picture_ext_at(unsigned k);

/* Width and height of the picture when it is upright, from those stored. */
void wr_picture_turn_size(unsigned orientation, uint32_t *width,
                          uint32_t *height);

/* Reads the header only; width and height as stored. */
int wr_picture_info(const void *bytes, size_t len, struct wr_picture_info *ret,
                    weir_err *err);

/* Width and height 0: as stored, decode_only alone. Crops and flips come with
 * each picture, not from `spec`. */
int wr_picture_new(struct wr_picture_decoder **ret,
                   const weir_picture_config *spec, weir_err *err);
void wr_picture_free(struct wr_picture_decoder *d);

/* Bytes of one output tensor. */
size_t wr_picture_slot_bytes(const weir_picture_config *spec);

/* Decodes, crops (crop may be NULL), resizes and lays out into `slot`, which
 * has wr_picture_slot_bytes() bytes at any alignment. Of a cropped picture
 * only the region is decoded, as far as its kind allows; `exact` gives the
 * pixels of a whole decode that is then cropped. A damaged
 * picture is an error (truncated data included), never a grey area; the slot's
 * content is then undefined. `times` may be NULL. */
int wr_picture_decode(struct wr_picture_decoder *d, const void *bytes,
                      size_t len, const struct wr_picture_crop *crop,
                      void *slot, struct wr_picture_times *times,
                      weir_err *err);

/* Decodes at full size to 8-bit RGB in scratch memory and drops it: what the
 * decode limit is made of, and the `decode` stage. ret_pixels (may be NULL)
 * lends the picture, width*height*channels bytes, until the next call. It is
 * turned, and the size in ret_info too, if the spec says so. */
int wr_picture_decode_only(struct wr_picture_decoder *d, const void *bytes,
                           size_t len, struct wr_picture_info *ret_info,
                           const uint8_t **ret_pixels, weir_err *err);

/* The same for the region of `crop` (may be NULL): decoded and dropped. */
int wr_picture_decode_drop(struct wr_picture_decoder *d, const void *bytes,
                           size_t len, const struct wr_picture_crop *crop,
                           weir_err *err);

#endif
