/* cluster_step.c - the steps of many nodes: reading, decoding, computing.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a node may begin depends on steps that are over, on all nodes at the same
 * time. So nodes differ only in what they read and decode. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "plan/cluster_private.h"

static struct wr_cluster_read *read_of(struct wr_cluster *c, uint32_t node,
                                       uint64_t step)
{
    return &c->reads[node * c->ahead + step % c->ahead];
}

/* --- reading --- */

/* Steps whose reads may be begun now. */
static uint64_t open_steps(const struct wr_cluster *c)
{
    uint64_t n = c->step + c->ahead;

    if (c->now_s < c->begun_from_s || c->over)
        return c->step;
    if (!c->p->loader.prefetch)
        n = c->step + c->in_step;
    if (c->p->loader.apart)
        n = WR_MIN(n, (c->step / c->epoch_steps + 1) * c->epoch_steps);
    return WR_MIN(n, c->total);
}

static void start_read(struct wr_cluster *c, uint32_t node)
{
    struct wr_cluster_node *n = &c->nodes[node];
    uint32_t device = c->inputs > 1 ? node : 0;

    n->reading = true;
    read_of(c, node, n->read)->begun_s = c->now_s;
    if (wr_cluster_is_cached(c, n->read))
        n->cache_s = WR_MAX(n->cache_s, c->now_s) + c->load.cache_s;
    c->failed |= !wr_plan_fluid_add(
        &c->devices[device], WR_PLAN_FLUID_READS, c->now_s,
        wr_cluster_read_work(c, node, n->read), node);
    wr_cluster_changed(c, device);
}

void wr_cluster_open(struct wr_cluster *c)
{
    uint64_t open = open_steps(c);

    for (uint32_t k = 0; k < c->node_count; k++) {
        if (!c->nodes[k].reading && c->nodes[k].read < open) {
            start_read(c, k);
            if (wr_cluster_worked(c, 1))
                return;
        }
    }
}

/* --- a node's step --- */

/* When the current step of a node is decoded. The cores work on it while it is
 * read, once it has a buffer. */
static double decode(struct wr_cluster *c, uint32_t node, bool *ret_lacks_cores)
{
    struct wr_cluster_node *n = &c->nodes[node];
    const struct wr_cluster_read *r = read_of(c, node, c->step);
    double start = WR_MIN(r->begun_s + c->load.first_s, r->done_s);
    double by_cores, by_reads;

    start = WR_MAX(start, n->decoded_s);
    start = WR_MAX(start, c->met_s[c->step % c->buffers]);
    by_cores = start + wr_cluster_core_work(c, node, c->step);
    by_reads = r->done_s + c->load.decode_tail_s +
               c->p->loader.batch_cpu_s.mean;
    *ret_lacks_cores = by_cores > by_reads;
    n->decoded_s = WR_MAX(by_cores, by_reads);
    return n->decoded_s;
}

/* Whom a node waits for, until its batches are there. */
static void note_wait(struct wr_cluster *c, double wait, bool lacks_cores)
{
    double cores = wait;

    if (!lacks_cores) {
        cores = wait * c->load.core_part;
        /* With batches ahead, decoding the last sample holds up nothing. */
        if (!c->p->loader.prefetch)
            cores = WR_MAX(cores,
                           WR_MIN(wait, c->load.decode_tail_s +
                                            c->p->loader.batch_cpu_s.mean));
    }
    c->part_s[WR_PLAN_FOR_CORES] += cores;
    c->part_s[WR_PLAN_FOR_STORAGE] += wait - cores;
    c->step_part_s += wait;
}

/* The bytes of a node's current step are there: so its end is known. */
static void compute(struct wr_cluster *c, uint32_t node)
{
    bool lacks_cores;
    double ready = decode(c, node, &lacks_cores), max, mean;
    double from = WR_MAX(ready, c->step_s);

    if (!c->step)
        c->result->first_batch_s = WR_MAX(c->result->first_batch_s, ready);
    note_wait(c, from - c->step_s, lacks_cores);
    wr_cluster_compute(c, node, &max, &mean);
    c->part_s[WR_PLAN_COMPUTES] += mean;
    c->step_part_s += mean;
    c->latest_s = WR_MAX(c->latest_s, from + max);
    if (--c->waiting == 0) {
        bool eval = c->step % c->epoch_steps >=
                    c->epoch_steps - c->p->eval_steps;

        c->timers[WR_CLUSTER_MET] = c->latest_s +
                                    (eval ? 0 : c->p->compute.reduce_s);
    }
}

