/* codec.h - what a picture codec is: the table that each kind's file fills.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A codec delivers the rows of one picture from top to bottom, a few at a
 * time, into memory that its caller names, so that a row can be resampled
 * while it is still in the cache. A picture is one plane of interleaved RGB
 * (or of grey), or three planes Y, Cb, Cr of their own sizes.
 *
 * Calls come as start, read until all rows are there, finish; after a failure
 * nothing but start or free follows. */
#ifndef WR_CODEC_CODEC_H
#define WR_CODEC_CODEC_H

#include <stdbool.h>

#include "codec/picture.h"

#define WR_CODEC_PLANES 3
#define WR_CODEC_ROWS   64 /* most rows of a plane that one read delivers */

/* Scratch for whole pictures beyond this is not kept for the next one. */
#define WR_CODEC_KEEP_BYTES ((size_t)64 << 20)

struct wr_codec_job {
    const uint8_t *bytes; /* borrowed until finish */
    size_t len;
    uint32_t channels;           /* 3 or 1 */
    struct wr_picture_crop crop; /* width 0: all of it */
    uint32_t out_w, out_h;       /* what it is resampled to, 0: not at all */
    bool fast;                   /* smaller pictures, planes: allowed */
};

/* One plane as it will be delivered. */
struct wr_codec_plane {
    uint32_t width, height; /* samples that take part in the resampling */
    uint32_t skip;          /* samples of each row that lie left of them */
    uint32_t row_bytes;     /* that a row's memory must have */
    uint32_t upsample_x, upsample_y; /* 1, or 2 for halved colour planes */
    double box_x[2], box_y[2];       /* the part wanted, see wr_filter_key */
};

struct wr_codec_shape {
    struct wr_picture_info info;
    uint32_t planes; /* 1: `channels` interleaved; 3: Y, Cb, Cr */
    float lift;      /* 3 planes: levels to add to each */
    uint32_t rows;   /* rows that one read wants room for, per plane */
    struct wr_codec_plane plane[WR_CODEC_PLANES];
};

/* Where the next rows go: shape.rows pointers a plane, each to row_bytes and
 * WR_ROW_SLACK more; and how many of them were real. */
struct wr_codec_rows {
    uint8_t **row[WR_CODEC_PLANES];
    uint32_t count[WR_CODEC_PLANES];
};

struct wr_frame;

struct wr_codec {
    const char *name;
    enum wr_picture_kind kind;
    const char *missing; /* why it was not built, NULL when it was */
    const char *exts[4]; /* endings of such files' names, the usual one first;
                            NULL behind the last */
    /* Do pictures of this kind begin so? There is no codec without it. */
    bool (*sniff)(const uint8_t *bytes, size_t len);
    size_t state_bytes; /* of what a decoder keeps from picture to picture,
                           zeroed at first */
    void (*state_done)(void *state); /* frees what it holds */
    int (*info)(const uint8_t *bytes, size_t len, struct wr_picture_info *ret,
                weir_err *err);
    /* optional (NULL: such pictures have none): EXIF's orientation, 1 to 8; 1
     * where nothing says another. */
    unsigned (*orientation)(const uint8_t *bytes, size_t len);
    int (*start)(const struct wr_codec *self, void *state,
                 const struct wr_codec_job *job, struct wr_codec_shape *ret,
                 weir_err *err);
    int (*read)(void *state, struct wr_codec_rows *rows, weir_err *err);
    /* Checks what follows the last row, unless the picture was cropped. */
    int (*finish)(void *state, weir_err *err);

    /* Where `start` is wr_frame_start. Optional: refuses bytes that are too few
     * for the header's pixels, before memory is spent on those. Width and height
     * are within the limits. */
    int (*check)(const uint8_t *bytes, size_t len, weir_err *err);
    /* Required there: all of f->rgb, as PIL's convert('RGB') has it. */
    int (*paint)(const struct wr_frame *f, weir_err *err);
};

extern const struct wr_codec wr_codec_bmp;
extern const struct wr_codec wr_codec_gif;
extern const struct wr_codec wr_codec_jpeg;
extern const struct wr_codec wr_codec_png;
extern const struct wr_codec wr_codec_pnm;
extern const struct wr_codec wr_codec_tiff;
extern const struct wr_codec wr_codec_webp;

/* The registry (codec.c): table i, i < WR_CODEC_COUNT. */
#define WR_CODEC_COUNT 7
const struct wr_codec *wr_codec_at(size_t i);

/* The number of the codec for these bytes. WEIR_EFORMAT: no such kind;
 * WEIR_ENOTSUP: this build has none. */
int wr_codec_find(const void *bytes, size_t len, weir_err *err);

/* Which way up these bytes are, 1 to 8. */
unsigned wr_codec_orientation(const void *bytes, size_t len);

/* Refuses sizes over the limits of picture.h and crops outside. */
int wr_codec_check_size(const struct wr_picture_info *info,
                        const struct wr_picture_crop *crop, weir_err *err);

/* The one plane of a picture that is not scaled, for `job`'s crop: skip, size
 * and box; row_bytes is left to the codec. */
void wr_codec_whole_plane(const struct wr_codec_job *job,
                          const struct wr_picture_info *info,
                          struct wr_codec_plane *ret);

/* What one huge picture took does not stay with the thread: frees `*memory` of
 * `*cap` bytes if that is over WR_CODEC_KEEP_BYTES and four times what the next
 * one needs. */
void wr_codec_drop_large(uint8_t **memory, size_t *cap, size_t need);

/* RGB -> grey in place, n pixels, as PIL's convert('L'). */
void wr_codec_gray_row(uint8_t *row, size_t n);

/* --- pictures that are decoded at once, then delivered row by row --- */

/* Where a library gives all pixels or none, or where rows come in another
 * order than from top to bottom, a codec is two functions: read the header
 * (info), paint the pixels (paint). The rest of its hooks is here. */

/* Encoded bytes, and where the pixels go. */
struct wr_frame {
    const uint8_t *bytes; /* borrowed */
    size_t len;
    uint32_t width, height; /* within the limits of picture.h */
    uint8_t *rgb;           /* width * height * 3 bytes; what is in them before
                               is undefined */
};

struct wr_frame_state {
    uint8_t *rgb; /* owned */
    size_t cap;
    uint32_t channels, width;
    uint32_t row, end; /* next row to deliver; the one behind the last */
};

/* Hooks for struct wr_codec. */
void wr_frame_done(void *state);
int wr_frame_start(const struct wr_codec *self, void *state,
                   const struct wr_codec_job *job, struct wr_codec_shape *ret,
                   weir_err *err);
int wr_frame_read(void *state, struct wr_codec_rows *rows, weir_err *err);
int wr_frame_finish(void *state, weir_err *err);

#endif
