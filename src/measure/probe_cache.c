/* probe_cache.c - keeps the page cache out of a probe, and looks for others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/probe_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "monitor/host.h"
#include "monitor/pagecache.h"

#define PATH_CAP 8192
/* A lone read of 4 KiB is not faster on a spinning disk, for it must turn, nor
 * on a virtual one, for the way through the hypervisor takes as long. */
#define SPINNING_NS 1000000u
#define VIRTUAL_NS  30000u
/* So much slower is a first pass that filled a cache for the others. */
#define FIRST_PASS 1.5

/* --- the page cache --- */

/* The part of a file that is resident after dropping it; -1: not known. */
static int drop_file(struct wr_store *st, const char *path, double *ret,
                     weir_err *err)
{
    struct wr_residency now;
    char local[PATH_CAP];
    int fd, r;

    *ret = -1;
    if (!st->ops->local_path ||
        !st->ops->local_path(st, path, local, sizeof(local)))
        return 0;
    fd = open(local, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return wr_fail_errno(err, errno, "'%s': cannot open", local);
    r = wr_pagecache_drop_fd(fd, &now, err);
    close(fd);
    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", local);
    if (now.means != WR_RESIDENCY_UNKNOWN && now.bytes)
        *ret = (double)now.resident_bytes / (double)now.bytes;
    return 0;
}

static bool stop_dropping(void *ctx, uint64_t files, uint64_t bytes)
{
    const struct wr_probe_plan *const *plan = ctx;

    return wr_probe_is_stopped(*plan);
}

static void free_paths(char **paths, unsigned n)
{
    for (unsigned i = 0; paths && i < n; i++)
        free(paths[i]);
    free(paths);
}

static char **small_paths(const struct wr_probe_place *p)
{
    unsigned n = p->plan->small_files;
    char **paths = calloc(n ? n : 1, sizeof(char *));
    char rel[WR_PROBE_PATH], local[PATH_CAP];

    for (unsigned k = 0; paths && k < n; k++) {
        wr_probe_small_path(p, 's', k, rel);
        if (!p->store->ops->local_path(p->store, rel, local, sizeof(local)) ||
            !(paths[k] = strdup(local))) {
            free_paths(paths, n);
            return NULL;
        }
    }
    return paths;
}

static int drop_small(struct wr_probe_place *p, double *ret, weir_err *err)
{
    const struct wr_probe_plan *plan = p->plan;
    struct wr_pagecache_job job = {
        .count = plan->small_files, .progress = stop_dropping, .ctx = &plan};
    struct wr_pagecache_report report;
    char **paths;
    int r;

    *ret = -1;
    if (!p->store->ops->local_path)
        return 0;
    paths = small_paths(p);
    if (!paths)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    job.paths = paths;
    r = wr_pagecache_drop(&job, &report, err);
    free_paths(paths, plan->small_files);
    if (r < 0)
        return r;
    if (report.failures)
        return wr_fail(err, WEIR_EIO, "%s", report.failed[0]);
    if (report.bytes && !report.unknown_files)
        *ret = (double)report.resident_bytes / (double)report.bytes;
    return 0;
}

int wr_probe_make_cold(struct wr_probe_place *p,
                       const struct wr_probe_test *test, double *ret_resident,
                       weir_err *err)
{
    switch (test->op) {
    case WR_PROBE_READ:
        return drop_file(p->read_store, p->read_path, ret_resident, err);
    case WR_PROBE_WRITE:
    case WR_PROBE_SYNC:
        return drop_file(p->store, p->write_path, ret_resident, err);
    case WR_PROBE_FILES:
        return drop_small(p, ret_resident, err);
    case WR_PROBE_CREATE:
        break;
    }
    *ret_resident = -1;
    return 0;
}

/* --- O_DIRECT --- */

/* Reads the first bytes of a file past the page cache. */
static int read_direct(struct wr_store *st, const char *path, uint64_t size,
                       weir_err *err)
{
    struct wr_queue_config cfg = {.depth = 1, .direct = true};
    struct wr_io io = {.len = (size_t)WR_MIN(size, (uint64_t)WR_DIRECT_ALIGN),
                       .cap = wr_read_cap(WR_DIRECT_ALIGN, true)};
    struct wr_io *list[1] = {&io};
    struct wr_queue *q = NULL;
    int r;

    r = st->ops->object_open(st, path, WR_OPEN_READ, &io.object, err);
    if (r < 0)
        return r;
    io.buf = aligned_alloc(WR_DIRECT_ALIGN, io.cap);
    r = io.buf ? st->ops->queue_open(st, &cfg, &q, err)
               : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0) {
        if (q->ops->submit(q, list, 1) == 1)
            q->ops->reap(q, list, 1, /* wait= */ true);
        r = io.result < 0 ? wr_io_error(&io, path, err) : 0;
        q->ops->close(q);
    }
    free(io.buf);
    io.object->ops->close(io.object, /* sync= */ false, NULL);
    return r;
}

/* A store tells nobody whether it could open the file so: it takes the page
 * cache where it cannot. The page cache tells. */
