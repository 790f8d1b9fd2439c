/* answer.h - what a command answers: values, as JSON and on a screen.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The values have a table (result/value.h): JSON and its schema come from that.
 * What a person sees is a list of parts, whose texts are sentences (say.h) over the
 * same JSON; rows with WR_VAL_INSIDE are for these alone. */
#ifndef WR_REPORT_ANSWER_H
#define WR_REPORT_ANSWER_H

#include <jansson.h>
#include <stdbool.h>

#include "report/doc.h"
#include "result/value.h"

/* One of these, by what is set; texts and titles have values in them. What comes out
 * empty is left out, and a section in which nothing is. */
struct wr_answer_part {
    const char *section; /* a new one begins, with this title; "" without */
    const char *each;    /* a list: a text or a row for each of its entries; a
                            section, whose parts are about that entry */
    const char *fact;    /* the key in front of the text */
    const char *say;     /* a text: a sentence, or of the fact */
    const struct wr_column *table; /* with `each`; its cells are such texts */
    const struct wr_column *below[2]; /* further rows of each entry; left out
                                         where all of their cells are empty */
    const char *which; /* the value with the bits for `only` of the columns */
    bool warns;        /* the sentence stands out; each fact has its key */
};

#define WR_SCREEN(...)                                                         \
    (const struct wr_answer_part[])                                            \
    {                                                                          \
        __VA_ARGS__,                                                           \
        {                                                                      \
            .say = NULL                                                        \
        }                                                                      \
    }

struct wr_answer {
    const char *name; /* of its schema; NULL: it is never JSON */
    const struct wr_vals *of;
    const char *say; /* all of the screen is this sentence; NULL: parts */
    const struct wr_answer_part *screen; /* ends with zeros */
    const char *alone; /* all that JSON has is this list; NULL: all values */
    bool exact;        /* JSON has all digits of numbers, not six */
};

/* Of a struct that `of` tells of. NULL: memory is short. */
json_t *wr_answer_json(const struct wr_answer *a, const void *values);
json_t *wr_answer_schema(const struct wr_answer *a);

/* The screen of JSON with all of the values (NULL: memory is short), and of a
 * struct. */
int wr_answer_show(const struct wr_answer *a, const json_t *all,
                   struct wr_doc_text_style style, FILE *out, weir_err *err);
int wr_answer_print(const struct wr_answer *a, const void *values,
                    struct wr_doc_text_style style, FILE *out, weir_err *err);

#endif
