/* say.h - sentences with measured values in them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sentence is a text in which {path:format} stands for a value of a table
 * (result/value.h); the path goes down groups: {result.bytes_per_s:bytes}. It is
 * not said where one of its values is not known, or below 0. A part in [] vanishes
 * by itself. <a|b|c> are items with ", " between them, of which those vanish whose
 * values are not known; with none left, it is as if a value were not known.
 *
 * Formats: none for a text; digits behind the point (0, 1, ...); g, or with so many
 * digits at most (g3); with % percent of a share (1%, g4%); number (three digits),
 * count (1,234, 5.6); bytes (powers of 1000), size (of 1024); time of seconds, as long
 * ones are told; s, ms and us, short times of these units; plural, an "s" unless
 * it is one. */
#ifndef WR_RECORD_SAY_H
#define WR_RECORD_SAY_H

#include <stdbool.h>
#include <stddef.h>

#include "result/value.h"

struct wr_doc;
struct wr_doc_section;

#define WR_SAY_BYTES 1024 /* of a sentence, enough */

/* Among the flags of a group: its values are found without its name, too. */
#define WR_SAY_OPEN 1024

/* A row of a list, which ends with one that has no text. */
struct wr_sentence {
    const char *text;
    /* Only if all of this is so, with blanks between: "path" (a flag is true, a
     * text is not empty, a number is known), "!path", "path=word", "path>number",
     * "path<number". NULL: always. */
    const char *when;
    /* Its name in front of the section; NULL: it is a note. */
    const char *fact;
    /* A fact that is all about the record: of several it has the label of the
     * record for a name, else both. */
    bool whole;
    bool warning;
};

/* The number at a path of a table; NaN: not known, or the table has none. */
double wr_vals_number(const struct wr_vals *of, const void *values,
                      const char *path);

/* Into buf; false, and "" in it, if it is not to be said. */
bool wr_sentence(const struct wr_sentence *s, const struct wr_vals *of,
                 const void *values, char *buf, size_t cap);

/* All that are to be said, as facts and notes; "label: " stands in front of
 * notes, "label, " of facts, where it is not "". How many. */
size_t wr_sentences(struct wr_doc_section *s, const char *label,
                    const struct wr_sentence *list, const struct wr_vals *of,
                    const void *values);

/* On top of the page, at most `room`; "label: " stands in front of each. */
size_t wr_sentences_top(struct wr_doc *d, const char *label,
                        const struct wr_sentence *list,
                        const struct wr_vals *of, const void *values,
                        size_t room);

#endif
