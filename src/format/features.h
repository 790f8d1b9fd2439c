/* features.h - the features of a tf.train.Example, by their names.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Example{features=1: Features{feature=1: map<string, Feature>}}, a Feature
 * being bytes_list=1, float_list=2 or int64_list=3, each with value=1. */
#ifndef WR_FORMAT_FEATURES_H
#define WR_FORMAT_FEATURES_H

#include "format/protobuf.h"

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

#endif
