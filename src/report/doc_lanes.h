/* doc_lanes.h - lanes over time, for the renderers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_DOC_LANES_H
#define WR_REPORT_DOC_LANES_H

#include "report/doc_private.h"

#define WR_DOC_ROWS_MAX 4 /* of a lane; what overlaps more is drawn over */

/* Nothing in them can be drawn: they are left out. */
bool wr_doc_lanes_are_empty(const struct wr_doc_lanes *l);

/* Where the axis begins and ends. */
void wr_doc_lanes_ends(const struct wr_doc_lanes *l, double *ret_from,
                       double *ret_to);

bool wr_doc_lanes_has(const struct wr_doc_lanes *l, enum wr_doc_look look);

/* Spans of a lane that overlap lie below each other. */
struct wr_doc_rows {
    size_t *counts; /* owned: rows of each lane, at least 1 */
    size_t *first;  /* owned: the first row of each lane */
    size_t *row;    /* owned: of each span, among all */
    size_t total;
};

/* False: memory is short. */
bool wr_doc_rows_init(struct wr_doc_rows *r, const struct wr_doc_lanes *l);
void wr_doc_rows_done(struct wr_doc_rows *r);

/* What a cell of a row shows. */
struct wr_doc_lane_cell {
    bool any;
    enum wr_doc_look look;
    double number;
};

/* Row number `row` of all in `columns` cells, from one end of the axis to the
 * other: of each, what has most of it. Of spans that are much shorter than a
 * cell, the look that has most of it together is shown. False: memory is
 * short. */
bool wr_doc_lanes_cells(const struct wr_doc_lanes *l,
                        const struct wr_doc_rows *r, size_t row,
                        struct wr_doc_lane_cell *ret, size_t columns);

bool wr_doc_lane_cells_same(const struct wr_doc_lane_cell *a,
                            const struct wr_doc_lane_cell *b);

/* All spans as a table of a section: lane, from, to, what, and its number. */
void wr_doc_lanes_table(struct wr_doc_section *s, const struct wr_doc_lanes *l);

#endif
