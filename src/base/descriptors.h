/* descriptors.h - the file descriptors of this process, shared by all of weir.
 * SPDX-License-Identifier: Apache-2.0
 *
 * There are few (RLIMIT_NOFILE), and all pipelines, indexers and stores of the
 * process take of the same ones. Who opens a file for one read only holds it
 * between enter and leave; who finds none left waits for one to come back. */
#ifndef WR_BASE_DESCRIPTORS_H
#define WR_BASE_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/* Waits for its turn: reads hold half of the process's descriptors at most, so
 * that something is left for all else. What was opened is closed by plain
 * close() before wr_fd_leave. */
void wr_fd_enter(void);
void wr_fd_leave(void);

/* How many files may be held open for long, one per worker for example: what
 * reads leave, less some for all else; at least 1. */
unsigned wr_fd_share(void);

/* One that waits for a descriptor; zeroed memory at first. */
struct wr_fd_wait {
    uint64_t begun_ns, since_ns, closed;
};

/* After an open that failed with `os_errno`: when that is a lack, waits for a
 * descriptor to come back, or a while. True: try again. Gives up when none came
 * back for about a second, or none that helped for half a minute. A try that
 * fails closes what it opened by plain close(): that brings nothing back. Keeps
 * errno. */
bool wr_fd_retry(struct wr_fd_wait *w, int os_errno);

/* close(), telling those that wait. Keeps errno when it succeeds. */
int wr_fd_close(int fd);
/* The same for one that was closed otherwise. */
void wr_fd_closed(void);

#endif
