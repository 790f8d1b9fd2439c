/* series.c - a time series of fixed memory: when it is full, it gets coarser.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/series.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

int wr_series_init(struct wr_series *s, size_t capacity, size_t columns,
                   const enum wr_series_rule *rules, weir_err *err)
{
    struct wr_series n = {.columns = columns, .rules = rules, .merge = 1};
    size_t cells, bytes;

    assert(columns > 0);
    n.capacity = WR_MAX(WR_ALIGN_UP(capacity, (size_t)2), (size_t)2);
    if (!wr_mul_ok(n.capacity, columns, &cells) ||
        !wr_mul_ok(cells, sizeof(*n.v), &bytes))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    n.t = malloc(n.capacity * sizeof(*n.t));
    n.v = malloc(bytes);
    n.seen = calloc(columns, sizeof(*n.seen));
    if (!n.t || !n.v || !n.seen) {
        wr_series_done(&n);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    /* Touched now: the memory of a run that is watched must not grow. */
    for (size_t i = 0; i < n.capacity; i++)
        n.t[i] = NAN;
    for (size_t i = 0; i < cells; i++)
        n.v[i] = NAN;
    *s = n;
    return 0;
}

void wr_series_done(struct wr_series *s)
{
    free(s->t);
    free(s->v);
    free(s->seen);
    *s = (struct wr_series){0};
}

/* `a` and the later `b` as one number. Numbers that are not there do not
 * count. `share` is the part of b in a mean. */
static double join(enum wr_series_rule rule, double a, double b, double share)
{
    if (isnan(a) || isnan(b))
        return isnan(b) ? a : b;
    switch (rule) {
    case WR_SERIES_MEAN:
        return a + (b - a) * share;
    case WR_SERIES_MAX:
        return a > b ? a : b;
    case WR_SERIES_SUM:
        return a + b;
    case WR_SERIES_LAST:
        break;
    }
    return b;
}

/* Makes one row of each two. */
static void merge_pairs(struct wr_series *s)
{
    size_t n = s->columns;

    for (size_t row = 0; row < s->count / 2; row++) {
        const double *a = s->v + 2 * row * n, *b = a + n;

        for (size_t c = 0; c < n; c++)
            s->v[row * n + c] = join(s->rules[c], a[c], b[c], 0.5);
        s->t[row] = s->t[2 * row + 1];
    }
    s->count /= 2;
    s->merge *= 2;
}

void wr_series_add(struct wr_series *s, double t, const double *values)
{
    double *row = s->v + s->count * s->columns;

    if (!s->pending)
        memset(s->seen, 0, s->columns * sizeof(*s->seen));
    for (size_t c = 0; c < s->columns; c++) {
        s->seen[c] += !isnan(values[c]);
        row[c] = s->pending ? join(s->rules[c], row[c], values[c],
                                   1 / (double)s->seen[c])
                            : values[c];
    }
    s->t[s->count] = t;
    s->added++;
    if (++s->pending < s->merge)
        return;
    s->pending = 0;
    if (++s->count == s->capacity)
        merge_pairs(s);
}

size_t wr_series_rows(const struct wr_series *s)
{
    return s->count + (s->pending > 0);
}

double wr_series_value(const struct wr_series *s, size_t row, size_t column)
{
    assert(row < wr_series_rows(s) && column < s->columns);
    return s->v[row * s->columns + column];
}
