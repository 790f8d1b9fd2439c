/* file_uring.c - the queue on io_uring: depth without threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A read by path is a chain of two entries, open and read, that the kernel
 * runs without coming back to us in between. The open puts the file into a
 * place of the ring's own file table; it is closed when the next open takes
 * that place, so no close is ever submitted. A chain answers once: the open
 * stays silent unless it fails, and then silences the read. Reads and writes of
 * an open object are one entry each. */
#include "storage/file.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/error.h"
#include "base/mem.h"

/* liburing maps and unmaps a ring by bare system calls. TSan does not see them,
 * and takes a ring at the address of an earlier one for shared memory. */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define RING_BEGINS(what) __tsan_acquire((void *)(uintptr_t)(what))
#define RING_ENDS(what)   __tsan_release((void *)(uintptr_t)(what))
#else
#define RING_BEGINS(what) (void)(what)
#define RING_ENDS(what)   (void)(what)
#endif

/* One system call moves less than 2 GiB; the rest goes as the rest of a short
 * read does. */
#define ONCE_MAX ((size_t)1 << 30)

/* How long the kernel may be short of memory before the queue gives up. */
#define SHORT_MAX_NS (10 * WR_NS_PER_SEC)

/* How long all answers may be due before the files are looked at, in case one
 * of them is a pipe by now. */
#define LOOK_NS (250 * WR_NS_PER_MS)

/* Which entry of a chain: the open, or the read or write behind it. */
enum link { LINK_OPEN, LINK_IO };

struct slot {
    struct wr_io *rd; /* borrowed; NULL when free */
    struct wr_span span;
    size_t total;   /* bytes of the span that are there */
    uint32_t turn;  /* tells answers of this use from those of an earlier one */
    unsigned at;    /* of its last read or write in the submission ring */
    unsigned again; /* times in a row that it was put off */
    bool broken;    /* its chain was torn apart: see mend_chain */
    bool other;     /* it is no file: its chain is being cancelled */
    int own_fd;     /* owned: of a read by path in an own store; else -1 */
    int own_errno;  /* why there is none */
};

struct uring_queue {
    struct wr_queue queue;
    struct file_store *fs; /* borrowed */
    struct io_uring ring;
    bool ring_ready;
    bool direct;
    bool lazy; /* entries go to the kernel with the next reap */
    int dead;  /* errno of io_uring_enter, which is not called any more */
    uint64_t short_ns; /* since when the kernel takes nothing; 0: it does */
    unsigned depth, in_flight;
    unsigned places;      /* slots there are: see place_count */
    struct slot *slots;   /* owned: `places` */
    unsigned *free_slots; /* owned: stack */
    unsigned free_count;
    struct wr_io **waiting; /* owned: ring of `depth`, for a slot */
    unsigned waiting_head, waiting_count;
};

static struct uring_queue *to_queue(struct wr_queue *q)
{
    return (struct uring_queue *)q;
}

/* user_data: slot number, its turn, and which entry of the chain it is. */
static uint64_t tag_of(const struct uring_queue *uq, const struct slot *s,
                       enum link link)
{
    return (uint64_t)(s - uq->slots) | (uint64_t)link << 31 |
           (uint64_t)s->turn << 32;
}

/* The submission ring holds two entries per slot, so there is always room. */
static void push_io(struct uring_queue *uq, struct slot *s)
{
    unsigned tail = uq->ring.sq.sqe_tail;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uq->ring);
    uint8_t *at = (uint8_t *)s->rd->buf + s->total;
    unsigned rest = (unsigned)WR_MIN(s->span.len - s->total, ONCE_MAX);
    uint64_t offset = s->span.offset + s->total;
    int fd = s->own_fd >= 0 ? s->own_fd : wr_file_fd(s->rd, &s->span);

    s->at = tail;
    if (s->rd->op == WR_IO_WRITE) {
        io_uring_prep_write(sqe, fd, at, rest, offset);
    } else if (s->own_errno) {
        io_uring_prep_nop(sqe);
    } else if (s->rd->object || s->own_fd >= 0) {
        io_uring_prep_read(sqe, fd, at, rest, offset);
    } else {
        io_uring_prep_read(sqe, (int)(s - uq->slots), at, rest, offset);
        sqe->flags |= IOSQE_FIXED_FILE;
    }
    io_uring_sqe_set_data64(sqe, tag_of(uq, s, LINK_IO));
}

