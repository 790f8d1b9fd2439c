/* pagecache.c - asks, empties and fills the page cache, file by file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "monitor/pagecache.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"

/* The number is the same on every architecture but alpha. */
#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif

#define MINCORE_PAGES 16384 /* asked about at once: 64 MiB of 4 KiB pages */

/* As the kernel's ABI has them; older headers do not. */
struct cachestat_range {
    uint64_t off, len;
};
struct cachestat_counts {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

static int by_cachestat(int fd, uint64_t page, struct wr_residency *r)
{
    struct cachestat_range all = {0, 0}; /* length 0: to the end */
    struct cachestat_counts c = {0};

    if (syscall(__NR_cachestat, fd, &all, &c, 0))
        return -errno;
    r->resident_bytes = WR_MIN(c.cached * page, r->bytes);
    r->dirty_bytes = WR_MIN((c.dirty + c.writeback) * page, r->bytes);
    r->means = WR_RESIDENCY_CACHESTAT;
    return 0;
}

static bool may_ask_mincore(int fd, const struct stat *st)
{
    char self[32];

    if (geteuid() == 0 || st->st_uid == geteuid())
        return true;
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return access(self, W_OK) == 0;
}

/* Resident pages of `len` bytes at `off` (page-aligned); negative errno. */
static int64_t mincore_range(int fd, uint64_t off, size_t len, uint64_t page)
{
    unsigned char map[MINCORE_PAGES];
    size_t pages = (len + page - 1) / page;
    int64_t resident = 0;
    void *p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)off);
    int e;

    if (p == MAP_FAILED)
        return -errno;
    e = mincore(p, len, map) ? errno : 0;
    munmap(p, len);
    if (e)
        return -e;
    for (size_t i = 0; i < pages; i++)
        resident += map[i] & 1;
    return resident;
}

static int by_mincore(int fd, uint64_t page, struct wr_residency *r)
{
    uint64_t step = MINCORE_PAGES * page, pages = 0;

    for (uint64_t off = 0; off < r->bytes; off += step) {
        size_t len = (size_t)WR_MIN(step, r->bytes - off);
        int64_t n = mincore_range(fd, off, len, page);

        if (n < 0)
            return (int)n;
        pages += (uint64_t)n;
    }
    r->resident_bytes = WR_MIN(pages * page, r->bytes);
    r->dirty_bytes = 0;
    r->means = WR_RESIDENCY_MINCORE;
    return 0;
}

/* cachestat looks at the file that was opened. On a stacked file system
 * (overlayfs) the pages belong to the file below, and cachestat finds none;
 * mincore looks through a mapping, which leads there. So "none" counts only
 * when mincore agrees. */
static int ask(int fd, uint64_t page, bool may_mincore, struct wr_residency *r)
{
    struct wr_residency other = *r;
    int e = by_cachestat(fd, page, r);

    if (e || r->resident_bytes || !r->bytes || !may_mincore)
        return e;
    if (by_mincore(fd, page, &other) == 0 && other.resident_bytes)
        *r = other;
    return 0;
}

int wr_residency_of(int fd, bool mincore_only, struct wr_residency *ret,
                    weir_err *err)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct wr_residency r = {0};
    struct stat st;
    bool may_mincore;
    int e;

    if (fstat(fd, &st))
        return wr_fail_errno(err, errno, "cannot stat");
    if (!S_ISREG(st.st_mode))
        return wr_fail(err, WEIR_EINVAL, "not a regular file");
    r.bytes = (uint64_t)st.st_size;
    may_mincore = may_ask_mincore(fd, &st);
    e = mincore_only ? -ENOSYS : ask(fd, page, may_mincore, &r);
    if (e && may_mincore)
        e = by_mincore(fd, page, &r);
    else if (e)
        r.means = WR_RESIDENCY_UNKNOWN;
    if (e && r.means != WR_RESIDENCY_UNKNOWN)
        return wr_fail_errno(err, -e, "cannot ask for residency");
    *ret = r;
    return 0;
}

struct walk_find {
    dev_t dev;
    ino_t ino;
    uint64_t bytes;
    char *path; /* owned */
};

struct walk_list {
    struct walk_find *item; /* owned */
    size_t count, cap;
};

static void list_done(struct walk_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->item[i].path);
    free(l->item);
}

