/* guess.h - what a name and some values say: a label, and what kind of field.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formats look at columns, members, features and endings; what they make of
 * these is decided here, so that a name means the same wherever it stands. */
#ifndef WR_FORMAT_GUESS_H
#define WR_FORMAT_GUESS_H

#include "format/schema.h"

/* --- the label, by its name --- */

/* Where a name stands. */
enum wr_label_place {
    WR_LABEL_COLUMN = 1,  /* columns of CSV, members of JSON, arrays */
    WR_LABEL_BESIDE = 2,  /* beside a picture: members of JSON in an archive */
    WR_LABEL_FEATURE = 4, /* the same as a feature of a tf.train.Example */
    WR_LABEL_ENDING = 8,  /* endings of an archive's members */
};

struct wr_label_name {
    const char *text;
    size_t len;
    unsigned places; /* where it says the class */
};

/* All such names, the best first. */
#define WR_LABEL_NAMES 9u
extern const struct wr_label_name wr_label_names[WR_LABEL_NAMES];

/* Name `k` of those that say the class at `place`; NULL past the last. */
const char *wr_label_name(enum wr_label_place place, unsigned k);

/* What label=NAME in `schema` (NULL: nothing) calls the label, in `buf`, or
 * NULL. A field that is called "label" and declared (label=scalar:i64) is not
 * that. */
const char *wr_label_said(const char *schema, char buf[WR_FIELD_NAME]);

/* --- the label, by its value --- */

/* A class from 0 on; -1 is WEIR_NO_LABEL. False: it is neither. */
static inline bool wr_label_of_number(int64_t value, uint32_t *ret)
{
    if (value < -1 || value >= WEIR_NO_LABEL)
        return false;
    *ret = value < 0 ? WEIR_NO_LABEL : (uint32_t)value;
    return true;
}

/* The same of all of a text, "7" or "-1". */
bool wr_label_of_text(const char *text, size_t len, uint32_t *ret);

/* The class that a number of i64 says; WEIR_NO_LABEL: none, or not one. */
uint32_t wr_label_of_bytes(const void *bytes, size_t len);

/* --- the kind of a field, by its values --- */

/* Where as many values are words as are numbers, words stand for numbers that
 * are missing or broken. */
static inline bool wr_guess_words(unsigned words, unsigned numbers)
{
    return words > numbers;
}

/* A field of a kind. Bytes and pictures are u8; of bytes the length varies. */
struct wr_field wr_guess_field(const char *name, enum weir_field_kind kind,
                               enum weir_dtype dtype);

/* Dimensions of a tensor; those of 0 vary. */
void wr_guess_dims(struct wr_field *f, const uint64_t *dims, uint32_t ndim);

#endif