static int file_is_direct(struct wr_store *st, const char *path, uint64_t size,
                          bool *ret, weir_err *err)
{
    struct wr_residency now;
    char local[PATH_CAP];
    double resident;
    int fd, r;

    *ret = true;
    if (!st->ops->local_path ||
        !st->ops->local_path(st, path, local, sizeof(local)))
        return 0;
    r = drop_file(st, path, &resident, err);
    if (r == 0)
        r = read_direct(st, path, size, err);
    if (r < 0)
        return r;
    fd = open(local, O_RDONLY | O_DIRECT | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        *ret = false;
        return 0;
    }
    r = wr_residency_of(fd, /* mincore_only= */ false, &now, err);
    close(fd);
    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", local);
    if (now.means != WR_RESIDENCY_UNKNOWN)
        *ret = now.resident_bytes == 0;
    return 0;
}

int wr_probe_direct_works(struct wr_probe_place *p, enum wr_probe_op op,
                          bool *ret, weir_err *err)
{
    struct wr_probe_needs n = wr_probe_needs_of(p->plan);
    char path[WR_PROBE_PATH];

    *ret = true;
    if (op == WR_PROBE_READ && n.reads)
        return file_is_direct(p->read_store, p->read_path, p->read_bytes, ret,
                              err);
    if (op == WR_PROBE_WRITE && n.writes)
        return file_is_direct(p->store, p->write_path, p->plan->file_bytes, ret,
                              err);
    if (op == WR_PROBE_FILES && n.files) {
        wr_probe_small_path(p, 's', 0, path);
        return file_is_direct(p->store, path, p->small_bytes[0], ret, err);
    }
    return 0;
}

/* --- caches below the kernel --- */

static void add_sign(struct wr_probe_cache *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void add_sign(struct wr_probe_cache *c, const char *fmt, ...)
{
    size_t len = strlen(c->signs);
    va_list ap;

    if (len)
        len += (size_t)snprintf(c->signs + len, sizeof(c->signs) - len, "; ");
    if (len < sizeof(c->signs)) {
        va_start(ap, fmt);
        vsnprintf(c->signs + len, sizeof(c->signs) - len, fmt, ap);
        va_end(ap);
    }
    c->below = true;
}

static bool is_direct_read(const struct wr_probe_test *t)
{
    return t->op == WR_PROBE_READ && t->direct;
}

static void judge_latency(const struct wr_probe_place *p,
                          const struct wr_host_fs *fs,
                          struct wr_probe_report *r)
{
    bool virtual = !strncmp(fs->device, "vd", 2) ||
                   !strncmp(fs->device, "xvd", 3);
    uint64_t limit = virtual               ? VIRTUAL_NS
                     : fs->rotational == 1 ? SPINNING_NS
                                           : 0;
    char text[32];

    for (size_t i = 0; i < r->count; i++) {
        const struct wr_probe_test *t = &p->plan->tests[i];
        const struct wr_probe_result *res = &r->results[i];
        uint64_t p50;

        if (!is_direct_read(t) || t->pattern != WR_PROBE_RANDOM ||
            t->block != 4096 || t->depth != 1 || t->workers != 1 ||
            !res->run_count)
            continue;
        p50 = wr_hist_quantile(res->runs[res->median].latency, 0.5);
        if (p50 && p50 < limit)
            add_sign(&r->cache,
                     "a lone read of 4 KiB takes %s, too fast for a %s disk",
                     wr_format_ns(text, sizeof(text), (double)p50),
                     virtual ? "virtual" : "spinning");
    }
}

/* Whether every later pass was so much faster than the first. */
static bool first_was_slow(const struct wr_probe_result *res)
{
    for (unsigned i = 1; i < res->run_count; i++)
        if (res->runs[i].v.ops_per_s < FIRST_PASS * res->runs[0].v.ops_per_s)
            return false;
    return res->run_count > 1;
}

static void judge_passes(const struct wr_probe_place *p,
                         struct wr_probe_report *r)
{
    unsigned seen = 0, slow = 0;

    for (size_t i = 0; i < r->count; i++) {
        if (!is_direct_read(&p->plan->tests[i]) || r->results[i].run_count < 2)
            continue;
        seen++;
        slow += first_was_slow(&r->results[i]);
    }
    /* One of many may be chance. */
    if (slow && (slow > 1 || seen == 1))
        add_sign(&r->cache,
                 "the first pass was slower than all later ones by half or "
                 "more in %u of %u direct reads",
                 slow, seen);
}

void wr_probe_find_cache_below(const struct wr_probe_place *p,
                               struct wr_probe_report *r)
{
    struct wr_host_fs fs;
    char local[PATH_CAP];
    struct wr_store *st = p->read_store ? p->read_store : p->store;

    /* Behind another door the disk below says nothing about latencies. */
    if (st->ops == &wr_storage_file &&
        st->ops->local_path(st, "", local, sizeof(local)) &&
        wr_host_fs_of(local, &fs, NULL) == 0)
        judge_latency(p, &fs, r);
    judge_passes(p, r);
}