static void push_open(struct uring_queue *uq, struct slot *s)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uq->ring);

    io_uring_prep_openat_direct(sqe, uq->fs->dir_fd, s->rd->path,
                                O_RDONLY | O_NOCTTY |
                                    (s->span.direct ? O_DIRECT : 0),
                                0, (unsigned)(s - uq->slots));
    sqe->flags |= IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(sqe, tag_of(uq, s, LINK_OPEN));
}

/* In an own store a file is looked at before it is read, so the kernel cannot
 * do both in one go. Returns whether it is open for direct reads. */
static bool open_own(struct uring_queue *uq, struct slot *s, bool direct)
{
    if (direct)
        s->own_fd = wr_file_open(uq->fs, s->rd->path, O_RDONLY | O_DIRECT);
    direct = s->own_fd >= 0;
    if (!direct)
        s->own_fd = wr_file_open(uq->fs, s->rd->path, O_RDONLY);
    s->own_errno = s->own_fd < 0 ? errno : 0;
    return direct;
}

static void start(struct uring_queue *uq, struct slot *s, bool direct)
{
    bool by_path = !s->rd->object && s->rd->op == WR_IO_READ;

    if (by_path && (uq->fs->own || uq->fs->no_links))
        direct = open_own(uq, s, direct);
    s->span = wr_file_span(s->rd, direct);
    s->total = 0;
    s->again = 0;
    s->turn++;
    if (by_path && !uq->fs->own && !uq->fs->no_links)
        push_open(uq, s);
    push_io(uq, s);
}

/* When the kernel runs out of memory in the middle of a chain, it takes the
 * open without its read. That read must not go alone: it might find the file
 * of an earlier sample in its place. It is turned into nothing, its answer
 * fails the sample, and the place is not used again while others are there,
 * for the open may still be under way. */
static void mend_chain(struct uring_queue *uq)
{
    unsigned head = *uq->ring.sq.khead;
    struct io_uring_sqe *sqe;
    struct slot *s;

    if (!io_uring_sq_ready(&uq->ring))
        return;
    sqe = &uq->ring.sq.sqes[head & *uq->ring.sq.kring_mask];
    if (sqe->opcode != IORING_OP_READ || !(sqe->flags & IOSQE_FIXED_FILE))
        return;
    s = &uq->slots[sqe->user_data & 0x7fffffff];
    if (s->total || s->broken)
        return; /* the rest of a short read: its file is there */
    s->broken = true;
    io_uring_prep_nop(sqe);
    io_uring_sqe_set_data64(sqe, tag_of(uq, s, LINK_IO));
}

/* Whether an error of io_uring_enter is a lack of memory. */
static bool is_short(int r)
{
    return r == -EAGAIN || r == -EBUSY || r == -ENOMEM;
}

/* What io_uring_enter answered. A lack of memory is waited out for a while; any
 * other error, of a filter of system calls for example, would go on for ever. */
static void note_enter(struct uring_queue *uq, int r)
{
    bool passes = is_short(r);
    uint64_t now_ns;

    if (r >= 0 || r == -EINTR) {
        uq->short_ns = 0;
        return;
    }
    now_ns = wr_clock_ns();
    if (!uq->short_ns)
        uq->short_ns = now_ns;
    if (!passes || now_ns - uq->short_ns >= SHORT_MAX_NS)
        uq->dead = passes ? ENOMEM : -r;
}

static void flush(struct uring_queue *uq)
{
    if (uq->dead)
        return;
    note_enter(uq, io_uring_submit(&uq->ring));
    /* What the kernel did not take goes with the next call. */
    mend_chain(uq);
}

/* Gives up the open of a pipe, which may wait for ever for its other end, or
 * the read of a device. The answer to the cancelling itself is of no interest:
 * it has the tag of an earlier turn. */
static void cancel(struct uring_queue *uq, struct slot *s)
{
    for (enum link link = LINK_OPEN; link <= LINK_IO; link++) {
        struct io_uring_sqe *sqe = io_uring_get_sqe(&uq->ring);

        if (!sqe)
            return; /* next time */
        io_uring_prep_cancel64(sqe, tag_of(uq, s, link), 0);
        io_uring_sqe_set_data64(sqe,
                                tag_of(uq, s, LINK_IO) - (UINT64_C(1) << 32));
    }
    s->other = true;
}

