/* load.c - units on their way: what workers do for them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whoever is told a unit's next step does it: asks for pieces through its own
 * queue, feeds one to the filters when the schedule says so, hands over the
 * samples that waited. So a unit may begin with one worker and end with
 * another. */
#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "pipeline/worker.h"

/* A block is read in place of the sample that asked first, so there is room
 * for it in the queue. Pieces of units of the index take turns. */
static void send_piece(struct wr_worker *w, struct wr_unit_piece *p)
{
    struct wr_unit_piece **end = &w->pieces;

    if (!p->unit->group->indexed) {
        wr_send(w, WR_LANE_STORE, &p->rd);
        return;
    }
    while (*end)
        end = &(*end)->next;
    p->next = NULL;
    *end = p;
}

void wr_send_pieces(struct wr_worker *w)
{
    while (w->pieces && w->pieces_out < w->pieces_most) {
        struct wr_unit_piece *p = w->pieces;

        w->pieces = p->next;
        w->pieces_out++;
        wr_send(w, WR_LANE_STORE, &p->rd);
    }
}

/* Resources lack for it: it is read later; false: that was tried for long
 * enough. */
static bool send_later(struct wr_worker *w, struct wr_unit_piece *p)
{
    uint64_t due = wr_lack_due(w, &p->lack_ns);

    if (!due)
        return false;
    w->lacking_due_ns = due;
    p->next = w->lacking_pieces;
    w->lacking_pieces = p;
    return true;
}

void wr_send_lacking_pieces(struct wr_worker *w)
{
    struct wr_unit_piece *list = w->lacking_pieces, *p;

    w->lacking_pieces = NULL;
    while ((p = list)) {
        list = p->next;
        send_piece(w, p);
    }
}

static void ask(struct wr_worker *w, struct wr_shared *u)
{
    struct wr_unit_piece *p;

    while ((p = wr_unit_ask(u)))
        send_piece(w, p);
}

/* No part of a unit of the index can be read alone. Which samples of a block
 * are bad shows when each is. */
static void fail(struct wr_worker *w, struct wr_shared *u)
{
    bool indexed = u->group->indexed;
    struct wr_read *list;
    weir_err err;

    wr_unit_why(u, &err);
    list = wr_unit_failed(u);
    if (!indexed) {
        wr_sched_retry(w->sched, list);
        return;
    }
    while (list) {
        struct wr_task *t = list->task;

        wr_read_fail(list, &err);
        list = list->next_waiting;
        if (!wr_task_is_complete(t))
            continue;
        wr_task_judge(t);
        wr_task_release(t);
        wr_sched_finish(w->sched, &t, 1);
    }
}

/* From its beginning; after a while where resources lacked. */
static void try_again(struct wr_worker *w, struct wr_shared *u)
{
    struct wr_unit_piece *p;
    weir_err err;

    wr_unit_why(u, &err);
    if (wr_err_is_lack(err.code) && wr_sched_is_over(w->sched)) {
        fail(w, u);
        return;
    }
    wr_unit_restart(u);
    p = wr_unit_ask(u); /* NULL: nothing is stored */
    if (p && (!wr_err_is_lack(err.code) || !send_later(w, p)))
        send_piece(w, p);
    wr_unit_go_on(w, u, wr_unit_next(u));
}

void wr_unit_go_on(struct wr_worker *w, struct wr_shared *u,
                   enum wr_unit_next next)
{
    while (next == WR_NEXT_ASK) {
        ask(w, u);
        next = wr_unit_next(u);
    }
    switch (next) {
    case WR_NEXT_ASK:
    case WR_NEXT_IDLE:
        break;
    case WR_NEXT_FEED:
        wr_sched_unpack(w->sched, w, u);
        break;
    case WR_NEXT_LOADED:
        wr_sched_arrive_list(w->sched, wr_unit_loaded(u));
        break;
    case WR_NEXT_FAILED:
        fail(w, u);
        break;
    case WR_NEXT_AGAIN:
        try_again(w, u);
        break;
    }
}

void wr_piece_arrived(struct wr_worker *w, struct wr_unit_piece *p)
{
    struct wr_shared *u = p->unit;

    if (u->group->indexed)
        w->pieces_out--;
    if (wr_unit_retries(p))
        send_piece(w, p);
    else if (!wr_err_is_lack(p->rd.result) || !u->group->indexed ||
             !send_later(w, p))
        wr_unit_go_on(w, u, wr_unit_came(p));
}

void wr_unpack(struct wr_worker *w, struct wr_shared *u)
{
    uint64_t start = wr_clock_ns();

    wr_unit_feed(u);
    wr_count(&w->stats.decode, wr_clock_ns() - start);
    wr_unit_go_on(w, u, wr_unit_next(u));
}
