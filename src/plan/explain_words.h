/* explain_words.h - what was found, in words that users have for it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_EXPLAIN_WORDS_H
#define WR_PLAN_EXPLAIN_WORDS_H

#include "plan/explain.h"
#include "plan/period.h"

/* What the words need besides the numbers of the result. */
struct wr_explain_facts {
    const struct wr_plan_hints *hints;   /* borrowed */
    const struct wr_plan_stalls *stalls; /* borrowed */
    uint64_t stride;                     /* from line to line of the log */
    double step_ms;                      /* given, or the usual time */
    double first_ms;                     /* of a slow start; 0: none */
    size_t batches;
    bool doubtful; /* another cause looks alike */
};

/* Fills in what, why and change. */
void wr_explain_words(struct wr_plan_explained *e,
                      const struct wr_explain_facts *f);

#endif
