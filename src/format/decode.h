/* decode.h - what comes out of a field, and the decoders of its kinds.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Decoders go by the kind of the field, whatever format it comes from:
 * pictures, tensors, and bytes and scalars as they lie. */
#ifndef WR_FORMAT_DECODE_H
#define WR_FORMAT_DECODE_H

#include <pthread.h>

#include "format/format.h"
#include "format/intern.h"

/* How a field is wanted. */
struct wr_field_want {
    weir_picture_config picture; /* pictures, and tensors of u8 */
    uint64_t seed;               /* of crops and flips */
    bool convert;                /* tensors: to `dtype`, and nothing else */
    enum weir_dtype dtype;
};

static inline struct wr_field_want wr_want_of(const weir_pipeline_config *cfg)
{
    return (struct wr_field_want){.picture = cfg->picture, .seed = cfg->seed};
}

/* One entry of the field as it is delivered; ret->bytes is 0 where samples
 * differ: then it comes out as it is stored, without a decoder. */
int wr_field_shape(const struct wr_field *f, const struct wr_field_want *want,
                   struct wr_tensor_shape *ret, weir_err *err);
int wr_decoder_new(const struct wr_field *f, const struct wr_field_want *want,
                   struct wr_decoder **ret, weir_err *err);

/* Is its last dimension one of colours? Tensors of u8 are pictures then. */
bool wr_field_has_channels(const weir_field *f);

/* --- samples that are unpacked --- */

/* For each thread; zeroed memory is none. */
int wr_unpack_init(struct wr_unpack *u, const struct wr_schema *s,
                   weir_err *err);
void wr_unpack_done(struct wr_unpack *u);

/* What samples have and no field delivers, by name; of all threads. */
struct wr_left_out {
    pthread_mutex_t lock;   /* guards names */
    struct wr_intern names; /* owned */
};

/* Adds a name, which may hold any bytes; where memory is short it is left out
 * of the list. */
void wr_left_out_add(struct wr_left_out *l, const char *name, size_t len);

/* --- the first tensor or picture alone --- */

int wr_first_shape(const struct wr_index *ix, const weir_pipeline_config *cfg,
                   struct wr_tensor_shape *ret, weir_err *err);
int wr_first_decoder(const struct wr_index *ix, const weir_pipeline_config *cfg,
                     struct wr_decoder **ret, weir_err *err);
/* Checks the part of column 0 that `io` has, sets label and key, and narrows
 * io->bytes to those of that field. */
int wr_first_unpack(const weir_dataset *ds, struct wr_unpack *u,
                    struct wr_sample *io, weir_err *err);

/* --- stored tensors -> tensors as they were asked for --- */

/* In C order and the processor's byte order, however they are stored. As the
 * type that is stored, or another one that was asked for; u8 with channels as
 * the last dimension are pictures: normalized to f32 or f16, and in the layout
 * that pictures have. */

/* Of a field whose dimensions do not vary. */
int wr_tensor_shape(const struct wr_field *f, const struct wr_field_want *want,
                    struct wr_tensor_shape *ret, weir_err *err);
int wr_tensor_decoder_new(const struct wr_field *f,
                          const struct wr_field_want *want,
                          struct wr_decoder **ret, weir_err *err);

/* --- the decoder of fields that are encoded pictures --- */

int wr_pictures_shape(const struct wr_field_want *want,
                      struct wr_tensor_shape *ret, weir_err *err);
int wr_pictures_decoder_new(const struct wr_field_want *want,
                            struct wr_decoder **ret, weir_err *err);

/* Does it end as names of pictures do, of any kind that is known? */
bool wr_is_picture_name(const char *name);

#endif
