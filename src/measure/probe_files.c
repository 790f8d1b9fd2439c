/* probe_files.c - tests of many small files.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files are read in a shuffled order, each once: open, read all, close. They
 * are created as mdtest does it: create, write, close; the system brings them
 * to the medium when it likes, for no one syncs a data set file by file. */
#include "measure/probe_private.h"

#include "base/clock.h"
#include "base/error.h"

bool wr_probe_next_file(struct wr_probe_worker *w, uint64_t now_ns,
                        unsigned *ret)
{
    struct wr_probe_crew *c = w->crew;
    uint64_t k;

    if (!wr_probe_goes_on(w, now_ns))
        return false;
    k = c->next++;
    if (k >= c->perm.n)
        return false;
    *ret = (unsigned)wr_perm_at(&c->perm, k);
    return true;
}

/* Adds what one file took, step by step. */
static uint64_t count_file(struct wr_probe_worker *w, const uint64_t ns[4],
                           uint64_t bytes)
{
    wr_hist_add(&w->open, ns[1] - ns[0]);
    wr_hist_add(&w->transfer, ns[2] - ns[1]);
    wr_hist_add(&w->close, ns[3] - ns[2]);
    wr_probe_count(w, bytes, ns[3] - ns[0], ns[3]);
    return ns[3];
}

/* One file, blocking; ns[0] is given, the others are filled. */
static int do_file(struct wr_probe_worker *w, unsigned k, bool create,
                   uint64_t ns[4])
{
    const struct wr_probe_job *job = w->crew->job;
    struct wr_store *st = job->place->store;
    uint64_t size = job->place->small_bytes[k];
    char path[WR_PROBE_PATH];
    struct wr_object *o;
    int r;

    wr_probe_small_path(job->place, job->kind, k, path);
    r = st->ops->object_open(st, path, create ? WR_OPEN_CREATE : WR_OPEN_READ,
                             &o, &w->err);
    if (r < 0)
        return r;
    ns[1] = wr_clock_ns();
    r = create ? o->ops->write(o, w->buf, (size_t)size, 0, &w->err)
               : wr_probe_read(w, o, path, 0, (size_t)size);
    ns[2] = wr_clock_ns();
    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    r = o->ops->close(o, /* sync= */ false, &w->err);
    ns[3] = wr_clock_ns();
    return r;
}

static int do_files(struct wr_probe_worker *w, bool create)
{
    uint64_t ns[4] = {wr_clock_ns()};
    unsigned k;
    int r;

    while (wr_probe_next_file(w, ns[0], &k)) {
        r = do_file(w, k, create, ns);
        if (r < 0)
            return r;
        ns[0] = count_file(w, ns, w->crew->job->place->small_bytes[k]);
    }
    return 0;
}

static bool next_path(struct wr_probe_worker *w, unsigned slot, uint64_t now_ns)
{
    const struct wr_probe_job *job = w->crew->job;
    unsigned k;

    if (!wr_probe_next_file(w, now_ns, &k))
        return false;
    wr_probe_small_path(job->place, job->kind, k, w->paths[slot]);
    w->ios[slot].path = w->paths[slot];
    w->ios[slot].len = (size_t)job->place->small_bytes[k];
    return true;
}

int wr_probe_read_files(struct wr_probe_worker *w)
{
    return w->queue ? wr_probe_pump(w, next_path)
                    : do_files(w, /* create= */ false);
}

int wr_probe_create_files(struct wr_probe_worker *w)
{
    return do_files(w, /* create= */ true);
}
