/* law.h - times that are numbers or distributions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WORKLOAD_LAW_H
#define WR_WORKLOAD_LAW_H

#include "workload/schema.h"
#include "workload/tree.h"

/* The names of a law's parameters. */
struct wr_wl_law_words {
    enum wr_wl_law law;
    const char *a, *b; /* b is NULL if there is one only */
};

/* NULL for no law, and for a time that is fixed. */
const struct wr_wl_law_words *wr_wl_law_words(enum wr_wl_law law);

/* A number of seconds, or a mapping; empty: no time is given. As
 * wr_wl_value_set. */
int wr_wl_law_set(const struct wr_wl_key *k, const struct wr_wl_node *n,
                  struct wr_wl_time *ret, const struct wr_wl_node **ret_bad,
                  weir_err *err);

#endif
