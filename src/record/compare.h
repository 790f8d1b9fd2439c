/* compare.h - two records of the same command against each other.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_COMPARE_H
#define WR_RECORD_COMPARE_H

#include "result/cases.h"
#include "record/doc.h"

/* What wr_compare found among the rates (samples/s, requests/s). */
struct wr_comparison {
    size_t rates, faster, slower;
    double worst; /* lowest ratio outside the noise; NaN: none */
    char worst_name[300];
};

/* Whether records of this command can be compared. */
bool wr_compare_knows(const char *command);

/* Adds a section: what differs in the machines and settings, and every metric
 * of what both have. r[0] is A, r[1] is B; both of one command. */
void wr_compare(struct wr_doc *d, const struct wr_view_record r[2],
                struct wr_comparison *ret);

#endif
