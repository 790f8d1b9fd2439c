/* probe_fill.c - the files of a probe, laid out before the first test.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/probe_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "measure/tree.h"

/* Many at once, for storage that answers late. */
#define CREATORS 8u

/* --- a big file --- */

struct fill {
    struct wr_probe_place *place; /* borrowed */
    const char *path;
    struct wr_object *object; /* owned */
    struct wr_queue *queue;   /* owned */
    uint8_t *buf;             /* owned */
    struct wr_io ios[WR_PROBE_FILL_DEPTH];
    uint64_t size, at, done;
    double from, to; /* of the progress */
    uint64_t told_ns;
};

static bool submit_block(struct fill *f, struct wr_io *io)
{
    struct wr_io *list[1] = {io};
    size_t len = (size_t)WR_MIN(f->size - f->at, WR_PROBE_FILL_BLOCK);

    if (!len)
        return true;
    wr_probe_noise(io->buf, len, f->place->plan->seed + f->at);
    io->op = WR_IO_WRITE;
    io->object = f->object;
    io->offset = f->at;
    io->len = len;
    f->at += len;
    return f->queue->ops->submit(f->queue, list, 1) == 1;
}

static void tell(struct fill *f)
{
    uint64_t now = wr_clock_ns();

    if (now < f->told_ns + 50 * WR_NS_PER_MS)
        return;
    f->told_ns = now;
    wr_probe_tell(f->place->plan, "lay out",
                  f->from +
                      (f->to - f->from) * (double)f->done / (double)f->size);
}

static int pump(struct fill *f, weir_err *err)
{
    struct wr_io *io;
    bool room = true;

    for (unsigned i = 0; room && i < WR_PROBE_FILL_DEPTH; i++) {
        f->ios[i].buf = f->buf + i * WR_PROBE_FILL_BLOCK;
        f->ios[i].cap = WR_PROBE_FILL_BLOCK;
        room = submit_block(f, &f->ios[i]);
    }
    while (room && f->queue->ops->reap(f->queue, &io, 1, /* wait= */ true)) {
        if (io->result < 0)
            return wr_io_error(io, f->path, err);
        f->done += io->len;
        tell(f);
        if (wr_probe_is_stopped(f->place->plan))
            return wr_fail(err, WEIR_ECANCELED, "stopped");
        room = submit_block(f, io);
    }
    return room ? 0 : wr_fail(err, WEIR_EIO, "'%s': queue is full", f->path);
}

static int fill_object(struct fill *f, weir_err *err)
{
    struct wr_store *st = f->place->store;
    struct wr_queue_config cfg = {.depth = WR_PROBE_FILL_DEPTH,
                                  .io = f->place->plan->io,
                                  .direct = true,
                                  .lazy = true};
    int r = 0;

    if (!f->object->ops->sync)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    if (f->object->ops->resize)
        r = f->object->ops->resize(f->object, f->size, err);
    if (r == 0)
        r = st->ops->queue_open(st, &cfg, &f->queue, err);
    if (r < 0)
        return r;
    f->buf = wr_big_alloc(WR_PROBE_FILL_DEPTH * WR_PROBE_FILL_BLOCK);
    r = f->buf ? pump(f, err) : wr_fail(err, WEIR_ENOMEM, "out of memory");
    f->queue->ops->close(f->queue); /* before the buffers go */
    wr_big_free(f->buf, WR_PROBE_FILL_DEPTH * WR_PROBE_FILL_BLOCK);
    return r < 0 ? r : f->object->ops->sync(f->object, err);
}

static int fill_file(struct fill *f, weir_err *err)
{
    struct wr_store *st = f->place->store;
    int r;

    r = st->ops->object_open(st, f->path, WR_OPEN_CREATE, &f->object, err);
    if (r < 0)
        return r;
    r = fill_object(f, err);
    if (r < 0) {
        f->object->ops->close(f->object, /* sync= */ false, NULL);
        return r;
    }
    return f->object->ops->close(f->object, /* sync= */ false, err);
}

/* --- small files --- */

void wr_probe_small_path(const struct wr_probe_place *p, char kind, unsigned k,
                         char *buf)
{
    snprintf(buf, WR_PROBE_PATH, "%s/%c%03u/%03u", p->folder, kind,
             k / WR_PROBE_PER_FOLDER, k % WR_PROBE_PER_FOLDER);
}

static unsigned folder_count(const struct wr_probe_place *p)
{
    return (p->plan->small_files + WR_PROBE_PER_FOLDER - 1) /
           WR_PROBE_PER_FOLDER;
}

static void folder_path(const struct wr_probe_place *p, char kind, unsigned i,
                        char *buf)
{
    snprintf(buf, WR_PROBE_PATH, "%s/%c%03u", p->folder, kind, i);
}

int wr_probe_small_folders(struct wr_probe_place *p, char kind, weir_err *err)
{
    char path[WR_PROBE_PATH];
    int r = 0;

    for (unsigned i = 0; r == 0 && i < folder_count(p); i++) {
        folder_path(p, kind, i, path);
        r = p->store->ops->change(p->store, WR_MKDIR, path, NULL, err);
    }
    return r;
}

int wr_probe_small_remove(struct wr_probe_place *p, char kind, weir_err *err)
{
    char path[WR_PROBE_PATH];
    int r = 0;

    for (unsigned i = 0; r == 0 && i < folder_count(p); i++) {
        folder_path(p, kind, i, path);
        r = wr_tree_remove(p->store, path, WR_PROBE_TREE, err);
    }
    return r;
}

static int lay_small(struct wr_probe_place *p, double from, double to,
                     weir_err *err)
{
    struct wr_probe_test test = {
        .op = WR_PROBE_CREATE, .depth = 1, .workers = CREATORS};
    struct wr_probe_job job = {.place = p,
                               .test = &test,
                               .kind = 's',
                               .name = "lay out",
                               .from = from,
                               .to = to};
    struct wr_probe_run run = {0};
    int r;

    r = wr_probe_small_folders(p, 's', err);
    if (r == 0)
        r = wr_probe_run(&job, &run, err);
    wr_probe_run_done(&run);
    return r;
}

int wr_probe_place_fill(struct wr_probe_place *p, double part, weir_err *err)
{
    struct wr_probe_needs n = wr_probe_needs_of(p->plan);
    bool big = n.reads && !p->plan->file;
    double step = part / WR_MAX(big + n.writes + n.files, 1), at = 0;
    int r = 0;

    wr_probe_tell(p->plan, "lay out", 0);
    if (n.writes) {
        struct fill f = {.place = p,
                         .path = p->write_path,
                         .size = p->plan->file_bytes,
                         .from = at,
                         .to = at + step};

        r = fill_file(&f, err);
        at += step;
    }
    if (r == 0 && big) {
        struct fill f = {.place = p,
                         .path = p->read_path,
                         .size = p->plan->file_bytes,
                         .from = at,
                         .to = at + step};

        r = fill_file(&f, err);
        at += step;
    }
    if (r == 0 && n.files)
        r = lay_small(p, at, at + step, err);
    return r;
}
