/* result.h - a made-up trace, what its analysis found, and two trainings.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_TRACE_RESULT_H
#define TEST_TRACE_RESULT_H

#include "script.h"
#include "trace/finding.h"

extern const struct script script_plain; /* the main thread reads */
extern const struct script
    script_fine; /* workers that rest: nothing is wrong */

struct result {
    struct maker m;
    struct wr_trace_file *f;
    struct wr_trace_analysis *a;
    struct wr_trace_findings found;
    struct script_end end;
};

/* result_begin, events of one's own, result_finish; or all at once. */
void result_begin(struct result *r, const struct script *s);
void result_finish(struct result *r);
void result_run(struct result *r, const struct script *s);
void result_done(struct result *r);
/* The finding with that code, or NULL. */
const struct wr_trace_finding *result_find(const struct result *r,
                                           const char *code);
void assert_near(double value, double expected, double share);

#endif
