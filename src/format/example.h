/* example.h - tf.train.Example: the picture, label and key in it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The message is read where it lies, in one pass, without memory of its own:
 * Example{features=1: Features{feature=1: map<string, Feature>}}, a Feature
 * being bytes_list=1, float_list=2 or int64_list=3, each with value=1. */
#ifndef WR_FORMAT_EXAMPLE_H
#define WR_FORMAT_EXAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "weir/dataset.h"

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

/* Features that say the class, the best first; NULL past the end. */
const char *wr_example_label_name(unsigned k);

/* WEIR_EFORMAT: damaged. ret->picture is NULL if there is none in it. */
int wr_example_read(const void *bytes, size_t len, struct wr_example *ret,
                    weir_err *err);
/* WEIR_EFORMAT: damaged, or there is no picture in it; the message then names
 * the features that there are. */
int wr_example_parse(const void *bytes, size_t len, struct wr_example *ret,
                     weir_err *err);

#endif