/* A read by path is opened by the kernel, unseen: only when nothing is answered
 * for long is it worth asking what there is to open. */
static void look_at_files(struct uring_queue *uq)
{
    for (unsigned i = 0; i < uq->places; i++) {
        struct slot *s = &uq->slots[i];
        struct stat sb;

        if (s->rd && !s->rd->object && !s->other && s->own_fd < 0 &&
            fstatat(uq->fs->dir_fd, s->rd->path, &sb, 0) == 0 &&
            !S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode))
            cancel(uq, s);
    }
}

/* Sends what is there and waits for an answer, or a moment when that fails. */
static void enter(struct uring_queue *uq)
{
    struct __kernel_timespec limit = {.tv_nsec = LOOK_NS};
    struct io_uring_cqe *cqe;
    int r = -EINTR;

    if (!uq->dead) {
        r = io_uring_submit_and_wait_timeout(&uq->ring, &cqe, 1, &limit, NULL);
        if (r == -ETIME) {
            look_at_files(uq);
            r = 0;
        }
        note_enter(uq, r);
        mend_chain(uq);
    }
    if (uq->dead || (r < 0 && r != -EINTR))
        wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS);
}

/* With every place broken and nothing in flight, the old opens are over. */
static void revive_places(struct uring_queue *uq)
{
    for (unsigned i = 0; i < uq->places; i++)
        if (uq->slots[i].broken) {
            uq->slots[i].broken = false;
            uq->free_slots[uq->free_count++] = i;
        }
}

/* Starts what waits for a slot, as far as there are some. */
static void start_waiting(struct uring_queue *uq)
{
    if (uq->waiting_count && !uq->free_count &&
        uq->in_flight == uq->waiting_count)
        revive_places(uq);
    while (uq->waiting_count && uq->free_count) {
        struct slot *s = &uq->slots[uq->free_slots[--uq->free_count]];
        struct file_object *fo;

        s->rd = uq->waiting[uq->waiting_head];
        uq->waiting_head = (uq->waiting_head + 1) % uq->depth;
        uq->waiting_count--;
        s->at = *uq->ring.sq.khead;
        s->total = 0;
        fo = (struct file_object *)s->rd->object;
        if (!uq->dead) /* else it fails with the next reap */
            start(uq, s, uq->direct && (!fo || wr_file_direct_fd(fo) >= 0));
    }
}

static unsigned uring_submit(struct wr_queue *q, struct wr_io *const *reads,
                             unsigned n)
{
    struct uring_queue *uq = to_queue(q);
    unsigned taken = 0;

    while (taken < n && uq->in_flight < uq->depth) {
        unsigned tail = (uq->waiting_head + uq->waiting_count) % uq->depth;

        uq->waiting[tail] = reads[taken++];
        uq->waiting_count++;
        uq->in_flight++;
    }
    start_waiting(uq);
    if (taken && !uq->lazy)
        flush(uq);
    return taken;
}

static struct wr_io *finish(struct uring_queue *uq, struct slot *s)
{
    struct wr_io *rd = s->rd;

    if (s->own_fd >= 0)
        wr_fd_close(s->own_fd);
    s->own_fd = -1;
    s->own_errno = 0;
    s->other = false;
    s->rd = NULL;
    s->turn++;
    if (!s->broken)
        uq->free_slots[uq->free_count++] = (unsigned)(s - uq->slots);
    uq->in_flight--;
    start_waiting(uq);
    return rd;
}

/* Whether it is to be tried again. A signal may keep the kernel from starting
 * the thread that it hands a request to, and then it cancels that: nobody asked
 * for it. */
static bool was_put_off(struct slot *s, int res)
{
    return res < 0 &&
           wr_file_again(res == -ECANCELED ? EAGAIN : -res, &s->again);
}

/* The whole chain: whether the file is in its place cannot be told. */
static void start_again(struct uring_queue *uq, struct slot *s)
{
    unsigned again = s->again;

    start(uq, s, s->span.direct);
    s->again = again;
}

/* Returns the read when it is done, NULL when it goes on. */
static struct wr_io *answer_open(struct uring_queue *uq, struct slot *s,
                                 int res)
{
    if (res >= 0 || s->broken)
        return NULL;
    if (s->other)
        res = -ENXIO;
    if (res == -EINVAL &&
        s->span.direct) { /* no O_DIRECT on this file system */
        start(uq, s, /* direct= */ false);
        return NULL;
    }
    if (!s->other && was_put_off(s, res)) {
        start_again(uq, s);
        return NULL;
    }
    wr_file_settle_errno(s->rd, WR_STEP_OPEN, 0, -res);
    return finish(uq, s);
}

