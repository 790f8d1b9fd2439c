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
    uint64_t n = c->run.step + c->ahead;

    if (c->run.now < c->begun_from_s || c->run.over)
        return c->run.step;
    if (!c->p->loader.prefetch)
        n = c->run.step + c->in_step;
    if (c->p->loader.apart)
        n = WR_MIN(n,
                   (c->run.step / c->run.epoch_steps + 1) * c->run.epoch_steps);
    return WR_MIN(n, c->total);
}

static void start_read(struct wr_cluster *c, uint32_t node)
{
    struct wr_cluster_node *n = &c->nodes[node];
    uint32_t device = c->inputs > 1 ? node : 0;

    n->reading = true;
    read_of(c, node, n->read)->begun_s = c->run.now;
    if (wr_cluster_is_cached(c, n->read))
        n->cache_s = WR_MAX(n->cache_s, c->run.now) + c->load.cache_s;
    c->run.failed |= !wr_plan_fluid_add(
        &c->devices[device], WR_PLAN_FLUID_READS, c->run.now,
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
    const struct wr_cluster_read *r = read_of(c, node, c->run.step);
    double start = WR_MIN(r->begun_s + c->load.first_s, r->done_s);
    double by_cores, by_reads;

    start = WR_MAX(start, n->decoded_s);
    start = WR_MAX(start, c->met_s[c->run.step % c->buffers]);
    by_cores = start + wr_cluster_core_work(c, node, c->run.step);
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
    c->run.part[WR_PLAN_FOR_CORES] += cores;
    c->run.part[WR_PLAN_FOR_STORAGE] += wait - cores;
    c->step_part_s += wait;
}

/* The bytes of a node's current step are there: so its end is known. */
static void compute(struct wr_cluster *c, uint32_t node)
{
    bool lacks_cores;
    double ready = decode(c, node, &lacks_cores), max, mean;
    double from = WR_MAX(ready, c->run.step_at);

    if (!c->run.step)
        c->run.result->first_batch_s = WR_MAX(c->run.result->first_batch_s,
                                              ready);
    note_wait(c, from - c->run.step_at, lacks_cores);
    wr_cluster_compute(c, node, &max, &mean);
    c->run.part[WR_PLAN_COMPUTES] += mean;
    c->step_part_s += mean;
    c->latest_s = WR_MAX(c->latest_s, from + max);
    if (--c->waiting == 0) {
        c->timers[WR_CLUSTER_MET] = c->latest_s +
                                    (wr_plan_course_evaluates(&c->run)
                                         ? 0
                                         : c->p->compute.reduce_s);
    }
}

void wr_cluster_read_done(struct wr_cluster *c, uint32_t node)
{
    struct wr_cluster_node *n = &c->nodes[node];
    uint64_t step = n->read++;

    read_of(c, node, step)->done_s = wr_cluster_is_cached(c, step)
                                         ? WR_MAX(c->run.now, n->cache_s)
                                         : c->run.now;
    n->reading = false;
    if (step == c->run.step && c->in_step)
        compute(c, node);
    if (n->read < open_steps(c))
        start_read(c, node);
}

/* --- a step of all nodes --- */

void wr_cluster_begin_step(struct wr_cluster *c)
{
    c->in_step = true;
    c->run.step_at = c->latest_s = c->run.now;
    c->waiting = c->node_count;
    c->step_part_s = 0;
    if (!c->p->loader.prefetch)
        wr_cluster_open(c);
    for (uint32_t k = 0; k < c->node_count; k++) {
        if (c->nodes[k].read > c->run.step)
            compute(c, k);
        if (wr_cluster_worked(c, 1))
            return;
    }
}

static void finish_run(struct wr_cluster *c)
{
    for (uint32_t k = 0; k < c->device_count; k++) {
        wr_plan_fluid_advance(&c->devices[k], c->run.now);
        if (k < c->inputs)
            c->run.result->storage_busy +=
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
    bool epoch_over;

    if (!wr_plan_course_go_on(&c->run, &epoch_over)) {
        finish_run(c);
        return;
    }
    if (epoch_over && c->p->loader.apart) {
        c->begun_from_s = c->run.now + c->p->loader.start_s;
        c->timers[WR_CLUSTER_STARTED] = c->begun_from_s;
    }
    wr_cluster_begin_step(c);
}

void wr_cluster_met(struct wr_cluster *c)
{
    bool saves;

    c->met_s[c->run.step % c->buffers] = c->run.now;
    c->run.part[WR_PLAN_FOR_OTHERS] += (c->run.now - c->run.step_at) *
                                           c->node_count -
                                       c->step_part_s;
    saves = wr_plan_course_met(&c->run);
    c->in_step = false;
    if (c->p->loader.apart && c->run.step % c->run.epoch_steps == 0)
        c->begun_from_s = INFINITY;
    if (c->p->loader.prefetch)
        wr_cluster_open(c);
    if (saves)
        wr_cluster_save(c);
    else
        wr_cluster_go_on(c);
}
