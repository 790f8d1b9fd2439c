/* cluster_save.c - the saves of many nodes: who waits, and what they share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All nodes save at the same time, an equal part each. The fast tier is in each
 * node; the slow one is shared, unless it is storage that each node has of its
 * own. A drain is a flow beside the reads. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/cluster_private.h"

/* What publishing a save asks of a tier, as src/tier does it: files and folders
 * made, and syncs. */
#define PUBLISH_METAS 4
#define PUBLISH_SYNCS 4

/* --- to the slow tier --- */

static void start_write(struct wr_cluster *c, uint32_t writer)
{
    struct wr_cluster_writer *w = &c->writers[writer];

    c->run.failed |= !wr_plan_fluid_add(&c->devices[w->device],
                                        WR_PLAN_FLUID_WRITES, c->run.now,
                                        c->write_bytes, writer);
    wr_cluster_changed(c, w->device);
}

static void queue_writes(struct wr_cluster *c)
{
    for (uint32_t k = 0; k < c->writer_count; k++)
        if (c->writers[k].queued++ == c->writers[k].done)
            start_write(c, k);
}

static void try_save(struct wr_cluster *c);

void wr_cluster_write_done(struct wr_cluster *c, uint32_t writer)
{
    struct wr_cluster_writer *w = &c->writers[writer];
    struct wr_plan_course_save *v = &c->run.saves[w->done++];

    if (w->done < w->queued)
        start_write(c, writer);
    if (--v->left)
        return;
    wr_plan_course_durable(&c->run, c->run.now + c->publish_s);
    if (!c->run.drains)
        c->timers[WR_CLUSTER_GO] = c->run.now + c->publish_s;
    else if (c->run.blocked)
        try_save(c);
}

/* --- the training's side --- */

static void try_save(struct wr_cluster *c)
{
    if (wr_plan_course_waits(&c->run))
        return;
    switch (c->p->save.way) {
    case WR_PLAN_DIRECT:
        queue_writes(c);
        break;
    case WR_PLAN_BURST:
        c->timers[WR_CLUSTER_WRITTEN] = c->run.now + c->fast_s;
        break;
    case WR_PLAN_ASYNC:
        c->timers[WR_CLUSTER_GO] = c->run.now + c->copy_s;
        break;
    case WR_PLAN_NO_SAVES:
        break;
    }
}

void wr_cluster_save(struct wr_cluster *c)
{
    if (!wr_plan_course_save(&c->run))
        return;
    c->run.saves[c->run.save_count - 1].left = c->writer_count;
    try_save(c);
}

void wr_cluster_saved(struct wr_cluster *c)
{
    double begun = c->run.saves[c->run.save_count - 1].begun;

    c->run.part[WR_PLAN_FOR_SAVES] += (c->run.now - begun) * c->node_count;
    if (c->p->save.way == WR_PLAN_ASYNC)
        c->timers[WR_CLUSTER_WRITTEN] = c->run.now + c->fast_s;
    wr_cluster_go_on(c);
}

void wr_cluster_written(struct wr_cluster *c)
{
    c->run.written++;
    queue_writes(c);
    if (c->p->save.way == WR_PLAN_BURST)
        wr_cluster_saved(c);
    else if (c->run.blocked)
        try_save(c);
}

bool wr_cluster_is_saving(const struct wr_cluster *c)
{
    return c->run.drained < c->run.save_count;
}

/* --- beginning and end --- */

static double seconds_of(double bytes, double bytes_per_s)
{
    return bytes_per_s > 0 ? bytes / bytes_per_s : 0;
}

static double publish_s(const struct wr_device_profile *d)
{
    return (d->write_latency_us + PUBLISH_METAS * d->meta_latency_us +
            PUBLISH_SYNCS * d->sync_latency_us) /
           1e6;
}

static void set_limits(struct wr_cluster *c, struct wr_plan_flows *w)
{
    const struct wr_plan_save *v = &c->p->save;
    double client = c->p->storage.client_bytes_per_s;
    double rate = v->on_input ? c->p->storage.profile.write_bytes_per_s
                              : v->slow.write_bytes_per_s;

    if (rate > 0)
        w->full = rate;
    if (v->on_input && client > 0)
        w->alone = client;
    if (c->run.drains && v->fast.read_bytes_per_s > 0)
        w->alone = WR_MIN(w->alone, v->fast.read_bytes_per_s);
}

/* Nodes that write alike to the same device are one writer. */
bool wr_cluster_save_init(struct wr_cluster *c)
{
    const struct wr_plan_save *v = &c->p->save;
    bool own = v->on_input && !c->p->storage.shared;

    if (v->way == WR_PLAN_NO_SAVES)
        return true;
    c->run.drains = v->way != WR_PLAN_DIRECT;
    c->writer_count = own ? c->node_count : 1;
    c->writers = calloc(c->writer_count, sizeof(*c->writers));
    if (!c->writers)
        return false;
    for (uint32_t k = 0; k < c->writer_count; k++) {
        struct wr_plan_flows *w;

        c->writers[k].device = v->on_input ? k : c->inputs;
        w = &c->devices[c->writers[k].device].kinds[WR_PLAN_FLUID_WRITES];
        set_limits(c, w);
        w->weight = own ? 1 : c->p->nodes;
    }
    c->write_bytes = v->bytes / c->p->nodes;
    c->copy_s = seconds_of(c->write_bytes, v->copy_bytes_per_s);
    c->fast_s = seconds_of(c->write_bytes, v->fast.write_bytes_per_s) +
                publish_s(&v->fast);
    c->publish_s = publish_s(v->on_input ? &c->p->storage.profile : &v->slow);
    return true;
}