void wr_cluster_read_done(struct wr_cluster *c, uint32_t node)
{
    struct wr_cluster_node *n = &c->nodes[node];
    uint64_t step = n->read++;

    read_of(c, node, step)->done_s = wr_cluster_is_cached(c, step)
                                         ? WR_MAX(c->now_s, n->cache_s)
                                         : c->now_s;
    n->reading = false;
    if (step == c->step && c->in_step)
        compute(c, node);
    if (n->read < open_steps(c))
        start_read(c, node);
}

/* --- a step of all nodes --- */

void wr_cluster_begin_step(struct wr_cluster *c)
{
    c->in_step = true;
    c->step_s = c->latest_s = c->now_s;
    c->waiting = c->node_count;
    c->step_part_s = 0;
    if (!c->p->loader.prefetch)
        wr_cluster_open(c);
    for (uint32_t k = 0; k < c->node_count; k++) {
        if (c->nodes[k].read > c->step)
            compute(c, k);
        if (wr_cluster_worked(c, 1))
            return;
    }
}

static void note_epoch(struct wr_cluster *c, uint64_t steps)
{
    struct wr_plan_epoch e = {.seconds = c->now_s - c->epoch_s, .steps = steps};

    for (unsigned k = 0; k < WR_PLAN_PARTS; k++) {
        e.part_s[k] = c->part_s[k] / c->node_count;
        c->result->part_s[k] += e.part_s[k];
    }
    c->failed |= !wr_plan_note_epoch(c->p, c->result, e);
    memset(c->part_s, 0, sizeof(c->part_s));
    c->epoch_s = c->now_s;
}

static void finish_run(struct wr_cluster *c)
{
    uint64_t rest = c->step % c->epoch_steps;

    if (rest)
        note_epoch(c, rest);
    c->over = true;
    c->result->seconds = c->now_s;
    for (uint32_t k = 0; k < c->device_count; k++) {
        wr_plan_fluid_advance(&c->devices[k], c->now_s);
        if (k < c->inputs)
            c->result->storage_busy +=
                WR_MAX(c->devices[k].busy_s,
                       c->devices[k].kinds[WR_PLAN_FLUID_READS].done /
                           c->load.most) /
                c->inputs;
        wr_plan_fluid_stop(&c->devices[k], WR_PLAN_FLUID_READS);
        wr_cluster_changed(c, k);
    }
}

void wr_cluster_go_on(struct wr_cluster *c)
{
    bool epoch_over = c->step % c->epoch_steps == 0;

    c->failed |= !wr_plan_note_step(c->result, c->now_s - c->step_s);
    if (epoch_over)
        note_epoch(c, c->epoch_steps);
    if (c->step >= c->last) {
        finish_run(c);
        return;
    }
    if (epoch_over && c->p->loader.apart) {
        c->begun_from_s = c->now_s + c->p->loader.start_s;
        c->timers[WR_CLUSTER_STARTED] = c->begun_from_s;
    }
    wr_cluster_begin_step(c);
}

void wr_cluster_met(struct wr_cluster *c)
{
    const struct wr_plan_save *v = &c->p->save;
    bool eval = c->step % c->epoch_steps >= c->epoch_steps - c->p->eval_steps;

    c->met_s[c->step % c->buffers] = c->now_s;
    c->part_s[WR_PLAN_FOR_OTHERS] += (c->now_s - c->step_s) * c->node_count -
                                     c->step_part_s;
    c->step++;
    c->trained += !eval;
    c->in_step = false;
    if (c->p->loader.apart && c->step % c->epoch_steps == 0)
        c->begun_from_s = INFINITY;
    if (c->p->loader.prefetch)
        wr_cluster_open(c);
    if (v->way != WR_PLAN_NO_SAVES && !eval && c->trained % v->every == 0)
        wr_cluster_save(c);
    else
        wr_cluster_go_on(c);
}
