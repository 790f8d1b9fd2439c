/* finding.h - what is wrong with a program's I/O, what it costs, and the cure.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A finding is a function in one of find_*.c and a row of findings.def. It speaks
 * only if the numbers of the trace carry it. */
#ifndef WR_TRACE_FINDING_H
#define WR_TRACE_FINDING_H

#include "trace/analysis.h"

#define WR_TRACE_FINDING_EXAMPLES 3

enum wr_trace_finding_sure {
    WR_TRACE_FINDING_MAYBE, /* an estimate on assumptions that the text names */
    WR_TRACE_FINDING_LIKELY, /* measured, but other limits may lie behind it */
    WR_TRACE_FINDING_SURE,   /* measured */
};

struct wr_trace_finding_example {
    uint64_t at_ns;
    uint32_t file;   /* WR_TRACE_NO_FILE: none */
    char detail[64]; /* "1.2 s", or "" */
};

struct wr_trace_finding {
    const struct wr_trace_finding_rule *rule;
    const char *over; /* codes of findings that it stands in for */
    double seconds;   /* lost per epoch; per run if `once` */
    double gain;      /* of these, what the change is expected to bring */
    bool once;        /* lost once in a run, not in each epoch */
    bool risk;        /* no time is lost: data may be */
    int sure;         /* enum wr_trace_finding_sure */
    char what[240], evidence[400], change[480];
    struct wr_trace_finding_example examples[WR_TRACE_FINDING_EXAMPLES];
    size_t example_count;
};

struct wr_trace_finding_rule {
    const char *code, *title, *over;
    bool (*look)(const struct wr_trace_analysis *a,
                 struct wr_trace_finding *ret);
};

struct wr_trace_findings {
    struct wr_trace_finding *list; /* owned */
    size_t count;
};

/* All that speak, those that cost most first, risks last. */
int wr_trace_findings_of(const struct wr_trace_analysis *a,
                         struct wr_trace_findings *ret, weir_err *err);
void wr_trace_findings_done(struct wr_trace_findings *f);
const char *wr_finding_sure_name(int sure);
/* Seconds of the whole run. */
double wr_trace_finding_cost(const struct wr_trace_analysis *a,
                             const struct wr_trace_finding *f);

#endif
