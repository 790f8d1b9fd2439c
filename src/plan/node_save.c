/* node_save.c - a node's saves: who waits, and who brings them where.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A save is written in chunks, several in flight, and then published, as
 * src/tier does it. The drain reads the fast tier and writes the slow one. A
 * copy in memory is made only while no other is being written. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/node_private.h"

#define NS     1e9
#define CHUNK  4194304.0
#define WINDOW 16

/* What a save asks of its tier besides the bytes, one after the other: files and
 * folders looked up, made and renamed ('m'), small ones read ('r') and written
 * ('w'), syncs ('s'). Counted with strace on weir's own (src/tier). */
static const char acts[] = "mmmmmmmmmmrmmmmmmmmmmr"
                           "mmmsmmmwsmmmsmmmwsmmmsmmmsmmms";
#define SMALL 4096

static double bytes_of(const struct wr_sim *s)
{
    return s->p->save.bytes / s->p->nodes;
}

/* --- movers --- */

static double submit(const struct wr_sim *s, struct wr_device *d,
                     enum wr_device_op op, double offset, double len,
                     uint64_t save)
{
    return (double)wr_device_submit(
        d,
        &(struct wr_device_request){.op = op,
                                    .object = UINT64_MAX - save,
                                    .offset = (uint64_t)offset,
                                    .len = (uint64_t)len},
        (uint64_t)s->run.now);
}

/* A chunk is there once it was read and written; both go on at once. */
static void ask_chunk(struct wr_sim *s, uint32_t k)
{
    struct wr_sim_mover *m = &s->movers[k];
    double len = WR_MIN(CHUNK, bytes_of(s) - m->asked), due, read;

    due = submit(s, m->to, WR_DEVICE_WRITE, m->asked, len, m->next);
    if (m->from) {
        read = submit(s, m->from, WR_DEVICE_READ, m->asked, len, m->next);
        due = WR_MAX(due, read);
    }
    m->asked += len;
    m->pending++;
    wr_sim_at(s, due, WR_SIM_MOVED, k);
}

static void start_mover(struct wr_sim *s, uint32_t k)
{
    struct wr_sim_mover *m = &s->movers[k];
    uint64_t ready = s->save_ready;

    if (k == WR_SIM_DRAINER) /* what the writer has published */
        ready = s->movers[WR_SIM_WRITER].next;
    if (!m->to || m->busy || m->next >= ready)
        return;
    m->busy = true;
    m->asked = 0;
    m->acts = 0;
    while (m->pending < WINDOW && m->asked < bytes_of(s))
        ask_chunk(s, k);
}

static void end_stall(struct wr_sim *s)
{
    if (s->doing[WR_SIM_SAVES])
        wr_sim_go_on(s);
}

static void begin_copy(struct wr_sim *s);

/* The save is published on the mover's tier. */
static void published(struct wr_sim *s, uint32_t k)
{
    struct wr_sim_mover *m = &s->movers[k];
    bool last = k == WR_SIM_DRAINER || !s->run.drains;

    m->busy = false;
    m->next++;
    s->run.written += k == WR_SIM_WRITER;
    if (last)
        wr_plan_course_durable(&s->run, s->run.now);
    if (s->run.blocked)
        begin_copy(s);
    else if (k == WR_SIM_WRITER && s->p->save.way != WR_PLAN_ASYNC)
        end_stall(s);
    for (uint32_t i = 0; i < WR_SIM_MOVERS; i++)
        start_mover(s, i);
}

/* The next act of publishing, on a file of its own. */
static void act(struct wr_sim *s, uint32_t k)
{
    struct wr_sim_mover *m = &s->movers[k];
    const char kind = acts[m->acts++];
    enum wr_device_op op = kind == 'm'   ? WR_DEVICE_META
                           : kind == 'r' ? WR_DEVICE_READ
                           : kind == 'w' ? WR_DEVICE_WRITE
                                         : WR_DEVICE_SYNC;

    wr_sim_at(s, submit(s, m->to, op, 0, SMALL, UINT64_MAX / 2 + m->acts),
              WR_SIM_MOVED, k);
}

void wr_sim_moved(struct wr_sim *s, uint32_t k)
{
    struct wr_sim_mover *m = &s->movers[k];

    if (m->pending) {
        m->pending--;
        if (m->asked < bytes_of(s))
            ask_chunk(s, k);
        if (m->pending)
            return;
    }
    if (acts[m->acts])
        act(s, k);
    else
        published(s, k);
}

/* --- the training's side --- */

/* What the saver does before a byte is written: a copy, or forms of its own. */
static void begin_copy(struct wr_sim *s)
{
    const struct wr_plan_save *v = &s->p->save;
    double seconds = v->own_s;

    if (wr_plan_course_waits(&s->run))
        return;
    if (v->way == WR_PLAN_ASYNC && v->copy_bytes_per_s > 0)
        seconds += bytes_of(s) / v->copy_bytes_per_s;
    wr_sim_at(s, s->run.now + seconds * NS, WR_SIM_COPIED, 0);
}

void wr_sim_save(struct wr_sim *s)
{
    for (uint32_t g = 0; g < s->p->compute.accelerators; g++)
        wr_sim_doing(s, g, WR_SIM_SAVES);
    if (wr_plan_course_save(&s->run))
        begin_copy(s);
}

void wr_sim_copied(struct wr_sim *s)
{
    s->save_ready++;
    start_mover(s, WR_SIM_WRITER);
    if (s->p->save.way == WR_PLAN_ASYNC)
        end_stall(s);
}

/* --- beginning and end --- */

static int device_of(const struct wr_device_profile *p, struct wr_device **ret,
                     weir_err *err)
{
    return wr_device_new(p, ret, err);
}

int wr_sim_save_init(struct wr_sim *s, weir_err *err)
{
    const struct wr_plan_save *v = &s->p->save;
    struct wr_sim_mover *m = s->movers;
    int r = 0;

    if (v->way == WR_PLAN_NO_SAVES)
        return 0;
    if (v->on_input)
        s->slow = s->device;
    else
        r = device_of(&v->slow, &s->slow, err);
    if (r == 0 && v->way != WR_PLAN_DIRECT)
        r = device_of(&v->fast, &s->fast, err);
    m[WR_SIM_WRITER].to = s->fast ? s->fast : s->slow;
    if (s->fast) {
        m[WR_SIM_DRAINER].from = s->fast;
        m[WR_SIM_DRAINER].to = s->slow;
        s->run.drains = true;
    }
    return r;
}

void wr_sim_save_done(struct wr_sim *s)
{
    if (s->slow != s->device)
        wr_device_free(s->slow);
    wr_device_free(s->fast);
}
