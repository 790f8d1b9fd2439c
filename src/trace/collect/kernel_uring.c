/* kernel_uring.c - requests of io_uring, from submission to completion.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tracepoints tell what is asked for, of which descriptor, and how many
 * bytes it came to; not where in the file. A request on a registered file tells
 * no descriptor: its name is known if the ring has one such file alone. */
#include <dirent.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/procfs.h"
#include "trace/collect/kernel_state.h"

#define MOST_REQUESTS 1000000 /* under way at once */
#define FIXED_FILE    1       /* REQ_F_FIXED_FILE */
#define NONE          UINT16_MAX

enum { FIELD_REQUEST, FIELD_OPCODE, FIELD_FLAGS };
enum { FIELD_FD = 1, FIELD_RESULT = 1 };

struct wr_kernel_request {
    uint32_t pid, tid;
    uint8_t opcode;
    bool is_fixed;
    int fd; /* -1: not known */
    uint64_t start_ns;
};

static uint16_t op_of(uint8_t opcode)
{
    switch (opcode) {
    case IORING_OP_READ:
    case IORING_OP_READV:
    case IORING_OP_READ_FIXED:
        return WR_TRACE_AIO_READ;
    case IORING_OP_WRITE:
    case IORING_OP_WRITEV:
    case IORING_OP_WRITE_FIXED:
        return WR_TRACE_AIO_WRITE;
    case IORING_OP_FSYNC:
        return WR_TRACE_SYNC;
    case IORING_OP_SYNC_FILE_RANGE:
        return WR_TRACE_SYNC_ALL;
    case IORING_OP_FALLOCATE:
        return WR_TRACE_ALLOCATE;
    case IORING_OP_FADVISE:
        return WR_TRACE_ADVISE;
    case IORING_OP_OPENAT:
    case IORING_OP_OPENAT2:
        return WR_TRACE_OPEN;
    case IORING_OP_STATX:
        return WR_TRACE_STAT;
    case IORING_OP_RENAMEAT:
        return WR_TRACE_RENAME;
    case IORING_OP_UNLINKAT:
        return WR_TRACE_UNLINK;
    case IORING_OP_MKDIRAT:
        return WR_TRACE_MKDIR;
    default:
        return NONE; /* sockets, timers and the like */
    }
}

static uint64_t value(const struct wr_tracepoint *t, unsigned field,
                      const struct wr_ring_record *r)
{
    return wr_tracepoint_value(&t->fields[field], r->raw, r->raw_len);
}

void wr_kernel_on_submit(struct wr_kernel *k, const struct wr_ring_record *r)
{
    uint64_t key = value(&k->submit, FIELD_REQUEST, r);
    struct wr_kernel_request *q;

    k->c->sum.uring_requests++;
    if (k->requests.map.count >= MOST_REQUESTS)
        return;
    q = wr_keyed_remove(&k->requests, key); /* its end was not seen */
    if (q)
        k->c->sum.uring_unseen++;
    else
        q = malloc(sizeof(*q));
    if (!q)
        return;
    *q = (struct wr_kernel_request){
        .pid = r->pid,
        .tid = r->tid,
        .opcode = (uint8_t)value(&k->submit, FIELD_OPCODE, r),
        .is_fixed = value(&k->submit, FIELD_FLAGS, r) & FIXED_FILE,
        .fd = -1,
        .start_ns = r->time_ns};
    if (!wr_keyed_put(&k->requests, key, q))
        free(q);
}

void wr_kernel_on_get_file(struct wr_kernel *k, const struct wr_ring_record *r)
{
    struct wr_kernel_request *q = wr_keyed_at(
        &k->requests, value(&k->get_file, FIELD_REQUEST, r));

    if (q)
        q->fd = (int)value(&k->get_file, FIELD_FD, r);
}

/* --- registered files --- */

