/* view_say.h - words for numbers in the sentences of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_VIEW_SAY_H
#define WR_RECORD_VIEW_SAY_H

#include <stddef.h>

#include "record/doc.h"

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
