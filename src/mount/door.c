/* door.c - what the handlers of one mount share; when answers leave.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/door.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#define HEAVY_BYTES  (64u << 10) /* sending it takes some ten microseconds */
#define PLAY_THREADS 2
/* A receiver holds its answer back no longer: the mount must be able to end. */
#define LONE_NS (20 * WR_NS_PER_MS)

/* The kernel did not take it: nobody will ever release what it names. */
static void undo(struct wr_door *d, const struct wr_reply *r)
{
    if (r->kind == WR_REPLY_OPEN || r->kind == WR_REPLY_CREATE)
        wr_data_close(&r->fi);
    if (r->kind == WR_REPLY_OPENDIR)
        wr_list_close(&r->fi);
    if (r->kind == WR_REPLY_ENTRY || r->kind == WR_REPLY_CREATE)
        wr_inodes_forget(&d->inodes, wr_door_inode(d, r->entry.ino), 1);
}

/* A moving mean of what the kernel takes to take data in; a thread that was put
 * aside meanwhile is not to change it much. */
static void learn_sending(struct wr_door *d, size_t bytes, uint64_t took_ns)
{
    uint64_t mean = atomic_load_explicit(&d->send_ns, memory_order_relaxed);
    uint64_t each = took_ns * WR_DOOR_IO_MAX / bytes;

    if (mean)
        each = mean - mean / 16 + WR_MIN(each, 2 * mean) / 16;
    atomic_store_explicit(&d->send_ns, each, memory_order_relaxed);
}

static void send(void *arg, struct wr_play *item)
{
    struct wr_door *d = arg;
    struct wr_reply *r = (struct wr_reply *)item;
    bool heavy = r->kind == WR_REPLY_DATA && r->size >= HEAVY_BYTES;
    uint64_t began = heavy ? wr_clock_ns() : 0;

    if (wr_reply_send(r) < 0)
        undo(d, r);
    if (heavy)
        learn_sending(d, r->size, wr_clock_ns() - began);
    wr_reply_free(&d->replies, r);
}

/* Whether the model can never make anything wait. */
static bool is_instant(const struct wr_device_profile *p)
{
    return p->read_latency_us <= 0 && p->write_latency_us <= 0 &&
           p->meta_latency_us <= 0 && p->sync_latency_us <= 0 &&
           p->seek_us <= 0 && p->read_bytes_per_s <= 0 &&
           p->write_bytes_per_s <= 0;
}

