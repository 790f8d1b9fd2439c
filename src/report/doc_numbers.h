/* doc_numbers.h - the numbers of a chart as a table, and how many fit.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_DOC_NUMBERS_H
#define WR_REPORT_DOC_NUMBERS_H

#include "report/doc_private.h"

/* Adds a table with what the chart shows to a section: every number where they
 * are few, else how many there are, the least, the median, the 99th percentile
 * and the most of each series. */
void wr_doc_numbers_table(struct wr_doc_section *s,
                          const struct wr_doc_chart *c);

/* The greatest number of points of one series with which all charts of the
 * document have no more than `budget` points together. */
size_t wr_doc_numbers_cap(const struct wr_doc *d, size_t budget);

#endif
