/* calls.h - the system calls on files: what their arguments mean.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_CALLS_H
#define WR_TRACE_COLLECT_CALLS_H

#include <stddef.h>
#include <stdint.h>

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

#endif