int wr_door_init(struct wr_door *d, int source_fd,
                 const struct wr_device_profile *profile, weir_err *err)
{
    int r;

    d->timeout_s = 1.0;
    d->probe.fd = -1;
    if (!is_instant(profile)) {
        r = wr_device_new(profile, &d->device, err);
        if (r < 0) {
            close(source_fd);
            return r;
        }
    }
    r = wr_inodes_init(&d->inodes, source_fd);
    if (r < 0) {
        close(source_fd);
        wr_device_free(d->device);
        return wr_fail_errno(err, -r, "cannot start");
    }
    wr_reply_pool_init(&d->replies);
    d->owes = calloc(WR_DOOR_OWES, sizeof(*d->owes));
    if (!d->owes) {
        wr_door_done(d);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    r = wr_player_start(&d->player, PLAY_THREADS, send, d, err);
    if (r < 0)
        wr_door_done(d);
    return r;
}

void wr_door_done(struct wr_door *d)
{
    wr_player_stop(d->player);
    wr_reply_pool_done(&d->replies);
    wr_inodes_done(&d->inodes);
    wr_device_free(d->device);
    free(d->owes);
}

struct wr_inode *wr_door_inode(struct wr_door *d, fuse_ino_t ino)
{
    if (ino == FUSE_ROOT_ID)
        return &d->inodes.root;
    return (struct wr_inode *)(uintptr_t)ino;
}

bool wr_door_is_probe(struct wr_door *d, fuse_ino_t ino)
{
    return ino == (fuse_ino_t)(uintptr_t)&d->probe;
}

struct stat wr_door_probe_attr(fuse_req_t req)
{
    return (struct stat){.st_mode = S_IFREG | 0400,
                         .st_uid = fuse_req_ctx(req)->uid,
                         .st_nlink = 1,
                         .st_size = (off_t)wr_probe_offset(WR_NS_PER_SEC)};
}

static void count_request(struct wr_door *d, const struct wr_device_request *rq)
{
    if (rq->op == WR_DEVICE_READ) {
        atomic_fetch_add_explicit(&d->reads, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&d->read_bytes, rq->len,
                                  memory_order_relaxed);
    } else if (rq->op == WR_DEVICE_WRITE) {
        atomic_fetch_add_explicit(&d->writes, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&d->write_bytes, rq->len,
                                  memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(&d->others, 1, memory_order_relaxed);
    }
}

/* What the mount itself costs: an answer; its bytes; and `spent_ns` before. */
static uint64_t own_cost(struct wr_door *d, const struct wr_device_request *rq,
                         uint64_t spent_ns)
{
    uint64_t cost = atomic_load_explicit(&d->cost_ns, memory_order_relaxed);
    uint64_t open = atomic_load_explicit(&d->open_cost_ns,
                                         memory_order_relaxed);
    uint64_t send = atomic_load_explicit(&d->send_ns, memory_order_relaxed);

    if (!cost)
        return 0; /* not measured, or not wanted */
    if (rq->opens)
        cost += spent_ns < WR_DOOR_SPENT_NS ? WR_MAX(open, spent_ns) : open;
    if (rq->op == WR_DEVICE_READ)
        cost += rq->len * send / WR_DOOR_IO_MAX;
    return cost;
}

static uint64_t due_of(struct wr_door *d, const struct wr_device_request *rq,
                       uint64_t since_ns)
{
    struct wr_device_request asked = *rq;
    uint64_t now, due, cost;

    count_request(d, rq);
    if (!d->device)
        return 0;
    now = wr_clock_ns();
    cost = own_cost(d, rq, since_ns ? now - since_ns : 0);
    asked.early_ns = cost;
    due = wr_device_submit(d->device, &asked, now);
    return due > now + cost ? due - cost : 0;
}

uint64_t wr_door_due(struct wr_door *d, const struct wr_device_request *rq)
{
    return due_of(d, rq, 0);
}

uint64_t wr_door_due_opening(struct wr_door *d,
                             const struct wr_device_request *rq,
                             uint64_t since_ns)
{
    return due_of(d, rq, since_ns);
}

uint64_t wr_door_due_meta(struct wr_door *d, const struct wr_inode *inode)
{
    return wr_door_due(
        d, &(struct wr_device_request){.op = WR_DEVICE_META,
                                       .object = wr_inode_object(inode)});
}

/* Who is alone need not be handed over: a thread that is woken for it would
 * come late by tens of microseconds, which is as long as a fast device takes.
 * Returns whether the answer was sent. */
static bool answer_lone(struct wr_door *d, struct wr_reply *r, uint64_t due_ns)
{
    if (!d->others_receive || wr_player_is_busy(d->player) ||
        atomic_flag_test_and_set(&d->lone))
        return false;
    wr_clock_sleep_exactly(&d->sleeper, due_ns);
    send(d, &r->play);
    atomic_flag_clear(&d->lone);
    return true;
}

void wr_door_answer(struct wr_door *d, struct wr_reply *r, uint64_t due_ns)
{
    uint64_t now = due_ns ? wr_clock_ns() : 0;

    if (due_ns <= now) {
        send(d, &r->play);
        return;
    }
    if (due_ns - now <= LONE_NS && answer_lone(d, r, due_ns))
        return;
    r->play.due.at_ns = due_ns;
    r->play.heavy = r->kind == WR_REPLY_DATA && r->size >= HEAVY_BYTES;
    wr_player_add(d->player, &r->play);
}

void wr_door_answer_error(fuse_req_t req, int error, uint64_t due_ns)
{
    struct wr_door *d = wr_door_of(req);
    struct wr_reply *r = due_ns ? wr_reply_new(&d->replies, req, 0) : NULL;

    if (!r) {
        fuse_reply_err(req, error);
        return;
    }
    r->error = error;
    wr_door_answer(d, r, due_ns);
}

struct wr_reply *wr_door_reply(fuse_req_t req, size_t bytes)
{
    struct wr_reply *r = wr_reply_new(&wr_door_of(req)->replies, req, bytes);

    if (!r)
        fuse_reply_err(req, ENOMEM);
    return r;
}

void wr_door_sync(fuse_req_t req, fuse_ino_t ino, int fd, int datasync)
{
    struct wr_door *d = wr_door_of(req);
    const struct wr_device_request rq = {
        .op = WR_DEVICE_SYNC, .object = wr_inode_object(wr_door_inode(d, ino))};
    uint64_t due = wr_door_due(d, &rq);

    wr_door_answer_error(
        req, (datasync ? fdatasync(fd) : fsync(fd)) < 0 ? errno : 0, due);
}

const char *wr_proc_path(char buf[WR_PROC_PATH], int fd)
{
    snprintf(buf, WR_PROC_PATH, "/proc/self/fd/%d", fd);
    return buf;
}
