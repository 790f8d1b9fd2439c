/* child.c - processes that are forked, and how the two sides talk.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

/* EAGAIN is a limit of processes. */
static int fail_fork(int os_errno, weir_err *err)
{
    if (os_errno != EAGAIN)
        return wr_fail_errno(err, os_errno, "cannot start a process");
    return wr_fail(err, WEIR_ENOMEM,
                   "cannot start a process: too many processes and threads of "
                   "this user (ulimit -u)");
}

/* The descriptors of the parent, then those of the child. */
static int open_ends(bool packets, struct wr_child ends[2])
{
    int a[2], b[2];

    if (packets) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, a) < 0)
            return -1;
        ends[0] = (struct wr_child){.in = a[0], .out = a[0]};
        ends[1] = (struct wr_child){.in = a[1], .out = a[1]};
        return 0;
    }
    if (pipe2(a, O_CLOEXEC) < 0)
        return -1;
    if (pipe2(b, O_CLOEXEC) < 0) {
        close(a[0]);
        close(a[1]);
        return -1;
    }
    ends[0] = (struct wr_child){.in = a[0], .out = b[1]};
    ends[1] = (struct wr_child){.in = b[0], .out = a[1]};
    return 0;
}

void wr_child_close(const struct wr_child *c)
{
    close(c->in);
    if (c->out != c->in)
        close(c->out);
}

int wr_child_start(struct wr_child *c, bool packets, weir_err *err)
{
    struct wr_child ends[2];
    pid_t pid;
    int e;

    if (open_ends(packets, ends) < 0)
        return wr_fail_errno(err, errno, "cannot talk to a process");
    pid = fork();
    e = errno;
    wr_child_close(&ends[pid != 0]);
    if (pid < 0) {
        wr_child_close(&ends[0]);
        return fail_fork(e, err);
    }
    *c = ends[pid == 0];
    c->pid = pid;
    return pid != 0;
}

int wr_child_reap(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}
