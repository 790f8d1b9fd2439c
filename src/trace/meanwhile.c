/* meanwhile.c - which reads of the data set began while something was written.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call is known when it has ended: a long write comes behind reads that began
 * during it. So reads wait here until there are many, and are told apart then. */
#include "base/mem.h"
#include "trace/analysis_private.h"

#define TOGETHER_NS UINT64_C(2000000) /* writes so near are one */

static bool was_written(const struct wr_meanwhile *m, uint64_t at)
{
    for (size_t k = 0; k < WR_MEANWHILE_WRITES; k++)
        if (at >= m->writes[k].from && at < m->writes[k].to)
            return true;
    return false;
}

static void tell(struct wr_trace_walk *w, const struct wr_meanwhile_read *r)
{
    bool saving = was_written(&w->meanwhile, r->at_ns);

    wr_hist_add(w->a->latency[saving ? WR_TRACE_LAT_READ_SAVING
                                     : WR_TRACE_LAT_READ_QUIET],
                r->dur_ns);
}

void wr_trace_meanwhile_read(struct wr_trace_walk *w,
                             const struct wr_trace_event *e)
{
    struct wr_meanwhile *m = &w->meanwhile;
    struct wr_meanwhile_read *r = &m->reads[m->next++ % WR_MEANWHILE_READS];

    if (m->next > WR_MEANWHILE_READS)
        tell(w, r);
    *r = (struct wr_meanwhile_read){e->start_ns, e->dur_ns};
}

void wr_trace_meanwhile_write(struct wr_trace_walk *w,
                              const struct wr_trace_event *e)
{
    struct wr_meanwhile *m = &w->meanwhile;
    uint64_t from = e->start_ns, to = e->start_ns + e->dur_ns;
    struct wr_meanwhile_write *last = &m->writes[m->last];

    if (from > last->to + TOGETHER_NS || to + TOGETHER_NS < last->from) {
        m->last = (m->last + 1) % WR_MEANWHILE_WRITES;
        m->writes[m->last] = (struct wr_meanwhile_write){from, to};
        return;
    }
    last->from = WR_MIN(last->from, from);
    last->to = WR_MAX(last->to, to);
}

void wr_trace_meanwhile_end(struct wr_trace_walk *w)
{
    struct wr_meanwhile *m = &w->meanwhile;
    uint64_t count = WR_MIN(m->next, WR_MEANWHILE_READS);

    for (uint64_t k = 0; k < count; k++)
        tell(w, &m->reads[k]);
}
