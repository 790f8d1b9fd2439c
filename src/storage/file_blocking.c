/* file_blocking.c - the portable queue: a pool of threads that block.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"

struct blocking_queue {
    struct wr_queue queue;
    struct file_store *fs; /* borrowed */
    bool direct;
    unsigned depth;
    pthread_t *threads; /* owned; one per read in flight, started on demand */
    unsigned thread_count;

    pthread_mutex_t lock; /* guards all below; a leaf lock */
    pthread_cond_t work, done;
    struct wr_io **todo; /* owned: ring of `depth` */
    unsigned todo_head, todo_count;
    struct wr_io **finished; /* owned: `depth` */
    unsigned finished_count;
    unsigned in_flight; /* submitted and not yet reaped */
    unsigned idle;      /* threads waiting for work */
    bool closing;
};

static struct blocking_queue *to_queue(struct wr_queue *q)
{
    return (struct blocking_queue *)q;
}

/* Reads the span as far as the file reaches, or writes it; adds to *total what
 * is done. Returns 0 or an errno. */
static int move_span(int fd, struct wr_io *io, const struct wr_span *span,
                     size_t *total)
{
    unsigned again = 0;
    ssize_t n;

    do {
        uint8_t *at = (uint8_t *)io->buf + *total;
        size_t rest = span->len - *total;
        off_t offset = (off_t)(span->offset + *total);

        n = io->op == WR_IO_WRITE ? pwrite(fd, at, rest, offset)
                                  : pread(fd, at, rest, offset);
        if (n < 0 && !wr_file_again(errno, &again))
            return errno;
        if (n == 0 && io->op == WR_IO_WRITE)
            return EIO; /* no reason given, and it would go on so */
        if (n > 0)
            *total += (size_t)n;
    } while (n < 0 || wr_file_wants_more(io, span, *total, (size_t)n));
    return 0;
}

static int open_for_read(struct blocking_queue *bq, const struct wr_io *rd,
                         bool *ret_direct)
{
    int fd = -1;

    if (bq->direct)
        fd = wr_file_open(bq->fs, rd->path, O_RDONLY | O_DIRECT);
    *ret_direct = fd >= 0;
    if (fd < 0)
        fd = wr_file_open(bq->fs, rd->path, O_RDONLY);
    return fd;
}

static void read_path(struct blocking_queue *bq, struct wr_io *rd)
{
    struct wr_span span;
    size_t total = 0;
    bool direct;
    int fd = open_for_read(bq, rd, &direct), e;

    if (fd < 0) {
        wr_file_settle_errno(rd, WR_STEP_OPEN, 0, errno);
        return;
    }
    span = wr_file_span(rd, direct);
    e = move_span(fd, rd, &span, &total);
    if (e)
        wr_file_settle_errno(rd, WR_STEP_READ, 0, e);
    else
        wr_file_settle(bq->fs, rd, &span, total);
    close(fd);
}

/* Many queues of many threads would hold more descriptors than there are. */
static void serve_path(struct blocking_queue *bq, struct wr_io *rd)
{
    wr_fd_enter();
    read_path(bq, rd);
    wr_fd_leave();
}

static void serve(struct blocking_queue *bq, struct wr_io *io)
{
    struct file_object *fo = (struct file_object *)io->object;
    bool write = io->op == WR_IO_WRITE;
    struct wr_span span;
    size_t total = 0;
    int e;

    if (!fo && !write) {
        serve_path(bq, io);
        return;
    }
    span = wr_file_span(io, bq->direct && fo && wr_file_direct_fd(fo) >= 0);
    e = move_span(wr_file_fd(io, &span), io, &span, &total);
    /* Refused here and now, for example behind a write that ended short. */
    if (e == EINVAL && write && span.direct) {
        span.direct = false;
        e = move_span(wr_file_fd(io, &span), io, &span, &total);
    }
    if (e)
        wr_file_settle_errno(io, write ? WR_STEP_WRITE : WR_STEP_READ, total,
                             e);
    else
        wr_file_settle(bq->fs, io, &span, total);
}

