/* doc_private.h - how a document is kept, for its renderers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every text is valid UTF-8 without control characters, never NULL. A renderer
 * gets a document that is whole: tables may end in the middle of a row (what
 * is missing is blank), series may have fewer values than there are labels
 * (what is missing is NaN). Numbers may be NaN or infinite. All memory is the
 * document's, and goes with it. */
#ifndef WR_REPORT_DOC_PRIVATE_H
#define WR_REPORT_DOC_PRIVATE_H

#include <stdarg.h>

#include "report/doc.h"

struct wr_doc_fact {
    char *key, *text;
};

struct wr_doc_note {
    char *text;
    bool warning;
};

struct wr_doc_cell {
    char *text;     /* as a person reads it */
    double value;   /* of a number, else NaN */
    bool is_number; /* made by wr_doc_number */
    enum wr_doc_tone tone;
};

struct wr_doc_column {
    char *heading;
    bool right;     /* numbers */
    unsigned spare; /* not needed on a narrow terminal: 2 goes first, then 1 */
};

struct wr_doc_table {
    struct wr_doc *doc; /* borrowed */
    char *title;
    struct wr_doc_column *columns;
    size_t column_count, column_cap;
    struct wr_doc_cell *cells; /* row by row */
    size_t cell_count, cell_cap;
    bool folded;
};

struct wr_doc_series {
    struct wr_doc *doc; /* borrowed */
    char *name;
    double *x, *y; /* x of a value is the number of its label */
    bool *marked;
    size_t count, x_cap, y_cap, marked_cap;
    size_t marks; /* how many are marked */
    enum wr_doc_role role;
    double *range;                 /* low and high of each value, by turns */
    size_t range_count, range_cap; /* values that have both, or NaN */
};

/* A stretch of x with a name of its own: a run. */
struct wr_doc_band {
    double from, to;
    char *name;
};

struct wr_doc_chart {
    struct wr_doc *doc; /* borrowed */
    enum wr_doc_chart_kind kind;
    char *title, *x, *y, *note;
    bool log_x, log_y;
    char **labels;
    size_t label_count, label_cap;
    struct wr_doc_series **series;
    size_t series_count, series_cap;
    struct wr_doc_band *bands;
    size_t band_count, band_cap;
    double most; /* y that its axis reaches at least */
};

struct wr_doc_lanes {
    struct wr_doc *doc; /* borrowed */
    char *title, *x, *thing, *note;
    char *looks[WR_DOC_LOOKS]; /* what they mean */
    char **names;              /* of the lanes */
    size_t lane_count, lane_cap;
    struct wr_doc_span *spans;
    size_t span_count, span_cap;
    double most; /* x that the axis reaches at least */
};

/* One of them, in the order in which they were made. */
struct wr_doc_item {
    struct wr_doc_table *table;
    struct wr_doc_chart *chart;
    struct wr_doc_lanes *lanes;
};

struct wr_doc_section {
    struct wr_doc *doc; /* borrowed */
    char *title;
    struct wr_doc_fact *facts;
    size_t fact_count, fact_cap;
    struct wr_doc_note *notes;
    size_t note_count, note_cap;
    struct wr_doc_item *items;
    size_t item_count, item_cap;
    char *lead;    /* the question; NULL: none */
    char *claim;   /* what is to be shown; NULL: nothing */
    char *verdict; /* "holds"; NULL: there is none */
    char *why;     /* with the verdict */
    enum wr_doc_tone tone;
};

/* A figure on top of the page. */
struct wr_doc_headline {
    char *label, *text;
};

struct wr_doc {
    char *title, *subtitle;
    struct wr_doc_section **sections;
    size_t section_count, section_cap;
    char **summary; /* sentences */
    size_t summary_count, summary_cap;
    struct wr_doc_headline *headlines;
    size_t headline_count, headline_cap;
    struct wr_doc_memory *memory; /* owned: all of the above */
    bool failed;                  /* it ran out */
};

/* Zeroed memory that lives as long as the document; NULL: short, which the
 * document remembers. */
void *wr_doc_alloc(struct wr_doc *d, size_t size);

/* A table, chart, ... and room in the section for it; NULL: memory is short. */
void *wr_doc_item_new(struct wr_doc_section *s, size_t size);

/* Makes room for one more; the document remembers when there is none. */
bool wr_doc_grow(struct wr_doc *d, void *array, size_t *cap, size_t count,
                 size_t size);

/* A copy that every renderer can show; NULL when memory is short. */
char *wr_doc_copy(struct wr_doc *d, const char *s);

/* Values under labels, not points with an x of their own. */
bool wr_doc_is_bars(const struct wr_doc_chart *c);

/* Nothing in it can be drawn: it is left out. */
bool wr_doc_is_empty(const struct wr_doc_chart *c);

/* The ends of the whisker of value k; NaN where it has none. */
double wr_doc_low(const struct wr_doc_series *s, size_t k);
double wr_doc_high(const struct wr_doc_series *s, size_t k);

#endif
