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

static bool drains(const struct wr_sim *s)
{
    return s->movers[WR_SIM_DRAINER].to;
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
        (uint64_t)s->now_ns);
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
    struct wr_sim_save *v = &s->saves[m->next];
    bool last = k == WR_SIM_DRAINER || !drains(s);

    m->busy = false;
    m->next++;
    if (k == WR_SIM_WRITER)
        v->written_ns = s->now_ns;
    if (last)
        v->durable_ns = s->now_ns;
    if (s->blocked)
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

/* Whether what is needed for another save is still in use. */
static bool must_wait(const struct wr_sim *s)
{
    uint64_t older = s->save_count - 1;
    const struct wr_plan_save *v = &s->p->save;

    if (v->way == WR_PLAN_ASYNC && s->movers[WR_SIM_WRITER].next < older)
        return true; /* the copy in memory */
    return drains(s) && v->kept &&
           older - s->movers[WR_SIM_DRAINER].next >= v->kept;
}

/* What the saver does before a byte is written: a copy, or forms of its own. */
static void begin_copy(struct wr_sim *s)
{
    const struct wr_plan_save *v = &s->p->save;
    double seconds = v->own_s;

    s->blocked = must_wait(s);
    if (s->blocked)
        return;
    if (v->way == WR_PLAN_ASYNC && v->copy_bytes_per_s > 0)
        seconds += bytes_of(s) / v->copy_bytes_per_s;
    wr_sim_at(s, s->now_ns + seconds * NS, WR_SIM_COPIED, 0);
}

void wr_sim_save(struct wr_sim *s)
{
    for (uint32_t g = 0; g < s->p->compute.accelerators; g++)
        wr_sim_doing(s, g, WR_SIM_SAVES);
    if (!wr_grow(&s->saves, &s->save_cap, s->save_count + 1,
                 sizeof(*s->saves))) {
        s->failed = true;
        return;
    }
    s->saves[s->save_count++] = (struct wr_sim_save){
        .begun_ns = s->now_ns, .written_ns = NAN, .durable_ns = NAN};
    begin_copy(s);
    s->result->saves++;
    s->result->saves_blocked += s->blocked;
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
    }
    return r;
}

void wr_sim_save_done(struct wr_sim *s)
{
    if (s->slow != s->device)
        wr_device_free(s->slow);
    wr_device_free(s->fast);
    free(s->saves);
}

void wr_sim_save_result(struct wr_sim *s)
{
    double durable = 0;
    size_t n = 0;

    for (size_t k = 0; k < s->save_count; k++) {
        if (isnan(s->saves[k].durable_ns))
            continue;
        durable += s->saves[k].durable_ns - s->saves[k].begun_ns;
        n++;
    }
    s->result->save_durable_s = n ? durable / (double)n / NS : NAN;
    s->result->save_stall_s = s->save_count
                                  ? s->result->part_s[WR_PLAN_FOR_SAVES] /
                                        (double)s->save_count
                                  : NAN;
}
