/* worker.h - work in a process of its own, which can be ended at any moment.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A save or a sync that is under way cannot be called back: on a slow disk it
 * takes seconds. A process can be killed, and what it wrote be removed.
 *
 *     r = wr_cli_work_run(&worker, cli, &work, arg, &err);
 *     if (r == WR_WORK_CHILD)
 *         return ...;                  // work.work has returned, in the child
 *     if (r >= 0)
 *         ...                          // in the parent: it has ended
 *
 * The terminal belongs to the parent, which draws a line there while it waits. A
 * child that prints asks for it with wr_cli_work_take_terminal.
 */
#ifndef WR_CLI_WORKER_H
#define WR_CLI_WORKER_H

#include "base/child.h"
#include "cli/progress.h"

#define WR_WORK_MESSAGE 512 /* bytes of one message, at most */

/* What is done there, and shown here. */
struct wr_work {
    struct wr_progress_spec line; /* `label` may change while it is shown */
    size_t news;                  /* bytes of what it tells */
    /* In the child, which does not hear Ctrl-C. */
    int (*work)(void *arg);
    /* In the parent: whenever it has told something, and about ten times a second
     * (NULL) when it has not. False: nothing more is expected. */
    bool (*show)(void *arg, struct wr_progress *line, const void *news);
};

enum { WR_WORK_CHILD, WR_WORK_ENDED };

/* In the child *ret_code is what `work` returned. In the parent it is the child's
 * exit code, or minus the number of the signal that ended it; after Ctrl-C it was
 * killed. */
int wr_cli_work_run(struct wr_child *c, const struct wr_cli *cli,
                    const struct wr_work *work, void *arg, int *ret_code,
                    weir_err *err);

/* In the child: hands a message over, whole; lost when nobody listens. */
void wr_cli_work_tell(const struct wr_child *c, const void *message,
                      size_t len);

/* In the child, before it prints: ends the messages, and waits until the parent
 * has erased its line. From any thread, and more than once. */
void wr_cli_work_take_terminal(const struct wr_child *c);

/* The parts, for the tests. Starting returns 1 in the parent and 0 in the child,
 * which dies with its parent. Waiting returns the bytes of a message, 0 when none
 * came, -1 when there will be none any more. */
int wr_cli_work_start(struct wr_child *c, weir_err *err);
int wr_cli_work_wait(const struct wr_child *c, void *message, size_t cap,
                     int timeout_ms);
void wr_cli_work_give_terminal(const struct wr_child *c);
int wr_cli_work_end(struct wr_child *c, bool now);

#endif
