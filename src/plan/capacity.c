/* capacity.c - how many accelerators a node's storage and cores can feed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/simulate.h"
#include "plan/whatif.h"

#define POINTS_MAX 40
#define SAMPLES    40000 /* that a point simulates at most */

/* Utilization with `n` accelerators. */
static int try_number(const struct wr_plan *p, uint32_t n,
                      const struct wr_plan_how *how, struct wr_plan_capacity *c,
                      weir_err *err)
{
    struct wr_plan q = *p;
    struct wr_plan_how mine = {.steps = how->steps, .stopped = how->stopped};
    struct wr_plan_result res;
    int r;

    q.compute.accelerators = n;
    q.epochs = 1;
    q.eval_steps = 0;
    /* As if there were data enough: the question is one of rates. */
    q.data.samples = WR_MAX(q.data.samples, (uint64_t)q.nodes * n *
                                                q.compute.batch * 64 *
                                                WR_MAX(q.loader.workers, 4u));
    if (!mine.steps)
        mine.steps = wr_plan_enough_steps(&q, SAMPLES);
    r = wr_plan_simulate(&q, &mine, &res, err);
    if (r < 0)
        return r;
    c->points[c->count++] = (struct wr_plan_capacity_point){
        n, wr_plan_rate(&q, &res), wr_plan_steady_use(&q, &res)};
    wr_plan_result_done(&res);
    return 0;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct wr_plan_capacity_point *)a)->accelerators;
    uint32_t y = ((const struct wr_plan_capacity_point *)b)->accelerators;

    return (x > y) - (x < y);
}

static bool meets(const struct wr_plan_capacity *c, double target)
{
    return c->points[c->count - 1].utilization >= target;
}

/* Doubles until it fails, then halves the distance. */
static int search(const struct wr_plan *p, double target, uint32_t most,
                  const struct wr_plan_how *how, struct wr_plan_capacity *c,
                  weir_err *err)
{
    uint32_t good = 0, bad = most + 1, n = 1;
    int r = 0;

    while (good + 1 < bad && c->count < POINTS_MAX && r == 0) {
        r = try_number(p, n, how, c, err);
        if (r < 0)
            break;
        if (meets(c, target))
            good = n;
        else
            bad = n;
        n = bad > most ? WR_MIN(2 * good, most) : good + (bad - good) / 2;
        if (n == good)
            break;
    }
    c->accelerators = good;
    c->unlimited = good == most;
    return r;
}

int wr_plan_capacity(const struct wr_plan *p, double target, uint32_t most,
                     const struct wr_plan_how *how,
                     struct wr_plan_capacity *ret, weir_err *err)
{
    struct wr_plan_capacity c = {0};
    int r;

    most = WR_MIN(WR_MAX(most, 1u), WR_PLAN_MAX_ACCELERATORS);
    c.points = calloc(POINTS_MAX, sizeof(*c.points));
    if (!c.points)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = search(p, target, most, how, &c, err);
    if (r < 0) {
        wr_plan_capacity_done(&c);
        return r;
    }
    qsort(c.points, c.count, sizeof(*c.points), by_number);
    *ret = c;
    return 0;
}

void wr_plan_capacity_done(struct wr_plan_capacity *c)
{
    free(c->points);
    c->points = NULL;
    c->count = 0;
}
