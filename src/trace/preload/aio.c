/* aio.c - wrappers: asynchronous reads and writes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <errno.h>
#include <linux/aio_abi.h>

#define PENDING 4096

/* When a request was submitted, by its address. One that is pushed out is noted
 * with the time of its completion alone. */
struct wr_tap_pending {
    const void *request;
    uint64_t start;
};

static struct wr_tap_pending pending[PENDING];

static struct wr_tap_pending *slot_of(const void *request)
{
    uint64_t h = (uintptr_t)request * UINT64_C(0x9e3779b97f4a7c15);

    return &pending[h >> 52];
}

static void submitted(const void *request, uint64_t start)
{
    struct wr_tap_pending *p = slot_of(request);

    p->start = start;
    __atomic_store_n(&p->request, request, __ATOMIC_RELEASE);
}

static uint64_t submitted_at(const void *request, uint64_t now)
{
    struct wr_tap_pending *p = slot_of(request);

    if (__atomic_load_n(&p->request, __ATOMIC_ACQUIRE) != request)
        return now;
    __atomic_store_n(&p->request, NULL, __ATOMIC_RELEASE);
    return p->start;
}

/* --- libaio, whose functions return the error --- */

static void note_submit(long r, uint64_t start)
{
    struct wr_tap_note n = {.start = start,
                            .off = WR_TAP_UNKNOWN,
                            .len = r > 0 ? (uint64_t)r : 0,
                            .op = WR_TRACE_AIO_SUBMIT};

    if (r < 0) {
        n.flags = WR_TRACE_FAILED;
        n.error = (uint8_t)-r;
    }
    wr_tap_put(&n);
}

WR_TAP_EXPORT int io_submit(void *ctx, long count, struct iocb **list)
{
    uint64_t start = wr_tap_begin();
    long r;

    for (long i = 0; start && list && i < count; i++)
        /* before the call: they may complete */
        submitted(list[i], start);
    r = wr_real.io_submit ? wr_real.io_submit(ctx, count, list)
                          : WR_RAW3(SYS_io_submit, ctx, count, list);
    if (start)
        note_submit(r, start);
    return (int)r;
}

static void completed(const struct io_event *e, uint64_t now)
{
    const struct iocb *cb = (const void *)(uintptr_t)e->obj;
    bool is_write = cb->aio_lio_opcode == IOCB_CMD_PWRITE ||
                    cb->aio_lio_opcode == IOCB_CMD_PWRITEV;
    bool is_sync = cb->aio_lio_opcode == IOCB_CMD_FSYNC ||
                   cb->aio_lio_opcode == IOCB_CMD_FDSYNC;
    struct wr_tap_note n = {.start = submitted_at(cb, now),
                            .off = (uint64_t)cb->aio_offset,
                            .op = is_sync    ? WR_TRACE_SYNC
                                  : is_write ? WR_TRACE_AIO_WRITE
                                             : WR_TRACE_AIO_READ};
    struct wr_tap_fd *f = wr_tap_fd_of((int)cb->aio_fildes);
    int64_t r = e->res;

    n.handle = f ? f->handle : 0;
    n.flags = f && f->flags & WR_FD_DIRECT ? WR_TRACE_DIRECT : 0;
    n.len = r > 0 ? (uint64_t)r : 0;
    if (r < 0) {
        n.flags |= WR_TRACE_FAILED;
        n.error = (uint8_t)-r;
    }
    wr_tap_put_lasting(&n, now - n.start);
}

static int reaped(long r, const struct io_event *events)
{
    uint64_t now = r > 0 ? wr_tap_begin() : 0;

    for (long i = 0; now && i < r; i++)
        completed(&events[i], now);
    return (int)r;
}

WR_TAP_EXPORT int io_getevents(void *ctx, long min, long n,
                               struct io_event *events,
                               struct timespec *timeout)
{
    if (wr_real.io_getevents)
        return reaped(wr_real.io_getevents(ctx, min, n, events, timeout),
                      events);
    return reaped(wr_raw(SYS_io_getevents, (long)ctx, min, n, (long)events,
                         (long)timeout, 0),
                  events);
}

WR_TAP_EXPORT int io_pgetevents(void *ctx, long min, long n,
                                struct io_event *events,
                                struct timespec *timeout, sigset_t *mask)
{
    struct {
        sigset_t *mask;
        size_t size;
    } set = {mask, 8};

    if (wr_real.io_pgetevents)
        return reaped(wr_real.io_pgetevents(ctx, min, n, events, timeout, mask),
                      events);
    return reaped(wr_raw(SYS_io_pgetevents, (long)ctx, min, n, (long)events,
                         (long)timeout, (long)&set),
                  events);
}

/* --- POSIX: done by threads of libc, whose calls are its own --- */

WR_TAP_EXPORT int aio_read(struct aiocb *cb)
{
    uint64_t start = wr_tap_begin();

    if (start)
        submitted(cb, start);
    return WR_REAL(aio_read)(cb);
}

WR_TAP_EXPORT int aio_write(struct aiocb *cb)
{
    uint64_t start = wr_tap_begin();

    if (start)
        submitted(cb, start);
    return WR_REAL(aio_write)(cb);
}

WR_TAP_EXPORT int lio_listio(int mode, struct aiocb *const *list, int count,
                             struct sigevent *event)
{
    uint64_t start = wr_tap_begin();

    if (mode != LIO_WAIT && mode != LIO_NOWAIT)
        start = 0; /* it fails without a look at the list */
    for (int i = 0; start && i < count; i++)
        if (list[i])
            submitted(list[i], start);
    return WR_REAL(lio_listio)(mode, list, count, event);
}

/* Its result is taken here; it was complete some time before. */
WR_TAP_EXPORT ssize_t aio_return(struct aiocb *cb)
{
    uint64_t now = wr_tap_begin();
    struct wr_tap_fd *f = now ? wr_tap_fd_of(cb->aio_fildes) : NULL;
    struct wr_tap_note n = {.off = (uint64_t)cb->aio_offset};
    bool is_write = cb->aio_lio_opcode == LIO_WRITE;
    ssize_t r = WR_REAL(aio_return)(cb);

    if (!now)
        return r;
    n.start = submitted_at(cb, now);
    n.op = is_write ? WR_TRACE_AIO_WRITE : WR_TRACE_AIO_READ;
    n.handle = f ? f->handle : 0;
    n.len = r > 0 ? (uint64_t)r : 0;
    if (r < 0) {
        n.flags = WR_TRACE_FAILED;
        n.error = (uint8_t)wr_tap_errno(r);
    }
    wr_tap_put_lasting(&n, now - n.start);
    return r;
}

WR_TAP_ALIAS(aio_read64, aio_read);
WR_TAP_ALIAS(aio_write64, aio_write);
WR_TAP_ALIAS(aio_return64, aio_return);
WR_TAP_ALIAS(lio_listio64, lio_listio);
