/* say.h - sentences with values in them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sentence is a text with values in it, which are named by a path that goes down
 * groups: {result.bytes_per_s:bytes}. Views have theirs in a table
 * (result/value.h), answers in a JSON object.
 *
 *     {path}          as it is: a text, a whole number, "yes" or "no"; of a list
 *                     "a, b"
 *     {path:format}   as the format says, see below
 *     {path:bytes,8} {path:,-8}   in 8 columns, on their right or left side
 *     [of {a}|of {b}|all]   the first of these texts all of whose values are known;
 *                     if there is none, the part vanishes
 *     <a|b|c>         those items all of whose values are known, with ", " between;
 *                     with none left, it is as if a value were not known
 *     {when?this}     one of two texts (or nothing): {count=1?is|are}
 *     {when?this|that}
 *     {?when}         nothing; as a value that is known only if it is so
 *
 * A `when` is "path" (a flag is true, a text or list not empty, a number known),
 * "path=word", "path>number" or "path<number"; with a "!" in front, the opposite.
 * Known is what is neither missing nor null, below 0, nor an empty text or list.
 * A sentence of a view is not said where one of its values is not known; that of an
 * answer is, with "-" for a number.
 *
 * Formats: digits behind the point (0, 1, ...); g, or with so many digits at most
 * (g3); with % percent of a share (1%, g4%); number (three digits), count (1,234,
 * 5.6), millions; bytes (powers of 1000), size (of 1024); time of seconds, as long
 * ones are told; s, ms and us, short times of these units; date, local time of
 * nanoseconds since 1970; plural, an "s" unless it is one; x, a list as "2x3". */
#ifndef WR_REPORT_SAY_H
#define WR_REPORT_SAY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "result/value.h"
#include "report/doc.h"

struct wr_doc;
struct wr_doc_section;

#define WR_SAY_BYTES 1024 /* of a sentence, enough */

/* Among the flags of a group: its values are found without its name, too. */
#define WR_SAY_OPEN 1024

/* A row of a list, which ends with one that has no text. */
struct wr_sentence {
    const char *text;
    const char *when; /* only if all of these are so, with blanks between; NULL:
                         always */
    /* Its name in front of the section; NULL: it is a note. */
    const char *fact;
    /* A fact that is all about the record: of several it has the label of the
     * record for a name, else both. */
    bool whole;
    bool warning;
    bool lines; /* a text among its values has lines: a note each */
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

/* Of JSON: the text, to be freed (NULL: memory is short), and the value at a path,
 * NULL if there is none. */
char *wr_say_json(const json_t *o, const char *text);
json_t *wr_json_at(const json_t *o, const char *path);

/* Appends to a list in buf, after ", " when there is something in it; what
 * does not fit is cut. */
void wr_say(char *buf, size_t cap, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* "." for a text that is to be a sentence and does not end as one, else "". */
const char *wr_say_stop(const char *text);

/* "0.42 ms", "3.2 s", "4 min 10 s", "3 h 20 min". Returns buf. */
char *wr_say_time(double seconds, char *buf, size_t cap);

/* "1,234", "12.3", "0.042": three digits, or all whole ones. Returns buf. */
char *wr_say_number(double v, char *buf, size_t cap);

/* Cells: "12.3 ms" of seconds, "46.9 MB/s" of bytes per second; "-" of what is
 * no number, or not above 0. */
void wr_say_time_cell(struct wr_doc_table *t, double seconds);
void wr_say_rate_cell(struct wr_doc_table *t, double bytes_per_s);

/* "46.9 MB"; "-" of what is no number, or below 0. */
void wr_say_bytes_cell(struct wr_doc_table *t, double bytes);

#endif
