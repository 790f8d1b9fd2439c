/* apart.c - work in a process of its own, which can be ended at any moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"

/* Ctrl-C reaches both: the parent decides what it means. */
static void settle_child(pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1); /* it has died before that */
}

int wr_apart_start(struct wr_apart *a, weir_err *err)
{
    pid_t parent = getpid();
    int fds[2], e;

    /* Packets: a message arrives whole or not at all. */
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return wr_fail_errno(err, errno, "socketpair");
    a->child = fork();
    e = errno;
    if (a->child < 0) {
        close(fds[0]);
        close(fds[1]);
        return wr_fork_fail(e, err);
    }
    a->fd = fds[a->child ? 0 : 1];
    close(fds[a->child ? 1 : 0]);
    if (a->child)
        return 1;
    settle_child(parent);
    return 0;
}

void wr_apart_tell(const struct wr_apart *a, const void *message, size_t len)
{
    (void)send(a->fd, message, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int wr_apart_wait(const struct wr_apart *a, void *message, size_t cap,
                  int timeout_ms)
{
    struct pollfd p = {.fd = a->fd, .events = POLLIN};
    ssize_t n;

    if (poll(&p, 1, timeout_ms) <= 0)
        return 0; /* nothing, or a signal */
    n = recv(a->fd, message, cap, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return n == 0 ? -1 : (int)n;
}

/* Each side shuts down its half of the connection: the other one reads an end,
 * also if the process was killed. */
void wr_apart_take_terminal(const struct wr_apart *a)
{
    char none;

    shutdown(a->fd, SHUT_WR);
    while (recv(a->fd, &none, sizeof(none), 0) < 0 && errno == EINTR)
        ;
}

void wr_apart_give_terminal(const struct wr_apart *a)
{
    shutdown(a->fd, SHUT_WR);
}

int wr_apart_end(struct wr_apart *a, bool now)
{
    int status = 0;

    if (now)
        kill(a->child, SIGKILL);
    while (waitpid(a->child, &status, 0) < 0 && errno == EINTR)
        ;
    close(a->fd);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
