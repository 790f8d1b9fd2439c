/* pagecache.c - asks, empties and fills the page cache, file by file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "monitor/pagecache.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "monitor/residency.h"

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
