/* worker.c - work in a process of its own, which can be ended at any moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/interrupt.h"

#define LOOK_MS 100 /* between two looks at the news and at Ctrl-C */

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

int wr_cli_work_start(struct wr_child *c, weir_err *err)
{
    pid_t parent = getpid();
    int r = wr_child_start(c, /* packets= */ true, err);

    if (r == 0)
        settle_child(parent);
    return r;
}

void wr_cli_work_tell(const struct wr_child *c, const void *message, size_t len)
{
    (void)send(c->in, message, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int wr_cli_work_wait(const struct wr_child *c, void *message, size_t cap,
                     int timeout_ms)
{
    struct pollfd p = {.fd = c->in, .events = POLLIN};
    ssize_t n;

    if (poll(&p, 1, timeout_ms) <= 0)
        return 0; /* nothing, or a signal */
    n = recv(c->in, message, cap, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return n == 0 ? -1 : (int)n;
}

/* Each side shuts down its half of the connection: the other one reads an end,
 * also if the process was killed. */
void wr_cli_work_take_terminal(const struct wr_child *c)
{
    char none;

    shutdown(c->in, SHUT_WR);
    while (recv(c->in, &none, sizeof(none), 0) < 0 && errno == EINTR)
        ;
}

void wr_cli_work_give_terminal(const struct wr_child *c)
{
    shutdown(c->in, SHUT_WR);
}

int wr_cli_work_end(struct wr_child *c, bool now)
{
    int status;

    if (now)
        kill(c->pid, SIGKILL);
    status = wr_child_reap(c->pid);
    wr_child_close(c);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Draws the line until it is done, or not wanted any more. */
static void watch_child(const struct wr_child *c, const struct wr_cli *cli,
                        const struct wr_work *w, void *arg)
{
    _Alignas(max_align_t) char news[WR_WORK_MESSAGE];
    struct wr_progress line;
    bool more = true;
    int n = 0;

    wr_progress_start(&line, cli, &w->line);
    while (more && n >= 0 && !wr_interrupted()) {
        more = w->show(arg, &line, n == (int)w->news ? news : NULL);
        if (more)
            n = wr_cli_work_wait(c, news, w->news, LOOK_MS);
    }
    wr_progress_end(&line);
}

int wr_cli_work_run(struct wr_child *c, const struct wr_cli *cli,
                    const struct wr_work *work, void *arg, int *ret_code,
                    weir_err *err)
{
    int r;

    fflush(cli->out);
    fflush(cli->err);
    r = wr_cli_work_start(c, err);
    if (r < 0)
        return r;
    if (r == 0) {
        *ret_code = work->work(arg);
        close(c->in);
        return WR_WORK_CHILD;
    }
    watch_child(c, cli, work, arg);
    wr_cli_work_give_terminal(c);
    *ret_code = wr_cli_work_end(c, /* now= */ wr_interrupted());
    return WR_WORK_ENDED;
}
