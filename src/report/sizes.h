/* sizes.h - histograms of sizes: of a data set's samples, of a probe's mix.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_SIZES_H
#define WR_REPORT_SIZES_H

#include "report/view.h"

/* A chart of the lists at `path` of the records of `rows`: lists of {"from",
 * "to", "count"} or {"bytes", "share"}. Of records with the same histogram
 * only the first is shown. */
void wr_sizes_draw(struct wr_doc *d, struct wr_doc_section *s,
                   const struct wr_cases *rows, const char *path);

/* The numbers. */
void wr_sizes_table(struct wr_doc_section *s, const struct wr_cases *rows,
                    const char *path);

#endif
