/* value.h - values of a description: numbers, times, and those of keys.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WORKLOAD_VALUE_H
#define WR_WORKLOAD_VALUE_H

#include "workload/schema.h"
#include "workload/tree.h"

/* Checks the value `n` of key `k` and puts it into the draft; texts stay those of
 * the node's tree. The message says what is wrong, not where: *ret_bad is the
 * node that it is about. */
int wr_wl_value_set(const struct wr_wl_key *k, const struct wr_wl_node *n,
                    struct wr_wl_draft *draft,
                    const struct wr_wl_node **ret_bad, weir_err *err);

/* The defaults of all keys. */
void wr_wl_value_presets(struct wr_wl_draft *draft);

/* Standard deviations that were given as keys of their own join their times. */
int wr_wl_value_join(struct wr_wl_draft *draft, const char **ret_path,
                     weir_err *err);

/* The names of a law's parameters. */
struct wr_wl_law_words {
    enum wr_wl_law law;
    const char *a, *b; /* b is NULL if there is one only */
};

/* NULL for no law, and for a time that is fixed. */
const struct wr_wl_law_words *wr_wl_law_words(enum wr_wl_law law);

#endif
