/* killstep.c - runs a function in a process and kills it at a system call.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A filter that the child puts on all its threads stops it at the entry of each
 * call, and only there and only behind the mark: half as many stops as tracing
 * calls takes, and none for what only prepares. */
#include "killstep.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
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

static enum killstep_end follow(pid_t child, uint64_t at, uint64_t *count)
{
    for (;;) {
        int status, sig = 0;
        pid_t tid = waitpid(-1, &status, __WALL);

        if (tid < 0 && errno == EINTR)
            continue;
        if (tid < 0)
            return KILLSTEP_FAILED;
        if (!WIFSTOPPED(status)) { /* a thread, or all of them */
            if (tid != child)
                continue;
            return WIFEXITED(status) && WEXITSTATUS(status) == 0
                       ? KILLSTEP_ENDED
                       : KILLSTEP_FAILED;
        }
        if (status >> 16 == PTRACE_EVENT_SECCOMP) {
            if (++*count == at) {
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

static _Noreturn void child_main(int (*work)(void *arg), void *arg,
                                 const int *gate)
{
    char c;

    close(gate[1]);
    if (read(gate[0], &c, 1) != 1) /* until it is traced */
        _exit(1);
    close(gate[0]);
    _exit(work(arg) != 0);
}

enum killstep_end killstep(int (*work)(void *arg), void *arg, uint64_t at,
                           uint64_t *ret_calls)
{
    const intptr_t how = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
                         PTRACE_O_EXITKILL;
    enum killstep_end end;
    int gate[2];
    pid_t child;

    *ret_calls = 0;
    if (pipe(gate) < 0)
        return KILLSTEP_CANNOT;
    child = fork();
    if (child == 0)
        child_main(work, arg, gate);
    close(gate[0]);
    if (child > 0 && ptrace(PTRACE_SEIZE, child, NULL, (void *)how) == 0 &&
        write(gate[1], "", 1) == 1) {
        end = follow(child, at, ret_calls);
    } else {
        perror("killstep: cannot trace");
        end = KILLSTEP_CANNOT;
    }
    close(gate[1]);
    reap_all();
    return end;
}
