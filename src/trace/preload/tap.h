/* tap.h - the inside of the library that is preloaded into traced programs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A wrapper takes the time, calls the real function, and notes what happened.
 * Nothing here locks, allocates, sets errno, prints or ends the program; what
 * cannot be recorded is counted. One thread's records go to a chunk that no
 * other thread writes. */
#ifndef WR_TRACE_PRELOAD_TAP_H
#define WR_TRACE_PRELOAD_TAP_H

#include "trace/preload/real.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "trace/preload/shared.h"

#define WR_TAP_EXPORT      __attribute__((visibility("default")))
#define WR_TAP_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* `name` is the function `of` of the same file, too. */
#define WR_TAP_ALIAS(name, of)                                                 \
    extern __typeof__(name) name                                               \
        __attribute__((visibility("default"), alias(#of)))
#define WR_TAP_UNKNOWN UINT64_MAX /* an offset */

/* What one thread writes to: one cache line. */
struct wr_tap_thread {
    unsigned char *at, *end; /* of its chunk */
    struct wr_tap_chunk *chunk;
    uint32_t process; /* whose chunk it is; 0: none */
    uint32_t slot;    /* of the chunk */
    uint32_t skipped; /* over the budget: since the last sample */
    uint8_t busy;     /* a record is being written */
    uint8_t in_vfork; /* the child of vfork runs on this thread's memory */
    uint8_t counting; /* over the budget */
} __attribute__((aligned(64)));

extern __thread struct wr_tap_thread wr_tap_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Zeroed by the kernel in every child that has its own memory, whatever made
 * it: a child never takes its parent's chunks for its own. */
struct wr_tap_alive {
    uint32_t process; /* number; 0: not set up (yet, or after fork) */
};

/* What a process has once. */
struct wr_tap_global {
    struct wr_tap_alive *alive; /* NULL: nothing is recorded */
    struct wr_tap_control *control;
    struct wr_tap_process *head; /* the process's own file, mapped */
    uint32_t tsc;
    uint32_t on; /* the program is traced */
    uint32_t next_handle;
    uint32_t first_handle;
    uint32_t number;   /* of this process, or of the one that forked it */
    uint32_t starting; /* one thread sets up a child */
    char folder[256];
};
extern struct wr_tap_global wr_tap __attribute__((visibility("hidden")));

/* --- time --- */

static inline uint64_t wr_tap_clock(void)
{
    struct timespec ts;

#if defined(__x86_64__)
    if (__builtin_expect(wr_tap.tsc, 1))
        return __builtin_ia32_rdtsc();
#endif
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The start of a call; 0: it is not recorded. */
static inline uint64_t wr_tap_begin(void)
{
    if (WR_TAP_UNLIKELY(!wr_tap.on || wr_tap_self.in_vfork))
        return 0;
    return wr_tap_clock();
}

/* --- notes --- */

struct wr_tap_note {
    uint64_t start; /* by wr_tap_begin */
    uint64_t off, len;
    uint32_t handle; /* with a path: the one that it gets, 0: none */
    uint32_t dir;    /* handle of the folder that `path` is relative to */
    uint8_t op, flags, error;
    const char *path; /* NULL: the handle has its name already */
};

/* Ends now. */
void wr_tap_put(const struct wr_tap_note *n);
/* The two halves of it, for calls whose end is known by another way. */
void wr_tap_put_lasting(const struct wr_tap_note *n, uint64_t duration);
uint32_t wr_tap_new_handle(void);
/* Counts a note instead of keeping it (tally.c). */
void wr_tap_tally(const struct wr_tap_note *n, uint64_t duration);
/* Over the budget: the handle that all opens of a path share; *ret_new: it is
 * the first one. 0: no room. */
uint32_t wr_tap_intern(const char *path, uint32_t dir, bool *ret_new);
/* Where the tallies begin anew: in a child. */
void wr_tap_tally_reset(void);

/* --- descriptors (fds.c) --- */

enum {
    WR_FD_KNOWN = 1,
    WR_FD_STREAM = 2, /* has no offsets */
    WR_FD_SHARED = 4, /* its offset may move without a call that is seen */
    WR_FD_DIRECT = 8,
};

struct wr_tap_fd {
    uint32_t handle;
    uint32_t flags;
    uint64_t pos;
};

/* NULL: out of the table's range. The second resolves one that was opened out
 * of sight. */
struct wr_tap_fd *wr_tap_fd_at(int fd);
struct wr_tap_fd *wr_tap_fd_of(int fd);
void wr_tap_fd_set(int fd, uint32_t handle, int open_flags);
void wr_tap_fd_clear(int fd);
void wr_tap_fd_clear_range(unsigned first, unsigned last);
void wr_tap_fd_copy(int from, int to);
uint32_t wr_tap_fd_handle(int fd); /* 0: none */

/* --- common ends of wrappers (calls.c; streams: stdio.c) --- */

/* A transfer: r is what the call returned; off WR_TAP_UNKNOWN: at the position
 * of the descriptor, which it moves. */
void wr_tap_moved(unsigned op, int fd, uint64_t start, long r, uint64_t off);
/* A call on a descriptor; r < 0: it failed. */
void wr_tap_on_fd(unsigned op, int fd, uint64_t start, long r);
void wr_tap_on_range(unsigned op, int fd, uint64_t start, long r,
                     const uint64_t range[2]);
/* One that gave a descriptor, or failed; dirfd as of openat. */
void wr_tap_opened(int fd, int dirfd, const char *path, int open_flags,
                   uint64_t start);
int wr_tap_errno(long r); /* errno if r < 0, as 0..255 */
/* The name that a call with this error was given; "" if it cannot be read. */
const char *wr_tap_name(const char *path, int error);

/* A transfer of n bytes by a stream, at the descriptor's position. */
void wr_tap_stream_moved(unsigned op, FILE *f, uint64_t start, long n,
                         bool failed);
void wr_tap_stream_opened(FILE *f, const char *path, const char *mode,
                          uint64_t start);
void wr_tap_stream_sought(FILE *f, uint64_t start, int r);

/* --- life of the process (life.c) --- */

bool wr_tap_child(void);       /* sets up the child of a fork, once */
void wr_tap_ended(int status); /* the last words */
void wr_tap_thread_done(void);
/* Before another program is executed: takes the counters. */
void wr_tap_executes(void);
/* Keeps what children need in their environment (process.c). */
void wr_tap_keep_environment(const char *folder, const char *preload);

/* --- the process's file (ring.c) --- */

bool wr_tap_populate(void *at, size_t len);
/* The process's file, mapped at the same place as its parent's if `near`. */
struct wr_tap_process *wr_tap_file_make(uint32_t number, void *near);

#endif