static struct wr_io *answer_io(struct uring_queue *uq, struct slot *s, int res)
{
    bool write = s->rd->op == WR_IO_WRITE;

    if (s->broken) {
        wr_file_settle_errno(s->rd, WR_STEP_OPEN, 0, ENOMEM);
        return finish(uq, s);
    }
    if (s->own_errno) {
        wr_file_settle_errno(s->rd, WR_STEP_OPEN, 0, s->own_errno);
        return finish(uq, s);
    }
    if (s->other) {
        wr_file_settle_errno(s->rd, WR_STEP_OPEN, 0, ENXIO);
        return finish(uq, s);
    }
    if (was_put_off(s, res)) {
        if (s->total == 0 && !s->rd->object && s->own_fd < 0 && !write)
            start_again(uq, s);
        else
            push_io(uq, s);
        return NULL;
    }
    if (res == -EINVAL && write && s->span.direct) {
        /* Refused here and now, for example behind a write that ended short. */
        s->span.direct = false;
        push_io(uq, s);
        return NULL;
    }
    if (res == 0 && write) /* no reason given, and it would go on so */
        res = -EIO;
    if (res < 0) {
        wr_file_settle_errno(s->rd, write ? WR_STEP_WRITE : WR_STEP_READ,
                             s->total, -res);
        return finish(uq, s);
    }
    s->total += (size_t)res;
    s->again = 0;
    if (wr_file_wants_more(s->rd, &s->span, s->total, (size_t)res)) {
        push_io(uq, s);
        return NULL;
    }
    wr_file_settle(uq->fs, s->rd, &s->span, s->total);
    return finish(uq, s);
}

static struct wr_io *answer(struct uring_queue *uq,
                            const struct io_uring_cqe *cqe)
{
    struct slot *s = &uq->slots[cqe->user_data & 0x7fffffff];

    if (!s->rd || s->turn != cqe->user_data >> 32)
        return NULL;
    return cqe->user_data >> 31 & 1 ? answer_io(uq, s, cqe->res)
                                    : answer_open(uq, s, cqe->res);
}

/* Takes the answers that are there. An answer may bring new entries, for a rest
 * or another try; they go to the kernel with the next call. */
static unsigned take_answers(struct uring_queue *uq, struct wr_io **ret,
                             unsigned max)
{
    struct io_uring_cqe *cqe;
    unsigned head, seen = 0, n = 0;

    io_uring_for_each_cqe(&uq->ring, head, cqe)
    {
        struct wr_io *rd;

        if (n == max)
            break;
        rd = answer(uq, cqe);
        if (rd)
            ret[n++] = rd;
        seen++;
    }
    io_uring_cq_advance(&uq->ring, seen);
    return n;
}

/* Of a dead queue: what the kernel has not taken, and never will. What it has
 * taken is answered without any further call, and its buffers are the kernel's
 * until then. */
static unsigned fail_rest(struct uring_queue *uq, struct wr_io **ret,
                          unsigned max)
{
    unsigned n = 0, head = *uq->ring.sq.khead;

    for (unsigned i = 0; i < uq->places && n < max; i++) {
        struct slot *s = &uq->slots[i];

        if (!s->rd || (int)(head - s->at) > 0)
            continue;
        wr_file_settle_errno(
            s->rd, s->rd->op == WR_IO_WRITE ? WR_STEP_WRITE : WR_STEP_READ,
            s->total, uq->dead);
        ret[n++] = finish(uq, s);
    }
    return n;
}

static unsigned harvest(struct uring_queue *uq, struct wr_io **ret,
                        unsigned max)
{
    unsigned n = take_answers(uq, ret, max);

    return uq->dead ? n + fail_rest(uq, ret + n, max - n) : n;
}

static unsigned uring_reap(struct wr_queue *q, struct wr_io **ret, unsigned max,
                           bool wait)
{
    struct uring_queue *uq = to_queue(q);
    unsigned n = harvest(uq, ret, max);

    while (!n && wait && uq->in_flight) {
        enter(uq);
        n = harvest(uq, ret, max);
    }
    if (io_uring_sq_ready(&uq->ring))
        flush(uq);
    return n;
}

