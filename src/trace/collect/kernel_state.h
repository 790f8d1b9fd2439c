/* kernel_state.h - the inside of the kernel's view, shared by its files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_KERNEL_STATE_H
#define WR_TRACE_COLLECT_KERNEL_STATE_H

#include "base/map.h"
#include "trace/collect/kernel.h"
#include "trace/collect/path_program.h"
#include "trace/collect/perf.h"
#include "trace/collect/state.h"

/* --- system calls on files (kernel_calls.c) --- */

/* How a call's arguments are read. Of those with paths, `path` is the place of
 * the first one; the folder that it is relative to is in front of it if `at`. */
enum wr_call_shape {
    WR_CALL_MOVE,     /* fd: at the descriptor's position */
    WR_CALL_MOVE_AT,  /* fd, ., ., offset */
    WR_CALL_OPEN,     /* path, flags */
    WR_CALL_CREAT,    /* path */
    WR_CALL_OPEN_HOW, /* path, what cannot be read */
    WR_CALL_CLOSE,    /* fd */
    WR_CALL_CLOSE_RANGE,
    WR_CALL_DUP,     /* fd */
    WR_CALL_DUP_TO,  /* fd, new fd */
    WR_CALL_CONTROL, /* fcntl */
    WR_CALL_SEEK,
    WR_CALL_ON_FD,    /* fd */
    WR_CALL_ON_RANGE, /* fd; offset and length at `range` */
    WR_CALL_ON_PATH,  /* path */
    WR_CALL_ON_TWO,   /* path, new path */
    WR_CALL_UNLINK_AT,
    WR_CALL_ON_NOTHING,
    WR_CALL_LIST, /* fd of a folder */
    WR_CALL_MAP,
    WR_CALL_UNMAP,
    WR_CALL_COPY,    /* to, from */
    WR_CALL_COPY_IN, /* from, ., to */
    WR_CALL_CHDIR,
    WR_CALL_FCHDIR,
    WR_CALL_EXEC, /* path */
    WR_CALL_EXIT,
};

struct wr_call {
    uint16_t number, op; /* op: enum wr_trace_op */
    uint8_t shape;       /* enum wr_call_shape */
    uint8_t path;        /* place of the path */
    uint8_t at;          /* 1: the argument before the path is its folder */
    uint8_t range;       /* place of the offset */
};

extern const struct wr_call wr_calls[];
extern const size_t wr_call_count;

/* --- pointers by number: processes, threads, requests (kernel.c) --- */

/* Zeroed at first. What the pointers point at is the caller's. */
struct wr_keyed {
    struct wr_map map; /* keys are numbers + 1 */
};

void *wr_keyed_at(const struct wr_keyed *t, uint64_t key); /* NULL: none */
/* In place of what was there; false: no memory. */
bool wr_keyed_put(struct wr_keyed *t, uint64_t key, void *value);
void *wr_keyed_remove(struct wr_keyed *t, uint64_t key); /* what was there */
void wr_keyed_done(struct wr_keyed *t);

/* For a walk over all: NULL where place `k` below map.cap is free. */
static inline void *wr_keyed_in(const struct wr_keyed *t, size_t k)
{
    const struct wr_map_pointer *e = wr_map_at(&t->map, k);

    return e ? e->value : NULL;
}

/* --- processes --- */

/* What follows a process. */
enum wr_kernel_view {
    WR_KERNEL_UNDECIDED, /* it has just begun: the library may come yet */
    WR_KERNEL_LIBRARY,
    WR_KERNEL_ALONE,   /* only the kernel's records */
    WR_KERNEL_FOREIGN, /* its calls have other numbers (32 bits) */
};

struct wr_kernel_fd {
    bool known;
    bool is_placed; /* pos is where the next read begins */
    bool is_direct;
    uint32_t file;
    uint64_t pos;
};

struct wr_kernel_process {
    uint32_t pid, parent_pid;
    int view;              /* enum wr_kernel_view */
    struct wr_tapped *tap; /* borrowed from the collector; NULL: not yet */
    uint64_t since_ns;     /* its program began */
    uint32_t threads;
    char comm[16];
    char *cwd;                /* owned; NULL: not known */
    char *program;            /* owned: its path; NULL: not known */
    int32_t status;           /* as of waitpid; -1: not known */
    struct wr_kernel_fd *fds; /* owned */
    size_t fd_cap;
    struct wr_tap_range ranges[WR_TAP_RANGES]; /* of the C library */
    unsigned range_count;
    struct wr_trace_event *waiting; /* owned: until it is decided */
    size_t waiting_count, waiting_cap;
    uint32_t registered; /* the file that its ring has; see kernel_uring.c */
    bool asked_registered;
};