static int add_file(struct walk_list *l, const FTSENT *e, weir_err *err)
{
    char *path = strdup(e->fts_path);

    if (!path || !wr_grow(&l->item, &l->cap, l->count + 1, sizeof(*l->item))) {
        free(path);
        return wr_fail(err, WEIR_ENOMEM, "no memory for a list of files");
    }
    l->item[l->count++] = (struct walk_find){
        e->fts_statp->st_dev, e->fts_statp->st_ino,
        (uint64_t)e->fts_statp->st_size, path};
    return 0;
}

static void skip(struct wr_walk *w, const FTSENT *e)
{
    if (!w->skipped++)
        snprintf(w->reason, sizeof(w->reason), "'%s': %s", e->fts_path,
                 strerror(e->fts_errno));
}

static int visit(struct wr_walk *w, struct walk_list *l, const FTSENT *e,
                 weir_err *err)
{
    switch (e->fts_info) {
    case FTS_F:
        return add_file(l, e, err);
    case FTS_NS:
    case FTS_DNR:
    case FTS_ERR:
        if (e->fts_level == FTS_ROOTLEVEL)
            return wr_fail_errno(err, e->fts_errno, "'%s'", e->fts_path);
        skip(w, e);
        return 0;
    case FTS_SLNONE:
        if (e->fts_level == FTS_ROOTLEVEL)
            return wr_fail(err, WEIR_ENOENT, "'%s': a link to nothing",
                           e->fts_path);
        return 0;
    default: /* directories, loops, devices */
        return 0;
    }
}

