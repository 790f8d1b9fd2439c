/* apart.h - work in a process of its own, which can be ended at any moment.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A save or a sync that is under way cannot be called back: on a slow disk it
 * takes seconds. A process can be killed, and what it wrote be removed.
 *
 *     r = wr_apart_start(&a, &err);
 *     if (r == 0)
 *         return work(...);            // in the child; wr_apart_tell tells
 *     while (wr_apart_wait(&a, msg, sizeof(msg), 100) >= 0)
 *         ...                          // in the parent
 *     code = wr_apart_end(&a, ...);
 *
 * The terminal belongs to the parent, which draws a line there while it waits. A
 * child that prints asks for it with wr_apart_take_terminal.
 */
#ifndef WR_CLI_APART_H
#define WR_CLI_APART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/child.h"

#define WR_APART_MESSAGE 512 /* bytes of one message, at most */

/* Returns 1 in the parent and 0 in the child, which does not hear Ctrl-C and
 * dies with its parent. */
int wr_apart_start(struct wr_child *c, weir_err *err);

/* In the child: hands a message over, whole; lost when nobody listens. */
void wr_apart_tell(const struct wr_child *c, const void *message, size_t len);

/* In the parent: waits for a message for so long. Returns its bytes, 0 when none
 * came, -1 when there will be none any more. */
int wr_apart_wait(const struct wr_child *c, void *message, size_t cap,
                  int timeout_ms);

/* In the child, before it prints: ends the messages, and waits until the parent
 * has erased its line and called wr_apart_give_terminal. From any thread, and more
 * than once. */
void wr_apart_take_terminal(const struct wr_child *c);

/* In the parent, when wr_apart_wait has returned -1. */
void wr_apart_give_terminal(const struct wr_child *c);

/* In the parent: waits for the child's end, which `now` brings about. Returns
 * its exit code, or minus the number of the signal that ended it. */
int wr_apart_end(struct wr_child *c, bool now);

#endif
