/* explain.h - what follows from a description, as lines for a person.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WORKLOAD_EXPLAIN_H
#define WR_WORKLOAD_EXPLAIN_H

#include "workload/derive.h"

struct wr_explain_row {
    const char *group; /* "data set", "one accelerator needs", ... */
    char name[40];     /* "steps per epoch" */
    char value[40];    /* "24" */
    char note[120];    /* how it comes about; may be empty */
};

#define WR_EXPLAIN_ROWS 48

struct wr_explain {
    struct wr_explain_row row[WR_EXPLAIN_ROWS];
    size_t count;
};

/* Rows of a group follow each other. */
void wr_workload_explain(const struct wr_workload *w,
                         const struct wr_derived *d, struct wr_explain *ret);

#endif