static void queue_free(struct uring_queue *uq)
{
    if (uq->ring_ready)
        io_uring_queue_exit(&uq->ring);
    free(uq->slots);
    free(uq->free_slots);
    free(uq->waiting);
    free(uq);
}

static void uring_close(struct wr_queue *q)
{
    struct wr_io *rd;

    /* The kernel still writes into the buffers of what is in flight. */
    while (uring_reap(q, &rd, 1, /* wait= */ true))
        ;
    RING_ENDS(q->ops);
    queue_free(to_queue(q));
}

static const struct wr_queue_ops uring_ops = {
    .submit = uring_submit,
    .reap = uring_reap,
    .close = uring_close,
};

/* The kernel wants the ring's file table no larger than RLIMIT_NOFILE, though
 * no descriptor is used. What is submitted beyond it waits for its turn. */
static unsigned place_count(unsigned depth)
{
    struct rlimit rl;

    if (getrlimit(RLIMIT_NOFILE, &rl) < 0 || rl.rlim_cur >= depth)
        return depth;
    return (unsigned)WR_MAX(rl.rlim_cur, (rlim_t)1);
}

/* Why there is no ring. A call that is unknown or not allowed (an old kernel, a
 * filter of system calls, a sysctl) means that this machine has no io_uring. */
static int fail_ring(int e, const char *what, weir_err *err)
{
    int r = wr_fail_errno(err, e, "io_uring: %s", what);

    if (e != EPERM && e != EACCES && e != ENOSYS)
        return r;
    if (err)
        err->code = WEIR_ENOTSUP;
    return WEIR_ENOTSUP;
}

/* A filter of system calls may allow a ring and refuse to enter it: one entry
 * goes there and back, so that it is known before anything is read. */
static int try_ring(struct uring_queue *uq, weir_err *err)
{
    struct io_uring_cqe *cqe;
    int r;

    io_uring_prep_nop(io_uring_get_sqe(&uq->ring));
    do {
        r = io_uring_submit_and_wait(&uq->ring, 1);
        if (r >= 0)
            r = io_uring_wait_cqe(&uq->ring, &cqe);
    } while (r == -EINTR);
    if (r < 0)
        return fail_ring(is_short(r) ? ENOMEM : -r, "cannot enter the ring",
                         err);
    io_uring_cqe_seen(&uq->ring, cqe);
    return 0;
}

static int start_ring(struct uring_queue *uq, weir_err *err)
{
    struct io_uring_params params = {0};
    int r;

    /* Measured for direct reads: single-issuer, cooperative and deferred task
     * work spare nothing here; deferred work costs more at depth 8 and 32. */
    r = io_uring_queue_init_params(2 * uq->places, &uq->ring, &params);
    if (r < 0)
        return fail_ring(-r, "no ring", err);
    RING_BEGINS(uq->queue.ops);
    uq->ring_ready = true;
    if (!(params.features & IORING_FEAT_CQE_SKIP))
        return wr_fail(err, WEIR_ENOTSUP,
                       "io_uring: kernel 5.19 or newer is needed");
    r = io_uring_register_files_sparse(&uq->ring, uq->places);
    if (r < 0)
        return fail_ring(-r, "file table", err);
    return try_ring(uq, err);
}

int wr_file_uring_open(struct file_store *fs, const struct wr_queue_config *cfg,
                       struct wr_queue **ret, weir_err *err)
{
    struct uring_queue *uq = calloc(1, sizeof(*uq));
    int r;

    if (!uq)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    uq->queue.ops = &uring_ops;
    uq->queue.engine = "io_uring";
    uq->fs = fs;
    uq->direct = cfg->direct;
    uq->lazy = cfg->lazy;
    uq->depth = cfg->depth;
    uq->places = place_count(cfg->depth);
    uq->slots = calloc(uq->places, sizeof(*uq->slots));
    uq->free_slots = calloc(uq->places, sizeof(*uq->free_slots));
    uq->waiting = calloc(cfg->depth, sizeof(struct wr_io *));
    if (!uq->slots || !uq->free_slots || !uq->waiting)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else
        r = start_ring(uq, err);
    if (r < 0) {
        queue_free(uq);
        return r;
    }
    for (unsigned i = uq->places; i-- > 0;) {
        uq->slots[i].own_fd = -1;
        uq->free_slots[uq->free_count++] = i;
    }
    *ret = &uq->queue;
    return 0;
}
