/* saves.c - bursts of writing: checkpoints, and whether they are safe.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For a file that is written, `pass_bytes` are those of the burst, and `covered`
 * is when it began. */
#include "base/mem.h"
#include "trace/analysis_private.h"

/* --- which reads of the data set began while something was written --- */

/* A call is known when it has ended: a long write comes behind reads that began
 * during it. So reads wait here until there are many, and are told apart then. */

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

static void meanwhile_write(struct wr_trace_walk *w,
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

/* --- bursts of writing --- */

/* Bits of wr_trace_use.flags. */
enum { DIRTY = 1, WAS_SAVED = 2, CUT = 4 };

#define SAVES_MAX 65536
#define BREAK_NS  UINT64_C(100000000)
#define BESIDE_NS UINT64_C(10000000)

/* The save that a burst belongs to: the last one of its process, or a new
 * one. */
static struct wr_trace_save *save_of(struct wr_trace_walk *w,
                                     const struct wr_trace_event *e,
                                     const struct wr_trace_use *u)
{
    struct wr_trace_analysis *a = w->a;
    const struct wr_trace_process *p = wr_trace_file_process(a->file,
                                                             e->process);
    int32_t last = w->saving[e->process];

    if (last >= 0 && u->covered <= a->saves[last].end_ns + WR_SAVE_GAP_NS)
        return &a->saves[last];
    if (a->save_count >= SAVES_MAX)
        return NULL;
    if (!wr_grow(&a->saves, &w->save_cap, a->save_count + 1,
                 sizeof(*a->saves))) {
        w->no_memory = true;
        return NULL;
    }
    a->saves[a->save_count] = (struct wr_trace_save){
        .start_ns = u->covered,
        .end_ns = u->covered,
        .bursts = 1,
        .process = e->process,
        .file = e->file,
        .main_thread = e->thread == (uint32_t)p->pid};
    w->saving[e->process] = (int32_t)a->save_count;
    return &a->saves[a->save_count++];
}

/* A burst that has become one enters with all it has written so far. */
static void enter(struct wr_trace_walk *w, const struct wr_trace_event *e,
                  struct wr_trace_use *u)
{
    struct wr_trace_save *s = save_of(w, e, u);

    if (!s)
        return;
    s->files++;
    s->bytes += u->pass_bytes - e->bytes; /* the event itself comes after */
    s->start_ns = WR_MIN(s->start_ns, u->covered);
    if (u->flags & CUT)
        u->fault |= WR_TRACE_UNSAFE_IN_PLACE;
    u->fault |= WR_TRACE_SAVED;
}

/* A short time between two calls goes into what is written next; in a longer one
 * training went on. */
static void add_pause(struct wr_trace_save *s, uint64_t from, uint64_t to)
{
    if (to <= s->end_ns)
        return;
    if (from < s->end_ns + BREAK_NS)
        from = s->end_ns;
    else
        s->bursts++;
    s->pause_ns += to - from;
}

static void extend(struct wr_trace_walk *w, const struct wr_trace_event *e,
                   const struct wr_trace_use *u)
{
    struct wr_trace_save *s = save_of(w, e, u);
    enum wr_trace_class class = wr_trace_op_class(e->op);

    if (!s)
        return;
    add_pause(s, e->start_ns, e->start_ns + e->dur_ns);
    s->end_ns = WR_MAX(s->end_ns, e->start_ns + e->dur_ns);
    if (class == WR_TRACE_CLASS_WRITE) {
        s->bytes += e->bytes;
        s->write_ns += e->dur_ns;
    } else if (class == WR_TRACE_CLASS_SYNC) {
        s->sync_ns += e->dur_ns;
    } else {
        s->meta_ns += e->dur_ns;
    }
    if (u->pass_bytes > s->largest) {
        s->largest = u->pass_bytes;
        s->file = e->file;
    }
}

static void written(struct wr_trace_walk *w, const struct wr_trace_event *e,
                    struct wr_trace_use *u)
{
    uint64_t before;

    /* It was read before and is now another thing; or it begins here. */
    if (!u->bytes_written && (u->passes || !u->covered)) {
        u->pass_bytes = 0;
        u->covered = e->start_ns;
    }
    if (e->start_ns > u->covered + WR_SAVE_GAP_NS &&
        (!u->pass_bytes || e->start_ns > u->last_ns + WR_SAVE_GAP_NS)) {
        u->pass_bytes = 0; /* opened, or written to, long ago */
        u->covered = e->start_ns;
    }
    before = u->pass_bytes;
    u->pass_bytes += e->bytes;
    u->flags |= DIRTY;
    meanwhile_write(w, e);
    if (u->pass_bytes < WR_SAVE_BYTES)
        return;
    if (before < WR_SAVE_BYTES)
        enter(w, e, u);
    extend(w, e, u);
}

/* Opened to be written: what was there is gone if it is cut. Only what was saved
 * in this run is known to have been there. */
static void opened(const struct wr_trace_event *e, struct wr_trace_use *u)
{
    if (!u->bytes_written && !(e->flags & WR_TRACE_TRUNC))
        return; /* read so far: these fields are of its passes */
    u->pass_bytes = 0;
    u->covered = e->start_ns;
    u->flags &= (uint8_t)~CUT;
    if (u->flags & WAS_SAVED && (e->flags & WR_TRACE_TRUNC))
        u->flags |= CUT;
}

static void renamed(struct wr_trace_walk *w, const struct wr_trace_event *e,
                    struct wr_trace_use *u)
{
    if (u->pass_bytes >= WR_SAVE_BYTES) {
        if (u->flags & DIRTY)
            u->fault |= WR_TRACE_UNSAFE_RENAME;
        extend(w, e, u);
    }
    u->flags = 0; /* whatever is written here next is another file */
    u->pass_bytes = 0;
}

void wr_trace_save_read(struct wr_trace_walk *w, const struct wr_trace_event *e)
{
    int32_t last = w->saving[e->process];

    if (last >= 0 && e->start_ns < w->a->saves[last].end_ns + WR_SAVE_GAP_NS)
        w->a->saves[last].read_bytes += e->bytes;
}

/* The sync of another file that follows at once is part of the save: a journal
 * beside a database. */
static void synced_beside(struct wr_trace_walk *w,
                          const struct wr_trace_event *e)
{
    int32_t last = w->saving[e->process];
    struct wr_trace_save *s = last < 0 ? NULL : &w->a->saves[last];
    const struct wr_trace_process *p = wr_trace_file_process(w->a->file,
                                                             e->process);

    if (!s || e->start_ns > s->end_ns + BESIDE_NS ||
        s->main_thread != (e->thread == (uint32_t)p->pid))
        return;
    add_pause(s, e->start_ns, e->start_ns + e->dur_ns);
    s->end_ns = WR_MAX(s->end_ns, e->start_ns + e->dur_ns);
}

void wr_trace_save_event(struct wr_trace_walk *w,
                         const struct wr_trace_event *e, struct wr_trace_use *u)
{
    if (e->flags & WR_TRACE_FAILED)
        return;
    if (wr_trace_op_class(e->op) == WR_TRACE_CLASS_WRITE) {
        written(w, e, u);
        return;
    }
    if (e->op == WR_TRACE_OPEN && (e->flags & WR_TRACE_WRITES)) {
        opened(e, u);
    } else if (e->op == WR_TRACE_RENAME) {
        renamed(w, e, u);
    } else if (u->pass_bytes >= WR_SAVE_BYTES && u->bytes_written) {
        if (wr_trace_op_class(e->op) == WR_TRACE_CLASS_SYNC) {
            u->flags &= (uint8_t)~DIRTY;
            u->fault |= WR_TRACE_SYNCED;
            extend(w, e, u);
        } else if (e->op == WR_TRACE_CLOSE) {
            u->flags |= WAS_SAVED;
            extend(w, e, u);
        }
    } else if (wr_trace_op_class(e->op) == WR_TRACE_CLASS_SYNC) {
        synced_beside(w, e);
    }
}