static int by_inode(const void *a, const void *b)
{
    const struct walk_find *x = a, *y = b;

    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    if (x->ino != y->ino)
        return x->ino < y->ino ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Moves each file once from the list to the result. */
static int take_unique(struct wr_walk *w, struct walk_list *l, weir_err *err)
{
    w->paths = calloc(l->count + 1, sizeof(*w->paths));
    if (!w->paths)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a list of files");
    if (l->count)
        qsort(l->item, l->count, sizeof(*l->item), by_inode);
    for (size_t i = 0; i < l->count; i++) {
        struct walk_find *f = &l->item[i];

        if (i && f->dev == f[-1].dev && f->ino == f[-1].ino)
            continue;
        w->paths[w->count++] = f->path;
        w->bytes += f->bytes;
        f->path = NULL;
    }
    return 0;
}

int wr_walk_init(struct wr_walk *ret, char *const *roots, size_t root_count,
                 weir_err *err)
{
    char **argv = calloc(root_count + 1, sizeof(*argv));
    struct wr_walk w = {0};
    struct walk_list l = {0};
    FTS *fts = NULL;
    FTSENT *e;
    int r = 0;

    if (argv && root_count) {
        memcpy(argv, roots, root_count * sizeof(*argv));
        fts = fts_open(argv, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    }
    if (!fts) {
        r = wr_fail(err, argv ? WEIR_EINVAL : WEIR_ENOMEM,
                    "cannot walk through the paths");
        goto out;
    }
    while (r == 0 && (errno = 0, e = fts_read(fts)))
        r = visit(&w, &l, e, err);
    if (r == 0 && errno)
        r = wr_fail_errno(err, errno, "walking through the paths");
    if (r == 0)
        r = take_unique(&w, &l, err);
    if (r == 0)
        *ret = w;
out:
    if (fts)
        fts_close(fts);
    list_done(&l);
    free(argv);
    return r;
}

void wr_walk_done(struct wr_walk *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->paths[i]);
    free(w->paths);
    *w = (struct wr_walk){0};
}

#define DROP_CACHES  "/proc/sys/vm/drop_caches"
#define THREADS_MAX  64
#define WARM_THREADS 16 /* wait for the device most of the time */
#define ASK_THREADS  4  /* system calls that do not wait */
#define READ_BYTES   ((size_t)256 << 10)
#define WINDOW_BYTES ((uint64_t)16 << 20) /* announced to the kernel at once */

struct page_item;
typedef int (*act_fn)(struct page_item *it, weir_err *err);

/* Shared by the threads of one action. */
struct page_run {
    const struct wr_pagecache_job *job; /* borrowed */
    act_fn act;                         /* NULL: only ask */
    _Atomic size_t next;
    _Atomic uint64_t done_files, done_bytes;
    atomic_bool stopped;
    pthread_mutex_t lock; /* guards total */
    struct wr_pagecache_report total;
};

/* An open file that is worked on. */
struct page_item {
    struct page_run *run; /* borrowed; NULL: nobody is told */
    int fd;
    char *buf; /* borrowed: READ_BYTES, for warm */
    struct wr_residency now;
    uint64_t told_bytes; /* that progress knows about */
    bool synced;         /* had to be written out first */
};

/* Tells the caller of the job how far it is; it may say stop. */
static void tell(struct page_run *run, uint64_t files, uint64_t bytes)
{
    const struct wr_pagecache_job *job = run->job;
    uint64_t f = atomic_fetch_add(&run->done_files, files) + files;
    uint64_t b = atomic_fetch_add(&run->done_bytes, bytes) + bytes;

    if (job->progress && job->progress(job->ctx, f, b))
        atomic_store(&run->stopped, true);
}

static int drop_act(struct page_item *it, weir_err *err)
{
    const struct wr_residency *now = &it->now;
    bool sync = now->dirty_bytes > 0 || now->means == WR_RESIDENCY_UNKNOWN ||
                (now->means == WR_RESIDENCY_MINCORE && now->resident_bytes);
    int e;

    if (sync && fdatasync(it->fd))
        return wr_fail_errno(err, errno, "cannot write out");
    e = posix_fadvise(it->fd, 0, 0, POSIX_FADV_DONTNEED);
    if (e)
        return wr_fail_errno(err, e, "cannot drop");
    it->synced = sync;
    return 0;
}

/* Reads one window of a file that was announced before. */
static int read_window(struct page_item *it, uint64_t off, uint64_t end,
                       weir_err *err)
{
    while (off < end) {
        ssize_t n = pread(it->fd, it->buf, READ_BYTES, (off_t)off);

        if (n < 0 && errno != EINTR)
            return wr_fail_errno(err, errno, "cannot read");
        if (n == 0)
            return 0; /* it has shrunk */
        off += n > 0 ? (uint64_t)n : 0;
    }
    return 0;
}

static int warm_act(struct page_item *it, weir_err *err)
{
    uint64_t size = it->now.bytes;

    if (it->now.resident_bytes == size)
        return 0;
    for (uint64_t off = 0; off < size; off += WINDOW_BYTES) {
        uint64_t end = WR_MIN(off + WINDOW_BYTES, size);
        int r;

        /* Hints that queue the device deeper, one window ahead; some file
         * systems refuse them. */
        if (off == 0)
            (void)readahead(it->fd, 0, WINDOW_BYTES);
        if (end < size)
            (void)readahead(it->fd, (off_t)end, WINDOW_BYTES);
        r = read_window(it, off, end, err);
        if (r < 0)
            return r;
        if (atomic_load(&it->run->stopped))
            return wr_fail(err, WEIR_ECANCELED, "stopped");
        if (end < size) {
            tell(it->run, 0, WINDOW_BYTES);
            it->told_bytes += WINDOW_BYTES;
        }
    }
    return 0;
}

/* Opens one file, acts, and asks what is resident afterwards. */
static int do_file(struct page_item *it, const char *path,
                   struct wr_pagecache_report *sum, weir_err *err)
{
    bool only = it->run->job->mincore_only;
    act_fn act = it->run->act;
    int r;

    it->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (it->fd < 0)
        return wr_fail_errno(err, errno, "cannot open");
    r = wr_residency_of(it->fd, only, &it->now, err);
    if (r == 0 && act)
        r = act(it, err);
    if (r == 0 && act)
        r = wr_residency_of(it->fd, only, &it->now, err);
    close(it->fd);
    if (r < 0)
        return r;
    sum->files++;
    sum->bytes += it->now.bytes;
    sum->resident_bytes += it->now.resident_bytes;
    sum->dirty_bytes += it->now.dirty_bytes;
    sum->synced_files += it->synced;
    sum->unknown_files += it->now.means == WR_RESIDENCY_UNKNOWN;
    sum->means |= it->now.means;
    return 0;
}

static void note_failure(struct wr_pagecache_report *sum, const weir_err *err)
{
    if (sum->named < WR_PAGECACHE_NAMED)
        memcpy(sum->failed[sum->named++], err->msg, sizeof(err->msg));
    sum->failures++;
}

static void merge(struct wr_pagecache_report *to,
                  const struct wr_pagecache_report *from)
{
    for (size_t i = 0; i < from->named && to->named < WR_PAGECACHE_NAMED; i++)
        memcpy(to->failed[to->named++], from->failed[i], sizeof(to->failed[0]));
    to->failures += from->failures;
    to->files += from->files;
    to->bytes += from->bytes;
    to->resident_bytes += from->resident_bytes;
    to->dirty_bytes += from->dirty_bytes;
    to->synced_files += from->synced_files;
    to->unknown_files += from->unknown_files;
    to->means |= from->means;
}

static void *work(void *arg)
{
    struct page_run *run = arg;
    struct wr_pagecache_report sum = {0};
    char *buf = malloc(READ_BYTES);
    weir_err err;

    for (;;) {
        struct page_item it = {.run = run, .buf = buf};
        size_t i = atomic_fetch_add(&run->next, 1);
        int r;

        if (i >= run->job->count || atomic_load(&run->stopped))
            break;
        r = buf ? do_file(&it, run->job->paths[i], &sum, &err)
                : wr_fail(&err, WEIR_ENOMEM, "out of memory");
        if (r < 0) {
            wr_fail_prefix(&err, r, "'%s'", run->job->paths[i]);
            note_failure(&sum, &err);
        }
        tell(run, 1, WR_MAX(it.now.bytes, it.told_bytes) - it.told_bytes);
    }
    free(buf);
    pthread_mutex_lock(&run->lock);
    merge(&run->total, &sum);
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

static int act_on_all(const struct wr_pagecache_job *job, act_fn act,
                      unsigned threads, struct wr_pagecache_report *ret,
                      weir_err *err)
{
    struct page_run run = {.job = job, .act = act};
    pthread_t thread[THREADS_MAX];
    size_t started = 0;
    int r = 0;

    threads = job->threads ? job->threads : threads;
    threads = (unsigned)WR_MIN(WR_MIN(threads, THREADS_MAX), job->count);
    pthread_mutex_init(&run.lock, NULL);
    for (; started < threads; started++) {
        r = wr_thread_start(&thread[started], "pagecache", work, &run, err);
        if (r < 0)
            break;
    }
    if (started > 0)
        r = 0; /* fewer threads do it as well */
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&run.lock);
    if (r < 0)
        return r;
    if (atomic_load(&run.stopped))
        return wr_fail(err, WEIR_ECANCELED, "stopped");
    *ret = run.total;
    return 0;
}

int wr_pagecache_status(const struct wr_pagecache_job *job,
                        struct wr_pagecache_report *ret, weir_err *err)
{
    return act_on_all(job, NULL, ASK_THREADS, ret, err);
}

int wr_pagecache_drop(const struct wr_pagecache_job *job,
                      struct wr_pagecache_report *ret, weir_err *err)
{
    return act_on_all(job, drop_act, ASK_THREADS, ret, err);
}

int wr_pagecache_warm(const struct wr_pagecache_job *job,
                      struct wr_pagecache_report *ret, weir_err *err)
{
    return act_on_all(job, warm_act, WARM_THREADS, ret, err);
}

int wr_pagecache_drop_fd(int fd, struct wr_residency *ret, weir_err *err)
{
    struct page_item it = {.fd = fd};
    int r = wr_residency_of(fd, /* mincore_only= */ false, &it.now, err);

    if (r == 0)
        r = drop_act(&it, err);
    if (r == 0)
        r = wr_residency_of(fd, /* mincore_only= */ false, &it.now, err);
    if (r == 0)
        *ret = it.now;
    return r;
}

static int open_drop_caches(weir_err *err)
{
    int fd = open(DROP_CACHES, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return wr_fail_errno(err, errno, "cannot open '%s'", DROP_CACHES);
    return fd;
}

int wr_pagecache_may_drop_all(weir_err *err)
{
    int fd = open_drop_caches(err);

    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

int wr_pagecache_drop_all(unsigned what, weir_err *err)
{
    char digit = (char)('0' + (what & (WR_DROP_PAGES | WR_DROP_METADATA)));
    int fd, e;

    if (digit == '0')
        return wr_fail(err, WEIR_EINVAL, "nothing to drop");
    fd = open_drop_caches(err);
    if (fd < 0)
        return fd;
    sync();
    e = write(fd, &digit, 1) == 1 ? 0 : errno;
    close(fd);
    if (e)
        return wr_fail_errno(err, e, "cannot write '%s'", DROP_CACHES);
    return 0;
}
