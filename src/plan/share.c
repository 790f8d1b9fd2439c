/* share.c - jobs that divide a capacity evenly, none beyond its own limit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/share.h"

#include <math.h>

#include "base/mem.h"

void wr_plan_share_init(struct wr_plan_share *s, double capacity, double limit)
{
    *s = (struct wr_plan_share){.capacity = capacity, .limit = limit};
}

void wr_plan_share_done(struct wr_plan_share *s)
{
    wr_plan_heap_done(&s->jobs);
}

/* Work per nanosecond of one job. */
static double rate(const struct wr_plan_share *s)
{
    return WR_MIN(s->capacity / (double)s->jobs.count, s->limit);
}

void wr_plan_share_advance(struct wr_plan_share *s, double now_ns)
{
    if (s->jobs.count && now_ns > s->now_ns) {
        double grown = rate(s) * (now_ns - s->now_ns);

        s->got += grown;
        s->done += grown * (double)s->jobs.count;
    }
    s->now_ns = WR_MAX(s->now_ns, now_ns);
    if (!s->jobs.count)
        s->got = 0; /* keeps it small, and so exact */
}

bool wr_plan_share_add(struct wr_plan_share *s, double now_ns, double work,
                       uint32_t id)
{
    wr_plan_share_advance(s, now_ns);
    return wr_plan_heap_add(&s->jobs, s->got + work, 0, id);
}

double wr_plan_share_next(const struct wr_plan_share *s)
{
    double left;

    if (!s->jobs.count)
        return INFINITY;
    left = (s->jobs.at[0].key - s->got) / rate(s);
    return s->now_ns + WR_MAX(left, 0);
}

uint32_t wr_plan_share_pop(struct wr_plan_share *s)
{
    wr_plan_share_advance(s, wr_plan_share_next(s));
    return wr_plan_heap_pop(&s->jobs).id;
}
