/* view.h - from records to a document: one view a command.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A view is one file with one table, and one line in view.c. It gets all
 * records of its command and adds sections; it must bear any JSON. */
#ifndef WR_RECORD_VIEW_H
#define WR_RECORD_VIEW_H

#include "result/cases.h"
#include "record/doc.h"

/* Points of all series of one kind of chart together, and of one series: so a
 * page stays small however many records there are. */
#define WR_VIEW_POINTS        60000
#define WR_VIEW_SERIES_POINTS 2000
#define WR_VIEW_ROWS          5000 /* rows of a table */
#define WR_VIEW_NAME          300  /* bytes of a label, enough */

struct wr_view {
    const char *command; /* of its records */
    /* The most important first: at most `room` sentences on top of the page,
     * and as many figures. NULL: nothing. */
    void (*summarize)(struct wr_doc *d, const struct wr_view_record *r,
                      size_t n, size_t room);
    void (*build)(struct wr_doc *d, const struct wr_view_record *r, size_t n);
    /* What the command itself prints of one record: tables and words. */
    void (*result)(struct wr_doc *d, const struct wr_view_record *r);
    bool numbers; /* then charts are tables of their numbers */
};

/* The view of a command; one of plain facts when it is not known. */
const struct wr_view *wr_view_find(const char *command);

/* The place of a command on a page: conclusions first, unknown ones last. */
size_t wr_view_order(const char *command);

/* A section of these records; its title says when devices were emulated. */
struct wr_doc_section *wr_view_section(struct wr_doc *d, const char *title,
                                       const struct wr_view_record *r,
                                       size_t n);

/* What a record that is alone was made on; of several that stands once, in a
 * section of its own. */
void wr_view_host(struct wr_doc_section *s, const struct wr_view_record *r);
void wr_view_hosts(struct wr_doc *d, const struct wr_view_record *r, size_t n);

/* "emulated hdd", "nvme0n1 (Model), ext4"; "" when it is not known. */
char *wr_view_device(const json_t *record, char *buf, size_t cap);

/* Whether its data or tiers were on emulated devices. */
bool wr_view_is_emulated(const json_t *record);

/* Warns, first of all, of records that were made while others had the cores. */
void wr_view_starved(struct wr_doc_section *s, const struct wr_view_record *r,
                     size_t n);

/* Whether all of it, or one of its cases, was. */
bool wr_view_was_starved(const json_t *record);

/* "other programs had 1.1 of 2 cores, this one 0.8" */
struct wr_cores_values;
char *wr_cores_text(const struct wr_cores_values *c, char *buf, size_t cap);

/* A section with the samples that could not be read, by name: `bad` and
 * `bad_count` (of all epochs) of a record or a case. */
void wr_view_bad(struct wr_doc *d, const json_t *o);

/* Says when a table has not all of its rows: "cases". */
void wr_view_cut(struct wr_doc_section *s, const char *rows, size_t count);

/* Points a series may have when there are so many. */
size_t wr_view_share(size_t series_count);

#endif
