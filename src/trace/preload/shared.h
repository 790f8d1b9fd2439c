/* shared.h - the memory that traced processes share with the collector.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The collector makes a run directory with one control file. Each process of
 * the tree makes a file of its own there: a head, chunks of records (one chunk
 * belongs to one thread at a time), and tallies that count what is not kept as
 * records. What a process has committed is in the file, however it ends. */
#ifndef WR_TRACE_PRELOAD_SHARED_H
#define WR_TRACE_PRELOAD_SHARED_H

#include <stdint.h>

#include "trace/event.h"

#define WR_TAP_MAGIC   UINT32_C(0x31504154) /* "TAP1": the layout's version */
#define WR_TAP_UNIT    32                   /* bytes; records are multiples */
#define WR_TAP_CHUNK   (64 << 10)
#define WR_TAP_CHUNKS  1024       /* of one process at a time: 64 MiB */
#define WR_TAP_HEAD    (16 << 10) /* bytes in front of the chunks */
#define WR_TAP_TALLIES 65536
#define WR_TAP_PATH    (127 * WR_TAP_UNIT) /* longer names are cut */
#define WR_TAP_NONE    UINT32_MAX
#define WR_TAP_RANGES  16

/* Kinds of records besides enum wr_trace_op. */
enum wr_tap_op {
    WR_TAP_NAME = 200, /* gives `handle` its name, nothing happened */
    WR_TAP_WIDE,       /* off: duration, stamp: bytes, of the next record */
    WR_TAP_ADDRESS,    /* off: where the next record's mapping is */
    WR_TAP_CHDIR,      /* the name is the working directory from now on */
};

/* One call. Where `extra` is not 0, so many units with a name follow, which
 * belongs to `handle`; a name without a leading slash is relative to the folder
 * with the handle `off` (0: to the working directory). */
struct wr_tap_record {
    uint64_t stamp;    /* start, by the control file's clock */
    uint64_t off;      /* offset in the file, UINT64_MAX: not known */
    uint32_t duration; /* in stamps */
    uint32_t len;
    uint32_t handle; /* one open file; 0: none */
    uint8_t op, flags, error, extra;
};

struct wr_tap_chunk {
    uint32_t tid;
    uint32_t committed; /* bytes of records; stored with release */
    uint32_t spare[14];
};

/* Claimed: it has no memory yet, only the process may touch it. */
enum wr_tap_state { WR_TAP_FREE, WR_TAP_CLAIMED, WR_TAP_ACTIVE, WR_TAP_FULL };

/* One per run, made by the collector. */
struct wr_tap_control {
    uint32_t magic;
    uint32_t tsc;          /* stamps are of the CPU's counter, else ns */
    uint64_t budget_bytes; /* records of one process */
    uint32_t sample_every; /* over the budget: one record of so many */
    uint32_t processes;    /* numbers given out; the first is 1 */
    uint32_t closed;       /* the collector has ended: record no more */
    uint32_t unseen;       /* processes that got no memory */
    uint32_t kernel;       /* calls past the C library are seen, too */
    /* For who finds it when the collector was killed (orphans.c). */
    uint32_t pid, anonymous;
    uint64_t start_wall_ns, start_ns, start_stamp; /* one moment, by 3 clocks */
    char output[1024];
    uint32_t no_arguments; /* behind the rest: older tracers lack it */
};

/* Code whose system calls the library stands in front of: the C library's. */
struct wr_tap_range {
    uint64_t from, to;
};

/* What the kernel has counted; UINT64_MAX: not known. */
struct wr_tap_io {
    uint64_t rchar, wchar, read_bytes, write_bytes, major_faults;
};

struct wr_tap_process {
    uint32_t magic;
    uint32_t ready;          /* all below is filled in; stored with release */
    uint32_t number, parent; /* parent: that forked it; 0: not known */
    int32_t pid, parent_pid;
    int32_t rank, world;
    uint32_t first_handle; /* lower ones are the parent's */
    uint32_t threads;
    uint64_t pid_space; /* inode of the PID namespace */
    uint64_t start, end;
    uint64_t bytes;       /* of records, since the start */
    uint64_t lost_events; /* tallied, not kept */
    uint64_t lost_names;
    uint64_t nested_events; /* made by a signal handler at a bad moment */
    uint32_t chunks;        /* slots that were ever in use */
    uint32_t ended;
    int32_t status; /* exit code; -1: not known */
    uint32_t spare;
    struct wr_tap_io base, io; /* base: when the program began */
    char program[1024], argv[4096], cwd[1024]; /* "" for a forked one */
    uint8_t state[WR_TAP_CHUNKS];              /* enum wr_tap_state */
    struct wr_tap_range
        wrapped[WR_TAP_RANGES]; /* ended by 0; if control->kernel */
};

/* Counts of one handle over the budget. Times are in stamps. */
struct wr_tap_tally {
    uint32_t handle; /* 0: free */
    uint32_t spare;
    uint64_t next[2]; /* where the last read and the last write ended */
    struct wr_trace_counts counts;
    uint64_t pad[11];
};

#define WR_TAP_SIZE                                                            \
    (WR_TAP_HEAD + (uint64_t)WR_TAP_CHUNKS * WR_TAP_CHUNK +                    \
     (uint64_t)WR_TAP_TALLIES * sizeof(struct wr_tap_tally))

static inline struct wr_tap_chunk *wr_tap_chunk_at(void *base, unsigned slot)
{
    return (void *)((char *)base + WR_TAP_HEAD + (uint64_t)slot * WR_TAP_CHUNK);
}

static inline struct wr_tap_tally *wr_tap_tally_at(void *base, unsigned k)
{
    char *first = (char *)base + WR_TAP_HEAD +
                  (uint64_t)WR_TAP_CHUNKS * WR_TAP_CHUNK;

    return (struct wr_tap_tally *)(void *)first + k;
}

/* Several threads add to one counter. */
#define WR_TAP_ADD(field, n) __atomic_fetch_add(&(field), (n), __ATOMIC_RELAXED)

#endif
