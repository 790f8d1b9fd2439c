/* trace_program.c - runs the program that is traced, as a shell would.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace_program.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/module.h"
#include "base/regular.h"

#define NAME "libweir-trace.so"

int wr_program_library(char buf[PATH_MAX], weir_err *err)
{
    const char *named = secure_getenv("WEIR_TRACE_LIBRARY");
    weir_err why;
    int r;

    if (named && *named) {
        if (strlen(named) < PATH_MAX && access(named, R_OK) == 0) {
            strcpy(buf, named);
            return 0;
        }
        return wr_fail(err, WEIR_ENOENT,
                       "WEIR_TRACE_LIBRARY: '%s' cannot be read", named);
    }
    r = wr_weir_file("src/trace/preload", WR_LIBDIR "/weir", NAME, buf, &why);
    if (r == 0)
        return 0;
    if (r != WEIR_ENOENT)
        return wr_fail(err, r, "%s", why.msg);
    return wr_fail(err, WEIR_ENOENT,
                   "no " NAME " beside weir, and no '%s' (WEIR_TRACE_LIBRARY "
                   "names another one)",
                   buf);
}

/* --- signals --- */

static int open_signals(struct wr_program *p)
{
    static const int taken[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGCHLD};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < WR_ARRAY_LEN(taken); i++)
        sigaddset(&set, taken[i]);
    pthread_sigmask(SIG_BLOCK, &set, &p->before);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* What the terminal sends, it sends to the program as well. */
static void pass_signals(const struct wr_program *p)
{
    struct signalfd_siginfo info;

    while (read(p->signal_fd, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL)
            kill(p->child.pid, (int)info.ssi_signo);
}

/* --- the child --- */

static int set_environment(const char *folder, const char *library)
{
    const char *other = getenv("LD_PRELOAD");
    char *both;
    int r;

    if (asprintf(&both, "%s%s%s", library, other && *other ? ":" : "",
                 other ? other : "") < 0)
        return -1;
    r = setenv("LD_PRELOAD", both, 1) | setenv("WEIR_TRACE", folder, 1);
    free(both);
    return r;
}

int wr_program_become(char *const *argv)
{
    signal(SIGPIPE, SIG_DFL);
    execvp(argv[0], argv);
    return errno;
}

static void run_child(const struct wr_program *p, char *const *argv)
{
    char any;
    int e;

    (void)wr_read_all(p->child.in, &any, 1);
    pthread_sigmask(SIG_SETMASK, &p->before, NULL);
    e = wr_program_become(argv);
    if (write(p->child.out, &e, sizeof(e)) < 0)
        _exit(126);
    _exit(127);
}

int wr_program_start(struct wr_program *p, char *const *argv,
                     const char *folder, const char *library, weir_err *err)
{
    int r;

    if (set_environment(folder, library) < 0)
        return wr_fail(err, WEIR_ENOMEM, "the environment of '%s'", argv[0]);
    p->signal_fd = open_signals(p);
    if (p->signal_fd < 0)
        return wr_fail_errno(err, errno, "signalfd");
    r = wr_child_start(&p->child, /* packets= */ false, err);
    if (r == 0)
        run_child(p, argv);
    return WR_MIN(r, 0);
}

void wr_program_cancel(struct wr_program *p)
{
    kill(p->child.pid, SIGKILL);
    (void)wr_program_reap(p);
    wr_child_close(&p->child);
}

int wr_program_go(struct wr_program *p)
{
    int e = 0;
    ssize_t n;

    close(p->child.out);
    n = wr_read_all(p->child.in, &e, sizeof(e));
    close(p->child.in);
    return n == (ssize_t)sizeof(e) ? e : 0;
}

bool wr_program_wait(struct wr_program *p, int timeout_ms)
{
    struct pollfd fd = {.fd = p->signal_fd, .events = POLLIN};
    siginfo_t info = {0};

    if (poll(&fd, 1, timeout_ms) > 0)
        pass_signals(p);
    return waitid(P_PID, (id_t)p->child.pid, &info,
                  WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == p->child.pid;
}

int wr_program_reap(struct wr_program *p)
{
    int status = wr_child_reap(p->child.pid);

    close(p->signal_fd);
    return status;
}

int wr_program_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int wr_program_exec_code(int os_errno)
{
    return os_errno == ENOENT || os_errno == ENOTDIR ? 127 : 126;
}
