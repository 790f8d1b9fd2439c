/* finding.c - all rules, and their findings in order of what they cost.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/finding.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "trace/find.h"

static const struct wr_trace_finding_rule *const rules[] = {
#define WR_FIND_ROW(name) &wr_find_##name,
    WR_FIND_RULES(WR_FIND_ROW)
#undef WR_FIND_ROW
};

const char *wr_finding_sure_name(int sure)
{
    static const char *const names[] = {"maybe", "likely", "sure"};

    return sure >= 0 && sure < 3 ? names[sure] : "?";
}

double wr_trace_finding_cost(const struct wr_trace_analysis *a,
                             const struct wr_trace_finding *f)
{
    return f->once ? f->seconds : f->seconds * wr_find_epochs(a);
}

static int by_cost(const void *x, const void *y, void *arg)
{
    const struct wr_trace_finding *p = x, *q = y;
    double a = wr_trace_finding_cost(arg, p), b = wr_trace_finding_cost(arg, q);

    if (p->risk != q->risk)
        return p->risk - q->risk;
    if (a != b)
        return a < b ? 1 : -1;
    return (p->rule > q->rule) - (p->rule < q->rule);
}

int wr_trace_findings_of(const struct wr_trace_analysis *a,
                         struct wr_trace_findings *ret, weir_err *err)
{
    struct wr_trace_findings f = {
        .list = calloc(WR_ARRAY_LEN(rules), sizeof(*f.list))};

    if (!f.list)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < WR_ARRAY_LEN(rules); k++) {
        struct wr_trace_finding one = {0};

        if (!rules[k]->look(a, &one))
            continue;
        one.rule = rules[k];
        f.list[f.count++] = one;
    }
    qsort_r(f.list, f.count, sizeof(*f.list), by_cost,
            (void *)(uintptr_t)a); /* which is only read */
    *ret = f;
    return 0;
}

void wr_trace_findings_done(struct wr_trace_findings *f)
{
    free(f->list);
    *f = (struct wr_trace_findings){0};
}
