/* series.h - a time series of fixed memory: when it is full, it gets coarser.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows of numbers with a time each. When `capacity` rows are there, neighbours
 * are merged in pairs, each column by its rule, and from then on so many rows
 * that are added make one that is kept. So a series of any length takes the
 * same memory, starts at the beginning and ends at the end. A number that is
 * not known is NaN: it is left out where rows are merged, and only what is not
 * known in all of them stays NaN. */
#ifndef WR_BASE_SERIES_H
#define WR_BASE_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

enum wr_series_rule {
    WR_SERIES_MEAN, /* of rates and levels */
    WR_SERIES_MAX,  /* of waits: a stall must stay visible */
    WR_SERIES_SUM,  /* of counts */
    WR_SERIES_LAST, /* of totals so far */
};

struct wr_series {
    size_t capacity, columns;         /* capacity is even */
    const enum wr_series_rule *rules; /* borrowed: `columns` */
    double *t;        /* owned: time of each row (of its end, when merged) */
    double *v;        /* owned: capacity * columns, row by row */
    size_t count;     /* rows that are there */
    uint64_t merge;   /* so many added rows make one: 1, 2, 4, ... */
    uint64_t pending; /* added to the row in the making */
    uint64_t *seen;   /* owned: numbers in each column of that row */
    uint64_t added;   /* of all */
};

/* The capacity is rounded up to an even number, at least 2. */
int wr_series_init(struct wr_series *s, size_t capacity, size_t columns,
                   const enum wr_series_rule *rules, weir_err *err);
void wr_series_done(struct wr_series *s);

/* Adds one row; `values` has `columns` numbers. */
void wr_series_add(struct wr_series *s, double t, const double *values);

/* Rows that can be read, the one in the making included; their times are
 * t[0 ... rows). */
size_t wr_series_rows(const struct wr_series *s);
double wr_series_value(const struct wr_series *s, size_t row, size_t column);

#endif
