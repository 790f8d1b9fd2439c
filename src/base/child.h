/* child.h - processes that are forked, and how the two sides talk.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_CHILD_H
#define WR_BASE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "weir/error.h"

struct wr_child {
    pid_t pid;   /* 0 in the child itself */
    int in, out; /* owned: from and to the other side; closed by exec */
};

/* Forks. Returns 1 in the parent and 0 in the child. The sides talk through two
 * pipes; if `packets`, through a socket, `in` and `out` both, on which a message
 * arrives whole or not at all. Streams that are buffered must be flushed before. */
int wr_child_start(struct wr_child *c, bool packets, weir_err *err);

/* In either: closes what leads to the other side. */
void wr_child_close(const struct wr_child *c);

/* Waits for the end of a child; the status of waitpid. */
int wr_child_reap(pid_t pid);

#endif
