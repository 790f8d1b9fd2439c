/* doc.h - what a report shows, before it is text, CSV or a page.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Records become one document: sections with facts, notes, tables and charts.
 * The three renderers know nothing of records, and who builds a document
 * knows nothing of how it will look. Memory that runs out is remembered:
 * wr_doc_failed tells, nothing else needs a check, and every function takes
 * the NULL that an earlier one returned. Texts are copied; bytes that are not
 * UTF-8 and control characters, also of direction, become \xNN. */
#ifndef WR_REPORT_DOC_H
#define WR_REPORT_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/columns.h"
#include "weir/error.h"

enum wr_doc_chart_kind {
    WR_DOC_BARS,    /* labels on x; one group of bars a label. With log_y these
                       are dots: bars would have no zero to stand on */
    WR_DOC_STACKED, /* the same, the series on top of each other */
    WR_DOC_LINES,   /* points (x, y) joined; x may be logarithmic */
    WR_DOC_AREA,    /* the same, filled */
    WR_DOC_POINTS,  /* points alone; marked ones stand out */
    WR_DOC_HEAT,    /* a series is a row of cells, which begin at their x and
                       are as wide as the step to the next; y is the colour */
};

/* What a cell or a verdict says: a renderer may colour it. */
enum wr_doc_tone { WR_DOC_PLAIN, WR_DOC_GOOD, WR_DOC_BAD };

/* What a series of BARS is; it shows without colours too. */
enum wr_doc_role {
    WR_DOC_MEASURED,
    WR_DOC_REFERENCE, /* what others state: hatched, in grey */
    WR_DOC_CEILING,   /* what is possible: a dash above the bars */
};

struct wr_doc;
struct wr_doc_section;
struct wr_doc_table;
struct wr_doc_chart;
struct wr_doc_series;
struct wr_doc_lanes;

/* What a chart is called and shows. */
struct wr_doc_chart_spec {
    enum wr_doc_chart_kind kind;
    const char *title;
    const char *x, *y; /* names of the axes with units: "batch wait (ms)" */
    const char *note;  /* one sentence below it, may be NULL */
    bool log_x, log_y; /* what is not above 0 is not drawn then */
    double most; /* y that the axis reaches at least, so that charts beside each
                    other compare; 0: its own */
};

struct wr_doc *wr_doc_new(const char *title, const char *subtitle);
void wr_doc_free(struct wr_doc *d);
bool wr_doc_failed(const struct wr_doc *d);

/* For who builds it: memory for something in it ran out. */
void wr_doc_fail(struct wr_doc *d);

/* The top of the page: sentences, and figures that stand out ("3 %" of the
 * label "K4000 waits"). */
