/* example.h - tf.train.Example: its features; the picture, label and key.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_EXAMPLE_H
#define WR_FORMAT_EXAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/dataset.h"

/* --- fields of a protobuf message, read where they lie --- */

struct wr_pb_span {
    const uint8_t *at; /* borrowed; NULL: there is none */
    size_t len;
};

/* --- the features of a tf.train.Example, by their names --- */

/* Example{features=1: Features{feature=1: map<string, Feature>}}, a Feature
 * being bytes_list=1, float_list=2 or int64_list=3, each with value=1. */

enum wr_feature_kind {
    WR_FEATURE_NONE,
    WR_FEATURE_BYTES,
    WR_FEATURE_FLOAT,
    WR_FEATURE_INT,
};

struct wr_feature {
    struct wr_pb_span name;
    enum wr_feature_kind kind;
    struct wr_pb_span list; /* the BytesList, FloatList or Int64List */
};

/* Calls `fn` for each feature until it returns false. False then, and when the
 * bytes are no Example. */
bool wr_features_each(struct wr_pb_span example,
                      bool (*fn)(void *arg, const struct wr_feature *f),
                      void *arg);

/* Has it lists of features, as a tf.train.SequenceExample does? */
bool wr_features_are_sequence(struct wr_pb_span example);

/* The number of values; false: the list is damaged. */
bool wr_feature_count(const struct wr_feature *f, uint64_t *ret);

/* The first value of bytes; {NULL}: there is none. */
bool wr_feature_bytes(const struct wr_feature *f, struct wr_pb_span *ret);

/* All values: int64_t or float, wr_feature_count of them, in the machine's
 * order. `to` needs no alignment. */
void wr_feature_numbers(const struct wr_feature *f, void *to);

/* --- tf.train.Example: the picture, label and key in it --- */

/* The message is read where it lies, in one pass, without memory of its own:
 * Example{features=1: Features{feature=1: map<string, Feature>}}, a Feature
 * being bytes_list=1, float_list=2 or int64_list=3, each with value=1. */

/* Names of features, also used for writing. */
#define WR_EXAMPLE_ENCODED  "image/encoded"
#define WR_EXAMPLE_LABEL    "image/class/label"
#define WR_EXAMPLE_TEXT     "image/class/text"
#define WR_EXAMPLE_FILENAME "image/filename"
#define WR_EXAMPLE_FORMAT   "image/format"
#define WR_EXAMPLE_HEIGHT   "image/height"
#define WR_EXAMPLE_WIDTH    "image/width"

/* All pointers are into the message. */
struct wr_example {
    const uint8_t *picture;
    size_t picture_len;
    uint32_t label;  /* or WEIR_NO_LABEL */
    const char *key; /* the file's name without a picture's ending; no NUL
                        behind it; NULL: none */
    size_t key_len;
};

/* WEIR_EFORMAT: damaged. ret->picture is NULL if there is none in it. */
int wr_example_read(const void *bytes, size_t len, struct wr_example *ret,
                    weir_err *err);
/* WEIR_EFORMAT: damaged, or there is no picture in it; the message then names
 * the features that there are. */
int wr_example_parse(const void *bytes, size_t len, struct wr_example *ret,
                     weir_err *err);

#endif
