/* killstep.c - runs a function in a process and kills it at a system call.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A filter that the child puts on all its threads stops it at the entry of each
 * call, and only there and only behind the mark: half as many stops as tracing
 * calls takes, and none for what only prepares. */
#include "killstep.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool killstep_go(void)
{
    struct sock_filter all[] = {
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
    };
    struct sock_fprog prog = {1, all};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                   SECCOMP_FILTER_FLAG_TSYNC, &prog) == 0;
}

static void reap_all(void)
{
    int status;

    while (waitpid(-1, &status, __WALL) > 0 || errno == EINTR)
        ;
}

static enum killstep_end follow(pid_t child, uint64_t at,
                                struct killstep_seen *seen)
{
    for (;;) {
        int status, sig = 0;
        pid_t tid = waitpid(-1, &status, __WALL);

        if (tid < 0 && errno == EINTR)
            continue;
        if (tid < 0) {
            perror("killstep: waitpid");
            return KILLSTEP_FAILED;
        }
        if (!WIFSTOPPED(status)) { /* a thread, or all of them */
            if (tid != child)
                continue;
            seen->status = status;
            return WIFEXITED(status) && WEXITSTATUS(status) == 0
                       ? KILLSTEP_ENDED
                       : KILLSTEP_FAILED;
        }
        if (status >> 16 == PTRACE_EVENT_SECCOMP) {
            if (++seen->calls == at) {
                kill(child, SIGKILL);
                reap_all();
                return KILLSTEP_KILLED;
            }
        } else if (status >> 16 == 0) {
            sig = WSTOPSIG(status);
        }
        ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)sig);
    }
}

static _Noreturn void child_main(int (*work)(void *arg), void *arg, int gate)
{
    char c = 0;

    /* All threads are there that fork() has started; then until they are
     * traced. */
    if (write(gate, &c, 1) != 1 || read(gate, &c, 1) != 1)
        _exit(1);
    close(gate);
    _exit(work(arg));
}

/* All threads of the child: TSan's fork() starts one. An untraced one would
 * find that there are no system calls behind the filter, and break down without
 * a word. */
static bool seize_all(pid_t child)
{
    const intptr_t how = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
                         PTRACE_O_EXITKILL;
    char path[40];
    bool good;
    const struct dirent *e;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)child);
    d = opendir(path);
    good = d != NULL;
    while (good && (e = readdir(d)))
        if (e->d_name[0] != '.')
            good = ptrace(PTRACE_SEIZE, (pid_t)atoi(e->d_name), NULL,
                          (void *)how) == 0;
    if (d)
        closedir(d);
    return good;
}

enum killstep_end killstep(int (*work)(void *arg), void *arg, uint64_t at,
                           struct killstep_seen *ret)
{
    enum killstep_end end = KILLSTEP_CANNOT;
    int gate[2];
    pid_t child;
    char c;

    *ret = (struct killstep_seen){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0) {
        perror("killstep: socketpair");
        return KILLSTEP_CANNOT;
    }
    child = fork();
    if (child == 0) {
        close(gate[1]);
        child_main(work, arg, gate[0]);
    }
    close(gate[0]);
    if (child > 0 && read(gate[1], &c, 1) == 1 && seize_all(child) &&
        write(gate[1], &c, 1) == 1)
        end = follow(child, at, ret);
    else
        perror("killstep: cannot trace");
    close(gate[1]);
    reap_all();
    return end;
}
