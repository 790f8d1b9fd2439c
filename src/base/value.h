/* value.h - one value of a setting or an option, from text and to text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_VALUE_H
#define WR_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "weir/error.h"

/* A named value; a list ends with a NULL name. */
struct wr_choice {
    const char *name;
    int value;
    const char *help; /* optional: one line on what it means */
};

enum wr_value_type {
    WR_VALUE_BOOL = 1, /* bool: yes, no */
    WR_VALUE_YES,      /* the same as an int */
    WR_VALUE_U32,      /* uint32_t; `choices` are words besides numbers */
    WR_VALUE_U64,      /* uint64_t */
    WR_VALUE_BYTES,    /* uint64_t: 4096, 64KiB, 1.5GB */
    WR_VALUE_RATE,     /* uint64_t, bytes per second: 2GB/s */
    WR_VALUE_DOUBLE,   /* double */
    WR_VALUE_FLOATS,   /* float[count]: 0.08,1 */
    WR_VALUE_SIDES,    /* uint32_t[2]: 224x224, or 224 for both */
    WR_VALUE_CHOICE,   /* int, or an enum: one of `choices` */
    WR_VALUE_TEXT,     /* const char *, borrowed */
};

struct wr_value {
    enum wr_value_type type;
    unsigned count;  /* of FLOATS; 0: one */
    bool odd;        /* U32: 1 and 3, not 2 */
    double min, max; /* of numbers (exact below 2^53); max 0: no limit */
    const struct wr_choice *choices;
};

/* Parses `text` into `field`; the message says what is wrong with the text:
 * "'x' is not a whole number". */
int wr_value_parse(const struct wr_value *v, const char *text, void *field,
                   weir_err *err);

/* The value as wr_value_parse reads it; returns its length as snprintf does. */
size_t wr_value_text(const struct wr_value *v, const void *field, char *buf,
                     size_t cap);

/* The value of the choice called `text`, or a failure naming all of them. */
int wr_choice_find(const struct wr_choice *choices, const char *text,
                   int *ret_value, weir_err *err);

/* The name of a choice's value; "?" when there is none. */
const char *wr_choice_name(const struct wr_choice *choices, int value);

/* "a, b or c" into buf, which is returned. */
char *wr_choice_join(const struct wr_choice *choices, char *buf, size_t cap);

#endif
