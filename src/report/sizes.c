/* sizes.c - histograms of sizes: of a data set's samples, of a probe's mix.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/sizes.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "report/pivot.h"

#define BINS_MAX 64

/* One bin: its label, where it begins, and how much is in it. */
static bool read_bin(const json_t *bin, char *label, size_t cap, double *ret_at,
                     double *ret_part)
{
    double from = wr_get_number(bin, "from"), to = wr_get_number(bin, "to");
    double bytes = wr_get_number(bin, "bytes");
    char a[32], b[32];

    if (from >= 0 && to >= from) {
        snprintf(label, cap, "%s to %s", wr_format_binary(a, sizeof(a), from),
                 wr_format_binary(b, sizeof(b), to));
        *ret_at = from;
        *ret_part = wr_get_number(bin, "count");
        return *ret_part >= 0;
    }
    if (!(bytes >= 0))
        return false;
    snprintf(label, cap, "%s", wr_format_binary(a, sizeof(a), bytes));
    *ret_at = bytes;
    *ret_part = wr_get_number(bin, "share");
    return *ret_part >= 0;
}

static double total_of(const json_t *list)
{
    double total = 0, at, part;
    char label[80];

    for (size_t i = 0; i < json_array_size(list) && i < BINS_MAX; i++)
        if (read_bin(json_array_get(list, i), label, sizeof(label), &at, &part))
            total += part;
    return total;
}

/* Whether a record before has the same histogram. */
static bool seen(const struct wr_cases *rows, size_t k, const char *path)
{
    const json_t *list = wr_get_list(rows->records[k].json, path);

    for (size_t i = 0; i < k; i++) {
        const json_t *other = wr_get_list(rows->records[i].json, path);

        if (other && json_equal(list, other))
            return true;
    }
    return false;
}

/* The histogram of record k, when it has one that is to be shown. */
static const json_t *list_of(const struct wr_cases *rows, size_t k,
                             const char *path)
{
    const json_t *list = wr_get_list(rows->records[k].json, path);

    return total_of(list) > 0 && !seen(rows, k, path) ? list : NULL;
}

void wr_sizes_draw(struct wr_doc *d, struct wr_doc_section *s,
                   const struct wr_cases *rows, const char *path)
{
    const struct wr_doc_chart_spec spec = {WR_DOC_BARS, "Sizes", "size",
                                           "% of all", .note = NULL};
    struct wr_pivot p = {0};
    double at, part;
    char label[80];

    for (size_t k = 0; k < rows->record_count; k++) {
        const json_t *list = list_of(rows, k, path);

        for (size_t i = 0; i < json_array_size(list) && i < BINS_MAX; i++)
            if (read_bin(json_array_get(list, i), label, sizeof(label), &at,
                         &part))
                wr_pivot_add(&p, rows->records[k].label, label, at,
                             100 * part / total_of(list));
    }
    wr_pivot_draw(&p, d, s, &spec);
}

void wr_sizes_table(struct wr_doc_section *s, const struct wr_cases *rows,
                    const char *path)
{
    struct wr_doc_table *t = NULL;
    double at, part;
    char label[80];

    for (size_t k = 0; k < rows->record_count; k++) {
        const json_t *list = list_of(rows, k, path);

        if (list && !t)
            t = wr_doc_table(s, "Sizes", "<record|<size|>count|>%");
        wr_doc_fold(t);
        for (size_t i = 0; i < json_array_size(list) && i < BINS_MAX; i++) {
            if (!read_bin(json_array_get(list, i), label, sizeof(label), &at,
                          &part))
                continue;
            wr_doc_cell(t, "%s", rows->records[k].label);
            wr_doc_cell(t, "%s", label);
            wr_doc_number(t, part, part == floor(part) ? 0 : 3);
            wr_doc_number(t, 100 * part / total_of(list), 1);
        }
    }
}
