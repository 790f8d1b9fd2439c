/* chart.h - charts by rule: which values of the rows of a section are drawn.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_CHART_H
#define WR_REPORT_CHART_H

#include "report/view.h"

/* A list ends with one that has no key. */
struct wr_chart_series {
    const char *key;  /* path of the value (say.h), or a column */
    const char *name; /* in the chart */
    double unit;      /* it is divided by; 0: 1 */
};

#define WR_SERIES(...)                                                         \
    (const struct wr_chart_series[])                                           \
    {                                                                          \
        __VA_ARGS__,                                                           \
        {                                                                      \
            NULL                                                               \
        }                                                                      \
    }

/* It is left out if there is nothing to draw. */
struct wr_chart_rule {
    struct wr_doc_chart_spec is;
    const struct wr_chart_series *series;
    bool if_any;  /* series are left out that have nothing but 0 */
    bool ceiling; /* BARS: the last series is what is possible */

    /* Of rows: an item is a row, or one of a list that rows have. */
    enum wr_column_from from; /* CASE, MEDIAN; RUN: one of the list */
    const struct wr_vals *of; /* the table of an item */
    size_t list;              /* RUN: where it lies in a row's values; 0: its
                                 runs that count */
    size_t least, most;       /* items that are needed, and drawn; 0: any */
    bool (*wanted)(const struct wr_case *row); /* NULL: all */
    /* What an item is called, as a label, or of POINTS and LINES as a series; of
     * series with a `by`, what that is called ("": as the series). */
    const char *(*label)(const struct wr_row *r, char *buf, size_t cap);
    const char *(*by)(const struct wr_row *r, char *buf, size_t cap);
    double (*number)(const struct wr_row *r); /* of series with the key "" */
    bool (*marked)(const struct wr_row *r);   /* POINTS, LINES; or NULL */
    bool apart;    /* a chart for each record, which its title names */
    const char *x; /* path; POINTS and LINES have it */
    const char
        *target; /* path in a row's values: a line, if it is that of all */

    /* Of the first record's JSON: series are columns of the object at this path,
     * beside the column `x`. */
    const char *columns;
    bool gaps; /* what is not known between the points shows */
};

/* NULL: there was nothing to draw, or it is drawn as more than one. */
struct wr_doc_chart *wr_chart_draw(struct wr_scope *v,
                                   const struct wr_chart_rule *rule);

/* One column of a table as such a rule has them, into a chart that begins as NULL;
 * of `limit` points. */
void wr_chart_column(struct wr_scope *v, const struct wr_chart_rule *rule,
                     const json_t *table, const struct wr_chart_series *s,
                     size_t limit, struct wr_doc_chart **chart);

/* For `label` and `by`: what tells a case from the others, or "all"; the label of
 * its record; the same where there are several, else "", or "this run"; the number
 * of a run. */
const char *wr_chart_case(const struct wr_row *r, char *buf, size_t cap);
const char *wr_chart_record(const struct wr_row *r, char *buf, size_t cap);
const char *wr_chart_records(const struct wr_row *r, char *buf, size_t cap);
const char *wr_chart_run(const struct wr_row *r, char *buf, size_t cap);
const char *wr_chart_place(const struct wr_row *r, char *buf, size_t cap);

#endif