/* The call that a thread is in. */
struct wr_kernel_call {
    const struct wr_call *call; /* NULL: none */
    uint64_t args[6], ip, time_ns;
};

struct wr_kernel_thread {
    uint32_t tid;
    struct wr_kernel_process *process;
    struct wr_kernel_call now;
    char *paths[2]; /* owned; NULL: not known */
};

struct wr_kernel_request; /* of io_uring */

struct wr_kernel {
    struct wr_collect *c; /* borrowed: it owns this */
    struct wr_rings *rings;
    struct wr_paths *paths; /* owned; NULL: names come from /proc */
    struct wr_tracepoint enter, leave, submit, get_file, complete;
    bool has_uring;
    const struct wr_call *calls[WR_PATHS_CALLS]; /* by number */
    struct wr_keyed processes, threads, requests;
    struct wr_keyed taps; /* by pid: processes of the library */
    uint64_t limit_ns;
    size_t alone; /* processes that run and are seen here alone */
};

/* kernel_process.c */
struct wr_kernel_process *wr_kernel_process_of(struct wr_kernel *k,
                                               uint32_t pid, uint64_t now_ns);
struct wr_kernel_thread *wr_kernel_thread_of(struct wr_kernel *k, uint32_t pid,
                                             uint32_t tid, uint64_t now_ns);
void wr_kernel_on_fork(struct wr_kernel *k, const struct wr_ring_record *r);
void wr_kernel_on_exec(struct wr_kernel *k, const struct wr_ring_record *r);
void wr_kernel_on_exit(struct wr_kernel *k, const struct wr_ring_record *r);
/* Whether the library has come by then. */
void wr_kernel_check(struct wr_kernel *k, struct wr_kernel_process *p,
                     uint64_t now_ns);
/* Whoever still waits for its decision gets it. */
void wr_kernel_decide(struct wr_kernel *k, struct wr_kernel_process *p);
void wr_kernel_thread_clear(struct wr_kernel_thread *t);
/* The last program of a process ends: its record is completed. */
void wr_kernel_program_ends(struct wr_kernel *k, struct wr_kernel_process *p,
                            uint64_t at_ns);
void wr_kernel_process_free(struct wr_kernel_process *p);
/* Writes an event of the process, now or when it is decided. */
void wr_kernel_event(struct wr_kernel *k, struct wr_kernel_process *p,
                     const struct wr_trace_event *e);
/* Whether a call from `ip` can be seen here alone. */
bool wr_kernel_takes(const struct wr_kernel_process *p, uint64_t ip);

/* kernel_process.c: descriptors and names. */
struct wr_kernel_fd *wr_kernel_fd_at(struct wr_kernel_process *p, uint64_t fd);
void wr_kernel_fd_forget(struct wr_kernel_process *p, uint64_t first,
                         uint64_t last);
/* Resolves it if need be; NULL: there is no such descriptor. */
struct wr_kernel_fd *wr_kernel_fd_of(struct wr_kernel *k,
                                     struct wr_kernel_process *p, uint64_t fd);
uint32_t wr_kernel_file_of(struct wr_kernel *k, struct wr_kernel_process *p,
                           uint64_t fd);
/* The whole path of a call's text; false: its folder is not known. */
bool wr_kernel_path(struct wr_kernel *k, struct wr_kernel_process *p,
                    int folder, const char *text, char buf[8192]);
uint32_t wr_kernel_name(struct wr_kernel *k, const char *path);
/* The link /proc/PID/NAME; false: it cannot be read. */
bool wr_kernel_link(uint32_t pid, const char *name, char *buf, size_t cap);

/* kernel_calls.c: a call has ended. */
void wr_kernel_on_call(struct wr_kernel *k, struct wr_kernel_thread *t,
                       int64_t result, uint64_t end_ns);

/* kernel_uring.c */
void wr_kernel_on_submit(struct wr_kernel *k, const struct wr_ring_record *r);
void wr_kernel_on_get_file(struct wr_kernel *k, const struct wr_ring_record *r);
void wr_kernel_on_complete(struct wr_kernel *k, const struct wr_ring_record *r);
void wr_kernel_requests_done(struct wr_kernel *k);

#endif
