/* event.h - what a traced program did, one call at a time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The vocabulary of traces: the library that is preloaded records such events,
 * the file keeps them, the analysis reads them. */
#ifndef WR_TRACE_EVENT_H
#define WR_TRACE_EVENT_H

#include <stdint.h>

/* X(id, name, class): every kind of event. The numbers are part of the file
 * format: new ones are added at the end. */
#define WR_TRACE_OP_MAP(X)                                                     \
    X(OPEN, "open", META)                                                      \
    X(CLOSE, "close", META)                                                    \
    X(READ, "read", READ)                                                      \
    X(WRITE, "write", WRITE)                                                   \
    X(SEEK, "seek", META)                                                      \
    X(STAT, "stat", META)                                                      \
    X(ACCESS, "access", META)                                                  \
    X(OPENDIR, "opendir", META)                                                \
    X(READDIR, "readdir", META) /* a whole folder; bytes: its entries */       \
    X(SYNC, "fsync", SYNC)                                                     \
    X(DATASYNC, "fdatasync", SYNC)                                             \
    X(SYNC_ALL, "sync", SYNC) /* sync, syncfs, sync_file_range */              \
    X(TRUNCATE, "truncate", META)                                              \
    X(ALLOCATE, "fallocate", META)                                             \
    X(ADVISE, "fadvise", META) /* bytes: the range; offset: where */           \
    X(MMAP, "mmap", META)      /* bytes, offset: of the file */                \
    X(MUNMAP, "munmap", META)                                                  \
    X(MSYNC, "msync", SYNC)                                                    \
    X(FAULT, "fault", READ)   /* a major page fault of mapped memory */        \
    X(RENAME, "rename", META) /* file2: the new name */                        \
    X(UNLINK, "unlink", META)                                                  \
    X(LINK, "link", META) /* file2: the new name */                            \
    X(MKDIR, "mkdir", META)                                                    \
    X(RMDIR, "rmdir", META)                                                    \
    X(COPY_IN, "copy-read", READ)    /* sendfile, copy_file_range, splice: */  \
    X(COPY_OUT, "copy-write", WRITE) /* one of each */                         \
    X(AIO_SUBMIT, "aio-submit", META)                                          \
    X(AIO_READ, "aio-read", READ) /* from submission to completion */          \
    X(AIO_WRITE, "aio-write", WRITE)                                           \
    X(URING, "io_uring",                                                       \
      META)                  /* requests that a ring has seen; bytes: how    \
                                  many; nothing else is known of them */ \
    X(FORK, "fork", PROCESS) /* bytes: the child's pid */                      \
    X(EXEC, "exec", PROCESS)                                                   \
    X(SPAWN, "spawn", PROCESS)                                                 \
    X(EXIT, "exit", PROCESS) /* bytes: status */                               \
    X(THREAD, "thread", PROCESS)                                               \
    X(MARK, "mark", MARK) /* weir_mark: file is its text */

enum wr_trace_op {
#define WR_TRACE_OP_ENUM(id, name, class) WR_TRACE_##id,
    WR_TRACE_OP_MAP(WR_TRACE_OP_ENUM)
#undef WR_TRACE_OP_ENUM
        WR_TRACE_OPS
};

enum wr_trace_class {
    WR_TRACE_CLASS_READ,
    WR_TRACE_CLASS_WRITE,
    WR_TRACE_CLASS_META,
    WR_TRACE_CLASS_SYNC,
    WR_TRACE_CLASS_PROCESS,
    WR_TRACE_CLASS_MARK,
    WR_TRACE_CLASSES
};

enum {
    WR_TRACE_STDIO = 1,    /* a call of stdio: its system calls are its own */
    WR_TRACE_FAILED = 2,   /* error says why; bytes is 0 */
    WR_TRACE_DIRECT = 4,   /* O_DIRECT */
    WR_TRACE_CREATE = 8,   /* open: O_CREAT */
    WR_TRACE_TRUNC = 16,   /* open: O_TRUNC */
    WR_TRACE_WRITES = 32,  /* open: for writing */
    WR_TRACE_SAMPLED = 64, /* one of several: the budget was used up */
    WR_TRACE_NESTED = 128, /* by a signal handler inside another call */
};

#define WR_TRACE_NO_FILE UINT32_MAX

/* Static texts; "?" for numbers that are none. */
const char *wr_trace_op_name(unsigned op);
enum wr_trace_class wr_trace_op_class(unsigned op);
const char *wr_trace_class_name(unsigned class);

struct wr_trace_event {
    uint64_t start_ns, dur_ns; /* start: since the trace began */
    uint32_t process;          /* number in the table of processes */
    uint32_t thread;           /* its tid */
    uint32_t file, file2;      /* numbers of names, or WR_TRACE_NO_FILE */
    uint16_t op, flags;
    int32_t error;   /* errno, or 0 */
    uint64_t offset; /* where in the file; UINT64_MAX: not known */
    uint64_t bytes;  /* that were moved */
};

/* What kind of thing a name is: by its path, never by leaving it out. */
enum wr_trace_kind {
    WR_TRACE_DATA,    /* an ordinary file */
    WR_TRACE_RUNTIME, /* programs, libraries, Python's modules */
    WR_TRACE_SYSTEM,  /* /proc, /sys, /dev */
    WR_TRACE_SHM,     /* shared memory, memfd */
    WR_TRACE_STREAM,  /* pipes, sockets, terminals */
};

/* One process of the tree. A process that executes another program becomes a new
 * one here, with the same pid. */
struct wr_trace_process {
    int32_t pid, parent;       /* parent: number in this table, -1: none */
    int32_t rank, world;       /* of a job; -1: none */
    uint64_t start_ns, end_ns; /* end: UINT64_MAX: not seen */
    int32_t status;            /* as of waitpid; -1: not known */
    uint32_t threads;
    const char *program, *argv, *cwd, *host; /* argv: joined by blanks */
    /* /proc/PID/io of the whole life, as far as it was seen; UINT64_MAX: not
     * known */
    uint64_t rchar, wchar, read_bytes, write_bytes, major_faults;
    uint64_t lost_events; /* over the budget: counted, not kept */
};

/* Exact counts of one file in one process, whatever was sampled. */
struct wr_trace_counts {
    uint32_t process, file;
    uint64_t opens, closes, reads, writes, seeks, stats, syncs, mmaps, others;
    uint64_t bytes_read, bytes_written;
    uint64_t stdio_reads, stdio_writes, stdio_bytes_read, stdio_bytes_written;
    uint64_t read_ns, write_ns, meta_ns;
    uint64_t max_read_ns, max_write_ns;
    uint64_t sequential_reads, consecutive_reads;
    uint64_t sequential_writes, consecutive_writes;
    uint64_t zero_reads; /* at the end of the file: part of `reads` */
    uint64_t size_reads[10], size_writes[10];     /* by Darshan's edges */
    uint64_t max_offset_read, max_offset_written; /* the last byte */
    uint64_t first_ns, last_ns;
};

#endif
