/* arrays.h - the fields of a batch, and where each lies in its buffer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A batch has one buffer. Each field that it delivers has an array in it,
 * aligned to 64 bytes, of one entry per sample; one whose samples differ in
 * length has the array of their offsets there (varying.h). */
#ifndef WR_PIPELINE_ARRAYS_H
#define WR_PIPELINE_ARRAYS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/decode.h"
#include "format/format.h"
#include "weir/pipeline.h"

#define WR_NO_ARRAY UINT_MAX

struct wr_array {
    const struct wr_field *field; /* borrowed from the data set */
    unsigned number;              /* of it in the schema */
    unsigned columns;             /* that it lies in; 0: in the index */
    struct wr_tiles tiles;        /* if it is tiled: its part of each */
    struct wr_tensor_shape shape; /* of one sample, as it is delivered */
    const weir_field_config *own; /* borrowed; NULL: as the rest */
    bool beside;                  /* a tensor beside pictures, or a mask beside
                                     a tensor: what is asked of those is not
                                     asked of it */
    bool delivered;               /* else it is read and dropped (stages) */
    bool as_bytes, padded;        /* as weir_field_config has them */
    size_t row; /* bytes that a sample of any length is so many times; 0: all
                   are equal */
    unsigned varying; /* its number among those, or WR_NO_ARRAY */
    size_t offset;    /* of its array in a buffer */
    size_t lengths;   /* padded: of the array of its lengths */
};

struct wr_arrays {
    const struct wr_index *index; /* borrowed */
    struct wr_array *of;          /* owned: fields that are wanted */
    unsigned count;
    unsigned delivered, varying; /* how many of them are so */
    unsigned data, label;        /* those that have shortcuts, or WR_NO_ARRAY */
    unsigned columns[WR_INDEX_COLUMNS]; /* that they lie in: part k of a sample
                                           is that of column columns[k] */
    unsigned parts;
    const struct wr_array *only; /* the one that is all that a sample has, but
                                    for what the index knows and labels; NULL:
                                    there are several, none, or it varies */
    bool named;                  /* errors say of which field they are */
    size_t sample_bytes; /* of what a decoded cache keeps: fields that do not
                            vary and are neither of the index nor class
                            numbers */
    size_t bytes;        /* of a buffer */
};

/* The fields of `ds` that `cfg` asks for; wr_arrays_done also after a
 * failure. */
int wr_arrays_init(struct wr_arrays *a, const weir_dataset *ds,
                   const weir_pipeline_config *cfg, weir_err *err);
void wr_arrays_done(struct wr_arrays *a);

/* The place of a sample's field in `buffer`. */
static inline void *wr_array_at(const struct wr_array *f, void *buffer,
                                uint32_t slot)
{
    return (uint8_t *)buffer + f->offset + slot * f->shape.bytes;
}

/* The lengths of the samples of a padded field. */
static inline uint64_t *wr_array_lengths(const struct wr_array *f, void *buffer)
{
    return (uint64_t *)(void *)((uint8_t *)buffer + f->lengths);
}

/* How its field is wanted. */
struct wr_field_want wr_array_want(const struct wr_array *f,
                                   const weir_pipeline_config *cfg);

/* The first array of a column that is wanted. */
const struct wr_array *wr_arrays_in(const struct wr_arrays *a, unsigned column);

/* Can all parts be read straight into their places? */
bool wr_arrays_are_direct(const struct wr_arrays *a);

/* The class number that the index has for sample `id`, or WEIR_NO_LABEL;
 * `first` is the first part of the sample. */
uint32_t wr_arrays_label(const struct wr_arrays *a, uint64_t id,
                         const struct wr_part *first);

/* What a cached sample depends on besides the data set (settings.h): what is
 * done to which fields, or which parts there are. Of the first picture or
 * tensor alone it is what it was before there were fields. */
uint64_t wr_arrays_key(const struct wr_arrays *a,
                       const weir_pipeline_config *cfg);

/* Copies a sample to another place of the same buffer, but for what varies. */
void wr_arrays_move(const struct wr_arrays *a, void *buffer, uint32_t from,
                    uint32_t to);

/* Writes what the index knows of sample `id`, and its label: a class number or
 * WEIR_NO_LABEL. */
void wr_arrays_set_indexed(const struct wr_arrays *a, void *buffer,
                           uint32_t slot, uint64_t id, uint32_t label);
/* Writes the label of a sample that does not say it itself, as it is cached. */
void wr_arrays_set_label(const struct wr_arrays *a, void *buffer, uint32_t slot,
                         uint32_t label);

/* Is this what the place for the label says? */
bool wr_arrays_is_label(const struct wr_arrays *a, void *buffer, uint32_t slot,
                        uint32_t label);

/* All fields of one sample behind each other (a->sample_bytes), and back. */
void wr_arrays_gather(const struct wr_arrays *a, void *buffer, uint32_t slot,
                      uint8_t *ret);
void wr_arrays_scatter(const struct wr_arrays *a, void *buffer, uint32_t slot,
                       const uint8_t *bytes);

/* What the consumer sees of a batch of pub->count samples: fills
 * ret[a->delivered], and the shortcuts of `pub`. What varies gets its data when
 * it is joined. */
void wr_arrays_publish(const struct wr_arrays *a, const void *buffer,
                       weir_batch_field *ret, weir_batch *pub);

#endif