static void *reader_main(void *arg)
{
    struct blocking_queue *bq = arg;
    struct wr_io *rd;

    pthread_mutex_lock(&bq->lock);
    for (;;) {
        while (!bq->todo_count && !bq->closing) {
            bq->idle++;
            pthread_cond_wait(&bq->work, &bq->lock);
            bq->idle--;
        }
        if (!bq->todo_count)
            break;
        rd = bq->todo[bq->todo_head];
        bq->todo_head = (bq->todo_head + 1) % bq->depth;
        bq->todo_count--;
        pthread_mutex_unlock(&bq->lock);
        serve(bq, rd);
        pthread_mutex_lock(&bq->lock);
        bq->finished[bq->finished_count++] = rd;
        pthread_cond_signal(&bq->done);
    }
    pthread_mutex_unlock(&bq->lock);
    return NULL;
}

/* With the lock held: one more reader when all are busy. Without a single
 * thread the queue cannot work; with fewer than asked for it only works less
 * deep. */
static void add_reader(struct blocking_queue *bq)
{
    if (bq->idle >= bq->todo_count || bq->thread_count == bq->depth)
        return;
    if (wr_thread_start_lean(&bq->threads[bq->thread_count], "weir-read",
                             reader_main, bq, NULL) == 0)
        bq->thread_count++;
}

static unsigned blocking_submit(struct wr_queue *q, struct wr_io *const *reads,
                                unsigned n)
{
    struct blocking_queue *bq = to_queue(q);
    unsigned taken = 0;

    pthread_mutex_lock(&bq->lock);
    while (taken < n && bq->in_flight < bq->depth) {
        unsigned tail = (bq->todo_head + bq->todo_count) % bq->depth;

        bq->todo[tail] = reads[taken++];
        bq->todo_count++;
        bq->in_flight++;
        add_reader(bq);
    }
    if (taken == 1)
        pthread_cond_signal(&bq->work);
    else if (taken)
        pthread_cond_broadcast(&bq->work);
    pthread_mutex_unlock(&bq->lock);
    return taken;
}

static unsigned blocking_reap(struct wr_queue *q, struct wr_io **ret,
                              unsigned max, bool wait)
{
    struct blocking_queue *bq = to_queue(q);
    unsigned n;

    pthread_mutex_lock(&bq->lock);
    while (wait && !bq->finished_count && bq->in_flight)
        pthread_cond_wait(&bq->done, &bq->lock);
    n = WR_MIN(max, bq->finished_count);
    for (unsigned i = 0; i < n; i++)
        ret[i] = bq->finished[i];
    bq->finished_count -= n;
    for (unsigned i = 0; i < bq->finished_count; i++)
        bq->finished[i] = bq->finished[i + n];
    bq->in_flight -= n;
    pthread_mutex_unlock(&bq->lock);
    return n;
}

static void blocking_close(struct wr_queue *q)
{
    struct blocking_queue *bq = to_queue(q);

    pthread_mutex_lock(&bq->lock);
    bq->closing = true;
    pthread_cond_broadcast(&bq->work);
    pthread_mutex_unlock(&bq->lock);
    for (unsigned i = 0; i < bq->thread_count; i++)
        pthread_join(bq->threads[i], NULL);
    pthread_mutex_destroy(&bq->lock);
    pthread_cond_destroy(&bq->work);
    pthread_cond_destroy(&bq->done);
    free(bq->threads);
    free(bq->todo);
    free(bq->finished);
    free(bq);
}

static const struct wr_queue_ops blocking_ops = {
    .submit = blocking_submit,
    .reap = blocking_reap,
    .close = blocking_close,
};

int wr_file_blocking_open(struct file_store *fs,
                          const struct wr_queue_config *cfg,
                          struct wr_queue **ret, weir_err *err)
{
    struct blocking_queue *bq = calloc(1, sizeof(*bq));
    int r = 0;

    if (!bq)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    bq->queue.ops = &blocking_ops;
    bq->queue.engine = "blocking";
    bq->fs = fs;
    bq->direct = cfg->direct;
    bq->depth = cfg->depth;
    pthread_mutex_init(&bq->lock, NULL);
    pthread_cond_init(&bq->work, NULL);
    pthread_cond_init(&bq->done, NULL);
    bq->threads = calloc(cfg->depth, sizeof(*bq->threads));
    bq->todo = calloc(cfg->depth, sizeof(struct wr_io *));
    bq->finished = calloc(cfg->depth, sizeof(struct wr_io *));
    if (!bq->threads || !bq->todo || !bq->finished)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else
        r = wr_thread_start_lean(&bq->threads[0], "weir-read", reader_main, bq,
                                 err);
    if (r < 0) {
        blocking_close(&bq->queue);
        return r;
    }
    bq->thread_count = 1;
    *ret = &bq->queue;
    return 0;
}