void wr_doc_summary(struct wr_doc *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void wr_doc_headline(struct wr_doc *d, const char *label, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct wr_doc_section *wr_doc_section(struct wr_doc *d, const char *title);

/* The question that a section answers; what it is to show, in front of its
 * charts; and whether it does ("holds") and why, behind them. Claims and
 * verdicts are also listed on top. */
void wr_doc_lead(struct wr_doc_section *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void wr_doc_claim(struct wr_doc_section *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void wr_doc_verdict(struct wr_doc_section *s, enum wr_doc_tone tone,
                    const char *verdict, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* "Host: ..." lines in front of a section. */
void wr_doc_fact(struct wr_doc_section *s, const char *key, const char *fmt,
                 ...) __attribute__((format(printf, 3, 4)));

/* A sentence worth reading; a warning stands out. */
void wr_doc_note(struct wr_doc_section *s, bool warning, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* `columns` are headings, each with '<' (left) or '>' (right, for numbers) in
 * front and '|' between: "<device|>threads|>MB/s". Cells go row by row. */
struct wr_doc_table *wr_doc_table(struct wr_doc_section *s, const char *title,
                                  const char *columns);
/* The columns without `only`, or with one of the bits of `which`. */
struct wr_doc_table *wr_doc_table_of(struct wr_doc_section *s,
                                     const char *title,
                                     const struct wr_column *list,
                                     unsigned which);
void wr_doc_cell(struct wr_doc_table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A table that few need: a page folds it. */
void wr_doc_fold(struct wr_doc_table *t);

/* A cell with a number: "12,345.6" for people, the number itself in CSV. NaN
 * is no number: "-" and nothing. */
void wr_doc_number(struct wr_doc_table *t, double value, unsigned decimals);

/* The same with "%" behind it for people. */
void wr_doc_percent(struct wr_doc_table *t, double value, unsigned decimals);

/* A cell with a number that people read as `fmt` makes it: "1.2 GB/s". */
void wr_doc_shown(struct wr_doc_table *t, double value, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The cell added last says something good or bad. */
void wr_doc_tone(struct wr_doc_table *t, enum wr_doc_tone tone);

struct wr_doc_chart *wr_doc_chart(struct wr_doc_section *s,
                                  const struct wr_doc_chart_spec *spec);

/* BARS and STACKED: the labels on x; every series has a value for each. */
void wr_doc_label(struct wr_doc_chart *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct wr_doc_series *wr_doc_series(struct wr_doc_chart *c, const char *name);
void wr_doc_series_is(struct wr_doc_series *s, enum wr_doc_role role);

/* BARS and STACKED: the value at the next label; NaN for none. */
void wr_doc_value(struct wr_doc_series *s, double y);

/* The same with a whisker from low to high; none when one of them is NaN, or
 * both are the same. */
void wr_doc_value_range(struct wr_doc_series *s, double y, double low,
                        double high);

/* LINES, AREA and POINTS. */
void wr_doc_point(struct wr_doc_series *s, double x, double y);

/* The point added last is one to look at: a stall (POINTS), a saturation
 * (LINES). */
void wr_doc_mark(struct wr_doc_series *s);

/* LINES, AREA and POINTS: a stretch of x with a name, as a run. */
void wr_doc_band(struct wr_doc_chart *c, double from, double to,
                 const char *name);

/* Lanes over time: who does what, stretch by stretch. */
struct wr_doc_lanes_spec {
    const char *title;
    const char *x;     /* the axis with its unit: "time (ms)" */
    const char *thing; /* what a span is numbered by: "batch" */
    const char *note;  /* one sentence below it, may be NULL */
    double most; /* x that the axis reaches at least, so that lanes above each
                    other compare; 0: its own */
};

/* How a span is drawn; it shows without colours too. */
enum wr_doc_look {
    WR_DOC_LOOK_DOTTED,  /* reading */
    WR_DOC_LOOK_STRIPED, /* decoding */
    WR_DOC_LOOK_SOLID,   /* computing: what it is all for */
    WR_DOC_LOOK_THIN,    /* it is there, nothing happens */
    WR_DOC_LOOK_HATCHED, /* waiting: lost time */
    WR_DOC_LOOK_CROSSED, /* saving */
    WR_DOC_LOOKS
};

struct wr_doc_span {
    double from, to;
    size_t lane; /* 0: the first one */
    enum wr_doc_look look;
    double number; /* of its thing; NaN: none */
};

struct wr_doc_lanes *wr_doc_lanes(struct wr_doc_section *s,
                                  const struct wr_doc_lanes_spec *spec);
void wr_doc_lane(struct wr_doc_lanes *l, const char *name);

/* What a look means in these lanes ("decoding"); looks without are "". */
void wr_doc_lanes_look(struct wr_doc_lanes *l, enum wr_doc_look look,
                       const char *name);

/* In the order of their beginnings; those of one lane may overlap. What ends
 * before it begins, or is in no lane, is left out. */
void wr_doc_span(struct wr_doc_lanes *l, const struct wr_doc_span *span);

/* A table on its own, which a command lists: its columns as above, in a document
 * that printing frees. NULL: memory is short, which printing says. */
struct wr_doc_table *wr_doc_list(const char *columns);
struct wr_doc_table *wr_doc_list_of(const struct wr_column *list);

/* The renderers. `out` is checked by the caller (ferror). */
struct wr_doc_text_style {
    unsigned width; /* columns of the terminal */
    bool utf8, colour;
    bool numbers; /* charts as tables of their numbers */
    bool bare;    /* no headings of the document: what a command measured */
    bool whole;   /* tables and sentences may be wider: it is no terminal */
    bool list; /* what a command found: no headings of the document, nothing is
                     cut, and the first line is not blank */
};
void wr_doc_print_text(const struct wr_doc *d,
                       const struct wr_doc_text_style *style, FILE *out);
int wr_doc_print_list(struct wr_doc_table *t, size_t indent,
                      const struct wr_doc_text_style *style, FILE *out,
                      weir_err *err);
void wr_doc_print_csv(const struct wr_doc *d, FILE *out);
/* Why this build makes no pages, or NULL when it does. */
const char *wr_doc_html_missing(void);
int wr_doc_print_json(const struct wr_doc *d, FILE *out, weir_err *err);
/* WEIR_ENOTSUP when weir was built without the chart library. */
int wr_doc_print_html(const struct wr_doc *d, FILE *out, weir_err *err);

#endif
