/* pivot.h - values by series and label, drawn as bars or lines.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows of records come in any order: each says to which series (a device, a
 * record) and to which label (a number of threads) its value belongs. Begins
 * zeroed. */
#ifndef WR_REPORT_PIVOT_H
#define WR_REPORT_PIVOT_H

#include "report/doc.h"

#define WR_PIVOT_SERIES_MAX 240 /* what is more is left out, and said */
#define WR_PIVOT_CHART_MAX  8   /* series in one chart, as there are colours */
#define WR_PIVOT_LABELS_MAX 64

struct wr_pivot_name {
    char *text;            /* owned */
    double at;             /* where on the axis; orders labels */
    enum wr_doc_role role; /* of a series */
};

struct wr_pivot_entry {
    size_t series, label;
    double value, low, high; /* the ends of a whisker, or NaN */
    bool marked;
};

struct wr_pivot {
    struct wr_pivot_name *series, *labels; /* owned */
    size_t series_count, series_cap, label_count, label_cap;
    struct wr_pivot_entry *v; /* owned */
    size_t count, cap;
    bool cut;    /* some are left out */
    bool failed; /* memory ran out */
};

/* `at`: the label's place, x of lines; NaN: after those added before. The
 * first value of a series and label counts. */
void wr_pivot_add(struct wr_pivot *p, const char *series, const char *label,
                  double at, double value);

/* The value added last is one to look at. */
void wr_pivot_mark(struct wr_pivot *p);

/* What the series of the value added last is (BARS). */
void wr_pivot_role(struct wr_pivot *p, enum wr_doc_role role);

/* The value added last has a whisker (BARS). */
void wr_pivot_range(struct wr_pivot *p, double low, double high);

/* Charts of it, none when there is no number in it; empties it. */
void wr_pivot_draw(struct wr_pivot *p, struct wr_doc *d,
                   struct wr_doc_section *s,
                   const struct wr_doc_chart_spec *spec);

#endif
