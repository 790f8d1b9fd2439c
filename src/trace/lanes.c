/* lanes.c - what threads did when, and how long reads took when.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/lanes.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"

#define SHARE_MIN                                                              \
    1000 /* a thread with less of the busiest one's time is left */

struct lanes_walk {
    const struct wr_trace_file *f;
    struct wr_trace_lanes *l;
    size_t last; /* lane of the event before */
};

void wr_trace_lanes_free(struct wr_trace_lanes *l)
{
    if (!l)
        return;
    free(l->lanes);
    free(l);
}

/* --- which threads --- */

static int by_time(const void *a, const void *b)
{
    const struct wr_trace_thread *const *x = a, *const *y = b;

    return ((*x)->ns < (*y)->ns) - ((*x)->ns > (*y)->ns);
}

static int by_place(const void *a, const void *b)
{
    const struct wr_trace_lane *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static int choose_threads(struct wr_trace_lanes *l,
                          const struct wr_trace_analysis *a, weir_err *err)
{
    const struct wr_trace_thread **list = calloc(
        a->thread_count + 1, sizeof(const struct wr_trace_thread *));

    l->lanes = calloc(WR_LANES_MAX, sizeof(*l->lanes));
    if (!list || !l->lanes) {
        free(list);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    for (size_t k = 0; k < a->thread_count; k++)
        if (a->threads[k].ops)
            list[l->threads++] = &a->threads[k];
    qsort(list, l->threads, sizeof(*list), by_time);
    while (l->count < l->threads && l->count < WR_LANES_MAX &&
           list[l->count]->ns >= list[0]->ns / SHARE_MIN)
        l->count++;
    for (size_t k = 0; k < l->count; k++)
        l->lanes[k] = (struct wr_trace_lane){.process = list[k]->process,
                                             .tid = list[k]->tid,
                                             .first_ns = list[k]->first_ns,
                                             .last_ns = list[k]->last_ns};
    qsort(l->lanes, l->count, sizeof(*l->lanes), by_place);
    free(list);
    return 0;
}

/* --- the walk --- */

static struct wr_trace_lane *lane_of(struct lanes_walk *w,
                                     const struct wr_trace_event *e)
{
    struct wr_trace_lanes *l = w->l;

    for (size_t k = 0; k < l->count; k++) {
        size_t at = (w->last + k) % l->count;

        if (l->lanes[at].process == e->process &&
            l->lanes[at].tid == e->thread) {
            w->last = at;
            return &l->lanes[at];
        }
    }
    return NULL;
}

/* A call that lasts belongs to all stretches that it touches. */
static void spread(const struct wr_trace_lanes *l, struct wr_trace_lane *lane,
                   uint64_t from, uint64_t to)
{
    for (size_t k = from / l->bin_ns; k < l->bin_count && from < to; k++) {
        uint64_t end = WR_MIN(to, (k + 1) * l->bin_ns);

        lane->busy[k] += end - from;
        from = end;
    }
}

static size_t level_of(uint64_t ns)
{
    size_t level = 0;

    for (ns >>= WR_LANE_LOWEST + 1; ns && level < WR_LANE_LEVELS - 1; ns >>= 1)
        level++;
    return level;
}

static bool is_ordinary(const struct lanes_walk *w,
                        const struct wr_trace_event *e)
{
    return e->file == WR_TRACE_NO_FILE ||
           wr_trace_file_name(w->f, e->file)->kind == WR_TRACE_DATA;
}

static int on_events(void *arg, const struct wr_trace_event *e, size_t n)
{
    struct lanes_walk *w = arg;
    struct wr_trace_lanes *l = w->l;

    for (size_t k = 0; k < n; k++) {
        enum wr_trace_class class = wr_trace_op_class(e[k].op);
        size_t bin = (size_t)(e[k].start_ns / l->bin_ns);
        struct wr_trace_lane *lane;

        if (class >= WR_TRACE_CLASS_PROCESS || bin >= l->bin_count ||
            !is_ordinary(w, &e[k]))
            continue;
        if (class == WR_TRACE_CLASS_READ && e[k].bytes)
            l->reads[level_of(e[k].dur_ns)][bin]++;
        lane = lane_of(w, &e[k]);
        if (lane)
            spread(l, lane, e[k].start_ns, e[k].start_ns + e[k].dur_ns);
    }
    return 0;
}

int wr_trace_lanes_of(struct wr_trace_file *f,
                      const struct wr_trace_analysis *a,
                      struct wr_trace_lanes **ret, weir_err *err)
{
    struct wr_trace_lanes *l = calloc(1, sizeof(*l));
    struct lanes_walk w = {.f = f, .l = l};
    int r;

    if (!l)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    l->bin_ns = a->end_ns / WR_LANE_BINS + 1;
    l->bin_count = WR_MIN(a->end_ns / l->bin_ns + 1, (uint64_t)WR_LANE_BINS);
    r = choose_threads(l, a, err);
    if (r == 0)
        r = wr_trace_file_walk(f, on_events, &w, err);
    if (r < 0) {
        wr_trace_lanes_free(l);
        return r;
    }
    *ret = l;
    return 0;
}