/* The text behind "UserFiles:\t1\n    0: /path"; false: none, or several. */
static bool only_file(const char *info, char *buf, size_t cap)
{
    const char *at = strstr(info, "UserFiles:"), *path;
    unsigned count;

    if (!at || sscanf(at, "UserFiles: %u", &count) != 1 || count != 1)
        return false;
    path = strchr(at, '\n');
    path = path ? strstr(path, ": ") : NULL;
    if (!path || path[2] != '/')
        return false;
    snprintf(buf, cap, "%.*s", (int)strcspn(path + 2, "\n"), path + 2);
    return true;
}

static uint32_t registered_of(struct wr_kernel *k, uint32_t pid)
{
    char path[300], link[64], info[8192], file[4096];
    uint32_t found = WR_TRACE_NO_FILE;
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%u/fd", pid);
    d = opendir(path);
    while (d && (e = readdir(d))) {
        snprintf(path, sizeof(path), "fd/%.20s", e->d_name);
        if (!wr_is_digit(e->d_name[0]) ||
            !wr_kernel_link(pid, path, link, sizeof(link)) ||
            strcmp(link, "anon_inode:[io_uring]") != 0)
            continue;
        snprintf(path, sizeof(path), "/proc/%u/fdinfo/%.20s", pid, e->d_name);
        if (found != WR_TRACE_NO_FILE ||
            wr_procfs_read_path(path, info, sizeof(info)) <= 0 ||
            !only_file(info, file, sizeof(file))) {
            found = WR_TRACE_NO_FILE; /* several rings: which? */
            break;
        }
        found = wr_kernel_name(k, file);
    }
    if (d)
        closedir(d);
    return found;
}

static uint32_t file_of(struct wr_kernel *k, struct wr_kernel_process *p,
                        const struct wr_kernel_request *q)
{
    if (q->fd >= 0 && !q->is_fixed)
        return wr_kernel_file_of(k, p, (unsigned)q->fd);
    if (!q->is_fixed)
        return WR_TRACE_NO_FILE;
    if (!p->asked_registered) {
        p->registered = registered_of(k, p->pid);
        p->asked_registered = p->registered != WR_TRACE_NO_FILE;
    }
    if (p->registered == WR_TRACE_NO_FILE)
        k->c->sum.uring_unnamed++;
    return p->registered;
}

static void end_request(struct wr_kernel *k, const struct wr_kernel_request *q,
                        int result, uint64_t end_ns)
{
    uint16_t op = op_of(q->opcode);
    struct wr_kernel_process *p = wr_kernel_process_of(k, q->pid, q->start_ns);
    struct wr_trace_event e = {.thread = q->tid,
                               .file2 = WR_TRACE_NO_FILE,
                               .op = op,
                               .offset = UINT64_MAX};

    if (!p || op == NONE || q->start_ns < k->c->start_ns ||
        end_ns < q->start_ns)
        return;
    e.start_ns = q->start_ns - k->c->start_ns;
    e.dur_ns = end_ns - q->start_ns;
    if (result < 0) {
        e.flags = WR_TRACE_FAILED;
        e.error = -result;
    } else if (op == WR_TRACE_AIO_READ || op == WR_TRACE_AIO_WRITE) {
        e.bytes = (uint64_t)result;
    }
    if (op == WR_TRACE_OPEN && result >= 0) {
        wr_kernel_fd_forget(p, (unsigned)result, (unsigned)result);
        e.file = wr_kernel_file_of(k, p, (unsigned)result);
    } else {
        e.file = file_of(k, p, q);
    }
    k->c->sum.uring_seen++;
    wr_kernel_event(k, p, &e);
}

void wr_kernel_on_complete(struct wr_kernel *k, const struct wr_ring_record *r)
{
    struct wr_kernel_request *q = wr_keyed_remove(
        &k->requests, value(&k->complete, FIELD_REQUEST, r));

    if (!q)
        return; /* one of several answers, or its start was lost */
    end_request(k, q, (int)(int32_t)value(&k->complete, FIELD_RESULT, r),
                r->time_ns);
    free(q);
}

void wr_kernel_requests_done(struct wr_kernel *k)
{
    k->c->sum.uring_unseen += k->requests.map.count;
}
